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

    stick_target: static friction stops a point, as the paper means it ("keeps constraining the point"); keep: (12) to
        the letter, the point goes on at up to `slip_threshold`, and static friction is no resistance
    friction_coupling: friction is cut after the normal forces are found, or they are found again with friction in the
        system
    stop_reversals: with `friction_coupling` resolve: a slip that friction would turn round within the step is stopped
        instead. Ours
    friction_shares: how points that stick share friction that is not determined: evenly, as (19) has it, so that the
        least loaded one leaves its cone first; or by their load, so that a sole breaks away as one. Ours; with
        `friction_coupling` resolve
    slip_direction: friction of slipping points acts against the slip before the step, or against that after it: with
        the former, slow slip (below 0.75 µ g dt for a block) swings sideways and feels too little friction. Ours; with
        `friction_coupling` resolve
    readmit: removed points that end up approaching come back
    energy: as the law gives it; bounded: where the impulses of an island would add more than depth correction asks for,
        they are scaled down together, and the step has not converged. Ours; the paper is silent
    penetration_rate (1/s): how fast an overlap beyond `slop` is pushed out
    slop (m): overlap that is left alone
    slip_threshold (m/s): faster points slip; the paper says "a small positive value". None: half of what kinetic
        friction changes of the point's slip in this step, the least at which friction does not send it back faster than
        it came (µ g dt / 2 for a block on the floor). Ours
    rank_tolerance: eigenvalues of M up to this share of the largest count as zero
    restitution_speed (m/s): slower impacts do not bounce
    margin (m): points this close touch
    speculative: points are also taken as far apart as shapes travel in so many steps; they may close their gap
    most_per_pair: keep at most so many contact points of a pair of shapes, those the motion depends on (0: all). The
        paper is silent on this; ours
    """

    stick_target: Literal["zero", "keep"] = "zero"
    friction_coupling: Literal["after", "resolve"] = "after"
    stop_reversals: bool = False
    friction_shares: Literal["evenly", "by_load"] = "evenly"
    slip_direction: Literal["before", "after"] = "before"
    readmit: bool = False
    energy: Literal["free", "bounded"] = "free"
    penetration_rate: float = option(0.0, least=0.0)
    slop: float = option(1e-5, least=0.0)
    slip_threshold: float | None = option(None, least=0.0)
    rank_tolerance: float = option(
        1e-9, least=1e-14, below=1.0, hint="smaller than rounding it would keep what is no direction at all")
    restitution_speed: float = option(0.0, least=0.0)
    margin: float = option(2e-5, least=0.0)
    speculative: float = option(0.0, least=0.0)
    most_per_pair: int = option(6, least=0)

    def __post_init__(self) -> None:
        check_options(self, "multipoint")
        asked = {"stop_reversals": self.stop_reversals, "friction_shares='by_load'": self.friction_shares == "by_load",
                 "slip_direction='after'": self.slip_direction == "after"}
        for name, wanted in asked.items():
            if wanted and self.friction_coupling != "resolve":
                raise MethodError(f"{name} needs friction_coupling='resolve'", element="method 'multipoint'",
                                  value=self.friction_coupling)


PRESETS = {"recommended": Options(
    friction_coupling="resolve", stop_reversals=True, friction_shares="by_load", slip_direction="after", readmit=True,
    energy="bounded", penetration_rate=10.0, restitution_speed=1e-2, margin=1e-3, speculative=1.0, most_per_pair=4)}

Numbers = numbers_of(Options)
STICK_ZERO, RESOLVE = code_of(Options, "stick_target", "zero"), code_of(Options, "friction_coupling", "resolve")
BOUNDED = code_of(Options, "energy", "bounded")
BY_LOAD, AFTER = code_of(Options, "friction_shares", "by_load"), code_of(Options, "slip_direction", "after")
