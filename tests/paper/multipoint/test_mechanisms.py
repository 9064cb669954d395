"""`multipoint` beyond a body on the ground: bodies on bodies, self-contact, limits, loops, joint friction, islands."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything, four_bar
from multipoint_scenes import heap
from sesshoku.experiments.multipoint.scenes import multipoint, rod
from sesshoku.experiments.scenes import crate_on_floor

G = 9.8
METHODS = ["multipoint", "multipoint:recommended"]
every = pytest.mark.parametrize("method", METHODS)


def force_between(sim, a, b):
    """Total force on b by a."""
    return sum(
        (c.force if c.bodies == (a, b) else -c.force for c in sim.contacts if set(c.bodies) == {a, b}), np.zeros(3)
    )


@every
@pytest.mark.parametrize("ratio", [1e-2, 1.0, 1e3])
def test_a_stack_carries_itself_whatever_the_masses(method, ratio):
    scene = crate_on_floor(mass=1.0)
    scene.add_box("upper", size=(0.8, 0.8, 0.5), mass=ratio, position=(0.05, 0.0, 1.25))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(50)
    assert force_between(sim, "crate", "upper") == pytest.approx([0, 0, ratio * G], abs=1e-9 * (1 + ratio) * G)
    assert force_between(sim, "ground", "crate") == pytest.approx([0, 0, (1 + ratio) * G], abs=1e-9 * (1 + ratio) * G)
    assert np.abs(sim.v).max() < 1e-12


@every
@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
def test_two_moving_balls_exchange_momentum(method, bounce):
    """Head on, 1 and 3 kg: the closed form of a central impact."""
    scene = ss.Scene(gravity=(0, 0, 0))
    material = ss.Material(0.0, restitution=bounce)
    scene.add_sphere("a", radius=0.1, mass=1.0, position=(0, 0, 0), velocity=(2, 0, 0), material=material)
    scene.add_sphere("b", radius=0.1, mass=3.0, position=(0.2, 0, 0), velocity=(-1, 0, 0), material=material)
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step()
    common = (1.0 * 2 - 3.0 * 1) / 4.0
    assert sim.bodies["a"].velocity[0] == pytest.approx(common - bounce * 3 / 4 * 3, abs=1e-12)
    assert sim.bodies["b"].velocity[0] == pytest.approx(common + bounce * 1 / 4 * 3, abs=1e-12)


@every
def test_a_robot_may_touch_itself(method):
    """Two arms of one tree that clap: they do not pass through each other, and momentum is kept as well as without."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("trunk", size=(0.1, 0.1, 0.1), mass=5.0)
    for name, side in (("left", 1), ("right", -1)):
        scene.add_box(
            name,
            size=(0.4, 0.05, 0.05),
            mass=1.0,
            parent="trunk",
            position=(0.3, 0.1 * side, 0),
            joint=ss.Joint("continuous", axis=(0, 0, 1), anchor=(-0.25, 0, 0), velocity=-1.0 * side),
        )
    sim = ss.Simulation(scene, method, 1e-3)
    before, touched = sim.momentum(about=(0, 0, 0)), 0
    for _ in range(400):
        sim.step()
        touched += any(set(c.bodies) == {"left", "right"} and c.normal_force > 0 for c in sim.contacts)
    assert touched > 0 and sim.report.penetration < 2e-3
    drift = 1e-3  # kg m/s: the step's, first order in dt; what passes between the arms at the clap is 0.4
    assert sim.momentum(about=(0, 0, 0)) == pytest.approx(before, abs=drift)
    assert sim.joints["left"].velocity - sim.joints["right"].velocity > -1e-6, "they part, or rest on each other"


def hanging(limit, **joint):
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("wall", fixed=True)
    scene.add_body(
        "arm",
        parent="wall",
        joint=ss.Joint("revolute", axis=(0, 1, 0), lower=-limit, upper=limit, **joint),
        inertial=ss.Inertial(2.0, (0.5, 0, 0), 0.1 * np.eye(3)),
    )
    return scene


