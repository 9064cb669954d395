"""Collision detection as one stage of a step: from the poses of links to contacts with ids, materials and islands."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.axis_sweep import sweep_axis
from sesshoku.collision.broadphase import find_pairs, pairs_with_planes, sort_pairs
from sesshoku.collision.contacts import (
    CONTACTS,
    OLD_CONTACTS,
    OVERFLOW,
    PAIR_OVERFLOW,
    PAIRS,
    Contacts,
    make_contacts,
)
from sesshoku.collision.islands import find_islands
from sesshoku.collision.matching import keep_contacts, match_contacts
from sesshoku.collision.materials import pair_coefficients
from sesshoku.collision.points.bundles import load_bundle
from sesshoku.collision.points.fields import collide_field
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.collision.points.patch import reduce_patch
from sesshoku.collision.points.seams import leave_out_covered
from sesshoku.collision.shapes import place_shapes
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import MOVES, SHAPE_FIELD, SHAPE_PLANE, Model

CONTACTS_PER_SHAPE = 24  # a box in a pile: six neighbours, four points each
PAIRS_PER_SHAPE = 24  # a box in a close pile: 26 neighbours, each pair counted once, and some air
LEAST_CONTACTS, LEAST_PAIRS = 128, 256
LINED_UP = 128  # shapes at most


def contact_capacity(model: Model) -> int:
    """How many contacts to make room for, unless the user says more."""
    return max(LEAST_CONTACTS, CONTACTS_PER_SHAPE * int(model.shape_filter[:, MOVES].sum()))


def pair_capacity(model: Model) -> int:
    """How many candidate pairs to make room for: all that may touch where they are listed."""
    if model.pairs_listed:
        return len(model.allowed_pair)
    planes, moving = int((model.shape_type == SHAPE_PLANE).sum()), int(model.shape_filter[:, MOVES].sum())
    return LEAST_PAIRS + PAIRS_PER_SHAPE * model.shape_count + planes * moving


def new_contacts(model: Model, capacity: int | None = None, pairs: int | None = None) -> Contacts:
    """Room for the contacts of a model."""
    return make_contacts(model, contact_capacity(model) if capacity is None else capacity,
                         pair_capacity(model) if pairs is None else pairs)


@jit
def detect(model, data, contacts, margin, horizon, most_per_pair):
    """Find all contacts with a gap of at most `margin` (m) and what the shapes travel in `horizon` seconds.

    Needs `kinematics`, and `link_velocities` where horizon > 0. most_per_pair: reduce the points between two shapes to
    so many, those that the motion depends on (`patch`); 0 keeps all.
    """
    keep_contacts(contacts)
    place_shapes(model, data, contacts, margin, horizon)
    choose_pairs(model, contacts, margin)
    collide_pairs(model, data, contacts, margin, horizon, most_per_pair)
    match_contacts(model, data, contacts)
    find_islands(model, contacts)


@jit
def choose_pairs(model, contacts, margin):
    """The broad phase that is fastest here: a list of pairs is walked, few shapes lined up, many put into grids."""
    if model.pairs_listed or model.shape_count > LINED_UP:
        find_pairs(model, contacts, margin)
        return
    contacts.counts[PAIRS] = contacts.counts[PAIR_OVERFLOW] = 0
    pairs_with_planes(model, contacts, margin)
    sweep_axis(model, contacts)
    sort_pairs(model, contacts)


@jit
def collide_pairs(model, data, contacts, margin, horizon, most_per_pair):
    """Narrow phase of all candidate pairs; writes shape, link, point, normal, tangent, gap, kind, material."""
    counts, pair, reach = contacts.counts, contacts.pair, contacts.shape_reach
    counts[CONTACTS] = 0
    counts[OVERFLOW] = counts[PAIR_OVERFLOW]
    old = 0
    for k in range(counts[PAIRS]):
        a, b = pair[k, 0], pair[k, 1]
        left_out = counts[OVERFLOW]
        if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
            old, last = old_contacts(contacts, a, b, old)
            collide_with_field(model, data, contacts, (a, b), (margin + reach[a] + reach[b], horizon, most_per_pair),
                               (old, last))
            continue
        found = collide_shapes(model, contacts, a, b, margin + reach[a] + reach[b])
        found = leave_out_covered(model, contacts, a, b, found)
        if most_per_pair > 0 and found > most_per_pair:
            old, last = old_contacts(contacts, a, b, old)
            found = reduce_patch(model, data, contacts, (a, b), found, (most_per_pair, horizon), (old, last))
            counts[OVERFLOW] = left_out  # fewer are wanted than there was room for
        if found > 0:
            add_contacts(model, contacts, a, b, found)


@jit
def collide_with_field(model, data, contacts, pair, reach, old_range):
    """Contacts of two shapes, one of them a height field; most_per_pair counts for each direction."""
    a, b = pair
    margin, horizon, most_per_pair = reach
    first = model.shape_type[a] == SHAPE_FIELD
    field, other = (a, b) if first else (b, a)
    for k in range(collide_field(model, contacts, field, other, margin)):
        found = load_bundle(contacts, k, 1.0 if first else -1.0)
        if most_per_pair > 0 and found > most_per_pair:
            found = reduce_patch(model, data, contacts, pair, found, (most_per_pair, horizon), old_range)
        add_contacts(model, contacts, a, b, found)


@jit
def old_contacts(contacts, a, b, first):
    """Range of the contacts of shapes a and b in the step before; it does not begin before `first`."""
    count, shape = contacts.counts[OLD_CONTACTS], contacts.old_shape
    while first < count and (shape[first, 0] < a or (shape[first, 0] == a and shape[first, 1] < b)):
        first += 1
    last = first
    while last < count and shape[last, 0] == a and shape[last, 1] == b:
        last += 1
    return first, last


@jit
def add_contacts(model, contacts, a, b, found):
    """Append the manifold of shapes a and b to the list."""
    first = contacts.counts[CONTACTS]
    fitting = min(found, contacts.capacity - first)
    contacts.counts[CONTACTS] = first + fitting
    contacts.counts[OVERFLOW] += found - fitting
    static, kinetic, restitution = pair_coefficients(model, a, b)
    n = contacts.manifold_normal
    t0, t1, t2, u0, u1, u2 = tangents(n[0], n[1], n[2])
    for k in range(fitting):
        c = first + k
        contacts.shape[c, 0], contacts.shape[c, 1] = a, b
        contacts.link[c, 0], contacts.link[c, 1] = model.shape_link[a], model.shape_link[b]
        contacts.gap[c] = contacts.manifold_gap[k]
        contacts.kind[c] = contacts.manifold_kind[k]
        material, tangent = contacts.material[c], contacts.tangent[c]
        material[0], material[1], material[2] = static, kinetic, restitution
        tangent[0, 0], tangent[0, 1], tangent[0, 2] = t0, t1, t2
        tangent[1, 0], tangent[1, 1], tangent[1, 2] = u0, u1, u2
        for i in range(3):
            contacts.point[c, i] = contacts.manifold_point[k, i]
            contacts.normal[c, i] = n[i]


@jit
def tangents(x, y, z):
    """Two unit vectors that make a right-handed frame (t, u, n) with the normal n = (x, y, z).

    t is the x axis laid into the tangent plane, so that on the ground t and u are the axes x and y; where the normal
    leans far to x, the y axis. No field of tangents is smooth everywhere; this one jumps only where |x| = 0.9, which
    no floor, wall or common slope has, and does not depend on the past.
    """
    if abs(x) < 0.9:
        t0, t1, t2 = 1.0 - x * x, -x * y, -x * z
    else:
        t0, t1, t2 = -y * x, 1.0 - y * y, -y * z
    scale = 1.0 / sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    t0, t1, t2 = scale * t0, scale * t1, scale * t2
    return t0, t1, t2, y * t2 - z * t1, z * t0 - x * t2, x * t1 - y * t0
