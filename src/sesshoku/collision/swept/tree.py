"""A tree of boxes over the vertices, edges and faces of a polyhedron, refitted to their swept boxes in every step.

Built once, top down, in the body's frame: the axis of the cut cycles x, y, z with the depth, the cut stands at the mean
of the centres of the primitives' boxes, a cut that leaves one side empty becomes a cut through the middle of the list;
a leaf is one primitive. Children stand behind their parent in the list, so that one backward walk refits all boxes.

The **slab filter**: a large primitive (a triangle of the floor) against the box of many small ones. The sweep of a face
lies between two planes across its normal at each end, that of an edge between planes across the normals of its faces;
a box outside of one such slab needs no descent.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.jit import jit

VERTEX, EDGE, FACE = 1, 2, 4  # kinds of primitives; a node holds the sum of the kinds below it
SAME_SLAB = 1.0 - 1e-9  # squared cosine of directions of which one slab is enough
SLACK = 1e-9  # of the slab filter, by the size of what is compared: rounding must never part what touches


def build(kind: np.ndarray, feature: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, int]:
    """The tree over primitives: rows (2 n - 1, 4) of first child (-1: leaf), second child, kinds, feature; its depth.

    kind (n): VERTEX, EDGE or FACE; feature (n): its number; low, high (n, 3): its box.
    """
    n = len(kind)
    nodes = np.full((max(2 * n - 1, 0), 4), -1, dtype=np.int64)
    order, stack = np.arange(n), np.zeros((n + 2, 4), dtype=np.int64)
    depth = grow(0.5 * (low + high), kind, feature, order, stack, nodes) if n else 0
    return nodes, int(depth)


@jit
def grow(center, kind, feature, order, stack, nodes_out):
    """Cut the list until each part is one primitive; returns the depth. stack: rows of first, last + 1, depth, node."""
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(order), 0, 0
    height, used, deepest = 1, 1, 0
    while height > 0:
        height -= 1
        first, last, depth, node = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        deepest = max(deepest, depth)
        kinds = 0
        for i in range(first, last):
            kinds |= kind[order[i]]
        nodes_out[node, 2] = kinds
        if last - first == 1:
            nodes_out[node, 3] = feature[order[first]]
            continue
        middle = cut(center, order, first, last, depth % 3)
        nodes_out[node, 0], nodes_out[node, 1] = used, used + 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = first, middle, depth + 1, used
        height += 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = middle, last, depth + 1, used + 1
        height += 1
        used += 2
    return deepest


@jit
def cut(center, order, first, last, axis):
    """Put what lies below the mean centre first; returns where the second part begins."""
    mean = 0.0
    for i in range(first, last):
        mean += center[order[i], axis]
    mean /= last - first
    middle = first
    for i in range(first, last):
        if center[order[i], axis] < mean:
            order[i], order[middle] = order[middle], order[i]
            middle += 1
    return middle if first < middle < last else (first + last) // 2


@jit
def refit(node, span, topology, vertex_box, pad, box_out):
    """Boxes (low, high) of nodes first .. last - 1, from those of the ways of the vertices (V, 6), widened by `pad`."""
    first, last = span
    edge_vertex, face_vertex = topology
    for i in range(last - 1, first - 1, -1):
        one, kind, f = node[i, 0], node[i, 2], node[i, 3]
        if one >= 0:
            other = node[i, 1]
            for k in range(3):
                box_out[i, k] = min(box_out[one, k], box_out[other, k])
                box_out[i, 3 + k] = max(box_out[one, 3 + k], box_out[other, 3 + k])
        elif kind == VERTEX:
            for k in range(3):
                box_out[i, k] = vertex_box[f, k] - pad
                box_out[i, 3 + k] = vertex_box[f, 3 + k] + pad
        elif kind == EDGE:
            a, b = edge_vertex[f, 0], edge_vertex[f, 1]
            for k in range(3):
                box_out[i, k] = min(vertex_box[a, k], vertex_box[b, k]) - pad
                box_out[i, 3 + k] = max(vertex_box[a, 3 + k], vertex_box[b, 3 + k]) + pad
        else:
            a, b, c = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
            for k in range(3):
                box_out[i, k] = min(vertex_box[a, k], vertex_box[b, k], vertex_box[c, k]) - pad
                box_out[i, 3 + k] = max(vertex_box[a, 3 + k], vertex_box[b, 3 + k], vertex_box[c, 3 + k]) + pad


@jit(into_callers=True)
def boxes_overlap(box, a, b):
    """(7.1), thesis; not where a bound is NaN."""
    return (box[a, 0] <= box[b, 3] and box[b, 0] <= box[a, 3] and box[a, 1] <= box[b, 4] and box[b, 1] <= box[a, 4]
            and box[a, 2] <= box[b, 5] and box[b, 2] <= box[a, 5])


@jit(into_callers=True)
def width(box, a):
    """Size of a node: the sum of its three widths."""
    return box[a, 3] - box[a, 0] + box[a, 4] - box[a, 1] + box[a, 5] - box[a, 2]


@jit(into_callers=True)
def outside_slab(nx, ny, nz, low, high, box, i):
    """(7.5)-(7.12), thesis: whether box i lies beyond a plane n . x = low or n . x = high by more than rounding.

    n_min is low and n_max is -high; P' is the corner of `near`, Q' that of `far`. In print (7.12) has + n_min.
    """
    px, qx = (box[i, 0], box[i, 3]) if nx > 0.0 else (box[i, 3], box[i, 0])
    py, qy = (box[i, 1], box[i, 4]) if ny > 0.0 else (box[i, 4], box[i, 1])
    pz, qz = (box[i, 2], box[i, 5]) if nz > 0.0 else (box[i, 5], box[i, 2])
    near = nx * px + ny * py + nz * pz  # the corner with the least n . x, and the opposite one
    far = nx * qx + ny * qy + nz * qz
    slack = SLACK * (abs(low) + abs(high) + abs(near) + abs(far))
    return near > high + slack or far < low - slack


@jit
def face_slabs(f, face_vertex, start, end, slab_out):
    """Slabs of a swept face, across its normal at both ends of the sweep; returns how many."""
    count = 0
    for at_end in range(2):
        count = add_slab(f, face_vertex, end if at_end else start, slab_out, count)
    for k in range(count):
        for corner in range(3):
            widen(slab_out, k, face_vertex[f, corner], start, end)
    return count


@jit
def edge_slabs(e, edge_vertex, edge_face, face_vertex, start, end, slab_out):
    """Slabs of a swept edge, across the normals of its two faces at both ends of the sweep; returns how many."""
    count = 0
    for side in range(2):
        for at_end in range(2):
            count = add_slab(edge_face[e, side], face_vertex, end if at_end else start, slab_out, count)
    for k in range(count):
        for corner in range(2):
            widen(slab_out, k, edge_vertex[e, corner], start, end)
    return count


@jit
def add_slab(f, face_vertex, p, slab_out, count):
    """Begin a slab across the normal of face f at places p, if no other has this direction; returns the new count."""
    a, b, c = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
    ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    wx, wy, wz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
    x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    for k in range(count):
        n = slab_out[k]
        along = n[0] * x + n[1] * y + n[2] * z
        if along * along >= SAME_SLAB * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (x * x + y * y + z * z):
            return count
    slab_out[count, 0], slab_out[count, 1], slab_out[count, 2] = x, y, z
    slab_out[count, 3], slab_out[count, 4] = 1e300, -1e300
    return count + 1


@jit(into_callers=True)
def widen(slab_out, k, v, start, end):
    """Widen slab k to hold the way of vertex v: eqs. (7.3), (7.4), thesis, (7.3) with the sign it needs."""
    nx, ny, nz = slab_out[k, 0], slab_out[k, 1], slab_out[k, 2]
    one = nx * start[v, 0] + ny * start[v, 1] + nz * start[v, 2]
    other = nx * end[v, 0] + ny * end[v, 1] + nz * end[v, 2]
    slab_out[k, 3] = min(slab_out[k, 3], one, other)
    slab_out[k, 4] = max(slab_out[k, 4], one, other)


@jit
def outside_slabs(slab, count, box, i):
    """Whether box i lies outside any of the slabs (n, low, high)."""
    outside = False
    for k in range(count):
        outside = outside or outside_slab(slab[k, 0], slab[k, 1], slab[k, 2], slab[k, 3], slab[k, 4], box, i)
    return outside
