"""A copy of the package with two small kernels in two files, run in processes of its own with a store of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from sesshoku.compiled import jit
from sesshoku.compiled.prepare import signatures
from waiting import PATIENCE

SOURCES = Path(jit.__file__).parents[1]
HEAD = ("from sesshoku.compiled.jit import CACHE_DIRECTORY, jit\n"
        "from sesshoku.compiled.prepare.progress import CompileProgress\nfrom sesshoku.caller import shifted\n")
CALLEE = "FACTOR = 2.0\n@jit\ndef scaled(x):\n    return FACTOR * x\n"
CALLER = "from sesshoku.callee import scaled\n@jit\ndef shifted(x):\n    return scaled(x) + 1.0\n"
#: prints the result and what was done for it: runs of the front end, entries linked, entries read
COUNTS = ("import json\nfrom sesshoku.compiled import kernel\nvalue = shifted(10.0)\n"
          "print(json.dumps([value, *(kernel.counts[what] for what in ('front end', 'entry', 'entry read'))]))")
#: the same with every kernel a unit of its own
UNITS_REPORT = ("from sesshoku.compiled import kernel, library\nlibrary.units_of.__defaults__ = (1,)\n"
                "print(shifted(10.0))")


class Package:
    """The copy, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "src"
        self.package = self.root / "sesshoku"
        self.cache = folder / "cache"
        shutil.copytree(SOURCES / "compiled", self.package / "compiled", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__", "shipped", "*.json"))
        shutil.copy(SOURCES / "errors.py", self.package / "errors.py")
        (self.package / "__init__.py").write_text("")
        self.write("callee", CALLEE)
        self.write("caller", CALLER)

    def write(self, name: str, text: str) -> None:
        (self.package / f"{name}.py").write_text("from sesshoku.compiled.jit import jit\n" + text)

    def environment(self, **variables: str) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self.root), "SESSHOKU_CACHE": str(self.cache),
                             "NUMBA_DISABLE_JIT": "0"} | variables

    def start(self, code: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", HEAD + code], env=self.environment(**variables), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.root)

    def run(self, code: str = "print(shifted(10.0))", **variables: str) -> subprocess.CompletedProcess[str]:
        with self.start(code, **variables) as process:
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        return subprocess.CompletedProcess(process.args, 0, out, err)

    def counts(self, **variables: str) -> list[float]:
        """Result, kernels through the front end, entries linked, entries read."""
        found: list[float] = json.loads(self.run(COUNTS, **variables).stdout)
        return found

    def files(self, kind: str) -> list[Path]:
        """The stored files of a kind."""
        return sorted((self.cache / "kernels").glob(f"??-{kind}/*"))


def chain_package(folder: Path, count: int) -> Package:
    """A package with so many kernels, each of which calls the one before, in a module with an entry like a method's."""
    package = Package(folder)
    lines = ["@jit\ndef level0(x):\n    return x + 1.0\n"]
    lines += [f"@jit\ndef level{n}(x):\n    return level{n - 1}(x) + 1.0\n" for n in range(1, count)]
    lines += [f"@jit\ndef run(options, dt, steps):\n    return level{count - 1}(dt) + options[0] + steps\n"]
    package.write("method", "\n".join(lines))
    listed = {f"sesshoku.method:level{n}": [["float64"]] for n in range(count)}
    signatures.write(listed, package.package / "compiled" / "prepare" / "signatures.json")
    return package
