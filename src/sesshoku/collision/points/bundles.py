"""Contact points of a height field with another shape, gathered by their normals from triangle after triangle."""

from __future__ import annotations

from sesshoku.collision.contacts import OVERFLOW
from sesshoku.collision.points.reduction import reduce_manifold
from sesshoku.compiled.jit import jit

SAME_NORMAL = 1e-10  # 1 - cosine below which points are of one direction: 1.4e-5 rad


@jit
def bundle_points(contacts, bundles, count, near):
    """Put the manifold's points into the bundle of their normal; returns the number of bundles."""
    n, N = contacts.manifold_normal, contacts.bundle_normal
    at = 0
    while at < bundles and N[at, 0] * n[0] + N[at, 1] * n[1] + N[at, 2] * n[2] < 1.0 - SAME_NORMAL:
        at += 1
    if at == len(N):
        contacts.counts[OVERFLOW] += count
        return bundles
    if at == bundles:
        N[at, 0], N[at, 1], N[at, 2] = n[0], n[1], n[2]
        contacts.bundle_count[at] = 0
        bundles += 1
    points, gaps, kinds, kept = (contacts.bundle_point[at], contacts.bundle_gap[at], contacts.bundle_kind[at],
                                 contacts.bundle_count[at])
    if kept + count > len(gaps):
        kept = thin_bundle(contacts, at, kept, count)
    for k in range(count):
        p, same = contacts.manifold_point[k], -1
        for i in range(kept):
            if abs(points[i, 0] - p[0]) + abs(points[i, 1] - p[1]) + abs(points[i, 2] - p[2]) <= near:
                same = i
        if same < 0:
            same, kept = kept, kept + 1
        elif gaps[same] <= contacts.manifold_gap[k]:
            continue
        points[same, 0], points[same, 1], points[same, 2] = p[0], p[1], p[2]
        gaps[same], kinds[same] = contacts.manifold_gap[k], contacts.manifold_kind[k]
    contacts.bundle_count[at] = kept
    return bundles


@jit
def thin_bundle(contacts, at, kept, count):
    """Make room in a full bundle: the corners of its polygon and its deepest point stay; returns how many.

    The manifold's own points wait at the end of `work` meanwhile.
    """
    room, P, M = len(contacts.manifold_gap) // 2, contacts.manifold_point, contacts.work
    for k in range(count):
        M[256 + k, 0], M[256 + k, 1], M[256 + k, 2] = P[k, 0], P[k, 1], P[k, 2]
        M[256 + k, 3], M[256 + k, 4] = contacts.manifold_gap[k], contacts.manifold_kind[k]
    load_bundle(contacts, at, 1.0)
    kept = reduce_manifold(contacts, kept, min(room, len(contacts.manifold_gap) - count))
    for k in range(kept):
        for e in range(3):
            contacts.bundle_point[at, k, e] = P[k, e]
        contacts.bundle_gap[at, k], contacts.bundle_kind[at, k] = contacts.manifold_gap[k], contacts.manifold_kind[k]
    for k in range(count):
        P[k, 0], P[k, 1], P[k, 2] = M[256 + k, 0], M[256 + k, 1], M[256 + k, 2]
        contacts.manifold_gap[k], contacts.manifold_kind[k] = M[256 + k, 3], int(M[256 + k, 4])
    return kept


@jit
def load_bundle(contacts, at, sign):
    """Make a bundle the present manifold, its normal turned round where sign is -1; returns the number of points."""
    n, N, count = contacts.manifold_normal, contacts.bundle_normal[at], contacts.bundle_count[at]
    n[0], n[1], n[2] = sign * N[0], sign * N[1], sign * N[2]
    for k in range(count):
        for e in range(3):
            contacts.manifold_point[k, e] = contacts.bundle_point[at, k, e]
        contacts.manifold_gap[k], contacts.manifold_kind[k] = contacts.bundle_gap[at, k], contacts.bundle_kind[at, k]
    return count
