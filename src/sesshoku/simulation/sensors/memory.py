"""`Mounts`: where the sensors sit, which bodies hang on each, and what they read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.model.arrays import FREE, PLANAR, REVOLUTE, SPHERICAL
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.elements import Inertial
from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.scene.elements.state_sensors import ACCELERATIONS, StateSensor
from sesshoku.scene.geometry.mass import combine
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix

# kinds of mounts: proper acceleration and angular velocity; wrench; acceleration and angular acceleration
IMU, FORCE, MOTION = range(3)


class Part(NamedTuple):
    """What of a link (-1: the world) hangs on a sensor: mass, centre and inertia about it, in the link's frame."""

    link: int
    mass: float
    center: np.ndarray
    inertia: np.ndarray


class Mounts(Record):
    """S sensors, F frames, L links, V dofs, Q coordinates, C loops, P parts, B bodies of a method with coordinates of
    its own.

    A part is what of one link hangs on a force sensor: the whole link, or the bodies fixed below the sensor's body.
    """

    sensor_count = scalar()
    kind = array(int, "S")  # IMU, FORCE or MOTION
    link = array(int, "S")  # the link it sits on, -1: the world
    position = array(float, "S", 3)  # in the link's frame (world: as it is)
    rotation = array(float, "S", 3, 3)
    part_start = array(int, "S + 1")  # ranges of parts
    part_link = array(int, "P")  # -1: the world
    part_mass = array(float, "P")
    part_center = array(float, "P", 3)  # in the link's frame
    part_inertia = array(float, "P", 3, 3)  # about the centre, link axes
    hangs = array(int, "S", "F + 1")  # 1: the body hangs on the sensor; last column: the world, 0
    loop_body = array(int, "C", 2)  # frames a loop joins, F: the world
    # ---- of the last step
    push = array(float, "F", 6, saved=True)  # the user's force, torque about the link's centre of mass, on each body
    old_q = array(float, "Q")  # before it
    old_v = array(float, "V")
    rate = array(float, "V")  # mean acceleration of the joints
    middle_q = array(float, "Q")  # work
    middle_v = array(float, "V")  # work
    kinematic_pose = array(float, "L", 7)  # work
    start = array(float, "B", 18)  # what such a method keeps of the bodies' motion in front of it
    # along its axes force and torque, or acceleration and angular velocity; MOTION: acceleration and angular
    # acceleration along the world's
    reading = array(float, "S", 6, saved=True)


as_mounts = viewer(Mounts)


def make_mounts(compiled: CompiledScene, armature: bool = False) -> Mounts:
    """The sensors of a scene, nothing read yet.

    armature: of methods with coordinates of their own, where it turns with the joint's link, in all its motion.
    """
    scene, model, frames = compiled.scene, compiled.model, compiled.frame_index
    sensors: list[Any] = [*scene.sensors.values(), *(sensor for sensor in scene.state_sensors.values()
                                                     if sensor.kind in ACCELERATIONS)]
    S, F = len(sensors), model.frame_count
    hangs = np.zeros((S, F + 1), dtype=np.int64)
    links, positions, rotations = np.zeros(S, dtype=np.int64), np.zeros((S, 3)), np.zeros((S, 3, 3))
    starts: list[int] = [0]
    parts: list[Part] = []
    for s, sensor in enumerate(sensors):
        link, position, rotation = -1, np.zeros(3), np.eye(3)
        if sensor.body is not None:
            at = frames[sensor.body]
            link, position, rotation = int(model.frame_link[at]), model.frame_position[at], model.frame_rotation[at]
        links[s] = link
        positions[s] = position + rotation @ sensor.position
        rotations[s] = rotation @ quaternion_to_matrix(sensor.rotation)
        if isinstance(sensor, ForceSensor):
            below = bodies_below(compiled, sensor.body)
            hangs[s, [frames[name] for name in below]] = 1
            parts += link_parts(compiled, below, armature)
        starts.append(len(parts))
    sizes = {"S": S, "F": F, "L": model.link_count, "V": model.dof_count, "Q": model.coordinate_count,
             "B": model.link_count + 1 if armature else 0}
    return Mounts.sized(
        sizes, sensor_count=S, kind=np.array([_kind(sensor) for sensor in sensors], dtype=np.int64),
        link=links, position=positions, rotation=rotations, part_start=np.array(starts),
        part_link=np.array([part.link for part in parts], dtype=np.int64),
        part_mass=np.array([part.mass for part in parts], dtype=np.float64),
        part_center=np.array([part.center for part in parts], dtype=np.float64).reshape(-1, 3),
        part_inertia=np.array([part.inertia for part in parts], dtype=np.float64).reshape(-1, 3, 3),
        hangs=hangs, loop_body=loop_bodies(compiled))


def _kind(sensor: Any) -> int:
    return FORCE if isinstance(sensor, ForceSensor) else MOTION if isinstance(sensor, StateSensor) else IMU


def bodies_below(compiled: CompiledScene, name: str) -> list[str]:
    """A body and all that hangs on it, parents first."""
    below = {name}
    for body in compiled.scene.bodies.values():
        if body.parent in below:
            below.add(body.name)
    return [body for body in compiled.scene.bodies if body in below]


def link_parts(compiled: CompiledScene, bodies: list[str], armature: bool) -> list[Part]:
    """The bodies' mass link by link: the link (-1: the world) and the inertia in its frame."""
    model = compiled.model
    by_link: dict[int, list[tuple[Inertial, np.ndarray, np.ndarray]]] = {}
    for name in bodies:
        frame, inertial = compiled.frame_index[name], compiled.scene.bodies[name].inertial
        if inertial is not None:
            pose = model.frame_position[frame], matrix_to_quaternion(model.frame_rotation[frame])
            by_link.setdefault(int(model.frame_link[frame]), []).append((inertial, *pose))
    parts = []
    for link, members in by_link.items():
        whole = combine(members)
        turns = armature and link >= 0 and compiled.link_names[link] in bodies
        rotor = np.diag(rotor_inertia(compiled, link)) if turns else np.zeros((3, 3))
        parts.append(Part(link, whole.mass, whole.center, whole.matrix + rotor))
    return parts


def rotor_inertia(compiled: CompiledScene, link: int) -> np.ndarray:
    """Armature (3) of a link's joint about the link's axes, for what turns."""
    model = compiled.model
    own = model.dof_armature[model.link_dof[link]:model.link_dof[link] + model.link_dof_count[link]]
    kind = int(model.link_joint[link])
    if kind in (REVOLUTE, PLANAR):
        return np.array([0.0, 0.0, own[-1]])
    return np.array(own[-3:]) if kind in (FREE, SPHERICAL) else np.zeros(3)


def loop_bodies(compiled: CompiledScene) -> np.ndarray:
    """(C, 2) the frames that each loop of the model joins."""
    frames, loops = compiled.frame_index, [compiled.scene.loops[name] for name in compiled.loop_names]
    ends = [[frames[loop.body_a], frames[loop.body_b] if loop.body_b else compiled.model.frame_count] for loop in loops]
    return np.array(ends, dtype=np.int64).reshape(-1, 2)
