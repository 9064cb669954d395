"""What a policy may observe: quantities of a simulation by the names that deployment configurations use.

Each reads a `Simulation`, or a `Batch` with its worlds as the first axis: numbers (n), or (worlds, n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.comparison.audit.contract import Observation
from sesshoku.errors import SceneError, did_you_mean

if TYPE_CHECKING:
    from sesshoku.comparison.audit.drive import Drive

Reader = Callable[[Any], Any]  # of the simulation


def _base(drive: Drive, read: Callable[[Any], Any]) -> Reader:
    if drive.base is None:
        raise SceneError("the scene has no free base", element="observation", remedy='say base = "..."')
    name = drive.base
    return lambda sim: read(sim.bodies[name])


def _in_its_axes(body: Any, vector: np.ndarray) -> np.ndarray:
    """A vector of the world along a body's own axes."""
    return np.einsum("...ji,...j->...i", body.rotation_matrix, vector)


def _joints(drive: Drive, said: Observation, quantity: str) -> Reader:
    names = said.joints if said.joints is not None else drive.joints
    less = np.array([drive.contract.default.get(name, 0.0) for name in names]) if quantity == "position" else 0.0
    return lambda sim: np.stack([getattr(sim.joints[name], quantity) for name in names], axis=-1) - less


def _bodies(said: Observation, quantity: str) -> Reader:
    names = _named(said)
    return lambda sim: np.concatenate([getattr(sim.bodies[name], quantity) for name in names], axis=-1)


def _named(said: Observation) -> list[str]:
    names = said.bodies if said.bodies is not None else [said.body] if said.body is not None else []
    if not names:
        raise SceneError("says no body", element=f"observation {said.name!r}", remedy='give body = "foot"')
    return [str(name) for name in names]


def _euler(R: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw."""
    return np.stack([np.arctan2(R[..., 2, 1], R[..., 2, 2]), np.arcsin(np.clip(-R[..., 2, 0], -1.0, 1.0)),
                     np.arctan2(R[..., 1, 0], R[..., 0, 0])], axis=-1)


def _clock(drive: Drive, said: Observation) -> Reader:
    if said.period is None:
        raise SceneError("says no period", element="observation 'clock'", remedy="give period = 0.8 (s)")
    turn = 2.0 * math.pi / said.period
    return lambda sim: np.stack([np.sin(turn * np.asarray(sim.time)), np.cos(turn * np.asarray(sim.time))], axis=-1)


def _command(drive: Drive, said: Observation) -> Reader:
    """What is wanted: a constant of the contract, or what an environment puts into `drive.command`."""
    if said.value is not None:
        drive.command = np.array(said.value)

    def read(sim: Any) -> np.ndarray:
        if drive.command is None:
            raise SceneError("says no value", element="observation 'command'", remedy="give value = [0.5, 0.0, 0.0]")
        worlds = np.shape(sim.time)
        return np.broadcast_to(drive.command, (*worlds, drive.command.shape[-1]))

    return read


def _touching(drive: Drive, said: Observation) -> Reader:
    names = _named(said)

    def read(sim: Any) -> np.ndarray:
        if np.ndim(sim.time):
            return np.stack([sim.contact_force(name).any(axis=1) for name in names], axis=-1).astype(float)
        pressed = {name for contact in sim.contacts if contact.normal_force > 0.0 for name in contact.bodies}
        return np.array([float(name in pressed) for name in names])

    return read


def _sensor(drive: Drive, said: Observation) -> Reader:
    if said.sensor is None:
        raise SceneError("says no sensor", element="observation 'sensor'", remedy='give sensor = "imu"')

    def read(sim: Any) -> np.ndarray:
        found = np.asarray(sim.sensors[said.sensor].value)
        return found[..., None] if found.ndim == np.ndim(sim.time) else found

    return read


#: name -> what makes a reader of it
QUANTITIES: dict[str, Callable[[Any, Observation], Reader]] = {
    "base_position": lambda d, o: _base(d, lambda b: b.position),
    "base_height": lambda d, o: _base(d, lambda b: b.position[..., 2:]),
    "base_rotation": lambda d, o: _base(d, lambda b: b.rotation),
    "base_euler": lambda d, o: _base(d, lambda b: _euler(b.rotation_matrix)),
    "base_linear_velocity": lambda d, o: _base(d, lambda b: _in_its_axes(b, b.velocity)),
    "base_angular_velocity": lambda d, o: _base(d, lambda b: _in_its_axes(b, b.angular_velocity)),
    "world_linear_velocity": lambda d, o: _base(d, lambda b: b.velocity),
    "world_angular_velocity": lambda d, o: _base(d, lambda b: b.angular_velocity),
    "projected_gravity": lambda d, o: _base(d, lambda b: -b.rotation_matrix[..., 2, :]),
    "joint_position": lambda d, o: _joints(d, o, "position"),
    "joint_velocity": lambda d, o: _joints(d, o, "velocity"),
    "last_action": lambda d, o: lambda sim: d.action,
    "command": _command,
    "clock": _clock,
    "time": lambda d, o: lambda sim: np.asarray(sim.time)[..., None],
    "touching": _touching,
    "body_position": lambda d, o: _bodies(o, "position"),
    "body_rotation": lambda d, o: _bodies(o, "rotation"),
    "body_velocity": lambda d, o: _bodies(o, "velocity"),
    "body_angular_velocity": lambda d, o: _bodies(o, "angular_velocity"),
    "sensor": _sensor,
}


def make_reader(drive: Drive, said: Observation) -> Reader:
    """A function of the simulation that reads one quantity, scaled and clipped."""
    if said.name not in QUANTITIES:
        raise SceneError("no such quantity", element="observation", value=said.name,
                         remedy=did_you_mean(said.name, QUANTITIES, also=f"there is {', '.join(QUANTITIES)}"))
    read, scale = QUANTITIES[said.name](drive, said), np.asarray(said.scale, dtype=np.float64)

    def scaled(sim: Any) -> np.ndarray:
        values = np.asarray(read(sim), dtype=np.float64)
        if scale.ndim and scale.shape != values.shape[-1:]:
            raise SceneError(f"has {values.shape[-1]} numbers and {scale.size} scales",
                             element=f"observation {said.name!r}", remedy="give one scale, or one for each number")
        values = scale * values
        return values if said.clip is None else np.clip(values, -said.clip, said.clip)

    return scaled
