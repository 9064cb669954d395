"""The paper's geometry, equations (1)-(9): closed forms, and where the printed form must not be followed."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_oracles import Found, Pairs
from sesshoku.collision.overlap.detect import fill_area_moment, fill_depth_moment
from sesshoku.collision.overlap.overlaps import FACES, POINT, SECTION, THICKNESS
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Plane
from shape_pairs import random_rotation, random_shape, turn
from support import sample_count

GAIN = 1000.0  # k, 1/s


def moments(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    Q, c = np.zeros((6, 6)), np.zeros(6)
    fill_area_moment(pairs.contacts, pairs.overlaps, 0, Q)
    fill_depth_moment(pairs.contacts, pairs.overlaps, 0, c)
    return Q, c


def wished_twist(pairs: Pairs) -> np.ndarray:
    """The relative twist that minimises E of (8)."""
    Q, c = moments(pairs)
    return np.linalg.solve(Q, GAIN * c)


def test_a_flat_prism_wishes_half_its_depth_away() -> None:
    """Q = 2 A diag(1, 1, 1, .), both caps at d / 2: the speed is k d / 2, whatever is integrated over."""
    a, b, d = 0.4, 0.2, 1e-3
    pairs = Pairs(Plane(), Box((a, b, 0.3)))
    pairs.place(1, (1.0, 2.0, 0.15 - d))
    for integral in (FACES, THICKNESS, SECTION):
        found = pairs.overlap(0, 1, integral)
        assert found is not None
        Q, c = moments(pairs)
        expected = 2 * a * b * np.diag([1, 1, 1, b * b / 12, a * a / 12, (a * a + b * b) / 12])
        np.testing.assert_allclose(Q, expected, atol=1e-12)
        np.testing.assert_allclose(c, [0, 0, a * b * d, 0, 0, 0], atol=1e-15)
        np.testing.assert_allclose(wished_twist(pairs), [0, 0, 0.5 * GAIN * d, 0, 0, 0], atol=1e-9)


def some_pairs(rng: np.random.Generator, count: int) -> list[tuple[Pairs, Found]]:
    made = []
    while len(made) < count:
        pairs = Pairs(random_shape(rng, "box"), random_shape(rng, "convex"))
        pairs.place(0, rng.normal(size=3), random_rotation(rng))
        away = rng.normal(size=3)
        away *= rng.uniform(0.3, 0.9) * pairs.polyhedra.radius.sum() / np.linalg.norm(away)
        pairs.place(1, pairs.contacts.shape_position[0] + away, random_rotation(rng))
        found = pairs.overlap()
        if found is not None:
            made.append((pairs, found))
    return made


def test_the_normal_points_from_a_to_b_and_is_twice_one_bodys_sum(rng: np.random.Generator) -> None:
    """Of a closed surface all area vectors sum to zero: without the sign (2), (1) would say nothing."""
    for pairs, found in some_pairs(rng, sample_count(50, 1000)):
        without_sign = found.area.sum(axis=0)
        assert np.linalg.norm(without_sign) < 1e-12
        own = found.area[0]
        np.testing.assert_allclose(found.normal, own / np.linalg.norm(own), atol=1e-9)
        step = 1e-3 * found.depth
        pairs.contacts.shape_position[1] += step * found.normal
        moved = pairs.overlap()
        assert moved is not None
        # dV = -(area vector) . step: the normal is the direction in which the overlap shrinks fastest
        assert moved.volume < found.volume
        assert (found.volume - moved.volume) / step == pytest.approx(np.linalg.norm(own), rel=0.02)


def test_the_printed_threshold_of_norm_would_lose_small_bodies() -> None:
    """(1) with norm(x) = 0 for |x| <= 1e-12 as printed, x in m^2: bodies of a micrometre would have no normal."""
    size = 1e-6
    pairs = Pairs(Box((size, size, size)), Box((size, size, size)))
    pairs.place(1, (0.2 * size, 0.1 * size, 0.9 * size), turn((1, 2, 3), 0.1))
    found = pairs.overlap()
    assert found is not None
    printed = found.area[0] - found.area[1]
    assert np.linalg.norm(0.5 * printed) <= 1e-12  # printed: the zero vector
    assert np.linalg.norm(found.normal) == pytest.approx(1.0) and found.normal[2] > 0.9


def subdivided_box(size: float, one_sided: bool) -> np.ndarray:
    """Corners of a cube, with many more points on half of its lower face."""
    h = 0.5 * size
    corners = [(x, y, z) for x in (-h, h) for y in (-h, h) for z in (-h, h)]
    if one_sided:
        corners += [(x, y, -h) for x in np.linspace(0, h, 6) for y in np.linspace(-h, h, 9)]
    return np.unique(np.round(np.array(corners), 12), axis=0)


def test_moments_are_area_integrals_not_sums_over_points() -> None:
    """(4), (9) print sums over points without weights. Points added to half a face turn the wished twist then."""
    pairs = Pairs(Plane(), convex_mesh(subdivided_box(1.0, False)), convex_mesh(subdivided_box(1.0, True)))
    tilt = turn((0, 1, 0), 0.002)
    for shape in (1, 2):
        pairs.place(shape, (0, 0, 0.499), tilt)
    wished, printed = [], []
    for shape in (1, 2):
        found = pairs.overlap(0, shape)
        assert found is not None
        wished.append(wished_twist(pairs))
        points = subdivided_box(1.0, shape == 2) @ tilt.T + (0, 0, 0.499)
        points = points[points[:, 2] < 0.0]
        Q, c = np.zeros((6, 6)), np.zeros(6)
        for p in points:
            r = p - pairs.contacts.point[0]
            h, r[2] = abs(r[2]), 0.0
            J = np.hstack([np.eye(3), -np.cross(r, np.eye(3), axisb=0, axisc=0)])
            Q, c = Q + J.T @ J, c + h * J.T @ np.array([0.0, 0.0, 1.0])
        printed.append(np.linalg.lstsq(Q, GAIN * c, rcond=None)[0])
    np.testing.assert_allclose(wished[0], wished[1], rtol=1e-9, atol=1e-12)
    assert np.abs(printed[0] - printed[1]).max() > 0.05 * np.abs(printed[0]).max()


def test_a_light_box_at_rest_is_no_point() -> None:
    """Resting depth lambda m^2 g dt / (k A): 10 g on 0.1 m rest at 1e-10 m, far thinner than the 1e-9 m below which a
    point would stand for the overlap; a box whose only support is a point would topple."""
    depth = 1e-3 * 0.01**2 * 9.8 * 1e-3 / (GAIN * 0.01)
    assert depth < 1e-9
    pairs = Pairs(Plane(), Box((0.1, 0.1, 0.1)))
    pairs.place(1, (0, 0, 0.05 - depth))
    found = pairs.overlap()
    assert found is not None and len(found.polygon) == 4
    np.testing.assert_allclose(np.abs(found.polygon), 0.05, rtol=1e-6)
    as_point = pairs.overlap(thin=1e-9)
    assert as_point is not None and as_point.kind == POINT


def test_the_wish_of_a_tilted_box_rights_it() -> None:
    """Deeper on one side: the wished twist lifts that side faster."""
    pairs = Pairs(Plane(), Box((1, 1, 1)))
    pairs.place(1, (0, 0, 0.49), turn((0, 1, 0), 0.01))  # the side +x is lower
    for integral in (FACES, SECTION):
        assert pairs.overlap(0, 1, integral) is not None
        twist = wished_twist(pairs)
        assert twist[2] > 0.0 and twist[4] < 0.0
        assert np.abs(twist[[0, 1, 3, 5]]).max() < 1e-9


def test_independence_of_the_tangents(rng: np.random.Generator) -> None:
    """Q and c in world axes turn with the scene; the choice of e1 does not show."""
    for pairs, _ in some_pairs(rng, sample_count(20, 300)):
        Q, c = moments(pairs)
        R = random_rotation(rng)
        for i in range(2):
            pairs.place(i, R @ pairs.contacts.shape_position[i], R @ pairs.contacts.shape_rotation[i])
        assert pairs.overlap() is not None
        turned_Q, turned_c = moments(pairs)
        T = np.kron(np.eye(2), R)
        np.testing.assert_allclose(turned_Q, T @ Q @ T.T, atol=1e-9)
        np.testing.assert_allclose(turned_c, T @ c, atol=1e-9)
