"""What drives the joints: actuators, joint springs, viscous and Coulomb friction, mimics (chapter 6).

Plain torques act as couples on a joint's two bodies.

Implicit joints (`joint_springs`): servos, joint springs and dampers that are implicit are so against all that happens
in the step. They enter the inertia (coupling.py), and the constraint forces of contacts are found with it. A servo is
clipped to its effort by its torque at the end of the step: none is at first, and where the outcome says otherwise the
step is solved again (`settle_drives`). A constant torque that would turn its light link by more than a small angle in a
step, were it not for what holds it, gives the descent nothing to start from: such a joint is lent an inertia for the
solve, and given back what that took, by secants on the acceleration that comes out.

Explicit joints: a servo is a hundred times stiffer than the springs of a small link's joints can transmit, so implicit
torques are found in joint space, with the contacts' forces of the step before, and act with the joints' reactions.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import drive_of, passive_forces, pull, stiffen, wanted_force, within_joint
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import bias_at_velocities, external_wrenches, link_velocities
from sesshoku.methods.springs.bodies import joint_frame, link_origin, times_inertia
from sesshoku.methods.springs.joint.coupling import (
    couple_drives,
    dof_reply,
    dof_speed,
    load_dof,
    touch_dof,
)
from sesshoku.methods.springs.options import IMPLICIT_JOINTS
from sesshoku.methods.springs.solve.inertia import add_reply, answer, factor_groups
from sesshoku.methods.springs.work import AT_REST
from sesshoku.model.arrays import FREE, PRISMATIC, REVOLUTE
from sesshoku.spatial.algebra import cross

MIMIC_RATE, MIMIC_DAMPING = 0.3, 1.0  # k dt^2 and c dt of a mimic's spring, in inverse inertias: implicit, stable
CLIPPING_ROUNDS = 3  # of finding which servos are at their effort
RUBBING_SWEEPS = 3  # over the joints with friction
TURN = 0.03  # rad within a step that a constant torque may turn a joint by, from rest
MISSED = 1e-3  # of a torque
FAST = 0.5  # rad (or, sliding, m) per step: terms in the square of faster motion say nothing about the step's end


@jit
def want_drives(model, data, joints, dt):
    """What springs, dampers and actuators ask for at present velocities, and how it falls with acceleration."""
    for k in range(model.dof_count):
        data.joint_force[k] = data.implicit_diagonal[k] = joints.friction[k] = 0.0
    if model.spatial_count > 0:
        kinematics(model, data, data.q)
    passive_forces(model, data, data.joint_force, data.implicit_diagonal, data.q, data.v, dt, 1.0)
    for k in range(model.dof_count):
        joints.own_slope[k] = data.implicit_diagonal[k]
    for a in range(model.actuator_count):
        joints.wanted[a], joints.slope[a] = wanted_force(model, data, a, data.q, data.v, dt, 1.0)
        joints.clipped[a] = 0
        data.actuator_force[a] = within_joint(model, data, a, joints.wanted[a])
    for k in range(model.dof_count):
        joints.reference[k] = joints.old_reference[k] = joints.old_miss[k] = 0.0


@jit
def drive_joints(model, data, work, dt):
    """Torques of all joints onto the bodies, and the inertia of those that are implicit."""
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    stiff = False
    for k in range(model.dof_count):
        stiff = stiff or joints.own_slope[k] > 0.0
    for a in range(model.actuator_count):
        stiff = stiff or joints.slope[a] > 0.0
    if options.joint_springs == IMPLICIT_JOINTS:
        drive_coupled(model, data, bodies, joints, dt)
        couple_drives(model, bodies, joints, springs)
        factor_groups(springs)
    elif stiff:
        drive_stiffly(model, data, bodies, joints, dt)
        return
    else:
        for k in range(model.dof_count):
            joints.given[k] = data.joint_force[k]
        for a in range(model.actuator_count):
            dofs, arms = drive_of(model, data, a)
            pull(dofs, arms, data.actuator_force[a], joints.given)
    for k in range(model.dof_count):
        joints.torque[k] = joints.given[k]
        if joints.given[k] != 0.0:
            i = model.dof_link[k]
            push_dof(model, bodies, i, k - model.link_dof[i], joints.given[k])


@jit
def drive_coupled(model, data, bodies, joints, dt):
    """Torques at present velocities into `given`, and how they fall with acceleration into `total_slope`.

    So does the torque that speeds a rotor up, its armature: between the link and its parent.
    """
    for k in range(model.dof_count):
        joints.constant[k], joints.given[k], joints.total_slope[k] = 0.0, data.joint_force[k], joints.own_slope[k]
    for a in range(model.actuator_count):
        dofs, arms = drive_of(model, data, a)
        if joints.slope[a] > 0.0 and not joints.clipped[a]:
            pull(dofs, arms, joints.wanted[a], joints.given)
            stiffen(dofs, arms, joints.slope[a], joints.total_slope)
        else:
            pull(dofs, arms, data.actuator_force[a], joints.constant)
    for k in range(model.dof_count):
        lent = abs(joints.constant[k]) * dt * dt / TURN - joints.inertia[k] - joints.total_slope[k]
        joints.inert[k] = lent if lent > 0.0 else 0.0
        joints.total_slope[k] += joints.inert[k]
        joints.given[k] += joints.constant[k] + joints.inert[k] * joints.reference[k]
        i, armature = model.dof_link[k], model.dof_armature[k]
        if armature > 0.0 and (model.link_joint[i] == REVOLUTE or model.link_joint[i] == PRISMATIC):
            joints.total_slope[k] += armature
            joints.given[k] -= armature * turning_rate(model, bodies, i)


@jit
def turning_rate(model, bodies, i):
    """How fast the speed of a sliding joint grows because its bodies turn, m/s^2: its row's rate times velocities."""
    if model.link_joint[i] != PRISMATIC:
        return 0.0
    p, o, n = joint_frame(model, bodies, i, bodies.frame), link_origin(bodies, i), bodies.frame[2]
    return outward(bodies, i, o, n) - outward(bodies, p, o, n)


