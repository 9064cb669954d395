"""Islands too large for dense matrices: over sparse blocks, or where even those don't fit, overlap by overlap."""

from __future__ import annotations

from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.blocks import lay_out
from sesshoku.methods.volume.dense import FRICTION_ROUNDS, choose_ridge, judge_all, solve_dense
from sesshoku.methods.volume.energy import sparse_share
from sesshoku.methods.volume.joints import JOINT_ROUNDS, joint_solve, keep_states, sweep_joints
from sesshoku.methods.volume.options import BOUNDED, COUPLED
from sesshoku.methods.volume.sparse import interior_point
from sesshoku.methods.volume.work import FREED, HELD
from sesshoku.solvers.island_matrix import fill_contacts
from sesshoku.solvers.problem import push_contact, read_contact

SWEEPS = 60
SETTLED = 1e-7  # m/s: sweeps end when no overlap's twist changes by more


@jit
def solve_large(model, work, dt, island, lists):
    """One large island; its impulses go into problem.y. Returns (solved, iterations)."""
    contact_list, joint_list, dof_list = lists
    overlaps, problem, sparse, options = work.overlaps, work.problem, work.sparse, work.options
    chains, m, y = model.row_dof, len(contact_list), problem.y
    for i in range(m):
        push_wrench(chains, problem, contact_list[i], work.wrench[contact_list[i]], 1.0, y)
    if len(joint_list) > work.joint_capacity or not lay_out(model, work, island, contact_list, joint_list):
        return sweep(work, dt, chains, contact_list, joint_list)
    for i in range(m):
        c = contact_list[i]
        own_matrix(work, chains, c)
        choose_ridge(work, i, c, work.delassus[:6, :6])
        sparse.mean_normal[i] = work.delassus[2, 2]
        sparse.mean[i] = work.delassus[2, 2] * overlaps.area_moment[c, 0] * work.delassus[2, 2]
        for a in range(3):
            work.free[6 * i + a], work.free[6 * i + 3 + a] = problem.free[2 * c, a], problem.free[2 * c + 1, a]
    solved, total, rounds, changed = True, 0, 0, True
    joint_solve(work, chains, joint_list, y)
    keep_states(work, joint_list)
    while changed and rounds < JOINT_ROUNDS:
        for i in range(m):
            work.verdict[contact_list[i]] = HELD
        for round_ in range(FRICTION_ROUNDS):
            solved, iterations = interior_point(model, work, contact_list, joint_list, dof_list)
            total += iterations
            last = round_ == FRICTION_ROUNDS - 1 or options.sliding_solve != COUPLED
            if not judge_all(work, dt, contact_list, last, True):
                break
        for n in range(len(dof_list)):
            for k in range(dof_list[n, 0], dof_list[n, 1]):
                y[k] = 0.0
        for i in range(m):
            for a in range(6):
                work.wrench[contact_list[i], a] = work.impulse[6 * i + a]
            push_wrench(chains, problem, contact_list[i], work.wrench[contact_list[i]], 1.0, y)
        share = sparse_share(work, contact_list, dof_list, y) if options.energy == BOUNDED else 1.0
        if share < 1.0:
            scale_island(work, contact_list, dof_list, share)
        settled = joint_solve(work, chains, joint_list, y)
        solved, rounds = solved and settled, rounds + 1
        changed = keep_states(work, joint_list)
    return solved and not changed, total


@jit
def scale_island(work, contact_list, dof_list, share):
    """Wrenches of an island and their y times a share."""
    for i in range(len(contact_list)):
        if share == 0.0:
            work.verdict[contact_list[i]] = FREED
        for a in range(6):
            work.wrench[contact_list[i], a] *= share
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            work.problem.y[k] *= share


@jit
def push_wrench(chains, problem, c, p, sign, y):
    """y += sign Z^T p of overlap c."""
    push_contact(chains, problem, 2 * c, sign * p[0], sign * p[1], sign * p[2], y)
    push_contact(chains, problem, 2 * c + 1, sign * p[3], sign * p[4], sign * p[5], y)


@jit
def own_matrix(work, chains, c):
    """A (6, 6) of overlap c by itself, into work.delassus; a point contact has no torque."""
    overlaps, problem = work.overlaps, work.problem
    blocks, A = work.block_list[:2], work.delassus
    blocks[0], blocks[1] = 2 * c, 2 * c + 1
    fill_contacts(chains, problem, blocks, A)
    if overlaps.kind[c] == POINT:
        for a in range(3, 6):
            for r in range(6):
                A[r, a] = A[a, r] = 0.0


@jit
def sweep(work, dt, chains, contact_list, joint_list):
    """Gauss-Seidel over overlaps: each solves its own programme, friction included, the others standing still.

    Not the island's one programme: where all overlaps can have what they ask for the answers agree, where they can't
    each gets its own best instead of the best sum.
    """
    overlaps, problem = work.overlaps, work.problem
    y, b, alone, worst = problem.y, work.free, work.alone, 0.0
    for sweeps in range(SWEEPS):
        worst = 0.0
        for n in range(len(contact_list)):
            c = contact_list[n]
            p = work.wrench[c]
            own_matrix(work, chains, c)
            push_wrench(chains, problem, c, p, -1.0, y)
            b[0], b[1], b[2] = read_contact(chains, problem, 2 * c, y)
            b[3], b[4], b[5] = read_contact(chains, problem, 2 * c + 1, y)
            for a in range(3):
                b[a] += problem.free[2 * c, a]
                b[3 + a] = b[3 + a] + problem.free[2 * c + 1, a] if overlaps.kind[c] != POINT else 0.0
            alone[0] = c
            solve_dense(work, dt, alone)
            for a in range(6):
                change = 0.0
                for e in range(6):
                    change += work.delassus[a, e] * (work.impulse[e] - p[e])
                worst = max(worst, abs(change) if a < 3 else abs(change) * overlaps.polygon_radius[c])
            for a in range(6):
                p[a] = work.impulse[a]
            push_wrench(chains, problem, c, p, 1.0, y)
        if len(joint_list) > 0:
            sweep_joints(chains, problem, joint_list, y, sweeps == 0)
        if worst <= SETTLED:
            return True, sweeps + 1
    return False, SWEEPS
