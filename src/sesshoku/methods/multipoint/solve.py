"""Solving each island: its matrix, the removal loop, friction."""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.friction import classify, cut_friction, resolve_loop
from sesshoku.methods.multipoint.joint_friction import start_friction
from sesshoku.methods.multipoint.large import large_loop, solve_large, zero
from sesshoku.methods.multipoint.options import RESOLVE
from sesshoku.methods.multipoint.removal import put_back, removal_loop, seen_before
from sesshoku.methods.multipoint.thresholds import fit_thresholds
from sesshoku.methods.multipoint.work import AWAY, IN
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.problem import push_contact, push_joint, read_joint
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists, start_solve
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS


@jit
def solve_islands(model, data, work, dt):
    """Solve every island apart; impulses and y are left in the problem.

    Joint rows of trees that touch nothing come last, those of each group of joined trees apart.
    """
    problem = work.problem
    start_solve(model, data, problem)
    rest = group_joint_rows(model, work)
    for island in range(rest + 1):
        contact_list, joint_list = island_lists(work, island, rest)
        dof_list = work.dof_list[: island_dofs(model, work, island)]
        if len(contact_list) > 0:
            solve_island(model, data, work, dt, (contact_list, joint_list, dof_list))
            continue
        first = 0
        while first < len(joint_list):
            group, end = model.tree_joined[problem.joint_tree[joint_list[first]]], first + 1
            while end < len(joint_list) and model.tree_joined[problem.joint_tree[joint_list[end]]] == group:
                end += 1
            solve_island(model, data, work, dt, (contact_list, joint_list[first:end], dof_list))
            first = end


@jit
def solve_island(model, data, work, dt, lists):
    """The method on one island: eq. (17) and the removal loop, readmission, friction after or within."""
    contact_list, joint_list, dof_list = lists
    options = work.options
    m, nj, report = len(contact_list), len(joint_list), data.report
    if 3 * m + nj > work.dense_rows:
        passes = solve_large(model, data, work, dt, lists)
        cut_friction(work, contact_list)
        if nj > 0 and options.friction_coupling != RESOLVE:
            settle_joints(model, data, work, dt, lists)
        finish_island(model, work, report, contact_list, joint_list, passes)
        return
    fill_island(model, work, contact_list, joint_list, dof_list)
    passes = trial_forces(model, data, work, dt, contact_list, joint_list)
    if options.slip_threshold == inf and fit_thresholds(model, work, lists):
        passes = max(passes, trial_forces(model, data, work, dt, contact_list, joint_list))
    slipping = classify(work, contact_list)
    if slipping > 0 and options.friction_coupling == RESOLVE:
        passes += resolve_loop(model, data, work, dt, contact_list, joint_list)
        slipping = 0
    cut_friction(work, contact_list)
    if nj > 0 and slipping > 0:
        settle_joints(model, data, work, dt, lists)
    finish_island(model, work, report, contact_list, joint_list, passes)


@jit
def trial_forces(model, data, work, dt, contact_list, joint_list):
    """The removal loop with all points, and again with those that come back; the number of solves."""
    m, nj = len(contact_list), len(joint_list)
    for i in range(m):
        work.part[i] = AWAY if work.away[contact_list[i]] else IN
    for j in range(nj):
        work.part[m + j] = IN
    start_friction(model, data, work, dt, m, joint_list)
    passes = removal_loop(model, data, work, dt, m, joint_list)
    if work.options.readmit:
        settled = 0
        while settled < m + nj and not seen_before(work, settled, contact_list, nj):
            settled += 1
            if not put_back(work, contact_list, joint_list):
                break
            passes += removal_loop(model, data, work, dt, m, joint_list)
    return passes


