"""Projected Gauss-Seidel on sparse rows in half form (see problem.py), with the friction bound refreshed at every
visit.

A contact's impulse is (t1, t2, n) with n >= 0 and a friction law of one of three shapes:
    SLIDE   0 <= t1 <= mu n, t2 = 0          sliding: the axis t1 opposes the slip
    SQUARE  |t1|, |t2| <= mu n               the pyramid with four edges
    DISC    |(t1, t2)| <= mu n               Coulomb's cone
Rolling blocks that hang on contacts (rolling.py) are visited after them.
A sweep visits the joint rows, then either all normals and then all tangents (`normals_first`), or contact by contact.
With `accelerate` sweeps are combined by the nonsmooth nonlinear conjugate gradient (NNCG): after a sweep that changed
the impulses by d, x += beta p with beta = |d|^2 / |d_before|^2 (0 where beta > 1), p = beta p + d; the same
combination acts on y. A visit leaves its d in work.moved.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.solvers.pgs_bodies import pack_contacts, visit_bodies
from sesshoku.solvers.problem import contacts_among, push_contact, push_joint, read_contact, read_joint, read_normal
from sesshoku.solvers.rolling import visit_rolling

SLIDE, SQUARE, DISC = range(3)
LOCAL_SWEEPS = 60  # of a contact's own three rows, where the pair is solved exactly


@jit(into_callers=True)
def limited_tangents(law, bound, t1, t2):
    """The nearest tangential impulse the friction law allows (for SQUARE and SLIDE: axis by axis)."""
    if law == SLIDE:
        return min(max(t1, 0.0), bound), 0.0  # (16), lcp
    if law == SQUARE:
        return min(max(t1, -bound), bound), min(max(t2, -bound), bound)
    size2 = t1 * t1 + t2 * t2
    if size2 > bound * bound:
        s = bound / sqrt(size2)
        return s * t1, s * t2
    return t1, t2


@jit(into_callers=True)
def tangent_step(law, W, inverse, bound, t, u):
    """New tangential impulses of a contact with tangential velocities u at the old ones t.

    Axis by axis, or on the disc with the step `inverse` = 1 / max(W_00, W_11).
    """
    t1, t2 = t
    u1, u2 = u
    if law == DISC:
        return limited_tangents(law, bound, t1 - u1 * inverse, t2 - u2 * inverse)
    n1 = t1
    if W[0, 0] > 0.0:
        n1, _ = limited_tangents(law, bound, t1 - u1 / W[0, 0], 0.0)
    if law == SLIDE or W[1, 1] <= 0.0:
        return n1, 0.0
    u2 += W[1, 0] * (n1 - t1)
    return n1, min(max(t2 - u2 / W[1, 1], -bound), bound)


@jit
def exact_pair(law, mu, W, inverse, x, q):
    """Impulse (3) of one contact that solves its own rows exactly, given their velocity q (3) at zero impulse.

    SLIDE: by cases (open, stick, slip, no friction). Otherwise its rows are swept until they stand still.
    """
    if law == SLIDE:
        if q[2] >= 0.0:
            return 0.0, 0.0, 0.0
        det = W[0, 0] * W[2, 2] - W[0, 2] * W[0, 2]
        if det > 1e-14 * W[0, 0] * W[2, 2]:  # both velocities zero
            t = (-q[0] * W[2, 2] + q[2] * W[0, 2]) / det
            n = (-q[2] * W[0, 0] + q[0] * W[0, 2]) / det
            if n >= 0.0 and 0.0 <= t <= mu * n:
                return t, 0.0, n
        slope = W[2, 2] + mu * W[0, 2]
        if slope > 0.0:  # t = mu n, slip goes on
            n = -q[2] / slope
            if q[0] + (W[0, 2] + mu * W[0, 0]) * n <= 0.0:
                return mu * n, 0.0, n
        n = -q[2] / W[2, 2]
        return 0.0, 0.0, n
    t1, t2, n = x[0], x[1], x[2]
    for _ in range(LOCAL_SWEEPS):
        before1, before2, before_n = t1, t2, n
        n = max(0.0, n - (q[2] + W[2, 0] * t1 + W[2, 1] * t2 + W[2, 2] * n) / W[2, 2])
        u1 = q[0] + W[0, 0] * t1 + W[0, 1] * t2 + W[0, 2] * n
        u2 = q[1] + W[1, 0] * t1 + W[1, 1] * t2 + W[1, 2] * n
        t1, t2 = tangent_step(law, W, inverse, mu * n, (t1, t2), (u1, u2))
        if abs(t1 - before1) + abs(t2 - before2) + abs(n - before_n) <= 1e-14 * (abs(t1) + abs(t2) + n):
            break
    return t1, t2, n


@jit(into_callers=True)
def visit_contact(chains, problem, friction, c, exact, change_out, y):
    """Gauss-Seidel update of all three rows of a contact; returns the largest change, as a velocity.

    eqs. (2)-(5), (7), (8), (15), (16), lcp.
    """
    law, mu = friction
    x, W, inverse, free, change = (
        problem.impulse[c],
        problem.block[c],
        problem.inverse[c],
        problem.free[c],
        change_out[c],
    )
    change[0] = change[1] = change[2] = 0.0
    if inverse[1] == 0.0 or (x[2] == 0.0 and x[0] == 0.0 and x[1] == 0.0
                             and read_normal(chains, problem, c, y) + free[2] >= 0.0):
        return 0.0
    u0, u1, u2 = read_contact(chains, problem, c, y)
    u0, u1, u2 = u0 + free[0], u1 + free[1], u2 + free[2]
    if exact:
        q = problem.work
        for i in range(3):
            u = u0 if i == 0 else (u1 if i == 1 else u2)
            q[i] = u - W[i, 0] * x[0] - W[i, 1] * x[1] - W[i, 2] * x[2]
        t1, t2, n = exact_pair(law[c], mu[c], W, inverse[0], x, q)
    else:
        n = max(0.0, x[2] - u2 * inverse[1])
        dn = n - x[2]
        t1, t2 = tangent_step(law[c], W, inverse[0], mu[c] * n, (x[0], x[1]), (u0 + W[0, 2] * dn, u1 + W[1, 2] * dn))
    d0, d1, d2 = t1 - x[0], t2 - x[1], n - x[2]
    x[0], x[1], x[2] = t1, t2, n
    change[0], change[1], change[2] = d0, d1, d2
    push_contact(chains, problem, c, d0, d1, d2, y)
    return max(abs(d0) * W[0, 0], abs(d1) * W[1, 1], abs(d2) * W[2, 2])


@jit
def visit_normal(chains, problem, c, change_out, y):
    """Gauss-Seidel update of a contact's normal row: eqs. (2)-(5), (15), lcp."""
    x, inverse, change = problem.impulse[c], problem.inverse[c, 1], change_out[c]
    change[0] = change[1] = change[2] = 0.0
    if inverse == 0.0:
        return 0.0
    n = max(0.0, x[2] - (read_normal(chains, problem, c, y) + problem.free[c, 2]) * inverse)
    d = n - x[2]
    if d != 0.0:
        x[2] = n
        change[2] = d
        push_contact(chains, problem, c, 0.0, 0.0, d, y)
    return abs(d) * problem.block[c, 2, 2]


