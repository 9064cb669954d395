"""Overlaps of two convex polyhedra by other means, for comparison: half-space intersection (Qhull's dual hull), Boolean
intersection of meshes (manifold3d), exact clipping in rational numbers; and pairs to compare on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import manifold3d
import numpy as np
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection, QhullError

from sesshoku.collision.contacts import make_contacts
from sesshoku.collision.overlap.detect import FOUND, overlap_shapes
from sesshoku.collision.overlap.overlaps import Overlaps, make_overlaps
from sesshoku.collision.overlap.polyhedra import join_polyhedra, shape_polyhedron
from sesshoku.model.arrays import SHAPE_CONVEX, SHAPE_SPHERE
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry
from sesshoku.scene.geometry.fine_polyhedra import Polyhedron
from sesshoku.scene.geometry.shapes import Shape
from sesshoku.scene.scene import Scene
from shape_pairs import random_rotation


@dataclass
class Measures:
    """What both sides tell of an overlap, about the middle of the smaller shape, world axes."""

    volume: float
    barycentre: np.ndarray  # (3)
    area: np.ndarray  # (2, 3) area vectors of the faces of a and of b


@dataclass
class Found(Measures):
    """What the kernel tells beside."""

    kind: int
    normal: np.ndarray
    tangent: np.ndarray
    depth: float
    polygon: np.ndarray
    area_moment: np.ndarray
    depth_moment: np.ndarray

    @property
    def polygon_extent(self) -> float:
        """The longer side of the box around the polygon."""
        return float(np.ptp(self.polygon, axis=0).max())


class Pairs:
    """Shapes in one record; `overlap(a, b)` calls the kernel, `placed(i)` gives a shape's polyhedron in the world."""

    def __init__(self, *shapes: Shape, balls_turn: bool = True) -> None:
        scene = Scene()
        for i, shape in enumerate(shapes):
            scene.add_body(f"body{i}", fixed=True, geometries=[Geometry(shape)])
        self.model = compile_scene(scene).model
        self.contacts = make_contacts(self.model, 4, 4)
        self.contacts.shape_rotation[:] = np.eye(3)
        self.shapes = [shape_polyhedron(self.model, i) for i in range(len(shapes))]
        self.polyhedra = join_polyhedra(self.shapes)
        self.overlaps: Overlaps = make_overlaps(self.contacts, self.polyhedra)
        if balls_turn:  # a polyhedron like any other, not one that points a corner at what it meets
            self.model.shape_type[self.model.shape_type == SHAPE_SPHERE] = SHAPE_CONVEX

    def place(self, i: int, position: Any, rotation: np.ndarray | None = None) -> None:
        self.contacts.shape_position[i] = position
        if rotation is not None:
            self.contacts.shape_rotation[i] = rotation

    def outcome(self, a: int = 0, b: int = 1, integral: int = 0, thin: float = 0.0) -> int:
        c, o = self.contacts, self.overlaps
        for record in (c.point, c.normal, c.tangent, o.volume, o.area_vector, o.depth, o.polygon, o.area_moment,
                       o.depth_moment, o.vertex, o.height, o.projected):
            record[:] = np.nan
        return int(overlap_shapes(self.model, c, self.polyhedra, o, (a, b), 0, (integral, thin)))

    def overlap(self, a: int = 0, b: int = 1, integral: int = 0, thin: float = 0.0) -> Found | None:
        """The overlap, or None if the kernel says there is none (or that it has no normal)."""
        if self.outcome(a, b, integral, thin) != FOUND:
            return None
        c, o = self.contacts, self.overlaps
        return Found(float(o.volume[0]), o.center.copy(), o.area_vector[0].copy(), int(o.kind[0]), c.normal[0].copy(),
                     c.tangent[0].copy(), float(o.depth[0]), o.polygon[: o.polygon_start[1]].copy(),
                     o.area_moment[0].copy(), o.depth_moment[0].copy())

    def measured(self) -> Measures:
        """What the last call of the kernel measured, whatever the outcome."""
        o = self.overlaps
        return Measures(float(o.volume[0]), o.center.copy(), o.area_vector[0].copy())

    def smaller(self, a: int, b: int) -> int:
        return b if self.polyhedra.radius[b] < self.polyhedra.radius[a] else a

    def origin(self, a: int, b: int) -> np.ndarray:
        """World position the overlap of a and b is measured from: the middle of the smaller shape."""
        s, c = self.smaller(a, b), self.contacts
        return c.shape_position[s] + c.shape_rotation[s] @ self.polyhedra.center[s]

    def placed(self, i: int, origin: np.ndarray) -> Polyhedron:
        """Shape i in world axes, about a point."""
        p, c = self.shapes[i], self.contacts
        R, x = c.shape_rotation[i], c.shape_position[i] - origin
        normals = p.normals @ R.T
        return Polyhedron(p.vertices @ R.T + x, p.loops, normals, p.offsets + normals @ x)


