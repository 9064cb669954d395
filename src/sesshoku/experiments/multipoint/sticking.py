"""Static and kinetic friction apart: a block on an incline of any steepness, and pushed a little less and more than it
holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import RESOLVED, G, multipoint
from sesshoku.methods.registry import Method
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

TITLE = "static friction 0.5, kinetic 0.3: inclines from 5 to 45 degrees, and a push of 99 % and 101 %"
STATIC, KINETIC, DT = 0.5, 0.3, 1e-3


def incline(angle: float, height: float = 1e-3) -> Scene:
    """A flat block at rest on a plane that falls towards +x by `angle` (rad).

    Flat, because the points share friction evenly but not the load: the upper points of a block of half width a and
    height h leave their cones at tan = mu_S (1 - h tan / 2a) already.
    """
    turn = axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    scene, material = Scene(gravity=(0, 0, -G), name="incline"), Material(STATIC, KINETIC)
    scene.add_ground(rotation=turn, material=material)
    up = quaternion_to_matrix(turn) @ np.array([0, 0, height / 2])
    scene.add_box("block", size=(0.2, 0.2, height), mass=1.0, position=up, rotation=turn, material=material)
    return scene


def acceleration(angle: float, method: str | Method, steps: int = 300) -> float:
    """Mean acceleration down the plane over a run from rest, m/s^2; creep at constant speed is none."""
    sim = Simulation(incline(angle), method, DT)
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    sim.step(steps)
    return float(sim.bodies["block"].velocity @ down) / (steps * DT)


def push_in_base_plane(factor: float, method: str | Method) -> tuple[float, float]:
    """Velocity after one step over dt, of a resting block pushed in its base plane by factor mu_S N; and after 100."""
    scene = incline(0.0, 0.2)
    sim = Simulation(scene, method, DT)
    first = 0.0
    for n in range(100):
        body = sim.bodies["block"]
        sim.apply_force("block", (factor * STATIC * G, 0, 0), point=body.position - (0, 0, 0.1))
        sim.step()
        if n == 0:
            first = float(sim.bodies["block"].velocity[0]) / DT
    return first, float(sim.bodies["block"].velocity[0])


def run(progress: Callable[[str], None]) -> Result:
    angles = np.radians(
        np.concatenate([np.arange(5.0, 26.0, 2.5), [26.0, 26.4, 26.7, 27.0], np.arange(27.5, 46.0, 2.5)])
    )
    closed = np.where(np.tan(angles) < STATIC, 0.0, G * (np.sin(angles) - KINETIC * np.cos(angles)))
    curves, checks = {}, []
    sticks = np.tan(angles) < STATIC
    for label, method, tolerance in (
        ("paper", "multipoint", 1e-9),
        ("resolve, stick zero", multipoint(**RESOLVED), 1e-9),
        ("recommended", "multipoint:recommended", 1e-9),
    ):
        progress(label)
        curves[label] = np.array([acceleration(angle, method) for angle in angles])
        error = np.abs(curves[label] - closed)
        checks += [
            Check(f"sticking: acceleration, {label}", float(error[sticks].max()), 0.0, 1e-9, "m/s²"),
            Check(
                f"sliding: acceleration off by, {label}",
                float((error / np.maximum(closed, 1e-9))[~sticks].max()),
                0.0,
                tolerance,
                "of g (sin - mu_K cos)",
            ),
        ]
        below, above = push_in_base_plane(0.99, method), push_in_base_plane(1.01, method)
        checks += [
            Check(f"pushed with 99 %: velocity, {label}", abs(below[1]), 0.0, 1e-12, "m/s"),
            Check(
                f"pushed with 101 %: first acceleration, {label}", above[0], (1.01 * STATIC - KINETIC) * G, 1e-9, "m/s²"
            ),
        ]

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        fine = np.radians(np.linspace(5, 45, 400))
        law = np.where(np.tan(fine) < STATIC, 0.0, G * (np.sin(fine) - KINETIC * np.cos(fine)))
        axis.plot(np.degrees(fine), law, color="#404040", linewidth=0.9, linestyle=(0, (1, 1.5)), label="closed form")
        for (label, values), mark in zip(curves.items(), ("o", "s", "x"), strict=True):
            axis.plot(np.degrees(angles), values, mark, markersize=5, fillstyle="none", label=label)
        axis.axvline(np.degrees(np.arctan(STATIC)), color="#a0a0a0", linewidth=0.8)
        axis.set_title("acceleration of a block down an incline, static friction 0.5, kinetic 0.3 [m/s²]")
        axis.set_xlabel("steepness [degrees]; the line: tan = 0.5")
        axis.legend()

    return Result(
        checks,
        draw,
        {"degrees": np.degrees(angles).tolist(), **{k: v.tolist() for k, v in curves.items()}},
        figure_size=(8.0, 4.0),
    )
