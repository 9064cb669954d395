"""Seams: where shapes of one body lie flush or overlap, no contact is of a face that another one covers.

What slides over boxes side by side, or over the convex pieces of a mesh, lies a hair below their faces or above them,
and the next box's side, or its edge, would stop it. A contact of shape s at point p with the normal n out of it belongs
to the body's surface only if the body lies behind n's plane there:

    u covers p:     p is in or on another shape u of the body, and u reaches further along n than s itself

Further than s: a face that lies askew has points behind its foremost one, and of shapes that share a corner, or are the
same twice, one keeps it. A contact is left out if p is covered and so is all of s that touches the plane beside it.
Beside it: the foot of a wall is covered by the floor, and the wall above it is not. Steps lower than ASIDE are seams.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.filter import may_touch
from sesshoku.collision.points.manifold import contact_frame
from sesshoku.collision.support import support
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_BOX, SHAPE_PLANE
from sesshoku.spatial.algebra import turned_back

ON = 2e-5  # m: a point is on a shape; bodies rest up to 1e-5 m deep
AWAY = 1e-3  # m: so far from the box around a shape nothing is within ON of all its faces' planes
ASIDE = 1e-4  # m: how far beside the point is looked
FLAT = 1e-11  # m: over ASIDE the shape stays at the plane
LEANS = 1e-7  # of a shape's size: it stands before a plane
DIAGONAL = sqrt(0.5)
AROUND = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (DIAGONAL, DIAGONAL), (-DIAGONAL, DIAGONAL),
          (DIAGONAL, -DIAGONAL), (-DIAGONAL, -DIAGONAL))


@jit
def leave_out_covered(model, contacts, a, b, found):
    """Leave points of the manifold of shapes a and b that other shapes of their bodies cover out; how many stay."""
    for side in range(2):
        shape, other, sign = (a, b, 1.0) if side == 0 else (b, a, -1.0)
        if model.beside_start[shape] == model.beside_start[shape + 1]:
            continue
        points, gaps, kinds, n = (contacts.manifold_point, contacts.manifold_gap, contacts.manifold_kind,
                                  contacts.manifold_normal)
        contact_frame(contacts.frame, sign * n[0], sign * n[1], sign * n[2])
        stay = 0
        for k in range(found):
            h, p = 0.5 * sign * gaps[k], points[k]
            if is_covered(model, contacts, shape, other, (p[0] - h * n[0], p[1] - h * n[1], p[2] - h * n[2])):
                continue
            for e in range(3):
                points[stay, e] = points[k, e]
            gaps[stay], kinds[stay] = gaps[k], kinds[k]
            stay += 1
        found = stay
    return found


@jit
def is_covered(model, contacts, shape, other, p):
    """Whether other shapes of its body cover the point p of a shape, along the normal in contacts.frame, and around."""
    if not has_cover(model, contacts, shape, other, p):
        return False
    u, w, own = contacts.frame[0], contacts.frame[1], depth_of(model, contacts, shape, p)
    for x, y in AROUND:
        x, y = ASIDE * x, ASIDE * y
        beside = (p[0] + x * u[0] + y * w[0], p[1] + x * u[1] + y * w[1], p[2] + x * u[2] + y * w[2])
        stays = depth_of(model, contacts, shape, beside) - own <= FLAT
        if stays and not has_cover(model, contacts, shape, other, beside):
            return False
    return True


@jit
def has_cover(model, contacts, shape, other, p):
    """Whether a shape beside this one, which `other` may touch as well, holds p and reaches further than it."""
    for m in range(model.beside_start[shape], model.beside_start[shape + 1]):
        u = model.beside[m]
        if holds(model, contacts, u, p) and reaches_further(model, contacts, u, shape):
            if may_touch(model, u, other):
                return True
    return False


@jit
def holds(model, contacts, shape, p):
    """Whether `depth_of` is at most ON. A mesh has a thousand faces: the box around it and the first face decide."""
    if model.shape_type[shape] == SHAPE_BOX or model.shape_type[shape] == SHAPE_PLANE:
        return depth_of(model, contacts, shape, p) <= ON
    R, at = contacts.shape_rotation[shape], contacts.shape_position[shape]
    x, y, z = turned_back(R, p[0] - at[0], p[1] - at[1], p[2] - at[2])
    center, half = model.shape_box[shape, 0], model.shape_box[shape, 1]
    if (abs(x - center[0]) > half[0] + AWAY or abs(y - center[1]) > half[1] + AWAY
            or abs(z - center[2]) > half[2] + AWAY):
        return False
    for f in range(model.shape_polygon[shape, 0], model.shape_polygon[shape, 1]):
        N = model.polygon_normal[f]
        if x * N[0] + y * N[1] + z * N[2] - model.polygon_offset[f] > ON:
            return False
    return True


@jit
def depth_of(model, contacts, shape, p):
    """Signed distance of world point p from the faces' planes of a box, polyhedron or plane, m; negative inside."""
    R, at, kind = contacts.shape_rotation[shape], contacts.shape_position[shape], model.shape_type[shape]
    x, y, z = turned_back(R, p[0] - at[0], p[1] - at[1], p[2] - at[2])
    if kind == SHAPE_BOX:
        h = model.shape_size[shape]
        return max(abs(x) - h[0], abs(y) - h[1], abs(z) - h[2])
    if kind == SHAPE_PLANE:
        return z
    most = -inf
    for f in range(model.shape_polygon[shape, 0], model.shape_polygon[shape, 1]):
        N = model.polygon_normal[f]
        most = max(most, x * N[0] + y * N[1] + z * N[2] - model.polygon_offset[f])
    return most


@jit
def reaches_further(model, contacts, u, shape):
    """Whether shape u reaches further along the normal in contacts.frame than another one."""
    n = contacts.frame[2]
    if model.shape_type[u] == SHAPE_PLANE:
        R = contacts.shape_rotation[u]
        if n[0] * R[0, 2] + n[1] * R[1, 2] + n[2] * R[2, 2] < 1.0 - LEANS:
            return True
    more = reach(model, contacts, u, n) - reach(model, contacts, shape, n)
    return more > LEANS * model.shape_radius[u]


@jit
def reach(model, contacts, shape, n):
    """How far a shape reaches along n, from the world's origin; a plane: its own surface, which n is normal to."""
    at = contacts.shape_position[shape]
    far = n[0] * at[0] + n[1] * at[1] + n[2] * at[2]
    if model.shape_type[shape] == SHAPE_PLANE:
        return far
    contacts.climb[0] = 0
    x, y, z = support(model, contacts, shape, 0, n[0], n[1], n[2])
    return far + n[0] * x + n[1] * y + n[2] * z
