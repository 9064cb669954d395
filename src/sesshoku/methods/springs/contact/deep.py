"""How deep shapes are in each other, beyond what springs tell: convex ones by the axes that can part them."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.contact.anchors import ACROSS_EDGES, ALONG_0, ALONG_1, GUEST, HOST
from sesshoku.methods.springs.work import PRESSES

FAR_BEYOND = 2.0  # limits: so deep the shapes themselves are measured, since springs may miss their deepest place
FEW_EDGES = 1024  # pairs of them: of shapes with more, springs tell how deep they are


@jit
def way_out(breps, bodies, a, b):
    """Of two convex shapes the face that lets the other one out soonest: how far that is, the face, the other shape."""
    least, face, guest = 1e300, -1, -1
    for side in range(2):
        host, other = (a, b) if side == 0 else (b, a)
        for f in range(breps.shape_face[host, 0], breps.shape_face[host, 1]):
            depth = depth_below(breps, bodies, f, other)
            if depth < least:
                least, face, guest = depth, f, other
    return least, face, guest


@jit
def measure_sunk(work):
    """How deep convex shapes are in each other of which some spring is far beyond its limit, into `sunk`."""
    breps, presses, last_a, last_b = work.breps, work.presses, -1, -1
    before = presses.sunk[0]
    presses.sunk[0] = 0.0
    for c in range(presses.counts[PRESSES]):
        a, b = presses.shape[c, 0], presses.shape[c, 1]
        if (a == last_a and b == last_b) or not (before > 0.0 or presses.depth[c] > FAR_BEYOND * presses.limit[c]):
            continue
        last_a, last_b = a, b
        if measurable(work, a, b):
            least, _, _ = way_out(breps, work.bodies, a, b)
            least = min(least, across_edges(work, a, b))
            if least > FAR_BEYOND * presses.limit[c]:
                presses.sunk[0] = max(presses.sunk[0], least)


@jit
def measurable(work, a, b):
    """Whether two shapes are convex, and their edges few enough to try all against all."""
    edge, convex = work.breps.shape_edge, work.presses.convex
    few = (edge[a, 1] - edge[a, 0]) * (edge[b, 1] - edge[b, 0]) <= FEW_EDGES
    return few and convex[a] == 1 and convex[b] == 1


@jit
def across_edges(work, a, b):
    """The shortest way out of each other of two convex shapes across an edge of each, m."""
    breps, rotation, least = work.breps, work.bodies.rotation, 1e300
    u, w, n = work.presses.work[ALONG_0], work.presses.work[ALONG_1], work.presses.work[ACROSS_EDGES]
    for e in range(breps.shape_edge[a, 0], breps.shape_edge[a, 1]):
        for f in range(breps.shape_edge[b, 0], breps.shape_edge[b, 1]):
            if not (breps.edge_used[e] and breps.edge_used[f]):
                continue
            edge_direction(breps, rotation, e, u)
            edge_direction(breps, rotation, f, w)
            n[0], n[1], n[2] = u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]
            size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
            if size > 1e-6:
                low_a, high_a = reach(breps, work.bodies, a, n)
                low_b, high_b = reach(breps, work.bodies, b, n)
                least = min(least, (high_a - low_b) / size, (high_b - low_a) / size)
    return least


@jit
def edge_direction(breps, rotation, e, out):
    """Unit vector along an edge, world axes."""
    p, q = breps.vertex[breps.edge_vertex[e, 0]], breps.vertex[breps.edge_vertex[e, 1]]
    R, length = rotation[breps.shape_body[breps.edge_shape[e]]], 0.0
    for k in range(3):
        out[k] = R[k, 0] * (q[0] - p[0]) + R[k, 1] * (q[1] - p[1]) + R[k, 2] * (q[2] - p[2])
        length += out[k] * out[k]
    for k in range(3):
        out[k] /= sqrt(length)


@jit
def reach(breps, bodies, shape, n):
    """Least and largest n . x of a shape's vertices."""
    b, low, high = breps.shape_body[shape], 1e300, -1e300
    R, x = bodies.rotation[b], bodies.position[b]
    for v in range(breps.shape_vertex[shape, 0], breps.shape_vertex[shape, 1]):
        p, along = breps.vertex[v], 0.0
        for k in range(3):
            along += n[k] * (x[k] + R[k, 0] * p[0] + R[k, 1] * p[1] + R[k, 2] * p[2])
        low, high = min(low, along), max(high, along)
    return low, high


@jit
def touching(presses, a, b):
    """Whether two shapes have a spring."""
    for c in range(presses.counts[PRESSES]):
        guest, host = presses.shape[c, 0], presses.shape[c, 1]
        if (guest == a and host == b) or (guest == b and host == a):
            return True
    return False


@jit
def depth_below(breps, bodies, face, shape):
    """How far the lowest vertex of a shape is below the plane of another one's face, m; negative: above it."""
    host, guest, n = breps.shape_body[breps.face_shape[face]], breps.shape_body[shape], breps.face_normal[face]
    R, x, Q, y = bodies.rotation[host], bodies.position[host], bodies.rotation[guest], bodies.position[guest]
    lowest = 1e300
    for v in range(breps.shape_vertex[shape, 0], breps.shape_vertex[shape, 1]):
        p, height = breps.vertex[v], breps.face_offset[face]
        for a in range(3):
            along = 0.0
            for k in range(3):
                along += R[k, a] * (y[k] + Q[k, 0] * p[0] + Q[k, 1] * p[1] + Q[k, 2] * p[2] - x[k])
            height += n[a] * along
        lowest = min(lowest, height)
    return -lowest


@jit
def above_patch(breps, bodies, face, work):
    """Whether the guest point is above or below some triangle of the face's patch."""
    shape, patch = breps.face_shape[face], breps.face_patch[face]
    b = breps.shape_body[shape]
    p = work[HOST]
    R, x = bodies.rotation[b], bodies.position[b]
    q = work[GUEST]
    for a in range(3):
        q[a] = R[0, a] * (p[0] - x[0]) + R[1, a] * (p[1] - x[1]) + R[2, a] * (p[2] - x[2])
    for f in range(breps.shape_face[shape, 0], breps.shape_face[shape, 1]):
        if breps.face_patch[f] != patch:
            continue
        n, inside = breps.face_normal[f], True
        for k in range(3):
            u, w = breps.vertex[breps.face_vertex[f, k]], breps.vertex[breps.face_vertex[f, (k + 1) % 3]]
            ex, ey, ez = w[0] - u[0], w[1] - u[1], w[2] - u[2]
            px, py, pz = q[0] - u[0], q[1] - u[1], q[2] - u[2]
            side = n[0] * (ey * pz - ez * py) + n[1] * (ez * px - ex * pz) + n[2] * (ex * py - ey * px)
            if side < 0.0:
                inside = False
        if inside:
            return True
    return False
