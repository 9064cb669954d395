"""Motion without contact: pushes and scripted bodies against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sesshoku as ss
from mechanisms import INTEGRATORS, pendulum, simulate, slope

FINE = {"rtol": 1e-13, "atol": 1e-13, "method": "DOP853"}


# ---- pushes ----------------------------------------------------------------------------------------------------------


def free_box(**options: Any) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("box", inertial=ss.Inertial(2.0, (0.3, 0, 0), np.diag([0.5, 0.5, 0.5])), **options)
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_push_at_the_centre_of_mass(integrator: str) -> None:
    sim = simulate(free_box(position=(1, 2, 3)), integrator)
    sim.apply_force("box", (4, 0, -6))
    sim.step(1000)
    np.testing.assert_allclose(sim.bodies["box"].velocity, [2, 0, -3], rtol=1e-12)
    np.testing.assert_allclose(sim.bodies["box"].angular_velocity, 0, atol=1e-12)
    sim.step(1000)  # it was held through one call only
    np.testing.assert_allclose(sim.bodies["box"].velocity, [2, 0, -3], rtol=1e-12)
    assert not sim.data.external_force.any()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_push_at_a_point_and_torque(integrator: str) -> None:
    """One step from rest: v = F dt/m, w = (r x F + torque) dt / I."""
    sim = simulate(free_box(position=(1, 2, 3)), integrator)
    sim.apply_force("box", (0, 4, 0), torque=(1, 0, 0), point=(2.3, 2, 3))
    sim.apply_force("box", (0, 0, 2))  # adds up
    sim.step()
    np.testing.assert_allclose(sim.bodies["box"].center_of_mass_velocity, [0, 2e-3, 1e-3], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(sim.bodies["box"].angular_velocity, [2e-3, 0, 8e-3], rtol=1e-5, atol=1e-12)


# ---- scripted bodies -------------------------------------------------------------------------------------------------


def swinging_pivot(time: float, amplitude: float, frequency: float) -> float:
    """Angle of a pendulum (m = 1, l = 0.5, I = 0.02) whose pivot moves along x by A sin(w t)."""
    inertia = 0.02 + 0.25

    def rate(t: float, y: np.ndarray) -> list[float]:
        push = -amplitude * frequency**2 * np.sin(frequency * t)
        return [y[1], -0.5 * (9.8 * np.sin(y[0]) - push * np.cos(y[0])) / inertia]

    return float(solve_ivp(rate, (0, time), [0.4, 0.0], **FINE).y[0, -1])


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_a_script_carries_a_pendulum(integrator: str) -> None:
    """Positive turns about y swing the rod towards -x, so a pivot pushed along +x pushes the angle up."""
    amplitude, frequency = 0.2, 5.0
    wanted, errors, sizes = swinging_pivot(2.0, amplitude, frequency), [], [4e-3, 2e-3, 1e-3]
    for dt in sizes:
        scene = pendulum(position=0.4, parent={
            "kinematic": True, "motion": lambda t: ((amplitude * np.sin(frequency * t), 0, 0), (1, 0, 0, 0))})
        sim = simulate(scene, integrator, dt)
        sim.step(round(2 / dt))
        errors.append(abs(sim.q[0] - wanted))
        assert sim.bodies["pivot"].position[0] == pytest.approx(amplitude * np.sin(frequency * 2), abs=1e-12)
    assert errors[-1] < 5e-3 and abs(slope(sizes, errors) - 1.0) < 0.3


def test_a_turning_script_carries_by_its_centripetal_acceleration() -> None:
    """A bob on an arm that turns steadily hangs outward: tan(a) = w^2 (R + l sin a) / g."""
    w, R, l = 4.0, 0.3, 0.5
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("arm", kinematic=True, motion=lambda t: ((0, 0, 0), (np.cos(w * t / 2), 0, 0, np.sin(w * t / 2))))
    scene.add_body("bob", parent="arm", position=(R, 0, 0), joint=ss.Joint("revolute", axis=(0, -1, 0), viscous=0.5),
                   inertial=ss.Inertial(1.0, (0, 0, -l), 1e-9 * np.eye(3)))
    sim = simulate(scene)
    sim.step(20_000)
    a = sim.q[0]
    assert 0.5 < a < 1.5 and abs(sim.v[0]) < 1e-6
    assert 9.8 * np.sin(a) == pytest.approx(w**2 * (R + l * np.sin(a)) * np.cos(a), rel=1e-4)


def test_constant_velocity_and_set_velocity() -> None:
    scene = ss.Scene()
    scene.add_body("belt", kinematic=True, position=(1, 0, 0), velocity=(0.5, 0, 0), angular_velocity=(0, 0, np.pi))
    scene.add_body("mark", parent="belt", position=(1, 0, 0))
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        sim.step(500)
        np.testing.assert_allclose(sim.bodies["belt"].position, [1.25, 0, 0], atol=1e-12)
        np.testing.assert_allclose(sim.bodies["mark"].position, [1.25, 1, 0], atol=1e-11)
        np.testing.assert_allclose(sim.bodies["mark"].velocity, [0.5 - np.pi, 0, 0], atol=1e-10)
        sim.bodies["belt"].set_velocity((0, 0, 1), (0, 0, 0))
        sim.bodies["belt"].set_pose((0, 0, 0), (1, 0, 0, 0))
        sim.step(1000)
        np.testing.assert_allclose(sim.bodies["mark"].position, [1, 0, 1], atol=1e-11)


def test_a_box_falls() -> None:
    """Free fall: z = -g t^2/2 (fourth order: exact; first order: off by g t dt/2)."""
    for integrator, late in (("rk4", 0.0), ("rkg", 0.0), ("semi-implicit", 1.0), ("euler", -1.0)):
        scene = free_box()
        scene.gravity = (0, 0, -9.8)
        sim = simulate(scene, integrator)
        sim.step(1000)
        assert sim.bodies["box"].position[2] == pytest.approx(-4.9 - late * 4.9e-3, rel=1e-10)
