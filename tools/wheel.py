"""`make wheel`: a wheel that needs no compiler, for processors since about 2013.

`python tools/wheel.py [--out dist] [METHOD...]` compiles all methods for the baseline of this kind of machine
(`sesshoku/compiled/target.py`) and builds a wheel of this Python's version with the finished code in it. The same on
arm64 and on macOS gives their wheels; nothing is compiled for another kind of machine than the one it runs on.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = ROOT / "build" / "code"


def tag() -> str:
    """The wheel's tag. manylinux: the code needs nothing of the system but what Numba's own wheels need."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    if sys.platform == "linux":
        machine = platform.machine()
        return f"{python}-{python}-manylinux_2_17_{machine}.manylinux2014_{machine}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def build(out: Path, code: Path = CODE, methods: tuple[str, ...] = ()) -> Path:
    """Compile, and build the wheel into a folder; its path."""
    from sesshoku.compiled.target import baseline

    environment = os.environ | {"SESSHOKU_CPU": baseline().name}
    subprocess.run([sys.executable, str(ROOT / "tools" / "tour.py"), str(code), *methods], env=environment, check=True)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.whl")}
    environment |= {"SESSHOKU_WHEEL_CODE": str(code), "SESSHOKU_WHEEL_TAG": tag()}
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)], env=environment,
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    made = [path for path in out.glob("*.whl") if before.get(path.name) != path.stat().st_mtime_ns]
    return made[0]


def install(wheel: Path, place: Path) -> tuple[Path, Path]:
    """A clean virtual environment with the wheel and, from this one, what it depends on; its Python and packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python), "install",
                    "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    packages = Path(sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})["purelib"])
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python, packages


def without_settings(home: Path) -> dict[str, str]:
    """The environment variables of somebody who set none of ours, with a home of their own."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "SESSHOKU", "NUMBA", "XDG"))} | {"HOME": str(home)}


def main() -> None:
    """Build the wheel and say how large it is."""
    words = sys.argv[1:]
    out = ROOT / "dist"
    if words[:1] == ["--out"]:
        out, words = Path(words[1]).absolute(), words[2:]
    made = build(out, methods=tuple(words))
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
