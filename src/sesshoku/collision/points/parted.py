"""What parted two shapes when they were last looked at, and whether it parts them still.

A robot's links pass each other by millimetres for seconds. The direction in which GJK found a gap is tried first the
next time: if both shapes stay apart along it, by more than rounding, there is nothing to find. A pair is looked up by
a hash of its numbers, one that comes later takes the place; nothing that is found depends on it.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.support import separation
from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import turned, turned_back

SURELY = 1e-9  # of the pair's size: so much more than the margin must be between them


@jit
def place_of(model, contacts, a, b):
    """Number of a pair (from 1), and its place in the memory."""
    number = a * model.shape_count + b + 1
    return number, (a * 61 + b * 7) & (len(contacts.parted_pair) - 1)


@jit
def remember_axis(model, contacts, a, b, x, y, z):
    """Keep the world direction (x, y, z) (any length) from a to b, and where the climbs along it ended."""
    number, place = place_of(model, contacts, a, b)
    length = sqrt(x * x + y * y + z * z)
    axis, climb = contacts.parted_axis[place], contacts.parted_climb[place]
    axis[0], axis[1], axis[2] = turned_back(contacts.shape_rotation[a], x / length, y / length, z / length)
    climb[0], climb[1] = contacts.climb[0], contacts.climb[1]
    contacts.parted_pair[place] = number


@jit
def still_parted(model, contacts, a, b, offset, margin):
    """Whether b, at c from a, is farther away than the margin along what parted them before."""
    number, place = place_of(model, contacts, a, b)
    if contacts.parted_pair[place] != number:
        return False
    axis, climb = contacts.parted_axis[place], contacts.parted_climb[place]
    contacts.climb[0], contacts.climb[1] = climb[0], climb[1]
    x, y, z = turned(contacts.shape_rotation[a], axis[0], axis[1], axis[2])
    far = SURELY * (model.shape_radius[a] + model.shape_radius[b])
    if separation(model, contacts, a, b, offset, (x, y, z)) > margin + far:
        climb[0], climb[1] = contacts.climb[0], contacts.climb[1]
        return True
    contacts.parted_pair[place] = 0
    return False
