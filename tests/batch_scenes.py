"""Scenes of which batches are made in tests."""

from __future__ import annotations

import numpy as np

import sesshoku as ss
from sesshoku import robots
from sesshoku.scene.geometry.mesh import convex_mesh


def mixed(sensors: bool = False) -> ss.Scene:
    """An arm with limits, friction and a servo beside a small pile of a box, a ball and a convex stone."""
    scene = ss.Scene(name="mixed")
    scene.add_ground()
    scene.add_box("crate", size=(0.3, 0.3, 0.2), mass=2.0, position=(0, 0, 0.11))
    scene.add_sphere("ball", radius=0.1, mass=0.5, position=(0.02, 0.03, 0.36))
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0.1, 0.1, 0.3], [0.25, 0.2, 0.1]]) - (0.1, 0.1, 0.1)
    stone = convex_mesh(corners)
    scene.add_body("stone", inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3) * 0.02), position=(0.6, 0, 0.2),
                   geometries=[ss.Geometry(stone)])
    rod = ss.Inertial(0.8, (0, 0, -0.2), np.eye(3) * 0.02)
    scene.add_body("upper", position=(-1.0, 0, 0.7), inertial=rod,
                   joint=ss.Joint("revolute", "shoulder", axis=(0, 1, 0), lower=-1.0, upper=1.2, armature=0.01,
                                  static_friction=0.1, position=(0.9,)),
                   geometries=[ss.Geometry(ss.Capsule(0.05, 0.3), position=(0, 0, -0.2))])
    scene.add_body("fore", parent="upper", position=(0, 0, -0.4), inertial=rod,
                   joint=ss.Joint("revolute", "elbow", axis=(0, 1, 0), viscous=0.05),
                   geometries=[ss.Geometry(ss.Capsule(0.05, 0.3), position=(0, 0, -0.2))])
    scene.add_actuator("elbow", "position", name="servo", kp=20.0, kd=1.0)
    scene.add_actuator("shoulder", "torque", name="motor")
    if sensors:
        scene.add_force_sensor("wrist", "fore", force_noise=0.1)
        scene.add_imu("top", "crate", gyro_bias=(0.1, 0, 0))
    return scene


def humanoid() -> ss.Scene:
    """The large humanoid on its feet."""
    return ss.Scene.read(robots.path("humanoid_large.xml"))


def stirred(batch: ss.Batch, seed: int = 3, speed: float = 0.5) -> None:
    """Give every world velocities of its own."""
    rng = np.random.default_rng(seed)
    batch.v[:] = speed * rng.standard_normal(batch.v.shape)
