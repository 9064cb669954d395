"""Shrunken copies of polyhedra: every face plane moved into the solid by a margin, vertex by vertex.

The offset d of a vertex solves n_f . d = -margin for all faces f around it:

| distinct normals around the vertex | offset |
|---|---|
| one (inside a flat patch) | -margin n |
| two (inside a straight edge) | the smallest that meets both |
| three, independent | the one solution |
| more, or dependent | the smallest with n_f . d <= -margin for all |
| the same, where there is none (saddles) | least squares; if that moves a plane outward, the nearest that moves none |

Reflex edges need nothing special: the same equations move both of their faces into the solid. The margin of a shape
is halved until no edge turns back, no triangle's normal turns by 90 degrees or more, and no vertex passes through
another face. A convex shape with needles that allow little or none (hulls of robots' meshes) is scaled down about its
middle instead, so that no face moves by more than the margin: that turns nothing over, and faces near the middle move
less.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sesshoku.collision.swept.polyhedra import Polyhedron
from sesshoku.collision.swept.tree import FACE, build, refit
from sesshoku.compiled.jit import jit
from sesshoku.errors import SceneError

SAME = 1e-6  # normals closer than this are one
DEPENDENT = 1e-9  # three normals whose determinant is smaller are dependent
LONGEST = 1e3  # offsets longer than this many margins come of ill-matched planes, not of a corner
LEAST = 1e-6  # smallest margin that halving may lead to, as a share of the shape's diagonal
FEW = 0.2  # of the margin: where no more than this is left, a convex shape may rather be scaled
KEPT = 0.01  # share of its length that every edge keeps at least


def shrink(mesh: Polyhedron, margin: float, element: str) -> tuple[np.ndarray, float]:
    """Shrunken vertices (V, 3) and the margin (m) really applied: the wanted one, halved as often as it must be."""
    directions = vertex_offsets(mesh)  # for a margin of one
    tree = face_tree(mesh.vertices, mesh.faces)
    reach, scaled = margin, None
    while reach == margin or reach > LEAST * mesh.diagonal:
        if reach < FEW * margin:
            scaled = scale_down(mesh, margin) if scaled is None else scaled
            if scaled is not None and scaled[1] > reach:
                return scaled
        inner = mesh.vertices + reach * directions
        if _keeps_shape(mesh, inner) and not passes_through(mesh.vertices, inner, mesh.faces, *tree):
            return inner, reach
        reach *= 0.5
    scaled = scale_down(mesh, margin)
    if scaled is not None:
        return scaled
    raise SceneError(f"the mesh has no shrunken copy: even {LEAST:g} of its size turns a triangle over",
                     element=element, value=margin, remedy="remove needles and folds from the mesh, or load its hull")


def scale_down(mesh: Polyhedron, margin: float) -> tuple[np.ndarray, float] | None:
    """A convex shape about its middle so much smaller that its farthest face moves by the margin; how far the nearest
    does. None where the shape is not convex."""
    middle = mesh.vertices.mean(axis=0)
    real = mesh.face_area > 1e-12 * mesh.diagonal**2  # slivers have no normal
    normals, corners = mesh.face_normal[real], mesh.vertices[mesh.faces[real, 0]]
    heights = np.einsum("ij,ij->i", normals, corners - middle)
    beyond = (mesh.vertices - middle) @ normals.T - heights
    if heights.min() <= LEAST * mesh.diagonal or beyond.max() > 1e-6 * mesh.diagonal:
        return None
    share = min(margin / float(heights.max()), 0.5)
    return middle + (1.0 - share) * (mesh.vertices - middle), share * float(heights.min())


def vertex_offsets(mesh: Polyhedron) -> np.ndarray:
    """Offset (V, 3) of every vertex for a margin of one."""
    offsets = np.zeros_like(mesh.vertices)
    work = np.zeros((max(map(len, mesh.vertex_patches)), 3))
    for offset, patches in zip(offsets, mesh.vertex_patches, strict=True):
        vertex_offset(np.ascontiguousarray(mesh.patch_normal[patches]), work, offset)
    return offsets


def face_tree(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, boxes and stack of a tree over the faces at rest."""
    corners = vertices[faces]
    node, depth = build(np.full(len(faces), FACE), np.arange(len(faces)), corners.min(axis=1), corners.max(axis=1))
    box = np.zeros((len(node), 6))
    refit(node, (0, len(node)), (np.zeros((0, 2), dtype=np.int64), faces), np.hstack([vertices, vertices]), 0.0, box)
    return node, box, np.zeros(depth + 2, dtype=np.int64)


