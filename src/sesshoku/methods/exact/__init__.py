"""`exact`: Coulomb's law as it stands, solved to rounding; Moreau's midpoint rule in time. Our own, and the default.

At every contact the normal impulse and the normal velocity are complementary, the friction impulse lies in its disc,
and where the contact slips it opposes the slip at full size. No relaxation, no compliance, no pyramid: solvers/
proximal_newton.py solves that law, island by island, beside the rows of joints.

    middle      q_M = q (+) dt/2 v: contacts, inertia and forces are those of the middle (integrate/midpoint.py)
    predict     forces and inertia; velocity of the middle and of the end if nothing touches, to first order
    contacts    found as far apart as that velocity closes them in the step (`ahead`)
    free        v_free = v + dt H^-1 (forces - bias at the predicted middle velocity); free bodies by `spin`
    hold        joints that friction holds are locked, those that slip get its force (`locks`)
    pose        rows of contacts and joints, with velocities of the step's ends (`turning`); impacts are told from
                resting contacts and given their instant (`pose`)
    solve       impulses; static and kinetic friction by what the solution does, and restitution lowered where it
                would bring energy (`islands`)
    release     joints whose friction does not agree with the solution are switched, and it is solved again (`locks`)
    apply       v+ = v_free + H^-1 J^T impulse; forces, report
    end         q+ = q_M (+) (dt/2 v+ + what impacts act longer or shorter than the rest of the step)

Static friction holds as long as the law has a solution in which nothing moves; a contact that moves has kinetic
friction, and one that turns back is first tried at rest. All points of a sole are judged on the solved motion, so they
break away together. Impacts obey Newton's law with the pair's restitution. With several points the split of the load is
the smallest one (proximal_newton.py), which decides how a sole that slips and turns moves.

Materials with rolling or torsional friction give their contacts a second block of rows (`turning_rows`): a torque
within the coefficient times the normal force, at full size against what turns (solvers/turning.py); static and kinetic
coefficient of it are one.
"""

from __future__ import annotations

from typing import Any

from sesshoku.collision.contacts import CONTACTS, RELEASED, SLIP, STICK, as_contacts, make_contacts
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW, contact_capacity, detect, pair_capacity
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.actuation import advance_activations, joint_forces
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.fast_joints import FAST as FAST_JOINT
from sesshoku.integrate.fast_joints import FAST_TREES, find_fast
from sesshoku.integrate.midpoint import (
    FAST,
    carry_to_middle,
    from_middle,
    middle_velocity,
    predict_middle,
    speeds_up,
    to_middle,
)
from sesshoku.integrate.position import move_kinematic
from sesshoku.methods.exact.ahead import look_ahead
from sesshoku.methods.exact.locks import hold_joints, keep_joint_friction, release_joints
from sesshoku.methods.exact.options import AHEAD, ANCHOR, MARGIN, MIDPOINT, MOST, SLIP_SPEED, Options, parameters
from sesshoku.methods.exact.problem import add_impact, frame_contacts, impact_longer, keep_anchors, pose_problem
from sesshoku.methods.exact.solve import keep_states, solve_islands
from sesshoku.methods.exact.spin import spin_evenly, turn_along
from sesshoku.methods.exact.work import BOUNCE, SUPPORT, as_memory, make_memory
from sesshoku.methods.registry import register
from sesshoku.model.arrays import as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.problem import TURNING, as_problem, push_contact
from sesshoku.solvers.proximal.work import as_newton_work
from sesshoku.stages.books import applied_work
from sesshoku.stages.closing import close_loops
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.contact_rows import velocity_change
from sesshoku.stages.free_motion import (
    SEMI_IMPLICIT,
    SPIN,
    carry_on,
    coast,
    finish,
    finish_turns,
    free_velocity,
    joint_space_inertia,
    note_start,
)
from sesshoku.stages.joint_constraints import measure_errors, return_to_limits
from sesshoku.stages.report import APPLIED_WORK
from sesshoku.stages.report import FAST_TREES as REPORTED
from sesshoku.stages.tunnelling import count_tunnelling

STATE = {
    "contacts": (*CONTACT_STATE, *CONTACT_VIEW, "torque"),
    "memory": ("old_impulse", "old_torque", "old_slips", "old_parted", "old_anchor", "old_anchored", "tree_jammed",
               "tree_rows", "tree_wait", "tree_restless"),
}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts, the problem's rows, memory and the solver's work space, in the order `run` takes them."""
    contacts = make_contacts(compiled.model, contact_capacity(compiled.model), pair_capacity(compiled.model))
    problem, memory, newton = make_memory(compiled, contacts)
    return {"contacts": contacts, "problem": problem, "memory": memory, "newton": newton}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: nothing."""
    return []


