"""Overlap polyhedra against other constructions, on random pairs and on the awkward ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from overlap_oracles import Measures, Pairs, booleans, exact_clipping, half_spaces, press
from sesshoku.collision.overlap.detect import FOUND, NESTED, NOTHING
from sesshoku.collision.overlap.overlaps import AREA, FACES, SECTION, THICKNESS
from sesshoku.scene.geometry.fine_polyhedra import Polyhedron
from sesshoku.scene.geometry.shapes import Box, Plane, Shape, Sphere
from shape_pairs import random_polyhedron, random_rotation, random_shape, turn
from support import sample_count

pytestmark = pytest.mark.boundscheck
INTEGRALS = (FACES, THICKNESS, SECTION)


def some_shape(rng: np.random.Generator, scale: float) -> Shape:
    """A box, a round shape, or a hull of up to 200 faces, from scale / 10 to scale."""
    scale *= 10.0 ** rng.uniform(-1.0, 0.0)
    kinds = ["box", "sphere", "capsule", "cylinder", "convex", "hull"]
    kind = str(rng.choice(kinds, p=[0.3, 0.05, 0.05, 0.1, 0.3, 0.2]))
    if kind == "hull":
        return random_polyhedron(rng, int(rng.integers(40, 103)), scale)
    return random_shape(rng, kind, scale)


def assert_same(found: Measures, expected: Measures, body: Polyhedron, tolerance: float = 1e-9) -> None:
    """Within `tolerance` of the larger of the value and 1e-6 of the smaller body's: volume, radius, surface."""
    assert abs(found.volume - expected.volume) <= tolerance * max(expected.volume, 1e-6 * body.volume())
    error, radius = np.linalg.norm(found.barycentre - expected.barycentre), np.linalg.norm(body.vertices, axis=1).max()
    assert error <= tolerance * max(np.linalg.norm(expected.barycentre), 1e-6 * radius)
    reach = np.linalg.norm(expected.area, axis=1).max()
    assert np.abs(found.area - expected.area).max() <= tolerance * max(reach, 1e-6 * surface(body))


def surface(body: Polyhedron) -> float:
    return float(ConvexHull(body.vertices).area)


@pytest.mark.parametrize("part", range(10))
def test_random_pairs_against_half_spaces_and_booleans(part: int, rng: np.random.Generator) -> None:
    """Boxes to hulls of 200 faces, of 1e-6 to 1e3 m, passing each other by 1e-4 to twice the smaller one's size."""
    compared, count = 0, sample_count(15, 1000)  # in each of ten parts
    while compared < count:
        scale = 10.0 ** rng.uniform(-6.0, 3.0)
        pairs = Pairs(*(some_shape(rng, scale) for _ in range(12)))
        for _ in range(min(100, count - compared)):
            a, b = (int(i) for i in rng.choice(12, 2, replace=False))
            press(pairs, rng, a, b, 10.0 ** rng.uniform(-4.0, 0.3))
            origin = pairs.origin(a, b)
            A, B = pairs.placed(a, origin), pairs.placed(b, origin)
            small = A if pairs.smaller(a, b) == a else B
            outcome = pairs.outcome(a, b)
            dual = half_spaces(A, B)
            if outcome == NOTHING:
                assert dual is None or dual.volume <= 1e-15 * small.volume()
                continue
            found = pairs.measured()
            if outcome == NESTED:  # or a rod through a plate; what area vectors sum up to is rounding, here and there
                assert np.abs(found.area).max() <= 1e-15 * surface(small)
            for expected in (dual, booleans(A, B)):
                assert expected is not None
                if outcome == NESTED:
                    expected.area[:] = found.area
                assert_same(found, expected, small)
            compared += outcome == FOUND


def test_thin_overlaps_against_exact_arithmetic(rng: np.random.Generator) -> None:
    """Slabs of 1e-3 to 1e-13 of the body: rounding of a corner is all the error there is."""
    for _ in range(sample_count(12, 100)):
        pairs = Pairs(random_shape(rng, "box"), random_shape(rng, str(rng.choice(["box", "convex"]))))
        depth = 10.0 ** rng.uniform(-13.0, -3.0)
        pairs.place(0, np.zeros(3), random_rotation(rng))
        # a face of the second on a face of the first
        first, second = pairs.placed(0, np.zeros(3)), pairs.placed(1, np.zeros(3))
        pairs.place(1, np.zeros(3), onto(second.normals[0], -first.normals[0]))
        second = pairs.placed(1, np.zeros(3))
        middle = second.vertices[second.loops[0]].mean(axis=0)
        pairs.place(1, first.vertices[first.loops[0]].mean(axis=0) - middle - depth * first.normals[0])
        found = pairs.overlap()
        assert found is not None and found.kind == AREA
        origin = pairs.origin(0, 1)
        exact = exact_clipping(pairs.placed(0, origin), pairs.placed(1, origin))
        assert exact is not None
        assert found.volume == pytest.approx(exact.volume, rel=4e-15 / depth + 1e-12)
        np.testing.assert_allclose(found.area, exact.area, atol=1e-12)
        np.testing.assert_allclose(found.normal, first.normals[0], atol=1e-9 + 10 * depth)


