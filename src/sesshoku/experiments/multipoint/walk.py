"""The small humanoid (6 + 20 degrees of freedom) walks 13 steps: Fig. 4 of the paper, which shows snapshots only.

Ground and gait are ours: 12 steps of 40 mm and a closing one, friction 0.5, no restitution, 1 ms, servos with
inverse-dynamics feed-forward, no stabiliser.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import FRAMES, Walk, draw_forces, draw_strip, draw_zmp, swing_force, upright_checks
from sesshoku.methods.multipoint.friction import DIRECTIONS, SHARINGS
from sesshoku.stages.report import ITERATIONS, PENETRATION

TITLE = "the small humanoid walks: forces, ZMP, passes of the removal loop (Fig. 4)"
STEPS, LENGTH = 12, 0.04
#: tilt (mrad), centre of mass off its plan, ZMP rms, drift at the end, depth, slip (mm), peak force (of the weight)
LEVELS = {"multipoint": (2.2, 1.6, 4.7, 1.6, 0.045, 0.16, 1.7),
          "multipoint:recommended": (0.6, 1.6, 2.4, 1.5, 8e-4, 5e-3,
                                                                                          1.15)}
PAPER_MS = 4.0  # mean per step on a Pentium 4 at 1.8 GHz, as printed


def run(progress: Callable[[str], None], steps: int = STEPS) -> Result:
    walk = Walk.plan("small", footsteps.forward(steps, LENGTH))
    logs, checks, rows = {}, [], []
    for method in ("multipoint", "multipoint:recommended"):
        progress(method)
        log = logs[method] = walk.run(method, rate=FRAMES)
        found, passes = log.summary(), log.report[:, ITERATIONS]
        # with points taken back into the set (the preset does so) the loop may run once more for each of them, and in
        # some rounds friction is shared by load and slips are turned
        most, more, bound = (1, 0, "points") if method == "multipoint" else (
            2, SHARINGS + DIRECTIONS, "twice the points, less rounds of friction")
        excess = float((passes - most * np.maximum(log.contacts, 1)).max()) - more
        *levels, depth, slip, peak = LEVELS[method]
        checks += upright_checks(method, log, "small", levels)
        spent = 1e3 * float(log.seconds.sum(axis=1).mean())
        checks += [
            Check(f"{method}: penetration", 1e3 * float(log.report[:, PENETRATION].max()), depth, 0.0, "mm", "at_most"),
            Check(f"{method}: slip of a standing foot", 1e3 * found["slip"], slip, 0.0, "mm", "at_most"),
            Check(f"{method}: peak force", found["peak_force"], peak, 0.0, "of the weight", "at_most"),
            Check(f"{method}: force on a lifted foot", max(swing_force(log, side) for side in range(2)), 0.0, 1e-9,
                  "N", "at_most"),
            Check(f"{method}: passes of the loop less {bound}", excess, 0.0, 0.0, "", "at_most"),
            Check(f"{method}: mean time of a step with detection and control", spent, PAPER_MS, 0.0, "ms", "report"),
        ]
        rows.append([method, round(float(passes.mean()), 3), int(passes.max()), round(float(log.contacts.mean()), 2),
                     int(log.contacts.max()), round(found["peak_force"], 3), round(1e3 * found["zmp_rms_x"], 2),
                     round(1e3 * found["zmp_rms_y"], 2), round(1e3 * found["slip"], 3)])
    columns = ["method", "passes, mean", "most", "points, mean", "most", "peak force / weight", "ZMP rms x, mm",
               "y, mm", "slip, mm"]

    def draw(figure: Any) -> None:
        frames, plots = figure.subfigures(2, 1, height_ratios=(1.0, 2.0))
        draw_strip(frames, walk.scene, logs["multipoint"])
        axes = plots.subplots(3, 1, sharex=True)
        for axis, (method, log) in zip(axes, logs.items()):
            draw_forces(axis, log, method)
        draw_zmp(axes[2], logs["multipoint:recommended"])
        axes[2].set_title("ZMP, multipoint:recommended")
        axes[0].legend(loc="upper right", ncols=3)
        axes[2].legend(loc="upper right", ncols=3)
        axes[2].set_xlabel("time [s]")

    return Result(checks, draw, {"steps": steps + 1}, figure_size=(9.0, 8.0), tables=[Table("walk", columns, rows)],
                  recordings={method: log.recording for method, log in logs.items()})
