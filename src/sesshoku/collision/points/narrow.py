"""Narrow phase: contact points of two shapes.

| pair                                        | normal and gap                                        |
|---------------------------------------------|-------------------------------------------------------|
| plane and anything                          | the plane's (`planes`)                                |
| box and box                                 | separating axes (`boxes`)                             |
| sphere and sphere, capsule, box, cylinder   | closed form (`rounds`)                                |
| capsule and capsule                         | closed form (`rounds`)                                |
| height field and anything                   | triangle by triangle, elsewhere (`fields`)            |
| everything else                             | GJK while the cores are apart, EPA where they overlap |

The points then come from the two facing features (`manifold`). Spheres and ellipsoids touch in one point.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.contacts import EDGE, SMOOTH, VERTEX
from sesshoku.collision.features import edge_slope, flattest_neighbour
from sesshoku.collision.points.boxes import box_axis
from sesshoku.collision.points.epa import epa
from sesshoku.collision.points.gjk import APART, BEYOND, gjk
from sesshoku.collision.points.manifold import facing_points, same_distance, to_world, with_witness
from sesshoku.collision.points.normals import axis_normal, best_normal, drum_normal
from sesshoku.collision.points.parted import remember_axis, still_parted
from sesshoku.collision.points.planes import plane_points
from sesshoku.collision.points.reduction import reduce_manifold
from sesshoku.collision.points.rounds import capsule_normal, sphere_normal
from sesshoku.collision.support import core_radius, farthest_vertex, support
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import (
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_FIELD,
    SHAPE_PLANE,
    SHAPE_SPHERE,
)
from sesshoku.spatial.algebra import turned, turned_back

__all__ = ["collide_shapes", "reduce_manifold"]

NOT_HERE = -1  # a special case passes the pair on to the general one
RIM_SLACK = 1e-7  # of the size: a cylinder's octagon may miss the deepest point of the rim by this before it is added


@jit
def one_point(contacts, gap, at, direction, margin):
    """A single smooth contact at the world point, if it is within the margin."""
    x, y, z = at
    nx, ny, nz = direction
    if gap > margin:
        return 0
    point, normal = contacts.manifold_point[0], contacts.manifold_normal
    point[0], point[1], point[2] = x, y, z
    normal[0], normal[1], normal[2] = nx, ny, nz
    contacts.manifold_gap[0], contacts.manifold_kind[0] = gap, SMOOTH
    return 1


@jit
def sphere_pair(model, contacts, shape, sphere, sign, margin):
    """A sphere against a shape with a closed form. sign: -1 if the sphere is the first of the pair."""
    at, other, r = contacts.shape_position[sphere], contacts.shape_position[shape], model.shape_size[sphere, 0]
    cx, cy, cz = at[0] - other[0], at[1] - other[1], at[2] - other[2]
    gap, nx, ny, nz = sphere_normal(model, contacts, shape, sphere, cx, cy, cz)
    d = r + 0.5 * gap
    x, y, z = at[0] - d * nx, at[1] - d * ny, at[2] - d * nz
    return one_point(contacts, gap, (x, y, z), (sign * nx, sign * ny, sign * nz), margin)


@jit
def inside_polyhedron(model, contacts, shape, cx, cy, cz):
    """Signed distance of the point c (from the shape) to the nearest face's plane, and that normal; exact inside."""
    R, N, offset = contacts.shape_rotation[shape], model.polygon_normal, model.polygon_offset
    x, y, z = turned_back(R, cx, cy, cz)
    most, best = -inf, model.shape_polygon[shape, 0]
    for p in range(model.shape_polygon[shape, 0], model.shape_polygon[shape, 1]):
        d = x * N[p, 0] + y * N[p, 1] + z * N[p, 2] - offset[p]
        if d > most:
            most, best = d, p
    nx, ny, nz = turned(R, N[best, 0], N[best, 1], N[best, 2])
    return most, nx, ny, nz


