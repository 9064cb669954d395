"""How much force static friction holds, by direction, under the three pyramids (the paper's Fig. 2 and what follows
from it).

One contact (or four) that can slide but not turn carries 9.8 N; a horizontal force at some angle to the friction axes
is raised by bisection until it slips. Capacity 1 is Coulomb's law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "capacity of static friction by direction: circumscribed, inscribed, cone; random axes (Fig. 2)"
MU, WEIGHT = 0.5, 9.8


def sledge(points: int) -> Scene:
    """1 kg on one or more equally loaded balls that share a carriage in x and y: it slides without turning.

    Each ball has its own vertical slide, so that each carries its share of the weight.
    """
    scene = Scene(name="sledge")
    scene.add_ground(material=Material(MU))
    light = Inertial(1e-3, matrix=np.eye(3) * 1e-6)
    scene.add_body("x", joint=Joint("prismatic", axis=(1, 0, 0)), inertial=light, position=(0, 0, 0.1))
    scene.add_body("carriage", parent="x", joint=Joint("prismatic", axis=(0, 1, 0)), inertial=light)
    for n in range(points):
        ball = Geometry(Sphere(0.1), material=Material(MU))
        scene.add_body(
            f"ball{n}",
            parent="carriage",
            joint=Joint("prismatic", axis=(0, 0, 1)),
            position=(0.3 * n, 0, 0),
            inertial=Inertial(1.0 / points, matrix=np.eye(3) * 0.01),
            geometries=[ball],
        )
    return scene


def capacity(scene: Scene, options: dict[str, Any], angle: float, halvings: int = 11) -> float:
    """Largest force held at an angle, in units of mu N."""
    sim = Simulation(scene, make("lcp", options), 1e-3)
    start = sim.save()
    low, high = 0.0, 2.0
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        sim.restore(start)
        for _ in range(8):
            sim.apply_force("carriage", (middle * MU * WEIGHT * np.cos(angle), middle * MU * WEIGHT * np.sin(angle), 0))
            sim.step()
        held = np.hypot(*sim.bodies["carriage"].velocity[:2]) < 1e-6
        low, high = (middle, high) if held else (low, middle)
    return 0.5 * (low + high)


def run(progress: Callable[[str], None]) -> Result:
    angles = np.linspace(0.0, np.pi / 2, 19)
    one = sledge(1)
    curves = {}
    for pyramid in ("circumscribed", "inscribed", "cone"):
        progress(pyramid)
        fixed = {"static_pyramid": pyramid, "tangent_axes": "fixed"}
        curves[pyramid] = np.array([capacity(one, fixed, angle) for angle in angles])
    square = 1.0 / np.maximum(np.abs(np.cos(angles)), np.abs(np.sin(angles)))
    checks = [
        Check(
            "circumscribed: capacity / closed form",
            float(np.abs(curves["circumscribed"] / square - 1).max()),
            0.0,
            1e-3,
        ),
        Check(
            "inscribed: capacity / closed form",
            float(np.abs(curves["inscribed"] * np.sqrt(2) / square - 1).max()),
            0.0,
            1e-3,
        ),
        Check("cone: capacity", float(np.abs(curves["cone"] - 1.0).max()), 0.0, 1e-3),
    ]
    means = {}
    rng = np.random.default_rng(4)
    for points, expected, tolerance in ((1, 4 / np.pi * np.log(1 + np.sqrt(2)), 0.02), (4, 1.242, 0.03)):
        progress(f"random axes, {points} contacts")
        scene = sledge(points)
        samples = [capacity(scene, {"seed": int(seed)}, angle, 9)
                   for seed, angle in zip(rng.integers(0, 10**6, 60), rng.uniform(0, 2 * np.pi, 60), strict=True)]
        means[points] = float(np.mean(samples))
        checks.append(Check(f"random axes, mean capacity of {points}", means[points], expected, tolerance))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot(projection="polar")
        full = np.concatenate([angles, angles[1:] + np.pi / 2, angles[1:] + np.pi, angles[1:] + 1.5 * np.pi])
        for label, values in curves.items():
            axis.plot(full, np.concatenate([values, *([values[1:]] * 3)]), label=label)
        for points, mean in means.items():
            many = f"{points} contact{'s' if points > 1 else ''}"
            axis.plot(full, np.full_like(full, mean), ls=":", label=f"random axes, {many}: mean {mean:.3f}")
        axis.set_title("force that static friction holds, by direction, in units of friction times load", pad=16)
        axis.set_rmax(1.5)
        axis.set_rticks([0.5, 1.0, 1.5])
        axis.set_rlabel_position(68)
        figure.legend(*axis.get_legend_handles_labels(), loc="outside right center")

    return Result(
        checks, draw, {"angles": angles.tolist(), **{k: v.tolist() for k, v in curves.items()}, "means": means},
        figure_size=(8.0, 4.8),
    )
