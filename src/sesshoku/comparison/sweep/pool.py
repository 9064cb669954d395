"""Runs on this machine: in processes of their own, in threads, or here.

A process that dies (killed, or crashed in compiled code) takes no other run with it: its run is tried once more, then
it is a row with that error. When the sweep itself is killed its processes end as well.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from multiprocessing import connection
from typing import Any

from sesshoku.comparison.sweep.job import Job, Task
from sesshoku.errors import SceneError

Row = dict[str, Any]
ATTEMPTS = 2  # of a run whose process dies
LOOKED = 0.5  # s between looks at runs that take too long
READY = "ready"


def in_this_process(task: Task, jobs: Sequence[Job]) -> Iterator[Row]:
    """One after the other, here."""
    for job in jobs:
        yield task.row(job)


def in_threads(task: Task, jobs: Sequence[Job], workers: int) -> Iterator[Row]:
    """In threads: for functions that spend their time in compiled code, such as steps of a Batch."""
    waiting: set[Future[Row]] = set()
    with ThreadPoolExecutor(workers, "sesshoku sweep") as pool:
        try:
            for job in jobs:
                waiting.add(pool.submit(task.row, job))
                if len(waiting) >= 2 * workers:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in waiting:
                future.cancel()


def in_processes(task: Task, jobs: Sequence[Job], workers: int, timeout: float | None = None) -> Iterator[Row]:
    """In processes, rows as they are ready. timeout: s after which a run is given up, a row with that error."""
    crew = Processes(task, min(workers, len(jobs)), timeout)
    try:
        yield from crew.rows(jobs)
    finally:
        crew.close()


class Worker:
    """One process, the pipe to it, and the run it is at."""

    def __init__(self, task: Task) -> None:
        context = multiprocessing.get_context("spawn")  # compiled code has threads: a fork might stand still
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(task, theirs), name="sesshoku sweep", daemon=True)
        self.process.start()
        theirs.close()
        self.ready = False
        self.job: Job | None = None
        self.begin = time.perf_counter()

    def give(self, job: Job) -> None:
        self.job, self.begin = job, time.perf_counter()
        self.pipe.send(job)

    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Processes:
    """A fixed number of worker processes; one that dies is replaced."""

    def __init__(self, task: Task, count: int, timeout: float | None) -> None:
        self._task, self._count, self._timeout = task, count, timeout
        self._workers: list[Worker] = []
        self._open: deque[Job] = deque()
        self._attempts: dict[int, int] = {}

    def rows(self, jobs: Sequence[Job]) -> Iterator[Row]:
        self._open.extend(jobs)
        try:
            self._workers = [Worker(self._task) for _ in range(self._count)]
        except (AttributeError, TypeError, ValueError) as error:  # what pickle says of closures
            raise SceneError(f"the function cannot be sent to other processes ({error})", element="sweep",
                             remedy="define it at the top of a module, or give workers=0 to run it here") from error
        left = len(jobs)
        while left:
            for row in self._look():
                left -= 1
                yield row

    def _look(self) -> Iterator[Row]:
        """Wait for something to happen, and hand out what there is to do."""
        for worker in self._workers:
            if worker.ready and worker.job is None and self._open:
                worker.give(self._open.popleft())
        connection.wait([worker.pipe for worker in self._workers], LOOKED if self._timeout is not None else None)
        for worker in list(self._workers):
            try:
                heard = worker.pipe.recv() if worker.pipe.poll() else None
            except (EOFError, ConnectionError):
                yield from self._died(worker)
                continue
            if heard == READY:
                worker.ready = True
            elif isinstance(heard, dict):
                worker.job = None
                yield heard
            elif isinstance(heard, str):
                raise SceneError(f"a worker process could not begin: {heard}", element="sweep",
                                 remedy="the function must be importable there (a script needs its "
                                        "`if __name__ == \"__main__\":`), or give workers=0")
            elif self._timeout is not None and worker.job is not None and worker.seconds() > self._timeout:
                yield self._give_up(worker, f"TimeoutError: not done after {self._timeout:g} s")

    def _died(self, worker: Worker) -> Iterator[Row]:
        worker.process.join()
        code, job = worker.process.exitcode or 0, worker.job
        how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
        if not worker.ready:
            raise SceneError(f"a worker process ended before it could begin ({how})", element="sweep",
                             remedy="a script needs its `if __name__ == \"__main__\":`; or give workers=0")
        if job is None:
            self._replace(worker)
            return
        self._attempts[job.number] = self._attempts.get(job.number, 0) + 1
        if self._attempts[job.number] >= ATTEMPTS:
            yield self._give_up(worker, f"the process died {ATTEMPTS} times at this run: {how}")
        else:
            self._open.appendleft(job)
            self._replace(worker)

    def _give_up(self, worker: Worker, error: str) -> Row:
        assert worker.job is not None
        row = self._task.row_of(worker.job, {}, error, worker.seconds())
        self._replace(worker)
        return row

    def _replace(self, worker: Worker) -> None:
        worker.end()
        self._workers[self._workers.index(worker)] = Worker(self._task)

    def close(self) -> None:
        for worker in self._workers:
            worker.end()


def work(task: Task, pipe: connection.Connection) -> None:
    """What a worker process does: a run for every job that it is sent, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sweep, which then ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe.send(READY)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, ConnectionError):
            return
        row = task.row(job)
        try:
            pipe.send(row)
        except ConnectionError:
            return


def _end_with_parent() -> None:
    """A sweep that was killed leaves nobody behind, also in the middle of a long run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def usable_workers(workers: Any, cores: int) -> int:
    """How many workers: a whole number, None for one a core."""
    if workers is None:
        return cores
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 0:
        raise SceneError("workers is a whole number; 0: in this process", element="sweep: workers", value=workers)
    return workers
