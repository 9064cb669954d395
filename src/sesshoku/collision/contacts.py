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

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.model.arrays import SHAPE_FIELD, Model

# places in `counts`
CONTACTS, PAIRS, OVERFLOW, ISLANDS, NEXT_ID, OLD_CONTACTS, PAIR_OVERFLOW, LEVELS = range(8)
# kinds of contact points: on a vertex of one of the two shapes (it stays at that point of the link while the contact
# lasts), where two edges cross, on a smooth surface (it moves over both)
VERTEX, EDGE, SMOOTH = range(3)
RELEASED, STICK, SLIP = range(3)
BUNDLES = 24  # directions in which a height field may touch one shape at once


class Contacts(Record):
    """Shapes: G shapes, P candidate pairs, C contacts, T trees, I islands (at most T)."""

    capacity = scalar()  # of contacts
    pair_capacity = scalar()
    bucket_count = scalar()  # of the broad phase's hash table, a power of two
    counts = array(int, 1)  # (8)

    # ---- shapes in the world, for the present step
    shape_position = array(float, 2)  # (G, 3)
    shape_rotation = array(float, 3)  # (G, 3, 3)
    shape_low = array(float, 2)  # (G, 3) bounding box, half the margin included; infinite for planes
    shape_high = array(float, 2)  # (G, 3)
    shape_reach = array(float, 1)  # (G) m: contacts are looked for so much farther, because of the shape's speed
    shape_lead = array(float, 1)  # (G) m: at least so much farther, because of forces; 0 where a method looks at none
    placed = array(float, 1)  # (1) margin with which the world's shapes were placed, NaN: not yet
    pair = array(int, 2)  # (P, 2) candidate shape pairs of this step, sorted

    # ---- contacts
    shape = array(int, 2)  # (C, 2) shapes a and b
    link = array(int, 2)  # (C, 2) their links, -1: world
    point = array(float, 2)  # (C, 3) world
    normal = array(float, 2)  # (C, 3) from a to b
    tangent = array(float, 3)  # (C, 2, 3) with the normal a right-handed frame (t1, t2, n)
    gap = array(float, 1)  # (C) m
    kind = array(int, 1)  # (C) VERTEX, EDGE or SMOOTH
    material = array(float, 2)  # (C, 3) static friction, kinetic friction, restitution of the pair
    id = array(int, 1)  # (C)
    previous = array(int, 1)  # (C) place in the step before, -1: new
    local = array(float, 3)  # (C, 2, 3) the point in the frames of links a and b (world: as it is)

    # ---- what the method found
    force = array(float, 2)  # (C, 3) on b, world axes, N: mean over the step
    torque = array(float, 2)  # (C, 3) on b, world axes, N m: of rolling and torsional friction
    state = array(int, 1)  # (C) RELEASED, STICK or SLIP
    slip = array(float, 1)  # (C) tangential speed at the end of the step, m/s

    # ---- the step before, for matching
    old_shape = array(int, 2)  # (C, 2)
    old_local = array(float, 3)  # (C, 2, 3)
    old_id = array(int, 1)  # (C)

    # ---- islands: trees that touch (or are joined by loops, mimics); the world and scripted bodies join nobody
    tree_island = array(int, 1)  # (T) -1: no contact touches the tree
    island_start = array(int, 1)  # (T + 1) ranges of island_contact
    island_contact = array(int, 1)  # (C) contact numbers, island by island, ascending within
    island_tree_start = array(int, 1)  # (T + 1) ranges of island_tree
    island_tree = array(int, 1)  # (T) tree numbers, island by island, ascending within

    # ---- work space
    level_size = array(float, 1)  # (size levels) longest edge of the bounding boxes of a level, m
    level_scale = array(float, 1)  # cells per metre of the level's grid, 0: no grid
    level_members = array(int, 1)
    grid_start = array(int, 1)  # (buckets + 1) ranges of grid_shape
    grid_shape = array(int, 1)  # (G) shapes by the buckets of their cells
    grid_key = array(int, 1)  # (G) the cells of those shapes
    manifold_point = array(float, 2)  # (64, 3) contact points of one pair
    manifold_gap = array(float, 1)  # (64)
    manifold_normal = array(float, 1)  # (3)
    manifold_kind = array(int, 1)  # (64)
    simplex = array(float, 2)  # (4, 6) GJK: points of the Minkowski difference, and where they lie on shape a
    weight = array(float, 1)  # (4) of the simplex' points in the nearest point
    witness = array(float, 2)  # (2, 3) nearest points of shapes a and b, from the position of a
    climb = array(int, 1)  # (2) where the search for the farthest vertex of a and b begins
    epa_vertex = array(float, 2)  # (128, 6) as in simplex
    epa_plane = array(float, 2)  # (256, 4) outward unit normal of a face and its distance from the origin
    epa_face = array(int, 2)  # (256, 7) corners, faces beyond the edges from each corner to the next, state
    epa_edge = array(int, 2)  # (256, 3) an outline: from corner, to corner, face beyond
    epa_stack = array(int, 1)  # (256)
    frame = array(float, 2)  # (3, 3) of the pair's contact: rows u, w, n
    feature = array(float, 3)  # (2, 48, 3) faces of a and b that look at each other: two coordinates and height
    clip = array(float, 3)  # (2, 128, 3) the polygon being cut
    work = array(float, 2)  # (512, 8) of the narrow phase
    cell = array(float, 2)  # (7, 3) of a height field, in its axes: a triangle's corners, its prism's foot, its normal
    cell_corners = array(int, 1)  # (1) 3: the triangle counts, 6: the prism
    # points of a height field and another shape, by their normals
    bundle_count = array(int, 1)  # (24) of points
    bundle_normal = array(float, 2)  # (24, 3) from the field to the other shape
    bundle_point = array(float, 3)  # (24, 64, 3)
    bundle_gap = array(float, 2)  # (24, 64)
    bundle_kind = array(int, 2)  # (24, 64)
    iwork = array(int, 1)  # (max(4 G, 4 P, 4 C, 4 T) + 1024)


