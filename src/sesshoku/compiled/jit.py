"""How this package compiles: one decorator, one cache directory, one progress line.

Numba's own on-disk cache stamps only the file of the function itself, so an edited callee in another file leaves stale
machine code behind. Here the kernels of a module are cached in a directory named by a hash over the module and all
modules of the package it imports, directly or through others (`compiled/sources.py`): an edit means new directories
for whatever could have been compiled with the edited file, and for nothing else. Where the sources lie does not matter:
two checkouts of the same sources share what either compiled.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import config
from numba.core.caching import UserProvidedCacheLocator

from sesshoku.compiled.sources import source_hash

KEPT_CACHES = 4  # directories of a module's older sources kept, newest first,
KEPT_SECONDS = 3600.0  # and those used less than an hour ago: a running process may still write there


def cache_root() -> Path:
    """Where this package keeps what it can make again: $SESSHOKU_CACHE, else in the user's cache directory."""
    chosen = os.environ.get("SESSHOKU_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "sesshoku"


def _writable(directory: Path) -> bool:
    """Whether the directory exists (made if need be) and takes files; what a read-only disk says only on writing."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=directory):
            os.utime(directory)
    except OSError:
        return False
    return True


def _drop_old(root: Path) -> None:
    """Remove the directories of older sources. Another process may be at the same work: what is gone is gone."""
    ages: dict[str, list[tuple[float, Path]]] = {}
    for path in root.iterdir():
        with contextlib.suppress(OSError):
            if path.is_dir():
                ages.setdefault(path.name.partition("-")[0], []).append((time.time() - path.stat().st_mtime, path))
    for found in ages.values():
        for age, path in sorted(found)[KEPT_CACHES:]:
            if age > KEPT_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _choose_cache_directory() -> Path:
    root = cache_root() / "compiled"
    if _writable(root):
        _drop_old(root)
        return root
    # A directory of our own for this process only: a fixed name in a shared place could hold another user's code,
    # and Numba left alone would cache beside the sources, where an edited callee goes unnoticed.
    directory = Path(tempfile.mkdtemp(prefix="sesshoku-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


CACHE_DIRECTORY = _choose_cache_directory()


@functools.cache
def module_cache(module: str) -> Path:
    """The directory of a module's kernels, marked as used now."""
    directory = CACHE_DIRECTORY / f"{module}-{source_hash(module)}"
    with contextlib.suppress(OSError):
        directory.mkdir(exist_ok=True, mode=0o700)
        os.utime(directory)
    return directory


class SharedLocator(UserProvidedCacheLocator):
    """Where Numba keeps a kernel: in the directory of its module, which is named by content, not by path."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return ""


CONTRACT = {"contract"}  # a * b + c in one rounding (fused): keeps the order of operations, no other fast-math liberty


def jit(function: Callable[..., Any] | None = None, *, fastmath: Any = CONTRACT, inline: str = "never",
        into_callers: bool = False) -> Any:
    """Compile a kernel: float64, no Python objects, division by zero gives inf, result cached on disk.

    into_callers: a small leaf of a hot loop, whose call must cost nothing (the optimiser is told to always inline it).
    """

    def compile_(target: Callable[..., Any]) -> Any:
        # Numba settles where a function is cached when it is decorated. Set only for that moment, the settings
        # serve this package alone, and a later change of a NUMBA_ variable (which resets them) does no harm.
        before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
        config.CACHE_DIR = str(module_cache(target.__module__))
        config.CACHE_LOCATOR_CLASSES = f"{SharedLocator.__module__}.{SharedLocator.__name__}"
        try:
            kernel = numba.njit(cache=True, error_model="numpy", fastmath=fastmath, inline=inline,
                                forceinline=into_callers)(target)
            return kernel if config.DISABLE_JIT else _without_literals(kernel)
        finally:
            config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before

    return compile_ if function is None else compile_(function)


def _without_literals(kernel: Any) -> Any:
    """Let calls with 0 and with 1 share one compiled kernel.

    Numba would compile it again for every literal argument.
    """
    resolve = kernel.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()})

    kernel.get_call_template = get_call_template
    return kernel


class CompileProgress:
    """Prints one line while the first call of something compiles; silent when the cache is warm.

    Used as a context manager around a call that may compile: it listens to Numba's compile events.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.said = False

    def __enter__(self) -> CompileProgress:
        from numba.core import event

        progress = self

        class Listener(event.Listener):
            def on_start(self, event_: Any) -> None:
                if not progress.said and sys.stderr is not None:
                    progress.said = True
                    sys.stderr.write(f"sesshoku: compiling {progress.what} (first run only; kept in the cache) ...")
                    sys.stderr.flush()

            def on_end(self, event_: Any) -> None:
                pass

        self._listener = Listener()
        event.register("numba:compile", self._listener)
        return self

    def __exit__(self, *_: Any) -> None:
        from numba.core import event

        event.unregister("numba:compile", self._listener)
        if self.said:
            sys.stderr.write(" done\n")
            sys.stderr.flush()
