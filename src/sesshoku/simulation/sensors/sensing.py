"""`Sensing`: has the sensors of a simulation read its steps.

A scene without sensors has none of this. Of several steps only the last is read, and that when somebody asks, or
before links or state are changed: what nobody reads costs a copy of the velocities.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.simulation.sensors.measure import GIVEN, LEFT, MIDDLE, measure
from sesshoku.simulation.sensors.memory import make_mounts

SENSED = "sensors."  # prefix of what a saved state holds


class Sensing:
    """The sensors of a simulation. `advance` makes its steps; `unread`: the last one has not been read yet."""

    def __init__(self, sim: Any) -> None:
        definition = sim.method.definition
        self.mounts = make_mounts(sim.compiled, definition.leave_motion is not None)
        self.unread = False
        self._contacts = getattr(sim.work, "contacts", None)
        self._leave_motion = definition.leave_motion  # methods in coordinates of their own
        self._start_motion = definition.start_motion
        self.place = GIVEN if self._leave_motion else MIDDLE if definition.ends_within(sim.method.options) else LEFT
        if self._leave_motion is not None and self._loops_matter():
            raise MethodError("this method cannot say what passes through a loop", element=self._looped(sim),
                              remedy="choose another method, or move the sensor")
        errors = enumerate(SensorErrors(sensor, sim._world) for sensor in sim.scene.sensors.values())
        self._errors = [(error, self.mounts.reading[i]) for i, error in errors if error.matters]
        self._felt: memoryview[float] = memoryview(self.mounts.push.reshape(-1))
        # looked up once: these are read in every step
        self._tables = (sim.model.table, sim.data.table, self.mounts.table)
        velocities = (self.mounts.old_v, sim.data.v)
        self._state = (velocities,) if self.place == LEFT else (velocities, (self.mounts.old_q, sim.data.q))
        c = self._contacts
        self._found = ((np.zeros((0, 2), dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))
                       if c is None else (c.shape, c.point, c.force, c.torque))

    def _loops_matter(self) -> bool:
        joins, hangs = self.mounts.loop_body, self.mounts.hangs
        return bool((hangs[:, joins[:, 0]] != hangs[:, joins[:, 1]]).any())

    def _looped(self, sim: Any) -> str:
        joins, hangs = self.mounts.loop_body, self.mounts.hangs
        s = int(np.flatnonzero((hangs[:, joins[:, 0]] != hangs[:, joins[:, 1]]).any(axis=1))[0])
        return f"sensor {list(sim.scene.sensors)[s]!r}"

    @property
    def state(self) -> dict[str, np.ndarray]:
        """What a saved state holds of the sensors."""
        return self.mounts.saved(SENSED)

    def push(self, frame: int, wrench: tuple[float, ...]) -> None:
        """A user's force on a body, and torque about its link's centre of mass (6)."""
        add_numbers(self._felt, 6 * frame, wrench)

    def release(self) -> None:
        self.mounts.push[:] = 0.0

    def compile(self, sim: Any) -> None:
        """Compile what reads the sensors, before the first step; readings stay as they are."""
        kept = self.mounts.reading.copy()
        self.mounts.old_q[:] = sim.data.q  # there must be rotations in it
        measure(*self._tables, 0, *self._found, self.place, sim.dt)
        self.mounts.reading[:] = kept

    def advance(self, sim: Any, steps: int) -> int:
        """Make steps, of which the last is read; how many were made before the state stopped being finite."""
        self.unread = False
        done = sim._advance(steps - 1) if steps > 1 else 0
        if done < steps - 1:
            return int(done)
        if self._start_motion is not None:
            self._start_motion(sim.model, sim.data, sim.work, self.mounts.start)
        for old, now in self._state:
            np.copyto(old, now)
        if sim._advance(1) == 0:
            return int(done)
        self.unread = True
        if self.place != LEFT or sim._pushed or sim._pushes.standing or sim._lent:  # what it takes does not stay
            self.read(sim)
        return steps

    def read(self, sim: Any) -> None:
        """Read the step that was made."""
        self.unread = False
        if self._leave_motion is not None:
            self._leave_motion(sim.model, sim.data, sim.work, self.mounts.start, sim.dt)
        count = 0 if self._contacts is None else int(self._contacts.counts[0])
        measure(*self._tables, count, *self._found, self.place, sim.dt)
        for error, reading in self._errors:
            error.add(round(sim.time / sim.dt), reading)
        sim._stale, sim._unobserved = False, True  # the links are at the step's end, what bodies show is not


def add_numbers(total: memoryview[float], at: int, values: tuple[float, ...]) -> None:
    """total[at:] += values, one by one: for six numbers a quarter of what NumPy takes."""
    for value in values:
        if value:
            total[at] += value
        at += 1


class SensorErrors:
    """Bias and white noise of a sensor. The noise is a function of seed, name, world (of a batch) and number of the
    step alone."""

    def __init__(self, sensor: Any, world: int = 0) -> None:
        first, second = ("force", "torque") if isinstance(sensor, ForceSensor) else ("acceleration", "gyro")
        self._bias = np.concatenate([getattr(sensor, f"{first}_bias"), getattr(sensor, f"{second}_bias")])
        self._size = np.repeat([getattr(sensor, f"{first}_noise"), getattr(sensor, f"{second}_noise")], 3)
        self._biased, self._noisy = bool(self._bias.any()), bool(self._size.any())
        self.matters = self._biased or self._noisy
        self._key = [sensor.seed, zlib.crc32(sensor.name.encode()) + (world << 32)]

    def add(self, step: int, reading: np.ndarray) -> None:
        if self._biased:
            reading += self._bias
        if self._noisy:
            stream = np.random.Philox(key=self._key, counter=step << 8)
            reading += self._size * np.random.Generator(stream).standard_normal(6)
