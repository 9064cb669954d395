"""A cold start on two cores: parts of a method are compiled in processes of their own, and meet in the cache on disk.

Numba compiles in one thread. A method lists its large, independent parts (`PARTS`: function -> argument types); when
its compiled code is not in the cache yet, the last of them is compiled by a child process while this one compiles the
others, then loads that one from the cache and links the whole. With a warm cache nothing is started.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from typing import Any

from numba import types
from numba.core import config

from sesshoku.compiled.jit import module_cache
from sesshoku.compiled.table import Record, RecordType

#: a part: "module:function", and for each argument a record class, float, int or "options" (a float array)
Part = tuple[str, tuple[Any, ...]]


def numba_type(argument: Any) -> types.Type:
    """The Numba type of an argument of a part."""
    if isinstance(argument, type) and issubclass(argument, Record):
        return RecordType(argument.type_name)
    if argument == "options":
        return types.Array(types.float64, 1, "C")
    return types.float64 if argument is float else types.int64


def compile_part(part: Part) -> None:
    """Compile one function for the types of its arguments, into the cache."""
    module, _, name = part[0].partition(":")
    function = getattr(importlib.import_module(module), name)
    function.compile(tuple(numba_type(argument) for argument in part[1]))


def _spelled(part: Part) -> str:
    """A part as text for a child process: record classes by module and name."""
    arguments = [f"{a.__module__}:{a.__qualname__}" if isinstance(a, type) and issubclass(a, Record) else
                 (a if isinstance(a, str) else a.__name__) for a in part[1]]
    return json.dumps([part[0], arguments])


def _read(text: str) -> Part:
    name, arguments = json.loads(text)
    plain: dict[str, Any] = {"float": float, "int": int, "options": "options"}
    found = []
    for argument in arguments:
        module, _, attribute = argument.partition(":")
        found.append(plain[argument] if argument in plain else getattr(importlib.import_module(module), attribute))
    return name, tuple(found)


def compile_parts(module: str, parts: list[Part]) -> None:
    """Compile the parts of a method's module side by side, once per state of its sources."""
    marker = module_cache(module) / "prepared"
    if config.DISABLE_JIT or marker.exists() or len(parts) < 2 or (os.cpu_count() or 1) < 2:
        return
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen([sys.executable, "-m", "sesshoku.compiled.prepare", _spelled(parts[-1])], env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for part in parts[:-1]:
            compile_part(part)
    finally:
        failed = child.wait()  # a child that failed only costs time: the part is compiled here
    if not failed:
        marker.touch()


if __name__ == "__main__":
    compile_part(_read(sys.argv[1]))