@every
def test_a_limit_pushes_and_never_pulls(method):
    """An arm that falls on its stop is held there; thrown off it, it leaves freely."""
    sim = ss.Simulation(hanging(0.2), method, 1e-3)
    sim.step(1500)
    arm = sim.joints["arm"]
    assert arm.position == pytest.approx(0.2, abs=1e-6) and abs(arm.velocity) < 1e-9
    assert arm.limit_force == pytest.approx(-2.0 * G * 0.5 * np.cos(0.2), rel=1e-6)
    sim.set_state(v=np.array([-1.0]))
    free = ss.Simulation(hanging(0.2), "none", 1e-3)
    free.set_state(q=sim.q.copy(), v=sim.v.copy())
    sim.step(20), free.step(20)
    assert sim.v == pytest.approx(free.v, abs=1e-12) and arm.limit_force == 0.0


@every
def test_limits_and_contacts_share_one_loop(method):
    """A knee that rests on its stop while its foot stands on the ground: both carry, and the total is the weight."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(1.0))
    scene.add_box("foot", size=(0.3, 0.3, 0.1), mass=3.0, position=(0, 0, 0.05))
    scene.add_body(
        "leg",
        parent="foot",
        position=(0, 0, 0.05),
        joint=ss.Joint("revolute", axis=(0, 1, 0), lower=-0.1, upper=0.05, position=0.05),
        inertial=ss.Inertial(1.0, (0, 0, 0.4), 0.01 * np.eye(3)),
    )
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(300)
    assert force_between(sim, "ground", "foot")[2] == pytest.approx(4.0 * G, rel=1e-6)
    assert sim.joints["leg"].limit_force == pytest.approx(-1.0 * G * 0.4 * np.sin(0.05), rel=1e-4)
    assert sim.joints["leg"].position == pytest.approx(0.05, abs=1e-6)


@every
@pytest.mark.parametrize("loop", ["ball", "hinge", "weld"])
def test_loops_hold(method, loop):
    """A parallelogram of three rods with redundant rows (hinge and weld) swings, or stands where it is welded."""
    sim = ss.Simulation(four_bar(loop, 0.0 if loop == "weld" else 1.0), method, 1e-3)
    before = sum(sim.energy)
    worst = 0.0
    for _ in range(500):
        sim.step()
        worst = max(worst, sim.report.loop_error)
    assert worst < 2e-4
    assert sum(sim.energy) == pytest.approx(before, rel=2e-2)


@every
def test_joint_friction_holds_slides_and_stops(method):
    """Static friction 3 N m holds 2 N m; 4 N m break it and are slowed by 1 N m."""
    scene = hanging(10.0, static_friction=3.0, kinetic_friction=1.0)
    scene.gravity = np.zeros(3)
    for torque, expected in ((2.0, 0.0), (4.0, (4.0 - 1.0) / 0.6)):
        sim = ss.Simulation(scene, method, 1e-3)
        for _ in range(50):
            sim.apply_force("arm", (0, 0, 0), torque=(0, torque, 0))
            sim.step()
        assert sim.v[0] == pytest.approx(expected * 0.05, rel=1e-9, abs=1e-12)
    sim = ss.Simulation(scene, method, 1e-3)
    sim.set_state(v=np.array([1.0]))
    sim.step(500)
    assert sim.v[0] == pytest.approx(1.0 - 0.5 * 1.0 / 0.6, abs=2e-3)
    sim.step(500)
    assert abs(sim.v[0]) < 1e-12


@every
def test_everything_at_once_runs(method):
    sim = ss.Simulation(everything(), method, 1e-3)
    sim.step(300)
    assert np.isfinite(sim.q).all() and sim.report.loop_error < 5e-3


@every
def test_groups_of_bodies_are_solved_apart(method):
    """A second heap far away changes not one bit of the first."""
    alone = crate_on_floor(1.0, tilt=0.1, height=0.01)
    beside = crate_on_floor(1.0, tilt=0.1, height=0.01)
    beside.add_box("far", size=(1, 1, 1), mass=1e-3, position=(50, 0, 0.51), angular_velocity=(1, 2, 3))
    beside.add_box("above", size=(0.5, 0.5, 0.5), mass=1e3, position=(50, 0, 1.3))
    first, second = ss.Simulation(alone, method, 1e-3), ss.Simulation(beside, method, 1e-3)
    first.step(300), second.step(300)
    assert np.array_equal(first.q[:7], second.q[:7]) and np.array_equal(first.v[:6], second.v[:6])


def test_painleves_rod_is_stopped_and_reported():
    """mu > 4/3: no sliding answer lifts the foot of a steep rod; resolved friction takes it as sticking and says so."""
    steep = np.arctan(2.0)
    for friction, jams in ((1.2, False), (1.5, True)):
        sim = ss.Simulation(rod(1 / 3, steep, friction=friction), multipoint(friction_coupling="resolve"), 1e-3)
        middle = sim.q[:3].copy()
        sim.set_state(v=np.array([-1.0, 0, -0.1, 0, 0, 0]))
        sim.step()
        (contact,) = sim.contacts
        after = sim.v[:3] + np.cross(sim.v[3:], contact.point - middle)
        assert sim.report.converged == (not jams)
        assert np.linalg.norm(contact.friction_force) <= friction * contact.normal_force * (1 + 1e-12)
        if jams:
            assert np.abs(after).max() < 1e-9, "stopped, within its cone"
        else:
            assert after[2] == pytest.approx(0.0, abs=1e-9) and contact.state == "slip"
    default = ss.Simulation(rod(1 / 3, steep, friction=1.5), "multipoint", 1e-3)
    default.set_state(v=np.array([-1.0, 0, -0.1, 0, 0, 0]))
    default.step()
    assert default.report.converged and np.isfinite(default.v).all()


def forces_after(scene, method, steps, dense_rows, monkeypatch):
    monkeypatch.setattr("sesshoku.methods.multipoint.work.DENSE_ROWS", dense_rows)
    sim = ss.Simulation(scene, method, 1e-3)
    assert sim.records["memory"].dense_rows == dense_rows
    sim.step(steps)
    return np.array([contact.force for contact in sim.contacts]), sim


@pytest.mark.boundscheck
@pytest.mark.parametrize("seed", range(8))
def test_islands_too_large_for_a_matrix_have_the_same_forces(seed, monkeypatch):
    """Conjugate gradients on the rows against the matrix, joint limits and mass ratios included."""
    scene = heap(seed)
    scene.add_body("post", fixed=True)
    scene.add_box(
        "flap",
        size=(0.2, 0.2, 0.2),
        mass=0.3,
        parent="post",
        position=(3, 0, 0.1),
        joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(-0.3, 0, 0.1), lower=-0.01, upper=0.01),
    )
    expected, _ = forces_after(scene, "multipoint", 1, 300, monkeypatch)
    found, sim = forces_after(scene, "multipoint", 1, 1, monkeypatch)
    assert sim.report.converged
    assert found == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    "method", [multipoint(friction_coupling="resolve", stick_target="zero"), "multipoint:recommended"], ids=str
)
def test_friction_that_lags_settles_on_the_same_slide(method, monkeypatch):
    """A slab and a box on it, thrown together: normal forces are the weight, friction slows both alike."""
    scene = crate_on_floor(2.0, static=0.3)
    scene.add_box(
        "upper",
        size=(0.8, 0.8, 0.5),
        mass=2.0,
        position=(0.0, 0.0, 1.25),
        velocity=(2.0, 0, 0),
        material=ss.Material(0.9),
    )
    found, sim = forces_after(scene, method, 100, 1, monkeypatch)
    assert found[:, 2].sum() >= 0.0 and force_between(sim, "ground", "crate")[2] == pytest.approx(3.0 * G, rel=1e-3)
    assert sim.bodies["crate"].velocity[0] == pytest.approx(2.0 - 0.3 * G * 0.1, abs=2e-3)
    assert sim.bodies["upper"].velocity[0] == pytest.approx(sim.bodies["crate"].velocity[0], abs=2e-3)
