"""Distance of two convex cores by the algorithm of Gilbert, Johnson and Keerthi (1988).

The Minkowski difference D = A - B holds the origin exactly where the shapes overlap; its point nearest to the origin
is (point of A) - (point of B) of the nearest points. A simplex of up to four points of D walks towards that point.
Sub-simplices are found with signed areas and volumes and compared by distance, which stays right for slivers.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.support import support
from sesshoku.compiled.jit import jit

BEYOND, APART, OVERLAP = range(3)
ROUNDS = 128
CONVERGED = 1e-13  # of the size: upper and lower bound of the distance agree
SAME = 1e-14  # two squared distances this near are one: a turn by 1e-8 changes them less, but not a long shape's reach
STALLS = 4  # rounds without coming nearer, in which the direction may still settle
TOUCHING = 1e-10  # of the size: nearer than this a direction can no longer be told from the distance; EPA decides


@jit
def nearest_on_segment(S, i, j):
    """Weight of point j in the point of the segment i-j nearest to the origin, and that point's squared distance."""
    x, y, z = S[i, 0], S[i, 1], S[i, 2]
    ex, ey, ez = S[j, 0] - x, S[j, 1] - y, S[j, 2] - z
    length2 = ex * ex + ey * ey + ez * ez
    t = -(x * ex + y * ey + z * ez) / length2 if length2 > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    x, y, z = x + t * ex, y + t * ey, z + t * ez
    return t, x * x + y * y + z * z


