"""Oblique impacts under `exact`: momentum and angular momentum kept, closed forms of balls, order of boxes."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import resolve
from support import sample_count


def balls(offset, bounce, dt, friction=0.0, speed=2.0, start=0.3137):
    """Two balls (r 0.1 m, 1 kg) that fly at each other, `offset` apart across."""
    material = ss.Material(friction, None, bounce)
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, sign in (("a", -1.0), ("b", 1.0)):
        scene.add_sphere(name, radius=0.1, mass=1.0, position=(sign * start, sign * 0.5 * offset, 0),
                         velocity=(-sign * speed, 0, 0), material=material)
    return ss.Simulation(scene, "exact", dt)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("offset", [0.0, 0.05, 0.12, 0.19])
def test_balls_part_as_the_closed_form_says(offset, bounce, dt):
    """Without friction the velocity along the line of centres at contact turns round times e, the rest stays."""
    sim = balls(offset, bounce, dt)
    steps = round(0.3 / dt)
    sim.step(steps)
    n = np.array([np.sqrt(0.2**2 - offset**2), offset, 0.0]) / 0.2
    before = np.array([-2.0, 0.0, 0.0])  # of b
    after = before - (1.0 + bounce) * n * (n @ before)
    met = (2 * 0.3137 - 0.2 * n[0]) / 4.0
    place = np.array([0.3137, 0.5 * offset, 0.0]) + met * before + (steps * dt - met) * after
    assert sim.bodies["b"].velocity == pytest.approx(after, abs=1e-11)
    assert sim.bodies["a"].velocity == pytest.approx(-after, abs=1e-11)
    assert sim.bodies["b"].position == pytest.approx(place, abs=1e-11)
    assert np.abs(sim.v.reshape(2, 6)[:, 3:]).max() < 1e-11


def test_balls_that_pass_do_not_touch():
    for dt in (1e-3, 1e-2, 2e-2):
        sim = balls(0.2003, 1.0, dt)
        sim.step(round(0.4 / dt))
        assert sim.bodies["b"].velocity == pytest.approx([-2.0, 0, 0], abs=1e-13)


def random_pair(rng, kinds, bounce, friction, dt, gravity=(0, 0, 0), method="exact"):
    """Two bodies that fly at each other off centre, and spin."""
    material = ss.Material(friction, None, bounce)
    scene = ss.Scene(gravity=gravity)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    for name, kind, sign in (("a", kinds[0], -1.0), ("b", kinds[1], 1.0)):
        place = sign * (0.3 + 0.2 * rng.random()) * way + 0.05 * rng.normal(size=3)
        given = {"mass": float(10 ** rng.uniform(-0.5, 0.5)), "position": place, "material": material,
                 "velocity": -sign * rng.uniform(1, 3) * way + 0.2 * rng.normal(size=3)}
        if kind == "sphere":
            scene.add_sphere(name, radius=float(rng.uniform(0.07, 0.12)), **given)
        elif kind == "capsule":
            scene.add_capsule(name, radius=0.05, length=0.1, **given)
        else:
            scene.add_box(name, size=rng.uniform(0.1, 0.2, 3), **given)
    sim = ss.Simulation(scene, method, dt)
    v = sim.v.copy().reshape(2, 6)
    v[:, 3:] = rng.normal(size=(2, 3)) * 5.0
    sim.set_state(v=v.reshape(-1))
    return sim


def momenta(sim):
    """P and L (about the common centre of mass)."""
    return np.asarray(sim.momentum(about=sim.center_of_mass()))


@pytest.mark.parametrize("kinds", [("sphere", "sphere"), ("sphere", "box"), ("box", "box"), ("box", "capsule")])
@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("gravity", [0.0, 9.8])
def test_two_bodies_keep_their_momenta(kinds, bounce, friction, gravity, rng):
    touched = 0
    for _ in range(sample_count(3, 40)):
        dt = float(10 ** rng.uniform(np.log10(5e-4), -2))
        sim = random_pair(rng, kinds, bounce, friction, dt, (0, 0, -gravity))
        start, time = momenta(sim), 0.0
        size = np.abs(start).max() + 1.0
        energy = sum(sim.energy)
        for _ in range(round(0.3 / dt)):
            sim.step()
            time += dt
            touched += any(contact.normal_force > 0.0 for contact in sim.contacts)
            expected = start + np.array([0, 0, -gravity * time * sim_mass(sim), 0, 0, 0])
            assert momenta(sim) == pytest.approx(expected, abs=1e-10 * size)
            assert sim.report.momentum_residual <= 1e-10 * size
            assert sum(sim.energy) <= energy + 1e-5 * size
    assert touched > 0


def sim_mass(sim):
    return sum(sim.bodies[name].mass for name in ("a", "b"))


@pytest.mark.parametrize(("kinds", "seed"), [(("box", "sphere"), 0), (("box", "sphere"), 3), (("box", "box"), 1),
                                             (("box", "box"), 5)])
def test_boxes_part_at_second_order(kinds, seed):
    """Boxes that spin meet at corners, edges and faces: halving the step quarters the error of the state after it."""
    def end(steps):
        sim = random_pair(np.random.default_rng(seed), kinds, 1.0, 0.0, 0.24 / steps)
        sim.step(steps)
        return np.concatenate([sim.q, sim.v])

    fine, start = end(3072), random_pair(np.random.default_rng(seed), kinds, 1.0, 0.0, 1e-3).v
    assert np.abs(fine[-12:].reshape(2, 6)[:, :3] - start.reshape(2, 6)[:, :3]).max() > 0.1  # they did meet
    coarse, half = (np.abs(end(steps) - fine).max() for steps in (96, 192))
    assert half < 0.3 * coarse and half < 5e-3


@pytest.mark.parametrize("kinds", [("sphere", "sphere"), ("box", "box"), ("box", "capsule")])
def test_without_friction_and_losses_the_energy_is_kept(kinds, rng):
    """e = 1: to rounding, however many points of the two meet in a step."""
    for _ in range(sample_count(5, 60)):
        dt = float(10 ** rng.uniform(np.log10(5e-4), -2))
        sim = random_pair(rng, kinds, 1.0, 0.0, dt)
        energy = sum(sim.energy)
        sim.step(round(0.3 / dt))
        assert sum(sim.energy) == pytest.approx(energy, rel=1e-9)


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("wrong", [0.0, 1e-3])
def test_what_is_missing_is_reported(wrong):
    """The report compares what the bodies have with what is due: an impulse on one that the other lacks is told."""
    sim = balls(0.12, 1.0, 5e-3)
    stages = resolve("exact").definition.stages_of(sim.method.options).named
    for _ in range(100):
        for name, stage in stages.items():
            if name == "end" and sim.work.impacts[0] > 0:
                sim.data.constraint_force[1] += wrong / sim.dt
            stage(sim.model, sim.data, sim.work, sim.dt)
        if sim.work.impacts[0] > 0:
            break
    assert sim.work.impacts[0] > 0
    assert sim.report.momentum_residual == pytest.approx(wrong, rel=1e-9, abs=1e-14)
