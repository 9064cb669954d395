"""Stages that methods in joint space share: mass matrix, free velocity, and taking the new state over."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.rnea import bias_at_velocities
from sesshoku.integrate.euler import finish_euler, finish_semi_implicit
from sesshoku.integrate.position import move_kinematic
from sesshoku.methods.joint_constraints import return_to_limits
from sesshoku.scene.model import FREE

SEMI_IMPLICIT, EULER, RUNGE_KUTTA = range(3)
SPIN = 0.02  # rad per step


@jit
def joint_space_inertia(model, data):
    """Mass matrix and its factor."""
    mass_matrix(model, data, data.mass_matrix)
    factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)


@jit
def free_velocity(model, data, dt):
    """new_v = v + dt H^-1 (joint force - bias). Needs `link_velocities`."""
    bias_at_velocities(model, data, data.bias_force)
    a, bias, force = data.free_acceleration, data.bias_force, data.joint_force
    for k in range(model.dof_count):
        a[k] = force[k] - bias[k]
    solve(model, data.factor, data.factor_dinv, a)
    for k in range(model.dof_count):
        data.new_v[k] = data.v[k] + dt * a[k]
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] == i + 1 and model.link_joint[i] == FREE:
            tame_spin(model, data, i, dt)


@jit
def tame_spin(model, data, i, dt):
    """Implicit gyroscopic torque for a free body that turns far within a step: explicit, it would blow up.

    One Newton step of I (w' - w) + dt w' x I w' = dt torque from w' = w: with the explicit change d,
    (I + dt ([w] I - [I w])) (w' - w) = I d. Left alone while w dt < SPIN, where both agree to second order.
    """
    k = model.link_dof[i] + 3
    wx, wy, wz = data.v[k], data.v[k + 1], data.v[k + 2]
    stiff = data.implicit_diagonal[k] + model.dof_armature[k]
    if (wx * wx + wy * wy + wz * wz) * dt * dt < SPIN * SPIN or stiff > 0.0:
        return
    I = data.inertia[i]
    xx, yy, zz, xy, xz, yz = I[4], I[5], I[6], I[7], I[8], I[9]
    hx, hy, hz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
    dx, dy, dz = data.new_v[k] - wx, data.new_v[k + 1] - wy, data.new_v[k + 2] - wz
    rx, ry, rz = xx * dx + xy * dy + xz * dz, xy * dx + yy * dy + yz * dz, xz * dx + yz * dy + zz * dz
    # rows of the matrix: I + dt ([w] I - [h])
    a0, a1, a2 = xx + dt * (wy * xz - wz * xy), xy + dt * (wy * yz - wz * yy + hz), xz + dt * (wy * zz - wz * yz - hy)
    b0, b1, b2 = xy + dt * (wz * xx - wx * xz - hz), yy + dt * (wz * xy - wx * yz), yz + dt * (wz * xz - wx * zz + hx)
    c0, c1, c2 = xz + dt * (wx * xy - wy * xx + hy), yz + dt * (wx * yy - wy * xy - hx), zz + dt * (wx * yz - wy * xz)
    m0, m1, m2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
    det = a0 * m0 + a1 * m1 + a2 * m2
    if det <= 0.0:
        return
    data.new_v[k] = wx + (rx * m0 + ry * (a2 * c1 - a1 * c2) + rz * (a1 * b2 - a2 * b1)) / det
    data.new_v[k + 1] = wy + (rx * m1 + ry * (a0 * c2 - a2 * c0) + rz * (a2 * b0 - a0 * b2)) / det
    data.new_v[k + 2] = wz + (rx * m2 + ry * (a1 * c0 - a0 * c1) + rz * (a0 * b1 - a1 * b0)) / det


@jit
def finish(model, data, scheme, dt):
    """Take the new state over if it is finite (and the velocity far enough from overflow to be squared)."""
    finite = 0.0
    for k in range(model.dof_count):
        speed = max(1.0, dt) * data.new_v[k]
        finite += 0.0 * (speed * speed)
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
        finish_semi_implicit(model, data, data.new_v, dt)
    else:
        finish_euler(model, data, data.new_v, dt)
    return_to_limits(model, data.q)
    data.time[0] += dt
    return True
