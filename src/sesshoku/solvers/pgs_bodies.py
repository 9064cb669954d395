"""Gauss-Seidel visits of contacts between bodies on free joints, with Coulomb's cone: the bulk of a pile.

Everything a visit needs is packed into one row of numbers per contact before the first sweep, and a side that does not
move gets zero rows on the other's dofs, so that a visit has neither indirection nor branches for its sides: 26 ns
instead of 62 for the general visit of pgs.py, of which it is the same update.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import CHAIN, NOTHING

# places in a packed row: rows t1, t2, n of side a (0..17) and b (18..35), then
FREE, COUPLING, DIAGONAL, STEP, MU = 36, 39, 41, 44, 46
PACKED = 48


@jit
def pack_contacts(problem, mu, contact_list, pack_out, dof_out):
    """Pack the contacts of a list whose sides are free bodies or nothing; dof_out[c] = (-1, -1) marks the others."""
    half = problem.half
    for n in range(len(contact_list)):
        c = contact_list[n]
        a, b = problem.body[c, 0], problem.body[c, 1]
        dof_out[c, 0] = dof_out[c, 1] = -1
        if a == CHAIN or b == CHAIN or max(a, b) < 0 or problem.inverse[c, 1] == 0.0:
            continue
        dof_out[c, 0], dof_out[c, 1] = (a if a != NOTHING else b), (b if b != NOTHING else a)
        row = pack_out[c]
        for side in range(2):
            to, at = row[18 * side : 18 * side + 18], problem.span[c, side, 2]
            if problem.body[c, side] == NOTHING:
                for e in range(18):
                    to[e] = 0.0
            else:
                source = half[at : at + 18]
                for e in range(18):
                    to[e] = source[e]
        W, free, inverse = problem.block[c], problem.free[c], problem.inverse[c]
        for d in range(3):
            row[FREE + d], row[DIAGONAL + d] = free[d], W[d, d]
        row[COUPLING], row[COUPLING + 1] = W[0, 2], W[1, 2]
        row[STEP], row[STEP + 1], row[MU] = inverse[0], inverse[1], mu[c]


@jit(into_callers=True)
def visit_bodies(row, k_a, k_b, x, change, y):
    """pgs.visit_contact for a packed contact under Coulomb's cone."""
    ya, yb = y[k_a : k_a + 6], y[k_b : k_b + 6]
    u0, u1, u2 = row[36], row[37], row[38]
    v0 = v1 = v2 = 0.0
    for e in range(6):
        u0 += row[e] * ya[e]
        u1 += row[6 + e] * ya[e]
        u2 += row[12 + e] * ya[e]
        v0 += row[18 + e] * yb[e]
        v1 += row[24 + e] * yb[e]
        v2 += row[30 + e] * yb[e]
    u0, u1, u2 = u0 + v0, u1 + v1, u2 + v2
    change[0] = change[1] = change[2] = 0.0
    if u2 >= 0.0 and x[2] == 0.0 and x[0] == 0.0 and x[1] == 0.0:
        return 0.0
    n = max(0.0, x[2] - u2 * row[STEP + 1])
    d2 = n - x[2]
    t1, t2 = x[0] - (u0 + row[COUPLING] * d2) * row[STEP], x[1] - (u1 + row[COUPLING + 1] * d2) * row[STEP]
    bound, size2 = row[MU] * n, t1 * t1 + t2 * t2
    if size2 > bound * bound:
        s = bound / sqrt(size2)
        t1, t2 = s * t1, s * t2
    d0, d1 = t1 - x[0], t2 - x[1]
    x[0], x[1], x[2] = t1, t2, n
    change[0], change[1], change[2] = d0, d1, d2
    for e in range(6):
        ya[e] += row[e] * d0 + row[6 + e] * d1 + row[12 + e] * d2
    for e in range(6):  # after ya: where one side does not move both are the same six
        yb[e] += row[18 + e] * d0 + row[24 + e] * d1 + row[30 + e] * d2
    return max(abs(d0) * row[DIAGONAL], abs(d1) * row[DIAGONAL + 1], abs(d2) * row[DIAGONAL + 2])