@jit
def settle_joints(model, data, work, dt, lists):
    """Limits, loops, mimics and joint friction again, under the contacts' impulses as friction was cut.

    What they gave with the trial's friction is no answer any more: a light link at its stop would be flung off it.
    """
    contact_list, joint_list, dof_list = lists
    problem, x, part, chains, y = work.problem, work.impulse, work.part, model.row_dof, work.lines[2]
    m, nj, slips = len(contact_list), len(joint_list), False
    zero(dof_list, y)
    for i in range(m):
        c = contact_list[i]
        slips = slips or work.slips[c] != 0
        push_contact(chains, problem, c, x[3 * i], x[3 * i + 1], x[3 * i + 2], y)
    if not slips:
        return
    for j in range(nj):
        work.wanted[3 * m + j] -= work.scale[j] * read_joint(chains, problem, joint_list[j], y)
        part[m + j] = IN
    for i in range(m):
        part[i] = AWAY
        for e in range(3):
            problem.impulse[contact_list[i], e] = x[3 * i + e]  # the loop clears what does not take part
    start_friction(model, data, work, dt, m, joint_list)
    if 3 * m + nj > work.dense_rows:
        large_loop(model, data, work, dt, lists, False, 0)
    else:
        removal_loop(model, data, work, dt, m, joint_list)
    for i in range(m):
        for e in range(3):
            x[3 * i + e] = problem.impulse[contact_list[i], e]


@jit
def finish_island(model, work, report, contact_list, joint_list, passes):
    """Impulses taken over, the island's share in the report."""
    take_impulses(model, work, report, contact_list, joint_list)
    report[ROWS] += 3 * len(contact_list) + len(joint_list)
    report[ITERATIONS] = max(report[ITERATIONS], passes)


@jit
def fill_island(model, work, contact_list, joint_list, dof_list):
    """eqs. (13), (17): M and Delta a. Joint rows are scaled to the size of the contacts' rows.

    That makes the smallest norm, and what counts as rank, independent of the units of joints.
    """
    problem = work.problem
    m, M, wanted, largest = len(contact_list), work.matrix, work.wanted, 0.0
    fill_contacts(model.row_dof, problem, contact_list, M)  # (17): M = K^T H^-1 K, K^T: rows
    for i in range(m):
        c = contact_list[i]
        free, target = problem.free[c], work.target[c]
        # (17): Delta a = v+ - K^T v_free, so that (13) holds; free[2] is without the normal's v+ already
        wanted[3 * i], wanted[3 * i + 1], wanted[3 * i + 2] = target[0] - free[0], target[1] - free[1], -free[2]
        for e in range(3):
            largest = max(largest, problem.block[c, e, e])
    if len(joint_list) == 0:
        return
    fill_joints(model.row_dof, problem, (contact_list, joint_list, dof_list), work.y_before, M)
    for j in range(len(joint_list)):
        r, size = 3 * m + j, problem.joint_block[joint_list[j]]
        s = sqrt((largest if largest > 0.0 else 1.0) / size) if size > 0.0 else 1.0
        work.scale[j] = s
        wanted[r] = -s * problem.joint_free[joint_list[j]]
        for e in range(3 * m + len(joint_list)):
            M[r, e] *= s
        for e in range(3 * m + len(joint_list)):
            M[e, r] *= s


@jit
def take_impulses(model, work, report, contact_list, joint_list):
    """Impulses of the island into the problem, y with them; coefficients in force."""
    contacts, problem = work.contacts, work.problem
    m, x, chains = len(contact_list), work.impulse, model.row_dof
    for i in range(m):
        c = contact_list[i]
        work.mu[c] = contacts.material[c, 1 if work.slips[c] else 0]
        if work.jammed[c]:
            report[CONVERGED] = 0.0
        for e in range(3):
            problem.impulse[c, e] = x[3 * i + e]
        push_contact(chains, problem, c, x[3 * i], x[3 * i + 1], x[3 * i + 2], problem.y)
    for j in range(len(joint_list)):
        impulse = work.scale[j] * x[3 * m + j]
        problem.joint_impulse[joint_list[j]] = impulse
        if impulse != 0.0:
            push_joint(chains, problem, joint_list[j], impulse, problem.y)
