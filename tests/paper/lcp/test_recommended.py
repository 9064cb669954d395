"""Plain physics under `lcp:recommended`: crates that slide, hold, break away, stack, bounce and fall on a corner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.spatial.rotation import quaternion_to_matrix, rotation_vector
from support import FULL, SEED

METHOD, G = "lcp:recommended", 9.8
DRAWN = np.random.default_rng([SEED, 3])  # headings, tilts and steps of this run
STEPS = (1 / 50, 1 / 100, 1 / 200, 1 / 400, 1 / 1000)
HEADINGS = [0.0, np.pi / 4, *DRAWN.uniform(0, 2 * np.pi, 6 if FULL else 1)]
SLIDES = [(v0, dt, float(heading)) for v0 in (9.8, 19.6, 29.4) for dt in STEPS for heading in HEADINGS]


@pytest.mark.parametrize(("v0", "dt", "heading"), SLIDES)
def test_thrown_crate_stops_in_place(v0, dt, heading):
    """Within v0 dt / 2 + 1 mm of v0^2 / 2 mu g; straight, without turning or lifting off."""
    sim = ss.Simulation(crate_on_floor(v0, heading=heading), METHOD, dt)
    direction, side = np.array([np.cos(heading), np.sin(heading), 0]), np.array([-np.sin(heading), np.cos(heading), 0])
    lift, body = 0.0, sim.bodies["crate"]
    for _ in range(round((v0 / (0.5 * G) + 0.5) / dt)):
        sim.step()
        down = body.rotation_matrix[2]
        lift = max(lift, float(sim.q[2] - 0.5 * down[2] + 0.5 * abs(down[0]) + 0.5 * abs(down[1])))  # highest foot
    place = sim.bodies["crate"].position
    assert place @ direction == pytest.approx(v0**2 / G, abs=v0 * dt / 2 + 1e-3)
    assert abs(place @ side) < 1e-3
    assert abs(rotation_vector(sim.bodies["crate"].rotation_matrix)[2]) < 1e-3
    assert lift < 1e-4


@pytest.mark.parametrize(("push", "holds"), [(4.85, True), (4.95, False)])
@pytest.mark.parametrize("dt", [1 / 50, 1 / 200, 1 / 1000])
@pytest.mark.parametrize("heading", [0.0, 1.169, float(DRAWN.uniform(0, 2 * np.pi))])
def test_pushed_crate_holds_or_slides(push, holds, dt, heading):
    sim = ss.Simulation(crate_on_floor(), METHOD, dt)
    seconds = 15.0 if dt > 0.01 or FULL else 3.0
    for _ in range(round(seconds / dt)):
        sim.apply_force("crate", (push * np.cos(heading), push * np.sin(heading), 0))
        sim.step()
    moved = np.linalg.norm(sim.bodies["crate"].position[:2])
    if holds:
        assert moved < 1e-5 * seconds / 15.0
    else:
        assert moved == pytest.approx(0.5 * (push - 4.9) * seconds**2, rel=0.05)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 60, 1 / 100])
def test_a_crate_that_stands_at_any_angle_holds_a_push_from_anywhere(dt):
    """4.85 N of 4.9 N at once: what it gives way while the sweeps find the forces is part of the creep."""
    for turn, heading in DRAWN.uniform(0, 2 * np.pi, (200 if FULL else 20, 2)):
        scene = crate_on_floor()
        scene.bodies["crate"] = replace(scene.bodies["crate"], rotation=(np.cos(turn / 2), 0, 0, np.sin(turn / 2)))
        sim = ss.Simulation(scene, METHOD, dt)
        for _ in range(round(2.0 / dt)):
            sim.apply_force("crate", (4.85 * np.cos(heading), 4.85 * np.sin(heading), 0))
            sim.step()
        assert np.linalg.norm(sim.bodies["crate"].position[:2]) < 1e-5, (turn, heading)


@pytest.mark.parametrize("dt", [1 / 200, 1 / 1000])
def test_breakaway_and_kinetic_friction(dt):
    sim = ss.Simulation(crate_on_floor(static=0.5, kinetic=0.3), METHOD, dt)
    broke, speeds = None, []
    for n in range(round(6.0 / dt)):
        force = 4.5 + 0.1 * n * dt * 1.0
        sim.apply_force("crate", (force, 0, 0))
        sim.step()
        speed = sim.bodies["crate"].velocity[0]
        if broke is None and speed > 5e-3:
            broke = force
        elif broke is not None:
            speeds.append((force, speed))
            if len(speeds) > round(0.3 / dt):
                break
    assert broke == pytest.approx(4.9, rel=0.01)
    forces, velocities = np.array(speeds).T
    acceleration = np.polyfit(np.arange(len(velocities)) * dt, velocities, 1)[0]
    assert acceleration == pytest.approx(forces.mean() - 0.3 * G, rel=0.01)


def test_stack_of_ten_stands():
    """A minute at 1/60 s (12 s in a sample): no box sinks, tips or walks away."""
    scene = crate_on_floor()
    rng = np.random.default_rng([SEED, 5])
    for n in range(1, 10):
        x, y = rng.uniform(-5e-3, 5e-3, 2)
        scene.add_box(f"box{n}", size=(1, 1, 1), mass=1.0, position=(x, y, 0.5 + n))
    sim = ss.Simulation(scene, METHOD, 1 / 60)
    sim.step(60 * (60 if FULL else 12))
    for n in range(1, 10):
        assert sim.bodies[f"box{n}"].position[2] == pytest.approx(0.5 + n, abs=5e-3)
        assert np.abs(sim.bodies[f"box{n}"].position[:2]).max() < 0.02


@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("dt", [1 / 50, 1 / 200, 1 / 1000])
def test_bounce_reaches_its_height(bounce, dt):
    height = 1.0
    sim = ss.Simulation(crate_on_floor(height=height, restitution=bounce), METHOD, dt)
    fall = np.sqrt(2 * height / G)
    speed = np.sqrt(2 * G * height)
    apex = 0.0
    for _ in range(round((fall + 2 * bounce * speed / G + 0.02) / dt)):
        sim.step()
        if sim.time > fall + 3 * dt:
            apex = max(apex, float(sim.bodies["crate"].position[2]) - 0.5)
    assert apex == pytest.approx(bounce**2 * height, abs=2 * speed * dt)


@pytest.mark.parametrize("dt", [*np.arange(1, 17) * 1e-3, 0.25e-3, *DRAWN.uniform(0.2e-3, 16e-3, 40 if FULL else 3)])
def test_tilted_cube_settles(dt):
    """At rest on a face after four seconds, at every step up to 16 ms."""
    sim = ss.Simulation(crate_on_floor(height=0.5, tilt=np.radians(12)), METHOD, float(dt))
    sim.step(round(4.0 / dt))
    settled(sim)
    assert sim.bodies["crate"].rotation_matrix[2, 2] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("number", range(100 if FULL else 6))
def test_cube_dropped_at_any_tilt_settles(number):
    """Any orientation, any step up to 16 ms: it ends on one of its faces."""
    rng = np.random.default_rng([SEED, 4, number])
    turn, dt = rng.normal(size=4), float(rng.uniform(0.5e-3, 16e-3))
    scene = crate_on_floor(height=0.5)
    R = quaternion_to_matrix(turn / np.linalg.norm(turn))
    scene.bodies["crate"] = replace(scene.bodies["crate"], rotation=turn / np.linalg.norm(turn),
                                    position=(0, 0, 0.5 + 0.5 * np.abs(R[2]).sum()))
    sim = ss.Simulation(scene, METHOD, dt)
    sim.step(round(8.0 / dt))
    settled(sim)
    assert np.abs(sim.bodies["crate"].rotation_matrix[2]).max() == pytest.approx(1.0, abs=1e-6)


def settled(sim):
    assert np.abs(sim.v).max() < 1e-3
    assert sim.bodies["crate"].position[2] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("dt", [1e-3, 1 / 200])
@pytest.mark.parametrize("load", [3.5, 4.0, 4.5])
def test_static_friction_takes_hold_of_what_stops_against_a_load(load: float, dt: float) -> None:
    """1 kg at 1 m/s, 0.5 static and 0.3 kinetic, a load between the two against it: it stops and stays."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    rough = ss.Material(0.5, 0.3)
    scene.add_ground(material=rough)
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5), velocity=(1, 0, 0), material=rough)
    sim = ss.Simulation(scene, "lcp:recommended", dt)
    crate = sim.bodies["crate"]
    for _ in range(round(1.0 / dt)):
        sim.apply_force("crate", (-load, 0, 0), point=(crate.position[0], 0, 0.02))  # low: it does not tip
        sim.step()
    assert crate.position[0] == pytest.approx(0.5 / (0.3 * 9.8 + load), abs=1.5 * dt)
    assert np.linalg.norm(crate.velocity) < 1e-4
