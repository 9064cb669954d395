"""The preset of `multipoint`: rebounds, soles that break away as one, slow slip."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.spatial.rotation import axis_angle, multiply

G = 9.8
PRESET = "multipoint:recommended"


@pytest.mark.parametrize(("bounce", "dt"), [(1.0, 1e-2), (0.5, 1e-2), (0.5, 1e-3), (0.8, 2e-3)])
def test_depth_correction_does_not_add_to_a_rebound(bounce, dt):
    """Heights of bounces follow e^2 h: what is pushed out of a rebound's overlap is no speed of its own."""
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(0.5, restitution=bounce)
    scene.add_ground(material=material)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 1.1), material=material)
    sim, tops, before = ss.Simulation(scene, PRESET, dt), [], 0.0
    for _ in range(round(2.6 / dt)):
        sim.step()
        if before > 0.0 >= sim.v[2]:
            tops.append(float(sim.q[2]) - 0.1)
        before = float(sim.v[2])
    assert len(tops) >= 2
    for n, top in enumerate(tops[:3]):
        assert top <= bounce ** (2 * n + 2) * (1.0 + 1e-6) + 5.0 * dt, "no bounce is higher than the one before allows"
    assert tops[0] == pytest.approx(bounce**2, abs=6.0 * dt)


def block(size, static, kinetic, angle=0.0, speed=(0.0, 0.0, 0.0)):
    turn = axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(static, kinetic)
    scene.add_ground(rotation=turn, material=material)
    up = np.array([np.sin(angle), 0, np.cos(angle)]) * size[2] / 2
    scene.add_box("block", size=size, mass=1.0, position=up, rotation=turn, velocity=speed, material=material)
    return scene


@pytest.mark.boundscheck
@pytest.mark.parametrize("height", [0.01, 0.1, 0.2])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_sole_breaks_away_as_one(height, share):
    """Pushed at its middle, with static friction 0.5 and kinetic 0.3: it holds until mu_S N, though the load shifts."""
    sim = ss.Simulation(block((0.2, 0.2, height), 0.5, 0.3), PRESET, 1e-3)
    for _ in range(100):
        sim.apply_force("block", (share * 0.5 * G, 0, 0))
        sim.step()
    if share < 1.0:
        assert np.abs(sim.v).max() < 1e-12
    else:
        assert sim.v[0] == pytest.approx((share * 0.5 - 0.3) * G * 0.1, rel=1e-6)


@pytest.mark.parametrize("height", [0.02, 0.1])
@pytest.mark.parametrize("spin", [0.0, 0.7])
def test_a_block_holds_just_below_the_friction_angle(height, spin):
    """At tan = 0.999 mu it must not move in ten seconds, turned about the normal or not."""
    angle = np.arctan(0.999 * 0.5)
    scene = block((0.2, 0.1, height), 0.5, 0.5, angle)
    body = scene.bodies["block"]
    body.rotation = multiply(np.asarray(body.rotation), axis_angle(np.array([0.0, 0.0, 1.0]), spin))
    sim = ss.Simulation(scene, PRESET, 1e-3)
    start = sim.q[:3].copy()
    sim.step(10_000)
    assert np.linalg.norm(sim.q[:3] - start) < 1e-6


@pytest.mark.parametrize("speed", [5e-4, 2e-3, 4e-3, 2e-2])
@pytest.mark.parametrize("mu", [0.3, 0.8])
def test_slow_slip_feels_all_of_its_friction(speed, mu):
    """A plate that a velocity servo drags along x, free to go sideways and to turn: mu N along x, nothing else."""
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(mu)
    scene.add_ground(material=material)
    light = ss.Inertial(1e-6, matrix=np.eye(3) * 1e-9)
    scene.add_body("x", joint=ss.Joint("prismatic", axis=(1, 0, 0)), inertial=light, position=(0, 0, 5e-3))
    scene.add_body("y", parent="x", joint=ss.Joint("prismatic", axis=(0, 1, 0), velocity=1e-5), inertial=light)
    scene.add_body("z", parent="y", joint=ss.Joint("prismatic", axis=(0, 0, 1)), inertial=light)
    scene.add_box("plate", size=(0.2, 0.2, 0.01), mass=2.0, parent="z", material=material,
                  joint=ss.Joint("continuous", axis=(0, 0, 1), velocity=1e-4))
    scene.add_actuator("x", "velocity", target_velocity=speed, kd=1e5)
    sim = ss.Simulation(scene, PRESET, 1e-3)
    sim.step(200)
    felt = []
    for _ in range(300):
        sim.step()
        felt.append(-sum(contact.force[:2] for contact in sim.contacts))
    assert np.mean(felt, axis=0)[0] == pytest.approx(mu * 2.0 * G, rel=0.01)
    assert abs(np.mean(felt, axis=0)[1]) < 0.01 * mu * 2.0 * G
    assert sim.v[0] == pytest.approx(speed - mu * 2.0 * G / 1e5, rel=1e-3)
    assert abs(sim.joints["plate"].velocity) < 1e-3 and abs(sim.joints["y"].velocity) < 0.1 * speed
