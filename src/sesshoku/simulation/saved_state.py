"""Saving a simulation's whole state, going back to it, and to the start."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from sesshoku.compiled.table import Record
from sesshoku.dynamics.data import Data, make_data
from sesshoku.errors import SceneError
from sesshoku.methods.registry import Method
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.scene import RobotPose
from sesshoku.simulation.pushes import Pushes
from sesshoku.simulation.robot_views import find_pose
from sesshoku.simulation.state import State
from sesshoku.simulation.views import ActuatorView, JointView
from sesshoku.stages.report import CONVERGED

LATER = ("acceleration", "contacts.torque", "presses.old_")  # what the first snapshots did not hold yet


class Snapshot(dict[str, np.ndarray]):
    """A saved state; hand it to `restore`."""


class SavedState(State):
    """Save, restore, reset."""

    method: Method
    work: Any
    joints: Mapping[str, JointView]
    actuators: Mapping[str, ActuatorView]
    _pushes: Pushes
    _pushed: bool
    _fingerprint: np.ndarray  # of scene and method: a snapshot of another one is refused
    _origin: Snapshot | None = None  # the scene's start, once somebody asked for it

    def _state(self) -> dict[str, np.ndarray]:
        """Every array that a saved state holds, by name."""
        return _saved(self.data, self.work) | ({} if self._sensing is None else self._sensing.state)

    def save(self) -> Snapshot:
        """The whole state; `restore` brings it back bit for bit."""
        self._read_sensors()
        snapshot = Snapshot({name: values.copy() for name, values in self._state().items()})
        snapshot["fingerprint"] = self._fingerprint
        snapshot |= self._pushes.saved()
        return snapshot

    def restore(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Go back to a saved state."""
        state = self._state()
        if not isinstance(snapshot, Mapping):
            raise SceneError("not a snapshot", element="restore", value=snapshot, remedy="hand in what save() returned")
        if not np.array_equal(snapshot.get("fingerprint", np.zeros(0)), self._fingerprint):
            raise SceneError("the snapshot belongs to another scene or method", element="restore",
                             remedy="bodies, joints, actuators and method must be the same")
        given = dict(snapshot)
        if any(name not in given and name.startswith(LATER) for name in state):
            given = {name: values for name, values in self._first_state().items() if name.startswith(LATER)} | given
        for name, values in state.items():
            if name not in given or np.shape(given[name]) != values.shape:
                raise SceneError("the snapshot belongs to another scene or method", element="restore", value=name)
        for name, values in state.items():
            values[...] = given[name]
        self._pushes.restore(snapshot)
        if self._sensing is not None:
            self._sensing.unread = False
        self._pushed = bool((self._pushes.once if self._pushes.standing else self.data.external_force).any())
        self._stale = True

    def reset(self, pose: str | Mapping[str, Any] | None = None) -> None:
        """Back to the scene's start: what follows is bit for bit what a new simulation does.

        pose: start in that named pose of the robots' files, as if they had been loaded in it; or with some joints at
        other positions (joint -> position), position servos aimed at them.
        """
        wanted = RobotPose() if pose is None else find_pose(self.scene.robots.values(), pose)
        for joint in wanted.positions:
            self.joints[joint]  # known ones only, before anything changes
        if self._origin is None:
            self._origin = self._first_state()
        self.restore(self._origin)
        for joint, position in wanted.positions.items():
            self.joints[joint].position = position
        for joint, velocity in wanted.velocities.items():
            self.joints[joint].velocity = velocity
        for name, command in wanted.commands.items():
            self.data.actuator_command[self.compiled.actuator_index[name]] = command
        for name, actuator in self.scene.actuators.items() if isinstance(pose, Mapping) else ():
            if actuator.kind == "position" and actuator.joint in wanted.positions:
                self.actuators[name].target = float(np.ravel(wanted.positions[actuator.joint])[0])

    def _first_state(self) -> Snapshot:
        """The state a new simulation of this scene has."""
        data = make_data(self.compiled)
        data.report[CONVERGED] = 1.0
        first = _saved(data, self.method.definition.make_work(self.compiled, self.method.options))
        if self._sensing is not None:
            first |= {name: np.zeros_like(values) for name, values in self._sensing.state.items()}
        return Snapshot(first | {"fingerprint": self._fingerprint})


def _saved(data: Data, work: Record) -> dict[str, np.ndarray]:
    """What the records declare as saved, by name: "q", "contacts.id", and of the work's own arrays "memory.slip"."""
    own = {name if "." in name else f"memory.{name}": values for name, values in work.saved().items()}
    return data.saved() | own


def fingerprint(compiled: CompiledScene, method: Method) -> np.ndarray:
    """32 bytes that tell scenes and methods apart: names, joints, masses, and which method."""
    digest = hashlib.sha256(repr((method.keyword, compiled.frame_names, compiled.joint_names, compiled.actuator_names,
                                  compiled.loop_names, *compiled.scene.sensors)).encode())
    for values in (compiled.model.link_joint, compiled.model.link_parent, compiled.model.link_mass,
                   compiled.model.link_position):
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
