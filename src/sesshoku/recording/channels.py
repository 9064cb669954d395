"""What can be recorded: channels by name, each a function of the simulation with a fixed shape, labels and units."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.per_body import sum_by_body, wrench_by_body
from sesshoku.errors import RecordingError, did_you_mean
from sesshoku.model.arrays import FREE, GENERAL, KINEMATIC, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL, TORQUE
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.stages import report

Read = Callable[[Any], Any]  # simulation -> number or array

RESERVED = ("time", "meta", "film_shapes", "film_looks")  # names an .npz file needs for itself
QUATERNION = "quaternion"  # the unit of quaternion components; plots leave them out
REPORT_UNITS = ("m/s", "N s", "m", "N", "J", "J", "rad or m", "m", "", "", "", "", "", "J", "J", "")


@dataclass(frozen=True)
class Channel:
    """One recorded quantity. A sample has `shape`; `labels` names the entries along each axis of it.

    unit: of all entries, or one per entry in the order of `columns`.
    """

    name: str
    shape: tuple[int, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    unit: str | tuple[str, ...] = ""

    def __post_init__(self) -> None:
        if tuple(len(axis) for axis in self.labels) != self.shape:
            raise RecordingError(f"channel {self.name!r}: labels for a shape of {tuple(map(len, self.labels))}, but a "
                                 f"sample has {self.shape}; give one label per entry along each axis")
        if not isinstance(self.unit, str) and len(self.unit) != self.size:
            raise RecordingError(f"channel {self.name!r}: {len(self.unit)} units for {self.size} entries; "
                                 "give one unit, or one per entry")

    @property
    def size(self) -> int:
        """Numbers in a sample."""
        return math.prod(self.shape)

    @property
    def columns(self) -> list[str]:
        """A name for every number of a sample, last axis fastest: "crate x", "crate y" ..."""
        return [" ".join(labels) for labels in product(*self.labels)]

    @property
    def units(self) -> list[str]:
        """The unit of every number of a sample."""
        return [self.unit] * self.size if isinstance(self.unit, str) else list(self.unit)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "shape": self.shape, "labels": self.labels, "unit": self.unit}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Channel:
        unit = given["unit"]
        return cls(given["name"], tuple(given["shape"]), tuple(tuple(axis) for axis in given["labels"]),
                   unit if isinstance(unit, str) else tuple(unit))


@dataclass(frozen=True)
class CustomChannel:
    """A channel of your own with labels and unit: `{"foot": CustomChannel(foot_force, labels="xyz", unit="N")}`.

    labels: for a vector one per entry, for a matrix one sequence per axis; numbers where left out.
    """

    function: Read
    labels: Iterable[Any] | None = None
    unit: str | tuple[str, ...] = ""


# ---- built-in channels: name -> (description from the compiled scene, function of the simulation) --------------------

COORDINATE_PARTS = {
    FREE: [("x", "m"), ("y", "m"), ("z", "m"), *((f"q{c}", QUATERNION) for c in "wxyz")],
    REVOLUTE: [("", "rad")], PRISMATIC: [("", "m")], SPHERICAL: [(f"q{c}", QUATERNION) for c in "wxyz"],
    PLANAR: [("x", "m"), ("y", "m"), ("angle", "rad")], KINEMATIC: [],
}
VELOCITY_PARTS = {
    FREE: [*((f"v{c}", "m/s") for c in "xyz"), *((f"w{c}", "rad/s") for c in "xyz")],
    REVOLUTE: [("", "rad/s")], PRISMATIC: [("", "m/s")], SPHERICAL: [(f"w{c}", "rad/s") for c in "xyz"],
    PLANAR: [("vx", "m/s"), ("vy", "m/s"), ("w", "rad/s")], KINEMATIC: [],
}
POSE_PARTS, POSE_UNITS = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("m",) * 3 + (QUATERNION,) * 4
TWIST_PARTS, TWIST_UNITS = ("vx", "vy", "vz", "wx", "wy", "wz"), ("m/s",) * 3 + ("rad/s",) * 3


def _vector(name: str, labels: Iterable[str], unit: str | tuple[str, ...]) -> Channel:
    labels = tuple(labels)
    return Channel(name, (len(labels),), (labels,), unit)


def _per_joint(name: str, compiled: Any, parts: Mapping[int, list[tuple[str, str]]], one_axis: bool = False) -> Channel:
    """One entry per coordinate or velocity of each joint, labelled "knee", or "base.x" where the joint has several."""
    labels, units = [], []
    for joint, kind in zip(compiled.joint_names, compiled.model.link_joint):
        if one_axis and kind not in (REVOLUTE, PRISMATIC):
            continue
        for part, unit in parts[int(kind)]:
            labels.append(f"{joint}.{part}" if part else joint)
            units.append(unit)
    return _vector(name, labels, tuple(units))


def _per_body(name: str, compiled: Any, parts: tuple[str, ...], units: tuple[str, ...]) -> Channel:
    bodies = tuple(compiled.frame_names)
    return Channel(name, (len(bodies), len(parts)), (bodies, parts), units * len(bodies))


def _turns(compiled: Any) -> list[bool]:
    """For each actuator, whether it turns (N m) rather than pushes (N); one on a tendon over joints as the first does,
    one on a path through space pulls."""
    model, found = compiled.model, []
    for dof, tendon in zip(model.actuator_dof, model.actuator_tendon):
        if tendon >= 0 and model.tendon_path[tendon] == model.tendon_path[tendon + 1]:
            dof = model.tendon_dof[model.tendon_drive[tendon]]
        found.append(bool(dof >= 0 and model.link_joint[model.dof_link[dof]] == REVOLUTE))
    return found


def _actuator_force(compiled: Any) -> Channel:
    units = tuple("N m" if turn else "N" for turn in _turns(compiled))
    return _vector("actuator_force", compiled.actuator_names, units)


def _command(compiled: Any) -> Channel:
    units: list[str] = []
    for turn, kind in zip(_turns(compiled), compiled.model.actuator_kind):
        position, velocity, force = ("rad", "rad/s", "N m") if turn else ("m", "m/s", "N")
        units += ["" if kind == GENERAL else force if kind == TORQUE else position, velocity, force]
    names = tuple(compiled.actuator_names)
    return Channel("command", (len(names), 3), (names, ("target", "target_velocity", "feed_forward")), tuple(units))


def _one_axis(which: str, first: str) -> Callable[[Any], Read]:
    """A reader of the entries of q or v that belong to joints of one axis."""
    def bind(compiled: Any) -> Read:
        model, get = compiled.model, _state(which)(compiled)
        at = np.array([getattr(model, first)[i] for i, kind in enumerate(model.link_joint)
                       if kind in (REVOLUTE, PRISMATIC)], dtype=np.int64)
        return lambda sim: get(sim)[at]
    return bind


# recordings of older versions have no torque: whoever reads goes by the channel's own labels
CONTACT_PARTS = ("normal", "friction", "limit", "slip_speed", "sticking", "slipping", "torque")
CONTACT_UNITS = ("N", "N", "N", "m/s", "", "", "N m")
WRENCH_PARTS, WRENCH_UNITS = ("fx", "fy", "fz", "tx", "ty", "tz"), ("N",) * 3 + ("N m",) * 3
IMU_PARTS, IMU_UNITS = ("ax", "ay", "az", "wx", "wy", "wz"), ("m/s^2",) * 3 + ("rad/s",) * 3


def _touching(compiled: Any) -> list[int]:
    """Frames of bodies that move and have shapes: those whose contacts are recorded."""
    model = compiled.model
    return [frame for frame in dict.fromkeys(model.shape_frame.tolist()) if model.frame_link[frame] >= 0]


def _contacts_channel(compiled: Any) -> Channel:
    bodies = tuple(compiled.frame_names[frame] for frame in _touching(compiled))
    return Channel("contacts", (len(bodies), len(CONTACT_PARTS)), (bodies, CONTACT_PARTS), CONTACT_UNITS * len(bodies))


def _contact_rows(compiled: Any) -> tuple[int, np.ndarray]:
    """How many bodies are recorded, and the row of each shape's body (-1: none)."""
    frames = _touching(compiled)
    by_frame = np.full(len(compiled.frame_names) + 1, -1)
    by_frame[frames] = np.arange(len(frames))
    return len(frames), by_frame[compiled.model.shape_frame.astype(np.int64)]


