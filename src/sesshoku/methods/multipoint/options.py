"""Options of `multipoint`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's, where it names one.

    stick_target: what a point that does not slip is asked to do: "keep" its velocity along the surface, as (12) has it
    (it creeps at up to slip_threshold), or "zero". friction_coupling: "after": friction is cut to Coulomb's law once
    the normal forces are found; "resolve": they are found again with it. stop_reversals: with "resolve", a slip that
    friction would turn round is stopped instead. readmit: points that were removed and end up approaching come back.
    penetration_rate (1/s), slop (m): depth correction. slip_threshold (m/s): faster points slip. rank_tolerance:
    eigenvalues of the contact matrix up to this share of the largest count as zero. restitution_speed (m/s): slower
    impacts do not bounce. margin (m): points this close touch. ahead: points are also taken that are as far apart as
    shapes travel in so many steps, and may close their gap. most_per_pair: keep at most so many points of a pair of
    shapes, those its motion depends on (0: all; the paper is silent, the choice is ours).
    """

    stick_target: Literal["keep", "zero"] = "keep"
    friction_coupling: Literal["after", "resolve"] = "after"
    stop_reversals: bool = False
    readmit: bool = False
    penetration_rate: float = 0.0
    slop: float = 1e-5
    slip_threshold: float = 5e-3
    rank_tolerance: float = 1e-9
    restitution_speed: float = 0.0
    margin: float = 2e-5
    ahead: float = 0.0
    most_per_pair: int = 6

    def __post_init__(self) -> None:
        element = "method 'multipoint'"
        for name, kind in (("stick_target", ("keep", "zero")), ("friction_coupling", ("after", "resolve"))):
            if getattr(self, name) not in kind:
                raise MethodError(f"{name} must be one of {', '.join(kind)}", element=element,
                                  value=getattr(self, name))
        for name in ("penetration_rate", "slop", "slip_threshold", "restitution_speed", "margin", "ahead"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value < float("inf"):
                raise MethodError(f"{name} must be a number, 0 or more", element=element, value=value)
        value = self.rank_tolerance
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-14 <= value < 1.0:
            raise MethodError("rank_tolerance must lie between 1e-14 and 1", element=element, value=value,
                              remedy="smaller than rounding it would keep what is no direction at all")
        value = self.most_per_pair
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= int(value) < 2**53:
            raise MethodError("most_per_pair must be a whole number, 0 or more", element=element, value=value)
        for name in ("stop_reversals", "readmit"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise MethodError(f"{name} must be True or False", element=element, value=getattr(self, name))
        if self.stop_reversals and self.friction_coupling != "resolve":
            raise MethodError("stop_reversals needs friction_coupling='resolve'", element=element,
                              value=self.friction_coupling)


PRESETS = {"recommended": Options(
    stick_target="zero", friction_coupling="resolve", stop_reversals=True, readmit=True, penetration_rate=10.0,
    slip_threshold=1e-4, restitution_speed=1e-2, margin=1e-3, ahead=1.0, most_per_pair=4)}

Numbers = numbers_of(Options)
STICK_ZERO, RESOLVE = code_of(Options, "stick_target", "zero"), code_of(Options, "friction_coupling", "resolve")

