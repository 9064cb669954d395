"""The two sweeps of a step: which features of two polyhedra cross, and when.

L0, `sweep_motion`: shrunken shapes on their way from one pose to another. A crossing means that penetration is about to
exceed what the shrinking allows, however far the bodies move in the step.
L1, `sweep_inflate`: at one pose, from the shrunken to the original shapes. A crossing means contact, and says which
features met first.

Both: boxes of the shapes, pairs of shapes from the broad phase and the scene's filters, then tree against tree, then
the primitive tests of `crossing`. Only shapes with a partner are placed and have their trees refitted. A crossing
needs, beside its primitive test, that the swept boxes of the two features overlap and that neither lies outside the
slabs of the other: so the outcome is that of all features tried against all, whatever the trees are like.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sesshoku.collision.brep import Breps
from sesshoku.collision.broadphase import find_pairs
from sesshoku.collision.contacts import PAIR_OVERFLOW, PAIRS
from sesshoku.collision.crossing import (
    CUBIC,
    LINEAR,
    PARAMETERS,
    SIDE,
    WORK,
    between,
    edge_edge,
    outward_along,
    vertex_face,
)
from sesshoku.collision.tree import EDGE, FACE, VERTEX, boxes_overlap, edge_apart, face_apart, refit, width
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, scalar, viewer

__all__ = ["CUBIC", "EDGE_EDGE", "EVENTS", "LINEAR", "LOST", "PAIRS_LOST", "VERTEX_FACE", "Events", "Sweeps",
           "as_events", "as_sweeps", "make_events", "make_sweeps", "sweep_inflate", "sweep_motion"]

VERTEX_FACE, EDGE_EDGE = range(2)
# places in Events.counts: events; crossings and pairs of shapes that found no room
EVENTS, LOST, PAIRS_LOST = range(3)
# places in Sweeps.work_counts, for the cost model (7.2): overlap tests, primitive tests, boxes refitted; then crossings
BOX_TESTS, PRIMITIVE_TESTS, BOX_UPDATES, FOUND = range(4)
PAIRS_PER_SHAPE = 64


class Sweeps(Record):
    """Work space of a sweep. Shapes: S shapes, V vertices, N tree nodes, P pairs of shapes."""

    pair_capacity = scalar()
    bucket_count = scalar()
    counts = array(int, 1)  # (8) of the broad phase
    work_counts = array(int, 1)  # (4) of the last sweep, by BOX_TESTS .. FOUND
    shape_position = array(float, 2)  # (0, 3) asked for planes only, of which there are none
    shape_rotation = array(float, 3)  # (0, 3, 3)
    shape_low = array(float, 2)  # (S, 3) box around the sweep, world
    shape_high = array(float, 2)
    shape_fresh = array(int, 1)  # (S) 1: placed and refitted in this sweep
    start = array(float, 2)  # (V, 3) world, at the beginning of the sweep
    end = array(float, 2)  # (V, 3)
    node_box = array(float, 2)  # (N, 6) low, high
    pair = array(int, 2)  # (P, 2)
    stack = array(int, 2)  # (depth, 2) nodes to look at
    work = array(float, 1)  # of the primitive tests
    level_size = array(float, 1)
    level_scale = array(float, 1)
    level_members = array(int, 1)
    grid_start = array(int, 1)
    grid_shape = array(int, 1)
    grid_key = array(int, 1)
    iwork = array(int, 1)


class Events(Record):
    """Crossings of one sweep, sorted by key; of a guest feature and a host patch (or two edges) the earliest alone."""

    capacity = scalar()
    counts = array(int, 1)  # (3) EVENTS, LOST, PAIRS_LOST
    kind = array(int, 1)  # (C) VERTEX_FACE or EDGE_EDGE
    feature = array(int, 2)  # (C, 2) guest vertex and host face; edge 0 and edge 1, of the first and the second shape
    shape = array(int, 2)  # (C, 2) in the order of `feature`
    body = array(int, 2)  # (C, 2)
    key = array(int, 1)  # (C) the same for the same features in every step; a face counts as its patch
    time = array(float, 1)  # (C) 0 to 1
    point = array(float, 3)  # (C, 2, 3) world, then: vertex and its foot on the face; closest points of the two edges
    normal = array(float, 2)  # (C, 3) world, then: outward of the host face; of body 0, to where edge 1 came from
    parameter = array(float, 2)  # (C, 3) barycentrics in the face; along edge 0 and edge 1
    leaving = array(int, 1)  # (C) 1: edges whose crossing leads out of the bodies by the faces that meet in them

    raw_key = array(int, 1)  # (R) crossings as found
    raw_time = array(float, 1)  # (R)
    raw_feature = array(int, 2)  # (R, 2)
    order = array(int, 1)  # (R)


as_sweeps = viewer(Sweeps)
as_events = viewer(Events)


def make_sweeps(breps: Breps) -> Sweeps:
    """Work space for the shapes of a scene."""
    S, V, N = breps.shape_count, breps.vertex_count, len(breps.node)
    P = min(S * (S - 1) // 2, PAIRS_PER_SHAPE * S)
    buckets = 1 if breps.pairs_listed else 1 << (2 * S).bit_length()
    shapes: dict[str, int | tuple[int, ...]] = {
        "counts": 8, "work_counts": 4, "shape_position": (0, 3), "shape_rotation": (0, 3, 3), "shape_low": (S, 3),
        "shape_high": (S, 3), "shape_fresh": S, "start": (V, 3), "end": (V, 3), "node_box": (N, 6), "pair": (P, 2),
        "stack": (2 * breps.tree_depth + 4, 2), "work": WORK, "level_size": breps.level_count,
        "level_scale": breps.level_count, "level_members": breps.level_count, "grid_start": buckets + 1,
        "grid_shape": S, "grid_key": S, "iwork": max(4 * S, 4 * P) + 1024,
    }
    return Sweeps(pair_capacity=P, bucket_count=buckets, **_zeros(Sweeps, shapes))


def make_events(capacity: int) -> Events:
    """Room for the crossings of one sweep; four times as many may be found before those alike are merged."""
    C, R = capacity, 4 * capacity
    shapes: dict[str, int | tuple[int, ...]] = {
        "counts": 3, "kind": C, "feature": (C, 2), "shape": (C, 2), "body": (C, 2), "key": C, "time": C,
        "point": (C, 2, 3), "normal": (C, 3), "parameter": (C, 3), "leaving": C, "raw_key": R, "raw_time": R,
        "raw_feature": (R, 2), "order": R,
    }
    return Events(capacity=C, **_zeros(Events, shapes))


def _zeros(record: type[Record], shapes: dict[str, int | tuple[int, ...]]) -> dict[str, np.ndarray]:
    return {name: np.zeros(shape, dtype=np.int64 if record.fields[name].dtype is int else np.float64)
            for name, shape in shapes.items()}


# ---- the two sweeps -------------------------------------------------------------------------------------------------


@jit
def sweep_motion(breps, sweeps, events_out, position_before, rotation_before, position_after, rotation_after, crossing):
    """L0: shrunken shapes from one set of body poses (B, 3), (B, 3, 3) to another. crossing: LINEAR or CUBIC."""
    bound_shapes(breps, sweeps, position_before, rotation_before, position_after, rotation_after)
    find_crossings(breps, sweeps, events_out, breps.inner, breps.inner, position_before, rotation_before,
                   position_after, rotation_after, crossing)


@jit
def sweep_inflate(breps, sweeps, events_out, position, rotation, crossing):
    """L1: at one set of body poses (B, 3), (B, 3, 3), from shrunken to original shapes. crossing: LINEAR or CUBIC."""
    bound_shapes(breps, sweeps, position, rotation, position, rotation)
    find_crossings(breps, sweeps, events_out, breps.inner, breps.vertex, position, rotation, position, rotation,
                   crossing)


@jit
def bound_shapes(breps, sweeps, position0, rotation0, position1, rotation1):
    """Boxes around the sweeps of whole shapes, from the boxes in their bodies' frames."""
    low, high = sweeps.shape_low, sweeps.shape_high
    for s in range(breps.shape_count):
        body, box, pad = breps.shape_body[s], breps.shape_box[s], breps.shape_pad[s]
        for k in range(3):
            R, Q = rotation0[body, k], rotation1[body, k]
            middle0 = position0[body, k] + R[0] * box[0, 0] + R[1] * box[0, 1] + R[2] * box[0, 2]
            middle1 = position1[body, k] + Q[0] * box[0, 0] + Q[1] * box[0, 1] + Q[2] * box[0, 2]
            half0 = abs(R[0]) * box[1, 0] + abs(R[1]) * box[1, 1] + abs(R[2]) * box[1, 2] + pad
            half1 = abs(Q[0]) * box[1, 0] + abs(Q[1]) * box[1, 1] + abs(Q[2]) * box[1, 2] + pad
            low[s, k] = min(middle0 - half0, middle1 - half1)
            high[s, k] = max(middle0 + half0, middle1 + half1)
        sweeps.shape_fresh[s] = 0