def _keeps_shape(mesh: Polyhedron, inner: np.ndarray) -> bool:
    """Whether no edge turned back and no triangle turned over."""
    a, b = mesh.edge_vertex.T
    before, after = mesh.vertices[b] - mesh.vertices[a], inner[b] - inner[a]
    if (np.einsum("ij,ij->i", before, after) < KEPT * np.einsum("ij,ij->i", before, before)).any():
        return False
    p, q, r = (inner[mesh.faces[:, k]] for k in range(3))
    doubled = np.cross(q - p, r - p)
    real = mesh.face_area > 1e-12 * mesh.diagonal**2  # slivers have no normal to turn
    return bool((np.einsum("ij,ij->i", doubled, mesh.face_normal)[real] > 0.0).all())


@jit
def vertex_offset(normals, distinct, offset_out):
    """The table above for one vertex. normals (n, 3) unit; distinct: work space (n, 3)."""
    n = 0
    for i in range(len(normals)):
        known = False
        for j in range(n):
            known = known or (abs(normals[i, 0] - distinct[j, 0]) < SAME and abs(normals[i, 1] - distinct[j, 1]) < SAME
                              and abs(normals[i, 2] - distinct[j, 2]) < SAME)
        if not known:
            for k in range(3):
                distinct[n, k] = normals[i, k]
            n += 1
    if n == 3 and solve_three(distinct, offset_out):
        return
    if not smallest(distinct, n, 1.0, offset_out):
        least_squares(distinct, n, offset_out)
        if worst(distinct, n, offset_out) > 0.0 and not smallest(distinct, n, 0.0, offset_out):
            for k in range(3):
                offset_out[k] = 0.0


@jit
def worst(normals, n, offset):
    """How far the plane that moves outward most does so."""
    most = -1e300
    for i in range(n):
        most = max(most, normals[i, 0] * offset[0] + normals[i, 1] * offset[1] + normals[i, 2] * offset[2])
    return most


@jit
def solve_three(n, offset_out):
    """n_i . d = -1 for three independent normals; False if they are dependent or the offset out of all proportion."""
    c0x, c0y, c0z = cross(n[1, 0], n[1, 1], n[1, 2], n[2, 0], n[2, 1], n[2, 2])
    c1x, c1y, c1z = cross(n[2, 0], n[2, 1], n[2, 2], n[0, 0], n[0, 1], n[0, 2])
    c2x, c2y, c2z = cross(n[0, 0], n[0, 1], n[0, 2], n[1, 0], n[1, 1], n[1, 2])
    det = n[0, 0] * c0x + n[0, 1] * c0y + n[0, 2] * c0z
    if abs(det) < DEPENDENT:
        return False
    x, y, z = -(c0x + c1x + c2x) / det, -(c0y + c1y + c2y) / det, -(c0z + c1z + c2z) / det
    if x * x + y * y + z * z > LONGEST * LONGEST:
        return False
    offset_out[0], offset_out[1], offset_out[2] = x, y, z
    return True


