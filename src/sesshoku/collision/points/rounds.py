"""Spheres and capsules in closed form: the nearest point of a shape to a point, of a segment to a segment."""

from __future__ import annotations

from math import copysign, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CYLINDER
from sesshoku.spatial.algebra import turned, turned_back

TINY = 1e-12  # of the size: a point this near to a core has no direction from it


@jit
def across_axis(R):
    """A unit vector across a shape's axis, for shapes that lie in each other without any direction of their own."""
    return R[0, 0], R[1, 0], R[2, 0]


@jit
def across(x, y, z, ux, uy, uz):
    """The part of (x, y, z) across the unit vector u: takes off what rounding left of a long difference."""
    along = x * ux + y * uy + z * uz
    return x - along * ux, y - along * uy, z - along * uz


@jit
def point_from_box(h, x, y, z):
    """Signed distance of a point from a box, and its unit direction, all in the box's axes."""
    dx, dy, dz = abs(x) - h[0], abs(y) - h[1], abs(z) - h[2]
    if dx <= 0.0 and dy <= 0.0 and dz <= 0.0:  # inside: out through the nearest face
        if dx >= dy and dx >= dz:
            return dx, copysign(1.0, x), 0.0, 0.0
        if dy >= dz:
            return dy, 0.0, copysign(1.0, y), 0.0
        return dz, 0.0, 0.0, copysign(1.0, z)
    ex, ey, ez = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
    m = max(ex, ey, ez)  # scaled: squares of tiny distances would vanish
    ex, ey, ez = ex / m, ey / m, ez / m
    length = sqrt(ex * ex + ey * ey + ez * ez)
    return m * length, copysign(ex / length, x), copysign(ey / length, y), copysign(ez / length, z)


@jit
def point_from_cylinder(r, half, x, y, z):
    """Signed distance of a point from a cylinder, and its unit direction, all in the cylinder's axes."""
    radial = sqrt(x * x + y * y)
    ux, uy = (x / radial, y / radial) if radial > 0.0 else (1.0, 0.0)
    out, up = radial - r, abs(z) - half
    if out <= 0.0 and up <= 0.0:
        if up >= out:
            return up, 0.0, 0.0, copysign(1.0, z)
        return out, ux, uy, 0.0
    out, up = max(out, 0.0), max(up, 0.0)
    m = max(out, up)
    out, up = out / m, up / m
    length = sqrt(out * out + up * up)
    return m * length, ux * out / length, uy * out / length, copysign(up / length, z)


@jit
def sphere_normal(model, contacts, a, sphere, cx, cy, cz):
    """Sphere at c against shape a (sphere, capsule, box, cylinder): (gap, unit normal from a to the sphere)."""
    R, size, kind, r = contacts.shape_rotation[a], model.shape_size[a], model.shape_type[a], model.shape_size[sphere, 0]
    if kind == SHAPE_BOX:
        x, y, z = turned_back(R, cx, cy, cz)
        d, x, y, z = point_from_box(size, x, y, z)
        nx, ny, nz = turned(R, x, y, z)
        return d - r, nx, ny, nz
    if kind == SHAPE_CYLINDER:
        x, y, z = turned_back(R, cx, cy, cz)
        d, x, y, z = point_from_cylinder(size[0], size[1], x, y, z)
        nx, ny, nz = turned(R, x, y, z)
        return d - r, nx, ny, nz
    if kind == SHAPE_CAPSULE:
        along = cx * R[0, 2] + cy * R[1, 2] + cz * R[2, 2]
        along = min(max(along, -size[1]), size[1])
        cx, cy, cz = cx - along * R[0, 2], cy - along * R[1, 2], cz - along * R[2, 2]
        if abs(along) < size[1]:
            cx, cy, cz = across(cx, cy, cz, R[0, 2], R[1, 2], R[2, 2])
    length = sqrt(cx * cx + cy * cy + cz * cz)
    if length <= TINY * (model.shape_radius[a] + r):
        nx, ny, nz = across_axis(R)
        return length - size[0] - r, nx, ny, nz
    return length - size[0] - r, cx / length, cy / length, cz / length


