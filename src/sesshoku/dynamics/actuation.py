"""Joint forces of springs, viscous friction, tendons and actuators, explicit or linearly implicit.

Implicit: a spring-damper or servo sees the end of the step. With v+ = v + dt a,
    (H + dt d + dt^2 k) a = tau - k (q + dt v - rest) - d v,
so it adds dt d + dt^2 k to the diagonal of H (`implicit_diagonal`) and evaluates the spring at q + dt v. Stable for any
gains. A servo whose force is clipped is a constant force and adds nothing (efforts.py says which are). At a midpoint
q + dt/2 v the same with half of dt, the spring where it is (`shift` 0), is the trapezoidal rule: second order, and as
stable. A damper that would turn the velocity round within the step there (dt/2 d above the inertia) counts as one that
stops it: dt d less the inertia.

A tendon's rate is the sum of c_i v_i over its dofs (tendons.py), and a spring, damper or servo along it adds s c c^T,
which has no place in the ancestor chains of H. It adds the diagonal s |c_i| sum |c_j| instead. That is the same for
joints that move along with the tendon's pull, and never less (by Cauchy's inequality): as stable, and first order in dt
where the joints move against each other.
"""

from __future__ import annotations

from math import exp

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.pushes import lift_on_joints
from sesshoku.dynamics.tendons import arms_of, length_and_speed, tendon_mass, tendon_motion
from sesshoku.model.arrays import DIRECT, FILTER_EXACT, GENERAL, INTEGRATOR, POSITION, TORQUE


@jit
def joint_forces(model, data, q, v, dt, shift):
    """Write joint_force, actuator_force and implicit_diagonal (V). dt > 0: implicit where allowed; dt = 0: explicit.

    shift: share of dt v by which q is behind the place where implicit springs are evaluated. Needs `kinematics` where
    actuators bear gravity compensation (`has_lifted`) and where there are spatial tendons.
    """
    force, diagonal, drive = data.joint_force, data.implicit_diagonal, data.drive_force
    for k in range(model.dof_count):
        force[k] = 0.0
        diagonal[k] = 0.0
        drive[k] = 0.0
    passive_forces(model, data, force, diagonal, q, v, dt, shift)
    actuator_forces(model, data, q, v, dt, shift)
    for k in range(model.dof_count):
        force[k] += drive[k]


@jit
def passive_forces(model, data, force, diagonal, q, v, dt, shift):
    """Springs and viscous friction of joints and tendons."""
    for n in range(len(model.sprung_dofs)):
        k = model.sprung_dofs[n]
        h = dt if model.dof_implicit[k] else 0.0
        stiffness, viscous = model.dof_stiffness[k], model.dof_viscous[k]
        if stiffness > 0.0:
            force[k] -= stiffness * (q[model.dof_coordinate[k]] + shift * h * v[k] - model.dof_rest[k])
        force[k] -= viscous * v[k]
        # (3), implicit: dt D + dt^2 K
        diagonal[k] += damped(h * viscous, model.dof_inertia[k], shift) + h * h * stiffness
    for n in range(model.tendon_count):
        stiffness, viscous = model.tendon_stiffness[n], model.tendon_viscous[n]
        if stiffness > 0.0 or viscous > 0.0:
            dofs, arms = arms_of(model, data, n)
            length, speed = tendon_motion(model, data, n, q, v)
            length += shift * dt * speed
            beyond = length - min(max(length, model.tendon_rest[n, 0]), model.tendon_rest[n, 1])
            pull(dofs, arms, -stiffness * beyond - viscous * speed, force)
            slope = damped(dt * viscous, tendon_mass(model, data, n), shift)
            stiffen(dofs, arms, slope + (dt * dt * stiffness if beyond != 0.0 else 0.0), diagonal)


@jit
def damped(slope, inertia, shift):
    """What a damper of slope h d adds to the inertia; at a midpoint (shift 0) more, if it would turn motion round."""
    return 2.0 * slope - inertia if shift == 0.0 and slope > inertia else slope


@jit
def pull(dofs, arms, tension, force_out):
    """A force along a tendon or joint onto the dofs."""
    for n in range(len(dofs)):
        force_out[dofs[n]] += arms[n] * tension


@jit
def stiffen(dofs, arms, slope, diagonal_out):
    """The diagonal that is no less than slope c c^T: slope |c_i| sum |c_j|."""
    total = 0.0
    for n in range(len(dofs)):
        total += abs(arms[n])
    for n in range(len(dofs)):
        diagonal_out[dofs[n]] += slope * abs(arms[n]) * total


@jit
def drive_of(model, data, a):
    """Dofs and arms of what actuator a drives; none where it pushes a body."""
    if model.actuator_tendon[a] >= 0:
        return arms_of(model, data, model.actuator_tendon[a])
    first, last = model.actuator_drive[a], model.actuator_drive[a + 1]
    return model.drive_dof[first:last], model.drive_arm[first:last]


@jit
def drive_motion(model, data, a, q, v):
    """Position and velocity of the joint that actuator a drives, or length and rate of its tendon."""
    if model.actuator_tendon[a] >= 0:
        return tendon_motion(model, data, model.actuator_tendon[a], q, v)
    dofs, arms = drive_of(model, data, a)
    return length_and_speed(model, dofs, arms, q, v)


