"""Landings: restitution of flat ones in one step, what friction after the normal forces makes of a rod's, and removed
points that approach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import land, multipoint, rod
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import Method
from sesshoku.simulation.simulation import Simulation

TITLE = "restitution of flat landings, effective restitution of a slipping rod, and removed points that approach"
COUNT = 5000  # random landings
#: share of landings with a removed corner that approaches, its most speed (m/s), most passes
LEVELS = {"all points stick": (0.025, 0.3, 4.0), "all points stick, readmit": (0.0, 0.0, 5.0),
          "paper": (0.41, 1.0, 4.0),
          "readmit": (0.41, 1.0, 9.0), "resolve": (0.013, 0.4, 8.0), "resolve, readmit": (0.0, 0.0, 11.0)}
UNIFORM, SLENDER = 1 / 3, 1 / 6  # inertia of the rods in m l^2, l: half their length


def effective_restitution(
    inertia: float, friction: float, restitution: float, method: str | Method, angle: float = np.pi / 4
) -> tuple[float, np.ndarray]:
    """-v_n+ / v_n- of a rod's end that lands at 1 m/s and slips at 1 m/s below the rod; its place from the centre."""
    sim = Simulation(rod(inertia, angle, friction=friction, restitution=restitution), method, 1e-3)
    middle = sim.q[:3].copy()
    sim.set_state(v=np.array([-1.0, 0, -1.0, 0, 0, 0]))
    sim.step()
    arm = sim.contacts[0].point - middle
    return float((sim.v[:3] + np.cross(sim.v[3:], arm))[2]), arm


def closed_form(inertia: float, friction: float, restitution: float, arm: np.ndarray) -> float:
    """e_eff = (1 + e) (M_nn - mu M_ns) M_ss / (M_nn M_ss - M_ns^2) - 1 of an end at `arm` that slips along -x."""
    I, x, z = 0.25 * inertia, arm[0], arm[2]
    nn, ss, ns = 1 + x * x / I, 1 + z * z / I, x * z / I
    return (1 + restitution) * (nn - friction * ns) * ss / (nn * ss - ns * ns) - 1


def end_at(angle: float) -> np.ndarray:
    return -0.5 * np.array([np.cos(angle), 0, np.sin(angle)])


def run(progress: Callable[[str], None]) -> Result:
    checks = []
    for restitution in (0.0, 0.3, 1.0):
        for dt in (1e-4, 1e-3, 1e-2):
            sim = Simulation(crate_on_floor(vertical=-2.0, restitution=restitution), "multipoint", dt)
            sim.step()
            checks.append(
                Check(
                    f"flat cube at 2 m/s, e = {restitution}, dt {dt:g} s",
                    float(sim.v[2]),
                    2.0 * restitution,
                    1e-12,
                    "m/s",
                )
            )
    for name, inertia, friction, expected in (
        ("uniform rod", UNIFORM, 0.0, 0.5625),
        ("rod of m l²/6", SLENDER, 0.0, 1.2857),
        ("rod of m l²/6", SLENDER, 0.3, 0.7714),
    ):
        got, arm = effective_restitution(inertia, friction, 0.0, "multipoint")
        resolved, _ = effective_restitution(inertia, friction, 0.0, multipoint(friction_coupling="resolve"))
        checks += [
            Check(f"{name}, mu {friction}: rebound though e = 0", got, expected, 5e-5),
            Check(
                f"{name}, mu {friction}: off the closed form by",
                abs(got - closed_form(inertia, friction, 0.0, arm)),
                0.0,
                1e-12,
            ),
            Check(f"{name}, mu {friction}, resolve", resolved, 0.0, 1e-12),
        ]
    shares = {}
    stuck: dict[str, Any] = {"slip_threshold": 1e3, "stick_target": "keep"}
    for label, method, friction in (
            ("all points stick", multipoint(**stuck), 1e6),
            ("all points stick, readmit", multipoint(readmit=True, **stuck), 1e6),
            ("paper", multipoint(), 0.3), ("readmit", multipoint(readmit=True), 0.3),
            ("resolve", multipoint(friction_coupling="resolve"), 0.3),
            ("resolve, readmit", multipoint(friction_coupling="resolve", readmit=True), 0.3)):  # fmt: skip
        progress(label)
        found = land(method, COUNT, friction=friction)
        share = float(np.mean(found.approach > 1e-8))
        shares[label] = (found, share)
        expected, fastest, passes = LEVELS[label]
        checks += [
            Check(f"landings with a removed corner that approaches, {label}", share, expected,
                  (0.1 if expected > 0.1 else 0.3) * expected),
            Check(f"fastest of them, {label}", float(found.approach.max()), fastest, 1e-9, "m/s", "at_most"),
            Check(f"most passes, {label}", float(found.passes.max()), passes, 0.0, "", "at_most"),
        ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        angles = np.radians(np.linspace(10, 80, 71))
        for friction in (0.0, 0.3):
            (line,) = left.plot(
                np.degrees(angles),
                [closed_form(UNIFORM, friction, 0.0, end_at(a)) for a in angles],
                linewidth=0.9,
                label=f"closed form, µ = {friction}",
            )
            left.plot(
                np.degrees(angles[::5]),
                [effective_restitution(UNIFORM, friction, 0.0, "multipoint", a)[0] for a in angles[::5]],
                "o",
                color=line.get_color(),
                fillstyle="none",
            )
        left.plot(
            np.degrees(angles[::5]),
            [
                effective_restitution(UNIFORM, 0.3, 0.0, multipoint(friction_coupling="resolve"), a)[0]
                for a in angles[::5]
            ],
            "x",
            color="#404040",
            label="resolve, µ = 0.3",
        )
        left.set_title("rebound of a slipping rod's end, e = 0")
        left.set_xlabel("angle to the floor [degrees]")
        left.legend()
        bins = np.linspace(0, 2.5, 51)
        for label in ("paper", "resolve", "all points stick"):
            found, share = shares[label]
            values = found.approach[found.approach > 1e-8]
            right.hist(values, bins, histtype="step", linewidth=1.4, label=f"{label}: {100 * share:.1f} % of landings")
        right.set_yscale("log")
        right.set_title("removed corners that approach, random landings")
        right.set_xlabel("speed [m/s]")
        right.legend()

    return Result(checks, draw, {label: share for label, (_, share) in shares.items()}, figure_size=(9.5, 4.0))
