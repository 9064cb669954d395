"""`free_motion="rk4"`: what nothing touches moves at fourth order, what touches as ever."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sesshoku as ss


def end_state(scene: ss.Scene, dt: float, seconds: float, free: str) -> np.ndarray:
    sim = ss.Simulation(scene, ss.methods.exact(free_motion=free), dt)
    sim.step(round(seconds / dt))
    return np.concatenate([sim.q, sim.v])


def tumbling() -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, -9.81))
    scene.add_box("book", size=(0.3, 0.2, 0.05), mass=1.0, position=(0, 0, 100), velocity=(1, 0, 2),
                  angular_velocity=(0.3, 6.0, 0.2))
    return scene


def pendulum(count: int) -> ss.Scene:
    """A chain of rods on hinges, let go from the side."""
    scene = ss.Scene(gravity=(0, 0, -9.81))
    parent = None
    for n in range(count):
        joint = ss.Joint("revolute", axis=(0, 1, 0), anchor=(-0.25, 0, 0))
        scene.add_box(f"rod{n}", size=(0.5, 0.05, 0.05), mass=1.0, position=(0.25 + 0.5 * n, 0, 5.0), parent=parent,
                      joint=joint)
        parent = f"rod{n}"
    return scene


@pytest.mark.parametrize("make", [tumbling, lambda: pendulum(1), lambda: pendulum(2)], ids=["book", "one", "two"])
def test_order(make):
    """The error falls 16 times with half the step, and is far below the midpoint rule's."""
    known = end_state(make(), 2.5e-4, 0.8, "rk4")
    errors = [np.abs(end_state(make(), dt, 0.8, "rk4") - known).max() for dt in (1e-2, 5e-3, 2.5e-3)]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) > 3.6, errors
    second = np.abs(end_state(make(), 2.5e-3, 0.8, "midpoint") - known).max()
    assert errors[-1] < 1e-3 * second


def test_what_touches_moves_as_ever():
    """Bit for bit, beside something that flies; and what lands is a contact's from then on."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), velocity=(1.0, 0.3, 0))
    runs = []
    for free in ("midpoint", "rk4"):
        sim = ss.Simulation(scene, ss.methods.exact(free_motion=free), 1e-3)
        sim.step(500)
        runs.append(sim.q.copy())
    assert np.array_equal(*runs)
    scene.add_sphere("ball", radius=0.05, mass=0.1, position=(1, 0, 0.3), material=ss.Material(0.5, None, 0.5))
    sim = ss.Simulation(scene, ss.methods.exact(free_motion="rk4"), 1e-3)
    sim.step(3000)
    assert sim.bodies["ball"].position[2] == pytest.approx(0.05, abs=1e-6)
    assert sim.bodies["crate"].position == pytest.approx(runs[0][:3], abs=1e-12)
