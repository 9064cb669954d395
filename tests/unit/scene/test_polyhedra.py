"""Polygons, neighbours and the climb to the farthest vertex of convex polyhedra."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.collision.support import SCANNED, farthest_vertex
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.polyhedra import MOST_CORNERS, flat_faces
from shape_pairs import Shapes, random_polyhedron, random_rotation

pytestmark = pytest.mark.boundscheck


def prism(sides: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.c_[np.cos(angle), np.sin(angle)]
    return np.concatenate([np.c_[ring, np.full(sides, z)] for z in (-0.5, 0.5)])


@pytest.mark.parametrize("noise", [0.0, 1e-8])  # the noise of single precision
def test_a_prism_has_its_flat_faces(noise: float, rng: np.random.Generator) -> None:
    points = prism(7) @ random_rotation(rng).T
    mesh = convex_mesh(points + noise * rng.uniform(-1, 1, points.shape))
    polygons, normals = flat_faces(mesh.vertices, mesh.faces)
    assert sorted(len(polygon) for polygon in polygons) == [4] * 7 + [7] * 2
    for polygon, normal in zip(polygons, normals, strict=True):
        corners = mesh.vertices[polygon]
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        assert np.ptp(corners @ normal) < 1e-6
        assert (mesh.vertices @ normal).max() < (corners @ normal).max() + 1e-6  # outward
        turns = np.cross(np.roll(corners, -1, 0) - corners, np.roll(corners, -2, 0) - np.roll(corners, -1, 0)) @ normal
        assert (turns > 0).all()  # counter-clockwise and convex


def test_every_edge_joins_two_polygons(rng: np.random.Generator) -> None:
    mesh = random_polyhedron(rng, 60)
    polygons, _ = flat_faces(mesh.vertices, mesh.faces)
    edges = [(i, j) for polygon in polygons for i, j in zip(polygon, [*polygon[1:], polygon[0]], strict=True)]
    assert len(set(edges)) == len(edges) and all((j, i) in set(edges) for i, j in edges)
    assert len(mesh.vertices) - len(edges) // 2 + len(polygons) == 2  # Euler


def test_round_polygons_are_thinned() -> None:
    pair = Shapes(convex_mesh(prism(200)))
    m = pair.model
    assert np.diff(m.polygon_start).max() == MOST_CORNERS
    assert m.shape_polygon[0].tolist() == [0, 202]


def test_climbing_finds_the_farthest_vertex(rng: np.random.Generator) -> None:
    for points in (SCANNED, 60, 300):
        pair = Shapes(random_polyhedron(rng, points))
        vertices = pair.model.vertices
        for _ in range(100):
            d = rng.normal(size=3)
            start = int(rng.integers(len(vertices)))
            found = farthest_vertex(pair.model, 0, start, *d)
            assert vertices[found] @ d == pytest.approx((vertices @ d).max(), abs=1e-14)