@jit
def find_crossings(breps, sweeps, events_out, vertex0, vertex1, position0, rotation0, position1, rotation1, crossing):
    """Pairs of shapes whose boxes overlap, tree against tree; then events from the crossings found."""
    sweeps.work_counts[:] = 0
    find_pairs(breps, sweeps, 0.0)
    pair = sweeps.pair
    for k in range(sweeps.counts[PAIRS]):
        for side in range(2):
            s = pair[k, side]
            if sweeps.shape_fresh[s] == 0:
                sweeps.shape_fresh[s] = 1
                body = breps.shape_body[s]
                first, last = breps.shape_vertex[s, 0], breps.shape_vertex[s, 1]
                place(vertex0, first, last, position0[body], rotation0[body], sweeps.start)
                place(vertex1, first, last, position1[body], rotation1[body], sweeps.end)
                refit(breps.node, breps.shape_node[s, 0], breps.shape_node[s, 1], breps.edge_vertex, breps.face_vertex,
                      sweeps.start, sweeps.end, breps.shape_pad[s], sweeps.node_box)
                sweeps.work_counts[BOX_UPDATES] += breps.shape_node[s, 1] - breps.shape_node[s, 0]
        a, b = pair[k, 0], pair[k, 1]
        walk_trees(breps, sweeps, events_out, breps.shape_node[a, 0], breps.shape_node[b, 0], crossing)
    write_events(breps, sweeps, events_out, crossing)
    events_out.counts[PAIRS_LOST] = sweeps.counts[PAIR_OVERFLOW]


