"""Where a contact spring is attached (section 5.4): guest point g, host point h, outward normal N of the host.

Depth is N . (h - g), positive where the bodies overlap. A vertex and a face: g the vertex, h its foot on it, eq. (5.3).
Two edges: closest points of their lines, and n_e0 = +-e0 x e1 outward of body 0, eqs. (5.4)-(5.6). Each edge is asked
whether that direction lies within the wedge of its faces' normals, eq. (5.7); if both say yes it is a contact of edges,
otherwise one face beside an edge pushes along its own normal (`side`), chosen by eq. (5.8) where both say no.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.options import LITERAL, NO_SIDE
from sesshoku.methods.springs.work import EDGES, SIDE_0, SIDE_1, VERTEX_FACE

WEDGE = 1e-9  # of eq. (5.7)
PARALLEL = 1e-8
# rows of the work space: guest point, host point, normal; of two edges: their points, n_e0, their directions, and the
# side on which n_e0 is to lie, for those who have no crossing to say it
GUEST, HOST, NORMAL, POINT_0, POINT_1, ACROSS_EDGES, ALONG_0, ALONG_1, OUTWARD = range(9)


@jit(into_callers=True)
def to_world(position, rotation, b, local, out):
    """(2.1): out = x + R local."""
    R, x = rotation[b], position[b]
    for a in range(3):
        out[a] = x[a] + R[a, 0] * local[0] + R[a, 1] * local[1] + R[a, 2] * local[2]


@jit(into_callers=True)
def turned(rotation, b, local, out):
    """out = R local."""
    R = rotation[b]
    for a in range(3):
        out[a] = R[a, 0] * local[0] + R[a, 1] * local[1] + R[a, 2] * local[2]


@jit(into_callers=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def attach_to_face(breps, position, rotation, guest_body, face, work):
    """HOST: foot of GUEST on the plane of a face, eq. (5.3), NORMAL: the face's; returns the depth."""
    host = breps.shape_body[breps.face_shape[face]]
    R, x, n, local = rotation[host], position[host], work[NORMAL], breps.face_normal[face]
    turned(rotation, host, local, n)
    g, h = work[GUEST], work[HOST]
    height = breps.face_offset[face]
    for a in range(3):
        along = R[0, a] * (g[0] - x[0]) + R[1, a] * (g[1] - x[1]) + R[2, a] * (g[2] - x[2])
        height += local[a] * along
    for a in range(3):
        h[a] = g[a] - height * n[a]
    return -height


@jit
def edge_points(breps, position, rotation, e0, e1, outward, work):
    """Closest points of the lines of two edges, and n_e0 on the side of `outward`; parameters, or -1 if parallel."""
    u, w, p, q, n = work[ALONG_0], work[ALONG_1], work[POINT_0], work[POINT_1], work[ACROSS_EDGES]
    b0, b1 = breps.shape_body[breps.edge_shape[e0]], breps.shape_body[breps.edge_shape[e1]]
    to_world(position, rotation, b0, breps.vertex[breps.edge_vertex[e0, 0]], p)
    to_world(position, rotation, b0, breps.vertex[breps.edge_vertex[e0, 1]], u)
    to_world(position, rotation, b1, breps.vertex[breps.edge_vertex[e1, 0]], q)
    to_world(position, rotation, b1, breps.vertex[breps.edge_vertex[e1, 1]], w)
    for a in range(3):
        u[a] -= p[a]
        w[a] -= q[a]
    n[0], n[1], n[2] = u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]  # (5.4)
    n2, uu, ww = dot(n, n), dot(u, u), dot(w, w)
    if not n2 > PARALLEL * PARALLEL * uu * ww:
        return -1.0, -1.0
    uw = dot(u, w)
    du = dw = 0.0
    for a in range(3):
        du += u[a] * (q[a] - p[a])
        dw += w[a] * (q[a] - p[a])
    s, t = (du * ww - dw * uw) / n2, (du * uw - dw * uu) / n2
    # (5.6): the side that the crossing tells; by l in print
    scale = (1.0 if dot(n, outward) >= 0.0 else -1.0) / sqrt(n2)
    for a in range(3):
        p[a] += s * u[a]
        q[a] += t * w[a]
        n[a] *= scale
    return s, t


@jit
def in_wedge(breps, rotation, e, along, n, sign, work):
    """(5.7): is sign * n within the wedge of the normals of edge e's faces? A concave edge has none."""
    if breps.edge_concave[e]:
        return False
    b, m = breps.shape_body[breps.edge_shape[e]], work[NORMAL]
    length = sqrt(dot(along, along))
    for side in range(2):
        turned(rotation, b, breps.face_normal[breps.edge_face[e, side]], m)
        x, y, z = n[1] * m[2] - n[2] * m[1], n[2] * m[0] - n[0] * m[2], n[0] * m[1] - n[1] * m[0]
        turn = sign * (x * along[0] + y * along[1] + z * along[2]) / length
        if (side == 0 and turn < -WEDGE) or (side == 1 and turn > WEDGE):  # (5.7) fails
            return False
    return True


