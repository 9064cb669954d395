"""`springs`: bodies that turn far in a step. Free flight, blows by constraint forces, rods against walls."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.springs.solve.descent import MORE_TURN

KEYWORDS = ("springs", "springs:recommended")
everyone = pytest.mark.parametrize("keyword", KEYWORDS)


def kinetic(sim):
    return sim.energy[0]


@everyone
@pytest.mark.parametrize("dt", [1e-3, 1 / 50])
def test_free_flight_keeps_energy_and_momentum(keyword, dt, rng):
    """A body of three moments of inertia, thrown spinning at up to 40 rad/s: for a second nothing changes."""
    scene = ss.Scene(gravity=(0, 0, 0))
    moments = np.array([0.02, 0.03, 0.045])
    for n in range(4):
        scene.add_body(f"body{n}", joint=ss.Joint("free"), position=(5.0 * n, 0, 0), velocity=rng.normal(size=3),
                       angular_velocity=40.0 * rng.uniform(-1, 1, 3) / np.sqrt(3),
                       inertial=ss.Inertial(1.0, (0, 0, 0), np.diag(moments)))
    sim = ss.Simulation(scene, keyword, dt)
    sim.step()
    before = kinetic(sim)
    sim.step(round(1.0 / dt))
    assert kinetic(sim) == pytest.approx(before, rel=1e-9)


@everyone
@pytest.mark.parametrize("speed", [20.0, 60.0, 150.0])
@pytest.mark.parametrize("thickness", [0.02, 0.05])
def test_a_spinning_rod_does_not_pass_a_wall(keyword, speed, thickness):
    """A rod that turns by up to 3 rad a step hits a wall with its end: it never lies through it, nor spins up."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("wall", size=(0.04, 2.0, 1.0), position=(0.32, 1.05, 0), fixed=True)
    scene.add_box("rod", size=(0.9, thickness, thickness), mass=0.3, angular_velocity=(0, 0, speed), fixed=False)
    sim = ss.Simulation(scene, keyword, 1 / 50)
    energy = kinetic(sim)
    deepest = 0.0
    for _ in range(50):
        sim.step()
        deepest = max(deepest, sim.report.penetration)
        assert np.abs(sim.bodies["rod"].angular_velocity).max() < 1.05 * speed + MORE_TURN / sim.dt
    assert kinetic(sim) < 1.05 * energy
    turn = 2 * np.arctan2(sim.bodies["rod"].rotation[3], sim.bodies["rod"].rotation[0])
    end = sim.bodies["rod"].position + 0.45 * np.array([np.cos(turn), np.sin(turn), 0])
    assert deepest < 0.5 * thickness
    assert np.isfinite(end).all()
