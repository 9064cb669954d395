"""`volume`: gains and steps, point contacts in large islands, friction of joints within Gill's stages."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.volume import work as memory
from volume_scenes import DT, RUBBER, G, box, turn, volume

PRESET = "volume:recommended"


@pytest.mark.parametrize(("gain", "dt", "stands"), [
    (1000.0, 1e-3, True), (1000.0, 3.5e-3, True), (200.0, 1 / 60, True),
    (1000.0, 5e-3, False), (2000.0, 3e-3, False), (300.0, 1 / 60, False)])
def test_a_gain_that_throws_bodies_off_is_warned_of(gain, dt, stands):
    """d becomes d (1 - k dt / 2) in a step: below k dt = 4 a box at rest stays, from there on a caution warns."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim = box(depth=1e-4, method=volume(depth_gain=gain), dt=dt)
    assert [w.category for w in told] == ([] if stands else [ss.UnstableStep])
    assert stands or f"{4.0 / gain:.4g} s" in str(told[0].message)
    heights = []
    for _ in range(200):
        sim.step()
        heights.append(sim.bodies["box"].position[2])
    assert (max(heights) < 0.06) == stands


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1 / 60, 0.04, 0.1])
@pytest.mark.parametrize("mass", [0.1, 10.0])
def test_the_preset_rests_at_any_step(dt, mass):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = box(depth=1e-4, mass=mass, method=PRESET, dt=dt)
    sim.step(100)
    height = []
    for _ in range(50):
        sim.step()
        height.append(sim.bodies["box"].position[2])
    assert np.ptp(height) < 1e-6 and height[-1] == pytest.approx(0.05, abs=1e-4)


def foot_and_ridge(spin):
    """A body with a flat foot in the floor and a ridge that grazes it by its edge alone, thinner than any polygon."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_ground(material=RUBBER)
    eighth, edge = (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0), 0.1 * np.sqrt(0.5)
    parts = [ss.Geometry(ss.Box((0.1, 0.1, 0.1)), position=(0.3, 0, 0), rotation=eighth, material=RUBBER),
             ss.Geometry(ss.Box((0.2, 0.2, 0.1)), position=(-0.3, 0, 0.05 - edge - 1e-4), material=RUBBER)]
    scene.add_body("body", inertial=ss.Inertial(2.0, (0.1, 0, 0.05), np.diag([0.1, 0.2, 0.2])), geometries=parts,
                   position=(0, 0, edge - 1e-13), velocity=(0, 0, -0.1), angular_velocity=(0.1, spin, 0.3))
    return scene


@pytest.mark.parametrize("keyword", ["volume", PRESET])
@pytest.mark.parametrize("spin", [0.0, 1.0, -1.0])
def test_point_contacts_have_no_torque_in_large_islands_either(keyword, spin, monkeypatch):
    """An overlap without a polygon, by dense matrices and by sparse blocks: one answer, without any torque."""
    sims = [ss.Simulation(foot_and_ridge(spin), keyword, DT)]
    monkeypatch.setattr(memory, "DENSE", 6)
    sims.append(ss.Simulation(foot_and_ridge(spin), keyword, DT))
    for sim in sims:
        sim.step()
        assert sorted(sim.work.overlaps.kind[:2]) == [0, 1]
        point = int(np.argmax(sim.work.overlaps.kind[:2]))
        assert np.abs(sim.work.wrench[point, 3:]).max() < 1e-9
    if keyword == "volume":  # the preset has no absolute weight, and a strip of 1e-14 m^2 no digits left
        assert sims[1].report.converged and sims[1].v == pytest.approx(sims[0].v, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rkg"])
@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
@pytest.mark.parametrize("load", [1.0, 3.5, 4.8, 5.2])
@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_joint_friction_catches_what_turns_round(integrator, kind, load, speed):
    """Friction of 5 N (N m) at rest and 3 N in motion: a load rests up to 5 N, also when it was thrown up before."""
    scene = ss.Scene(gravity=(0, 0, -G))
    up = (0, 0, 1) if kind == "prismatic" else (0, -1, 0)
    arm = (0, 0, 0) if kind == "prismatic" else (1.0, 0, 0)
    scene.add_body("link", joint=ss.Joint(kind, axis=up, static_friction=5.0, kinetic_friction=3.0, velocity=speed),
                   position=(0, 0, 1), inertial=ss.Inertial(load / G, arm, 1e-3 * np.eye(3)))
    sim = ss.Simulation(scene, volume(integrator=integrator), DT)
    sim.step(300)
    place = sim.joints["link"].position
    sim.step(300)
    moved = abs(sim.joints["link"].position - place)
    assert moved < 1e-6 if load < 5.0 else moved > 1e-3


def dominoes(count, gap):
    """A row of them, the first one pushed over."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n in range(count):
        scene.add_box(f"domino{n}", size=(0.02, 0.05, 0.1), mass=0.1, position=(gap * n, 0, 0.05), material=RUBBER,
                      angular_velocity=(0, 6.0 if n == 0 else 0, 0), velocity=(0.3 if n == 0 else 0, 0, 0))
    return scene


