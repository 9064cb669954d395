"""Code that came with the package: a wheel's folder of finished kernels, read-only, looked at before the user's store.

The folder has the layout of a store (`compiled/store.py`) and a description, `code.json`: for which processor, by which
versions. Where a version differs the folder is left alone and kernels are compiled; where the processor lacks something
the bitcode serves, and machine code is made of it. Each file is checked before it is used, as in every store.
"""

from __future__ import annotations

import functools
import json
import os
import stat
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from sesshoku.compiled.store import Store, sound
from sesshoku.compiled.target import Processor, host, processor

FOLDER = Path(__file__).with_name("shipped")
DESCRIPTION = "code.json"


def versions() -> dict[str, str]:
    """What finished code depends on: Numba and LLVM exactly, the binary interfaces of NumPy and Python."""
    return {"numba": numba.__version__, "llvmlite": llvmlite.__version__, "numpy": np.__version__.partition(".")[0],
            "python": str(sys.implementation.cache_tag)}


@functools.cache
def described() -> dict[str, Any] | None:
    """The description of the folder; None where there is none that can be read."""
    try:
        found = json.loads((FOLDER / DESCRIPTION).read_text("utf-8"))
        Processor(**found["processor"])
        return {"versions": dict(found["versions"]), "processor": found["processor"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def shipped_for() -> Processor | None:
    """The processor that the folder's code is for."""
    found = described()
    return None if found is None else Processor(**found["processor"])


def foreign() -> str:
    """Why nothing of the folder can serve in this process, not even bitcode; empty where it can."""
    found, came = described(), shipped_for()
    if found is None or came is None:
        return "no code came with the package"
    for name, here in versions().items():
        if found["versions"].get(name) != here:
            return f"it was made with {name} {found['versions'].get(name)}, here is {here}"
    return f"it is for {came.triple}, this is {host().triple}" if came.triple != host().triple else ""


def misfit() -> str:
    """Why the folder's machine code cannot serve in this process; empty where it can."""
    came = shipped_for()
    lacking = [] if came is None else host().lacks(came)
    return foreign() or (f"this processor lacks {', '.join(lacking)}" if lacking else "")


class ShippedStore(Store):
    """A store that is never written to; as trustworthy as the sources of the package beside it."""

    def distrust(self, status: os.stat_result) -> str:
        ours = os.stat(__file__)
        if status.st_uid != ours.st_uid:
            return "belongs to another user than the package"
        others = stat.S_IWGRP | stat.S_IWOTH
        if status.st_mode & others & ~ours.st_mode:
            return f"may be written by others (mode {stat.S_IMODE(status.st_mode):o})"
        return ""

    def has(self, kind: str, key: str) -> bool:
        """Whether there is a sound file: one that is not would never be made anew here."""
        try:
            return sound(kind, key, self.path(kind, key).read_bytes())
        except OSError:
            return False

    def used(self, path: Path, status: os.stat_result) -> None:
        """Nothing is noted here."""

    def drop(self, path: Path) -> None:
        """A damaged file stays; what is made anew goes to the user's store."""

    def write(self, kind: str, key: str, description: Any, code: bytes) -> None:
        raise RuntimeError(f"{self.directory} came with the package: nothing is written there")


def pack(used: Store, folder: Path) -> int:
    """Put what this process read and wrote of a store into a folder to be shipped, with its description; how many."""
    packed = Store(folder)
    for kind, key in used.seen:
        data, place = used.path(kind, key).read_bytes(), packed.path(kind, key)
        if not sound(kind, key, data):
            raise ValueError(f"{used.path(kind, key)} is damaged")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    text = json.dumps({"processor": asdict(processor()), "versions": versions()}, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", "utf-8")
    return len(used.seen)


def shipped_store() -> ShippedStore | None:
    """The folder as a store, where it can serve. Keys of machine code name its processor: no other finds it."""
    return None if foreign() else ShippedStore(FOLDER)
