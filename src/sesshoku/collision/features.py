"""The part of a shape that faces the other one along the normal: a polygon, a segment or a point.

A feature is written as rows (x, y, height) in the frame (u, w, n) of the contact, seen from the position of shape a.
Boxes and polyhedra give the face that looks most along the normal, or, where all faces there are steep, their flattest
edge. A cylinder gives its end as a regular octagon whose corners stand on the true rim, fixed to the body, or the line
along its side; a capsule gives the line along its side, a height field the triangle of the cell being looked at.
"""

from __future__ import annotations

from math import copysign, cos, pi, sin, sqrt

from sesshoku.collision.support import farthest_vertex
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CONVEX, SHAPE_CYLINDER, SHAPE_FIELD
from sesshoku.spatial.algebra import turned, turned_back

STEEP = 0.2  # cosine: faces and cylinder ends that look less along the normal than this are not taken
UPRIGHT = 0.98  # cosine: a capsule nearer to the normal than this touches by its end alone
TOP = 6  # row of `cell` with the normal of a height field's triangle
RIM = 8  # corners of a cylinder's end
RIM_X = tuple(cos(2.0 * pi * k / RIM) for k in range(RIM))
RIM_Y = tuple(sin(2.0 * pi * k / RIM) for k in range(RIM))


@jit
def put(rows, at, frame, x, y, z):
    """Row `at` = (x, y, z) in the contact frame; frame: rows u, w, n."""
    rows[at, 0] = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
    rows[at, 1] = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
    rows[at, 2] = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z


@jit
def slopes(frame, x, y, z):
    """How height grows with the two other coordinates on a plane with the normal (x, y, z)."""
    along = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z
    return (-(frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z) / along,
            -(frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z) / along)


@jit
def box_face(R, size, frame, rows, origin, at):
    """The face looking along (x, y, z) (the box's own axes), its centre at o."""
    ox, oy, oz = origin
    x, y, z = at
    k = 0 if abs(x) >= abs(y) and abs(x) >= abs(z) else 1 if abs(y) >= abs(z) else 2
    i, j = (k + 1) % 3, (k + 2) % 3
    out = copysign(size[k], x if k == 0 else y if k == 1 else z)
    put(rows, 0, frame, ox + out * R[0, k], oy + out * R[1, k], oz + out * R[2, k])
    put(rows, 1, frame, size[i] * R[0, i], size[i] * R[1, i], size[i] * R[2, i])
    put(rows, 2, frame, size[j] * R[0, j], size[j] * R[1, j], size[j] * R[2, j])
    for e in range(3):
        c, p, q = rows[0, e], rows[1, e], rows[2, e]
        rows[0, e], rows[1, e], rows[2, e], rows[3, e] = c + p + q, c - p + q, c - p - q, c + p - q
    return slopes(frame, R[0, k], R[1, k], R[2, k])


@jit
def facing_polygon(model, shape, vertex, x, y, z):
    """Of the polygons around a vertex the one that looks most along (x, y, z) (shape axes), and that cosine."""
    at = model.shape_vertex[shape, 0] + vertex
    around = model.around[model.around_start[at] : model.around_start[at + 1]]
    N, best, most = model.polygon_normal, -1, -2.0
    for e in range(len(around)):
        p = around[e]
        cosine = N[p, 0] * x + N[p, 1] * y + N[p, 2] * z
        if cosine > most:
            best, most = p, cosine
    return best, most


@jit
def edge_slope(model, shape, vertex, other, x, y, z):
    """Sine of how much the edge from a vertex to another falls away from the unit direction (x, y, z)."""
    V = model.vertices[model.shape_vertex[shape, 0] : model.shape_vertex[shape, 1]]
    ex, ey, ez = V[other, 0] - V[vertex, 0], V[other, 1] - V[vertex, 1], V[other, 2] - V[vertex, 2]
    return -(ex * x + ey * y + ez * z) / sqrt(ex * ex + ey * ey + ez * ez)


@jit
def flattest_neighbour(model, shape, vertex, x, y, z):
    """The neighbour of a vertex whose edge stands most across the unit direction (x, y, z)."""
    first = model.shape_vertex[shape, 0]
    near = model.neighbour[model.neighbour_start[first + vertex] : model.neighbour_start[first + vertex + 1]]
    best, least = vertex, 2.0
    for e in range(len(near)):
        slope = edge_slope(model, shape, vertex, near[e], x, y, z)
        if slope < least:
            best, least = near[e], slope
    return best


