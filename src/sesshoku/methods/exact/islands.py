"""Solving each island, with static and kinetic friction told apart by what the solution does."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.rows import ROW_FRICTION
from sesshoku.methods.exact.options import NEWTON, ROUNDS, SLIP_SPEED
from sesshoku.methods.island_rows import group_joint_rows, island_dofs
from sesshoku.methods.report import CONVERGED, ITERATIONS, ROWS
from sesshoku.solvers.problem import JOINT_ROWS, read_contact, read_joint
from sesshoku.solvers.proximal_newton import solve_island

BROKEN, TRIED = 1, 2  # `locked`: broke away in this step; static friction was tried against a turning back


@jit
def solve_islands(model, data, contacts, problem, memory, newton, options):
    """Solve every island apart; impulses and y are left in the problem."""
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    report[CONVERGED] = 1.0
    for k in range(model.dof_count):
        problem.y[k] = 0.0
    for j in range(problem.counts[JOINT_ROWS]):
        memory.joint_locked[j] = 0
    rest = group_joint_rows(model, contacts, problem, memory)
    for island in range(rest + 1):
        first, last = (contacts.island_start[island], contacts.island_start[island + 1]) if island < rest else (0, 0)
        contact_list = contacts.island_contact[first:last]
        joint_list = memory.joint_list[memory.joint_start[island] : memory.joint_start[island + 1]]
        if len(contact_list) + len(joint_list) > 0:
            dof_list = memory.dof_list[: island_dofs(model, contacts, memory, island)]
            solve_rounds(model, data, contacts, problem, memory, newton, options, contact_list, joint_list, dof_list)
            report[ROWS] += 3 * len(contact_list) + len(joint_list)


@jit
def solve_rounds(model, data, contacts, problem, memory, newton, options, contact_list, joint_list, dof_list):
    """Solve, let what moved break away and what turned back try to hold, and solve again until nothing switches."""
    report, made, solved = data.report, 0, False
    for _ in range(int(options[ROUNDS])):
        steps, _, solved = solve_island(model.row_dof, problem, memory.mu, contact_list, joint_list, dof_list,
                                        options[NEWTON:], newton)  # fmt: skip
        made += steps
        switched = switch_contacts(model, contacts, problem, memory, options[SLIP_SPEED], contact_list)
        switched += switch_joints(model, data, problem, memory, options[SLIP_SPEED], joint_list)
        if switched == 0:
            break
    report[ITERATIONS] = max(report[ITERATIONS], made)
    if not solved:
        report[CONVERGED] = 0.0


@jit
def switch_contacts(model, contacts, problem, memory, slip_speed, contact_list):
    """Judge every loaded contact by its solved velocity; returns how many coefficients changed."""
    changed = 0
    for n in range(len(contact_list)):
        c = contact_list[n]
        static, kinetic = contacts.material[c, 0], contacts.material[c, 1]
        if static == kinetic or problem.impulse[c, 2] <= 0.0:
            continue
        u0, u1, _ = read_contact(model.row_dof, problem, c, problem.y)
        u0, u1 = u0 + problem.free[c, 0], u1 + problem.free[c, 1]
        moves = sqrt(u0 * u0 + u1 * u1) > slip_speed
        if moves and memory.slips[c] == 0:
            memory.slips[c], memory.locked[c], memory.mu[c] = 1, BROKEN, kinetic
            changed += 1
        elif (moves and memory.slips[c] == 1 and memory.locked[c] == 0
              and u0 * problem.velocity[c, 0] + u1 * problem.velocity[c, 1] <= 0.0):  # fmt: skip
            memory.slips[c], memory.locked[c], memory.mu[c] = 0, TRIED, static
            changed += 1
    return changed


@jit
def switch_joints(model, data, problem, memory, slip_speed, joint_list):
    """The same for the friction of joints."""
    changed = 0
    for n in range(len(joint_list)):
        j = joint_list[n]
        if problem.joint_source[j, 0] != ROW_FRICTION:
            continue
        k = problem.joint_source[j, 1]
        static, kinetic = model.dof_static_friction[k], model.dof_kinetic_friction[k]
        speed = read_joint(model.row_dof, problem, j, problem.y) + problem.joint_free[j]
        moves, share = abs(speed) > slip_speed, 1.0
        if moves and data.friction_slips[k] == 0:
            data.friction_slips[k], memory.joint_locked[j], share = 1, BROKEN, kinetic / static
        elif moves and memory.joint_locked[j] == 0 and speed * data.v[k] <= 0.0:
            data.friction_slips[k], memory.joint_locked[j], share = 0, TRIED, static / max(kinetic, 1e-300)
        else:
            continue
        if static != kinetic:
            problem.joint_low[j] *= share
            problem.joint_high[j] *= share
            changed += 1
    return changed


@jit
def keep_states(model, data, contacts, problem, memory, slip_speed):
    """States for the next step: what moves slips, what does not rests."""
    for j in range(problem.counts[JOINT_ROWS]):
        if problem.joint_source[j, 0] == ROW_FRICTION:
            speed = read_joint(model.row_dof, problem, j, problem.y) + problem.joint_free[j]
            data.friction_slips[problem.joint_source[j, 1]] = 1 if abs(speed) > slip_speed else 0
