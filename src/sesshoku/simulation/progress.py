"""A progress bar over the steps of a run."""

from __future__ import annotations

import time as wall


class Progress:
    """A rich progress bar, refreshed at most ten times a second."""

    def __init__(self, steps: int) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:3.0f} %"),
                        TimeRemainingColumn())
        self._task = self._bar.add_task("simulating", total=max(steps, 1))
        self._bar.start()
        self._next = 0.0

    def update(self, done: int) -> None:
        now = wall.perf_counter()
        if now >= self._next:
            self._bar.update(self._task, completed=done)
            self._next = now + 0.1

    def close(self) -> None:
        self._bar.stop()
