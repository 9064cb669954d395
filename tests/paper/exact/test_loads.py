"""Stacks, ratios of masses, grasps, squeezes and jams under `exact`: what loads do where nothing should move."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.apps.crane import trials
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.scenes import G, engine, grasp, stack, standing_humanoid
from support import FULL


def drift(sim, settle, seconds):
    """How far anything moves; every step must be solved."""
    moved, unsolved = measures.drift(sim, settle, seconds)
    assert unsolved == 0
    return moved


@pytest.mark.parametrize(("offset", "gap", "bound"), [(5e-3, 2e-4, 1.3e-11), (0.0, 0.0, 4e-12)])
def test_stack_of_ten_stands_still(offset, gap, bound):
    sim = ss.Simulation(stack([1.0] * 10, offset, gap), "exact", 1 / 60)
    assert drift(sim, 10.0, 50.0 if FULL else 5.0) < bound
    total = sum(contact.force[2] for contact in sim.bodies["box0"].contacts if "ground" in contact.bodies)
    assert abs(total) == pytest.approx(10 * G, rel=1e-9)


@pytest.mark.parametrize(("ratio", "bound"), [(1e3, 1e-12), (1e4, 1.3e-12), (1e6, 1e-9)])
def test_heavy_on_light(ratio, bound):
    """Dropped by 0.1 mm, 1/200 s, 5 s after it has settled (2 s: at 1e6:1 nanometres, then nothing)."""
    sim = ss.Simulation(stack([1.0, ratio], 1e-2, 1e-4), "exact", 1 / 200)
    assert drift(sim, 2.0, 5.0) < bound
    assert np.abs(sim.bodies["box0"].position[2] - 0.5) < 1e-8


def test_grasp_holds_at_12_tenths_and_falls_at_8_as_it_should():
    """Friction 2 mu F: 6 N of 5 hold; 4 N let it fall with (5 - 4) N, upright."""
    assert measures.sunk(engine(), grasp(6.0), ["box"], 10.0, 1 / 200) < 1e-12
    error, spin = measures.grasp_fall(engine(), 4.0)
    assert error < 1e-12 and spin < 1e-10


def test_squeezed_between_walls_stays_bounded_and_is_told():
    """No motion obeys both walls: `converged` is False, impulses stay those of the wanted speed, the box stays put.

    When the walls open again it falls as if nothing had been.
    """
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    for name, side in (("left", -1.0), ("right", 1.0)):
        scene.add_box(name, size=(0.2, 1, 1), position=(0.61 * side, 0, 0.5), kinematic=True, velocity=(-side, 0, 0))
    scene.add_box("box", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    sim, told = ss.Simulation(scene, "exact", 1e-3), 0
    for _ in range(60):
        sim.step()
        told += not sim.report.converged
        impulse = max((contact.normal_force for contact in sim.contacts), default=0.0) * sim.dt
        assert impulse < 500.0 and np.abs(sim.v).max() < 1e-2
    assert told >= 45 and np.abs(sim.bodies["box"].position - [0, 0, 0.5]).max() < 1e-4
    for name, side in (("left", -1.0), ("right", 1.0)):
        sim.bodies[name].set_velocity((side, 0, 0))
    sim.step(200)
    assert sim.report.converged and np.abs(sim.v).max() < 1e-9


@pytest.mark.parametrize("friction", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_rod_that_is_pushed_over_its_foot(friction, speed):
    """A slender rod slides on its end, leaning into its motion or away: beyond mu 4/3 or so the frictional force would
    press it into the floor (Painlevé). At velocity level there is always an answer; energy is never made."""
    angle, length, material = np.radians(70), 1.0, ss.Material(friction)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    turn = 0.5 * (np.pi / 2 - angle)
    scene.add_box("rod", size=(0.01, 0.01, length), mass=1.0, rotation=(np.cos(turn), 0, np.sin(turn), 0),
                  position=(0, 0, 0.5 * length * np.sin(angle) + 0.005 * np.cos(angle)), velocity=(speed, 0, 0),
                  material=material)
    sim = ss.Simulation(scene, "exact", 1e-3)
    start = before = sum(sim.energy)
    paradox = False
    for _ in range(300):
        sim.step()
        assert sim.report.converged
        now = sum(sim.energy)
        assert now <= before + 5e-4 * start  # depth correction and the impacts' instants
        before = now
        contacts, block = sim.records["contacts"], sim.records["problem"].block
        for c in range(contacts.counts[0]):
            W = block[c]
            paradox |= bool(W[2, 2] < friction * np.hypot(W[0, 2], W[1, 2]))
    assert paradox == (friction > 1.0)
    assert before <= 1.001 * start and np.isfinite(sim.q).all()


def test_humanoid_stands_on_its_soles():
    scene = standing_humanoid()
    sim = ss.Simulation(scene, "exact", 1e-3)
    sim.step(500)
    feet = {name: sim.bodies[name].position.copy() for name in ("left_foot", "right_foot")}
    lifted = 0.0
    for _ in range(1500):
        sim.step()
        assert sim.report.converged and sim.report.residual < 1e-10
        lifted += sum(abs(contact.force[2]) for contact in sim.contacts) / 1500
    for name, place in feet.items():
        assert np.abs(sim.bodies[name].position - place).max() < 1e-7
    assert lifted == pytest.approx(sum(sim.model.link_mass) * abs(scene.gravity[2]), rel=0.02)


@pytest.mark.parametrize("dt", [1 / 40, 1 / 50, 1 / 60, 1 / 100])
def test_a_box_in_jointed_fingers_does_not_creep(dt):
    """Four fingers driven by torques lift it by a metre and hold it for three seconds: corners bear together."""
    lifted = trials.lift_box("exact", dt=dt)
    assert lifted.rise > 0.95 and lifted.slip < 1e-10 and lifted.penetration < 1e-3