@jit
def drive_inertia(model, data, a):
    """What moves with the joint or tendon of actuator a: a scale."""
    n = model.actuator_tendon[a]
    return tendon_mass(model, data, n) if n >= 0 else model.actuator_inertia[a]


@jit
def actuator_forces(model, data, q, v, dt, shift):
    """drive_force (V) of commands and servos, clipped to each actuator's effort, and their sum to the joint's."""
    for a in range(model.actuator_count):
        wanted, slope = wanted_force(model, data, a, q, v, dt, shift)
        force = within_effort(model, a, wanted)
        data.actuator_force[a], data.actuator_wanted[a], data.actuator_slope[a] = force, wanted, slope
        data.actuator_clipped[a] = 0 if force == wanted else 1
        dofs, arms = drive_of(model, data, a)
        pull(dofs, arms, force, data.drive_force)
    clip_joints(model, data)
    for a in range(model.actuator_count):
        if data.actuator_slope[a] > 0.0 and data.actuator_clipped[a] == 0:
            dofs, arms = drive_of(model, data, a)
            stiffen(dofs, arms, data.actuator_slope[a], data.implicit_diagonal)


@jit
def clip_joints(model, data):
    """Hold the sum of actuator forces on every joint within the joint's effort.

    Where gravity compensation counts as an actuator force it is part of that sum, and acts on the links by itself.
    """
    drive = data.drive_force
    if model.has_lifted:
        lift_on_joints(model, data, data.lift_force)
    for k in range(model.dof_count):
        borne = data.lift_force[k] if model.has_lifted else 0.0
        total = drive[k] + borne
        bounded = min(max(total, model.dof_effort[k, 0]), model.dof_effort[k, 1])
        if bounded != total:
            for a in range(model.actuator_count):
                dofs, _ = drive_of(model, data, a)
                for n in range(len(dofs)):
                    if dofs[n] == k:
                        data.actuator_clipped[a] = 1
                if model.actuator_dof[a] == k and data.actuator_force[a] == drive[k]:  # it alone drives the joint
                    data.actuator_force[a] = bounded - borne
            drive[k] = bounded - borne


@jit
def wanted_force(model, data, a, q, v, dt, shift):
    """What actuator a asks for along its joint or tendon before its effort is heeded, and how that falls with
    acceleration there."""
    kind, command, gear = model.actuator_kind[a], data.actuator_command[a], model.actuator_gear[a]
    low, high = model.actuator_command_range[a, 0], model.actuator_command_range[a, 1]
    h = dt if model.actuator_implicit[a] else 0.0
    length, speed = drive_motion(model, data, a, q, v)
    if kind == TORQUE:
        return gear * (command[2] + min(max(command[0], low), high)), 0.0
    if kind == GENERAL:
        u = min(max(command[0], low), high) if model.actuator_dynamics[a] == DIRECT else data.activation[a]
        gain, bias = model.actuator_gain[a], model.actuator_bias[a]
        kp, kd = -gear * gear * (gain[1] * u + bias[1]), -gear * gear * (gain[2] * u + bias[2])
        if kp > 0.0:
            length += shift * h * speed
        slope = damped(h * max(kd, 0.0), drive_inertia(model, data, a), shift) + h * h * max(kp, 0.0)
        return gear * (gain[0] * u + bias[0] + command[2]) - kp * length - kd * speed, slope
    kp, kd = model.actuator_kp[a] if kind == POSITION else 0.0, model.actuator_kd[a]
    if kind == POSITION:
        wanted = kp * (min(max(command[0], low), high) - length - shift * h * speed) + kd * (command[1] - speed)
    else:
        wanted = kd * (min(max(command[1], low), high) - speed)
    # (3), implicit: dt D + dt^2 K
    slope = damped(gear * h * kd, drive_inertia(model, data, a), shift) + gear * h * h * kp
    return gear * (command[2] + wanted), slope if gear > 0.0 else 0.0


@jit
def within_effort(model, a, force):
    """A force of actuator a clipped to its own effort, which counts before the gear."""
    gear = model.actuator_gear[a]
    if gear == 0.0:
        return force
    low, high = gear * model.actuator_effort[a, 0], gear * model.actuator_effort[a, 1]
    return min(max(force, min(low, high)), max(low, high))


@jit
def within_joint(model, data, a, force):
    """The same, also clipped to the effort of the joint it drives, as if no other actuator drove that."""
    force, k = within_effort(model, a, force), model.actuator_dof[a]
    if k < 0:
        return force
    borne = data.lift_force[k] if model.has_lifted else 0.0
    return min(max(force, model.dof_effort[k, 0] - borne), model.dof_effort[k, 1] - borne)


@jit
def advance_activations(model, data, dt):
    """Activations of actuators with dynamics at the end of the step."""
    for a in range(model.actuator_count):
        kind, x = model.actuator_dynamics[a], data.activation[a]
        if kind == DIRECT:
            continue
        low, high, time = model.actuator_command_range[a, 0], model.actuator_command_range[a, 1], model.actuator_time[a]
        u = min(max(data.actuator_command[a, 0], low), high)
        if kind == INTEGRATOR:
            x += dt * u
        elif kind == FILTER_EXACT:
            x += (u - x) * (1.0 - exp(-dt / time))
        else:
            x += dt * (u - x) / time
        data.activation[a] = min(max(x, model.actuator_activation_range[a, 0]), model.actuator_activation_range[a, 1])