@jit
def visit_tangents(chains, problem, law, mu, c, change_out, y):
    """Gauss-Seidel update of a contact's friction rows, bound by its normal impulse: eqs. (7), (8), (16), lcp."""
    x, W, free = problem.impulse[c], problem.block[c], problem.free[c]
    u0, u1, _ = read_contact(chains, problem, c, y)
    inverse = problem.inverse[c, 0]
    t1, t2 = tangent_step(law[c], W, inverse, mu[c] * x[2], (x[0], x[1]), (u0 + free[0], u1 + free[1]))
    d0, d1 = t1 - x[0], t2 - x[1]
    if d0 != 0.0 or d1 != 0.0:
        x[0], x[1] = t1, t2
        change_out[c, 0], change_out[c, 1] = d0, d1
        push_contact(chains, problem, c, d0, d1, 0.0, y)
    return max(abs(d0) * W[0, 0], abs(d1) * W[1, 1])


@jit
def visit_joint(chains, problem, j, change_out, y):
    """Gauss-Seidel update of a joint row: eqs. (12)-(14), lcp, which are strict in print."""
    g = problem.joint_block[j]
    change_out[j] = 0.0
    if g <= 0.0:
        return 0.0
    x = problem.joint_impulse[j]
    u = read_joint(chains, problem, j, y) + problem.joint_free[j]
    new = min(max(x - u / g, problem.joint_low[j]), problem.joint_high[j])
    if new != x:
        problem.joint_impulse[j] = new
        change_out[j] = new - x
        push_joint(chains, problem, j, new - x, y)
    return abs(new - x) * g


@jit
def sweep(chains, problem, friction, lists, way, work, y):
    """One sweep; returns the largest change of any row, as a velocity."""
    law, mu = friction
    contact_list, joint_list = lists
    normals_first, exact = way
    worst, change, x, pack, pack_dof = 0.0, work.moved, problem.impulse, work.pack, work.pack_dof
    count = contacts_among(problem, contact_list)
    for n in range(len(joint_list)):
        worst = max(worst, visit_joint(chains, problem, joint_list[n], work.joint_moved, y))
    if normals_first and not exact:
        for n in range(count):
            worst = max(worst, visit_normal(chains, problem, contact_list[n], change, y))
        for n in range(count):
            worst = max(worst, visit_tangents(chains, problem, law, mu, contact_list[n], change, y))
    else:
        for n in range(count):
            c = contact_list[n]
            if pack_dof[c, 0] >= 0:
                moved = visit_bodies(pack[c], pack_dof[c, 0], pack_dof[c, 1], x[c], change[c], y)
            else:
                moved = visit_contact(chains, problem, friction, c, exact, change, y)
            worst = max(worst, moved)
    for n in range(count, len(contact_list)):
        worst = max(worst, visit_rolling(chains, problem, contact_list[n], change[contact_list[n]], y))
    return worst


