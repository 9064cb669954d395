"""The crane: a red crab that floats where its path says, with four fingers of two torque-driven joints each.

A finger hangs from the rim of the shell: a hip and a knee, both turning inward, and a toe that points inward. The
knee's closing torque presses it against its stop, so that the hip's torque alone sets how hard the toe presses; a prize
that pushes harder bends the knee instead. Two fingers opposite each other are a pair, "x" or "y" by the
crane's own axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.apps.crane.shapes import shell
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Sphere
from sesshoku.scene.scene import Scene

CRAB = "crab"
#: finger -> the direction it points to from the crane's middle, rad
FINGERS = {"right": 0.0, "back": 0.5 * np.pi, "left": np.pi, "front": 1.5 * np.pi}
PAIRS = {"x": ("right", "left"), "y": ("back", "front")}
RIM, UPPER, LOWER = 0.45, 0.70, 0.70  # m: hips from the middle, length of the two links
HIP_RANGE, KNEE_RANGE = (-1.20, 0.50), (0.35, 0.75)  # rad
HIP_OPEN, HIP_SPRING = -0.60, 12.0  # rad, N m/rad: a soft spring holds it open; what a toe lands on bends it further
LINK_MASS, THICKNESS = 1.5, 0.18
TOE, TOE_TILT = (0.22, 0.10, 0.10), 0.30  # m; how far the lower link leans inward when its toe is level, rad
TOE_REACH = 0.16  # m by which a toe's end is further in than the lower link's
VISCOUS = (8.0, 3.0)  # N m s/rad of hip and knee: the knee is bent before the toe arrives
OPEN_TORQUE = (-9.0, -8.0)  # N m, hip and knee
CLOSE_TORQUE = (16.0, 14.0)
RED, DARK = (0.86, 0.16, 0.12, 1.0), (0.55, 0.08, 0.07, 1.0)


def _about_y(angle: float) -> tuple[float, float, float, float]:
    return (float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0)


def _about_z(angle: float) -> tuple[float, float, float, float]:
    return (float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2)))


def _shell() -> list[Geometry]:
    """The looks of a crab, and a plain box that prizes touch."""
    parts = [Geometry(Box((0.7, 0.7, 0.12)), position=(0, 0, 0.0), color=DARK),
             Geometry(convex_mesh(shell((1.3, 1.05, 0.34))), collides=False, color=RED, position=(0, 0, 0.04))]
    for side in (-1.0, 1.0):
        parts += [Geometry(Box((0.05, 0.05, 0.2)), position=(0.18 * side, -0.42, 0.28), collides=False, color=RED),
                  Geometry(Sphere(0.075), position=(0.18 * side, -0.42, 0.42), collides=False,
                           color=(0.97, 0.97, 0.95, 1.0)),
                  Geometry(Sphere(0.04), position=(0.18 * side, -0.475, 0.43), collides=False,
                           color=(0.08, 0.08, 0.1, 1.0))]
    return parts


def _link(length: float, mass: float, toe: bool, material: Material) -> dict[str, Any]:
    """Inertia and shapes of a finger's link that hangs from its joint."""
    width = THICKNESS
    square = width * width
    inertia = mass / 12.0 * np.array([length**2 + square, length**2 + square, 2 * square])
    shapes = [Geometry(Box((width, width, length)), position=(0, 0, -length / 2), material=material, color=RED)]
    if toe:
        turn = _about_y(-TOE_TILT)
        inward = 0.5 * TOE[0] - TOE_REACH
        center = (inward * np.cos(TOE_TILT), 0.0, -length + inward * np.sin(TOE_TILT))
        shapes.append(Geometry(Box(TOE), position=center, rotation=turn, material=material, color=DARK))
    return {"inertial": Inertial(mass, (0, 0, -length / 2), inertia), "geometries": shapes}


def add_crane(scene: Scene, path: Callable[[float], tuple[Any, Any]], material: Material) -> None:
    """Put the crane into a scene, fingers open; `path` says where it is at a time."""
    position, rotation = path(0.0)
    scene.add_body(CRAB, kinematic=True, motion=path, position=position, rotation=rotation, geometries=_shell())
    for name, direction in FINGERS.items():
        hip, knee = f"{name}_hip", f"{name}_knee"
        place = (RIM * np.cos(direction), RIM * np.sin(direction), 0.0)
        hinge: dict[str, Any] = {"kind": "revolute", "axis": (0, 1, 0)}
        scene.add_body(hip, parent=CRAB, position=place, rotation=_about_z(direction),
                       joint=Joint(**hinge, lower=HIP_RANGE[0], upper=HIP_RANGE[1], position=[HIP_OPEN],
                                   viscous=VISCOUS[0], stiffness=HIP_SPRING, rest=HIP_OPEN),
                       **_link(UPPER, LINK_MASS, False, material))
        scene.add_body(knee, parent=hip, position=(0, 0, -UPPER),
                       joint=Joint(**hinge, lower=KNEE_RANGE[0], upper=KNEE_RANGE[1], position=[KNEE_RANGE[0]],
                                   viscous=VISCOUS[1]),
                       **_link(LOWER, LINK_MASS, True, material))
        for joint in (hip, knee):
            scene.add_actuator(joint, "torque")
    for a in FINGERS:  # a finger is no obstacle to its own crane, nor to the others
        for part in ("hip", "knee"):
            scene.exclude_collision(CRAB, f"{a}_{part}")
            for b in FINGERS:
                for other in ("hip", "knee"):
                    if (a, part) < (b, other):
                        scene.exclude_collision(f"{a}_{part}", f"{b}_{other}")


def toe_height(hip: float, knee: float) -> float:
    """How far below the crab the middle of a toe's end is, m."""
    lean = hip + knee
    return float(UPPER * np.cos(hip) + LOWER * np.cos(lean) - TOE_REACH * np.sin(lean - TOE_TILT))


def grip_torque(hip: float, knee: float, force: float, gravity: float = 9.8) -> float:
    """Torque of a hip, N m, so that a resting finger's toe presses inward with `force`, N, its knee at the stop."""
    lean = hip + knee
    weight = LINK_MASS * gravity * (0.5 * UPPER * np.sin(-hip) + UPPER * np.sin(-hip) - 0.5 * LOWER * np.sin(lean))
    return float(force * toe_height(hip, knee) + HIP_SPRING * (hip - HIP_OPEN) - weight)
