"""Awkward overlaps: nested, flush, thin, touching in a face, an edge or a corner, far away, nearly parallel."""

from __future__ import annotations

import numpy as np
import pytest

from overlap_oracles import Pairs, half_spaces, press
from sesshoku.collision.overlap.detect import FOUND, NESTED, NOTHING
from sesshoku.collision.overlap.overlaps import AREA, POINT
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Cylinder, Plane, Sphere
from shape_pairs import random_polyhedron, random_rotation, turn
from support import sample_count

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_one_inside_the_other_has_no_normal(scale: float) -> None:
    pairs = Pairs(Box((scale, scale, scale)), Box((0.5 * scale, 0.4 * scale, 0.3 * scale)))
    pairs.place(1, (0.1 * scale, 0.0, 0.0), turn((1, 2, 3), 0.3))
    assert pairs.outcome(0, 1) == NESTED and pairs.outcome(1, 0) == NESTED
    assert pairs.overlaps.volume[0] == pytest.approx(0.06 * scale**3, rel=1e-12)
    same = Pairs(Box((scale, scale, scale)), Box((scale, scale, scale)))  # all faces flush
    assert same.outcome() == NESTED


def test_a_rod_through_a_plate_has_no_normal() -> None:
    pairs = Pairs(Box((1, 1, 0.1)), Box((0.1, 0.2, 3)))
    pairs.place(1, (0.1, 0, 0.3), turn((0, 0, 1), 0.4))
    assert pairs.outcome() == NESTED
    pairs.place(1, (0.1, 0, 0.3), turn((1, 0, 0), 0.2))
    assert pairs.outcome() == NESTED


@pytest.mark.nojit
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_a_body_wholly_below_a_plane_is_still_pushed_out(scale: float) -> None:
    pairs = Pairs(Plane(), Box((scale, scale, scale)))
    for z in (0.49, 0.0, -0.5, -0.7, -30.0):
        pairs.place(1, (0.0, 0.0, z * scale))
        found = pairs.overlap()
        assert found is not None and found.kind == AREA
        np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-15)
        assert found.depth == pytest.approx(scale * min(1.0, 0.5 - z), rel=1e-12)
        assert found.volume == pytest.approx(scale**3 * min(1.0, 0.5 - z), rel=1e-12)
        swapped = pairs.overlap(1, 0)
        assert swapped is not None
        np.testing.assert_allclose(swapped.normal, (0, 0, -1), atol=1e-15)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_touching_without_volume_is_no_overlap(scale: float) -> None:
    one = (scale, scale, scale)
    pairs = Pairs(Box(one), Box(one), Plane())
    for offset in ((1, 0, 0), (1, 0.3, -0.2), (1, 1, 0), (1, 1, 0.5), (1, 1, 1), (-1, 1, -1), (0, 0, 1)):
        pairs.place(1, scale * np.array(offset, dtype=float))
        assert pairs.outcome(0, 1) == NOTHING, offset
    pairs.place(0, (0, 0, 0.5 * scale))
    assert pairs.outcome(0, 2) == NOTHING
    tip = turn(np.cross((1, 1, 1), (0, 0, -1)), np.arccos(-1 / np.sqrt(3)))  # a corner points down
    for d in (0.0, -1e-6):
        pairs.place(0, (0, 0, scale * (np.sqrt(0.75) - d)), tip)
        assert pairs.outcome(0, 2) == NOTHING or pairs.overlaps.volume[0] < 1e-40 * scale**3


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-8])
def test_a_corner_in_a_plane(scale: float, depth: float) -> None:
    """A cube's corner, edges alike, d below the plane: a pyramid of height d, volume sqrt(3) / 2 d^3."""
    pairs = Pairs(Plane(), Box((scale, scale, scale)))
    down = turn(np.cross((1, 1, 1), (0, 0, -1)), np.arccos(-1 / np.sqrt(3)))
    pairs.place(1, (0, 0, scale * (np.sqrt(0.75) - depth)), down)
    found = pairs.overlap()
    assert found is not None and found.kind == AREA and len(found.polygon) == 3
    d = found.depth  # as rounding has left it
    assert d == pytest.approx(scale * depth, rel=1e-15 / depth + 1e-12)
    assert found.volume == pytest.approx(0.5 * np.sqrt(3) * d**3, rel=1e-6)
    np.testing.assert_allclose(pairs.contacts.point[0], (0, 0, -d / 4), atol=1e-7 * d + 1e-15 * scale)
    np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-15)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-8])
