"""Options of `lcp`, its presets, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's.

    integrator: Runge-Kutta with the forces held through its stages, or semi-implicit Euler, which meets the wanted
        velocity exactly
    max_sweeps: most sweeps of a step
    tolerance: sweeps end when no row changes by more than this times the largest velocity at stake, less in steps above
        5 ms, by the square of 5 ms / dt (ours; the paper says 120 sweeps at most, and not when it stops before)
    static_friction_speed (m/s): below it friction is static
    hold_reversals: static friction also in the step after a slip turned round: a load between kinetic and static
        friction may turn it within one step
    static_pyramid: where resting friction must lie: the square around Coulomb's circle, the square within it, or the
        circle
    kinetic: sliding friction along one fixed direction, or anywhere in the circle of kinetic friction
    tangent_axes: axes of the square: turned at random per contact, to even out its corners, or along the contact's own
        frame
    seed: of the random axes; a contact keeps its axes while it lives
    delassus_by: how the matrix K is made: by test forces, by the mass matrix, or not at all (matrix-free; so always
        with `order` by_contact, `inner` pair or `accelerate`, which visit contacts, not rows of a matrix)
    order: all normals, then all tangents; or contact by contact
    inner: row by row, or each contact's own block solved exactly at a visit
    warm_start: begin with the last step's forces of the same contacts
    accelerate: combine sweeps by nonsmooth nonlinear conjugate gradients
    penetration_rate (1/s): how fast an overlap beyond `slop` is pushed out. The paper has no depth correction
    slop (m): overlap that is left alone
    centripetal: include J' v at contacts whose point is fixed on a link
    restitution_speed (m/s): slower impacts do not bounce
    margin (m): contacts are found this far apart, and only keep the gap from closing within the step. The paper is
        silent; ours: nearer than a step of Runge-Kutta lifts a standing sole, contacts flicker
    speculative: contacts are also found as far apart as shapes travel in so many steps
    most_per_pair: keep at most so many contact points of a pair of shapes, those the motion depends on (0: all). The
        paper is silent on this; ours
    visit_budget: an island of m contacts gets at most so many / m sweeps, but 15 at least (0: no bound)
    """

    integrator: Literal["rk4", "semi-implicit"] = "rk4"
    max_sweeps: int = option(120, least=1)
    tolerance: float = option(1e-9, least=0.0)
    static_friction_speed: float = option(1e-3, least=0.0)
    hold_reversals: bool = False
    static_pyramid: Literal["circumscribed", "inscribed", "cone"] = "circumscribed"
    kinetic: Literal["direction", "cone"] = "direction"
    tangent_axes: Literal["random", "fixed"] = "random"
    seed: int = 0
    delassus_by: Literal["aba", "mass_matrix", "none"] = "aba"
    order: Literal["normals_first", "by_contact"] = "normals_first"
    inner: Literal["rows", "pair"] = "rows"
    warm_start: bool = False
    accelerate: bool = False
    penetration_rate: float = option(0.0, least=0.0)
    slop: float = option(1e-4, least=0.0)
    centripetal: bool = True
    restitution_speed: float = option(1e-2, least=0.0)
    margin: float = option(1e-5, least=0.0)
    speculative: float = option(0.0, least=0.0)
    most_per_pair: int = option(6, least=0)
    visit_budget: int = option(0, least=0)

    def __post_init__(self) -> None:
        check_options(self, "lcp")


RECOMMENDED = Options(
    integrator="semi-implicit", max_sweeps=100, tolerance=1e-4, static_friction_speed=1e-4, hold_reversals=True,
    static_pyramid="cone", kinetic="cone", tangent_axes="fixed", delassus_by="none", order="by_contact",
    warm_start=True, accelerate=True, penetration_rate=10.0, slop=1e-5, centripetal=False, margin=0.001,
    speculative=1.0, most_per_pair=4, visit_budget=12000)
#: batch: one world that needs a hundred sweeps keeps all others of a GPU waiting; what is left over is done by the next
#: step, which starts from it
PRESETS = {"recommended": RECOMMENDED, "batch": replace(RECOMMENDED, max_sweeps=10)}

Numbers = numbers_of(Options)
RK4, KINETIC_CONE = code_of(Options, "integrator", "rk4"), code_of(Options, "kinetic", "cone")
RANDOM_AXES, NORMALS_FIRST = code_of(Options, "tangent_axes", "random"), code_of(Options, "order", "normals_first")
EXACT_PAIR = code_of(Options, "inner", "pair")
INSCRIBED, CONE = code_of(Options, "static_pyramid", "inscribed"), code_of(Options, "static_pyramid", "cone")
NO_MATRIX, BY_TEST_FORCES, BY_MASS_MATRIX = range(3)


def matrix_by(options: Options) -> int:
    """How the matrix of an island is formed, if at all."""
    if options.accelerate or options.inner == "pair" or options.order == "by_contact":
        return NO_MATRIX  # these visit contacts, not rows of a matrix
    return {"none": NO_MATRIX, "aba": BY_TEST_FORCES, "mass_matrix": BY_MASS_MATRIX}[options.delassus_by]
