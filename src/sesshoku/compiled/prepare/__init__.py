"""A cold start on all cores: kernels are compiled by processes of their own, callees first, and meet in the store.

First the front end, kernel by kernel, each once, for the argument types that `signatures` lists; then machine code,
unit by unit (`compiled/library.py`). What is in the store is not made again, whoever made it; with a warm store nothing
is started. Whatever the children (`worker`) cannot do is done, or fails with its reason, in the process that calls.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numba.core.event as numba_event
from numba import types
from numba.core import config

from sesshoku.compiled.jit import uses_numba
from sesshoku.compiled.prepare.progress import KERNEL_SECONDS, UNIT_KERNELS, Progress
from sesshoku.compiled.prepare.signatures import listed, read_type, spelled_all
from sesshoku.errors import SesshokuError

ARGUMENTS = {"options": types.Array(types.float64, 1, "C"), "dt": types.float64, "steps": types.int64}
TABLE = types.Array(types.int64, 1, "C")
ALONE, ENTRY_SECONDS = 3.0, 3.0  # s of work below which children are not worth their start; of an entry's machine code
#: variables that would make a child do something else than compile
HOOKS = ("PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONSTARTUP", "PYTHONPROFILEIMPORTTIME", "PYTHONDEVMODE",
         "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG", "NUMBA_ENABLE_PROFILING")


class CompileError(SesshokuError):
    """Kernels that could not be compiled, each with its reason."""


@dataclass
class Task:
    """Something a child can do."""

    do: str  # kernel, unit or entry
    name: str
    args: list[Any]
    unit: str = ""
    waits_for: set[int] = field(default_factory=set)  # tasks that must be done before

    def line(self) -> str:
        """As text for a child."""
        return json.dumps({"do": self.do, "name": self.name, "args": self.args, "unit": self.unit}) + "\n"


def entry_of(method: ModuleType) -> tuple[Any, tuple[Any, ...]]:
    """The entry of a method and the types of its arguments, which their names tell."""
    entry = method.run
    return entry, tuple(ARGUMENTS.get(name, TABLE) for name in inspect.signature(entry.py_func).parameters)


def missing_kernels(entries: list[tuple[Any, Any]]) -> list[Task]:
    """The listed kernels of entries that are not in the store, callees first."""
    from sesshoku.compiled.kernel import store

    kernels: dict[Any, None] = {}
    for entry, _ in entries:
        kernels |= entry.reached()
    tasks: list[Task] = []
    numbers: dict[Any, set[int]] = {}  # kernel -> its tasks

    def visit(kernel: Any) -> None:
        open_ = [(kernel, iter(kernel.content.kernels))]
        numbers[kernel] = set()
        while open_:
            kernel, rest = open_[-1]
            callee = next(rest, None)
            if callee is not None:
                if callee not in numbers:
                    numbers[callee] = set()
                    open_.append((callee, iter(callee.content.kernels)))
                continue
            open_.pop()
            waits = set().union(*(numbers[callee] for callee in kernel.content.kernels))
            for name, spelled, args in wanted(kernel, entries):
                key = kernel.key(args)
                if key and not store().has("kernel", key):
                    tasks.append(Task("kernel", name, spelled, waits_for=waits - numbers[kernel]))
                    numbers[kernel] = numbers[kernel] | {len(tasks) - 1}
            numbers[kernel] = numbers[kernel] or waits  # who calls what is there waits for what that calls

    for kernel in kernels:
        if kernel not in numbers:
            visit(kernel)
    return tasks


def wanted(kernel: Any, entries: list[tuple[Any, Any]]) -> Iterator[tuple[str, list[Any], Any]]:
    """Name, spelled and read argument types for which a kernel is to be compiled; none if a child cannot find it."""
    function = kernel.py_func
    name = f"{function.__module__}:{function.__qualname__}"
    if "<" in name or function.__module__ == "__main__" or kernel.targetoptions.get("inline") == "always":
        return
    known = [spelled_all(args) for entry, args in entries if entry is kernel]
    for spelled in [*known, *(args for args in listed().get(name, []) if args not in known)]:
        with contextlib.suppress(ImportError, AttributeError):  # the list is of other sources
            yield name, spelled, tuple(map(read_type, spelled))


class Children:
    """Processes that compile, started when there is something to do."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.errors: dict[str, str] = {}  # name of a kernel -> why it could not be compiled
        self._children: list[subprocess.Popen[str]] = []
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: Any) -> None:
        for child in self._children:
            with contextlib.suppress(OSError):
                child.terminate()
        for child in self._children:
            child.wait()
        self._said.close()

    def _start(self) -> subprocess.Popen[str]:
        """-P: nothing is imported from the working directory that the parent would not import."""
        from sesshoku.compiled.kernel import store

        environment = {name: value for name, value in os.environ.items() if name not in HOOKS}
        environment["SESSHOKU_CACHE"] = str(store().directory.parent)  # also where it is this process's own
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
        return subprocess.Popen([sys.executable, "-P", "-m", f"{__name__}.worker"], env=environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said)

    def work(self, tasks: list[Task], say: Callable[[Task], None]) -> None:
        """Do tasks side by side, each after those it waits for. What fails is noted; what waits for it goes on."""
        todo, done, lock = dict(enumerate(tasks)), set[int](), threading.Condition()
        while len(self._children) < min(self.count, len(tasks)):
            self._children.append(self._start())

        def take() -> int | None:
            with lock:
                while todo:
                    for number, task in todo.items():
                        if task.waits_for <= done:
                            del todo[number]
                            return number
                    lock.wait(1.0)
                return None

        def serve(child: subprocess.Popen[str]) -> None:
            assert child.stdin is not None and child.stdout is not None
            while (number := take()) is not None:
                task = tasks[number]
                try:
                    child.stdin.write(task.line())
                    child.stdin.flush()
                    answer = json.loads(child.stdout.readline() or "null")
                except (OSError, ValueError):
                    answer = None
                if answer is None:
                    self.errors[task.name] = f"{task.name}: the process that compiled it ended ({self._last_words()})"
                elif "error" in answer:
                    self.errors[task.name] = answer["error"]
                with lock:
                    done.add(number)
                    if answer is not None:
                        say(task)
                    lock.notify_all()
                if answer is None:
                    return

        threads = [threading.Thread(target=serve, args=(child,), daemon=True) for child in self._children]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._children = [child for child in self._children if child.poll() is None]

    def _last_words(self) -> str:
        self._said.flush()
        self._said.seek(0)
        lines = self._said.read().strip().splitlines()
        return lines[-1] if lines else "without a word"


