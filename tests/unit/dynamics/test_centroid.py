"""Centre of mass, momenta and energies of whole scenes."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.aba import forward_dynamics
from sesshoku.dynamics.centroid import center_of_mass, kinetic_energy, momentum, potential_energy
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import Posed, nan, random_scene

pytestmark = pytest.mark.boundscheck


def whole(posed: Posed, about: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    center, total = nan(3), nan(6)
    mass = center_of_mass(posed.model, posed.data, 0, posed.model.link_count, center)
    momentum(posed.model, posed.data, 0, posed.model.link_count, about, total)
    return mass, center, total


def test_momentum_is_mass_times_the_velocity_of_the_centre(rng: np.random.Generator) -> None:
    for _ in range(sample_count(3, 50)):
        posed, h, about = Posed(random_scene(rng)), 1e-6, rng.normal(size=3)
        mass, _, total = whole(posed, about)
        assert mass == pytest.approx(posed.model.link_mass.sum(), rel=1e-14)
        velocity = (whole(posed.moved(h), about)[1] - whole(posed.moved(-h), about)[1]) / (2 * h)
        np.testing.assert_allclose(total[:3], mass * velocity, atol=1e-6)


def test_free_trees_change_momentum_by_gravity_and_pushes_alone(rng: np.random.Generator) -> None:
    """Rate of the momenta about a fixed point = force and moment of gravity and external forces. No armature: rotors
    that spin with a joint carry momentum of their own."""
    posed, about = Posed(random_scene(rng, bases=("free",), armature=0.0)), rng.normal(size=3)
    m, d, h = posed.model, posed.data, 1e-6
    d.external_force[:] = rng.normal(size=d.external_force.shape)
    a, force = nan(m.dof_count), rng.normal(size=m.dof_count)
    force[np.isin(m.link_joint[m.dof_link], [0])] = 0.0  # nothing pushes on the base but the joints below
    forward_dynamics(m, d, d.q, d.v, force, a)
    rates = []
    for step in (-h, h):
        later = posed.moved(step)
        link_velocities(m, later.data, posed.data.v + step * a)
        rates.append(whole(later, about)[2])
    wanted = np.zeros(6)
    for i in range(m.link_count):
        center = d.tree_origin[m.link_tree[i]] + d.offset[i] + d.rotation[i] @ m.link_center[i]
        push = d.external_force[i, :3] + m.link_mass[i] * m.gravity
        wanted += [*push, *(d.external_force[i, 3:] + np.cross(center - about, push))]
    np.testing.assert_allclose((rates[1] - rates[0]) / (2 * h), wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.nojit
def test_closed_forms_of_one_body() -> None:
    scene = Scene(gravity=(0, 0, -9.8))
    scene.add_body("b", position=(1, 2, 3), velocity=(1, 0, 0), angular_velocity=(0, 0, 2),
                   inertial=Inertial(2.0, (0.5, 0, 0), np.diag([1.0, 2, 2])))
    posed = Posed(scene)
    mass, center, total = whole(posed, np.zeros(3))
    np.testing.assert_allclose(center, [1.5, 2, 3], rtol=1e-15)
    velocity = np.array([1.0, 1.0, 0])  # of the centre: v + w x r
    np.testing.assert_allclose(total, [*(2 * velocity), *(np.cross([1.5, 2, 3], 2 * velocity) + [0, 0, 4])], rtol=1e-14)
    assert mass == 2.0
    assert kinetic_energy(posed.model, posed.data, posed.data.v) == pytest.approx(0.5 * 2 * 2 + 0.5 * 2 * 4, rel=1e-14)
    assert potential_energy(posed.model, posed.data, posed.data.q) == pytest.approx(2 * 9.8 * 3, rel=1e-14)


def test_springs_and_rotors_hold_energy() -> None:
    scene = Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    scene.add_body("slider", parent="wall", inertial=Inertial(2.0, (0, 0, 0), np.eye(3)),
                   joint=Joint("prismatic", stiffness=100.0, rest=0.1, position=0.3, velocity=2.0, armature=0.5))
    posed = Posed(scene)
    assert kinetic_energy(posed.model, posed.data, posed.data.v) == pytest.approx(0.5 * 2.5 * 4, rel=1e-14)
    assert potential_energy(posed.model, posed.data, posed.data.q) == pytest.approx(0.5 * 100 * 0.04, rel=1e-14)


def test_scripted_bodies_carry_no_momentum(rng: np.random.Generator) -> None:
    """They follow no law of motion: the momentum and centre of what hangs on them are those of the moving bodies."""
    scene = Scene()
    scene.add_body("cart", kinematic=True, velocity=(3, 0, 0), inertial=Inertial(100.0, (0, 0, 0), np.eye(3)))
    scene.add_body("bob", parent="cart", position=(0, 0, 1), joint=Joint("revolute", axis=(0, 1, 0)),
                   inertial=Inertial(2.0, (0, 0, 0), np.eye(3)))
    mass, center, total = whole(Posed(scene), np.zeros(3))
    assert mass == 2.0
    np.testing.assert_allclose(center, [0, 0, 1])
    np.testing.assert_allclose(total, [6, 0, 0, 0, 6, 0])
