"""Building the problem of a step: the impact law, eqs. (6)-(12), at every point, rows, and the wanted velocities."""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.options import STICK_ZERO
from sesshoku.solvers.problem import JOINT_ROWS
from sesshoku.stages.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.stages.joint_rows import joint_rows

NO_SLIP = 1e-12  # m/s: slower than this there is no direction of slip
NEVER = 1e30  # m/s: the free normal velocity of a point that is left alone


@jit
def build_problem(model, data, work, dt):
    """Axes, rows and targets of every contact; rows of the joints."""
    contacts, problem = work.contacts, work.problem
    start_problem(model, data, problem)
    for c in range(contacts.counts[CONTACTS]):
        split_velocity(model, data, work, c)
    for n in range(len(model.rubbing_dofs)):
        data.friction_slips[model.rubbing_dofs[n]] = 0  # rows bounded by static friction; the solve lets them slip
    contact_rows(model, data, work, data.new_v)
    joint_rows(model, data, problem, data.q, data.new_v, dt, False)
    for c in range(contacts.counts[CONTACTS]):
        choose_target(model, work, dt, c)
        x = problem.impulse[c]
        x[0] = x[1] = x[2] = 0.0
    for j in range(problem.counts[JOINT_ROWS]):
        problem.joint_impulse[j] = 0.0


@jit
def split_velocity(model, data, work, c):
    """The velocity before the step along (t1, t2, n), its slip speed, and its slip direction in the tangents."""
    contacts, problem = work.contacts, work.problem
    axes, n, t, v, d = problem.axes[c], contacts.normal[c], contacts.tangent[c], problem.velocity[c], work.against[c]
    for a in range(3):
        axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
    vx, vy, vz = contact_velocity(model, data, contacts, c)
    for e in range(3):
        v[e] = axes[e, 0] * vx + axes[e, 1] * vy + axes[e, 2] * vz  # (7), (8): v_nu is v[2]
    speed = sqrt(v[0] * v[0] + v[1] * v[1])  # (9): v_sigma
    work.speed[c] = speed
    d[0] = d[1] = 0.0
    if speed > NO_SLIP:  # (6): sigma is d; its two cases are swapped in print
        d[0], d[1] = v[0] / speed, v[1] / speed


@jit
def first_threshold(model, work, dt, c):
    """The given slip threshold; else that of a block on the floor, until loads are known (`thresholds`)."""
    given, g = work.options.slip_threshold, model.gravity
    if given < inf:
        return given
    return max(0.5 * work.contacts.material[c, 1] * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * dt, NO_SLIP)


@jit
def choose_target(model, work, dt, c):
    """The velocity after the step, eqs. (10)-(12); the free normal velocity less the target is left in problem.free.

    Restitution acts on approaching points only. A gap that detection looked ahead at may close.
    """
    contacts, problem, options = work.contacts, work.problem, work.options
    target, free, before, gap = work.target[c], problem.free[c], problem.velocity[c], contacts.gap[c]
    target[0], target[1] = before[0], before[1]  # (12)
    work.threshold[c] = first_threshold(model, work, dt, c)
    if options.stick_target == STICK_ZERO and work.speed[c] <= work.threshold[c]:  # static friction: it is held
        target[0] = target[1] = 0.0
    bounces = contacts.material[c, 2] > 0.0 and before[2] < -options.restitution_speed
    # (11), of what approaches alone; for all in print
    target[2] = -contacts.material[c, 2] * before[2] if bounces else 0.0
    problem.correction[c] = 0.0
    work.away[c] = work.jammed[c] = work.slips[c] = work.tried[c] = 0
    if gap > 0.0 and options.speculative > 0.0:
        target[2] = -gap / dt
        if bounces:  # not there yet: let it arrive at full speed, and bounce off when it has
            work.away[c], free[2] = 1, NEVER
            return
    elif not bounces:  # a rebound parts them anyway
        problem.correction[c] = options.penetration_rate * max(-gap - options.slop, 0.0)
        target[2] += problem.correction[c]
    free[2] -= target[2]
