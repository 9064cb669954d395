"""Stages that methods in joint space share: mass matrix, free velocity, and taking the new state over."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.rnea import bias_force
from sesshoku.integrate.euler import finish_euler, finish_semi_implicit
from sesshoku.integrate.position import move_kinematic
from sesshoku.methods.joint_constraints import return_to_limits

SEMI_IMPLICIT, EULER, RUNGE_KUTTA = range(3)


@jit
def joint_space_inertia(model, data):
    """Mass matrix and its factor."""
    mass_matrix(model, data, data.mass_matrix)
    factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)


@jit
def free_velocity(model, data, dt):
    """new_v = v + dt H^-1 (joint force - bias)."""
    bias_force(model, data, data.v, data.bias_force)
    a, bias, force = data.free_acceleration, data.bias_force, data.joint_force
    for k in range(model.dof_count):
        a[k] = force[k] - bias[k]
    solve(model, data.factor, data.factor_dinv, a)
    for k in range(model.dof_count):
        data.new_v[k] = data.v[k] + dt * a[k]


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
