"""Round bodies under `implicit`: they roll on without sinking, and rebound with their restitution on one point."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss

G = 9.8
METHODS = ["implicit", "implicit:recommended"]
every = pytest.mark.parametrize("method", METHODS)


def rolling(shape: str, speed: float, radius: float = 0.1, **material: float) -> ss.Scene:
    """A ball, or a cylinder or capsule along y, that rolls along x without slip."""
    scene, rubber = ss.Scene(gravity=(0, 0, -G)), ss.Material(0.5, **material)
    scene.add_ground(material=rubber)
    place = {"mass": 1.0, "position": (0, 0, radius), "velocity": (speed, 0, 0),
             "angular_velocity": (0, speed / radius, 0), "material": rubber}
    if shape == "ball":
        scene.add_sphere("body", radius=radius, **place)
    else:
        turn = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # its axis, z, along y
        place["angular_velocity"] = (0, speed / radius, 0)
        scene.add_capsule("body", radius=radius, length=0.3, rotation=turn, **place)
    return scene


@every
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("shape", ["ball", "capsule"])
@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_a_rolling_body_keeps_its_speed_and_its_depth(method, dt, shape, speed):
    """Whatever it rolls at, it sinks by its load over the stiffness: the point it rolls on does not turn with it."""
    sim = ss.Simulation(rolling(shape, speed, stiffness=1e5, damping=1000.0), method, dt)
    sim.step(round(1.0 / dt))
    points = len(sim.contacts)
    assert sim.report.penetration == pytest.approx(G / (points * 0.5e5), rel=1e-3)  # two surfaces, one behind the other
    assert sim.bodies["body"].velocity[0] == pytest.approx(speed, rel=2e-3)
    assert sim.bodies["body"].angular_velocity[1] == pytest.approx(speed / 0.1, rel=2e-3)


def test_a_wheel_on_an_axle_carries_its_load_at_any_speed():
    """A driven wheel of a cart: J' v is that of joints at rest, which a wheel's point has none of."""
    for speed in (0.0, 40.0):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(0.5, stiffness=1e5, damping=500.0))
        scene.add_body("post", joint=ss.Joint("prismatic", axis=(0, 0, 1)), position=(0, 0, 0.1),
                       inertial=ss.Inertial(1.0, matrix=np.eye(3)))
        scene.add_sphere("wheel", radius=0.1, mass=1.0, parent="post", material=ss.Material(0.0, stiffness=1e9),
                         joint=ss.Joint("continuous", axis=(0, 1, 0), velocity=speed))
        sim = ss.Simulation(scene, "implicit", 1e-3)
        sim.step(500)
        assert sim.report.penetration == pytest.approx(2 * G / 1e5, rel=1e-2)


def thrown(body: str, bounce: float, method: str, dt: float) -> float:
    """Speed at which a body leaves the floor over that at which it came, without gravity."""
    scene, material = ss.Scene(gravity=(0, 0, 0)), ss.Material(0.5, restitution=bounce)
    scene.add_ground(material=material)
    place = {"mass": 2.0, "position": (0, 0, 0.1 + 1e-5), "velocity": (0, 0, -3.0), "material": material}
    if body == "ball":
        scene.add_sphere("body", radius=0.1, **place)
    else:
        scene.add_box("body", size=(0.2, 0.2, 0.2), **place)
    sim = ss.Simulation(scene, method, dt)
    sim.step(round(1.0 / dt))
    return float(sim.v[2]) / 3.0


@pytest.mark.parametrize("body", ["ball", "cube"])
@pytest.mark.parametrize("bounce", [0.2, 0.5, 0.8])
def test_a_body_rebounds_with_its_restitution(body, bounce):
    """On one point as on four; the damping that backward Euler adds is taken off the damper's."""
    for dt in (1e-4, 1e-3):
        assert thrown(body, bounce, "implicit", dt) == pytest.approx(bounce, abs=0.03)


@pytest.mark.parametrize("bounce", [0.5, 0.8])
def test_a_falling_ball_rises_by_the_square_of_restitution(bounce):
    scene, material, height = ss.Scene(gravity=(0, 0, -G)), ss.Material(0.5, restitution=bounce), 0.5
    scene.add_ground(material=material)
    scene.add_sphere("ball", radius=0.1, mass=2.0, position=(0, 0, 0.1 + height), material=material)
    sim = ss.Simulation(scene, ss.methods.implicit(depth=1e-5), 1e-4)
    top, fell = 0.0, False
    for _ in range(8000):
        sim.step()
        fell = fell or sim.q[2] < 0.1
        top = max(top, float(sim.q[2]) - 0.1) if fell else 0.0
    assert top == pytest.approx(bounce**2 * height, rel=0.05)


@every
def test_without_restitution_a_ball_hardly_rebounds(method):
    """Critically damped on the one point it has: exp(-2) of its speed in the limit of small steps."""
    for dt in (1e-4, 1e-3, 5e-3):
        assert -1e-9 <= thrown("ball", 0.0, method, dt) < (0.15 if dt < 5e-3 else 0.18)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 100, 5e-3])
@pytest.mark.parametrize("body", ["ball", "cube"])
@pytest.mark.parametrize("speed", [3.0, 10.0, 25.0])
def test_what_enters_within_a_step_is_not_thrown_out(dt, body, speed):
    """At 1/50 s and 25 m/s a body is half a metre in the floor when it is first seen: that loads no spring."""
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(0.5)
    scene.add_ground(material=material)
    place = {"mass": 1.0, "position": (0, 0, 0.35), "velocity": (0, 0, -speed), "material": material}
    if body == "ball":
        scene.add_sphere("body", radius=0.1, **place)
    else:
        scene.add_box("body", size=(0.2, 0.2, 0.2), **place)
    sim = ss.Simulation(scene, "implicit:recommended", dt)
    top, fell = 0.0, False
    for _ in range(round(2.0 / dt)):
        sim.step()
        fell = fell or sim.q[2] < 0.1
        top = max(top, float(sim.q[2]) - 0.1) if fell else 0.0
    assert top < 0.01 * speed**2 / (2 * G), "a hundredth of the height it came from"
    assert sim.report.penetration == pytest.approx(4e-4 if body == "ball" else 1e-4, rel=1e-2), "it rests as ever"


def test_a_heap_of_balls_gains_no_energy():
    """Balls that fall on each other in steps of 1/50 s: kinetic, gravity and spring energy never exceed the start's."""
    rng, scene = np.random.default_rng(1), ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    for n in range(64):
        place = (0.11 * (n % 4), 0.11 * (n // 4 % 4), 0.06 + 0.11 * (n // 16)) + 0.004 * rng.normal(size=3)
        scene.add_sphere(f"ball{n}", radius=0.05, mass=0.5, position=place)
    for method in METHODS:
        sim = ss.Simulation(scene, method, 1 / 50)
        start = sim.energy.total
        for _ in range(50):
            sim.step()
            assert sim.energy.total <= start