def onto(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A rotation that takes one unit vector to another."""
    axis = np.cross(start, end)
    if np.linalg.norm(axis) < 1e-9:
        return turn(np.roll(start, 1) - start * start[0], np.pi if start @ end < 0 else 0.0)
    return turn(axis, np.arctan2(np.linalg.norm(axis), start @ end))


@pytest.mark.nojit
def test_aligned_boxes() -> None:
    a, b, d = 0.3, 0.2, 0.01
    for scale in (1e-6, 1.0, 1e3):
        pairs = Pairs(Box((scale * 1.0, scale * 1.0, scale * 1.0)), Box((scale * 0.6, scale * 0.7, scale * 0.8)))
        pairs.place(0, (scale * 5.0, 0.0, 0.0))
        pairs.place(1, (scale * (5.8 - a), scale * (0.85 - b), scale * (0.9 - d)))
        for integral in INTEGRALS:
            found = pairs.overlap(0, 1, integral)
            assert found is not None and found.kind == AREA
            np.testing.assert_allclose(found.normal, area_weighted(a, b, d), atol=1e-12)
    pairs = Pairs(Box((1, 1, 1)), Box((a, b, 1)))  # the second stands on the first: sides do not count
    pairs.place(1, (0.1, 0.2, 1.0 - d))
    for integral in INTEGRALS:
        found = pairs.overlap(0, 1, integral)
        assert found is not None
        np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-15)
        assert found.volume == pytest.approx(a * b * d, rel=1e-12)
        assert found.depth == pytest.approx(d, rel=1e-12)
        np.testing.assert_allclose(pairs.contacts.point[0], (0.1, 0.2, 0.5 - d / 2), atol=1e-15)
        np.testing.assert_allclose(found.area_moment, (2 * a * b, 0, 0, a**3 * b / 6, 0, a * b**3 / 6), atol=1e-15)
        np.testing.assert_allclose(found.depth_moment, (a * b * d, 0, 0), atol=1e-16)
        assert_corners(found.polygon, [(-a / 2, -b / 2), (a / 2, -b / 2), (a / 2, b / 2), (-a / 2, b / 2)])


def area_weighted(a: float, b: float, d: float) -> np.ndarray:
    """Normal (1) of two aligned boxes whose corners overlap in a x b x d: three faces of each."""
    n = np.array([b * d, a * d, a * b])
    return n / np.linalg.norm(n)


def assert_corners(polygon: np.ndarray, expected: Any) -> None:
    """The same corners in the same turn, from any first one."""
    expected = np.asarray(expected)
    assert len(polygon) == len(expected)
    assert min(np.abs(np.roll(polygon, k, axis=0) - expected).max() for k in range(len(polygon))) < 1e-12


def test_swapping_the_bodies_turns_the_normal_only(rng: np.random.Generator) -> None:
    for _ in range(sample_count(15, 1000)):
        pairs = Pairs(some_shape(rng, 1.0), some_shape(rng, 1.0))
        press(pairs, rng, 0, 1, 10.0 ** rng.uniform(-3.0, -0.5))
        one, other = pairs.overlap(0, 1), pairs.overlap(1, 0)
        if one is None or other is None:
            assert one is None and other is None
            continue
        np.testing.assert_allclose(one.normal, -other.normal, atol=1e-9)
        np.testing.assert_allclose(one.area, other.area[::-1], atol=1e-12)
        assert one.volume == pytest.approx(other.volume, rel=1e-9)
        assert one.depth_moment[0] == pytest.approx(other.depth_moment[0], rel=1e-6)
        assert one.area_moment[0] == pytest.approx(other.area_moment[0], rel=1e-6)


@pytest.mark.parametrize("other", [Box((0.3, 0.2, 0.4)), Sphere(0.15), Plane()])
def test_a_ball_is_the_same_however_it_is_turned(other: Shape, rng: np.random.Generator) -> None:
    """Its polyhedron points a corner at the other shape: it reaches as deep as the ball does, whatever its rotation."""
    pairs, radius = Pairs(Sphere(0.1), other, balls_turn=False), 0.1
    pairs.place(1, np.zeros(3), np.eye(3))
    top = 0.0 if isinstance(other, Plane) else 0.15 if isinstance(other, Sphere) else 0.2
    found = []
    for _ in range(4):
        pairs.place(0, (0.0, 0.0, top + radius - 1e-3), random_rotation(rng))
        overlap = pairs.overlap()
        assert overlap is not None
        found.append([overlap.volume, overlap.depth, *overlap.barycentre])
    assert np.ptp(found, axis=0).max() == 0.0
    assert found[0][1] == pytest.approx(1e-3, rel=0.01)
