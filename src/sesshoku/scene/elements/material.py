"""What surfaces are made of: friction and bounce, and the numbers of the compliant methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked


@checked
@dataclass(frozen=True)
class Material:
    """Surface properties. Of two materials friction combines by the geometric mean, restitution by the maximum.

    `scene.materials` states the whole rule; `combine`, `priority` and `condim` are how MJCF files change it.

    static_friction, kinetic_friction: Coulomb coefficients; kinetic defaults to static and may not exceed it.
    restitution: 0 (no bounce) to 1. stiffness (N/m), damping (N s/m): for the compliant methods; None lets them choose.
    torsional_friction, rolling_friction (m): the torque that resists turning about the normal, and rolling, per normal
    force; the larger of the two materials' counts. Methods that do not know them leave them out, and say so.
    combine: "maximum" takes the larger friction of two materials instead of the mean, whatever the other one says.
    priority: the material of higher priority decides all friction alone. condim: in how many directions friction acts:
    1 none, 3 sliding, 4 torsional too, 6 rolling too; None: as the coefficients say. Of two materials the larger.
    """

    static_friction: float = 0.5
    kinetic_friction: float | None = None
    restitution: float = 0.0
    stiffness: float | None = None
    damping: float | None = None
    name: str | None = None
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    combine: Literal["mean", "maximum"] = "mean"
    priority: int = 0
    condim: Literal[1, 3, 4, 6] | None = None

    def __post_init__(self) -> None:
        element = f"material {check.text(self.name, 'name', 'material')!r}" if self.name else "material"
        static = check.number(self.static_friction, "static_friction", element, least=0.0)
        kinetic = static if self.kinetic_friction is None else check.number(
            self.kinetic_friction, "kinetic_friction", element, least=0.0)
        if kinetic > static:
            raise SceneError("kinetic_friction is above static_friction", element=element, value=(static, kinetic),
                             remedy="give kinetic <= static")
        object.__setattr__(self, "static_friction", static)
        object.__setattr__(self, "kinetic_friction", kinetic)
        restitution = check.number(self.restitution, "restitution", element, least=0.0, most=1.0)
        object.__setattr__(self, "restitution", restitution)
        for attribute in ("stiffness", "damping", "torsional_friction", "rolling_friction"):
            value = getattr(self, attribute)
            if value is not None or attribute.endswith("friction"):
                object.__setattr__(self, attribute, check.number(value, attribute, element, least=0.0))
        self._check_rule(element)

    def _check_rule(self, element: str) -> None:
        if self.combine not in ("mean", "maximum"):
            raise SceneError("unknown rule of combining friction", element=element, value=self.combine,
                             remedy="use mean or maximum")
        for attribute, known, remedy in (("priority", None, "give a whole number"),
                                         ("condim", (None, 1, 3, 4, 6), "use 1, 3, 4 or 6, or leave it out")):
            value = getattr(self, attribute)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if (not whole and (known is None or value is not None)) or (known is not None and value not in known):
                raise SceneError(f"{attribute} is not possible", element=element, value=value, remedy=remedy)

    @property
    def dimension(self) -> int:
        """In how many directions friction acts, the normal counted: `condim`, or as the coefficients say."""
        if self.condim is not None:
            return self.condim
        return 6 if self.rolling_friction > 0.0 else 4 if self.torsional_friction > 0.0 else 3

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """Static, kinetic, torsional and rolling friction, as far as `dimension` lets them act."""
        n = self.dimension
        return (self.static_friction if n >= 3 else 0.0, float(self.kinetic_friction or 0.0) if n >= 3 else 0.0,
                self.torsional_friction if n >= 4 else 0.0, self.rolling_friction if n >= 6 else 0.0)
