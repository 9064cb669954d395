"""Counting what moves so fast that contact misses it: shapes that pass through another one within a step.

Contacts are found where shapes are near each other at one instant of a step. A shape that moves by more than its own
half thickness in a step may skip that: its centre, and points along its longest axis as far apart as it is thin, are
then followed through the step, relative to the other shape's centre. It is counted once per step, if the path of one of
them begins and ends outside the box around a shape that it may touch and meets the box in between (so grazing a round
shape's corner counts too), or if its centre ends below the surface of a plane or of terrain that it began above. The
velocity is that of the step's end, which a link that is driven hard reaches within the step; the path is bent where the
shape turns.
"""

from __future__ import annotations

from math import ceil, inf, sqrt

from sesshoku.collision.filter import may_touch
from sesshoku.collision.points.fields import height_above
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.rnea import carried_velocities
from sesshoku.model.arrays import FREE, SHAPE_FIELD, SHAPE_PLANE
from sesshoku.spatial.algebra import cross
from sesshoku.stages.report import TUNNELLING

TURN, MOST_PIECES = 0.25, 64  # rad: a path is made of straight pieces in which the shape turns no more; so many at most
MOST_POINTS = 8  # on either side of the centre
CORE = 0.9  # share of a box that points off the centre have to meet: those of a face slide along other faces


@jit
def count_tunnelling(model, data, contacts, dt):
    """Write the number of shapes that pass through another one into the report. Overwrites data.force."""
    carried_velocities(model, data, data.new_v, data.force)
    count = 0
    for g in range(model.shape_count):
        i = model.shape_link[g]
        if i < 0 or model.shape_type[g] == SHAPE_PLANE:
            continue
        half, w = model.shape_box[g, 1], data.force[i]
        x, y, z = shape_velocity(model, data, contacts, g)
        spin = sqrt(w[3] * w[3] + w[4] * w[4] + w[5] * w[5])
        way = dt * (sqrt(x * x + y * y + z * z) + spin * max(half[0], half[1], half[2]))
        if not way > min(half[0], half[1], half[2]):
            continue
        for other in range(model.shape_count):
            if may_touch(model, g, other) and passes_through(model, data, contacts, g, other, way, dt):
                count += 1
                break
    data.report[TUNNELLING] = count


@jit
def shape_velocity(model, data, contacts, g):
    """Velocity of shape g's origin, world axes, from those of the links in data.force."""
    i = model.shape_link[g]
    if i < 0:
        return 0.0, 0.0, 0.0
    w, o, p = data.force[i], data.tree_origin[model.link_tree[i]], contacts.shape_position[g]
    x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return w[0] + x, w[1] + y, w[2] + z


@jit
def passes_through(model, data, contacts, g, other, way, dt):
    """Whether a point of shape g that is followed passes through the other shape. way: g moves no farther, m."""
    x, y, z = shape_velocity(model, data, contacts, g)
    u, v, w = shape_velocity(model, data, contacts, other)
    p, o, R = contacts.shape_position[g], contacts.shape_position[other], contacts.shape_rotation[other]
    dx, dy, dz = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    if model.shape_type[other] == SHAPE_PLANE:
        height = R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz
        return height > 0.0 and height + dt * (R[0, 2] * (x - u) + R[1, 2] * (y - v) + R[2, 2] * (z - w)) < 0.0
    if model.shape_type[other] == SHAPE_FIELD:
        above = height_above(model, contacts, other, p[0], p[1], p[2])
        if not 0.0 < above < inf:
            return False
        px, py, pz = p[0] + dt * (x - u), p[1] + dt * (y - v), p[2] + dt * (z - w)
        return height_above(model, contacts, other, px, py, pz) < 0.0
    far = way + dt * sqrt(u * u + v * v + w * w) + extent(model, g) + extent(model, other)
    if not dx * dx + dy * dy + dz * dz < far * far:
        return False
    center, half, own = model.shape_box[g, 0], model.shape_box[g, 1], contacts.shape_rotation[g]
    axis, thin = 0, min(half[0], half[1], half[2])
    for a in range(1, 3):
        if half[a] > half[axis]:
            axis = a
    points = 0  # on either side
    if half[axis] > 1.5 * thin:  # else the centre stands for the shape
        points = int(min((half[axis] - thin) / max(2.0 * thin, 1e-300) + 1.0, float(MOST_POINTS)))
    for n in range(-points, points + 1):
        s, core = half[axis] * n / max(points, 1), 1.0 if n == 0 else CORE
        rx, ry, rz = s * own[0, axis], s * own[1, axis], s * own[2, axis]
        for a in range(3):
            rx, ry, rz = rx + own[0, a] * center[a], ry + own[1, a] * center[a], rz + own[2, a] * center[a]
        if path_meets(model, data, contacts, g, other, dt, (rx, ry, rz), core):
            return True
    return False


