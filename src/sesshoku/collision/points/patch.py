"""The contact points of a pair that its motion depends on: few of many, the same ones from step to step.

Between two rigid bodies the gaps of all points of a pair change by an affine function of their place in the contact
plane. So a point within the polygon of others can close only with them, unless its gap is below theirs: corners of the
support polygon and points deeper than it count, points on edges or inside a flat patch never do. Gaps are those
expected at the end of the step at the present velocity; a contact that carries load has the least, so that nothing
which only comes near takes its place. Overlaps beyond DEEP count as that (`eased`), since methods undo them no faster:
of a foot that begins deep in the floor the outline counts, and not only its deepest point.

Points are chosen one by one, the deepest first, then always the one that could enter farthest if it were left out:

    need = turn * (distance outside the polygon chosen so far) + (expected gap of that polygon there) - (its own)

`turn` is an angle by which impulses within one step may turn the bodies beyond what their velocities say. It ends when
nothing is needed any more, or with `most` points. A polygon of more corners loses the least important ones; where the
body begins to tip over such a corner it comes to lie deeper than the others, by TOLERANCE of the patch's width times
TURN, and is then the first to be chosen. Where gaps hardly change, what was chosen in the step before needs less to be
chosen again.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.points.manifold import contact_frame
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import world_point
from sesshoku.spatial.algebra import cross

TURN, SPIN = 0.01, 10.0  # rad, and rad/s by the length of the step if that is more
TOLERANCE = 1e-4  # of the patch's width: points no farther outside the polygon are on its edge
KEPT = 1.5  # how much more a point counts that was chosen in the step before, of a patch that is still
DEEP, DEEPER = 2e-3, 1e-3  # m, and the share by which an overlap counts beyond that
STILL = 1e-5  # of the patch's width: gaps that change less in a step
SAME_PLACE = 0.02  # of the patch's width: a point nearer to its old place, in the frame of either link, is the same
X, Y, EXPECTED, WAS, IS = range(5)  # columns of contacts.work: place in the contact plane, gap, chosen before, chosen
RING, NEXT = 0, 64  # places in contacts.iwork: the polygon chosen so far, counter-clockwise, and room for the next one


@jit
def reduce_patch(model, data, contacts, pair, count, reach, old):
    """Keep at most `most` of the `count` points of shapes a and b, in their order, at the front; returns how many.

    horizon (s): how far gaps are looked at; needs `link_velocities` where it is above zero. old_first, old_last: the
    range of the pair's contacts in the step before.
    """
    a, b = pair
    most, horizon = reach
    width, change = lay_out(model, data, contacts, a, b, count, horizon)
    recognise(model, data, contacts, pair, count, old, SAME_PLACE * width)
    P, ring, tolerance = contacts.work, contacts.iwork, TOLERANCE * TURN * width
    seed = first_point(P, count, width, tolerance)
    turn = max(TURN, SPIN * horizon)
    if width > 0.0:  # an impact may turn the bodies by about the way it stops, over the patch's width
        turn = max(turn, min((eased(contacts.manifold_gap[seed]) - P[seed, EXPECTED]) / width, 1.0))
    kept = KEPT if change <= STILL * width else 1.0
    ring[RING], corners, chosen, best = seed, 1, 1, seed
    P[seed, IS] = 1.0
    while chosen < most:
        best, most_need = -1, 0.0
        for k in range(count):
            if P[k, IS] == 0.0:
                away, level = beyond(P, ring, corners, seed, k)
                lower = level - P[k, EXPECTED]
                if turn * away + lower > tolerance:
                    need = turn * away * (kept if P[k, WAS] == 1.0 else 1.0) + lower
                    if best < 0 or need > most_need:
                        best, most_need = k, need
        if best < 0:
            break
        P[best, IS] = 1.0
        chosen += 1
        corners = widen_ring(P, ring, corners, best)
    return pack(contacts, count)


@jit
def lay_out(model, data, contacts, a, b, count, horizon):
    """Places of the points in the contact plane, from the first one, and their expected gaps.

    Returns the width of the patch, and how much the gaps change at most, m.
    """
    P, points, gaps = contacts.work, contacts.manifold_point, contacts.manifold_gap
    n, frame = contacts.manifold_normal, contacts.frame
    contact_frame(frame, n[0], n[1], n[2])
    ox, oy, oz = points[0, 0], points[0, 1], points[0, 2]
    rate, gx, gy, gz = 0.0, 0.0, 0.0, 0.0  # of the gaps: at the first point, and along the world's axes
    if horizon > 0.0:
        ra, ax, ay, az = normal_velocity(model, data, model.shape_link[a], n, ox, oy, oz)
        rb, bx, by, bz = normal_velocity(model, data, model.shape_link[b], n, ox, oy, oz)
        rate, gx, gy, gz = horizon * (rb - ra), horizon * (bx - ax), horizon * (by - ay), horizon * (bz - az)
    x0 = x1 = y0 = y1 = change = 0.0
    for k in range(count):
        x, y, z = points[k, 0] - ox, points[k, 1] - oy, points[k, 2] - oz
        row = P[k]
        row[X] = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
        row[Y] = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
        change = max(change, abs(rate + gx * x + gy * y + gz * z))
        row[EXPECTED] = eased(gaps[k]) + (rate + gx * x + gy * y + gz * z)
        row[WAS] = row[IS] = 0.0
        x0, x1, y0, y1 = min(x0, row[X]), max(x1, row[X]), min(y0, row[Y]), max(y1, row[Y])
    return max(x1 - x0, y1 - y0), change


@jit
def eased(gap):
    """A gap as it counts for the choice of points, m: as it is, but hardly more than DEEP below zero."""
    return gap if gap > -DEEP else DEEPER * (gap + DEEP) - DEEP


@jit
def normal_velocity(model, data, link, n, x, y, z):
    """Velocity along n of a link's point at the world place (x, y, z), m/s, and how it grows along the axes, 1/s."""
    if link < 0:
        return 0.0, 0.0, 0.0, 0.0
    w, o = data.velocity[link], data.tree_origin[model.link_tree[link]]
    gx, gy, gz = cross(n[0], n[1], n[2], w[3], w[4], w[5])
    along = n[0] * w[0] + n[1] * w[1] + n[2] * w[2]
    return along + gx * (x - o[0]) + gy * (y - o[1]) + gz * (z - o[2]), gx, gy, gz


