"""What collision asks of a convex polyhedron beside its triangles: flat faces as polygons, and who neighbours whom.

Triangles that lie in one plane (to `FLAT` of the diagonal: meshes from files are often rounded to single precision)
become one polygon, counter-clockwise seen from outside, so that a face contact gives the corners of the face and no
diagonals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import SHAPE_CONVEX

FLAT = 1e-6  # a corner this share of the diagonal off a face's plane still belongs to the face
MOST_CORNERS = 48  # of a polygon; rounder ones are thinned out evenly for contact points (their hull stays whole)


def polyhedron_arrays(shapes: dict[str, Any]) -> dict[str, Any]:
    """Polygons, neighbours and faces around vertices of all convex polyhedra."""
    shape_polygon: list[list[int]] = []
    polygon_start, neighbour_start, around_start = [0], [0], [0]
    corners: list[int] = []
    neighbours: list[int] = []
    around: list[int] = []
    normals: list[np.ndarray] = []
    offsets: list[float] = []
    for shape in range(shapes["shape_count"]):
        first = len(normals)
        if shapes["shape_type"][shape] == SHAPE_CONVEX:
            vertices = shapes["vertices"][slice(*shapes["shape_vertex"][shape])]
            polygons, piece_normals = flat_faces(vertices, shapes["faces"][slice(*shapes["shape_face"][shape])])
            for polygon in polygons:
                step = np.arange(min(len(polygon), MOST_CORNERS)) * len(polygon) // min(len(polygon), MOST_CORNERS)
                corners.extend(np.array(polygon)[step])
                polygon_start.append(len(corners))
            normals.extend(piece_normals)
            offsets.extend(float((vertices @ normal).max()) for normal in piece_normals)
            near: list[set[int]] = [set() for _ in vertices]
            faces_at: list[set[int]] = [set() for _ in vertices]
            for number, polygon in enumerate(polygons):
                for i, j in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
                    near[i].add(j)
                    near[j].add(i)
                    faces_at[i].add(first + number)
            for i in range(len(vertices)):
                neighbours.extend(sorted(near[i]))
                around.extend(sorted(faces_at[i]))
                neighbour_start.append(len(neighbours))
                around_start.append(len(around))
        shape_polygon.append([first, len(normals)])
    return {
        "shape_polygon": np.array(shape_polygon, dtype=np.int64).reshape(-1, 2),
        "polygon_start": np.array(polygon_start, dtype=np.int64), "polygon_corner": np.array(corners, dtype=np.int64),
        "polygon_normal": np.array(normals, dtype=np.float64).reshape(-1, 3),
        "polygon_offset": np.array(offsets, dtype=np.float64),
        "neighbour_start": np.array(neighbour_start, dtype=np.int64), "neighbour": np.array(neighbours, dtype=np.int64),
        "around_start": np.array(around_start, dtype=np.int64), "around": np.array(around, dtype=np.int64),
    }


def flat_faces(vertices: np.ndarray, triangles: np.ndarray,
               flat: float = FLAT) -> tuple[list[list[int]], list[np.ndarray]]:
    """Polygons (vertex numbers, counter-clockwise from outside) with unit outward normals, largest triangle first."""
    reach = flat * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    doubled = np.cross(b - a, c - a)
    area = np.linalg.norm(doubled, axis=1)
    owner = {(int(t[k]), int(t[(k + 1) % 3])): f for f, t in enumerate(triangles) for k in range(3)}
    taken = np.zeros(len(triangles), dtype=bool)
    polygons: list[list[int]] = []
    normals: list[np.ndarray] = []
    for seed in np.argsort(-area, kind="stable"):
        if taken[seed]:
            continue
        normal = doubled[seed] / area[seed] if area[seed] > 0.0 else np.array([0.0, 0.0, 1.0])
        height = vertices @ normal - vertices[triangles[seed, 0]] @ normal
        members, front = [int(seed)], [int(seed)]
        taken[seed] = True
        while front:
            t = triangles[front.pop()]
            for k in range(3):
                other = owner.get((int(t[(k + 1) % 3]), int(t[k])))
                if other is None or taken[other] or np.abs(height[triangles[other]]).max() > reach:
                    continue
                taken[other] = True
                members.append(other)
                front.append(other)
        loop = _outline(triangles[members])
        if loop is None:  # no single outline (slivers): keep the triangles apart
            polygons.extend([[int(v) for v in triangles[f]] for f in members])
            normals.extend([doubled[f] / area[f] if area[f] > 0.0 else normal for f in members])
        else:
            polygons.append(loop)
            normals.append(_polygon_normal(vertices[loop], normal))
    return polygons, normals


def _outline(triangles: np.ndarray) -> list[int] | None:
    """The edges that occur in one direction only, in order, if they form one ring."""
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    following = {i: j for i, j in edges if (j, i) not in edges}
    if len(following) != sum((j, i) not in edges for i, j in edges):
        return None
    start = min(following)
    loop = [start]
    while following[loop[-1]] != start and len(loop) <= len(following):
        loop.append(following[loop[-1]])
    return loop if len(loop) == len(following) else None


def _polygon_normal(corners: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Newell's normal: the mean over the whole polygon."""
    arms = corners - corners[0]
    doubled = np.cross(arms[1:-1], arms[2:]).sum(axis=0)
    length = float(np.linalg.norm(doubled))
    return doubled / length if length > 0.0 else near
