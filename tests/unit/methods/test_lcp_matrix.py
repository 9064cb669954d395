"""K of `lcp` by test forces: the same as by the mass matrix, for self-contacts and contacts between trees too."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss


def hands(rng: np.random.Generator) -> ss.Scene:
    """A free trunk with two arms that touch each other and a box, on the ground: contacts within and between trees."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground()
    scene.add_box("trunk", size=(0.3, 0.3, 0.2), mass=5.0, position=(0, 0, 0.1 - 1e-4))
    for name, side in (("left", 1), ("right", -1)):
        scene.add_box(name, size=(0.4, 0.1, 0.1), mass=1.0, parent="trunk", position=(0.4, 0.0499 * side, 0.0),
                      joint=ss.Joint("continuous", axis=(0, 0, 1), anchor=(-0.2, 0, 0)))
    scene.add_box("box", size=(0.1, 0.3, 0.1), mass=0.5, position=(0.65 - 1e-4, 0, 0.05), velocity=rng.normal(size=3))
    return scene


def matrix(scene: ss.Scene, by: str) -> np.ndarray:
    sim = ss.Simulation(scene, ss.methods.lcp(delassus_by=by, tangent_axes="fixed", margin=1e-3), 1e-3)
    sim.step()
    rows = 3 * len(sim.contacts)
    assert len(sim.contacts) > 12 and {frozenset(c.bodies) for c in sim.contacts} >= {
        frozenset(("left", "right")), frozenset(("ground", "trunk")), frozenset(("ground", "box"))}
    return sim.work.matrix[:rows, :rows].copy()


@pytest.mark.boundscheck
def test_columns_by_test_forces_are_those_of_the_mass_matrix(rng):
    state = rng.bit_generator.state
    found = []
    for by in ("aba", "mass_matrix"):
        rng.bit_generator.state = state
        found.append(matrix(hands(rng), by))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9 * np.abs(found[1]).max())
    np.testing.assert_allclose(found[0], found[0].T, rtol=0, atol=1e-9 * np.abs(found[1]).max())
