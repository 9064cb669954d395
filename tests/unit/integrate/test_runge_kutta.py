"""The Butcher tableaus, and the four-stage scheme on its own."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.integrate import rk4, rkg
from sesshoku.integrate.euler import finish_euler, finish_semi_implicit
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from trees import Posed, nan

pytestmark = pytest.mark.boundscheck
TABLEAUS = {"rk4": rk4.TABLEAU, "rkg": rkg.TABLEAU}


@pytest.mark.parametrize("name", TABLEAUS)
def test_order_conditions_up_to_four(name: str) -> None:
    """The eight conditions of a fourth-order Runge-Kutta scheme."""
    tableau = TABLEAUS[name]
    c, A, b = tableau[:4, 0], tableau[:4, 1:], tableau[4, 1:]
    assert (np.triu(A) == 0).all()
    np.testing.assert_allclose(A.sum(axis=1), c, atol=1e-15)
    conditions = {1: b.sum(), 1 / 2: b @ c, 1 / 3: b @ c**2, 1 / 6: b @ A @ c, 1 / 4: b @ c**3, 1 / 8: (b * c) @ A @ c,
                  1 / 12: b @ A @ c**2, 1 / 24: b @ A @ A @ c}
    for wanted, got in conditions.items():
        assert got == pytest.approx(wanted, abs=1e-15)


def oscillator() -> Posed:
    """x'' = -4 x."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    scene.add_body("cart", parent="wall", inertial=Inertial(1.0, (0, 0, 0), np.eye(3)),
                   joint=Joint("prismatic", stiffness=4.0, position=1.0))
    return Posed(scene)


@pytest.mark.nojit
@pytest.mark.parametrize("name", TABLEAUS)
def test_one_step_of_an_oscillator_is_the_taylor_polynomial(name: str) -> None:
    """On a linear equation every four-stage scheme of order four gives the exponential's first five terms."""
    posed, h, q, v = oscillator(), 0.1, nan(1), nan(1)
    runge_kutta(posed.model, posed.data, TABLEAUS[name], h, q, v)
    A = np.array([[0, 1.0], [-4.0, 0]]) * h
    step = np.eye(2) + A + A @ A / 2 + A @ A @ A / 6 + A @ A @ A @ A / 24
    np.testing.assert_allclose([q[0], v[0]], step @ [1.0, 0.0], atol=1e-15)
    assert (posed.data.q[0], posed.data.v[0]) == (1.0, 0.0)  # the state itself waits for `finish`


def test_schemes_differ_where_the_equation_is_not_linear() -> None:
    """Gill's weights are not the classical ones: a pendulum shows it in the last digits."""
    ends = []
    for tableau in TABLEAUS.values():
        scene = Scene()
        scene.add_body("wall", fixed=True)
        scene.add_body("rod", parent="wall", joint=Joint("revolute", axis=(0, 1, 0), position=1.0, velocity=3.0),
                       inertial=Inertial(1.0, (0, 0, -0.5), np.eye(3)))
        posed, q, v = Posed(scene), nan(1), nan(1)
        runge_kutta(posed.model, posed.data, tableau, 0.1, q, v)
        ends.append(q[0])
    assert 0 < abs(ends[0] - ends[1]) < 1e-6


def test_scripted_links_end_moved_by_the_step() -> None:
    scene = Scene()
    scene.add_body("belt", kinematic=True, velocity=(2, 0, 0))
    posed = Posed(scene)
    runge_kutta(posed.model, posed.data, rkg.TABLEAU, 0.5, nan(0), nan(0))
    np.testing.assert_allclose(posed.data.kinematic_pose[0, :3], [1, 0, 0])


def test_euler_moves_with_the_old_velocity_and_semi_implicit_with_the_new() -> None:
    for finish, wanted in ((finish_euler, 1.0 + 0.1 * 5.0), (finish_semi_implicit, 1.0 + 0.1 * 7.0)):
        posed = oscillator()
        posed.data.v[0] = 5.0
        finish(posed.model, posed.data, np.array([7.0]), 0.1)
        assert posed.data.q[0] == pytest.approx(wanted) and posed.data.v[0] == 7.0
