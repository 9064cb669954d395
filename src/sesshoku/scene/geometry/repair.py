"""Closing and orienting triangle meshes: what can be repaired is, the rest is refused with a word on where it is open.

Order: merge equal vertices, drop degenerate and doubled triangles, fill small holes, refuse what still is no closed
surface, turn the triangles alike, turn shells outward (and cavities inward), refuse what holds no volume.
Self-intersections are not looked for: overlapping closed shells count twice in the mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check

MERGE_DISTANCE = 1e-8  # vertices nearer than this share of the mesh's diagonal are one
SMALL_HOLE_AREA = 0.02  # holes up to this share of the surface are filled; holes of three edges always
FLAT_VOLUME = 1e-9  # smaller volumes, as a share of the diagonal cubed, count as none
REMEDY = "close the mesh in a modelling tool, or load its convex hull"


def check_arrays(vertices: Any, faces: Any, element: str) -> tuple[np.ndarray, np.ndarray]:
    """Finite float64 vertices (n, 3) and int64 faces (m, 3) whose numbers exist; anything else is refused."""
    try:
        if not check.is_numeric(vertices) or not check.is_numeric(faces):
            raise TypeError
        points = np.array(vertices, dtype=np.float64)
        triangles = np.array(faces)
    except (TypeError, ValueError, OverflowError):
        raise SceneError("vertices or faces are not arrays of numbers", element=element,
                         remedy="give rows of 3 coordinates, and rows of 3 vertex numbers") from None
    if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0:
        raise SceneError("vertices must be n rows of 3 coordinates", element=element, value=points.shape)
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise SceneError("faces must be m rows of 3 vertex numbers", element=element, value=triangles.shape,
                         remedy="split polygons into triangles")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise SceneError(f"vertex {bad[0]} is not finite", element=element, value=points[bad[0]].tolist(),
                         remedy="replace NaN and infinity by numbers")
    if np.abs(points).max() > 1e9:
        raise SceneError("a vertex lies more than 1e9 m away", element=element, value=float(np.abs(points).max()),
                         remedy="check the scale")
    if not np.issubdtype(triangles.dtype, np.integer):
        if triangles.dtype.kind != "f" or not np.isfinite(triangles).all() or (triangles % 1 != 0).any():
            raise SceneError("faces must be whole numbers of vertices", element=element, value=str(triangles.dtype),
                             remedy=f"vertices are numbered 0 to {len(points) - 1}")
    triangles = triangles.astype(np.int64)
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
        raise SceneError(f"a face names a vertex outside 0..{len(points) - 1}", element=element,
                         value=[int(triangles.min()), int(triangles.max())])
    return points, triangles


def diagonal(vertices: np.ndarray) -> float:
    """Diagonal of the bounding box (m)."""
    return float(np.linalg.norm(np.ptp(vertices, axis=0)))


def signed_volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Volume (m^3) inside the triangles, positive when they face outward."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _unique_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First index of each distinct row (sorted), the distinct number of every row, counts: a faster np.unique."""
    order = np.lexsort(rows.T[::-1])
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse, np.bincount(inverse)