def test_an_edge_in_a_face(scale: float, depth: float) -> None:
    """A cube's edge, faces at 45 degrees, d into another cube: a wedge of volume d^2 per length."""
    pairs = Pairs(Box((scale, scale, scale)), Box((2 * scale, 2 * scale, 2 * scale)))
    pairs.place(0, (0, 0, scale * (1.0 + np.sqrt(0.5) - depth)), turn((1, 0, 0), np.pi / 4))
    found = pairs.overlap()
    assert found is not None and found.kind == AREA and len(found.polygon) == 4
    d = scale * depth
    assert found.volume == pytest.approx(d * d * scale, rel=1e-6)
    np.testing.assert_allclose(found.normal, (0, 0, -1), atol=1e-6)
    assert found.polygon_extent == pytest.approx(scale, rel=1e-6)
    # the same edge, thinner than rounding lets a polygon be: a point, no torque
    pairs.place(0, (0, 0, scale * (1.0 + np.sqrt(0.5) - 1e-10)), turn((1, 0, 0), np.pi / 4))
    grazing = pairs.overlap()
    assert grazing is not None and grazing.kind == POINT and len(grazing.polygon) == 0
    assert grazing.area_moment[0] > 0.0 and not grazing.area_moment[1:].any()
    assert grazing.depth_moment[0] > 0.0 and not grazing.depth_moment[1:].any()


def test_an_overlap_thinner_than_asked_is_a_point() -> None:
    pairs = Pairs(Plane(), Box((1, 1, 1)))
    pairs.place(1, (0, 0, 0.5 - 1e-10))
    found, point = pairs.overlap(thin=0.0), pairs.overlap(thin=1e-9)
    assert found is not None and found.kind == AREA and len(found.polygon) == 4
    assert point is not None and point.kind == POINT and len(point.polygon) == 0


def test_a_thin_overlap_keeps_its_polygon() -> None:
    """A light box rests 1e-10 m deep, one with the scaled regularisation 1e-12 m: areas all the same, not points."""
    pairs = Pairs(Plane(), Box((0.1, 0.1, 0.1)), Box((0.4, 0.4, 0.4)))
    for depth in (1e-6, 1e-10, 1e-12, 1e-14):
        pairs.place(1, (0.3, 0.2, 0.05 - depth))
        pairs.place(2, (0.3, 0.2, -0.2))
        for other in (0, 2):
            found = pairs.overlap(other, 1) if other == 0 else pairs.overlap(1, other)
            assert found is not None and found.kind == AREA
            np.testing.assert_allclose(np.abs(found.normal), (0, 0, 1), atol=1e-12)
            np.testing.assert_allclose(np.sort(np.abs(found.polygon), axis=0), 0.05, rtol=1e-2)
            assert found.volume == pytest.approx(0.01 * found.depth, rel=0.02)


def test_flush_faces_have_no_say() -> None:
    """Boxes of one width, stacked: their sides lie in one plane, whatever rounding says of it."""
    pairs = Pairs(Box((1, 1, 1)), Box((1, 1, 1)))
    for turned in (np.eye(3), turn((1, 2, 3), 0.7), turn((3, -1, 0.2), 2.0)):
        pairs.place(0, np.zeros(3), turned)
        for shift in ((0, 0), (0.3, 0), (0.4, 0.4), (1e-13, -1e-12)):
            pairs.place(1, turned @ (*shift, 0.99), turned)
            found = pairs.overlap()
            assert found is not None
            direction = np.array([0.01 * (1 - shift[1]) * (shift[0] > 0.1), 0.01 * (1 - shift[0]) * (shift[1] > 0.1),
                                  (1 - shift[0]) * (1 - shift[1])])
            np.testing.assert_allclose(found.normal, turned @ direction / np.linalg.norm(direction), atol=1e-9)
            assert found.volume == pytest.approx(0.01 * (1 - shift[0]) * (1 - shift[1]), rel=1e-9)


def test_a_face_flush_on_one_side_alone() -> None:
    """Owned by both it counts for neither: of the sides only the one across remains, (1) is (0.006, 0, 0.72)."""
    pairs = Pairs(Box((1, 1, 1)), Box((0.6, 0.6, 1)))
    for turned in (np.eye(3), turn((1, 2, 3), 0.7), turn((3, -1, 0.2), 2.0)):
        for off in (0.0, 1e-16, -1e-16, 3e-13, -3e-13):
            pairs.place(0, np.zeros(3), turned)
            pairs.place(1, turned @ (0.2 + off, 0.0, 0.99), turned)
            found, swapped = pairs.overlap(), pairs.overlap(1, 0)
            assert found is not None and swapped is not None
            expected = turned @ np.array([0.006, 0.0, 0.72]) / np.hypot(0.006, 0.72)
            np.testing.assert_allclose(found.normal, expected, atol=1e-9)
            np.testing.assert_allclose(swapped.normal, -expected, atol=1e-9)