@jit
def nearest_on_triangle(S, i, j, k):
    """Weights of i, j, k in the point of the triangle nearest to the origin, and its squared distance."""
    ux, uy, uz = S[j, 0] - S[i, 0], S[j, 1] - S[i, 1], S[j, 2] - S[i, 2]
    vx, vy, vz = S[k, 0] - S[i, 0], S[k, 1] - S[i, 1], S[k, 2] - S[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area2 = nx * nx + ny * ny + nz * nz
    scale = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    if area2 > 1e-28 * scale:
        f = (S[i, 0] * nx + S[i, 1] * ny + S[i, 2] * nz) / area2
        px, py, pz = f * nx, f * ny, f * nz  # the origin dropped onto the plane
        ax, ay, az = S[i, 0] - px, S[i, 1] - py, S[i, 2] - pz
        bx, by, bz = S[j, 0] - px, S[j, 1] - py, S[j, 2] - pz
        cx, cy, cz = S[k, 0] - px, S[k, 1] - py, S[k, 2] - pz
        wi = (by * cz - bz * cy) * nx + (bz * cx - bx * cz) * ny + (bx * cy - by * cx) * nz
        wj = (cy * az - cz * ay) * nx + (cz * ax - cx * az) * ny + (cx * ay - cy * ax) * nz
        wk = area2 - wi - wj
        if wi > 0.0 and wj > 0.0 and wk > 0.0:
            return wi / area2, wj / area2, wk / area2, px * px + py * py + pz * pz
    t, best = nearest_on_segment(S, i, j)
    wi, wj, wk = 1.0 - t, t, 0.0
    t, d2 = nearest_on_segment(S, j, k)
    if d2 < best:
        wi, wj, wk, best = 0.0, 1.0 - t, t, d2
    t, d2 = nearest_on_segment(S, k, i)
    if d2 < best:
        wi, wj, wk, best = t, 0.0, 1.0 - t, d2
    return wi, wj, wk, best


@jit
def beyond_face(S, i, j, k, other):
    """Whether face i, j, k parts the origin from the fourth corner (flat tetrahedra: every face does)."""
    ux, uy, uz = S[j, 0] - S[i, 0], S[j, 1] - S[i, 1], S[j, 2] - S[i, 2]
    vx, vy, vz = S[k, 0] - S[i, 0], S[k, 1] - S[i, 1], S[k, 2] - S[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    wx, wy, wz = S[other, 0] - S[i, 0], S[other, 1] - S[i, 1], S[other, 2] - S[i, 2]
    volume = nx * wx + ny * wy + nz * wz
    origin = -(nx * S[i, 0] + ny * S[i, 1] + nz * S[i, 2])
    flat = volume * volume <= 1e-26 * (nx * nx + ny * ny + nz * nz) * (wx * wx + wy * wy + wz * wz)
    return flat or origin * volume < 0.0


@jit
def reduce_tetrahedron(S, weight):
    """Weights of the nearest face; False if the origin is inside."""
    best = inf
    for other in range(4):
        i, j, k = (other + 1) & 3, (other + 2) & 3, (other + 3) & 3
        if beyond_face(S, i, j, k, other):
            wi, wj, wk, d2 = nearest_on_triangle(S, i, j, k)
            if d2 < best:
                best = d2
                weight[i], weight[j], weight[k], weight[other] = wi, wj, wk, 0.0
    return best < inf


@jit
def reduce_simplex(S, weight, count):
    """Keep the corners that carry the point nearest to the origin, with weights; their count, 4: origin inside."""
    if count == 1:
        weight[0] = 1.0
    elif count == 2:
        t, _ = nearest_on_segment(S, 0, 1)
        weight[0], weight[1] = 1.0 - t, t
    elif count == 3:
        weight[0], weight[1], weight[2], _ = nearest_on_triangle(S, 0, 1, 2)
    elif not reduce_tetrahedron(S, weight):
        return 4
    kept = 0
    for i in range(count):
        if weight[i] > 0.0:
            if kept < i:
                weight[kept] = weight[i]
                for e in range(6):
                    S[kept, e] = S[i, e]
            kept += 1
    return kept


@jit
def drop_along(x, y, z, ex, ey, ez):
    """The part of (x, y, z) across e (any length)."""
    f = (x * ex + y * ey + z * ez) / (ex * ex + ey * ey + ez * ez)
    return x - f * ex, y - f * ey, z - f * ez


@jit
def square_to_simplex(S, count, x, y, z):
    """Take off what rounding left of the nearest point (x, y, z) of a segment or triangle along its edges.

    The sum of weighted corners is right to the last digit of the corners; of a needle of 1 m that passes 1 um from the
    origin that is a tilt which moves the needle's ends by more than the rest of the shape. The longest edge goes first:
    the other one of a sliver has no direction of its own until that is taken off.
    """
    if count < 2:
        return x, y, z
    longest, i, j = -1.0, 0, 1
    for a in range(count - 1):
        for b in range(a + 1, count):
            ex, ey, ez = S[b, 0] - S[a, 0], S[b, 1] - S[a, 1], S[b, 2] - S[a, 2]
            length2 = ex * ex + ey * ey + ez * ez
            if length2 > longest:
                longest, i, j = length2, a, b
    if longest <= 0.0:
        return x, y, z
    ex, ey, ez = S[j, 0] - S[i, 0], S[j, 1] - S[i, 1], S[j, 2] - S[i, 2]
    x, y, z = drop_along(x, y, z, ex, ey, ez)
    if count == 3:
        k = 3 - i - j
        gx, gy, gz = drop_along(S[k, 0] - S[i, 0], S[k, 1] - S[i, 1], S[k, 2] - S[i, 2], ex, ey, ez)
        if gx * gx + gy * gy + gz * gz > 1e-26 * longest:
            x, y, z = drop_along(x, y, z, gx, gy, gz)
            x, y, z = drop_along(x, y, z, ex, ey, ez)
    return x, y, z


@jit
def add_corner(model, contacts, pair, offset, direction, rows, at):
    """Farthest point of D = A - B in direction d, and where it lies on A, into rows[at]."""
    a, b = pair
    cx, cy, cz = offset
    dx, dy, dz = direction
    px, py, pz = support(model, contacts, a, 0, dx, dy, dz)
    qx, qy, qz = support(model, contacts, b, 1, -dx, -dy, -dz)
    row = rows[at]
    row[0], row[1], row[2] = px - (qx + cx), py - (qy + cy), pz - (qz + cz)
    row[3], row[4], row[5] = px, py, pz


@jit
def gjk(model, contacts, a, b, offset, limit, size):
    """How the cores stand, b at c from a: (BEYOND: farther than limit | APART | OVERLAP, corners of the simplex, v).

    v = (point of a) - (point of b) of the nearest points, which APART leaves in `witness`. APART, no corners: the
    simplex does not belong to v.
    """
    cx, cy, cz = offset
    S, weight, witness = contacts.simplex, contacts.weight, contacts.witness
    vx, vy, vz = -cx, -cy, -cz
    if vx * vx + vy * vy + vz * vz <= (TOUCHING * size) ** 2:
        vx, vy, vz = 1.0, 0.0, 0.0
    count, v2, stalled = 0, inf, 0
    for _ in range(ROUNDS):
        add_corner(model, contacts, (a, b), offset, (-vx, -vy, -vz), S, count)
        here2 = vx * vx + vy * vy + vz * vz
        reach = vx * S[count, 0] + vy * S[count, 1] + vz * S[count, 2]
        if reach > 0.0 and reach * reach > limit * limit * here2:
            return BEYOND, 0, vx, vy, vz
        if count > 0:
            if here2 - reach <= CONVERGED * size * sqrt(here2):
                break
            known = False
            for i in range(count):
                known = known or (S[i, 0] == S[count, 0] and S[i, 1] == S[count, 1] and S[i, 2] == S[count, 2])
            if known:
                break
        count = reduce_simplex(S, weight, count + 1)
        if count == 4:
            return OVERLAP, 4, vx, vy, vz
        x, y, z = 0.0, 0.0, 0.0
        for i in range(count):
            x, y, z = x + weight[i] * S[i, 0], y + weight[i] * S[i, 1], z + weight[i] * S[i, 2]
        x, y, z = square_to_simplex(S, count, x, y, z)
        before2, v2 = v2, x * x + y * y + z * z
        if v2 <= (TOUCHING * size) ** 2:
            return OVERLAP, count, x, y, z
        if v2 > (1.0 + SAME) * before2:  # rounding: no nearer any more, the point before is the better one
            count = 0
            break
        stalled = stalled + 1 if v2 >= (1.0 - SAME) * before2 else 0
        vx, vy, vz = x, y, z
        for e in range(3):
            witness[0, e] = 0.0
            for i in range(count):
                witness[0, e] += weight[i] * S[i, 3 + e]
        if stalled > STALLS:
            break
    witness[1, 0], witness[1, 1], witness[1, 2] = witness[0, 0] - vx, witness[0, 1] - vy, witness[0, 2] - vz
    return APART, count, vx, vy, vz
