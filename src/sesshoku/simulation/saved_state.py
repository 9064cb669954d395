"""Saving a simulation's whole state, going back to it, and to the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sesshoku.dynamics.data import make_data
from sesshoku.methods.registry import Method
from sesshoku.scene.scene import RobotPose
from sesshoku.simulation.pushes import Pushes
from sesshoku.simulation.robot_views import find_pose
from sesshoku.simulation.snapshots import FINGERPRINT, Snapshot, StateRules, saved_arrays, sound_state
from sesshoku.simulation.state import State
from sesshoku.simulation.views import ActuatorView, JointView
from sesshoku.stages.report import CONVERGED


class SavedState(State):
    """Save, restore, reset."""

    method: Method
    work: Any
    joints: Mapping[str, JointView]
    actuators: Mapping[str, ActuatorView]
    _pushes: Pushes
    _pushed: bool
    _fingerprint: np.ndarray  # of scene and method: a snapshot of another one is refused
    _state_rules: StateRules | None = None  # what a state must be to come back; made when one does
    _origin: Snapshot | None = None  # the scene's start, once somebody asked for it

    def _state(self) -> dict[str, np.ndarray]:
        """Every array that a saved state holds, by name."""
        return saved_arrays(self.data, self.work) | ({} if self._sensing is None else self._sensing.state)

    def save(self) -> Snapshot:
        """The whole state; `restore` brings it back bit for bit."""
        self._read_sensors()
        snapshot = Snapshot({name: values.copy() for name, values in self._state().items()})
        snapshot[FINGERPRINT] = self._fingerprint.copy()
        snapshot |= self._pushes.saved()
        return snapshot

    def restore(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Go back to a saved state, of this scene and method.

        Every number is looked at first; a state that cannot be is refused, and the simulation stays as it was.
        """
        self._put(sound_state(self, snapshot))

    def _put(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Take a state that is known to be sound."""
        for name, values in self._state().items():
            values[...] = snapshot[name]
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
        self._put(self._origin)
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
        first = saved_arrays(data, self.method.definition.make_work(self.compiled, self.method.options))
        if self._sensing is not None:
            first |= {name: np.zeros_like(values) for name, values in self._sensing.state.items()}
        return Snapshot(first | {FINGERPRINT: self._fingerprint.copy()})