@jit
def polyhedron_face(model, contacts, side, frame, rows, origin, at):
    """The polygon (or edge) at the vertex farthest along (x, y, z) (shape axes): count, slopes."""
    shape, slot = side
    ox, oy, oz = origin
    x, y, z = at
    R, first = contacts.shape_rotation[shape], model.shape_vertex[shape, 0]
    vertex = farthest_vertex(model, shape, contacts.climb[slot], x, y, z)
    V = model.vertices[first : model.shape_vertex[shape, 1]]
    polygon, cosine = facing_polygon(model, shape, vertex, x, y, z)
    if cosine < STEEP:
        other = flattest_neighbour(model, shape, vertex, x, y, z)
        px, py, pz = turned(R, V[vertex, 0], V[vertex, 1], V[vertex, 2])
        put(rows, 0, frame, ox + px, oy + py, oz + pz)
        px, py, pz = turned(R, V[other, 0], V[other, 1], V[other, 2])
        put(rows, 1, frame, ox + px, oy + py, oz + pz)
        return 2, 0.0, 0.0
    corners = model.polygon_corner[model.polygon_start[polygon] : model.polygon_start[polygon + 1]]
    for e in range(len(corners)):
        i = corners[e]
        px, py, pz = turned(R, V[i, 0], V[i, 1], V[i, 2])
        put(rows, e, frame, ox + px, oy + py, oz + pz)
    N = model.polygon_normal[polygon]
    mx, my, mz = turned(R, N[0], N[1], N[2])
    gu, gw = slopes(frame, mx, my, mz)
    return len(corners), gu, gw


@jit
def cylinder_end(R, size, frame, rows, origin, z):
    """The octagon of the end that looks along z (the cylinder's own axis, up or down)."""
    ox, oy, oz = origin
    out = copysign(size[1], z)
    for k in range(RIM):
        px, py, pz = turned(R, size[0] * RIM_X[k], size[0] * RIM_Y[k], out)
        put(rows, k, frame, ox + px, oy + py, oz + pz)
    return slopes(frame, R[0, 2], R[1, 2], R[2, 2])


@jit
def side_line(R, size, frame, rows, origin, half):
    """The segment from o, along the axis to both ends."""
    ox, oy, oz = origin
    put(rows, 0, frame, ox - half * R[0, 2], oy - half * R[1, 2], oz - half * R[2, 2])
    put(rows, 1, frame, ox + half * R[0, 2], oy + half * R[1, 2], oz + half * R[2, 2])


@jit
def feature(model, contacts, shape, slot, frame, sign, origin):
    """Write the feature of a shape at o that looks along sign * n into `feature[slot]`.

    Returns the number of rows, whether the surface is round there, and the two slopes of its plane.
    """
    ox, oy, oz = origin
    rows, R = contacts.feature[slot], contacts.shape_rotation[shape]
    size, kind = model.shape_size[shape], model.shape_type[shape]
    nx, ny, nz = sign * frame[2, 0], sign * frame[2, 1], sign * frame[2, 2]
    x, y, z = turned_back(R, nx, ny, nz)
    if kind == SHAPE_BOX:
        gu, gw = box_face(R, size, frame, rows, origin, (x, y, z))
        return 4, False, gu, gw
    if kind == SHAPE_CONVEX:
        count, gu, gw = polyhedron_face(model, contacts, (shape, slot), frame, rows, origin, (x, y, z))
        return count, False, gu, gw
    if kind == SHAPE_CYLINDER:
        if abs(z) >= STEEP:
            gu, gw = cylinder_end(R, size, frame, rows, origin, z)
            return RIM, False, gu, gw
        k = size[0] / sqrt(x * x + y * y)
        px, py, pz = turned(R, k * x, k * y, 0.0)
        side_line(R, size, frame, rows, (ox + px, oy + py, oz + pz), size[1])
        return 2, True, 0.0, 0.0
    if kind == SHAPE_FIELD:
        V, m = contacts.cell, contacts.cell[TOP]
        if m[0] * x + m[1] * y + m[2] * z < STEEP:
            return 1, False, 0.0, 0.0
        for e in range(3):
            px, py, pz = turned(R, V[e, 0], V[e, 1], V[e, 2])
            put(rows, e, frame, ox + px, oy + py, oz + pz)
        px, py, pz = turned(R, m[0], m[1], m[2])
        gu, gw = slopes(frame, px, py, pz)
        return 3, False, gu, gw
    r = size[0]
    if kind == SHAPE_CAPSULE and abs(z) < UPRIGHT:
        side_line(R, size, frame, rows, (ox + r * nx, oy + r * ny, oz + r * nz), size[1])
        return 2, True, 0.0, 0.0
    return 1, True, 0.0, 0.0
