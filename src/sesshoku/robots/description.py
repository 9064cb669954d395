"""One description of a robot, from which the URDF and MJCF files are written.

All link frames are parallel at zero joint positions; a link's frame sits at its joint. Lengths in metres, masses in kg.
The little kinematics here (poses, centre of mass, joint inertias) serves the generator and its tests, not simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from sesshoku.scene.elements import Inertial
from sesshoku.scene.geometry.mass import combine, shape_inertial
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Sphere
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

Vector = tuple[float, float, float]
Solid = Box | Sphere | Capsule | Cylinder
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)
ZERO: Vector = (0.0, 0.0, 0.0)
#: roll, pitch, yaw that lay a shape's own z axis along x, y or z
LYING: dict[str, Vector] = {"x": (0.0, np.pi / 2, 0.0), "y": (-np.pi / 2, 0.0, 0.0), "z": ZERO}


@dataclass(frozen=True)
class Part:
    """A solid on a link: where its middle is, along which axis its own z lies, whether it touches things."""

    solid: Solid
    at: Vector = ZERO
    along: Literal["x", "y", "z"] = "z"
    collides: bool = True

    def inertial(self, mass: float) -> Inertial:
        """Mass properties in the link's frame; the axes stay principal, so no rotation enters."""
        own = np.diag(shape_inertial(self.solid, mass=mass).matrix)
        moments = {"x": (own[2], own[1], own[0]), "y": (own[0], own[2], own[1]), "z": tuple(own)}[self.along]
        return Inertial(mass, self.at, np.diag(moments))


class Servo(NamedTuple):
    """A joint's position servo: kp (N m/rad or N/m), kd (N m s/rad or N s/m), armature (kg m^2 or kg), effort limit."""

    kp: float
    kd: float
    armature: float
    effort: float


@dataclass(frozen=True)
class Hinge:
    """A joint of one axis. `slides` makes it prismatic. stiffness, damping: a passive spring and damper in it."""

    name: str
    axis: Vector
    lower: float
    upper: float
    effort: float
    velocity: float
    slides: bool = False
    stiffness: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    mimics: str | None = None  # moves exactly as the named joint


@dataclass(frozen=True)
class Link:
    """A rigid link. `joint` None on a link with a parent means fixed; on the root, `Robot.fixed` decides."""

    name: str
    inertial: Inertial
    parent: str | None = None
    joint: Hinge | None = None
    origin: Vector = ZERO
    parts: tuple[Part, ...] = ()

    def scaled(self, factor: float) -> Link:
        """The same link with mass and inertia multiplied."""
        own = self.inertial
        return replace(self, inertial=Inertial(own.mass * factor, own.center, np.asarray(own.matrix) * factor))


class Mount(NamedTuple):
    """A sensor on a link: `force` reads what the link's parent passes to it, `imu` acceleration and turning."""

    name: str
    kind: Literal["force", "imu"]
    link: str
    at: Vector = ZERO


class Pose(NamedTuple):
    """Height of the base link's origin (m) and the joint positions that are not zero."""

    base_height: float
    joints: dict[str, float]


@dataclass(frozen=True)
class Robot:
    """A tree of links, parents first, with servos by joint name and a pose to start from."""

    name: str
    links: tuple[Link, ...]
    fixed: bool = False
    servos: Mapping[str, Servo] = field(default_factory=dict)
    home_name: str = "stand"
    home: Pose | None = None
    friction: float = 0.5
    sensors: tuple[Mount, ...] = ()

    @property
    def joints(self) -> dict[str, Hinge]:
        return {link.joint.name: link.joint for link in self.links if link.joint is not None}

    @property
    def mass(self) -> float:
        return sum(link.inertial.mass for link in self.links)

    def children(self, name: str) -> list[Link]:
        return [link for link in self.links if link.parent == name]

    def poses(self, positions: Mapping[str, float], base: Vector = ZERO) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Position and rotation matrix of every link frame in the world, the base link upright at `base`."""
        result: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for link in self.links:
            if link.parent is None:
                result[link.name] = np.array(base, dtype=float), np.eye(3)
                continue
            p, R = result[link.parent]
            p = p + R @ np.array(link.origin)
            if link.joint is not None:
                value, axis = positions.get(link.joint.mimics or link.joint.name, 0.0), np.array(link.joint.axis)
                if link.joint.slides:
                    p = p + R @ axis * value
                else:
                    R = R @ quaternion_to_matrix(axis_angle(axis, value))
            result[link.name] = p, R
        return result

    def center_of_mass(self, positions: Mapping[str, float], base: Vector = ZERO) -> np.ndarray:
        return np.asarray(self._composite(self.poses(positions, base), [link.name for link in self.links]).center)

    def joint_inertias(self, positions: Mapping[str, float]) -> dict[str, float]:
        """The diagonal of the joint-space inertia matrix, without armature: what each joint moves, about its axis."""
        poses, result = self.poses(positions), {}
        for link in self.links:
            if link.joint is None:
                continue
            moved = self._composite(poses, self._subtree(link.name))
            p, R = poses[link.name]
            axis, arm = R @ np.array(link.joint.axis), np.asarray(moved.center) - p
            turned = axis @ moved.matrix @ axis + moved.mass * (arm @ arm - (axis @ arm) ** 2)
            result[link.joint.name] = moved.mass if link.joint.slides else float(turned)
        return result

    def _subtree(self, name: str) -> list[str]:
        return [name] + [below for link in self.children(name) for below in self._subtree(link.name)]

    def _composite(self, poses: Mapping[str, tuple[np.ndarray, np.ndarray]], names: list[str]) -> Inertial:
        links = {link.name: link for link in self.links}
        return combine((links[name].inertial, *poses[name]) for name in names)


def servo(kp: float, joint_inertia: float, effort: float) -> Servo:
    """Gains of a joint by the rule of the shipped robots.

    The armature is 10 kp dt^2 with dt = 1 ms, so that a servo integrated explicitly at that step stays stable; the
    damping is 0.7 of critical for the inertia the joint moves.
    """
    armature = 10.0 * kp * 1e-3**2
    return Servo(kp, 2 * 0.7 * float(np.sqrt(kp * (armature + joint_inertia))), armature, effort)
