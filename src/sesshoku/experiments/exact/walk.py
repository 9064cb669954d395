"""The same walk and controller under every contact method: who falls and when, and what the feet felt.

The small humanoid walks 13 steps without stabiliser, the large one 19 with turns and backward steps, with and without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.control.walking.gait_log import GaitLog
from sesshoku.errors import SesshokuError
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import Walk, draw_forces
from sesshoku.methods.registry import keywords

TITLE = "the same walk under every method: who falls, slip, ZMP error, forces, time of a step"
WALKS = (("small, 13 steps", "small", False), ("large, 19 steps", "large", False),
         ("large, 19 steps, stabiliser", "large", True))
COLUMNS = ["walk", "method", "end", "tilt, mrad", "COM error, mm", "slip, mm", "ZMP rms x, mm", "y, mm",
           "peak force / weight", "depth, mm", "energy by contact, J", "step, µs"]


def increments(kind: str) -> list[footsteps.Increment]:
    return footsteps.forward(12, 0.04) if kind == "small" else footsteps.around()


def run(progress: Callable[[str], None], methods: tuple[str, ...] | None = None,
        walks: tuple[tuple[str, str, bool], ...] = WALKS) -> Result:
    chosen = methods or tuple(keyword for keyword in keywords() if keyword != "none")
    rows: list[list[Any]] = []
    logs: dict[tuple[str, str], GaitLog] = {}
    checks, plans = [], dict[str, Walk]()
    for label, kind, stabiliser in walks:
        walk = plans.get(kind) or plans.setdefault(kind, Walk.plan(kind, increments(kind)))
        for method in chosen:
            progress(f"{label}, {method}")
            try:
                log = logs[label, method] = walk.run(method, stabiliser)
            except SesshokuError as error:
                rows.append([label, method, f"refused: {error}", *[None] * (len(COLUMNS) - 3)])
                continue
            rows.append(row(label, method, log))
            kind_of_check = "near" if method == "exact" else "report"
            checks.append(Check(f"{label}, {method}: upright to the end", float(log.completed), 1.0, 0.0, "",
                                kind_of_check))

    def draw(figure: Any) -> None:
        shown = [method for method in chosen if (walks[0][0], method) in logs]
        axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axis, method in zip(axes, shown):
            draw_forces(axis, logs[walks[0][0], method], f"{method}: {walks[0][0]}")
            axis.set_ylim(-0.1, 2.2)
            axis.set_ylabel("")
        axes[0].legend(loc="upper right", ncols=3)
        axes[-1].set_xlabel("time [s]")

    return Result(checks, draw, {}, figure_size=(9.0, 1.3 * len(chosen) + 0.6), tables=[Table(TITLE, COLUMNS, rows)])


def row(label: str, method: str, log: GaitLog) -> list[Any]:
    """One line of the report."""
    found = log.summary()
    values = [1e3 * found["tilt"], 1e3 * found["com_error"], 1e3 * found["slip"], 1e3 * found["zmp_rms_x"],
              1e3 * found["zmp_rms_y"], found["peak_force"], 1e3 * found["penetration"], found["contact_energy"],
              1e6 * float(np.median(log.seconds[:, 1]))]
    return [label, method, log.end(), *(float(f"{value:.3g}") for value in values)]
