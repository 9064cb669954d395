"""Recursive Newton-Euler: link velocities, bias and inverse dynamics, against energy and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.centroid import kinetic_energy, potential_energy
from sesshoku.dynamics.jacobian import point_jacobian
from sesshoku.dynamics.rnea import bias_force, external_wrenches, inverse_dynamics, link_velocities
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
def test_link_velocities_are_the_sum_of_the_axes_above(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng, bases=("free", "kinematic", "spherical")))
    m, d = posed.model, posed.data
    for i in range(m.link_count):
        total, link = np.zeros(6), i
        while link >= 0:
            dofs = slice(m.link_dof[link], m.link_dof[link] + m.link_dof_count[link])
            total += d.v[dofs] @ d.axis[dofs] + d.kinematic_velocity[link]
            link = m.link_parent[link]
        np.testing.assert_allclose(d.velocity[i], total, atol=1e-12)


def energy(posed: Posed) -> float:
    m, d = posed.model, posed.data
    return kinetic_energy(m, d, d.v) + potential_energy(m, d, d.q)


def test_power_of_the_bias_is_the_rate_of_energy(rng: np.random.Generator) -> None:
    """At zero joint acceleration the joint forces are the bias, so v . bias = d/dt (T + V) along q' = v, v' = 0."""
    for _ in range(sample_count(3, 50)):
        posed, h = Posed(random_scene(rng)), 1e-5
        bias = nan(posed.model.dof_count)
        bias_force(posed.model, posed.data, posed.data.v, bias)
        rate = (energy(posed.moved(h)) - energy(posed.moved(-h))) / (2 * h)
        assert abs(posed.data.v @ bias - rate) < 1e-7 * (np.abs(posed.data.v) @ np.abs(bias))


def test_inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias(rng: np.random.Generator) -> None:
    for _ in range(sample_count(3, 50)):
        posed = Posed(random_scene(rng, bases=("free", "kinematic", "planar")))
        m, d = posed.model, posed.data
        d.external_force[:] = rng.normal(size=d.external_force.shape)
        external_wrenches(m, d)
        bias, force, a = nan(m.dof_count), nan(m.dof_count), rng.normal(size=m.dof_count)
        bias_force(m, d, d.v, bias)
        inverse_dynamics(m, d, d.v, a, force)
        assert relative_error(force, posed.H @ a + bias) < 1e-12


def test_external_forces_act_at_the_centre_of_mass(rng: np.random.Generator) -> None:
    """The bias loses J^T f, J of the link's centre of mass; also on a link without mass of its own."""
    scene = random_scene(rng)
    scene.add_body("swivel", parent="tree0_1", position=(0.1, 0.2, 0.3), joint=Joint("revolute", anchor=(0.2, 0, 0)))
    scene.add_body("bob", parent="swivel", position=(0.5, 0, 0), joint=Joint("revolute", axis=(1, 0, 0)),
                   inertial=Inertial(1.0, (0.1, 0.2, 0), np.eye(3)))
    posed = Posed(scene)
    m, d = posed.model, posed.data
    assert (m.link_mass == 0.0).any()
    before, after, wanted = nan(m.dof_count), nan(m.dof_count), np.zeros(m.dof_count)
    bias_force(m, d, d.v, before)
    d.external_force[:] = rng.normal(size=d.external_force.shape)
    external_wrenches(m, d)
    bias_force(m, d, d.v, after)
    for i in range(m.link_count):
        jacobian = nan(6, m.dof_count)
        center = d.tree_origin[m.link_tree[i]] + d.offset[i] + d.rotation[i] @ m.link_center[i]
        point_jacobian(m, d, i, center, jacobian)
        wanted += jacobian.T @ d.external_force[i]
    assert relative_error(before - after, wanted) < 1e-11


def test_a_scripted_root_accelerates_what_hangs_on_it() -> None:
    """A pendulum under a pivot that accelerates by a: the bias is that of gravity g - a."""
    def bias(gravity: tuple, acceleration: tuple) -> float:
        scene = Scene(gravity=gravity)
        scene.add_body("pivot", kinematic=True, position=(1, 2, 3))
        scene.add_body("bob", parent="pivot", joint=Joint("revolute", axis=(0, 1, 0), position=0.3),
                       inertial=Inertial(2.0, (0, 0, -0.5), np.eye(3)))
        posed = Posed(scene)
        posed.data.kinematic_acceleration[0, :3] = acceleration
        link_velocities(posed.model, posed.data, posed.data.v)
        out = nan(1)
        bias_force(posed.model, posed.data, posed.data.v, out)
        return float(out[0])

    assert bias((0, 0, 0), (3.0, 0, 9.8)) == pytest.approx(bias((-3.0, 0, -9.8), (0, 0, 0)), rel=1e-14)
    assert bias((0, 0, 0), (3.0, 0, 9.8)) == pytest.approx(2 * 0.5 * (9.8 * np.sin(0.3) - 3 * np.cos(0.3)), rel=1e-14)
