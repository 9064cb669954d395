"""Falling (the paper's Fig. 5): the small humanoid leans past its toes and falls, with joints held, damped and limp.

The paper gives snapshots only. What must show: it ends at rest on the ground, and the contact solve does not raise the
kinetic energy above that of the motion without contact. The paper's friction, cut after the solve, does raise it now
and then: in no more than a step in a hundred. With `friction_coupling="resolve"`, alone, with `stop_reversals=True` too
and in `recommended`, no more than a step in a thousand may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control import humanoids
from sesshoku.control.fall import lean, limp
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.humanoid import DT, Run, common_checks, draw_strip, watch, with_base_sensor
from sesshoku.experiments.multipoint.scenes import multipoint
from sesshoku.methods.registry import Method
from sesshoku.simulation.simulation import Simulation

TITLE = "the small humanoid falls over its toes: joints held, damped and limp"
LEAN = 0.5  # rad
DURATION, SHOWN = 4.0, 1.5  # s
FRAMES = (0.001, 0.15, 0.25, 0.32, 0.4, 0.6, 3.9)
#: name -> share of the servos' dampers that stays in limp joints; None: the servos hold
JOINTS: dict[str, float | None] = {"held": None, "damped": 0.2, "limp": 0.0}
REVERSALS = "resolve, reversals stopped"
METHODS: dict[str, str | Method] = {"paper": "multipoint", "resolve": multipoint(friction_coupling="resolve"),
                                    REVERSALS: multipoint(friction_coupling="resolve", stop_reversals=True),
                                    "recommended": "multipoint:recommended"}
GAIN = 1e-6  # of the kinetic energy, that counts as a rise
SHARE, SPEED = (1e-3, 1e-2), (0.1, 0.5)  # of steps that may raise it, speed at the end; under the paper's friction


def tumble(method: str | Method, damping: float | None, duration: float = DURATION) -> Run:
    """One fall."""
    standing = with_base_sensor(humanoids.stage("small"))
    biped = humanoids.biped(standing)
    scene = standing if damping is None else limp(standing, damping=damping)
    sim = Simulation(scene, method, DT)
    lean(sim, biped, LEAN)
    return watch(sim, biped, duration, FRAMES)


def run(progress: Callable[[str], None]) -> Result:
    runs: dict[tuple[str, str], Run] = {}
    checks = []
    for label, method in METHODS.items():
        for joints, damping in JOINTS.items():
            progress(f"{label}, joints {joints}")
            seen = runs[label, joints] = tumble(method, damping)
            rises = seen.gain > GAIN
            name = f"{label}, joints {joints}"
            checks += [
                Check(f"{name}: height of the centre of mass at the end", float(seen.com[-1, 2]), 0.1, 0.0, "m",
                      kind="at_most"),
                Check(f"{name}: way of the centre of mass in the last second",
                      1e3 * float(np.ptp(seen.com[-1000:], axis=0).max()), 10.0, 0.0, "mm", kind="at_most"),
                Check(f"{name}: fastest coordinate at the end", float(seen.speed[-100:].max()), SPEED[label == "paper"],
                      0.0, "m/s or rad/s",
                      # a limb on a limp joint may have come to stand on end, and topples when it likes
                      kind="report" if joints == "limp" else "at_most"),
                Check(f"{name}: mean force over the last second", float(seen.force[-1000:].mean()) / seen.weight, 1.0,
                      0.02, "of the weight"),
                Check(f"{name}: peak force, mean of 10 ms", float(seen.smooth_force.max()), 0.0, 0.0,
                      "of the weight", kind="report"),
                Check(f"{name}: share of steps in which contact raised the kinetic energy", float(rises.mean()),
                      SHARE[label == "paper"], 0.0, kind="at_most"),
                Check(f"{name}: largest rise, of the energy", float(max(seen.gain.max(), 0.0)), 0.0, 0.0,
                      kind="report"),
                *common_checks(name, seen, label == "paper")]

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1, height_ratios=(0.36, 1.0))
        draw_strip(top, runs["recommended", "damped"])
        drawn = [label for label in METHODS if label != REVERSALS]  # it looks as `recommended` does
        axes = bottom.subplots(len(drawn), 2, sharex=True)
        for row, label in zip(axes, drawn):
            for joints in JOINTS:
                seen = runs[label, joints]
                shown = seen.time < SHOWN
                row[0].plot(seen.time[shown], seen.smooth_force[shown], label=joints)
                row[1].plot(seen.time[shown], seen.com[shown, 2], label=joints)
            row[0].set_title(f"{label}: force of all contacts, mean of 10 ms [weight]")
            row[1].set_title(f"{label}: height of the centre of mass [m]")
            row[1].set_ylim(0.0, 0.26)
        axes[0, 0].legend(loc="upper right", title="joints")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]")

    recordings = {f"{label}, {joints}": seen.recording for (label, joints), seen in runs.items()
                  if not label.startswith("resolve")}
    return Result(checks, draw, {"lean": LEAN}, figure_size=(10.5, 8.6), recordings=recordings)
