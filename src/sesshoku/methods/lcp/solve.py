"""Solving the problem island by island."""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import articulate
from sesshoku.methods.lcp.matrix import gather, solve_by_matrix
from sesshoku.methods.lcp.options import (
    BY_TEST_FORCES,
    EXACT_PAIR,
    NO_MATRIX,
    NORMALS_FIRST,
)
from sesshoku.solvers.pgs import solve_rows
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists, start_solve
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS

LEAST_SWEEPS = 15  # an island gets at least so many, whatever the budget
LONG_STEP = 5e-3  # s; the way an error goes grows with stake and step, the square of dt: beyond this it is held


@jit
def solve_islands(model, data, work, dt):
    """Solve each island apart, then report how well the whole problem is solved."""
    contacts, problem = work.contacts, work.problem
    start_solve(model, data, problem)
    if work.matrix_by == BY_TEST_FORCES and contacts.counts[CONTACTS] > 0:
        articulate(model, data)
    rest = group_joint_rows(model, work)
    for island in range(rest + 1):
        contact_list, joint_list = island_lists(work, island, rest)
        if len(contact_list) + len(joint_list) > 0:
            solve_island(model, data, work, dt, island, contact_list, joint_list)


@jit
def solve_island(model, data, work, dt, island, contact_list, joint_list):
    """Sweep one island's rows and add to the report."""
    problem, options = work.problem, work.options
    y, report, chains = problem.y, data.report, model.row_dof
    stake = dt
    for n in range(len(contact_list)):
        f = problem.free[contact_list[n]]
        if f[2] < 1e29:
            stake = max(stake, abs(f[0]), abs(f[1]), abs(f[2]))
    tolerance, most = options.tolerance * stake * min(1.0, (LONG_STEP / dt) ** 2), options.max_sweeps
    if options.visit_budget > 0.0 and len(contact_list) > 0:
        most = min(most, max(LEAST_SWEEPS, options.visit_budget // len(contact_list)))
    rows = 3 * len(contact_list) + len(joint_list)
    dof_list = work.dof_list[: island_dofs(model, work, island)]
    if work.matrix_by != NO_MATRIX and rows <= work.dense_rows:
        sweeps = solve_by_matrix(model, data, work, (contact_list, joint_list, dof_list), most, tolerance)
    else:
        gather(chains, problem, contact_list, joint_list, y)
        sweeps = solve_rows(chains, problem, (work.law, work.mu), (contact_list, joint_list, dof_list),
                            (options.order == NORMALS_FIRST, options.inner == EXACT_PAIR, options.accelerate != 0),
                            (most, tolerance), work, y)
        if sweeps > most and (options.warm_start != 0 or options.accelerate != 0):
            keep_passive(problem, contact_list, joint_list, dof_list, y)
    report[ROWS] += rows
    report[ITERATIONS] = max(report[ITERATIONS], min(sweeps, most))
    if sweeps > most:
        report[CONVERGED] = 0.0


@jit
def keep_passive(problem, contact_list, joint_list, dof_list, y):
    """Scale impulses x that were left unfinished back to where they bring no energy, if they do.

    A warm start that the sweeps had no time to undo, or an overshoot of their acceleration, can push bodies apart that
    part already. Beyond what the targets ask for, impulses bring x . free + |y|^2 / 2; bounds and cones allow every
    share s of x, and s = -x . free / |y|^2 takes the most (none: nothing but parting).
    """
    along = size = 0.0
    for n in range(len(contact_list)):
        x, free = problem.impulse[contact_list[n]], problem.free[contact_list[n]]
        along += x[0] * free[0] + x[1] * free[1] + x[2] * free[2]
    for n in range(len(joint_list)):
        along += problem.joint_impulse[joint_list[n]] * problem.joint_free[joint_list[n]]
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            size += y[k] * y[k]
    if along + 0.5 * size <= 0.0:
        return
    share = max(0.0, -along / size) if size > 0.0 else 0.0
    for n in range(len(contact_list)):
        x = problem.impulse[contact_list[n]]
        x[0], x[1], x[2] = share * x[0], share * x[1], share * x[2]
    for n in range(len(joint_list)):
        problem.joint_impulse[joint_list[n]] *= share
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            y[k] *= share
