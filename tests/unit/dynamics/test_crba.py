"""The mass matrix: against inverse dynamics, kinetic energy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.centroid import kinetic_energy
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import bias_force, inverse_dynamics, link_velocities
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import BASES, Posed, dense, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
def test_columns_are_inverse_dynamics_of_unit_accelerations(rng: np.random.Generator) -> None:
    for _ in range(sample_count(2, 50)):
        posed = Posed(random_scene(rng, bases=(*BASES, "kinematic")))
        m, d = posed.model, posed.data
        bias, force = nan(m.dof_count), nan(m.dof_count)
        bias_force(m, d, d.v, bias)
        H = posed.H
        for k in range(m.dof_count):
            inverse_dynamics(m, d, d.v, np.eye(m.dof_count)[k], force)
            assert relative_error(force - bias, H[k]) < 1e-10


def test_kinetic_energy_is_half_v_h_v(rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 50)):
        posed = Posed(random_scene(rng))
        v = rng.normal(size=posed.model.dof_count)
        link_velocities(posed.model, posed.data, v)
        energy = kinetic_energy(posed.model, posed.data, v)
        assert energy == pytest.approx(0.5 * v @ posed.H @ v, rel=1e-12)
        assert np.linalg.eigvalsh(posed.H)[0] > 0.0


def test_double_pendulum_closed_form() -> None:
    """Two uniform rods of length 1 and mass 2: H of the relative angles."""
    scene = Scene()
    scene.add_body("wall", fixed=True)
    rod = Inertial(2.0, (0, 0, -0.5), np.diag([2 / 12, 2 / 12, 1e-3]))
    scene.add_body("upper", parent="wall", joint=Joint("revolute", axis=(0, 1, 0)), inertial=rod)
    scene.add_body("lower", parent="upper", position=(0, 0, -1), inertial=rod,
                   joint=Joint("revolute", axis=(0, 1, 0), position=0.7, armature=0.25))
    posed = Posed(scene, ready=False)
    kinematics(posed.model, posed.data, posed.data.q)
    rows = nan(3)
    mass_matrix(posed.model, posed.data, rows)
    c = np.cos(0.7)
    inner, outer = 2 / 12 + 2 * 0.25, 2 * 1.0  # a rod about its end; a point mass at the elbow
    wanted = [[2 * inner + outer + 2 * 2 * 0.5 * c, inner + 2 * 0.5 * c], [inner + 2 * 0.5 * c, inner + 0.25]]
    np.testing.assert_allclose(dense(posed.model, rows), wanted, rtol=1e-14)