@jit
def recognise(model, data, contacts, pair, count, old_range, near):
    """Mark the points that were contacts in the step before: those nearest to where the old ones have moved."""
    a, b = pair
    old_first, old_last = old_range
    P, frame, o = contacts.work, contacts.frame, contacts.manifold_point[0]
    for old in range(old_first, old_last):
        best, least = -1, near * near
        for side in range(2):
            x, y, z = world_point(model, data, model.shape_link[a if side == 0 else b], contacts.old_local[old, side])
            x, y, z = x - o[0], y - o[1], z - o[2]
            u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
            v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
            for k in range(count):
                d = (P[k, X] - u) ** 2 + (P[k, Y] - v) ** 2
                if d < least:
                    best, least = k, d
        if best >= 0:
            P[best, WAS] = 1.0


@jit
def first_point(P, count, width, tolerance):
    """The deepest; of points about as deep one that was chosen before, or lies far out: a corner, not amid an edge."""
    mx = my = 0.0
    for k in range(count):
        mx, my = mx + P[k, X] / count, my + P[k, Y] / count
    best, least = 0, inf
    for k in range(count):
        out = sqrt((P[k, X] - mx) ** 2 + (P[k, Y] - my) ** 2) / width if width > 0.0 else 0.0
        level = P[k, EXPECTED] - tolerance * (out + P[k, WAS])
        if level < least:
            best, least = k, level
    return best