def test_nearly_parallel_faces_at_every_angle(rng: np.random.Generator) -> None:
    """Tilts and shifts from 1e-17 to 1e-3 of flush boxes: volume as the half-spaces say, nothing infinite."""
    pairs = Pairs(Box((1, 1, 1)), Box((1, 1, 1)))
    for _ in range(sample_count(200, 5000)):
        R = random_rotation(rng)
        tilt = turn(rng.normal(size=3), 10.0 ** rng.uniform(-17, -3))
        shift = rng.choice([-1.0, 0.0, 0.5, 0.99], 3) + 10.0 ** rng.uniform(-17, -3, 3) * rng.choice([-1, 0, 1], 3)
        pairs.place(0, rng.normal(size=3), R)
        pairs.place(1, pairs.contacts.shape_position[0] + R @ shift, R @ tilt)
        outcome = pairs.outcome()
        origin = pairs.origin(0, 1)
        expected = half_spaces(pairs.placed(0, origin), pairs.placed(1, origin))
        if outcome == NOTHING:
            assert expected is None or expected.volume < 1e-14
            continue
        found = pairs.measured()
        if expected is not None:
            assert abs(found.volume - expected.volume) <= 1e-9 * expected.volume + 1e-15
        if outcome == FOUND:
            assert_finite(pairs)


def assert_finite(pairs: Pairs) -> None:
    c, o = pairs.contacts, pairs.overlaps
    for value in (c.point[0], c.normal[0], c.tangent[0], o.volume[0], o.area_vector[0], o.depth[0], o.area_moment[0],
                  o.depth_moment[0], o.polygon[: o.polygon_start[1]], o.polygon_area[0], o.polygon_radius[0]):
        assert np.isfinite(value).all()
    assert abs(np.linalg.norm(c.normal[0]) - 1.0) < 1e-12
    assert o.volume[0] > 0.0 and o.depth[0] > 0.0 and o.area_moment[0, 0] > 0.0


def test_far_from_the_origin(rng: np.random.Generator) -> None:
    """At 1e4 m a position has lost four digits more; nothing else is lost."""
    pairs = Pairs(Box((0.3, 0.2, 0.1)), random_polyhedron(rng, 30))
    press(pairs, rng, 0, 1, 0.1)
    near = pairs.overlap()
    moved = np.array([1e4, -2e4, 3e3])
    for i in range(2):
        pairs.contacts.shape_position[i] += moved
    far = pairs.overlap()
    assert near is not None and far is not None
    assert far.volume == pytest.approx(near.volume, rel=1e-6)
    np.testing.assert_allclose(far.normal, near.normal, atol=1e-6)


def test_a_mesh_cut_into_more_faces_gives_the_same(rng: np.random.Generator) -> None:
    """A cube with every face in pieces (corners inside faces and on edges) overlaps as the cube does."""
    steps = np.linspace(-0.5, 0.5, 5)
    grid = np.array([(x, y, z) for x in steps for y in steps for z in steps])
    shell = grid[np.abs(grid).max(axis=1) == 0.5]
    pairs = Pairs(Box((1, 1, 1)), convex_mesh(shell), Box((0.7, 0.7, 0.7)))
    R, S, p = random_rotation(rng), random_rotation(rng), rng.uniform(0.3, 0.6, 3)
    for i in range(2):
        pairs.place(i, np.zeros(3), R)
    pairs.place(2, p, S)
    plain, pieces = pairs.overlap(0, 2), pairs.overlap(1, 2)
    assert plain is not None and pieces is not None
    np.testing.assert_allclose(pieces.area_moment, plain.area_moment, atol=1e-13)
    np.testing.assert_allclose(pieces.depth_moment, plain.depth_moment, atol=1e-13)
    np.testing.assert_allclose(pieces.normal, plain.normal, atol=1e-12)


def test_round_shapes_come_near_their_volumes() -> None:
    """A ball with its middle in the plane, a standing cylinder sunk by a tenth."""
    pairs = Pairs(Plane(), Sphere(0.5), Cylinder(0.3, 1.0))
    pairs.place(1, (0, 0, 0))
    pairs.place(2, (0, 0, 0.4))
    ball, cylinder = pairs.overlap(0, 1), pairs.overlap(0, 2)
    assert ball is not None and cylinder is not None
    assert ball.volume == pytest.approx(2 / 3 * np.pi * 0.125, rel=0.035)
    assert cylinder.volume == pytest.approx(np.pi * 0.09 * 0.1, rel=0.0065)
    assert len(cylinder.polygon) == 32
    np.testing.assert_allclose(np.linalg.norm(cylinder.polygon, axis=1), 0.3, rtol=1e-12)
