"""Scenes whose answer Coulomb's law gives in closed form, and the engines they are run under."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.comparison.mujoco import MujocoRun
from sesshoku.errors import UnsupportedFeature
from sesshoku.robots import path
from sesshoku.scene.elements import Inertial, Joint, Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

G = 9.8  # m/s^2
Engine = Callable[[Scene, float], Any]  # (scene, dt) -> what has step(), time, bodies and apply_force(...)


def engine(name: Any = "exact") -> Engine:
    """What makes a simulation of a scene: by a method (keyword or Method), or by "mujoco" with its defaults."""
    if name == "mujoco":
        return MujocoRun
    return lambda scene, dt: Simulation(scene, name, dt)


def stack(masses: list[float], offset: float, gap: float, restitution: float = 0.0, seed: int = 2) -> Scene:
    """Cubes of 1 m, one on the other, pushed aside at random by up to `offset`, each `gap` above the next."""
    rng, material = np.random.default_rng(seed), Material(0.5, None, restitution)
    scene = Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    for n, mass in enumerate(masses):
        x, y = rng.uniform(-offset, offset, 2)
        scene.add_box(f"box{n}", size=(1, 1, 1), mass=mass, position=(x, y, 0.5 + n + gap * (n + 1)), material=material)
    return scene


def grasp(force: float) -> Scene:
    """A box of 5 N between two fingers that slide towards each other, each pushed with `force` N; mu 0.5."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add_body("hand", fixed=True)
    for name, side in (("left", -1.0), ("right", 1.0)):
        scene.add_box(name, size=(0.1, 0.3, 0.3), mass=0.2, parent="hand", position=(0.15 * side, 0, 0),
                      joint=Joint("prismatic", axis=(-side, 0, 0)))
        scene.add_actuator(name, "torque", feed_forward=force)
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=5.0 / G, position=(0, 0, 0))
    return scene


def incline(tangent: float) -> Scene:
    """A crate at rest on a slope with that tangent (the slope is level, gravity leans); mu 0.5."""
    angle = np.arctan(tangent)
    scene = Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=2.0, position=(0, 0, 0.5))
    return scene


def double_pendulum() -> Scene:
    """Two rods of 1 m, let go at 0.9 and 0.4 rad."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add_body("pivot", fixed=True)
    for name, parent, place, start in (("upper", "pivot", 0.0, 0.9), ("lower", "upper", -1.0, 0.4)):
        scene.add_body(name, parent=parent, position=(0, 0, place),
                       inertial=Inertial(1.0, (0, 0, -0.5), 0.08 * np.eye(3)),
                       joint=Joint("continuous", axis=(0, 1, 0), position=start))
    return scene


def tumbling() -> Scene:
    """A body spinning about its middle axis, which is unstable."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add_body("rock", joint=Joint("free"), inertial=Inertial(1.0, (0, 0, 0), np.diag([1.0, 2.0, 2.9])),
                   angular_velocity=(0.01, 2.0, 0.01))
    return scene


def standing_humanoid(gravity: float = G) -> Scene:
    """The large humanoid on its two feet, servos holding its stance: 8 contacts."""
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add_ground()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        scene.load(path("humanoid_large.xml"), pose="stand")
    return scene
