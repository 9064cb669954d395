"""What drives the joints: actuators, joint springs, viscous and Coulomb friction, mimics (chapter 6).

Plain torques act as couples on a joint's two bodies. Where a servo, a joint spring or a damper is implicit, all of them
are linearly implicit in joint space: robots' servos are far stiffer than the inertia of a single small link bears, and
so is their reaction on the springs of the joint before.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import passive_forces, wanted_force, within_effort
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import bias_at_velocities, external_wrenches, link_velocities
from sesshoku.methods.springs.bodies import joint_frame, link_origin, times_inertia
from sesshoku.methods.springs.joints import add_force
from sesshoku.methods.springs.memory import AT_REST
from sesshoku.scene.model import FREE, PLANAR, REVOLUTE, SPHERICAL
from sesshoku.spatial.algebra import cross

MIMIC_RATE, MIMIC_DAMPING = 0.3, 1.0  # k dt^2 and c dt of a mimic's spring, in inverse inertias: implicit, stable
CLIPPING_ROUNDS = 3  # of finding which servos are at their effort
FAST = 0.5  # rad (or, sliding, m) per step: terms in the square of faster motion say nothing about the step's end


@jit
def drive_joints(model, data, bodies, joints, dt):
    """Torques of all joints onto the bodies.

    Friction never turns a joint back: at most it stops it, by the inverse inertia between the joint's two bodies.
    """
    stiff = False
    for k in range(model.dof_count):
        data.joint_force[k] = data.implicit_diagonal[k] = joints.friction[k] = 0.0
    passive_forces(model, data.joint_force, data.implicit_diagonal, data.q, data.v, dt, 1.0)
    for k in range(model.dof_count):
        stiff = stiff or data.implicit_diagonal[k] > 0.0
    for a in range(model.actuator_count):
        joints.wanted[a], joints.slope[a] = wanted_force(model, data, a, data.q, data.v, dt, 1.0)
        stiff = stiff or joints.slope[a] > 0.0
    if stiff:
        drive_stiffly(model, data, bodies, joints, dt)
    else:
        drive_plainly(model, data, bodies, joints)
    for m in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[m]
        i = model.dof_link[k]
        data.friction_slips[k] = 0 if joints.state[k] == AT_REST else 1
        if joints.state[k] != AT_REST:
            w, a = dof_response(model, bodies, i, k - model.link_dof[i])
            if w > 0.0:
                bound, stop = model.dof_kinetic_friction[k], -(data.v[k] + dt * a) / (dt * w)
                joints.friction[k] = min(max(stop, -bound), bound)
                push_dof(model, bodies, i, k - model.link_dof[i], joints.friction[k])
        data.friction_impulse[k] = joints.friction[k] * dt
    drive_mimics(model, data, bodies, dt)


@jit
def drive_plainly(model, data, bodies, joints):
    """Couples, as in the thesis."""
    for k in range(model.dof_count):
        joints.torque[k] = data.joint_force[k]
    for a in range(model.actuator_count):
        data.actuator_force[a] = within_effort(model, a, joints.wanted[a])
        joints.torque[model.actuator_dof[a]] += data.actuator_force[a]
    for k in range(model.dof_count):
        if joints.torque[k] != 0.0:
            i = model.dof_link[k]
            push_dof(model, bodies, i, k - model.link_dof[i], joints.torque[k])


@jit
def drive_stiffly(model, data, bodies, joints, dt):
    """Torques tau - D a, a the acceleration of joints without gap, with the joints' reactions to them.

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
def implicit_torques(model, data, joints):
    """Torques of joint springs, dampers and servos at the end of the step; a servo that wants more than its effort then
    is a constant torque.

    Which ones those are is found by rounds: none at first, then all whose torque came out beyond it.
    """
    x, D, passive = data.free_acceleration, data.implicit_diagonal, data.joint_force
    for a in range(model.actuator_count):
        joints.clipped[a] = 0
    for k in range(model.dof_count):
        joints.own_slope[k] = D[k]
    for _ in range(CLIPPING_ROUNDS):
        for k in range(model.dof_count):
            x[k], D[k] = passive[k] - data.bias_force[k], joints.own_slope[k]
        for a in range(model.actuator_count):
            k = model.actuator_dof[a]
            x[k] += data.actuator_force[a] if joints.clipped[a] else joints.wanted[a]
            D[k] += 0.0 if joints.clipped[a] else joints.slope[a]
        factorize(model, data.mass_matrix, D, data.factor, data.factor_dinv)
        solve(model, data.factor, data.factor_dinv, x)
        more = False
        for a in range(model.actuator_count):
            if not joints.clipped[a]:
                torque = joints.wanted[a] - joints.slope[a] * x[model.actuator_dof[a]]
                data.actuator_force[a] = within_effort(model, a, torque)
                if data.actuator_force[a] != torque:
                    joints.clipped[a] = 1
                    more = True
        if not more:
            break
    for k in range(model.dof_count):
        joints.torque[k] = passive[k] - joints.own_slope[k] * x[k]
    for a in range(model.actuator_count):
        joints.torque[model.actuator_dof[a]] += data.actuator_force[a]


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
def drive_mimics(model, data, bodies, dt):
    """Mimics as springs between two joints, implicit in the two."""
    for n in range(model.mimic_count):
        k, source, ratio = model.mimic_dof[n], model.mimic_source[n], model.mimic_ratio[n]
        i, j = model.dof_link[k], model.dof_link[source]
        w, a = dof_response(model, bodies, i, k - model.link_dof[i])
        ws, a_source = dof_response(model, bodies, j, source - model.link_dof[j])
        w, a = w + ratio * ratio * ws, a - ratio * a_source
        error = data.q[model.dof_coordinate[k]] - ratio * data.q[model.dof_coordinate[source]] - model.mimic_offset[n]
        speed = data.v[k] - ratio * data.v[source]
        if w > 0.0:
            stiff, damp = MIMIC_RATE / (dt * dt * w), MIMIC_DAMPING / (dt * w)
            tau = -stiff * (error + dt * speed) - damp * speed
            D = dt * damp + dt * dt * stiff
            tau -= D * (a + w * tau) / (1.0 + D * w)
            data.mimic_impulse[n] = tau * dt
            push_dof(model, bodies, i, k - model.link_dof[i], tau)
            push_dof(model, bodies, j, source - model.link_dof[j], -ratio * tau)


