"""When a moving vertex passes a moving triangle, and a moving edge another: the two primitive tests.

Vertices move on straight lines, time runs from 0 to 1. Two ways to find the crossing time:

- LINEAR, as the thesis: signed distances at both ends, interpolated linearly. Exact where nothing turns.
- CUBIC: the time at which the four points lie in one plane, a root of a cubic. Exact for straight paths however the
  triangle or the edges turn meanwhile. A touch without passing (a double root) and motion within the plane (the zero
  polynomial) are no crossings.

Vertex-face: only going inside counts, d >= 0 before and < 0 after. Edge-edge: either way; what ends in touch (d = 0)
has not passed yet, and what begins in touch counts if it goes on into the solid.

`graze` (m) is the depth up to which surfaces count as touching: boxes that stand flush side by side slide along each
other with distances of zero and whatever rounding adds. A vertex must go in by that much, and edges that are nearer
than that at either end are in touch there. What was let pass in one sweep begins the next in touch: nothing gets lost.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit

LINEAR, CUBIC = range(2)
# work space of a test (16): coefficients of a cubic, its extrema, times of its sign changes, the signs before
# them, then of the crossing found: barycentrics or parameters along the edges, sign of the determinant before
TURNS, TIMES, SIGNS, PARAMETERS, SIDE, WORK = 4, 6, 9, 12, 15, 16
INSIDE = 1e-9  # tolerance of parameters within a triangle or an edge
PARALLEL = 1e-8  # sine of the angle of two edges below which vertices and faces cover the contact
SLIVER = 1e-12  # a triangle whose doubled area is below this share of its longest edge squared has no inside


# ---- polynomials ----------------------------------------------------------------------------------------------------


@jit(into_callers=True)
def value(c, t):
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]


@jit
def extrema(c):
    """Where the slope of a cubic is zero within (0, 1), ascending; returns how many (0 to 2)."""
    a, b, d = 3.0 * c[3], 2.0 * c[2], c[1]
    n = 0
    root = b * b - 4.0 * a * d
    if root < 0.0 or (a == 0.0 and b == 0.0):
        return 0
    q = -0.5 * (b + (sqrt(root) if b >= 0.0 else -sqrt(root)))
    one = q / a if a != 0.0 else -1.0
    other = d / q if q != 0.0 else -1.0
    if one > other:
        one, other = other, one
    if 0.0 < one < 1.0:
        c[TURNS + n] = one
        n += 1
    if 0.0 < other < 1.0 and other != one:
        c[TURNS + n] = other
        n += 1
    return n


@jit
def root_between(c, low, high):
    """The root of a cubic that is monotone on [low, high] and changes sign there: Newton, kept inside by halving."""
    at_low = value(c, low)
    if at_low == 0.0:
        return low
    t = 0.5 * (low + high)
    for _ in range(100):
        f = value(c, t)
        if f == 0.0:
            return t
        if (f > 0.0) == (at_low > 0.0):
            low = t
        else:
            high = t
        slope = (3.0 * c[3] * t + 2.0 * c[2]) * t + c[1]
        step = t - f / slope if slope != 0.0 else low
        before = t
        t = step if low < step < high else 0.5 * (low + high)
        if abs(t - before) <= 1e-16 or not low < t < high:
            break
    return t


@jit
def sign_changes(c, at_start, at_end, small):
    """Times within [0, 1] at which a cubic changes its sign, ascending, with the signs before; returns how many.

    at_start, at_end: its values there, computed apart: the end of one sweep must look like the start of the next. What
    begins with zero changes sign at 0. Double roots change nothing, nor does the zero polynomial. small: values between
    the ends that count as zero.
    """
    turns, count, low, last = extrema(c), 0, 0.0, at_start
    for k in range(turns + 1):
        high = c[TURNS + k] if k < turns else 1.0
        at_high = at_end if k == turns else value(c, high)
        if k < turns and abs(at_high) <= small:
            at_high = 0.0
        if (last >= 0.0 and at_high < 0.0) or (last <= 0.0 and at_high > 0.0):
            c[TIMES + count] = 0.0 if last == 0.0 else root_between(c, low, high)
            c[SIGNS + count] = 1.0 if at_high < 0.0 else -1.0
            count += 1
        if at_high != 0.0:
            last = at_high
        low = high
    return count


# ---- vertex and face ------------------------------------------------------------------------------------------------


@jit
def vertex_face(motion, v, face, graze, crossing, work):
    """Time at which vertex v goes inside through triangle a b c, or -1. Writes the barycentrics of a, b, c there."""
    start, end = motion
    a, b, c = face
    after = height(end, v, a, b, c)
    if crossing == LINEAR and not after < 0.0:
        return -1.0
    before = height(start, v, a, b, c)
    area0, area1 = normal_length(start, a, b, c), normal_length(end, a, b, c)
    if crossing == LINEAR:
        before, after = before / area0 + graze, after / area1 + graze
        if not (before >= 0.0 and after < 0.0):
            return -1.0
        t = before / (before - after)
        return t if 0.0 <= t <= 1.0 and in_prism(motion, v, face, t, work) else -1.0
    determinant_polynomial(motion, (a, b, a, c, a, v), work)
    work[0] += graze * area0
    work[1] += graze * (area1 - area0)
    for k in range(sign_changes(work, before + graze * area0, after + graze * area1, 0.0)):
        if work[SIGNS + k] > 0.0 and in_prism(motion, v, face, work[TIMES + k], work):
            return work[TIMES + k]
    return -1.0


@jit
def height(p, v, a, b, c):
    """Distance of v from the plane of a b c, times twice the triangle's area."""
    ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    wx, wy, wz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
    x, y, z = p[v, 0] - p[a, 0], p[v, 1] - p[a, 1], p[v, 2] - p[a, 2]
    return (uy * wz - uz * wy) * x + (uz * wx - ux * wz) * y + (ux * wy - uy * wx) * z


