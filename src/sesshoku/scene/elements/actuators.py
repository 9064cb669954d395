"""Actuators, and the tendons they may pull. Plain data, checked when made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.elements.tendon_paths import check_path

ActuatorKind = Literal["torque", "position", "velocity", "general"]
KINDS = ("torque", "position", "velocity", "general")
DYNAMICS = ("none", "integrator", "filter", "filterexact")


@checked
@dataclass
class Actuator:
    """Drives one joint of one axis, pulls a tendon, or pushes a body at a place.

    torque: force = target. position: kp (target - q) + kd (target_velocity - v) + feed_forward.
    velocity: kd (target_velocity - v) + feed_forward. q, v: position and velocity of the joint, or length of the
    tendon and its rate.
    general: MuJoCo's affine law, (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l' + feed_forward with gain (g0, g1, g2), bias
    (b0, b1, b2), u = target and l = gear q.
    command_range: the target (velocity: target_velocity) is clipped to it. The force is clipped to +-effort and to
    force_range (and, with what else drives the joint, to the joint's effort), then multiplied by `gear`.
    implicit: integrate the servo implicitly where the scheme can: stiff gains are stable.
    dynamics (general): u follows the target as its integral ("integrator"), or as a filter of first order with
    time_constant, s ("filter" by Euler's rule, "filterexact"); it starts at `activation`, within activation_range.
    body, position, rotation: the place it pushes, in the body's frame. wrench: force and torque per unit of its force,
    in the axes of the place; with a `base`, another body, in axes turned by `rotation` against that, which is pushed
    back. A force that pushes a body does not depend on its motion: it is of the kind torque, or general without b1, b2,
    g1, g2.
    """

    name: str
    joint: str | None = None
    kind: ActuatorKind = "torque"
    kp: float = 0.0
    kd: float = 0.0
    effort: float = np.inf
    gear: float = 1.0
    implicit: bool = True
    target: float = 0.0
    target_velocity: float = 0.0
    feed_forward: float = 0.0
    tendon: str | None = None
    body: str | None = None
    gain: Any = (1.0, 0.0, 0.0)
    bias: Any = (0.0, 0.0, 0.0)
    command_range: Any = None
    force_range: Any = None
    dynamics: Literal["none", "integrator", "filter", "filterexact"] = "none"
    time_constant: float = 1.0
    activation: float = 0.0
    activation_range: Any = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    wrench: Any = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    base: str | None = None

    def __post_init__(self) -> None:
        check.name(self.name, "name of an actuator")
        element = f"actuator {self.name!r}"
        if sum(driven is not None for driven in (self.joint, self.tendon, self.body)) != 1:
            raise SceneError("it drives one thing", element=element, value=(self.joint, self.tendon, self.body),
                             remedy="give joint, tendon= or body=")
        check.name(self.driven, "what it drives", element)
        check.text(self.base, "base", element)
        self.implicit = check.flag(self.implicit, "implicit", element)
        for attribute, known in (("kind", KINDS), ("dynamics", DYNAMICS)):
            if getattr(self, attribute) not in known:
                raise SceneError(f"unknown {'actuator kind' if attribute == 'kind' else attribute}", element=element,
                                 value=getattr(self, attribute), remedy=f"use {', '.join(known[:-1])} or {known[-1]}")
        for attribute in ("kp", "kd"):
            setattr(self, attribute, check.number(getattr(self, attribute), attribute, element, least=0.0))
        self.effort = check.number(self.effort, "effort", element, least=0.0, infinite=True)
        for attribute in ("gear", "target", "target_velocity", "feed_forward", "activation"):
            setattr(self, attribute, check.number(getattr(self, attribute), attribute, element))
        self.time_constant = check.number(self.time_constant, "time_constant", element, above=0.0)
        for attribute in ("command_range", "force_range", "activation_range"):
            setattr(self, attribute, check.bounds(getattr(self, attribute), attribute, element))
        self.gain = tuple(check.vector(self.gain, "gain", element).tolist())
        self.bias = tuple(check.vector(self.bias, "bias", element).tolist())
        self._check_general(element)
        self.position = tuple(check.vector(self.position, "position", element).tolist())
        self.rotation = tuple(check.quaternion(self.rotation, "rotation", element).tolist())
        self.wrench = tuple(check.vector(self.wrench, "wrench", element, size=6).tolist())
        self._check_place(element)

    def _check_general(self, element: str) -> None:
        if self.kind != "general" and self.dynamics != "none":
            raise SceneError("only a general actuator has dynamics", element=element, value=self.dynamics,
                             remedy='give kind "general" with gain and bias')

    def _check_place(self, element: str) -> None:
        if self.base is not None and self.body is None:
            raise SceneError("only an actuator that pushes a body has a base", element=element, value=self.base,
                             remedy="give body=")
        moved = self.kind in ("position", "velocity") or (
            self.kind == "general" and any(self.gain[1:] + self.bias[1:]))
        if self.body is not None and moved:
            raise SceneError("a force on a body cannot depend on its motion", element=element, value=self.kind,
                             remedy='use the kind "torque", or "general" with gain and bias of the first place only')

    @property
    def driven(self) -> str | None:
        """The joint, tendon or body it drives."""
        return self.joint if self.joint is not None else self.tendon if self.tendon is not None else self.body

    @property
    def forces(self) -> tuple[float, float]:
        """Least and largest force before the gear."""
        low, high = (-np.inf, np.inf) if self.force_range is None else self.force_range
        return max(-self.effort, low), min(self.effort, high)


def with_control(actuator: Actuator, control: float) -> Actuator:
    """The actuator with MuJoCo's `ctrl` as its command, as actuators of MJCF files are read."""
    if actuator.kind == "velocity":
        return replace(actuator, target_velocity=float(control))
    return replace(actuator, target=float(control))


def holding_control(actuator: Actuator, length: float) -> float | None:
    """The command at which a servo on a joint at `length` (or a tendon of it) exerts no force; None: it is no servo."""
    if actuator.kind == "position":
        return length
    if actuator.kind != "general" or actuator.bias[1] == 0.0:
        return None
    length *= actuator.gear
    gain = actuator.gain[0] + actuator.gain[1] * length
    return None if gain == 0.0 else float(-(actuator.bias[0] + actuator.bias[1] * length) / gain)


def belongs_to(actuator: Actuator, tendons: Mapping[str, Tendon], bodies: Collection[str],
               joints: Collection[str]) -> bool:
    """Whether an actuator drives one of some joints, a tendon over one of them, or one of some bodies."""
    if actuator.tendon is not None:
        tendon = tendons[actuator.tendon]
        return any(joint in joints for joint in tendon.joints) or any(body in bodies for body in tendon.bodies)
    return actuator.joint in joints or actuator.body in bodies


@checked
@dataclass
class Tendon:
    """A tendon over joints of one axis, its length the sum of coefficient times position; or a path through space.

    joints: joint name -> coefficient. path: instead of joints, the places it runs through, straight from one to the
    next (see `PathPoint`). stiffness (N/m): a spring where the length leaves `rest`, a length or a range of
    lengths. viscous (N s/m): resists its rate. lower, upper: limits of its length. friction (N): dry friction against
    its rate. A tendon with limits or friction moves joints of one or two branches of a tree (or of two trees).
    """

    name: str
    joints: Mapping[str, float] = field(default_factory=dict)
    stiffness: float = 0.0
    rest: Any = 0.0
    viscous: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    friction: float = 0.0
    path: Any = ()

    def __post_init__(self) -> None:
        element = f"tendon {check.name(self.name, 'name of a tendon')!r}"
        self.path = check_path(self.path, element)
        if self.path and self.joints:
            raise SceneError("it has joints or a path, not both", element=element, value=list(self.joints),
                             remedy="make two tendons of it")
        if not isinstance(self.joints, Mapping) or not (self.joints or self.path):
            raise SceneError("joints is not a table of coefficients", element=element, value=self.joints,
                             remedy='give {"left": 0.5, "right": 0.5}, or path=')
        self.joints = {check.name(joint, "joint", element): check.number(arm, f"coefficient of {joint!r}", element)
                       for joint, arm in self.joints.items()}
        for attribute in ("stiffness", "viscous", "friction"):
            setattr(self, attribute, check.number(getattr(self, attribute), attribute, element, least=0.0))
        self.lower, self.upper = check.bounds((self.lower, self.upper), "limits", element) or (-np.inf, np.inf)
        if np.ndim(self.rest) == 0:
            self.rest = check.number(self.rest, "rest", element)
        else:
            self.rest = check.bounds(self.rest, "rest", element)

    @property
    def bodies(self) -> list[str]:
        """The bodies its path names."""
        return [body for point in self.path for body in point.bodies]

    @property
    def has_rows(self) -> bool:
        """Whether it has limits or dry friction."""
        return bool(np.isfinite(self.lower) or np.isfinite(self.upper) or self.friction > 0.0)

    @property
    def rests(self) -> tuple[float, float]:
        """Least and largest length at which its spring is relaxed."""
        return self.rest if isinstance(self.rest, tuple) else (self.rest, self.rest)
