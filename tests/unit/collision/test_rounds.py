"""Spheres, capsules and cylinders: closed forms, and how many points a line of contact gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Sphere
from shape_pairs import Shapes, random_rotation, turn

pytestmark = pytest.mark.boundscheck
LYING = turn((0, 1, 0), np.pi / 2)
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def test_sphere_against_every_part_of_a_box() -> None:
    for box in (Box((1, 1, 1)), convex_mesh(CUBE)):
        pair = Shapes(box, Sphere(0.2))
        for centre, nearest in (((0.1, 0.2, 0.6), (0.1, 0.2, 0.5)), ((0.6, 0.1, 0.6), (0.5, 0.1, 0.5)),
                                ((-0.6, 0.6, 0.6), (-0.5, 0.5, 0.5))):
            pair.place(1, centre)
            found = pair.collide()
            way = np.subtract(centre, nearest)
            distance = np.linalg.norm(way)
            assert found.gap[0] == pytest.approx(distance - 0.2, abs=1e-14)
            np.testing.assert_allclose(found.normal, way / distance, atol=1e-12)
            np.testing.assert_allclose(found.point[0], nearest + 0.5 * found.gap[0] * found.normal, atol=1e-12)
        pair.place(1, (0.45, 0.1, -0.2))  # the centre inside: out through the nearest face
        found = pair.collide()
        assert found.gap[0] == pytest.approx(-0.25, abs=1e-14)
        np.testing.assert_allclose(found.normal, (1, 0, 0), atol=1e-14)


def test_sphere_against_a_cylinder() -> None:
    pair = Shapes(Cylinder(0.5, 1.0), Sphere(0.2))
    for centre, gap, normal in (((0.1, 0, 0.6), -0.1, (0, 0, 1)), ((0.6, 0, 0.1), -0.1, (1, 0, 0)),
                                ((0, 0.6, 0.6), 0.1 * np.sqrt(2) - 0.2, (0, np.sqrt(0.5), np.sqrt(0.5))),
                                ((0, 0.4, 0.1), -0.3, (0, 1, 0)), ((0, 0.2, 0.45), -0.25, (0, 0, 1))):
        pair.place(1, centre)
        found = pair.collide()
        assert found.gap[0] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(found.normal, normal, atol=1e-14)


def test_crossed_capsules_touch_in_one_point_parallel_ones_in_two() -> None:
    pair = Shapes(Capsule(0.2, 2.0), Capsule(0.3, 1.0))
    pair.place(0, (0, 0, 0), LYING)
    pair.place(1, (0.4, 0.1, 0.49), turn((1, 0, 0), np.pi / 2))
    found = pair.collide()
    assert len(found) == 1 and found.gap[0] == pytest.approx(-0.01)
    np.testing.assert_allclose(found.point[0], (0.4, 0, 0.195), atol=1e-14)
    for tilt in (0.0, 1e-6):
        pair.place(1, (0.7, 0, 0.49), turn((0, 0, 1), tilt) @ LYING)
        found = pair.collide()
        assert len(found) == 2
        np.testing.assert_allclose(np.sort(found.point[:, 0]), (0.2, 1.0), atol=1e-5)
        np.testing.assert_allclose(found.gap, -0.01, atol=1e-9)


def test_capsules_whose_axes_cross_part_along_the_common_perpendicular() -> None:
    pair = Shapes(Capsule(0.2, 2.0), Capsule(0.3, 1.0))
    pair.place(1, (0, 0, 0.3), LYING)
    found = pair.collide()
    assert found.gap.min() == pytest.approx(-0.5) and abs(found.normal[1]) == pytest.approx(1.0)


@pytest.mark.parametrize("tilt", [0.0, *(10.0**-k for k in range(1, 17))])
def test_capsules_that_cross_are_parted_across_both_however_little_they_turn(tilt: float) -> None:
    """Nearly parallel axes that meet, or pass at a hair's breadth: the way out is their common perpendicular."""
    pair = Shapes(Capsule(0.2, 2.0), Capsule(0.3, 1.0))
    for along, aside in ((0.0, 0.0), (0.3, 0.0), (0.3, 1e-13), (0.3, 1e-9), (-0.5, 1e-4), (0.4, 0.1)):
        pair.place(1, (0, aside, along), turn((0, 1, 0), tilt))
        found = pair.collide()
        assert found.gap.min() == pytest.approx(aside - 0.5, abs=1e-12)
        assert pair.separation(0, 1, found.normal) == pytest.approx(aside - 0.5, abs=1e-12)
        if tilt >= 1e-3:  # else every direction across the axes will do
            np.testing.assert_allclose(np.abs(found.normal), (0, 1, 0), atol=1e-9)


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6, 0.0])
def test_capsules_against_bounded_least_squares(apart: float, rng: np.random.Generator) -> None:
    """The distance of two segments is a least squares problem with bounds: any way they stand, at any angle."""
    pair = Shapes(Capsule(0.2, 2.0), Capsule(0.3, 1.0))
    for _ in range(100):
        first = random_rotation(rng)
        second = first @ turn(rng.normal(size=3), 10.0 ** rng.uniform(-16, 0.5))
        way = first @ (rng.uniform(-1, 1, 3) * (apart, apart, 1.8))
        pair.place(0, (0, 0, 0), first)
        pair.place(1, way, second)
        best = lsq_linear(np.c_[first[:, 2], -second[:, 2]], way, bounds=([-1, -0.5], [1, 0.5]), tol=1e-15)
        found = pair.collide(margin=3.0)
        assert found.gap.min() == pytest.approx(np.sqrt(2 * best.cost) - 0.5, abs=2e-7)  # what the oracle can tell
        assert pair.separation(0, 1, found.normal) == pytest.approx(found.gap.min(), abs=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 3e-8])
