"""Options of `implicit`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.methods.definition import code_of, numbers_of

CHOICES: dict[str, tuple[str, ...]] = {
    "integrator": ("implicit", "euler", "symplectic", "rk4"),
    "coupling": ("assembled", "frozen"),
    "friction": ("anchored", "viscous"),
    "schedule": ("leaves", "balanced"),
}


@dataclass(frozen=True)
class Options:
    """Defaults follow the paper; what it leaves open is chosen as docs/methods/implicit.md says.

    integrator: implicit, or the same springs and dampers by explicit euler, symplectic (semi-implicit) euler, rk4.
    coupling: assembled (all contacts solved together), or frozen (each point alone, its force then held: unstable with
    several points, kept as a counter-example). friction: anchored (a spring holds a resting point to its anchor), or
    viscous (a capped damper only: creeps). slip_speed (m/s): below it a damper of friction is not made stiffer.
    max_passes, friction_tolerance: of a step; states may switch in so many, and it is settled when dampers of friction
    change by less. lookahead: also points that will touch within the step. implicit_drive: joint springs and servos
    see the end of the step. rate_terms: velocities at the end of the step include J' v. depth (m): stiffness where a
    material has none lets the scene's heaviest mechanism sink so far on four points. damping_ratio: damping where a
    material has none and no restitution. tangential: stiffness and damping along the surface, as a share of those
    across it. schedule: order of assembly. most_per_pair: contact points kept of two shapes at most, those their motion
    depends on (0: all; the paper is silent, the choice is ours).
    """

    integrator: Literal["implicit", "euler", "symplectic", "rk4"] = "implicit"
    coupling: Literal["assembled", "frozen"] = "assembled"
    friction: Literal["anchored", "viscous"] = "anchored"
    slip_speed: float = 1e-3
    max_passes: int = 6
    friction_tolerance: float = 0.01
    lookahead: bool = False
    implicit_drive: bool = True
    rate_terms: bool = True
    depth: float = 1e-3
    damping_ratio: float = 1.0
    tangential: float = 1.0
    schedule: Literal["leaves", "balanced"] = "leaves"
    most_per_pair: int = 6

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise _refusal(f"{name} must be one of {', '.join(allowed)}", getattr(self, name))
        for name, least, most in (("slip_speed", 1e-9, 1e3), ("friction_tolerance", 0.0, 1.0), ("depth", 1e-9, 1e3),
                                  ("damping_ratio", 0.0, 1e3), ("tangential", 1e-6, 1e3)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value <= most:
                raise _refusal(f"{name} must be a number from {least:g} to {most:g}", value)
        for name, fewest in (("max_passes", 1), ("most_per_pair", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not fewest <= value < 2**31:
                raise _refusal(f"{name} must be a whole number of at least {fewest}", value)
        for name in ("lookahead", "implicit_drive", "rate_terms"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise _refusal(f"{name} must be True or False", getattr(self, name))
        if self.coupling == "frozen" and self.schedule == "balanced":
            raise _refusal("coupling 'frozen' solves each point alone and has no schedule", self.schedule)


def _refusal(text: str, value: Any) -> MethodError:
    return MethodError(text, element="method 'implicit'", value=repr(value) if value is None else value)


PRESETS = {"recommended": Options(lookahead=True, rate_terms=False, depth=1e-4, max_passes=12,
                                  friction_tolerance=1e-3, slip_speed=1e-4, most_per_pair=4)}

Numbers = numbers_of(Options)
FROZEN, VISCOUS = code_of(Options, "coupling", "frozen"), code_of(Options, "friction", "viscous")
BALANCED = code_of(Options, "schedule", "balanced")
IMPLICIT, EULER, SYMPLECTIC, RK4 = range(4)  # integrators
MARGIN = 1e-6  # m: contacts are found this far apart; they carry nothing before they touch


def is_usual(options: Options) -> bool:
    """Whether a step is the usual one: implicit, contacts assembled, trees from the leaves to the root."""
    return (options.integrator, options.coupling, options.schedule) == ("implicit", "assembled", "leaves")

