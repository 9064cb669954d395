"""Friction of a crate under `exact`: holding, sliding, breaking away, turning back; limits of force and torque."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.measures import LIMIT, RAYS
from sesshoku.experiments.exact.scenes import G
from sesshoku.experiments.scenes import crate_on_floor
from support import FULL


class Watched(ss.Simulation):
    """A simulation under `exact` in which every step must be solved."""

    def __init__(self, scene, dt):
        super().__init__(scene, "exact", dt)

    def step(self, steps=1):
        super().step(steps)
        assert self.report.converged


@pytest.mark.parametrize(("dt", "seconds"), [(1 / 50, 12.0), (1 / 1000, 12.0 if FULL else 2.0)])
def test_no_creep_at_098_of_the_limit(dt, seconds):
    assert np.abs(measures.pushed(Watched, 0.98 * LIMIT, seconds, dt)).max() < 1e-12


def test_threshold_to_the_fourth_digit():
    """Ramped to 0.9999 and 1.0001 of the limit in 2 s: it stays; it slides as the excess of the force says."""
    assert abs(measures.pushed(Watched, 0.9999 * LIMIT, 15.0, 1 / 50, ramp=2.0)[0]) < 5e-12
    x = measures.pushed_way(1.0001 * LIMIT, 15.0, 1 / 50, 2.0)
    assert x == pytest.approx(0.041405, abs=1e-6)
    assert measures.pushed(Watched, 1.0001 * LIMIT, 15.0, 1 / 50, ramp=2.0)[0] == pytest.approx(x, abs=1e-10)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 200])
def test_thrown_crate_stops_in_place_at_any_speed_and_heading(dt, rng):
    """Within mu g dt^2/8 (the last step's share), never lifted, never turned, never sideways."""
    bound = 0.5 * G * dt**2 / 8
    throws = [(19.6, 0.0), (19.61, 0.3), (7.77, 0.0), (3.333, 2.0)]
    throws += [(float(rng.uniform(0.5, 30)), float(rng.uniform(0, 2 * np.pi))) for _ in range(20 if FULL else 4)]
    for v0, heading in throws:
        found = measures.slide(Watched, v0, heading, dt)
        assert found.along < bound + 2e-12, (v0, heading)
        assert found.sideways < 1e-12 and found.lift < 1e-12 and found.speed < 1e-11, (v0, heading)
        assert found.residual < 1e-11 and found.turned < 2e-12


def test_a_stop_between_two_steps_is_exact():
    """19.6 m/s stops after 4 s sharp, 200 steps: the midpoint rule integrates constant friction without error."""
    found = measures.slide(Watched, 19.6, 0.0, 1 / 50)
    assert found.on_the_way < 1e-12 and found.along < 2e-12


def test_incline_holds_below_and_slides_above_the_angle_of_friction():
    assert abs(measures.slid_down(Watched, 0.49, 10.0, 1 / 200)) < 2.5e-12
    angle = np.pi / 6
    way = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * 4.0
    assert measures.slid_down(Watched, np.tan(angle), 2.0, 1 / 200) == pytest.approx(way, rel=2e-14, abs=1e-12)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 200, 1 / 1000])
def test_breaks_away_in_the_first_step_above_static_friction(dt):
    """Ramp of 1 N/s, mu .5/.3: nothing moves up to 4.9 N, and kinetic friction acts from the first step on."""
    sim, force, v = ss.Simulation(crate_on_floor(static=0.5, kinetic=0.3), "exact", dt), 4.7, 0.0
    for n in range(round(0.5 / dt)):
        force = 4.7 + n * dt
        sim.apply_force("crate", (force, 0, 0))
        sim.step()
        moving = force > LIMIT + 1e-9
        v += (force - 0.3 * G) * dt if moving else 0.0
        assert sim.bodies["crate"].velocity[0] == pytest.approx(v, abs=5e-12), force
        loaded = {contact.state for contact in sim.contacts if contact.normal_force > 0.0}
        assert loaded == {"slip" if moving else "stick"}
    assert v > 0.1


@pytest.mark.parametrize(("share", "returns"), [(0.25, False), (0.4, False), (0.6, True)])
def test_stopping_against_a_force(share, returns):
    """mu .5/.3: brakes with .3 and the force; at rest static friction holds it against less than .5 m g."""
    for dt, bound in ((1 / 200, 2.5e-4), (1 / 50, 4e-3)):
        for v0 in np.linspace(0.3, 2.0, 40 if FULL else 12):
            top, speed = measures.turning_point(Watched, v0, share, dt)
            assert top == pytest.approx(v0**2 / (2 * (0.3 + share) * G), abs=bound)
            assert speed < -0.1 if returns else abs(speed) < 1e-11, (dt, v0)


@pytest.mark.parametrize(("force", "torque"), RAYS)
@pytest.mark.parametrize("kinetic", [0.5, 0.3])
def test_limit_of_force_and_torque_together(force, torque, kinetic):
    """Loads at the floor leave the corners equally loaded; they break away together, at the limit of that load."""
    limit = measures.equal_load_limit(force, torque)
    for share, holds in ((0.999, True), (1.001, False)):
        speed = measures.speed_under_load(Watched, force, torque, share * limit, kinetic)
        assert speed < 1e-10 if holds else speed > 1e-5, (share, speed)


def spun_and_slid(height, speed, spin, dt):
    """Friction of a crate (edge 1 m) in its first step, over the largest there can be: of all corners with equal loads
    less what was found (force, torque), and of each corner with its own load less what it had."""
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(0.5)
    scene.add_ground(material=material)
    scene.add_box("crate", size=(1, 1, height), mass=1.0, position=(0, 0, 0.5 * height), velocity=(speed, 0, 0),
                  angular_velocity=(0, 0, spin), material=material)
    sim = ss.Simulation(scene, "exact", dt)
    sim.step()
    crate, most = sim.bodies["crate"], 0.5 * G
    arms = np.array([contact.point for contact in sim.contacts]) - crate.position
    force = np.array([contact.force for contact in sim.contacts])
    slip = crate.velocity[:2] + crate.angular_velocity[2] * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    along = -slip / np.linalg.norm(slip, axis=1)[:, None]

    def wrench(friction):
        turning = (arms[:, 0] * friction[:, 1] - arms[:, 1] * friction[:, 0]).sum() / np.sqrt(0.5)
        return np.array([*friction.sum(0), turning]) / most

    apart = np.abs(wrench(force[:, :2]) - wrench(0.25 * most * along))
    own = np.abs(force[:, :2] - 0.5 * force[:, 2:] * along).max() / most
    return apart[:2].max(), apart[2], own


def test_spin_and_slide_is_that_of_corners_that_carry_what_tips_the_crate():
    """A crate that is braked leans on its front corners, by its height: friction of each of them is its own load's.

    Equal loads are the limit of a flat crate; a cube is 0.2 away from it in force, and 0.05 in torque.
    """
    for angle in np.linspace(0.1, 1.4, 9):
        speed, spin = 2.0 * np.cos(angle), 2.0 * np.sqrt(2.0) * np.sin(angle)
        for height in (1.0, 0.1, 0.01):
            force, torque, own = spun_and_slid(height, speed, spin, 1e-4)
            assert own < 2e-4  # directions are those of the step's end, places those of its middle
            assert force < 0.25 * height + 2e-4 and torque < 0.06 * height + 2e-4
        force, torque, _ = spun_and_slid(1.0, speed, spin, 1e-4)
        assert force > 0.01 or torque > 0.01
