"""From wrenches to the new velocity, the contacts' forces and the report."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OVERFLOW, RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.energy import recovery_power
from sesshoku.methods.volume.work import FREED, SLIDES
from sesshoku.solvers.pgs import joint_residual
from sesshoku.solvers.problem import JOINT_ROWS, PROBLEM_OVERFLOW, push_contact, push_joint, read_contact
from sesshoku.stages.contact_forces import take_impulses
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.joint_rows import store_joint_impulses
from sesshoku.stages.report import (
    CONE_VIOLATION,
    CORRECTION_WORK,
    PENETRATION,
    RESIDUAL,
)
from sesshoku.stages.report import OVERFLOW as REPORT_OVERFLOW
from sesshoku.stages.tunnelling import count_tunnelling


@jit
def apply_wrenches(model, data, work, dt):
    """new_v, constraint_force, force and state of each overlap, and the report."""
    contacts, problem = work.contacts, work.problem
    report, y, fresh, chains = data.report, problem.y, work.y_before, model.row_dof
    for k in range(model.dof_count):
        fresh[k] = 0.0
    worst = undone = deepest = outside = 0.0
    for c in range(contacts.counts[CONTACTS]):
        p = work.wrench[c]
        push_contact(chains, problem, 2 * c, p[0], p[1], p[2], fresh)
        push_contact(chains, problem, 2 * c + 1, p[3], p[4], p[5], fresh)
        show_contact(work, dt, chains, c)
        outside = max(outside, sqrt(p[0] * p[0] + p[1] * p[1]) - contacts.material[c, 0] * p[2])
        undone += recovery_power(work, c, p)
        deepest = max(deepest, -contacts.gap[c])
    for j in range(problem.counts[JOINT_ROWS]):
        push_joint(chains, problem, j, problem.joint_impulse[j], fresh)
        worst = max(worst, joint_residual(chains, problem, j, y))
    report[RESIDUAL] = max(report[RESIDUAL], worst)
    report[CORRECTION_WORK], report[PENETRATION] = undone, deepest
    report[CONE_VIOLATION] = outside / dt
    report[REPORT_OVERFLOW] = float(contacts.counts[OVERFLOW] + problem.counts[PROBLEM_OVERFLOW])
    take_impulses(model, data, work, dt)  # (13)
    for c in range(contacts.counts[CONTACTS]):
        for a in range(6):
            work.old_wrench[c, a] = work.wrench[c, a]
    store_joint_impulses(model, data, problem)
    measure_errors(model, data, data.q)
    count_tunnelling(model, data, contacts, dt)


@jit
def show_contact(work, dt, chains, c):
    """What a user sees of overlap c: force at the centre of pressure (the barycentre where there is none), state.

    torque: what of the wrench the force at that point leaves, about the normal alone.
    """
    contacts, problem = work.contacts, work.problem
    p, axes, point = work.wrench[c], problem.axes[2 * c], contacts.point[c]
    u0, u1, _ = read_contact(chains, problem, 2 * c, problem.y)
    _, _, u5 = read_contact(chains, problem, 2 * c + 1, problem.y)
    u0, u1 = u0 + problem.free[2 * c, 0], u1 + problem.free[2 * c, 1]
    u5 += problem.free[2 * c + 1, 2]
    r1 = r2 = 0.0
    if work.verdict[c] != FREED:
        r1, r2 = -p[4] / p[2], p[3] / p[2]  # (24)
    spin = (p[5] - (r1 * p[1] - r2 * p[0])) / dt
    for a in range(3):
        contacts.torque[c, a] = spin * axes[2, a]
        contacts.force[c, a] = (axes[0, a] * p[0] + axes[1, a] * p[1] + axes[2, a] * p[2]) / dt
        point[a] = work.center[c, a] + axes[0, a] * r1 + axes[1, a] * r2
    x, y = u0 - u5 * r2, u1 + u5 * r1
    contacts.slip[c] = sqrt(x * x + y * y)
    contacts.state[c] = RELEASED if work.verdict[c] == FREED else (SLIP if work.verdict[c] == SLIDES else STICK)
