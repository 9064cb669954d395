"""Bush feet: a sole that hangs on rubber below the ankle, for the compliance real feet have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sesshoku.robots.description import ZERO, Hinge, Link, Vector, X, Y, Z
from sesshoku.scene.elements import Inertial

STABLE = 2.5  # of RK4: eigenvalues times dt that lie left of the axis and within this radius are damped


@dataclass(frozen=True)
class Bush:
    """Three rubber bushes between ankle and sole, as one vertical, one pitch and one roll spring with damper.

    stiffness of one bush (N/m), loss: damper / spring (s), center in the foot frame, units: (x, y) about it (m).
    The armatures (rotors of the virtual joints) are what keeps springs and dampers stable under RK4 at 1 ms, and no
    larger: more would hide the bush behind the inertia of a sole that lands.
    """

    stiffness: float = 8e4
    loss: float = 0.02
    center: Vector = (0.03, 0.0, -0.08)
    units: tuple[tuple[float, float], ...] = ((0.08, 0.0), (-0.04, 0.05), (-0.04, -0.05))
    bracket_share: float = 0.3  # of the foot's mass and inertia, the rest is the sole's

    def springs(self) -> dict[str, tuple[float, float, float]]:
        """Stiffness, damping and armature by direction.

        z: N/m, N s/m, kg; pitch and roll: N m/rad, N m s/rad, kg m^2.
        """
        shares = {"z": float(len(self.units)), "pitch": sum(x * x for x, _ in self.units),
                  "roll": sum(y * y for _, y in self.units)}
        result = {}
        for direction, share in shares.items():
            k = self.stiffness * share
            c = k * self.loss
            result[direction] = (k, c, rotor(k, c))
        return result


def rotor(stiffness: float, damping: float, dt: float = 1e-3) -> float:
    """Least inertia on which RK4 integrates a spring and damper with steps of dt, with a tenth to spare.

    Its region of stability reaches to -2.785 on the real axis, where c dt / I is what counts, and to 2.828 on the
    imaginary one, where sqrt(k / I) dt does; half a disc of radius 2.5 lies within it.
    """
    return max(damping * dt / STABLE, stiffness * (dt / STABLE) ** 2)


def on_bushes(foot: Link, bush: Bush) -> list[Link]:
    """The foot as a bracket and, below it on z, pitch and roll springs, the sole; 0.1 g between two joints."""
    side = foot.name.removesuffix("_foot")
    at, own = np.array(bush.center), foot.inertial
    springs = bush.springs()

    def joint(direction: str, axis: Vector, travel: float) -> Hinge:
        k, c, armature = springs[direction]
        return Hinge(f"{side}_bush_{direction}", axis, -travel, travel, 0.0, 100.0, slides=direction == "z",
                     stiffness=k, damping=c, armature=armature)

    grain = Inertial(1e-4, ZERO, 1e-7 * np.eye(3))
    sole = foot.scaled(1.0 - bush.bracket_share).inertial
    parts = tuple(replace(part, at=tuple((np.array(part.at) - at).tolist())) for part in foot.parts)
    return [
        replace(foot.scaled(bush.bracket_share), parts=()),
        Link(f"{side}_bush_z", grain, foot.name, joint("z", Z, 0.03), bush.center),
        Link(f"{side}_bush_pitch", grain, f"{side}_bush_z", joint("pitch", Y, 0.4)),
        Link(f"{side}_sole", replace(sole, center=np.asarray(own.center) - at), f"{side}_bush_pitch",
             joint("roll", X, 0.4), parts=parts),
    ]
