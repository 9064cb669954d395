"""Fewer contact points: the deepest one and those that span the largest polygon."""

from __future__ import annotations

from sesshoku.compiled.jit import jit


@jit
def area_gain(points, chosen, normal, k):
    """Least doubled area, seen along the normal, that point k adds beyond the edges of the polygon chosen so far."""
    if chosen == 1:
        x, y, z = points[k, 0] - points[0, 0], points[k, 1] - points[0, 1], points[k, 2] - points[0, 2]
        return x * x + y * y + z * z
    gain = 0.0
    for i in range(chosen):
        j = i + 1 if i + 1 < chosen else 0
        ux, uy, uz = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
        vx, vy, vz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
        area = (uy * vz - uz * vy) * normal[0] + (uz * vx - ux * vz) * normal[1] + (ux * vy - uy * vx) * normal[2]
        gain = max(gain, abs(area) if chosen == 2 else -area)
    return gain


@jit
def swap(contacts, i, j):
    points, gaps, kinds = contacts.manifold_point, contacts.manifold_gap, contacts.manifold_kind
    for e in range(3):
        points[i, e], points[j, e] = points[j, e], points[i, e]
    gaps[i], gaps[j] = gaps[j], gaps[i]
    kinds[i], kinds[j] = kinds[j], kinds[i]


@jit
def turn_like_normal(contacts):
    """Order the first three points counter-clockwise about the normal, the deepest staying first."""
    P, n = contacts.manifold_point, contacts.manifold_normal
    ux, uy, uz = P[1, 0] - P[0, 0], P[1, 1] - P[0, 1], P[1, 2] - P[0, 2]
    vx, vy, vz = P[2, 0] - P[0, 0], P[2, 1] - P[0, 1], P[2, 2] - P[0, 2]
    if (uy * vz - uz * vy) * n[0] + (uz * vx - ux * vz) * n[1] + (ux * vy - uy * vx) * n[2] < 0.0:
        swap(contacts, 1, 2)


@jit
def insert_in_ring(contacts, chosen):
    """Move the point just chosen (place `chosen`) to the edge of the ring that it lies beyond."""
    P, n = contacts.manifold_point, contacts.manifold_normal
    best, most = chosen, 0.0
    for i in range(chosen):
        j = i + 1 if i + 1 < chosen else 0
        ux, uy, uz = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
        vx, vy, vz = P[chosen, 0] - P[i, 0], P[chosen, 1] - P[i, 1], P[chosen, 2] - P[i, 2]
        area = -((uy * vz - uz * vy) * n[0] + (uz * vx - ux * vz) * n[1] + (ux * vy - uy * vx) * n[2])
        if area > most:
            best, most = i + 1, area
    for k in range(chosen, best, -1):
        swap(contacts, k, k - 1)


@jit
def reduce_manifold(contacts, count, most):
    """Keep at most `most` (>= 1) of the `count` points of a pair, at the front; returns how many are left.

    The deepest comes first, then always the one that widens the polygon most, the first of equals.
    """
    if count <= most:
        return count
    gaps, points, normal = contacts.manifold_gap, contacts.manifold_point, contacts.manifold_normal
    deepest = 0
    for k in range(1, count):
        if gaps[k] < gaps[deepest]:
            deepest = k
    swap(contacts, 0, deepest)
    for chosen in range(1, most):
        best, gain = chosen, -1.0
        for k in range(chosen, count):
            g = area_gain(points, chosen, normal, k)
            if g > gain:
                best, gain = k, g
        swap(contacts, chosen, best)
        if chosen == 2:
            turn_like_normal(contacts)
        elif chosen > 2:
            insert_in_ring(contacts, chosen)
    return most