@jit
def sphere_polyhedron(model, contacts, a, b, offset, margin):
    """Sphere a: its centre inside polyhedron b goes out through the nearest face; NOT_HERE if it is outside."""
    cx, cy, cz = offset
    d, nx, ny, nz = inside_polyhedron(model, contacts, b, -cx, -cy, -cz)
    r, at = model.shape_size[a, 0], contacts.shape_position[a]
    if d - r > margin:
        contacts.climb[0] = contacts.climb[1] = 0
        remember_axis(model, contacts, a, b, -nx, -ny, -nz)
        return 0
    if d > 0.0:
        return NOT_HERE
    m = r + 0.5 * (d - r)
    return one_point(contacts, d - r, (at[0] - m * nx, at[1] - m * ny, at[2] - m * nz), (-nx, -ny, -nz), margin)


@jit
def capsule_pair(model, contacts, a, b, offset, margin):
    cx, cy, cz = offset
    gap, nx, ny, nz = capsule_normal(model, contacts, a, b, cx, cy, cz)
    if gap > margin:
        return 0
    size = model.shape_radius[a] + model.shape_radius[b]
    count, least = facing_points(model, contacts, a, b, offset, (nx, ny, nz), margin)
    count = with_witness(contacts, count, least, gap, margin, 1e-9 * size, 1e-6 * size, SMOOTH)
    to_world(contacts, a, count, nx, ny, nz)
    return count


@jit
def box_pair(model, contacts, a, b, offset, margin):
    """Separating axes; NOT_HERE where the faces do not meet along the best one (corner against edge, apart)."""
    size = model.shape_radius[a] + model.shape_radius[b]
    gap, nx, ny, nz = box_axis(contacts.shape_rotation[a], model.shape_size[a], contacts.shape_rotation[b],
                               model.shape_size[b], offset, margin, size)
    if gap > margin:
        return 0
    count, least = facing_points(model, contacts, a, b, offset, (nx, ny, nz), margin)
    if least > gap + 1e-9 * size:
        return NOT_HERE
    to_world(contacts, a, count, nx, ny, nz)
    return count


@jit
def witness_kind(model, contacts, a, b, normal, near):
    """What the nearest points are: a vertex of either shape, a crossing of edges, or on a smooth surface."""
    nx, ny, nz = normal
    kind_a, kind_b, W = model.shape_type[a], model.shape_type[b], contacts.witness
    if (kind_a != SHAPE_BOX and kind_a != SHAPE_CONVEX) or (kind_b != SHAPE_BOX and kind_b != SHAPE_CONVEX):
        return SMOOTH
    at_a, at_b = contacts.shape_position[a], contacts.shape_position[b]
    x, y, z = support(model, contacts, a, 0, nx, ny, nz)
    if abs(x - W[0, 0]) + abs(y - W[0, 1]) + abs(z - W[0, 2]) <= near:
        return VERTEX
    x, y, z = support(model, contacts, b, 1, -nx, -ny, -nz)
    x, y, z = x + (at_b[0] - at_a[0]), y + (at_b[1] - at_a[1]), z + (at_b[2] - at_a[2])
    return VERTEX if abs(x - W[1, 0]) + abs(y - W[1, 1]) + abs(z - W[1, 2]) <= near else EDGE


@jit
def one_farthest(model, contacts, shape, slot, nx, ny, nz):
    """Whether a single point of the shape is farthest along n, rather than an edge, a side or a face."""
    kind = model.shape_type[shape]
    x, y, z = turned_back(contacts.shape_rotation[shape], nx, ny, nz)
    if kind == SHAPE_BOX:
        return min(abs(x), abs(y), abs(z)) > 1e-6
    if kind == SHAPE_CONVEX:
        vertex = farthest_vertex(model, shape, contacts.climb[slot], x, y, z)
        return edge_slope(model, shape, vertex, flattest_neighbour(model, shape, vertex, x, y, z), x, y, z) > 1e-6
    if kind == SHAPE_ELLIPSOID or kind == SHAPE_FIELD:
        return kind == SHAPE_ELLIPSOID
    return abs(z) > 1e-6 and (kind != SHAPE_CYLINDER or x * x + y * y > 1e-12)


