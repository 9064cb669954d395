"""A figure of 36 degrees of freedom stands and walks on soft points (Fig. 3 of the paper, which gives no model).

It stands for ten seconds, walks at 1 ms and at 5 ms along the same path, and a step is timed, split into control,
detection, contact and dynamics. Soles of 1e5 N/m and 1e3 N s/m per point, friction 0.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku import control
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.gait_log import GaitLog
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import FRAMES, Walk, draw_forces, draw_strip, draw_zmp
from sesshoku.scene.elements import Material
from sesshoku.simulation.simulation import Simulation
from sesshoku.stages.report import PENETRATION

TITLE = "a figure of 36 degrees of freedom stands and walks on soft points, at 1, 2 and 5 ms (Fig. 3)"
METHODS = ("implicit", "implicit:recommended")
#: standing: depth and slip (mm); path over two steps against 1 ms (mm), at 2 ms and at 5 ms
LEVELS = {"implicit": (1.2, 2e-4, 1.0, 3.0), "implicit:recommended": (1.2, 2e-4, 1.0, 3.0)}
SOLE = Material(0.5, stiffness=1e5, damping=1e3)  # per contact point: N/m, N s/m
STEPS, LENGTH = 4, 0.2
STAND = 10.0


def stand(seconds: float, method: str = "implicit:recommended") -> tuple[GaitLog, float]:
    """The robot on its servos without a step; the log, and how far (m) a sole crept after the first second."""
    walk = Walk.plan("large", [], material=SOLE)
    log = walk.run(method, duration=seconds)
    later = log.time > min(1.0, 0.5 * seconds)
    crept = np.linalg.norm(log.feet[later][:, :, :2] - log.feet[later][0, :, :2], axis=2).max()
    return log, float(crept)


def first_steps(log: GaitLog, steps: int, grid: np.ndarray) -> np.ndarray:
    """Path of the centre of mass over the first steps, at the times of a grid."""
    return np.stack([np.interp(grid, log.time, log.com[:, axis]) for axis in range(3)], axis=1)


def run(progress: Callable[[str], None], seconds: float = STAND, steps: int = STEPS) -> Result:
    walk = Walk.plan("large", footsteps.forward(steps, LENGTH), material=SOLE)
    gait = walk.pattern.gait
    grid = np.arange(0.01, gait.start + 2 * (gait.single + gait.double), 0.01)
    checks, rows, logs = [], [], dict[tuple[str, float], GaitLog]()
    for method in METHODS:
        depth, slip, *apart = LEVELS[method]
        progress(f"{method}: standing")
        standing, crept = stand(seconds, method)
        checks += [
            Check(f"{method}: stands for {seconds:g} s", float(standing.completed), 1.0, 0.0),
            Check(f"{method}: depth of its soles", 1e3 * float(standing.report[:, PENETRATION].max()), depth, 0.0, "mm",
                  "at_most"),
            Check(f"{method}: their slip", 1e3 * crept, slip, 0.0, "mm", "at_most"),
        ]
        for dt in (1e-3, 2e-3, 5e-3):
            progress(f"{method}: walking, {1e3 * dt:g} ms")
            log = logs[method, dt] = walk.run(method, dt=dt, rate=FRAMES)
            checks.append(Check(f"{method}: walks {steps + 1} steps at {1e3 * dt:g} ms", float(log.completed), 1.0,
                                0.0))
            rows.append([method, *_times(walk, log, method, dt)])
        for dt, bound in zip((2e-3, 5e-3), apart, strict=True):
            off = first_steps(logs[method, dt], 2, grid) - first_steps(logs[method, 1e-3], 2, grid)
            checks.append(Check(f"{method}: path over two steps, {1e3 * dt:g} ms against 1 ms",
                                1e3 * float(np.linalg.norm(off, axis=1).max()), bound, 0.0, "mm", "at_most"))
    columns = ["method", "step, ms", "median, µs", "p95, µs", "control, µs", "detection, µs", "contact, µs",
               "dynamics, µs", "real time ratio"]

    def draw(figure: Any) -> None:
        frames, plots = figure.subfigures(2, 1, height_ratios=(1.0, 3.6))
        draw_strip(frames, walk.scene, logs["implicit", 1e-3])
        axes = plots.subplots(5, 1, sharex=True)
        drawn = [(method, dt) for method in METHODS for dt in (1e-3, 5e-3)]
        for axis, (method, dt) in zip(axes, drawn):
            draw_forces(axis, logs[method, dt], f"{method}, {1e3 * dt:g} ms")
        draw_zmp(axes[4], logs["implicit", 5e-3])
        axes[4].set_title("ZMP, implicit, 5 ms")
        axes[0].legend(loc="upper right", ncols=3)
        axes[4].legend(loc="upper left", ncols=3)
        axes[4].set_xlabel("time [s]")

    return Result(checks, draw, {}, figure_size=(9.0, 9.6), tables=[Table("time of a step", columns, rows)],
                  recordings={f"{method}, {1e3 * dt:g} ms": log.recording for (method, dt), log in logs.items()})


def _times(walk: Walk, log: GaitLog, method: str, dt: float) -> list[Any]:
    """Median, 95th percentile and parts of a step, µs: of the run, and of its stages at the walk's start.

    Assembly solves joints and contacts in one: it stands under dynamics. Stages are timed in short turns, and the
    median of the turns is taken: another process that comes between spoils a turn only.
    """
    total, parts = 1e6 * log.seconds.sum(axis=1), {"detection": 0.0, "contact": 0.0, "dynamics": 0.0}
    sim = Simulation(walk.scene, method, dt)
    control.Walker(walk.pattern).place(sim)
    turns = [sim.profile(10) for _ in range(21)]
    for name in turns[0]:
        if name != "step":
            kind = {"find points": "detection", "build problem": "contact", "apply": "contact"}.get(name, "dynamics")
            parts[kind] += 1e6 * float(np.median([turn[name] for turn in turns]))
    return [1e3 * dt, round(float(np.median(total)), 1), round(float(np.percentile(total, 95)), 1),
            round(1e6 * float(np.median(log.seconds[:, 0])), 1), *(round(value, 1) for value in parts.values()),
            round(float(1e6 * dt / np.median(total)), 2)]
