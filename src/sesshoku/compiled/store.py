"""Files of compiled code: checked before they are used, written in one go, bounded in size.

A file carries the hash of its contents and the key it was written under. One that does not match (cut short, a flipped
bit, another file under its name) is removed and made anew. Machine code is never taken from a folder or a file that
another user owns or that others may write to.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAGIC = b"sesshoku-code-1\n"
LIMIT = 1 << 30  # bytes that a store may hold: what was not used for longest goes first
FRESH = 3600.0  # s: what was used within the hour stays
USED = 86400.0  # s: how exactly files remember when they were used


def cache_root() -> Path:
    """Where this package keeps what it can make again: $SESSHOKU_CACHE, else in the user's cache directory."""
    chosen = os.environ.get("SESSHOKU_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "sesshoku"


def distrust(status: os.stat_result) -> str:
    """Why code in a folder or file of this status must not be run; empty where it may."""
    if not hasattr(os, "geteuid"):
        return ""  # a system without these permissions: folders of a user are private
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"may be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def writable(directory: Path) -> bool:
    """Whether the directory exists (made if need be) and takes files; what a read-only disk says only on writing."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=directory):
            os.utime(directory)
    except OSError:
        return False
    return True


def private_directory(name: str) -> Path:
    """A directory for this process only: a fixed name in a shared place could hold another user's code."""
    directory = Path(tempfile.mkdtemp(prefix="sesshoku-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    (directory / name).mkdir(mode=0o700)
    return directory / name


def trusted_directory(directory: Path) -> Path:
    """The directory, or one for this process only where code cannot be kept or must not be trusted there."""
    if not writable(directory):
        return private_directory(directory.name)
    reason = distrust(directory.stat())
    if reason:
        warnings.warn(f"compiled code in {directory} is not used: the folder {reason}. Kernels are compiled for this "
                      f"process alone; remove the folder, or let SESSHOKU_CACHE name one that only you can write to",
                      RuntimeWarning, stacklevel=2)
        return private_directory(directory.name)
    return directory


class Store:
    """Compiled code by kind and key in one directory. before: another store that is looked at first."""

    def __init__(self, directory: Path, before: Store | None = None) -> None:
        self.directory = directory
        self.before = before
        self.seen: dict[tuple[str, str], None] = {}  # kind and key of what was read or written here
        self._wrote = False
        self._refused = False

    def path(self, kind: str, key: str) -> Path:
        """The file of a key."""
        return self.directory / f"{key[:2]}-{kind}" / key[2:]

    def has(self, kind: str, key: str) -> bool:
        """Whether there is a file for the key. Whether it is sound is seen when it is read."""
        return (self.before is not None and self.before.has(kind, key)) or self.path(kind, key).exists()

    def read(self, kind: str, key: str) -> tuple[Any, bytes] | None:
        """Description and code, or None if there is nothing that may be used."""
        found = None if self.before is None else self.before.read(kind, key)
        return self._read(kind, key) if found is None else found

    def _read(self, kind: str, key: str) -> tuple[Any, bytes] | None:
        path = self.path(kind, key)
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                reason = self.distrust(status) or self.distrust(path.parent.stat())
                data = b"" if reason else file.read()
        except OSError:
            return None
        if reason:
            self._refuse(path, reason)
            return None
        found = unpacked(kind, key, data)
        if found is None:
            self.drop(path)
        else:
            self.seen[kind, key] = None
            self.used(path, status)
        return found

    def distrust(self, status: os.stat_result) -> str:
        """Why code in a folder or file of this status must not be run."""
        return distrust(status)

    def drop(self, path: Path) -> None:
        """Remove a damaged file."""
        with contextlib.suppress(OSError):
            path.unlink()

    def used(self, path: Path, status: os.stat_result) -> None:
        """Note that a file was used, to the day."""
        if time.time() - status.st_mtime > USED:
            with contextlib.suppress(OSError):
                os.utime(path)

    def write(self, kind: str, key: str, description: Any, code: bytes) -> None:
        """Keep code; a full or read-only disk is no error."""
        path = self.path(kind, key)
        self.seen[kind, key] = None
        data = packed(kind, key, description, code)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="writing-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        if not self._wrote:
            self._wrote = True
            atexit.register(self.bound)

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """All files with their status."""
        for folder in self.directory.glob("??-*"):
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    with contextlib.suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)

    def bound(self, limit: int = LIMIT) -> None:
        """Remove what was not used for longest, until the rest is within the limit."""
        ages = sorted(((time.time() - status.st_mtime, status.st_size, path) for path, status in self.files()),
                      key=lambda file: file[0])
        total = 0
        for age, size, path in ages:
            total += size
            left_over = path.name.startswith("writing-")
            if age > FRESH and (total > limit or left_over):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _refuse(self, path: Path, reason: str) -> None:
        if not self._refused:
            self._refused = True
            warnings.warn(f"compiled code in {path} is not used: it {reason}; remove {self.directory}", RuntimeWarning,
                          stacklevel=2)


def packed(kind: str, key: str, description: Any, code: bytes) -> bytes:
    """Contents of a file: magic, hash of the rest and of kind and key, length of the description, description, code."""
    head = pickle.dumps(description, protocol=5)
    body = len(head).to_bytes(8, "little") + head + code
    return MAGIC + _checksum(kind, key, body) + body


def unpacked(kind: str, key: str, data: bytes) -> tuple[Any, bytes] | None:
    """Description and code that `packed` was given, or None if the data is not what it wrote."""
    if not sound(kind, key, data):
        return None
    body = data[len(MAGIC) + 32:]
    length = int.from_bytes(body[:8], "little")
    try:
        return pickle.loads(body[8:8 + length]), body[8 + length:]
    except Exception:  # a class that is no longer there: what cannot be read is made anew
        return None


def sound(kind: str, key: str, data: bytes) -> bool:
    """Whether the data is what `packed` wrote for this kind and key."""
    start = len(MAGIC) + 32
    body = data[start:]
    return data.startswith(MAGIC) and len(body) >= 8 and data[len(MAGIC):start] == _checksum(kind, key, body)


def _checksum(kind: str, key: str, body: bytes) -> bytes:
    sha = hashlib.sha256(f"{kind} {key} ".encode())
    sha.update(body)
    return sha.digest()