@jit
def place(vertex, first, last, x, R, world_out):
    """Vertices of one shape in the world."""
    for v in range(first, last):
        a, b, c = vertex[v, 0], vertex[v, 1], vertex[v, 2]
        for k in range(3):
            world_out[v, k] = x[k] + R[k, 0] * a + R[k, 1] * b + R[k, 2] * c


# ---- tree against tree ----------------------------------------------------------------------------------------------


@jit
def walk_trees(breps, sweeps, events_out, root_a, root_b, crossing):
    """All pairs of primitives of two shapes whose boxes overlap; of two nodes the larger is opened."""
    node, box, stack = breps.node, sweeps.node_box, sweeps.stack
    stack[0, 0], stack[0, 1] = root_a, root_b
    height, tests = 1, 0
    while height > 0:
        height -= 1
        a, b = stack[height, 0], stack[height, 1]
        tests += 1
        if not boxes_overlap(box, a, b) or not may_cross(node[a, 2], node[b, 2]):
            continue
        leaf_a, leaf_b = node[a, 0] < 0, node[b, 0] < 0
        if leaf_a and leaf_b:
            try_primitives(breps, sweeps, events_out, a, b, crossing)
            continue
        size_a, size_b = width(box, a), width(box, b)
        if leaf_a or (not leaf_b and size_b >= size_a):
            if leaf_a and size_a > size_b and leaf_apart(breps, sweeps, a, b):
                continue
            stack[height, 0], stack[height, 1] = a, node[b, 0]
            stack[height + 1, 0], stack[height + 1, 1] = a, node[b, 1]
        else:
            if leaf_b and size_b > size_a and leaf_apart(breps, sweeps, b, a):
                continue
            stack[height, 0], stack[height, 1] = node[a, 0], b
            stack[height + 1, 0], stack[height + 1, 1] = node[a, 1], b
        height += 2
    sweeps.work_counts[BOX_TESTS] += tests


