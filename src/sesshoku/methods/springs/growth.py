"""Energy that grows without a source (`stages.growth`), of bodies in maximal coordinates."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.bodies import times_inertia
from sesshoku.stages.growth import (
    MAD,
    PACE,
    RESIDUAL_MATTERS,
    WORK,
    all_slower,
    begin_account,
    fastest_of,
    is_explained,
    script_speed,
)
from sesshoku.stages.report import CONVERGED, LIGHT, RESIDUAL


@jit
def may_move(model, data, work, dt):
    """Whether the bodies may take over the velocities just found; False as `stages.growth.may_follow` says."""
    bodies, springs, growth = work.bodies, work.springs, data.growth
    applied = applied_work(model, data, work, dt)
    growth[WORK] += applied
    fastest = 0.0
    for b in range(model.link_count):
        if not all_slower(springs.velocity[b], LIGHT):
            return False
        fastest = max(fastest, fastest_of(springs.velocity[b]))
    if data.report[RESIDUAL] > RESIDUAL_MATTERS and data.report[RESIDUAL] > MAD * fastest:
        data.report[CONVERGED] = 0.0
    if fastest <= growth[PACE]:
        return True
    weight = 0.0
    for b in range(model.link_count):
        for a in range(3):
            weight -= bodies.mass[b] * model.gravity[a] * bodies.position[b, a]
    if growth[PACE] < 0.0 or script_speed(model, data) >= 0.0:
        start = kinetic_of(model, bodies, bodies.velocity)
        begin_account(data, start, start + weight, applied)
    return is_explained(model, data, kinetic_of(model, bodies, springs.velocity), weight, fastest)


@jit
def applied_work(model, data, work, dt):
    """Size of the work that pushes and what drives the joints do in the step, about, J."""
    bodies, springs, joints, total = work.bodies, work.springs, work.joints, 0.0
    for b in range(model.link_count):
        power = 0.0
        for a in range(6):
            power += 0.5 * data.external_force[b, a] * (bodies.velocity[b, a] + springs.velocity[b, a])
        total += abs(power)
    for k in range(model.dof_count):
        total += abs(joints.torque[k] * data.v[k])
    return dt * total


@jit
def kinetic_of(model, bodies, velocity):
    """Kinetic energy of the bodies at velocity (L + 1, 6), J."""
    energy = 0.0
    for b in range(model.link_count):
        u = velocity[b]
        x, y, z = times_inertia(bodies.inertia[b], u[3], u[4], u[5])
        energy += 0.5 * bodies.mass[b] * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
        energy += 0.5 * (u[3] * x + u[4] * y + u[5] * z)
    return energy