def merge(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices at the same place become one, in the order of their first appearance."""
    cell = max(MERGE_DISTANCE * diagonal(vertices), 1e-300)
    keys = np.round((vertices - vertices.min(axis=0)) / cell)
    first, inverse, _ = _unique_rows(keys)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return vertices[first[order]], rank[inverse][faces]


def drop_unused(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh without vertices that no face uses."""
    used, renumbered = np.unique(faces, return_inverse=True)
    return vertices[used], renumbered.reshape(faces.shape)


def repaired(vertices: np.ndarray, faces: np.ndarray, element: str,
             repairs: list[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The closed, outward-facing mesh meant by the given one; SceneError where that is not clear.

    repairs: takes a line on the holes that were filled.
    """
    if len(faces) == 0:
        raise SceneError("the mesh has no triangles", element=element)
    vertices, faces = merge(vertices, faces)
    faces = _without_doubles(_without_degenerate(faces))
    if len(faces) == 0:
        raise SceneError("every triangle of the mesh is a line or a point", element=element, remedy="check the scale")
    vertices, faces = _fill_holes(vertices, faces, element, [] if repairs is None else repairs)
    vertices, faces = drop_unused(vertices, faces)
    _refuse_branches(vertices, faces, element)
    turned = oriented(faces)
    if turned is None:
        raise SceneError("the surface has only one side (its triangles cannot all face outward)", element=element,
                         remedy=REMEDY)
    faces = _outward(vertices, turned)
    volume = signed_volume(vertices - vertices.mean(axis=0), faces)
    if volume <= FLAT_VOLUME * diagonal(vertices) ** 3:
        raise SceneError("the mesh is flat: it encloses no volume", element=element, value=volume,
                         remedy="give it a thickness")
    return vertices, faces


def _without_degenerate(faces: np.ndarray) -> np.ndarray:
    # slivers with three distinct vertices stay: they hold no volume but keep the surface closed
    a, b, c = faces.T
    return faces[(a != b) & (b != c) & (c != a)]


def _without_doubles(faces: np.ndarray) -> np.ndarray:
    """One triangle per vertex set; a doubled triangle that stands out of a closed surface as a flap goes altogether."""
    first, _, count = _unique_rows(np.sort(faces, axis=1))
    kept = faces[np.sort(first)]
    doubled = (count > 1)[np.argsort(first)]
    if not doubled.any():
        return kept
    _, edge_of_side, edge_faces = _edges(kept)
    crowded = (edge_faces[edge_of_side].reshape(3, -1) > 2).any(axis=0)
    return kept[~(doubled & crowded)]


def _edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Undirected edges (k, 2), the edge of every side (3 m: all first sides, all second, all third), faces per edge."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ends = np.sort(sides, axis=1)
    first, inverse, count = _unique_rows(ends)
    return ends[first], inverse, count


def _fill_holes(vertices: np.ndarray, faces: np.ndarray, element: str,
                repairs: list[str]) -> tuple[np.ndarray, np.ndarray]:
    edges, _, count = _edges(faces)
    open_edges = edges[count == 1]
    if len(open_edges) == 0:
        return vertices, faces
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    surface_area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    loops = _loops(open_edges, vertices, element)
    repairs.append(f"{'a hole' if len(loops) == 1 else f'{len(loops)} holes'} in the mesh filled "
                   f"({len(open_edges)} open edges)")
    for loop in loops:
        if len(loop) == 3:
            faces = np.vstack([faces, loop])
            continue
        middle = vertices[loop].mean(axis=0)
        ring = vertices[loop] - middle
        area = 0.5 * np.linalg.norm(np.cross(ring, np.roll(ring, -1, axis=0)), axis=1).sum()
        if area > SMALL_HOLE_AREA * surface_area:
            length = float(np.linalg.norm(ring - np.roll(ring, -1, axis=0), axis=1).sum())
            raise SceneError(
                f"the mesh is open: a hole of {len(loop)} edges, {length:.3g} m around, at {_place(middle)}",
                element=element, value=f"{len(open_edges)} open edges", remedy=REMEDY)
        fan = np.stack([loop, np.roll(loop, -1), np.full(len(loop), len(vertices))], axis=1)
        vertices, faces = np.vstack([vertices, middle]), np.vstack([faces, fan])
    return vertices, faces


def _loops(open_edges: np.ndarray, vertices: np.ndarray, element: str) -> list[np.ndarray]:
    """The closed chains that open edges form, each as vertex numbers in order."""
    neighbours: dict[int, list[int]] = {}
    for a, b in open_edges.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    for vertex, ends in neighbours.items():
        if len(ends) != 2:
            raise SceneError(f"the mesh is open: {len(ends)} open edges meet at {_place(vertices[vertex])}",
                             element=element, value=f"{len(open_edges)} open edges", remedy=REMEDY)
    loops, seen = [], set()
    for start in neighbours:
        if start in seen:
            continue
        loop, before, vertex = [start], -1, start
        while True:
            seen.add(vertex)
            one, other = neighbours[vertex]
            before, vertex = vertex, other if one == before else one
            if vertex == start:
                break
            loop.append(vertex)
        loops.append(np.array(loop, dtype=np.int64))
    return loops


def _refuse_branches(vertices: np.ndarray, faces: np.ndarray, element: str) -> None:
    edges, _, count = _edges(faces)
    wrong = np.flatnonzero(count != 2)
    if len(wrong):
        place = _place(vertices[edges[wrong[0]]].mean(axis=0))
        raise SceneError(f"the mesh branches: an edge at {place} belongs to {count[wrong[0]]} triangles",
                         element=element, value=f"{len(wrong)} such edges", remedy=REMEDY)


def _place(point: np.ndarray) -> str:
    return "({:.4g}, {:.4g}, {:.4g})".format(*point)


def _neighbours(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of faces (k, 2) across each edge of two faces, and whether they run along it in opposite directions."""
    _, edge_of_side, count = _edges(faces)
    order = np.argsort(edge_of_side, kind="stable")
    order = order[count[edge_of_side[order]] == 2]
    face, side = order % len(faces), order // len(faces)
    forward = faces[face, side] < faces[face, (side + 1) % 3]
    return face.reshape(-1, 2), forward[0::2] != forward[1::2]


def face_components(faces: np.ndarray) -> np.ndarray:
    """The number of the shell each face belongs to (faces joined across edges)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    pairs, _ = _neighbours(faces)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(faces),) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def oriented(faces: np.ndarray) -> np.ndarray | None:
    """Faces of a closed surface turned so that all neighbours agree; None if it is not closed or has only one side."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order

    pairs, agree = _neighbours(faces)
    if 2 * len(pairs) != 3 * len(faces):
        return None
    flipped = np.zeros(len(faces), dtype=bool)
    if not agree.all():
        # two faces may share several edges; if those disagree, the check after the walk finds out
        graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(faces),) * 2).tocsr()
        agrees = {(a, b): ok for (a, b), ok in zip(pairs.tolist(), agree.tolist(), strict=True)}
        shells = face_components(faces)
        for root in np.unique(shells, return_index=True)[1]:
            order, parent = breadth_first_order(graph, root, directed=False)
            for face in order[1:].tolist():
                before = int(parent[face])
                ok = agrees[before, face] if (before, face) in agrees else agrees[face, before]
                flipped[face] = flipped[before] != (not ok)
        if (agree != (flipped[pairs[:, 0]] == flipped[pairs[:, 1]])).any():
            return None
        for shell in range(shells.max() + 1):  # keep the way most of the shell was facing
            member = shells == shell
            if 2 * flipped[member].sum() > member.sum():
                flipped[member] ^= True
    result = faces.copy()
    result[flipped] = result[flipped][:, ::-1]
    return result


def _outward(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Turn shells outward. A shell that faces inward and lies inside another stays: it is a cavity."""
    points = vertices - vertices.mean(axis=0)
    if signed_volume(points, faces) < 0.0:
        faces = faces[:, ::-1].copy()
    shells = face_components(faces)
    if shells.max() == 0:
        return faces
    result = faces.copy()
    for shell in range(shells.max() + 1):
        member = shells == shell
        own = faces[member]
        if signed_volume(points, own) < 0.0 and not _inside(points[own[0, 0]], points, faces[~member]):
            result[member] = own[:, ::-1]
    return result


def _inside(point: np.ndarray, vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Whether a point lies within closed shells: the solid angle they span seen from it is not zero."""
    a, b, c = (vertices[faces[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(edge, axis=1) for edge in (a, b, c))
    triple = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = (la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la
             + np.einsum("ij,ij->i", c, a) * lb)
    return abs(np.arctan2(triple, below).sum()) > np.pi  # half of the 4 pi of one full enclosure, in half angles
