"""The law of a rolling block (problem.py): rolling and torsional friction of a contact with normal impulse n.

    rolling    the torque impulse (t1, t2) lies in the disc of radius r n and, where the relative angular velocity along
               the surface is not zero, opposes it at full size
    torsion    the torque impulse about the normal lies in [-s n, s n], likewise
with the coefficients r, s in metres. At rest and in motion they are the same.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import push_contact, read_contact


@jit(into_callers=True)
def allowed_torque(disc, most, t1, t2, s):
    """(E9): the nearest torque impulse with (t1, t2) in a disc of radius `disc` and s in [-most, most]."""
    size2 = t1 * t1 + t2 * t2
    if size2 > disc * disc:
        shorter = disc / sqrt(size2)
        t1, t2 = shorter * t1, shorter * t2
    return t1, t2, min(max(s, -most), most)


@jit(into_callers=True)
def torque_violation(disc, most, g, x, u):
    """(E10) for (E9): residual of a rolling block, rad/s: the larger g |x - P(x - u/g)| of rolling and torsion."""
    x0, x1, x2 = x
    u0, u1, u2 = u
    t1, t2, s = allowed_torque(disc, most, x0 - u0 / g, x1 - u1 / g, x2 - u2 / g)
    return g * max(sqrt((x0 - t1) ** 2 + (x1 - t2) ** 2), abs(x2 - s))


@jit
def rolling_residual(chains, problem, p, y):
    """Violation of the law at the rolling block in slot p, rad/s; y belongs to the impulses."""
    c, x, W, free = p - problem.contact_capacity, problem.impulse[p], problem.block[p], problem.free[p]
    g, n, bound = max(W[0, 0], W[1, 1], W[2, 2]), max(problem.impulse[c, 2], 0.0), problem.rolling_bound[c]
    if g <= 0.0:
        return 0.0
    u0, u1, u2 = read_contact(chains, problem, p, y)
    return torque_violation(bound[0] * n, bound[1] * n, g, (x[0], x[1], x[2]),
                            (u0 + free[0], u1 + free[1], u2 + free[2]))


@jit
def visit_rolling(chains, problem, p, change, y):
    """Gauss-Seidel update of the rolling block in slot p, torsion then rolling; returns the largest change, as a speed.

    Bounds are those of the contact's present normal impulse. change (3): takes the change of the impulse.
    """
    c, x, W = p - problem.contact_capacity, problem.impulse[p], problem.block[p]
    free, inverse, bound, n = problem.free[p], problem.inverse[p], problem.rolling_bound[c], problem.impulse[c, 2]
    change[0] = change[1] = change[2] = 0.0
    n = max(n, 0.0)
    if n == 0.0 and x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0:
        return 0.0
    u0, u1, u2 = read_contact(chains, problem, p, y)
    u0, u1, u2 = u0 + free[0], u1 + free[1], u2 + free[2]
    s = min(max(x[2] - u2 * inverse[1], -bound[1] * n), bound[1] * n)
    d2 = s - x[2]
    t1, t2 = x[0] - (u0 + W[0, 2] * d2) * inverse[0], x[1] - (u1 + W[1, 2] * d2) * inverse[0]
    t1, t2, _ = allowed_torque(bound[0] * n, 0.0, t1, t2, 0.0)
    d0, d1 = t1 - x[0], t2 - x[1]
    x[0], x[1], x[2] = t1, t2, s
    change[0], change[1], change[2] = d0, d1, d2
    push_contact(chains, problem, p, d0, d1, d2, y)
    return max(abs(d0) * W[0, 0], abs(d1) * W[1, 1], abs(d2) * W[2, 2])
