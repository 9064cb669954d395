"""Overlaps of round shapes have many corners: their programmes must find room also where a scene has one overlap."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss

pytestmark = [pytest.mark.boundscheck, pytest.mark.nojit]


def meeting(kind: str, rng: np.random.Generator) -> ss.Scene:
    """Two or three bodies, the first held, deep in each other: one to three overlaps of 30 and more corners."""
    scene = ss.Scene()
    scene.add_sphere("held", radius=0.12, mass=1.0, fixed=True)
    x, y = rng.uniform(-0.03, 0.03, size=2)
    spin = tuple(rng.normal(size=3))
    if kind == "sphere":
        scene.add_sphere("a", radius=0.1, mass=1.0, position=(x, y, 0.1), angular_velocity=spin)
    elif kind == "capsule":
        scene.add_capsule("a", radius=0.1, length=0.2, mass=1.0, position=(x, y, 0.12), angular_velocity=spin)
    elif kind == "cylinder":
        scene.add_cylinder("a", radius=0.1, length=0.2, mass=1.0, position=(x, y, 0.19), angular_velocity=spin)
    else:
        scene.add_sphere("a", radius=0.1, mass=1.0, position=(x, y, 0.1), angular_velocity=spin)
        scene.add_sphere("b", radius=0.1, mass=3.0, position=(y, x, 0.2), velocity=(0.3, 0.1, 0))
    return scene


@pytest.mark.parametrize("method", ["volume", "volume:recommended"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "tower"])
def test_few_overlaps_of_round_shapes_find_room(kind: str, method: str, rng: np.random.Generator) -> None:
    sim = ss.Simulation(meeting(kind, rng), method=method, dt=1e-3)
    memory, corners = sim.work, []
    for _ in range(3):
        sim.step()
        count = len(sim.contacts)
        corners += list(np.diff(memory.corner_start[: count + 1]))
        assert np.isfinite(sim.v).all() and not sim.report.overflow
    assert max(corners) >= (12 if kind == "cylinder" else 24), corners
    # rows of an overlap's programme: one per corner, one of its normal force, a few of joints
    assert memory.row_capacity >= max(corners) + 2
    assert len(memory.cone_at) >= max(corners) + 2 and len(sim.work.cone.row) >= max(corners) + 2


@pytest.mark.parametrize("heading", [0.0, 0.5, 1.1])
@pytest.mark.parametrize("method", ["volume", "volume:recommended"])
def test_a_ball_rolls_straight_on(method: str, heading: float) -> None:
    """Its polyhedron does not turn with it: 1 m in a second, where a turning one rocked off by decimetres."""
    along, radius = np.array([np.cos(heading), np.sin(heading), 0.0]), 0.1
    scene = ss.Scene()
    scene.add_ground(material=ss.Material(0.5))
    scene.add_sphere("ball", radius=radius, mass=1.0, position=(0, 0, radius), velocity=along,
                     angular_velocity=np.cross((0, 0, 1.0), along) / radius, material=ss.Material(0.5))
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(1000)
    place = sim.bodies["ball"].position
    assert place @ along == pytest.approx(1.0, abs=0.02)
    assert abs(np.cross(along, place)[2]) < 0.005
