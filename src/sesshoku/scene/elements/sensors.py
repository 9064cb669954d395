"""Sensors of a scene: what measures forces and motion at a place of a body.

A force sensor sits where a body hangs on its parent and reads the wrench that the parent passes to it; an IMU reads
proper acceleration (gravity included: at rest it points up) and angular velocity. Both read in their own axes, and may
add bias and white noise, the same in every run with the same seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.contents import Contents

MOST_SEED = 2**63 - 1


def _check_place(sensor: Any, what: str) -> str:
    """Name, body, pose and seed of a sensor; returns how errors call it."""
    check.name(sensor.name, f"name of {what}")
    element = f"sensor {sensor.name!r}"
    check.name(sensor.body, "body", element)
    sensor.position = check.vector(sensor.position, "position", element)
    sensor.rotation = check.quaternion(sensor.rotation, "rotation", element)
    seed = sensor.seed
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed <= MOST_SEED:
        raise SceneError("the seed must be a whole number, 0 or more", element=element, value=seed)
    sensor.seed = int(seed)
    return element


def _check_errors(sensor: Any, element: str, *quantities: str) -> None:
    for quantity in quantities:
        noise = check.number(getattr(sensor, f"{quantity}_noise"), f"{quantity}_noise", element, least=0.0)
        setattr(sensor, f"{quantity}_noise", noise)
        setattr(sensor, f"{quantity}_bias", check.vector(getattr(sensor, f"{quantity}_bias"), f"{quantity}_bias",
                                                         element))


@dataclass
class Mounted:
    """A sensor's name and where it sits: the body, and the sensor in the body's frame."""

    name: str
    body: str
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)


@checked
@dataclass
class ForceSensor(Mounted):
    """Force (N) and torque (N m) that a body's parent passes to it, through the joint or where it is fixed.

    position, rotation: the sensor in the body's frame; the torque is about its origin, both are along its axes.
    force_noise, torque_noise: standard deviation of white noise, a new value each step. force_bias, torque_bias: (3),
    added always.
    """

    force_noise: float = 0.0
    torque_noise: float = 0.0
    force_bias: Any = (0.0, 0.0, 0.0)
    torque_bias: Any = (0.0, 0.0, 0.0)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_errors(self, _check_place(self, "a force sensor"), "force", "torque")


@checked
@dataclass
class Imu(Mounted):
    """Accelerometer (m/s^2) and gyroscope (rad/s) at a point of a body.

    position, rotation: the sensor in the body's frame. acceleration_noise, gyro_noise: standard deviation of white
    noise, a new value each step. acceleration_bias, gyro_bias: (3), added always.
    """

    acceleration_noise: float = 0.0
    gyro_noise: float = 0.0
    acceleration_bias: Any = (0.0, 0.0, 0.0)
    gyro_bias: Any = (0.0, 0.0, 0.0)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_errors(self, _check_place(self, "an IMU"), "acceleration", "gyro")


Sensor = ForceSensor | Imu


class SensorMounts(Contents):
    """The part of `Scene` that mounts sensors."""

    def add_force_sensor(self, name: str, body: str | None = None, *, joint: str | None = None, position: Any = None,
                         **options: Any) -> ForceSensor:
        """Measure what a body's parent passes to it: `add_force_sensor("left_ankle", joint="left_ankle_roll")`.

        Give the body, or the joint it moves by. position: in the body's frame, by default the joint's anchor. Options:
        those of `ForceSensor`.
        """
        element = f"sensor {check.name(name, 'name of a force sensor')!r}"
        if (body is None) == (joint is None):
            raise SceneError("a force sensor needs a body or a joint", element=element, value=body,
                             remedy="give one of the two")
        if joint is not None:
            self.joint(joint)  # refuses an unknown one
            body = self._joint_owner[joint]
        owner = self._body(str(body), element)
        at = owner.joint.anchor if position is None else position
        return self._insert_sensor(ForceSensor(name, owner.name, at, **options))

    def add_imu(self, name: str, body: str, **options: Any) -> Imu:
        """Measure acceleration and angular velocity of a body: `add_imu("trunk", "torso", position=(0, 0, 0.1))`."""
        return self._insert_sensor(Imu(name, body, **options))

    def _insert_sensor(self, sensor: Any) -> Any:
        element = f"sensor {sensor.name!r}"
        if sensor.name in self.sensors or sensor.name in self.state_sensors:
            raise SceneError("the name is taken already", element=element, remedy="give every sensor its own name")
        self._body(sensor.body, element)
        self.sensors[sensor.name] = sensor
        return sensor
