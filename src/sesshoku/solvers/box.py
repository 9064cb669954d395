"""Box-constrained linear complementarity: w = G x + b,  low <= x <= high,  w_i = 0 inside, >= 0 at low, <= 0 at high.

G is symmetric positive semi-definite (redundant loops make it singular), so this is the optimality condition of
min 1/2 x^T G x + b^T x over the box. Solved by the proximal point method: each outer pass minimises the same function
plus eps/2 |x - x_k|^2, strictly convex, by a primal-dual active set (guess which rows are at a bound, solve the free
ones by Cholesky, guess again). Few passes are exact for regular G; for singular G they converge to the solution nearest
the start. Where the guesses cycle they are changed one at a time, which cannot cycle; should that take too long,
projected Gauss-Seidel sweeps bring the next pass nearer.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit

OUTER, INNER, SWEEPS = 30, 200, 20
PATIENCE = 5  # rounds of guesses without progress before single ones


@jit
def residual(n, G, b, low, high, x):
    """Largest violation of complementarity, in the units of b (rows of zero diagonal count where they can't be met)."""
    worst = 0.0
    for i in range(n):
        w = b[i]
        for j in range(n):
            w += G[i, j] * x[j]
        g = G[i, i]
        if g <= 0.0:
            continue
        wanted = min(max(x[i] - w / g, low[i]), high[i])
        worst = max(worst, abs(x[i] - wanted) * g)
    return worst


@jit
def solve_box(n, system, bounds, tolerance, x, space, least=1e-13):
    """Improve x (n, in place, also the start) until `residual` <= tolerance; returns (residual, passes).

    factor (n, n), work (>= 3, n), active (n): work space. least: of the largest diagonal entry, what eps falls to; rows
    nearer to depending on each other than its root are met as far as small forces meet them.
    """
    G, b = system
    low, high = bounds
    factor, work, active = space
    scale = 0.0
    for i in range(n):
        scale = max(scale, G[i, i])
        x[i] = min(max(x[i], low[i]), high[i])
    best = residual(n, G, b, low, high, x)
    if scale == 0.0 or best <= 1e-3 * tolerance:  # a start just within the tolerance is bettered: no creep
        return best, 0
    eps, center, passes = 1e-4 * scale, work[0], 0
    while passes < OUTER:
        passes += 1
        for i in range(n):
            center[i] = x[i]
        settled = active_set(n, system, bounds, eps, center, x, (factor, work[1], active))
        if not settled:
            sweep(n, G, b, low, high, x)
        best = residual(n, G, b, low, high, x)
        if best <= tolerance:
            break
        eps = max(0.1 * eps, least * scale) if settled else min(10.0 * eps, scale)
    return best, passes


@jit
def active_set(n, system, bounds, eps, center, x, space):
    """Minimise the proximal function; True if the active set settled. active: -1 at low, 1 at high, 0 free.

    All wrong guesses are changed at once. Where their number has not fallen for a while, one at a time, the first wrong
    row (least-index principal pivoting, finite for positive definite matrices), until it has.
    """
    G, b = system
    low, high = bounds
    active = space[2]
    for i in range(n):
        active[i] = -2
    fewest, patience = n + 1, PATIENCE
    for _ in range(INNER):
        single, wrong = patience < 0, 0
        for i in range(n):  # which bound would a diagonal step end at?
            w = b[i] + eps * (x[i] - center[i])
            for j in range(n):
                w += G[i, j] * x[j]
            trial = x[i] - w / (G[i, i] + eps)
            state = 0 if low[i] < trial < high[i] else (-1 if trial <= low[i] else 1)
            if state != active[i]:
                wrong += 1
                if not single:
                    active[i] = state
                elif wrong == 1:
                    active[i] = state if active[i] == 0 or low[i] == high[i] else 0
        if wrong == 0:
            return True
        if wrong < fewest:
            fewest, patience = wrong, PATIENCE
        else:
            patience -= 1
        for i in range(n):
            if active[i] != 0:
                x[i] = low[i] if active[i] < 0 else high[i]
        solve_free(n, system, eps, center, x, space)
    return False


@jit
def solve_free(n, system, eps, center, x, space):
    """Solve the free rows exactly, the others standing at their bounds: Cholesky of (G + eps I) over the free rows."""
    G, b = system
    factor, y, active = space
    for i in range(n):
        if active[i] != 0:
            continue
        s = eps * center[i] - b[i]
        for j in range(n):
            if active[j] != 0:
                s -= G[i, j] * x[j]
        for j in range(i):
            if active[j] != 0:
                continue
            t = G[i, j]
            for k in range(j):
                if active[k] == 0:
                    t -= factor[i, k] * factor[j, k]
            factor[i, j] = t * factor[j, j]
            s -= factor[i, j] * y[j]
        t = G[i, i] + eps
        for k in range(i):
            if active[k] == 0:
                t -= factor[i, k] * factor[i, k]
        factor[i, i] = 1.0 / sqrt(max(t, 1e-3 * eps))  # the reciprocal is kept
        y[i] = s * factor[i, i]
    for i in range(n - 1, -1, -1):
        if active[i] != 0:
            continue
        s = y[i]
        for k in range(i + 1, n):
            if active[k] == 0:
                s -= factor[k, i] * x[k]
        x[i] = s * factor[i, i]


@jit
def sweep(n, G, b, low, high, x):
    """Projected Gauss-Seidel."""
    for _ in range(SWEEPS):
        for i in range(n):
            if G[i, i] > 0.0:
                w = b[i]
                for j in range(n):
                    w += G[i, j] * x[j]
                x[i] = min(max(x[i] - w / G[i, i], low[i]), high[i])
