"""`Events`: the crossings of a sweep, sorted, without doubles, each with its place and direction.

A crossing is found once per pair of primitives. What means one contact becomes one event:

- a vertex that meets several triangles of a flat patch meets the patch, at the earliest time;
- where an edge's end lies on the other edge, or two vertices coincide (boxes that stand flush on each other), vertices
  on faces and edges on edges say the same thing several times: of those with one place and one direction one is kept,
  vertices before edges. Stiffness must not jump by a factor of four where boxes are aligned exactly.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.swept.crossing import between, outward_along
from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import first_from
from sesshoku.compiled.table import Record, array, scalar, viewer

VERTEX_FACE, EDGE_EDGE = range(2)
# places in Events.counts: events; crossings and pairs of shapes that found no room; crossings found
EVENTS, LOST, PAIRS_LOST, FOUND = range(4)
AT_END = 1e-7  # parameters this near to an end, or weights to one, name a vertex
ALIKE = 1.0 - 1e-6  # cosine of normals that are one


class Events(Record):
    """Crossings of one sweep, sorted by key; of a guest feature and a host patch (or two edges) the earliest alone.

    C events, R crossings as found.
    """

    capacity = scalar()
    counts = array(int, 4)  # by EVENTS .. FOUND
    kind = array(int, "C")  # VERTEX_FACE or EDGE_EDGE
    feature = array(int, "C", 2)  # guest vertex and host face; edge 0 and edge 1, of the first and the second shape
    shape = array(int, "C", 2)  # in the order of `feature`
    body = array(int, "C", 2)
    key = array(int, "C")  # the same for the same features in every step; a face counts as its patch
    time = array(float, "C")  # 0 to 1
    point = array(float, "C", 2, 3)  # world, then: vertex and its foot on the face; closest points of the two edges
    normal = array(float, "C", 3)  # world, then: outward of the host face; of body 0, to where edge 1 came from
    parameter = array(float, "C", 3)  # barycentrics in the face; along edge 0 and edge 1
    leaving = array(int, "C")  # 1: edges whose crossing leads out of the bodies by the faces that meet in them

    raw_key = array(int, "R")  # crossings as found
    raw_time = array(float, "R")
    raw_feature = array(int, "R", 2)
    raw_parameter = array(float, "R", 4)  # parameters, and for edges the side edge 1 came from
    order = array(int, "R")


as_events = viewer(Events)


def make_events(capacity: int) -> Events:
    """Room for the crossings of one sweep; four times as many may be found before those alike are merged."""
    return Events.sized({"C": capacity, "R": 4 * capacity}, capacity=capacity)


# ---- events ---------------------------------------------------------------------------------------------------------


@jit
def write_events(breps, start, end, events_out):
    """Sort the crossings by key, keep the earliest of those alike, and say where and how each happened.

    start, end: world places (V, 3) of all vertices at the ends of the sweep.
    """
    found, room = events_out.counts[FOUND], len(events_out.raw_key)
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
        for j in range(2):
            events_out.feature[count, j] = events_out.raw_feature[k, j]
        for j in range(3):
            events_out.parameter[count, j] = events_out.raw_parameter[k, j]
        if last < breps.vertex_count * breps.patch_count:
            describe_vertex(breps, start, end, events_out, count)
        else:
            describe_edges(breps, start, end, events_out, count, events_out.raw_parameter[k, 3])
        if breps.merged == 0 or not told_before(breps, events_out, count):
            count += 1
    events_out.counts[EVENTS] = count
    events_out.counts[LOST] = lost


# ---- doubles --------------------------------------------------------------------------------------------------------


@jit
def told_before(breps, events, i):
    """Whether an event before event i has its place and direction: of a vertex that this one or these edges meet in."""
    f0, f1, p = events.feature[i, 0], events.feature[i, 1], events.parameter[i]
    if events.kind[i] == VERTEX_FACE:
        for k in range(3):
            if p[k] > 1.0 - AT_END and vertex_told(breps, events, i, breps.face_vertex[f1, k], events.shape[i, 0]):
                return True
        return False
    for side in range(2):
        e = f0 if side == 0 else f1
        if abs(p[side]) < AT_END or abs(p[side] - 1.0) < AT_END:
            v = breps.edge_vertex[e, 0 if p[side] < 0.5 else 1]
            if vertex_told(breps, events, i, v, events.shape[i, 1 - side]):
                return True
    return edges_told(breps, events, i)


@jit
def vertex_told(breps, events, i, v, host):
    """Whether an event before event i lets vertex v into a face of shape `host` in the direction of event i."""
    k = first_from(events.key, i, v * breps.patch_count)
    while k < i and events.key[k] < (v + 1) * breps.patch_count:
        if events.shape[k, 1] == host and same_line(events, i, k):
            return True
        k += 1
    return False


@jit
def edges_told(breps, events, i):
    """Whether an event before event i is of edges that meet in the same two vertices (four edges, one place)."""
    p = events.parameter[i]
    if not ((abs(p[0]) < AT_END or abs(p[0] - 1.0) < AT_END) and (abs(p[1]) < AT_END or abs(p[1] - 1.0) < AT_END)):
        return False
    v = breps.edge_vertex[events.feature[i, 0], 0 if p[0] < 0.5 else 1]
    w = breps.edge_vertex[events.feature[i, 1], 0 if p[1] < 0.5 else 1]
    base = breps.vertex_count * breps.patch_count
    for j in range(breps.vertex_edge_start[v], breps.vertex_edge_start[v + 1]):
        e = breps.vertex_edge[j]
        k = first_from(events.key, i, base + e * breps.edge_count)
        while k < i and events.key[k] < base + (e + 1) * breps.edge_count:
            g = events.feature[k, 1]
            if (breps.edge_vertex[g, 0] == w or breps.edge_vertex[g, 1] == w) and same_line(events, i, k):
                return True
            k += 1
    return False


@jit(into_callers=True)
def same_line(events, i, k):
    """Whether two events push along one line."""
    n, m = events.normal[i], events.normal[k]
    return abs(n[0] * m[0] + n[1] * m[1] + n[2] * m[2]) > ALIKE


# ---- order ----------------------------------------------------------------------------------------------------------


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


# ---- place and direction --------------------------------------------------------------------------------------------


@jit
def describe_vertex(breps, start, end, events_out, i):
    """Shapes, bodies, points and normal of event i, a vertex that goes through a face."""
    v, f = events_out.feature[i, 0], events_out.feature[i, 1]
    name_bodies(breps, events_out, i, VERTEX_FACE, breps.vertex_shape[v], breps.face_shape[f])
    a, b, c = breps.face_vertex[f, 0], breps.face_vertex[f, 1], breps.face_vertex[f, 2]
    t = events_out.time[i]
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
    events_out.leaving[i] = 0


@jit
def describe_edges(breps, start, end, events_out, i, before):
    """Shapes, bodies, points and normal of event i, two edges that pass; before: sign of eq. (5.1), thesis."""
    e0, e1 = events_out.feature[i, 0], events_out.feature[i, 1]
    name_bodies(breps, events_out, i, EDGE_EDGE, breps.edge_shape[e0], breps.edge_shape[e1])
    t, ends = events_out.time[i], breps.edge_vertex
    s, r = events_out.parameter[i, 0], events_out.parameter[i, 1]
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
