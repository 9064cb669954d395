"""Normals worth preferring: those the shapes themselves have near the one that GJK or EPA found.

The signed distance is the maximum over all directions of `separation`, so a candidate that reaches it as well is a
normal as well, and a face's own normal is known to the last digit, where the one computed from nearest points of
touching shapes is not.
"""

from __future__ import annotations

from math import copysign, cos, inf, sin, sqrt

from sesshoku.collision.features import TOP, facing_polygon
from sesshoku.collision.support import farthest_vertex, separation, support
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CONVEX, SHAPE_CYLINDER, SHAPE_FIELD
from sesshoku.spatial.algebra import turned, turned_back

AS_GOOD = 1e-13  # of the size: loss of separation allowed for a normal of the shapes' own
NEAR = 0.99  # cosine: candidates farther off are not tried


@jit
def own_direction(model, contacts, shape, slot, dx, dy, dz):
    """The direction of a shape's own nearest to d: a face normal, a cylinder's axis, or d put across an axis."""
    R, kind = contacts.shape_rotation[shape], model.shape_type[shape]
    x, y, z = turned_back(R, dx, dy, dz)
    if kind == SHAPE_BOX:
        k = 0 if abs(x) >= abs(y) and abs(x) >= abs(z) else 1 if abs(y) >= abs(z) else 2
        s = copysign(1.0, x if k == 0 else y if k == 1 else z)
        return s * R[0, k], s * R[1, k], s * R[2, k]
    if kind == SHAPE_CONVEX:
        vertex = farthest_vertex(model, shape, contacts.climb[slot], x, y, z)
        polygon, _ = facing_polygon(model, shape, vertex, x, y, z)
        N = model.polygon_normal[polygon]
        return turned(R, N[0], N[1], N[2])
    if kind == SHAPE_FIELD:
        N = contacts.cell[TOP]
        return turned(R, N[0], N[1], N[2])
    if kind == SHAPE_CYLINDER and abs(z) > 0.7:
        s = copysign(1.0, z)
        return s * R[0, 2], s * R[1, 2], s * R[2, 2]
    across = sqrt(x * x + y * y)
    if (kind == SHAPE_CYLINDER or kind == SHAPE_CAPSULE) and across > 0.7:
        return turned(R, x / across, y / across, 0.0)
    return 0.0, 0.0, 0.0


@jit
def along(x, y, z, nx, ny, nz):
    """The unit vector on the line of (x, y, z) that looks along n; zero where there is no line."""
    length = sqrt(x * x + y * y + z * z)
    k = copysign(1.0 / length, x * nx + y * ny + z * nz) if length > 1e-300 else 0.0
    return k * x, k * y, k * z


@jit
def simplex_normal(S, nx, ny, nz):
    """Normal of the first three corners of the simplex, along n."""
    ux, uy, uz = S[1, 0] - S[0, 0], S[1, 1] - S[0, 1], S[1, 2] - S[0, 2]
    vx, vy, vz = S[2, 0] - S[0, 0], S[2, 1] - S[0, 1], S[2, 2] - S[0, 2]
    return along(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, nx, ny, nz)


@jit
def crossed_axes(model, contacts, a, b, nx, ny, nz):
    """The common perpendicular of the axes of capsules and cylinders; zero for others and for parallel axes."""
    kind_a, kind_b = model.shape_type[a], model.shape_type[b]
    if (kind_a != SHAPE_CAPSULE and kind_a != SHAPE_CYLINDER) or (kind_b != SHAPE_CAPSULE and kind_b != SHAPE_CYLINDER):
        return 0.0, 0.0, 0.0
    A, B = contacts.shape_rotation[a], contacts.shape_rotation[b]
    ux, uy, uz, vx, vy, vz = A[0, 2], A[1, 2], A[2, 2], B[0, 2], B[1, 2], B[2, 2]
    return along(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, nx, ny, nz)


@jit
def best_normal(model, contacts, pair, offset, corners, size, normal):
    """Gap and normal near n, the shapes' own directions preferred. corners: of GJK's simplex (3: a face of A - B)."""
    a, b = pair
    nx, ny, nz = normal
    gap = -inf
    for candidate in range(5):
        x, y, z, allowed = nx, ny, nz, AS_GOOD * size
        if candidate == 1:
            allowed = 0.0
            if corners == 3:
                x, y, z = simplex_normal(contacts.simplex, nx, ny, nz)
        elif candidate == 2:
            x, y, z = own_direction(model, contacts, b, 1, -nx, -ny, -nz)
            x, y, z = -x, -y, -z
        elif candidate == 3:
            x, y, z = own_direction(model, contacts, a, 0, nx, ny, nz)
        elif candidate == 4:
            x, y, z = crossed_axes(model, contacts, a, b, nx, ny, nz)
        if x * nx + y * ny + z * nz < NEAR or (candidate > 0 and x == nx and y == ny and z == nz):
            continue
        s = separation(model, contacts, a, b, offset, (x, y, z))
        if s >= gap - allowed:
            gap, nx, ny, nz = s, x, y, z
    return gap, nx, ny, nz


