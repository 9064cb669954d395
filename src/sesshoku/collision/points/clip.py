"""Cutting convex polygons and segments in the plane; rows (x, y, height), heights are carried along linearly."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit


@jit
def winding(Q, count):
    """+1 for a counter-clockwise polygon, -1 for a clockwise one."""
    area = 0.0
    for k in range(1, count - 1):
        area += (Q[k, 0] - Q[0, 0]) * (Q[k + 1, 1] - Q[0, 1]) - (Q[k, 1] - Q[0, 1]) * (Q[k + 1, 0] - Q[0, 0])
    return 1.0 if area >= 0.0 else -1.0


@jit
def cut(P, count, line, tolerance, out):
    """Keep of polygon P what lies on the side a (unit) of the line through (x0, y0); points on the line stay.

    The side of every point is reckoned once: the compiler may round the same sum otherwise elsewhere, and a last point
    that is inside at first and outside in the end would be lost.
    """
    x0, y0, ax, ay = line
    kept, room = 0, len(out)
    last = count - 1
    closing = (P[last, 0] - x0) * ax + (P[last, 1] - y0) * ay
    before = closing
    for k in range(count):
        here = closing if k == count - 1 else (P[k, 0] - x0) * ax + (P[k, 1] - y0) * ay
        if (before >= -tolerance) != (here >= -tolerance) and kept < room:
            t = before / (before - here)
            t = min(max(t, 0.0), 1.0)
            for e in range(3):
                out[kept, e] = P[last, e] + t * (P[k, e] - P[last, e])
            kept += 1
        if here >= -tolerance and kept < room:
            for e in range(3):
                out[kept, e] = P[k, e]
            kept += 1
        before, last = here, k
    return kept


@jit
def clip_polygon(P, count, Q, corners, tolerance, buffers):
    """Cut polygon P by all edges of polygon Q (Sutherland and Hodgman): (number of points, which buffer holds them)."""
    turn, which = winding(Q, corners), 0
    for k in range(count):
        for e in range(3):
            buffers[0, k, e] = P[k, e]
    for k in range(corners):
        following = k + 1 if k + 1 < corners else 0
        ex, ey = Q[following, 0] - Q[k, 0], Q[following, 1] - Q[k, 1]
        length = sqrt(ex * ex + ey * ey)
        if length <= tolerance:
            continue
        f = turn / length
        if which == 0:
            count = cut(buffers[0], count, (Q[k, 0], Q[k, 1], -f * ey, f * ex), tolerance, buffers[1])
        else:
            count = cut(buffers[1], count, (Q[k, 0], Q[k, 1], -f * ey, f * ex), tolerance, buffers[0])
        which = 1 - which
        if count == 0:
            break
    return count, which


@jit
def clip_segment(P, Q, corners, tolerance):
    """The range (t0, t1) of the segment P that lies in polygon Q; empty if t0 > t1."""
    turn, t0, t1 = winding(Q, corners), 0.0, 1.0
    for k in range(corners):
        following = k + 1 if k + 1 < corners else 0
        ex, ey = Q[following, 0] - Q[k, 0], Q[following, 1] - Q[k, 1]
        length = sqrt(ex * ex + ey * ey)
        if length <= tolerance:
            continue
        f = turn / length
        d0 = f * (ex * (P[0, 1] - Q[k, 1]) - ey * (P[0, 0] - Q[k, 0]))
        d1 = f * (ex * (P[1, 1] - Q[k, 1]) - ey * (P[1, 0] - Q[k, 0]))
        if d0 < -tolerance and d1 < -tolerance:
            return 1.0, 0.0
        if d0 < -tolerance:
            t0 = max(t0, d0 / (d0 - d1))
        elif d1 < -tolerance:
            t1 = min(t1, d0 / (d0 - d1))
    return t0, t1
