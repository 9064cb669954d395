"""Block Gauss-Seidel with every contact solved exactly (proximal/local.py, `exact_contact`): the last resort of
proximal/newton.py, and a solver to compare it with."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.pgs import visit_joint
from sesshoku.solvers.problem import contacts_among, push_contact, read_contact
from sesshoku.solvers.proximal.local import exact_contact
from sesshoku.solvers.rolling import visit_rolling


@jit
def visit_exactly(chains, problem, mu, c, y):
    """Solve contact c for the present impulses of the others; returns its change as a velocity."""
    x, W, free = problem.impulse[c], problem.block[c], problem.free[c]
    if W[2, 2] <= 0.0:
        return 0.0
    u0, u1, u2 = read_contact(chains, problem, c, y)
    u0, u1, u2 = u0 + free[0], u1 + free[1], u2 + free[2]
    if u2 >= 0.0 and x[2] == 0.0:
        return 0.0
    q0 = u0 - W[0, 0] * x[0] - W[0, 1] * x[1] - W[0, 2] * x[2]
    q1 = u1 - W[1, 0] * x[0] - W[1, 1] * x[1] - W[1, 2] * x[2]
    q2 = u2 - W[2, 0] * x[0] - W[2, 1] * x[1] - W[2, 2] * x[2]
    t1, t2, n = exact_contact(W, mu[c], q0, q1, q2)
    d0, d1, d2 = t1 - x[0], t2 - x[1], n - x[2]
    x[0], x[1], x[2] = t1, t2, n
    push_contact(chains, problem, c, d0, d1, d2, y)
    return max(W[0, 0], W[1, 1], W[2, 2]) * max(abs(d0), abs(d1), abs(d2))


@jit
def sweep_exactly(chains, problem, mu, lists, joint_moved, y, goal):
    """At most `sweeps` sweeps over joint rows and contacts; returns how many were made. y belongs to the impulses."""
    contact_list, joint_list = lists
    sweeps, tolerance = goal
    count = contacts_among(problem, contact_list)
    for s in range(sweeps):
        worst = 0.0
        for n in range(len(joint_list)):
            worst = max(worst, visit_joint(chains, problem, joint_list[n], joint_moved, y))
        for n in range(count):
            worst = max(worst, visit_exactly(chains, problem, mu, contact_list[n], y))
        for n in range(count, len(contact_list)):
            worst = max(worst, visit_rolling(chains, problem, contact_list[n], problem.work, y))
        if worst <= tolerance:
            return s + 1
    return sweeps
