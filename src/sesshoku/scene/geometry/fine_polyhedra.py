"""Shapes as convex polyhedra: corners, flat faces with their corners in order, and the faces' planes.

Round shapes become fine polyhedra **inside** the shape, corners on its surface: what their bounding boxes say stays
true, a cylinder's rim keeps its radius and a ball on a corner rests at its radius. The volume is short by (the same
for all sizes, tests/unit/scene/test_fine_polyhedra.py measures them):

    ellipsoid   the sphere's, stretched                                          3.4 %
    sphere      320 triangles, 162 corners (icosahedron, edges in 4)             3.4 %
    cylinder    34 faces (32 sides), 64 corners                                 0.64 %
    capsule     264 faces (24 round, 5 rings per end), 242 corners     1.1 % (straight part) to 3.6 % (ends)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sesshoku.scene.geometry.polyhedra import flat_faces

SPHERE_SPLIT = 4  # parts of an edge of the icosahedron
CYLINDER_SIDES = 32
CAPSULE_SIDES, CAPSULE_RINGS = 24, 5
SAME_PLANE = 1e-13  # of the diagonal: triangles so flat are one face


@dataclass
class Polyhedron:
    """A convex polyhedron; a half-space is one face without corners."""

    vertices: np.ndarray  # (n, 3)
    loops: list[list[int]]  # corners of each face, counter-clockwise seen from outside
    normals: np.ndarray  # (faces, 3) unit, outward
    offsets: np.ndarray  # (faces) all of it is where normal . x <= offset

    def volume(self) -> float:
        """m^3, by the cones over its faces from the mean of its corners."""
        middle = self.vertices.mean(axis=0)
        heights = self.offsets - self.normals @ middle
        return float(sum(h * np.linalg.norm(_doubled_area(self.vertices[loop])) / 6.0
                         for h, loop in zip(heights, self.loops, strict=True)))


def _doubled_area(corners: np.ndarray) -> np.ndarray:
    """Twice the area vector of a polygon, corners (n, 3)."""
    arms = corners - corners[0]
    return np.cross(arms[1:-1], arms[2:]).sum(axis=0)


def with_planes(vertices: np.ndarray, loops: list[list[int]], normals: np.ndarray | None = None) -> Polyhedron:
    """Planes that support the whole body: rounding of a small face's normal must not cut off a corner elsewhere."""
    if normals is None:
        doubled = np.array([_doubled_area(vertices[loop]) for loop in loops])
        normals = doubled / np.linalg.norm(doubled, axis=1, keepdims=True)
    return Polyhedron(vertices, loops, normals, (vertices @ normals.T).max(axis=0))


def box(half: np.ndarray) -> Polyhedron:
    """A box of the given half edges."""
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]) * half
    loops = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    normals = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]], dtype=float)
    return with_planes(corners, loops, normals)


def cylinder(radius: float, half_length: float, sides: int = CYLINDER_SIDES) -> Polyhedron:
    """A prism around z inside the cylinder."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, half_length)], axis=1)
    vertices = np.concatenate([ring * (1.0, 1.0, -1.0), ring])
    loops = [[k, (k + 1) % sides, sides + (k + 1) % sides, sides + k] for k in range(sides)]
    loops += [list(range(sides))[::-1], list(range(sides, 2 * sides))]
    return with_planes(vertices, loops)


def capsule(radius: float, half_length: float, sides: int = CAPSULE_SIDES, rings: int = CAPSULE_RINGS) -> Polyhedron:
    """Rings of latitude around z, `rings` per end (the last is the equator where the straight part begins)."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    latitude = 0.5 * np.pi * np.arange(1 - rings, rings) / rings  # without the poles; the equator twice
    levels = [(r, -half_length) for r in latitude[latitude <= 0.0]]
    levels += [(r, half_length) for r in latitude[latitude >= 0.0]]
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vertices = [np.column_stack([radius * np.cos(r) * circle, np.full(sides, z + radius * np.sin(r))])
                for r, z in levels]
    count = len(levels)
    south, north = count * sides, count * sides + 1
    poles = np.array([[0.0, 0.0, -half_length - radius], [0.0, 0.0, half_length + radius]])
    loops: list[list[int]] = []
    for k in range(sides):
        following = (k + 1) % sides
        loops.append([south, following, k])
        loops += [[n * sides + k, n * sides + following, (n + 1) * sides + following, (n + 1) * sides + k]
                  for n in range(count - 1)]
        loops.append([north, (count - 1) * sides + k, (count - 1) * sides + following])
    return with_planes(np.concatenate([*vertices, poles]), loops)


def sphere(radius: float, split: int = SPHERE_SPLIT) -> Polyhedron:
    """An icosahedron, its triangles divided evenly and blown up onto the sphere."""
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    corners = np.array([c for x in (-1.0, 1.0) for y in (-golden, golden)
                        for c in ([0.0, x, y], [x, y, 0.0], [y, 0.0, x])])
    points: dict[tuple[float, ...], int] = {}
    vertices: list[np.ndarray] = []

    def number(point: np.ndarray) -> int:
        key = tuple(np.round(point, 9) + 0.0)
        if key not in points:
            points[key] = len(vertices)
            vertices.append(point)
        return points[key]

    loops = []
    for i, j, k in _icosahedron_faces(corners):
        along, across = (corners[j] - corners[i]) / split, (corners[k] - corners[i]) / split
        grid = {(u, v): number(corners[i] + u * along + v * across)
                for u in range(split + 1) for v in range(split + 1 - u)}
        for u in range(split):
            for v in range(split - u):
                loops.append([grid[u, v], grid[u + 1, v], grid[u, v + 1]])
                if u + v < split - 1:
                    loops.append([grid[u + 1, v], grid[u + 1, v + 1], grid[u, v + 1]])
    on_sphere = np.array(vertices)
    return with_planes(radius * on_sphere / np.linalg.norm(on_sphere, axis=1, keepdims=True), loops)


def ellipsoid(radii: np.ndarray) -> Polyhedron:
    """The fine sphere, stretched along its axes."""
    unit = sphere(1.0)
    return with_planes(unit.vertices * radii, unit.loops)


def prism(corners: np.ndarray, foot: float) -> Polyhedron:
    """What lies below a triangle (3, 3), counter-clockwise from above, down to z = foot: top, foot, three sides."""
    vertices = np.concatenate([corners, corners * (1.0, 1.0, 0.0) + (0.0, 0.0, foot)])
    return with_planes(vertices, [[0, 1, 2], [3, 5, 4], [0, 3, 4, 1], [1, 4, 5, 2], [2, 5, 3, 0]])


def _icosahedron_faces(corners: np.ndarray) -> list[tuple[int, int, int]]:
    """Triples of corners at the shortest distance (2) of each other, counter-clockwise from outside."""
    near = np.abs(np.linalg.norm(corners[:, None] - corners, axis=2) - 2.0) < 1e-9
    faces = [(i, j, k) for i in range(12) for j in range(i) for k in range(j)
             if near[i, j] and near[j, k] and near[i, k]]
    return [(i, j, k) if np.linalg.det(corners[[i, j, k]]) > 0.0 else (i, k, j) for i, j, k in faces]


def polyhedron_of(vertices: np.ndarray, triangles: np.ndarray) -> Polyhedron:
    """A convex body from its outward triangles (m, 3); those in one plane become one face."""
    loops, normals = flat_faces(vertices, triangles, SAME_PLANE)
    return with_planes(vertices, loops, np.array(normals))
