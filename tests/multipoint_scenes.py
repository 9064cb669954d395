"""Random scenes for the tests of `multipoint`."""

from __future__ import annotations

import numpy as np

import sesshoku as ss
from sesshoku.methods.multipoint import free_motion
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix
from sesshoku.stages.common import place_links


def heap(seed, *, order=None, turn=None, friction=None, bounce=0.0, speed=1.0):
    """Two to four boxes and balls that touch each other and the floor, in random motion.

    order: of the bodies in the scene. turn: quaternion by which the whole world is turned. speed 0: lies flat, at rest.
    """
    rng = np.random.default_rng(seed)
    mu = float(rng.uniform(0.0, 1.0)) if friction is None else friction
    R = np.eye(3) if turn is None else quaternion_to_matrix(turn)
    base = np.array([1.0, 0, 0, 0]) if turn is None else turn
    material = ss.Material(mu, 0.8 * mu, bounce)
    scene = ss.Scene(gravity=R @ (0, 0, -9.8))
    scene.add_ground(rotation=base, material=material)
    bodies = []
    for n in range(int(rng.integers(2, 5))):
        tilt = np.array([1.0, *(0.02 * speed * rng.normal(size=3))])
        options = {
            "mass": float(10 ** rng.uniform(-1, 1)),
            "material": material,
            "position": R @ np.array([*rng.uniform(-0.15, 0.15, 2), 0.149 + 0.298 * n]),
            "rotation": multiply(base, tilt / np.linalg.norm(tilt)),
            "velocity": R @ (speed * rng.normal(size=3) * (1, 1, 0.3)),
            "angular_velocity": R @ (speed * 0.3 * rng.normal(size=3)),
        }
        bodies.append((bool(rng.random() < 0.7), options, rng.uniform(0.9, 1.4, 2)))
    for n in range(len(bodies)) if order is None else [k for k in order if k < len(bodies)]:
        box, options, wide = bodies[n]
        if box:
            scene.add_box(f"b{n}", size=(0.5 * wide[0], 0.5 * wide[1], 0.3), **options)
        else:
            scene.add_sphere(f"b{n}", radius=0.15, **options)
    return scene


def tumbling_body(seed, *, friction=0.3, bounce=0.0):
    """A box or convex body that hits the floor with several points at once, at random velocities, without gravity."""
    rng = np.random.default_rng(seed)
    material = ss.Material(friction, 0.8 * friction, bounce)
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_ground(material=material)
    scene.add_box(
        "b0",
        size=rng.uniform(0.1, 0.4, 3),
        mass=float(10 ** rng.uniform(-1, 1)),
        position=(0, 0, 0),
        velocity=(*rng.normal(size=2), -rng.random()),
        angular_velocity=3.0 * rng.normal(size=3),
        material=material,
    )
    scene.bodies["b0"].position = np.array([0, 0, scene.bodies["b0"].geometries[0].shape.size[2] / 2])
    return scene


def free_velocity(sim):
    """Velocity after the next step without contacts, by the stages that all methods share."""
    arguments = (sim.model, sim.data, sim.work, sim.dt)
    place_links(*arguments)
    free_motion(*arguments)
    return sim.data.new_v.copy()