@jit
def normal_length(p, a, b, c):
    ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    wx, wy, wz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
    x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    return sqrt(x * x + y * y + z * z)


@jit
def in_prism(motion, v, face, t, work):
    """Whether v lies in the prism over the triangle at time t; writes the barycentrics."""
    start, end = motion
    a, b, c = face
    ax, ay, az = between(start, end, a, t)
    bx, by, bz = between(start, end, b, t)
    cx, cy, cz = between(start, end, c, t)
    x, y, z = between(start, end, v, t)
    ux, uy, uz = bx - ax, by - ay, bz - az
    wx, wy, wz = cx - ax, cy - ay, cz - az
    x, y, z = x - ax, y - ay, z - az
    area2, one, two = shares((ux, uy, uz), (wx, wy, wz), (x, y, z))
    longest2 = max(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz,
                   (ux - wx) * (ux - wx) + (uy - wy) * (uy - wy) + (uz - wz) * (uz - wz))
    if not area2 > SLIVER * SLIVER * longest2 * longest2:
        return False
    one, two = one / area2, two / area2
    work[PARAMETERS], work[PARAMETERS + 1], work[PARAMETERS + 2] = 1.0 - one - two, one, two
    return one >= -INSIDE and two >= -INSIDE and one + two <= 1.0 + INSIDE


@jit(into_callers=True)
def shares(first, point, at):
    """|u x w|^2, and the shares of u and of w in what of (x, y, z) lies within their plane, times it."""
    ux, uy, uz = first
    wx, wy, wz = point
    x, y, z = at
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    return (nx * nx + ny * ny + nz * nz, nx * (y * wz - z * wy) + ny * (z * wx - x * wz) + nz * (x * wy - y * wx),
            nx * (uy * z - uz * y) + ny * (uz * x - ux * z) + nz * (ux * y - uy * x))


@jit(into_callers=True)
def between(start, end, v, t):
    """Place of a vertex at time t; exact at both ends."""
    s = 1.0 - t
    return s * start[v, 0] + t * end[v, 0], s * start[v, 1] + t * end[v, 1], s * start[v, 2] + t * end[v, 2]


