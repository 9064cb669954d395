"""Symmetric scenes stay symmetric under `exact`: nothing in a step prefers a side."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss

SIDE = 1e-9  # m, and rad: what rounding may grow to


def mirrored(q: np.ndarray, axis: int) -> np.ndarray:
    """Poses (n, 7) of bodies seen in a mirror across an axis of the world."""
    out = q.copy()
    out[:, axis] *= -1.0
    for k in range(3):  # a turn is an axial vector: its part along the mirror's normal stays
        if k != axis:
            out[:, 4 + k] *= -1.0
    return out


def asymmetry(sim: ss.Simulation, axis: int, partner: list[int] | None = None) -> float:
    """How far the bodies are from the mirror image of their partners (themselves, unless told)."""
    q = sim.q.reshape(-1, 7)
    order = np.arange(len(q)) if partner is None else np.array(partner)
    return float(np.abs(q[order] - mirrored(q, axis)).max())


def dominoes(axis: int, count: int, bounce: float, friction: float) -> ss.Scene:
    """A row of dominoes along x or y, the first pushed over; the mirror is across the other axis."""
    material, scene = ss.Material(friction, None, bounce), ss.Scene()
    scene.add_ground(material=material)
    along = 1 - axis
    size, spin, speed = np.array([0.08, 0.08, 0.16]), np.zeros(3), np.zeros(3)
    size[along], spin[axis], speed[along] = 0.02, 1.5 if along == 0 else -1.5, 0.12
    for n in range(count):
        place = np.array([0.0, 0.0, 0.08])
        place[along] = 0.05 * n
        scene.add_box(f"domino{n}", size=size, mass=0.2, position=place, material=material,
                      velocity=speed * (n == 0), angular_velocity=spin * (n == 0))
    return scene


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("bounce", "friction"), [(0.0, 0.4), (0.0, 0.1), (0.5, 0.4)])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_dominoes_fall_straight(axis, bounce, friction, dt):
    """Until the last one is well on its way down, all of them leaning on each other."""
    sim = ss.Simulation(dominoes(axis, 10, bounce, friction), "exact", dt)
    while sim.bodies["domino9"].rotation_matrix[2, 2] > 0.8:
        sim.step()
        assert asymmetry(sim, axis) < SIDE, sim.time
        assert sim.time < 1.5


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("tilt", "dt"), [(0.0, 1e-3), (0.0, 4e-3), (0.2, 1e-3)])
def test_a_plank_lands_on_two_boxes(axis, tilt, dt):
    """Flat, or on its long edge across both; the boxes are each other's mirror image."""
    scene, material = ss.Scene(), ss.Material(0.5)
    scene.add_ground(material=material)
    for n, side in enumerate((-1.0, 1.0)):
        place = np.array([0.0, 0.0, 0.1])
        place[axis] = 0.2 * side
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=place, material=material)
    size, turn = np.array([0.3, 0.3, 0.1]), np.zeros(4)
    size[axis] = 0.6
    turn[0], turn[1 + axis] = np.cos(0.5 * tilt), np.sin(0.5 * tilt)
    scene.add_box("plank", size=size, mass=2.0, position=(0, 0, 0.34), rotation=turn, material=material)
    sim = ss.Simulation(scene, "exact", dt)
    for _ in range(round(1.0 / dt)):
        sim.step()
        assert asymmetry(sim, axis, [1, 0, 2]) < SIDE, sim.time


@pytest.mark.parametrize("tilt", [0.0, 0.1])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_stack_falls_straight(tilt, dt):
    scene, material = ss.Scene(), ss.Material(0.5)
    scene.add_ground(material=material)
    for n in range(5):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.12 + 0.21 * n), material=material,
                      rotation=(np.cos(0.5 * tilt), 0, np.sin(0.5 * tilt), 0))
    sim = ss.Simulation(scene, "exact", dt)
    for _ in range(round(1.0 / dt)):
        sim.step()
        assert asymmetry(sim, 1) < SIDE, sim.time


@pytest.mark.parametrize("limp", [False, True])
def test_a_humanoid_falls_forward(limp):
    """Its left side is the mirror image of its right one, held by servos or limp, until it lies."""
    scene = ss.Scene()
    scene.add_ground(material=ss.Material(0.5))
    scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    if limp:
        scene.actuators.clear()
    scene.bodies["pelvis"].rotation = np.array([np.cos(0.1), 0.0, np.sin(0.1), 0.0])
    sim = ss.Simulation(scene, "exact", 1e-3)
    sides = [(name, name.replace("left_", "right_")) for name in sim.bodies if "right_" not in name]
    lowest = 1.0
    for n in range(1000):
        sim.step()
        for left, right in sides if n % 20 == 0 else ():
            here, there = sim.bodies[left].position, sim.bodies[right].position
            assert np.abs(here - there * [1, -1, 1]).max() < SIDE, (left, sim.time)
        lowest = min(lowest, sim.bodies["chest"].position[2])
    assert lowest < 0.4 if limp else lowest < 0.85
