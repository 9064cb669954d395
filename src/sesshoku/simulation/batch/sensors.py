"""Sensors of a batch by name: readings of all worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.scene.elements.state_sensors import KINDS
from sesshoku.simulation.batch.places import PlaceBatch
from sesshoku.simulation.sensors.sensing import SensorErrors
from sesshoku.simulation.sensors.state import StateSensorView
from sesshoku.simulation.sensors.views import ForceReading, ImuReading

if TYPE_CHECKING:
    from sesshoku.simulation.batch.reading import BatchReading

DRIVEN = "jointactuatorfrc"  # reads what no saved state holds


class SensorBatch:
    """A sensor in all worlds: its readings of the last step of each, (worlds, n)."""

    __slots__ = ("_batch", "_index", "name")

    def __init__(self, batch: BatchReading, name: str, index: int) -> None:
        self._batch, self.name, self._index = batch, name, index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._batch.worlds} worlds)"

    def _read(self, first: int) -> np.ndarray:
        return self._batch.sensor_readings[:, self._index, first:first + 3].copy()

    @property
    def value(self) -> np.ndarray:
        """(worlds, 6) force and torque, or acceleration and angular velocity."""
        return self._batch.sensor_readings[:, self._index].copy()


@checked
class ForceSensorBatch(ForceReading, SensorBatch):
    """A force sensor in all worlds: `force` and `torque`, (worlds, 3)."""

    __slots__ = ()


@checked
class ImuBatch(ImuReading, SensorBatch):
    """An IMU in all worlds: `acceleration` and `angular_velocity`, (worlds, 3)."""

    __slots__ = ()


@checked
class StateSensorBatch:
    """A state sensor in all worlds."""

    __slots__ = ("_batch", "kind", "name")

    def __init__(self, batch: BatchReading, name: str) -> None:
        self._batch, self.name, self.kind = batch, name, batch.scene.state_sensors[name].kind

    def __repr__(self) -> str:
        return f"StateSensorBatch({self.name!r}, {self.kind}, {self._batch.worlds} worlds)"

    @property
    def value(self) -> np.ndarray:
        """(worlds) or (worlds, n): the readings, clipped by the sensor's cutoff."""
        batch, sensor = self._batch, self._batch.scene.state_sensors[self.name]
        kinds = DIRECT if sensor.of is not None else {} if sensor.relative else AT_PLACES
        if sensor.kind not in kinds:  # one world after the other, by what reads it in a Simulation
            return np.array([StateSensorView(sim, self.name).value for sim in batch._one_by_one()])
        found = kinds[sensor.kind](batch, sensor)
        clip = KINDS[sensor.kind].clip
        if sensor.cutoff > 0.0 and clip:
            found = np.clip(found, -np.inf if clip == "positive" else -sensor.cutoff, sensor.cutoff)
        return np.array(found)


#: kinds that are columns of what a batch has anyway
DIRECT: dict[str, Any] = {
    "jointpos": lambda batch, s: batch.joints[s.of].position,
    "jointvel": lambda batch, s: batch.joints[s.of].velocity,
    "ballquat": lambda batch, s: batch.joints[s.of].position,
    "ballangvel": lambda batch, s: batch.joints[s.of].velocity,
    "gyro": lambda batch, s: batch.sensors[s.of].angular_velocity,
    "accelerometer": lambda batch, s: batch.sensors[s.of].acceleration,
    "force": lambda batch, s: batch.sensors[s.of].force,
    "torque": lambda batch, s: batch.sensors[s.of].torque,
}


def _place(batch: BatchReading, s: Any) -> PlaceBatch:
    return PlaceBatch(batch, s.body, s.position, s.rotation)


AT_PLACES: dict[str, Any] = {
    "framepos": lambda batch, s: _place(batch, s).position,
    "framequat": lambda batch, s: _place(batch, s).rotation,
    "framexaxis": lambda batch, s: _place(batch, s).rotation_matrix[:, :, 0],
    "frameyaxis": lambda batch, s: _place(batch, s).rotation_matrix[:, :, 1],
    "framezaxis": lambda batch, s: _place(batch, s).rotation_matrix[:, :, 2],
    "framelinvel": lambda batch, s: _place(batch, s).velocity,
    "frameangvel": lambda batch, s: _place(batch, s).angular_velocity,
    "velocimeter": lambda batch, s: _place(batch, s).local(_place(batch, s).velocity),
    "gyro": lambda batch, s: _place(batch, s).local(_place(batch, s).angular_velocity),
    "clock": lambda batch, s: batch.time.copy(),
}


def sensor_batch(batch: BatchReading, name: str, index: int) -> Any:
    """The view of a sensor by its kind."""
    if name in batch.scene.state_sensors:
        return StateSensorBatch(batch, name)
    kind = ForceSensorBatch if isinstance(batch.scene.sensors[name], ForceSensor) else ImuBatch
    return kind(batch, name, index)


class BatchErrors:
    """Bias and noise of all sensors of all worlds; each world has noise of its own."""

    def __init__(self, sensors: Any, worlds: int) -> None:
        given = [(i, sensor) for i, sensor in enumerate(sensors) if SensorErrors(sensor).matters]
        self._errors = [(i, [SensorErrors(sensor, w) for w in range(worlds)]) for i, sensor in given]

    def add(self, readings: np.ndarray, steps: np.ndarray, worlds: np.ndarray) -> None:
        """To readings (worlds, S, 6) that were just made, of these worlds, after so many steps each."""
        for i, errors in self._errors:
            for w in worlds.tolist():
                errors[w].add(int(steps[w]), readings[w, i])
