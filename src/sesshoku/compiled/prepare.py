"""A cold start on all cores: parts of methods are compiled by processes of their own, and meet in the cache on disk.

Numba compiles in one thread. A method lists its large, independent parts (`PARTS`: function -> argument types); while
they are not in the cache yet, child processes compile them side by side, and what links them (`run`) comes last and
finds them there. With a warm cache nothing is started.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import types
from numba.core import config

from sesshoku.compiled.plain import module_cache
from sesshoku.compiled.table import Record, RecordType

#: a part: "module:function", and for each argument a record class, float, int, "options" or "table" (arrays)
Part = tuple[str, tuple[Any, ...]]
ARRAYS = {"options": types.Array(types.float64, 1, "C"), "table": types.Array(types.int64, 1, "C")}


def numba_type(argument: Any) -> types.Type:
    """The Numba type of an argument of a part."""
    if isinstance(argument, type) and issubclass(argument, Record):
        return RecordType(argument.type_name)
    if argument in ARRAYS:
        return ARRAYS[argument]
    return types.float64 if argument is float else types.int64


def compile_part(part: Part) -> None:
    """Compile one function for the types of its arguments, into the cache."""
    module, _, name = part[0].partition(":")
    function = getattr(importlib.import_module(module), name)
    function.compile(tuple(numba_type(argument) for argument in part[1]))


def spelled(part: Part) -> str:
    """A part as a line of text for a child process: record classes by module and name."""
    arguments = [f"{a.__module__}:{a.__qualname__}" if isinstance(a, type) and issubclass(a, Record) else
                 (a if isinstance(a, str) else a.__name__) for a in part[1]]
    return json.dumps([part[0], arguments])


def read_part(text: str) -> Part:
    """The part that `spelled` wrote."""
    name, arguments = json.loads(text)
    plain: dict[str, Any] = {"float": float, "int": int} | {array: array for array in ARRAYS}
    found = []
    for argument in arguments:
        module, _, attribute = argument.partition(":")
        found.append(plain[argument] if argument in plain else getattr(importlib.import_module(module), attribute))
    return name, tuple(found)


def linked(method: ModuleType) -> Part:
    """The entry of a method as a part: what links all others. Its arguments are told by their names."""
    entry, kinds = getattr(method, "LINKED", method.run).py_func, {"options": "options", "dt": float, "steps": int}
    return (f"{entry.__module__}:{entry.__name__}",
            tuple(kinds.get(name, "table") for name in inspect.signature(entry).parameters))


def marker(method: ModuleType) -> Path:
    """A file that says that the parts of a method were compiled from the present sources."""
    return module_cache(method.__name__) / "prepared"


def compile_side_by_side(parts: list[Part], processes: int, say: Callable[[str], None]) -> bool:
    """Compile parts in child processes, telling each; True if all went well.

    What failed is compiled by whoever calls it, and fails there with its reason.
    """
    waiting, failed = deque(parts), []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def serve() -> None:
        with subprocess.Popen([sys.executable, "-m", "sesshoku.compiled.prepare"], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdin is not None and child.stdout is not None
            try:
                while waiting:
                    part = waiting.popleft()
                    child.stdin.write(spelled(part) + "\n")
                    child.stdin.flush()
                    if child.stdout.readline().strip() != "done":
                        failed.append(part[0])
                        break
                    say(part[0])
            except (OSError, IndexError):  # the child is gone, or another thread took the last part
                failed.extend([] if child.poll() is None else ["a child"])

    threads = [threading.Thread(target=serve) for _ in range(min(processes, len(parts)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return not failed


def prepare(methods: list[ModuleType], progress: Callable[[str, float], None] = lambda part, share: None) -> None:
    """Compile what is missing of these methods, side by side, telling each part and the share that is done.

    Of one method only the parts: the caller's own call of `run` links them. Of several also `run`.
    """
    cold = [method for method in methods if not marker(method).exists()]
    processes = 1
    if config.DISABLE_JIT or not cold or processes < 2:
        return
    most = max(len(method.PARTS) for method in cold)
    ranked = [method.PARTS[rank] for rank in range(most) for method in cold if rank < len(method.PARTS)]
    stages = [list(dict.fromkeys(ranked)), [linked(method) for method in cold] if len(methods) > 1 else []]
    done, total = 0, sum(map(len, stages))

    def say(part: str) -> None:
        nonlocal done
        done += 1
        progress(part, done / total)

    for stage in stages:
        compile_side_by_side(stage, processes, say)
    for method in cold:
        marker(method).touch()  # also where a part failed: it would fail again


if __name__ == "__main__":
    for line in sys.stdin:
        compile_part(read_part(line))
        print("done", flush=True)
