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
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.multipoint.humanoid import DT, Run, common_checks, cost, draw_strip, watch, with_base_sensor
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
#: by method, worst of the three: way of the centre of mass in the last second (mm); fastest coordinate at the end (m/s
#: or rad/s), limp joints apart; steps in which contact raises the kinetic energy, and by how much of it; passes beyond
#: the points, where friction is found in rounds
LEVELS = {"paper": (4.0, 1.5, 0.01, 12.0, 0.0), "resolve": (1.0, 4e-3, 5e-4, 1e-5, 0.0),
          REVERSALS: (1.0, 4e-3, 0.0, 0.0, 0.0), "recommended": (1.0, 4e-3, 0.0, 0.0, 10.0)}
#: peak force, mean of 10 ms, of the weight: held, damped, limp
PEAKS = (17.6, 7.1, 10.0)


def tumble(method: str | Method, damping: float | None, duration: float = DURATION) -> Run:
    """One fall."""
    standing = with_base_sensor(humanoids.stage("small"))
    biped = humanoids.biped(standing)
    scene = standing if damping is None else limp(standing, damping=damping)
    sim = Simulation(scene, method, DT)
    lean(sim, biped, LEAN)
    return watch(sim, biped, duration, FRAMES)


def at_the_end(seen: Run) -> tuple[float, float]:
    """Way of the centre of mass in the last second (mm), and the fastest coordinate of the last 100 steps."""
    return 1e3 * float(np.ptp(seen.com[-1000:], axis=0).max()), float(seen.speed[-100:].max())


def checks_of(label: str, falls: list[Run]) -> list[Check]:
    """The worst of a method's three falls, held, damped and limp."""
    way, speed, share, rise, more = LEVELS[label]
    ends = [at_the_end(seen) for seen in falls]
    off = [float(seen.smooth_force.max()) / peak - 1.0 for seen, peak in zip(falls, PEAKS, strict=True)]
    return [
        Check(f"{label}: height of the centre of mass at the end", max(float(seen.com[-1, 2]) for seen in falls), 0.06,
              0.0, "m", "at_most"),
        Check(f"{label}: its way in the last second", max(end[0] for end in ends), way, 0.0, "mm", "at_most"),
        # a limb on a limp joint may have come to stand on end, and topples when it likes
        Check(f"{label}: fastest coordinate at the end, not limp", max(end[1] for end in ends[:2]), speed, 0.0,
              "m/s or rad/s", "at_most"),
        Check(f"{label}: mean force of the last second, off the weight by",
              max(abs(float(seen.force[-1000:].mean()) / seen.weight - 1.0) for seen in falls), 1e-4, 0.0, "",
              "at_most"),
        Check(f"{label}: peak force, off {', '.join(str(peak) for peak in PEAKS)} weights by", max(map(abs, off)),
              0.1 if label == "paper" else 0.03,
              0.0, "", "at_most"),
        Check(f"{label}: steps in which contact raised the kinetic energy",
              max(float((seen.gain > GAIN).mean()) for seen in falls), share, 0.0, "", "at_most"),
        Check(f"{label}: largest rise, of the energy", max(float(seen.gain.max()) for seen in falls), rise, 1e-9, "",
              "at_most"),
        *common_checks(label, falls, more)]


def run(progress: Callable[[str], None]) -> Result:
    runs: dict[tuple[str, str], Run] = {}
    checks = []
    for label, method in METHODS.items():
        for joints, damping in JOINTS.items():
            progress(f"{label}, joints {joints}")
            runs[label, joints] = tumble(method, damping)
        checks += checks_of(label, [runs[label, joints] for joints in JOINTS])

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
    rows = [[label, joints, float(seen.smooth_force.max()), 100 * float((seen.gain > GAIN).mean()), *at_the_end(seen),
             *cost(seen)] for (label, joints), seen in runs.items()]
    columns = ["method", "joints", "peak / weight", "rises, %", "way, mm", "speed", "passes", "step, ms"]
    return Result(checks, draw, {"lean": LEAN}, figure_size=(10.5, 8.6), recordings=recordings,
                  tables=[Table("falls (a step took 4 ms in the paper)", columns, rows)])
