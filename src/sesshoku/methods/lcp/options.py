"""Options of `lcp`, its presets, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's.

    integrator: rk4 (forces held through its stages) or semi-implicit (meets the target velocity exactly).
    max_sweeps, tolerance: stop when no row changes by more than tolerance times the largest velocity at stake (less in
    steps above 5 ms, by the square of 5 ms / dt).
    static_friction_speed: below this slip speed (m/s) friction is static; with hold_reversals also in the step after a
    slip turned round (a load between kinetic and static friction may turn it within one step). static_pyramid:
    circumscribed (the paper's square), inscribed, or cone. kinetic: "direction" (one row against the slip) or "cone".
    tangent_axes: random per contact (seeded) or fixed. delassus_by: aba (test forces), mass_matrix, or none
    (matrix-free; so always with by_contact, pair or accelerate, which visit contacts, not rows of a matrix).
    order: normals_first or by_contact. inner: rows, or pair (each contact solved exactly at a visit).
    warm_start: begin with the last step's forces. accelerate: combine sweeps by NNCG. penetration_rate (1/s), slop (m):
    depth correction. centripetal: include J' v at vertex contacts. restitution_speed: slower impacts do not bounce.
    margin (m): contacts are found this far apart, and farther by what the shapes travel in `ahead` steps.
    most_per_pair: keep at most so many points of a pair of shapes, those its motion depends on (0: all; the paper is
    silent, the choice is ours). visit_budget: an island of m contacts gets at most so many / m sweeps, but 15 at least
    (0: no bound).
    """

    integrator: Literal["rk4", "semi-implicit"] = "rk4"
    max_sweeps: int = 120
    tolerance: float = 1e-9
    static_friction_speed: float = 1e-3
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
    penetration_rate: float = 0.0
    slop: float = 1e-4
    centripetal: bool = True
    restitution_speed: float = 1e-2
    margin: float = 1e-6
    ahead: float = 0.0
    most_per_pair: int = 6
    visit_budget: int = 0

    def __post_init__(self) -> None:
        for name, kind in (
            ("integrator", ("rk4", "semi-implicit")),
            ("kinetic", ("direction", "cone")),
            ("static_pyramid", ("circumscribed", "inscribed", "cone")),
            ("tangent_axes", ("random", "fixed")),
            ("delassus_by", ("aba", "mass_matrix", "none")),
            ("order", ("normals_first", "by_contact")),
            ("inner", ("rows", "pair")),
        ):
            if getattr(self, name) not in kind:
                raise MethodError(
                    f"{name} must be one of {', '.join(kind)}", element="method 'lcp'", value=getattr(self, name)
                )
        for name, least in (
            ("max_sweeps", 1),
            ("tolerance", 0.0),
            ("static_friction_speed", 0.0),
            ("penetration_rate", 0.0),
            ("slop", 0.0),
            ("restitution_speed", 0.0),
            ("margin", 0.0),
            ("ahead", 0.0),
            ("most_per_pair", 0),
            ("visit_budget", 0),
        ):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not least <= value < float("inf"):
                raise MethodError(f"{name} must be at least {least}", element="method 'lcp'", value=value)
        for name in ("max_sweeps", "seed", "most_per_pair", "visit_budget"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) >= 2**53:
                raise MethodError(f"{name} must be a whole number below 2^53", element="method 'lcp'", value=value)
        for name in ("hold_reversals", "warm_start", "accelerate", "centripetal"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise MethodError(f"{name} must be True or False", element="method 'lcp'", value=value)


PRESETS = {"recommended": Options(
    integrator="semi-implicit", max_sweeps=100, tolerance=1e-4, static_friction_speed=1e-4, hold_reversals=True,
    static_pyramid="cone", kinetic="cone", tangent_axes="fixed", delassus_by="none", order="by_contact",
    warm_start=True, accelerate=True, penetration_rate=10.0, slop=1e-5, centripetal=False, margin=0.001, ahead=1.0,
    most_per_pair=4, visit_budget=12000)}

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

