"""Threads that step worlds.

Each thread has a lane. It takes some worlds, binds its tables to them, makes all their steps in one compiled call that
does not hold Python's lock, and takes the next: who is done earlier does more. Which thread steps a world, and after
which others, changes nothing in what the world does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from numba.core import config

from sesshoku.simulation.batch.memory import Lane, MakeLane

SHARES = 4  # blocks of worlds for each thread, at least: that none waits long for the last
SLICE = 0.05  # s of one compiled call, about: then Ctrl-C is heeded
GROWTH = 8  # from one slice to the next, at most

#: makes steps of the worlds a lane is bound to: (lane, worlds, steps) -> steps made by each, and how many worlds it has
#: been through, of which only the last may have stopped early
Work = Callable[[Lane, np.ndarray, int], tuple[np.ndarray, int]]


def usable_cores() -> int:
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """`threads` lanes, and the threads that work with them where there is more than one."""

    def __init__(self, threads: int, make_lane: MakeLane) -> None:
        self.threads = 1 if config.DISABLE_JIT else threads
        self._make_lane = make_lane
        self._lanes: list[Lane | None] = [None] * self.threads
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._pace = 1.0  # steps of one world that fit into a slice, as last seen

    def lane(self, number: int = 0) -> Lane:
        """The lane of a thread, made when it is first needed."""
        found = self._lanes[number]
        if found is None:
            found = self._lanes[number] = self._make_lane()
        return found

    def step(self, worlds: np.ndarray, steps: int, work: Work) -> np.ndarray:
        """Have steps of these worlds made; how many each made before its state stopped being finite."""
        done = np.zeros(len(worlds), dtype=np.int64)
        size = max(1, min(self.lane().capacity, -(-len(worlds) // (SHARES * self.threads))))
        blocks = iter(range(0, len(worlds), size))
        stop = threading.Event()

        def serve(number: int) -> None:
            while not stop.is_set():
                with self._lock:
                    first = next(blocks, None)
                if first is None:
                    return
                here = slice(first, first + size)
                self._step_block(number, worlds[here], steps, done[here], work, stop)

        running = self._start(serve, min(self.threads, -(-len(worlds) // size)))
        try:
            serve(0)
        except BaseException:  # Ctrl-C above all: the others end the slice they are in
            stop.set()
            raise
        finally:
            failures = [one.exception() for one in running]
        for failure in failures:
            if failure is not None:
                raise failure
        return done

    def _start(self, serve: Callable[[int], None], wanted: int) -> list[Future[None]]:
        """Have threads serve beside this one, `wanted` in all."""
        if wanted < 2:
            return []
        if self._pool is None or self._process != os.getpid():  # threads do not survive a fork
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="sesshoku-batch")
        return [self._pool.submit(serve, number) for number in range(1, wanted)]

    def _step_block(self, number: int, worlds: np.ndarray, steps: int, done: np.ndarray, work: Work,
                    stop: threading.Event) -> None:
        """All steps of a few worlds, in calls of about a slice each. done (worlds): where to count what was made."""
        going, left = np.arange(len(worlds)), steps
        while left > 0 and len(going) and not stop.is_set():
            count = int(min(left, max(1.0, self._pace / len(going))))
            begin = perf_counter()
            made = self._make_steps(number, worlds[going], count, work)
            took, total = perf_counter() - begin, float(count * len(going))
            self._pace = min(SLICE * total / max(took, 1e-9), GROWTH * max(total, self._pace))
            done[going] += made
            going, left = going[made == count], left - count

    def _make_steps(self, number: int, worlds: np.ndarray, steps: int, work: Work) -> np.ndarray:
        """Steps of a few worlds; how many each made.

        A world that stops being finite leaves numbers in the work space that are not: a new lane follows it.
        """
        made, at = np.zeros(len(worlds), dtype=np.int64), 0
        while at < len(worlds):
            lane = self.lane(number)
            lane.bind(worlds[at:])
            part, through = work(lane, worlds[at:], steps)
            made[at:at + through] = part[:through]
            at += through
            if part[through - 1] < steps:
                self._lanes[number] = None
        return made


def run_lane(run_worlds: Any, dt: float) -> Work:
    """What makes plain steps."""

    def work(lane: Lane, worlds: np.ndarray, steps: int) -> tuple[np.ndarray, int]:
        made, tables = np.zeros(len(worlds), dtype=np.int64), lane.tables
        return made, int(run_worlds(tables["model"], tables["data"], tables["work"], dt, steps, made))

    return work
