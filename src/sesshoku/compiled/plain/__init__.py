"""Kernels as Numba compiles and caches them, for a version of Numba that `compiled/kernel.py` does not fit.

Numba's own on-disk cache stamps only the file of the function itself, so an edited callee in another file leaves stale
machine code behind. Here the kernels of a module are cached in a directory named by a hash over the module and all
modules of the package it imports, directly or through others (`compiled/plain/sources.py`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import config
from numba.core.caching import UserProvidedCacheLocator

from sesshoku.compiled.plain.sources import source_hash
from sesshoku.compiled.store import cache_root, trusted_directory

KEPT_CACHES = 4  # directories of a module's older sources kept, newest first,
KEPT_SECONDS = 3600.0  # and those used less than an hour ago: a running process may still write there


@functools.cache
def cache_directory() -> Path:
    """The directory of all modules' directories."""
    directory = trusted_directory(cache_root() / "compiled")
    drop_old(directory)
    return directory


def drop_old(root: Path) -> None:
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


@functools.cache
def module_cache(module: str) -> Path:
    """The directory of a module's kernels, marked as used now."""
    directory = cache_directory() / f"{module}-{source_hash(module)}"
    with contextlib.suppress(OSError):
        directory.mkdir(exist_ok=True, mode=0o700)
        os.utime(directory)
    return directory


class SharedLocator(UserProvidedCacheLocator):
    """Where Numba keeps a kernel: in the directory of its module, which is named by content, not by path."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return ""


def plain_kernel(target: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel of Numba's own decorator."""
    # Numba settles where a function is cached when it is decorated. Set only for that moment, the settings
    # serve this package alone, and a later change of a NUMBA_ variable (which resets them) does no harm.
    before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    config.CACHE_DIR = str(module_cache(target.__module__))
    config.CACHE_LOCATOR_CLASSES = f"{SharedLocator.__module__}.{SharedLocator.__name__}"
    try:
        kept = Path(target.__code__.co_filename).is_file()  # Numba keeps no code of functions that are no file's
        return _without_literals(numba.njit(cache=kept, **options)(target))
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before


def _without_literals(kernel: Any) -> Any:
    """Let calls with 0 and with 1 share one compiled kernel.

    Numba would compile it again for every literal argument.
    """
    resolve = kernel.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return resolve(tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()})

    kernel.get_call_template = get_call_template
    return kernel
