"""From impulses to the new velocity, the contacts' forces and the report.

`work`: a method's record with contacts and problem, law and mu of each contact, impulse_world and old_impulse, y_before
and y_direction.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OVERFLOW, RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.factor import multiply
from sesshoku.solvers.pgs import contact_residual, joint_residual
from sesshoku.solvers.problem import JOINT_ROWS, PROBLEM_OVERFLOW, ROLLING, push_contact, push_joint, read_contact
from sesshoku.solvers.rolling import rolling_residual
from sesshoku.stages.contact_rows import generalized_impulse, velocity_change
from sesshoku.stages.joint_rows import store_joint_impulses
from sesshoku.stages.report import (
    CONE_VIOLATION,
    CONSTRAINT_WORK,
    CORRECTION_WORK,
    ENERGY_CHANGE,
    MOMENTUM_RESIDUAL,
    PENETRATION,
    RESIDUAL,
)
from sesshoku.stages.report import OVERFLOW as REPORT_OVERFLOW


@jit
def apply_forces(model, data, work, dt):
    """new_v, constraint_force and the contacts' forces from the impulses; the report of what was found."""
    contacts, problem = work.contacts, work.problem
    report, y, fresh, chains = data.report, problem.y, work.y_before, model.row_dof
    count = contacts.counts[CONTACTS]
    for k in range(model.dof_count):
        fresh[k] = 0.0
    worst = undone = deepest = outside = 0.0
    for c in range(count):
        x, axes, free = problem.impulse[c], problem.axes[c], problem.free[c]
        if x[2] != 0.0 or x[0] != 0.0 or x[1] != 0.0:
            push_contact(chains, problem, c, x[0], x[1], x[2], fresh)
        u0, u1, u2 = read_contact(chains, problem, c, y)
        worst = max(
            worst, contact_residual(problem, work.law, work.mu, c, u0 + free[0], u1 + free[1], u2 + free[2])
        )
        for a in range(3):
            f = axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]
            work.impulse_world[c, a] = f
            contacts.force[c, a] = f / dt  # (20), multipoint
        size, bound = sqrt(x[0] * x[0] + x[1] * x[1]), contacts.material[c, 0] * x[2]
        contacts.slip[c] = sqrt((u0 + free[0]) ** 2 + (u1 + free[1]) ** 2)
        moving = (
            problem.velocity[c, 0] ** 2 + problem.velocity[c, 1] ** 2 > 0.0 and size >= 0.999999 * work.mu[c] * x[2]
        )
        contacts.state[c] = RELEASED if x[2] <= 0.0 else (SLIP if moving and contacts.slip[c] > 1e-6 else STICK)
        outside = max(outside, size - bound)
        undone += x[2] * problem.correction[c]
        deepest = max(deepest, -contacts.gap[c])
    if model.has_rolling:  # also without blocks in this step: torques of older contacts are cleared
        rolling, over = apply_torques(model, contacts, problem, fresh, dt)
        worst, outside = max(worst, rolling), max(outside, over)
    for j in range(problem.counts[JOINT_ROWS]):
        push_joint(chains, problem, j, problem.joint_impulse[j], fresh)
        worst = max(worst, joint_residual(chains, problem, j, y))
    report[RESIDUAL], report[CORRECTION_WORK], report[PENETRATION] = worst, undone, deepest
    report[CONE_VIOLATION] = outside / dt
    report[REPORT_OVERFLOW] = float(contacts.counts[OVERFLOW] + problem.counts[PROBLEM_OVERFLOW])
    take_impulses(model, data, work, dt)
    for c in range(count):
        for a in range(3):
            work.old_impulse[c, a] = work.impulse_world[c, a]
    store_joint_impulses(model, data, problem)


@jit
def take_impulses(model, data, work, dt):
    """new_v and constraint_force by the impulses whose y is work.y_before; what they change of energy and momentum."""
    problem, report, fresh, change = work.problem, data.report, work.y_before, work.y_direction
    energy = brought = 0.0
    velocity_change(model, data, problem, fresh, change)
    report[MOMENTUM_RESIDUAL] = momentum_imbalance(model, data, problem, problem.y, change, data.constraint_force)
    generalized_impulse(model, data, problem, fresh, data.constraint_force)
    for k in range(model.dof_count):  # kinetic energy: v . J^T x + 1/2 |y|^2, targets of the rows left aside
        energy += data.new_v[k] * data.constraint_force[k] + 0.5 * fresh[k] * fresh[k]
        data.new_v[k] += change[k]  # (E23); eq. (15), multipoint: H^-1 K Delta f; eq. (13), volume: H^-1 J^T p
        brought += 0.5 * data.constraint_force[k] * (data.v[k] + data.new_v[k])
        data.constraint_force[k] /= dt
    report[ENERGY_CHANGE], report[CONSTRAINT_WORK] = energy, brought


@jit
def momentum_imbalance(model, data, problem, y, change, work):
    """Largest |H change - J^T x| over the dofs, N s (N m s where they turn).

    change (V): of v, made by the impulses as they stand. y: of the impulses x as the solver kept it, on which it judged
    their law. work (V): overwritten.
    """
    product, worst = data.stage_v, 0.0
    generalized_impulse(model, data, problem, y, work)
    multiply(model, data.mass_matrix, change, product)
    for k in range(model.dof_count):
        worst = max(worst, abs(product[k] + data.implicit_diagonal[k] * change[k] - work[k]))
    return worst


@jit
def apply_torques(model, contacts, problem, fresh, dt):
    """The same for rolling blocks: contacts.torque, and their share in `fresh`.

    Returns the largest residual (rad/s) and the largest torque impulse beyond its bound.
    """
    worst = outside = 0.0
    for c in range(contacts.counts[CONTACTS]):
        contacts.torque[c, 0] = contacts.torque[c, 1] = contacts.torque[c, 2] = 0.0
    for n in range(problem.counts[ROLLING]):
        p = problem.rolling[n]
        c, x = p - problem.contact_capacity, problem.impulse[p]
        axes, bound, push = problem.axes[c], problem.rolling_bound[c], problem.impulse[c, 2]
        push_contact(model.row_dof, problem, p, x[0], x[1], x[2], fresh)
        worst = max(worst, rolling_residual(model.row_dof, problem, p, problem.y))
        outside = max(outside, sqrt(x[0] * x[0] + x[1] * x[1]) - bound[0] * push, abs(x[2]) - bound[1] * push)
        for a in range(3):
            contacts.torque[c, a] = (axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]) / dt
    return worst, outside
