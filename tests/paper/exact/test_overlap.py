"""What begins inside something else comes out of it, and is not thrown: depth correction has a largest speed."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.errors import MethodError

G = 9.8


def sunk(depth, method, dt, kind="box"):
    material, scene = ss.Material(0.5), ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    if kind == "box":
        scene.add_box("body", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5 - depth), material=material)
    else:
        scene.add_sphere("body", radius=0.5, mass=1.0, position=(0, 0, 0.5 - depth), material=material)
    return ss.Simulation(scene, method, dt)


@pytest.mark.parametrize("kind", ["box", "sphere"])
@pytest.mark.parametrize("integrator", ["midpoint", "semi-implicit"])
@pytest.mark.parametrize("dt", [1e-3, 1 / 200])
@pytest.mark.parametrize("depth", [1e-3, 11e-3, 5e-2])
def test_overlap_at_the_start_is_undone_gently(depth, dt, integrator, kind):
    """It rises at no more than correction_speed, hops by no more than that brings, and rests on the floor within 1 s.

    The work (impulse times speed) is what lifting it takes, and m v^2 for setting it in motion.
    """
    sim, speed = sunk(depth, ss.methods.exact(integrator=integrator), dt, kind), 0.2
    work = highest = fastest = 0.0
    while sim.time < 1.0:
        sim.step()
        work += sim.report.correction_work
        fastest = max(fastest, sim.v[2])
        highest = max(highest, sim.bodies["body"].position[2] - 0.5)
    assert fastest <= speed * (1 + 1e-9)
    assert highest <= speed**2 / (2 * G)
    assert -1.1e-5 < sim.bodies["body"].position[2] - 0.5 < 1e-9 and np.abs(sim.v).max() < 1e-6
    assert work <= G * depth + speed**2 + G * dt * speed


def test_without_the_limit_it_is_thrown():
    """correction_speed=inf: a tenth of 5 cm in a step of 1 ms is 5 m/s, and a hop of more than a metre."""
    sim, highest = sunk(5e-2, ss.methods.exact(correction_speed=np.inf), 1e-3), 0.0
    while sim.time < 1.0:
        sim.step()
        highest = max(highest, sim.bodies["body"].position[2] - 0.5)
    assert highest == pytest.approx(5.0**2 / (2 * G), rel=0.1)


@pytest.mark.parametrize("speed", [0.05, 0.2, 1.0])
def test_two_bodies_come_apart_at_the_chosen_speed(speed):
    """Without gravity: boxes of 1 and 4 kg, 3 cm inside each other, part at `speed` at most; momentum stays zero."""
    material, scene = ss.Material(0.5), ss.Scene(gravity=(0, 0, 0))
    for name, x, mass in (("left", -0.485, 1.0), ("right", 0.485, 4.0)):
        scene.add_box(name, size=(1, 0.8, 0.6), mass=mass, position=(x, 0, 0), material=material)
    sim = ss.Simulation(scene, ss.methods.exact(correction_speed=speed), 1e-3)
    sim.step(round(0.04 / speed / 1e-3) + 100)
    left, right = sim.bodies["left"], sim.bodies["right"]
    assert right.position[0] - left.position[0] > 1.0 - 1e-5
    assert right.velocity[0] - left.velocity[0] == pytest.approx(speed, rel=1e-6)
    assert left.velocity[0] + 4.0 * right.velocity[0] == pytest.approx(0.0, abs=1e-12)


def test_landing_is_not_slowed_by_the_limit():
    """A tilted crate that lands sinks in by what a step carries it, far below where the limit matters at 1 ms."""
    from sesshoku.experiments.scenes import crate_on_floor

    ways = []
    for speed in (0.2, np.inf):
        method = ss.methods.exact(correction_speed=speed)
        sim = ss.Simulation(crate_on_floor(height=0.5, tilt=np.radians(12)), method, 1e-3)
        sim.step(1500)
        ways.append(sim.q)
    np.testing.assert_array_equal(*ways)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), "fast"])
def test_bad_speeds_are_refused(speed):
    with pytest.raises(MethodError, match="correction_speed"):
        ss.methods.exact(correction_speed=speed)
