"""The game's own solids: closed, outward, concave where they should be."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from sesshoku.apps.crane.shapes import ball, gem, heart, heart_outline, shell


@pytest.mark.parametrize("width, thickness", [(0.9, 0.4), (1.3, 0.2), (0.3, 0.5)])
def test_heart_is_a_closed_solid_about_its_centre_of_mass(width: float, thickness: float) -> None:
    vertices, faces = heart(width, thickness)
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0.0
    assert mesh.center_mass == pytest.approx(np.zeros(3), abs=1e-12)
    outline = heart_outline(width)
    x, y = outline.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert mesh.volume == pytest.approx(area * thickness, rel=1e-12)
    assert np.ptp(x) == pytest.approx(width, rel=0.01)


def test_only_the_notch_is_concave() -> None:
    outline = heart_outline()
    edges = np.roll(outline, -1, axis=0) - outline
    before = np.roll(edges, 1, axis=0)
    turns = before[:, 0] * edges[:, 1] - before[:, 1] * edges[:, 0]
    concave = outline[turns < 0.0]
    assert (np.abs(concave[:, 0]) < 0.05 * np.ptp(outline[:, 0])).all()  # where the lobes end, and between them
    notch = int(np.flatnonzero((outline[:, 0] == 0.0) & (turns < 0.0))[0])
    assert outline[:, 1].max() - outline[notch, 1] > 0.2 * np.ptp(outline[:, 0])  # deep enough for a toe
    mesh = trimesh.Trimesh(*heart(), process=False)
    assert mesh.volume < 0.95 * mesh.convex_hull.volume


@pytest.mark.parametrize("corners", [gem(), ball(), shell((1.3, 1.0, 0.3))])
def test_convex_ones_have_every_corner_on_their_hull(corners: np.ndarray) -> None:
    hull = trimesh.convex.convex_hull(corners)
    assert hull.is_watertight and len(hull.vertices) == len(corners)


def test_the_ball_is_a_football() -> None:
    corners = ball(0.5)
    assert corners.shape == (60, 3)
    assert np.linalg.norm(corners, axis=1) == pytest.approx(np.full(60, 0.5))
    distances = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    shortest = np.sort(distances, axis=1)[:, 1:4]  # three edges of one length meet at every corner
    assert np.ptp(shortest) < 1e-7
