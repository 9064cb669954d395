"""What the feet feel: force and moment by contact on each foot, and the ZMP of both.

    wrench = foot_wrenches(sim, biped)          # (2, 6): force, moment about the world's origin
    zmp(wrench)                                 # (2): where the ground's force has no horizontal moment
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross

if TYPE_CHECKING:
    from sesshoku.control.biped import Biped
    from sesshoku.simulation.simulation import Simulation


@jit
def sum_contacts(count, shape, point, force, torque, shape_link, foot_of_link, wrench_out):
    """Force and moment about the world's origin (2, 6) on each foot, of the first `count` contacts.

    force, torque (C, 3): on the second shape. Contacts between the feet cancel.
    """
    for side in range(2):
        for a in range(6):
            wrench_out[side, a] = 0.0
    for c in range(count):
        fx, fy, fz = force[c, 0], force[c, 1], force[c, 2]
        nx, ny, nz = cross(point[c, 0], point[c, 1], point[c, 2], fx, fy, fz)
        nx, ny, nz = nx + torque[c, 0], ny + torque[c, 1], nz + torque[c, 2]
        for which in range(2):
            link = shape_link[shape[c, which]]
            side = foot_of_link[link] if link >= 0 else -1
            if side < 0:
                continue
            sign = 1.0 if which == 1 else -1.0
            wrench_out[side, 0] += sign * fx
            wrench_out[side, 1] += sign * fy
            wrench_out[side, 2] += sign * fz
            wrench_out[side, 3] += sign * nx
            wrench_out[side, 4] += sign * ny
            wrench_out[side, 5] += sign * nz


def foot_wrenches(sim: Simulation, biped: Biped) -> np.ndarray:
    """(2, 6) force (N) and moment about the world's origin (N m) that the last step's contacts gave each foot."""
    found: Any = sim.records.get("contacts")
    wrench = np.zeros((2, 6))
    if found is None:  # a method without contact
        return wrench
    sum_contacts(int(found.counts[CONTACTS]), found.shape, found.point, found.force, found.torque,
                 sim.model.shape_link, biped.legs.foot_of_link, wrench)
    return wrench


def zmp(wrench: np.ndarray, least: float = 0.0) -> np.ndarray:
    """The zero-moment point (2) on the ground z = 0 of wrenches (..., 6) about the world's origin, summed.

    NaN where they press less than `least` (N): an unloaded foot has none.
    """
    total = wrench.reshape(-1, 6).sum(axis=0)
    if not total[2] > max(least, 1e-12):
        return np.full(2, np.nan)
    return np.array([-total[4], total[3]]) / total[2]
