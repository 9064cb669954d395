"""Persistent ids: which contact of this step is which of the step before.

Of one pair of shapes, the contact nearest in place keeps the id, each used once: closest couples first, of equally
close ones the first. Distance is measured in the frames of both links, and the smaller counts: the corner of a sliding
crate stays where it is on the crate, the end of a table's edge where it is on the table. It must be within MATCH_SHARE
of the radius of the smaller shape. Both lists are sorted by pairs of shapes, so one walk over them does.
"""

from __future__ import annotations

from math import inf

from sesshoku.collision.contacts import CONTACTS, NEXT_ID, OLD_CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_PLANE

STILL_SHARE = 1e-3  # of the distance allowed: hardly moved
MATCH_SHARE = 0.25  # of the radius of the smaller shape: farther away it is another contact


@jit
def keep_contacts(contacts):
    """Make the present contacts those of the step before; call before they are overwritten."""
    count = contacts.counts[CONTACTS]
    contacts.counts[OLD_CONTACTS] = count
    shape, local, name = contacts.shape, contacts.local, contacts.id
    old_shape, old_local, old_name = contacts.old_shape, contacts.old_local, contacts.old_id
    for c in range(count):
        old_name[c] = name[c]
        for side in range(2):
            old_shape[c, side] = shape[c, side]
            for k in range(3):
                old_local[c, side, k] = local[c, side, k]


@jit
def match_contacts(model, data, contacts):
    """Write local, previous and id of all contacts, from their points and what `keep_contacts` kept."""
    count, old_count = contacts.counts[CONTACTS], contacts.counts[OLD_CONTACTS]
    shape, old_shape = contacts.shape, contacts.old_shape
    first = old_first = 0
    while first < count:
        a, b = shape[first, 0], shape[first, 1]
        last = first
        while last < count and shape[last, 0] == a and shape[last, 1] == b:
            place_on_links(model, data, contacts, last)
            contacts.previous[last] = -1
            last += 1
        while old_first < old_count and (old_shape[old_first, 0] < a
                                         or (old_shape[old_first, 0] == a and old_shape[old_first, 1] < b)):
            old_first += 1
        old_last = old_first
        while old_last < old_count and old_shape[old_last, 0] == a and old_shape[old_last, 1] == b:
            old_last += 1
        if old_last > old_first:
            match_pair(contacts, first, last, old_first, old_last, match_distance(model, a, b))
        old_first = old_last
        first = last
    name_contacts(contacts, count)


@jit
def match_distance(model, a, b):
    """How far (m) a contact of shapes a and b may have moved."""
    size_a, size_b = model.shape_radius[a], model.shape_radius[b]
    if model.shape_type[a] == SHAPE_PLANE:
        size_a = size_b
    elif model.shape_type[b] == SHAPE_PLANE:
        size_b = size_a
    return MATCH_SHARE * min(size_a, size_b)


@jit
def place_on_links(model, data, contacts, c):
    """The point of contact c in the frames of its two links."""
    p = contacts.point[c]
    for side in range(2):
        i, out = contacts.link[c, side], contacts.local[c, side]
        if i < 0:
            out[0], out[1], out[2] = p[0], p[1], p[2]
            continue
        R, r, o = data.rotation[i], data.offset[i], data.tree_origin[model.link_tree[i]]
        x, y, z = p[0] - o[0] - r[0], p[1] - o[1] - r[1], p[2] - o[2] - r[2]
        for k in range(3):
            out[k] = R[0, k] * x + R[1, k] * y + R[2, k] * z


@jit
def distance_squared(contacts, c, old):
    """Of contact c from an old contact of the same shapes, in the link frame in which it moved less."""
    least = inf
    for side in range(2):
        p, q = contacts.local[c, side], contacts.old_local[old, side]
        x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
        least = min(least, x * x + y * y + z * z)
    return least


@jit
def match_pair(contacts, first, last, old_first, old_last, most):
    """Couple new and old contacts of one pair of shapes: those that are each other's nearest, until none are left.

    The same couples as taking the closest of all again and again, at the cost of a few rounds. Before that, what has
    hardly moved and has the same place in the list is the same: all of a body at rest.
    """
    previous, nearest, taken = contacts.previous, contacts.iwork[: old_last - old_first], -2
    still = STILL_SHARE * most
    left = last - first
    for k in range(old_last - old_first):
        nearest[k] = -1
        if first + k < last and distance_squared(contacts, first + k, old_first + k) <= still * still:
            previous[first + k] = old_first + k
            nearest[k] = taken
            left -= 1
    found = left > 0
    while found:
        found = False
        for k in range(old_last - old_first):  # the nearest new one of every old one
            if nearest[k] != taken:
                nearest[k] = nearest_new(contacts, first, last, old_first + k, most)
        for c in range(first, last):
            if previous[c] >= 0:
                continue
            old = nearest_old(contacts, c, old_first, old_last, nearest, taken, most)
            if old >= 0 and nearest[old - old_first] == c:
                previous[c] = old
                nearest[old - old_first] = taken
                found = True


@jit
def nearest_new(contacts, first, last, old, most):
    """The nearest contact that has no previous one yet; -1: none near enough."""
    best, least = -1, most * most
    for c in range(first, last):
        if contacts.previous[c] < 0:
            d = distance_squared(contacts, c, old)
            if d < least:
                best, least = c, d
    return best


@jit
def nearest_old(contacts, c, old_first, old_last, nearest, taken, most):
    """The nearest old contact that is not taken; -1: none near enough."""
    best, least = -1, most * most
    for old in range(old_first, old_last):
        if nearest[old - old_first] != taken:
            d = distance_squared(contacts, c, old)
            if d < least:
                best, least = old, d
    return best


@jit
def name_contacts(contacts, count):
    """Ids: the old one for what has a previous contact, a fresh one else."""
    for c in range(count):
        old = contacts.previous[c]
        if old >= 0:
            contacts.id[c] = contacts.old_id[old]
        else:
            contacts.id[c] = contacts.counts[NEXT_ID]
            contacts.counts[NEXT_ID] += 1
