"""Shapes on a half-space: heights of their own points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.collision.contacts import OVERFLOW, SMOOTH, VERTEX
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from shape_pairs import Shapes, random_rotation, turn

pytestmark = pytest.mark.boundscheck


def on_plane(shape: Any, height: float, rotation: np.ndarray | None = None, tilt: np.ndarray | None = None) -> Shapes:
    """The shape at a height over a plane, both turned by `tilt`."""
    pair = Shapes(Plane(), shape)
    tilt = np.eye(3) if tilt is None else tilt
    pair.place(0, (3, -2, 1), tilt)
    pair.place(1, (3, -2, 1) + tilt @ (0.3, 0.2, height), tilt if rotation is None else tilt @ rotation)
    return pair


def test_a_box_gives_the_corners_within_the_margin(rng: np.random.Generator) -> None:
    for tilt in (np.eye(3), random_rotation(rng)):
        flat = on_plane(Box((1, 2, 0.5)), 0.24, tilt=tilt).collide()
        assert len(flat) == 4 and (flat.kind == VERTEX).all()
        np.testing.assert_allclose(flat.gap, -0.01, atol=1e-14)
        np.testing.assert_allclose(flat.normal, tilt[:, 2], atol=1e-15)
        np.testing.assert_allclose((flat.point - (3, -2, 1)) @ tilt[:, 2], -0.005, atol=1e-14)
        edge = on_plane(Box((1, 2, 0.5)), 0.5, turn((0, 1, 0), np.pi / 4), tilt).collide(margin=1e-3)
        assert len(edge) == 2
        np.testing.assert_allclose(edge.gap, 0.5 - 0.75 * np.sqrt(0.5), atol=1e-14)


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-6, 1e-3])
def test_a_resting_tilted_box_keeps_four_points(tilt: float) -> None:
    found = on_plane(Box((1, 1, 1)), 0.5, turn((1, 0.3, 0), tilt)).collide(margin=1e-3)
    assert len(found) == 4


def test_the_upper_side_of_a_thin_plate_stays_out() -> None:
    """Its far corners are within the margin too, and useless."""
    assert len(on_plane(Box((1, 1, 1e-3)), 5e-4).collide(margin=0.01)) == 4
    assert len(on_plane(Cylinder(0.5, 1e-3), 5e-4).collide(margin=0.01)) == 8
    plate = convex_mesh(np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-5e-4, 5e-4)]))
    assert len(on_plane(plate, 5e-4).collide(margin=0.01)) == 4


def test_a_cylinder_on_its_end_stands_on_an_octagon_fixed_to_it() -> None:
    yaw = 0.7
    found = on_plane(Cylinder(0.3, 1.0), 0.49, turn((0, 0, 1), yaw)).collide()
    assert len(found) == 8 and (found.kind == VERTEX).all()
    np.testing.assert_allclose(found.gap, -0.01, atol=1e-14)
    arms = found.point[:, :2] - (3.3, -1.8)
    np.testing.assert_allclose(np.hypot(*arms.T), 0.3, atol=1e-14)  # on the true rim
    angles = np.sort((np.arctan2(arms[:, 1], arms[:, 0]) - yaw) % (np.pi / 4))
    assert np.minimum(angles, np.pi / 4 - angles).max() < 1e-12


@pytest.mark.parametrize("angle", [1e-4, 0.01, 0.3, 1.2])
def test_a_tilted_cylinder_touches_at_the_lowest_point_of_its_rim(angle: float) -> None:
    for around in (0.0, 0.2):
        rotation = turn((0, 0, 1), 0.4) @ turn((1, 0, 0), angle) @ turn((0, 0, 1), around)
        low = 0.5 * np.cos(angle) + 0.3 * np.sin(angle)
        found = on_plane(Cylinder(0.3, 1.0), low - 0.01, rotation).collide()
        assert found.gap.min() == pytest.approx(-0.01, abs=1e-12)
        assert len(found) <= 9


def test_a_lying_cylinder_and_capsule_touch_in_two_points() -> None:
    lying = turn((0, 1, 0), np.pi / 2)
    for shape in (Cylinder(0.3, 1.0), Capsule(0.3, 1.0)):
        found = on_plane(shape, 0.29, lying).collide()
        assert len(found) == 2 and (found.kind == SMOOTH).all()
        np.testing.assert_allclose(np.sort(found.point[:, 0]), (2.8, 3.8), atol=1e-12)
        np.testing.assert_allclose(found.gap, -0.01, atol=1e-14)


def test_a_standing_capsule_and_a_sphere_touch_in_one() -> None:
    for shape, height in ((Capsule(0.3, 1.0), 0.8), (Sphere(0.3), 0.3)):
        found = on_plane(shape, height - 0.01).collide()
        assert len(found) == 1 and found.gap[0] == pytest.approx(-0.01)
        np.testing.assert_allclose(found.point[0], (3.3, -1.8, 0.995), atol=1e-14)


def test_a_ball_of_many_vertices_keeps_the_deepest(rng: np.random.Generator) -> None:
    p = rng.normal(size=(400, 3))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    pair = on_plane(convex_mesh(p), 0.2)
    found = pair.collide()
    assert len(found) == 64
    heights = np.sort(p[:, 2] + 0.2)
    assert found.gap.min() == pytest.approx(heights[0], abs=1e-12)
    assert found.gap.max() < np.median(heights[heights < 0])


def test_a_spike_touches_with_its_tip_and_a_blade_with_its_edge() -> None:
    """None of their faces looks at the plane."""
    spike = convex_mesh(np.array([(0, 0, -1), (0.05, 0, 1), (-0.03, 0.04, 1), (-0.03, -0.04, 1)]))
    found = on_plane(spike, 0.99).collide()
    assert len(found) == 1 and found.gap[0] == pytest.approx(-0.01)
    blade = convex_mesh(np.array([(x, y, z) for x in (-1, 1) for y, z in ((0, -0.5), (0.03, 0.5), (-0.03, 0.5))]))
    found = on_plane(blade, 0.49).collide()
    assert len(found) == 2 and found.gap == pytest.approx(-0.01)


@pytest.mark.parametrize("corners", [64, 65, 100, 150, 400])
@pytest.mark.parametrize("tilt", [0.0, 1e-5])
def test_a_disc_of_many_corners_is_carried_all_round_and_says_what_it_leaves_out(corners: int, tilt: float) -> None:
    angle = np.arange(corners) * 2 * np.pi / corners
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    disc = convex_mesh(np.concatenate([np.column_stack([rim, np.full(corners, z)]) for z in (-0.2, 0.2)]))
    pair = on_plane(disc, 0.19, turn((0.6, 0.8, 0), tilt))
    found = pair.collide()
    assert min(corners, 33) <= len(found) <= 64
    assert bool(pair.contacts.counts[OVERFLOW]) == (corners > 64)
    arms = found.point[:, :2] - (3.3, -1.8)
    gaps = np.diff(np.sort(np.arctan2(arms[:, 1], arms[:, 0])))
    assert gaps.max() < np.radians(30)  # the deepest 64 of 400 would leave 300 degrees without support