def _read_contacts(compiled: Any) -> Read:
    """Contacts summed up by body (collision/per_body.py)."""
    count, row = _contact_rows(compiled)
    out, total = np.zeros((count, len(CONTACT_PARTS))), np.zeros((count, 6))

    def read(sim: Any) -> np.ndarray:
        record = getattr(sim.work, "contacts", None)
        if record is None:
            return np.zeros_like(out)
        sum_by_body(int(record.counts[CONTACTS]), record.shape, record.force, record.torque, record.normal,
                    record.material, record.state, record.slip, row, total, out)
        return out

    return read


def _contact_wrenches_channel(compiled: Any) -> Channel:
    bodies = tuple(compiled.frame_names[frame] for frame in _touching(compiled))
    return Channel("contact_wrenches", (len(bodies), 6), (bodies, WRENCH_PARTS), WRENCH_UNITS * len(bodies))


def _read_contact_wrenches(compiled: Any) -> Read:
    """Force on each body, and its torque about the world's origin, by all its contacts."""
    count, row = _contact_rows(compiled)
    out = np.zeros((count, 6))

    def read(sim: Any) -> np.ndarray:
        record = getattr(sim.work, "contacts", None)
        if record is not None:
            wrench_by_body(int(record.counts[CONTACTS]), record.shape, record.point, record.force, record.torque, row,
                           out)
        return out

    return read