@jit
def deep_normal(model, contacts, pair, offset, tolerance, best):
    """A better way out for a cylinder with something near its axis, where EPA would need countless faces.

    Tried are both ends, and straight from the axis towards the other shape's position.
    """
    a, b = pair
    gap, normal = best
    cx, cy, cz = offset
    nx, ny, nz = normal
    for slot in range(2):
        shape = a if slot == 0 else b
        if model.shape_type[shape] != SHAPE_CYLINDER:
            continue
        R, s = contacts.shape_rotation[shape], 1.0 if slot == 0 else -1.0
        x, y, _ = turned_back(R, s * cx, s * cy, s * cz)  # the other one, seen from the cylinder
        across = sqrt(x * x + y * y)
        for k in range(3):
            if k < 2:
                dx, dy, dz = turned(R, 0.0, 0.0, 1.0 - 2.0 * k)
            elif across > 0.0:
                dx, dy, dz = turned(R, x / across, y / across, 0.0)
            else:
                dx, dy, dz = turned(R, 1.0, 0.0, 0.0)
            dx, dy, dz = s * dx, s * dy, s * dz
            d = separation(model, contacts, a, b, offset, (dx, dy, dz))
            if d > gap + tolerance:
                gap, nx, ny, nz = d, dx, dy, dz
    return gap, nx, ny, nz


@jit
def apart_and_slope(model, contacts, a, b, offset, normal, tangent):
    """Gap along n (radii left out), and how fast it grows as n turns towards t."""
    cx, cy, cz = offset
    nx, ny, nz = normal
    tx, ty, tz = tangent
    px, py, pz = support(model, contacts, a, 0, nx, ny, nz)
    qx, qy, qz = support(model, contacts, b, 1, -nx, -ny, -nz)
    x, y, z = cx + qx - px, cy + qy - py, cz + qz - pz
    return x * nx + y * ny + z * nz, x * tx + y * ty + z * tz


@jit
def turned_normal(model, contacts, pair, offset, shape, size, best):
    """The best normal near n among those that n becomes when turned about the axis of a cylinder.

    EPA's polytope ends in slivers on a curved side, with the depth right to many more digits than the direction and the
    place. Here the slope of the gap is halved down to where it changes sign.
    """
    a, b = pair
    gap, normal = best
    nx, ny, nz = normal
    R = contacts.shape_rotation[shape]
    ux, uy, uz = R[0, 2], R[1, 2], R[2, 2]
    tx, ty, tz = uy * nz - uz * ny, uz * nx - ux * nz, ux * ny - uy * nx  # along which n turns
    if tx * tx + ty * ty + tz * tz < 1e-6:
        return gap, nx, ny, nz  # an end faces the other shape
    _, slope = apart_and_slope(model, contacts, a, b, offset, normal, (tx, ty, tz))
    way = copysign(1.0, slope)
    rx, ry, rz = uy * tz - uz * ty, uz * tx - ux * tz, ux * ty - uy * tx  # against the part of n across the axis
    low, high, beyond = 0.0, max(2.0 * abs(slope) / size, 1e-9), False
    x, y, z = nx, ny, nz
    for _ in range(60):
        angle = 0.5 * (low + high) if beyond else high
        c, s = 1.0 - cos(angle), way * sin(angle)
        x, y, z = nx + c * rx + s * tx, ny + c * ry + s * ty, nz + c * rz + s * tz
        e, f = 1.0 - c, s
        _, slope = apart_and_slope(model, contacts, a, b, offset, (x, y, z),
                                   (e * tx + f * rx, e * ty + f * ry, e * tz + f * rz))
        if slope * way <= 0.0:
            high, beyond = angle, True
        else:
            low = angle
            if not beyond:
                high = 2.0 * angle
        if (beyond and high - low <= 1e-13) or high > 0.5:
            break
    length = sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    d = separation(model, contacts, a, b, offset, (x, y, z))
    return (d, x, y, z) if d > gap else (gap, nx, ny, nz)


@jit
def drum_normal(model, contacts, pair, offset, size, best):
    """A normal of overlapping shapes, cylinders among them, made good to the last digits."""
    a, b = pair
    gap, normal = best
    nx, ny, nz = normal
    if model.shape_type[a] != SHAPE_CYLINDER and model.shape_type[b] != SHAPE_CYLINDER:
        return gap, nx, ny, nz
    gap, nx, ny, nz = deep_normal(model, contacts, pair, offset, 1e-9 * size, (gap, (nx, ny, nz)))
    for turn in range(4):
        shape = a if turn % 2 == 0 else b
        if model.shape_type[shape] == SHAPE_CYLINDER:
            gap, nx, ny, nz = turned_normal(model, contacts, pair, offset, shape, size, (gap, (nx, ny, nz)))
    return best_normal(model, contacts, pair, offset, 0, size, (nx, ny, nz))


@jit
def axis_normal(model, contacts, a, b, cx, cy, cz):
    """The best of the shapes' frame axes: what is left where rounding leaves no polytope to expand. A valid bound."""
    gap, nx, ny, nz = -inf, 0.0, 0.0, 1.0
    for shape in (a, b):
        R = contacts.shape_rotation[shape]
        for k in range(6):
            sign = 1.0 if k < 3 else -1.0
            x, y, z = sign * R[0, k % 3], sign * R[1, k % 3], sign * R[2, k % 3]
            s = separation(model, contacts, a, b, (cx, cy, cz), (x, y, z))
            if s > gap:
                gap, nx, ny, nz = s, x, y, z
    return gap, nx, ny, nz
