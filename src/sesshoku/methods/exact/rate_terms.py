"""From the middle of the step to its ends: how velocities of points change because the bodies they lie on turn.

Rows are those of the middle, but the old velocity belongs to the step's start and the new one to its end. A point that
is fixed on a link has, half a step on, dt/2 J' v more, (E25): without it a box that a robot swings around would drift
outwards by dt/2 w^2 r per second in the robot's hand, and loops open at first order.

Not of round surfaces, whose point of contact moves on over them: a rolling ball needs nothing.
Impacts are left as they are: with rows of one place e = 1 keeps energy, and lone bodies land least deep. But a foot
that lands and stays on a leg that turns has to rest at the step's end: it would part at dt/2 J' v, and land again.
Scripted bodies: their own acceleration is in `kinematic_lead` already.
"""

from __future__ import annotations

from sesshoku.collision.contacts import SMOOTH
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import loop_error
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.model.arrays import KINEMATIC
from sesshoku.solvers.problem import ROLLING
from sesshoku.spatial.algebra import cross

TURNS = 0.1  # rad: of links that turn more in a step the first terms of the series are no help


@jit
def link_rates(model, data):
    """Spatial accelerations of the links at zero joint acceleration, gravity left out. Needs `link_velocities`."""
    acc, c = data.acceleration, data.velocity_product
    for i in range(model.link_count):
        parent = model.link_parent[i]
        for a in range(6):
            acc[i, a] = c[i, a] + (acc[parent, a] if parent >= 0 else 0.0)


@jit
def measure_rates(model, data, work, dt, c):
    """(E25): work.turn of contact c, dt/2 J' v along its axes. Needs `link_rates` of v.

    Of v, not of the predicted free velocity: contacts keep a body from turning that its torques would turn.
    """
    contacts, problem = work.contacts, work.problem
    a, b, turn = contacts.link[c, 0], contacts.link[c, 1], work.turn[c]
    turn[0] = turn[1] = turn[2] = 0.0
    if contacts.kind[c] == SMOOTH or turns_far(data, a, dt) or turns_far(data, b, dt):
        return
    x = y = z = 0.0
    if a >= 0:
        ax, ay, az = point_rate(model, data, a, contacts.point[c])
        x, y, z = -ax, -ay, -az
    if b >= 0:
        bx, by, bz = point_rate(model, data, b, contacts.point[c])
        x, y, z = x + bx, y + by, z + bz
    for d in range(3):
        axis = problem.axes[c, d]
        turn[d] = 0.5 * dt * (axis[0] * x + axis[1] * y + axis[2] * z)


@jit
def turn_contact(work, c):
    """(E25): velocity of contact c at the step's start, and the free one at its end."""
    problem = work.problem
    for d in range(3):
        problem.velocity[c, d] -= work.turn[c, d]
        problem.free[c, d] += work.turn[c, d]
    work.free_normal[c] += work.turn[c, 2]


@jit
def turn_blocks(model, data, contacts, problem, dt):
    """(E25) for rolling blocks: their angular velocities at the step's end, scripts included. Needs `link_rates`."""
    for n in range(problem.counts[ROLLING]):
        p = problem.rolling[n]
        c = p - problem.contact_capacity
        x = y = z = 0.0
        for side in range(2):
            link, sign = contacts.link[c, side], 1.0 if side else -1.0
            if link < 0:
                continue
            root = model.tree_link[model.link_tree[link]]
            if model.link_joint[root] == KINEMATIC:
                lead = data.kinematic_lead[root]
                x, y, z = x + sign * lead[3], y + sign * lead[4], z + sign * lead[5]
            if not (turns_far(data, contacts.link[c, 0], dt) or turns_far(data, contacts.link[c, 1], dt)):
                sx, sy, sz = spin_rate(model, data, link)
                x, y, z = x + 0.5 * sign * dt * sx, y + 0.5 * sign * dt * sy, z + 0.5 * sign * dt * sz
        for d in range(3):
            axis = problem.axes[c, d]
            problem.free[p, d] += axis[0] * x + axis[1] * y + axis[2] * z


@jit
def turn_loops(model, data, dt):
    """(E25) for the rows of loops, which are the velocity of anchor a relative to b along the axes of a's frame.

    Leaves it in data.loop_turn, and the links at the velocities of the middle, where the equation of motion holds.
    """
    if model.loop_count == 0:
        return
    link_velocities(model, data, data.v)
    link_rates(model, data)
    for n in range(model.loop_count):
        turn, frame = data.loop_turn[n], data.loop_frame[n, 0]
        loop_error(model, data, n, data.loop_point[n], data.loop_frame[n], data.loop_error[n])
        far = turns_far(data, model.loop_link[n, 0], dt) or turns_far(data, model.loop_link[n, 1], dt)
        for d in range(6):
            turn[d], e = 0.0, d % 3
            if not far:
                x, y, z = loop_rate(model, data, n, d < 3)
                turn[d] = 0.5 * dt * (frame[0, e] * x + frame[1, e] * y + frame[2, e] * z)
    link_velocities(model, data, data.stage_v)


@jit
def loop_rate(model, data, n, slide):
    """Acceleration of anchor a relative to b at zero joint acceleration, or of their turning; world axes."""
    x = y = z = 0.0
    a = model.loop_link[n, 0]
    for side in range(2):
        link, sign = model.loop_link[n, side], 1.0 if side == 0 else -1.0
        if link < 0:
            continue
        if slide:
            rx, ry, rz = point_rate(model, data, link, data.loop_point[n, side])
        else:
            rx, ry, rz = spin_rate(model, data, link)
            if a >= 0:  # the axis turns along with a
                w, s = data.velocity[link], data.velocity[a]
                tx, ty, tz = cross(w[3], w[4], w[5], s[3], s[4], s[5])
                rx, ry, rz = rx + tx, ry + ty, rz + tz
        x, y, z = x + sign * rx, y + sign * ry, z + sign * rz
    return x, y, z


@jit
def turns_far(data, link, dt):
    """Whether a link (-1: the world) turns by more than TURNS in a step."""
    if link < 0:
        return False
    w = data.velocity[link]
    return not (w[3] * w[3] + w[4] * w[4] + w[5] * w[5]) * dt * dt < TURNS * TURNS


@jit
def point_rate(model, data, link, p):
    """Acceleration of the link's point at p (world) at zero joint acceleration, its script's own left out."""
    t = model.link_tree[link]
    o, a, w = data.tree_origin[t], data.acceleration[link], data.velocity[link]
    rx, ry, rz = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    sx, sy, sz = spin_rate(model, data, link)
    tx, ty, tz = cross(sx, sy, sz, rx, ry, rz)
    ux, uy, uz = cross(w[3], w[4], w[5], rx, ry, rz)
    cx, cy, cz = cross(w[3], w[4], w[5], w[0] + ux, w[1] + uy, w[2] + uz)
    x, y, z = a[0] + tx + cx, a[1] + ty + cy, a[2] + tz + cz
    root = model.tree_link[t]
    if model.link_joint[root] == KINEMATIC:
        given = data.kinematic_acceleration[root]
        x, y, z = x - given[0], y - given[1], z - given[2]
    return x, y, z


@jit
def spin_rate(model, data, link):
    """Angular acceleration of a link at zero joint acceleration, its script's own left out."""
    a, root = data.acceleration[link], model.tree_link[model.link_tree[link]]
    if model.link_joint[root] == KINEMATIC:
        given = data.kinematic_acceleration[root]
        return a[3] - given[3], a[4] - given[4], a[5] - given[5]
    return a[3], a[4], a[5]
