"""Options of `springs`, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """What a user may choose; the defaults are the thesis's behaviour.

    limit (m): how deep contacts may be pressed in before the constraint force holds them. None: 1 % of the smallest
        width of the thinner shape (ours)
    rate: stiffness where a material gives none: k = rate / (dt² n x), with n springs on the busier body and x the
        inverse mass at the contact
    damping_steps: damping where a material gives none: damping_steps k dt
    joint_stiffness (N/m): of every joint's springs. None: by the rule of contacts; with `joint_springs` implicit 1000
        times the mass of all that is joined / dt²
    joint_damping (N s/m): of every joint's springs. None: by the rule of contacts
    joint_springs: springs and dampers of joints by present positions and velocities, or by those at the end of the
        step, which bear any stiffness
    joint_limit (m): how far a joint's springs may be stretched. None: 5 % of `joint_width`
    joint_width (m): half the length of a joint's axis. None: by `joint_axis`
    joint_axis: half the axis where `joint_width` gives none, of the smaller link (ours, the thesis is silent): the
        radius of a ball with its mass and its least moment of inertia, which is about half its width; or its mean
        moment, more about half its length, for springs that bear any stiffness
    stick_speed (m/s): slower contacts are at rest (epsilon of section 5.6; ours, the thesis gives none)
    joint_stick_speed (rad/s or m/s): slower joints are at rest
    constraint_solver: steepest descent, or Gauss-Newton steps on the same Φ: all rows linearised, the least change of
        velocity that meets them by sweeps over one-signed forces
    constraint_tol: share of the limit by which a spring may stay beyond it
    max_iterations: of a solve
    max_rounds: rounds of solving and looking for new crossings
    friction_anchor: held while static and let go as a whole, or dragged along at the bound
    static_damping: dampers of static contacts and joints along the spring's own line, which barely damps rocking, or in
        every direction
    rest_damping: springs of implicit joints that friction holds: by the rule, or hard and without overshoot under
        sudden loads
    friction_normal: what friction is bounded by: the spring's force; with the constraint force of the step before; or
        spring and damper, and friction of the constraint force added once it is known
    max_correction_speed (m/s): of springs that begin a step beyond their limit
    rotation: how a step turns a body, on which the thesis is silent: so that its spin keeps the momentum of (2.23) to
        (2.26), and a free one's its energy; or by the spin at the end of the step, which gains energy
    stiffness_per: a material's stiffness is one spring's, or a square metre's: then the smaller of the touching flat
        faces is shared among the springs of two shapes
    substep_angle (rad): a step in which a body turns farther, by its spin at the start or by the forces found, is
        divided, into 16 parts at most (ours: sweeps and springs are linear in a step; the thesis is silent)
    merge_coplanar: edges inside flat faces are no edges. False: as printed
    side_face: which face pushes where an edge is met from outside its wedge; literal: as printed
    crossing: instants of crossings: distances interpolated, or the true coplanarity
    """

    limit: float | None = option(None, above=0.0)
    rate: float = option(1.2, above=0.0)
    damping_steps: float = option(1.0, least=0.0)
    joint_stiffness: float | None = option(None, above=0.0)
    joint_damping: float | None = option(None, least=0.0)
    joint_springs: Literal["explicit", "implicit"] = "explicit"
    joint_limit: float | None = option(None, above=0.0)
    joint_width: float | None = option(None, above=0.0)
    joint_axis: Literal["link", "inertia"] = "link"
    stick_speed: float = option(1e-3, least=0.0)
    joint_stick_speed: float = option(1e-3, least=0.0)
    constraint_solver: Literal["descent", "gauss-newton"] = "descent"
    constraint_tol: float = option(0.01, above=0.0)
    max_iterations: int = option(100, least=1)
    max_rounds: int = option(4, least=1)
    friction_anchor: Literal["held", "drag"] = "held"
    static_damping: Literal["line", "isotropic"] = "line"
    rest_damping: Literal["rule", "critical"] = "rule"
    friction_normal: Literal["spring", "spring+constraint", "coupled"] = "spring"
    max_correction_speed: float = option(float("inf"), above=0.0, infinite=True)
    rotation: Literal["euler", "momentum"] = "momentum"
    stiffness_per: Literal["feature", "area"] = "feature"
    substep_angle: float = option(0.3, above=0.0, infinite=True)
    merge_coplanar: bool = True
    side_face: Literal["nearest", "literal", "off"] = "nearest"
    crossing: Literal["linear", "cubic"] = "linear"

    def __post_init__(self) -> None:
        check_options(self, "springs")
        if self.rate * (1.0 + 2.0 * self.damping_steps) >= 4.0:
            raise MethodError("springs of this rate are unstable: rate (1 + 2 damping_steps) must be below 4",
                              element="method 'springs'", value=(self.rate, self.damping_steps),
                              remedy="lower rate or damping_steps")


Numbers = numbers_of(Options)
NEWTON, DRAG = code_of(Options, "constraint_solver", "gauss-newton"), code_of(Options, "friction_anchor", "drag")
ISOTROPIC, PER_AREA = code_of(Options, "static_damping", "isotropic"), code_of(Options, "stiffness_per", "area")
IMPLICIT_JOINTS, MOMENTUM = code_of(Options, "joint_springs", "implicit"), code_of(Options, "rotation", "momentum")
REST_CRITICAL = code_of(Options, "rest_damping", "critical")
OF_SPRING, WITH_CONSTRAINT, COUPLED = range(3)  # normal force that friction goes with
NEAREST, LITERAL, NO_SIDE = range(3)  # side faces
