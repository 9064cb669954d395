"""19 steps in 20 s with turning and backward steps, in three settings (section 6 of the paper).

Rigid soles without stabiliser: the walk is completed. Bush feet without stabiliser: it falls early. Bush feet with
stabiliser (it senses joints, trunk orientation and rate, and the feet's forces): completed. The robot, its gait and its
bush are ours: 4e4 N/m for each of three bushes, on which one leg alone is not statically stable, and the 8e4 N/m of the
shipped model, on which it just is: that falls too, later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sesshoku.control.walking import footsteps
from sesshoku.control.walking.gait_log import GaitLog
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import FRAMES, Walk, draw_forces, draw_strip, draw_zmp, upright_checks
from sesshoku.robots.bush import Bush

TITLE = "19 steps in 20 s: rigid soles, bush feet, bush feet with stabiliser (section 6)"
EARLY, LATE = 5, 10  # last steps that count as an early fall, soft and stiff; the paper's robot fell in its second
#: by method, rigid soles: tilt (mrad), centre of mass off its plan, ZMP rms, drift at the end (mm)
LEVELS = {"lcp": (25.0, 13.0, 30.0, 5.5), "exact": (0.09, 0.07, 5.6, 0.03)}
SETTINGS = (("rigid soles, no stabiliser", "large", None, False), ("bush, no stabiliser", "large_bush", 4e4, False),
            ("bush, stabiliser", "large_bush", 4e4, True), ("stiff bush, no stabiliser", "large_bush", 8e4, False),
            ("stiff bush, stabiliser", "large_bush", 8e4, True))


def run(progress: Callable[[str], None], methods: tuple[str, ...] = ("lcp", "exact"), settings: int = 5) -> Result:
    checks: list[Check] = []
    rows, logs, scenes = [], {}, {}
    for label, kind, stiffness, stabiliser in SETTINGS[:settings]:
        walk = Walk.plan(kind, footsteps.around(), bush=None if stiffness is None else Bush(stiffness))
        for method in methods:
            progress(f"{label}, {method}")
            log = logs[label, method] = walk.run(method, stabiliser, rate=FRAMES, after_fall=1.0)
            scenes[label] = walk.scene
            checks += _expected(f"{label}, {method}", log, kind, stabiliser, LEVELS.get(method))
            rows.append(_row(label, method, log))
    columns = ["setting", "method", "end", "tilt, mrad", "COM error, mm", "ZMP rms x, mm", "y, mm",
               "peak force / weight", "slip, mm"]

    def draw(figure: Any) -> None:
        shown = [(label, methods[0]) for label, *_ in SETTINGS[:3]]
        parts = figure.subfigures(4, 1, height_ratios=(1.2, 1.2, 1.2, 3.4))
        for part, key in zip(parts, shown):
            draw_strip(part, scenes[key[0]], logs[key], 7, title=f"{key[0]}, {key[1]}")
        axes = parts[3].subplots(4, 1, sharex=True)
        for axis, key in zip(axes, shown):
            draw_forces(axis, logs[key], key[0])
        draw_zmp(axes[3], logs[shown[-1]])
        axes[0].legend(loc="upper right", ncols=3)
        axes[3].legend(loc="upper left", ncols=3)
        axes[3].set_xlabel("time [s]")

    return Result(checks, draw, {}, figure_size=(10.0, 12.0), tables=[Table("19 steps", columns, rows)],
                  recordings={f"{label}, {method}": log.recording for (label, method), log in logs.items()})


def _expected(label: str, log: GaitLog, kind: str, stabiliser: bool, levels: tuple[float, ...] | None) -> list[Check]:
    if kind == "large":
        return upright_checks(label, log, kind, levels)
    if stabiliser:
        found = log.summary()
        return [*upright_checks(label, log, kind)[:1],
                Check(f"{label}: tilt of the trunk", 1e3 * found["tilt"], 10.0, 0.0, "mrad", "at_most"),
                Check(f"{label}: ZMP error rms", 1e3 * max(found["zmp_rms_x"], found["zmp_rms_y"]), 11.0, 0.0, "mm",
                      "at_most")]
    last = LATE if label.startswith("stiff") else EARLY
    return [Check(f"{label}: falls in step", float(log.fell[1]) if log.fell else 99.0, float(last), 0.0, "", "at_most")]


def _row(label: str, method: str, log: GaitLog) -> list[Any]:
    found = log.summary()
    end = "upright, 20 s" if log.completed else f"falls in step {log.fell[1]}, {log.fell[0]:.1f} s" if log.fell \
        else "diverges"
    values = [1e3 * found["tilt"], 1e3 * found["com_error"], 1e3 * found["zmp_rms_x"], 1e3 * found["zmp_rms_y"],
              found["peak_force"], 1e3 * found["slip"]]
    return [label, method, end, *(float(f"{value:.3g}") for value in values)]
