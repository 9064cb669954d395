"""Solving the problem island by island, contacts and joint rows together.

Joint rows (limits, joint friction, mimics, loops) obey their own law exactly; contacts see the motion that leaves them.
Given which joint rows hold still (clamped) and which stand at a bound, the twist of the overlaps is affine in their
wrenches, v = A p + b, with the clamped rows eliminated from the Delassus matrix. The wrenches follow from A and b, the
joint rows from the wrenches; where another set of rows is clamped then, both are solved again.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.island_rows import group_joint_rows, island_dofs, island_lists
from sesshoku.methods.report import CONVERGED, ITERATIONS, ROWS
from sesshoku.methods.volume.dense import solve_dense
from sesshoku.solvers.box import solve_box
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.problem import push_contact, push_joint, read_joint

JOINT_ROUNDS = 8
JOINT_TOLERANCE = 1e-10
JOINT_SWEEPS = 200  # for more joint rows in one piece than the dense matrix holds
LOW, CLAMPED, HIGH = range(3)


@jit
def solve_islands(model, data, contacts, overlaps, problem, memory, cone, simplex, options, dt):
    """Solve each island apart."""
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    report[CONVERGED] = 1.0
    for k in range(model.dof_count):
        problem.y[k] = 0.0
    rest = group_joint_rows(model, contacts, problem, memory)
    for island in range(rest):
        contact_list, joint_list = island_lists(contacts, memory, island, rest)
        dof_list = memory.dof_list[: island_dofs(model, contacts, memory, island)]
        solve_island(model, data, contacts, overlaps, problem, memory, cone, simplex, options, dt, contact_list,
                     joint_list, dof_list)  # fmt: skip
    _, joint_list = island_lists(contacts, memory, rest, rest)
    if len(joint_list) > 0:
        solve_joints_alone(model, data, problem, memory, joint_list)


@jit
def solve_island(model, data, contacts, overlaps, problem, memory, cone, simplex, options, dt, contact_list, joint_list,
                 dof_list):  # fmt: skip
    """One island; its impulses go into problem.y."""
    m, nj, report, chains = len(contact_list), len(joint_list), data.report, model.row_dof
    blocks = memory.block_list[: 2 * m]
    for i in range(m):
        blocks[2 * i], blocks[2 * i + 1] = 2 * contact_list[i], 2 * contact_list[i] + 1
    fill_contacts(chains, problem, blocks, memory.matrix)
    fill_joints(chains, problem, blocks, joint_list, dof_list, memory.y_before, memory.matrix)
    for i in range(m):
        for a in range(6):
            memory.impulse[6 * i + a] = memory.wrench[contact_list[i], a]
    solved, total, rounds, changed = True, 0, 0, True
    if nj > 0:
        joint_response(problem, memory, m, joint_list)
        keep_states(problem, memory, joint_list)
    while changed and rounds < JOINT_ROUNDS:
        reduce_matrix(overlaps, problem, memory, contact_list, joint_list)
        solved, iterations = solve_dense(contacts, overlaps, memory, cone, simplex, options, dt, contact_list)
        total, rounds, changed = total + iterations, rounds + 1, False
        if nj > 0:
            settled = joint_response(problem, memory, m, joint_list)
            solved = solved and settled
            changed = keep_states(problem, memory, joint_list)
    for i in range(m):
        c, p = contact_list[i], memory.impulse[6 * i : 6 * i + 6]
        for a in range(6):
            memory.wrench[c, a] = p[a]
        push_contact(chains, problem, 2 * c, p[0], p[1], p[2], problem.y)
        push_contact(chains, problem, 2 * c + 1, p[3], p[4], p[5], problem.y)
    for n in range(nj):
        push_joint(chains, problem, joint_list[n], problem.joint_impulse[joint_list[n]], problem.y)
    report[ROWS] += 6 * m + nj
    report[ITERATIONS] = max(report[ITERATIONS], total)
    if not solved or changed:
        report[CONVERGED] = 0.0


@jit
def joint_response(problem, memory, m, joint_list):
    """Impulses of an island's joint rows for the wrenches in memory.impulse; True if they meet the tolerance."""
    nj, G, M, work = len(joint_list), memory.matrix, memory.joint_matrix, memory.joint_work
    b, low, high, x = work[0], work[1], work[2], work[3]
    for i in range(nj):
        j, t = joint_list[i], problem.joint_free[joint_list[i]]
        for a in range(6 * m):
            t += G[6 * m + i, a] * memory.impulse[a]
        b[i], low[i], high[i], x[i] = t, problem.joint_low[j], problem.joint_high[j], problem.joint_impulse[j]
        for k in range(nj):
            M[i, k] = G[6 * m + i, 6 * m + k]
    residual, _ = solve_box(nj, M, b, low, high, JOINT_TOLERANCE, x, memory.joint_factor, work[4:7],
                            memory.joint_state[1])  # fmt: skip
    for i in range(nj):
        problem.joint_impulse[joint_list[i]] = x[i]
    return residual <= JOINT_TOLERANCE