@jit
def near_end(breps, position, rotation, point, e, reach, work):
    """(5.8): the end vertex of edge e within `reach` of a point, -1: none."""
    b, m = breps.shape_body[breps.edge_shape[e]], work[NORMAL]
    found, nearest = -1, reach * reach
    for end in range(2):
        v = breps.edge_vertex[e, end]
        to_world(position, rotation, b, breps.vertex[v], m)
        d2 = (m[0] - point[0]) ** 2 + (m[1] - point[1]) ** 2 + (m[2] - point[2]) ** 2
        if d2 <= nearest:
            found, nearest = v, d2
    return found


@jit
def edge_cases(breps, poses, edges, outward, reach, side_face, work):
    """Which springs two crossing edges get, as a sum of 1 << EDGES, 1 << SIDE_0, 1 << SIDE_1."""
    position, rotation = poses
    e0, e1 = edges
    s, _ = edge_points(breps, position, rotation, e0, e1, outward, work)
    n = work[ACROSS_EDGES]
    if s == -1.0 and dot(n, n) == 0.0:
        return 0
    q0 = in_wedge(breps, rotation, e0, work[ALONG_0], n, 1.0, work)
    q1 = in_wedge(breps, rotation, e1, work[ALONG_1], n, -1.0, work)
    if q0 and q1:
        return 1 << EDGES
    if side_face == NO_SIDE:
        return 0
    if q1:
        return 1 << SIDE_0
    if q0:
        return 1 << SIDE_1
    v1 = near_end(breps, position, rotation, work[POINT_0], e1, reach, work)
    v0 = near_end(breps, position, rotation, work[POINT_1], e0, reach, work)
    if v1 >= 0 and v0 >= 0:
        # n_e turned inward in this one comparison: the reading in which the printed inequality makes sense
        turned(rotation, breps.shape_body[breps.vertex_shape[v1]], breps.vertex_normal[v1], work[NORMAL])
        first = -dot(n, work[NORMAL])
        turned(rotation, breps.shape_body[breps.vertex_shape[v0]], breps.vertex_normal[v0], work[NORMAL])
        second = dot(n, work[NORMAL])
        return 1 << SIDE_0 if first < second else 1 << SIDE_1
    if v1 >= 0:
        return 1 << SIDE_0
    if v0 >= 0:
        return 1 << SIDE_1
    return (1 << SIDE_0) + (1 << SIDE_1)


@jit
def side_of(breps, rotation, e, n, sign, literal, work):
    """The face beside edge e whose normal is nearest to sign * n (literal: farthest)."""
    b, m = breps.shape_body[breps.edge_shape[e]], work[NORMAL]
    turned(rotation, b, breps.face_normal[breps.edge_face[e, 0]], m)
    first = sign * dot(m, n)
    turned(rotation, b, breps.face_normal[breps.edge_face[e, 1]], m)
    second = sign * dot(m, n)
    take = first < second if literal else first >= second
    return breps.edge_face[e, 0] if take else breps.edge_face[e, 1]


@jit
def attach(breps, poses, variant, features, outward, side_face, work):
    """GUEST, HOST and NORMAL of a contact spring; depth, the host face (-1: an edge), parameters along the edges.

    outward: of two edges, the side on which n_e0 lies.
    """
    position, rotation = poses
    f0, f1 = features
    if variant == VERTEX_FACE:
        guest = breps.shape_body[breps.vertex_shape[f0]]
        to_world(position, rotation, guest, breps.vertex[f0], work[GUEST])
        return attach_to_face(breps, position, rotation, guest, f1, work), f1, 0.0, 0.0
    s, t = edge_points(breps, position, rotation, f0, f1, outward, work)
    n, literal = work[ACROSS_EDGES], side_face == LITERAL
    if variant == EDGES:
        depth = 0.0
        for a in range(3):
            work[GUEST, a], work[HOST, a] = work[POINT_0, a], work[POINT_1, a]
            work[NORMAL, a] = -n[a]
            depth += n[a] * (work[POINT_0, a] - work[POINT_1, a])  # (5.5): -n . l
        return depth, -1, s, t
    if variant == SIDE_0:
        face = side_of(breps, rotation, f0, n, 1.0, literal, work)
        guest, point = breps.shape_body[breps.edge_shape[f1]], work[POINT_1]
    else:
        face = side_of(breps, rotation, f1, n, -1.0, literal, work)
        guest, point = breps.shape_body[breps.edge_shape[f0]], work[POINT_0]
    for a in range(3):
        work[GUEST, a] = point[a]
    return attach_to_face(breps, position, rotation, guest, face, work), face, s, t
