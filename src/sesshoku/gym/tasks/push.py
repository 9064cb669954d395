"""Push: a finger on two rails pushes a box over the floor to a goal; friction decides how the box turns and stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.gym.task import Task
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Cylinder
from sesshoku.scene.scene import Scene

SIZE, HEIGHT, MASS = 0.12, 0.06, 0.5  # of the box: m, m, kg
RADIUS, FINGER_MASS = 0.02, 0.3
RAILS = ["finger_x", "finger_y"]
NEAR = 0.03  # m from the goal that count as reached
REACH = 0.35  # m: where boxes start and goals lie
SPEED = 0.6  # m/s of the finger at most


def push_scene() -> Scene:
    """The floor, the box in the middle and the finger to its left."""
    scene = Scene(name="push")
    rubber = Material(static_friction=0.4, kinetic_friction=0.35)
    scene.add_ground(material=rubber)
    scene.add_box("box", size=(SIZE, SIZE, HEIGHT), mass=MASS, position=(0.0, 0.0, 0.5 * HEIGHT), material=rubber)
    light = Inertial(1e-3, np.zeros(3), 1e-6 * np.eye(3))
    scene.add_body("rail", joint=Joint("prismatic", axis=(1, 0, 0), name="finger_x", lower=-1.0, upper=1.0,
                                       position=-0.16, armature=FINGER_MASS), inertial=light, position=(0.0, 0.0, 0.05))
    scene.add_body("finger", parent="rail", inertial=Inertial(FINGER_MASS, np.zeros(3), 1e-3 * np.eye(3)),
                   joint=Joint("prismatic", axis=(0, 1, 0), name="finger_y", lower=-1.0, upper=1.0),
                   geometries=[Geometry(Cylinder(RADIUS, 0.07), material=Material(0.3))])
    for joint in RAILS:
        scene.add_actuator(joint, "velocity", kd=60.0)
    return scene


class Push(Task):
    """Observed: finger, box and goal. Done: velocity of the finger. Reward: nearness of box to goal, finger to box."""

    dt, decimation, duration, noise = 4e-3, 10, 6.0, 0.0
    observation = [  # noqa: RUF012
        {"name": "joint_position", "joints": RAILS}, {"name": "joint_velocity", "joints": RAILS},
        {"name": "body_position", "body": "box"}, {"name": "body_rotation", "body": "box"},
        {"name": "body_velocity", "body": "box"}, {"name": "command"}]
    action = {"joints": RAILS, "scale": SPEED, "kind": "velocity"}  # noqa: RUF012

    def make_scene(self) -> Scene:
        return push_scene()

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """The goal: x, y."""
        return np.asarray(rng.uniform(0.1, REACH, 2) * rng.choice([-1.0, 1.0], 2))

    def start(self, compiled: CompiledScene, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The finger somewhere around the box, not in it."""
        q, v = super().start(compiled, rng)
        angle = rng.uniform(-np.pi, np.pi)
        model, joints = compiled.model, compiled.joint_link
        for joint, value in (("finger_x", np.cos(angle)), ("finger_y", np.sin(angle))):
            q[int(model.link_coordinate[joints[joint]])] = 0.16 * value
        return q, v

    def _away(self, world: Any, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        box, finger = world.bodies["box"].position[..., :2], world.bodies["finger"].position[..., :2]
        return np.linalg.norm(box - command, axis=-1), np.linalg.norm(finger - box, axis=-1)

    def reward(self, world: Any, command: np.ndarray) -> Any:
        goal, touch = self._away(world, command)
        return -goal - 0.1 * touch + 0.5 * (goal < NEAR)

    def failed(self, world: Any, command: np.ndarray) -> Any:
        """The box is pushed away, or the finger has left it for good."""
        goal, touch = self._away(world, command)
        return (goal > 1.2) | (touch > 1.2)

    def success(self, world: Any, command: np.ndarray) -> Any:
        return self._away(world, command)[0] < NEAR