def _sensor_channel(name: str, kind: Any, parts: tuple[str, ...], units: tuple[str, ...]) -> Callable[[Any], Channel]:
    def describe(compiled: Any) -> Channel:
        names = tuple(sensor.name for sensor in compiled.scene.sensors.values() if isinstance(sensor, kind))
        return Channel(name, (len(names), 6), (names, parts), units * len(names))

    return describe


def _read_sensors(kind: type) -> Callable[[Any], Read]:
    """The readings of the sensors of a kind."""
    def bind(compiled: Any) -> Read:
        at = np.array([i for i, sensor in enumerate(compiled.scene.sensors.values()) if isinstance(sensor, kind)],
                      dtype=np.int64)
        return lambda sim: sim.sensor_readings[at]

    return bind


def _state(name: str) -> Callable[[Any], Read]:
    """q or v as they are: a simulation's own would take the recorder for one who may write to them."""
    return lambda compiled: lambda sim: getattr(getattr(sim, "data", sim), name)


def _always(read: Read) -> Callable[[Any], Read]:
    return lambda compiled: read


BUILT_IN: dict[str, tuple[Callable[[Any], Channel], Callable[[Any], Read]]] = {
    "q": (lambda c: _per_joint("q", c, COORDINATE_PARTS), _state("q")),
    "v": (lambda c: _per_joint("v", c, VELOCITY_PARTS), _state("v")),
    "joints": (lambda c: _per_joint("joints", c, COORDINATE_PARTS, one_axis=True), _one_axis("q", "link_coordinate")),
    "joint_velocities": (lambda c: _per_joint("joint_velocities", c, VELOCITY_PARTS, one_axis=True),
                         _one_axis("v", "link_dof")),
    "poses": (lambda c: _per_body("poses", c, POSE_PARTS, POSE_UNITS), _always(methodcaller("body_poses"))),
    "velocities": (lambda c: _per_body("velocities", c, TWIST_PARTS, TWIST_UNITS),
                   _always(methodcaller("body_velocities"))),
    "actuator_force": (_actuator_force, _always(attrgetter("actuator_force"))),
    "command": (_command, _always(attrgetter("actuator_command"))),
    "report": (lambda c: _vector("report", report.CHANNELS, REPORT_UNITS), _always(attrgetter("report_array"))),
    "contacts": (_contacts_channel, _read_contacts),
    "contact_wrenches": (_contact_wrenches_channel, _read_contact_wrenches),
    "force_sensors": (_sensor_channel("force_sensors", ForceSensor, WRENCH_PARTS, WRENCH_UNITS),
                      _read_sensors(ForceSensor)),
    "imus": (_sensor_channel("imus", Imu, IMU_PARTS, IMU_UNITS), _read_sensors(Imu)),
    "energy": (lambda c: _vector("energy", ("kinetic", "potential"), "J"), _always(attrgetter("energy"))),
    "momentum": (lambda c: _vector("momentum", ("px", "py", "pz", "Lx", "Ly", "Lz"), ("N s",) * 3 + ("N m s",) * 3),
                 _always(methodcaller("momentum"))),
    "com": (lambda c: _vector("com", "xyz", "m"), _always(methodcaller("center_of_mass"))),
}
DEFAULT = ("q", "v", "poses", "actuator_force", "report", "energy")