@jit
def solve_rows(chains, problem, friction, lists, way, goal, work, y):
    """Sweep until no row changes by more than `tolerance` (a velocity); returns the number of sweeps made, one more
    than `max_sweeps` if those were not enough.

    y must belong to the impulses at the start. lists: an island's contacts, joint rows, and (n, 2) ranges of dofs the
    rows act on. work: record of the last sweep's changes and the search direction (moved, direction; joint_moved,
    joint_direction; y_before, y_direction), and of the packed contacts (pack, pack_dof).
    """
    law, mu = friction
    normals_first, exact, accelerate = way
    max_sweeps, tolerance = goal
    contact_list, joint_list, dof_list = lists
    choose_visits(problem, law, mu, contact_list, normals_first or exact, work)
    last = 0.0
    for k in range(max_sweeps):
        if accelerate:
            remember(dof_list, work, y)
        worst = sweep(chains, problem, friction, (contact_list, joint_list), (normals_first, exact), work, y)
        if worst <= tolerance:
            return k + 1
        if accelerate and k + 1 < max_sweeps:
            last = combine(problem, lists, work, y, last)
    return max_sweeps + 1


@jit
def choose_visits(problem, law, mu, contact_list, by_rows, work):
    """Pack the contacts that `visit_bodies` can take: by contact, under Coulomb's cone."""
    discs, count = True, contacts_among(problem, contact_list)
    for n in range(count):
        discs = discs and law[contact_list[n]] == DISC
        work.pack_dof[contact_list[n], 0] = -1
    if discs and not by_rows:
        pack_contacts(problem, mu, contact_list[:count], work.pack, work.pack_dof)


@jit
def remember(dof_list, work, y):
    """Keep y before a sweep."""
    before = work.y_before
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            before[k] = y[k]


@jit
def combine(problem, lists, work, y, last):
    """NNCG: add beta times the search direction (none at the first sweep and where beta > 1); returns |d|^2."""
    contact_list, joint_list, dof_list = lists
    size, change, joint_change = 0.0, work.moved, work.joint_moved
    for n in range(len(contact_list)):
        d = change[contact_list[n]]
        size += d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    for n in range(len(joint_list)):
        size += joint_change[joint_list[n]] ** 2
    if size >= last:  # the first too
        restart(contact_list, joint_list, dof_list, work)
        return size
    beta = size / last
    for n in range(len(contact_list)):
        c = contact_list[n]
        x, d, p = problem.impulse[c], change[c], work.direction[c]
        for i in range(3):
            step = beta * p[i]
            x[i] += step
            p[i] = step + d[i]
    for n in range(len(joint_list)):
        j = joint_list[n]
        step = beta * work.joint_direction[j]
        problem.joint_impulse[j] += step
        work.joint_direction[j] = step + joint_change[j]
    before, direction = work.y_before, work.y_direction
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            d, step = y[k] - before[k], beta * direction[k]
            y[k] += step
            direction[k] = step + d
    return size


@jit
def restart(contact_list, joint_list, dof_list, work):
    """Clear the search direction."""
    for n in range(len(contact_list)):
        p = work.direction[contact_list[n]]
        p[0] = p[1] = p[2] = 0.0
    for n in range(len(joint_list)):
        work.joint_direction[joint_list[n]] = 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            work.y_direction[k] = 0.0


@jit
def contact_residual(problem, law, mu, c, u0, u1, u2):
    """Violation of contact law and bounds at contact c with velocity u after the step, m/s.

    Zero iff complementarity, bound and direction of friction hold: (E10).
    """
    x, W = problem.impulse[c], problem.block[c]
    g = max(W[0, 0], W[1, 1], W[2, 2])
    if g <= 0.0:
        return 0.0
    normal = abs(x[2] - max(0.0, x[2] - u2 / g))
    t1, t2 = limited_tangents(
        law[c], mu[c] * max(x[2], 0.0), x[0] - u0 / g, x[1] - (0.0 if law[c] == SLIDE else u1 / g)
    )
    return g * max(normal, sqrt((x[0] - t1) ** 2 + (x[1] - t2) ** 2))


@jit
def joint_residual(chains, problem, j, y):
    """Violation of a joint row, m/s or rad/s."""
    g = problem.joint_block[j]
    if g <= 0.0:
        return 0.0
    x = problem.joint_impulse[j]
    u = read_joint(chains, problem, j, y) + problem.joint_free[j]
    return g * abs(x - min(max(x - u / g, problem.joint_low[j]), problem.joint_high[j]))