def prepare(methods: list[ModuleType], progress: Callable[[str, float], None] = lambda part, share: None,
            tell: Callable[[Progress], None] = lambda state: None,
            ready: Callable[[ModuleType], None] | None = None) -> None:
    """Compile what is missing of these methods on all cores, telling each part and the share that is done.

    ready(method): called as soon as one is done; they are then compiled one after the other, as given, else together.
    CompileError where several methods are asked for and one cannot be compiled; of one, its own call says why.
    """
    if config.DISABLE_JIT or uses_numba():
        return
    missing = missing_of(methods)
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    kernels = missing_kernels(missing)
    state = Progress(len(kernels), links=expected_links(missing))
    if missing:
        tell(state)
    if not missing or processes < 2 or KERNEL_SECONDS * len(kernels) + ENTRY_SECONDS * len(missing) < ALONE:
        return

    def say(task: Task) -> None:
        state.kernels_done += task.do == "kernel"
        state.links_done += task.do != "kernel"
        progress(task.name, state.share)
        tell(state)

    told = numba_event.trigger_event("numba:compile", data={"dispatcher": missing[0][0], "args": missing[0][1],
                                                            "return_type": None})
    with told, Children(processes) as children:
        groups = [[method] for method in methods] if ready is not None else [methods]
        for number, group in enumerate(groups):
            entries = missing_of(group)
            children.work(missing_kernels(entries), say)
            links = missing_links(entries, children.errors)
            rest = missing_of([method for later in groups[number + 1:] for method in later])
            state.links = state.links_done + len(links) + expected_links(rest)
            children.work(links, say)
            if ready is not None:
                ready(group[0])
        if len(methods) > 1 and children.errors and missing_of(methods):
            raise CompileError("\n".join(children.errors.values()))


def missing_of(methods: list[ModuleType]) -> list[tuple[Any, Any]]:
    """The entries of methods that are not in the store, with the types of their arguments."""
    from sesshoku.compiled.kernel import store

    return [(entry, args) for entry, args in dict(map(entry_of, methods)).items()
            if (key := entry.entry_key(args)) and not store().has("entry", key)]


def expected_links(entries: list[tuple[Any, Any]]) -> int:
    """Roughly how many units and entries are to be made, before the kernels are there to tell."""
    return len({kernel for entry, _ in entries for kernel in entry.reached()}) // UNIT_KERNELS + len(entries)


def missing_links(entries: list[tuple[Any, Any]], errors: dict[str, str]) -> list[Task]:
    """Units and entries that are not in the store; an entry that cannot be compiled is left to its caller."""
    from numba.core.errors import NumbaError

    from sesshoku.compiled.kernel import store
    from sesshoku.compiled.library import units_of

    links: dict[str, Task] = {}
    for entry, args in entries:
        name, spelled = f"{entry.py_func.__module__}:{entry.py_func.__qualname__}", spelled_all(args)
        entry.targetctx.refresh()
        try:
            units = units_of(entry.resolve(args).library)
        except NumbaError as error:
            errors[name] = f"{name}: {error}"
            continue
        for unit in units[:-1]:
            if not store().has("unit", unit.key):
                links.setdefault(unit.key, Task("unit", name, spelled, unit.root.symbol))
        links[f"entry {name}"] = Task("entry", name, spelled)
    return sorted(links.values(), key=lambda task: task.do == "unit")  # the last unit, with the entry, is the largest