def press(pairs: Pairs, rng: np.random.Generator, a: int, b: int, depth: float) -> None:
    """Place b so that corners of a and b, extreme along some direction, pass each other by `depth` of the smaller."""
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    small = min(pairs.polyhedra.radius[a], pairs.polyhedra.radius[b])
    pairs.place(a, rng.uniform(-3.0, 3.0, 3) * small, random_rotation(rng))
    pairs.place(b, np.zeros(3), random_rotation(rng))
    of_a, of_b = (pairs.placed(i, np.zeros(3)).vertices for i in (a, b))
    aside = 0.3 * depth * small * np.cross(d, rng.normal(size=3))
    pairs.place(b, of_a[(of_a @ d).argmax()] - of_b[(of_b @ d).argmin()] - depth * small * d + aside)


def half_spaces(A: Polyhedron, B: Polyhedron) -> Measures | None:
    """By the dual hull of all planes about the centre of the largest ball inside; None: there is no such ball."""
    normals, offsets = np.concatenate([A.normals, B.normals]), np.concatenate([A.offsets, B.offsets])
    size = max(np.abs(offsets[: len(A.offsets)]).max(), 1e-300)
    best = linprog([0, 0, 0, -1], A_ub=np.column_stack([normals, np.ones(len(normals))]), b_ub=offsets / size,
                   bounds=[(None, None)] * 3 + [(0, None)])
    if best.status != 0 or best.x[3] < 1e-12:
        return None
    middle, unit = best.x[:3] * size, best.x[3] * size
    inside = (offsets - normals @ middle) / unit  # distances of the planes; the ball has radius 1
    try:
        body = HalfspaceIntersection(np.column_stack([normals, -inside]), np.zeros(3))
    except QhullError:
        return None
    corners: list[list[int]] = [[] for _ in normals]
    for vertex, planes in enumerate(body.dual_facets):
        for plane in planes:
            corners[plane].append(vertex)
    volume, moment, area = 0.0, np.zeros(3), np.zeros((2, 3))
    for plane, own in enumerate(corners):
        if len(own) < 3:
            continue
        size_of, center = flat_polygon(body.intersections[own], normals[plane])
        cone = size_of * inside[plane] / 3.0
        volume += cone
        moment += cone * 0.75 * center
        area[int(plane >= len(A.normals))] += size_of * normals[plane]
    return Measures(volume * unit**3, middle + unit * moment / volume, area * unit**2)


def flat_polygon(points: np.ndarray, normal: np.ndarray) -> tuple[float, np.ndarray]:
    """Area and centroid of the convex polygon with these corners, in any order."""
    u = np.eye(3)[np.argmin(np.abs(normal))]
    u = u - normal * (u @ normal)
    u /= np.linalg.norm(u)
    w, middle = np.cross(normal, u), points.mean(axis=0)
    x = (points - middle) @ np.column_stack([u, w])
    x = x[np.argsort(np.arctan2(x[:, 1], x[:, 0]))]
    y = np.roll(x, -1, axis=0)
    cross = x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]
    area = 0.5 * cross.sum()
    if area <= 0.0:
        return 0.0, middle
    center = (cross[:, None] * (x + y)).sum(axis=0) / (6.0 * area)
    return float(area), middle + center[0] * u + center[1] * w


