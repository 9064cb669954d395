"""Which sources a module's compiled code can come from: the module and what it imports of this package, transitively.

Imports are found in the text, wherever they stand in a file; the package writes them in full (`from sesshoku.a.b import
c`), which the tests check. What users build and read (`scene`, errors) does not count, but for the arrays it becomes
(`scene.model`): kernels see nothing else of a scene, which the tests check as well, so an edit in a reader or an error
text compiles nothing anew.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
from pathlib import Path

import numba

PACKAGE = Path(__file__).resolve().parent.parent.parent
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(sesshoku[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)"  # one line, or names in brackets
    r"|import[ \t]+(sesshoku[\w.]*))", re.MULTILINE)

UNSEEN = ("sesshoku.scene", "sesshoku.robots", "sesshoku.errors")  # no kernel takes code or constants from these,
SEEN = ("sesshoku.model.arrays",)  # but from this


def unseen(module: str) -> bool:
    """Whether no kernel of another module takes anything from this one."""
    return module not in SEEN and any(module == name or module.startswith(name + ".") for name in UNSEEN)


def _file(module: str) -> Path | None:
    """The file of a module of this package, or None if there is no such module."""
    inner = module.split(".")[1:]
    path = PACKAGE.joinpath(*inner)
    for candidate in (path / "__init__.py", path.with_suffix(".py") if inner else path):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def _read(module: str) -> tuple[bytes, tuple[str, ...]]:
    """Hash of a module's file, and the modules of this package it imports."""
    path = _file(module)
    text = path.read_bytes() if path else b""
    found = set()
    for source, names, plain in IMPORT.findall(text.decode()):
        if plain:
            found.add(plain)
            continue
        found.add(source)
        for name in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", names):
            if _file(f"{source}.{name}"):
                found.add(f"{source}.{name}")
    return hashlib.sha256(text).digest(), tuple(sorted(found))


def sources_of(module: str) -> list[str]:
    """The module and every module of this package it can take code or constants from."""
    seen, open_ = {module}, [module]
    while open_:
        for name in _read(open_.pop())[1]:
            if name not in seen and not unseen(name):
                seen.add(name)
                open_.append(name)
    return sorted(seen)


def every_module() -> list[str]:
    """All modules of the package."""
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts]
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def source_hash(module: str) -> str:
    """Hash over the sources of a module and what compiles them; of a module elsewhere, over the whole package."""
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()} {platform.machine()}".encode())
    for name in ("NUMBA_BOUNDSCHECK", "NUMBA_OPT"):
        digest.update(os.environ.get(name, "").encode() + b"|")
    ours = module == PACKAGE.name or module.startswith(PACKAGE.name + ".")
    for name in sources_of(module) if ours else every_module():
        digest.update(name.encode() + _read(name)[0])
    return digest.hexdigest()[:16]
