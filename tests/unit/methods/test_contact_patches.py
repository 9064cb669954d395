"""Few contact points of a pair move bodies as all of them do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.spatial.rotation import axis_angle
from sesshoku.stages.deep_overlaps import DeepOverlap

WOOD = ss.Material(static_friction=0.6, kinetic_friction=0.5)


def prism(sides: int, height: float, along_y: bool = False) -> np.ndarray:
    """Corners of a prism of radius 0.1 m around z, or around y."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = 0.1 * np.c_[np.cos(angle), np.sin(angle)]
    corners = np.r_[np.c_[ring, np.full(sides, -0.5 * height)], np.c_[ring, np.full(sides, 0.5 * height)]]
    return corners[:, [0, 2, 1]] if along_y else corners


def path(method: str, most: int, steps: int, push: float = 0.0, **body: Any) -> tuple[np.ndarray, int]:
    """Positions at every step, and the most contacts; push: N at 0.14 m above the middle, from 0.05 s to 0.15 s."""
    scene = ss.Scene(gravity=(0, 0, -9.81))
    scene.add_ground(material=WOOD)
    scene.add_convex("body", mass=1.0, material=WOOD, **body)
    sim = ss.Simulation(scene, getattr(ss.methods, method)(most_per_pair=most), 1e-3)
    places, contacts = [], 0
    for step in range(steps):
        if push and 50 <= step < 150:
            sim.apply_force("body", (push, 0, 0), point=sim.bodies["body"].position + (0, 0, 0.14))
        sim.step()
        places.append(sim.bodies["body"].position.copy())
        contacts = max(contacts, len(sim.contacts))
    return np.array(places), contacts


CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "column at rest": (200, {"vertices": prism(64, 0.3), "position": (0, 0, 0.15)}),
    "disc slides": (600, {"vertices": prism(64, 0.05), "position": (0, 0, 0.025), "velocity": (1, 0.3, 0)}),
    "wheel rolls": (600, {"vertices": prism(64, 0.05, along_y=True), "position": (0, 0, 0.1 * np.cos(np.pi / 64)),
                          "velocity": (0.5, 0, 0), "angular_velocity": (0, 5, 0)}),
    "column rocks on its rim": (240, {"vertices": prism(64, 0.3), "position": (0, 0, 0.15), "push": 4.5}),
    "column lands": (600, {"vertices": prism(8, 0.3), "position": (0, 0, 0.25),
                           "rotation": axis_angle((0, 1, 0), 0.3)}),
}


@pytest.mark.parametrize("case", CASES)
def test_six_points_move_a_body_as_all_do(case: str) -> None:
    steps, body = CASES[case]
    few, many = (path("exact", most, steps, **body) for most in (6, 0))
    assert few[1] <= 6 < many[1]
    np.testing.assert_allclose(few[0], many[0], rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("method", ["exact", "lcp", "multipoint", "implicit"])
def test_six_is_the_default_and_all_can_be_had(method: str) -> None:
    for keyword, contacts in ((getattr(ss.methods, method)(), 6), (getattr(ss.methods, method)(most_per_pair=0), 40)):
        scene = ss.Scene()
        scene.add_ground()
        scene.add_convex("column", prism(40, 0.2), mass=1.0, position=(0, 0, 0.1 - 1e-6))
        sim = ss.Simulation(scene, keyword, 1e-3)
        ids: set[int] = set()
        for _ in range(20):
            sim.step()
            ids |= {contact.id for contact in sim.contacts}
        assert len(sim.contacts) == len(ids) == contacts


def test_what_does_not_converge_says_why() -> None:
    """A leg through a thin floor and a table above it: one shape goes up, the other down."""
    scene = ss.Scene()
    scene.add_box("floor", size=(2, 2, 0.02), position=(0, 0, -0.01), fixed=True)
    scene.add_box("table", size=(1, 1, 0.1), position=(0, 0, 0.05), fixed=True)
    leg = [ss.Geometry(ss.Box((0.05, 0.05, 0.06)), position=(0, 0, z)) for z in (0.09, -0.025)]
    scene.add_body("leg", geometries=leg, inertial=ss.Inertial(1.0, (0, 0, 0), (0.01, 0.01, 0.01)))
    sim = ss.Simulation(scene, dt=1e-3)
    with pytest.warns(DeepOverlap, match="bodies '.*' and 'leg' are .* m deep inside each other") as caught:
        for _ in range(5):
            sim.step()
        assert not sim.report.converged
        for _ in range(100):  # once is enough, by whatever name
            sim.step()
    assert len(caught) == 1