# ---- choosing ------------------------------------------------------------------------------------------------------


def bind(sim: Any, wanted: Any = None) -> list[tuple[Channel, Read]]:
    """The channels to record with their readers.

    wanted: None (the default set, with contacts and sensors where there are any), a name, a mapping name -> function of
    sim or CustomChannel, or a list of names and mappings:
    `["q", "poses", {"height": lambda sim: sim.bodies["crate"].position[2]}]`.
    """
    usual = DEFAULT + (("contacts",) if getattr(sim.work, "contacts", None) is not None else ()) + _with_sensors(sim)
    given = usual if wanted is None else [wanted] if isinstance(wanted, str | Mapping) else wanted
    if not isinstance(given, Iterable):
        raise RecordingError(f"channels must be names or functions by name, not {wanted!r}; "
                             f"there are {', '.join(BUILT_IN)}")
    bound: dict[str, tuple[Channel, Read]] = {}
    for item in given:
        entries: list[tuple[Any, Any]] = list(item.items()) if isinstance(item, Mapping) else [(item, None)]
        for name, function in entries:
            if not isinstance(name, str):
                raise RecordingError(f"a channel is asked for by name, not by {name!r}; "
                                     f"there are {', '.join(BUILT_IN)}")
            if name in bound:
                raise RecordingError(f"channel {name!r} is asked for twice; name it once")
            bound[name] = _bind_built_in(sim, name) if function is None else _bind_custom(sim, name, function)
    return list(bound.values())


def _with_sensors(sim: Any) -> tuple[str, ...]:
    sensors = getattr(sim.compiled.scene, "sensors", {}).values()
    return tuple(name for name, kind in (("force_sensors", ForceSensor), ("imus", Imu))
                 if any(isinstance(sensor, kind) for sensor in sensors))


def _bind_built_in(sim: Any, name: Any) -> tuple[Channel, Read]:
    if name not in BUILT_IN:
        listed = f"there are {', '.join(BUILT_IN)}, and your own as a mapping name -> function"
        raise RecordingError(f"no channel {name!r}; {did_you_mean(name, BUILT_IN, also=listed)}")
    describe, reader = BUILT_IN[name]
    return describe(sim.compiled), reader(sim.compiled)


def _bind_custom(sim: Any, name: Any, given: Any) -> tuple[Channel, Read]:
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w +-]*", name):
        raise RecordingError(f"channel name {name!r}: use letters, digits, spaces, '_', '+' and '-'")
    if name in BUILT_IN or name in RESERVED:
        raise RecordingError(f"channel name {name!r} is taken; choose another for your function")
    custom = given if isinstance(given, CustomChannel) else CustomChannel(given)
    if not callable(custom.function):
        raise RecordingError(f"channel {name!r} must be a function of the simulation, not {custom.function!r}")
    shape = _numbers(name, custom.function(sim)).shape  # called once here, to learn the shape
    channel = Channel(name, shape, _labels(custom.labels, shape), custom.unit)

    def read(sim: Any) -> np.ndarray:
        value = _numbers(name, custom.function(sim))
        if value.shape != shape:
            raise RecordingError(f"channel {name!r} changed shape from {shape} to {value.shape} "
                                 f"at t = {sim.time:.6g} s; return the same shape every time")
        return value

    return channel, read


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise RecordingError(f"channel {name!r} returned {value!r:.100}; "
                             "return a real number or an array of them") from None


def _labels(given: Iterable[Any] | None, shape: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return tuple(tuple(str(i) for i in range(size)) for size in shape)
    axes = list(given)
    return (tuple(map(str, axes)),) if len(shape) == 1 else tuple(tuple(map(str, axis)) for axis in axes)