def meshes(A: Polyhedron, B: Polyhedron) -> list[Any]:
    """Both bodies for manifold3d."""
    bodies = []
    for body in (A, B):
        triangles = np.array([[loop[0], loop[k], loop[k + 1]] for loop in body.loops for k in range(1, len(loop) - 1)])
        mesh = manifold3d.Mesh64(np.ascontiguousarray(body.vertices), triangles.astype(np.uint64))
        bodies.append(manifold3d.Manifold(mesh).as_original())
    return bodies


def boolean_body(A: Polyhedron, B: Polyhedron) -> Any:
    """The intersection as manifold3d has it."""
    first, second = meshes(A, B)
    return first ^ second


def booleans(A: Polyhedron, B: Polyhedron) -> Measures | None:
    """By manifold3d, which knows of every triangle whose it was; None: nothing in common."""
    first, second = meshes(A, B)
    result = first ^ second
    if result.is_empty():
        return None
    mesh = result.to_mesh64()
    points, triangles = mesh.vert_properties[:, :3], mesh.tri_verts.astype(int)
    owner = np.zeros(len(triangles), dtype=int)
    for run, name in enumerate(mesh.run_original_id):
        owner[mesh.run_index[run] // 3 : mesh.run_index[run + 1] // 3] = int(name != first.original_id())
    middle = points.mean(axis=0)
    p, q, r = (points[triangles[:, k]] - middle for k in range(3))
    vector = 0.5 * np.cross(q - p, r - p)
    cones = (p * vector).sum(axis=1) / 3.0
    center = middle + (cones[:, None] * (p + q + r)).sum(axis=0) / (4.0 * cones.sum())
    return Measures(float(cones.sum()), center, np.array([vector[owner == side].sum(axis=0) for side in range(2)]))


def exact_clipping(A: Polyhedron, B: Polyhedron) -> Measures | None:
    """Each face clipped by all planes of the other body, in rational numbers; slow. Flush faces would count twice."""
    volume, moment, area = Fraction(0), [Fraction(0)] * 3, [[Fraction(0)] * 3, [Fraction(0)] * 3]
    for side, (own, other) in enumerate(((A, B), (B, A))):
        planes = [([Fraction(float(x)) for x in n], Fraction(float(d)))
                  for n, d in zip(other.normals, other.offsets, strict=True)]
        for loop in own.loops:
            polygon = [[Fraction(float(x)) for x in own.vertices[i]] for i in loop]
            for n, d in planes:
                polygon = _clip_exactly(polygon, n, d)
            for i in range(1, len(polygon) - 1):
                p, q, r = polygon[0], polygon[i], polygon[i + 1]
                u, w = [y - x for x, y in zip(p, q)], [y - x for x, y in zip(p, r)]
                t = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
                six = sum(x * y for x, y in zip(p, t))
                volume += six / 6
                for k in range(3):
                    area[side][k] += t[k] / 2
                    moment[k] += six * (p[k] + q[k] + r[k]) / 24
    if volume <= 0:
        return None
    return Measures(float(volume), np.array([float(m / volume) for m in moment]),
                    np.array([[float(x) for x in row] for row in area]))


def _clip_exactly(polygon: list[list[Fraction]], n: list[Fraction], d: Fraction) -> list[list[Fraction]]:
    heights = [sum(x * y for x, y in zip(n, p)) - d for p in polygon]
    out = []
    for k, (p, h) in enumerate(zip(polygon, heights)):
        before, h_before = polygon[k - 1], heights[k - 1]
        if (h_before > 0) != (h > 0):
            t = h_before / (h_before - h)
            out.append([x + t * (y - x) for x, y in zip(before, p)])
        if h <= 0:
            out.append(p)
    return out