as_contacts = viewer(Contacts)


def make_contacts(model: Model, capacity: int, pair_capacity: int) -> Contacts:
    """Allocate for at most `capacity` contacts and `pair_capacity` candidate pairs."""
    G, T, C, P = model.shape_count, model.tree_count, capacity, pair_capacity
    buckets = 1 if model.pairs_listed else 1 << (2 * G).bit_length()
    B = BUNDLES if (model.shape_type == SHAPE_FIELD).any() else 0
    shapes = {
        "counts": 8,
        "placed": 1,
        "shape_position": (G, 3),
        "shape_rotation": (G, 3, 3),
        "shape_low": (G, 3),
        "shape_high": (G, 3),
        "shape_reach": G,
        "shape_lead": G,
        "pair": (P, 2),
        "shape": (C, 2),
        "link": (C, 2),
        "point": (C, 3),
        "normal": (C, 3),
        "tangent": (C, 2, 3),
        "gap": C,
        "kind": C,
        "material": (C, 3),
        "id": C,
        "previous": C,
        "local": (C, 2, 3),
        "force": (C, 3),
        "torque": (C, 3),
        "state": C,
        "slip": C,
        "old_shape": (C, 2),
        "old_local": (C, 2, 3),
        "old_id": C,
        "tree_island": T,
        "island_start": T + 1,
        "island_contact": C,
        "island_tree_start": T + 1,
        "island_tree": T,
        "manifold_point": (64, 3),
        "manifold_gap": 64,
        "manifold_normal": 3,
        "manifold_kind": 64,
        "simplex": (4, 6),
        "weight": 4,
        "witness": (2, 3),
        "climb": 2,
        "epa_vertex": (128, 6),
        "epa_plane": (256, 4),
        "epa_face": (256, 7),
        "epa_edge": (256, 3),
        "epa_stack": 256,
        "level_size": model.level_count,
        "level_scale": model.level_count,
        "level_members": model.level_count,
        "grid_start": buckets + 1,
        "grid_shape": G,
        "grid_key": G,
        "frame": (3, 3),
        "feature": (2, 48, 3),
        "clip": (2, 128, 3),
        "work": (512, 8),
        "cell": (7, 3),
        "cell_corners": 1,
        "bundle_count": B,
        "bundle_normal": (B, 3),
        "bundle_point": (B, 64, 3),
        "bundle_gap": (B, 64),
        "bundle_kind": (B, 64),
        "iwork": max(4 * G, 4 * P, 4 * C, 4 * T) + 1024,
    }
    arrays = {name: np.zeros(shape, dtype=np.int64 if Contacts.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["placed"][:] = np.nan
    return Contacts(capacity=C, pair_capacity=P, bucket_count=buckets, **arrays)
