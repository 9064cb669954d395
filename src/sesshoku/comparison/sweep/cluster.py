"""Runs on a Ray cluster, or on a Ray of this machine alone where none is named: the extra `cluster`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sesshoku.comparison.sweep.job import Job, Task
from sesshoku.errors import from_extra

IN_FLIGHT = 4  # runs handed out for each processor
RETRIES = 2  # of a run whose machine or process was lost


def on_ray(task: Task, jobs: Sequence[Job], workers: int | None, address: str | None) -> Iterator[dict[str, Any]]:
    """Rows as they are ready. address: of the cluster ("auto", "ray://host:10001"), else $RAY_ADDRESS, else a Ray of
    this machine with `workers` processors. A Ray that is running in this process already is used as it is."""
    with from_extra("cluster", "a sweep on Ray"):
        import ray

    mine = not ray.is_initialized()
    if mine:
        local = {} if address is not None else {"num_cpus": workers} if workers else {}
        ray.init(address=address, log_to_driver=False, include_dashboard=False, **local)
    try:
        yield from _rows(ray, task, jobs)
    finally:
        if mine:
            ray.shutdown()


def _rows(ray: Any, task: Task, jobs: Sequence[Job]) -> Iterator[dict[str, Any]]:
    make = ray.remote(num_cpus=1, max_retries=RETRIES)(_make)
    shared = ray.put(task)  # sent to each machine once
    room = IN_FLIGHT * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    flying: dict[Any, Job] = {}
    for job in jobs:
        flying[make.remote(shared, job)] = job
        if len(flying) >= room:
            yield from _landed(ray, task, flying)
    while flying:
        yield from _landed(ray, task, flying)


def _landed(ray: Any, task: Task, flying: dict[Any, Job]) -> Iterator[dict[str, Any]]:
    """Rows of the runs that are done; one whose worker was lost again and again is a row with that error."""
    done, _ = ray.wait(list(flying), num_returns=1)
    for ticket in done:
        job = flying.pop(ticket)
        try:
            yield ray.get(ticket)
        except ray.exceptions.RayError as error:
            yield task.row_of(job, {}, f"{type(error).__name__}: {error}".splitlines()[0], float("nan"))


def _make(task: Task, job: Job) -> dict[str, Any]:
    return task.row(job)
