"""Ellipsoids against closed forms: rolling about an axis, rocking on the flat side, spinning on the tip."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.spatial.rotation import axis_angle

G = 9.8
RUBBER = ss.Material(static_friction=1.0, kinetic_friction=1.0)


def simulation(radii: tuple[float, ...], ground: str = "plane", **body: object) -> ss.Simulation:
    scene = ss.Scene(gravity=(0, 0, -G))
    if ground == "plane":
        scene.add_ground(material=RUBBER)
    elif ground == "box":
        scene.add_box("ground", size=(4, 4, 1), position=(0, 0, -0.5), fixed=True, material=RUBBER)
    else:
        scene.add_height_field("ground", np.zeros((41, 41)), size=(4, 4), material=RUBBER)
    scene.add_ellipsoid("egg", radii=radii, mass=2.0, material=RUBBER, **body)
    return ss.Simulation(scene, dt=1e-3)


@pytest.mark.parametrize("ground", ["plane", "box", "field"])
def test_an_egg_of_revolution_rolls_evenly(ground: str) -> None:
    """About its axis it is a wheel: the same speed, the contact right below, the same force in every step."""
    sim = simulation((0.3, 0.1, 0.1), ground, position=(0.013, -0.4, 0.1), velocity=(0, 0.5, 0),
                     angular_velocity=(-5, 0, 0))
    for step in range(1, 1001):
        sim.step()
        assert len(sim.contacts) == 1
        (contact,) = sim.contacts
        assert contact.normal_force == pytest.approx(2.0 * G, rel=1e-6)
        assert contact.point[:2] == pytest.approx([0.013, -0.4 + 0.5e-3 * (step - 0.5)], abs=1e-6)
    assert sim.bodies["egg"].position == pytest.approx([0.013, 0.1, 0.1], abs=1e-6)
    assert sim.bodies["egg"].angular_velocity == pytest.approx([-5, 0, 0], abs=1e-6)


@pytest.mark.parametrize("ground", ["plane", "box"])
def test_rocking_on_the_flat_side(ground: str) -> None:
    """w^2 = g (a^2 - c^2) / c / (I/m + c^2), for small angles, without slip."""
    a, c, tilt = 0.3, 0.1, 0.01
    rate = np.sqrt(G * (a * a - c * c) / c / ((a * a + c * c) / 5 + c * c))
    height = np.hypot(c * np.cos(tilt), a * np.sin(tilt))
    sim = simulation((a, 0.2, c), ground, position=(0, 0, height), rotation=axis_angle((0, 1, 0), tilt))
    quarter = round(0.5 * np.pi / rate / 1e-3)
    angles = []
    for _ in range(4 * quarter):
        sim.step()
        w, _, y, _ = sim.data.q[3:7]
        angles.append(2.0 * np.arctan2(y, w))
    times = 1e-3 * np.arange(1, 4 * quarter + 1)
    # the tilt's own correction to the period is of its square
    assert np.abs(np.array(angles) - tilt * np.cos(rate * times)).max() < 0.02 * tilt


def test_the_point_of_contact_of_a_tilted_ellipsoid(rng: np.random.Generator) -> None:
    """On a plane: the farthest point against the normal, D^2 n / |D n| with the half axes D."""
    for _ in range(10):
        radii = rng.uniform(0.05, 0.4, 3)
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        w, x, y, z = turn
        n = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z])  # up, in its axes
        height = float(np.linalg.norm(radii * n))
        sim = simulation(tuple(radii), position=(0, 0, height + 1e-7), rotation=turn)
        sim.step()
        (contact,) = sim.contacts
        local = -radii**2 * n / height
        # contacts are those of the middle of the step, when it has turned a little
        np.testing.assert_allclose(contact.point, _turned(turn, local) + (0, 0, height), atol=2e-4 * radii.max())


def _turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    w, u = q[0], q[1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)
