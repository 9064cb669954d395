"""What the slip threshold does, on which the paper says "a small positive value": a sliding cube and a walk.

Constants from 0.1 to 100 mm/s, with static points held and, as (12) has it to the letter, keeping their slip; beside
them the threshold that follows from what friction does in each step, the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import multipoint
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.experiments.walking import Walk
from sesshoku.methods.registry import Method
from sesshoku.simulation.simulation import Simulation

TITLE = "sensitivity to the slip threshold: speed left of a slid cube, error and slip of a walk"
THRESHOLDS = np.geomspace(1e-4, 0.1, 7)
LAWS = {"static points held": "zero", "(12) to the letter": "keep"}
STEPS = 4


def speed_left(method: str | Method) -> float:
    """Fastest coordinate of a cube 0.16 s after it should have come to rest."""
    sim = Simulation(crate_on_floor(1.0, static=0.3, edge=0.2), method, 1e-3)
    sim.step(500)
    return float(np.abs(sim.v).max())


def run(progress: Callable[[str], None]) -> Result:
    walk = Walk.plan("small", footsteps.forward(STEPS, 0.04))

    def measured(method: str | Method) -> tuple[float, float, float]:
        found = walk.run(method).summary()
        return speed_left(method), 1e3 * found["com_error"], 1e3 * found["slip"]

    progress("default")
    own = measured("multipoint")
    curves = {}
    for label, law in LAWS.items():
        progress(label)
        curves[label] = np.array([measured(multipoint(slip_threshold=float(e), stick_target=law)) for e in THRESHOLDS])
    checks = [
        Check("default: speed left of a slid cube", own[0], 0.0, 1e-12, "m/s"),
        Check("default: centre of mass off its plan", own[1], 0.6, 0.0, "mm", "at_most"),
        Check("default: slip of a standing foot", own[2], 0.2, 0.0, "mm", "at_most"),
        Check("(12) to the letter: least slip of a standing foot above 1 mm/s",
              float(curves["(12) to the letter"][THRESHOLDS > 1e-3, 2].min()), 2.0, 0.0, "mm", "at_least"),
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        names = ("speed left of a slid cube [m/s]", "centre of mass off its plan [mm]", "slip of a standing foot [mm]")
        for n, (axis, name) in enumerate(zip(axes, names, strict=True)):
            for label, values in curves.items():
                axis.loglog(1e3 * THRESHOLDS, np.maximum(values[:, n], 1e-18), "o-", markersize=4, label=label)
            axis.axhline(max(own[n], 1e-18), color="#404040", linewidth=1.0, linestyle=(0, (4, 2)), label="default")
            axis.set_title(name)
            axis.set_xlabel("slip threshold [mm/s]")
        axes[0].legend(fontsize=8)

    return Result(checks, draw, {"thresholds": THRESHOLDS.tolist(), "default": own,
                                 **{label: values.tolist() for label, values in curves.items()}},
                  figure_size=(12.0, 3.6))
