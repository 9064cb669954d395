"""Moving coordinates along a velocity."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.integrate.position import move, move_kinematic, normalize
from sesshoku.model.arrays import FREE, SPHERICAL
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix
from trees import Posed, random_scene, unit

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
def test_there_and_back_is_where_it_was(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    q = posed.data.q.copy()
    move(posed.model, q, posed.data.v, 0.3)
    assert np.abs(q - posed.data.q).max() > 0.01
    move(posed.model, q, posed.data.v, -0.3)
    np.testing.assert_allclose(q, posed.data.q, atol=1e-14)


def test_constant_turns_are_exact(rng: np.random.Generator) -> None:
    """One big step equals many small ones; a free body turns about world axes, a spherical joint about its own."""
    scene = Scene()
    one = Inertial(1.0, (0, 0, 0), np.eye(3))
    start, spin = unit(rng, 4), rng.normal(size=3)
    scene.add_body("free", inertial=one, rotation=start, angular_velocity=spin)
    scene.add_body("ball", inertial=one, joint=Joint("spherical", position=start, velocity=spin))
    posed = Posed(scene)
    many, once = posed.data.q.copy(), posed.data.q.copy()
    move(posed.model, once, posed.data.v, 2.0)
    for _ in range(1000):
        move(posed.model, many, posed.data.v, 2e-3)
    np.testing.assert_allclose(many, once, atol=1e-12)
    turn = axis_angle(spin / np.linalg.norm(spin), 2.0 * float(np.linalg.norm(spin)))
    for part, wanted in ((once[3:7], multiply(turn, start)), (once[7:11], multiply(start, turn))):
        np.testing.assert_allclose(quaternion_to_matrix(part), quaternion_to_matrix(wanted), atol=1e-13)


def quaternions(posed: Posed, q: np.ndarray) -> list[np.ndarray]:
    m = posed.model
    return [q[m.link_coordinate[i] + (3 if m.link_joint[i] == FREE else 0) :][:4]
            for i in range(m.link_count) if m.link_joint[i] in (FREE, SPHERICAL)]


def test_quaternions_stay_unit(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    q = posed.data.q.copy()
    for _ in range(2000):
        move(posed.model, q, 50.0 * rng.normal(size=posed.model.dof_count), 1e-2)
    lengths = [np.linalg.norm(part) for part in quaternions(posed, q)]
    assert lengths
    np.testing.assert_allclose(lengths, 1.0, atol=1e-15)


def test_normalize_touches_quaternions_alone(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    wanted, q = posed.data.q.copy(), posed.data.q.copy()
    for part in quaternions(posed, q):
        part *= 1.7
    normalize(posed.model, q)
    np.testing.assert_allclose(q, wanted, atol=1e-15)


def test_scripted_links_follow_their_velocity() -> None:
    scene = Scene()
    scene.add_body("belt", kinematic=True, position=(1, 0, 0), velocity=(2, 0, 0), angular_velocity=(0, 0, np.pi))
    scene.add_body("b", inertial=Inertial(1.0, (0, 0, 0), np.eye(3)))
    posed = Posed(scene)
    move_kinematic(posed.model, posed.data, 0.5)
    np.testing.assert_allclose(posed.data.kinematic_pose[0], [2, 0, 0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
    assert posed.data.kinematic_pose[1].tolist() == [0, 0, 0, 1, 0, 0, 0]
