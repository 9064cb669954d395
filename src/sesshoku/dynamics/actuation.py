"""Joint forces of springs, viscous friction and actuators, explicit or linearly implicit.

Implicit: a spring-damper or servo sees the end of the step. With v+ = v + dt a,
    (H + dt d + dt^2 k) a = tau - k (q + dt v - rest) - d v,
so it adds dt d + dt^2 k to the diagonal of H (`implicit_diagonal`) and evaluates the spring at q + dt v. Stable for any
gains. A servo whose force is clipped is a constant force and adds nothing. At a midpoint q + dt/2 v the same with half
of dt, the spring where it is (`shift` 0), is the trapezoidal rule: second order, and as stable.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.scene.model import POSITION, TORQUE


@jit
def joint_forces(model, data, q, v, dt, shift):
    """Write joint_force, actuator_force and implicit_diagonal (V). dt > 0: implicit where allowed; dt = 0: explicit.

    shift: share of dt v by which q is behind the place where implicit springs are evaluated.
    """
    force, diagonal = data.joint_force, data.implicit_diagonal
    for k in range(model.dof_count):
        force[k] = 0.0
        diagonal[k] = 0.0
    passive_forces(model, force, diagonal, q, v, dt, shift)
    actuator_forces(model, data, force, diagonal, q, v, dt, shift)


@jit
def passive_forces(model, force, diagonal, q, v, dt, shift):
    """Springs and viscous friction."""
    for n in range(len(model.sprung_dofs)):
        k = model.sprung_dofs[n]
        h = dt if model.dof_implicit[k] else 0.0
        stiffness, viscous = model.dof_stiffness[k], model.dof_viscous[k]
        if stiffness > 0.0:
            force[k] -= stiffness * (q[model.dof_coordinate[k]] + shift * h * v[k] - model.dof_rest[k])
        force[k] -= viscous * v[k]
        diagonal[k] += h * viscous + h * h * stiffness


@jit
def actuator_forces(model, data, force, diagonal, q, v, dt, shift):
    """Torque commands and servos, clipped to the actuator's and the joint's effort."""
    for a in range(model.actuator_count):
        k = model.actuator_dof[a]
        wanted, slope = wanted_force(model, data, a, q, v, dt, shift)
        torque = within_effort(model, a, wanted)
        data.actuator_force[a] = torque
        force[k] += torque
        if torque == wanted:
            diagonal[k] += slope


@jit
def wanted_force(model, data, a, q, v, dt, shift):
    """What actuator a asks of its joint before its effort is heeded, and the implicit_diagonal that calls for."""
    k, kind, command = model.actuator_dof[a], model.actuator_kind[a], data.actuator_command[a]
    h = dt if model.actuator_implicit[a] else 0.0
    kp = model.actuator_kp[a] if kind == POSITION else 0.0
    kd = model.actuator_kd[a] if kind != TORQUE else 0.0
    wanted = command[2]
    if kind == TORQUE:
        wanted += command[0]
    elif kind == POSITION:
        wanted += kp * (command[0] - q[model.dof_coordinate[k]] - shift * h * v[k]) + kd * (command[1] - v[k])
    else:
        wanted += kd * (command[1] - v[k])
    gear = model.actuator_gear[a]
    return gear * wanted, gear * (h * kd + h * h * kp) if gear > 0.0 else 0.0


@jit
def within_effort(model, a, torque):
    """A torque of actuator a clipped to its own effort (before the gear) and to its joint's."""
    gear = abs(model.actuator_gear[a])
    most = model.dof_effort[model.actuator_dof[a]]
    if gear > 0.0:
        most = min(most, gear * model.actuator_effort[a])
    return min(max(torque, -most), most)
