"""`Task`: what an environment is about, once for one world and for many.

What a task reads is a `Simulation`, or a `Batch` with the worlds as the first axis of every array: write
`position[..., 2]` and it is right for both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.audit.contract import Action, Contract, Observation
from sesshoku.comparison.audit.drive import add_drives
from sesshoku.errors import SceneError
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.scene import Scene


class Task:
    """A scene, what is observed and done (`observation`, `action`), a reward, and when an episode ends.

        class Stand(Task):
            observation = [{"name": "projected_gravity"}, {"name": "joint_position"}, {"name": "joint_velocity"}]
            action = {"scale": 0.3, "offset": "default"}

            def make_scene(self):
                scene = ss.Scene()
                scene.add_ground()
                scene.load("go2.xml", pose="home")
                return scene

            def reward(self, world, command):
                return world.bodies["base"].position[..., 2]

        env = RobotEnv(Stand())

    dt: s of a step of physics. decimation: steps an action is held. duration: s of an episode. method: the law, where
    none is asked for. noise: rad or m, of the joints at the start.
    """

    dt = 2e-3
    decimation = 10
    duration = 5.0
    method = "exact"
    noise = 0.02
    observation: list[dict[str, Any]] = []  # noqa: RUF012
    action: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.scene = self.make_scene()
        self.contract = self._contract()
        add_drives(self.scene, self.contract)

    def _contract(self) -> Contract:
        """The contract, with the posture at the start as the default of the joints."""
        default = {str(body.joint.name): float(np.asarray(body.joint.position).reshape(-1)[0])
                   for body in self.scene.bodies.values() if body.joint.kind in ("revolute", "prismatic")}
        return Contract(dt=self.dt, decimation=self.decimation, time=self.duration, default=default,
                        observation=[Observation(**said) for said in self.observation],
                        action=Action(**{"clip": 1.0} | self.action))

    def save_contract(self, path: str | Path, network: str, **more: Any) -> None:
        """Write the contract beside a trained network, for `sesshoku audit`; more: other keys, such as robot, success.

        Where the task commands something (`draw`), give `command=[...]`: what an audit is to command.
        """
        command = more.pop("command", None)
        Path(path).write_text(contract_text(self.contract, {"file": network} | more, command), encoding="utf-8")

    # ---- what a task says

    def make_scene(self) -> Scene:
        """The scene, at its start."""
        raise SceneError("a task needs a scene", element=type(self).__name__, remedy="define make_scene(self)")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """What is commanded in an episode (a goal, a velocity); the observation `command` has it."""
        return np.zeros(0)

    def start(self, compiled: CompiledScene, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities at the start of an episode: the scene's, with noise on joints of one axis."""
        q, v, model = compiled.q.copy(), compiled.v.copy(), compiled.model
        for link in range(model.link_count):
            k = int(model.link_dof[link])
            if int(model.link_dof_count[link]) == 1 and model.dof_upper[k] > model.dof_lower[k]:
                at = int(model.link_coordinate[link])
                q[at] = np.clip(q[at] + self.noise * rng.uniform(-1.0, 1.0), model.dof_lower[k], model.dof_upper[k])
        return q, v

    def disturb(self, world: Any, rngs: list[np.random.Generator], step: np.ndarray, memory: dict[str, Any]) -> None:
        """Called before each action's steps: pushes go here. step: of the episode, a number or (worlds).

        rngs: of each world. memory: what the task keeps of these worlds from one call to the next.
        """

    def reward(self, world: Any, command: np.ndarray) -> Any:
        """After an action's steps: a number, or (worlds)."""
        raise SceneError("a task needs a reward", element=type(self).__name__,
                         remedy="define reward(self, world, command)")

    def failed(self, world: Any, command: np.ndarray) -> Any:
        """Whether the episode ends: True or False, or (worlds)."""
        return np.zeros(np.shape(world.time), dtype=bool)

    def success(self, world: Any, command: np.ndarray) -> Any:
        """Whether the goal is reached now; told in `info`."""
        return np.zeros(np.shape(world.time), dtype=bool)


def contract_text(contract: Contract, more: dict[str, Any], command: Any) -> str:
    """A contract as TOML."""
    def value(said: Any) -> str:
        if isinstance(said, bool):
            return "true" if said else "false"
        if isinstance(said, str):
            return '"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(said, (list, tuple, np.ndarray)):
            return "[" + ", ".join(value(one) for one in said) + "]"
        return repr(float(said)) if isinstance(said, (float, np.floating)) else str(said)

    def lines(said: dict[str, Any]) -> list[str]:
        return [f"{key} = {value(one)}" for key, one in said.items() if one is not None]

    own = contract.model_dump(exclude_defaults=True)
    tables = {key: own.pop(key) for key in ("default", "observation", "action") if key in own}
    text = lines(own | more)
    if tables.get("default"):
        text += ["", "[default]", *(f'"{key}" = {value(one)}' for key, one in tables["default"].items())]
    for said in tables["observation"]:
        if said["name"] == "command" and command is not None:
            said = said | {"value": [float(one) for one in command]}
        text += ["", "[[observation]]", *lines(said)]
    if "action" in tables:
        text += ["", "[action]", *lines(tables["action"])]
    return "\n".join(text) + "\n"
