"""A half-space against everything else: the points of the shape that look at the plane, within the margin.

Boxes and polyhedra give all such vertices, a cylinder its end's octagon and the lowest points of both rims, a capsule
its two ends, an ellipsoid its lowest point. A vertex looks at the plane if one of its faces does (by more than
`LOOKING`): the upper side of a thin plate stays out.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import OVERFLOW, SMOOTH, VERTEX
from sesshoku.collision.features import RIM, RIM_X, RIM_Y, edge_slope, flattest_neighbour
from sesshoku.collision.points.reduction import reduce_manifold
from sesshoku.collision.support import ellipsoid_point, farthest_vertex
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CONVEX, SHAPE_CYLINDER, SHAPE_ELLIPSOID, SHAPE_SPHERE
from sesshoku.spatial.algebra import turned, turned_back

LOOKING = 0.1  # cosine
LEVEL = 1e-3  # of the radius: vertices that differ less in height are about as deep
CLEAR = 1e-9  # of the radius: a lowest vertex so much beyond the margin leaves none within it
RIM_TILT = 1e-5  # sine of the tilt above which the lowest point of a rim is told apart from the octagon's corners


@jit
def put_low_point(contacts, count, shape, low, plane, margin, kind):
    """Add the point (x, y, z), seen from the shape's position at height `base` over the plane; returns the count."""
    base, normal = plane
    x, y, z = low
    nx, ny, nz = normal
    gap = base + (x * nx + y * ny + z * nz)
    if gap > margin or count == len(contacts.manifold_gap):
        return count
    point, at = contacts.manifold_point[count], contacts.shape_position[shape]
    d = 0.5 * gap
    point[0], point[1], point[2] = at[0] + (x - d * nx), at[1] + (y - d * ny), at[2] + (z - d * nz)
    contacts.manifold_gap[count], contacts.manifold_kind[count] = gap, kind
    return count + 1


@jit
def box_on_plane(contacts, shape, R, h, plane, margin):
    local, base, normal = plane
    lx, ly, lz = local
    count = 0
    for corner in range(8):
        sx, sy, sz = 1.0 - 2.0 * (corner & 1), 1.0 - (corner & 2), 1.0 - 0.5 * (corner & 4)
        if min(sx * lx, sy * ly, sz * lz) < -LOOKING:
            x, y, z = turned(R, sx * h[0], sy * h[1], sz * h[2])
            count = put_low_point(contacts, count, shape, (x, y, z), (base, normal), margin, VERTEX)
    return count


@jit
def polyhedron_on_plane(model, contacts, shape, R, plane, margin):
    """More vertices than there is room for: the deepest stay; of a level face, all as deep, those that span it."""
    level, gaps = LEVEL * model.shape_radius[shape], contacts.manifold_gap
    count, left_out = low_vertices(model, contacts, shape, R, plane, margin, False)
    if left_out > 0:
        contacts.counts[OVERFLOW] += left_out
        lowest = highest = gaps[0]
        for k in range(1, count):
            lowest, highest = min(lowest, gaps[k]), max(highest, gaps[k])
        if highest - lowest <= level:
            margin = min(margin, lowest + level)
            count, _ = low_vertices(model, contacts, shape, R, plane, margin, True)
    return count


