"""Bush feet: their rotors are what RK4 needs, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.control.humanoids import stage
from sesshoku.robots.bush import Bush, rotor

DT = 1e-3


def growth(stiffness: float, damping: float, inertia: float) -> float:
    """Largest factor by which a step of RK4 multiplies a motion of a spring and damper."""
    z = DT * np.linalg.eigvals(np.array([[0.0, 1.0], [-stiffness / inertia, -damping / inertia]]))
    return float(np.abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24).max())


@pytest.mark.parametrize("loss", [0.0, 1e-4, 1e-3, 0.02, 0.2])
@pytest.mark.parametrize("stiffness", [1e3, 2.4e5, 1e7])
def test_the_rotor_is_stable_and_not_much_larger_than_it_must_be(stiffness, loss):
    """c dt / I stays below 2.785, sqrt(k / I) dt below 2.828; with 0.7 of it, one of the two would not."""
    inertia = rotor(stiffness, loss * stiffness, DT)
    assert growth(stiffness, loss * stiffness, inertia) <= 1.0 + 1e-9
    if loss not in (1e-4, 1e-3):  # between the two axes the region of stability is wider
        assert growth(stiffness, loss * stiffness, 0.7 * inertia) > 1.0


@pytest.mark.parametrize("stiffness", [4e4, 8e4])
def test_a_sole_lands_as_light_as_it_may(stiffness):
    """The rotor of the vertical bush is a fifth of what semi-implicit Euler would need (k dt^2 + 2 c dt)."""
    k, c, inertia = Bush(stiffness).springs()["z"]
    assert c * DT / inertia == pytest.approx(2.5)
    assert inertia < 0.2 * (k * DT**2 + 2 * c * DT)


@pytest.mark.parametrize("method", ["lcp", "lcp:recommended"])
def test_a_robot_stands_on_its_bushes(method):
    sim = ss.Simulation(stage("large_bush"), method, DT)
    sim.step(300)
    weight = 9.8 * sum(sim.bodies[name].mass for name in sim.bodies if name != "ground")
    assert sum(contact.force[2] for contact in sim.contacts) == pytest.approx(weight, rel=0.05)
    assert np.abs(sim.v).max() < 1.0