@jit
def dof_axis(model, bodies, i, n):
    """Axis of dof n of link i's joint in the world, and whether it turns; the parent body."""
    kind, J = model.link_joint[i], bodies.frame
    if kind == FREE:
        for a in range(3):
            bodies.relative[0, a] = 1.0 if a == n % 3 else 0.0
        return n >= 3, model.link_count
    p = joint_frame(model, bodies, i, J)
    if kind == SPHERICAL:
        for a in range(3):
            bodies.relative[0, a] = bodies.rotation[i, a, n]
        return True, p
    row = n if kind == PLANAR else 2
    for a in range(3):
        bodies.relative[0, a] = J[row, a]
    return kind == REVOLUTE or (kind == PLANAR and n == 2), p


@jit
def dof_response(model, bodies, i, n):
    """Inverse inertia of a dof between its two bodies, and the acceleration the forces summed so far give it."""
    turns, p = dof_axis(model, bodies, i, n)
    ax, ay, az = bodies.relative[0, 0], bodies.relative[0, 1], bodies.relative[0, 2]
    ox, oy, oz = link_origin(bodies, i)
    inverse = rate = 0.0
    for side in range(2):
        b, sign = (i, 1.0) if side == 0 else (p, -1.0)
        if bodies.inverse_mass[b] == 0.0:
            continue
        I, F, x, m = bodies.inverse_inertia[b], bodies.force[b], bodies.position[b], bodies.inverse_mass[b]
        if turns:
            rx, ry, rz = ax, ay, az
        else:
            rx, ry, rz = cross(ox - x[0], oy - x[1], oz - x[2], ax, ay, az)
            inverse += m
            rate += sign * m * (ax * F[0] + ay * F[1] + az * F[2])
        wx, wy, wz = times_inertia(I, rx, ry, rz)
        inverse += rx * wx + ry * wy + rz * wz
        rate += sign * (wx * F[3] + wy * F[4] + wz * F[5])
    return inverse, rate


@jit
def push_dof(model, bodies, i, n, tau):
    """A torque (a couple) or force tau on link i along its dof n, the opposite on its parent."""
    turns, p = dof_axis(model, bodies, i, n)
    x, y, z = tau * bodies.relative[0, 0], tau * bodies.relative[0, 1], tau * bodies.relative[0, 2]
    if turns:
        F, G = bodies.force[i], bodies.force[p]
        F[3] += x
        F[4] += y
        F[5] += z
        G[3] -= x
        G[4] -= y
        G[5] -= z
        return
    ox, oy, oz = link_origin(bodies, i)
    add_force(bodies, i, ox, oy, oz, x, y, z)
    add_force(bodies, p, ox, oy, oz, -x, -y, -z)
