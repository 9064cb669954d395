"""Options of `springs`, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """What a user may choose; the defaults are the thesis's behaviour."""

    limit: float | None = option(
        None, "how deep contacts may be pressed in before the constraint force holds them. None: 1 % of the smallest "
        "width of the thinner shape", "m", above=0.0)
    rate: float = option(
        1.2,
        "stiffness where a material gives none: k = rate / (dt² n x), with n springs on the busier body and x the "
        "inverse mass at the contact", above=0.0)
    damping_steps: float = option(1.0, "damping where a material gives none: damping_steps k dt", least=0.0)
    joint_stiffness: float | None = option(
        None, "of every joint's springs. None: by the rule of contacts; with `joint_springs` implicit 1000 times the "
        "mass of all that is joined / dt²", "N/m", above=0.0)
    joint_damping: float | None = option(
        None, "of every joint's springs. None: by the rule of contacts", "N s/m", least=0.0)
    joint_springs: Literal["explicit", "implicit"] = option(
        "explicit",
        "springs and dampers of joints by present positions and velocities, or by those at the end of the step, "
        "which bear any stiffness")
    joint_limit: float | None = option(
        None, "how far a joint's springs may be stretched. None: 5 % of `joint_width`", "m", above=0.0)
    joint_width: float | None = option(
        None, "half the length of a joint's axis. None: the radius of a ball with the mass and inertia of the smaller "
        "link", "m", above=0.0)
    stick_speed: float = option(1e-3, "slower contacts are at rest", "m/s", least=0.0)
    joint_stick_speed: float = option(1e-3, "slower joints are at rest", "rad/s or m/s", least=0.0)
    constraint_solver: Literal["descent", "gauss-newton"] = option(
        "descent",
        "steepest descent, or Gauss-Newton steps on the same Φ: all rows linearised, the least change of velocity "
        "that meets them by sweeps over one-signed forces")
    constraint_tol: float = option(0.01, "share of the limit by which a spring may stay beyond it", above=0.0)
    max_iterations: int = option(100, "of a solve", least=1)
    max_sweeps: int = option(4, "rounds of solving and looking for new crossings", least=1)
    friction_anchor: Literal["held", "drag"] = option(
        "held", "held while static and let go as a whole, or dragged along at the bound")
    static_damping: Literal["line", "isotropic"] = option(
        "line",
        "dampers of static contacts and joints along the spring's own line, which barely damps rocking, or in "
        "every direction")
    rest_damping: Literal["rule", "critical"] = option(
        "rule",
        "springs of implicit joints that friction holds: by the rule, or hard and without overshoot under sudden "
        "loads")
    friction_normal: Literal["spring", "spring+constraint", "coupled"] = option(
        "spring",
        "what friction is bounded by: the spring's force; with the constraint force of the step before; or spring "
        "and damper, and friction of the constraint force added once it is known")
    max_correction_speed: float = option(
        float("inf"), "of springs that begin a step beyond their limit", "m/s", above=0.0, infinite=True)
    rotation: Literal["euler", "momentum"] = option(
        "euler",
        "poses turn by the spin at the end of the step; or so that a body's spin keeps its momentum, and a free "
        "one's its energy")
    stiffness_per: Literal["feature", "area"] = option(
        "feature",
        "a material's stiffness is one spring's, or a square metre's: then the smaller of the touching flat faces "
        "is shared among the springs of two shapes")
    substep_angle: float = option(
        float("inf"), "a step in which a body turns farther is divided, into 16 parts at most",
        "rad", above=0.0, infinite=True)
    merge_coplanar: bool = option(True, "edges inside flat faces are no edges. False: as printed")
    side_face: Literal["nearest", "literal", "off"] = option(
        "nearest", "which face pushes where an edge is met from outside its wedge; literal: as printed")
    crossing: Literal["linear", "cubic"] = option(
        "linear", "instants of crossings: distances interpolated, or the true coplanarity")

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

