"""What a scene is made of: materials, geometries, bodies with their joints, loops, mimics (actuators: actuators.py).

Plain data, checked when made. A body stands in a tree: its `parent` is another body or None (the world), its pose is
given in the parent's frame at zero joint position, and its `joint` says how it moves there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.actuators import Actuator, Tendon
from sesshoku.scene.calls import checked
from sesshoku.scene.fluid import Fluid
from sesshoku.scene.frames import Camera, Frame
from sesshoku.scene.geometry.shapes import Shape
from sesshoku.scene.sensors import Sensor
from sesshoku.scene.state_sensors import StateSensor
from sesshoku.spatial.rotation import quaternion_to_matrix

JointKind = Literal["free", "revolute", "continuous", "prismatic", "spherical", "planar", "fixed"]
#: degrees of freedom and number of coordinates of each joint kind
JOINT_SIZES: dict[str, tuple[int, int]] = {
    "free": (6, 7), "revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "spherical": (3, 4),
    "planar": (3, 3), "fixed": (0, 0),
}
SINGLE_AXIS = ("revolute", "continuous", "prismatic")
#: two geometries: body and number of the geometry there, twice, sorted
GeometryPair = tuple[tuple[str, int], tuple[str, int]]


@checked
@dataclass(frozen=True)
class Material:
    """Surface properties. Of two materials friction combines by the geometric mean, restitution by the maximum.

    `scene.materials` states the whole rule; `combine`, `priority` and `condim` are how MJCF files change it.

    static_friction, kinetic_friction: Coulomb coefficients; kinetic defaults to static and may not exceed it.
    restitution: 0 (no bounce) to 1. stiffness (N/m), damping (N s/m): for the compliant methods; None lets them choose.
    torsional_friction, rolling_friction (m): the torque that resists turning about the normal, and rolling, per normal
    force; the larger of the two materials' counts. Methods that do not know them leave them out, and say so.
    combine: "maximum" takes the larger friction of two materials instead of the mean, whatever the other one says.
    priority: the material of higher priority decides all friction alone. condim: in how many directions friction acts:
    1 none, 3 sliding, 4 torsional too, 6 rolling too; None: as the coefficients say. Of two materials the larger.
    """

    static_friction: float = 0.5
    kinetic_friction: float | None = None
    restitution: float = 0.0
    stiffness: float | None = None
    damping: float | None = None
    name: str | None = None
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    combine: Literal["mean", "maximum"] = "mean"
    priority: int = 0
    condim: Literal[1, 3, 4, 6] | None = None

    def __post_init__(self) -> None:
        element = f"material {check.text(self.name, 'name', 'material')!r}" if self.name else "material"
        static = check.number(self.static_friction, "static_friction", element, least=0.0)
        kinetic = static if self.kinetic_friction is None else check.number(
            self.kinetic_friction, "kinetic_friction", element, least=0.0)
        if kinetic > static:
            raise SceneError("kinetic_friction is above static_friction", element=element, value=(static, kinetic),
                             remedy="give kinetic <= static")
        object.__setattr__(self, "static_friction", static)
        object.__setattr__(self, "kinetic_friction", kinetic)
        restitution = check.number(self.restitution, "restitution", element, least=0.0, most=1.0)
        object.__setattr__(self, "restitution", restitution)
        for attribute in ("stiffness", "damping", "torsional_friction", "rolling_friction"):
            value = getattr(self, attribute)
            if value is not None or attribute.endswith("friction"):
                object.__setattr__(self, attribute, check.number(value, attribute, element, least=0.0))
        self._check_rule(element)

    def _check_rule(self, element: str) -> None:
        if self.combine not in ("mean", "maximum"):
            raise SceneError("unknown rule of combining friction", element=element, value=self.combine,
                             remedy="use mean or maximum")
        for attribute, known, remedy in (("priority", None, "give a whole number"),
                                         ("condim", (None, 1, 3, 4, 6), "use 1, 3, 4 or 6, or leave it out")):
            value = getattr(self, attribute)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if (not whole and (known is None or value is not None)) or (known is not None and value not in known):
                raise SceneError(f"{attribute} is not possible", element=element, value=value, remedy=remedy)

    @property
    def dimension(self) -> int:
        """In how many directions friction acts, the normal counted: `condim`, or as the coefficients say."""
        if self.condim is not None:
            return self.condim
        return 6 if self.rolling_friction > 0.0 else 4 if self.torsional_friction > 0.0 else 3

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """Static, kinetic, torsional and rolling friction, as far as `dimension` lets them act."""
        n = self.dimension
        return (self.static_friction if n >= 3 else 0.0, float(self.kinetic_friction or 0.0) if n >= 3 else 0.0,
                self.torsional_friction if n >= 4 else 0.0, self.rolling_friction if n >= 6 else 0.0)


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
class Joint:
    """How a body moves against its parent. `axis` and `anchor` (a point of the axis) are in the body's own frame.

    Coordinates: revolute, continuous (rad), prismatic (m): one number. spherical: quaternion w x y z, velocity =
    angular velocity in the body's axes. planar: x, y in the plane normal to `axis`, then the turn about it. free:
    position and quaternion of the body, velocity and angular velocity in world axes.
    lower, upper: limits (revolute, prismatic). effort: largest sum of actuator forces; effort_range: (least, largest),
    where those differ. velocity_limit: informational.
    viscous (N m s/rad or N s/m), static_friction and kinetic_friction (N m or N): joint friction, per axis.
    stiffness, rest: a spring to `rest`; implicit: integrate spring and viscous damping implicitly where the scheme can.
    armature (kg m^2 or kg): reflected rotor inertia. position, velocity: where the joint starts; without a position at
    zero, or at the limit nearest to it. actuator_compensation: its actuators bear the gravity compensation of the
    bodies it carries, within its effort.
    """

    kind: JointKind = "fixed"
    name: str | None = None
    axis: Any = (0.0, 0.0, 1.0)
    anchor: Any = (0.0, 0.0, 0.0)
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity_limit: float = np.inf
    viscous: float = 0.0
    static_friction: float = 0.0
    kinetic_friction: float | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    implicit: bool = True
    armature: float = 0.0
    position: Any = None
    velocity: Any = None
    effort_range: Any = None
    actuator_compensation: bool = False

    def __post_init__(self) -> None:
        element = "joint" if self.name is None else f"joint {check.name(self.name, 'name of a joint', 'joint')!r}"
        if self.kind not in tuple(JOINT_SIZES):
            raise SceneError("unknown joint kind", element=element, value=self.kind,
                             remedy=f"use one of {', '.join(JOINT_SIZES)}")
        self.axis = check.unit_axis(self.axis, "axis", element)
        self.anchor = check.vector(self.anchor, "anchor", element)
        for attribute in ("viscous", "stiffness", "armature", "static_friction"):
            setattr(self, attribute, check.number(getattr(self, attribute), attribute, element, least=0.0))
        self.kinetic_friction = self.static_friction if self.kinetic_friction is None else check.number(
            self.kinetic_friction, "kinetic_friction", element, least=0.0)
        if self.kinetic_friction > self.static_friction:
            raise SceneError("kinetic_friction is above static_friction", element=element,
                             value=(self.static_friction, self.kinetic_friction), remedy="give kinetic <= static")
        self.rest = check.number(self.rest, "rest", element)
        for attribute in ("effort", "velocity_limit"):
            value = check.number(getattr(self, attribute), attribute, element, least=0.0, infinite=True)
            setattr(self, attribute, value)
        self.implicit = check.flag(self.implicit, "implicit", element)
        self.actuator_compensation = check.flag(self.actuator_compensation, "actuator_compensation", element)
        self.effort_range = check.bounds(self.effort_range, "effort_range", element)
        self._check_limits(element)
        if self.stiffness > 0.0 and self.kind not in SINGLE_AXIS:
            raise SceneError(f"a spring on a {self.kind} joint is not supported", element=element, value=self.stiffness,
                             remedy="use a revolute, continuous or prismatic joint")
        velocities, coordinates = JOINT_SIZES[self.kind]
        self.position = self._start(self.position, "position", coordinates, element)
        self.velocity = self._start(self.velocity, "velocity", velocities, element)

    def _check_limits(self, element: str) -> None:
        self.lower = check.number(self.lower, "lower limit", element, infinite=True)
        self.upper = check.number(self.upper, "upper limit", element, infinite=True)
        if self.lower == np.inf or self.upper == -np.inf:
            raise SceneError("the limits leave no position", element=element, value=(self.lower, self.upper),
                             remedy="leave a limit out where there is none")
        if self.lower > self.upper:
            raise SceneError(f"lower limit {self.lower:g} is above upper limit {self.upper:g}", element=element,
                             remedy="swap them")
        if self.kind not in ("revolute", "prismatic") and (np.isfinite(self.lower) or np.isfinite(self.upper)):
            raise SceneError(f"a {self.kind} joint has no limits", element=element, value=(self.lower, self.upper),
                             remedy="use a revolute or prismatic joint, or drop the limits")

    @property
    def efforts(self) -> tuple[float, float]:
        """Least and largest sum of actuator forces."""
        low, high = (-np.inf, np.inf) if self.effort_range is None else self.effort_range
        return max(-self.effort, low), min(self.effort, high)

    def start_note(self) -> str | None:
        """A word on a joint that starts at a limit because zero is outside its limits."""
        nearest = min(max(0.0, self.lower), self.upper)
        if self.kind not in ("revolute", "prismatic") or nearest == 0.0 or self.position[0] != nearest:
            return None
        return (f"joint {self.name!r} starts at {nearest:g}, its limit nearest to 0, which is outside its limits "
                f"{self.lower:g} .. {self.upper:g}")

    def _start(self, value: Any, what: str, size: int, element: str) -> np.ndarray:
        if value is None:
            start = np.zeros(size)
            if what == "position" and self.kind in ("spherical", "free"):
                start[-4] = 1.0
            elif what == "position" and size == 1:  # zero, or the limit nearest to it
                start[0] = min(max(0.0, self.lower), self.upper)
            return start
        start = check.vector(np.atleast_1d(np.asarray(value, dtype=object)).tolist(), what, element, size=size)
        if what == "position" and self.kind in ("spherical", "free"):
            start[-4:] = check.quaternion(start[-4:], "position", element)
        return start


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


@checked
@dataclass
class Loop:
    """A connection that closes a loop between two bodies (None = world).

    ball: the anchor points coincide. hinge: and the axes agree. weld: and nothing turns. `position` and `axis` are in
    body_a's frame; where `position_b` / `rotation_b` (the same anchor frame seen from body_b) are None they are taken
    from the start configuration. `correction`: share of the error removed per step (0 to 1), by moving bodies, not by
    a velocity; no faster than 10 m/s.
    """

    name: str
    kind: Literal["ball", "hinge", "weld"]
    body_a: str
    body_b: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    axis: Any = (0.0, 0.0, 1.0)
    position_b: Any = None
    rotation_b: Any = None
    correction: float = 1.0

    def __post_init__(self) -> None:
        check.name(self.name, "name of a loop")
        element = f"loop {self.name!r}"
        check.name(self.body_a, "body_a", element)
        check.text(self.body_b, "body_b", element)
        if self.kind not in ("ball", "hinge", "weld"):
            raise SceneError("unknown loop kind", element=element, value=self.kind, remedy="use ball, hinge or weld")
        self.position = check.vector(self.position, "position", element)
        self.axis = check.unit_axis(self.axis, "axis", element)
        if self.position_b is not None:
            self.position_b = check.vector(self.position_b, "position_b", element)
        if self.rotation_b is not None:
            self.rotation_b = check.quaternion(self.rotation_b, "rotation_b", element)
        self.correction = check.number(self.correction, "correction", element, least=0.0, most=1.0)


@checked
@dataclass
class Mimic:
    """Joint `joint` follows `source`: q = ratio * q_source + offset."""

    joint: str
    source: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        element = f"mimic of joint {check.name(self.joint, 'joint', 'mimic')!r}"
        check.name(self.source, "source", element)
        self.ratio = check.number(self.ratio, "ratio", element)
        self.offset = check.number(self.offset, "offset", element)


@checked
@dataclass
class RobotDescription:
    """What a robot file says, before it is placed in a scene. Bodies come parents first.

    root bodies have parent None; their pose is the file's. `unsupported` lists what the file uses and we don't.
    floats: the file does not say how the base is held (URDF), so it is free unless the user bolts it down.
    geometry_pairs: see `Scene.add_geometry_pair`.
    poses: named start positions (MJCF keyframes): joint name -> position, free joints and scripted bodies as position
    and quaternion. pose_velocities: joint name -> velocity (free joints: world axes). pose_commands: actuator name ->
    command; a pose without them aims position servos at itself. pose_lengths: spatial tendon -> length.
    """

    name: str
    bodies: list[Body] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    mimics: list[Mimic] = field(default_factory=list)
    excluded_pairs: list[tuple[str, str]] = field(default_factory=list)
    forced_pairs: list[tuple[str, str]] = field(default_factory=list)
    geometry_pairs: dict[GeometryPair, Material | None] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    gravity: np.ndarray | None = None
    gravity_stated: bool = True  # False: the format's default, which the file leaves unsaid
    time_step: float | None = None
    time_step_stated: bool = True
    fluid: Fluid | None = None
    floats: bool = False
    poses: dict[str, dict[str, Any]] = field(default_factory=dict)
    pose_velocities: dict[str, dict[str, Any]] = field(default_factory=dict)
    pose_commands: dict[str, dict[str, float]] = field(default_factory=dict)
    pose_activations: dict[str, dict[str, float]] = field(default_factory=dict)
    pose_lengths: dict[str, dict[str, float]] = field(default_factory=dict)
    sensors: list[Sensor] = field(default_factory=list)
    state_sensors: list[StateSensor] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    tendons: list[Tendon] = field(default_factory=list)
