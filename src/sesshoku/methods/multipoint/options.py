"""Options of `multipoint`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's, where it names one.

    stick_target: a point that does not slip keeps its velocity along the surface, as (12) has it (it creeps at up to
        `slip_threshold`), or is asked to stop
    friction_coupling: friction is cut after the normal forces are found, or they are found again with friction in the
        system
    stop_reversals: with `friction_coupling` resolve: a slip that friction would turn round within the step is stopped
        instead. Ours
    readmit: removed points that end up approaching come back
    penetration_rate (1/s): how fast an overlap beyond `slop` is pushed out
    slop (m): overlap that is left alone
    slip_threshold (m/s): faster points slip. Without `stop_reversals` it must be at least µ g dt / 2 with the kinetic
        µ, or a slide ends in chatter
    rank_tolerance: eigenvalues of M up to this share of the largest count as zero
    restitution_speed (m/s): slower impacts do not bounce
    margin (m): points this close touch
    speculative: points are also taken as far apart as shapes travel in so many steps; they may close their gap
    most_per_pair: keep at most so many contact points of a pair of shapes, those the motion depends on (0: all). The
        paper is silent on this; ours
    """

    stick_target: Literal["keep", "zero"] = "keep"
    friction_coupling: Literal["after", "resolve"] = "after"
    stop_reversals: bool = False
    readmit: bool = False
    penetration_rate: float = option(0.0, least=0.0)
    slop: float = option(1e-5, least=0.0)
    slip_threshold: float = option(5e-3, least=0.0)
    rank_tolerance: float = option(
        1e-9, least=1e-14, below=1.0, hint="smaller than rounding it would keep what is no direction at all")
    restitution_speed: float = option(0.0, least=0.0)
    margin: float = option(2e-5, least=0.0)
    speculative: float = option(0.0, least=0.0)
    most_per_pair: int = option(6, least=0)

    def __post_init__(self) -> None:
        check_options(self, "multipoint")
        if self.stop_reversals and self.friction_coupling != "resolve":
            raise MethodError("stop_reversals needs friction_coupling='resolve'", element="method 'multipoint'",
                              value=self.friction_coupling)


PRESETS = {"recommended": Options(
    stick_target="zero", friction_coupling="resolve", stop_reversals=True, readmit=True, penetration_rate=10.0,
    slip_threshold=1e-4, restitution_speed=1e-2, margin=1e-3, speculative=1.0, most_per_pair=4)}

Numbers = numbers_of(Options)
STICK_ZERO, RESOLVE = code_of(Options, "stick_target", "zero"), code_of(Options, "friction_coupling", "resolve")