@jit
def extent(model, g):
    """No point of shape g is farther from its origin, m."""
    c = model.shape_box[g, 0]
    return model.shape_radius[g] + sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])


@jit
def path_meets(model, data, contacts, g, other, dt, reach, core):
    """Whether the path of the point at r from shape g's origin begins and ends outside the other's box and meets it.

    The box around the other shape is made smaller by `core`. Free bodies turn about an origin that goes straight on,
    links of other trees about one that stands.
    """
    rx, ry, rz = reach
    i = model.shape_link[g]
    t, twist, p = model.link_tree[i], data.force[i], contacts.shape_position[g]
    wx, wy, wz, o = twist[3], twist[4], twist[5], data.tree_origin[t]
    pieces = int(max(1.0, min(ceil(dt * sqrt(wx * wx + wy * wy + wz * wz) / TURN), float(MOST_PIECES))))
    h, goes = dt / pieces, 1.0 if model.link_joint[model.tree_link[t]] == FREE else 0.0
    sx, sy, sz = goes * twist[0], goes * twist[1], goes * twist[2]
    ax, ay, az = p[0] + rx - o[0], p[1] + ry - o[1], p[2] + rz - o[2]
    q, (vx, vy, vz) = contacts.shape_position[other], shape_velocity(model, data, contacts, other)
    bx, by, bz = o[0] - q[0], o[1] - q[1], o[2] - q[2]
    if inside(model, contacts, other, ax + bx, ay + by, az + bz, core):
        return False
    meets = False
    for _ in range(pieces):
        ux, uy, uz = cross(wx, wy, wz, ax, ay, az)
        ux, uy, uz = ux + twist[0] - sx, uy + twist[1] - sy, uz + twist[2] - sz
        cx, cy, cz = cross(wx, wy, wz, ux, uy, uz)
        ux, uy, uz = h * (ux + 0.5 * h * cx), h * (uy + 0.5 * h * cy), h * (uz + 0.5 * h * cz)
        gx, gy, gz = h * (sx - vx), h * (sy - vy), h * (sz - vz)
        meets = meets or line_meets(model, contacts, other, (ax + bx, ay + by, az + bz), (ux + gx, uy + gy, uz + gz),
                                    core)
        ax, ay, az = ax + ux, ay + uy, az + uz
        bx, by, bz = bx + gx, by + gy, bz + gz
    return meets and not inside(model, contacts, other, ax + bx, ay + by, az + bz, core)


@jit
def inside(model, contacts, other, x, y, z, core):
    """Whether a point, from the other shape's origin, is in the box around it."""
    R, center, half = contacts.shape_rotation[other], model.shape_box[other, 0], model.shape_box[other, 1]
    within = True
    for a in range(3):
        within = within and abs(R[0, a] * x + R[1, a] * y + R[2, a] * z - center[a]) <= core * half[a]
    return within


@jit
def line_meets(model, contacts, other, at, direction, core):
    """Whether the line from a point along d meets that box."""
    x, y, z = at
    dx, dy, dz = direction
    R, center, half = contacts.shape_rotation[other], model.shape_box[other, 0], model.shape_box[other, 1]
    enters, leaves = 0.0, 1.0
    for a in range(3):
        s = R[0, a] * x + R[1, a] * y + R[2, a] * z - center[a]
        d = R[0, a] * dx + R[1, a] * dy + R[2, a] * dz
        if abs(d) > 1e-300:
            first, last = (-core * half[a] - s) / d, (core * half[a] - s) / d
            enters, leaves = max(enters, min(first, last)), min(leaves, max(first, last))
        elif abs(s) > core * half[a]:
            return False
    return enters < leaves
