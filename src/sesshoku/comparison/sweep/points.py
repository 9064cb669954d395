"""Which runs a sweep has: every point of a grid, listed points, or a sample; each with every seed."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sesshoku.comparison.sweep.job import OWN, Job, plain_value
from sesshoku.errors import SceneError

Point = dict[str, Any]


def make_jobs(points: Any, samples: int | None, draw_seed: int, seeds: Any) -> list[Job]:
    """All runs, in order; a run that is asked for twice is refused."""
    chosen = list_seeds(seeds)
    jobs: list[Job] = []
    known = set()
    for point in list_points(points, samples, draw_seed):
        for seed in chosen:
            job = Job(len(jobs), point, seed, job_key(point, seed))
            if job.key in known:
                raise SceneError("asked for twice", element="sweep: points", value={**point, "seed": seed},
                                 remedy="leave one out; repetitions are what `seeds` is for")
            known.add(job.key)
            jobs.append(job)
    if not jobs:
        raise SceneError("nothing to run", element="sweep: points",
                         remedy='give a grid such as {"friction": [0.3, 0.6]}')
    return jobs


def job_key(point: Mapping[str, Any], seed: int) -> str:
    """Tells runs apart, whatever else a sweep has: 1 and 1.0 are the same number."""
    said = {name: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
            for name, value in sorted(point.items())}
    return hashlib.sha256(json.dumps([said, seed]).encode()).hexdigest()[:20]


def list_seeds(seeds: Any) -> list[int]:
    """0 .. n - 1 of a number, else the numbers given."""
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        if seeds < 1:
            raise SceneError("at least one seed is needed", element="sweep: seeds", value=seeds)
        return list(range(int(seeds)))
    if isinstance(seeds, (str, bytes, bool)) or not isinstance(seeds, Iterable):
        raise SceneError("seeds are a number of them, or whole numbers", element="sweep: seeds", value=seeds,
                         remedy="give 20, or range(100, 120)")
    found = list(seeds)
    if not found or not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) and s >= 0 for s in found):
        raise SceneError("seeds are whole numbers, 0 or more", element="sweep: seeds", value=found)
    return [int(seed) for seed in found]


def list_points(points: Any, samples: int | None, draw_seed: int) -> list[Point]:
    """The conditions of a grid (name -> values), of listed points (mappings), or of a sample.

    A sample: a function of a random generator, or name -> (low, high) for uniform draws, name -> [values] for choices.
    What sample n draws depends on its number and `draw_seed` alone: a larger sample begins with the smaller one.
    """
    if samples is not None:
        if not isinstance(samples, (int, np.integer)) or isinstance(samples, bool) or samples < 1:
            raise SceneError("samples is a whole number, 1 or more", element="sweep: samples", value=samples)
        draw = points if callable(points) else _drawer(points)
        generators = (np.random.Generator(np.random.Philox(key=[draw_seed, 1], counter=n << 64))
                      for n in range(int(samples)))
        return [check_point(draw(generator)) for generator in generators]
    if callable(points):
        raise SceneError("a sampler needs to know how many", element="sweep: samples", remedy="give samples=1000")
    if isinstance(points, Mapping):
        axes = {check_name(name): _values(name, values) for name, values in points.items()}
        return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    if isinstance(points, (str, bytes)) or not isinstance(points, Iterable):
        raise SceneError("points are a grid (name -> values), a list of mappings, or a sampler",
                         element="sweep: points", value=points,
                         remedy='give {"friction": [0.3, 0.6], "push": [0, 10, 20]}')
    return [check_point(point) for point in points]


def check_point(point: Any) -> Point:
    if not isinstance(point, Mapping):
        raise SceneError("a point is a mapping of names to values", element="sweep: points", value=point,
                         remedy='give {"friction": 0.3, "push": 10}')
    return {check_name(name): plain_value(name, value, "sweep: points") for name, value in point.items()}


def check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise SceneError("a condition's name is an argument of the function", element="sweep: points", value=name,
                         remedy="give a name such as friction")
    if name in OWN and name not in ("method", "scene"):
        raise SceneError("the name is taken: every row has this column", element="sweep: points", value=name,
                         remedy="use seeds=... for seeds, another name for other things")
    return name


def _values(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise SceneError("the values of a grid are a list", element=f"sweep: {name!r}", value=values,
                         remedy=f"give [{values!r}]")
    found = [plain_value(name, value, "sweep: points") for value in values]
    if not found:
        raise SceneError("no values", element=f"sweep: {name!r}", remedy="give some, or leave it out")
    return found


def _drawer(ranges: Any) -> Callable[[np.random.Generator], Point]:
    """A function that draws a point from ranges (tuples of two numbers) and choices (lists)."""
    if not isinstance(ranges, Mapping):
        raise SceneError("a sample is drawn by a function of a random generator, or from a mapping",
                         element="sweep: points", value=type(ranges).__name__,
                         remedy='give {"friction": (0.2, 1.0), "method": ["exact", "lcp"]}')
    rules: dict[str, tuple[float, float] | list[Any]] = {}
    for name, said in ranges.items():
        if isinstance(said, tuple):
            if len(said) != 2 or not all(isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)
                                         for x in said) or said[0] > said[1]:
                raise SceneError("a range is (low, high)", element=f"sweep: {name!r}", value=said,
                                 remedy="give two numbers, the lower one first; a list is a choice")
            rules[check_name(name)] = float(said[0]), float(said[1])
        else:
            rules[check_name(name)] = _values(name, said)

    def draw(generator: np.random.Generator) -> Point:
        point = {}
        for name, rule in rules.items():
            unit = float(generator.random())
            point[name] = rule[0] + (rule[1] - rule[0]) * unit if isinstance(rule, tuple) else \
                rule[min(int(unit * len(rule)), len(rule) - 1)]
        return point

    return draw


def varied(jobs: Sequence[Job]) -> list[str]:
    """Names of the conditions, in the order in which they are first met."""
    return list(dict.fromkeys(name for job in jobs for name in job.point))
