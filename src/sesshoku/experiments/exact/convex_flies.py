"""A crate thrown along the floor at 19.6 m/s, under Coulomb's law, under its convex relaxation, and in MuJoCo.

The relaxation (convex.py) lets a contact that slides at u_t separate at mu |u_t|, so that the crate takes off: in the
first step it gets the impulse p = (mu v + g dt) / (1 + mu^2) per mass and leaves the floor at mu (v - mu p) = 7.8 m/s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.exact.convex import ConvexStepper
from sesshoku.experiments.exact.scenes import G, engine
from sesshoku.experiments.scenes import crate_on_floor

TITLE = "a crate thrown at 19.6 m/s: on the floor under `exact`, in the air under the convex relaxation and MuJoCo"
SPEED, MU, SECONDS = 19.6, 0.5, 5.0
STEPS = (1 / 1000, 1 / 200, 1 / 50)  # s
SHOWN = 1 / 200
EXACT, CONVEX, MUJOCO = "exact", "convex relaxation", "MuJoCo, defaults"


def crate_run(sim: Any, step: Callable[[], Any], dt: float) -> np.ndarray:
    """Time, way and height of the crate (steps, 3)."""
    rows = []
    for n in range(round(SECONDS / dt)):
        step()
        x, _, z = sim.bodies["crate"].position
        rows.append(((n + 1) * dt, float(x), float(z) - 0.5))
    return np.array(rows)


def relaxed_lift(dt: float) -> float:
    """Top of the flight the relaxation gives, for the semi-implicit step it is run with."""
    p = (MU * SPEED + G * dt) / (1 + MU**2)
    speeds = MU * (SPEED - MU * p) - G * dt * np.arange(round(2.0 / dt))
    return float(np.cumsum(dt * speeds).max())


def run(progress: Callable[[str], None]) -> Result:
    runs: dict[tuple[str, float], np.ndarray] = {}
    checks, missing, worst = [], "", 0.0
    for dt in STEPS:
        progress(f"1/{round(1 / dt)} s")
        scene = crate_on_floor(SPEED, static=MU)
        sim = engine(EXACT)(scene, dt)
        runs[EXACT, dt] = crate_run(sim, sim.step, dt)
        relaxed = ConvexStepper(scene, dt)
        runs[CONVEX, dt] = crate_run(relaxed.sim, relaxed.step, dt)
        worst = max(worst, relaxed.worst_optimality)
        try:
            peer = engine("mujoco")(scene, dt)
            runs[MUJOCO, dt] = crate_run(peer, peer.step, dt)
        except ImportError:
            missing = "MuJoCo is not installed (pip install mujoco)"
        lifts = {name: max(float(run_[:, 2].max()), 0.0) for (name, size), run_ in runs.items() if size == dt}
        label = f"1/{round(1 / dt)} s"
        checks += [Check(f"exact, {label}: lift", lifts[EXACT], 0.0, 1e-12, "m", "at_most"),
                   Check(f"exact, {label}: stops after", float(runs[EXACT, dt][-1, 1]), SPEED**2 / (2 * MU * G), 1e-11,
                         "m"),
                   Check(f"convex relaxation, {label}: lift", lifts[CONVEX], relaxed_lift(dt), 1e-6, "m")]
        if MUJOCO in lifts:
            checks.append(Check(f"MuJoCo, {label}: lift", lifts[MUJOCO], 0.0, 0.0, "m", "report"))
    checks.append(Check("convex relaxation: its minimum is reached to", worst, 1e-10, 0.0, "m/s", "at_most"))
    names = (EXACT, CONVEX, MUJOCO)
    rows: list[list[Any]] = []
    for name in names:
        if (name, SHOWN) in runs:
            rows.append([name, *(max(float(f"{runs[name, dt][:, 2].max():.4g}"), 0.0) for dt in STEPS),
                         round(float(runs[name, SHOWN][-1, 1]), 4)])
        else:
            rows.append([f"{name}: {missing}", *[None] * (len(STEPS) + 1)])
    table = Table("highest above the floor, m (Coulomb's law: 0), and way to the stop, m (39.2)",
                  ["engine", *(f"1/{round(1 / dt)} s" for dt in STEPS), f"way at 1/{round(1 / SHOWN)} s"], rows)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
        for name in names:
            if (name, SHOWN) in runs:
                left.plot(*runs[name, SHOWN][:, [0, 2]].T, label=name)
                right.plot([1e3 * dt for dt in STEPS], [max(runs[name, dt][:, 2].max(), 0.0) for dt in STEPS], "o-")
        left.set_title(f"height of the crate above the floor [m], dt 1/{round(1 / SHOWN)} s")
        left.set_xlabel("time [s]")
        left.legend(title=missing or None)
        right.set_title("highest [m], by step size")
        right.set_xscale("log")
        right.set_xticks([1e3 * dt for dt in STEPS], [f"{1e3 * dt:g}" for dt in STEPS])
        right.minorticks_off()
        right.set_xlabel("dt [ms]")

    traces = {name: {"time": runs[name, SHOWN][:, 0].tolist(), "height": runs[name, SHOWN][:, 2].tolist()}
              for name in names if (name, SHOWN) in runs}
    return Result(checks, draw, {"height": traces, "peer": missing or "MuJoCo"}, figure_size=(9.5, 3.4), tables=[table])
