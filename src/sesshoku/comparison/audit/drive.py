"""`Drive`: a contract bound to a scene: reads observations and follows actions, in one world or in many."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.comparison.audit.contract import Contract
from sesshoku.comparison.audit.controllers import base_body
from sesshoku.comparison.audit.observe import make_reader
from sesshoku.errors import SceneError
from sesshoku.scene.elements import SINGLE_AXIS
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Scene


def add_drives(scene: Scene, contract: Contract) -> None:
    """Servos or motors for the joints of a contract that have no actuator."""
    act = contract.action
    driven = {actuator.joint for actuator in scene.actuators.values()}
    known = [str(body.joint.name) for body in scene.bodies.values()]
    for n, joint in enumerate(act.joints or []):
        if joint not in known:
            raise unknown("joint", joint, known)
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
                options |= {"kp": _one(act.kp, n), "target": contract.default.get(joint, 0.0)}
            scene.add_actuator(joint, act.kind, **options)


class Drive:
    """Observations and actions of a `Simulation` or of all worlds of a `Batch`.

    action: the last one, (m) or (worlds, m). command: what is wanted, for the observation of that name.
    """

    def __init__(self, contract: Contract, scene: Scene, worlds: int | None = None) -> None:
        self.contract = contract
        self.base = contract.base or base_body(scene)
        rows = {name: n for n, name in enumerate(scene.actuators)}
        owners = {actuator.joint: name for name, actuator in scene.actuators.items() if actuator.joint is not None}
        self.joints: list[str] = contract.action.joints or list(map(str, owners))
        for joint in self.joints:
            if joint not in owners:
                raise unknown("actuator of joint", joint, list(map(str, owners)))
            if scene.joint(joint).kind not in SINGLE_AXIS:
                raise SceneError("has more than one axis", element=f"joint {joint!r}")
        act, size = contract.action, len(self.joints)
        actuators = [scene.actuators[owners[joint]] for joint in self.joints]
        self._rows = np.array([rows[owners[joint]] for joint in self.joints], dtype=np.int64)
        self._column = 1 if act.kind == "velocity" else 0
        self.scale = many(act.scale, size, "scale")
        default = np.array([contract.default.get(joint, 0.0) for joint in self.joints])
        self.offset = default if isinstance(act.offset, str) else many(act.offset, size, "offset")
        self.pd = act.kind == "position" and bool(actuators) and all(a.kind == "torque" for a in actuators)
        if self.pd and act.kp is None:
            raise SceneError("the model has torque motors, and the contract no gains", element="action",
                             remedy="say kp and kd")
        self._kp, self._kd = many(act.kp or 0.0, size, "kp"), many(act.kd, size, "kd")
        self._effort = np.inf if act.effort is None else many(act.effort, size, "effort")
        if not self.pd and act.kp is not None and act.kind == "position":
            for n, actuator in enumerate(actuators):
                if actuator.kind == "position" and abs(actuator.kp - self._kp[n]) > 1e-6 * max(abs(self._kp[n]), 1.0):
                    raise SceneError(f"the model's servo has kp {actuator.kp:g}, the contract says {self._kp[n]:g}",
                                     element=f"joint {self.joints[n]!r}",
                                     remedy="take kp out of the contract, or change the model")
        self.shape = (size,) if worlds is None else (worlds, size)
        self.action = np.zeros(self.shape)
        self.command: np.ndarray | None = None
        self._target = np.broadcast_to(self.offset, self.shape).copy()
        self._readers = [make_reader(self, said) for said in contract.observation]
        self._past: list[list[np.ndarray]] = []  # oldest first
        self._fresh: np.ndarray | None = None

    def begin(self, which: np.ndarray | None = None) -> None:
        """Forget what was, of all worlds or of some (a mask)."""
        if which is None or not self._past:
            self.action = np.zeros(self.shape)
            self._past = []
        else:
            self.action = np.where(which[:, None], 0.0, self.action)
        self._fresh = which

    def observe(self, world: Any) -> np.ndarray:
        """The observation as a network takes it, (n) or (worlds, n); called once before each action."""
        parts = [read(world) for read in self._readers]
        if not self._past:
            self._past = [parts] * self.contract.history
        else:
            self._past = [*self._past[1:], parts]
            fresh = self._fresh
            if fresh is not None:  # those that begin have no past
                self._past = [[np.where(fresh[:, None], new, old) for old, new in zip(one, parts)]
                              for one in self._past]
        self._fresh = None
        past = self._past[::-1] if self.contract.newest_first else self._past
        ordered = [part for one in past for part in one] if self.contract.history_by == "observation" else \
            [one[n] for n in range(len(parts)) for one in past]
        found = np.concatenate(ordered, axis=-1)
        most = self.contract.clip
        return found if most is None else np.clip(found, -most, most)

    def act(self, world: Any, action: np.ndarray) -> None:
        """Take an action; it is held until the next one. With motors call `follow` before every step."""
        most = self.contract.action.clip
        self.action = action if most is None else np.clip(action, -most, most)
        self._target = self.offset + self.scale * self.action
        if not self.pd:
            world.actuator_command[..., self._rows, self._column] = self._target

    def follow(self, world: Any) -> None:
        """Forces of servos that the robot's own computer has: kp (target - q) - kd v, within the effort."""
        if self.pd:
            q, v = (np.stack([getattr(world.joints[joint], quantity) for joint in self.joints], axis=-1)
                    for quantity in ("position", "velocity"))
            force = self._kp * (self._target - q) - self._kd * v
            world.actuator_command[..., self._rows, 0] = np.clip(force, -self._effort, self._effort)


def _one(value: Any, n: int) -> float:
    return float(value[n] if isinstance(value, list) else value)


def many(value: float | list[float], size: int, what: str) -> np.ndarray:
    """One number for each joint."""
    found = np.full(size, value, dtype=np.float64) if not isinstance(value, list) else np.array(value, dtype=np.float64)
    if found.shape != (size,):
        raise SceneError(f"{what} has {found.size} numbers for {size} joints", element="action",
                         remedy="give one, or one for each joint")
    return found
