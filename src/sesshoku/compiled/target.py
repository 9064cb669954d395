"""For which processor machine code is made: this one, or that of the code which came with the package.

A wheel brings finished machine code for a fixed, older processor (`compiled/shipped.py`). Where it serves, whatever
else is compiled is compiled for that processor too, so that both fit together. SESSHOKU_CPU chooses: `native`, or the
name of a baseline.
"""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass
from typing import Any

from numba.core.codegen import JITCPUCodegen
from numba.core.registry import cpu_target

from sesshoku.errors import SesshokuError

#: x86-64-v3 of the System V ABI: processors since Haswell (2013) and Excavator (2015)
X86_64_V3 = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf", "avx", "avx2", "bmi", "bmi2", "f16c", "fma",
             "lzcnt", "movbe", "xsave")
#: name -> machines it is for, and features beyond what every such machine has
BASELINES = {"x86-64-v3": (("x86_64", "AMD64"), X86_64_V3), "generic": (("aarch64", "arm64"), ())}


@dataclass(frozen=True)
class Processor:
    """What LLVM is told to make code for."""

    triple: str
    name: str
    features: str  # "+avx,+avx2,-sse4a"

    def lacks(self, other: Processor) -> list[str]:
        """Features that code for another processor may use and this one does not have."""
        have = set(self.features.split(","))
        return [word[1:] for word in other.features.split(",") if word.startswith("+") and word not in have]


@functools.cache
def host() -> Processor:
    """The processor that Numba compiles for in this process."""
    return Processor(*map(str, cpu_target.target_context.codegen().magic_tuple()))


def baseline(name: str = "") -> Processor:
    """The processor of a name in BASELINES; without one, that for machines like this."""
    machine = platform.machine()
    for known, (machines, features) in BASELINES.items():
        if machine in machines and name in ("", known):
            return Processor(host().triple, known, ",".join(f"+{feature}" for feature in features))
    fitting = [known for known, (machines, _) in BASELINES.items() if machine in machines]
    raise SesshokuError(f"SESSHOKU_CPU={name}: no such baseline for {machine} machines; give "
                        f"{' or '.join(['native', *fitting])}")


@functools.cache
def processor() -> Processor:
    """The processor for which code is made, and of which stored code is taken."""
    from sesshoku.compiled.shipped import misfit, shipped_for

    chosen = os.environ.get("SESSHOKU_CPU", "")
    if chosen == "native":
        return host()
    if chosen:
        wanted = baseline(chosen)
        if missing := host().lacks(wanted):
            raise SesshokuError(f"SESSHOKU_CPU={chosen}: this processor lacks {', '.join(missing)}; leave it out")
        return wanted
    came = shipped_for()
    return host() if came is None or misfit() else came


class OtherCodegen(JITCPUCodegen):
    """Numba's code generator for a processor that is not this one."""

    def __init__(self, wanted: Processor) -> None:
        self._wanted = wanted
        super().__init__("sesshoku")

    def _get_host_cpu_name(self) -> str:
        return self._wanted.name

    def _get_host_cpu_features(self) -> str:
        return self._wanted.features


@functools.cache
def _other_codegen(wanted: Processor) -> OtherCodegen:
    return OtherCodegen(wanted)


def translator(codegen: Any) -> Any:
    """The code generator that optimises and translates: Numba's, unless code is for another processor."""
    return codegen if processor() == host() else _other_codegen(processor())