@jit
def mend_witness(model, contacts, pair, offset, gap, normal, near):
    """Nearest points that do not face each other along n give way to the farthest point of one shape.

    That is the smaller one, or, of shapes of like size, the one that has a single farthest point. An ellipsoid's is
    always known better than GJK and EPA find it.
    """
    a, b = pair
    cx, cy, cz = offset
    nx, ny, nz = normal
    W, round_a, round_b = (contacts.witness, model.shape_type[a] == SHAPE_ELLIPSOID,
                           model.shape_type[b] == SHAPE_ELLIPSOID)
    x, y, z = W[1, 0] - W[0, 0] - gap * nx, W[1, 1] - W[0, 1] - gap * ny, W[1, 2] - W[0, 2] - gap * nz
    if abs(x) + abs(y) + abs(z) <= near and not round_a and not round_b:
        return
    r, s = model.shape_radius[a], model.shape_radius[b]
    take_a = round_a if round_a != round_b else r <= s
    if round_a == round_b and max(r, s) < 10.0 * min(r, s):
        one_a = one_farthest(model, contacts, a, 0, nx, ny, nz)
        if one_a != one_farthest(model, contacts, b, 1, -nx, -ny, -nz):
            take_a = one_a
    if take_a:
        x, y, z = support(model, contacts, a, 0, nx, ny, nz)
        W[0, 0], W[0, 1], W[0, 2] = x, y, z
        W[1, 0], W[1, 1], W[1, 2] = x + gap * nx, y + gap * ny, z + gap * nz
    else:
        x, y, z = support(model, contacts, b, 1, -nx, -ny, -nz)
        x, y, z = x + cx, y + cy, z + cz
        W[0, 0], W[0, 1], W[0, 2] = x - gap * nx, y - gap * ny, z - gap * nz
        W[1, 0], W[1, 1], W[1, 2] = x, y, z


@jit
def general_normal(model, contacts, a, b, offset, margin, size):
    """Gap and unit normal by GJK or EPA, nearest points of the cores in `witness`; gap inf: beyond the margin."""
    cx, cy, cz = offset
    contacts.climb[0] = contacts.climb[1] = 0
    ra, rb = core_radius(model, a), core_radius(model, b)
    state, corners, vx, vy, vz = gjk(model, contacts, a, b, offset, margin + ra + rb, size)
    if state == BEYOND:
        remember_axis(model, contacts, a, b, -vx, -vy, -vz)
        return inf, 0.0, 0.0, 1.0
    depth, nx, ny, nz = 0.0, -vx, -vy, -vz
    if state == APART:
        length = sqrt(vx * vx + vy * vy + vz * vz)
        nx, ny, nz = nx / length, ny / length, nz / length
    else:
        depth, nx, ny, nz = epa(model, contacts, a, b, offset, corners, size)
        corners = 0
    if depth < inf:
        gap, nx, ny, nz = best_normal(model, contacts, (a, b), offset, corners, size, (nx, ny, nz))
    else:
        gap, nx, ny, nz = axis_normal(model, contacts, a, b, cx, cy, cz)
    if state != APART:
        gap, nx, ny, nz = drum_normal(model, contacts, (a, b), offset, size, (gap, (nx, ny, nz)))
    if state != APART or model.shape_type[a] == SHAPE_ELLIPSOID or model.shape_type[b] == SHAPE_ELLIPSOID:
        near = 1e-4 * min(model.shape_radius[a], model.shape_radius[b]) + 1e-12 * size
        mend_witness(model, contacts, (a, b), offset, gap + ra + rb, (nx, ny, nz), near)
    return gap, nx, ny, nz