@jit
def outward(bodies, b, at, n):
    """w x (w x r) . n of body b, r from its centre of mass to a world point."""
    w, x = bodies.velocity[b], bodies.position[b]
    rx, ry, rz = at[0] - x[0], at[1] - x[1], at[2] - x[2]
    vx, vy, vz = cross(w[3], w[4], w[5], rx, ry, rz)
    ax, ay, az = cross(w[3], w[4], w[5], vx, vy, vz)
    return ax * n[0] + ay * n[1] + az * n[2]


@jit
def push_dof(model, bodies, i, n, tau):
    """A torque (a couple) or force tau on link i along its dof n, the opposite on its parent."""
    load_dof(model, bodies, i, n, tau, bodies.force)


@jit
def drive_stiffly(model, data, bodies, joints, dt):
    """Explicit joints: torques tau - D a, a the acceleration of joints without gap, with the joints' reactions to them.

    They act on every body as what it takes for the accelerations H^-1 tau.
    """
    load_joints(model, data, bodies, joints, dt)
    implicit_torques(model, data, joints)
    x = data.free_acceleration
    for k in range(model.dof_count):
        x[k], data.implicit_diagonal[k] = joints.torque[k], 0.0
    factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)
    solve(model, data.factor, data.factor_dinv, x)
    react(model, data, bodies, x)


