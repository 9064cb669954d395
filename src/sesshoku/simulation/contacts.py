"""The contacts of a simulation's last step, as users see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sesshoku.scene.calls import checked

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

STATES = ("released", "stick", "slip")


@checked
@dataclass(frozen=True)
class Contact:
    """One contact point of the last step. Normal and force point from body a to body b: the force acts on b.

    depth: overlap, m (negative: a gap). force: N, mean over the step. torque: N m on b, of rolling and torsional
    friction, zero where the materials have none. state: "stick", "slip" or "released" (no force); reason says why.
    slip_speed: tangential speed of b against a at the end of the step, m/s.
    """

    id: int
    bodies: tuple[str, str]
    point: np.ndarray
    normal: np.ndarray
    depth: float
    force: np.ndarray
    state: str
    slip_speed: float
    static_friction: float
    kinetic_friction: float
    torque: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __str__(self) -> str:
        return f"contact {self.id} of {self.bodies[0]} and {self.bodies[1]}: {self.state}, {self.reason}"

    @property
    def normal_force(self) -> float:
        """How hard the bodies press on each other, N."""
        return float(self.force @ self.normal)

    @property
    def friction_force(self) -> np.ndarray:
        """The part of the force along the surface (3), N."""
        return self.force - self.normal_force * self.normal

    @property
    def reason(self) -> str:
        """Why the contact sticks, slips or carries nothing, in words."""
        push, pull = self.normal_force, float(np.linalg.norm(self.friction_force))
        if self.state == "released":
            return "the bodies separate: no force" if self.depth >= 0.0 else "not touching yet"
        if self.state == "stick":
            return f"friction {pull:.4g} N holds within {self.static_friction:g} x {push:.4g} N"
        return (f"slips at {self.slip_speed:.4g} m/s: friction {pull:.4g} N has reached "
                f"{self.kinetic_friction:g} x {push:.4g} N")


def list_contacts(sim: Simulation) -> list[Contact]:
    """The contacts of a simulation's last step."""
    record = getattr(sim.work, "contacts", None)
    if record is None:
        return []
    names, model = sim.compiled.frame_names, sim.model
    found = []
    for c in range(int(record.counts[0])):
        a, b = record.shape[c]
        found.append(Contact(
            int(record.id[c]), (names[model.shape_frame[a]], names[model.shape_frame[b]]), record.point[c].copy(),
            record.normal[c].copy(), -float(record.gap[c]), record.force[c].copy(), STATES[record.state[c]],
            float(record.slip[c]), float(record.material[c, 0]), float(record.material[c, 1]), record.torque[c].copy()))
    return found
