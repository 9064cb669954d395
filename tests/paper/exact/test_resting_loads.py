"""Loads of patches at rest under `exact`: the smallest split, whatever came before, and the motion as it would be."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.exact.scenes import G, incline, standing_humanoid
from sesshoku.experiments.scenes import crate_on_floor


def forces(sim: ss.Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Points and forces of the contacts that carry load."""
    loaded = [contact for contact in sim.contacts if contact.normal_force > 0.0]
    return np.array([contact.point for contact in loaded]), np.array([contact.force for contact in loaded])


def least(points: np.ndarray, force: np.ndarray) -> np.ndarray:
    """The smallest forces (Euclid's norm) at the points with the wrench of the given ones."""
    rows = []
    for p in points:
        cross = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
        rows.append(np.vstack([np.eye(3), cross]))
    W = np.hstack(rows)
    return (np.linalg.pinv(W) @ (W @ force.ravel())).reshape(-1, 3)


@pytest.mark.parametrize("spin", [0.0, 3.0, -7.0])
@pytest.mark.parametrize(("static", "kinetic"), [(0.5, 0.5), (0.6, 0.3)])
def test_a_crate_that_slid_to_rest_has_no_internal_friction(spin, static, kinetic):
    """Its corners keep nothing of the slide: a quarter of the weight each, and no friction."""
    scene = crate_on_floor(2.0, heading=0.3, static=static, kinetic=kinetic)
    scene.bodies["crate"].angular_velocity = np.array([0.0, 0.0, spin])
    sim = ss.Simulation(scene, "exact", 1e-3)
    while np.abs(sim.v).max() > 1e-9:
        sim.step()
        assert sim.time < 3.0
    sim.step(5)
    _, force = forces(sim)
    assert force == pytest.approx(np.tile([0, 0, 0.25 * G], (4, 1)), abs=1e-6)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_friction_on_a_slope_is_parallel_to_it(speed):
    """A box at rest on a slope, or slid up to rest on it askew: every corner's friction points up the slope."""
    scene = incline(0.3)
    scene.bodies["crate"].velocity = np.array([0.0, speed, 0.0])
    sim = ss.Simulation(scene, "exact", 1e-3)
    sim.step(round(1.0 / sim.dt))
    assert np.abs(sim.v).max() < 1e-9
    points, force = forces(sim)
    assert len(force) == 4
    normal = np.array(next(contact.normal for contact in sim.contacts))
    friction = force - np.outer(force @ normal, normal)
    up = friction.sum(0) / np.linalg.norm(friction.sum(0))
    assert np.abs(friction - np.outer(friction @ up, up)).max() < 1e-6
    assert force == pytest.approx(least(points, force), abs=1e-6)


def test_a_standing_humanoid_has_the_smallest_forces_under_each_foot():
    """Dropped by a millimetre and pushed: its soles carry the least that holds it, with the solver's weights."""
    scene = standing_humanoid()
    scene.bodies["pelvis"].position = scene.bodies["pelvis"].position + [0, 0, 1e-3]
    sim = ss.Simulation(scene, "exact", 1e-3)
    for n in range(1500):
        if n < 300:
            sim.apply_force("pelvis", (20.0, 15.0, 0))
        sim.step()
    for foot in ("left_foot", "right_foot"):
        held = [n for n, contact in enumerate(sim.contacts) if foot in contact.bodies and contact.normal_force > 0.0]
        force, points = (np.array([getattr(sim.contacts[n], what) for n in held]) for what in ("force", "point"))
        weight = [max(np.diag(sim.work.problem.block[n])) for n in held]
        scale = np.sqrt(np.repeat(weight, 3))
        rows = np.hstack([np.vstack([np.eye(3), [[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]]])
                          for p in points - points.mean(0)])
        smallest = (np.linalg.pinv(rows / scale) @ (rows @ force.ravel()) / scale).reshape(-1, 3)
        assert force == pytest.approx(smallest, abs=1e-4 * np.abs(force).max())


def test_the_motion_is_that_of_any_split():
    """A crate at rest is given strained corners, then pushed until it slides on: it moves as one without strain."""
    ways = []
    for strain in (0.0, 0.4):
        sim = ss.Simulation(crate_on_floor(static=0.6, kinetic=0.4), "exact", 1e-3)
        sim.step(5)
        points = np.array([contact.point for contact in sim.contacts])
        middle = points.mean(0)
        for n, p in enumerate(points):  # friction out of the middle at every corner: no force, no torque
            out = (p - middle)[:2] / np.linalg.norm((p - middle)[:2])
            sim.work.old_impulse[n, :2] += strain * out * sim.dt
        sim.work.old_eased[:4] = 0
        way = []
        for n in range(600):
            sim.apply_force("crate", (0.02 * n, 0.0, 0.0), (0.0, 0.0, 0.002 * n), point=(0, 0, 0))
            sim.step()
            way.append(np.concatenate([sim.q, sim.v]))
            if n == 3:
                _, force = forces(sim)
                assert np.abs(force[:, :2] - force[:, :2].mean(0)).max() < 1e-2
        ways.append(np.array(way))
    assert np.abs(ways[0][-1, 0]) > 1e-3
    assert np.abs(ways[1] - ways[0]).max() < 1e-12
