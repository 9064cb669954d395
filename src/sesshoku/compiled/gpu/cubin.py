"""Machine code of GPUs, kept in the package's store by content, card and versions.

PTX (`compiled/gpu/ptx.py`) is assembled by `ptxas` where there is one, several side by side, and else by the driver.
"""

from __future__ import annotations

import functools
import importlib
import lzma
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sesshoku.compiled.gpu.ptx import ENTRY, bounded, code_key, in_wheels, ptx_of
from sesshoku.compiled.kernel import store
from sesshoku.compiled.keys import digest
from sesshoku.compiled.prepare.progress import Progress
from sesshoku.errors import SesshokuError


def machine_code(bodies: Mapping[str, Any], capability: tuple[int, int], registers: int = 0,
                 tell: Callable[[Progress], None] | None = None) -> dict[str, bytes]:
    """name -> machine code of the kernel ENTRY whose body is given, for cards of a compute capability.

    registers: most that a thread may have; 0: as many as it takes. tell: called when one more is being compiled.
    """
    found: dict[str, bytes] = {}
    open_: dict[str, Any] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, body in bodies.items():
            source = code_key(body, capability)
            key = digest([source, str(registers)]) if source else ""
            stored = store().read("cubin", key) if key else None
            if stored is not None:
                found[name] = stored[1]
                continue
            if tell is not None:
                tell(Progress(links=len(bodies), links_done=len(found) + len(open_)))
            ptx = bounded(_stored_ptx(body, capability, source), registers)
            open_[name] = key, pool.submit(assembled, ptx, capability)
        for name, (key, future) in open_.items():
            found[name] = future.result()
            if key:
                store().write("cubin", key, {"name": name, "capability": capability}, found[name])
    return found


def _stored_ptx(body: Any, capability: tuple[int, int], key: str) -> str:
    stored = store().read("ptx", key) if key else None
    if stored is not None:
        return lzma.decompress(stored[1]).decode()
    ptx = ptx_of(body, capability)
    if key:
        store().write("ptx", key, {"name": body.py_func.__qualname__}, lzma.compress(ptx.encode(), preset=1))
    return ptx


@functools.cache
def assembler() -> str | None:
    """The program `ptxas`: on the path, of a CUDA toolkit, or of NVIDIA's wheel."""
    places = [Path(os.environ[name]) / "bin" / "ptxas" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places += [Path("/usr/local/cuda/bin/ptxas"), *in_wheels("bin/ptxas")]
    on_path = shutil.which("ptxas")
    return on_path or next((str(path) for path in places if os.access(path, os.X_OK)), None)


def assembled(ptx: str, capability: tuple[int, int]) -> bytes:
    """PTX as machine code."""
    program = assembler()
    if program is None:
        linker = importlib.import_module("cupy.cuda.function").LinkState()
        linker.add_ptr_data(ptx.encode(), f"{ENTRY}.ptx")
        return bytes(linker.complete())
    return run_assembler(program, ptx, capability)[0]


def run_assembler(program: str, ptx: str, capability: tuple[int, int]) -> tuple[bytes, dict[str, int]]:
    """Machine code by `ptxas`, and what a thread takes of the card: registers, bytes of local memory, of spills."""
    with tempfile.TemporaryDirectory(prefix="sesshoku-") as folder:
        source, target = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        run = subprocess.run([program, "-arch=sm_{}{}".format(*capability), "-v", str(source), "-o", str(target)],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise SesshokuError(f"{program} does not assemble a kernel: {run.stderr.strip()[-2000:]}")
        return target.read_bytes(), usage(run.stderr)


def usage(text: str) -> dict[str, int]:
    """What `ptxas -v` says of the kernel."""
    part = text[text.index(f"'{ENTRY}'"):]
    numbers = {"registers": r"Used (\d+) registers", "stack": r"(\d+) bytes stack frame",
               "spills": r"(\d+) bytes spill stores"}
    return {name: int(match[1]) if (match := re.search(pattern, part)) else 0 for name, pattern in numbers.items()}