@jit
def general_pair(model, contacts, a, b, offset, margin):
    """Any two shapes that have support functions."""
    size, W = model.shape_radius[a] + model.shape_radius[b], contacts.witness
    gap, nx, ny, nz = general_normal(model, contacts, a, b, offset, margin, size)
    if gap > margin:
        return 0
    ra, rb = core_radius(model, a), core_radius(model, b)
    W[0, 0], W[0, 1], W[0, 2] = W[0, 0] + ra * nx, W[0, 1] + ra * ny, W[0, 2] + ra * nz
    W[1, 0], W[1, 1], W[1, 2] = W[1, 0] - rb * nx, W[1, 1] - rb * ny, W[1, 2] - rb * nz
    count, least = facing_points(model, contacts, a, b, offset, (nx, ny, nz), margin)
    rims = model.shape_type[a] == SHAPE_CYLINDER or model.shape_type[b] == SHAPE_CYLINDER
    slack = RIM_SLACK * size if rims else 10.0 * same_distance(model, a, b)
    kind = witness_kind(model, contacts, a, b, (nx, ny, nz), 1e-7 * size)
    count = with_witness(contacts, count, least, gap, margin, slack, 1e-6 * size, kind)
    to_world(contacts, a, count, nx, ny, nz)
    return count


@jit
def special_pair(model, contacts, a, b, offset, margin):
    """Points of a pair with a closed form of its own (a's type not after b's), or NOT_HERE."""
    kind_a, kind_b = model.shape_type[a], model.shape_type[b]
    if kind_a == SHAPE_PLANE:
        return 0 if kind_b == SHAPE_PLANE else plane_points(model, contacts, a, b, margin)
    if kind_a == SHAPE_BOX and kind_b == SHAPE_BOX:
        return box_pair(model, contacts, a, b, offset, margin)
    if kind_b == SHAPE_ELLIPSOID:
        return NOT_HERE
    if kind_a == SHAPE_SPHERE and kind_b == SHAPE_CONVEX:
        return sphere_polyhedron(model, contacts, a, b, offset, margin)
    if kind_a == SHAPE_SPHERE:
        return sphere_pair(model, contacts, b, a, -1.0, margin)
    if kind_b == SHAPE_SPHERE:
        return sphere_pair(model, contacts, a, b, 1.0, margin)
    if kind_a == SHAPE_CAPSULE and kind_b == SHAPE_CAPSULE:
        return capsule_pair(model, contacts, a, b, offset, margin)
    return NOT_HERE


@jit
def collide_shapes(model, contacts, a, b, margin):
    """Contact points of shapes a and b with gap <= margin: their number, at most 64 (more are thinned out, and those
    left out are added to `counts[OVERFLOW]`).

    Poses are read from `shape_position`, `shape_rotation`. Written: `manifold_point` (world, midway between the
    surfaces), `manifold_gap` (m, negative: overlap), `manifold_kind`, `manifold_normal` (unit, from a to b). A pair
    gives the same points in either order.
    """
    kind_a, kind_b = model.shape_type[a], model.shape_type[b]
    swapped = kind_a > kind_b or (kind_a == kind_b and a > b)
    if swapped:
        a, b = b, a
    at, other = contacts.shape_position[a], contacts.shape_position[b]
    cx, cy, cz = other[0] - at[0], other[1] - at[1], other[2] - at[2]
    if still_parted(model, contacts, a, b, (cx, cy, cz), margin):
        return 0
    count = special_pair(model, contacts, a, b, (cx, cy, cz), margin)
    if count == NOT_HERE:
        count = general_pair(model, contacts, a, b, (cx, cy, cz), margin)
    if swapped:
        normal = contacts.manifold_normal
        normal[0], normal[1], normal[2] = -normal[0], -normal[1], -normal[2]
    return count
