"""Balance and Walk: the small humanoid on its servos."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku import robots
from sesshoku.gym.task import Task
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene

LEGS = [f"{side}_{joint}" for side in ("left", "right")
        for joint in ("hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")]
TRUNK = "torso"
PUSH_SECONDS = 0.1


def standing(robot: str | None = None, pose: str | None = "stand") -> Scene:
    """The ground and a humanoid that stands on it."""
    scene = Scene(name="humanoid")
    scene.add_ground(material=Material(0.8))
    scene.load(robots.path("humanoid_small.xml") if robot is None else robot, pose=pose)
    return scene


class Balance(Task):
    """The humanoid stands while its trunk is pushed once a second, up to `push` N s, in any direction."""

    dt, decimation, duration = 2e-3, 10, 5.0
    observation = [{"name": "projected_gravity"}, {"name": "base_angular_velocity", "scale": 0.25},  # noqa: RUF012
                   {"name": "base_linear_velocity"}, {"name": "joint_position", "joints": LEGS},
                   {"name": "joint_velocity", "joints": LEGS, "scale": 0.05}, {"name": "last_action"}]
    action = {"joints": LEGS, "scale": 0.3, "offset": "default"}  # noqa: RUF012

    def __init__(self, push: float = 0.4) -> None:
        self.push = float(push)
        super().__init__()
        self.height = self._start_height()

    def _start_height(self) -> float:
        return float(np.asarray(self.scene.bodies[TRUNK].position)[2]) or 0.3

    def make_scene(self) -> Scene:
        return standing()

    def disturb(self, world: Any, rngs: list[np.random.Generator], step: np.ndarray, memory: dict[str, Any]) -> None:
        every, lasts = (round(seconds / (self.dt * self.decimation)) for seconds in (1.0, PUSH_SECONDS))
        steps = np.atleast_1d(step)
        pushes: np.ndarray = memory.setdefault("pushes", np.zeros((len(steps), 3)))
        for n in np.flatnonzero(steps % every == every // 2):
            angle, size = 2.0 * np.pi * rngs[n].random(), self.push * rngs[n].random()
            pushes[n] = [np.cos(angle) * size / PUSH_SECONDS, np.sin(angle) * size / PUSH_SECONDS, 0.0]
        acts = (steps % every >= every // 2) & (steps % every < every // 2 + lasts)
        if acts.any():
            force = np.where(acts[:, None], pushes, 0.0)
            world.apply_force(TRUNK, force if np.ndim(world.time) else force[0])

    def _upright(self, world: Any) -> np.ndarray:
        up: np.ndarray = world.bodies[TRUNK].rotation_matrix[..., 2, 2]
        return up

    def reward(self, world: Any, command: np.ndarray) -> Any:
        speed = np.linalg.norm(world.bodies[TRUNK].velocity, axis=-1)
        return 1.0 - 2.0 * (1.0 - self._upright(world)) - 0.2 * speed

    def failed(self, world: Any, command: np.ndarray) -> Any:
        return (world.bodies[TRUNK].position[..., 2] < 0.6 * self.height) | (self._upright(world) < 0.7)

    def success(self, world: Any, command: np.ndarray) -> Any:
        return ~np.asarray(self.failed(world, command))


class Walk(Balance):
    """The humanoid walks with a velocity that is commanded: ahead, m/s; a clock of 0.7 s helps it step."""

    observation = [*Balance.observation, {"name": "command"}, {"name": "clock", "period": 0.7}]  # noqa: RUF012
    fastest = 0.15

    def __init__(self, robot: str | None = None, pose: str | None = "stand") -> None:
        self.robot, self.pose = robot, pose
        super().__init__(push=0.0)

    def make_scene(self) -> Scene:
        return standing(self.robot, self.pose)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.uniform(0.0, self.fastest, 1))

    def reward(self, world: Any, command: np.ndarray) -> Any:
        v = world.bodies[TRUNK].velocity
        off = (v[..., 0] - command[..., 0])**2 + v[..., 1]**2
        return np.exp(-off / 0.05**2) + 0.2 * self._upright(world)

    def success(self, world: Any, command: np.ndarray) -> Any:
        """It is about where the command would have brought it."""
        way = world.bodies[TRUNK].position[..., 0]
        return ~np.asarray(self.failed(world, command)) & (np.abs(way - command[..., 0] * world.time) < 0.1)
