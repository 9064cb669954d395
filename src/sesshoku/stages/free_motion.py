"""Stages that methods in joint space share: mass matrix, free velocity, taking the new state over, work of forces."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import advance_activations, joint_forces
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.efforts import settle_efforts
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.kinematics import sum_to_joints
from sesshoku.dynamics.rnea import bias_at_velocities, external_wrenches, link_velocities
from sesshoku.integrate.euler import finish_euler, finish_semi_implicit
from sesshoku.integrate.fast_joints import FAST, carry_motion, find_fast, note_motion, place_fast, rest_bias
from sesshoku.integrate.position import move_kinematic, store_unit
from sesshoku.integrate.rotor import rotor
from sesshoku.model.arrays import FREE
from sesshoku.spatial.algebra import cross, quaternion_matrix, quaternion_times, turn_quaternion
from sesshoku.stages.closing import close_loops
from sesshoku.stages.joint_constraints import return_to_limits
from sesshoku.stages.report import APPLIED_WORK, LIGHT
from sesshoku.stages.report import FAST_TREES as REPORTED

SEMI_IMPLICIT, EULER, RUNGE_KUTTA = range(3)
# rad per step above which a lone free body turns by `rotor`; the other schemes are left alone while they are harmless
SPIN, EULER_SPIN, RUNGE_KUTTA_SPIN = 1e-4, 0.02, 1.0
UNTURNED, IF_UNTOUCHED, ALWAYS = 0.0, 1.0, 2.0  # last number of `turn`: whether it holds


@jit
def joint_space_inertia(model, data):
    """Mass matrix and its factor."""
    mass_matrix(model, data, data.mass_matrix)
    factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)


@jit
def free_velocity(model, data, dt, least_spin):
    """new_v = v + dt H^-1 (joint force - bias); lone free bodies above `least_spin` (rad per step) turn by `rotor`.

    Needs `link_velocities`.
    """
    bias_at_velocities(model, data, data.bias_force)
    a, bias, force = data.free_acceleration, data.bias_force, data.joint_force
    for k in range(model.dof_count):
        a[k] = force[k] - bias[k]
    solve(model, data.factor, data.factor_dinv, a)  # (1), multipoint; eq. (11), volume: both with f = 0
    settle_efforts(model, data)
    for k in range(model.dof_count):
        data.new_v[k] = data.v[k] + dt * a[k]  # (15), multipoint; eq. (13), volume
    spin_lone_bodies(model, data, dt, least_spin)


@jit
def unconstrained_velocity(model, data, dt, implicit_dt):
    """new_v at the end of the step without contacts, limits or joint friction, from the forces of its start.

    implicit_dt: dt, or 0 where springs and servos are explicit. Needs `link_velocities`.
    """
    joint_forces(model, data, data.q, data.v, implicit_dt, 1.0)
    external_wrenches(model, data)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN)


@jit
def coast(model, data, dt, limit):
    """After `free_velocity`: new_v of trees that turn fast, without Coriolis forces, for `carry_on` to make up for.

    limit: rad per step from which a joint is fast.
    """
    find_fast(model, data, data.v, dt, limit, False)
    if find_fast(model, data, data.new_v, dt, limit, True) == 0:
        return
    a, bias, force = data.free_acceleration, data.bias_force, data.joint_force
    rest_bias(model, data, bias)
    for k in range(model.dof_count):
        a[k] = force[k] - bias[k]
    solve(model, data.factor, data.factor_dinv, a)
    settle_efforts(model, data)
    for k in range(model.dof_count):
        if data.tree_fast[model.link_tree[model.dof_link[k]]] != 0:
            data.new_v[k] = data.v[k] + dt * a[k]


@jit
def spin_lone_bodies(model, data, dt, least_spin):
    """`spin_freely` for every body alone on a free joint."""
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] == i + 1 and model.link_joint[i] == FREE:
            spin_freely(model, data, i, dt, least_spin)


@jit
def spin_freely(model, data, i, dt, least_spin):
    """The gyroscopic torque of a lone free body by `rotor`, which never gains energy; explicit, it would blow up.

    The torque acts first, at the start's pose, then the body turns freely. Its new orientation and spin after a step
    without contact are left for `finish_turns`. Left alone below `least_spin`, where explicit gyroscopic torque agrees
    to second order and gains no more than least_spin^2 of the energy per step.
    """
    k, at = model.link_dof[i] + 3, model.link_coordinate[i] + 3
    q, v, new_v, spin, turn = data.q, data.v, data.new_v, data.spin[i], data.turn[i]
    wx, wy, wz = v[k], v[k + 1], v[k + 2]
    stiff = data.implicit_diagonal[k] + model.dof_armature[k]
    turn[7] = UNTURNED
    if (wx * wx + wy * wy + wz * wz) * dt * dt < least_spin * least_spin or stiff > 0.0:
        return
    I = data.inertia[i]
    gx, gy, gz = gyroscopic_rate(I, wx, wy, wz)
    wx, wy, wz = new_v[k] + dt * gx, new_v[k + 1] + dt * gy, new_v[k + 2] + dt * gz  # after the torque alone
    wx, wy, wz, dw, dx, dy, dz = rotor(I, wx, wy, wz, dt)
    new_v[k], new_v[k + 1], new_v[k + 2] = wx, wy, wz
    spin[0], spin[1], spin[2] = wx, wy, wz
    R00, R01, R02, R10, R11, R12, R20, R21, R22 = quaternion_matrix(dw, dx, dy, dz)
    turn[4], turn[5] = R00 * wx + R01 * wy + R02 * wz, R10 * wx + R11 * wy + R12 * wz
    turn[6] = R20 * wx + R21 * wy + R22 * wz
    store_unit(turn, 0, quaternion_times(dw, dx, dy, dz, q[at], q[at + 1], q[at + 2], q[at + 3]))
    turn[7] = IF_UNTOUCHED


@jit
def gyroscopic_rate(I, wx, wy, wz):
    """I^-1 (w x I w) (3), I the ten-number inertia of a body at its centre of mass."""
    xx, yy, zz, xy, xz, yz = I[4], I[5], I[6], I[7], I[8], I[9]
    gx, gy, gz = cross(wx, wy, wz, xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz,
                       xz * wx + yz * wy + zz * wz)
    u0, u1, u2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * u0 + xy * u1 + xz * u2
    if not det > 0.0:
        return 0.0, 0.0, 0.0
    v1, v2, t = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    return (u0 * gx + u1 * gy + u2 * gz) / det, (u1 * gx + v1 * gy + v2 * gz) / det, (u2 * gx + v2 * gy + t * gz) / det


@jit
def hold_fast_turns(model, data, dt):
    """Before a Runge-Kutta step: settle how lone free bodies turn that turn too far for it, from the solved new_v.

    As in the semi-implicit scheme: freely where no impulse changed the spin, else about the new spin's own axis.
    """
    q, v, new_v = data.q, data.v, data.new_v
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] != i + 1 or model.link_joint[i] != FREE:
            continue
        k, at, turn, spin = model.link_dof[i] + 3, model.link_coordinate[i] + 3, data.turn[i], data.spin[i]
        x, y, z = new_v[k], new_v[k + 1], new_v[k + 2]
        fastest = max(x * x + y * y + z * z, v[k] * v[k] + v[k + 1] * v[k + 1] + v[k + 2] * v[k + 2])
        if not fastest * dt * dt > RUNGE_KUTTA_SPIN * RUNGE_KUTTA_SPIN:
            turn[7] = UNTURNED
            continue
        if turn[7] == UNTURNED or x != spin[0] or y != spin[1] or z != spin[2]:
            dw, dx, dy, dz = turn_quaternion(dt * x, dt * y, dt * z)
            store_unit(turn, 0, quaternion_times(dw, dx, dy, dz, q[at], q[at + 1], q[at + 2], q[at + 3]))
            turn[4], turn[5], turn[6] = x, y, z
        turn[7] = ALWAYS


@jit
def finish_turns(model, data, q, v):
    """Orientation and spin of lone free bodies that turned fast, into q and v: as `spin_freely` left them.

    Where an impulse changed the spin the pose has moved along the spin itself, which keeps the energy as well (a turn
    about the spin's own axis), but not the angular momentum's direction.
    """
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] == i + 1 and model.link_joint[i] == FREE:
            k, at, turn, spin = model.link_dof[i] + 3, model.link_coordinate[i] + 3, data.turn[i], data.spin[i]
            untouched = v[k] == spin[0] and v[k + 1] == spin[1] and v[k + 2] == spin[2]
            if turn[7] == ALWAYS or (turn[7] == IF_UNTOUCHED and untouched):
                v[k], v[k + 1], v[k + 2] = turn[4], turn[5], turn[6]
                q[at], q[at + 1], q[at + 2], q[at + 3] = turn[0], turn[1], turn[2], turn[3]


@jit
def all_slower(v, most):
    """Whether all velocities are numbers of at most this size."""
    slower = True
    for k in range(len(v)):
        slower = slower and abs(v[k]) <= most
    return slower


@jit
def finish(model, data, scheme, dt):
    """Take the new state over if it can be one: finite, and slower than light."""
    finite, fast = (0.0 if all_slower(data.new_v, LIGHT) else 1.0), 0
    if scheme == RUNGE_KUTTA:
        for n in range(model.coordinate_count):
            finite += 0.0 * data.new_q[n]
        if finite != 0.0:
            move_kinematic(model, data, -dt)
            return False
        for n in range(model.coordinate_count):
            data.q[n] = data.new_q[n]
        for k in range(model.dof_count):
            data.v[k] = data.new_v[k]
    elif finite != 0.0:
        return False
    elif scheme == SEMI_IMPLICIT:
        data.report[APPLIED_WORK] = applied_work(model, data, data.implicit_diagonal, dt)
        fast = find_fast(model, data, data.new_v, dt, FAST, True)
        if fast > 0:
            note_start(model, data, data.q, data.new_v, data.v, dt)
        finish_semi_implicit(model, data, data.new_v, dt)
        finish_turns(model, data, data.q, data.v)
    else:
        data.report[APPLIED_WORK] = applied_work(model, data, data.implicit_diagonal, dt)
        finish_euler(model, data, data.new_v, dt)
        finish_turns(model, data, data.q, data.v)
    end_step(model, data, fast, dt)
    return True


@jit
def end_step(model, data, fast, dt):
    """What follows once q and v are taken over. fast: trees whose joints turn far in the step (`note_start`)."""
    return_to_limits(model, data, data.q)
    close_loops(model, data, dt)
    advance_activations(model, data, dt)
    if fast > 0:
        carry_on(model, data)
    data.report[REPORTED] = fast
    data.time[0] += dt


@jit
def note_start(model, data, q, v, seen, h):
    """Keep the motion v of trees that turn fast, and where their links are: at q, from where they move for h.

    seen (V): the velocity that the step has given the links.
    """
    for n in range(model.coordinate_count):
        data.stage_q[n] = q[n]
    for k in range(model.dof_count):
        data.start_v[k] = seen[k]
    note_motion(model, data, v, h)


@jit
def carry_on(model, data):
    """v of trees that turn fast, at the new pose; their links go back to where the step had them, for sensors."""
    place_fast(model, data, data.q)
    carry_motion(model, data, data.v)
    place_fast(model, data, data.stage_q)
    link_velocities(model, data, data.start_v)


@jit
def applied_work(model, data, diagonal, dt):
    """Work (J) in a step of actuators, springs and dampers, pushes, gravity compensation and drag.

    Force times the mean of the step's velocities, v and new_v. diagonal (V): what implicit springs, dampers and servos
    have added to the mass matrix; their force falls by it as the velocity changes. Needs the links where the step has
    placed them.
    """
    v, new_v, pull, wrench, total, pushed = data.v, data.new_v, data.joint_force, data.wrench, 0.0, False
    for k in range(model.dof_count):
        total += 0.5 * (v[k] + new_v[k]) * (dt * pull[k] - diagonal[k] * (new_v[k] - v[k]))
    for i in range(model.link_count):
        for a in range(6):
            pushed = pushed or wrench[i, a] != 0.0
    if pushed:
        f, push = data.force, data.work
        for t in range(model.tree_count):
            for i in range(model.tree_link[t], model.tree_link[t + 1]):
                for a in range(6):
                    f[i, a] = wrench[i, a]
            sum_to_joints(model, data, model.tree_link[t], model.tree_link[t + 1], push)
        for k in range(model.dof_count):
            total += 0.5 * dt * (v[k] + new_v[k]) * push[k]
    return total
