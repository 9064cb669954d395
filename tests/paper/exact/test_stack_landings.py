"""Stacks that land together, and boxes that land on standing ones: impacts pass through, and nothing is pressed in."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss


@pytest.mark.boundscheck
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("apart", [0.0, 0.003])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nothing_is_pressed_in(count, apart, dt):
    """Boxes on top of each other, or 3 mm apart, dropped 1 cm: no overlap in any step, at rest in their places."""
    scene = ss.Scene()
    scene.add_ground()
    for n in range(count):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.11 + (0.2 + apart) * n))
    sim = ss.Simulation(scene, "exact", dt)
    for _ in range(round(0.5 / dt)):
        sim.step()
        height = sim.q.reshape(-1, 7)[:, 2]
        assert (np.diff(height, prepend=-0.1) - 0.2).min() > -1e-11
    assert height == pytest.approx(0.1 + 0.2 * np.arange(count), abs=1e-9)
    assert np.abs(sim.v).max() < 1e-9


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_a_crate_that_is_hit_from_the_side_goes_on_from_then(speed):
    """What stands on the floor passes no sideways push on: after the impact both go on together, from its instant."""
    ice = ss.Material(0.0, 0.0, 0.0)
    scene = ss.Scene()
    scene.add_ground(material=ice)
    for n, x in enumerate((0.0, -0.3137)):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(x, 0, 0.1), velocity=(n * speed, 0, 0),
                      material=ice)
    for dt in (1e-3, 5e-3):
        sim = ss.Simulation(scene, "exact", dt)
        steps = round(0.5 / dt)
        sim.step(steps)
        met = 0.1137 / speed
        assert sim.bodies["box0"].velocity == pytest.approx([0.5 * speed, 0, 0], abs=1e-9)
        assert sim.bodies["box0"].position[0] == pytest.approx(0.5 * speed * (steps * dt - met), abs=2.0 * speed * dt)
