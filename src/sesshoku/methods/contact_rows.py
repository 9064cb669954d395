"""Building the contact problem from detected contacts and the factored mass matrix. See solvers/problem.py for its
form.

Signs: a row is the velocity of b relative to a along its axis; an impulse x along it acts on b, minus x on a.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import last_dof
from sesshoku.scene.model import FREE
from sesshoku.solvers.problem import JOINT_ROWS, PROBLEM_OVERFLOW, USED, diagonal_block
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
def contact_rows(model, data, contacts, problem, v_new):
    """Rows of every contact along problem.axes: half form, diagonal block, velocities before and free (v_new)."""
    for c in range(contacts.counts[CONTACTS]):
        axes, free = problem.axes[c], problem.free[c]
        vx, vy, vz = contact_velocity(model, data, contacts, c)
        for d in range(3):
            free[d] = problem.velocity[c, d] = axes[d, 0] * vx + axes[d, 1] * vy + axes[d, 2] * vz
        for side in range(2):
            link = contacts.link[c, side]
            span = problem.span[c, side]
            span[0] = span[1] = span[2] = 0
            end = last_dof(model, link) if link >= 0 else -1
            if end < 0:
                continue
            count = model.dof_depth[end] + 1
            if problem.counts[USED] + 3 * count > problem.arena:
                problem.counts[PROBLEM_OVERFLOW] += 1
                continue
            span[0], span[1], span[2] = model.dof_row[end], count, problem.counts[USED]
            problem.counts[USED] += 3 * count
            half = problem.half[span[2] : span[2] + 3 * count]
            dofs = model.row_dof[span[0] : span[0] + count]
            side_jacobian(model, data, link, contacts.point[c], axes, -1.0 if side == 0 else 1.0, dofs, half)
            for e in range(count):
                change = v_new[dofs[e]] - data.v[dofs[e]]
                free[0] += half[3 * e] * change
                free[1] += half[3 * e + 1] * change
                free[2] += half[3 * e + 2] * change
            to_half_form(model, data.factor, problem.root_dinv, dofs, half)
        diagonal_block(model.row_dof, problem, problem.span[c], problem.block[c])


@jit
def side_jacobian(model, data, link, point, axes, sign, dofs, rows_out):
    """Jacobian of the point on `link` along three axes, three numbers per dof of its chain, times sign."""
    t = model.link_tree[link]
    o, S = data.tree_origin[t], data.axis
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    first = 0
    if model.link_joint[model.tree_link[t]] == FREE:  # its axes are the identity: the wrench itself
        first = 6
    for d in range(3):
        fx, fy, fz = sign * axes[d, 0], sign * axes[d, 1], sign * axes[d, 2]
        nx, ny, nz = cross(x, y, z, fx, fy, fz)
        if first == 6:
            rows_out[d], rows_out[3 + d], rows_out[6 + d] = fx, fy, fz
            rows_out[9 + d], rows_out[12 + d], rows_out[15 + d] = nx, ny, nz
        for e in range(first, len(dofs)):
            s = S[dofs[e]]
            rows_out[3 * e + d] = s[0] * fx + s[1] * fy + s[2] * fz + s[3] * nx + s[4] * ny + s[5] * nz


@jit
def to_half_form(model, factor, root_dinv, dofs, rows):
    """Z = J L^-1 D^-1/2 in place, three rows interleaved along one chain."""
    for e in range(len(dofs) - 1, -1, -1):
        k = dofs[e]
        start = model.dof_row[k]
        below = factor[start : start + e]
        a, b, c = rows[3 * e], rows[3 * e + 1], rows[3 * e + 2]
        for f in range(e):
            s = below[f]
            rows[3 * f] -= s * a
            rows[3 * f + 1] -= s * b
            rows[3 * f + 2] -= s * c
        r = root_dinv[k]
        rows[3 * e], rows[3 * e + 1], rows[3 * e + 2] = r * a, r * b, r * c


@jit
def velocity_change(model, data, problem, y, change_out):
    """Change of v (V) that y stands for: L^-1 D^-1/2 y."""
    depth, row, row_dof, factor, root = model.dof_depth, model.dof_row, model.row_dof, data.factor, problem.root_dinv
    for k in range(model.dof_count):
        d, start, t = depth[k], row[k], y[k] * root[k]
        mine, dofs = factor[start : start + d], row_dof[start : start + d]
        for e in range(d):
            t -= mine[e] * change_out[dofs[e]]
        change_out[k] = t


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
