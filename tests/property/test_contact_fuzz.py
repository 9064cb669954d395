"""Random scenes with contact: shapes, masses, speeds and step sizes far apart. Nothing may end in NaN."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import keywords
from support import FULL, SEED, sample_count

METHODS = [keyword for keyword in keywords() if keyword not in ("none", "lcp")] + (["lcp"] if FULL else [])
CHUNKS = 4


def random_scene(rng, restitution):
    """Up to eight bodies of random shape, mass 1e-3 to 1e3 kg, speed up to 50 m/s, above a floor."""
    material = ss.Material(float(rng.uniform(0.0, 1.2)), None, restitution)
    scene = ss.Scene()
    scene.add_ground(material=material)
    for n in range(int(rng.integers(1, 9))):
        size = float(10 ** rng.uniform(-1.3, 0.3))
        turn = rng.normal(size=4)
        velocity = rng.normal(size=3)
        velocity *= rng.choice([0.0, 1.0, 5.0, 50.0]) * rng.random() / np.linalg.norm(velocity)
        common = {"mass": float(10 ** rng.uniform(-3, 3)), "material": material, "velocity": velocity,
                  "rotation": turn / np.linalg.norm(turn),
                  "angular_velocity": rng.normal(size=3) * rng.choice([0.0, 3.0]),
                  "position": (*rng.uniform(-1.5, 1.5, 2), rng.uniform(1.5 * size, 3.0))}
        match int(rng.integers(5)):
            case 0:
                scene.add_box(f"b{n}", size=size * rng.uniform(0.2, 1.0, 3), **common)
            case 1:
                scene.add_sphere(f"b{n}", radius=0.5 * size, **common)
            case 2:
                scene.add_capsule(f"b{n}", radius=0.2 * size, length=size, **common)
            case 3:
                scene.add_cylinder(f"b{n}", radius=0.3 * size, length=size * float(rng.uniform(0.2, 1)), **common)
            case _:
                scene.add_convex(f"b{n}", size * rng.uniform(-0.5, 0.5, (int(rng.integers(6, 20)), 3)), **common)
    return scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_scenes_stay_finite(method, chunk):
    tunnelled = total = 0
    for n in range(sample_count(24, 2000) // CHUNKS):
        rng = np.random.default_rng([SEED, chunk, n])
        restitution = float(rng.choice([0.0, 0.0, 0.5]))
        scene = random_scene(rng, restitution)
        dt = float(10 ** rng.uniform(-4, np.log10(0.02)))
        sim = ss.Simulation(scene, method, dt)
        for _ in range(min(round(1.0 / dt), 400)):
            sim.step()
        assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all(), (SEED, chunk, n)
        falling = [name for name in sim.bodies if name != "ground" and sim.bodies[name].position[2] < -0.5]
        tunnelled, total = tunnelled + len(falling), total + len(sim.bodies) - 1
    print(f"{method}: {tunnelled} of {total} bodies went through the floor")
    assert tunnelled <= 0.05 * total + 1
