"""Smooth motion under `exact`: the midpoint rule is of second order, rolling and carrying are exact."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import four_bar, turntable, wheel
from sesshoku.experiments.exact.measures import end_of, smooth_errors
from sesshoku.experiments.exact.scenes import G, double_pendulum, tumbling


def falls_fourfold(scene, sizes, seconds, largest):
    """Halving the step quarters the error of the coordinates against a fine Runge-Kutta run, or better."""
    errors = smooth_errors(scene, sizes, seconds)
    assert errors[0] < largest, errors
    for one, half in pairwise(errors):
        assert half < one / 3.4, errors


def test_double_pendulum_at_second_order():
    falls_fourfold(double_pendulum(), (0.01, 0.005, 0.0025), 2.0, 5e-3)


def test_tumbling_about_the_middle_axis_at_second_order():
    falls_fourfold(tumbling(), (0.02, 0.01, 0.005), 5.0, 6e-3)


@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_sprung_joint_at_second_order(damping):
    """2 kg on 50 N/m, integrated implicitly: x = x0 exp(-g t) (cos w t + g/w sin w t)."""
    rate, errors = damping / 4.0, []
    w = np.sqrt(25.0 - rate**2)
    truth = 0.3 * np.exp(-rate) * (np.cos(w) + rate / w * np.sin(w))
    for dt in (0.02, 0.01, 0.005):
        scene = wheel(kind="prismatic", stiffness=50.0, viscous=damping, position=0.3)
        errors.append(abs(end_of(scene, "exact", dt, 1.0)[0] - truth))
    assert errors[0] < 2e-3 and errors[1] < errors[0] / 3.8 and errors[2] < errors[1] / 3.8


def test_stiff_servo_is_stable_and_second_order():
    """A position servo, inertia 0.5 kg m^2, kp 200, kd 6; and one far too stiff for the step, which must not grow."""

    def servo(kp, kd, dt):
        scene = wheel(kind="continuous", position=0.2)
        scene.add_actuator("wheel", "position", kp=kp, kd=kd, target=0.5)
        return end_of(scene, "exact", dt, 0.6)[0]

    rate = 6.0 / (2 * 0.5)
    w = np.sqrt(200.0 / 0.5 - rate**2)
    truth = 0.5 - 0.3 * np.exp(-rate * 0.6) * (np.cos(0.6 * w) + rate / w * np.sin(0.6 * w))
    errors = [abs(servo(200.0, 6.0, dt) - truth) for dt in (0.01, 0.005, 0.0025)]
    assert errors[0] < 1e-2 and errors[1] < errors[0] / 3.5 and errors[2] < errors[1] / 3.5
    assert abs(servo(1e8, 1e4, 0.01) - 0.5) <= 0.31


def test_four_bar_stays_closed_and_swings_right():
    """The loop's gap stays at rounding; the swing is that of the pendulum it is, at second order."""
    angles = []
    for dt in (0.01, 0.005, 0.0025):
        sim = ss.Simulation(four_bar("ball", speed=2.0), "exact", dt)
        for _ in range(round(2.0 / dt)):
            sim.step()
            assert sim.report.converged and sim.report.loop_error < 1e-10
        angles.append(sim.q[0])
    assert abs(angles[2] - angles[1]) < abs(angles[1] - angles[0]) / 3.4 < 1e-3


def crooked_four_bar():
    """Cranks of 0.5 and 1 m, pivots 1 m apart, let go at rest: a loop whose members turn at different rates."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("frame", fixed=True)
    scene.add_box("left", size=(0.05, 0.05, 0.5), mass=1.0, parent="frame", position=(0, 0, -0.25),
                  joint=ss.Joint("continuous", axis=(0, 1, 0), anchor=(0, 0, 0.25)))
    scene.add_box("right", size=(0.05, 0.05, 1), mass=1.0, parent="frame", position=(1, 0, -0.5),
                  joint=ss.Joint("continuous", axis=(0, 1, 0), anchor=(0, 0, 0.5)))
    length, turn = np.hypot(1, 0.5), 0.5 * np.arctan2(0.5, 1)
    scene.add_box("coupler", size=(length, 0.05, 0.05), mass=1.0, parent="left", position=(0.5, 0, -0.5),
                  rotation=(np.cos(turn), 0, np.sin(turn), 0),
                  joint=ss.Joint("continuous", axis=(0, 1, 0), anchor=(-length / 2, 0, 0)))
    scene.add_loop("ball", "coupler", "right", position=(length / 2, 0, 0))
    return scene


def test_crooked_four_bar_stays_closed_and_moves_at_second_order():
    ends, gaps = [], []
    for dt in (0.01, 0.005, 0.0025):
        sim, gap = ss.Simulation(crooked_four_bar(), "exact", dt), 0.0
        for _ in range(round(1.0 / dt)):
            sim.step()
            gap = max(gap, sim.report.loop_error)
        ends.append(sim.q.copy())
        gaps.append(gap)
    assert max(gaps) < 1e-10, gaps
    assert np.abs(ends[2] - ends[1]).max() < np.abs(ends[1] - ends[0]).max() / 3.6 < 1e-4


def test_box_on_a_turntable_keeps_its_place_at_second_order():
    """A body that friction swings around: the corners' own turning within the step counts."""
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        sim = ss.Simulation(turntable(), "exact", dt)
        table, box = sim.bodies["table"], sim.bodies["box"]
        start = table.rotation_matrix.T @ (box.position - table.position)
        sim.step(round(0.5 / dt))
        errors.append(np.abs(table.rotation_matrix.T @ (box.position - table.position) - start).max())
    assert errors[0] < 2e-5 and errors[1] < errors[0] / 3.6 and errors[2] < errors[1] / 3.6, errors


