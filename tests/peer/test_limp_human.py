"""A human of example-robot-data, limp: crossed hinges with massless links, which pass through gimbal lock."""

from __future__ import annotations

import pytest

import sesshoku as ss
from support import example_robots

pytestmark = pytest.mark.peer


@pytest.mark.parametrize("dt", [1e-3, 2e-3])
@pytest.mark.parametrize("method", ["none", "exact", "lcp:recommended"])
def test_a_limp_human_gains_no_energy(method: str, dt: float) -> None:
    folder = example_robots()
    scene = ss.Scene(gravity=(0, 0, -9.81))
    scene.load(folder / "human_description" / "robots" / "human.urdf", fixed_base=True,
               package_paths=[folder.parents[1]])
    sim = ss.Simulation(scene, method, dt=dt)
    first, above = sum(sim.energy), 0.0
    for _ in range(round(2.0 / dt)):
        sim.step()
        above = max(above, sum(sim.energy) - first)
    assert above < 0.01  # J, of 150 that it falls through
