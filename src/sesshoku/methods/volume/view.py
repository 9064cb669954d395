"""Overlaps of the last step as a user or a viewer sees them: polygon, wrench, centre of pressure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sesshoku.collision.contacts import CONTACTS

if TYPE_CHECKING:
    from sesshoku.methods.volume.work import Work
    from sesshoku.simulation.simulation import Simulation

STATES = ("released", "stick", "slip")


@dataclass(frozen=True)
class OverlapView:
    """One overlap, in the order of `sim.contacts`. Wrench on b, minus it on a.

    polygon: (n, 3) corners in the world, counter-clockwise seen from the normal's tip; empty for a point contact.
    center: barycentre (3), m. volume: m^3. force (3), torque (3) about the centre: world axes, N and N m, mean over the
    step. pressure_center: where the normal force acts, None without force. state: "stick", "slip" or "released".
    """

    id: int
    normal: np.ndarray
    polygon: np.ndarray
    center: np.ndarray
    volume: float
    force: np.ndarray
    torque: np.ndarray
    pressure_center: np.ndarray | None
    state: str


def overlaps(sim: Simulation) -> list[OverlapView]:
    """The overlaps of a simulation with the method `volume`, after a step."""
    contacts, shapes, memory, found = sim.work.contacts, sim.work.overlaps, sim.work, []
    for c in range(int(contacts.counts[0])):
        axes = np.array([*contacts.tangent[c], contacts.normal[c]])
        corners = shapes.polygon[shapes.polygon_start[c] : shapes.polygon_start[c + 1]]
        center, wrench = memory.center[c].copy(), memory.wrench[c] / sim.dt
        state = STATES[int(contacts.state[c])]
        found.append(OverlapView(
            int(contacts.id[c]), contacts.normal[c].copy(), center + corners @ axes[:2], center,
            float(shapes.volume[c]), wrench[:3] @ axes, wrench[3:] @ axes,
            None if state == "released" else contacts.point[c].copy(), state))
    return found


def contact_polygons(work: Work) -> np.ndarray:
    """(n, 5) corners of all overlaps in the world, with the number of the overlap and its state."""
    contacts, shapes, rows = work.contacts, work.overlaps, [np.zeros((0, 5))]
    for c in range(int(contacts.counts[CONTACTS])):
        corners = shapes.polygon[shapes.polygon_start[c]:shapes.polygon_start[c + 1]]
        if len(corners) >= 3:
            points = work.center[c] + corners @ contacts.tangent[c]
            rows.append(np.column_stack([points, np.full(len(points), c), np.full(len(points), contacts.state[c])]))
    return np.concatenate(rows)
