"""What is read from the polyhedron of an overlap: volume and barycentre, area vectors, section, area moments.

eqs. (1), (2), volume: the normal from the area vectors of the two bodies' faces. eqs. (8), (9), volume: moments, as
integrals over the faces of the overlap projected on the contact plane (sums over points in print). With s the projected
area of a triangle, r its corners on the plane, h their distances from it, and bars for sums over the three corners:

    int 1 = s,  int r = s rbar / 3,  int r r^T = s (sum r r^T + rbar rbar^T) / 12,
    int h = s hbar / 3,  int h r = s (sum h r + hbar rbar) / 12

The distance |eta| has a crease where a face crosses the plane. The part of the overlap below the plane is at hand from
finding the section, so int |eta| = int eta - 2 int_(below) eta, and no triangle is cut for it.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.overlap.clip import BUFFER, CUT, FACES, NEW_FACE, UNFIT_CUT, VERTICES, area_vector, cut
from sesshoku.collision.overlap.overlaps import SECTION, THICKNESS
from sesshoku.collision.points.clip import clip_polygon
from sesshoku.compiled.jit import jit

MERGE = 1e-9  # of the polygon's radius: corners so near each other, or the line of their neighbours, are left out


@jit
def measure(overlaps, k):
    """Volume, surface and area vectors of overlap k; returns its barycentre from overlaps.origin."""
    state = overlaps.state
    which, count = state[BUFFER], state[VERTICES]
    vertex, start, loop, owners = (overlaps.vertex[which], overlaps.loop_start[which], overlaps.loop[which],
                                   overlaps.owner[which])
    m0, m1, m2 = 0.0, 0.0, 0.0
    for i in range(count):
        m0, m1, m2 = m0 + vertex[i, 0], m1 + vertex[i, 1], m2 + vertex[i, 2]
    m0, m1, m2 = m0 / count, m1 / count, m2 / count  # a point inside: all tetrahedra count positive
    vectors = overlaps.area_vector[k]
    for side in range(2):
        vectors[side, 0], vectors[side, 1], vectors[side, 2] = 0.0, 0.0, 0.0
    volume, surface, c0, c1, c2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for f in range(state[FACES]):
        first, last = start[f], start[f + 1]
        p = vertex[loop[first]]
        p0, p1, p2 = p[0] - m0, p[1] - m1, p[2] - m2
        q = vertex[loop[first + 1]]
        a0, a1, a2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        x, y, z = 0.0, 0.0, 0.0
        for e in range(first + 2, last):
            q = vertex[loop[e]]
            b0, b1, b2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            t0, t1, t2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            six = p0 * t0 + p1 * t1 + p2 * t2
            volume += six
            c0 += six * (3.0 * p0 + a0 + b0)
            c1 += six * (3.0 * p1 + a1 + b1)
            c2 += six * (3.0 * p2 + a2 + b2)
            x, y, z = x + t0, y + t1, z + t2
            a0, a1, a2 = b0, b1, b2
        surface += 0.5 * sqrt(x * x + y * y + z * z)
        side = owners[f]
        if side < 2:
            vectors[side, 0] += 0.5 * x  # (1), volume: S_j n_j
            vectors[side, 1] += 0.5 * y
            vectors[side, 2] += 0.5 * z
    overlaps.volume[k] = volume / 6.0
    overlaps.surface[k] = surface
    if volume > 0.0:
        g0, g1, g2 = m0 + 0.25 * c0 / volume, m1 + 0.25 * c1 / volume, m2 + 0.25 * c2 / volume
        return clamp_to(vertex, count, 0, g0), clamp_to(vertex, count, 1, g1), clamp_to(vertex, count, 2, g2)
    return m0, m1, m2


@jit
def clamp_to(vertex, count, axis, x):
    """x, no farther out than the vertices: the quotient of an overlap as thin as rounding may be anywhere."""
    low, high = vertex[0, axis], vertex[0, axis]
    for i in range(1, count):
        low, high = min(low, vertex[i, axis]), max(high, vertex[i, axis])
    return min(max(x, low), high)


@jit
def project(overlaps, g, n, tangent):
    """Write the vertices in plane axes about the barycentre g; returns how thick the overlap is along n."""
    vertex, projected = overlaps.vertex[overlaps.state[BUFFER]], overlaps.projected
    low, high = 0.0, 0.0
    for i in range(overlaps.state[VERTICES]):
        x, y, z = vertex[i, 0] - g[0], vertex[i, 1] - g[1], vertex[i, 2] - g[2]
        projected[i, 0] = tangent[0, 0] * x + tangent[0, 1] * y + tangent[0, 2] * z
        projected[i, 1] = tangent[1, 0] * x + tangent[1, 1] * y + tangent[1, 2] * z
        h = n[0] * x + n[1] * y + n[2] * z
        projected[i, 2] = h
        low, high = min(low, h), max(high, h)
    return high - low


@jit
def find_section(overlaps, k, room):
    """The polygon of overlap k in polygon[polygon_start[k]:]; returns its corners (0: none, -1: more than fit in room).

    Needs `project` before; the overlap's part below the plane stands in the buffer afterwards, in plane axes.
    """
    state, first = overlaps.state, overlaps.polygon_start[k]
    which, projected = state[BUFFER], overlaps.projected
    vertex = overlaps.vertex[which]
    for i in range(state[VERTICES]):  # from here on in plane axes
        vertex[i, 0], vertex[i, 1], vertex[i, 2] = projected[i, 0], projected[i, 1], projected[i, 2]
    result = cut(overlaps, 0.0, 0.0, 1.0, 0.0, 0, -1e300)
    if result != CUT:
        return -1 if result == UNFIT_CUT else 0
    which = state[BUFFER]
    vertex, start, loop, polygon = (overlaps.vertex[which], overlaps.loop_start[which], overlaps.loop[which],
                                    overlaps.polygon)
    best, most = state[NEW_FACE], -1.0  # rounding may leave slivers beside it
    for f in range(state[NEW_FACE], state[FACES]):
        _, _, z = area_vector(vertex, loop, start[f], start[f + 1])
        if z > most:
            best, most = f, z
    count = start[best + 1] - start[best]
    if count > room:
        return -1
    for e in range(count):
        i = loop[start[best] + e]
        polygon[first + e, 0], polygon[first + e, 1] = vertex[i, 0], vertex[i, 1]
    return tidy_polygon(overlaps, k, first, count)


@jit
def tidy_polygon(overlaps, k, first, count):
    """Leave out corners that are no corners; writes polygon_radius and polygon_area."""
    polygon, farthest = overlaps.polygon[first : first + count], 0.0
    for e in range(count):
        farthest = max(farthest, polygon[e, 0] * polygon[e, 0] + polygon[e, 1] * polygon[e, 1])
    near = MERGE * sqrt(farthest)
    kept = 0
    for e in range(count):  # the present corner against the last kept one, and the last against the first
        x, y = polygon[e, 0], polygon[e, 1]
        if kept > 0 and abs(x - polygon[kept - 1, 0]) <= near and abs(y - polygon[kept - 1, 1]) <= near:
            continue
        polygon[kept, 0], polygon[kept, 1] = x, y
        kept += 1
    x, y = polygon[0, 0], polygon[0, 1]
    while kept > 1 and abs(polygon[kept - 1, 0] - x) <= near and abs(polygon[kept - 1, 1] - y) <= near:
        kept -= 1
    kept = drop_straight(polygon, kept, near)
    area = 0.0
    for e in range(1, kept - 1):
        area += 0.5 * turn(polygon, 0, e, e + 1)
    overlaps.polygon_radius[k] = sqrt(farthest)
    overlaps.polygon_area[k] = area
    return kept


@jit
def turn(polygon, i, j, k):
    """Twice the signed area of three corners."""
    ax, ay = polygon[j, 0] - polygon[i, 0], polygon[j, 1] - polygon[i, 1]
    return ax * (polygon[k, 1] - polygon[i, 1]) - ay * (polygon[k, 0] - polygon[i, 0])


@jit
def drop_straight(polygon, count, near):
    """Leave out corners within `near` of the line between their neighbours; fewer than three left: no polygon."""
    e = 0
    while count >= 3 and e < count:
        i, k = (e - 1 if e > 0 else count - 1), (e + 1 if e + 1 < count else 0)
        dx, dy = polygon[k, 0] - polygon[i, 0], polygon[k, 1] - polygon[i, 1]
        if turn(polygon, i, e, k) > near * sqrt(dx * dx + dy * dy):
            e += 1
            continue
        for rest in range(e, count - 1):
            polygon[rest, 0], polygon[rest, 1] = polygon[rest + 1, 0], polygon[rest + 1, 1]
        count -= 1
        e = max(e - 1, 0)  # its neighbour has a new neighbour
    return count


# ---- moments -----------------------------------------------------------------------------------------------------


@jit
def clear_moments(overlaps, k):
    for e in range(6):
        overlaps.area_moment[k, e] = 0.0
    for e in range(3):
        overlaps.depth_moment[k, e] = 0.0


@jit
def drop_arms(overlaps, k):
    """What is left of the moments for a contact in a point: areas and depths, no arms, no polygon."""
    area, depth = overlaps.area_moment[k], overlaps.depth_moment[k]
    area[1], area[2], area[3], area[4], area[5] = 0.0, 0.0, 0.0, 0.0, 0.0
    depth[1], depth[2] = 0.0, 0.0
    overlaps.polygon_area[k] = 0.0
    overlaps.polygon_radius[k] = 0.0


@jit
def add_faces(overlaps, k, which, faces, integral, corners, part):
    """Add the integrals over the first `faces` faces of a buffer in plane axes to the moments of overlap k.

    part: weight of the depth's integrals; 1 for the whole overlap, whose areas count too, -2 for its lower part.
    """
    vertex, start, loop, face = overlaps.vertex[which], overlaps.loop_start[which], overlaps.loop[which], overlaps.face
    clipped = overlaps.clipped
    first = overlaps.polygon_start[k]
    for f in range(faces):
        count = start[f + 1] - start[f]
        for e in range(count):
            i = loop[start[f] + e]
            face[e, 0], face[e, 1], face[e, 2] = vertex[i, 0], vertex[i, 1], vertex[i, 2]
        if integral != SECTION:
            add_polygon(overlaps, k, face, count, integral, part)
            continue
        inside, buffer = clip_polygon(face, count, overlaps.polygon[first : first + corners], corners, 0.0, clipped)
        if inside >= 3:
            add_polygon(overlaps, k, clipped[buffer], inside, integral, part)


@jit
def add_polygon(overlaps, k, P, count, integral, part):
    """Add the integrals over one convex face, rows (r1, r2, eta): triangles from its first corner. eq. (9), volume."""
    S, X, Y, XX, XY, YY, V, VX, VY = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x0, y0, h0 = P[0, 0], P[0, 1], P[0, 2]
    x1, y1, h1 = P[1, 0], P[1, 1], P[1, 2]
    for e in range(2, count):
        x2, y2, h2 = P[e, 0], P[e, 1], P[e, 2]
        s = 0.5 * ((x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0))  # of one sign over the face
        x, y, h = x0 + x1 + x2, y0 + y1 + y2, h0 + h1 + h2
        S += s
        X += s * x
        Y += s * y
        XX += s * (x0 * x0 + x1 * x1 + x2 * x2 + x * x)
        XY += s * (x0 * y0 + x1 * y1 + x2 * y2 + x * y)
        YY += s * (y0 * y0 + y1 * y1 + y2 * y2 + y * y)
        V += s * h
        VX += s * (h0 * x0 + h1 * x1 + h2 * x2 + h * x)
        VY += s * (h0 * y0 + h1 * y1 + h2 * y2 + h * y)
        x1, y1, h1 = x2, y2, h2
    sign = 1.0 if S >= 0.0 else -1.0
    if part == 1.0:
        area = overlaps.area_moment[k]
        area[0] += sign * S
        area[1] += sign * X / 3.0
        area[2] += sign * Y / 3.0
        area[3] += sign * XX / 12.0
        area[4] += sign * XY / 12.0
        area[5] += sign * YY / 12.0
    if integral == THICKNESS:
        sign = 1.0  # eta counts with the side the face looks to
    depth = overlaps.depth_moment[k]
    depth[0] += part * sign * V / 3.0
    depth[1] += part * sign * VX / 12.0
    depth[2] += part * sign * VY / 12.0


@jit
def find_moments(overlaps, k, whole, faces, integral, corners):
    """(9), volume: moments of overlap k. whole, faces: its buffer and face count; the state is its lower part."""
    clear_moments(overlaps, k)
    add_faces(overlaps, k, whole, faces, integral, corners, 1.0)
    if integral != THICKNESS:
        state = overlaps.state
        add_faces(overlaps, k, state[BUFFER], state[NEW_FACE], integral, corners, -2.0)
