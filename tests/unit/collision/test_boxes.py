"""Two boxes: the whole contact polygon against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

from sesshoku.collision.contacts import EDGE, VERTEX
from sesshoku.scene.geometry.shapes import Box
from shape_pairs import Shapes, random_rotation, turn
from support import sample_count

pytestmark = pytest.mark.boundscheck
DEPTH = 0.01


def stacked(size: Any = (1, 1, 1), size_above: Any = (1, 1, 1), offset: Any = (0, 0), yaw: float = 0.0,
            depth: float = DEPTH) -> Shapes:
    """A box standing on another one at the origin, sunk in by `depth`."""
    pair = Shapes(Box(size), Box(size_above))
    pair.place(1, (*offset, 0.5 * (size[2] + size_above[2]) - depth), turn((0, 0, 1), yaw))
    return pair


def same_points(found: np.ndarray, expected: Any, tolerance: float = 1e-12) -> bool:
    expected = np.asarray(expected, dtype=float)
    if len(found) != len(expected):
        return False
    distance = np.abs(found[:, None] - expected[None]).max(axis=2)
    return bool((distance.min(axis=0) < tolerance).all() and (distance.min(axis=1) < tolerance).all())


def area(points: np.ndarray) -> float:
    return float(ConvexHull(points[:, :2]).volume)


@pytest.mark.nojit
@pytest.mark.parametrize(("offset", "x", "y"), [
    ((0, 0), (-0.5, 0.5), (-0.5, 0.5)),  # flush all round
    ((0.3, 0), (-0.2, 0.5), (-0.5, 0.5)),  # two edges flush
    ((0.3, -0.2), (-0.2, 0.5), (-0.5, 0.3)),  # corners overlap
    ((-0.95, 0.95), (-0.5, -0.45), (0.45, 0.5)),
])
def test_aligned_boxes_share_a_rectangle(offset: Any, x: Any, y: Any) -> None:
    found = stacked(offset=offset).collide()
    assert same_points(found.point, [(a, b, 0.5 - 0.5 * DEPTH) for a in x for b in y])
    np.testing.assert_allclose(found.gap, -DEPTH, atol=1e-14)
    np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-15)


def test_faces_that_meet_in_a_line_or_a_corner() -> None:
    line = stacked(offset=(1.0, 0.2), depth=0.0).collide(margin=1e-6)
    assert same_points(line.point, [(0.5, -0.3, 0.5), (0.5, 0.5, 0.5)], 1e-8)
    corner = stacked(offset=(1.0, 1.0), depth=0.0).collide(margin=1e-6)
    assert same_points(corner.point, [(0.5, 0.5, 0.5)], 1e-8)


def test_small_box_on_a_large_one_stands_on_its_own_corners() -> None:
    for below in (True, False):
        large, small = (10, 8, 1), (0.2, 0.3, 0.4)
        pair = stacked(large, small, (3, 2), 0.4) if below else stacked(small, large, (0, 0), 0.4)
        found = pair.collide()
        corners = np.array([(sx * 0.1, sy * 0.15, 0) for sx in (-1, 1) for sy in (-1, 1)])
        corners = corners @ turn((0, 0, 1), 0.4).T + (3, 2, 0.5) if below else corners + (0, 0, 0.2)
        corners[:, 2] -= 0.5 * DEPTH
        assert same_points(found.point, corners)
        assert (found.kind == VERTEX).all()


def test_crossed_by_45_degrees_is_a_regular_octagon() -> None:
    found = stacked(yaw=np.pi / 4).collide()
    assert len(found) == 8 and (found.kind == EDGE).all()
    assert area(found.point) == pytest.approx(2 * (np.sqrt(2) - 1), abs=1e-12)
    half = 0.5 * (np.sqrt(2) - 1)
    octagon = [(sx * a, sy * b, 0.495) for a, b in ((0.5, half), (half, 0.5)) for sx in (-1, 1) for sy in (-1, 1)]
    assert same_points(found.point, octagon)


def test_crossed_bars_share_a_square_of_edge_crossings() -> None:
    found = stacked((4, 0.5, 1), (4, 0.5, 1), yaw=np.pi / 2).collide()
    assert same_points(found.point, [(x, y, 0.495) for x in (-0.25, 0.25) for y in (-0.25, 0.25)])
    assert (found.kind == EDGE).all()


def test_any_offset_and_yaw_gives_the_exact_polygon(rng: np.random.Generator) -> None:
    """Against qhull's intersection of the eight half-planes."""
    seen: set[int] = set()
    for _ in range(sample_count(200, 5000)):
        size, above, yaw = (*rng.uniform(0.3, 2, 2), 1), (*rng.uniform(0.3, 2, 2), 1), rng.uniform(-np.pi, np.pi)
        offset = rng.uniform(-0.2, 0.2, 2)
        found = stacked(size, above, offset, yaw).collide()
        rotation = turn((0, 0, 1), yaw)[:2, :2]
        normals = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], dtype=float)
        planes = [np.c_[normals, -0.5 * np.repeat(size[:2], 2)]]
        planes.append(np.c_[normals @ rotation.T, -0.5 * np.repeat(above[:2], 2) - normals @ rotation.T @ offset])
        middle = 0.5 * offset
        if (np.concatenate(planes) @ (*middle, 1) > -1e-3).any():
            continue
        expected = HalfspaceIntersection(np.concatenate(planes), middle).intersections
        hull = ConvexHull(expected)
        corners = np.c_[expected[hull.vertices], np.full(len(hull.vertices), 0.495)]
        if np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).min() < 1e-6:
            continue  # qhull and we may differ on whether so short an edge is one
        assert same_points(found.point, corners, 1e-9), (size, above, yaw, offset)
        assert area(found.point) == pytest.approx(hull.volume, abs=1e-10)
        np.testing.assert_allclose(found.gap, -DEPTH, atol=1e-12)
        seen.add(len(found))
    assert {4, 5, 6} <= seen


