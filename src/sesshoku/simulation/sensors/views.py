"""What users hold of a sensor: its reading of the last step, and where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.simulation.sensors.state import StateSensorView
from sesshoku.spatial.rotation import quaternion_to_matrix


class SensorView:
    """A sensor in a simulation."""

    __slots__ = ("_index", "_sim", "name")

    def __init__(self, sim: Any, name: str, index: int) -> None:
        self._sim, self.name, self._index = sim, name, index

    def _read(self, first: int) -> np.ndarray:
        reading: np.ndarray = self._sim.sensor_readings[self._index, first:first + 3].copy()
        return reading

    @property
    def value(self) -> np.ndarray:
        """The whole reading (6): force and torque, or acceleration and angular velocity."""
        return np.concatenate([self._read(0), self._read(3)])

    @property
    def position(self) -> np.ndarray:
        """Where the sensor is (3), world, m."""
        sensor = self._sim.scene.sensors[self.name]
        body = self._sim.bodies[sensor.body]
        at: np.ndarray = body.position + body.rotation_matrix @ sensor.position
        return at

    @property
    def rotation_matrix(self) -> np.ndarray:
        """R_world_sensor (3, 3)."""
        sensor = self._sim.scene.sensors[self.name]
        R: np.ndarray = self._sim.bodies[sensor.body].rotation_matrix @ quaternion_to_matrix(sensor.rotation)
        return R


class ForceReading:
    """A force sensor: what the parent passed to its body, mean over the last step, along the sensor's axes."""

    __slots__ = ()
    _read: Callable[[int], np.ndarray]  # three numbers from there on; of a batch a row for each world

    @property
    def force(self) -> np.ndarray:
        """Force of the parent on the body (3), N; zero before the first step."""
        return self._read(0)

    @property
    def torque(self) -> np.ndarray:
        """Torque of the parent on the body about the sensor (3), N m."""
        return self._read(3)


class ImuReading:
    """An IMU: acceleration, mean over the last step, and angular velocity at its end, along the sensor's axes."""

    __slots__ = ()
    _read: Callable[[int], np.ndarray]

    @property
    def acceleration(self) -> np.ndarray:
        """Proper acceleration (3), m/s^2: gravity included, up at rest, zero in free fall and before the first step."""
        return self._read(0)

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity (3), rad/s."""
        return self._read(3)


@checked
class ForceSensorView(ForceReading, SensorView):
    """A force sensor: what the parent passed to its body, mean over the last step, along the sensor's axes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ForceSensorView({self.name!r}, force={np.round(self.force, 6).tolist()})"


@checked
class ImuView(ImuReading, SensorView):
    """An IMU: acceleration, mean over the last step, and angular velocity at its end, along the sensor's axes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ImuView({self.name!r}, acceleration={np.round(self.acceleration, 6).tolist()})"


def sensor_view(sim: Any, name: str, index: int) -> ForceSensorView | ImuView | StateSensorView:
    """The view of a sensor by its kind."""
    if name in sim.scene.state_sensors:
        return StateSensorView(sim, name)
    kind = ForceSensorView if isinstance(sim.scene.sensors[name], ForceSensor) else ImuView
    return kind(sim, name, index)
