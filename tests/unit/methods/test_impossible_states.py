"""A state that cannot be is not taken over: SimulationDiverged, the last good state kept, never a NaN that travels."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import keywords


@pytest.mark.parametrize("method", keywords())
@pytest.mark.parametrize("force", [1e13, 1e200, 1e308])
def test_nothing_moves_faster_than_light(method: str, force: float) -> None:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.5))
    scene.add_body("pole", parent="crate", position=(0, 0, 0.2), joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(0.3, (0, 0, 0.1), 0.01 * np.eye(3)))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(3)
    with pytest.raises(ss.SimulationDiverged, match="slower than light") as caught:
        for _ in range(400):
            sim.apply_force("pole", (force, 0, force))
            sim.step()
            assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all() and np.abs(sim.v).max() <= 3e8
    assert caught.value.body in ("crate", "pole")
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()
