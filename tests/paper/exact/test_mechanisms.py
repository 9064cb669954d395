"""Joints beside contacts under `exact`: limits, joint friction, mimics, robots that hold and push things, anchors."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import turntable, wheel

G = 9.8


@pytest.mark.parametrize("dt", [1 / 50, 1 / 200, 1 / 1000])
def test_joint_falls_on_its_limit_and_rests_there(dt):
    """No bounce, nothing beyond the limit, the limit's force is the weight."""
    sim = ss.Simulation(wheel(gravity=(0, 0, -G), kind="prismatic", lower=-0.3, upper=1.0), "exact", dt)
    landed = np.sqrt(0.6 / G) + 2 * dt
    while sim.time < 1.0:
        sim.step()
        assert sim.q[0] >= -0.3 - 1e-12
        if sim.time > landed:
            assert abs(sim.q[0] + 0.3) < 1e-12 and abs(sim.v[0]) < 1e-11
    assert sim.joints["wheel"].limit_force == pytest.approx(2 * G, rel=1e-8)


def test_swinging_arm_ends_on_its_limit_and_leaves_it_again():
    """A pendulum falls on its limit; pulled off it leaves at once (a limit does not hold on)."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("pivot", fixed=True)
    scene.add_body("rod", parent="pivot", inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.08 * np.eye(3)),
                   joint=ss.Joint("revolute", axis=(0, 1, 0), lower=0.2, upper=3.0, position=1.2))
    scene.add_actuator("rod", "torque")
    sim = ss.Simulation(scene, "exact", 2e-3)
    sim.step(1000)
    assert sim.q[0] == pytest.approx(0.2, abs=1e-12) and abs(sim.v[0]) < 1e-11
    load = 0.5 * G * np.sin(0.2)
    assert sim.joints["rod"].limit_force == pytest.approx(load, rel=1e-8)
    sim.actuators["rod"].feed_forward = load + 0.01
    sim.step(1)
    assert sim.v[0] == pytest.approx(0.01 * 2e-3 / (0.08 + 0.25), rel=1e-3)


def rubbing(static, kinetic, torque, velocity=0.0):
    scene = wheel(kind="continuous", static_friction=static, kinetic_friction=kinetic, velocity=velocity)
    scene.add_actuator("wheel", "torque", feed_forward=torque)
    return scene  # inertia 0.5 kg m^2


@pytest.mark.parametrize("kinetic", [2.0, 1.0, 0.0])
def test_joint_friction_holds_and_breaks_away(kinetic):
    held = ss.Simulation(rubbing(2.0, kinetic, 1.9999), "exact", 1e-3)
    held.step(5000)
    assert abs(held.q[0]) < 1e-12 and not held.joints["wheel"].slipping
    moved = ss.Simulation(rubbing(2.0, kinetic, 2.0001), "exact", 1e-3)
    for n in range(200):
        moved.step()
        assert moved.v[0] == pytest.approx((n + 1) * 1e-3 * (2.0001 - kinetic) / 0.5, abs=1e-11)
    assert moved.joints["wheel"].slipping and moved.joints["wheel"].friction_force == pytest.approx(-kinetic, abs=1e-9)


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_joint_friction_stops_a_wheel_exactly(dt):
    """v0^2 I / (2 tau), within the last step's share; then it stands for good. A torque between kinetic and static
    friction does not start it again."""
    speed = 3.00017
    sim = ss.Simulation(rubbing(2.0, 1.0, 0.0, velocity=speed), "exact", dt)
    sim.step(round(1.6 / dt))
    assert sim.q[0] == pytest.approx(speed**2 * 0.5 / 2.0, abs=2.0 * dt**2 / 8 + 1e-12)
    stopped = sim.q[0]
    sim.actuators["wheel"].feed_forward = 1.9
    sim.step(round(2.0 / dt))
    assert abs(sim.q[0] - stopped) < 1e-12 and not sim.joints["wheel"].slipping


@pytest.mark.parametrize("ratio", [1.0, -2.0, 0.3])
def test_mimic_keeps_its_ratio_and_carries_the_inertia(ratio):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    for name in ("motor", "finger"):
        scene.add_body(name, parent="wall", inertial=ss.Inertial(1.0, (0, 0, 0), 0.2 * np.eye(3)),
                       joint=ss.Joint("continuous"))
    scene.add_mimic("finger", "motor", ratio)
    scene.add_actuator("motor", "torque", feed_forward=1.0)
    sim = ss.Simulation(scene, "exact", 1e-2)
    sim.step(100)
    a = 1.0 / (0.2 * (1 + ratio**2))
    assert sim.v[0] == pytest.approx(a, abs=1e-10) and sim.q[0] == pytest.approx(a / 2, abs=1e-10)
    assert sim.q[1] == pytest.approx(ratio * sim.q[0], abs=1e-11)


def arm_with_box(mass, friction=0.8, dt=1e-3, floor=False):
    """The arm in its home pose, gripper down, a box of 4 cm between its fingers; right finger mimics the left one."""
    material = ss.Material(friction)
    scene = ss.Scene(gravity=(0, 0, -G), material=material)
    if floor:
        scene.add_ground()
    scene.load(ss.robots.path("arm_gripper.xml"), pose="home")
    scene.add_box("box", size=(0.04, 0.04, 0.04), mass=mass, position=(0.3969327, 0, 0.345), material=material)
    sim = ss.Simulation(scene, "exact", dt)
    sim.joints["left_finger"].position = 0.02
    sim.joints["right_finger"].position = 0.02
    sim.actuators["left_finger"].target = 0.016  # 4 mm inside the box: 20 N
    return sim


def test_arm_holds_a_box_without_creep():
    """Tree and free body in one island, with limits, servos and a mimic: the box stays where it is in the gripper."""
    sim = arm_with_box(0.5)
    sim.step(1000)

    def in_gripper():
        gripper = sim.bodies["gripper"]
        return gripper.rotation_matrix.T @ (sim.bodies["box"].position - gripper.position)

    start, height = in_gripper(), sim.bodies["box"].position[2]
    for _ in range(2000):
        sim.step()
        assert sim.report.converged and sim.report.residual < 1e-10
    assert np.abs(in_gripper() - start).max() < 1e-9
    assert abs(sim.bodies["box"].position[2] - height) < 1e-6
    forces = [contact for contact in sim.bodies["box"].contacts if contact.normal_force > 0.0]
    lifted = sum(contact.force[2] * (1.0 if contact.bodies[1] == "box" else -1.0) for contact in forces)
    assert lifted == pytest.approx(0.5 * G, rel=1e-6)


def test_arm_lifts_the_box_along():
    """The shoulder turns with the box in the hand; the box keeps its place in the gripper to second order in dt."""
    sim = arm_with_box(0.5)
    sim.step(500)
    gripper, box = sim.bodies["gripper"], sim.bodies["box"]
    start = gripper.rotation_matrix.T @ (box.position - gripper.position)
    unsolved = 0
    for n in range(1000):
        sim.actuators["shoulder_pan"].target = 0.3 * (1 - np.cos(np.pi * n / 1000))
        sim.step()
        unsolved += not sim.report.converged  # eight corners whose gaps contradict each other by micrometres
        assert sim.report.residual < 1e-6
    assert unsolved <= 10
    sim.step(200)
    assert np.abs(gripper.rotation_matrix.T @ (box.position - gripper.position) - start).max() < 1e-5
    assert box.position[1] > 0.15


def test_box_too_heavy_for_the_grip_slides_out():
    sim = arm_with_box(8.0)
    sim.step(600)
    assert sim.bodies["box"].position[2] < 0.2


def anchored_drift(anchor):
    """How far a box on a turntable ends from where it stood on it, m, after two seconds of steps of 10 ms."""
    sim = ss.Simulation(turntable(), ss.methods.exact(anchor=anchor), 1e-2)
    table, box = sim.bodies["table"], sim.bodies["box"]
    start = table.rotation_matrix.T @ (box.position - table.position)
    sim.step(200)
    return np.abs(table.rotation_matrix.T @ (box.position - table.position) - start).max()


def test_anchors_take_back_what_a_sticking_contact_drifts():
    """Velocities are held at second order, and drift adds up; with an anchor it stays where a few steps bring it."""
    free, anchored = anchored_drift(0.0), anchored_drift(0.2)
    assert free < 1e-4 and anchored < 0.1 * free, (free, anchored)


def test_anchors_let_go_of_what_slides_and_rolls():
    """An anchored crate slides and stops as any other; a ball rolls."""
    from sesshoku.experiments.scenes import crate_on_floor

    sim = ss.Simulation(crate_on_floor(9.8), ss.methods.exact(anchor=0.2), 1 / 100)
    sim.step(400)
    assert sim.bodies["crate"].position[0] == pytest.approx(9.8, abs=1e-4)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    scene.add_sphere("ball", radius=0.5, mass=1.0, position=(0, 0, 0.5), velocity=(1, 0, 0), angular_velocity=(0, 2, 0))
    sim = ss.Simulation(scene, ss.methods.exact(anchor=0.2), 1 / 100)
    sim.step(100)
    assert sim.bodies["ball"].position[0] == pytest.approx(1.0, abs=1e-10)
