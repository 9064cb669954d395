"""Posing the problem of a step: axes, rows, wanted velocities, and the start of the solve."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.methods.exact.options import BOUNCE_SPEED, CORRECTION, MIDPOINT, SLOP
from sesshoku.methods.joint_rows import joint_rows

NOT_YET = 1e30  # free velocity of a contact that is to bounce but has not arrived


@jit
def frame_contacts(model, data, contacts, problem):
    """Axes (t1, t2, n) of every contact, and its velocity along them. Needs `link_velocities` of v."""
    for c in range(contacts.counts[CONTACTS]):
        axes, n, t = problem.axes[c], contacts.normal[c], contacts.tangent[c]
        vx, vy, vz = contact_velocity(model, data, contacts, c)
        for a in range(3):
            axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
        for d in range(3):
            problem.velocity[c, d] = axes[d, 0] * vx + axes[d, 1] * vy + axes[d, 2] * vz


@jit
def pose_problem(model, data, contacts, problem, memory, q, options, dt):
    """Rows, wanted velocities and start of every contact and joint row; q: where the contacts were found."""
    start_problem(model, data, problem)
    contact_rows(model, data, contacts, problem, data.new_v)
    joint_rows(model, data, problem, q, data.new_v, dt)
    for c in range(contacts.counts[CONTACTS]):
        impact = memory.impact[c]
        impact[0] = impact[1] = impact[2] = problem.correction[c] = 0.0
        if options[MIDPOINT]:
            want_velocity(contacts, problem, memory, options, c, dt)
        else:
            want_velocity_at_end(contacts, problem, options, c, dt)
        start_contact(contacts, problem, memory, c)


@jit
def want_velocity(contacts, problem, memory, options, c, dt):
    """Subtract the wanted normal velocity from the free one, for contacts found in the middle of the step.

    A contact that was not loaded and closes within the step is an impact at its own instant: the target is what remains
    at the step's end of a ballistic rebound. Others may close their gap, or undo part of an overlap.
    """
    free, gap, before = problem.free[c], contacts.gap[c], problem.velocity[c, 2]
    old, after = contacts.previous[c], problem.free[c, 2]
    rate = (after - before) / dt
    fresh = old < 0 or (memory.old_impulse[old, 0] == 0.0 and memory.old_impulse[old, 1] == 0.0
                        and memory.old_impulse[old, 2] == 0.0)  # fmt: skip
    closes = gap + 0.5 * dt * before + 0.5 * dt * dt * rate < 0.0 and before + min(rate, 0.0) * dt < 0.0
    if fresh and closes:
        t = closing_time(gap - 0.5 * dt * before, before, rate, dt)
        speed = before + rate * t
        bounce = contacts.material[c, 2] if speed < -options[BOUNCE_SPEED] else 0.0
        rebound = -bounce * speed + rate * (dt - t)
        target = max(0.0, rebound)
        free[2] -= target
        impact = memory.impact[c]
        impact[0], impact[1], impact[2] = t, max(0.0, -(1.0 + bounce) * speed), target - rebound
    elif gap > 0.0:
        free[2] += gap / (0.5 * dt)
    else:
        problem.correction[c] = options[CORRECTION] * max(-gap - options[SLOP], 0.0) / dt
        free[2] -= problem.correction[c]


@jit
def closing_time(gap, speed, rate, dt):
    """First t in [0, dt] with gap + speed t + rate t^2/2 = 0; 0 where it is closed already."""
    if gap <= 0.0:
        return 0.0
    square = speed * speed - 2.0 * rate * gap
    if square < 0.0:
        return dt
    return min(dt, 2.0 * gap / max(sqrt(square) - speed, 1e-300))


@jit
def want_velocity_at_end(contacts, problem, options, c, dt):
    """The same for contacts found at the start of a semi-implicit step, where the new velocity moves all of it."""
    free, gap, before = problem.free[c], contacts.gap[c], problem.velocity[c, 2]
    bounce = contacts.material[c, 2]
    if before < -options[BOUNCE_SPEED] and bounce > 0.0:
        free[2] = NOT_YET if gap > 0.0 else free[2] + bounce * before
    elif gap > 0.0:
        free[2] += gap / dt
    else:
        problem.correction[c] = options[CORRECTION] * max(-gap - options[SLOP], 0.0) / dt
        free[2] -= problem.correction[c]


@jit
def start_contact(contacts, problem, memory, c):
    """Begin with the last step's impulse of the same contact, and in its state; new contacts at zero, at rest."""
    x, old = problem.impulse[c], contacts.previous[c]
    x[0] = x[1] = x[2] = 0.0
    memory.slips[c] = memory.locked[c] = 0
    if old >= 0:
        f = memory.old_impulse[old]
        for d in range(3):
            axis = problem.axes[c, d]
            x[d] = axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2]
        memory.slips[c] = memory.old_slips[old]
    memory.mu[c] = contacts.material[c, memory.slips[c]]
