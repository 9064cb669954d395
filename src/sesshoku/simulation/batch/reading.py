"""What is read of a batch, and by which names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.scene.scene import Scene
from sesshoku.simulation.batch.numbers import numbers_of
from sesshoku.simulation.batch.observe import Observed
from sesshoku.simulation.batch.places import FrameBatch
from sesshoku.simulation.batch.robots import RobotBatches
from sesshoku.simulation.batch.sensors import sensor_batch
from sesshoku.simulation.batch.state import BatchState, state_name
from sesshoku.simulation.batch.varied import Said
from sesshoku.simulation.batch.views import ActuatorBatch, BodyBatch, JointBatch
from sesshoku.simulation.simulation import Simulation
from sesshoku.simulation.views import Views
from sesshoku.stages.report import CONVERGED, OVERFLOW


class BatchReading(BatchState):
    """Arrays of the present states and the last steps; bodies, joints, actuators, sensors, frames, robots by name."""

    scene: Scene
    _observed: Observed
    _said: Said
    _columns: list[int]  # of actuator_command: what each actuator follows
    _ghost: Simulation | None = None  # where one world after the other is read

    # ---- by name -------------------------------------------------------------------------------------------------
    # made when asked for: views hold the batch, and a batch that held them would outlive its last user

    @property
    def bodies(self) -> Mapping[str, BodyBatch]:
        """name -> a body in all worlds."""
        return Views(self, self.compiled.frame_index, BodyBatch, "body")

    @property
    def joints(self) -> Mapping[str, JointBatch]:
        """name -> a joint in all worlds."""
        return Views(self, self.compiled.joint_link, JointBatch, "joint")

    @property
    def actuators(self) -> Mapping[str, ActuatorBatch]:
        """name -> an actuator in all worlds."""
        return Views(self, self.compiled.actuator_index, ActuatorBatch, "actuator")

    @property
    def frames(self) -> Mapping[str, FrameBatch]:
        """name -> a frame of the scene in all worlds."""
        return Views(self, dict.fromkeys(self.scene.frames, 0), FrameBatch, "frame")

    @property
    def robots(self) -> RobotBatches:
        """name, or what `scene.load` returned -> a robot in all worlds, as arrays."""
        return RobotBatches(self)

    @property
    def sensors(self) -> Mapping[str, Any]:
        """name -> a sensor in all worlds: ForceSensorBatch, ImuBatch or StateSensorBatch."""
        index = {name: i for i, name in enumerate([*self.scene.sensors, *self.scene.state_sensors])}
        return Views(self, index, sensor_batch, "sensor")

    # ---- what is -------------------------------------------------------------------------------------------------

    @property
    def q(self) -> np.ndarray:
        """(worlds, Q) coordinates, live: what is written to them holds. Those of free joints are of centres of mass."""
        return self._memory.arrays["data.q"]

    @q.setter
    def q(self, value: Any) -> None:
        given = numbers_of(value, self.q, "q", "Batch")
        self.q[:] = self._coordinates(self._xp.broadcast_to(given, self.q.shape).copy())

    @property
    def v(self) -> np.ndarray:
        """(worlds, V) velocities, live."""
        return self._memory.arrays["data.v"]

    @v.setter
    def v(self, value: Any) -> None:
        self.v[:] = numbers_of(value, self.v, "v", "Batch")

    @property
    def report_array(self) -> np.ndarray:
        """(worlds, 16) how well the last steps kept physics, in the order of `stages.report.CHANNELS`."""
        return self._memory.arrays["data.report"]

    @property
    def time(self) -> np.ndarray:
        """(worlds) simulated time, s."""
        return self._memory.arrays["data.time"][:, 0]

    @property
    def actuator_command(self) -> np.ndarray:
        """(worlds, A, 3) target, target velocity, feed-forward of every actuator, live."""
        return self._memory.arrays["data.actuator_command"]

    @property
    def command(self) -> np.ndarray:
        """(worlds, A) what every actuator is to follow, by its kind: a position, a velocity or a force.

        Live; a copy that cannot be written to where velocity servos stand beside others: assign, `batch.command = ...`.
        """
        if len(set(self._columns)) < 2:
            return self.actuator_command[:, :, self._columns[0] if self._columns else 0]
        found = self.actuator_command[:, np.arange(len(self._columns)), self._columns]
        if self._xp is np:
            found.flags.writeable = False
        return found

    @command.setter
    def command(self, value: Any) -> None:
        given = numbers_of(value, self.command, "command", "Batch")
        self.actuator_command[:, np.arange(len(self._columns)), self._columns] = given

    @property
    def overflow(self) -> np.ndarray:
        """(worlds) whether a fixed capacity was too small in the last step, and contacts were left out."""
        return self.report_array[:, OVERFLOW] != 0.0

    @property
    def converged(self) -> np.ndarray:
        """(worlds) whether the last step's residual met the tolerance."""
        return self.report_array[:, CONVERGED] != 0.0

    @property
    def varied(self) -> dict[str, np.ndarray]:
        """What was drawn of each quantity in `vary`: (worlds, elements, numbers), elements in the order of its names.

        Factors of what the scene has, or the values in its place, or changes of the start, as it was said.
        """
        return {name: np.concatenate([one.numbers for one in drawn], axis=1)
                for name, drawn in self._said.items() if drawn}

    def body_poses(self) -> np.ndarray:
        """(worlds, F, 7) position and quaternion of every named body, in the order of `compiled.frame_names`."""
        return self._observed.now()[0].copy()

    def body_velocities(self) -> np.ndarray:
        """(worlds, F, 6) velocity and angular velocity of every named body's frame, world axes."""
        return self._observed.now()[1].copy()

    @property
    def sensor_readings(self) -> np.ndarray:
        """(worlds, S, 6) force and torque, or acceleration and angular velocity, of every sensor."""
        readings = self._memory.arrays.get("mounts.reading")
        return self._xp.zeros((self.worlds, 0, 6)) if readings is None else readings

    @property
    def contact_count(self) -> np.ndarray:
        """(worlds) contacts of the last step."""
        counts = self._memory.arrays.get("work.contacts.counts")
        return self._xp.zeros(self.worlds, dtype=np.int64) if counts is None else counts[:, CONTACTS].copy()

    def contact_force(self, body: str) -> np.ndarray:
        """(worlds, 3) sum of the contact forces on a body in the last step, mean over the step, world axes, N."""
        frame, arrays, xp = self.bodies[body]._frame, self._memory.arrays, self._xp
        if "work.contacts.force" not in arrays or not self.model.shape_count:
            return xp.zeros((self.worlds, 3))
        count = self.contact_count
        most = int(count.max())
        owner = xp.asarray(self.model.shape_frame)[arrays["work.contacts.shape"][:, :most]]  # (worlds, most, 2)
        sign = (owner[:, :, 1] == frame).astype(np.float64) - (owner[:, :, 0] == frame)
        sign[xp.arange(most) >= count[:, None]] = 0.0
        force = arrays["work.contacts.force"][:, :most]
        return xp.where(sign[:, :, None] != 0.0, sign[:, :, None] * force, 0.0).sum(axis=1)

    def _one_by_one(self) -> Iterator[Simulation]:
        """A Simulation in the state of each world in turn: for reading, at once."""
        for w in range(self.worlds):
            if self._said:
                sim = self[w]
            else:
                sim = self._ghost = self._ghost or self[0]
                sim._put({state_name(place): self._memory.row(place.key, w) for place in self._states})
            if "data.drive_force" in self._memory.arrays:
                sim.data.drive_force[:] = self._memory.row("data.drive_force", w)
            yield sim
