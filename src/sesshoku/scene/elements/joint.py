"""How bodies move against each other: joints of the trees, loops that close them, joints that follow others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked

JointKind = Literal["free", "revolute", "continuous", "prismatic", "spherical", "planar", "fixed"]
#: degrees of freedom and number of coordinates of each joint kind
JOINT_SIZES: dict[str, tuple[int, int]] = {
    "free": (6, 7), "revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "spherical": (3, 4),
    "planar": (3, 3), "fixed": (0, 0),
}
SINGLE_AXIS = ("revolute", "continuous", "prismatic")


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
