"""How far a sweep is: a bar with rate and time left in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from sesshoku.compiled.prepare.progress import seconds

LINES = 20  # where there is no terminal
SOONEST = 2.0  # s between them


class Bar:
    """progress: True for a bar or lines on stderr, False for silence, or a function that is told each line."""

    def __init__(self, total: int, done: int, progress: bool | Callable[[str], None]) -> None:
        self._total, self._begun, self.done, self.failed = total, done, done, 0
        self._tell = progress if callable(progress) else _to_stderr if progress else None
        self._terminal = progress is True and sys.stderr.isatty()
        self._bar: Any = None
        self._start = self._said = time.monotonic()
        self._next = done

    def __enter__(self) -> Bar:
        self._start = time.monotonic()
        if self._terminal:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(TextColumn("  runs"), BarColumn(), TextColumn("{task.fields[text]}"),
                                 console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total, completed=self.done, text=self.text())
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, text=self.text())
        elif self._tell is not None:
            now = time.monotonic()
            due = self.done >= self._next and now - self._said >= SOONEST
            if due or self.done == self._total:
                self._tell(self.text())
                self._said, self._next = now, self.done + max(self._total // LINES, 1)

    def text(self) -> str:
        """Such as "1200 of 10000 runs, 35 /s, 4 min left, 3 failed"."""
        said = [f"{self.done} of {self._total} runs"]
        made, spent = self.done - self._begun, time.monotonic() - self._start
        if made and spent > 0.0 and self.done < self._total:
            rate = made / spent
            said += [f"{rate:.3g} /s" if rate >= 0.1 else f"{60.0 * rate:.3g} /min",
                     f"{seconds((self._total - self.done) / rate)} left"]
        if self.failed:
            said.append(f"{self.failed} failed")
        return ", ".join(said)


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)
