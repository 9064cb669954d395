"""What a viewer draws of contact springs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sesshoku.collision.contacts import CONTACTS

if TYPE_CHECKING:
    from sesshoku.methods.springs.gather import Work


def contact_springs(work: Work) -> np.ndarray:
    """(n, 6) contact springs in the world, from the host's point to the guest's."""
    contacts = work.contacts
    count = int(contacts.counts[CONTACTS])
    half = -0.5 * contacts.gap[:count, None] * contacts.normal[:count]  # the point is midway
    return np.hstack([contacts.point[:count] + half, contacts.point[:count] - half])
