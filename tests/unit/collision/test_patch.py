"""Which of many contact points are kept: corners, what is deep, what carries load; the same from step to step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sesshoku.collision.contacts import CONTACTS, Contacts
from sesshoku.collision.points.detect import detect, new_contacts
from sesshoku.collision.points.patch import reduce_patch
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle
from trees import Posed

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]
FREE_FALL = 1e-3  # s


def box_on_ground() -> tuple[Posed, Contacts]:
    scene = Scene()
    scene.add_ground()
    scene.add_box("box", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    posed = Posed(scene)
    return posed, new_contacts(posed.model)


def kept(points: np.ndarray, gaps: np.ndarray, most: int, velocity: tuple[float, ...] = (0,) * 6,
         old: np.ndarray | None = None) -> list[int]:
    """Numbers of the points (n, 3) that stay between the ground and a box with that velocity; old: numbers before."""
    posed, c = box_on_ground()
    posed.data.v[:] = velocity
    link_velocities(posed.model, posed.data, posed.data.v)
    n = len(points)
    c.manifold_point[:n], c.manifold_gap[:n], c.manifold_normal[:] = points, gaps, (0, 0, 1)
    c.manifold_kind[:n] = np.arange(n)
    known = 0 if old is None else len(old)
    for k in range(known):
        c.old_local[k] = points[old[k]], points[old[k]] - (0, 0, 0.5)
    count = reduce_patch(posed.model, posed.data, c, (0, 1), n, (most, FREE_FALL), (0, known))
    chosen = c.manifold_kind[:count].tolist()
    np.testing.assert_array_equal(c.manifold_point[:count], points[chosen])
    np.testing.assert_array_equal(c.manifold_gap[:count], gaps[chosen])
    assert chosen == sorted(chosen)
    return [int(k) for k in chosen]


def grid(columns: int, rows: int, x: float = 0.2, y: float = 0.1) -> np.ndarray:
    return np.array([(x * (i / (columns - 1) - 0.5), y * (j / (rows - 1) - 0.5), 0.0)
                     for j in range(rows) for i in range(columns)])


def test_a_flat_sole_keeps_its_four_corners(rng: np.random.Generator) -> None:
    for slope in (0.0, 1e-6, 1e-4):
        points = grid(8, 8)[rng.permutation(64)]
        gaps = points[:, :2] @ rng.normal(size=2) * slope + 1e-13 * rng.normal(size=64)
        corners = np.flatnonzero(np.isclose(np.abs(points[:, 0]), 0.1) & np.isclose(np.abs(points[:, 1]), 0.05))
        assert kept(points, gaps, 6) == corners.tolist()


def test_a_line_keeps_its_ends() -> None:
    points = np.c_[np.linspace(-0.1, 0.1, 15), np.zeros(15), np.zeros(15)]
    assert kept(points, np.zeros(15), 6) == [0, 14]
    assert kept(points, 1e-12 * np.cos(np.arange(15.0)), 6) == [0, 14]


def test_a_sole_about_to_land_keeps_the_edge_it_lands_on() -> None:
    points = grid(8, 8)
    gaps = 1e-4 + 0.05 * (points[:, 0] + 0.1)
    assert {0, 56} <= set(kept(points, gaps, 6)) and {0, 56} <= set(kept(points, gaps, 2))


def test_what_carries_load_is_not_displaced_by_what_is_near() -> None:
    inner, outer = grid(2, 2, 0.02, 0.02), grid(5, 5, 0.4, 0.4)
    points = np.r_[outer, inner]
    gaps = np.r_[np.full(25, 5e-3), np.zeros(4)]
    gaps[[6, 7, 8, 11, 12, 13, 16, 17, 18]] = 2e-3
    assert set(kept(points, gaps, 4)) == {25, 26, 27, 28}


def test_the_deepest_stays_wherever_it_is(rng: np.random.Generator) -> None:
    for _ in range(20):
        points = np.c_[rng.normal(size=(30, 2)), np.zeros(30)]
        gaps = rng.uniform(0, 1e-3, 30)
        gaps[7] = -1e-4
        for most in (1, 2, 3, 4, 6):
            chosen = kept(points, gaps, most)
            assert 7 in chosen and len(chosen) <= most


def test_many_corners_leave_a_wide_polygon() -> None:
    angle = 2 * np.pi * np.arange(64) / 64
    points = np.c_[0.1 * np.cos(angle), 0.1 * np.sin(angle), np.zeros(64)]
    for most, share in ((4, 0.6), (6, 0.75), (8, 0.85)):
        chosen = kept(points, np.zeros(64), most)
        assert len(chosen) == most
        assert ConvexHull(points[chosen, :2]).volume > share * np.pi * 0.01


def test_what_comes_down_is_kept_before_it_touches() -> None:
    """A disc that turns about y: the side that sinks counts, though all gaps are still alike."""
    angle = 2 * np.pi * (np.arange(32) + 0.5) / 32
    points = np.c_[0.1 * np.cos(angle), 0.1 * np.sin(angle), np.zeros(32)]
    for way in (30.0, -30.0):
        chosen = kept(points, np.zeros(32), 4, velocity=(0, 0, 0, 0, way, 0))
        assert len(chosen) == 4 and (way * points[chosen, 0] > 0.0).all()


def test_hysteresis() -> None:
    """Of corners that are as good by some percent those of the step before stay."""
    angle = 2 * np.pi * np.arange(64) / 64
    points = np.c_[0.1 * np.cos(angle), 0.1 * np.sin(angle), np.zeros(64)]
    for shift in (0, 1, 5, 11):
        old = (np.array([0, 11, 21, 32, 43, 53]) + shift) % 64
        noise = 1e-9 * np.sin(np.arange(64.0))
        assert kept(points, noise, 6, old=old) == sorted(old.tolist())
        deeper = noise.copy()
        deeper[old[0] + 3] = -1e-5  # what has come to lie deeper counts, though
        assert old[0] + 3 in kept(points, deeper, 6, old=old)


def test_all_in_one_place() -> None:
    assert kept(np.zeros((9, 3)), np.arange(9.0), 6) == [0]


@pytest.mark.parametrize("spin", [0.0, 2.0])
def test_a_column_that_slides_keeps_ids(spin: float) -> None:
    angle = 2 * np.pi * np.arange(40) / 40
    ring = np.c_[0.1 * np.cos(angle), 0.1 * np.sin(angle)]
    scene = Scene()
    scene.add_ground()
    scene.add_convex("column", np.r_[np.c_[ring, np.full(40, -0.1)], np.c_[ring, np.full(40, 0.1)]], mass=1.0,
                     position=(0, 0, 0.1))
    posed = Posed(scene)
    contacts, ids = new_contacts(posed.model), set()
    for step in range(30):
        rock = axis_angle((np.cos(step), np.sin(step), 0), 1e-9)
        posed.data.q[:] = (1e-3 * step, 0, 0.1, *_times(rock, axis_angle((0, 0, 1), 1e-3 * step * spin)))
        kinematics(posed.model, posed.data, posed.data.q)
        detect(posed.model, posed.data, contacts, 1e-3, 0.0, 6)
        assert contacts.counts[CONTACTS] == 6
        ids |= {int(name) for name in contacts.id[:6]}
    assert len(ids) == 6


def _times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    w, x, y, z = p
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]) @ q
