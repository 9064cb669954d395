"""Joint rows of the problem: limits, joint friction, mimics and loops, given the wrenches of the overlaps."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.box import solve_box
from sesshoku.solvers.problem import push_joint, read_joint
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS

JOINT_ROUNDS = 8
JOINT_TOLERANCE = 1e-10
JOINT_SWEEPS = 200  # for more joint rows in one piece than the dense matrix holds
LOW, CLAMPED, HIGH = range(3)


@jit
def joint_response(work, m, joint_list):
    """Impulses of an island's joint rows for the wrenches in work.impulse; True if they meet the tolerance."""
    problem = work.problem
    nj, G, M, scratch = len(joint_list), work.matrix, work.joint_matrix, work.joint_work
    b, low, high, x = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(nj):
        j, t = joint_list[i], problem.joint_free[joint_list[i]]
        for a in range(6 * m):
            t += G[6 * m + i, a] * work.impulse[a]
        b[i], low[i], high[i], x[i] = t, problem.joint_low[j], problem.joint_high[j], problem.joint_impulse[j]
        for k in range(nj):
            M[i, k] = G[6 * m + i, 6 * m + k]
    residual, _ = solve_box(nj, (M, b), (low, high), JOINT_TOLERANCE, x,
                            (work.joint_factor, scratch[4:7], work.joint_state[1]))
    for i in range(nj):
        problem.joint_impulse[joint_list[i]] = x[i]
    return residual <= JOINT_TOLERANCE


@jit
def keep_states(work, joint_list):
    """Which joint rows are clamped; True if that changed."""
    problem = work.problem
    changed = False
    for i in range(len(joint_list)):
        j = joint_list[i]
        x = problem.joint_impulse[j]
        state = LOW if x <= problem.joint_low[j] else (HIGH if x >= problem.joint_high[j] else CLAMPED)
        changed = changed or state != work.joint_state[0, i]
        work.joint_state[0, i] = state
    return changed


@jit
def solve_joints_alone(model, data, work, joint_list):
    """Joint rows of trees that touch nothing, one group of joined trees after the other."""
    problem = work.problem
    first, count = 0, len(joint_list)
    while first < count:
        group = model.tree_joined[problem.joint_tree[joint_list[first]]]
        last = first
        while last < count and model.tree_joined[problem.joint_tree[joint_list[last]]] == group:
            last += 1
        solve_group(model, data, work, joint_list[first:last])
        first = last


@jit
def solve_group(model, data, work, joint_list):
    """Joint rows of one group by the dense box solver, or by sweeps where they are too many."""
    problem = work.problem
    nj, report, chains = len(joint_list), data.report, model.row_dof
    if nj <= work.joint_capacity:
        settled = joint_solve(work, chains, joint_list, problem.y)
    else:
        settled = sweep_joints(chains, problem, joint_list, problem.y, True)
    report[ROWS] += nj
    report[ITERATIONS] = max(report[ITERATIONS], 1.0)
    if not settled:
        report[CONVERGED] = 0.0


@jit
def joint_solve(work, chains, joint_list, y):
    """Impulses of joint rows given y of everything else; y gets them. True if they meet the tolerance."""
    problem = work.problem
    nj, M, scratch, unit = len(joint_list), work.joint_matrix, work.joint_work, work.y_before
    if nj == 0:
        return True
    b, low, high, x = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(nj):
        j = joint_list[i]
        b[i] = problem.joint_free[j] + read_joint(chains, problem, j, y)
        low[i], high[i], x[i] = problem.joint_low[j], problem.joint_high[j], problem.joint_impulse[j]
        for k in range(len(unit)):
            unit[k] = 0.0
        push_joint(chains, problem, j, 1.0, unit)
        for k in range(nj):
            M[i, k] = read_joint(chains, problem, joint_list[k], unit)
    residual, _ = solve_box(nj, (M, b), (low, high), JOINT_TOLERANCE, x,
                            (work.joint_factor, scratch[4:7], work.joint_state[1]))
    for i in range(nj):
        problem.joint_impulse[joint_list[i]] = x[i]
        push_joint(chains, problem, joint_list[i], x[i], y)
    return residual <= JOINT_TOLERANCE


@jit
def sweep_joints(chains, problem, joint_list, y, begin):
    """Projected Gauss-Seidel over joint rows on y; True if the last sweep changed next to nothing.

    begin: their impulses are not in y yet.
    """
    if begin:
        for i in range(len(joint_list)):
            push_joint(chains, problem, joint_list[i], problem.joint_impulse[joint_list[i]], y)
    for _ in range(JOINT_SWEEPS):
        worst = 0.0
        for i in range(len(joint_list)):
            j = joint_list[i]
            g = problem.joint_block[j]
            if g > 0.0:
                u = read_joint(chains, problem, j, y) + problem.joint_free[j]
                x = min(max(problem.joint_impulse[j] - u / g, problem.joint_low[j]), problem.joint_high[j])
                change = x - problem.joint_impulse[j]
                problem.joint_impulse[j] = x
                push_joint(chains, problem, j, change, y)
                worst = max(worst, abs(change) * g)
        if worst <= JOINT_TOLERANCE:
            return True
    return False
