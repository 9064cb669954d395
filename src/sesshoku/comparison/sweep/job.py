"""One run of a sweep: its conditions and seed, and the row that becomes of it."""

from __future__ import annotations

import inspect
import pickle
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from sesshoku._version import __version__
from sesshoku.errors import SceneError

#: columns that every row has, beside conditions and results
OWN = ("run", "seed", "error", "seconds", "scene", "method", "versions", "key")
VALUE = "value"  # the column of a function that returns one value


@dataclass(frozen=True)
class Job:
    """A run: its number, conditions and seed. key: the same for the same conditions and seed in any sweep."""

    number: int
    point: dict[str, Any]
    seed: int
    key: str


@dataclass(frozen=True)
class Task:
    """What all runs of a sweep share, and workers are sent once: the function, its scene, columns of every row."""

    function: Callable[..., Any]
    takes_seed: bool
    columns: dict[str, Any] = field(default_factory=dict)
    scene: bytes | None = None  # pickled: every run has a scene of its own

    def row(self, job: Job) -> dict[str, Any]:
        """Make the run. An exception is a row as well: the column `error` has it."""
        begin = time.perf_counter()
        results: dict[str, Any] = {}
        error = None
        try:
            results = plain_results(self.function(**self._arguments(job)), job.point)
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        return self.row_of(job, results, error, time.perf_counter() - begin)

    def row_of(self, job: Job, results: dict[str, Any], error: str | None, seconds: float) -> dict[str, Any]:
        return {"run": job.number, **job.point, "seed": job.seed, **results, "error": error, "seconds": seconds,
                **{name: value for name, value in self.columns.items() if name not in job.point}, "key": job.key}

    def _arguments(self, job: Job) -> dict[str, Any]:
        arguments = dict(job.point)
        if self.takes_seed:
            arguments["seed"] = job.seed
        if self.scene is not None:
            arguments["scene"] = pickle.loads(self.scene)  # made by this process or the one that started it
        if self.columns.get("method") is not None and "method" not in arguments:
            arguments["method"] = self.columns["method"]
        return arguments


def check_arguments(function: Any, names: list[str], many_seeds: bool) -> bool:
    """Refuse a function that does not take the conditions, before anything runs; whether it takes the seed."""
    if not callable(function):
        raise SceneError("a sweep runs a function", element="sweep", value=function,
                         remedy="give one that takes the conditions by name and returns a number or a dict")
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C
        return many_seeds
    rest = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    known = {name for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    called = getattr(function, "__name__", type(function).__name__)
    unknown = [name for name in names if name not in known and not rest]
    if unknown:
        raise SceneError(f"{called} takes no {', '.join(unknown)}", element="sweep", value=sorted(known),
                         remedy=f"give it an argument {unknown[0]!r}, or leave that condition out")
    missing = [name for name, p in parameters.items() if name in known and p.default is p.empty
               and name not in (*names, "seed")]
    if missing:
        raise SceneError(f"{called} needs {', '.join(missing)}", element="sweep",
                         remedy=f"add {missing[0]!r} to the points, or give it a default")
    takes_seed = rest or "seed" in known
    if many_seeds and not takes_seed:
        raise SceneError(f"{called} takes no seed: its repetitions would all be the same", element="sweep: seeds",
                         remedy="give it an argument `seed`, or leave seeds out")
    return takes_seed


def plain_results(value: Any, point: Mapping[str, Any]) -> dict[str, Any]:
    """What a run returned as columns: of a mapping its entries, of anything else one column `value`."""
    found = {}
    for name, result in (value.items() if isinstance(value, Mapping) else [(VALUE, value)]):
        if not isinstance(name, str):
            raise SceneError("a result's name must be a string", element="sweep", value=name)
        if name in OWN or name in point:
            raise SceneError("a result has the name of another column", element="sweep", value=name,
                             remedy="call it differently")
        found[name] = plain_value(name, result, "sweep: results")
    return found


def plain_value(name: Any, value: Any, element: str) -> Any:
    """A value that a table can hold: a number, a truth value, a text, None, or a list of such."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain_value(name, item, element) for item in value]
    raise SceneError(f"{name!r} cannot stand in a table", element=element, value=type(value).__name__,
                     remedy="use numbers, truth values, texts, None, or lists of these")


def versions() -> str:
    """What made a row, in one line."""
    found = [f"sesshoku {__version__}", f"python {platform.python_version()}"]
    for name in ("numba", "numpy", "mujoco-core"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
