"""Shapes as polyhedra: closed, convex, inside the shape, and the counts and errors the module states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sesshoku.scene.geometry.fine_polyhedra import Polyhedron, box, capsule, cylinder, polyhedron_of, sphere
from sesshoku.scene.geometry.mesh import convex_mesh

ALL = {"box": box(np.array([0.1, 0.2, 0.3])), "sphere": sphere(0.7), "cylinder": cylinder(0.3, 0.2),
       "capsule": capsule(0.2, 0.5)}


@pytest.mark.parametrize("name", ALL)
def test_closed_and_convex(name: str) -> None:
    body = ALL[name]
    edges = [(i, j) for loop in body.loops for i, j in zip(loop, loop[1:] + loop[:1], strict=True)]
    assert len(set(edges)) == len(edges) and set(edges) == {(j, i) for i, j in edges}
    assert len(body.vertices) - len(edges) // 2 + len(body.loops) == 2
    heights = body.vertices @ body.normals.T - body.offsets
    assert heights.max() < 1e-15
    for face, loop in enumerate(body.loops):
        assert np.abs(heights[loop, face]).max() < 1e-15
    assert body.volume() == pytest.approx(ConvexHull(body.vertices).volume, rel=1e-12)


@pytest.mark.parametrize(("body", "faces", "corners", "volume", "short"), [
    (sphere(0.01), 320, 162, 4 / 3 * np.pi * 1e-6, 0.0338),
    (sphere(30.0), 320, 162, 4 / 3 * np.pi * 27e3, 0.0338),
    (cylinder(2.0, 3.0), 34, 64, 24 * np.pi, 0.0064),
    (capsule(1.0, 1e-9), 264, 242, 4 / 3 * np.pi, 0.0356),
    (capsule(1.0, 1e9), 264, 242, 2e9 * np.pi, 0.0114),
])
def test_stated_counts_and_errors(body: Polyhedron, faces: int, corners: int, volume: float, short: float) -> None:
    assert (len(body.loops), len(body.vertices)) == (faces, corners)
    assert 1.0 - body.volume() / volume == pytest.approx(short, abs=5e-5)


def test_corners_lie_on_the_round_surface() -> None:
    np.testing.assert_allclose(np.linalg.norm(ALL["sphere"].vertices, axis=1), 0.7, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(ALL["cylinder"].vertices[:, :2], axis=1), 0.3, rtol=1e-14)
    beyond = ALL["capsule"].vertices.copy()
    beyond[:, 2] -= np.clip(beyond[:, 2], -0.5, 0.5)
    np.testing.assert_allclose(np.linalg.norm(beyond, axis=1), 0.2, rtol=1e-14)


def test_triangles_in_one_plane_are_one_face() -> None:
    corners = np.array([(x, y, z) for x in (0, 1, 2) for y in (0, 1, 2) for z in (0, 1, 2)], dtype=float)
    shell = corners[(np.abs(corners - 1.0).max(axis=1) == 1.0)]
    mesh = convex_mesh(shell)
    assert len(polyhedron_of(mesh.vertices, mesh.faces).loops) == 6