@jit
def beyond(P, ring, corners, seed, k):
    """How far (m) point k lies outside the polygon of the ring, and the polygon's expected gap at the nearest place."""
    x, y, away2, level, outside = P[k, X], P[k, Y], inf, P[k, EXPECTED], corners < 3
    for e in range(corners if corners > 2 else 1):
        i, j = ring[RING + e], ring[RING + (e + 1 if e + 1 < corners else 0)]
        ux, uy, vx, vy = P[j, X] - P[i, X], P[j, Y] - P[i, Y], x - P[i, X], y - P[i, Y]
        if corners < 3 or ux * vy - uy * vx < 0.0:
            outside = True
            length2 = ux * ux + uy * uy
            t = min(max((ux * vx + uy * vy) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
            d2 = (vx - t * ux) ** 2 + (vy - t * uy) ** 2
            if d2 < away2:
                away2, level = d2, P[i, EXPECTED] + t * (P[j, EXPECTED] - P[i, EXPECTED])
    return (sqrt(away2), level) if outside else (0.0, level_within(P, ring, corners, seed, k))


@jit
def level_within(P, ring, corners, seed, k):
    """Expected gap of the polygon below point k, on the triangles between its edges and the deepest point."""
    x, y = P[k, X] - P[seed, X], P[k, Y] - P[seed, Y]
    for e in range(corners):
        i, j = ring[RING + e], ring[RING + (e + 1 if e + 1 < corners else 0)]
        ux, uy = P[i, X] - P[seed, X], P[i, Y] - P[seed, Y]
        vx, vy = P[j, X] - P[seed, X], P[j, Y] - P[seed, Y]
        area = ux * vy - uy * vx
        s, t = x * vy - y * vx, ux * y - uy * x
        if area > 0.0 and s >= 0.0 and t >= 0.0:
            level = P[seed, EXPECTED]
            return level + (s * (P[i, EXPECTED] - level) + t * (P[j, EXPECTED] - level)) / area
    return P[k, EXPECTED]


@jit
def widen_ring(P, ring, corners, k):
    """Make the ring (a point, a segment, or a convex polygon, counter-clockwise) enclose point k; its new corners."""
    if corners == 1:
        ring[RING + 1] = k
        return 2
    x, y, fresh = P[k, X], P[k, Y], 0
    if corners == 2:
        i, j = ring[RING], ring[RING + 1]
        ux, uy, vx, vy = P[j, X] - P[i, X], P[j, Y] - P[i, Y], x - P[i, X], y - P[i, Y]
        area, length2 = ux * vy - uy * vx, ux * ux + uy * uy
        if abs(area) <= TOLERANCE * length2:  # on one line: its two ends
            t = (ux * vx + uy * vy) / length2
            if t > 1.0:
                ring[RING + 1] = k
            elif t < 0.0:
                ring[RING] = k
            return 2
        ring[RING + 2] = k
        if area < 0.0:
            ring[RING + 1], ring[RING + 2] = k, j
        return 3
    sees_last = sees_edge(P, ring, corners, corners - 1, x, y)
    before = sees_last
    for e in range(corners):  # corners between two edges that see k are inside now; k comes after the first such edge's
        sees = sees_last if e == corners - 1 else sees_edge(P, ring, corners, e, x, y)
        if not (before and sees):
            ring[NEXT + fresh] = ring[RING + e]
            fresh += 1
        if sees and not before:
            ring[NEXT + fresh] = k
            fresh += 1
        before = sees
    for e in range(fresh):
        ring[RING + e] = ring[NEXT + e]
    return fresh


@jit
def sees_edge(P, ring, corners, e, x, y):
    """Whether (x, y) lies outside of edge e of the ring."""
    i, j = ring[RING + e], ring[RING + (e + 1 if e + 1 < corners else 0)]
    return (P[j, X] - P[i, X]) * (y - P[i, Y]) - (P[j, Y] - P[i, Y]) * (x - P[i, X]) < 0.0


@jit
def pack(contacts, count):
    """Move the chosen points to the front, in their order; returns how many there are."""
    P, points, gaps, kinds, kept = (contacts.work, contacts.manifold_point, contacts.manifold_gap,
                                    contacts.manifold_kind, 0)
    for k in range(count):
        if P[k, IS] == 1.0:
            for e in range(3):
                points[kept, e] = points[k, e]
            gaps[kept], kinds[kept] = gaps[k], kinds[k]
            kept += 1
    return kept
