"""`Policy`: a trained network that drives a simulation as its contract says."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.audit.contract import Contract, read_contract
from sesshoku.comparison.audit.controllers import Criterion, base_body
from sesshoku.comparison.audit.networks import Network, load_network
from sesshoku.comparison.audit.observe import make_reader
from sesshoku.errors import SceneError, in_file
from sesshoku.scene.elements import SINGLE_AXIS
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Scene


def load_policy(path: Path) -> Policy:
    """A policy from its contract (.toml), or from its network with the contract of the same name beside it."""
    contract_file = path if path.suffix.lower() == ".toml" else path.with_suffix(".toml")
    contract = read_contract(contract_file)
    network = path if path.suffix.lower() != ".toml" else contract_file.parent / (contract.file or "")
    if path.suffix.lower() == ".toml" and contract.file is None:
        raise SceneError("names no network", file=str(path), remedy='say file = "walk.onnx"')
    return Policy(contract, load_network(network, contract.algorithm), contract_file)


class Policy:
    """A controller: observes at its rate, holds its action between; PD by itself where the model has torque motors."""

    def __init__(self, contract: Contract, network: Network, file: Path | None = None) -> None:
        self.contract, self.network, self.file = contract, network, file
        self.dt, self.duration = contract.dt, contract.time
        self.base = contract.base
        self.joints: list[str] = contract.action.joints or []
        self.action = np.zeros(len(self.joints))
        self._sim: Any = None
        self._scene: Scene | None = None
        self._criterion: Criterion | None = None

    @property
    def scene(self) -> Scene | None:
        """The scene that the contract names, if it does."""
        if self._scene is None and self.contract.robot is not None and self.file is not None:
            self._scene = Scene.read(self.file.parent / self.contract.robot)
        return self._scene

    def prepare_scene(self, scene: Scene) -> None:
        """Servos for joints of the contract that have no actuator."""
        act = self.contract.action
        driven = {actuator.joint for actuator in scene.actuators.values()}
        for n, joint in enumerate(self.joints):
            if joint not in {body.joint.name for body in scene.bodies.values()}:
                raise unknown("joint", joint, [str(body.joint.name) for body in scene.bodies.values()])
            if joint in driven:
                continue
            if act.kind == "torque":
                scene.add_actuator(joint, "torque")
            elif act.kp is None and act.kind == "position":
                raise SceneError("has no actuator, and the contract no gains", element=f"joint {joint!r}",
                                 remedy="say kp and kd in [action]")
            else:
                options: dict[str, Any] = {"kd": _one(act.kd, n)}
                if act.kind == "position":
                    options |= {"kp": _one(act.kp, n), "target": self.contract.default.get(joint, 0.0)}
                scene.add_actuator(joint, act.kind, **options)

    # ---- driving

    def begin(self, sim: Any) -> None:
        """Find what the contract names in a simulation; the policy's memory is empty again."""
        where = self.file or "contract"
        with in_file(where):
            scene = sim.scene
            self.base = self.contract.base or base_body(scene)
            owners = {actuator.joint: name for name, actuator in scene.actuators.items() if actuator.joint is not None}
            if not self.joints:
                self.joints = [str(scene.actuators[name].joint) for name in scene.actuators]
            for joint in self.joints:
                if joint not in owners:
                    raise unknown("actuator of joint", joint, list(owners))
                if scene.joint(joint).kind not in SINGLE_AXIS:
                    raise SceneError("has more than one axis", element=f"joint {joint!r}")
            size = len(self.joints)
            self._actuators = [sim.actuators[owners[joint]] for joint in self.joints]
            kinds = [scene.actuators[owners[joint]].kind for joint in self.joints]
            act = self.contract.action
            self._scale, offset = _many(act.scale, size, "scale"), act.offset
            default = np.array([self.contract.default.get(joint, 0.0) for joint in self.joints])
            self._offset = default if offset == "default" else _many(offset, size, "offset")
            self._pd = act.kind == "position" and all(kind == "torque" for kind in kinds)
            if self._pd and act.kp is None:
                raise SceneError("the model has torque motors, and the contract no gains", element="action",
                                 remedy="say kp and kd")
            self._kp, self._kd = _many(act.kp or 0.0, size, "kp"), _many(act.kd, size, "kd")
            self._effort = None if act.effort is None else _many(act.effort, size, "effort")
            self._velocity = act.kind == "velocity"
            self.action = np.zeros(size)
            self._readers = [make_reader(self, said) for said in self.contract.observation]
            self._views = [sim.joints[joint] for joint in self.joints]
        self._every = max(round(self.contract.period / sim.dt), 1)
        self._steps, self._sim = 0, sim
        self._past: deque[list[np.ndarray]] = deque(maxlen=self.contract.history)
        if not self._pd and act.kp is not None and act.kind == "position":
            self._check_gains(sim)

    def _check_gains(self, sim: Any) -> None:
        """Servos of the model have gains of their own; a contract that says others is refused."""
        for n, (joint, view) in enumerate(zip(self.joints, self._actuators)):
            actuator = sim.scene.actuators[view.name]
            if actuator.kind == "position" and abs(actuator.kp - self._kp[n]) > 1e-6 * max(abs(self._kp[n]), 1.0):
                raise SceneError(f"the model's servo has kp {actuator.kp:g}, the contract says {self._kp[n]:g}",
                                 element=f"joint {joint!r}", remedy="take kp out of the contract, or change the model")

    def observe(self, sim: Any) -> np.ndarray:
        """The observation as the network takes it."""
        parts = [read(sim) for read in self._readers]
        if not self._past:
            self._past.extend([parts] * self.contract.history)
        else:
            self._past.append(parts)
        past = list(self._past)[::-1] if self.contract.newest_first else list(self._past)
        ordered = [part for parts in past for part in parts] if self.contract.history_by == "observation" else \
            [parts[n] for n in range(len(past[0])) for parts in past]
        observation = np.concatenate(ordered)
        most = self.contract.clip
        return observation if most is None else np.clip(observation, -most, most)

    def __call__(self, sim: Any) -> None:
        if sim is not self._sim:
            self.begin(sim)
        if self._steps % self._every == 0:
            action = self.network(self.observe(sim))
            if action.shape != self.action.shape:
                raise SceneError(f"gives {action.size} numbers for {self.action.size} joints", element="policy",
                                 file=str(self.file), remedy="correct action.joints")
            if self.contract.action.clip is not None:
                action = np.clip(action, -self.contract.action.clip, self.contract.action.clip)
            self.action = action
            self._target = self._offset + self._scale * action
            if not self._pd:
                for view, target in zip(self._actuators, self._target.tolist()):
                    setattr(view, "target_velocity" if self._velocity else "target", target)
        if self._pd:
            self._drive()
        self._steps += 1

    def _drive(self) -> None:
        """Forces of servos that the policy's own computer has: kp (target - q) - kd v, within the effort."""
        for n, (view, joint) in enumerate(zip(self._actuators, self._views)):
            force = self._kp[n] * (self._target[n] - joint.position) - self._kd[n] * joint.velocity
            view.target = float(force if self._effort is None else np.clip(force, -self._effort[n], self._effort[n]))


def _one(value: Any, n: int) -> float:
    return float(value[n] if isinstance(value, list) else value)


def _many(value: float | list[float], size: int, what: str) -> np.ndarray:
    found = np.full(size, value, dtype=np.float64) if not isinstance(value, list) else np.array(value, dtype=np.float64)
    if found.shape != (size,):
        raise SceneError(f"{what} has {found.size} numbers for {size} joints", element="action",
                         remedy="give one, or one for each joint")
    return found
