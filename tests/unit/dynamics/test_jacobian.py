"""Jacobians of points on links and their rates: against velocities and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.jacobian import (
    add_chain,
    chain_row,
    chain_times,
    point_jacobian,
    point_jacobian_rate,
    point_velocity,
)
from support import sample_count
from trees import BASES, Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


def world_point(posed: Posed, link: int, local: np.ndarray) -> np.ndarray:
    d = posed.data
    return d.tree_origin[posed.model.link_tree[link]] + d.offset[link] + d.rotation[link] @ local


@pytest.mark.nojit
def test_jacobian_times_speed_is_the_points_velocity(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d = posed.model, posed.data
    for link in range(m.link_count):
        point, J = world_point(posed, link, rng.normal(size=3)), nan(6, m.dof_count)
        point_jacobian(m, d, link, point, J)
        seen = point - d.tree_origin[m.link_tree[link]]
        wanted = [*point_velocity(d.velocity, link, *seen), *d.velocity[link, 3:]]
        np.testing.assert_allclose(J @ d.v, wanted, atol=1e-11)
        others = [k for k in range(m.dof_count) if m.link_tree[m.dof_link[k]] != m.link_tree[link]]
        assert not J[:, others].any()


def test_velocity_is_the_finite_difference_of_the_position(rng: np.random.Generator) -> None:
    posed, h = Posed(random_scene(rng)), 1e-6
    before, after = posed.moved(-h), posed.moved(h)
    for link in range(posed.model.link_count):
        local, J = rng.normal(size=3), nan(6, posed.model.dof_count)
        point_jacobian(posed.model, posed.data, link, world_point(posed, link, local), J)
        moved = (world_point(after, link, local) - world_point(before, link, local)) / (2 * h)
        np.testing.assert_allclose((J @ posed.data.v)[:3], moved, atol=1e-7)


def test_rate_is_the_finite_difference_of_the_jacobian(rng: np.random.Generator) -> None:
    for _ in range(sample_count(2, 20)):
        posed, h = Posed(random_scene(rng, bases=BASES)), 1e-6
        before, after = posed.moved(-h), posed.moved(h)
        for link in range(posed.model.link_count):
            local, rate, J = rng.normal(size=3), nan(6, posed.model.dof_count), []
            point_jacobian_rate(posed.model, posed.data, link, world_point(posed, link, local), rate)
            for end in (before, after):
                J.append(nan(6, posed.model.dof_count))
                point_jacobian(end.model, end.data, link, world_point(end, link, local), J[-1])
            np.testing.assert_allclose(rate, (J[1] - J[0]) / (2 * h), atol=1e-6)


def test_rows_by_chain_are_rows_of_the_dense_jacobian(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng, bases=("free", "kinematic", "fixed")))
    m, d = posed.model, posed.data
    for link in range(m.link_count):
        wrench, row, start = rng.normal(size=6), nan(200), int(rng.integers(5))
        count = chain_row(m, d, link, tuple(wrench[:3]), tuple(wrench[3:]), row, start)
        J = nan(6, m.dof_count)
        point_jacobian(m, d, link, d.tree_origin[m.link_tree[link]], J)
        end = m.link_dof[link] + m.link_dof_count[link] - 1 if count else -1
        assert count == (m.dof_depth[end] + 1 if count else 0)
        assert np.isnan(row[:start]).all() and np.isnan(row[start + count :]).all()
        x, total = rng.normal(size=m.dof_count), np.zeros(m.dof_count)
        assert chain_times(m, end, row, start, x) == pytest.approx(wrench @ J @ x, abs=1e-11)
        add_chain(m, end, row, start, 2.0, total)
        assert relative_error(total, 2.0 * J.T @ wrench) < 1e-12 or not count


def test_the_world_has_no_jacobian(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng, trees=1, size=3))
    J, rate = nan(6, posed.model.dof_count), nan(6, posed.model.dof_count)
    point_jacobian(posed.model, posed.data, -1, np.zeros(3), J)
    point_jacobian_rate(posed.model, posed.data, -1, np.zeros(3), rate)
    assert not J.any() and not rate.any()
    assert chain_row(posed.model, posed.data, -1, (1, 2, 3), (4, 5, 6), nan(5), 0) == 0