def ball_on(slope, velocity=(0, 0, 0), spin=(0, 0, 0)):
    scene = ss.Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    scene.add_ground()
    scene.add_sphere("ball", radius=0.5, mass=2.0, position=(0, 0, 0.5), velocity=velocity, angular_velocity=spin)
    return scene


@pytest.mark.parametrize("dt", [1 / 50, 1 / 1000])
def test_ball_rolls_down_an_incline(dt):
    """a = 5/7 g sin, v = w r: rolling contact is exact, friction does no work."""
    sim = ss.Simulation(ball_on(0.3), "exact", dt)
    sim.step(round(1.0 / dt))
    ball, a = sim.bodies["ball"], 5 / 7 * G * np.sin(0.3)
    assert ball.velocity[0] == pytest.approx(a, abs=1e-11) and ball.position[0] == pytest.approx(a / 2, abs=1e-11)
    assert ball.velocity[0] == pytest.approx(0.5 * ball.angular_velocity[1], abs=1e-11)
    assert abs(ball.position[2] - 0.5) < 1e-11


def test_thrown_ball_skids_then_rolls_with_five_sevenths():
    sim = ss.Simulation(ball_on(0.0, velocity=(7, 0, 0)), "exact", 1 / 200)
    sim.step(80)  # skids for 2 v / (7 mu g) = 0.408 s
    assert sim.bodies["ball"].velocity[0] == pytest.approx(7 - 0.5 * G * 0.4, abs=1e-11)
    sim.step(200)
    assert sim.bodies["ball"].velocity[0] == pytest.approx(5.0, abs=1e-11)
    assert sim.bodies["ball"].angular_velocity[1] == pytest.approx(10.0, abs=1e-11)


def test_belt_carries_a_box():
    """It gains the belt's speed with mu g, then rides along without slipping."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_box("belt", size=(40, 2, 0.2), position=(0, 0, -0.1), kinematic=True, velocity=(1, 0, 0))
    scene.add_box("box", size=(0.5, 0.5, 0.5), mass=3.0, position=(0, 0, 0.25))
    sim = ss.Simulation(scene, "exact", 1 / 50)
    sim.step(5)
    assert sim.bodies["box"].velocity[0] == pytest.approx(0.5 * G * 0.1, abs=1e-11)
    sim.step(95)
    assert sim.bodies["box"].velocity[0] == pytest.approx(1.0, abs=1e-11)
    assert sim.bodies["box"].position[0] == pytest.approx(2.0 - 1.0 / G, abs=0.5 * G / 50**2 / 8)
    assert abs(sim.bodies["box"].position[2] - 0.25) < 1e-11


def test_shaking_floor_carries_a_box_at_second_order():
    """A scripted floor that rises and shakes: the box neither slides nor leaves it, but for errors of second order."""
    errors = []
    for dt in (1 / 50, 1 / 100, 1 / 200):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_box("floor", size=(4, 4, 0.2), kinematic=True, motion=lambda t: (
            (0.05 * np.sin(3 * t), 0, -0.1 + 0.1 * np.sin(4 * t)), (1, 0, 0, 0)))
        scene.add_box("box", size=(0.5, 0.5, 0.5), mass=3.0, position=(0, 0, 0.25), velocity=(0.15, 0, 0.4))
        sim, worst = ss.Simulation(scene, "exact", dt), 0.0
        for _ in range(round(2.0 / dt)):
            sim.step()
            apart = sim.bodies["box"].position - sim.bodies["floor"].position - [0, 0, 0.35]
            worst = max(worst, float(np.abs(apart).max()))
        errors.append(worst)
    assert errors[0] < 3e-4 and errors[1] < errors[0] / 3.5 and errors[2] < errors[1] / 3.5, errors
