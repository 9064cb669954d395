"""A study of 10,000 runs: how far a thrown crate slides, against the closed form. See slide_study.toml.

    sesshoku sweep examples/studies/slide_study.toml
"""

from __future__ import annotations

import sesshoku as ss

GRAVITY = 9.8


def slide(friction: float, speed: float, method: str, seed: int = 0) -> dict[str, float]:
    """A crate is thrown over a floor: where it stops, and how far that is from speed^2 / (2 friction g)."""
    scene = ss.Scene(gravity=(0, 0, -GRAVITY))
    wood = ss.Material(friction)
    scene.add_ground(material=wood)
    scene.add_box("crate", size=(1, 1, 0.2), mass=1.0, position=(0, 0, 0.1), velocity=(speed, 0, 0), material=wood)
    sim = ss.Simulation(scene, method, dt=5e-3)
    while sim.time < 6.0:
        sim.step(20)
        if abs(sim.bodies["crate"].velocity[0]) < 1e-4:
            break
    way = float(sim.bodies["crate"].position[0])
    known = speed**2 / (2.0 * friction * GRAVITY)
    return {"way": way, "known": known, "off": way / known - 1.0}