@jit
def low_vertices(model, contacts, shape, R, plane, margin, spread):
    """Vertices that look at the plane: how many were kept, how many left out.

    When there is no more room, the highest gives way, or (`spread`) the half that widens the polygon least.
    """
    local, base, normal = plane
    lx, ly, lz = local
    first, last = model.shape_vertex[shape, 0], model.shape_vertex[shape, 1]
    V, N, gaps = model.vertices[first:last], model.polygon_normal, contacts.manifold_gap
    count, left_out, room = 0, 0, len(gaps)
    # of a spike or a blade no face looks at the plane: its lowest vertex does, and the other end of its lowest edge
    lowest = farthest_vertex(model, shape, 0, -lx, -ly, -lz)
    if base + (V[lowest, 0] * lx + V[lowest, 1] * ly + V[lowest, 2] * lz) > margin + CLEAR * model.shape_radius[shape]:
        return 0, 0
    beside = flattest_neighbour(model, shape, lowest, -lx, -ly, -lz)
    if edge_slope(model, shape, lowest, beside, -lx, -ly, -lz) > LOOKING:
        beside = lowest
    for i in range(len(V)):
        gap = base + (V[i, 0] * lx + V[i, 1] * ly + V[i, 2] * lz)
        if gap > margin:
            continue
        looks = i == lowest or i == beside
        for e in range(model.around_start[first + i], model.around_start[first + i + 1]):
            p = model.around[e]
            looks = looks or N[p, 0] * lx + N[p, 1] * ly + N[p, 2] * lz < -LOOKING
        if not looks:
            continue
        at = count
        if count == room and spread:
            count = at = reduce_manifold(contacts, room, room // 2)
            left_out += room - count
        elif count == room:
            at, left_out = 0, left_out + 1
            for k in range(1, room):
                if gaps[k] > gaps[at]:
                    at = k
            if gap >= gaps[at]:
                continue
        x, y, z = turned(R, V[i, 0], V[i, 1], V[i, 2])
        count = max(count, put_low_point(contacts, at, shape, (x, y, z), (base, normal), margin, VERTEX))
    return count, left_out


@jit
def cylinder_on_plane(contacts, shape, R, r, half, plane, margin):
    """l: the plane's normal in the cylinder's axes."""
    local, base, normal = plane
    lx, ly, lz = local
    count, tilt = 0, sqrt(lx * lx + ly * ly)
    low = -half if lz >= 0.0 else half
    if abs(lz) > LOOKING:
        for k in range(RIM):
            x, y, z = turned(R, r * RIM_X[k], r * RIM_Y[k], low)
            count = put_low_point(contacts, count, shape, (x, y, z), (base, normal), margin, VERTEX)
    if tilt > RIM_TILT:
        k = -r / tilt
        fresh = True  # not one of the octagon's own corners
        for e in range(RIM if count > 0 else 0):
            fresh = fresh and abs(k * lx - r * RIM_X[e]) + abs(k * ly - r * RIM_Y[e]) > 1e-9 * r
        if fresh:
            x, y, z = turned(R, k * lx, k * ly, low)
            count = put_low_point(contacts, count, shape, (x, y, z), (base, normal), margin, SMOOTH)
        if tilt > LOOKING:
            x, y, z = turned(R, k * lx, k * ly, -low)
            count = put_low_point(contacts, count, shape, (x, y, z), (base, normal), margin, SMOOTH)
    return count


@jit
def plane_points(model, contacts, plane, shape, margin):
    """Contact points of a half-space with any other shape; the normal is the plane's."""
    P, R, size = contacts.shape_rotation[plane], contacts.shape_rotation[shape], model.shape_size[shape]
    at, origin, kind = contacts.shape_position[shape], contacts.shape_position[plane], model.shape_type[shape]
    nx, ny, nz = P[0, 2], P[1, 2], P[2, 2]
    contacts.manifold_normal[0], contacts.manifold_normal[1], contacts.manifold_normal[2] = nx, ny, nz
    base = (at[0] - origin[0]) * nx + (at[1] - origin[1]) * ny + (at[2] - origin[2]) * nz
    lx, ly, lz = turned_back(R, nx, ny, nz)
    if kind == SHAPE_BOX:
        return box_on_plane(contacts, shape, R, size, ((lx, ly, lz), base, (nx, ny, nz)), margin)
    if kind == SHAPE_CONVEX:
        return polyhedron_on_plane(model, contacts, shape, R, ((lx, ly, lz), base, (nx, ny, nz)), margin)
    if kind == SHAPE_CYLINDER:
        return cylinder_on_plane(contacts, shape, R, size[0], size[1], ((lx, ly, lz), base, (nx, ny, nz)), margin)
    r = size[0]
    if kind == SHAPE_SPHERE:
        return put_low_point(contacts, 0, shape, (-r * nx, -r * ny, -r * nz), (base, (nx, ny, nz)), margin, SMOOTH)
    if kind == SHAPE_ELLIPSOID:
        x, y, z = ellipsoid_point(size, -lx, -ly, -lz)
        x, y, z = turned(R, x, y, z)
        return put_low_point(contacts, 0, shape, (x, y, z), (base, (nx, ny, nz)), margin, SMOOTH)
    count = 0
    if kind == SHAPE_CAPSULE:
        for half in (-size[1], size[1]):
            x, y, z = turned(R, 0.0, 0.0, half)
            x, y, z = x - r * nx, y - r * ny, z - r * nz
            count = put_low_point(contacts, count, shape, (x, y, z), (base, (nx, ny, nz)), margin, SMOOTH)
    return count
