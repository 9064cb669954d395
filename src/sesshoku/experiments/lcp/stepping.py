"""The large humanoid steps in place: vertical force and roll moment at the left ankle (Figs. 6 and 7 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.control.walking.footsteps import LEFT
from sesshoku.control.walking.gait_log import GaitLog
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.walking import FRAMES, Walk, draw_strip, single_support, swing_force, touchdowns

TITLE = "stepping in place: vertical force and roll moment at the left ankle (Figs. 6, 7)"
STEPS = 10
SETTINGS = (("rigid soles", "large", False), ("rigid soles, stabiliser", "large", True),
            ("bush feet, stabiliser", "large_bush", True))
NOISE_HZ, SILENCE = 50.0, (0.02, 0.04)  # s before and after a touchdown or lift-off that noise leaves out


def noise(log: GaitLog) -> float:
    """RMS of the left force's part above 50 Hz away from contact changes, of the weight."""
    from scipy.signal import butter, sosfiltfilt

    dt, gait = log.time[1] - log.time[0], log.walker.pattern.gait
    high = sosfiltfilt(butter(4, NOISE_HZ, "highpass", fs=1.0 / dt, output="sos"), log.load[:, LEFT])
    quiet = log.time > 0.2
    for n in range(len(log.walker.pattern.steps)):
        begin = gait.start + n * (gait.single + gait.double)
        for change in (begin, begin + gait.single):
            quiet &= (log.time < change - SILENCE[0]) | (log.time > change + SILENCE[1])
    return float(np.sqrt(np.mean(high[quiet] ** 2)) / log.weight)


def touchdown_peak(log: GaitLog) -> float:
    """Largest force on a foot within 20 ms of first touching the ground, over all landings, of the weight.

    Later the load is handed over to it anyway.
    """
    worst = 0.0
    for side in range(2):
        for planned in touchdowns(log, side):
            near = (log.time > planned - 0.08) & (log.time < planned + 0.08) & (log.load[:, side] > 0.0)
            if near.any():
                first = log.time[np.argmax(near)]
                worst = max(worst, float(log.load[(log.time >= first) & (log.time < first + 0.02), side].max()))
    return worst / log.weight


def roll_moment(log: GaitLog) -> np.ndarray:
    """Roll moment about the left ankle, N m."""
    height = log.walker.biped.legs.length[LEFT, 2]
    ankle = log.feet[:, LEFT] + [0.0, 0.0, height]
    return np.asarray(log.wrench[:, LEFT, 3] - np.cross(ankle, log.wrench[:, LEFT, :3])[:, 0])


def run(progress: Callable[[str], None], steps: int = STEPS,
        methods: tuple[str, ...] = ("lcp", "lcp:recommended")) -> Result:
    checks: list[Check] = []
    logs = {}
    walks = {kind: Walk.plan(kind, footsteps.in_place(steps)) for kind in ("large", "large_bush")}
    for method in methods:
        peaks = {}
        for soles, kind, stabiliser in SETTINGS:
            label = f"{method}, {soles}"
            progress(label)
            log = logs[label] = walks[kind].run(method, stabiliser, rate=FRAMES)
            peaks[soles] = touchdown_peak(log)
            checks += _checks(label, log, steps)
            checks.append(Check(f"{label}: highest touchdown peak", peaks[soles], 0.0, 0.0, "of the weight", "report"))
        ratio = peaks["rigid soles, stabiliser"] / peaks["bush feet, stabiliser"]
        checks.append(Check(f"{method}: touchdown peak under the same controller, rigid over bush", ratio, 1.0, 0.0, "",
                            "at_least"))

    def draw(figure: Any) -> None:
        frames, plots = figure.subfigures(2, 1, height_ratios=(1.0, 2.6))
        shown = f"{methods[0]}, bush feet, stabiliser"
        draw_strip(frames, walks["large_bush"].scene, logs[shown])
        axes = plots.subplots(2 * len(methods), 1, sharex=True, squeeze=False)[:, 0]
        for n, method in enumerate(methods):
            for soles, *_ in SETTINGS:
                log = logs[f"{method}, {soles}"]
                axes[2 * n].plot(log.time, log.load[:, LEFT], linewidth=0.7, label=soles)
                axes[2 * n + 1].plot(log.time, roll_moment(log), linewidth=0.7, label=soles)
            axes[2 * n].set_title(f"{method}: vertical force on the left foot [N]")
            axes[2 * n + 1].set_title(f"{method}: roll moment at the left ankle [N m]")
        axes[-1].set_xlabel("time [s]")
        plots.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)

    return Result(checks, draw, {"steps": steps}, figure_size=(9.0, 10.0),
                  recordings={label: log.recording for label, log in logs.items()})


def _checks(label: str, log: GaitLog, steps: int) -> list[Check]:
    standing = log.load[single_support(log, LEFT), LEFT] / log.weight
    return [
        Check(f"{label}: upright after {steps} steps", float(log.completed), 1.0, 0.0),
        Check(f"{label}: mean vertical force over whole cycles", log.cycle_force(), 1.0, 0.01, "of the weight"),
        Check(f"{label}: left force in swing", swing_force(log, LEFT), 0.0, 1e-9, "N", "at_most"),
        Check(f"{label}: left force in single support, least", float(standing.min()), 1.0, 0.05, "of the weight"),
        Check(f"{label}: left force in single support, most", float(standing.max()), 1.0, 0.05, "of the weight"),
        Check(f"{label}: noise above 50 Hz", 100 * noise(log), 2.0, 0.0, "% of the weight", "at_most"),
    ]
