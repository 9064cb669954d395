"""Building the contact problem from detected contacts and the factored mass matrix. See solvers/problem.py for its
form.

Signs: a row is the velocity of b relative to a along its axis; an impulse x along it acts on b, minus x on a.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.factor import solve_lower
from sesshoku.dynamics.kinematics import last_dof
from sesshoku.model.arrays import FREE
from sesshoku.solvers.problem import CHAIN, JOINT_ROWS, NOTHING, PROBLEM_OVERFLOW, USED, diagonal_block
from sesshoku.spatial.algebra import cross


@jit
def start_problem(model, data, problem):
    """Empty the rows; D^-1/2 of the present factor."""
    problem.counts[USED] = problem.counts[JOINT_ROWS] = problem.counts[PROBLEM_OVERFLOW] = 0
    root, dinv = problem.root_dinv, data.factor_dinv
    for k in range(model.dof_count):
        root[k] = sqrt(dinv[k])


@jit
def contact_velocity(model, data, contacts, c):
    """Velocity of b relative to a at contact c, world axes. Needs `link_velocities`."""
    x = y = z = 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            o, p, w = data.tree_origin[model.link_tree[link]], contacts.point[c], data.velocity[link]
            cx, cy, cz = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
            sign = 1.0 if side else -1.0
            x, y, z = x + sign * (w[0] + cx), y + sign * (w[1] + cy), z + sign * (w[2] + cz)
    return x, y, z


@jit
def contact_rows(model, data, work, v_new):
    """Rows of every contact along problem.axes: half form, diagonal block, and the free velocity (that of v_new).

    Needs problem.velocity, the velocity before along the axes.
    """
    contacts, problem = work.contacts, work.problem
    for c in range(contacts.counts[CONTACTS]):
        free, before = problem.free[c], problem.velocity[c]
        free[0], free[1], free[2] = before[0], before[1], before[2]
        for side in range(2):
            contact_side(model, data, work, c, side, v_new)
        diagonal_block(model.row_dof, problem, c)


@jit(into_callers=True)
def claim_rows(model, problem, link, block, side):
    """Room for three rows of a block over the dofs between the root and `link`: their number, 0 where there are none.

    Sets span and body (where that is a free body's six dofs, else CHAIN).
    """
    span = problem.span[block, side]
    span[0] = span[1] = span[2] = 0
    problem.body[block, side] = NOTHING
    end = last_dof(model, link) if link >= 0 else -1
    if end < 0:
        return 0
    count = model.dof_depth[end] + 1
    if problem.counts[USED] + 3 * count > problem.arena:
        problem.counts[PROBLEM_OVERFLOW] += 1
        return 0
    span[0], span[1], span[2] = model.dof_row[end], count, problem.counts[USED]
    problem.counts[USED] += 3 * count
    free_root = model.link_joint[model.tree_link[model.link_tree[link]]] == FREE
    problem.body[block, side] = end - 5 if free_root and count == 6 else CHAIN
    return count


@jit
def contact_side(model, data, work, c, side, v_new):
    """Rows of one side of contact c, and their share in the free velocity."""
    contacts, problem = work.contacts, work.problem
    link, span, free = contacts.link[c, side], problem.span[c, side], problem.free[c]
    count = claim_rows(model, problem, link, c, side)
    if count == 0:
        return
    tree = model.link_tree[link]
    body, alone = problem.body[c, side], model.tree_link[tree + 1] == model.tree_link[tree] + 1
    if body != CHAIN and alone:
        lone_body_rows(model, data, work, c, side, body, v_new)
        return
    free_root = model.link_joint[model.tree_link[tree]] == FREE
    dofs = model.row_dof[span[0] : span[0] + count]
    half = problem.half[span[2] : span[2] + 3 * count]
    side_jacobian(model, data, link, contacts.point[c], problem.axes[c], side, free_root, dofs, half)
    for e in range(count):
        change = v_new[dofs[e]] - data.v[dofs[e]]
        for d in range(3):
            free[d] += half[d * count + e] * change
    to_half_form(model, data.factor, problem.root_dinv, dofs, half)


@jit
def side_jacobian(model, data, link, point, axes, side, free_root, dofs, rows_out):
    """Jacobian of the point on `link` along three axes, row after row over the dofs of its chain.

    Minus it on side a. eq. (5), multipoint: K_i^T.
    """
    o, S, sign = data.tree_origin[model.link_tree[link]], data.axis, 1.0 if side else -1.0
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    for d in range(3):
        row = rows_out[d * len(dofs) : (d + 1) * len(dofs)]
        fx, fy, fz = sign * axes[d, 0], sign * axes[d, 1], sign * axes[d, 2]
        nx, ny, nz = cross(x, y, z, fx, fy, fz)
        first = 0
        if free_root:  # its axes are the identity: the wrench itself
            first = 6
            row[0], row[1], row[2], row[3], row[4], row[5] = fx, fy, fz, nx, ny, nz
        for e in range(first, len(dofs)):
            s = S[dofs[e]]
            row[e] = s[0] * fx + s[1] * fy + s[2] * fz + s[3] * nx + s[4] * ny + s[5] * nz


@jit(into_callers=True)
def lone_body_rows(model, data, work, c, side, k, v_new):
    """All of it for a body alone on a free joint with dofs k, ..., k + 5, where L is 1 but for three numbers of
    turning.

    The same as `side_jacobian` and `to_half_form` give, a fifth of their time.
    """
    contacts, problem = work.contacts, work.problem
    o, p, sign = data.tree_origin[model.link_tree[contacts.link[c, side]]], contacts.point[c], 1.0 if side else -1.0
    x, y, z = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    five, four = data.factor[model.dof_row[k + 5] :], data.factor[model.dof_row[k + 4] :]
    s54, s53, s43 = five[4], five[3], four[3]
    new, old, root = v_new[k : k + 6], data.v[k : k + 6], problem.root_dinv[k : k + 6]
    cx, cy, cz = cross(new[3] - old[3], new[4] - old[4], new[5] - old[5], x, y, z)
    cx, cy, cz = cx + new[0] - old[0], cy + new[1] - old[1], cz + new[2] - old[2]
    at = problem.span[c, side, 2]
    rows, axes, free = problem.half[at : at + 18], problem.axes[c], problem.free[c]
    for d in range(3):
        fx, fy, fz = sign * axes[d, 0], sign * axes[d, 1], sign * axes[d, 2]
        free[d] += fx * cx + fy * cy + fz * cz
        nx, ny, nz = cross(x, y, z, fx, fy, fz)
        ny -= s54 * nz
        nx -= s53 * nz + s43 * ny
        rows[6 * d], rows[6 * d + 1], rows[6 * d + 2] = root[0] * fx, root[1] * fy, root[2] * fz
        rows[6 * d + 3], rows[6 * d + 4], rows[6 * d + 5] = root[3] * nx, root[4] * ny, root[5] * nz


@jit
def to_half_form(model, factor, root_dinv, dofs, rows):
    """Z = J L^-1 D^-1/2 of (E5) in place, three rows one after the other along one chain."""
    count = len(dofs)
    r0, r1, r2 = rows[:count], rows[count : 2 * count], rows[2 * count :]
    for e in range(count - 1, -1, -1):
        k = dofs[e]
        start = model.dof_row[k]
        below = factor[start : start + e]
        a, b, c = r0[e], r1[e], r2[e]
        for f in range(e):
            s = below[f]
            r0[f] -= s * a
            r1[f] -= s * b
            r2[f] -= s * c
        r = root_dinv[k]
        r0[e], r1[e], r2[e] = r * a, r * b, r * c


@jit
def velocity_change(model, data, problem, y, change_out):
    """Change of v (V) that y stands for: L^-1 D^-1/2 y."""
    solve_lower(model, data.factor, problem.root_dinv, y, change_out)


@jit
def generalized_impulse(model, data, problem, y, impulse_out):
    """J^T x (V) of the y that belongs to x: L^T D^1/2 y."""
    depth, row, row_dof, factor, root = model.dof_depth, model.dof_row, model.row_dof, data.factor, problem.root_dinv
    for k in range(model.dof_count):
        impulse_out[k] = 0.0
    for k in range(model.dof_count):
        d, start, t = depth[k], row[k], y[k] / root[k]
        mine, dofs = factor[start : start + d], row_dof[start : start + d]
        impulse_out[k] += t
        for e in range(d):
            impulse_out[dofs[e]] += mine[e] * t
