"""What the report says of tunnelling and of depth correction's work."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor

METHOD, DT = "lcp:recommended", 0.01


def shot(speed: float, *, aside: float = 0.0, wall: str = "fixed", gravity: float = 0.0) -> ss.Simulation:
    """A ball of 4 cm flies along x towards a wall of 2 cm, 1.2 m away."""
    scene = ss.Scene(gravity=(0, 0, -gravity))
    options = {"fixed": {"fixed": True}, "free": {"mass": 5.0}, "scripted": {"kinematic": True}}[wall]
    scene.add_box("wall", size=(0.02, 2, 2), position=(1.255, 0, 0), **options)
    scene.add_sphere("ball", radius=0.02, mass=0.1, position=(0, aside, 0), velocity=(speed, 0, 0))
    return ss.Simulation(scene, METHOD, DT)


def counted(sim: ss.Simulation, steps: int = 20) -> list[int]:
    found = []
    for _ in range(steps):
        sim.step()
        found.append(sim.report.tunnelling)
    return found


@pytest.mark.parametrize("wall", ["fixed", "free", "scripted"])
def test_a_ball_that_skips_a_wall_is_counted_once(wall):
    sim = shot(50.0, wall=wall)
    assert sum(counted(sim)) == 1
    assert sim.bodies["ball"].position[0] > 2.0


def test_a_ball_that_meets_the_wall_or_misses_it_is_not_counted():
    slow = shot(1.5)
    assert sum(counted(slow, 150)) == 0
    assert slow.bodies["ball"].position[0] < 1.25
    assert sum(counted(shot(50.0, aside=1.5))) == 0


def test_only_relative_motion_counts():
    """Both fly at 50 m/s, side by side."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for n in range(2):
        scene.add_sphere(f"ball{n}", radius=0.02, mass=0.1, position=(0.3 * n, 0, 0), velocity=(50, 0, 0))
    assert sum(counted(ss.Simulation(scene, METHOD, DT))) == 0


def test_pairs_that_may_not_touch_do_not_count():
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("wall", size=(0.02, 2, 2), position=(1.255, 0, 0), fixed=True)
    scene.add_sphere("ball", radius=0.02, mass=0.1, velocity=(50, 0, 0))
    scene.exclude_collision("wall", "ball")
    assert sum(counted(ss.Simulation(scene, METHOD, DT))) == 0


def test_a_centre_that_ends_below_the_floor_is_counted():
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_ground()
    scene.add_sphere("ball", radius=0.02, mass=0.1, position=(0, 0, 1.25), velocity=(0, 0, -50))
    assert sum(counted(ss.Simulation(scene, METHOD, DT))) == 1


def test_links_of_mechanisms_are_counted_too():
    """A whip's tip passes a post within a step."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("post", size=(0.1, 0.02, 1), position=(1.0, 0, 0), fixed=True)
    scene.add_sphere("tip", radius=0.02, mass=0.1, position=(np.cos(-0.6), np.sin(-0.6), 0),
                     joint=ss.Joint("revolute", axis=(0, 0, 1), anchor=(-np.cos(-0.6), -np.sin(-0.6), 0), velocity=40.0,
                                    lower=-100.0, upper=100.0))
    assert sum(counted(ss.Simulation(scene, METHOD, DT), 4)) == 1


@pytest.mark.parametrize("at", [0.25, 0.35, 0.6, 0.9])
@pytest.mark.parametrize("speed", [20.0, 100.0])
def test_every_part_of_a_long_link_is_followed_around_its_turn(at, speed):
    """A rod of 1 m swings past a post of 2 cm, by 0.2 or 1 rad in the step: counted once wherever the post stands."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("post", size=(0.08, 0.02, 1), position=(at, 0, 0), fixed=True)
    turn = -0.5 * 0.01 * speed
    rotation = (np.cos(0.5 * turn), 0, 0, np.sin(0.5 * turn))
    scene.add_box("rod", size=(1.0, 0.005, 0.1), mass=0.1, rotation=rotation,
                  position=(0.5 * np.cos(turn), 0.5 * np.sin(turn), 0),
                  joint=ss.Joint("revolute", axis=(0, 0, 1), anchor=(-0.5, 0, 0), velocity=speed, lower=-9, upper=9))
    sim = ss.Simulation(scene, METHOD, DT)
    assert sum(counted(sim, 2)) == 1


def test_a_long_body_that_slides_over_a_narrow_rail_is_not_counted():
    """Its underside passes over the rail at 10 m/s, 5 rails' widths per step."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("rail", size=(0.02, 1, 0.1), position=(0.8, 0, -0.05), fixed=True)
    scene.add_box("bed", size=(0.5, 1, 0.1), position=(0.3, 0, -0.05), fixed=True)
    scene.add_box("board", size=(1.0, 0.2, 0.02), mass=1.0, position=(0, 0, 0.01), velocity=(10, 0, 0))
    assert sum(counted(ss.Simulation(scene, METHOD, DT), 8)) == 0


def test_correction_work_is_what_a_sunken_crate_gets():
    """Weightless, 1 cm deep, at rest: it leaves at rate (depth - slop), half of the work stays as kinetic energy."""
    sim = ss.Simulation(crate_on_floor(height=-0.01, gravity=0.0, mass=3.0), METHOD, 1e-3)
    sim.step()
    options = sim.method.options
    speed = options.penetration_rate * (0.01 - options.slop)
    assert sim.bodies["crate"].velocity[2] == pytest.approx(speed, rel=1e-4)
    assert sim.report.correction_work == pytest.approx(3.0 * speed**2, rel=1e-4)
    assert sim.report.energy_change == pytest.approx(1.5 * speed**2, rel=1e-4)


def test_energy_change_counts_the_rebound():
    """Flat landing at 2 m/s without gravity, e = 0.5: three quarters of the energy are gone."""
    sim = ss.Simulation(crate_on_floor(vertical=-2.0, restitution=0.5, gravity=0.0, mass=3.0), METHOD, 1e-3)
    sim.step()
    assert sim.bodies["crate"].velocity[2] == pytest.approx(1.0, rel=1e-4)
    assert sim.report.energy_change == pytest.approx(-0.75 * 6.0, rel=1e-4)
    assert sim.report.correction_work == 0.0