@jit(into_callers=True)
def may_cross(kinds_a, kinds_b):
    """Whether two nodes hold a vertex and a face, or an edge each."""
    return (kinds_a & kinds_b & EDGE) | (kinds_a & VERTEX and kinds_b & FACE) | (kinds_a & FACE and kinds_b & VERTEX)


@jit
def leaf_apart(breps, sweeps, leaf, other):
    """The slab filter: whether a node's box lies outside the slabs of a leaf's sweep."""
    kind, f = breps.node[leaf, 2], breps.node[leaf, 3]
    if kind == FACE:
        return face_apart(f, breps.face_vertex, sweeps.start, sweeps.end, sweeps.node_box, other)
    if kind == EDGE:
        return edge_apart(f, breps.edge_vertex, breps.edge_face, breps.face_vertex, sweeps.start, sweeps.end,
                          sweeps.node_box, other)
    return False


@jit
def try_primitives(breps, sweeps, events_out, a, b, crossing):
    """The primitive test of two leaves of the first and the second shape; a crossing is noted."""
    node = breps.node
    if node[a, 2] == VERTEX:
        v, f = node[a, 3], node[b, 3]
    else:
        v, f = node[b, 3], node[a, 3]
    sweeps.work_counts[PRIMITIVE_TESTS] += 1
    if node[a, 2] == EDGE:
        v, f = node[a, 3], node[b, 3]
        time = edge_edge(sweeps.start, sweeps.end, v, f, breps.edge_vertex, breps.edge_face, breps.face_vertex,
                         crossing, sweeps.work)
        key = breps.vertex_count * breps.patch_count + v * breps.edge_count + f
    else:
        t = breps.face_vertex[f]
        time = vertex_face(sweeps.start, sweeps.end, v, t[0], t[1], t[2], crossing, sweeps.work)
        key = v * breps.patch_count + breps.face_patch[f]
    if time < 0.0 or leaf_apart(breps, sweeps, a, b) or leaf_apart(breps, sweeps, b, a):
        return
    n = sweeps.work_counts[FOUND]
    sweeps.work_counts[FOUND] += 1
    if n < len(events_out.raw_key):
        events_out.raw_key[n] = key
        events_out.raw_time[n] = time
        events_out.raw_feature[n, 0] = v
        events_out.raw_feature[n, 1] = f


# ---- events ---------------------------------------------------------------------------------------------------------


@jit
def write_events(breps, sweeps, events_out, crossing):
    """Sort the crossings by key, keep the earliest of those alike, and say where and how each happened."""
    found, room = sweeps.work_counts[FOUND], len(events_out.raw_key)
    n = min(found, room)
    sort_crossings(events_out, n)
    order, raw_key = events_out.order, events_out.raw_key
    count, lost, last = 0, found - n, -1
    for i in range(n):
        k = order[i]
        if raw_key[k] == last:
            continue
        last = raw_key[k]
        if count == events_out.capacity:
            lost += 1
            continue
        events_out.key[count] = last
        events_out.time[count] = events_out.raw_time[k]
        events_out.feature[count, 0] = events_out.raw_feature[k, 0]
        events_out.feature[count, 1] = events_out.raw_feature[k, 1]
        if last < breps.vertex_count * breps.patch_count:
            describe_vertex(breps, sweeps, events_out, count, crossing)
        else:
            describe_edges(breps, sweeps, events_out, count, crossing)
        count += 1
    events_out.counts[EVENTS] = count
    events_out.counts[LOST] = lost


