"""The polyhedra that stand for shapes where a method works on triangle meshes, and the edge-centred lists of a mesh.

Stated meshes (vertices, triangles):

| shape | mesh |
|---|---|
| box | itself: 8, 12 |
| cylinder | inscribed prism of 24 sides, caps fanned from their centres: 50, 96 |
| sphere | icosahedron divided twice, corners on the sphere: 162, 320 |
| ellipsoid | the sphere's, stretched: 162, 320 |
| height field | its triangles, walls around them and a foot, closed |
| capsule | inscribed: 24 around, 6 rings to each pole: 290, 576 |
| plane | slab 2000 m wide (or 200 times the largest shape) whose top is the plane, a twentieth of that thick: 8, 12 |
| convex mesh, triangle mesh | their own triangles, concave as they are, after the scene's repair |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.geometry.shapes import Box, Ellipsoid, Plane, Shape, Sphere
from sesshoku.scene.geometry.surfaces import surface

ROUND_STEPS = 24  # corners around a cylinder or capsule
SPHERE_DIVISIONS = 2  # of the icosahedron
SLAB_WIDTH, SLAB_WIDTHS, SLAB_THICKNESS = 2000.0, 200.0, 0.05  # m; of the largest shape's diagonal; of the width
FLAT = 1e-6  # corners this share of the diagonal off a plane still lie in it: files are rounded to single precision
SLIVER = 1e-9  # a triangle lower than this share of its longest edge has no normal of its own


def solid(shape: Shape, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and outward triangles (m, 3) of the closed mesh for a shape, in the shape's frame.

    largest: diagonal (m) of the largest shape of the scene, which a slab must exceed by far.
    """
    if isinstance(shape, Sphere):
        return _icosphere(shape.radius)
    if isinstance(shape, Ellipsoid):
        vertices, faces = _icosphere(1.0)
        return vertices * np.array(shape.radii), faces
    if isinstance(shape, Plane):
        width = max(SLAB_WIDTH, SLAB_WIDTHS * largest)
        vertices, faces = surface(Box((width, width, SLAB_THICKNESS * width)))
        vertices = vertices - np.array([0.0, 0.0, 0.5 * SLAB_THICKNESS * width])
        return vertices, faces
    return surface(shape, ROUND_STEPS)


