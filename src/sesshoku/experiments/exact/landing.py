"""Why the midpoint rule: what it costs at a landing, and what it gains everywhere else, against semi-implicit Euler.

A crate tilted by 12 degrees falls 0.5 m on an edge. Semi-implicit Euler sees the floor coming and stops the edge on it;
the midpoint rule solves with the geometry of the middle of the step, and the turn of the second half carries corners a
little into the floor. Both end flat. Against that stand the errors of a slide and of a swinging double pendulum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.measures import lowest_corner
from sesshoku.experiments.exact.scenes import double_pendulum, engine
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import make

TITLE = "midpoint rule against semi-implicit Euler: depth of a landing, error of a slide and of a swing"
SIZES = (0.25e-3, 1e-3, 4e-3, 16e-3, 32e-3)  # s
SMOOTH = (1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
RULES = ("midpoint", "semi-implicit")


def landing(rule: str, dt: float, seconds: float = 4.0) -> tuple[float, float, float]:
    """Deepest corner, m; then, at the end, the speed left, m/s and rad/s, and how far from flat, m."""
    sim = engine(make("exact", {"integrator": rule}))(crate_on_floor(height=0.5, tilt=np.radians(12)), dt)
    low = 0.0
    for _ in range(round(seconds / dt)):
        sim.step()
        low = min(low, lowest_corner(sim))
    crate = sim.bodies["crate"]
    speed = max(np.abs(crate.velocity).max(), np.abs(crate.angular_velocity).max())
    return max(-low, 0.0) + 0.0, float(speed), abs(float(crate.position[2]) - 0.5)


def run(progress: Callable[[str], None]) -> Result:
    found: dict[str, dict[str, list[float]]] = {rule: {} for rule in RULES}
    checks, rows = [], []
    for rule in RULES:
        progress(f"landings, {rule}")
        method = make("exact", {"integrator": rule})
        falls = [landing(rule, dt) for dt in SIZES]
        found[rule]["landing"] = [depth for depth, _, _ in falls]
        progress(f"slides and swings, {rule}")
        found[rule]["slide"] = [measures.slide(engine(method), 19.6, 0.0, dt).along for dt in SMOOTH]
        found[rule]["double pendulum"] = measures.smooth_errors(double_pendulum(), SMOOTH, 2.0, method)
        checks.append(Check(f"{rule}: speed left after the landing", max(speed for _, speed, _ in falls), 1e-6, 0.0,
                            "m/s", "at_most"))
        checks.append(Check(f"{rule}: lies flat to", max(off for _, _, off in falls), 1.1e-5, 0.0, "m", "at_most"))
        rows += [[rule, f"{dt * 1e3:g}", float(f"{depth:.2g}")] for dt, depth in zip(SIZES, found[rule]["landing"],
                                                                                  strict=True)]
    deep = {rule: max(found[rule]["landing"]) for rule in RULES}
    checks += [
        Check("midpoint: deepest corner of all landings", deep["midpoint"], 5e-3, 0.0, "m", "at_most"),
        Check("semi-implicit: deepest corner up to 16 ms", max(found["semi-implicit"]["landing"][:-1]), 1e-4, 0.0, "m",
              "at_most"),
        Check("midpoint: error of the slide", max(found["midpoint"]["slide"]), 1e-11, 0.0, "m", "at_most"),
        Check("semi-implicit: error of the slide at 20 ms, v dt/2", found["semi-implicit"]["slide"][-1], 0.196, 1e-3,
              "m"),
    ]
    swings = zip(found["midpoint"]["double pendulum"], found["semi-implicit"]["double pendulum"], strict=True)
    checks.append(Check("double pendulum: error of semi-implicit / midpoint, least", min(b / a for a, b in swings),
                        29.0, 0.0, "", "at_least"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        panels = (("deepest corner of a tilted landing [m]", "landing", SIZES),
                  ("error of a slide from 19.6 m/s [m]", "slide", SMOOTH),
                  ("double pendulum, error after 2 s [rad]", "double pendulum", SMOOTH))
        for axis, (title, name, sizes) in zip(axes, panels, strict=True):
            for rule in RULES:
                axis.loglog([1e3 * dt for dt in sizes], np.maximum(found[rule][name], 1e-15), "o-", markersize=4,
                            label=rule)
            axis.set_title(title)
            axis.set_xlabel("dt [ms]")
        axes[0].axhspan(1e-16, 1e-12, color="#e6e6e6", zorder=0)
        axes[0].text(0.03, 0.21, "rounding", transform=axes[0].transAxes, color="#606060")
        axes[0].set_ylim(1e-16, 0.1)
        axes[0].legend(loc="center right")

    values = {"landing_dt": list(SIZES), "smooth_dt": list(SMOOTH), **{rule: found[rule] for rule in RULES}}
    table = Table("deepest corner of the tilted landing", ["rule", "dt ms", "depth m"], rows)
    return Result(checks, draw, values, figure_size=(11.0, 3.6), tables=[table])
