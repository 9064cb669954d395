"""Reach and Grasp: an arm with a gripper at a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku import robots
from sesshoku.gym.task import Task
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow", "forearm_roll", "wrist_pitch", "wrist_roll"]
HAND = "gripper"
PINCH = 0.095  # m from the gripper's frame to between its fingertips
CUBE = 0.045  # m


def at_a_table(cube: bool) -> Scene:
    """The arm in its home posture; a cube before it."""
    scene = Scene(name="arm at a table")
    scene.add_ground("table", material=Material(0.8))
    scene.load(robots.path("arm_gripper.xml"), pose="home")
    if cube:
        scene.add_box("cube", size=(CUBE,) * 3, mass=0.1, position=(0.42, 0.0, 0.5 * CUBE), material=Material(0.8))
    return scene


def between_the_fingers(world: Any) -> np.ndarray:
    """(..., 3) the point at which the fingers close."""
    hand = world.bodies[HAND]
    point: np.ndarray = hand.position + PINCH * hand.rotation_matrix[..., :, 2]
    return point


class Reach(Task):
    """The point between the fingers goes where it is commanded: x, y, z."""

    dt, decimation, duration = 2e-3, 10, 3.0
    observation = [{"name": "joint_position", "joints": JOINTS},  # noqa: RUF012
                   {"name": "joint_velocity", "joints": JOINTS, "scale": 0.1},
                   {"name": "body_position", "body": HAND}, {"name": "command"}, {"name": "last_action"}]
    action = {"joints": JOINTS, "scale": 0.6, "offset": "default"}  # noqa: RUF012
    near = 0.03

    def make_scene(self) -> Scene:
        return at_a_table(cube=False)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.uniform((0.3, -0.2, 0.1), (0.55, 0.2, 0.35)))

    def _away(self, world: Any, command: np.ndarray) -> np.ndarray:
        away: np.ndarray = np.linalg.norm(between_the_fingers(world) - command, axis=-1)
        return away

    def reward(self, world: Any, command: np.ndarray) -> Any:
        away = self._away(world, command)
        return -away + 0.5 * (away < self.near)

    def success(self, world: Any, command: np.ndarray) -> Any:
        return self._away(world, command) < self.near


class Grasp(Reach):
    """The gripper takes the cube and lifts it to the commanded height."""

    duration = 4.0
    observation = [{"name": "joint_position", "joints": [*JOINTS, "left_finger"]},  # noqa: RUF012
                   {"name": "joint_velocity", "joints": [*JOINTS, "left_finger"], "scale": 0.1},
                   {"name": "body_position", "bodies": [HAND, "cube"]}, {"name": "body_rotation", "body": "cube"},
                   {"name": "body_velocity", "body": "cube"}, {"name": "command"}, {"name": "last_action"}]
    action = {"joints": [*JOINTS, "left_finger"], "scale": [0.6] * 6 + [0.03], "offset": "default"}  # noqa: RUF012

    def make_scene(self) -> Scene:
        return at_a_table(cube=True)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.uniform((0.15,), (0.3,)))

    def reward(self, world: Any, command: np.ndarray) -> Any:
        cube = world.bodies["cube"].position
        away = np.linalg.norm(between_the_fingers(world) - cube, axis=-1)
        rise = np.clip((cube[..., 2] - 0.5 * CUBE) / (command[..., 0] - 0.5 * CUBE), 0.0, 1.0)
        return -away + 2.0 * rise

    def failed(self, world: Any, command: np.ndarray) -> Any:
        """The cube is out of reach."""
        return np.linalg.norm(world.bodies["cube"].position[..., :2], axis=-1) > 0.85

    def success(self, world: Any, command: np.ndarray) -> Any:
        return np.abs(world.bodies["cube"].position[..., 2] - command[..., 0]) < self.near