def test_a_crumb_in_a_long_capsule_goes_out_the_shortest_way(size: float, rng: np.random.Generator) -> None:
    """The differences of core and crumb are a needle; the distance from it must hold to a share of its thickness."""
    crumb = convex_mesh(CUBE * size * (1, 0.5, 0.25))
    pair = Shapes(Capsule(0.5, 0.25), crumb)
    angle = np.linspace(0, 2 * np.pi, 2001)
    for _ in range(100):
        A, B = random_rotation(rng), random_rotation(rng)
        way = rng.uniform(-1, 1, 3) * (2 * size, 2 * size, 0.1)
        pair.place(0, (0, 0, 0), A)
        pair.place(1, A @ way, B)
        found = pair.collide()
        # across the axis only the crumb's shadow counts: a planar problem, tried over all angles
        ways = np.c_[np.cos(angle), np.sin(angle), np.zeros_like(angle)] @ A.T
        best = (crumb.vertices @ B.T @ ways.T + A @ way @ ways.T).min(axis=0).max() - 0.5
        assert pair.separation(0, 1, found.normal) >= best - 1e-6 * size - 1e-15


@pytest.mark.parametrize("on", [Box((4, 4, 1)), convex_mesh(CUBE * (4, 4, 1))])
@pytest.mark.parametrize("depth", [1e-9, 0.01, 0.4])
@pytest.mark.parametrize("tilt", [0.0, 1e-7])
def test_lying_on_a_face_gives_the_two_ends(on: object, depth: float, tilt: float) -> None:
    """Also where the capsule's core is inside the box."""
    for shape in (Capsule(0.25, 1.0), Cylinder(0.25, 1.0)):
        pair = Shapes(on, shape)  # type: ignore[arg-type]
        pair.place(1, (0.3, 0.2, 0.75 - depth), turn((0, 1, 0), tilt) @ turn((0, 0, 1), 0.3) @ LYING)
        found = pair.collide(margin=1e-6)
        assert len(found) == 2
        along = 0.5 * np.array((np.cos(0.3), np.sin(0.3)))
        ends = np.array(((0.3, 0.2) - along, (0.3, 0.2) + along))
        order = np.argsort(found.point[:, 0])
        np.testing.assert_allclose(found.point[order, :2], ends, atol=1e-6)
        np.testing.assert_allclose(found.gap, -depth, atol=1e-7)


def test_lying_over_an_edge_gives_what_is_over_the_face() -> None:
    pair = Shapes(Box((1, 1, 1)), Capsule(0.25, 1.0), Cylinder(0.25, 1.0))
    for i in (1, 2):
        pair.place(i, (0.4, 0.1, 0.74), LYING)
        found = pair.collide(0, i)
        np.testing.assert_allclose(np.sort(found.point[:, 0]), (-0.1, 0.5), atol=1e-12)
        np.testing.assert_allclose(found.gap, -0.01, atol=1e-12)


def test_cylinders_on_end_stacked_crossed_and_side_by_side() -> None:
    pair = Shapes(Cylinder(0.5, 1.0), Cylinder(0.5, 1.0))
    pair.place(1, (0, 0, 0.99))
    flush = pair.collide()
    assert len(flush) == 8
    np.testing.assert_allclose(flush.gap, -0.01, atol=1e-12)
    pair.place(1, (0.99, 0, 0.3))  # parallel axes: a line of contact
    line = pair.collide()
    assert len(line) == 2 and line.gap == pytest.approx(-0.01, abs=1e-9)
    np.testing.assert_allclose(np.sort(line.point[:, 2]), (-0.2, 0.5), atol=1e-6)
    pair.place(1, (0.99, 0.1, 0.1), turn((1, 0, 0), np.pi / 2))  # crossed sides
    cross = pair.collide()
    assert len(cross) == 1 and cross.gap[0] == pytest.approx(-0.01, abs=1e-9)
    np.testing.assert_allclose(cross.point[0], (0.495, 0, 0.1), atol=1e-6)
    np.testing.assert_allclose(cross.normal, (1, 0, 0), atol=1e-9)
