"""Options of `implicit`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """Defaults follow the paper; what it leaves open is chosen as docs/methods/implicit.md says.

    integrator: implicit, or the same springs and dampers by explicit Euler, symplectic (semi-implicit) Euler or Runge-
        Kutta, for comparison
    coupling: all contacts solved together; frozen solves each point alone and holds its force: diverges with several
        points, kept as a counter-example
    friction: resting points are held to an anchor by a spring; viscous: the sliding law always, a capped damper, which
        creeps
    slip_speed (m/s): below it the damper of sliding is made no stiffer
    max_passes: passes in which states may switch
    friction_tolerance: relative change of the sliding dampers that counts as settled
    speculative: also points that will touch within the step: softer first impacts
    entry: a spring that is first met within an overlap is loaded by it, or begins unloaded, by what the point may have
        entered in one step at its speed, and by all of its depth where that speed and ten weights do not explain what
        it would hold (bodies that begin in each other); that is let out at 10/s, at 1 m/s at most. Loaded, it stores
        what the fall did not have, and a body that enters by half its size is thrown out. Ours
    implicit_drive: joint springs and servos see the end of the step: stiff gains stay stable
    rate_terms: velocities at the end of the step include J' v at points that are fixed on a link (not where a ball
        rolls, and not in mechanisms with loops: at a dead centre it would be divided by nothing); without they are
        J v', what positions move by
    depth (m): where a material has no stiffness, it is such that the scene's heaviest mechanism sinks so far on four
        points
    damping_ratio: damping where a material has neither damping nor restitution, as a share of the critical one, of the
        scene's heaviest mechanism on four points, or of what touches on the points it has, whichever is more
    tangential: stiffness and damping along the surface over those across it
    schedule: order of assembly; balanced: logarithmic depth, the same result
    most_per_pair: keep at most so many contact points of a pair of shapes, those the motion depends on (0: all). The
        paper is silent on this; ours
    """

    integrator: Literal["implicit", "euler", "symplectic", "rk4"] = "implicit"
    coupling: Literal["assembled", "frozen"] = "assembled"
    friction: Literal["anchored", "viscous"] = "anchored"
    slip_speed: float = option(1e-3, least=1e-9, most=1e3)
    max_passes: int = option(6, least=1, most=2**31 - 1)
    friction_tolerance: float = option(0.01, least=0.0, most=1.0)
    speculative: bool = False
    entry: Literal["loaded", "unloaded"] = "loaded"
    implicit_drive: bool = True
    rate_terms: bool = True
    depth: float = option(1e-3, least=1e-9, most=1e3)
    damping_ratio: float = option(1.0, least=0.0, most=1e3)
    tangential: float = option(1.0, least=1e-6, most=1e3)
    schedule: Literal["leaves", "balanced"] = "leaves"
    most_per_pair: int = option(6, least=0, most=2**31 - 1)

    def __post_init__(self) -> None:
        check_options(self, "implicit")
        if self.coupling == "frozen" and self.schedule == "balanced":
            raise MethodError("coupling 'frozen' solves each point alone and has no schedule",
                              element="method 'implicit'", value=self.schedule)


PRESETS = {"recommended": Options(speculative=True, entry="unloaded", rate_terms=False, depth=1e-4, max_passes=12,
                                  friction_tolerance=1e-3, slip_speed=1e-4, most_per_pair=4)}

Numbers = numbers_of(Options)
FROZEN, VISCOUS = code_of(Options, "coupling", "frozen"), code_of(Options, "friction", "viscous")
UNLOADED = code_of(Options, "entry", "unloaded")
BALANCED = code_of(Options, "schedule", "balanced")
IMPLICIT, EULER, SYMPLECTIC, RK4 = range(4)  # integrators
MARGIN = 1e-6  # m: contacts are found this far apart; they carry nothing before they touch


def is_usual(options: Options) -> bool:
    """Whether a step is the usual one: implicit, contacts assembled, trees from the leaves to the root."""
    return (options.integrator, options.coupling, options.schedule) == ("implicit", "assembled", "leaves")
