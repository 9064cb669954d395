"""Contact points of a pair whose normal is known: the facing features, seen along it, cut against each other.

Each point of the common polygon has a height on a's feature and one on b's: their difference is its gap, the middle
its place. No shape is the reference, a face tilted against the other keeps all its points, each with its own gap, and
flush or crossed edges are nothing special. Vertex, edge and face contacts come out of the same few lines.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.contacts import EDGE, OVERFLOW, SMOOTH, VERTEX
from sesshoku.collision.features import feature
from sesshoku.collision.points.clip import clip_polygon, clip_segment
from sesshoku.compiled.jit import jit

SAME = 1e-9  # of the smaller shape's size: points nearer than this are one
END = 1e-4  # of the length: lines that cross just beyond an end (a normal found to 1e-6) cross at the end
PARALLEL = 1e-3  # sine of the angle below which two lines touch along their common length, else where they cross


@jit
def contact_frame(frame, nx, ny, nz):
    """Rows u, w, n of a right-handed frame."""
    if abs(nx) < 0.57735:  # the axis least along n
        ux, uy, uz = 0.0, nz, -ny
    elif abs(ny) < 0.57735:
        ux, uy, uz = -nz, 0.0, nx
    else:
        ux, uy, uz = ny, -nx, 0.0
    k = 1.0 / sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = k * ux, k * uy, k * uz
    frame[0, 0], frame[0, 1], frame[0, 2] = ux, uy, uz
    frame[1, 0], frame[1, 1], frame[1, 2] = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    frame[2, 0], frame[2, 1], frame[2, 2] = nx, ny, nz


@jit
def same_distance(model, a, b):
    """Distance below which two points of the pair are one."""
    r, s = model.shape_radius[a], model.shape_radius[b]
    return SAME * min(r, s) + 1e-14 * max(r, s)


@jit
def put_point(contacts, count, x, y, heights, margin, tolerance, kind):
    """Add a point (contact frame) unless it is beyond the margin, or the last or first one again; returns the count."""
    height_a, height_b = heights
    points, gaps = contacts.manifold_point, contacts.manifold_gap
    gap = height_b - height_a
    if gap > margin:
        return count
    for at in (count - 1, 0):
        if 0 <= at < count and abs(points[at, 0] - x) <= tolerance and abs(points[at, 1] - y) <= tolerance:
            if gap < gaps[at]:
                gaps[at], points[at, 2] = gap, 0.5 * (height_a + height_b)
            return count
    if count == len(gaps):
        return count
    points[count, 0], points[count, 1], points[count, 2] = x, y, 0.5 * (height_a + height_b)
    gaps[count], contacts.manifold_kind[count] = gap, kind
    return count + 1


@jit
def is_corner(rows, count, x, y, tolerance):
    """Whether (x, y) is one of the rows."""
    k = 0
    while k < count and (abs(rows[k, 0] - x) > tolerance or abs(rows[k, 1] - y) > tolerance):
        k += 1
    return k < count


@jit
def polygon_points(contacts, count_a, count_b, gu, gw, margin, tolerance):
    """Both features are polygons: a's is cut by b's, whose plane has the slopes (gu, gw)."""
    A, B = contacts.feature[0], contacts.feature[1]
    found, which = clip_polygon(A, count_a, B, count_b, tolerance, contacts.clip)
    rows = contacts.clip[which]
    room, count = len(contacts.manifold_gap), 0
    taken = min(found, room)
    contacts.counts[OVERFLOW] += found - taken
    for k in range(taken):
        at = k if found <= room else k * found // room  # more than there is room for: evenly thinned
        x, y = rows[at, 0], rows[at, 1]
        height = B[0, 2] + gu * (x - B[0, 0]) + gw * (y - B[0, 1])
        if height - rows[at, 2] > margin:
            continue
        corner = is_corner(A, count_a, x, y, tolerance) or is_corner(B, count_b, x, y, tolerance)
        count = put_point(contacts, count, x, y, (rows[at, 2], height), margin, tolerance, VERTEX if corner else EDGE)
    return count


@jit
def line_points(contacts, line, corners, round_, slope, margin, tolerance):
    """Feature `line` (0: a, 1: b) is a segment, the other a polygon with slopes (gu, gw)."""
    gu, gw = slope
    P, Q = contacts.feature[line], contacts.feature[1 - line]
    t0, t1 = clip_segment(P, Q, corners, tolerance)
    if t0 > t1:
        return 0
    count = 0
    for t in (t0, t1):
        x, y = P[0, 0] + t * (P[1, 0] - P[0, 0]), P[0, 1] + t * (P[1, 1] - P[0, 1])
        mine = P[0, 2] + t * (P[1, 2] - P[0, 2])
        other = Q[0, 2] + gu * (x - Q[0, 0]) + gw * (y - Q[0, 1])
        corner = t == 0.0 or t == 1.0 or is_corner(Q, corners, x, y, tolerance)
        kind = SMOOTH if round_ else VERTEX if corner else EDGE
        if line == 0:
            count = put_point(contacts, count, x, y, (mine, other), margin, tolerance, kind)
        else:
            count = put_point(contacts, count, x, y, (other, mine), margin, tolerance, kind)
    return count


@jit
def two_line_points(contacts, round_, margin, tolerance):
    """Both features are segments: where they cross, or the ends of what they share if they are parallel."""
    A, B = contacts.feature[0], contacts.feature[1]
    ax, ay, az = A[1, 0] - A[0, 0], A[1, 1] - A[0, 1], A[1, 2] - A[0, 2]
    bx, by, bz = B[1, 0] - B[0, 0], B[1, 1] - B[0, 1], B[1, 2] - B[0, 2]
    dx, dy = B[0, 0] - A[0, 0], B[0, 1] - A[0, 1]
    a2, b2 = ax * ax + ay * ay, bx * bx + by * by
    if a2 <= tolerance * tolerance or b2 <= tolerance * tolerance:
        return 0
    across = ax * by - ay * bx
    if across * across > PARALLEL * PARALLEL * a2 * b2:
        s, t = (dx * by - dy * bx) / across, (dx * ay - dy * ax) / across
        if min(s, 1.0 - s, t, 1.0 - t) < -END:
            return 0
        s, t = min(max(s, 0.0), 1.0), min(max(t, 0.0), 1.0)
        return put_point(contacts, 0, A[0, 0] + s * ax, A[0, 1] + s * ay, (A[0, 2] + s * az, B[0, 2] + t * bz), margin,
                         tolerance, SMOOTH if round_ else EDGE)
    # shares of a's segment where b's ends stand
    e0, e1 = (dx * ax + dy * ay) / a2, ((dx + bx) * ax + (dy + by) * ay) / a2
    s0, s1 = max(0.0, min(e0, e1)), min(1.0, max(e0, e1))
    if s0 > s1:
        return 0
    count = 0
    for s in (s0, s1):
        t = min(max((s - e0) / (e1 - e0), 0.0), 1.0)
        x, y = 0.5 * (A[0, 0] + s * ax + B[0, 0] + t * bx), 0.5 * (A[0, 1] + s * ay + B[0, 1] + t * by)
        count = put_point(contacts, count, x, y, (A[0, 2] + s * az, B[0, 2] + t * bz), margin, tolerance,
                          SMOOTH if round_ else VERTEX)
    return count


@jit
def facing_points(model, contacts, a, b, offset, normal, margin):
    """Points of the pair for the unit normal n, b standing at c from a: (count, least gap).

    The points are left in the contact frame `frame`; `to_world` turns them.
    """
    nx, ny, nz = normal
    frame = contacts.frame
    contact_frame(frame, nx, ny, nz)
    count_a, round_a, ua, wa = feature(model, contacts, a, 0, frame, 1.0, (0.0, 0.0, 0.0))
    count_b, round_b, ub, wb = feature(model, contacts, b, 1, frame, -1.0, offset)
    tolerance, count = same_distance(model, a, b), 0
    if count_a > 2 and count_b > 2:
        count = polygon_points(contacts, count_a, count_b, ub, wb, margin, tolerance)
    elif count_a == 2 and count_b > 2:
        count = line_points(contacts, 0, count_b, round_a, (ub, wb), margin, tolerance)
    elif count_b == 2 and count_a > 2:
        count = line_points(contacts, 1, count_a, round_b, (ua, wa), margin, tolerance)
    elif count_a == 2 and count_b == 2:
        count = two_line_points(contacts, round_a or round_b, margin, tolerance)
    least = inf
    for k in range(count):
        least = min(least, contacts.manifold_gap[k])
    return count, least


@jit
def to_world(contacts, a, count, nx, ny, nz):
    """Turn the points from the contact frame into the world, and note the normal."""
    frame, points, origin = contacts.frame, contacts.manifold_point, contacts.shape_position[a]
    for k in range(count):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        for e in range(3):
            points[k, e] = origin[e] + (x * frame[0, e] + y * frame[1, e] + z * frame[2, e])
    contacts.manifold_normal[0], contacts.manifold_normal[1], contacts.manifold_normal[2] = nx, ny, nz


@jit
def with_witness(contacts, count, least, gap, margin, slack, near, kind):
    """Make sure that the nearest points themselves are there: in contact frame, midway between the two of `witness`.

    If the common polygon misses them by more than `slack` (a rim between two of its corners, a steep edge) they are
    added, or take the place of a point within `near`. No point is deeper than they are: a polygon of nearly flat
    triangles stands up to `polyhedra.FLAT` beside them.
    """
    for k in range(count):
        contacts.manifold_gap[k] = max(contacts.manifold_gap[k], gap)
    if gap > margin or (count > 0 and least <= gap + slack):
        return count
    frame, W, points, gaps = contacts.frame, contacts.witness, contacts.manifold_point, contacts.manifold_gap
    mx, my, mz = 0.5 * (W[0, 0] + W[1, 0]), 0.5 * (W[0, 1] + W[1, 1]), 0.5 * (W[0, 2] + W[1, 2])
    x = frame[0, 0] * mx + frame[0, 1] * my + frame[0, 2] * mz
    y = frame[1, 0] * mx + frame[1, 1] * my + frame[1, 2] * mz
    z = frame[2, 0] * mx + frame[2, 1] * my + frame[2, 2] * mz
    at = count
    for k in range(count):
        if abs(points[k, 0] - x) <= near and abs(points[k, 1] - y) <= near:
            at = k
    if at == len(gaps):
        at -= 1
    points[at, 0], points[at, 1], points[at, 2], gaps[at] = x, y, z, gap
    if at == count:
        contacts.manifold_kind[at] = kind
    return max(count, at + 1)
