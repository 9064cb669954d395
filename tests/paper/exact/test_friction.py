"""Friction of a crate under `exact`: holding, sliding, breaking away, turning back; limits of force and torque."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
from support import FULL

G, LIMIT = 9.8, 4.9  # N: 1 kg, mu 0.5


def pushed(force, seconds, dt, ramp=0.0):
    """Where a crate ends that is pushed at its middle, the force rising through `ramp` seconds."""
    sim = ss.Simulation(crate_on_floor(), "exact", dt)
    for n in range(round(seconds / dt)):
        share = min(1.0, (n + 0.5) * dt / ramp) if ramp else 1.0
        sim.apply_force("crate", (share * force, 0, 0))
        sim.step()
        assert sim.report.converged
    return sim.bodies["crate"].position


@pytest.mark.parametrize(("dt", "seconds"), [(1 / 50, 12.0), (1 / 1000, 12.0 if FULL else 2.0)])
def test_no_creep_at_098_of_the_limit(dt, seconds):
    assert np.abs(pushed(0.98 * LIMIT, seconds, dt) - [0, 0, 0.5]).max() < 1e-12


def test_threshold_to_the_fourth_digit():
    """Ramped to 0.9999 and 1.0001 of the limit in 2 s: it stays; it slides as the excess of the force says."""
    assert abs(pushed(0.9999 * LIMIT, 15.0, 1 / 50, ramp=2.0)[0]) < 5e-12
    dt, v, x = 1 / 50, 0.0, 0.0
    for n in range(750):  # the same ramp: constant force through each step
        a = max(0.0, min(1.0, (n + 0.5) * dt / 2.0) * 1.0001 * LIMIT - LIMIT)
        v, x = v + dt * a, x + dt * v + 0.5 * dt * dt * a
    assert x == pytest.approx(0.041405, abs=1e-6)
    assert pushed(1.0001 * LIMIT, 15.0, dt, ramp=2.0)[0] == pytest.approx(x, abs=1e-10)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 200])
def test_thrown_crate_stops_in_place_at_any_speed_and_heading(dt, rng):
    """Within mu g dt^2/8 (the last step's share), never lifted, never turned, never sideways."""
    bound = 0.5 * G * dt**2 / 8
    throws = [(19.6, 0.0), (19.61, 0.3), (7.77, 0.0), (3.333, 2.0)]
    throws += [(float(rng.uniform(0.5, 30)), float(rng.uniform(0, 2 * np.pi))) for _ in range(20 if FULL else 4)]
    for v0, heading in throws:
        sim = ss.Simulation(crate_on_floor(v0, heading=heading), "exact", dt)
        lift = worst = 0.0
        for _ in range(round((v0 / (0.5 * G) + 0.2) / dt)):
            sim.step()
            lift = max(lift, float(sim.bodies["crate"].position[2]) - 0.5)
            worst = max(worst, sim.report.residual)
        c, s = np.cos(heading), np.sin(heading)
        x, y, _ = sim.bodies["crate"].position
        assert abs(c * x + s * y - v0**2 / G) < bound + 2e-12, (v0, heading)
        assert abs(c * y - s * x) < 1e-12 and lift < 1e-12 and np.abs(sim.v).max() < 1e-11, (v0, heading)
        assert worst < 1e-11 and abs(sim.bodies["crate"].rotation[3]) < 1e-12


def test_a_stop_between_two_steps_is_exact():
    """19.6 m/s stops after 4 s sharp, 200 steps: the midpoint rule integrates constant friction without error."""
    sim = ss.Simulation(crate_on_floor(19.6), "exact", 1 / 50)
    for n in range(199):
        sim.step()
        t = (n + 1) / 50
        assert sim.bodies["crate"].position[0] == pytest.approx(19.6 * t - 0.25 * G * t**2, abs=1e-12)
    sim.step(20)
    assert sim.bodies["crate"].position[0] == pytest.approx(39.2, abs=2e-12)


def on_incline(tangent, seconds, dt=1 / 200):
    angle = np.arctan(tangent)
    scene = ss.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=2.0, position=(0, 0, 0.5))
    sim = ss.Simulation(scene, "exact", dt)
    sim.step(round(seconds / dt))
    return sim.bodies["crate"].position[0]


def test_incline_holds_below_and_slides_above_the_angle_of_friction():
    assert abs(on_incline(0.49, 10.0)) < 2.5e-12
    angle = np.pi / 6
    way = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * 4.0
    assert on_incline(np.tan(angle), 2.0) == pytest.approx(way, rel=2e-14, abs=1e-12)


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
            sim = ss.Simulation(crate_on_floor(v0, static=0.5, kinetic=0.3), "exact", dt)
            top = 0.0
            for _ in range(round(0.8 / dt)):
                sim.apply_force("crate", (-share * G, 0, 0))
                sim.step()
                top = max(top, float(sim.bodies["crate"].position[0]))
            assert top == pytest.approx(v0**2 / (2 * (0.3 + share) * G), abs=bound)
            speed = sim.bodies["crate"].velocity[0]
            assert speed < -0.1 if returns else abs(speed) < 1e-11, (dt, v0)


def limit_share(force, torque):
    """Share of (force along x and y, torque) at which four equally loaded corners slip: the kinematic theorem.

    The least dissipation sum_i mu N |v + w x r_i| over motions (v, w) that the load does unit work on.
    """
    load, corners = np.array([*force, torque]), 0.5 * np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])

    def dissipation(motion):
        speeds = motion[:2] + motion[2] * np.stack([-corners[:, 1], corners[:, 0]], axis=1)
        return LIMIT / 4 * np.linalg.norm(speeds, axis=1).sum() / max(load @ motion, 1e-9)

    starts = np.random.default_rng(1).normal(size=(20, 3))
    return min(minimize(dissipation, start + load, method="Nelder-Mead",
                        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).fun for start in starts)


RAYS = [((1, 0), 0.0), ((0, 0), 1.0), ((1, 0), 0.5), ((1, 0), 2.0), ((1, 1), 0.4), ((0.3, 1), 1.0)]


@pytest.mark.parametrize(("force", "torque"), RAYS)
@pytest.mark.parametrize("kinetic", [0.5, 0.3])
def test_limit_of_force_and_torque_together(force, torque, kinetic):
    """Loads at the floor leave the corners equally loaded; they break away together, at the limit of that load."""
    limit = limit_share(force, torque)
    for share, holds in ((0.999, True), (1.001, False)):
        sim = ss.Simulation(crate_on_floor(static=0.5, kinetic=kinetic), "exact", 1 / 200)
        for n in range(120):
            size = share * limit * min(1.0, (n + 0.5) / 60)
            sim.apply_force("crate", (size * force[0], size * force[1], 0), (0, 0, size * torque), point=(0, 0, 0))
            sim.step()
        speed = np.abs(sim.v[[0, 1, 5]]).max()
        assert speed < 1e-10 if holds else speed > 1e-5, (share, speed)
