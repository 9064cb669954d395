"""Solving each island: its matrix, the removal loop, friction."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.friction import classify, cut_friction, resolve_loop
from sesshoku.methods.multipoint.large import solve_large
from sesshoku.methods.multipoint.options import READMIT, RESOLVE
from sesshoku.methods.multipoint.removal import put_back, removal_loop, seen_before
from sesshoku.methods.multipoint.work import AWAY, IN
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.problem import push_contact, push_joint
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS


@jit
def solve_islands(model, data, contacts, problem, memory, norm, options, dt):
    """Solve every island apart; impulses and y are left in the problem.

    Joint rows of trees that touch nothing come last, those of each group of joined trees apart.
    """
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    report[CONVERGED] = 1.0
    for k in range(model.dof_count):
        problem.y[k] = 0.0
    rest = group_joint_rows(model, contacts, problem, memory)
    for island in range(rest + 1):
        contact_list, joint_list = island_lists(contacts, memory, island, rest)
        dof_list = memory.dof_list[: island_dofs(model, contacts, memory, island)]
        if len(contact_list) > 0:
            solve_island(model, data, contacts, problem, memory, norm, options, dt, contact_list, joint_list, dof_list)
            continue
        first = 0
        while first < len(joint_list):
            group, end = model.tree_joined[problem.joint_tree[joint_list[first]]], first + 1
            while end < len(joint_list) and model.tree_joined[problem.joint_tree[joint_list[end]]] == group:
                end += 1
            solve_island(model, data, contacts, problem, memory, norm, options, dt, contact_list,
                         joint_list[first:end], dof_list)  # fmt: skip
            first = end


@jit
def solve_island(model, data, contacts, problem, memory, norm, options, dt, contact_list, joint_list, dof_list):
    """The method on one island: (17) and the removal loop, readmission, friction after or within."""
    m, nj, report = len(contact_list), len(joint_list), data.report
    if 3 * m + nj > memory.dense_rows:
        passes = solve_large(model, data, contacts, problem, memory, options, dt, contact_list, joint_list, dof_list)
        finish_island(model, contacts, problem, memory, report, contact_list, joint_list, passes)
        return
    fill_island(model, problem, memory, contact_list, joint_list, dof_list)
    passes = removal_loop(model, data, problem, memory, norm, options, dt, m, joint_list)
    if options[READMIT]:
        settled = 0
        while settled < m + nj and not seen_before(memory, settled, contact_list, nj):
            settled += 1
            if not put_back(problem, memory, contact_list, joint_list):
                break
            passes += removal_loop(model, data, problem, memory, norm, options, dt, m, joint_list)
    slipping = classify(contacts, memory, options, contact_list)
    if slipping > 0 and options[RESOLVE]:
        passes += resolve_loop(model, data, contacts, problem, memory, norm, options, dt, contact_list, joint_list)
    finish_island(model, contacts, problem, memory, report, contact_list, joint_list, passes)


@jit
def finish_island(model, contacts, problem, memory, report, contact_list, joint_list, passes):
    """Friction cut to its law, impulses taken over, the island's share in the report."""
    cut_friction(contacts, memory, contact_list)
    take_impulses(model, contacts, problem, memory, report, contact_list, joint_list)
    report[ROWS] += 3 * len(contact_list) + len(joint_list)
    report[ITERATIONS] = max(report[ITERATIONS], passes)


@jit
def fill_island(model, problem, memory, contact_list, joint_list, dof_list):
    """M, Delta a (17), and who takes part. Joint rows are scaled to the size of the contacts' rows.

    That makes the smallest norm, and what counts as rank, independent of the units of joints.
    """
    m, M, wanted, largest = len(contact_list), memory.matrix, memory.wanted, 0.0
    fill_contacts(model.row_dof, problem, contact_list, M)
    for i in range(m):
        c = contact_list[i]
        free, target = problem.free[c], memory.target[c]
        wanted[3 * i], wanted[3 * i + 1], wanted[3 * i + 2] = target[0] - free[0], target[1] - free[1], -free[2]
        memory.part[i] = AWAY if memory.away[c] else IN
        for e in range(3):
            largest = max(largest, problem.block[c, e, e])
    if len(joint_list) == 0:
        return
    fill_joints(model.row_dof, problem, contact_list, joint_list, dof_list, memory.y_before, M)
    for j in range(len(joint_list)):
        r, size = 3 * m + j, problem.joint_block[joint_list[j]]
        s = sqrt((largest if largest > 0.0 else 1.0) / size) if size > 0.0 else 1.0
        memory.scale[j], memory.part[m + j] = s, IN
        wanted[r] = -s * problem.joint_free[joint_list[j]]
        for e in range(3 * m + len(joint_list)):
            M[r, e] *= s
        for e in range(3 * m + len(joint_list)):
            M[e, r] *= s


@jit
def take_impulses(model, contacts, problem, memory, report, contact_list, joint_list):
    """Impulses of the island into the problem, y with them; coefficients in force."""
    m, x, chains = len(contact_list), memory.impulse, model.row_dof
    for i in range(m):
        c = contact_list[i]
        memory.mu[c] = contacts.material[c, 1 if memory.slips[c] else 0]
        if memory.jammed[c]:
            report[CONVERGED] = 0.0
        for e in range(3):
            problem.impulse[c, e] = x[3 * i + e]
        push_contact(chains, problem, c, x[3 * i], x[3 * i + 1], x[3 * i + 2], problem.y)
    for j in range(len(joint_list)):
        impulse = memory.scale[j] * x[3 * m + j]
        problem.joint_impulse[joint_list[j]] = impulse
        if impulse != 0.0:
            push_joint(chains, problem, joint_list[j], impulse, problem.y)
