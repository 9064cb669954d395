"""Where shapes of lone bodies are at an instant of the step, and how they touch there: the narrow phase, asked again.

A body moves freely until its impact, but for what carries it until then (`until`); spins go by `rotor`, which keeps
energy and angular momentum.
"""

from __future__ import annotations

from sesshoku.collision.contacts import OVERFLOW
from sesshoku.collision.points.bundles import load_bundle
from sesshoku.collision.points.fields import collide_field
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.compiled.jit import jit
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.exact.momenta.spin import turn, turn_back, turn_from_middle
from sesshoku.methods.exact.work import NEVER
from sesshoku.model.arrays import SHAPE_FIELD
from sesshoku.spatial.algebra import cross, quaternion_times, turn_quaternion


@jit
def from_middle_to(model, data, work, dt, link, t):
    """Where the tree's origin is after t seconds, and the turn (quaternion) from the middle to there.

    Free motion, but for what carries the body until its impact (work.support).
    """
    if link < 0:
        return (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    tree = model.link_tree[link]
    o, h = data.tree_origin[tree], t - 0.5 * dt
    if work.tree_lone[tree] == 0:
        w = data.velocity[link]
        return ((o[0] + h * w[0], o[1] + h * w[1], o[2] + h * w[2]),
                turn_quaternion(h * w[3], h * w[4], h * w[5]))
    k, v, new_v, fall, held = model.link_dof[link], data.v, data.new_v, 0.5 * t * t / dt, work.support
    x = o[0] + h * v[k] + fall * (new_v[k] - v[k] + held[k])
    y = o[1] + h * v[k + 1] + fall * (new_v[k + 1] - v[k + 1] + held[k + 1])
    z = o[2] + h * v[k + 2] + fall * (new_v[k + 2] - v[k + 2] + held[k + 2])
    _, _, _, dw, dx, dy, dz = rotor(data.inertia[link], v[k + 3], v[k + 4], v[k + 5], t)
    E, g = turn_from_middle(model, data, tree, dt, (dw, dx, dy, dz)), work.gyration
    wx, wy, wz = (new_v[k + 3] - v[k + 3] - g[k + 3] + held[k + 3], new_v[k + 4] - v[k + 4] - g[k + 4] + held[k + 4],
                  new_v[k + 5] - v[k + 5] - g[k + 5] + held[k + 5])
    dw, dx, dy, dz = turn_quaternion(fall * wx, fall * wy, fall * wz)
    return (x, y, z), quaternion_times(dw, dx, dy, dz, E[0], E[1], E[2], E[3])


@jit
def speed_at(model, data, work, dt, link, t, p):
    """Velocity of a link's point p (world, at instant t), in free motion."""
    if link < 0:
        return 0.0, 0.0, 0.0
    tree = model.link_tree[link]
    o, _ = from_middle_to(model, data, work, dt, link, t)
    if work.tree_lone[tree] == 0:
        w = data.velocity[link]
        x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        return x + w[0], y + w[1], z + w[2]
    k, v, new_v, s, held = model.link_dof[link], data.v, data.new_v, t / dt, work.support
    wx, wy, wz = (v[k + 3] + s * (new_v[k + 3] - v[k + 3] + held[k + 3]),
                  v[k + 4] + s * (new_v[k + 4] - v[k + 4] + held[k + 4]),
                  v[k + 5] + s * (new_v[k + 5] - v[k + 5] + held[k + 5]))
    x, y, z = cross(wx, wy, wz, p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return (x + v[k] + s * (new_v[k] - v[k] + held[k]), y + v[k + 1] + s * (new_v[k + 1] - v[k + 1] + held[k + 1]),
            z + v[k + 2] + s * (new_v[k + 2] - v[k + 2] + held[k + 2]))


@jit
def carried_point(model, data, work, dt, c, t):
    """The point of contact c, found in the middle, at instant t: midway between where both bodies bring it."""
    contacts = work.contacts
    p, x, y, z = contacts.point[c], 0.0, 0.0, 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link < 0:
            x, y, z = x + 0.5 * p[0], y + 0.5 * p[1], z + 0.5 * p[2]
            continue
        o = data.tree_origin[model.link_tree[link]]
        at, E = from_middle_to(model, data, work, dt, link, t)
        rx, ry, rz = turn(E, p[0] - o[0], p[1] - o[1], p[2] - o[2])
        x, y, z = x + 0.5 * (at[0] + rx), y + 0.5 * (at[1] + ry), z + 0.5 * (at[2] + rz)
    return x, y, z


@jit
def touch(model, data, work, dt, c, t):
    """Narrow phase of the shapes of contact c at instant t: whether there is a point, and its gap.

    work.touch: that point, the one nearest to the contact's, and the normal. Shapes are put back.
    """
    contacts = work.contacts
    a, b, left_out = contacts.shape[c, 0], contacts.shape[c, 1], contacts.counts[OVERFLOW]
    margin = work.options.margin + contacts.shape_reach[a] + contacts.shape_reach[b]
    for side in range(2):
        move_shape(model, data, work, dt, c, side, t)
    best, gap = NEVER, 0.0
    if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
        first = model.shape_type[a] == SHAPE_FIELD
        field, other = (a, b) if first else (b, a)
        for k in range(collide_field(model, contacts, field, other, margin)):
            count = load_bundle(contacts, k, 1.0 if first else -1.0)
            best, gap = nearest_point(model, data, work, dt, c, t, count, best, gap)
    else:
        count = collide_shapes(model, contacts, a, b, margin)
        best, gap = nearest_point(model, data, work, dt, c, t, count, best, gap)
    for side in range(2):
        g, kept = contacts.shape[c, side], work.kept_pose[side]
        for d in range(3):
            contacts.shape_position[g, d] = kept[d, 3]
            for e in range(3):
                contacts.shape_rotation[g, d, e] = kept[d, e]
    contacts.counts[OVERFLOW] = left_out
    return best < NEVER, gap


@jit
def move_shape(model, data, work, dt, c, side, t):
    """Put a shape of contact c where free motion brings it at instant t; kept_pose keeps where it was."""
    contacts = work.contacts
    g, link, kept = contacts.shape[c, side], contacts.link[c, side], work.kept_pose[side]
    p, R = contacts.shape_position[g], contacts.shape_rotation[g]
    for d in range(3):
        kept[d, 3] = p[d]
        for e in range(3):
            kept[d, e] = R[d, e]
    if link < 0:
        return
    o = data.tree_origin[model.link_tree[link]]
    at, E = from_middle_to(model, data, work, dt, link, t)
    x, y, z = turn(E, p[0] - o[0], p[1] - o[1], p[2] - o[2])
    p[0], p[1], p[2] = at[0] + x, at[1] + y, at[2] + z
    for e in range(3):
        R[0, e], R[1, e], R[2, e] = turn(E, kept[0, e], kept[1, e], kept[2, e])


@jit
def nearest_point(model, data, work, dt, c, t, count, best, gap):
    """The manifold's point that moved least on either body since the middle, into work.touch if nearer than `best`.

    Returns the distance and the gap.
    """
    contacts = work.contacts
    n, here = contacts.manifold_normal, contacts.point[c]
    for k in range(count):
        p, least = contacts.manifold_point[k], NEVER
        for side in range(2):
            x, y, z = p[0], p[1], p[2]
            link = contacts.link[c, side]
            if link >= 0:
                o = data.tree_origin[model.link_tree[link]]
                at, E = from_middle_to(model, data, work, dt, link, t)
                x, y, z = turn_back(E, x - at[0], y - at[1], z - at[2])
                x, y, z = x + o[0], y + o[1], z + o[2]
            least = min(least, (x - here[0]) ** 2 + (y - here[1]) ** 2 + (z - here[2]) ** 2)
        if least < best:
            best, gap = least, contacts.manifold_gap[k]
            for d in range(3):
                work.touch[0, d], work.touch[1, d] = p[d], n[d]
    return best, gap


@jit
def closing_speed(model, data, work, dt, c, t, p, n):
    """Rate of the gap of contact c at instant t, at point p and with normal n, m/s."""
    speed = 0.0
    for side in range(2):
        x, y, z = speed_at(model, data, work, dt, work.contacts.link[c, side], t, (p[0], p[1], p[2]))
        sign = 1.0 if side else -1.0
        speed += sign * (n[0] * x + n[1] * y + n[2] * z)
    return speed
