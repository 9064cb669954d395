"""Options of `volume`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of

CHOICES: dict[str, tuple[str, ...]] = {
    "integrator": ("semi-implicit", "rkg"),
    "depth_integral": ("faces", "thickness", "section"),
    "friction_limit": ("pyramid", "separated"),
    "regularization_unit": ("absolute", "trace"),
    "sliding_solve": ("sticking", "coupled"),
    "correction": ("reciprocal", "nearest"),
    "onset": ("none", "free"),
}


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's.

    integrator: semi-implicit (meets the solved velocity exactly) or rkg (Runge-Kutta-Gill, the paper's, contact solved
    at each of its stages). depth_gain (1/s): speed of separation asked for per metre of depth; never more than
    recovery_speed (m/s) on the average of an overlap. rest_depth (m): depth beyond which there is something to recover;
    bodies rest there, and one that leans a little keeps its whole base in the overlap. depth_integral: what depth is
    integrated over the overlap: distance of every face from the contact plane ("faces"), thickness, or the faces over
    the polygon only ("section").
    regularization: weight of the impulse in the least squares; regularization_unit: as it stands ("absolute",
    (m/s)^2 m^2/(N s)^2), or times the mean diagonal of the overlap's own block, so that it has no unit ("trace").
    friction_limit: pyramid (can vertex forces carry the wrench?) or separated (the previous method: friction force and
    spin torque judged apart). pyramid_sides: of the friction pyramid at every vertex.
    sliding_solve: sticking (the normal wrench found under the hypothesis of no slip is kept) or coupled (solved again
    with friction against the slip). correction: what the kinetic programme maximises: "reciprocal" (the paper's 1/f) or
    "nearest" (least distance from the wrench). onset: direction of kinetic friction where a vertex moves slower than
    onset_speed (m/s): "none" (no friction below zero_tolerance m/s) or "free" (that of the motion without contact).
    """

    integrator: Literal["semi-implicit", "rkg"] = "semi-implicit"
    depth_gain: float = 1000.0
    recovery_speed: float = 1e300
    rest_depth: float = 0.0
    depth_integral: Literal["faces", "thickness", "section"] = "faces"
    regularization: float = 1e-3
    regularization_unit: Literal["absolute", "trace"] = "absolute"
    friction_limit: Literal["pyramid", "separated"] = "pyramid"
    pyramid_sides: int = 8
    sliding_solve: Literal["sticking", "coupled"] = "sticking"
    correction: Literal["reciprocal", "nearest"] = "reciprocal"
    onset: Literal["none", "free"] = "none"
    onset_speed: float = 1e-3
    zero_tolerance: float = 1e-12

    def __post_init__(self) -> None:
        for name, kinds in CHOICES.items():
            if getattr(self, name) not in kinds:
                raise MethodError(f"{name} must be one of {', '.join(kinds)}", element="method 'volume'",
                                  value=getattr(self, name))
        for name, least, most in (("depth_gain", 0.0, 1e9), ("recovery_speed", 0.0, 1e300), ("rest_depth", 0.0, 1.0),
                                  ("regularization", 1e-12, 1e6), ("onset_speed", 0.0, 1e300),
                                  ("zero_tolerance", 0.0, 1e300)):
            value: Any = getattr(self, name)
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not number or not least <= value <= most:
                raise MethodError(f"{name} must be a number from {least:g} to {most:g}", element="method 'volume'",
                                  value=value)
        sides: Any = self.pyramid_sides
        if isinstance(sides, bool) or not isinstance(sides, (int, np.integer)) or not 3 <= sides <= 360:
            raise MethodError("pyramid_sides must be a whole number from 3 to 360", element="method 'volume'",
                              value=sides)


PRESETS = {"recommended": Options(
    depth_gain=100.0, recovery_speed=1.0, rest_depth=2e-5, regularization=1e-7, regularization_unit="trace",
    sliding_solve="coupled", correction="nearest", onset="free")}

Numbers = numbers_of(Options)
RKG, BY_TRACE = code_of(Options, "integrator", "rkg"), code_of(Options, "regularization_unit", "trace")
SEPARATED, COUPLED = code_of(Options, "friction_limit", "separated"), code_of(Options, "sliding_solve", "coupled")
NEAREST, ONSET = code_of(Options, "correction", "nearest"), code_of(Options, "onset", "free")

