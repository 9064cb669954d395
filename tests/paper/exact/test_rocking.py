"""Housner's rocking block under `exact`: what an impact leaves of its energy, from one corner to the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sesshoku as ss

G, WIDTH, HEIGHT, MASS = 9.81, 0.2, 0.6, 5.0


def kept_per_impact(dt, tilt=0.1, impacts=3, seconds=2.0):
    """Energy above that of the upright block after each impact, over that before."""
    material = ss.Material(2.0, None, 0.0)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    c, s = np.cos(tilt), np.sin(tilt)
    scene.add_box("block", size=(WIDTH, 0.3, HEIGHT), mass=MASS, material=material,
                  position=(-0.5 * c * WIDTH + 0.5 * s * HEIGHT, 0, 0.5 * s * WIDTH + 0.5 * c * HEIGHT),
                  rotation=(np.cos(0.5 * tilt), 0, np.sin(0.5 * tilt), 0))
    sim = ss.Simulation(scene, "exact", dt)
    angle, energy = [], []
    for _ in range(round(seconds / dt)):
        sim.step()
        R = sim.bodies["block"].rotation_matrix
        angle.append(np.arctan2(R[0, 2], R[2, 2]))
        energy.append(sum(sim.energy) - 0.5 * MASS * G * HEIGHT)
        assert sim.report.momentum_residual < 1e-10
    turns = [0, *(np.flatnonzero(np.diff(np.sign(angle))) + 1), len(angle)]
    levels = [np.median(energy[(i + j) // 2 - 2:(i + j) // 2 + 2]) for i, j in pairwise(turns)]
    return np.array(levels[1:impacts + 1]) / np.array(levels[:impacts])


@pytest.mark.boundscheck
@pytest.mark.parametrize(("dt", "error"), [(2e-3, 4e-4), (1e-3, 1e-4), (5e-4, 2.5e-5)])
def test_a_rocking_block_keeps_what_housner_says(dt, error):
    """(1 - 3/2 sin^2 a)^2 with tan a = width/height: momentum about the corner that lands is kept."""
    sine = WIDTH**2 / (WIDTH**2 + HEIGHT**2)
    assert kept_per_impact(dt) == pytest.approx((1.0 - 1.5 * sine) ** 2, abs=error)
