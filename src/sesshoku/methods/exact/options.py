"""Options of `exact`, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.solvers.proximal.work import NewtonOptions, newton_parameters


@dataclass(frozen=True)
class Options:
    """What a user may choose; the defaults are what measured best.

    integrator: midpoint (Moreau's rule, second order) or semi-implicit (first order, penetrates least on landing).
    tolerance (m/s): residual of the contact law at which a solve ends. newton_cap: Newton steps of an island at most.
    margin (m): contacts are found this far apart, and farther by what the shapes travel in `ahead` steps.
    most_per_pair: keep at most so many points of a pair of shapes, those its motion depends on (0: all).
    correction: share of an overlap that is undone per step, where it is deeper than slop (m), and correction_speed
    (m/s) the most that is asked for it: what begins inside something else comes out at that speed, and is not thrown;
    inf: no limit. restitution_speed (m/s): slower impacts do not bounce. slip_speed (m/s): a faster contact slips, and
    has kinetic friction. rounds: of switching between static and kinetic friction in a step. anchor: share of the drift
    of a sticking contact that is undone per step; 0: friction holds velocities, not places, and second-order errors of
    the motion remain. joint_friction: locks (joints that it holds are taken out of the problem, locks.py) or rows (of
    the problem, as contacts are); the same law.
    """

    integrator: Literal["midpoint", "semi-implicit"] = "midpoint"
    tolerance: float = 1e-12
    newton_cap: int = 250
    margin: float = 1e-3
    ahead: float = 1.0
    most_per_pair: int = 6
    correction: float = 0.1
    slop: float = 1e-5
    correction_speed: float = 0.2
    restitution_speed: float = 1e-2
    slip_speed: float = 1e-7
    rounds: int = 8
    anchor: float = 0.0
    joint_friction: Literal["locks", "rows"] = "locks"

    def __post_init__(self) -> None:
        if not isinstance(self.integrator, str) or self.integrator not in INTEGRATORS:
            raise _refusal(f"integrator must be {' or '.join(INTEGRATORS)}", self.integrator, "midpoint")
        if not isinstance(self.joint_friction, str) or self.joint_friction not in ("locks", "rows"):
            raise _refusal("joint_friction must be locks or rows", self.joint_friction, "locks")
        for name, (least, most) in BOUNDS.items():
            value, default = getattr(self, name), type(self).__dataclass_fields__[name].default
            if name == "correction_speed":
                if isinstance(value, float) and value == np.inf:
                    continue  # no limit
                default = f"{default}, inf: no limit; correction=0 leaves overlaps as they are"
            if isinstance(default, int):
                if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
                    raise _refusal(f"{name} must be a whole number from {least:g} to {most:g}", value, default)
            elif (isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating))
                  or not least <= value <= most):
                raise _refusal(f"{name} must be a number from {least:g} to {most:g}", value, default)


def _refusal(text: str, value: Any, default: Any) -> MethodError:
    return MethodError(text, element="method 'exact'", value=repr(value) if value is None else value,
                       remedy=f"the default is {default}")


INTEGRATORS = ("midpoint", "semi-implicit")
MANY = 1_000_000
#: least and most of every number; speeds in m/s, lengths in m
BOUNDS: dict[str, tuple[float, float]] = {
    "tolerance": (0.0, 1e-2), "newton_cap": (1, MANY), "margin": (0.0, 1e3), "ahead": (0.0, 1e3),
    "most_per_pair": (0, MANY), "correction": (0.0, 1.0), "slop": (0.0, 1e3), "correction_speed": (1e-9, 1e9),
    "restitution_speed": (0.0, 1e9), "slip_speed": (0.0, 1e9), "rounds": (1, MANY), "anchor": (0.0, 1.0),
}

(MIDPOINT, MARGIN, AHEAD, MOST, CORRECTION, SLOP, BOUNCE_SPEED, SLIP_SPEED, ROUNDS, ANCHOR, CORRECTION_SPEED, LOCKS,
 NEWTON) = range(13)

# share of the residual a step starts with: islands of many trees are solved to it, if it is below 1e-9 m/s. A pile that
# moves needs no more, and where it comes to rest the start is better from step to step
RELATIVE = 1e-3


def parameters(options: Options) -> np.ndarray:
    """What compiled code takes of the options: ours, then from NEWTON on the solver's."""
    o = options
    newton = NewtonOptions(tolerance=o.tolerance, cap=o.newton_cap, cap_many=o.newton_cap, relative=RELATIVE)
    ours = [o.integrator == "midpoint", o.margin, o.ahead, o.most_per_pair, o.correction, o.slop, o.restitution_speed,
            o.slip_speed, o.rounds, o.anchor, o.correction_speed, o.joint_friction == "locks"]
    return np.concatenate([np.array(ours, dtype=np.float64), newton_parameters(newton)])