@jit
def determinant_polynomial(motion, edges, c_out):
    """det(p[i1] - p[i0], p[j1] - p[j0], p[k1] - p[k0]) as a cubic in time, lowest power first."""
    start, end = motion
    i0, i1, j0, j1, k0, k1 = edges
    ux, uy, uz = start[i1, 0] - start[i0, 0], start[i1, 1] - start[i0, 1], start[i1, 2] - start[i0, 2]
    wx, wy, wz = start[j1, 0] - start[j0, 0], start[j1, 1] - start[j0, 1], start[j1, 2] - start[j0, 2]
    x, y, z = start[k1, 0] - start[k0, 0], start[k1, 1] - start[k0, 1], start[k1, 2] - start[k0, 2]
    gx, gy, gz = end[i1, 0] - end[i0, 0] - ux, end[i1, 1] - end[i0, 1] - uy, end[i1, 2] - end[i0, 2] - uz
    hx, hy, hz = end[j1, 0] - end[j0, 0] - wx, end[j1, 1] - end[j0, 1] - wy, end[j1, 2] - end[j0, 2] - wz
    rx, ry, rz = end[k1, 0] - end[k0, 0] - x, end[k1, 1] - end[k0, 1] - y, end[k1, 2] - end[k0, 2] - z
    ax, ay, az = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx  # cross product: a + b t + c t^2
    bx = uy * hz - uz * hy + gy * wz - gz * wy
    by = uz * hx - ux * hz + gz * wx - gx * wz
    bz = ux * hy - uy * hx + gx * wy - gy * wx
    cx, cy, cz = gy * hz - gz * hy, gz * hx - gx * hz, gx * hy - gy * hx
    c_out[0] = ax * x + ay * y + az * z
    c_out[1] = ax * rx + ay * ry + az * rz + bx * x + by * y + bz * z
    c_out[2] = bx * rx + by * ry + bz * rz + cx * x + cy * y + cz * z
    c_out[3] = cx * rx + cy * ry + cz * rz


# ---- edge and edge --------------------------------------------------------------------------------------------------


@jit
def edge_edge(motion, edges, topology, graze, crossing, work):
    """Time at which two edges pass each other, or -1. Writes parameters, and the sign of eq. (5.1), thesis, before."""
    start, end = motion
    e0, e1 = edges
    edge_vertex, edge_face, face_vertex = topology
    a0, b0, a1, b1 = edge_vertex[e0, 0], edge_vertex[e0, 1], edge_vertex[e1, 0], edge_vertex[e1, 1]
    d0, across0, sine0 = edge_distance(start, a0, b0, a1, b1)
    d1, across1, sine1 = edge_distance(end, a0, b0, a1, b1)
    d0, d1 = 0.0 if abs(d0) <= graze else d0, 0.0 if abs(d1) <= graze else d1
    inward = inside_sign(start, e0, e1, edge_vertex, edge_face, face_vertex) if d0 == 0.0 and d1 != 0.0 else 0.0
    if crossing == LINEAR:
        if not passes(d0, d1, inward) or sine0 < PARALLEL or sine1 < PARALLEL or turned(start, end, a0, b0, a1, b1):
            return -1.0
        t = d0 / (d0 - d1)  # (5.2), thesis: as a share of the step
        work[SIDE] = 1.0 if d0 > 0.0 or (d0 == 0.0 and d1 < 0.0) else -1.0
        return t if 0.0 <= t <= 1.0 and on_edges(motion, (a0, b0, a1, b1), t, work) else -1.0
    determinant_polynomial(motion, (a0, b0, a1, b1, a1, a0), work)
    for k in range(sign_changes(work, d0, d1, graze * max(across0, across1))):
        touching = k == 0 and d0 == 0.0
        if touching and not work[SIGNS] * inward < 0.0:
            continue
        work[SIDE] = work[SIGNS + k]
        if on_edges(motion, (a0, b0, a1, b1), work[TIMES + k], work):
            return work[TIMES + k]
    return -1.0


@jit(into_callers=True)
def passes(before, after, inward):
    """Whether a signed distance changes its sign, or leaves zero inward."""
    return (before > 0.0 and after < 0.0) or (before < 0.0 and after > 0.0) or (before == 0.0 and after * inward > 0.0)


