"""Proximal ADMM on friction cones with De Saxcé's shift: a dense solver to compare the exact one with."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.solvers.dense_lu import symmetric_factor, symmetric_solve
from sesshoku.solvers.proximal.local import contact_violation


@jit
def onto_cone(mu, x0, x1, x2):
    """Nearest point of the friction cone |t| <= mu n."""
    size = sqrt(x0 * x0 + x1 * x1)
    if size <= mu * x2:
        return x0, x1, x2
    if mu * size <= -x2:
        return 0.0, 0.0, 0.0
    n = (mu * size + x2) / (1.0 + mu * mu)
    return x0 * mu * n / size, x1 * mu * n / size, n


@jit
def factor_shifted(n, G, shift, L):
    """L (n, n) <- the factors of G + shift I."""
    for i in range(n):
        for j in range(n):
            L[i, j] = G[i, j]
        L[i, i] += shift
    symmetric_factor(n, L)


@jit
def dense_residual(sizes, system, mu, bounds, state):
    """Residual of the law for a dense matrix; u (n) comes out as the velocity."""
    m, nj = sizes
    G, b = system
    low, high = bounds
    x, u = state
    worst, n = 0.0, 3 * m + nj
    for i in range(n):
        t = b[i]
        for j in range(n):
            t += G[i, j] * x[j]
        u[i] = t
    for i in range(m):
        k = 3 * i
        g = max(G[k, k], G[k + 1, k + 1], G[k + 2, k + 2])
        if g > 0.0:
            worst = max(worst, contact_violation(mu[i], g, (x[k], x[k + 1], x[k + 2]), (u[k], u[k + 1], u[k + 2])))
    for j in range(nj):
        k = 3 * m + j
        if G[k, k] > 0.0:
            worst = max(worst, G[k, k] * abs(x[k] - min(max(x[k] - u[k] / G[k, k], low[j]), high[j])))
    return worst


@jit
def admm_dense(sizes, system, mu, bounds, x, most, tolerance, L, work):
    """min 1/2 z^T G z + (b + s)^T z with z = x in the cones; s_n = mu |u_t| (De Saxcé) refreshed every iteration.

    x (n): start and result, inside the cones. L (n, n), work (6, n). Returns the number of iterations.
    """
    m, nj = sizes
    G, b = system
    low, high = bounds
    n = 3 * m + nj
    z, dual, right, u, before = work[0], work[1], work[2], work[3], work[4]
    mean = 0.0
    for i in range(n):
        mean += G[i, i] / n
    proximal, penalty = 1e-6 * mean, 0.1 * mean
    factor_shifted(n, G, penalty + proximal, L)
    dense_residual(sizes, system, mu, bounds, (x, u))
    for i in range(n):
        z[i], dual[i] = x[i], u[i]
    for i in range(m):
        dual[3 * i + 2] += mu[i] * sqrt(u[3 * i] ** 2 + u[3 * i + 1] ** 2)
    for it in range(most):
        for i in range(n):
            right[i] = proximal * z[i] + penalty * x[i] + dual[i] - b[i]
        for i in range(m):
            right[3 * i + 2] -= mu[i] * sqrt(dual[3 * i] ** 2 + dual[3 * i + 1] ** 2)
        symmetric_solve(n, L, right)
        for i in range(n):
            z[i], before[i] = right[i], x[i]
            x[i] = z[i] - dual[i] / penalty
        for i in range(m):
            k = 3 * i
            x[k], x[k + 1], x[k + 2] = onto_cone(mu[i], x[k], x[k + 1], x[k + 2])
        for j in range(nj):
            x[3 * m + j] = min(max(x[3 * m + j], low[j]), high[j])
        apart = moved = 0.0
        for i in range(n):
            dual[i] -= penalty * (z[i] - x[i])
            apart, moved = max(apart, abs(z[i] - x[i])), max(moved, penalty * abs(x[i] - before[i]))
        if dense_residual(sizes, system, mu, bounds, (x, u)) < tolerance:
            return it + 1
        if it % 10 == 9:
            factor = 5.0 if apart * mean > 10.0 * moved else (0.2 if moved > 10.0 * apart * mean else 1.0)
            if factor != 1.0:
                penalty *= factor
                factor_shifted(n, G, penalty + proximal, L)
    return most
