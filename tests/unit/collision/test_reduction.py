"""Fewer contact points: the deepest, and the widest polygon."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sesshoku.collision.points.narrow import reduce_manifold
from sesshoku.scene.geometry.shapes import Box
from shape_pairs import Manifold, Shapes, random_rotation, turn

pytestmark = pytest.mark.boundscheck


def reduced(pair: Shapes, points: np.ndarray, gaps: np.ndarray, normal: np.ndarray, most: int) -> Manifold:
    c, n = pair.contacts, len(points)
    c.manifold_point[:n], c.manifold_gap[:n], c.manifold_normal[:] = points, gaps, normal
    c.manifold_kind[:n] = np.arange(n)
    count = reduce_manifold(c, n, most)
    left = (field[:count].copy() for field in (c.manifold_point, c.manifold_gap, c.manifold_kind))
    return Manifold(*left, normal)


@pytest.mark.nojit
def test_few_points_are_left_alone() -> None:
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    pair.place(1, (0.1, 0.2, 0.99))
    found = pair.collide()
    assert reduce_manifold(pair.contacts, 4, 4) == 4
    np.testing.assert_array_equal(pair.contacts.manifold_point[:4], found.point)


@pytest.mark.nojit
def test_of_an_octagon_a_square_is_left() -> None:
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    pair.place(1, (0, 0, 0.99), turn((0, 0, 1), np.pi / 4))
    whole = pair.collide()
    count = reduce_manifold(pair.contacts, len(whole), 4)
    left = pair.contacts.manifold_point[:count]
    assert count == 4
    assert ConvexHull(left[:, :2]).volume > 0.7 * ConvexHull(whole.point[:, :2]).volume


def test_the_deepest_stays_and_the_rest_spans_most_of_the_polygon(rng: np.random.Generator) -> None:
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    for _ in range(50):
        frame = random_rotation(rng)
        n = int(rng.integers(5, 30))
        flat = rng.normal(size=(n, 2))
        points, gaps = np.c_[flat, np.zeros(n)] @ frame.T, rng.normal(size=n)
        left = reduced(pair, points, gaps, frame[:, 2], 4)
        assert len(left) == 4 and len(set(left.kind.tolist())) == 4
        assert gaps.argmin() in left.kind
        np.testing.assert_array_equal(points[left.kind], left.point)
        np.testing.assert_array_equal(gaps[left.kind], left.gap)
        assert ConvexHull(flat[left.kind]).volume > 0.3 * ConvexHull(flat).volume
        again = reduced(pair, points, gaps, frame[:, 2], 4)
        np.testing.assert_array_equal(again.point, left.point)


def test_one_two_and_all_equal_points() -> None:
    pair = Shapes(Box((1, 1, 1)), Box((1, 1, 1)))
    points = np.zeros((6, 3))
    for most in (1, 2, 3, 5):
        left = reduced(pair, points, np.arange(6.0), np.array((0, 0, 1.0)), most)
        assert len(left) == most and left.gap[0] == 0.0
