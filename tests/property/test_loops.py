"""Closed loops at random, turned at random in space, under every method: nothing gains energy, loops stay closed.

Rows of such loops depend on each other up to rounding, or nearly: a solver that divides by what is left of them makes
energy without bound out of rounding.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from linkages import four_bar, random_mechanism, turned
from sesshoku.methods.registry import keywords
from support import SEED, sample_count

DT, STEPS = 2e-3, 250
#: joints of `springs` are springs: they give, and swing; its preset has a test of its own
REDUCED = [name for name in keywords() if not name.startswith("springs")]


def swing(scene: ss.Scene, method: str, steps: int = STEPS) -> tuple[float, float, float]:
    """Largest kinetic energy, largest gain of total energy over the start, largest error of a loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing to warn of
        sim = ss.Simulation(scene, method, dt=DT)
        start, kinetic, gain, error = sum(sim.energy), 0.0, -np.inf, 0.0
        for _ in range(steps):
            sim.step()
            now = sim.energy
            kinetic, gain = max(kinetic, now[0]), max(gain, sum(now) - start)
            error = max(error, sim.report.loop_error)
    return float(kinetic), float(gain), float(error)


@pytest.mark.parametrize("method", REDUCED)
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.3, 0.5, 0.7)], ids=["axes", "roll", "all"])
def test_a_four_bar_swings_as_without_contact_laws(method: str, turn: tuple[float, float, float]) -> None:
    scene = four_bar(turned(*turn))
    expected = swing(scene, "none", 1000)
    kinetic, gain, error = swing(scene, method, 1000)
    assert kinetic <= 1.01 * expected[0]
    assert gain <= 1e-3 * expected[0]
    assert error < 1e-6


@pytest.mark.parametrize("method", REDUCED)
def test_mechanisms_in_any_orientation_gain_nothing(method: str) -> None:
    rng = np.random.default_rng([SEED, 18])
    for number in range(sample_count(24, 1000)):
        name, scene = random_mechanism(rng, number)
        expected = swing(scene, "none")
        _, gain, error = swing(scene, method)  # `none` damps: kinetic energy alone may rightly be larger
        assert gain <= max(expected[1], 0.0) + 2e-3 * expected[0], f"{number}: {name}"
        assert error < 1e-6, f"{number}: {name}"


def test_mechanisms_of_stiff_springs_gain_nothing_in_any_orientation() -> None:
    """With armature at all joints: it turns against the parent."""
    rng = np.random.default_rng([SEED, 19])
    for number in range(sample_count(16, 400)):
        name, scene = random_mechanism(rng, number)
        expected = swing(scene, "none")
        kinetic, gain, error = swing(scene, "springs:recommended")
        assert kinetic <= 1.1 * expected[0], f"{number}: {name}"
        assert gain <= max(expected[1], 0.0) + 2e-3 * expected[0], f"{number}: {name}"
        assert error < 1e-3, f"{number}: {name}"


def test_explicit_springs_warn_of_loops_that_may_gain_energy() -> None:
    """And only of those: without armature between links, springs and dampers nothing is said."""
    scene = four_bar(turned(0.3, 0.5, 0.7))
    with pytest.warns(ss.UnstableStep, match=r"joint 'c\w+' \(and 2 more\).*closed loop.*springs:recommended"):
        ss.Simulation(scene, "springs", dt=DT)
    for body in scene.bodies.values():
        body.joint.armature = body.joint.viscous = body.joint.stiffness = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.Simulation(scene, "springs", dt=DT)
