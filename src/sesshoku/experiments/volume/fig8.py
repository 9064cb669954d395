"""Where static friction holds (the paper's Fig. 8): a box under a force and a torque at the centre of its base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.volume.base import (
    PYRAMID,
    bisect,
    exact_curve,
    limit_along,
    load,
    quarter_area,
    ramp,
    settled,
    sticks,
    verdict,
)
from sesshoku.methods.registry import make

TITLE = "static friction region in the plane of force and torque, proposed and previous method (Fig. 8)"
RAYS = 13  # in a quadrant
SEPARATED = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
LEVELS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)


def folded(angle: float) -> float:
    """The same load with force and torque both positive."""
    return float(np.arctan2(abs(np.sin(angle)), abs(np.cos(angle))))


def programme_limit(angle: float, sides: int = 8) -> float:
    """The limit along a ray by an independent linear programme over the corners of the unit square's base."""
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) / np.sqrt(2.0)
    phi = 2 * np.pi * np.arange(sides) / sides
    columns = np.array([[1.0, y, -x, np.cos(p), np.sin(p), x * np.sin(p) - y * np.cos(p)] for x, y in corners
                        for p in phi])
    ray = np.array([0, 0, 0, -np.cos(angle), 0, -np.sin(angle)])
    found = linprog(np.r_[np.zeros(len(columns)), -1.0], A_eq=np.c_[columns.T, -ray], b_eq=[1, 0, 0, 0, 0, 0],
                    method="highs")
    return float(-found.fun)


def run(progress: Callable[[str], None]) -> Result:
    methods = {"proposed": make("volume", {"integrator": "rkg"}),
               "previous": make("volume", {"integrator": "rkg", "friction_limit": "separated"})}
    expected = {"proposed": PYRAMID, "previous": SEPARATED}
    turns = np.linspace(0.0, 2 * np.pi, 4 * (RAYS - 1) + 1)[:-1]  # of the rays in all four quadrants
    angles, curve = turns[:RAYS], exact_curve()
    limits, checks = {}, []
    for name, method in methods.items():
        radii = []
        for n, angle in enumerate(turns):
            progress(f"{name} method: ray {n + 1} of {len(turns)}")
            radii.append(ramp(method, float(angle), limit_along(expected[name], folded(float(angle)))))
        limits[name] = np.array(radii)
        off = max(abs(r / limit_along(expected[name], folded(float(a))) - 1.0) for r,
                  a in zip(radii, turns, strict=True))
        shape = "polygon" if name == "proposed" else "rectangle"
        checks.append(Check(f"{name} method, ramped: farthest from its {shape}", float(off), 0.0, 0.004))
        quarters = limits[name].reshape(4, -1)
        checks.append(Check(f"{name} method, ramped: quadrants apart", float(np.ptp(quarters[:, 1:], axis=0).max()),
                            1e-9,
                            0.0, "", "at_most"))
    areas = {name: quarter_area(angles, radii[:RAYS]) for name, radii in limits.items()}
    checks.append(Check("area of the region, proposed / previous", areas["proposed"] / areas["previous"], 0.655, 2e-3))
    inside = max(float(r) / limit_along(curve, folded(float(a))) for r, a in zip(limits["proposed"], turns, strict=True)
                 if abs(np.sin(2 * a)) > 1e-9)
    checks.append(Check("proposed region within the exact curve, ramped (steps of 0.2 %)", inside, 1.0, 2e-3, "",
                        "at_most"))
    checks += [*friction_test(methods["proposed"], angles, curve), *verdicts(methods["proposed"], progress)]
    witness = settled(methods["previous"])
    checks.append(Check("(0.8, 0.8) held by the previous method", float(verdict(witness, 0.8, 0.8)), 1.0, 0.0))
    checks.append(Check("(0.8, 0.8) held by the proposed method",
                        float(verdict(settled(methods["proposed"]), 0.8, 0.8)), 0.0, 0.0))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for name, color in (("previous", "#2e8b57"), ("proposed", "#c0392b")):
            x, y = limits[name] * np.cos(turns), limits[name] * np.sin(turns)
            axis.fill(x, y, color=color, alpha=0.18, linewidth=0)
            axis.plot(x, y, "o", color=color, markersize=4, label=f"{name} method, ramped")
        for quadrant in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
            first = quadrant == (1, 1)
            axis.plot(*(PYRAMID * quadrant).T, color="#c0392b", linewidth=1.2,
                      label="pyramids of 8 sides, closed form" if first else None)
            axis.plot(*(curve * quadrant).T, color="#202020", linewidth=1.2, linestyle=(0, (5, 2)),
                      label="round cone, exact" if first else None)
        axis.set_xlabel("force / ($\\mu_s N$)")
        axis.set_ylabel("torque / ($\\mu_s N r$)")
        axis.set_xlim(-1.12, 1.12)
        axis.set_ylim(-1.12, 1.12)
        axis.set_aspect("equal")
        axis.set_title("loads that static friction holds")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncol=2, frameon=False)

    values = {"angles": [float(a) for a in turns], **{name: [float(r) for r in radii]
                                                       for name, radii in limits.items()}, "areas": areas}
    return Result(checks, draw, values, figure_size=(6.0, 6.4))


def friction_test(method: Any, angles: np.ndarray, curve: np.ndarray) -> list[Check]:
    """The friction test by itself: its boundary against the closed form and an independent programme."""
    sim = settled(method)
    found = np.array([bisect(sim, float(angle)) for angle in angles])
    closed = np.array([limit_along(PYRAMID, float(angle)) for angle in angles])
    other = np.array([programme_limit(float(angle)) for angle in angles])
    exact = np.array([limit_along(curve, float(angle)) for angle in angles[1:-1]])
    return [Check("test alone: farthest from the closed polygon", float(np.abs(found - closed).max()), 0.0, 1e-6),
            Check("test alone: farthest from an independent programme", float(np.abs(found - other).max()), 0.0, 1e-6),
            Check("test alone: most of the exact curve", float((found[1:-1] / exact).max()), 1.0, 0.0, "", "at_most")]


def verdicts(method: Any, progress: Callable[[str], None]) -> list[Check]:
    """Loads at 0.97 and 1.03 of the limit on the box at rest, judged after 40 steps."""
    right = 0
    for force in LEVELS:
        limit = float(np.interp(force, PYRAMID[:, 0], PYRAMID[:, 1]))
        for share, holds in ((0.97, True), (1.03, False)):
            progress(f"verdict at {share} of the limit, force {force}")
            sim = settled(method)
            load(sim, share * force, share * limit)
            sim.step()
            right += sticks(sim) == holds
    return [Check("right verdicts at 0.97 and 1.03 of the limit", float(right), 2.0 * len(LEVELS), 0.0)]