@jit
def edge_distance(p, a0, b0, a1, b1):
    """(5.1), thesis: signed distance of the lines through two edges; its denominator, and the sine of their angle."""
    ux, uy, uz = p[b0, 0] - p[a0, 0], p[b0, 1] - p[a0, 1], p[b0, 2] - p[a0, 2]
    wx, wy, wz = p[b1, 0] - p[a1, 0], p[b1, 1] - p[a1, 1], p[b1, 2] - p[a1, 2]
    x, y, z = p[a0, 0] - p[a1, 0], p[a0, 1] - p[a1, 1], p[a0, 2] - p[a1, 2]
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    across = sqrt(nx * nx + ny * ny + nz * nz)
    lengths = sqrt((ux * ux + uy * uy + uz * uz) * (wx * wx + wy * wy + wz * wz))
    if across == 0.0 or lengths == 0.0:
        return 0.0, 0.0, 0.0
    return (nx * x + ny * y + nz * z) / across, across, across / lengths


@jit
def inside_sign(p, e0, e1, edge_vertex, edge_face, face_vertex):
    """Sign of eq. (5.1), thesis, when edge 1 is inside the body of edge 0, by the faces that meet in the edges."""
    a0, b0, a1, b1 = edge_vertex[e0, 0], edge_vertex[e0, 1], edge_vertex[e1, 0], edge_vertex[e1, 1]
    ux, uy, uz = p[b0, 0] - p[a0, 0], p[b0, 1] - p[a0, 1], p[b0, 2] - p[a0, 2]
    wx, wy, wz = p[b1, 0] - p[a1, 0], p[b1, 1] - p[a1, 1], p[b1, 2] - p[a1, 2]
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    along = outward_along(p, e0, edge_face, face_vertex, nx, ny, nz)
    return along - outward_along(p, e1, edge_face, face_vertex, nx, ny, nz)


@jit
def outward_along(p, e, edge_face, face_vertex, nx, ny, nz):
    """Sum of the unit normals of the two faces of an edge, along n."""
    total = 0.0
    for side in range(2):
        f = edge_face[e, side]
        a, b, c = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
        ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
        wx, wy, wz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
        x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        length = sqrt(x * x + y * y + z * z)
        if length > 0.0:
            total += (x * nx + y * ny + z * nz) / length
    return total


@jit
def turned(start, end, a0, b0, a1, b1):
    """Whether the common normal of the edges turned over: the distance changed its sign by that alone."""
    total = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        one = ((start[b0, i] - start[a0, i]) * (start[b1, j] - start[a1, j])
               - (start[b0, j] - start[a0, j]) * (start[b1, i] - start[a1, i]))
        other = ((end[b0, i] - end[a0, i]) * (end[b1, j] - end[a1, j])
                 - (end[b0, j] - end[a0, j]) * (end[b1, i] - end[a1, i]))
        total += one * other
    return total < 0.0


@jit
def on_edges(motion, corners, t, work):
    """Whether the closest points of the two lines at time t lie on the edges; writes their parameters."""
    start, end = motion
    a0, b0, a1, b1 = corners
    ax, ay, az = between(start, end, a0, t)
    bx, by, bz = between(start, end, b0, t)
    cx, cy, cz = between(start, end, a1, t)
    dx, dy, dz = between(start, end, b1, t)
    ux, uy, uz = bx - ax, by - ay, bz - az
    wx, wy, wz = dx - cx, dy - cy, dz - cz
    x, y, z = ax - cx, ay - cy, az - cz
    across2, s, r = shares((ux, uy, uz), (wx, wy, wz), (-x, -y, -z))
    lengths2 = (ux * ux + uy * uy + uz * uz) * (wx * wx + wy * wy + wz * wz)
    if not across2 > PARALLEL * PARALLEL * lengths2:
        return False
    s, r = s / across2, -r / across2  # s u - r w = -(x, y, z) within the plane of both
    work[PARAMETERS], work[PARAMETERS + 1], work[PARAMETERS + 2] = s, r, 0.0
    return -INSIDE <= s <= 1.0 + INSIDE and -INSIDE <= r <= 1.0 + INSIDE
