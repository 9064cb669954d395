"""`sweep`: a function over a grid or a sample of conditions, on all cores or on a cluster."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from sesshoku.comparison.sweep import pool
from sesshoku.comparison.sweep.cluster import on_ray
from sesshoku.comparison.sweep.job import Job, Task, check_arguments, versions
from sesshoku.comparison.sweep.points import make_jobs, varied
from sesshoku.comparison.sweep.progress import Bar
from sesshoku.comparison.sweep.store import Store, check_path
from sesshoku.comparison.sweep.study import Study
from sesshoku.compiled.plain.sources import source_hash
from sesshoku.compiled.prepare import prepare
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.errors import MethodError, SceneError
from sesshoku.methods.registry import Method, keywords, resolve
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.scene import Scene
from sesshoku.simulation.batch.crew import usable_cores
from sesshoku.simulation.snapshots import fingerprint

ON = ("processes", "threads", "ray")
WHOLE_PACKAGE = ""  # methods are imported by name: no import tells which a run depends on


@checked
def sweep(
    function: Callable[..., Any], points: Any, *, seeds: Any = 1, samples: int | None = None, sample_seed: int = 0,
    workers: int | None = None, path: Any = None, scene: Scene | str | Path | None = None,
    method: str | Method | None = None, on: str = "processes", address: str | None = None, fresh: bool = False,
    retry: bool = False, timeout: float | None = None, progress: bool | Callable[[str], None] = True,
) -> Study:
    """Run function(**conditions, seed=...) for every point and seed; its results, a row each, are a Study.

        study = ss.sweep(walk, {"friction": [0.2, 0.4, 0.8], "push": range(0, 50, 10)}, seeds=20, path="walk.parquet")
        study.map("friction", "push", "fell", path="map.png")

    points: a grid (name -> values), a list of mappings, or with samples=n a sampler: a function of a NumPy generator,
    or name -> (low, high) for uniform draws and name -> [values] for choices. seeds: how many, or which; each run gets
    its own. The function returns a number, or a dict of numbers, texts and lists. An exception is a row with its
    `error`.

    workers: processes (None: one a core; 0: none, in this process). on: "processes", "threads" (for functions that step
    batches) or "ray" (a cluster at `address`; extra `cluster`): the results are the same, bit for bit.
    path: where rows are kept as they arrive, .parquet (extra `cluster`) or .jsonl; a sweep that was killed, or that has
    more points now, goes on from there (retry: runs that failed are made again; fresh: all are). scene, method: of
    all runs, handed to the function by these names. timeout: s after which a run in a process is given up.
    """
    jobs = make_jobs(points, samples, sample_seed, seeds)
    handed = [*varied(jobs), *(["scene"] if scene is not None else []), *(["method"] if method is not None else [])]
    takes_seed = check_arguments(function, handed, any(job.seed != jobs[0].seed for job in jobs))
    if on not in ON:
        raise SceneError("no such place to run", element="sweep: on", value=on, remedy=f"there is {', '.join(ON)}")
    where = None if path is None else check_path(path)
    task = Task(function, takes_seed, *_shared(scene, method))
    count = pool.usable_workers(workers, usable_cores())
    if on != "ray":
        _compile([job.point.get("method", task.columns["method"]) for job in jobs])
    about = {"function": _called(function), "code": _code(function)}
    store = None if where is None else Store(where, about)
    with nullcontext() if store is None else store.opened(fresh):
        known = {} if store is None else store.rows
        done = {job.key: known[job.key] for job in jobs if job.key in known
                and not (retry and known[job.key]["error"] is not None)}
        wanted = [job for job in jobs if job.key not in done]
        with Bar(len(jobs), len(done), progress) as bar:
            for row in _rows(task, wanted, on, count, None if workers is None else count, address, timeout):
                done[row["key"]] = row
                if store is not None:
                    store.add(row)
                bar.advance(row["error"] is not None)
        rows = [done[job.key] | {"run": job.number} for job in jobs]
        if store is not None:  # rows of an earlier, larger sweep stay, behind
            others = [row for key, row in store.rows.items() if key not in done]
            store.rows = {row["key"]: row for row in rows} | {
                row["key"]: row | {"run": len(rows) + n} for n, row in enumerate(others)}
    return Study(rows, varied(jobs), where)


def _rows(task: Task, jobs: list[Job], on: str, workers: int, asked: int | None, address: str | None,
          timeout: float | None) -> Iterator[dict[str, Any]]:
    if not jobs:
        return iter(())
    if on == "ray":
        return on_ray(task, jobs, asked, address)
    if workers == 0:
        return pool.in_this_process(task, jobs)
    return pool.in_threads(task, jobs, workers) if on == "threads" else pool.in_processes(task, jobs, workers, timeout)


def _shared(scene: Scene | str | Path | None, method: str | Method | None) -> tuple[dict[str, Any], bytes | None]:
    """Columns of every row, and the scene as it is sent to workers."""
    columns: dict[str, Any] = {"scene": None, "method": None, "versions": versions()}
    if method is not None:
        columns["method"] = resolve(method).label if isinstance(method, Method) else method
        resolve(method)
    if scene is None:
        return columns, None
    made = scene if isinstance(scene, Scene) else Scene.read(scene)
    digest = hashlib.sha256(fingerprint(compile_scene(made), resolve("none")).tobytes()).hexdigest()
    columns["scene"] = f"{made.name} {digest[:12]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return columns, pickle.dumps(made)


def _compile(methods: list[Any]) -> None:
    """Compile the methods that the points name before any worker starts: each would compile the same."""
    known = {keyword.partition(":")[0] for keyword in keywords()}
    names = dict.fromkeys(str(name) for name in methods if isinstance(name, str) and name.partition(":")[0] in known)
    try:
        modules = list(dict.fromkeys(resolve(name).module for name in names))
    except MethodError:  # a preset that there is not: the run says so
        return
    if modules:
        with CompileProgress(", ".join(module.__name__.rpartition(".")[2] for module in modules)) as line:
            prepare(modules, tell=line.tell)


def _called(function: Any) -> str:
    function = function.func if isinstance(function, partial) else function
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', type(function).__module__)}:{name}".removeprefix("__main__:")


def _code(function: Any) -> str:
    """A hash of the package and of the file that has the function: rows made by other code do not belong to them."""
    digest = hashlib.sha256(source_hash(WHOLE_PACKAGE).encode())
    if isinstance(function, partial):
        digest.update(repr((function.args, sorted(function.keywords.items()))).encode())
        function = function.func
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        digest.update(Path(str(file)).read_bytes())
    except (OSError, TypeError):  # typed in, or written in C
        digest.update(_called(function).encode())
    return digest.hexdigest()[:16]
