"""Overlaps of convex shapes as one stage of a step: from the poses of links to overlaps with ids and islands.

The smaller of two shapes is cut by the planes of the other (clip.py), then measured (measure.py). Everything
is reckoned from the middle of the smaller shape, so far from the world's origin no digits are lost but those the poses
have lost already; all tolerances go with the smaller shape.

A ball is a fine polyhedron that does not turn with it: it always has a corner towards what it touches. So a ball rolls
on as a ball does, where one that turned would rock from face to face.

What is no proper overlap. Touching without volume: nothing. One inside the other (no normal): counted in
`overlaps.counts[DEGENERATE]`, no contact; but a half-space has its normal always, so a body that was pushed wholly
below the ground comes up again. Flush faces, owned by both: no say in the normal. Without a polygon (an edge that
merely grazes), or thinner than `thin`: POINT.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.broadphase import find_pairs
from sesshoku.collision.contacts import CONTACTS, OLD_CONTACTS, OVERFLOW, PAIR_OVERFLOW, PAIRS, SMOOTH
from sesshoku.collision.features import TOP
from sesshoku.collision.islands import find_islands
from sesshoku.collision.matching import keep_contacts, match_distance, match_pair, name_contacts, place_on_links
from sesshoku.collision.materials import pair_coefficients
from sesshoku.collision.overlap.clip import BUFFER, CUT, EMPTY, FACES, UNFIT_CUT, cut, start_polyhedron
from sesshoku.collision.overlap.measure import drop_arms, find_moments, find_section, measure, project
from sesshoku.collision.overlap.overlaps import AREA, DEGENERATE, POINT, THICKNESS, UNFIT
from sesshoku.collision.points.detect import tangents
from sesshoku.collision.points.fields import field_cells, set_cell
from sesshoku.collision.shapes import place_shapes
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import SHAPE_FIELD, SHAPE_PLANE, SHAPE_SPHERE
from sesshoku.spatial.algebra import turned

FLUSH = 1e-9  # of the smaller shape's radius: faces so near each other are one
NO_NORMAL = 1e-12  # of the overlap's surface: an area vector this small has no direction
ROUNDING = 1e-15  # of the smaller shape's radius: thinner is no overlap, the shapes touch
NOTHING, FOUND, NESTED, NO_ROOM = range(4)  # outcomes of a pair


@jit
def find_overlaps(model, data, contacts, polyhedra, overlaps, integral, thin):
    """Find all overlaps; contact k is overlap k. Needs `kinematics`.

    integral: FACES, THICKNESS or SECTION, what the moments are taken over. thin (m): thinner overlaps become POINT.
    """
    keep_contacts(contacts)
    place_shapes(model, data, contacts, 0.0, 0.0)
    find_pairs(model, contacts, 0.0)
    overlap_pairs(model, contacts, polyhedra, overlaps, integral, thin)
    match_overlaps(model, data, contacts)
    find_islands(model, contacts)


@jit
def overlap_pairs(model, contacts, polyhedra, overlaps, integral, thin):
    """Overlaps of all candidate pairs, in their order."""
    counts, pair = contacts.counts, contacts.pair
    counts[CONTACTS] = 0
    counts[OVERFLOW] = counts[PAIR_OVERFLOW]
    overlaps.counts[DEGENERATE] = 0
    overlaps.counts[UNFIT] = 0
    overlaps.polygon_start[0] = 0
    for p in range(counts[PAIRS]):
        a, b = pair[p, 0], pair[p, 1]
        if counts[CONTACTS] >= contacts.capacity:
            counts[OVERFLOW] += counts[PAIRS] - p  # not looked at
            break
        if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
            overlap_field(model, contacts, polyhedra, overlaps, (a, b), (integral, thin))
        else:
            overlap_pair(model, contacts, polyhedra, overlaps, (a, b), (integral, thin))


@jit
def overlap_pair(model, contacts, polyhedra, overlaps, pair, measure):
    """Overlap of shapes a and b, if there is one, at the end of the list."""
    a, b = pair
    counts, k = contacts.counts, contacts.counts[CONTACTS]
    outcome = overlap_shapes(model, contacts, polyhedra, overlaps, pair, k, measure)
    if outcome == FOUND:
        add_contact(model, contacts, a, b, k)
        contacts.gap[k] = -overlaps.depth[k]
        counts[CONTACTS] = k + 1
    elif outcome == NESTED:
        overlaps.counts[DEGENERATE] += 1
    elif outcome == NO_ROOM:
        overlaps.counts[UNFIT] += 1
        counts[OVERFLOW] += 1


@jit
def overlap_field(model, contacts, polyhedra, overlaps, pair, measure):
    """Overlaps of a shape with a height field: with the ground below each triangle, down to its foot, one by one.

    The normal is the triangle's: walls between the prisms are no surface.
    """
    a, b = pair
    field, other = (a, b) if model.shape_type[a] == SHAPE_FIELD else (b, a)
    if model.shape_type[other] == SHAPE_PLANE or model.shape_type[other] == SHAPE_FIELD:
        return
    row0, row1, column0, column1, low = field_cells(model, contacts, field, other, 0.0)
    foot = min(low, 0.0) - model.shape_size[field, 2]
    for row in range(row0, row1):
        for column in range(column0, column1):
            for half in range(2):
                if set_cell(model, contacts, field, column, row, half, foot) < low:
                    continue
                if contacts.counts[CONTACTS] >= contacts.capacity:
                    contacts.counts[OVERFLOW] += 1
                    return
                set_prism(contacts, polyhedra, field)
                overlap_pair(model, contacts, polyhedra, overlaps, pair, measure)


@jit
def set_prism(contacts, polyhedra, field):
    """Make the prism of `cell` the polyhedron of a height field; its faces as in `fine_polyhedra.prism`."""
    V, first, face = contacts.cell, polyhedra.vertex_start[field], polyhedra.face_start[field]
    vertex, normal, offset, center = polyhedra.vertex, polyhedra.normal, polyhedra.offset, polyhedra.center[field]
    for k in range(3):
        low = high = V[0, k]
        for i in range(6):
            vertex[first + i, k] = V[i, k]
            low, high = min(low, V[i, k]), max(high, V[i, k])
        center[k] = 0.5 * (low + high)
        normal[face, k], normal[face + 1, k] = V[TOP, k], 0.0
    normal[face + 1, 2] = -1.0
    far = 0.0
    for i in range(6):
        x, y, z = V[i, 0] - center[0], V[i, 1] - center[1], V[i, 2] - center[2]
        far = max(far, x * x + y * y + z * z)
    polyhedra.radius[field] = sqrt(far)
    for e in range(3):
        i, j = e, (e + 1) % 3
        x, y = V[j, 0] - V[i, 0], V[j, 1] - V[i, 1]
        length = sqrt(x * x + y * y)
        normal[face + 2 + e, 0], normal[face + 2 + e, 1], normal[face + 2 + e, 2] = y / length, -x / length, 0.0
    for f in range(5):
        i = 3 if f == 1 else f - 2 if f > 2 else 0
        n = normal[face + f]
        offset[face + f] = n[0] * V[i, 0] + n[1] * V[i, 1] + n[2] * V[i, 2]
    x, y, u, v = V[1, 0] - V[0, 0], V[1, 1] - V[0, 1], V[2, 0] - V[0, 0], V[2, 1] - V[0, 1]
    polyhedra.volume[field] = 0.5 * (x * v - y * u) * ((V[0, 2] + V[1, 2] + V[2, 2]) / 3.0 - V[3, 2])


@jit
def overlap_shapes(model, contacts, polyhedra, overlaps, pair, k, rule):
    """Overlap of shapes a and b into place k: its outcome. Writes point, normal, tangent of contact k."""
    a, b = pair
    integral, thin = rule
    plane_a, plane_b = model.shape_type[a] == SHAPE_PLANE, model.shape_type[b] == SHAPE_PLANE
    if plane_a and plane_b:
        return NOTHING
    swapped = polyhedra.radius[b] < polyhedra.radius[a]
    small, large, side = (b, a, 1) if swapped else (a, b, 0)
    result = intersect(model, contacts, polyhedra, overlaps, small, large, side)
    if result == EMPTY:
        return NOTHING
    if result == UNFIT_CUT:
        return NO_ROOM
    least = ROUNDING * polyhedra.radius[small]
    g, n, tangent, origin = overlaps.center, contacts.normal[k], contacts.tangent[k], overlaps.origin
    g[0], g[1], g[2] = measure(overlaps, k)
    if not overlaps.volume[k] > 0.0:  # nor if it is not a number
        return NOTHING
    if plane_a or plane_b:
        R, sign = contacts.shape_rotation[large], 1.0 if plane_a else -1.0
        n[0], n[1], n[2] = sign * R[0, 2], sign * R[1, 2], sign * R[2, 2]
    elif model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
        first, top = model.shape_type[a] == SHAPE_FIELD, contacts.cell[TOP]
        x, y, z = turned(contacts.shape_rotation[a if first else b], top[0], top[1], top[2])
        n[0], n[1], n[2] = (x, y, z) if first else (-x, -y, -z)
    elif not find_normal(overlaps, k, n):
        return NESTED
    t = tangents(n[0], n[1], n[2])
    for i in range(3):
        contacts.point[k, i] = origin[i] + g[i]
        tangent[0, i], tangent[1, i] = t[i], t[3 + i]
    overlaps.depth[k] = project(overlaps, g, n, tangent)
    if not overlaps.depth[k] > least:
        return NOTHING
    return describe(overlaps, k, integral, thin)


@jit
def intersect(model, contacts, polyhedra, overlaps, small, large, side):
    """Cut shape `small` (side 0: a, 1: b) by all planes of shape `large`: the last outcome of `cut`."""
    R, R_large = overlaps.turn[0], overlaps.turn[1]
    turn_shape(model, contacts, polyhedra, small, large, R)
    turn_shape(model, contacts, polyhedra, large, small, R_large)
    p, center = contacts.shape_position[small], polyhedra.center[small]
    p_large, origin = contacts.shape_position[large], overlaps.origin
    for i in range(3):
        origin[i] = p[i] + (R[i, 0] * center[0] + R[i, 1] * center[1] + R[i, 2] * center[2])
    x, y, z = origin[0] - p_large[0], origin[1] - p_large[1], origin[2] - p_large[2]
    u = R_large[0, 0] * x + R_large[1, 0] * y + R_large[2, 0] * z  # the origin in the frame of the larger one
    v = R_large[0, 1] * x + R_large[1, 1] * y + R_large[2, 1] * z
    w = R_large[0, 2] * x + R_large[1, 2] * y + R_large[2, 2] * z
    radius, normal, plane = polyhedra.radius[small], polyhedra.normal, overlaps.plane
    flush = FLUSH * radius
    first, last = polyhedra.face_start[large], polyhedra.face_start[large + 1]
    cuts, deepest = 0, 0
    for f in range(first, last):
        n0, n1, n2 = normal[f, 0], normal[f, 1], normal[f, 2]
        offset = polyhedra.offset[f] - (n0 * u + n1 * v + n2 * w)
        if offset < -radius:
            return EMPTY
        if offset > radius + flush:
            continue  # beyond the whole shape
        for i in range(3):
            plane[cuts, i] = R_large[i, 0] * n0 + R_large[i, 1] * n1 + R_large[i, 2] * n2
        plane[cuts, 3] = offset
        if offset < plane[deepest, 3]:
            deepest = cuts
        cuts += 1
    start_polyhedron(polyhedra, small, side, R, overlaps)
    for c in range(-1, cuts):  # what cuts off most first: the rest has less to do
        if c != deepest and (c >= 0 or cuts > 0):
            q = plane[c if c >= 0 else deepest]
            result = cut(overlaps, q[0], q[1], q[2], q[3], 1 - side, flush)
            if result == EMPTY or result == UNFIT_CUT:
                return result
    return CUT


@jit
def turn_shape(model, contacts, polyhedra, shape, other, R_out):
    """The rotation in which a shape is cut: its own; of a ball, one that points a corner at the other shape."""
    if model.shape_type[shape] != SHAPE_SPHERE:
        R = contacts.shape_rotation[shape]
        for i in range(3):
            for j in range(3):
                R_out[i, j] = R[i, j]
        return
    x, y, z = towards(model, contacts, polyhedra, shape, other)
    t = tangents(x, y, z)
    R_out[0, 2], R_out[1, 2], R_out[2, 2] = x, y, z  # the polyhedron has a corner on its axes
    for i in range(3):
        R_out[i, 0], R_out[i, 1] = t[i], t[3 + i]


@jit
def towards(model, contacts, polyhedra, ball, other):
    """Unit vector from a ball to another shape: to its middle if that is a ball, else against its nearest face."""
    c, p, R = contacts.shape_position[ball], contacts.shape_position[other], contacts.shape_rotation[other]
    x, y, z = c[0] - p[0], c[1] - p[1], c[2] - p[2]
    if model.shape_type[other] == SHAPE_SPHERE:
        length = sqrt(x * x + y * y + z * z)
        return (-x / length, -y / length, -z / length) if length > 0.0 else (0.0, 0.0, 1.0)
    u = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    v = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
    w = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
    normal, first = polyhedra.normal, polyhedra.face_start[other]
    nearest, height = first, -inf
    # of a height field's prism the top: its walls are no surface
    last = first + 1 if model.shape_type[other] == SHAPE_FIELD else polyhedra.face_start[other + 1]
    for f in range(first, last):
        above = normal[f, 0] * u + normal[f, 1] * v + normal[f, 2] * w - polyhedra.offset[f]
        if above > height:
            nearest, height = f, above
    n = normal[nearest]
    return (-(R[0, 0] * n[0] + R[0, 1] * n[1] + R[0, 2] * n[2]), -(R[1, 0] * n[0] + R[1, 1] * n[1] + R[1, 2] * n[2]),
            -(R[2, 0] * n[0] + R[2, 1] * n[1] + R[2, 2] * n[2]))


@jit
def find_normal(overlaps, k, n):
    """(1), (2), volume: from the faces of a and of b, from a to b; False: the overlap has none."""
    vectors, length = overlaps.area_vector[k], 0.0
    for i in range(3):
        n[i] = vectors[0, i] - vectors[1, i]
        length += n[i] * n[i]
    length = sqrt(length)
    if not length > NO_NORMAL * overlaps.surface[k]:
        return False
    for i in range(3):
        n[i] /= length
    return True


@jit
def describe(overlaps, k, integral, thin):
    """Polygon and moments of overlap k, whose polyhedron stands in the buffer."""
    start = overlaps.polygon_start
    whole, faces = overlaps.state[BUFFER], overlaps.state[FACES]
    corners = find_section(overlaps, k, overlaps.polygon_capacity - start[k])
    if corners < 0:
        return NO_ROOM
    overlaps.kind[k] = AREA
    if corners < 3 or overlaps.depth[k] < thin:
        overlaps.kind[k] = POINT
        corners = 0
    if overlaps.kind[k] == AREA:
        find_moments(overlaps, k, whole, faces, integral, corners)
    else:  # the projection of all faces stands for the area; it has no arms
        find_moments(overlaps, k, whole, faces, THICKNESS, 0)
        drop_arms(overlaps, k)
    start[k + 1] = start[k] + corners
    return FOUND


@jit
def add_contact(model, contacts, a, b, k):
    """What contact k says of its shapes."""
    contacts.shape[k, 0], contacts.shape[k, 1] = a, b
    contacts.link[k, 0], contacts.link[k, 1] = model.shape_link[a], model.shape_link[b]
    contacts.kind[k] = SMOOTH
    material = contacts.material[k]
    material[0], material[1], material[2] = pair_coefficients(model, a, b)


@jit
def match_overlaps(model, data, contacts):
    """Ids: two shapes have one overlap at most, so it is the one they had in the step before. Both lists are sorted.

    Of the overlaps with a height field those nearest to each other are the same.
    """
    shape, old_shape, old_count = contacts.shape, contacts.old_shape, contacts.counts[OLD_CONTACTS]
    count, old, k = contacts.counts[CONTACTS], 0, 0
    while k < count:
        a, b, last = shape[k, 0], shape[k, 1], k
        while last < count and shape[last, 0] == a and shape[last, 1] == b:
            place_on_links(model, data, contacts, last)
            contacts.previous[last] = -1
            last += 1
        while old < old_count and (old_shape[old, 0] < a or (old_shape[old, 0] == a and old_shape[old, 1] < b)):
            old += 1
        old_last = old
        while old_last < old_count and old_shape[old_last, 0] == a and old_shape[old_last, 1] == b:
            old_last += 1
        if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
            match_pair(contacts, k, last, old, old_last, match_distance(model, a, b))
        elif old_last > old:
            contacts.previous[k] = old
        old, k = old_last, last
    name_contacts(contacts, count)


# ---- moments in world axes ----------------------------------------------------------------------------------------


@jit
def fill_area_moment(contacts, overlaps, k, Q_out):
    """Q (6, 6) of overlap k, eq. (9), volume: twists at the barycentre, world axes, linear part first."""
    t, n, moment = contacts.tangent[k], contacts.normal[k], overlaps.area_moment[k]
    S, m1, m2, xx, xy, yy = moment[0], moment[1], moment[2], moment[3], moment[4], moment[5]
    for i in range(3):
        for j in range(3):
            Q_out[i, j] = S if i == j else 0.0
            # tr(R2) 1 - R2 in the frame (e1, e2, n)
            Q_out[3 + i, 3 + j] = (yy * t[0, i] * t[0, j] + xx * t[1, i] * t[1, j]
                                   - xy * (t[0, i] * t[1, j] + t[1, i] * t[0, j]) + (xx + yy) * n[i] * n[j])
    x, y, z = (m1 * t[0, 0] + m2 * t[1, 0], m1 * t[0, 1] + m2 * t[1, 1], m1 * t[0, 2] + m2 * t[1, 2])
    cross_into(Q_out[3:6, 0:3], x, y, z)
    cross_into(Q_out[0:3, 3:6], -x, -y, -z)


@jit
def cross_into(block_out, x, y, z):
    """The matrix [m x] of m = (x, y, z)."""
    block_out[0, 0], block_out[0, 1], block_out[0, 2] = 0.0, -z, y
    block_out[1, 0], block_out[1, 1], block_out[1, 2] = z, 0.0, -x
    block_out[2, 0], block_out[2, 1], block_out[2, 2] = -y, x, 0.0


@jit
def fill_depth_moment(contacts, overlaps, k, c_out):
    """c^T n = (V n, m_h x n), six numbers, of overlap k, eq. (9), volume. World axes; m_h x n = m2 e1 - m1 e2."""
    t, n, moment = contacts.tangent[k], contacts.normal[k], overlaps.depth_moment[k]
    for i in range(3):
        c_out[i] = moment[0] * n[i]
        c_out[3 + i] = moment[2] * t[0, i] - moment[1] * t[1, i]
