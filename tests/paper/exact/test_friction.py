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
