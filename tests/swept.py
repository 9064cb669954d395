"""What the tests of swept polyhedra share: meshes, scenes of loose bodies, poses, and all-against-all oracles."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.swept.brep import Breps, make_breps
from sesshoku.collision.swept.sweep import (
    EVENTS,
    LINEAR,
    Events,
    Sweeps,
    make_events,
    make_sweeps,
    sweep_inflate,
    sweep_motion,
)
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry, Inertial
from sesshoku.scene.geometry.mesh import convex_mesh, triangle_mesh
from sesshoku.scene.geometry.shapes import Box, Mesh
from sesshoku.scene.scene import Scene

Triangles = tuple[np.ndarray, np.ndarray]
INERTIAL = Inertial(1.0, (0, 0, 0), (1, 1, 1))


def prism(outline: Any, low: float, high: float) -> Triangles:
    """A closed prism over a polygon (n, 2), counter-clockwise, cut into triangles by ears."""
    ring = np.asarray(outline, dtype=float)
    n = len(ring)
    caps = np.array(ears(ring))
    vertices = np.vstack([np.column_stack([ring, np.full(n, low)]), np.column_stack([ring, np.full(n, high)])])
    sides = []
    for i in range(n):
        j = (i + 1) % n
        sides += [(i, j, n + j), (i, n + j, n + i)]
    return vertices, np.vstack([caps[:, ::-1], caps + n, sides])


def ears(ring: np.ndarray) -> list[tuple[int, int, int]]:
    """Triangles of a simple polygon."""

    def turn(i: int, j: int, k: int) -> float:
        (ax, ay), (bx, by) = ring[j] - ring[i], ring[k] - ring[i]
        return float(ax * by - ay * bx)

    left, found = list(range(len(ring))), []
    while len(left) > 3:
        for at in range(len(left)):
            i, j, k = left[at - 1], left[at], left[(at + 1) % len(left)]
            others = [p for p in left if p not in (i, j, k)]
            if turn(i, j, k) > 0 and not any(
                    min(turn(i, j, p), turn(j, k, p), turn(k, i, p)) >= 0 for p in others):
                found.append((i, j, k))
                del left[at]
                break
        else:
            raise AssertionError("the outline crosses itself or runs clockwise")
    return [*found, (left[0], left[1], left[2])]


def cube(side: float = 1.0) -> Triangles:
    h = 0.5 * side
    return prism([(-h, -h), (h, -h), (h, h), (-h, h)], -h, h)


def l_shape(size: float = 1.0) -> Triangles:
    """Two arms of length `size`, half as thick; the reflex edge runs along z at (size / 2, size / 2)."""
    s, h = size, 0.5 * size
    return prism([(0, 0), (s, 0), (s, h), (h, h), (h, s), (0, s)], -h, h)


def divided(vertices: np.ndarray, faces: np.ndarray) -> Triangles:
    """Every triangle cut in four: the same solid."""
    points, number = [*vertices], {}
    result = []
    for t in faces.tolist():
        middle = []
        for i, j in zip(t, [*t[1:], t[0]], strict=True):
            key = (min(i, j), max(i, j))
            if key not in number:
                number[key] = len(points)
                points.append(0.5 * (vertices[i] + vertices[j]))
            middle.append(number[key])
        p, q, r = middle
        result += [(t[0], p, r), (t[1], q, p), (t[2], r, q), (p, q, r)]
    return np.array(points), np.array(result)


def torus(around: int, across: int, large: float, small: float) -> Triangles:
    a, b = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    r = large + small * np.cos(b)
    vertices = np.stack([r * np.cos(a), r * np.sin(a), small * np.sin(b)], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(around):
        for j in range(across):
            p, q = i * across + j, (i + 1) % around * across + j
            s, t = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
            faces += [(p, q, s), (p, s, t)]
    return vertices, np.array(faces)


def hull(rng: np.random.Generator, points: int = 12) -> Triangles:
    """The hull of points at random distances from the origin."""
    p = rng.standard_normal((points, 3))
    found = convex_mesh(p / np.linalg.norm(p, axis=1, keepdims=True) * rng.uniform(0.5, 1.0, (points, 1)))
    return found.vertices, found.faces


def turn(axis: Any, angle: float) -> np.ndarray:
    """Rotation matrix (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def any_turn(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else Q[:, ::-1]


class Swept:
    """Loose bodies, one per mesh (a Shape or vertices and triangles), their B-reps and the records of a sweep."""

    def __init__(self, meshes: list[Any], margin: float, merge_coplanar: bool = True, capacity: int = 4096) -> None:
        scene = Scene()
        for i, mesh in enumerate(meshes):
            shape = triangle_mesh(*mesh, decompose=False) if isinstance(mesh, tuple) else mesh
            scene.add_body(f"body{i}", geometries=[Geometry(shape)], inertial=INERTIAL)
        self.breps: Breps = make_breps(compile_scene(scene), margin, merge_coplanar)
        self.sweeps: Sweeps = make_sweeps(self.breps)
        self.events: Events = make_events(capacity)

    def poses(self, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions and rotations of all bodies: (position, rotation) pairs, or positions alone; the world last."""
        B = self.breps.body_count
        position, rotation = np.zeros((B, 3)), np.tile(np.eye(3), (B, 1, 1))
        for b, pose in enumerate(given):
            if len(pose) == 2:
                position[b], rotation[b] = pose
            else:
                position[b] = pose
        return position, rotation

    def motion(self, before: Any, after: Any, crossing: int = LINEAR) -> list[dict[str, Any]]:
        sweep_motion(self.breps, self.sweeps, self.events, (*before, *after), crossing)
        return rows(self.events)

    def inflate(self, at: Any, crossing: int = LINEAR) -> list[dict[str, Any]]:
        sweep_inflate(self.breps, self.sweeps, self.events, *at, crossing)
        return rows(self.events)


def rows(events: Events) -> list[dict[str, Any]]:
    """The events as copies."""
    names = ("kind", "feature", "shape", "body", "key", "time", "point", "normal", "parameter", "leaving")
    return [{name: np.copy(getattr(events, name)[i])[()] for name in names} for i in range(events.counts[EVENTS])]


def world(breps: Breps, vertices: np.ndarray, pose: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Vertices (V, 3) of all shapes in the world."""
    body = breps.shape_body[breps.vertex_shape]
    return pose[0][body] + np.einsum("vij,vj->vi", pose[1][body], vertices)


def all_linear(breps: Breps, start: np.ndarray, end: np.ndarray) -> dict[tuple[int, int, int], float]:
    """(kind, feature, feature) -> time of every crossing by linear distances: all features against all, in NumPy."""
    v, f = np.meshgrid(np.flatnonzero(breps.vertex_used), np.arange(breps.face_count), indexing="ij")
    apart = breps.vertex_shape[v] != breps.face_shape[f]
    v, f = v[apart], f[apart]
    corners = breps.face_vertex[f]
    times = _linear_vertices(start[v], end[v], start[corners], end[corners])
    found = {(0, int(v[i]), int(f[i])): float(times[i]) for i in np.flatnonzero(times >= 0)}
    used = np.flatnonzero(breps.edge_used)
    e, g = np.meshgrid(used, used, indexing="ij")
    later = breps.edge_shape[e] < breps.edge_shape[g]
    e, g = e[later], g[later]
    one, other = breps.edge_vertex[e], breps.edge_vertex[g]
    times = _linear_edges(start[one], end[one], start[other], end[other])
    return found | {(1, int(e[i]), int(g[i])): float(times[i]) for i in np.flatnonzero(times >= 0)}


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", a, b)


def _linear_vertices(p0: np.ndarray, p1: np.ndarray, T0: np.ndarray, T1: np.ndarray) -> np.ndarray:
    """Times (n) of vertices (n, 3) into triangles (n, 3, 3), -1: never."""

    def distance(p: np.ndarray, T: np.ndarray) -> np.ndarray:
        n = np.cross(T[:, 1] - T[:, 0], T[:, 2] - T[:, 0])
        return _dot(n, p - T[:, 0]) / np.linalg.norm(n, axis=1)

    d0, d1 = distance(p0, T0), distance(p1, T1)
    times = np.full(len(p0), -1.0)
    some = np.flatnonzero((d0 >= 0) & (d1 < 0))
    t = d0[some] / (d0[some] - d1[some])
    p = (1 - t)[:, None] * p0[some] + t[:, None] * p1[some]
    T = (1 - t)[:, None, None] * T0[some] + t[:, None, None] * T1[some]
    n = np.cross(T[:, 1] - T[:, 0], T[:, 2] - T[:, 0])
    solved = np.linalg.solve(np.stack([T[:, 1] - T[:, 0], T[:, 2] - T[:, 0], n], axis=2), (p - T[:, 0])[:, :, None])
    u, w = solved[:, 0, 0], solved[:, 1, 0]
    hit = (u >= -1e-9) & (w >= -1e-9) & (u + w <= 1 + 1e-9)
    times[some[hit]] = t[hit]
    return times


def _linear_edges(A0: np.ndarray, A1: np.ndarray, B0: np.ndarray, B1: np.ndarray) -> np.ndarray:
    """Times (n) at which edges (n, 2, 3) pass each other, -1: never."""
    n0, n1 = (np.cross(A[:, 1] - A[:, 0], B[:, 1] - B[:, 0]) for A, B in ((A0, B0), (A1, B1)))
    d0 = _dot(n0, A0[:, 0] - B0[:, 0]) / np.linalg.norm(n0, axis=1)
    d1 = _dot(n1, A1[:, 0] - B1[:, 0]) / np.linalg.norm(n1, axis=1)
    times = np.full(len(d0), -1.0)
    some = np.flatnonzero((_dot(n0, n1) >= 0) & (d0 * d1 < 0))
    t = d0[some] / (d0[some] - d1[some])
    A, B = ((1 - t)[:, None, None] * X0[some] + t[:, None, None] * X1[some] for X0, X1 in ((A0, A1), (B0, B1)))
    n = np.cross(A[:, 1] - A[:, 0], B[:, 1] - B[:, 0])
    lines = np.stack([A[:, 1] - A[:, 0], B[:, 0] - B[:, 1], n], axis=2)
    solved = np.linalg.solve(lines, (B[:, 0] - A[:, 0])[:, :, None])
    s, r = solved[:, 0, 0], solved[:, 1, 0]
    hit = (np.minimum(s, r) >= -1e-9) & (np.maximum(s, r) <= 1 + 1e-9)
    times[some[hit]] = t[hit]
    return times


def inside(point: np.ndarray, vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Whether a point lies in a closed mesh: the solid angle it sees."""
    a, b, c = (vertices[faces[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    triple = np.einsum("ij,ij->i", a, np.cross(b, c))
    rest = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return abs(float(np.arctan2(triple, rest).sum())) > np.pi


__all__ = ["Box", "Mesh", "Swept", "all_linear", "any_turn", "cube", "divided", "hull", "inside", "l_shape", "prism",
           "rows", "torus", "turn", "world"]
