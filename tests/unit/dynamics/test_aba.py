"""The articulated-body algorithm: against the mass matrix, and its unit test forces."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.aba import accelerate, forward_dynamics, path_acceleration, wrench_response
from sesshoku.dynamics.kinematics import last_dof
from sesshoku.dynamics.rnea import bias_force
from support import sample_count
from trees import BASES, Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
def test_forward_dynamics_solves_the_equation_of_motion(rng: np.random.Generator) -> None:
    for _ in range(sample_count(3, 100)):
        posed = Posed(random_scene(rng, bases=(*BASES, "kinematic")))
        m, d = posed.model, posed.data
        d.external_force[:] = rng.normal(size=d.external_force.shape)
        d.kinematic_acceleration[:] = rng.normal(size=d.kinematic_acceleration.shape)
        force, a, bias = rng.normal(size=m.dof_count), nan(m.dof_count), nan(m.dof_count)
        forward_dynamics(m, d, d.q, d.v, force, a)
        bias_force(m, d, d.v, bias)
        assert relative_error(a, np.linalg.solve(posed.H, force - bias)) < 1e-9


def test_implicit_springs_stiffen_the_joints_they_act_on(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d = posed.model, posed.data
    d.implicit_diagonal[:] = rng.uniform(0, 2, size=m.dof_count)
    force, a, bias = rng.normal(size=m.dof_count), nan(m.dof_count), nan(m.dof_count)
    forward_dynamics(m, d, d.q, d.v, force, a)
    bias_force(m, d, d.v, bias)
    assert relative_error(a, np.linalg.solve(posed.H + np.diag(d.implicit_diagonal), force - bias)) < 1e-9


def test_cached_articulated_inertias_serve_any_velocity_and_force(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d = posed.model, posed.data
    for _ in range(3):
        v, force = rng.normal(size=m.dof_count), rng.normal(size=m.dof_count)
        cached, whole = nan(m.dof_count), nan(m.dof_count)
        accelerate(m, d, v, force, cached)
        forward_dynamics(m, d, d.q, v, force, whole)
        np.testing.assert_array_equal(cached, whole)


def test_unit_test_wrenches_move_links_as_the_mass_matrix_says(rng: np.random.Generator) -> None:
    """The acceleration a wrench on one link gives another: S_b^T H^-1 S_a, zero in other trees."""
    posed = Posed(random_scene(rng, bases=("free", "fixed", "kinematic")))
    m, d, H = posed.model, posed.data, posed.H
    for _ in range(sample_count(30, 500)):
        source, link = rng.integers(m.link_count, size=2)
        wrench, response, acceleration = rng.normal(size=6), nan(m.dof_count), nan(6)
        wrench_response(m, d, source, wrench, response)
        path_acceleration(m, d, source, link, response, acceleration)
        chains = np.zeros((2, 6, m.dof_count))
        for side, end in enumerate((source, link)):
            while end >= 0:
                dofs = slice(m.link_dof[end], m.link_dof[end] + m.link_dof_count[end])
                chains[side][:, dofs] = d.axis[dofs].T
                end = m.link_parent[end]
        wanted = chains[1] @ np.linalg.solve(H, chains[0].T @ wrench)
        np.testing.assert_allclose(acceleration, wanted, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_last_dof_walks_up_past_scripted_links(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng, trees=2, bases=("kinematic", "free")))
    m = posed.model
    assert last_dof(m, -1) == -1
    for i in range(m.link_count):
        expected = m.link_dof[i] + m.link_dof_count[i] - 1 if m.link_dof_count[i] else -1
        assert last_dof(m, i) == expected
