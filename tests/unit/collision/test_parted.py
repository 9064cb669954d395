"""What parted a pair before saves work and changes nothing that is found."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from shape_pairs import Shapes, random_rotation
from support import sample_count

pytestmark = pytest.mark.boundscheck


def some_shapes(rng: np.random.Generator) -> list[Shape]:
    few, many = rng.normal(size=(12, 3)), rng.normal(size=(60, 3))
    many /= np.linalg.norm(many, axis=1)[:, None]
    return [Box((0.4, 0.7, 0.2)), Sphere(0.3), Capsule(0.1, 0.5), Cylinder(0.2, 0.6), Ellipsoid((0.1, 0.3, 0.5)),
            convex_mesh(0.3 * few), convex_mesh(0.4 * many)]


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_points_are_those_of_a_pair_never_seen_before(rng: np.random.Generator, margin: float) -> None:
    """Pairs pass each other, near and far, by small and large moves: every bit is that of a fresh start."""
    shapes = some_shapes(rng)
    seen, apart, touching = Shapes(*shapes), 0, 0
    for _ in range(sample_count(20, 200)):
        places, turns = 0.5 * rng.normal(size=(len(shapes), 3)), [random_rotation(rng) for _ in shapes]
        for _ in range(5):
            places += rng.choice([1e-3, 0.1]) * rng.normal(size=places.shape)
            fresh = Shapes(*shapes)
            for i in range(len(shapes)):
                seen.place(i, places[i], turns[i])
                fresh.place(i, places[i], turns[i])
            for a in range(len(shapes)):
                for b in range(a + 1, len(shapes)):
                    one, other = seen.collide(a, b, margin), fresh.collide(a, b, margin)
                    np.testing.assert_array_equal(one.point, other.point)
                    np.testing.assert_array_equal(one.gap, other.gap)
                    apart, touching = apart + (len(one) == 0), touching + (len(one) > 0)
    assert min(apart, touching) > 100
    assert (seen.contacts.parted_pair > 0).any()
