"""Newton direction of proximal_newton.py in dual form: a dense system in the rows that can move.

With R = Z^T image - y the direction solves (I + Z^T (D/eps) Z) dy = R. By Woodbury's identity dy = R - Z^T w with
    (eps I + D G) w = D Z R,      G = Z Z^T,
where w is zero on the rows with D = 0 (open contacts, joints at a bound): the system has three rows per active contact.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.dense_lu import lu_factor, lu_solve
from sesshoku.solvers.problem import push_joint, read_contact, read_joint
from sesshoku.solvers.proximal_local import OPEN


@jit
def fill_matrix(chains, problem, contact_list, joint_list, dof_list, work):
    """G = Z Z^T (3 m + nj) of the island."""
    m, nj, G = len(contact_list), len(joint_list), work.matrix
    span, half, y = problem.span, problem.half, work.y_step
    for i in range(m):
        W = problem.block[contact_list[i]]
        for a in range(3):
            for b in range(3):
                G[3 * i + a, 3 * i + b] = W[a, b]
        for e in range(i):
            fill_block(chains, span[contact_list[i]], span[contact_list[e]], half, G, 3 * i, 3 * e)
    for i in range(nj):
        j, r = joint_list[i], 3 * m + i
        for n in range(len(dof_list)):
            for k in range(dof_list[n, 0], dof_list[n, 1]):
                y[k] = 0.0
        push_joint(chains, problem, j, 1.0, y)
        for e in range(m):
            G[r, 3 * e], G[r, 3 * e + 1], G[r, 3 * e + 2] = read_contact(chains, problem, contact_list[e], y)
        for e in range(i + 1):
            G[r, 3 * m + e] = read_joint(chains, problem, joint_list[e], y)
        for s in range(r + 1):
            G[s, r] = G[r, s]


@jit
def fill_block(chains, mine, theirs, half, G_out, r, s):
    """Block (r, s) of G and its mirror: Z_c Z_e^T of two contacts, over the common ancestors of their chains."""
    b00 = b01 = b02 = b10 = b11 = b12 = b20 = b21 = b22 = 0.0
    for side in range(2):
        for other in range(2):
            common = min(mine[side, 1], theirs[other, 1])
            at, to = mine[side, 0], theirs[other, 0]
            if common == 0 or chains[at] != chains[to]:
                continue
            if at != to:  # two chains of one tree
                n = 1
                while n < common and chains[at + n] == chains[to + n]:
                    n += 1
                common = n
            x, wide = half[mine[side, 2] :], mine[side, 1]
            y, long = half[theirs[other, 2] :], theirs[other, 1]
            xs, ys, xn, yn = x[wide:], y[long:], x[2 * wide :], y[2 * long :]
            for n in range(common):
                x0, x1, x2, y0, y1, y2 = x[n], xs[n], xn[n], y[n], ys[n], yn[n]
                b00 += x0 * y0
                b01 += x0 * y1
                b02 += x0 * y2
                b10 += x1 * y0
                b11 += x1 * y1
                b12 += x1 * y2
                b20 += x2 * y0
                b21 += x2 * y1
                b22 += x2 * y2
    G_out[r, s] = G_out[s, r] = b00
    G_out[r, s + 1] = G_out[s + 1, r] = b01
    G_out[r, s + 2] = G_out[s + 2, r] = b02
    G_out[r + 1, s] = G_out[s, r + 1] = b10
    G_out[r + 1, s + 1] = G_out[s + 1, r + 1] = b11
    G_out[r + 1, s + 2] = G_out[s + 2, r + 1] = b12
    G_out[r + 2, s] = G_out[s, r + 2] = b20
    G_out[r + 2, s + 1] = G_out[s + 1, r + 2] = b21
    G_out[r + 2, s + 2] = G_out[s + 2, r + 2] = b22


@jit
def fill_system(m, nj, sigma, work):
    """System eps I + D G and right side D Z R over the active rows; returns how many rows."""
    G, A, right, q = work.matrix, work.system, work.right, work.mismatch
    rows, state, slope, scale, n = work.active_row, work.state, work.slope, work.scale, 0
    for i in range(m):
        if state[i] != OPEN:
            rows[n], rows[n + 1], rows[n + 2] = 3 * i, 3 * i + 1, 3 * i + 2
            n += 3
    for j in range(nj):
        if state[m + j] != OPEN:
            rows[n] = 3 * m + j
            n += 1
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
    """work.speed of the impulses x."""
    u, free = work.speed, work.free
    for k in range(rows):
        u[k] = free[k]
    add_columns(rows, work.matrix, x, u)


@jit
def dual_direction(m, nj, sigma, work):
    """Newton direction of the impulses `held` (in work.step) and of the velocities (work.change).

    Returns (found, slope, size): whether the system could be solved; du . held and du . dx, for the line search.
    """
    rows, G, q, step, change = 3 * m + nj, work.matrix, work.mismatch, work.step, work.change
    n = fill_system(m, nj, sigma, work)
    if n > 0:
        if not lu_factor(n, work.system, work.pivot):
            return False, 0.0, 0.0
        lu_solve(n, work.system, work.pivot, work.right)
    for k in range(rows):
        step[k], change[k] = work.image[k] - work.held[k], q[k]
    for r in range(n):
        k, t = work.active_row[r], work.right[r]
        step[k] -= t
        line = G[k, :rows]
        for s in range(rows):
            change[s] -= line[s] * t
    slope = size = 0.0
    for k in range(rows):
        slope += change[k] * work.held[k]
        size += change[k] * step[k]
    return True, slope, size


@jit
def dual_mismatch(rows, work):
    """work.mismatch = G (image - held), the velocities of the images minus the velocities; returns the largest."""
    q, gap, worst = work.mismatch, work.trial, 0.0
    for k in range(rows):
        gap[k], q[k] = work.image[k] - work.held[k], 0.0
    add_columns(rows, work.matrix, gap, q)
    for k in range(rows):
        worst = max(worst, abs(q[k]))
    return worst
