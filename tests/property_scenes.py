"""Random scenes with contact, for property tests: shapes, masses and speeds far apart."""

from __future__ import annotations

import numpy as np

import sesshoku as ss

G = 9.8


def random_scene(rng, restitution):
    """Up to eight bodies of random shape, mass 1e-3 to 1e3 kg, speed up to 50 m/s, above a floor.

    Sometimes a scripted paddle sweeps through them.
    """
    material = ss.Material(float(rng.uniform(0.0, 1.2)), None, restitution)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    if rng.random() < 0.25:
        scene.add_box("paddle", size=(0.4, 3.0, 1.0), position=(-2.5, 0, 0.6), velocity=(rng.uniform(0.5, 5), 0, 0),
                      angular_velocity=(0, 0, rng.uniform(-1, 1)), material=material, kinematic=True)
    for n in range(int(rng.integers(1, 9))):
        size = float(10 ** rng.uniform(-1.3, 0.3))
        turn = rng.normal(size=4)
        velocity = rng.normal(size=3)
        velocity *= rng.choice([0.0, 1.0, 5.0, 50.0]) * rng.random() / np.linalg.norm(velocity)
        common = {"mass": float(10 ** rng.uniform(-3, 3)), "material": material, "velocity": velocity,
                  "rotation": turn / np.linalg.norm(turn),
                  "angular_velocity": rng.normal(size=3) * rng.choice([0.0, 3.0, 100.0]),
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