@jit(into_callers=True)
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@jit
def smallest(normals, n, depth, offset):
    """Move `offset` to the nearest d with n_i . d <= -depth for all i (from zero if depth > 0); False if there is none.

    Planes are added one by one; where one is violated the solution lies on it, and the planes before it are gone
    through again in that plane, then in the line where two meet.
    """
    sx, sy, sz = (0.0, 0.0, 0.0) if depth > 0.0 else (offset[0], offset[1], offset[2])
    x, y, z = sx, sy, sz
    slack = 1e-12
    for i in range(n):
        ax, ay, az = normals[i, 0], normals[i, 1], normals[i, 2]
        if ax * x + ay * y + az * z <= -depth + slack:
            continue
        move = -depth - (ax * sx + ay * sy + az * sz)
        x, y, z = sx + move * ax, sy + move * ay, sz + move * az
        for j in range(i):
            bx, by, bz = normals[j, 0], normals[j, 1], normals[j, 2]
            if bx * x + by * y + bz * z <= -depth + slack:
                continue
            dx, dy, dz = cross(ax, ay, az, bx, by, bz)
            sine2 = dx * dx + dy * dy + dz * dz
            if sine2 < SAME * SAME:
                return False  # opposite normals: a fold without thickness
            cosine = ax * bx + ay * by + az * bz
            p = -depth - (ax * sx + ay * sy + az * sz)
            q = -depth - (bx * sx + by * sy + bz * sz)
            u, w = (p - cosine * q) / sine2, (q - cosine * p) / sine2
            x, y, z = sx + u * ax + w * bx, sy + u * ay + w * by, sz + u * az + w * bz
            low, high = -1e300, 1e300  # along the line x + s d
            for k in range(j):
                c = normals[k, 0] * dx + normals[k, 1] * dy + normals[k, 2] * dz
                room = -depth - (normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z)
                if abs(c) <= 1e-12:
                    if room < -1e-9:
                        return False
                elif c > 0.0:
                    high = min(high, room / c)
                else:
                    low = max(low, room / c)
            if low > high + 1e-9 / sqrt(sine2):
                return False
            s = min(max(0.0, low), high) if low <= high else 0.5 * (low + high)
            x, y, z = x + s * dx, y + s * dy, z + s * dz
    if x * x + y * y + z * z > LONGEST * LONGEST:
        return False
    offset[0], offset[1], offset[2] = x, y, z
    return True


@jit
def least_squares(normals, n, offset_out):
    """The d that comes nearest to n_i . d = -1 for all i; the smallest one where there are several."""
    xx, xy, xz, yy, yz, zz, bx, by, bz = 1e-9, 0.0, 0.0, 1e-9, 0.0, 1e-9, 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = normals[i, 0], normals[i, 1], normals[i, 2]
        xx, xy, xz, yy, yz, zz = xx + x * x, xy + x * y, xz + x * z, yy + y * y, yz + y * z, zz + z * z
        bx, by, bz = bx - x, by - y, bz - z
    cx, cy, cz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * cx + xy * cy + xz * cz
    offset_out[0] = (cx * bx + cy * by + cz * bz) / det
    offset_out[1] = (cy * bx + (xx * zz - xz * xz) * by + (xy * xz - xx * yz) * bz) / det
    offset_out[2] = (cz * bx + (xy * xz - xx * yz) * by + (xx * yy - xy * xy) * bz) / det


@jit
def passes_through(vertices, inner, faces, node, box, stack):
    """Whether the way of any vertex from its old place to its new one crosses a face that it is no corner of."""
    for v in range(len(vertices)):
        p, q = vertices[v], inner[v]
        stack[0] = 0
        height = 1
        while height > 0:
            height -= 1
            i = stack[height]
            if (max(p[0], q[0]) < box[i, 0] or min(p[0], q[0]) > box[i, 3] or max(p[1], q[1]) < box[i, 1]
                    or min(p[1], q[1]) > box[i, 4] or max(p[2], q[2]) < box[i, 2] or min(p[2], q[2]) > box[i, 5]):
                continue
            if node[i, 0] >= 0:
                stack[height], stack[height + 1] = node[i, 0], node[i, 1]
                height += 2
                continue
            a, b, c = faces[node[i, 3], 0], faces[node[i, 3], 1], faces[node[i, 3], 2]
            if a != v and b != v and c != v and crosses(p, q, vertices[a], vertices[b], vertices[c]):
                return True
    return False


@jit
def crosses(p, q, a, b, c):
    """Whether the segment p q meets the triangle a b c."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    wx, wy, wz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = cross(ux, uy, uz, wx, wy, wz)
    start = nx * (p[0] - a[0]) + ny * (p[1] - a[1]) + nz * (p[2] - a[2])
    end = nx * (q[0] - a[0]) + ny * (q[1] - a[1]) + nz * (q[2] - a[2])
    if start == 0.0 or start * end > 0.0:  # surfaces that touch already do not cross by that
        return False
    s = start / (start - end)
    x, y, z = p[0] + s * (q[0] - p[0]) - a[0], p[1] + s * (q[1] - p[1]) - a[1], p[2] + s * (q[2] - p[2]) - a[2]
    gx, gy, gz = cross(ux, uy, uz, x, y, z)
    hx, hy, hz = cross(x, y, z, wx, wy, wz)
    area = nx * nx + ny * ny + nz * nz
    w = (gx * nx + gy * ny + gz * nz) / area
    u = (hx * nx + hy * ny + hz * nz) / area
    return u >= 0.0 and w >= 0.0 and u + w <= 1.0
