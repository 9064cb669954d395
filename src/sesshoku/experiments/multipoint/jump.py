"""Jumping (the paper's Fig. 6): the small humanoid crouches, leaves the ground, flies and lands.

The paper gives snapshots only. What must show: a flight without contacts; in it the horizontal momentum drifts by less
than a thousandth and half as much with half the step; at touchdown, as in every step, the impulses of the contacts
explain the change of momentum to rounding. The motion is planned (control/jump.py) for 0.6 m/s at take-off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control import humanoids
from sesshoku.control.biped import Biped
from sesshoku.control.jump import JumpPattern, jump
from sesshoku.control.walking.walker import Walker
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.multipoint.humanoid import (
    DT,
    LABELS,
    Run,
    common_checks,
    cost,
    draw_strip,
    smooth,
    watch,
    with_base_sensor,
)
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "the small humanoid jumps: crouch, thrust, flight and landing at 1 ms"
SPEED = 0.6  # m/s at take-off
#: by method: tilt at the end (rad), place off the plan (m), depth (mm), peak of the landing (of the weight)
LEVELS = {"paper": (1e-4, 5e-5, 0.05, 3.0), "recommended": (1e-5, 4e-4, 1e-6, 3.6)}
FLIGHT = 0.08  # s over which the drift of momentum is measured


def planned() -> tuple[Scene, Biped, JumpPattern]:
    scene = with_base_sensor(humanoids.stage("small"))
    biped = humanoids.biped(scene)
    return scene, biped, jump(biped, humanoids.SMALL, SPEED)


def leap(keyword: str) -> tuple[Run, JumpPattern, Walker, float]:
    """The whole jump: what was seen, the plan, its controller, and the tilt of the trunk at the end."""
    scene, biped, pattern = planned()
    sim, walker = Simulation(scene, keyword, DT), Walker(pattern)
    walker.place(sim)
    phases = pattern.phases
    frames = [0.3, phases["thrust"][0], phases["flight"][0] - 0.02, 0.5 * sum(phases["flight"]), phases["absorb"][0]
              + 0.03, phases["absorb"][1] + 0.01, pattern.duration - 0.1]
    run = watch(sim, biped, pattern.duration, frames, walker)
    return run, pattern, walker, walker.tilt(sim)


def drift(keyword: str, dt: float) -> float:
    """Change of the horizontal momentum over FLIGHT over the momentum at take-off, from one state in the air."""
    scene, _, pattern = planned()
    begin = 0.5 * sum(pattern.phases["flight"]) - 0.5 * FLIGHT
    before, after = Simulation(scene, keyword, DT), Simulation(scene, keyword, dt)
    for sim, end in ((before, begin), (after, begin + FLIGHT)):
        walker = Walker(pattern)
        walker.place(sim)
        if sim is after:
            after.restore(before.save())  # the plan goes on where it was
        while sim.time < end - 1e-9:
            walker(sim)
            sim.step()
            if sim is after and any(contact.state != "released" for contact in sim.contacts):
                raise RuntimeError("touched the ground in flight")
    mass = float(after.model.link_mass.sum())
    return float(np.linalg.norm(after.momentum()[:2] - before.momentum()[:2])) / (mass * pattern.speed)


def run(progress: Callable[[str], None]) -> Result:
    runs, checks = {}, []
    for keyword, label in LABELS.items():
        progress(f"jump, {label}")
        seen, pattern, walker, tilt = leap(keyword)
        runs[keyword] = seen
        first, last = seen.airborne
        landing = float(seen.force[last:].max()) / seen.weight
        error = seen.com[-1] - pattern.com[-1]
        checks += [
            Check(f"{label}: longest time without contact force", seen.time[last] - seen.time[first], 0.11, 0.0, "s",
                  kind="at_least"),
            Check(f"{label}: contact points in that time", float(seen.touching[first:last + 1].max()), 0.0, 0.0),
            Check(f"{label}: apex of the centre of mass", float(seen.com[:, 2].max()), pattern.apex, 3e-4, "m"),
            Check(f"{label}: fell", float(walker.fallen_at is not None), 0.0, 0.0),
            Check(f"{label}: tilt of the trunk at the end", tilt, 0.0, LEVELS[label][0], "rad"),
            Check(f"{label}: place at the end off the plan", float(np.linalg.norm(error[:2])), 0.0, LEVELS[label][1],
                  "m"),
            Check(f"{label}: peak force of the landing", landing, LEVELS[label][3], 0.0, "of the weight",
                  kind="at_most"),
            Check(f"{label}: deepest penetration", 1e3 * float(seen.depth.max()), LEVELS[label][2], 0.0, "mm",
                  kind="at_most"),
            *common_checks(label, [seen])]
    progress("momentum in flight")
    drifts = {dt: drift("multipoint", dt) for dt in (DT, DT / 2)}
    checks += [
        Check("drift of horizontal momentum in flight, 1 ms", drifts[DT], 1e-4, 0.0, kind="at_most"),
        Check("the same with half the step, of it", drifts[DT / 2] / drifts[DT], 0.5, 0.1)]
    values = {"phases": pattern.phases, "speed": pattern.speed, "drift": {str(dt): d for dt, d in drifts.items()}}

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1, height_ratios=(0.42, 1.0))
        draw_strip(top, runs["multipoint:recommended"])
        axes = bottom.subplots(3, 1, sharex=True)
        for axis, (keyword, seen) in zip(axes, runs.items()):
            axis.plot(seen.time, seen.load.sum(axis=1) / seen.weight, label="contacts, each step", linewidth=0.7,
                      alpha=0.35)
            axis.plot(seen.time, seen.smooth_force, label="contacts, mean of 10 ms", color="#0072b2")
            axis.plot(seen.time, -smooth(seen.ankles.sum(axis=1)) / seen.weight, linestyle=(0, (4, 2)),
                      label="ankle sensors, mean of 10 ms", color="#d55e00")
            axis.set_title(f"{LABELS[keyword]} (method {keyword}): vertical force, both feet [of the weight]")
            axis.set_ylim(-0.3, 4.6)
            axis.legend(loc="upper left")
        for keyword, seen in runs.items():
            axes[2].plot(seen.time, seen.com[:, 2], label=LABELS[keyword])
        axes[2].plot(pattern.line.time, pattern.com[:, 2], color="#404040", linestyle=(0, (1, 1.5)), label="plan")
        axes[2].set_title("height of the centre of mass [m]")
        axes[2].legend(loc="upper left")
        axes[2].set_xlabel("time [s]; grey: the planned flight")
        for axis in axes:
            axis.axvspan(*pattern.phases["flight"], color="#000000", alpha=0.07, linewidth=0)

    recordings = {LABELS[keyword]: seen.recording for keyword, seen in runs.items()}
    table = Table("cost", ["method", "passes, mean", "step, ms (paper: 4)"], [[LABELS[keyword], *cost(seen)]
                                                                            for keyword, seen in runs.items()])
    return Result(checks, draw, values, figure_size=(10.5, 8.6), recordings=recordings, tables=[table])
