"""`Contacts`: where collision detection writes, and every point-based method reads.

One contact is one point between two shapes, a and b: the world point midway between the surfaces, the unit normal
**from a to b**, and the gap along it (negative: overlap). Contacts of one pair of shapes stand together, pairs are
sorted. Capacities are fixed; what does not fit is counted in `counts[OVERFLOW]` (contacts, and candidate pairs that
were not looked at), never dropped in silence.

`id` is persistent: a contact that was there in the step before keeps its id (nearest point in the frame of a link,
each used once), and `previous` is its place in the list of the step before (-1: new), so that a method can carry its
own memory along.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.table import COUNTER, Record, array, scalar
from sesshoku.model.arrays import SHAPE_FIELD, Model

# places in `counts`
CONTACTS, PAIRS, OVERFLOW, ISLANDS, NEXT_ID, OLD_CONTACTS, PAIR_OVERFLOW, LEVELS = range(8)
# kinds of contact points: on a vertex of one of the two shapes (it stays at that point of the link while the contact
# lasts), where two edges cross, on a smooth surface (it moves over both)
VERTEX, EDGE, SMOOTH = range(3)
RELEASED, STICK, SLIP = range(3)
MOST_PARTED = 4096  # pairs of which is remembered what parted them; a power of two
MOST = COUNTER[1]
BUNDLES = 24  # directions in which a height field may touch one shape at once


class Contacts(Record):
    """G shapes, P candidate pairs, M pairs kept apart, C contacts, T trees (islands are at most as many), B bundles of
    a height field."""

    capacity = scalar()  # of contacts
    pair_capacity = scalar()
    bucket_count = scalar()  # of the broad phase's hash table, a power of two
    counts = array(int, 8, saved=True, within=(0, ("C * (G > 0)", "P", MOST, "T", MOST, "C", MOST, "levels")))

    # ---- shapes in the world, for the present step
    shape_position = array(float, "G", 3)
    shape_rotation = array(float, "G", 3, 3)
    shape_low = array(float, "G", 3)  # bounding box, half the margin included; infinite for planes
    shape_high = array(float, "G", 3)
    shape_reach = array(float, "G")  # m: contacts are looked for so much farther, because of the shape's speed
    shape_lead = array(float, "G")  # m: at least so much farther, because of forces; 0 where a method looks at none
    placed = array(float, 1)  # margin with which the world's shapes were placed, NaN: not yet
    pair = array(int, "P", 2)  # candidate shape pairs of this step, sorted
    line = array(int, "G")  # shapes in the order of the broad phase's line, a start for the next one
    # what parted pairs lately, found by a hash of the pair (`parted`): saves work, never changes what is found
    parted_pair = array(int, "M")  # number of the pair, 0: none
    parted_climb = array(int, "M", 2)  # vertices of a and b that came nearest
    parted_axis = array(float, "M", 3)  # direction from a to b, in the axes of a

    # ---- contacts
    shape = array(int, "C", 2, saved=True, within=(0, "G - 1"))  # shapes a and b
    link = array(int, "C", 2, saved=True, within=(-1, "link_count - 1"))  # their links, -1: world
    point = array(float, "C", 3, saved=True)  # world
    normal = array(float, "C", 3, saved=True)  # from a to b
    tangent = array(float, "C", 2, 3, saved=True)  # with the normal a right-handed frame (t1, t2, n)
    gap = array(float, "C", saved=True)  # m
    kind = array(int, "C", saved=True, within=(VERTEX, SMOOTH))  # VERTEX, EDGE or SMOOTH
    material = array(float, "C", 3, saved=True)  # static friction, kinetic friction, restitution of the pair
    id = array(int, "C", saved=True, within=COUNTER)
    previous = array(int, "C", saved=True, within=(-1, "C - 1"))  # place in the step before, -1: new
    local = array(float, "C", 2, 3, saved=True)  # the point in the frames of links a and b (world: as it is)

    # ---- what the method found
    force = array(float, "C", 3, saved=True)  # on b, world axes, N: mean over the step
    torque = array(float, "C", 3, saved=True)  # on b, world axes, N m: of rolling and torsional friction
    state = array(int, "C", saved=True, within=(RELEASED, SLIP))  # RELEASED, STICK or SLIP
    slip = array(float, "C", saved=True)  # tangential speed at the end of the step, m/s

    # ---- the step before, for matching
    old_shape = array(int, "C", 2)
    old_local = array(float, "C", 2, 3)
    old_id = array(int, "C")

    # ---- islands: trees that touch (or are joined by loops, mimics); the world and scripted bodies join nobody
    tree_island = array(int, "T", saved=True, within=(-1, "T - 1"))  # -1: no contact touches the tree
    island_start = array(int, "T + 1", saved=True, within=(0, "C"))  # ranges of island_contact
    island_contact = array(int, "C", saved=True, within=(0, "C - 1"))  # contact numbers, ascending in each
    island_tree_start = array(int, "T + 1", saved=True, within=(0, "T"))  # ranges of island_tree
    island_tree = array(int, "T", saved=True, within=(0, "T - 1"))  # tree numbers, island by island, ascending within

    # ---- work space
    level_size = array(float, "levels")  # longest edge of the bounding boxes of a level, m
    level_scale = array(float, "levels")  # cells per metre of the level's grid, 0: no grid
    level_members = array(int, "levels")
    grid_start = array(int, "buckets + 1")  # ranges of grid_shape
    grid_shape = array(int, "G")  # shapes by the buckets of their cells
    grid_key = array(int, "G")  # the cells of those shapes
    manifold_point = array(float, 64, 3)  # contact points of one pair
    manifold_gap = array(float, 64)
    manifold_normal = array(float, 3)
    manifold_kind = array(int, 64)
    simplex = array(float, 4, 6)  # GJK: points of the Minkowski difference, and where they lie on shape a
    weight = array(float, 4)  # of the simplex' points in the nearest point
    witness = array(float, 2, 3)  # nearest points of shapes a and b, from the position of a
    climb = array(int, 2)  # where the search for the farthest vertex of a and b begins
    epa_vertex = array(float, 128, 6)  # as in simplex
    epa_plane = array(float, 256, 4)  # outward unit normal of a face and its distance from the origin
    epa_face = array(int, 256, 7)  # corners, faces beyond the edges from each corner to the next, state
    epa_edge = array(int, 256, 3)  # an outline: from corner, to corner, face beyond
    epa_stack = array(int, 256)
    frame = array(float, 3, 3)  # of the pair's contact: rows u, w, n
    feature = array(float, 2, 48, 3)  # faces of a and b that look at each other: two coordinates and height
    clip = array(float, 2, 128, 3)  # the polygon being cut
    work = array(float, 512, 8)  # of the narrow phase
    cell = array(float, 7, 3)  # of a height field, in its axes: a triangle's corners, its prism's foot, its normal
    cell_corners = array(int, 1)  # 3: the triangle counts, 6: the prism
    # points of a height field and another shape, by their normals; B: BUNDLES, or none without height fields
    bundle_count = array(int, "B")  # of points
    bundle_normal = array(float, "B", 3)  # from the field to the other shape
    bundle_point = array(float, "B", 64, 3)
    bundle_gap = array(float, "B", 64)
    bundle_kind = array(int, "B", 64)
    iwork = array(int, "work")


def make_contacts(model: Model, capacity: int, pair_capacity: int) -> Contacts:
    """Allocate for at most `capacity` contacts and `pair_capacity` candidate pairs."""
    G, T, C, P = model.shape_count, model.tree_count, capacity, pair_capacity
    buckets = 1 if model.pairs_listed else 1 << (2 * G).bit_length()
    sizes = {"G": G, "T": T, "C": C, "P": P, "B": BUNDLES if (model.shape_type == SHAPE_FIELD).any() else 0,
             "M": min(1 << (8 * G).bit_length(), MOST_PARTED), "levels": model.level_count, "buckets": buckets,
             "work": max(4 * G, 4 * P, 4 * C, 4 * T) + 1024}
    contacts = Contacts.sized(sizes, capacity=C, pair_capacity=P, bucket_count=buckets)
    contacts.placed[:] = np.nan
    return contacts
