"""Options of `exact`, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option

MANY = 1_000_000


@dataclass(frozen=True)
class Options:
    """What a user may choose; the defaults are what measured best.

    integrator: Moreau's midpoint rule, of second order; or semi-implicit Euler, of first order, which penetrates least
        on landing
    tolerance (m/s): residual of the law at which a solve ends
    pile_tolerance (m/s): the same for islands of more than twelve trees, or of 250 contacts on more than three, while
        they move; a tenth of the residual that a step begins with where that is less, so that at rest they are solved
        to `tolerance`
    newton_cap: Newton steps of an island at most
    margin (m): contacts are found this far apart
    speculative: and farther by what the shapes travel in so many steps; 0: no farther
    most_per_pair: keep at most so many contact points of a pair of shapes, those the motion depends on (0: all)
    correction: share of an overlap that is undone per step
    slop (m): overlap that is left alone
    correction_speed (m/s): the most that depth correction asks for, so that what begins inside something else comes out
        and is not thrown; inf: no limit
    restitution_speed (m/s): slower impacts do not bounce
    slip_speed (m/s): a faster contact slips, and has kinetic friction
    rounds: of switching between static and kinetic friction in a step
    anchor: share of the drift of a sticking contact that is undone per step: friction holds velocities, and where a
        robot swings what it holds their errors of second order add up to a drift; 0 leaves it
    joint_friction: joints that friction holds are taken out of the problem and those that slip get its force (locks);
        or friction of joints as rows of the problem, as contacts are. The same law and motion
    free_motion: what nothing touches in a step moves by the midpoint rule, of second order, or by the classical
        Runge-Kutta scheme, of fourth (midpoint integrator only; not loops, friction of joints and stiff servos)
    """

    integrator: Literal["midpoint", "semi-implicit"] = "midpoint"
    tolerance: float = option(1e-12, least=0.0, most=1e-2)
    pile_tolerance: float = option(5e-4, least=0.0, most=1e-2)
    newton_cap: int = option(250, least=1, most=MANY)
    margin: float = option(1e-3, least=0.0, most=1e3)
    speculative: float = option(1.0, least=0.0, most=1e3)
    most_per_pair: int = option(6, least=0, most=MANY)
    correction: float = option(0.1, least=0.0, most=1.0)
    slop: float = option(1e-5, least=0.0, most=1e3)
    correction_speed: float = option(
        0.2, least=1e-9, most=1e9, infinite=True, hint="inf: no limit; correction=0 leaves overlaps as they are")
    restitution_speed: float = option(1e-2, least=0.0, most=1e9)
    slip_speed: float = option(1e-7, least=0.0, most=1e9)
    rounds: int = option(8, least=1, most=MANY)
    anchor: float = option(0.0, least=0.0, most=1.0)
    joint_friction: Literal["locks", "rows"] = "locks"
    free_motion: Literal["midpoint", "rk4"] = "midpoint"

    def __post_init__(self) -> None:
        check_options(self, "exact")


Numbers = numbers_of(Options)
MIDPOINT, LOCKS = code_of(Options, "integrator", "midpoint"), code_of(Options, "joint_friction", "locks")
RK4 = code_of(Options, "free_motion", "rk4")

# share of the residual a step starts with: islands of many trees are solved to it, if it is below 1e-9 m/s. A pile that
# moves needs no more, and where it comes to rest the start is better from step to step
RELATIVE = 1e-3
