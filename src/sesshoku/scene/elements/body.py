"""Bodies: what they weigh, the geometries they touch with, how a kinematic one moves.

A body stands in a tree: its `parent` is another body or None (the world), its pose is given in the parent's frame at
zero joint position, and its `joint` says how it moves there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.elements.joint import Joint
from sesshoku.scene.elements.material import Material
from sesshoku.scene.geometry.shapes import Shape
from sesshoku.spatial.rotation import quaternion_to_matrix

#: two geometries: body and number of the geometry there, twice, sorted
GeometryPair = tuple[tuple[str, int], tuple[str, int]]


@checked
@dataclass
class Geometry:
    """A shape on a body: its pose in the body's frame, its material, and what it may touch.

    Two geometries may touch if `a.category & b.mask` or `b.category & a.mask` is not zero (16-bit fields), their bodies
    are not joined by a joint, and no filter of the scene forbids it. `collides=False` makes it visual only.
    """

    shape: Shape
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    material: Material | None = None
    name: str | None = None
    category: int = 1
    mask: int = 0xFFFF
    collides: bool = True
    visible: bool = True
    color: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise SceneError("shape is not a shape", element="geometry", value=self.shape,
                             remedy="give one, such as Box((1, 1, 1))")
        check.text(self.name, "name", "geometry")
        element = f"geometry {self.name!r}" if self.name else f"{self.shape.kind} geometry"
        self.position = check.vector(self.position, "position", element)
        self.rotation = check.quaternion(self.rotation, "rotation", element)
        for attribute in ("category", "mask"):
            value = getattr(self, attribute)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value <= 0xFFFF_FFFF:
                raise SceneError(f"{attribute} must be an integer bit field", element=element, value=value)
        for attribute in ("collides", "visible"):
            setattr(self, attribute, check.flag(getattr(self, attribute), attribute, element))
        if self.material is not None:
            check.kind(self.material, Material, "material", element, "a Material(static_friction=...)")
        if self.color is not None:
            self.color = check.color(self.color, element)


@checked
@dataclass
class Inertial:
    """Mass (kg), centre of mass (m, body frame) and inertia matrix about it (kg m^2, body axes).

    axes: quaternion of the principal axes, where moments are equal and the matrix does not tell them; drag needs them.
    """

    mass: float
    center: Any = (0.0, 0.0, 0.0)
    matrix: Any = ((0.0, 0.0, 0.0),) * 3
    element: str = "inertial"
    axes: Any = None

    def __post_init__(self) -> None:
        element = self.element
        self.mass = check.number(self.mass, "mass", element, least=0.0)
        self.center = check.vector(self.center, "centre of mass", element)
        try:
            if not check.is_numeric(self.matrix):
                raise TypeError
            matrix = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise SceneError("inertia is not a 3x3 matrix", element=element, value=self.matrix) from None
        if matrix.shape == (3,):
            matrix = np.diag(matrix)
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise SceneError("inertia is not a finite 3x3 matrix", element=element, value=self.matrix)
        scale = float(np.abs(matrix).max())
        if scale > 0.0 and np.abs(matrix - matrix.T).max() > 1e-6 * scale:
            raise SceneError("inertia is not symmetric", element=element, value=matrix.tolist())
        self.matrix = 0.5 * matrix + 0.5 * matrix.T  # halved first: a sum of two large entries overflows
        moments = np.linalg.eigvalsh(self.matrix)
        if not is_physical(moments):
            raise SceneError("inertia is not physical: principal moments must be positive and obey the triangle "
                             "inequality", element=element, value=[float(f"{m:.6g}") for m in moments],
                             remedy="give the inertia about the centre of mass of a real mass distribution, or load "
                                    "the robot with repair_inertia=True")
        if self.axes is not None:
            self._check_axes(element)

    def _check_axes(self, element: str) -> None:
        self.axes = check.quaternion(self.axes, "axes", element)
        turn = quaternion_to_matrix(self.axes)
        rest = turn.T @ self.matrix @ turn
        if np.abs(rest - np.diag(np.diag(rest))).max() > 1e-6 * np.abs(rest).max():
            raise SceneError("these axes are not principal axes of the inertia", element=element,
                             value=self.axes.tolist(), remedy="leave axes out")


def is_physical(moments: np.ndarray) -> bool:
    """Whether sorted principal moments (3) can be those of a body, but for rounding.

    Rounding in robot files reaches 1e-6 of the largest moment; a body thinner than a plate does not exist.
    """
    scale = float(np.abs(moments).max())
    return bool(moments[0] >= -1e-6 * scale - 1e-12 and moments[0] + moments[1] >= moments[2] * (1.0 - 1e-4) - 1e-12)


@checked
@dataclass
class Motion:
    """A scripted path of a kinematic body: poses at given times, straight lines and constant turns between.

    Before the first and after the last time the body rests there.
    """

    times: Any
    positions: Any
    rotations: Any = None

    def __post_init__(self) -> None:
        times = _as_list(self.times)
        count = len(times)
        self.times = check.vector(times, "times", "motion", size=count)
        if count == 0 or (np.diff(self.times) <= 0.0).any():
            raise SceneError("times of a motion must be increasing, one at least", element="motion",
                             value=self.times.tolist())
        self.positions = self._rows(self.positions, "position", check.vector, count)
        if self.rotations is None:
            self.rotations = [(1.0, 0.0, 0.0, 0.0)] * count
        self.rotations = self._rows(self.rotations, "rotation", check.quaternion, count)

    @staticmethod
    def _rows(value: Any, what: str, checked: Callable[[Any, str, str], np.ndarray], count: int) -> np.ndarray:
        rows = _as_list(value)
        if len(rows) != count:
            raise SceneError(f"a motion of {count} times needs {count} {what}s", element="motion", value=value,
                             remedy=f"give one {what} for each time")
        return np.stack([checked(row, f"{what} {i}", "motion") for i, row in enumerate(rows)])


def _as_list(value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        return [value]


@checked
@dataclass
class Body:
    """A rigid body: its place in the tree, its joint, its mass and its geometries.

    position, rotation: pose of the body frame in the parent's frame (world when parent is None) at zero joint position.
    velocity, angular_velocity: of the body frame, world axes, at the start; only for a free joint or a kinematic body.
    kinematic: the body follows its script (`motion`: a Motion, or a function time -> (position, rotation)) or the
    velocity the user sets, and feels no force.
    gravity_compensation: share of the body's weight that a force at its centre of mass bears, as a counterweight would.
    """

    name: str
    parent: str | None = None
    joint: Joint = field(default_factory=Joint)
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    inertial: Inertial | None = None
    geometries: list[Geometry] = field(default_factory=list)
    velocity: Any = (0.0, 0.0, 0.0)
    angular_velocity: Any = (0.0, 0.0, 0.0)
    kinematic: bool = False
    motion: Motion | Callable[[float], tuple[Any, Any]] | None = None
    robot: str | None = None
    gravity_compensation: float = 0.0

    def __post_init__(self) -> None:
        check.name(self.name, "name of a body")
        element = f"body {self.name!r}"
        self._check_parts(element)
        self.position = check.vector(self.position, "position", element)
        self.rotation = check.quaternion(self.rotation, "rotation", element)
        self.velocity = check.vector(self.velocity, "velocity", element)
        self.angular_velocity = check.vector(self.angular_velocity, "angular_velocity", element)
        self.gravity_compensation = check.number(self.gravity_compensation, "gravity_compensation", element)
        if self.joint.name is None:
            self.joint = replace(self.joint, name=self.name)
        if self.joint.kind == "free" and self.parent is not None:
            raise SceneError("a free joint hangs on the world only", element=element, value=self.parent,
                             remedy="use parent=None or another joint kind")
        if self.kinematic and (self.parent is not None or self.joint.kind != "fixed"):
            raise SceneError("a kinematic body has no parent and no joint", element=element, value=self.joint.kind,
                             remedy="leave parent and joint out")
        if self.motion is not None and not self.kinematic:
            raise SceneError("only a kinematic body has a motion", element=element, remedy="give kinematic=True")
        moving = self.joint.kind == "free" or self.kinematic
        if not moving and (self.velocity.any() or self.angular_velocity.any()):
            raise SceneError("only a free or kinematic body has a velocity of its own", element=element,
                             value=self.velocity.tolist(), remedy="set the velocity of its joint")

    def _check_parts(self, element: str) -> None:
        for attribute in ("parent", "robot"):
            check.text(getattr(self, attribute), attribute, element)
        check.kind(self.joint, Joint, "joint", element, 'a Joint("revolute", axis=(0, 0, 1))')
        if self.inertial is not None:
            check.kind(self.inertial, Inertial, "inertial", element, "an Inertial(mass, center, matrix)")
        if not isinstance(self.geometries, (list, tuple)):
            raise SceneError("geometries is not a list", element=element, value=self.geometries,
                             remedy="give [Geometry(...)]")
        for geometry in self.geometries:
            check.kind(geometry, Geometry, "geometry", element, "a Geometry(shape)")
        self.kinematic = check.flag(self.kinematic, "kinematic", element)
        if self.motion is not None and not isinstance(self.motion, Motion) and not callable(self.motion):
            raise SceneError("motion is neither a Motion nor a function of time", element=element, value=self.motion,
                             remedy="give a Motion(times, positions)")
