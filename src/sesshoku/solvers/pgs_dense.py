"""Projected Gauss-Seidel on a dense matrix K, as the paper of `lcp` writes it: normals first, then tangents.

Rows 3 i, 3 i + 1, 3 i + 2 are t1, t2, n of contact i; joint rows follow. The residual velocity w = K x + free is kept
and updated by columns (w += column * change), the cost of a visit being the number of rows.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.pgs import DISC, SLIDE, SQUARE, limited_tangents


@jit
def add_column(K, n, row, change, w):
    column = K[row]
    for i in range(n):
        w[i] += column[i] * change


@jit
def solve_dense(contacts, joints, K, friction, bounds, x, w, goal):
    """Sweep until no row changes by more than `tolerance`; x, w (rows) in place. Returns the number of sweeps.

    law, mu: (contacts). low, high: (joints) bounds of the joint rows. Rows whose K_ii is below 1e-12 of the largest
    stay 0.
    """
    law, mu = friction
    low, high = bounds
    max_sweeps, tolerance = goal
    n = 3 * contacts + joints
    largest = 0.0
    for i in range(n):
        largest = max(largest, K[i, i])
    for s in range(max_sweeps):
        worst = 0.0
        for j in range(joints):
            r = 3 * contacts + j
            if K[r, r] > 1e-12 * largest:
                new = min(max(x[r] - w[r] / K[r, r], low[j]), high[j])  # (12)-(14), lcp
                worst = max(worst, abs(new - x[r]) * K[r, r])
                add_column(K, n, r, new - x[r], w)
                x[r] = new
        for i in range(contacts):
            r = 3 * i + 2
            if K[r, r] > 1e-12 * largest:
                new = max(0.0, x[r] - w[r] / K[r, r])  # (2)-(5), (15), lcp
                worst = max(worst, abs(new - x[r]) * K[r, r])
                add_column(K, n, r, new - x[r], w)
                x[r] = new
        for i in range(contacts):
            worst = max(worst, dense_tangents(K, n, i, (law[i], mu[i]), largest, x, w))
        if worst <= tolerance:
            return s + 1
    return max_sweeps + 1


@jit
def dense_tangents(K, n, i, friction, largest, x, w):
    """Friction rows of contact i, bound by its present normal impulse: eqs. (7), (8), (16), lcp."""
    law, mu = friction
    a, b, worst = 3 * i, 3 * i + 1, 0.0
    bound = mu * x[a + 2]  # (16), lcp: mu f_(i-m), f_(i-n) in print
    if law == DISC:
        g = max(K[a, a], K[b, b])
        if g <= 1e-12 * largest:
            return 0.0
        t1, t2 = limited_tangents(law, bound, x[a] - w[a] / g, x[b] - w[b] / g)
        d1, d2 = t1 - x[a], t2 - x[b]
        add_column(K, n, a, d1, w)
        add_column(K, n, b, d2, w)
        x[a], x[b] = t1, t2
        return g * max(abs(d1), abs(d2))
    for r in range(a, b + 1):
        if K[r, r] <= 1e-12 * largest or (law == SLIDE and r == b):
            continue
        lowest = -bound if law == SQUARE else 0.0
        new = min(max(x[r] - w[r] / K[r, r], lowest), bound)
        worst = max(worst, abs(new - x[r]) * K[r, r])
        add_column(K, n, r, new - x[r], w)
        x[r] = new
    return worst
