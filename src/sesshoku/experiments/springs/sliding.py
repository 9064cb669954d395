"""Fig. 8.2 to 8.5: a thrown block slides to rest, against (8.1) and (8.2).

Symplectic Euler stops it short by half a step's way, speed dt / 2; whatever else it is off by is the springs'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.block import ideal, method, slide

#: largest deviation at 19.6 m/s, by step, m
LARGEST = {1 / 50: 0.22, 1 / 100: 0.11, 1 / 200: 0.06}
#: off half a step's way at the stop (m), creep at rest (m/s)
SPRINGS, RECOMMENDED = (5e-4, 8e-4), (8e-3, 8e-5)


def checks_of(speed: float, dt: float, rows: np.ndarray, label: str) -> list[Check]:
    """Where it stops, how it stays there, and that it goes straight."""
    off = rows[:, 1] - ideal(speed, rows[:, 0])
    short = -0.5 * speed * dt
    late = rows[rows[:, 0] >= rows[-1, 0] - 0.5]
    within, creep = RECOMMENDED if "recommended" in label else SPRINGS
    found = [
        Check(f"stop against the ideal one, {label}", float(off[-1]), short, within, "m"),
        Check(f"creep at rest, {label}", abs(late[-1, 1] - late[0, 1]) / 0.5, creep, 0.0, "m/s", "at_most"),
        Check(f"sideways, {label}", float(np.abs(rows[:, 2]).max()), 0.0, 1e-9, "m", "at_most"),
    ]
    if speed == 19.6:
        found.append(Check(f"largest deviation, {label}", float(np.abs(off).max()), LARGEST[dt], 0.0, "m", "at_most"))
    return found


def one_speed(speed: float, progress: Callable[[str], None]) -> Result:
    """A figure of one initial speed at dt = 1/50 s, the thesis's behaviour and the preset's."""
    dt, traces, checks = 1 / 50, {}, []
    for label, keyword in (("springs", "springs"), ("springs:recommended", "springs:recommended")):
        progress(label)
        traces[label] = slide(speed, dt, method(keyword))
        checks += checks_of(speed, dt, traces[label], label)
    change = float(np.abs(traces["springs"][:, 1] - traces["springs:recommended"][:, 1]).max())
    checks.append(Check("recommended against springs", change, 0.01, 0.0, "m", "at_most"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        time = traces["springs"][:, 0]
        axes[0].plot(time, ideal(speed, time), color="#404040", linewidth=1.0, linestyle=(0, (1, 1.2)), label="ideal")
        for (label, rows), dash in zip(traces.items(), ("-", (0, (5, 1.5))), strict=True):
            axes[0].plot(rows[:, 0], rows[:, 1], label=label, linestyle=dash)
            axes[1].plot(rows[:, 0], 1e3 * (rows[:, 1] - ideal(speed, rows[:, 0])), linestyle=dash)
        axes[1].axhline(-500 * speed * dt, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.2)))
        axes[0].set_title(f"x [m], thrown at {speed} m/s, dt = 1/50 s")
        axes[1].set_title("deviation from the ideal place [mm]; dotted: half a step's way")
        axes[1].set_xlabel("time [s]")
        axes[0].legend(loc="lower right")

    return Result(checks, draw, {"stop_m": float(traces["springs"][-1, 1])}, figure_size=(8.0, 5.5))


def step_sizes(progress: Callable[[str], None]) -> Result:
    """Fig. 8.5: 19.6 m/s at three step sizes."""
    speed, traces, checks = 19.6, {}, []
    largest = []
    for parts in (50, 100, 200):
        progress(f"dt = 1/{parts} s")
        rows = slide(speed, 1 / parts, method())
        traces[parts] = rows
        checks += checks_of(speed, 1 / parts, rows, f"dt 1/{parts}")
        largest.append(float(np.abs(rows[:, 1] - ideal(speed, rows[:, 0])).max()))
    for n in range(2):
        checks.append(Check(f"deviation at half the step, {'1/100 s' if n == 0 else '1/200 s'}",
                            largest[n + 1] / largest[n], 0.5, 0.01, "of before"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for parts, rows in traces.items():
            axes[0].plot(rows[:, 0], rows[:, 1], label=f"dt = 1/{parts} s")
            axes[1].plot(rows[:, 0], 1e3 * (rows[:, 1] - ideal(speed, rows[:, 0])), label=f"dt = 1/{parts} s")
        time = traces[200][:, 0]
        axes[0].plot(time, ideal(speed, time), color="#404040", linewidth=1.0, linestyle=(0, (1, 1.2)), label="ideal")
        axes[0].set_title("x [m], thrown at 19.6 m/s")
        axes[1].set_title("deviation from the ideal place [mm]")
        for axis in axes:
            axis.set_xlabel("time [s]")
        axes[0].legend(loc="lower right")

    return Result(checks, draw, {"largest_m": largest}, figure_size=(9.0, 4.0))
