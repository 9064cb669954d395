"""Joint friction without rows: joints that friction holds are locked, those that slip get its force, and what the
solution says decides.

A robot's every joint may have friction. As rows of the problem they would outnumber its contacts; but a joint that is
held is only a joint with next to infinite inertia, which costs the factor of H nothing, and one that slips has a known
force. With H' = H + lock and friction impulses f of the joints that slip
    v' = H'^-1 (H v_free + f)        (E6)
is the free velocity of a problem with contacts, limits and loops alone, and -lock v+ the impulse that holds a joint.
States come from the step before. Where one does not agree with the solution (a held joint beyond its bound, a slipping
one that moves along its friction) all that disagree are switched and the problem is solved again;
what switches twice becomes a row, which the solver treats as it does contacts, and all of it where that does not end.

Joints near a limit have rows from the start: the limit may stop them within the step. And so have, for a while, the
joints of a tree that went to and fro in some steps: a robot that stands on stiff legs can share its load between
feet and joints in many ways, of which locks try one and rows find one.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import AS_ROW, near_limit
from sesshoku.dynamics.factor import factorize, multiply, solve
from sesshoku.methods.exact.options import LOCKS
from sesshoku.methods.exact.problem import build_problem
from sesshoku.methods.exact.solve import PATIENCE, solve_islands
from sesshoku.stages.contact_rows import velocity_change
from sesshoku.stages.joint_rows import store_joint_impulses
from sesshoku.stages.report import CONSTRAINT_WORK, ENERGY_CHANGE, ITERATIONS, RESIDUAL, ROWS

# data.friction_state, beside AS_ROW: held; slips, and friction pushes up, or down
LOCKED, PUSHED_UP, PUSHED_DOWN = 1, 2, 3
LOCK = 1e12  # inertia of a held joint, as a multiple of what hangs on it
ROUNDS = 5  # of switching
SWITCHES = 2  # of one joint within a step: it gets a row
RESTLESS = 2  # steps one after the other in which a joint of a tree went to and fro: it has rows then, for a while:
WAIT, LONGEST = 16, 1024  # steps at first, doubled each time, and at most
BEYOND = 1.0 + 1e-9  # of its bound: what a held joint may bear by rounding
AT_BOUND = 1.0 - 1e-9  # of static friction: a joint that bore as much, and hardly moves, is on the point of slipping


@jit
def hold_joints(model, data, work, dt):
    """Choose the state of every joint with friction from the step before, and take it out of the problem."""
    options = work.options
    q, v, slip_speed = data.new_q, data.v, options.slip_speed
    if len(model.rubbing_dofs) == 0:
        return
    for k in range(model.dof_count):
        work.lock_free[k], work.lock_diagonal[k] = data.new_v[k], data.implicit_diagonal[k]
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        t = model.link_tree[model.dof_link[k]]
        rows = options.joint_friction != LOCKS or work.tree_rows[t] > 0 or work.tree_unsolved[t] >= PATIENCE
        work.lock_switches[k] = 0
        if rows or near_limit(model, k, q, data.new_v, dt):
            data.friction_state[k] = AS_ROW
        elif abs(v[k]) > slip_speed or data.friction_slips[k] and v[k] != 0.0:
            data.friction_state[k] = PUSHED_DOWN if v[k] > 0.0 else PUSHED_UP
        elif abs(data.friction_impulse[k]) > AT_BOUND * dt * model.dof_static_friction[k]:
            data.friction_state[k] = PUSHED_UP if data.friction_impulse[k] > 0.0 else PUSHED_DOWN
        else:
            data.friction_state[k] = LOCKED
    lock(model, data, work, dt)


@jit
def lock(model, data, work, dt):
    """(E6): H' and the free velocity new_v = H'^-1 (H v_free + f) for the present states; other trees keep theirs."""
    free, push, diagonal, some = work.lock_free, work.lock_work, data.implicit_diagonal, False
    multiply(model, data.mass_matrix, free, push)
    for k in range(model.dof_count):
        diagonal[k] = work.lock_diagonal[k]
        push[k] += diagonal[k] * free[k]
        data.new_v[k] = free[k]
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        state = data.friction_state[k]
        some = some or state != AS_ROW
        if state == LOCKED:
            diagonal[k] += LOCK * data.mass_matrix[model.dof_row[k] + model.dof_depth[k]]
        elif state != AS_ROW:
            push[k] += dt * model.dof_kinetic_friction[k] * (1.0 if state == PUSHED_UP else -1.0)
    factorize(model, data.mass_matrix, diagonal, data.factor, data.factor_dinv)
    if some:
        solve(model, data.factor, data.factor_dinv, push)
        for k in range(model.dof_count):
            if work.tree_rubs[model.link_tree[model.dof_link[k]]]:
                data.new_v[k] = push[k]


@jit
def release_joints(model, data, work, dt):
    """Switch the joints whose state does not agree with the solution and solve again, until all agree."""
    if len(model.rubbing_dofs) == 0:
        return
    made = data.report[ITERATIONS]
    for n in range(ROUNDS + 1):
        if switch_joints(model, data, work, dt) == 0:
            break
        if n == ROUNDS:  # it does not end: as rows
            for m in range(len(model.rubbing_dofs)):
                data.friction_state[model.rubbing_dofs[m]] = AS_ROW
        keep_solution(model, data, work)
        lock(model, data, work, dt)
        build_problem(model, data, work, dt)
        start_from_solution(model, work)
        solve_islands(model, data, work, dt)
        made += data.report[ITERATIONS]
    data.report[ITERATIONS] = made
    judge_trees(model, work)


@jit
def keep_solution(model, data, work):
    """Impulses of the solution for the next one of the step to start from; those of contacts in work.impulse_world."""
    store_joint_impulses(model, data, work.problem)
    for c in range(work.contacts.counts[CONTACTS]):
        for d in range(3):
            work.impulse_world[c, d] = work.problem.impulse[c, d]


@jit
def start_from_solution(model, work):
    """The kept impulses, but where the island has no solution (`start_contact`)."""
    contacts = work.contacts
    for c in range(contacts.counts[CONTACTS]):
        jammed = False
        for side in range(2):
            link = contacts.link[c, side]
            jammed = jammed or link >= 0 and work.tree_jammed[model.link_tree[link]] == 1
        for d in range(0 if jammed else 3):
            work.problem.impulse[c, d] = work.impulse_world[c, d]


@jit
def judge_trees(model, work):
    """Rows for a while for the trees in which joints went to and fro in several steps one after the other."""
    for t in range(model.tree_count):
        work.tree_rows[t] = max(work.tree_rows[t] - 1, 0)
        work.tree_restless[t] = -work.tree_restless[t] - 1  # below zero: not seen restless in this step
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        t = model.link_tree[model.dof_link[k]]
        if work.lock_switches[k] >= SWITCHES and work.tree_restless[t] < 0:
            work.tree_restless[t] = -work.tree_restless[t]
    for t in range(model.tree_count):
        if work.tree_restless[t] < 0:
            work.tree_restless[t] = 0
            work.tree_wait[t] = max(work.tree_wait[t] - 1, 0)
        elif work.tree_restless[t] >= RESTLESS:
            work.tree_wait[t] = min(max(2 * work.tree_wait[t], WAIT), LONGEST)
            work.tree_rows[t], work.tree_restless[t] = work.tree_wait[t], 0


@jit
def switch_joints(model, data, work, dt):
    """Judge every joint by the solved velocity; returns how many switched. One that goes to and fro gets a row."""
    problem = work.problem
    changed, change = 0, work.lock_work
    velocity_change(model, data, problem, problem.y, change)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        state, new, x = data.friction_state[k], data.friction_state[k], 0.0
        if state == AS_ROW:
            continue
        speed = data.new_v[k] + change[k]
        if state == LOCKED:
            x = -held_inertia(data, work, k) * speed  # (E6)
            if abs(x) > BEYOND * dt * model.dof_static_friction[k]:
                new = PUSHED_UP if x > 0.0 else PUSHED_DOWN
        elif speed > 0.0 and state == PUSHED_UP or speed < 0.0 and state == PUSHED_DOWN:
            x = dt * model.dof_kinetic_friction[k] * (1.0 if state == PUSHED_UP else -1.0)
            new = LOCKED
        if new != state:
            work.lock_switches[k] += 1
            data.friction_state[k], data.friction_impulse[k] = new if work.lock_switches[k] < SWITCHES else AS_ROW, x
            changed += 1
    return changed


@jit(into_callers=True)
def held_inertia(data, work, k):
    """What the lock adds to the inertia of dof k."""
    return data.implicit_diagonal[k] - work.lock_diagonal[k]


@jit
def keep_joint_friction(model, data, work, dt):
    """Friction's impulses and states for users and the next step; its share in the report. Needs the final new_v."""
    options = work.options
    report = data.report
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        state = data.friction_state[k]
        if state == AS_ROW:
            continue
        speed = data.new_v[k]
        if state == LOCKED:
            x = -held_inertia(data, work, k) * speed  # (E6)
            report[RESIDUAL] = max(report[RESIDUAL], abs(speed))
        else:
            x = dt * model.dof_kinetic_friction[k] * (1.0 if state == PUSHED_UP else -1.0)
        data.friction_impulse[k] = x
        data.friction_slips[k] = 1 if abs(speed) > options.slip_speed else 0
        report[ENERGY_CHANGE] += 0.5 * x * (work.lock_free[k] + speed)
        report[CONSTRAINT_WORK] += 0.5 * x * (data.v[k] + speed)
        report[ROWS] += 1.0