def legs():
    """A trunk on four legs of two links with limp, limited joints, dropped askew."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    scene.add_box("trunk", size=(0.5, 0.3, 0.1), mass=10.0, position=(0, 0, 0.6), rotation=turn(0.1, 0.08, 0),
                  material=RUBBER)
    for n, (x, y) in enumerate([(0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2)]):
        parent = "trunk"
        for k in range(2):
            scene.add_box(f"leg{n}{k}", size=(0.04, 0.04, 0.2), mass=0.5, parent=parent, material=RUBBER,
                          position=(x, y, -0.1) if k == 0 else (0, 0, -0.22),
                          joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(0, 0, 0.1), lower=-1.0, upper=1.0,
                                         viscous=0.05))
            parent = f"leg{n}{k}"
    return scene


@pytest.mark.parametrize("dt", [1e-3, 4e-3, 1 / 60])
@pytest.mark.parametrize("make_scene", [lambda: dominoes(8, 0.04), lambda: dominoes(4, 0.06), legs],
                         ids=["eight dominoes", "four dominoes", "legs"])
def test_the_preset_adds_no_energy_but_for_lost_depth(make_scene, dt):
    """Contact may add what the recovery of depth asks for, and no more, in any step and island."""
    sim = ss.Simulation(make_scene(), PRESET, dt)
    start = highest = sum(sim.energy)
    for _ in range(round(1.5 / dt)):
        sim.step()
        assert sim.report.energy_change < sim.report.correction_work + 1e-9 * start
        highest = max(highest, sum(sim.energy))
    assert highest < 1.01 * start and sum(sim.energy) < 0.9 * start


@pytest.mark.parametrize("dt", [1e-3, 1 / 60, 0.032])
def test_the_preset_carries_a_stack_of_ten_at_any_step(dt):
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n in range(10):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + 0.2 * n), material=RUBBER)
    sim = ss.Simulation(scene, PRESET, dt)
    start = highest = sum(sim.energy)
    for _ in range(round(2.0 / dt)):
        sim.step()
        highest = max(highest, sum(sim.energy))
    assert highest < 1.005 * start
    assert sim.bodies["box9"].position == pytest.approx([0, 0, 1.9], abs=1e-3)


def test_the_preset_carries_a_thousand_times_its_mass():
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n, mass in enumerate((1.0, 1000.0)):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=mass, position=(0, 0, 0.1 + 0.2 * n), material=RUBBER)
    sim = ss.Simulation(scene, PRESET, DT)
    sim.step(2000)
    assert sim.bodies["box1"].position[2] == pytest.approx(0.3, abs=1e-3) and np.abs(sim.v).max() < 1e-3


@pytest.mark.parametrize("yaw", [0.0, 0.2, np.pi / 8, 1.0])
@pytest.mark.parametrize(("share", "holds"), [(0.999, True), (1.01, False)])
def test_the_preset_holds_on_a_slope_up_to_the_friction_angle(yaw, share, holds):
    """Whichever way it falls: the pyramid's edge lies along the force."""
    angle = np.arctan(0.5 * share)
    down = G * np.array([np.sin(angle) * np.cos(yaw), np.sin(angle) * np.sin(yaw), -np.cos(angle)])
    scene = ss.Scene(gravity=down)
    scene.add_ground(material=ss.Material(0.5))
    scene.add_box("box", size=(0.2, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), material=ss.Material(0.5))
    sim = ss.Simulation(scene, PRESET, DT)
    sim.step(2000)
    moved = np.linalg.norm(sim.bodies["box"].position[:2])
    assert moved < 1e-4 if holds else moved > 0.02
