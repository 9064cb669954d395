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
NOISE_HZ = 50.0
#: by method and soles: noise above 50 Hz in double support, its peak (% of the weight); touchdown peak (of the weight)
LEVELS = {("lcp", "rigid soles"): (0.18, 3.0, 0.31), ("lcp", "rigid soles, stabiliser"): (0.18, 3.0, 0.39),
          ("lcp", "bush feet, stabiliser"): (0.015, 0.15, 0.19),
          ("lcp:recommended", "rigid soles"): (0.01, 0.13, 0.15),
          ("lcp:recommended", "rigid soles, stabiliser"): (0.05, 0.5, 0.60),
          ("lcp:recommended", "bush feet, stabiliser"): (0.01, 0.13, 0.26)}
SILENCE = (0.02, 0.04)  # s before a lift-off and after a first touch (a tilted sole comes flat within 30 ms)


def double_support(log: GaitLog) -> np.ndarray:
    """Rows in which both feet are to stand, but for SILENCE after the first touch and before a lift-off."""
    gait = log.walker.pattern.gait
    rows = (log.time > 0.2) & (log.time < gait.start - SILENCE[0])
    for side in range(2):
        for planned in touchdowns(log, side):
            touched = max(planned, first_touch(log, side, planned))
            rows |= (log.time > touched + SILENCE[1]) & (log.time < planned + gait.double - SILENCE[0])
    return np.asarray(rows)


def first_touch(log: GaitLog, side: int, planned: float) -> float:
    """When a foot first touches the ground about its planned landing; -inf: not within 80 ms."""
    near = (log.time > planned - 0.08) & (log.time < planned + 0.08) & (log.load[:, side] > 0.0)
    return float(log.time[np.argmax(near)]) if near.any() else -np.inf


def noise(log: GaitLog) -> tuple[float, float]:
    """RMS and peak of the left force's part above 50 Hz in double support, of the weight.

    Averaged over the whole walk, lifted feet and single supports would hide contacts that flicker.
    """
    from scipy.signal import butter, sosfiltfilt

    dt = log.time[1] - log.time[0]
    high = sosfiltfilt(butter(4, NOISE_HZ, "highpass", fs=1.0 / dt, output="sos"), log.load[:, LEFT])
    heard = high[double_support(log)] / log.weight
    return float(np.sqrt(np.mean(heard**2))), float(np.abs(heard).max())


def touchdown_peak(log: GaitLog) -> float:
    """Largest force on a foot within 20 ms of first touching the ground, over all landings, of the weight.

    Later the load is handed over to it anyway.
    """
    worst = 0.0
    for side in range(2):
        for planned in touchdowns(log, side):
            first = first_touch(log, side, planned)
            if np.isfinite(first):
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
            checks += _checks(label, log, steps, LEVELS[method, soles])
            checks.append(Check(f"{label}: highest touchdown peak", peaks[soles], LEVELS[method, soles][2],
                                0.1 * LEVELS[method, soles][2], "of the weight"))
        ratio = peaks["rigid soles, stabiliser"] / peaks["bush feet, stabiliser"]
        checks.append(Check(f"{method}: touchdown peak under the same controller, rigid over bush", ratio, 1.5, 0.0, "",
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


def _checks(label: str, log: GaitLog, steps: int, levels: tuple[float, float, float]) -> list[Check]:
    rms, peak = noise(log)
    standing = log.load[single_support(log, LEFT), LEFT] / log.weight
    return [
        Check(f"{label}: upright after {steps} steps", float(log.completed), 1.0, 0.0),
        Check(f"{label}: mean vertical force over whole cycles", log.cycle_force(), 1.0, 1e-3, "of the weight"),
        Check(f"{label}: left force in swing", swing_force(log, LEFT), 0.0, 1e-9, "N", "at_most"),
        Check(f"{label}: left force in single support, least", float(standing.min()), 1.0, 3e-3, "of the weight"),
        Check(f"{label}: left force in single support, most", float(standing.max()), 1.0, 3e-3, "of the weight"),
        Check(f"{label}: noise above 50 Hz in double support", 100 * rms, levels[0], 0.0, "% of the weight", "at_most"),
        Check(f"{label}: its peak", 100 * peak, levels[1], 0.0, "% of the weight", "at_most"),
    ]
