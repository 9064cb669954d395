"""How robust a walk is: friction from 0.05 to 1.0, pushes of up to 60 N s on the trunk; success maps by method.

The large humanoid walks five steps with stabiliser, and again with step adjustment; the push (0.1 s long) comes in the
middle of the second single support, on the left foot. The runs of the map are spread over all processor cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np

from sesshoku.control import footsteps
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import Walk
from sesshoku.simulation import Simulation

TITLE = "walks on slippery ground and under pushes: success maps by method"
FRICTION = (0.05, 0.1, 0.2, 0.5, 1.0)
PUSHES = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 45.0, 60.0)
METHODS = ("exact", "lcp:recommended", "multipoint:recommended", "volume:recommended", "implicit:recommended")
STEPS, LENGTH, SECONDS = 5, 0.2, 0.1
CONTROL = {False: "stabiliser", True: "with step adjustment"}
DIRECTIONS = {"ahead": (1.0, 0.0), "back": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}


@dataclass(frozen=True)
class Case:
    """One walk of the map; push in N s along a direction of the world."""

    method: str
    friction: float
    push: float
    direction: str
    adjust: bool


@cache
def plan(friction: float) -> Walk:
    """The walk on ground of a friction; every process plans it once."""
    return Walk.plan("large", footsteps.forward(STEPS, LENGTH), friction=friction)


def success(case: Case) -> bool:
    """Whether the robot stands when the walk is over."""
    walk = plan(case.friction)
    gait = walk.pattern.gait
    begin = gait.start + gait.single + gait.double + 0.4 * gait.single
    force = np.array([*DIRECTIONS[case.direction], 0.0]) * case.push / SECONDS

    def push(sim: Simulation) -> None:
        if begin <= sim.time < begin + SECONDS - 0.5 * sim.dt:
            sim.apply_force("chest", force)

    return walk.run(case.method, True, adjust=case.adjust, push=push if case.push > 0.0 else None).completed


def cases(methods: Iterable[str], friction: Iterable[float], pushes: Iterable[float]) -> list[Case]:
    """Every friction without a push, and every push at friction 0.5 in four directions, without and with adjustment."""
    found = []
    for method in methods:
        found += [Case(method, mu, 0.0, "ahead", False) for mu in friction]
        found += [Case(method, 0.5, size, direction, adjust)
                  for size in pushes for direction in DIRECTIONS for adjust in CONTROL]
    return found


def run_all(wanted: list[Case], progress: Callable[[str], None], workers: int | None = None) -> dict[Case, bool]:
    """The outcome of every case, on all cores unless told otherwise."""
    outcome: dict[Case, bool] = {}
    count = workers if workers is not None else len(os.sched_getaffinity(0))
    if count <= 1:
        for n, case in enumerate(wanted):
            progress(f"{n + 1} of {len(wanted)}")
            outcome[case] = success(case)
        return outcome
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(success, case): case for case in wanted}
        for n, job in enumerate(as_completed(jobs)):
            outcome[jobs[job]] = job.result()
            progress(f"{n + 1} of {len(wanted)}")
    return outcome


def run(progress: Callable[[str], None], methods: tuple[str, ...] = METHODS, friction: tuple[float, ...] = FRICTION,
        pushes: tuple[float, ...] = PUSHES, workers: int | None = None) -> Result:
    outcome = run_all(cases(methods, friction, pushes), progress, workers)
    rows, checks = [], []
    for method in methods:
        stands = [mu for mu in friction if outcome[Case(method, mu, 0.0, "ahead", False)]]
        rows.append([method, "stabiliser", "friction", ", ".join(f"{mu:g}" for mu in stands)])
        checks += [Check(f"{method}: upright at friction {mu:g}", float(mu in stands), 1.0, 0.0) for mu in friction
                   if mu >= 0.1]
        for adjust, label in CONTROL.items():
            for direction in DIRECTIONS:
                held = [size for size in pushes if outcome[Case(method, 0.5, size, direction, adjust)]]
                rows.append([method, label, f"push {direction}, N s", ", ".join(f"{size:g}" for size in held)])
                if 10.0 in pushes:
                    checks.append(Check(f"{method}, {label}: upright after 10 N s, {direction}", float(10.0 in held),
                                        1.0, 0.0))

    def draw(figure: Any) -> None:
        axes = figure.subplots(len(methods), 2, squeeze=False, sharex=True)
        for line, method in zip(axes, methods):
            for axis, (adjust, label) in zip(line, CONTROL.items()):
                grid = np.array([[float(outcome[Case(method, 0.5, size, direction, adjust)]) for size in pushes]
                                 for direction in DIRECTIONS])
                axis.imshow(grid, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
                axis.set_xticks(range(len(pushes)), [f"{size:g}" for size in pushes])
                axis.set_yticks(range(len(DIRECTIONS)), list(DIRECTIONS))
                axis.set_title(f"{method}, {label}")
                axis.grid(False)
        for axis in axes[-1]:
            axis.set_xlabel("push [N s]; green: upright, red: falls")

    return Result(checks, draw, {"cases": len(outcome)}, figure_size=(10.0, 1.9 * len(methods) + 0.8),
                  tables=[Table("what was survived", ["method", "control", "what", "upright at"], rows)])
