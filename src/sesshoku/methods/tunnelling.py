"""Counting what moves so fast that contact misses it: shapes whose centre passes through another one within a step.

Contacts are found where shapes overlap at the start of a step. A shape that moves by more than its own half thickness
in a step may skip that: it is then looked at along its path, a straight line from its centre, relative to the other
shape's centre. It is counted once per step, if that line enters and leaves the box around a shape that it may touch (so
grazing a round shape's corner counts too), or ends below the surface of a plane it began above. The velocity is that
of the step's end for lone free bodies, of its start for links of mechanisms.
"""

from __future__ import annotations

from sesshoku.collision.filter import may_touch
from sesshoku.compiled.jit import jit
from sesshoku.methods.report import TUNNELLING
from sesshoku.scene.model import FREE, SHAPE_PLANE
from sesshoku.spatial.algebra import cross


@jit
def count_tunnelling(model, data, contacts, dt):
    """Write the number of shapes that pass through another one into the report."""
    count = 0
    for g in range(model.shape_count):
        if model.shape_link[g] < 0 or model.shape_type[g] == SHAPE_PLANE:
            continue
        x, y, z = shape_velocity(model, data, contacts, g)
        half = model.shape_box[g, 1]
        thin = min(half[0], half[1], half[2])
        if not (x * x + y * y + z * z) * dt * dt > thin * thin:
            continue
        for other in range(model.shape_count):
            if may_touch(model, g, other):
                u, v, w = shape_velocity(model, data, contacts, other)
                if passes_through(model, contacts, g, other, dt * (x - u), dt * (y - v), dt * (z - w)):
                    count += 1
                    break
    data.report[TUNNELLING] = count


@jit
def shape_velocity(model, data, contacts, g):
    """Velocity of shape g's origin, world axes."""
    i = model.shape_link[g]
    if i < 0:
        return 0.0, 0.0, 0.0
    t = model.link_tree[i]
    o, p = data.tree_origin[t], contacts.shape_position[g]
    w = data.velocity[i]
    if model.link_joint[i] == FREE and model.tree_link[t + 1] == model.tree_link[t] + 1:
        k = model.link_dof[i]
        w = data.new_v[k : k + 6]
    x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return w[0] + x, w[1] + y, w[2] + z


@jit
def passes_through(model, contacts, g, other, dx, dy, dz):
    """Whether the line from shape g's origin along d begins and ends outside the other shape's box and meets it."""
    p, o, R = contacts.shape_position[g], contacts.shape_position[other], contacts.shape_rotation[other]
    x, y, z = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    if model.shape_type[other] == SHAPE_PLANE:
        height, change = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z, R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz
        return height > 0.0 and height + change < 0.0
    center, half = model.shape_box[other, 0], model.shape_box[other, 1]
    enters, leaves = 0.0, 1.0
    inside_first = inside_last = True
    for a in range(3):
        s = R[0, a] * x + R[1, a] * y + R[2, a] * z - center[a]
        d = R[0, a] * dx + R[1, a] * dy + R[2, a] * dz
        inside_first = inside_first and abs(s) <= half[a]
        inside_last = inside_last and abs(s + d) <= half[a]
        if abs(d) > 1e-300:
            first, last = (-half[a] - s) / d, (half[a] - s) / d
            enters, leaves = max(enters, min(first, last)), min(leaves, max(first, last))
        elif abs(s) > half[a]:
            return False
    return enters < leaves and not inside_first and not inside_last