@jit
def implicit_torques(model, data, joints):
    """Torques of joint springs, dampers and servos at the end of the step; a servo that wants more than its effort then
    is a constant torque.

    Which ones those are is found by rounds: none at first, then all whose torque came out beyond it.
    """
    x, D, passive = data.free_acceleration, data.implicit_diagonal, data.joint_force
    for a in range(model.actuator_count):
        joints.clipped[a] = 0
    for _ in range(CLIPPING_ROUNDS):
        for k in range(model.dof_count):
            x[k], D[k] = passive[k] - data.bias_force[k], joints.own_slope[k]
        for a in range(model.actuator_count):
            dofs, arms = drive_of(model, data, a)
            pull(dofs, arms, data.actuator_force[a] if joints.clipped[a] else joints.wanted[a], x)
            stiffen(dofs, arms, 0.0 if joints.clipped[a] else joints.slope[a], D)
        factorize(model, data.mass_matrix, D, data.factor, data.factor_dinv)
        solve(model, data.factor, data.factor_dinv, x)
        more = False
        for a in range(model.actuator_count):
            if not joints.clipped[a]:
                dofs, arms = drive_of(model, data, a)
                torque = joints.wanted[a] - joints.slope[a] * along(dofs, arms, x)
                data.actuator_force[a] = within_joint(model, data, a, torque)
                if data.actuator_force[a] != torque:
                    joints.clipped[a] = 1
                    more = True
        if not more:
            break
    for k in range(model.dof_count):
        joints.torque[k] = passive[k] - joints.own_slope[k] * x[k]
    for a in range(model.actuator_count):
        dofs, arms = drive_of(model, data, a)
        pull(dofs, arms, data.actuator_force[a], joints.torque)


@jit
def along(dofs, arms, x):
    """Sum of arm * x over the dofs of a tendon or joint."""
    total = 0.0
    for n in range(len(dofs)):
        total += arms[n] * x[dofs[n]]
    return total


@jit
def settle_drives(model, data, work, dt):
    """Implicit joints: torques at the end of the step; True if none is beyond its effort, and none is missing."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    settled = True
    for k in range(model.dof_count):
        i, a = model.dof_link[k], 0.0
        if joints.own_slope[k] > 0.0 or joints.inert[k] > 0.0:
            a = (dof_speed(model, bodies, i, k - model.link_dof[i], springs.velocity, False) - data.v[k]) / dt
        joints.torque[k] = data.joint_force[k] - joints.own_slope[k] * a
        if joints.inert[k] > 0.0:
            old, miss = joints.reference[k], a - joints.reference[k]
            settled = settled and abs(joints.inert[k] * miss) <= MISSED * abs(joints.constant[k])
            fall = miss - joints.old_miss[k]
            joints.reference[k] = a if joints.old_miss[k] == 0.0 or fall == 0.0 else (
                old - miss * (old - joints.old_reference[k]) / fall)
            joints.old_reference[k], joints.old_miss[k] = old, miss
    for n in range(model.actuator_count):
        dofs, arms = drive_of(model, data, n)
        if joints.slope[n] > 0.0 and not joints.clipped[n]:
            torque = joints.wanted[n]
            for m in range(len(dofs)):
                torque -= joints.slope[n] * arms[m] * dof_rate(model, data, work, dt, dofs[m])
            data.actuator_force[n] = within_joint(model, data, n, torque)
            if data.actuator_force[n] != torque:
                settled = False
                joints.clipped[n] = 1
                for m in range(len(dofs)):
                    k = dofs[m]
                    joints.reference[k], joints.old_miss[k] = dof_rate(model, data, work, dt, k), 0.0
        pull(dofs, arms, data.actuator_force[n], joints.torque)
    return settled


@jit
def dof_rate(model, data, work, dt, k):
    """Acceleration of dof k over the step."""
    bodies, springs = work.bodies, work.springs
    i = model.dof_link[k]
    return (dof_speed(model, bodies, i, k - model.link_dof[i], springs.velocity, False) - data.v[k]) / dt


@jit
def rub_joints(model, data, work, dt):
    """Kinetic friction of the joints, onto the free velocities: at most it stops a joint, it never turns it back."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    u = springs.reply[0]
    for _ in range(RUBBING_SWEEPS if len(model.rubbing_dofs) > 1 else 1):
        for m in range(len(model.rubbing_dofs)):
            k = model.rubbing_dofs[m]
            i = model.dof_link[k]
            n = k - model.link_dof[i]
            data.friction_slips[k] = 0 if joints.state[k] == AT_REST else 1
            if joints.state[k] != AT_REST:
                count = dof_reply(model, work, i, n, u)
                w = dof_speed(model, bodies, i, n, u, True)
                if w > 0.0:
                    bound, old = model.dof_kinetic_friction[k], joints.friction[k]
                    stop = old - dof_speed(model, bodies, i, n, springs.velocity, False) / (dt * w)
                    joints.friction[k] = min(max(stop, -bound), bound)
                    add_reply(springs, springs.touched, count, dt * (joints.friction[k] - old), u, springs.velocity)
            data.friction_impulse[k] = joints.friction[k] * dt


