"""Building the problem of a step: axes and friction law of each contact, rows, targets, start."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from sesshoku.collision.contacts import CONTACTS, OLD_CONTACTS, VERTEX
from sesshoku.compiled.jit import jit
from sesshoku.methods.lcp.options import (
    CONE,
    INSCRIBED,
    KINETIC_CONE,
    RANDOM_AXES,
)
from sesshoku.solvers.pgs import DISC, SLIDE, SQUARE
from sesshoku.solvers.problem import JOINT_ROWS
from sesshoku.spatial.algebra import cross
from sesshoku.stages.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.stages.joint_rows import joint_rows


@jit
def build_problem(model, data, work, dt):
    """Axes, friction laws, rows, targets and start of every contact and joint row."""
    contacts, problem, options = work.contacts, work.problem, work.options
    start_problem(model, data, problem)
    for c in range(contacts.counts[OLD_CONTACTS]):
        for a in range(3):
            work.old_slip[c, a] = work.slip[c, a]
    for c in range(contacts.counts[CONTACTS]):
        choose_axes(model, data, work, c)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        turned = options.hold_reversals != 0 and data.v[k] * work.old_v[k] < 0.0
        data.friction_slips[k] = abs(data.v[k]) > options.static_friction_speed and not turned
        work.old_v[k] = data.v[k]
    contact_rows(model, data, work, data.new_v)
    joint_rows(model, data, problem, data.q, data.new_v, dt, True)
    for c in range(contacts.counts[CONTACTS]):
        choose_targets(model, data, work, dt, c)
        start_impulse(work, c)
    if not options.warm_start:
        for j in range(problem.counts[JOINT_ROWS]):
            problem.joint_impulse[j] = 0.0


@jit
def choose_axes(model, data, work, c):
    """Friction law and axes (t1, t2, n) of a contact: against the slip where it slides, two axes where it rests."""
    contacts, problem, options = work.contacts, work.problem, work.options
    axes, n, t = problem.axes[c], contacts.normal[c], contacts.tangent[c]
    for a in range(3):
        axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
    vx, vy, vz = contact_velocity(model, data, contacts, c)
    vn = vx * n[0] + vy * n[1] + vz * n[2]
    sx, sy, sz = vx - vn * n[0], vy - vn * n[1], vz - vn * n[2]
    speed = sqrt(sx * sx + sy * sy + sz * sz)
    turned, old, slip = False, contacts.previous[c], work.slip[c]
    if options.hold_reversals and old >= 0:  # turned back since the last step: would static friction have held it?
        before = work.old_slip[old]
        turned = sx * before[0] + sy * before[1] + sz * before[2] < 0.0
    slip[0], slip[1], slip[2] = sx, sy, sz
    if speed > options.static_friction_speed and not turned:
        work.mu[c] = contacts.material[c, 1]
        work.law[c] = DISC if options.kinetic == KINETIC_CONE else SLIDE
        if options.kinetic != KINETIC_CONE:
            # (6): f_T acts, and a_T is read, along axis 0
            axes[0, 0], axes[0, 1], axes[0, 2] = -sx / speed, -sy / speed, -sz / speed
            axes[1, 0], axes[1, 1], axes[1, 2] = cross(n[0], n[1], n[2], axes[0, 0], axes[0, 1], axes[0, 2])
        along_axes(problem, c, vx, vy, vz)
        return
    work.mu[c] = contacts.material[c, 0] / (sqrt(2.0) if options.static_pyramid == INSCRIBED else 1.0)
    if options.static_friction_speed == 0.0:
        work.mu[c] = contacts.material[c, 1]
    work.law[c] = DISC if options.static_pyramid == CONE else SQUARE
    if options.tangent_axes == RANDOM_AXES:
        angle = 2.0 * pi * random_unit(options.seed, contacts.id[c])
        co, si = cos(angle), sin(angle)
        for a in range(3):
            axes[0, a], axes[1, a] = co * t[0, a] + si * t[1, a], co * t[1, a] - si * t[0, a]
    along_axes(problem, c, vx, vy, vz)


@jit
def along_axes(problem, c, vx, vy, vz):
    """The velocity before the step, along the axes of contact c."""
    for d in range(3):
        axis = problem.axes[c, d]
        problem.velocity[c, d] = axis[0] * vx + axis[1] * vy + axis[2] * vz


@jit
def random_unit(seed, number):
    """A number in [0, 1) drawn from (seed, number), the same in every run.

    Multiplications and shifts within 31 bits.
    """
    x = (number * 747796405 + seed * 1013904223 + 12345) & 0x7FFFFFFF
    x ^= x >> 13
    x = (x * 1274126177) & 0x7FFFFFFF
    x ^= x >> 16
    x = (x * 1103515245) & 0x7FFFFFFF
    x ^= x >> 13
    return x / 0x80000000


@jit
def choose_targets(model, data, work, dt, c):
    """(2), (11): b dt = (a^0 - a^d) dt, the free velocity less the wanted one (b = a^0 + a^d in print).

    Rebound, depth correction, the gap that may close; add dt J' v. free holds v + dt a^0 at first, and a^d = -v / dt.
    """
    contacts, problem, options = work.contacts, work.problem, work.options
    free, gap, before = problem.free[c], contacts.gap[c], problem.velocity[c, 2]
    bounce = contacts.material[c, 2]
    problem.correction[c] = 0.0
    if options.centripetal and contacts.kind[c] == VERTEX:
        ax, ay, az = bias_acceleration(model, data, contacts, c)
        for d in range(3):
            axis = problem.axes[c, d]
            free[d] += dt * (axis[0] * ax + axis[1] * ay + axis[2] * az)
    if before < -options.restitution_speed and bounce > 0.0:
        if gap > 0.0:
            free[2] = 1e30  # not there yet: let it arrive at full speed, and bounce off when it has
        else:
            free[2] += bounce * before  # (2) with a_N^d = -(1 + e) v_N / dt
        return
    if gap > 0.0:
        free[2] += gap / dt
    else:
        problem.correction[c] = options.penetration_rate * max(-gap - options.slop, 0.0)
        free[2] -= problem.correction[c]


@jit
def bias_acceleration(model, data, contacts, c):
    """J' v of contact c, world axes: acceleration of b's point relative to a's at zero joint acceleration."""
    x = y = z = 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            o, p = data.tree_origin[model.link_tree[link]], contacts.point[c]
            rx, ry, rz = p[0] - o[0], p[1] - o[1], p[2] - o[2]
            a, w, g = data.acceleration[link], data.velocity[link], model.gravity
            tx, ty, tz = cross(a[3], a[4], a[5], rx, ry, rz)
            ux, uy, uz = cross(w[3], w[4], w[5], rx, ry, rz)
            cx, cy, cz = cross(w[3], w[4], w[5], w[0] + ux, w[1] + uy, w[2] + uz)
            sign = 1.0 if side else -1.0
            x += sign * (a[0] + g[0] + tx + cx)
            y += sign * (a[1] + g[1] + ty + cy)
            z += sign * (a[2] + g[2] + tz + cz)
    return x, y, z


@jit
def start_impulse(work, c):
    """Zero, or the last step's impulse of the same contact along the new axes, where the law allows it."""
    contacts, problem, options = work.contacts, work.problem, work.options
    x, old = problem.impulse[c], contacts.previous[c]
    x[0] = x[1] = x[2] = 0.0
    if options.warm_start and old >= 0:
        f = work.old_impulse[old]
        for d in range(3):
            axis = problem.axes[c, d]
            x[d] = axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2]
        x[2] = max(x[2], 0.0)
        bound = work.mu[c] * x[2]
        if work.law[c] == SLIDE:
            x[0], x[1] = min(max(x[0], 0.0), bound), 0.0
        else:
            size = sqrt(x[0] * x[0] + x[1] * x[1])
            if size > bound:
                x[0], x[1] = x[0] * bound / size, x[1] * bound / size
