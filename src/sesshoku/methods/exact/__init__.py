"""`exact`: Coulomb's law as it stands, solved to rounding; Moreau's midpoint rule in time. Our own, and the default.

At every contact the normal impulse and the normal velocity are complementary, the friction impulse lies in its disc,
and where the contact slips it opposes the slip at full size. No relaxation, no compliance, no pyramid: solvers/
proximal/newton.py solves that law, island by island, beside the rows of joints.

    middle      q_M = q (+) dt/2 v: contacts, inertia and forces are those of the middle (integrate/midpoint.py)
    predict     forces and inertia; velocity of the middle and of the end if nothing touches, to first order
    contacts    found as far apart as that velocity closes them in the step (`speculative`)
    free        v_free = v + dt H^-1 (forces - bias at the predicted middle velocity); free bodies by `spin`
    hold        joints that friction holds are locked, those that slip get its force (`locks`)
    build       rows of contacts and joints, with velocities of the step's ends (`rate_terms`); impacts are told from
                resting contacts, and those of lone bodies given the geometry of their instant (`instant`);
                what carried such a body until then is given (`until`)
    solve       impulses; static and kinetic friction by what the solution does, and restitution lowered where it
                would bring energy (`solve`)
    release     joints whose friction does not agree with the solution are switched, and it is solved again (`locks`)
    apply       loads of patches at rest split evenly (`resting`); v+ = v_free + H^-1 J^T impulse; forces, report
    end         q+ = q_M (+) (dt/2 v+ + what impacts act longer or shorter than the rest of the step); lone bodies
                turn from their instants on (`momentum`), and free islands keep theirs
                (`island_momentum`, `floating`)

Static friction holds as long as the law has a solution in which nothing moves; a contact that moves has kinetic
friction, and one that turns back is first tried at rest. All points of a sole are judged on the solved motion, so they
break away together. Impacts obey Newton's law with the pair's restitution. With several points the split of the load is
the smallest one (proximal/newton.py), which decides how a sole that slips and turns moves.

Materials with rolling or torsional friction give their contacts a second block of rows (`rolling_rows`): a torque
within the coefficient times the normal force, at full size against what turns (solvers/rolling.py); static and kinetic
coefficient of it are one.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS, RELEASED, SLIP, STICK
from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.dynamics.actuation import joint_forces
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
from sesshoku.methods.definition import Definition
from sesshoku.methods.exact.impacts.until import add_given, note_shaken
from sesshoku.methods.exact.locks import hold_joints, keep_joint_friction, release_joints
from sesshoku.methods.exact.momenta.floating import keep_floating, note_floating
from sesshoku.methods.exact.momenta.island_momentum import keep_momenta, note_momenta
from sesshoku.methods.exact.momenta.momentum import gather_torques, turn_from_instants
from sesshoku.methods.exact.momenta.spin import spin_evenly, turn_along
from sesshoku.methods.exact.options import MIDPOINT, RK4, Options
from sesshoku.methods.exact.problem import (
    add_impact,
    build_problem,
    frame_contacts,
    impact_longer,
    is_backed,
    keep_anchors,
)
from sesshoku.methods.exact.resting import ease_patches
from sesshoku.methods.exact.settle import settle
from sesshoku.methods.exact.smooth import find_smooth, foresee, take_smooth
from sesshoku.methods.exact.solve import count_unsolved, keep_states, solve_islands
from sesshoku.methods.exact.speculative import speculative_leads
from sesshoku.methods.exact.work import (
    BOUNCE,
    FLOATING_ISLANDS,
    FOUND,
    FREE_ISLANDS,
    GIVEN,
    IMPACTS,
    SUPPORT,
    Work,
    make_work,
)
from sesshoku.methods.registry import register
from sesshoku.solvers.problem import ROLLING, push_contact
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.contact_rows import velocity_change
from sesshoku.stages.free_motion import (
    SEMI_IMPLICIT,
    SPIN,
    all_slower,
    applied_work,
    coast,
    end_step,
    finish,
    finish_turns,
    free_velocity,
    joint_space_inertia,
    note_start,
)
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.report import APPLIED_WORK, LIGHT
from sesshoku.stages.tunnelling import count_tunnelling


@jit
def middle(model, data, work, dt):
    """(E20): poses and velocities of the links in the middle of the step, new_q (semi-implicit: at its start)."""
    options = work.options
    if options.integrator == MIDPOINT:
        if options.free_motion == RK4:
            foresee(model, data, work, dt)
        to_middle(model, data, dt)
        if find_fast(model, data, data.v, dt, FAST_JOINT, False) > 0:
            carry_to_middle(model, data, dt)
    else:
        for n in range(model.coordinate_count):
            data.new_q[n] = data.q[n]
    kinematics(model, data, data.new_q)
    link_velocities(model, data, data.v)


@jit
def predict(model, data, work, dt):
    """(E21): forces and inertia; stage_v, the velocity of the middle if nothing touches (semi-implicit: new_v, that of
    the end)."""
    options = work.options
    if options.integrator == MIDPOINT:
        joint_forces(model, data, data.new_q, data.v, 0.5 * dt, 0.0)
    else:
        joint_forces(model, data, data.q, data.v, dt, 1.0)
    external_wrenches(model, data)
    joint_space_inertia(model, data)
    if options.integrator != MIDPOINT:
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
def find_contacts(model, data, work, dt):
    """(E28): contacts that are closed or may close within the step, and their axes and velocities."""
    contacts, options = work.contacts, work.options
    work.impacts[FOUND] = 0
    speculative_leads(model, data, work, dt)
    detect(model, data, contacts, options.margin, options.speculative * dt, options.most_per_pair)
    frame_contacts(model, data, work, dt)


@jit
def free_motion(model, data, work, dt):
    """(E22): new_v: the velocity at the end if there were no contacts, limits or joint friction."""
    options = work.options
    if options.integrator == MIDPOINT:
        middle_velocity(model, data, dt)
        spin_evenly(model, data, work.gyration, dt, FAST)


@jit
def apply(model, data, work, dt):
    """New velocity, forces and states of the contacts, report."""
    contacts, problem, options = work.contacts, work.problem, work.options
    ease_patches(model, work)
    apply_forces(model, data, work, dt)
    if work.impacts[GIVEN] > 0:
        add_given(model, data, work, dt)
    keep_joint_friction(model, data, work, dt)
    slip_speed = options.slip_speed
    for c in range(contacts.counts[CONTACTS]):
        slips = contacts.slip[c] > slip_speed
        loaded = problem.impulse[c, 2] > 0.0
        work.old_slips[c] = 1 if slips and loaded else 0
        rebounds = work.impact[c, BOUNCE] > 0.0 and work.impact[c, SUPPORT] == 0.0
        work.old_parted[c] = 1 if rebounds or not loaded else 0
        contacts.state[c] = RELEASED if not loaded else (SLIP if slips else STICK)
    keep_torques(work)
    keep_states(model, data, work, slip_speed)
    count_unsolved(model, work)
    note_shaken(model, work)
    if options.anchor > 0.0:
        keep_anchors(work)
    measure_errors(model, data, data.new_q)
    count_tunnelling(model, data, contacts, dt)


@jit
def keep_torques(work):
    """Impulses of the rolling blocks for the next step to start from."""
    contacts, problem = work.contacts, work.problem
    for c in range(contacts.counts[CONTACTS] if problem.counts[ROLLING] > 0 else 0):
        work.old_torque[c, 0] = work.old_torque[c, 1] = work.old_torque[c, 2] = 0.0
    for n in range(problem.counts[ROLLING]):
        p = problem.rolling[n]
        c, x = p - problem.contact_capacity, problem.impulse[p]
        for a in range(3):
            axes = problem.axes[c]
            work.old_torque[c, a] = axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]


@jit
def end(model, data, work, dt):
    """Take the new state over if it can be one: finite, and slower than light."""
    options = work.options
    if options.integrator != MIDPOINT:
        return finish(model, data, SEMI_IMPLICIT, dt)
    free_islands = work.impacts[FREE_ISLANDS] > 0
    for n in range(model.coordinate_count):
        work.middle_q[n] = data.new_q[n]
    shift_impacts(model, data, work, dt)
    if not (all_slower(data.new_v, LIGHT) and all_slower(work.shift, LIGHT)):
        move_kinematic(model, data, -0.5 * dt)
        if data.counters[FAST_TREES] > 0:
            for k in range(model.dof_count):
                data.v[k] = data.start_v[k]
        return False
    diagonal = work.lock_diagonal if len(model.rubbing_dofs) > 0 else data.implicit_diagonal
    data.report[APPLIED_WORK] = applied_work(model, data, diagonal, dt)
    fast = find_fast(model, data, data.new_v, dt, FAST_JOINT, True)
    if fast > 0:
        note_start(model, data, data.new_q, data.new_v, data.stage_v, 0.5 * dt)
    floating = fast == 0 and work.impacts[FLOATING_ISLANDS] > 0
    if floating:
        note_floating(model, data, work, dt)
    if options.free_motion == RK4:
        find_smooth(model, data, work, dt)
    from_middle(model, data, work.shift, dt)
    finish_turns(model, data, data.q, data.v)
    if fast == 0:
        settle(model, data, work, dt)
    if free_islands:
        keep_momenta(model, data, work)
    if options.free_motion == RK4:
        take_smooth(model, work, data.q, data.v)
    end_step(model, data, fast, dt)
    if floating:
        keep_floating(model, data, work)
    return True


@jit
def shift_impacts(model, data, work, dt):
    """(E24): the displacement by which impacts, acting from their own instant, differ from impulses of the middle."""
    contacts, problem = work.contacts, work.problem
    y, made, some, rolling = work.y_before, work.y_direction, False, problem.counts[ROLLING] > 0
    for k in range(model.dof_count):
        y[k] = made[k] = work.shift[k] = work.turned[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        add_impact(model, work, c, made)
    for c in range(contacts.counts[CONTACTS]):
        x, longer = problem.impulse[c], impact_longer(model, work, dt, c, made)
        work.longer[c] = longer
        if longer != 0.0:
            push_contact(model.row_dof, problem, c, longer * x[0], longer * x[1], longer * x[2], y)
            some = True
            for side in range(2):
                if is_backed(model, work, c, side):
                    take_back(problem, c, side, longer, y)
            if rolling and (problem.rolling_bound[c, 0] > 0.0 or problem.rolling_bound[c, 1] > 0.0):
                p = problem.contact_capacity + c
                x = problem.impulse[p]
                push_contact(model.row_dof, problem, p, longer * x[0], longer * x[1], longer * x[2], y)
    if work.impacts[GIVEN] > 0:  # it acts from the step's start to the impact
        some = True
        for c in range(contacts.counts[CONTACTS]):
            x, longer = work.given[c], 0.5 * (dt - work.instant[c])
            push_contact(model.row_dof, problem, c, longer * x[0], longer * x[1], longer * x[2], y)
    if some:
        velocity_change(model, data, problem, y, work.shift)
    if work.impacts[IMPACTS] > 0 or work.impacts[FREE_ISLANDS] > 0:
        gather_torques(model, data, work, dt)
    if work.impacts[FREE_ISLANDS] > 0:
        note_momenta(model, data, work, dt)
    if work.impacts[IMPACTS] > 0:
        turn_from_instants(model, data, work, dt)
    if some:
        turn_along(model, data, work.shift, work.turned, dt)


@jit
def take_back(problem, c, side, longer, y_out):
    """y less what the impulse of contact c does in `longer` seconds to a lone body, on one side of it."""
    k, at, x = problem.body[c, side], problem.span[c, side, 2], problem.impulse[c]
    rows, own = problem.half[at : at + 18], y_out[k : k + 6]
    for e in range(6):
        own[e] -= longer * (rows[e] * x[0] + rows[6 + e] * x[1] + rows[12 + e] * x[2])


METHOD = Definition(
    __name__, Options, Work, make_work,
    Stages((middle, predict, find_contacts, free_motion, hold_joints, build_problem, solve_islands, release_joints,
            apply, end)),
    guarantees={
        "friction_bound": lambda options: 1.0,
        # e = 0, nothing to undo, no turning of corners: contact never adds kinetic energy
        "passive": lambda options: options.correction == 0.0 and options.integrator == "semi-implicit",
    })
register(__name__)
