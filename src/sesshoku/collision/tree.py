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
def refit(node, first, last, edge_vertex, face_vertex, start, end, pad, box_out):
    """Boxes (low, high) of nodes first .. last - 1 around primitives that move from `start` to `end` (V, 3)."""
    for i in range(last - 1, first - 1, -1):
        kind, f = node[i, 2], node[i, 3]
        if node[i, 0] >= 0:
            one, other = node[i, 0], node[i, 1]
            for k in range(3):
                box_out[i, k] = min(box_out[one, k], box_out[other, k])
                box_out[i, 3 + k] = max(box_out[one, 3 + k], box_out[other, 3 + k])
            continue
        for k in range(3):
            if kind == VERTEX:
                low, high = min(start[f, k], end[f, k]), max(start[f, k], end[f, k])
            elif kind == EDGE:
                a, b = edge_vertex[f, 0], edge_vertex[f, 1]
                low = min(min(start[a, k], end[a, k]), min(start[b, k], end[b, k]))
                high = max(max(start[a, k], end[a, k]), max(start[b, k], end[b, k]))
            else:
                a, b, c = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
                low = min(min(start[a, k], end[a, k]), min(start[b, k], end[b, k]), min(start[c, k], end[c, k]))
                high = max(max(start[a, k], end[a, k]), max(start[b, k], end[b, k]), max(start[c, k], end[c, k]))
            box_out[i, k] = low - pad
            box_out[i, 3 + k] = high + pad


@jit(into_callers=True)
def boxes_overlap(box, a, b):
    """(7.1); not where a bound is NaN."""
    return (box[a, 0] <= box[b, 3] and box[b, 0] <= box[a, 3] and box[a, 1] <= box[b, 4] and box[b, 1] <= box[a, 4]
            and box[a, 2] <= box[b, 5] and box[b, 2] <= box[a, 5])  # fmt: skip


@jit(into_callers=True)
def width(box, a):
    """Size of a node: the sum of its three widths."""
    return box[a, 3] - box[a, 0] + box[a, 4] - box[a, 1] + box[a, 5] - box[a, 2]


@jit
def outside_slab(nx, ny, nz, low, high, box, i):
    """Whether box i lies beyond one of the planes n . x = low, n . x = high, by more than rounding (7.3 - 7.12)."""
    px, qx = (box[i, 0], box[i, 3]) if nx > 0.0 else (box[i, 3], box[i, 0])
    py, qy = (box[i, 1], box[i, 4]) if ny > 0.0 else (box[i, 4], box[i, 1])
    pz, qz = (box[i, 2], box[i, 5]) if nz > 0.0 else (box[i, 5], box[i, 2])
    near = nx * px + ny * py + nz * pz  # the corner with the least n . x, and the opposite one
    far = nx * qx + ny * qy + nz * qz
    slack = SLACK * (abs(low) + abs(high) + abs(near) + abs(far))
    return near > high + slack or far < low - slack


@jit
def face_apart(f, face_vertex, start, end, box, i):
    """Whether box i lies outside the slab of a swept face, across its normal at either end of the sweep."""
    a, b, c = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
    for at_end in range(2):
        p = end if at_end else start
        ux, uy, uz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
        wx, wy, wz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        low, high = 1e300, -1e300
        for v in (a, b, c):
            one = nx * start[v, 0] + ny * start[v, 1] + nz * start[v, 2]
            other = nx * end[v, 0] + ny * end[v, 1] + nz * end[v, 2]
            low, high = min(low, one, other), max(high, one, other)
        if outside_slab(nx, ny, nz, low, high, box, i):
            return True
    return False


@jit
def edge_apart(e, edge_vertex, edge_face, face_vertex, start, end, box, i):
    """Whether box i lies outside a slab of a swept edge, across the normals of its two faces at either end."""
    a, b = edge_vertex[e, 0], edge_vertex[e, 1]
    for side in range(2):
        f = edge_face[e, side]
        i0, i1, i2 = face_vertex[f, 0], face_vertex[f, 1], face_vertex[f, 2]
        for at_end in range(2):
            p = end if at_end else start
            ux, uy, uz = p[i1, 0] - p[i0, 0], p[i1, 1] - p[i0, 1], p[i1, 2] - p[i0, 2]
            wx, wy, wz = p[i2, 0] - p[i0, 0], p[i2, 1] - p[i0, 1], p[i2, 2] - p[i0, 2]
            nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            low, high = 1e300, -1e300
            for v in (a, b):
                one = nx * start[v, 0] + ny * start[v, 1] + nz * start[v, 2]
                other = nx * end[v, 0] + ny * end[v, 1] + nz * end[v, 2]
                low, high = min(low, one, other), max(high, one, other)
            if outside_slab(nx, ny, nz, low, high, box, i):
                return True
    return False
