"""Many runs spread over all processor cores, with a bar that shows how far they are; outcomes are kept on disk.

A map of hundreds of walks takes long; one that was interrupted goes on where it stopped. What is kept belongs to the
sources it was made with: any change of the package begins anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from sesshoku.compiled.jit import CACHE_DIRECTORY
from sesshoku.compiled.plain.sources import source_hash

Case = TypeVar("Case")
WHOLE_PACKAGE = ""  # methods are imported by name: no import tells which a run depends on
TOLD = 20  # lines of progress where there is no terminal


def cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(function: Callable[[Case], Any], cases: Sequence[Case], progress: Callable[[str], None],
            workers: int | None = None, keep: str | None = None) -> dict[Case, Any]:
    """function(case) of every case, in worker processes (default: one a core). keep: name of a store on disk."""
    store = _Store(keep) if keep is not None else None
    outcome: dict[Case, Any] = {} if store is None else {case: store.known[repr(case)] for case in cases
                                                         if repr(case) in store.known}
    wanted = [case for case in cases if case not in outcome]
    with _bar(len(cases), len(outcome), progress) as advance:
        for case, found in _outcomes(function, wanted, cores() if workers is None else workers):
            outcome[case] = found
            if store is not None:
                store.add(repr(case), found)
            advance()
    return outcome


def _outcomes(function: Callable[[Case], Any], cases: list[Case], workers: int) -> Iterator[tuple[Case, Any]]:
    if workers <= 1 or len(cases) < 2:
        for case in cases:
            yield case, function(case)
        return
    with ProcessPoolExecutor(min(workers, len(cases)), mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(function, case): case for case in cases}
        for job in as_completed(jobs):
            yield jobs[job], job.result()


@contextmanager
def _bar(total: int, done: int, progress: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """A bar in a terminal, else a line now and then."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        with Progress(TextColumn("  runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                      console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total, completed=done)
            yield lambda: bar.advance(task)
        return
    count, every = done, max(total // TOLD, 1)

    def advance() -> None:
        nonlocal count
        count += 1
        if count % every == 0 or count == total:
            progress(f"{count} of {total} runs")

    yield advance


class _Store:
    """Outcomes by the text of their case, a line of JSON each."""

    def __init__(self, name: str) -> None:
        self.path = Path(CACHE_DIRECTORY) / "runs" / f"{name}-{source_hash(WHOLE_PACKAGE)}.jsonl"
        self.known: dict[str, Any] = {}
        if self.path.is_file():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    self.known.update([json.loads(line)])
                except ValueError:  # a line cut off when the machine stopped
                    continue

    def add(self, key: str, value: Any) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, value]) + "\n")
        except OSError:  # no place to keep it: the run goes on
            return


__all__ = ["cores", "run_all"]
