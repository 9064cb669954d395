"""Rolling blocks (solvers/problem.py) of the contacts whose materials have rolling or torsional friction.

Rows are the angular velocity of b relative to a along the contact's axes; a torque impulse x along them acts on b,
minus x on a.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.materials import rolling_coefficients
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import FREE
from sesshoku.solvers.problem import NOTHING, PROBLEM_OVERFLOW, ROLLING, USED, diagonal_block
from sesshoku.stages.contact_rows import to_half_form


@jit
def choose_rolling(model, data, contacts, problem):
    """List the rolling blocks of the step's contacts, their bounds and relative angular velocities (in problem.free).

    Needs `link_velocities` and problem.axes.
    """
    problem.counts[ROLLING] = 0
    if model.has_rolling == 0:
        return
    for c in range(contacts.counts[CONTACTS]):
        torsional, rolling = rolling_coefficients(model, contacts.shape[c, 0], contacts.shape[c, 1])
        problem.rolling_bound[c, 0], problem.rolling_bound[c, 1] = rolling, torsional
        if torsional <= 0.0 and rolling <= 0.0:
            continue
        p, n = problem.contact_capacity + c, problem.counts[ROLLING]
        problem.rolling[n] = p
        problem.counts[ROLLING] = n + 1
        x = y = z = 0.0
        for side in range(2):
            link, sign = contacts.link[c, side], 1.0 if side else -1.0
            if link >= 0:
                w = data.velocity[link]
                x, y, z = x + sign * w[3], y + sign * w[4], z + sign * w[5]
        for d in range(3):
            axis = problem.axes[c, d]
            problem.free[p, d] = axis[0] * x + axis[1] * y + axis[2] * z


@jit
def list_blocks(problem, contact_list, block_list):
    """An island's contacts followed by their rolling blocks, in block_list; returns how many."""
    count = len(contact_list)
    for n in range(len(contact_list)):
        c = contact_list[n]
        block_list[n] = c
        if problem.rolling_bound[c, 0] > 0.0 or problem.rolling_bound[c, 1] > 0.0:
            block_list[count] = problem.contact_capacity + c
            count += 1
    return count


@jit
def rolling_rows(model, data, work, v_new):
    """Rows of the listed rolling blocks, and in their free velocities what v_new adds. Needs `contact_rows`."""
    problem = work.problem
    for n in range(problem.counts[ROLLING]):
        p = problem.rolling[n]
        for side in range(2):
            rolling_side(model, data, work, p, side, v_new)
        diagonal_block(model.row_dof, problem, p)


@jit
def rolling_side(model, data, work, p, side, v_new):
    """Rows of one side, along the same dofs as the contact's own, and their share in the free velocity."""
    contacts, problem = work.contacts, work.problem
    c = p - problem.contact_capacity
    given, span, free = problem.span[c, side], problem.span[p, side], problem.free[p]
    count = given[1]
    span[0], span[1], span[2], problem.body[p, side] = 0, 0, 0, NOTHING
    if count == 0:
        return
    if problem.counts[USED] + 3 * count > problem.arena:
        problem.counts[PROBLEM_OVERFLOW] += 1
        return
    span[0], span[1], span[2], problem.body[p, side] = given[0], count, problem.counts[USED], problem.body[c, side]
    problem.counts[USED] += 3 * count
    dofs, half = model.row_dof[span[0] : span[0] + count], problem.half[span[2] : span[2] + 3 * count]
    free_root = model.link_joint[model.tree_link[model.link_tree[contacts.link[c, side]]]] == FREE
    S, sign = data.axis, 1.0 if side else -1.0
    for d in range(3):
        axis, row = problem.axes[c, d], half[d * count : (d + 1) * count]
        x, y, z = sign * axis[0], sign * axis[1], sign * axis[2]
        for e in range(count):
            if free_root and e < 6:  # its axes are the identity
                row[e] = 0.0 if e < 3 else (x if e == 3 else (y if e == 4 else z))
            else:
                s = S[dofs[e]]
                row[e] = s[3] * x + s[4] * y + s[5] * z
            free[d] += row[e] * (v_new[dofs[e]] - data.v[dofs[e]])
    to_half_form(model, data.factor, problem.root_dinv, dofs, half)