#: what the contract suite may hold the method to
GUARANTEES = {
    "friction_bound": lambda options: 1.0,
    # e = 0, nothing to undo, no turning of corners: contact never adds kinetic energy
    "passive": lambda options: options.correction == 0.0 and options.integrator == "semi-implicit",
}

register(__name__)


@jit
def run(model_table, data_table, contact_table, problem_table, memory_table, newton_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    problem, memory, newton = as_problem(problem_table), as_memory(memory_table), as_newton_work(newton_table)
    for n in range(steps):
        if not step(model, data, contacts, problem, memory, newton, options, dt):
            return n
    return steps


@jit(inline="always")
def step(model, data, contacts, problem, memory, newton, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    middle(model, data, options, dt)
    predict(model, data, options, dt)
    find_contacts(model, data, contacts, problem, memory, options, dt)
    free_motion(model, data, memory, options, dt)
    hold_joints(model, data, memory, data.new_q, options, dt)
    pose_problem(model, data, contacts, problem, memory, data.new_q, options, dt)
    solve_islands(model, data, contacts, problem, memory, newton, options, dt)
    release_joints(model, data, contacts, problem, memory, newton, options, dt)
    apply(model, data, contacts, problem, memory, options, dt)
    return end(model, data, problem, contacts, memory, options, dt)


@jit
def middle(model, data, options, dt):
    """Poses and velocities of the links in the middle of the step, new_q (semi-implicit: at its start)."""
    if options[MIDPOINT]:
        to_middle(model, data, dt)
        if find_fast(model, data, data.v, dt, FAST_JOINT, False) > 0:
            carry_to_middle(model, data, dt)
    else:
        for n in range(model.coordinate_count):
            data.new_q[n] = data.q[n]
    kinematics(model, data, data.new_q)
    link_velocities(model, data, data.v)


@jit
def predict(model, data, options, dt):
    """Forces and inertia; stage_v, the velocity of the middle if nothing touches (semi-implicit: new_v, of the end)."""
    if options[MIDPOINT]:
        joint_forces(model, data, data.new_q, data.v, 0.5 * dt, 0.0)
    else:
        joint_forces(model, data, data.q, data.v, dt, 1.0)
    external_wrenches(model, data)
    joint_space_inertia(model, data)
    if not options[MIDPOINT]:
        free_velocity(model, data, dt, SPIN)
        coast(model, data, dt, FAST_JOINT)
        return
    predict_middle(model, data, dt)
    if speeds_up(model, data, dt):
        carry_to_middle(model, data, dt)
        link_velocities(model, data, data.v)
        joint_forces(model, data, data.new_q, data.v, 0.5 * dt, 0.0)
        joint_space_inertia(model, data)
        predict_middle(model, data, dt)


@jit
def find_contacts(model, data, contacts, problem, memory, options, dt):
    """Contacts that are closed or may close within the step, and their axes and velocities."""
    look_ahead(model, data, contacts, memory.y_before, options, dt)
    detect(model, data, contacts, options[MARGIN], options[AHEAD] * dt, int(options[MOST]))
    frame_contacts(model, data, contacts, problem, memory, options, dt)


@jit
def free_motion(model, data, memory, options, dt):
    """new_v: the velocity at the end if there were no contacts, limits or joint friction."""
    if options[MIDPOINT]:
        middle_velocity(model, data, dt)
        spin_evenly(model, data, memory.gyration, dt, FAST)


@jit
def apply(model, data, contacts, problem, memory, options, dt):
    """New velocity, forces and states of the contacts, report."""
    apply_forces(model, data, contacts, problem, memory, dt)
    keep_joint_friction(model, data, memory, options, dt)
    slip_speed = options[SLIP_SPEED]
    for c in range(contacts.counts[CONTACTS]):
        slips = contacts.slip[c] > slip_speed
        loaded = problem.impulse[c, 2] > 0.0
        memory.old_slips[c] = 1 if slips and loaded else 0
        rebounds = memory.impact[c, BOUNCE] > 0.0 and memory.impact[c, SUPPORT] == 0.0
        memory.old_parted[c] = 1 if rebounds or not loaded else 0
        contacts.state[c] = RELEASED if not loaded else (SLIP if slips else STICK)
    keep_torques(contacts, problem, memory)
    keep_states(model, data, contacts, problem, memory, slip_speed)
    if options[ANCHOR] > 0.0:
        keep_anchors(contacts, problem, memory)
    measure_errors(model, data, data.new_q)
    count_tunnelling(model, data, contacts, dt)


@jit
def keep_torques(contacts, problem, memory):
    """Impulses of the turning blocks for the next step to start from."""
    for c in range(contacts.counts[CONTACTS] if problem.counts[TURNING] > 0 else 0):
        memory.old_torque[c, 0] = memory.old_torque[c, 1] = memory.old_torque[c, 2] = 0.0
    for n in range(problem.counts[TURNING]):
        p = problem.turning[n]
        c, x = p - problem.contact_capacity, problem.impulse[p]
        for a in range(3):
            axes = problem.axes[c]
            memory.old_torque[c, a] = axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]


@jit
def end(model, data, problem, contacts, memory, options, dt):
    """Take the new state over if it is finite."""
    if not options[MIDPOINT]:
        return finish(model, data, SEMI_IMPLICIT, dt)
    shift_impacts(model, data, contacts, problem, memory, dt)
    finite = 0.0
    for k in range(model.dof_count):
        speed = max(1.0, dt) * data.new_v[k]
        finite += 0.0 * (speed * speed) + 0.0 * memory.shift[k]
    if finite != 0.0:
        move_kinematic(model, data, -0.5 * dt)
        if data.counters[FAST_TREES] > 0:
            for k in range(model.dof_count):
                data.v[k] = data.start_v[k]
        return False
    diagonal = memory.lock_diagonal if len(model.rubbing_dofs) > 0 else data.implicit_diagonal
    data.report[APPLIED_WORK] = applied_work(model, data, diagonal, dt)
    fast = find_fast(model, data, data.new_v, dt, FAST_JOINT, True)
    if fast > 0:
        note_start(model, data, data.new_q, data.new_v, data.stage_v, 0.5 * dt)
    from_middle(model, data, memory.shift, dt)
    finish_turns(model, data, data.q, data.v)
    return_to_limits(model, data.q)
    close_loops(model, data, dt)
    advance_activations(model, data, dt)
    if fast > 0:
        carry_on(model, data)
    data.report[REPORTED] = fast
    data.time[0] += dt
    return True


@jit
def shift_impacts(model, data, contacts, problem, memory, dt):
    """The displacement by which impacts, acting from their own instant, differ from impulses of the step's middle."""
    y, made, some, turning = memory.y_before, memory.y_direction, False, problem.counts[TURNING] > 0
    for k in range(model.dof_count):
        y[k] = made[k] = memory.shift[k] = memory.turned[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        add_impact(model, problem, memory, c, made)
    for c in range(contacts.counts[CONTACTS]):
        x, longer = problem.impulse[c], impact_longer(model, problem, memory, c, made, dt)
        if longer != 0.0:
            push_contact(model.row_dof, problem, c, longer * x[0], longer * x[1], longer * x[2], y)
            some = True
            if turning and (problem.turning_bound[c, 0] > 0.0 or problem.turning_bound[c, 1] > 0.0):
                p = problem.contact_capacity + c
                x = problem.impulse[p]
                push_contact(model.row_dof, problem, p, longer * x[0], longer * x[1], longer * x[2], y)
    if some:
        velocity_change(model, data, problem, y, memory.shift)
        turn_along(model, data, memory.shift, memory.turned, dt)


@jit
def stage_nothing(model, data, contacts, problem, memory, newton, options, dt):
    """What a call of a stage costs."""


@jit
def stage_middle(model, data, contacts, problem, memory, newton, options, dt):
    middle(model, data, options, dt)


@jit
def stage_predict(model, data, contacts, problem, memory, newton, options, dt):
    predict(model, data, options, dt)


@jit
def stage_detect(model, data, contacts, problem, memory, newton, options, dt):
    find_contacts(model, data, contacts, problem, memory, options, dt)


@jit
def stage_free(model, data, contacts, problem, memory, newton, options, dt):
    free_motion(model, data, memory, options, dt)


@jit
def stage_pose(model, data, contacts, problem, memory, newton, options, dt):
    hold_joints(model, data, memory, data.new_q, options, dt)
    pose_problem(model, data, contacts, problem, memory, data.new_q, options, dt)


@jit
def stage_solve(model, data, contacts, problem, memory, newton, options, dt):
    solve_islands(model, data, contacts, problem, memory, newton, options, dt)
    release_joints(model, data, contacts, problem, memory, newton, options, dt)


@jit
def stage_apply(model, data, contacts, problem, memory, newton, options, dt):
    apply(model, data, contacts, problem, memory, options, dt)


@jit
def stage_end(model, data, contacts, problem, memory, newton, options, dt):
    end(model, data, problem, contacts, memory, options, dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step`."""
    return {"middle": stage_middle, "predict": stage_predict, "detect": stage_detect, "free motion": stage_free,
            "pose problem": stage_pose, "solve": stage_solve, "apply forces": stage_apply, "end": stage_end}


__all__ = ["STATE", "Options", "make_records", "parameters", "run", "stages", "step", "supports"]
