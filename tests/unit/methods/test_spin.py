"""A free body that turns by radians per step stays bounded: it turns by the midpoint rule."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss


@pytest.mark.parametrize("dt", [0.005, 0.02])
def test_fast_tumbling_keeps_its_energy(dt):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("rod", inertial=ss.Inertial(1.0, matrix=np.diag([0.01, 1.0, 1.0])), angular_velocity=(80, 60, 5))
    sim = ss.Simulation(scene, "none", dt)
    start = sim.energy[0]
    for _ in range(3000):
        sim.step()
        assert sim.energy[0] == pytest.approx(start, rel=1e-10)


def test_nothing_jumps_where_the_midpoint_rule_begins():
    """Explicit torque and the rule differ by O((w dt)^2): the relative jump at the threshold is of that size."""
    from sesshoku.stages import free_motion

    changes = []
    for dt in (2e-3, 1e-3):
        speed = 1.0001 * free_motion.SPIN / dt
        speeds = []
        for factor in (0.9998, 1.0):  # just below and just above the threshold
            scene = ss.Scene(gravity=(0, 0, 0))
            w = factor * speed * np.array([0.6, 0.64, 0.48])
            scene.add_body("body", inertial=ss.Inertial(1.0, matrix=np.diag([1.0, 2.0, 2.5])), angular_velocity=w)
            sim = ss.Simulation(scene, "none", dt)
            sim.step()
            speeds.append((sim.bodies["body"].angular_velocity - w) / np.linalg.norm(w))
        changes.append(np.abs(speeds[1] - speeds[0]).max())
    assert max(changes) < 3 * free_motion.SPIN**2