@jit
def sort_crossings(events, n):
    """Heap sort of `order` by key, then time, then features: the outcome depends on nothing else."""
    order = events.order
    for i in range(n):
        order[i] = i
    for root in range(n // 2 - 1, -1, -1):
        sift(events, root, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        sift(events, 0, end)


@jit
def sift(events, root, end):
    order = events.order
    while True:
        child = 2 * root + 1
        if child >= end:
            return
        if child + 1 < end and later(events, order[child + 1], order[child]):
            child += 1
        if not later(events, order[child], order[root]):
            return
        order[root], order[child] = order[child], order[root]
        root = child


@jit(into_callers=True)
def later(events, a, b):
    key, time, feature = events.raw_key, events.raw_time, events.raw_feature
    if key[a] != key[b]:
        return key[a] > key[b]
    if time[a] != time[b]:
        return time[a] > time[b]
    return feature[a, 1] > feature[b, 1]


@jit
def describe_vertex(breps, sweeps, events_out, i, crossing):
    """Shapes, bodies, points, normal and barycentrics of event i, a vertex that goes through a face."""
    v, f = events_out.feature[i, 0], events_out.feature[i, 1]
    name_bodies(breps, events_out, i, VERTEX_FACE, breps.vertex_shape[v], breps.face_shape[f])
    a, b, c = breps.face_vertex[f, 0], breps.face_vertex[f, 1], breps.face_vertex[f, 2]
    start, end, work = sweeps.start, sweeps.end, sweeps.work
    t = vertex_face(start, end, v, a, b, c, crossing, work)
    ax, ay, az = between(start, end, a, t)
    bx, by, bz = between(start, end, b, t)
    cx, cy, cz = between(start, end, c, t)
    x, y, z = between(start, end, v, t)
    bx, by, bz, cx, cy, cz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    length = sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / length, ny / length, nz / length
    height = nx * (x - ax) + ny * (y - ay) + nz * (z - az)
    set_row(events_out.point[i, 0], x, y, z)
    set_row(events_out.point[i, 1], x - height * nx, y - height * ny, z - height * nz)
    set_row(events_out.normal[i], nx, ny, nz)
    set_row(events_out.parameter[i], work[PARAMETERS], work[PARAMETERS + 1], work[PARAMETERS + 2])
    events_out.leaving[i] = 0


@jit
def describe_edges(breps, sweeps, events_out, i, crossing):
    """Shapes, bodies, points, normal and parameters of event i, two edges that pass each other."""
    e0, e1 = events_out.feature[i, 0], events_out.feature[i, 1]
    name_bodies(breps, events_out, i, EDGE_EDGE, breps.edge_shape[e0], breps.edge_shape[e1])
    start, end, work, ends = sweeps.start, sweeps.end, sweeps.work, breps.edge_vertex
    t = edge_edge(start, end, e0, e1, ends, breps.edge_face, breps.face_vertex, crossing, work)
    s, r, before = work[PARAMETERS], work[PARAMETERS + 1], work[SIDE]
    ax, ay, az = between(start, end, ends[e0, 0], t)
    ux, uy, uz = between(start, end, ends[e0, 1], t)
    cx, cy, cz = between(start, end, ends[e1, 0], t)
    wx, wy, wz = between(start, end, ends[e1, 1], t)
    ux, uy, uz, wx, wy, wz = ux - ax, uy - ay, uz - az, wx - cx, wy - cy, wz - cz
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    length = -before * sqrt(nx * nx + ny * ny + nz * nz)  # a positive determinant: edge 1 is on the other side of n
    nx, ny, nz = nx / length, ny / length, nz / length
    set_row(events_out.point[i, 0], ax + s * ux, ay + s * uy, az + s * uz)
    set_row(events_out.point[i, 1], cx + r * wx, cy + r * wy, cz + r * wz)
    set_row(events_out.normal[i], nx, ny, nz)
    set_row(events_out.parameter[i], s, r, 0.0)
    nearer = start if t < 0.5 else end
    out = outward_along(nearer, e0, breps.edge_face, breps.face_vertex, nx, ny, nz) - outward_along(
        nearer, e1, breps.edge_face, breps.face_vertex, nx, ny, nz)
    events_out.leaving[i] = 1 if out < 0.0 else 0


@jit
def name_bodies(breps, events_out, i, kind, shape0, shape1):
    events_out.kind[i] = kind
    events_out.shape[i, 0], events_out.shape[i, 1] = shape0, shape1
    events_out.body[i, 0], events_out.body[i, 1] = breps.shape_body[shape0], breps.shape_body[shape1]


@jit(into_callers=True)
def set_row(row_out, x, y, z):
    row_out[0], row_out[1], row_out[2] = x, y, z