def _icosphere(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """An icosahedron whose triangles are cut in four, with all corners pushed out onto the sphere."""
    g = 0.5 * (1.0 + np.sqrt(5.0))
    points = [np.array(p) / np.hypot(1.0, g) for p in (
        (-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
        (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1))]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
             (8, 6, 7), (9, 8, 1)]
    for _ in range(SPHERE_DIVISIONS):
        middles: dict[tuple[int, int], int] = {}
        finer = []
        for triangle in faces:
            cut = []
            for i, j in zip(triangle, (*triangle[1:], triangle[0]), strict=True):
                ends = (min(i, j), max(i, j))
                if ends not in middles:
                    middle = points[i] + points[j]
                    middles[ends] = len(points)
                    points.append(middle / np.linalg.norm(middle))
                cut.append(middles[ends])
            a, b, c = triangle
            p, q, r = cut
            finer += [(a, p, r), (b, q, p), (c, r, q), (p, q, r)]
        faces = finer
    return radius * np.array(points), np.array(faces, dtype=np.int64)


@dataclass(frozen=True)
class Polyhedron:
    """The edge-centred lists (5.1) of one closed, oriented triangle mesh, with what follows from its geometry."""

    vertices: np.ndarray  # (V, 3)
    faces: np.ndarray  # (F, 3) counter-clockwise from outside
    face_edge: np.ndarray  # (F, 3) edge from corner k to corner k + 1
    face_normal: np.ndarray  # (F, 3) unit; slivers take their patch's
    face_area: np.ndarray  # (F)
    face_patch: np.ndarray  # (F) coplanar patch
    patch_normal: np.ndarray  # (P, 3)
    patch_area: np.ndarray  # (P)
    edge_vertex: np.ndarray  # (E, 2) a, b
    edge_face: np.ndarray  # (E, 2) the face that runs b -> a ("right"), the one that runs a -> b ("left")
    edge_flat: np.ndarray  # (E) bool: both faces in one patch
    edge_concave: np.ndarray  # (E) bool: reflex, the faces look at each other
    vertex_normal: np.ndarray  # (V, 3) mean of the normals around, weighted by angle
    vertex_patches: list[list[int]]  # patches around each vertex, sorted
    diagonal: float


def polyhedron(vertices: np.ndarray, faces: np.ndarray, element: str) -> Polyhedron:
    """The lists of a mesh; SceneError if it is not closed and oriented (each edge in two faces, run both ways)."""
    edge_vertex, edge_face, face_edge = _edges(vertices, faces, element)
    diagonal = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    doubled = np.cross(b - a, c - a)
    length = np.linalg.norm(doubled, axis=1)
    longest = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    sliver = length <= SLIVER * longest**2
    normal = np.divide(doubled, length[:, None], out=np.zeros_like(doubled), where=~sliver[:, None])
    patch, patch_normal = _patches(vertices, faces, edge_face[face_edge], normal, length, sliver, diagonal)
    normal[sliver] = patch_normal[patch[sliver]]
    right, left = edge_face.T
    flat = patch[right] == patch[left]
    run = vertices[edge_vertex[:, 1]] - vertices[edge_vertex[:, 0]]
    # the left face lies to the left of a -> b seen from outside: over a convex edge the normal turns about a -> b
    bend = np.einsum("ij,ij->i", np.cross(normal[left], normal[right]), run)
    around: list[set[int]] = [set() for _ in vertices]
    for f, triangle in enumerate(faces.tolist()):
        for v in triangle:
            around[v].add(int(patch[f]))
    return Polyhedron(
        vertices, faces, face_edge, normal, 0.5 * length, patch, patch_normal,
        np.bincount(patch, weights=0.5 * length, minlength=len(patch_normal)), edge_vertex, edge_face, flat,
        ~flat & (bend < 0.0), _vertex_normals(vertices, faces, normal), [sorted(found) for found in around], diagonal)


def _edges(vertices: np.ndarray, faces: np.ndarray, element: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (E, 2) with a < b, their right and left faces (E, 2), the edges of every face (F, 3)."""
    start, end = faces, np.roll(faces, -1, axis=1)
    low, high = np.minimum(start, end).ravel(), np.maximum(start, end).ravel()
    key, edge = np.unique(low * len(vertices) + high, return_inverse=True)
    edge_vertex = np.stack([key // len(vertices), key % len(vertices)], axis=1)
    edge_face = np.full((len(key), 2), -1, dtype=np.int64)
    forward = (start < end).ravel().astype(np.int64)  # runs a -> b: the left face
    owner = np.repeat(np.arange(len(faces)), 3)
    edge_face[edge, forward] = owner
    if (edge_face < 0).any() or len(owner) != 2 * len(key):
        bad = np.flatnonzero((edge_face < 0).any(axis=1))
        where = vertices[edge_vertex[bad[0]]].mean(axis=0).tolist() if len(bad) else None
        raise SceneError("the mesh is not closed and oriented: an edge is not shared by two triangles that run along "
                         "it in opposite directions", element=element, value=where,
                         remedy="close the mesh in a modelling tool, or load its convex hull")
    return edge_vertex, edge_face, edge.reshape(-1, 3)


def _patches(vertices: np.ndarray, faces: np.ndarray, side_faces: np.ndarray, normal: np.ndarray, area: np.ndarray,
             sliver: np.ndarray, diagonal: float) -> tuple[np.ndarray, np.ndarray]:
    """Coplanar patch of every face and the patches' normals: grown across edges from the largest triangle."""
    reach = FLAT * diagonal
    patch = [-1] * len(faces)
    normals: list[np.ndarray] = []
    # plain lists: the walk looks at three numbers at a time, where NumPy would be slow
    beyond = np.where(side_faces[:, :, 0] == np.arange(len(faces))[:, None], side_faces[:, :, 1], side_faces[:, :, 0])
    neighbours, corners, points = beyond.tolist(), faces.tolist(), vertices.tolist()
    directions, no_normal = normal.tolist(), sliver.tolist()
    for seed in np.argsort(-area, kind="stable").tolist():
        if patch[seed] >= 0:
            continue
        plane = seed
        if no_normal[seed]:  # never reached from a real face: take the plane of a neighbour
            plane = max(neighbours[seed], key=lambda f: area[f])
        x, y, z = directions[plane]
        px, py, pz = points[corners[seed][0]]
        level = x * px + y * py + z * pz
        patch[seed] = len(normals)
        front = [seed]
        while front:
            for f in neighbours[front.pop()]:
                u, v, w = directions[f]
                if patch[f] >= 0 or not (no_normal[f] or u * x + v * y + w * z > 0.9):
                    continue
                ends = [points[i] for i in corners[f]]
                if all(abs(x * px + y * py + z * pz - level) <= reach for px, py, pz in ends):
                    patch[f] = len(normals)
                    front.append(f)
        normals.append(normal[plane])
    # numbered by their first faces: areas alike must not decide by rounding
    first = np.unique(patch, return_index=True)[1]
    order = np.argsort(first)
    return np.argsort(order)[patch], np.array(normals)[order]


def _vertex_normals(vertices: np.ndarray, faces: np.ndarray, normal: np.ndarray) -> np.ndarray:
    total = np.zeros_like(vertices)
    for k in range(3):
        here = vertices[faces[:, k]]
        one, other = vertices[faces[:, (k + 1) % 3]] - here, vertices[faces[:, (k + 2) % 3]] - here
        angle = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), np.einsum("ij,ij->i", one, other))
        np.add.at(total, faces[:, k], angle[:, None] * normal)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 1e-9)
