"""Solving the problem island by island, contacts and joint rows together.

Joint rows (limits, joint friction, mimics, loops) obey their own law exactly; contacts see the motion that leaves them.
Given which joint rows hold still (clamped) and which stand at a bound, the twist of the overlaps is affine in their
wrenches, v = A p + b, with the clamped rows eliminated from the Delassus matrix. The wrenches follow from A and b, the
joint rows from the wrenches; where another set of rows is clamped then, both are solved again.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.dense import solve_dense
from sesshoku.methods.volume.energy import bound_all, dense_share
from sesshoku.methods.volume.joints import CLAMPED, JOINT_ROUNDS, joint_response, keep_states, solve_joints_alone
from sesshoku.methods.volume.large import solve_large
from sesshoku.methods.volume.options import BOUNDED
from sesshoku.methods.volume.work import FREED
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.problem import push_contact, push_joint
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists, start_solve
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS


@jit
def solve_islands(model, data, work, dt):
    """Solve each island apart."""
    problem = work.problem
    report = data.report
    start_solve(model, data, problem)
    rest = group_joint_rows(model, work)
    for island in range(rest):
        contact_list, joint_list = island_lists(work, island, rest)
        dof_list = work.dof_list[: island_dofs(model, work, island)]
        if fits(work, contact_list, joint_list):
            solved, iterations = solve_island(model, work, dt, (contact_list, joint_list, dof_list))
        else:
            solved, iterations = solve_large(model, work, dt, island, (contact_list, joint_list, dof_list))
        if work.options.energy == BOUNDED and bound_all(model, work, contact_list, joint_list, dof_list):
            solved = False
        report[ROWS] += 6 * len(contact_list) + len(joint_list)
        report[ITERATIONS] = max(report[ITERATIONS], iterations)
        if not solved:
            report[CONVERGED] = 0.0
    _, joint_list = island_lists(work, rest, rest)
    if len(joint_list) > 0:
        solve_joints_alone(model, data, work, joint_list)


@jit
def fits(work, contact_list, joint_list):
    """Whether an island is small enough for dense matrices."""
    rows = 0
    for i in range(len(contact_list)):
        rows += work.corner_start[contact_list[i] + 1] - work.corner_start[contact_list[i]] + 1
    return (6 * len(contact_list) <= work.dense and rows <= work.row_capacity
            and len(joint_list) <= work.joint_capacity)


@jit
def solve_island(model, work, dt, lists):
    """One island by dense matrices; its impulses go into problem.y. Returns (solved, iterations)."""
    contact_list, joint_list, dof_list = lists
    problem = work.problem
    m, nj, chains = len(contact_list), len(joint_list), model.row_dof
    blocks = work.block_list[: 2 * m]
    for i in range(m):
        blocks[2 * i], blocks[2 * i + 1] = 2 * contact_list[i], 2 * contact_list[i] + 1
    fill_contacts(chains, problem, blocks, work.matrix)
    fill_joints(chains, problem, (blocks, joint_list, dof_list), work.y_before, work.matrix)
    for i in range(m):
        for a in range(6):
            work.impulse[6 * i + a] = work.wrench[contact_list[i], a]
    solved, total, rounds, changed = True, 0, 0, True
    if nj > 0:
        joint_response(work, m, joint_list)
        keep_states(work, joint_list)
    while changed and rounds < JOINT_ROUNDS:
        reduce_matrix(work, contact_list, joint_list)
        solved, iterations = solve_dense(work, dt, contact_list)
        total, rounds, changed = total + iterations, rounds + 1, False
        if nj > 0:
            settled = joint_response(work, m, joint_list)
            solved = solved and settled
            changed = keep_states(work, joint_list)
    if work.options.energy == BOUNDED:
        share = dense_share(work, contact_list)
        for r in range(6 * m if share < 1.0 else 0):
            work.impulse[r] *= share
        for i in range(m if share == 0.0 else 0):
            work.verdict[contact_list[i]] = FREED
        if share < 1.0 and nj > 0:
            joint_response(work, m, joint_list)
    for i in range(m):
        c, p = contact_list[i], work.impulse[6 * i : 6 * i + 6]
        for a in range(6):
            work.wrench[c, a] = p[a]
        push_contact(chains, problem, 2 * c, p[0], p[1], p[2], problem.y)
        push_contact(chains, problem, 2 * c + 1, p[3], p[4], p[5], problem.y)
    for n in range(nj):
        push_joint(chains, problem, joint_list[n], problem.joint_impulse[joint_list[n]], problem.y)
    return solved and not changed, total


@jit
def reduce_matrix(work, contact_list, joint_list):
    """(14), (15): A and b of the overlaps, clamped joint rows eliminated, the others at their bounds.

    v_+ = A p + b (A q' in print), p an impulse, so that A has no dt.
    """
    overlaps, problem = work.overlaps, work.problem
    m, nj, G, A, b = len(contact_list), len(joint_list), work.matrix, work.delassus, work.free
    n, reach, L, rest = 6 * len(contact_list), work.joint_reach, work.joint_factor, work.joint_work[7]
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
        work.joint_state[1, i] = 0  # 1: eliminated
        if work.joint_state[0, i] != CLAMPED:
            x = problem.joint_impulse[j]
            if x != 0.0:
                for r in range(n):
                    b[r] += G[r, n + i] * x
            continue
        speed = problem.joint_free[j]
        for k in range(nj):
            if work.joint_state[0, k] != CLAMPED:
                speed += G[n + i, n + k] * problem.joint_impulse[joint_list[k]]
        row, out = L[count], reach[count]
        for r in range(n):
            out[r] = G[n + i, r]
        at = 0
        for k in range(i):
            if work.joint_state[1, k] == 1:
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
            work.joint_state[1, i] = 1
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
