"""Saved states: what one holds, of which scene it is, and whether it may be taken back.

A state may come from a file. Nothing of it is written before all of it is known to be sound: it is of this scene and
method, every array has its shape and element type, and every number is one that a step could have left there, by the
records' own declarations (`compiled/checks.py`). A state that is refused leaves the simulation as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.compiled.checks import SavedRules, Unsound, check_unit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.data import Data
from sesshoku.errors import SceneError
from sesshoku.methods.registry import Method
from sesshoku.model.arrays import FREE, KINEMATIC, SPHERICAL
from sesshoku.scene.compiler import CompiledScene
from sesshoku.simulation.sensors.sensing import SENSED

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

FINGERPRINT = "fingerprint"
LATER = ("acceleration", "contacts.torque", "presses.old_")  # what the first snapshots did not hold yet
#: what of a scene a state belongs to. Gravity, materials, limits, gains and the time step may differ.
PARTS: dict[str, Callable[[CompiledScene, Method], tuple[Any, ...]]] = {
    "method": lambda c, method: (method.keyword,),
    "bodies": lambda c, _: (c.frame_names, c.model.frame_link, c.model.frame_position, c.model.frame_rotation),
    "joints": lambda c, _: (c.joint_names, c.model.link_joint, c.model.link_parent, c.model.link_position,
                            c.model.link_rotation),
    "masses": lambda c, _: (c.model.link_mass, c.model.link_center, c.model.link_inertia),
    "shapes": lambda c, _: (c.model.shape_link, c.model.shape_type, c.model.shape_size, c.model.shape_position,
                            c.model.shape_rotation, c.model.vertices, c.model.elevation),
    "actuators": lambda c, _: (c.actuator_names, c.model.actuator_kind, c.model.actuator_dof),
    "loops": lambda c, _: (c.loop_names, c.model.loop_kind, c.model.loop_link, c.model.loop_position),
    "mimics and tendons": lambda c, _: (c.model.mimic_dof, c.model.mimic_source, c.model.tendon_drive,
                                        c.model.tendon_dof, c.model.tendon_path, c.model.path_kind),
    "sensors": lambda c, _: (tuple(c.scene.sensors), tuple(c.scene.state_sensors)),
}
SHORT = 8  # bytes of a part's hash


class Snapshot(dict[str, np.ndarray]):
    """A saved state; hand it to `restore`."""


def saved_arrays(data: Data, work: Record) -> dict[str, np.ndarray]:
    """What the records declare as saved, by name: "q", "contacts.id", and of the work's own arrays "memory.slip"."""
    return data.saved() | {own_key(name): values for name, values in work.saved().items()}


def own_key(name: str) -> str:
    """How a state calls an array of a method's work."""
    return name if "." in name else f"memory.{name}"


def fingerprint(compiled: CompiledScene, method: Method) -> np.ndarray:
    """(PARTS, 8) bytes: a hash of each part of a scene that a state belongs to."""
    rows = []
    for part in PARTS.values():
        digest = hashlib.sha256()
        for value in part(compiled, method):
            digest.update(np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray)
                          else repr(value).encode())
        rows.append(np.frombuffer(digest.digest()[:SHORT], dtype=np.uint8))
    return np.array(rows)


def first_fingerprint(compiled: CompiledScene, method: Method) -> np.ndarray:
    """The 32 bytes by which the first snapshots told scenes and methods apart."""
    digest = hashlib.sha256(repr((method.keyword, compiled.frame_names, compiled.joint_names, compiled.actuator_names,
                                  compiled.loop_names, *compiled.scene.sensors)).encode())
    for values in (compiled.model.link_joint, compiled.model.link_parent, compiled.model.link_mass,
                   compiled.model.link_position):
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


class StateRules:
    """What a state must be for one simulation to take it back. Built from the records' declarations."""

    def __init__(self, sim: Simulation) -> None:
        model = sim.model
        names = {name: getattr(model, name) for name, field in model.fields.items()
                 if field.extents is None and field.dtype is int}
        self._rules = [SavedRules(sim.data, names), SavedRules(sim.work, names, own_key)]
        if sim._sensing is not None:
            self._rules.append(SavedRules(sim._sensing.mounts, names, SENSED.__add__))
        self._turning = [(model.link_coordinate[link] + (3 if model.link_joint[link] == FREE else 0),
                          sim.compiled.joint_names[link])
                         for link in np.flatnonzero(np.isin(model.link_joint, (FREE, SPHERICAL)))]
        self._scripted = np.flatnonzero(model.link_joint == KINEMATIC)

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise `Unsound` for the first thing that must not enter."""
        for rules in self._rules:
            rules.check(given)
        for at, joint in self._turning:
            check_unit(f"q[{at}:{at + 4}], rotation of joint {joint!r},", given["q"][at:at + 4])
        for link in self._scripted:
            check_unit(f"kinematic_pose[{link}, 3:]", given["kinematic_pose"][link, 3:])


def sound_state(sim: Any, snapshot: Any) -> dict[str, Any]:
    """A snapshot that may be taken back, complete; a SceneError where it may not."""
    if not isinstance(snapshot, Mapping):
        raise SceneError("not a snapshot", element="restore", value=snapshot, remedy="hand in what save() returned")
    given = dict(snapshot)
    check_fingerprint(sim, given.get(FINGERPRINT))
    if any(name not in given and name.startswith(LATER) for name in sim._state()):
        given = {name: values for name, values in sim._first_state().items() if name.startswith(LATER)} | given
    if sim._state_rules is None:
        sim._state_rules = StateRules(sim)
    try:
        sim._state_rules.check(given)
        sim._pushes.check(given)
    except Unsound as fault:
        gone = fault.value is None
        raise SceneError(f"{'the snapshot belongs to another scene or method: ' if gone else ''}{fault}",
                         element="restore", value=fault.value, remedy="the simulation is as it was") from None
    return given


def check_fingerprint(sim: Simulation, given: Any) -> None:
    """Say what of the scene differs."""
    mine = sim._fingerprint
    if not isinstance(given, np.ndarray) or given.dtype != np.uint8 or given.shape not in (mine.shape, (32,)):
        raise SceneError("the snapshot belongs to another scene or method: its fingerprint is missing or damaged",
                         element="restore", remedy="hand in what save() returned")
    if given.ndim == 1:
        differs = [] if np.array_equal(given, first_fingerprint(sim.compiled, sim.method)) else ["all in one"]
    else:
        differs = [part for part, one, other in zip(PARTS, mine, given, strict=True) if not np.array_equal(one, other)]
    if differs:
        raise SceneError(f"the snapshot belongs to another scene or method: {', '.join(differs)} differ",
                         element="restore", remedy=f"{', '.join(PARTS)} must be the same")