@jit
def keep_states(problem, memory, joint_list):
    """Which joint rows are clamped; True if that changed."""
    changed = False
    for i in range(len(joint_list)):
        j = joint_list[i]
        x = problem.joint_impulse[j]
        state = LOW if x <= problem.joint_low[j] else (HIGH if x >= problem.joint_high[j] else CLAMPED)
        changed = changed or state != memory.joint_state[0, i]
        memory.joint_state[0, i] = state
    return changed


@jit
def reduce_matrix(overlaps, problem, memory, contact_list, joint_list):
    """A and b of the overlaps: clamped joint rows eliminated, the others at their bounds."""
    m, nj, G, A, b = len(contact_list), len(joint_list), memory.matrix, memory.delassus, memory.free
    n, reach, L, rest = 6 * len(contact_list), memory.joint_reach, memory.joint_factor, memory.joint_work[7]
    for i in range(m):
        c = contact_list[i]
        for a in range(3):
            b[6 * i + a], b[6 * i + 3 + a] = problem.free[2 * c, a], problem.free[2 * c + 1, a]
    for r in range(n):
        for s in range(n):
            A[r, s] = G[r, s]
    count = 0
    for i in range(nj):  # rows of the clamped joints, made orthonormal one after the other (Cholesky)
        j = joint_list[i]
        memory.joint_state[1, i] = 0  # 1: eliminated
        if memory.joint_state[0, i] != CLAMPED:
            x = problem.joint_impulse[j]
            if x != 0.0:
                for r in range(n):
                    b[r] += G[r, n + i] * x
            continue
        speed = problem.joint_free[j]
        for k in range(nj):
            if memory.joint_state[0, k] != CLAMPED:
                speed += G[n + i, n + k] * problem.joint_impulse[joint_list[k]]
        row, out = L[count], reach[count]
        for r in range(n):
            out[r] = G[n + i, r]
        at = 0
        for k in range(i):
            if memory.joint_state[1, k] == 1:
                t = G[n + i, n + k]
                for e in range(at):
                    t -= row[e] * L[at, e]
                row[at] = t * L[at, at]
                speed -= row[at] * rest[at]
                for r in range(n):
                    out[r] -= row[at] * reach[at, r]
                at += 1
        left = G[n + i, n + i]
        for e in range(at):
            left -= row[e] * row[e]
        if left > 1e-12 * G[n + i, n + i]:  # else it says what others say already
            memory.joint_state[1, i] = 1
            row[count] = 1.0 / sqrt(left)
            rest[count] = speed * row[count]
            for r in range(n):
                out[r] *= row[count]
            count += 1
    for e in range(count):
        row = reach[e]
        for r in range(n):
            f = row[r]
            if f != 0.0:
                b[r] -= f * rest[e]
                for s in range(n):
                    A[r, s] -= f * row[s]
    for i in range(m):  # a point contact has no torque
        if overlaps.kind[contact_list[i]] == POINT:
            for a in range(6 * i + 3, 6 * i + 6):
                b[a] = 0.0
                for r in range(n):
                    A[r, a] = A[a, r] = 0.0


@jit
def solve_joints_alone(model, data, problem, memory, joint_list):
    """Joint rows of trees that touch nothing, one group of joined trees after the other."""
    first, count = 0, len(joint_list)
    while first < count:
        group = model.tree_joined[problem.joint_tree[joint_list[first]]]
        last = first
        while last < count and model.tree_joined[problem.joint_tree[joint_list[last]]] == group:
            last += 1
        solve_group(model, data, problem, memory, joint_list[first:last])
        first = last


@jit
def solve_group(model, data, problem, memory, joint_list):
    """Joint rows of one group by the dense box solver, or by sweeps where they are too many."""
    nj, report, chains, y, settled = len(joint_list), data.report, model.row_dof, memory.y_before, True
    if nj <= memory.joint_capacity:
        for i in range(nj):
            for k in range(model.dof_count):
                y[k] = 0.0
            push_joint(chains, problem, joint_list[i], 1.0, y)
            for k in range(nj):
                memory.matrix[i, k] = read_joint(chains, problem, joint_list[k], y)
        settled = joint_response(problem, memory, 0, joint_list)
        for i in range(nj):
            push_joint(chains, problem, joint_list[i], problem.joint_impulse[joint_list[i]], problem.y)
    else:
        settled = sweep_joints(chains, problem, joint_list, problem.y, True)
    report[ROWS] += nj
    report[ITERATIONS] = max(report[ITERATIONS], 1.0)
    if not settled:
        report[CONVERGED] = 0.0


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
