"""Where the shapes are: world poses and bounding boxes."""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import (
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_FIELD,
    SHAPE_PLANE,
    SHAPE_SPHERE,
)
from sesshoku.spatial.algebra import cross


@jit
def place_shapes(model, data, contacts, margin, horizon):
    """Poses and bounding boxes of all shapes from the poses of their links.

    Each box is enlarged by margin / 2 and the shape's reach, so that boxes of shapes overlap that are within `margin`
    (m) of each other and what they travel in `horizon` seconds, or their lead if that is more. Shapes of the world are
    placed once, and again when the margin changes.
    """
    again = contacts.placed[0] != margin
    for g in range(model.shape_count):
        if model.shape_link[g] >= 0:
            pose_on_link(model, data, contacts, g)
            contacts.shape_reach[g] = horizon * reach_speed(model, data, contacts, g) if horizon > 0.0 else 0.0
        elif again:
            pose_in_world(model, contacts, g)
            contacts.shape_reach[g] = 0.0
        else:
            continue
        most = min(model.shape_box[g, 1, 0], model.shape_box[g, 1, 1], model.shape_box[g, 1, 2])
        # half the body: normals from farther mean little
        contacts.shape_reach[g] = max(min(contacts.shape_reach[g], most), contacts.shape_lead[g])
        bound_shape(model, contacts, g, 0.5 * margin + contacts.shape_reach[g])
    contacts.placed[0] = margin


@jit
def pose_on_link(model, data, contacts, g):
    """World pose of shape g on its moving link."""
    i = model.shape_link[g]
    R, r, o = data.rotation[i], data.offset[i], data.tree_origin[model.link_tree[i]]
    p, P = model.shape_position[g], model.shape_rotation[g]
    p_out, R_out = contacts.shape_position[g], contacts.shape_rotation[g]
    for k in range(3):
        a, b, c = R[k, 0], R[k, 1], R[k, 2]
        p_out[k] = o[k] + r[k] + a * p[0] + b * p[1] + c * p[2]
        R_out[k, 0] = a * P[0, 0] + b * P[1, 0] + c * P[2, 0]
        R_out[k, 1] = a * P[0, 1] + b * P[1, 1] + c * P[2, 1]
        R_out[k, 2] = a * P[0, 2] + b * P[1, 2] + c * P[2, 2]


@jit
def reach_speed(model, data, contacts, g):
    """No point of shape g is faster than this, m/s. Needs `link_velocities`."""
    i = model.shape_link[g]
    w, o, p = data.velocity[i], data.tree_origin[model.link_tree[i]], contacts.shape_position[g]
    center, edge = model.shape_box[g, 0], model.shape_box[g, 1]
    x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    x, y, z = x + w[0], y + w[1], z + w[2]
    far = 0.0
    for k in range(3):
        far += (abs(center[k]) + edge[k]) ** 2
    return sqrt(x * x + y * y + z * z) + sqrt(far * (w[3] * w[3] + w[4] * w[4] + w[5] * w[5]))


@jit
def pose_in_world(model, contacts, g):
    for k in range(3):
        contacts.shape_position[g, k] = model.shape_position[g, k]
        for n in range(3):
            contacts.shape_rotation[g, k, n] = model.shape_rotation[g, k, n]


@jit
def bound_shape(model, contacts, g, more):
    """Bounding box of shape g in world axes, enlarged by `more` (m) on every side.

    The tightest for all but polyhedra and height fields, whose box is that of the box around them in their own frame.
    """
    kind, size = model.shape_type[g], model.shape_size[g]
    p, R = contacts.shape_position[g], contacts.shape_rotation[g]
    low, high = contacts.shape_low[g], contacts.shape_high[g]
    center, edge = model.shape_box[g, 0], model.shape_box[g, 1]
    for k in range(3):
        a, b, c = R[k, 0], R[k, 1], R[k, 2]
        middle = p[k]
        if kind == SHAPE_SPHERE:
            half = size[0]
        elif kind == SHAPE_CAPSULE:
            half = size[0] + abs(c) * size[1]
        elif kind == SHAPE_CYLINDER:  # the end discs reach r sin(angle to the axis)
            half = abs(c) * size[1] + size[0] * sqrt(max(0.0, 1.0 - c * c))
        elif kind == SHAPE_ELLIPSOID:
            half = sqrt((a * size[0]) ** 2 + (b * size[1]) ** 2 + (c * size[2]) ** 2)
        elif kind == SHAPE_PLANE:
            half = inf
        else:
            half = abs(a) * edge[0] + abs(b) * edge[1] + abs(c) * edge[2]
            if kind == SHAPE_CONVEX or kind == SHAPE_FIELD:
                middle += a * center[0] + b * center[1] + c * center[2]
        low[k] = middle - half - more
        high[k] = middle + half + more
