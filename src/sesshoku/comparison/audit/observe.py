"""What a policy may observe: quantities of a simulation by the names that deployment configurations use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.comparison.audit.contract import Observation
from sesshoku.errors import SceneError, did_you_mean

if TYPE_CHECKING:
    from sesshoku.comparison.audit.policy import Policy

Reader = Callable[[Any], Any]  # of the simulation
PARTS = ("force", "torque", "acceleration", "gyro", "angular_velocity", "value")  # of a sensor's reading


def _base(policy: Policy, _: Observation, read: Callable[[Any], Any]) -> Reader:
    if policy.base is None:
        raise SceneError("the scene has no free base", element="observation", remedy="say base = \"...\"")
    name = policy.base
    return lambda sim: read(sim.bodies[name])


def _joints(policy: Policy, said: Observation, read: Callable[[Any, str], float]) -> Reader:
    names = said.joints if said.joints is not None else policy.joints
    return lambda sim: [read(sim, name) for name in names]


def _bodies(said: Observation) -> list[str]:
    names = said.bodies if said.bodies is not None else [said.body] if said.body is not None else []
    if not names:
        raise SceneError("says no body", element=f"observation {said.name!r}", remedy='give body = "foot"')
    return [str(name) for name in names]


def _rpy(R: np.ndarray) -> list[float]:
    return [math.atan2(R[2, 1], R[2, 2]), math.asin(max(-1.0, min(1.0, -R[2, 0]))), math.atan2(R[1, 0], R[0, 0])]


def _clock(policy: Policy, said: Observation) -> Reader:
    if said.period is None:
        raise SceneError("says no period", element="observation 'clock'", remedy="give period = 0.8 (s)")
    turn = 2.0 * math.pi / said.period
    return lambda sim: [math.sin(turn * sim.time), math.cos(turn * sim.time)]


def _value(policy: Policy, said: Observation) -> Reader:
    if said.value is None:
        raise SceneError("says no value", element="observation 'command'", remedy="give value = [0.5, 0.0, 0.0]")
    return lambda sim: said.value


def _touching(policy: Policy, said: Observation) -> Reader:
    names = _bodies(said)

    def read(sim: Any) -> list[float]:
        pressed = {name for contact in sim.contacts if contact.normal_force > 0.0 for name in contact.bodies}
        return [float(name in pressed) for name in names]

    return read


def _sensor(policy: Policy, said: Observation) -> Reader:
    if said.sensor is None:
        raise SceneError("says no sensor", element="observation 'sensor'", remedy='give sensor = "imu"')

    def read(sim: Any) -> Any:
        view = sim.sensors[said.sensor]
        parts = [getattr(view, part) for part in PARTS if hasattr(view, part)]
        return np.concatenate([np.atleast_1d(part) for part in parts])

    return read


#: name -> what makes a reader of it
QUANTITIES: dict[str, Callable[[Any, Observation], Reader]] = {
    "base_position": lambda p, o: _base(p, o, lambda b: b.position),
    "base_height": lambda p, o: _base(p, o, lambda b: b.position[2:]),
    "base_rotation": lambda p, o: _base(p, o, lambda b: b.rotation),
    "base_euler": lambda p, o: _base(p, o, lambda b: _rpy(b.rotation_matrix)),
    "base_linear_velocity": lambda p, o: _base(p, o, lambda b: b.rotation_matrix.T @ b.velocity),
    "base_angular_velocity": lambda p, o: _base(p, o, lambda b: b.rotation_matrix.T @ b.angular_velocity),
    "world_linear_velocity": lambda p, o: _base(p, o, lambda b: b.velocity),
    "world_angular_velocity": lambda p, o: _base(p, o, lambda b: b.angular_velocity),
    "projected_gravity": lambda p, o: _base(p, o, lambda b: -b.rotation_matrix[2]),
    "joint_position": lambda p, o: _joints(
        p, o, lambda sim, j: sim.joints[j].position - p.contract.default.get(j, 0.0)),
    "joint_velocity": lambda p, o: _joints(p, o, lambda sim, j: sim.joints[j].velocity),
    "last_action": lambda p, o: lambda sim: p.action,
    "command": _value,
    "clock": _clock,
    "time": lambda p, o: lambda sim: [sim.time],
    "touching": _touching,
    "body_position": lambda p, o: (lambda names: lambda sim: np.concatenate(
        [sim.bodies[name].position for name in names]))(_bodies(o)),
    "body_rotation": lambda p, o: (lambda names: lambda sim: np.concatenate(
        [sim.bodies[name].rotation for name in names]))(_bodies(o)),
    "body_velocity": lambda p, o: (lambda names: lambda sim: np.concatenate(
        [sim.bodies[name].velocity for name in names]))(_bodies(o)),
    "body_angular_velocity": lambda p, o: (lambda names: lambda sim: np.concatenate(
        [sim.bodies[name].angular_velocity for name in names]))(_bodies(o)),
    "sensor": _sensor,
}


def make_reader(policy: Policy, said: Observation) -> Reader:
    """A function of the simulation that reads one quantity, scaled and clipped."""
    if said.name not in QUANTITIES:
        raise SceneError("no such quantity", element="observation", value=said.name,
                         remedy=did_you_mean(said.name, QUANTITIES, also=f"there is {', '.join(QUANTITIES)}"))
    read, scale = QUANTITIES[said.name](policy, said), np.asarray(said.scale, dtype=np.float64)

    def scaled(sim: Any) -> np.ndarray:
        values = np.asarray(read(sim), dtype=np.float64)
        if scale.ndim and scale.shape != values.shape:
            raise SceneError(f"has {values.size} numbers and {scale.size} scales", element=f"observation {said.name!r}",
                             remedy="give one scale, or one for each number")
        values = scale * values
        return values if said.clip is None else np.clip(values, -said.clip, said.clip)

    return scaled
