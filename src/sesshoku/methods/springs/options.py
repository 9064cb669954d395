"""Options of `springs`, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of

CHOICES: dict[str, tuple[str, ...]] = {
    "joint_springs": ("explicit", "implicit"), "constraint_solver": ("descent", "gauss-newton"),
    "friction_anchor": ("held", "drag"), "static_damping": ("line", "isotropic"),
    "rest_damping": ("rule", "critical"),
    "friction_normal": ("spring", "spring+constraint", "coupled"),
    "rotation": ("euler", "momentum"), "stiffness_per": ("feature", "area"),
    "side_face": ("nearest", "literal", "off"), "crossing": ("linear", "cubic"),
}


@dataclass(frozen=True)
class Options:
    """What a user may choose; the defaults are the thesis's behaviour.

    limit (m): how deep a contact may be pressed in before the constraint force holds it; None: 1 % of the thinner
    shape's smallest width. rate, damping_steps: the stiffness where a material gives none, k = rate / (dt^2 n x), with
    n springs on the busier body and x the inverse mass at the contact; damping = damping_steps k dt. joint_stiffness
    (N/m), joint_damping (N s/m), joint_limit (m), joint_width (m, half the length of the axis): of every joint's
    springs; None: by the same rules. joint_springs: of present positions and velocities, or of those at the end of the
    step, which bear any stiffness (where none is given, 1000 times the mass of all that is joined / dt^2).
    stick_speed (m/s), joint_stick_speed (rad/s or m/s): slower is at rest.

    constraint_solver: steepest descent, or Gauss-Newton on the same penalty. constraint_tol: share of the limit by
    which a spring may stay beyond it. max_iterations: of a solve; max_sweeps: rounds of solving and looking for new
    crossings. friction_anchor: held while static and let go as a whole, or dragged along at the bound. static_damping:
    dampers of held springs (static contacts, joints) along the spring's line or in every direction. rest_damping: of
    implicit joints at rest by friction, by the rule, or hard and without overshoot under sudden loads. friction_normal:
    what bounds friction: the spring alone, the constraint force of the step before as well, or (coupled) friction of
    the constraint force added after it is known. max_correction_speed (m/s): of springs that begin a step beyond their
    limit. rotation: poses turn by the spin at the end of the step, or so that a body's spin keeps its momentum and a
    free one's its energy. stiffness_per: a material's stiffness is one contact's, or a square metre's.
    substep_angle (rad): a step in which a body turns farther is divided. merge_coplanar: edges inside flat faces are no
    edges. side_face: which face pushes where an edge is met from outside its wedge. crossing: how sweeps find the
    instant.
    """

    limit: float | None = None
    rate: float = 1.2
    damping_steps: float = 1.0
    joint_stiffness: float | None = None
    joint_damping: float | None = None
    joint_springs: Literal["explicit", "implicit"] = "explicit"
    joint_limit: float | None = None
    joint_width: float | None = None
    stick_speed: float = 1e-3
    joint_stick_speed: float = 1e-3
    constraint_solver: Literal["descent", "gauss-newton"] = "descent"
    constraint_tol: float = 0.01
    max_iterations: int = 100
    max_sweeps: int = 4
    friction_anchor: Literal["held", "drag"] = "held"
    static_damping: Literal["line", "isotropic"] = "line"
    rest_damping: Literal["rule", "critical"] = "rule"
    friction_normal: Literal["spring", "spring+constraint", "coupled"] = "spring"
    max_correction_speed: float = float("inf")
    rotation: Literal["euler", "momentum"] = "euler"
    stiffness_per: Literal["feature", "area"] = "feature"
    substep_angle: float = float("inf")
    merge_coplanar: bool = True
    side_face: Literal["nearest", "literal", "off"] = "nearest"
    crossing: Literal["linear", "cubic"] = "linear"

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise MethodError(f"{name} must be one of {', '.join(allowed)}", element="method 'springs'",
                                  value=getattr(self, name))
        for name in ("limit", "joint_limit", "joint_width", "joint_stiffness"):
            value = getattr(self, name)
            if value is not None:
                _number(name, value, above=0.0)
        if self.joint_damping is not None:
            _number("joint_damping", self.joint_damping, least=0.0)
        for name in ("rate", "constraint_tol", "max_correction_speed", "substep_angle"):
            _number(name, getattr(self, name), above=0.0, infinite=name in ("max_correction_speed", "substep_angle"))
        for name in ("damping_steps", "stick_speed", "joint_stick_speed"):
            _number(name, getattr(self, name), least=0.0)
        if self.rate * (1.0 + 2.0 * self.damping_steps) >= 4.0:
            raise MethodError("springs of this rate are unstable: rate (1 + 2 damping_steps) must be below 4",
                              element="method 'springs'", value=(self.rate, self.damping_steps),
                              remedy="lower rate or damping_steps")
        for name in ("max_iterations", "max_sweeps"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise MethodError(f"{name} must be a whole number, 1 or more", element="method 'springs'", value=value)
        if not isinstance(self.merge_coplanar, bool):
            raise MethodError("merge_coplanar must be True or False", element="method 'springs'",
                              value=self.merge_coplanar)


def _number(name: str, value: object, *, least: float = -np.inf, above: float = -np.inf,
            infinite: bool = False) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not float(value) >= least or not float(value) > above or (  # type: ignore[arg-type]
            float(value) == np.inf and not infinite):  # type: ignore[arg-type]
        bound = f"above {above:g}" if above > -np.inf else f"at least {least:g}"
        raise MethodError(f"{name} must be {'' if infinite else 'finite and '}{bound}", element="method 'springs'",
                          value=value)


Numbers = numbers_of(Options)
NEWTON, DRAG = code_of(Options, "constraint_solver", "gauss-newton"), code_of(Options, "friction_anchor", "drag")
ISOTROPIC, PER_AREA = code_of(Options, "static_damping", "isotropic"), code_of(Options, "stiffness_per", "area")
IMPLICIT_JOINTS, MOMENTUM = code_of(Options, "joint_springs", "implicit"), code_of(Options, "rotation", "momentum")
REST_CRITICAL = code_of(Options, "rest_damping", "critical")
OF_SPRING, WITH_CONSTRAINT, COUPLED = range(3)  # normal force that friction goes with
NEAREST, LITERAL, NO_SIDE = range(3)  # side faces

