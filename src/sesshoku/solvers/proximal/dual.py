"""Newton direction of newton.py in dual form: a dense system in the rows that can move.

With R = Z^T image - y the direction solves (E16): (I + Z^T (D/eps) Z) dy = R. By Woodbury dy = R - Z^T w with
    (eps I + D G) w = D Z R,      G = Z Z^T,        (E15)
where w is zero on the rows with D = 0 (open contacts, joints at a bound): the system has three rows per active contact,
and three per active rolling block (rolling.py), whose D reaches its contact's normal row, too.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.dense_lu import lu_factor, lu_solve, symmetric_factor, symmetric_solve
from sesshoku.solvers.proximal.local import OPEN, STICK
from sesshoku.solvers.proximal.rolling import hold_rolling
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS, SYMMETRIC


@jit
def fill_system(m, nj, sigma, work):
    """(E15): system eps I + D G and right side D Z R over the active rows; returns how many rows.

    It is symmetric where nothing slips: D is one then. Rolling blocks, whose D may leave rows free, count as slipping.
    """
    G, A, right, q = work.matrix, work.system, work.right, work.mismatch
    rows, state, slope, scale, n = work.active_row, work.state, work.slope, work.scale, 0
    m0, symmetric = work.info[CONTACT_BLOCKS], True
    for i in range(m):
        if state[i] != OPEN:
            symmetric = symmetric and state[i] == STICK and i < m0
            rows[n], rows[n + 1], rows[n + 2] = 3 * i, 3 * i + 1, 3 * i + 2
            n += 3
    for j in range(nj):
        if state[m + j] != OPEN:
            rows[n] = 3 * m + j
            n += 1
    work.info[SYMMETRIC] = 1 if symmetric else 0
    r = 0
    while r < n:
        k = rows[r]
        if k >= 3 * m:
            line, source = A[r], G[k]
            for s in range(n):
                line[s] = source[rows[s]]
            line[r] += sigma * scale[k - 2 * m]
            right[r] = q[k]
            r += 1
            continue
        if k >= 3 * m0:
            rolling_system(k // 3, r, n, sigma, work)
            r += 3
            continue
        d, eps = slope[k // 3], sigma * scale[k // 3]
        d0, d1, d2, d3, d4 = d[0], d[1], d[2], d[3], d[4]
        g0, g1, g2 = G[k], G[k + 1], G[k + 2]
        a0, a1, a2 = A[r], A[r + 1], A[r + 2]
        for s in range(n):
            c = rows[s]
            x, y, z = g0[c], g1[c], g2[c]
            a0[s], a1[s], a2[s] = d0 * x + d1 * y + d3 * z, d1 * x + d2 * y + d4 * z, z
        a0[r] += eps
        a1[r + 1] += eps
        a2[r + 2] += eps
        right[r] = d0 * q[k] + d1 * q[k + 1] + d3 * q[k + 2]
        right[r + 1] = d1 * q[k] + d2 * q[k + 1] + d4 * q[k + 2]
        right[r + 2] = q[k + 2]
        r += 3
    return n


@jit
def factor_system(n, work):
    """Factor the system; False if that cannot be done."""
    return symmetric_factor(n, work.system) if work.info[SYMMETRIC] else lu_factor(n, work.system, work.pivot)


@jit
def solve_system(n, work, x):
    """x (n) <- its solution."""
    if work.info[SYMMETRIC]:
        symmetric_solve(n, work.system, x)
    else:
        lu_solve(n, work.system, work.pivot, x)


@jit
def rolling_system(i, r, n, sigma, work):
    """Rows r, r + 1, r + 2 of the system and its right side: those of the rolling block i."""
    G, A, right, q, rows, d = work.matrix, work.system, work.right, work.mismatch, work.active_row, work.slope[i]
    k, c, eps = 3 * i, 3 * work.owner[i] + 2, sigma * work.scale[i]
    for s in range(n):
        e = rows[s]
        x, y, z, w = G[k, e], G[k + 1, e], G[k + 2, e], G[c, e]
        A[r, s], A[r + 1, s] = d[0] * x + d[1] * y + d[3] * w, d[1] * x + d[2] * y + d[4] * w
        A[r + 2, s] = d[5] * z + d[6] * w
    for e in range(3):
        A[r + e, r + e] += eps
    right[r] = d[0] * q[k] + d[1] * q[k + 1] + d[3] * q[c]
    right[r + 1] = d[1] * q[k] + d[2] * q[k + 1] + d[4] * q[c]
    right[r + 2] = d[5] * q[k + 2] + d[6] * q[c]


@jit
def add_columns(rows, G, x, u_out):
    """u += G x over the rows of an island, where x is not zero."""
    for k in range(rows):
        t = x[k]
        if t != 0.0:
            line = G[k, :rows]
            for s in range(rows):
                u_out[s] += line[s] * t


@jit
def dense_velocities(rows, work, x):
    """(E4): work.speed of the impulses x."""
    u, free = work.speed, work.free
    for k in range(rows):
        u[k] = free[k]
    add_columns(rows, work.matrix, x, u)


@jit
def dual_direction(m, nj, sigma, work):
    """(E14), (E15): Newton direction of the impulses `settled` (in work.step) and of the velocities (work.change).

    Returns (found, slope, size): whether the system could be solved; du . settled and du . dx, for the line search.
    """
    rows, G, q, step, change = 3 * m + nj, work.matrix, work.mismatch, work.step, work.change
    n = fill_system(m, nj, sigma, work)
    if n > 0:
        if not factor_system(n, work):
            return False, 0.0, 0.0
        solve_system(n, work, work.right)
    for k in range(rows):
        step[k], change[k] = work.image[k] - work.settled[k], q[k]
    for r in range(n):
        k, t = work.active_row[r], work.right[r]
        step[k] -= t
        line = G[k, :rows]
        for s in range(rows):
            change[s] -= line[s] * t
    slope = size = 0.0
    for k in range(rows):
        slope += change[k] * work.settled[k]
        size += change[k] * step[k]
    return True, slope, size


@jit
def factor_sticking(m, nj, sigma, work):
    """(E19): factor of eps I + G over loaded contacts and joint rows between their bounds; returns its rows, -1: none.

    As `fill_system` where every active contact sticks.
    """
    state, slope, x, m0 = work.state, work.slope, work.impulse, work.info[CONTACT_BLOCKS]
    for i in range(m0):
        d, state[i] = slope[i], STICK if x[3 * i + 2] > 0.0 else OPEN
        d[0], d[1], d[2], d[3], d[4] = 1.0, 0.0, 1.0, 0.0, 0.0
    if m > m0:
        hold_rolling(m0, m, work)
    for j in range(nj):
        state[m + j] = STICK if work.low[j] < x[3 * m + j] < work.high[j] else OPEN
    n = fill_system(m, nj, sigma, work)
    return n if n > 0 and factor_system(n, work) else -1


@jit
def add_sticking(m, n, work, x):
    """(E19): add to the impulses what takes the velocities of the factored rows to zero."""
    rows, right, u, m0 = work.active_row, work.right, work.speed, work.info[CONTACT_BLOCKS]
    for r in range(n):
        right[r] = -u[rows[r]]
        k = rows[r]
        if 3 * m0 <= k < 3 * m:  # rows without friction stay free
            right[r] *= work.slope[k // 3, 5 if k % 3 == 2 else 0]
    solve_system(n, work, right)
    for r in range(n):
        x[rows[r]] += right[r]


@jit
def dual_mismatch(rows, work):
    """work.mismatch = G (image - settled), the velocities of the images minus the velocities; returns the largest."""
    q, gap, worst = work.mismatch, work.trial, 0.0
    for k in range(rows):
        gap[k], q[k] = work.image[k] - work.settled[k], 0.0
    add_columns(rows, work.matrix, gap, q)
    for k in range(rows):
        worst = max(worst, abs(q[k]))
    return worst
