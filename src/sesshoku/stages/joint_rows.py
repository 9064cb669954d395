"""Joint constraints (limits, joint friction, mimics, loops) as rows of the contact problem.

Loops and mimics enter as independent rows (`dynamics.independent`), one after the other for each cluster; a row of them
has one side, over all dofs of the cluster.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.independent import NEARLY, from_basis, half_velocity, independent_rows, to_basis
from sesshoku.dynamics.constraints.rows import ROW_BASIS, UNBOUNDED, bounded_rows, cluster_rows, store_impulse
from sesshoku.dynamics.jacobian import chain_times
from sesshoku.solvers.problem import JOINT_ROWS, PROBLEM_OVERFLOW, USED

# of a cluster's velocities: what the turning of its links may ask for at most (dt w/2, where rows are independent)
TURN_SHARE = 0.05


@jit
def joint_rows(model, data, problem, q, v_new, dt, together):
    """Add the joint rows of every group, in half form. Needs `start_problem`, `kinematics`, `link_velocities`.

    together: see `bounded_rows`.
    """
    for group in range(model.group_count):
        count, _ = bounded_rows(model, data, group, q, v_new, dt, together)
        for row in range(count):
            add_row(model, data, problem, row, v_new)
        for cluster in range(model.group_cluster[group], model.group_cluster[group + 1]):
            count, _ = cluster_rows(model, data, cluster, 0, 0)
            rank = independent_rows(model, data, cluster, count, NEARLY)
            add_basis(model, data, problem, cluster, rank, v_new)


@jit
def add_basis(model, data, problem, cluster, rank, v_new):
    """Copy the independent rows of a cluster into the problem, at the size of the rows they stand for: in m/s."""
    start, n, first = model.cluster_dofs[cluster, 0], model.cluster_dofs[cluster, 1], model.cluster_start[cluster]
    data.basis_row[cluster] = j = problem.counts[JOINT_ROWS]
    if j + rank > problem.joint_capacity or problem.counts[USED] + rank * n > problem.arena:
        problem.counts[PROBLEM_OVERFLOW] += 1
        data.basis_rank[cluster] = 0
        return
    y = data.basis_y
    most = TURN_SHARE * half_velocity(model, data, cluster, v_new, y)
    for b in range(rank):
        p, at, speed = data.basis_order[first[0] + b], problem.counts[USED], 0.0
        size = data.basis_scale[first[0] + p]
        for e in range(n):
            z = data.basis[first[1] + p * n + e]
            problem.half[at + e] = size * z
            speed += z * y[e]
        problem.counts[USED] += n
        span = problem.joint_span[j]
        span[0, 0], span[0, 1], span[0, 2] = start, n, at
        span[1, 0] = span[1, 1] = span[1, 2] = 0
        problem.joint_tree[j] = model.link_tree[model.dof_link[model.row_dof[start]]]
        problem.joint_free[j] = size * (speed - data.row_target[p] - min(max(data.row_turn[p], -most), most))
        problem.joint_low[j], problem.joint_high[j] = -UNBOUNDED, UNBOUNDED
        problem.joint_source[j, 0], problem.joint_source[j, 1] = ROW_BASIS, cluster
        problem.joint_impulse[j] = to_basis(model, data, cluster, b, data.row_force) / size
        problem.joint_block[j] = size * size
        j += 1
    problem.counts[JOINT_ROWS] = j


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
        if problem.joint_source[j, 0] != ROW_BASIS:
            store_impulse(data, problem.joint_source[j, 0], problem.joint_source[j, 1], problem.joint_impulse[j],
                          problem.joint_low[j])  # fmt: skip
    for cluster in range(model.cluster_count):
        x, first, j = data.row_bias, model.cluster_start[cluster, 0], data.basis_row[cluster]
        for b in range(data.basis_rank[cluster]):
            x[b] = problem.joint_impulse[j + b] * data.basis_scale[first + data.basis_order[first + b]]
        from_basis(model, data, cluster, x, data.row_force)
        for r in range(model.cluster_start[cluster + 1, 0] - first):
            store_impulse(data, data.basis_source[first + r, 0], data.basis_source[first + r, 1], data.row_force[r],
                          0.0)  # fmt: skip
