"""Large steps under `exact`: nothing goes in by more than a tenth of a millimetre, and no energy is made for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import sesshoku as ss
from sesshoku.experiments.exact.measures import lowest_corner
from sesshoku.experiments.scenes import crate_on_floor
from support import FULL, sample_count


def lattice(count: int, radius: float, bounce: float, friction: float, rng: np.random.Generator) -> ss.Scene:
    """count^3 balls, a little out of line, 0.3 m above the floor."""
    material, scene = ss.Material(friction, None, bounce), ss.Scene()
    scene.add_ground(material=material)
    for n in range(count**3):
        place = (2 * radius + 2e-3) * np.array([n % count, n // count % count, n // count**2])
        aside = rng.uniform(-1e-3, 1e-3, 3) * [1, 1, 0]
        scene.add_sphere(f"ball{n}", radius=radius, mass=0.5, position=place + aside + [0, 0, 0.3 + radius],
                         material=material)
    return scene


def overlap(sim: ss.Simulation, radius: float) -> float:
    """The deepest overlap of balls with each other and the floor, m."""
    places = sim.q.reshape(-1, 7)[:, :3]
    pairs = cKDTree(places).query_pairs(2 * radius, output_type="ndarray")
    apart = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return max(2 * radius - float(np.min(apart, initial=2 * radius)), radius - float(places[:, 2].min()))


@pytest.mark.parametrize("count", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_balls_dropped_at_5_ms(count, rng):
    sim = ss.Simulation(lattice(count, 0.05, 0.0, 0.5, rng), "exact", 5e-3)
    before = start = sum(sim.energy)
    for _ in range(200 if count == 3 else 300):
        sim.step()
        assert overlap(sim, 0.05) < 1e-4
        now = sum(sim.energy)
        assert now - before < 1e-4 * start
        before = now


@pytest.mark.parametrize("dt", [1e-3, 4e-3, 8e-3, 16e-3, 32e-3])
def test_a_tilted_cube_lands_on_the_floor(dt, rng):
    """About an edge, or askew on a corner, spinning: it never sinks in, never gains energy, and comes to rest."""
    for n in range(sample_count(3, 12)):
        scene = crate_on_floor(height=0.5, tilt=np.radians(12))
        if n > 0:
            scene.bodies["crate"].rotation = (turn := rng.normal(size=4)) / np.linalg.norm(turn)
            scene.bodies["crate"].position = np.array([0, 0, 1.5])
            scene.bodies["crate"].angular_velocity = rng.normal(size=3)
        sim = ss.Simulation(scene, "exact", dt)
        start = sum(sim.energy)
        for _ in range(round(3.0 / dt)):
            sim.step()
            assert lowest_corner(sim) > (-1e-4 if dt < 0.02 else -1e-3)
            assert sum(sim.energy) <= start * (1.0 + 1e-9)


@pytest.mark.parametrize("dt", [5e-3, 1e-2])
def test_five_boxes_land_on_each_other(dt):
    scene = ss.Scene()
    scene.add_ground()
    for n in range(5):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.103 + 0.203 * n))
    sim = ss.Simulation(scene, "exact", dt)
    for _ in range(round(1.0 / dt)):
        sim.step()
        assert (np.diff(sim.q.reshape(-1, 7)[:, 2], prepend=-0.1) - 0.2).min() > -2e-5


def test_what_begins_inside_is_not_displaced():
    """Depth of the start is for `correction` to undo, at its speed; with none of it, it stays."""
    scene = crate_on_floor()
    scene.bodies["crate"].position = np.array([0, 0, 0.5 - 2e-3])
    for correction in (0.0, 0.1):
        sim = ss.Simulation(scene, ss.methods.exact(correction=correction), 1e-2)
        sim.step(5)
        rise = sim.bodies["crate"].position[2] - 0.498
        assert -1e-9 < rise < 5 * correction * 2e-3 + 1e-9


def gas(count: int, dt: float, rng: np.random.Generator) -> ss.Simulation:
    """count^3 balls without losses between four walls, above a floor."""
    material, scene, width = ss.Material(0.0, None, 1.0), ss.Scene(), 0.13 * count
    scene.add_ground(material=material)
    for axis in range(2):
        for side in (-1.0, 1.0):
            place, size = np.array([0.0, 0.0, 1.0]), np.array([width + 0.4, width + 0.4, 2.0])
            place[axis], size[axis] = side * (0.5 * width + 0.1), 0.2
            scene.add_box(f"wall{axis}{side}", size=size, position=place, fixed=True, material=material)
    for n in range(count**3):
        middle = 0.5 * (count - 1) * np.array([1, 1, 0])
        place = 0.12 * (np.array([n % count, n // count % count, n // count**2]) - middle)
        scene.add_sphere(f"ball{n}", radius=0.05, mass=0.5, material=material, velocity=0.5 * rng.normal(size=3),
                         position=place + [0, 0, 0.1] + rng.uniform(-5e-3, 5e-3, 3) * [1, 1, 0])
    return ss.Simulation(scene, "exact", dt)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_balls_without_losses_keep_their_energy(dt, rng):
    """e = 1, no friction, 3 s among walls: hundreds of impacts that set off others in the same step."""
    sim = gas(4, dt, rng)
    start = sum(sim.energy)
    for _ in range(round((3.0 if FULL else 1.0) / dt)):
        sim.step()
        assert sum(sim.energy) == pytest.approx(start, rel=1e-3)
        assert overlap(sim, 0.05) < dt * np.abs(sim.v).max()  # in flight what waits for its rebound overlaps for a step


def test_columns_and_lattices_without_losses_keep_their_energy(rng):
    """They land all at once: rebounds run up the columns against what still comes down."""
    sim = ss.Simulation(lattice(4, 0.05, 1.0, 0.0, rng), "exact", 1e-3)
    start = sum(sim.energy)
    for _ in range(1000):
        sim.step()
        assert sum(sim.energy) == pytest.approx(start, rel=1e-3)
