"""What Figs. 8.8 to 8.13 say together: with less stretch, then with smaller steps, the angles come closer to (8.5).

The thesis sees a fine trembling of the angles at w = 0.4 m, which fades with w while the error stays large, and the
error fade with the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.springs.pendulum import EXPECTED, errors, lagrange, simulate

TITLE = "trends of Figs. 8.8 to 8.13: error and trembling of a double pendulum by the limit w and by the step"
LIMITS, STEPS = (0.4, 0.2, 0.1, 0.05), (0.02, 0.01, 0.005)


def trembling(rows: np.ndarray) -> float:
    """RMS of the angles' second differences over the step squared less their running mean over 0.3 s, rad/s^2."""
    dt = rows[1, 0] - rows[0, 0]
    fast = np.diff(rows[:, 1:], 2, axis=0) / dt**2
    count = round(0.3 / dt)
    smooth = np.stack([np.convolve(column, np.ones(count) / count, "same") for column in fast.T], axis=1)
    return float(np.sqrt(np.mean((fast - smooth)[count:-count] ** 2)))


def run(progress: Callable[[str], None]) -> Result:
    reference = lagrange()
    rms, shakes = {}, {}
    for key in EXPECTED:
        progress(f"dt {key[0]} s, w {key[1]} m")
        rows, _, _ = simulate(*key)
        rms[key], shakes[key] = errors(rows, reference)[0], trembling(rows)
    checks = []
    for wide, narrow in ((0.4, 0.2), (0.2, 0.1)):
        ratio = float((rms[0.02, narrow] / rms[0.02, wide]).max())
        checks.append(Check(f"error at w = {narrow} m over that at {wide} m, worse of the joints", ratio, 0.8, 0.0, "",
                            "at_most"))
    checks.append(Check("error at w = 0.05 m over that at 0.2 m", float((rms[0.02, 0.05] / rms[0.02, 0.2]).max()), 1.0,
                        0.0,
                        "", "at_most"))
    for coarse, fine in ((0.02, 0.01), (0.01, 0.005)):
        ratio = float((rms[fine, 0.05] / rms[coarse, 0.05]).max())
        checks.append(Check(f"error at {fine} s over that at {coarse} s, worse of the joints", ratio, 0.9, 0.0, "",
                            "at_most"))
    checks.append(Check("trembling at w = 0.1 m over that at 0.4 m", shakes[0.02, 0.1] / shakes[0.02, 0.4], 0.8, 0.0,
                        "",
                        "at_most"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        for joint, name in enumerate(("first", "second")):
            axes[0].loglog(LIMITS, [rms[0.02, w][joint] for w in LIMITS], "o-", label=f"{name} joint")
            axes[1].loglog(STEPS, [rms[dt, 0.05][joint] for dt in STEPS], "o-", label=f"{name} joint")
        axes[2].loglog(LIMITS, [shakes[0.02, w] for w in LIMITS], "o-")
        axes[0].set_title("RMS of the angles [rad], dt 0.02 s")
        axes[1].set_title("RMS of the angles [rad], w 0.05 m")
        axes[2].set_title("trembling [rad/s²], dt 0.02 s")
        for axis, label, ticks in ((axes[0], "w [m]", LIMITS), (axes[1], "time step [s]", STEPS),
                                   (axes[2], "w [m]", LIMITS)):
            axis.set_xlabel(label)
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.minorticks_off()
        axes[0].legend()

    table = [[f"{dt:g}", f"{w:g}", *(float(f"{x:.3g}") for x in rms[dt, w]), float(f"{shakes[dt, w]:.3g}")] for dt,
             w in rms]
    return Result(checks, draw, figure_size=(11.0, 3.6),
                  tables=[Table("double pendulum", ["dt, s", "w, m", "RMS first", "RMS second", "trembling, rad/s²"],
                                table)])