@pytest.mark.parametrize("tilt", [1e-12, 1e-9, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("axis", [(1, 0, 0), (1, 1, 0), (0.3, -1, 0)])
def test_a_slightly_tilted_box_keeps_its_corners_with_a_gap_each(tilt: float, axis: Any) -> None:
    """Gaps are the heights of its own corners over the face."""
    pair = Shapes(Box((3, 3, 1)), Box((1, 1, 1)))
    rotation = turn(axis, tilt)
    pair.place(1, (0.1, 0.2, 1.0), rotation)
    found = pair.collide(margin=2 * tilt + 1e-9)
    corners = np.array([(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]) @ rotation.T + (0.1, 0.2, 1.0)
    assert len(found) == 4
    for point, gap in zip(found.point, found.gap, strict=True):
        nearest = corners[np.abs(corners[:, :2] - point[:2]).sum(axis=1).argmin()]
        assert gap == pytest.approx(nearest[2] - 0.5, abs=1e-12 + tilt**2)
    assert found.normal @ (0, 0, 1) > 1 - tilt**2 - 1e-15
    tighter = pair.collide(margin=0.0)
    assert (tighter.gap <= 0.0).all() and 1 <= len(tighter) <= 4


def test_a_tilted_box_that_hangs_over_keeps_four_points() -> None:
    """Its lowest corner lies beyond the other's edge: the crossings of the edges carry it."""
    pair = stacked(offset=(0.4, 0.4), depth=1e-5)
    pair.place(1, (0.4, 0.4, 1.0 - 1e-5), turn((1, -1, 0), 1e-6))
    found = pair.collide(margin=1e-5)
    assert len(found) == 4
    assert np.abs(found.gap + 1e-5).max() < 2e-6


def test_crossing_edges_touch_where_they_cross() -> None:
    """Two cubes turned by 45 degrees about x and about y, edge over edge, the upper one shifted along its own edge."""
    s = np.sqrt(0.5)
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    pair.place(0, (0, 0, 0), turn((1, 0, 0), np.pi / 4))  # top edge along x at height s
    pair.place(1, (0.1, 0.2, 2 * s - DEPTH), turn((0, 1, 0), np.pi / 4))  # bottom edge along y
    found = pair.collide()
    assert same_points(found.point, [(0.1, 0.0, s - 0.5 * DEPTH)])
    assert found.gap[0] == pytest.approx(-DEPTH, abs=1e-14) and found.kind[0] == EDGE
    np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-14)


def test_boxes_apart_corner_to_corner_and_edge_to_edge() -> None:
    """Separating axes alone would miss these distances."""
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    pair.place(1, (1.01, 1.01, 1.01))
    found = pair.collide(margin=0.1)
    assert same_points(found.point, [(0.505, 0.505, 0.505)]) and found.gap[0] == pytest.approx(0.01 * np.sqrt(3))
    np.testing.assert_allclose(found.normal, np.full(3, 3**-0.5), atol=1e-12)
    pair.place(1, (1.01, 0.2, 1.01))
    found = pair.collide(margin=0.1)
    assert same_points(found.point, [(0.505, -0.3, 0.505), (0.505, 0.5, 0.505)], 1e-9)
    np.testing.assert_allclose(found.gap, 0.01 * np.sqrt(2), atol=1e-14)
    assert len(pair.collide(margin=0.014)) == 0


def test_depth_is_the_best_of_fifteen_axes(rng: np.random.Generator) -> None:
    """Against the separating-axis theorem written out in NumPy."""
    pair = Shapes(Box(rng.uniform(0.2, 1, 3)), Box(rng.uniform(0.2, 1, 3)))
    for _ in range(sample_count(300, 10_000)):
        pair.place(0, rng.normal(size=3), random_rotation(rng))
        pair.place(1, pair.contacts.shape_position[0] + rng.uniform(-0.4, 0.4, 3), random_rotation(rng))
        A, B = pair.contacts.shape_rotation
        axes = [*A.T, *B.T, *(np.cross(a, b) for a in A.T for b in B.T)]
        axes = [s * axis / np.linalg.norm(axis) for axis in axes for s in (1, -1)]
        best = max(pair.separation(0, 1, axis) for axis in axes)
        if best > 0:
            continue
        found = pair.collide()
        assert found.gap.min() == pytest.approx(best, abs=1e-12)
        assert pair.separation(0, 1, found.normal) == pytest.approx(best, abs=1e-12)
