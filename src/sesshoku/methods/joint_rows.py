"""Joint constraints (limits, joint friction, mimics, loops) as rows of the contact problem."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.jacobian import chain_times
from sesshoku.dynamics.rows import group_rows, store_impulse
from sesshoku.solvers.problem import JOINT_ROWS, PROBLEM_OVERFLOW, USED


@jit
def joint_rows(model, data, problem, q, v_new, dt):
    """Add the joint rows of every group, in half form. Needs `start_problem`, `kinematics`, `link_velocities`."""
    for group in range(model.group_count):
        count = group_rows(model, data, group, q, v_new, dt)
        for row in range(count):
            add_row(model, data, problem, row, v_new)


@jit
def add_row(model, data, problem, row, v_new):
    """Copy row `row` of the group's work space into the problem."""
    j = problem.counts[JOINT_ROWS]
    needed = 0
    for side in range(2):
        end = data.row_end[row, side]
        needed += model.dof_depth[end] + 1 if end >= 0 else 0
    if j >= problem.joint_capacity or problem.counts[USED] + needed > problem.arena:
        problem.counts[PROBLEM_OVERFLOW] += 1
        return
    speed = -data.row_target[row]
    for side in range(2):
        end, start, span = data.row_end[row, side], data.row_start[row, side], problem.joint_span[j, side]
        span[0] = span[1] = span[2] = 0
        if end < 0:
            continue
        speed += chain_times(model, end, data.row_jacobian, start, v_new)
        count = model.dof_depth[end] + 1
        span[0], span[1], span[2] = model.dof_row[end], count, problem.counts[USED]
        problem.counts[USED] += count
        half = problem.half[span[2] : span[2] + count]
        for e in range(count):
            half[e] = data.row_jacobian[start + e]
        single_half_form(model, data.factor, problem.root_dinv, model.row_dof[span[0] : span[0] + count], half)
        problem.joint_tree[j] = model.link_tree[model.dof_link[end]]
    problem.joint_free[j] = speed
    problem.joint_low[j], problem.joint_high[j] = data.row_low[row], data.row_high[row]
    problem.joint_source[j, 0], problem.joint_source[j, 1] = data.row_source[row, 0], data.row_source[row, 1]
    problem.joint_impulse[j] = data.row_force[row]
    problem.joint_block[j] = joint_diagonal(model, problem, j)
    problem.counts[JOINT_ROWS] = j + 1


@jit
def single_half_form(model, factor, root_dinv, dofs, row):
    """Z = J L^-1 D^-1/2 in place along one chain."""
    for e in range(len(dofs) - 1, -1, -1):
        k = dofs[e]
        start, a = model.dof_row[k], row[e]
        if a != 0.0:
            below = factor[start : start + e]
            for f in range(e):
                row[f] -= below[f] * a
        row[e] = root_dinv[k] * a


@jit
def joint_diagonal(model, problem, j):
    """Z Z^T of one joint row, with the common ancestors of its two chains."""
    total = 0.0
    span = problem.joint_span[j]
    for side in range(2):
        half = problem.half[span[side, 2] : span[side, 2] + span[side, 1]]
        for e in range(len(half)):
            total += half[e] * half[e]
    if span[0, 1] > 0 and span[1, 1] > 0:
        dofs_a, dofs_b = model.row_dof[span[0, 0] :], model.row_dof[span[1, 0] :]
        half_a, half_b = problem.half[span[0, 2] :], problem.half[span[1, 2] :]
        e, least = 0, min(span[0, 1], span[1, 1])
        while e < least and dofs_a[e] == dofs_b[e]:
            total += 2.0 * half_a[e] * half_b[e]
            e += 1
    return total


@jit
def store_joint_impulses(model, data, problem):
    """Keep the impulses with what they belong to."""
    for j in range(problem.counts[JOINT_ROWS]):
        store_impulse(data, problem.joint_source[j, 0], problem.joint_source[j, 1], problem.joint_impulse[j])
