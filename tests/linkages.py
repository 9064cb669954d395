"""Mechanisms with closed loops, at random and turned at random in space: rows that depend on each other up to rounding.

Links are thin rods along the x axis of their body frame, which turn about y; mechanisms lie in the x-z plane of a fixed
frame, whose rotation turns them in space. Nothing touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix

ROD = 0.05  # kg
STEADY = {"armature": 1e-3, "viscous": 1.25e-3}


def turned(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Quaternion of Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    return matrix_to_quaternion(np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                                          [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                                          [-sp, cp * sr, cp * cr]]))


def frame(rotation: Any) -> ss.Scene:
    """A scene with a body "frame" that is fixed in the world."""
    scene = ss.Scene(gravity=(0, 0, -9.81))
    scene.add_body("frame", fixed=True, rotation=rotation)
    return scene


def _about_y(angle: float) -> np.ndarray:
    """Quaternion that turns x to (cos, 0, sin): minus the angle about y."""
    return np.array([np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0])


def rod(scene: ss.Scene, name: str, parent: str, at: Any, angle: float, length: float, mass: float = ROD,
        **joint: Any) -> None:
    """A rod on `parent` at the point `at` (x, z) of the parent's frame, at `angle` from the parent's x axis."""
    inertia = mass * np.diag([1e-4, length**2 / 12 + 5e-5, length**2 / 12 + 5e-5])
    scene.add_body(name, parent=parent, position=(at[0], 0, at[1]), rotation=_about_y(angle),
                   joint=ss.Joint("continuous", axis=(0, 1, 0), **(STEADY | joint)),
                   inertial=ss.Inertial(mass, (length / 2, 0, 0), inertia))


def _meet(p: np.ndarray, q: np.ndarray, a: float, b: float) -> np.ndarray:
    """A point at distance a from p and b from q, left of the way from p to q."""
    way = q - p
    d = float(np.hypot(*way))
    x = (a * a - b * b + d * d) / (2 * d)
    return p + x * way / d + np.sqrt(a * a - x * x) * np.array([-way[1], way[0]]) / d


def _angle(way: np.ndarray) -> float:
    return float(np.arctan2(way[1], way[0]))


def four_bar(rotation: Any, lengths: Any = (0.1, 0.2, 0.1, 0.2), start: float = 1.0, kind: Any = "ball",
             spring: float = 0.05, names: str = "", scene: ss.Scene | None = None, **loop: Any) -> ss.Scene:
    """Crank, coupler, rocker and ground of these lengths, the coupler's end joined to the rocker's end."""
    a, b, c, g = lengths
    scene = scene or frame(rotation)
    end = np.array([g, 0.0])
    first = a * np.array([np.cos(start), np.sin(start)])
    second = _meet(first, end, b, c)
    crank, coupler, rocker = _angle(first), _angle(second - first), _angle(second - end)
    rod(scene, f"crank{names}", "frame", (0, 0), crank, a)
    rod(scene, f"coupler{names}", f"crank{names}", (a, 0), coupler - crank, b)
    rod(scene, f"rocker{names}", "frame", end, rocker, c, stiffness=spring, rest=2.62)
    scene.add_loop(kind, f"coupler{names}", f"rocker{names}", position=(b, 0, 0), axis=(0, 1, 0), **loop)
    return scene


def triple_parallelogram(rotation: Any, length: float = 0.1, kind: Any = "ball") -> ss.Scene:
    """Three equal cranks side by side under one coupler: the third loop only repeats what the second says."""
    scene = four_bar(rotation, (length, 0.2, length, 0.2), kind=kind)
    rod(scene, "third", "frame", (0.1, 0), 1.0, length)
    scene.add_loop(kind, "coupler", "third", position=(0.1, 0, 0), axis=(0, 1, 0))
    return scene


def five_bar(rotation: Any, rng: np.random.Generator) -> ss.Scene:
    """Two arms of two rods each from two pivots, joined at their ends: two degrees of freedom."""
    scene = frame(rotation)
    a, d = rng.uniform(0.08, 0.12, 2)
    b, c = rng.uniform(0.12, 0.15, 2)  # long enough to meet
    g = 0.08
    left = a * np.array([np.cos(2.0), np.sin(2.0)])
    right = np.array([g, 0.0]) + d * np.array([np.cos(1.1), np.sin(1.1)])
    top = _meet(left, right, b, c)
    rod(scene, "left", "frame", (0, 0), 2.0, a)
    rod(scene, "left2", "left", (a, 0), _angle(top - left) - 2.0, b)
    rod(scene, "right", "frame", (g, 0), 1.1, d)
    rod(scene, "right2", "right", (d, 0), _angle(top - right) - 1.1, c)
    scene.add_loop("ball", "left2", "right2", position=(b, 0, 0))
    return scene


def mimic_across(rotation: Any) -> ss.Scene:
    """A parallelogram whose rocker also mimics its crank: a row that says again what the loop says."""
    scene = four_bar(rotation)
    scene.add_mimic("rocker", "crank", 1.0, 0.0)
    return scene


def stewart(rotation: Any, rng: np.random.Generator) -> ss.Scene:
    """A platform on six legs (two crossed hinges and a slide each, a ball at its upper end): six degrees of freedom."""
    scene = frame(rotation)
    R = quaternion_to_matrix(np.asarray(rotation, dtype=float))
    scene.add_body("platform", position=R @ (0, 0, 0.5), rotation=rotation,
                   inertial=ss.Inertial(0.5, (0, 0, 0), np.diag([2e-3, 2e-3, 4e-3])))
    for n in range(6):
        low = 2 * np.pi / 6 * n + (0.2 if n % 2 else -0.2) + rng.uniform(-0.03, 0.03)
        high = 2 * np.pi / 6 * n + (-0.3 if n % 2 else 0.3)
        foot, head = np.array([0.3 * np.cos(low), 0.3 * np.sin(low), 0]), np.array([0.15 * np.cos(high),
                                                                                    0.15 * np.sin(high), 0.5])
        way = head - foot
        z = way / np.linalg.norm(way)
        x = np.cross((0, 1, 0), z)
        x /= np.linalg.norm(x)
        leg = np.column_stack([x, np.cross(z, x), z])
        small = ss.Inertial(0.02, (0, 0, 0), 1e-5 * np.eye(3))
        scene.add_body(f"hip{n}", parent="frame", position=foot, rotation=matrix_to_quaternion(leg), inertial=small,
                       joint=ss.Joint("continuous", axis=(1, 0, 0), viscous=1e-3))
        scene.add_body(f"shin{n}", parent=f"hip{n}", inertial=ss.Inertial(0.05, (0, 0, 0.1), 1e-4 * np.eye(3)),
                       joint=ss.Joint("continuous", axis=(0, 1, 0), viscous=1e-3))
        scene.add_body(f"rod{n}", parent=f"shin{n}", position=(0, 0, 0.2),
                       inertial=ss.Inertial(0.05, (0, 0, 0.1), 1e-4 * np.eye(3)),
                       joint=ss.Joint("prismatic", axis=(0, 0, 1), stiffness=300.0, viscous=5.0, lower=-0.1, upper=0.1))
        scene.add_loop("ball", f"rod{n}", "platform", position=(0, 0, float(np.linalg.norm(way)) - 0.2))
    return scene


def random_mechanism(rng: np.random.Generator, number: int) -> tuple[str, ss.Scene]:
    """One of all kinds (in turns), with random lengths, at a random orientation."""
    rotation = rng.normal(size=4)
    rotation /= np.linalg.norm(rotation)
    crank, start = rng.uniform(0.05, 0.1), rng.uniform(0.6, 2.2)
    kinds: list[tuple[str, Callable[[], ss.Scene]]] = [
        ("four-bar", lambda: four_bar(rotation, (crank, 0.2, 0.15, 0.2), start)),
        ("four-bar with a hinge", lambda: four_bar(rotation, (crank, 0.2, 0.15, 0.2), start, "hinge")),
        ("parallelogram", lambda: four_bar(rotation)),
        ("welded parallelogram of three", lambda: triple_parallelogram(rotation, kind="hinge")),
        ("parallelogram of three", lambda: triple_parallelogram(rotation)),
        ("five-bar", lambda: five_bar(rotation, rng)),
        ("mimic across a loop", lambda: mimic_across(rotation)),
        ("platform on six legs", lambda: stewart(rotation, rng)),
    ]
    name, make = kinds[number % len(kinds)]
    return name, make()