@jit
def nearest_of_segments(first, half_a, second, half_b, offset):
    """Places (from the middles, along the unit axes u, v) where two segments are nearest, b's middle at c from a's."""
    ux, uy, uz = first
    vx, vy, vz = second
    cx, cy, cz = offset
    uv = ux * vx + uy * vy + uz * vz
    uc, vc = ux * cx + uy * cy + uz * cz, vx * cx + vy * cy + vz * cz
    wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sine2 = wx * wx + wy * wy + wz * wz  # exact also for nearly parallel axes, unlike 1 - uv^2
    if sine2 > 1e-20:
        s = (uc - uv * vc) / sine2
        s = min(max(s, -half_a), half_a)
    else:  # parallel: the middle of what they share
        low, high = max(-half_a, uc - half_b), min(half_a, uc + half_b)
        s = min(max(0.5 * (low + high), -half_a), half_a)
    t = s * uv - vc
    if abs(t) > half_b:
        t = copysign(half_b, t)
        s = min(max(t * uv + uc, -half_a), half_a)
    return s, t


@jit
def cores_apart(first, half_a, second, half_b, offset, normal):
    """Gap between two segments along n, b's middle at c from a's."""
    ux, uy, uz = first
    vx, vy, vz = second
    cx, cy, cz = offset
    nx, ny, nz = normal
    reach = half_a * abs(ux * nx + uy * ny + uz * nz) + half_b * abs(vx * nx + vy * ny + vz * nz)
    return cx * nx + cy * ny + cz * nz - reach


@jit
def from_end(px, py, pz, ux, uy, uz, half):
    """From the segment -half..half along the unit vector u to the point p: the shortest vector."""
    s = px * ux + py * uy + pz * uz
    k = min(max(s, -half), half)
    px, py, pz = px - k * ux, py - k * uy, pz - k * uz
    return across(px, py, pz, ux, uy, uz) if abs(s) < half else (px, py, pz)


@jit
def capsule_normal(model, contacts, a, b, cx, cy, cz):
    """Two capsules: (gap, unit normal from a to b); nearest points of the surfaces in `witness`.

    The differences of points of the two cores fill a parallelogram. Its point nearest to the origin lies within it, on
    the line of the common perpendicular m, or on one of its four edges, where an end of one core meets the other core.
    Each gives a direction, and the one along which the cores are farthest apart is the normal: no case is told from
    another by a threshold, whether the axes are parallel, nearly so, skew, or cross (where m parts them).
    """
    A, B, W = contacts.shape_rotation[a], contacts.shape_rotation[b], contacts.witness
    ux, uy, uz, vx, vy, vz = A[0, 2], A[1, 2], A[2, 2], B[0, 2], B[1, 2], B[2, 2]
    ra, rb, ha, hb = model.shape_size[a, 0], model.shape_size[b, 0], model.shape_size[a, 1], model.shape_size[b, 1]
    tiny = TINY * (model.shape_radius[a] + model.shape_radius[b])
    nx, ny, nz = across_axis(A)  # parallel cores that lie in each other: any direction across them
    apart = cores_apart((ux, uy, uz), ha, (vx, vy, vz), hb, (cx, cy, cz), (nx, ny, nz))
    for k in range(5):
        if k == 0:
            x, y, z = across(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, ux, uy, uz)
            x, y, z = across(x, y, z, ux, uy, uz)  # of nearly parallel axes the first left mostly its own rounding
            sign, least = copysign(1.0, x * cx + y * cy + z * cz), 1e-300
            x, y, z = sign * x, sign * y, sign * z
        elif k < 3:
            t, least = (hb if k == 1 else -hb), tiny
            x, y, z = from_end(cx + t * vx, cy + t * vy, cz + t * vz, ux, uy, uz, ha)
        else:
            s, least = (ha if k == 3 else -ha), tiny
            x, y, z = from_end(s * ux - cx, s * uy - cy, s * uz - cz, vx, vy, vz, hb)
            x, y, z = -x, -y, -z
        length = sqrt(x * x + y * y + z * z)
        if length <= least:
            continue
        x, y, z = x / length, y / length, z / length
        here = cores_apart((ux, uy, uz), ha, (vx, vy, vz), hb, (cx, cy, cz), (x, y, z))
        if here > apart:
            apart, nx, ny, nz = here, x, y, z
    s, t = nearest_of_segments((ux, uy, uz), ha, (vx, vy, vz), hb, (cx, cy, cz))
    W[0, 0], W[0, 1], W[0, 2] = s * ux + ra * nx, s * uy + ra * ny, s * uz + ra * nz
    W[1, 0], W[1, 1], W[1, 2] = cx + t * vx - rb * nx, cy + t * vy - rb * ny, cz + t * vz - rb * nz
    return apart - ra - rb, nx, ny, nz
