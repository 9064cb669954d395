"""Pairs of shapes for tests of the narrow phase: no simulation, poses are set by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.collision.contacts import make_contacts
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.model.arrays import (
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_PLANE,
    SHAPE_SPHERE,
)
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Plane, Shape, Sphere
from sesshoku.scene.scene import Scene

KINDS = ("plane", "box", "sphere", "capsule", "cylinder", "convex", "ellipsoid")


@dataclass
class Manifold:
    point: np.ndarray  # (n, 3)
    gap: np.ndarray  # (n)
    kind: np.ndarray  # (n)
    normal: np.ndarray  # (3)

    def __len__(self) -> int:
        return len(self.gap)


class Shapes:
    """Shapes whose poses are set with `place`; `collide(a, b)` gives the contact points."""

    def __init__(self, *shapes: Shape) -> None:
        scene = Scene()
        for i, shape in enumerate(shapes):
            scene.add_body(f"body{i}", fixed=True, geometries=[Geometry(shape)])
        self.model = compile_scene(scene).model
        self.contacts = make_contacts(self.model, 16, 16)
        self.contacts.shape_rotation[:] = np.eye(3)
        for name in ("manifold_point", "manifold_gap", "manifold_normal"):
            getattr(self.contacts, name)[:] = np.nan

    def place(self, i: int, position: Any, rotation: np.ndarray | None = None) -> None:
        self.contacts.shape_position[i] = position
        if rotation is not None:
            self.contacts.shape_rotation[i] = rotation

    def collide(self, a: int = 0, b: int = 1, margin: float = 0.0) -> Manifold:
        c = self.contacts
        count = collide_shapes(self.model, c, a, b, margin)
        return Manifold(c.manifold_point[:count].copy(), c.manifold_gap[:count].copy(), c.manifold_kind[:count].copy(),
                        c.manifold_normal.copy())

    def reach(self, i: int, direction: np.ndarray) -> float:
        """Support function in plain NumPy: how far shape i reaches in a world direction, from the origin."""
        m, c = self.model, self.contacts
        d, size, kind = c.shape_rotation[i].T @ direction, m.shape_size[i], m.shape_type[i]
        at = float(c.shape_position[i] @ direction)
        if kind == SHAPE_BOX:
            return at + float(np.abs(d) @ size)
        if kind == SHAPE_SPHERE:
            return at + float(size[0] * np.linalg.norm(d))
        if kind == SHAPE_CAPSULE:
            return at + float(size[0] * np.linalg.norm(d) + size[1] * abs(d[2]))
        if kind == SHAPE_CYLINDER:
            return at + float(size[0] * np.hypot(d[0], d[1]) + size[1] * abs(d[2]))
        if kind == SHAPE_ELLIPSOID:
            return at + float(np.linalg.norm(size * d))
        assert kind == SHAPE_CONVEX
        return at + float((m.vertices[slice(*m.shape_vertex[i])] @ d).max())

    def separation(self, a: int, b: int, normal: np.ndarray) -> float:
        """Gap along a unit normal from a to b: never more than the true signed distance."""
        if self.model.shape_type[a] == 0:
            return -self.reach(b, -normal) - float(self.contacts.shape_position[a] @ normal)
        return -self.reach(b, -normal) - self.reach(a, normal)

    def outside(self, i: int, points: np.ndarray) -> np.ndarray:
        """How far points (n, 3) stick out of shape i, in plain NumPy; zero on the surface, negative inside."""
        m, c = self.model, self.contacts
        p, size, kind = (points - c.shape_position[i]) @ c.shape_rotation[i], m.shape_size[i], m.shape_type[i]
        if kind == SHAPE_PLANE:
            return p[:, 2]
        if kind == SHAPE_BOX:
            return (np.abs(p) - size).max(axis=1)
        if kind == SHAPE_SPHERE:
            return np.linalg.norm(p, axis=1) - size[0]
        if kind == SHAPE_CAPSULE:
            p[:, 2] -= np.clip(p[:, 2], -size[1], size[1])
            return np.linalg.norm(p, axis=1) - size[0]
        if kind == SHAPE_CYLINDER:
            return np.maximum(np.hypot(p[:, 0], p[:, 1]) - size[0], np.abs(p[:, 2]) - size[1])
        if kind == SHAPE_ELLIPSOID:  # to first order in the distance
            level = np.linalg.norm(p / size, axis=1)
            return (level - 1.0) * level / np.linalg.norm(p / size**2, axis=1)
        vertices = m.vertices[slice(*m.shape_vertex[i])]
        a, b, c3 = (vertices[m.faces[slice(*m.shape_face[i])][:, k]] for k in range(3))
        normals = np.cross(b - a, c3 - a)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return ((p[:, None] - a) * normals).sum(axis=2).max(axis=1)

    def size(self, i: int) -> float:
        return float(self.model.shape_radius[i])


def turn(axis: Any, angle: float) -> np.ndarray:
    """Rotation matrix about an axis (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def random_shape(rng: np.random.Generator, kind: str, scale: float = 1.0) -> Shape:
    """A shape of some 0.2 to 1 m, of moderate proportions, times scale."""
    a, b, c = scale * rng.uniform(0.2, 1.0, 3)
    if kind == "plane":
        return Plane()
    if kind == "box":
        return Box((a, b, c))
    if kind == "sphere":
        return Sphere(0.5 * a)
    if kind == "capsule":
        return Capsule(0.4 * a, b)
    if kind == "cylinder":
        return Cylinder(0.4 * a, b)
    if kind == "ellipsoid":
        return Ellipsoid((0.5 * a, 0.5 * b, 0.5 * c))
    return random_polyhedron(rng, int(rng.integers(4, 40)), scale)


def random_polyhedron(rng: np.random.Generator, points: int, scale: float = 1.0) -> ConvexMesh:
    """The hull of points on an ellipsoid."""
    p = rng.normal(size=(points, 3))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    return convex_mesh(p * scale * rng.uniform(0.2, 0.6, 3))
