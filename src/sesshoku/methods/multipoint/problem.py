"""Posing the problem of a step: the impact law (6)-(12) at every point, rows, and the wanted velocities."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.options import AHEAD, BOUNCE_SPEED, RATE, SLIP_SPEED, SLOP, STICK_ZERO
from sesshoku.solvers.problem import JOINT_ROWS
from sesshoku.stages.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.stages.joint_rows import joint_rows

NO_SLIP = 1e-12  # m/s: slower than this there is no direction of slip
NEVER = 1e30  # m/s: the free normal velocity of a point that is left alone


@jit
def pose_problem(model, data, contacts, problem, memory, norm, options, dt):
    """Axes, rows and targets of every contact; rows of the joints."""
    start_problem(model, data, problem)
    for c in range(contacts.counts[CONTACTS]):
        split_velocity(model, data, contacts, problem, memory, c)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        data.friction_slips[k] = abs(data.v[k]) > options[SLIP_SPEED]
    contact_rows(model, data, contacts, problem, data.new_v)
    joint_rows(model, data, problem, data.q, data.new_v, dt, False)
    for c in range(contacts.counts[CONTACTS]):
        choose_target(contacts, problem, memory, options, c, dt)
        x = problem.impulse[c]
        x[0] = x[1] = x[2] = 0.0
    for j in range(problem.counts[JOINT_ROWS]):
        problem.joint_impulse[j] = 0.0


@jit
def split_velocity(model, data, contacts, problem, memory, c):
    """The velocity before the step along (t1, t2, n), its slip speed (9) and slip direction (6) in the tangents."""
    axes, n, t, v, d = problem.axes[c], contacts.normal[c], contacts.tangent[c], problem.velocity[c], memory.against[c]
    for a in range(3):
        axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
    vx, vy, vz = contact_velocity(model, data, contacts, c)
    for e in range(3):
        v[e] = axes[e, 0] * vx + axes[e, 1] * vy + axes[e, 2] * vz
    speed = sqrt(v[0] * v[0] + v[1] * v[1])
    memory.speed[c] = speed
    d[0] = d[1] = 0.0
    if speed > NO_SLIP:
        d[0], d[1] = v[0] / speed, v[1] / speed


@jit
def choose_target(contacts, problem, memory, options, c, dt):
    """The velocity after the step, (11) and (12); the free normal velocity less the target is left in problem.free.

    Restitution acts on approaching points only. A gap that detection looked ahead at may close.
    """
    target, free, before, gap = memory.target[c], problem.free[c], problem.velocity[c], contacts.gap[c]
    target[0], target[1] = before[0], before[1]
    if options[STICK_ZERO] and memory.speed[c] <= options[SLIP_SPEED]:
        target[0] = target[1] = 0.0
    bounces = contacts.material[c, 2] > 0.0 and before[2] < -options[BOUNCE_SPEED]
    target[2] = -contacts.material[c, 2] * before[2] if bounces else 0.0
    problem.correction[c] = 0.0
    memory.away[c] = memory.jammed[c] = memory.slips[c] = memory.tried[c] = 0
    if gap > 0.0 and options[AHEAD] > 0.0:
        target[2] = -gap / dt
        if bounces:  # not there yet: let it arrive at full speed, and bounce off when it has
            memory.away[c], free[2] = 1, NEVER
            return
    else:
        problem.correction[c] = options[RATE] * max(-gap - options[SLOP], 0.0)
        target[2] += problem.correction[c]
    free[2] -= target[2]