@jit
def load_joints(model, data, bodies, joints, dt):
    """Mass matrix and bias force of the joints as if they had no gap.

    Contacts and loops push with what their springs give now and what their limits gave last (`touch`).
    """
    for i in range(model.link_count):
        for a in range(6):
            bodies.outer[i, a] = data.external_force[i, a]
            data.external_force[i, a] += bodies.touch[i, a]
    kinematics(model, data, data.q)
    fastest = 0.0
    for k in range(model.dof_count):
        if model.link_joint[model.dof_link[k]] != FREE:
            fastest = max(fastest, abs(data.v[k]))
    share = min(1.0, FAST / (dt * fastest)) if fastest > 0.0 else 1.0
    for k in range(model.dof_count):
        joints.torque[k] = data.v[k] * (1.0 if model.link_joint[model.dof_link[k]] == FREE else share)
    link_velocities(model, data, joints.torque)
    external_wrenches(model, data)
    mass_matrix(model, data, data.mass_matrix)
    bias_at_velocities(model, data, data.bias_force)
    for i in range(model.link_count):
        for a in range(6):
            data.external_force[i, a] = bodies.outer[i, a]


@jit
def react(model, data, bodies, x):
    """The forces that give every body its share of the joint accelerations x."""
    acc, S = data.acceleration, data.axis
    for i in range(model.link_count):
        parent, first = model.link_parent[i], model.link_dof[i]
        o, p, F, m = data.tree_origin[model.link_tree[i]], bodies.position[i], bodies.force[i], bodies.mass[i]
        for a in range(6):
            acc[i, a] = acc[parent, a] if parent >= 0 else 0.0
            for k in range(first, first + model.link_dof_count[i]):
                acc[i, a] += S[k, a] * x[k]
        y, z = acc[i], bodies.inertia[i]
        ax, ay, az = cross(y[3], y[4], y[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        tx, ty, tz = times_inertia(z, y[3], y[4], y[5])
        F[0], F[1], F[2] = F[0] + m * (y[0] + ax), F[1] + m * (y[1] + ay), F[2] + m * (y[2] + az)
        F[3], F[4], F[5] = F[3] + tx, F[4] + ty, F[5] + tz


@jit
def drive_mimics(model, data, work, dt):
    """Mimics as springs between two joints, implicit in the two, onto the free velocities."""
    bodies, springs = work.bodies, work.springs
    u, touched = springs.reply[0], springs.touched
    for n in range(model.mimic_count):
        k, source, ratio = model.mimic_dof[n], model.mimic_source[n], model.mimic_ratio[n]
        i, j = model.dof_link[k], model.dof_link[source]
        mine, other = k - model.link_dof[i], source - model.link_dof[j]
        count = touch_dof(model, work, i, mine, 0, u)
        count = touch_dof(model, work, j, other, count, u)
        load_dof(model, bodies, i, mine, 1.0, u)
        load_dof(model, bodies, j, other, -ratio, u)
        answer(springs, touched, count, u)
        w = dof_speed(model, bodies, i, mine, u, True) - ratio * dof_speed(model, bodies, j, other, u, True)
        speed = data.v[k] - ratio * data.v[source]
        a = (dof_speed(model, bodies, i, mine, springs.velocity, False)
             - ratio * dof_speed(model, bodies, j, other, springs.velocity, False) - speed) / dt
        error = data.q[model.dof_coordinate[k]] - ratio * data.q[model.dof_coordinate[source]] - model.mimic_offset[n]
        if w > 0.0:
            stiff, damp = MIMIC_RATE / (dt * dt * w), MIMIC_DAMPING / (dt * w)
            tau = -stiff * (error + dt * speed) - damp * speed
            D = dt * damp + dt * dt * stiff
            tau -= D * (a + w * tau) / (1.0 + D * w)
            data.mimic_impulse[n] = tau * dt
            add_reply(springs, touched, count, dt * tau, u, springs.velocity)
