"""Support functions: the point of a shape farthest in a direction.

Spheres and capsules are a core (a point, a segment) with a radius around it: the core is what `support` knows, the
radius is added by whoever asks. An ellipsoid is one, too: a ball of a radius below its least radius of curvature (least
half axis squared by the longest) rolls everywhere inside it, and where its centre can be is a convex core. Contacts
less deep than that so have cores apart, and normals to the last digits. A height field is the triangle, or the prism,
of the cell that is being looked at (`fields`). All points are in world axes, seen from the shape's own position, so
that a scene far from the origin loses no digits.
"""

from __future__ import annotations

from math import copysign, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import (
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_FIELD,
    SHAPE_SPHERE,
)
from sesshoku.spatial.algebra import turned, turned_back

CURVATURE = 0.9  # of an ellipsoid's smallest radius of curvature
SCANNED = 24  # polyhedra of up to so many vertices are searched whole, larger ones by climbing from vertex to vertex


@jit
def core_radius(model, shape):
    """What lies around the core: the radius of spheres and capsules, part of an ellipsoid's, zero for the others."""
    kind, size = model.shape_type[shape], model.shape_size[shape]
    if kind == SHAPE_SPHERE or kind == SHAPE_CAPSULE:
        return size[0]
    return ellipsoid_core(size) if kind == SHAPE_ELLIPSOID else 0.0


@jit
def ellipsoid_core(size):
    """Radius of the ball around the core of an ellipsoid with these half axes, m."""
    least, longest = min(size[0], size[1], size[2]), max(size[0], size[1], size[2])
    return CURVATURE * least * least / longest


@jit
def ellipsoid_point(size, x, y, z):
    """Farthest point of an ellipsoid along (x, y, z) (any length), both in its axes."""
    px, py, pz = size[0] * x, size[1] * y, size[2] * z
    length = sqrt(px * px + py * py + pz * pz)
    k = 1.0 / length if length > 0.0 else 0.0
    return k * size[0] * px, k * size[1] * py, k * size[2] * pz


@jit
def farthest_vertex(model, shape, start, x, y, z):
    """Number (within the shape) of the vertex of a polyhedron farthest along (x, y, z) of the shape's axes."""
    first, last = model.shape_vertex[shape, 0], model.shape_vertex[shape, 1]
    V = model.vertices[first:last]
    if last - first <= SCANNED:
        best, most = 0, V[0, 0] * x + V[0, 1] * y + V[0, 2] * z
        for i in range(1, len(V)):
            reach = V[i, 0] * x + V[i, 1] * y + V[i, 2] * z
            if reach > most:
                best, most = i, reach
        return best
    begin, neighbour = model.neighbour_start[first : last + 1], model.neighbour
    best, most = start, V[start, 0] * x + V[start, 1] * y + V[start, 2] * z
    while True:  # each round goes strictly up: it ends, and on a convex body at the top
        here = best
        near = neighbour[begin[here] : begin[here + 1]]
        for e in range(len(near)):
            i = near[e]
            reach = V[i, 0] * x + V[i, 1] * y + V[i, 2] * z
            if reach > most:
                best, most = i, reach
        if best == here:
            return best


@jit
def support(model, contacts, shape, slot, dx, dy, dz):
    """The core's farthest point in world direction d. slot: 0 for shape a, 1 for b (memory of the climb)."""
    R, size, kind = contacts.shape_rotation[shape], model.shape_size[shape], model.shape_type[shape]
    x, y, z = turned_back(R, dx, dy, dz)
    if kind == SHAPE_BOX:
        return turned(R, copysign(size[0], x), copysign(size[1], y), copysign(size[2], z))
    if kind == SHAPE_CONVEX:
        climb = contacts.climb
        i = farthest_vertex(model, shape, climb[slot], x, y, z)
        climb[slot] = i
        V = model.vertices[model.shape_vertex[shape, 0] + i]
        return turned(R, V[0], V[1], V[2])
    if kind == SHAPE_CYLINDER:
        across = sqrt(x * x + y * y)
        k = size[0] / across if across > 0.0 else 0.0
        return turned(R, k * x, k * y, copysign(size[1], z))
    if kind == SHAPE_CAPSULE:
        return turned(R, 0.0, 0.0, copysign(size[1], z))
    if kind == SHAPE_ELLIPSOID:
        px, py, pz = ellipsoid_point(size, x, y, z)
        length = sqrt(x * x + y * y + z * z)
        k = ellipsoid_core(size) / length if length > 0.0 else 0.0
        return turned(R, px - k * x, py - k * y, pz - k * z)
    if kind == SHAPE_FIELD:
        V, best = contacts.cell, 0
        most = V[0, 0] * x + V[0, 1] * y + V[0, 2] * z
        for i in range(1, contacts.cell_corners[0]):
            reach = V[i, 0] * x + V[i, 1] * y + V[i, 2] * z
            if reach > most:
                best, most = i, reach
        return turned(R, V[best, 0], V[best, 1], V[best, 2])
    return 0.0, 0.0, 0.0


@jit
def separation(model, contacts, a, b, offset, normal):
    """Gap between the shapes (radii included) along the unit direction n, b standing at c from a.

    For every n it is at most the true signed distance, which is its maximum over n: so normals compete by it.
    """
    cx, cy, cz = offset
    nx, ny, nz = normal
    px, py, pz = support(model, contacts, a, 0, nx, ny, nz)
    qx, qy, qz = support(model, contacts, b, 1, -nx, -ny, -nz)
    along = (cx + qx - px) * nx + (cy + qy - py) * ny + (cz + qz - pz) * nz
    return along - core_radius(model, a) - core_radius(model, b)
