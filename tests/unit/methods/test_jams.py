"""Robots that begin in themselves, loops and mimics that contradict contacts: no energy from nowhere, forces one can
look at. The scenes are those of `wild_scenes` in which methods once went mad."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from soak import GAIN, run
from wild_scenes import wild_scene


def jammed(method: str, seed: int) -> ss.Simulation:
    wild = wild_scene(seed, calm=True)
    assert wild.passive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ss.Simulation(wild.scene, method, wild.dt)


@pytest.mark.parametrize(("method", "seed", "steps"), [
    ("exact", 5111, 60), ("multipoint:recommended", 5074, 30), ("multipoint:recommended", 5108, 110),
    ("multipoint:recommended", 5072, 50), ("volume:recommended", 5077, 170), ("implicit:recommended", 5072, 30),
    ("implicit:recommended", 5038, 30)])
@pytest.mark.filterwarnings("ignore")
def test_nothing_gains_energy(method: str, seed: int, steps: int) -> None:
    result = run(jammed(method, seed), True, steps)
    assert result["steps"] == steps, result
    assert result["gain"] <= GAIN, result


@pytest.mark.parametrize("seed", [5052, 5064, 5074])
@pytest.mark.filterwarnings("ignore")
def test_forces_of_jammed_bodies_can_be_looked_at(seed: int) -> None:
    """No force is a thousand times what would stop all there is within a step; corrections work no more than that."""
    sim = jammed("exact", seed)
    mass, g = float(np.sum(sim.model.link_mass)), max(float(np.linalg.norm(sim.model.gravity)), 1.0)
    for _ in range(40):
        before = sim.energy.kinetic
        sim.step()
        kinetic = max(before, sim.energy.kinetic)
        stopping = mass * (g + np.sqrt(2.0 * kinetic / mass) / sim.dt)
        assert all(np.abs(contact.force).max() < 1e3 * stopping for contact in sim.contacts)
        assert sim.report.correction_work < 20.0 * max(kinetic, 0.1 * mass * g)


@pytest.mark.filterwarnings("ignore")
def test_deep_overlaps_that_are_left_alone_are_not_converged() -> None:
    """A leg through a floor and a table: what the corrections ask for cannot be; nothing moves, and that is said."""
    scene = ss.Scene()
    scene.add_box("floor", size=(2, 2, 0.02), position=(0, 0, -0.01), fixed=True)
    scene.add_box("table", size=(1, 1, 0.1), position=(0, 0, 0.05), fixed=True)
    leg = [ss.Geometry(ss.Box((0.05, 0.05, 0.06)), position=(0, 0, z)) for z in (0.09, -0.025)]
    scene.add_body("leg", geometries=leg, inertial=ss.Inertial(1.0, (0, 0, 0), (0.01, 0.01, 0.01)))
    sim = ss.Simulation(scene, "exact", 1e-3)
    for _ in range(50):
        sim.step()
        assert not sim.report.converged
        assert max(np.abs(contact.force).max() for contact in sim.contacts) < 1e4
    assert sim.energy.kinetic < 0.1
