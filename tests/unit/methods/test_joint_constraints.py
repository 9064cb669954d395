"""Joint limits, Coulomb friction and mimics against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import INTEGRATORS, pendulum, simulate, wheel

INERTIA = 0.5  # of the wheel


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_resting_on_a_limit(integrator: str, side: float) -> None:
    """A rod pulled sideways swings onto its limit and rests there for ten seconds on exactly the load."""
    scene = pendulum(length=0.5, mass=1.0, lower=-0.3, upper=0.3, position=-0.2 * side)
    scene.gravity = (-9.8 * side, 0, 0)  # positive turns swing it towards -x
    sim = simulate(scene, integrator)
    sim.step(2_000)
    settled = sim.q[0]
    assert settled == pytest.approx(0.3 * side, abs=1e-5)
    for _ in range(10):
        sim.step(1_000)
        load = 9.8 * 0.5 * np.cos(sim.q[0])
        assert sim.joints["rod"].limit_force == pytest.approx(-side * load, rel=1e-6)
        assert abs(sim.q[0] - settled) < 1e-7 and abs(sim.v[0]) < 1e-8
        assert sim.report.converged and sim.report.limit_violation < 1e-5
    # let go: the force ends with the touch
    sim.joints["rod"].position = 0.0
    sim.step()
    assert sim.joints["rod"].limit_force == 0.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constant_load_on_a_limit_is_met_exactly(integrator: str) -> None:
    sim = simulate(wheel(gravity=(0, 0, -9.8), kind="prismatic", lower=-0.1, upper=1.0), integrator)
    sim.step(3_000)
    assert sim.joints["wheel"].limit_force == pytest.approx(2 * 9.8, rel=1e-6)
    assert sim.q[0] == pytest.approx(-0.1, abs=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_stop_without_bouncing(integrator: str) -> None:
    """An impact ends at rest on the limit; the impulse takes the kinetic energy and gives none back."""
    for start in (0.0, 0.0003, 0.0007):  # where in the step it arrives
        sim = simulate(wheel(lower=-0.1, upper=1.0, position=start, velocity=-1.0), integrator)
        lost = 0.0
        for _ in range(1_000):
            sim.step()
            lost += sim.report.energy_change
            assert sim.report.energy_change < 1e-12
            assert sim.q[0] > -0.1 - 1.1e-3  # never deeper than one step's way
        # Runge-Kutta spreads the impulse over the step and so ends up to half a step's way from the limit
        assert sim.q[0] == pytest.approx(-0.1, abs=5.1e-4 if integrator.startswith("rk") else 1e-9)
        assert abs(sim.v[0]) < 1e-8
        assert lost == pytest.approx(-0.5 * INERTIA, rel=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_joint_beyond_its_limit_comes_back_at_no_speed(integrator: str) -> None:
    """A state set outside the limits must not shoot the joint off."""
    sim = simulate(wheel(lower=0.4, upper=2.0), integrator)
    sim.set_state(q=[0.0])
    sim.step()
    assert sim.report.limit_violation == pytest.approx(0.4)
    sim.step(200)
    assert sim.q[0] == pytest.approx(0.4, abs=1e-9) and sim.v[0] == 0.0 and sim.joints["wheel"].limit_force == 0.0


@pytest.mark.parametrize("pull", [9.8, -9.8])
def test_equal_limits_lock_a_joint(pull: float) -> None:
    sim = simulate(wheel(gravity=(0, 0, pull), kind="prismatic", lower=0.2, upper=0.2, position=0.2))
    sim.step(2_000)
    assert sim.q[0] == pytest.approx(0.2, abs=1e-9)
    assert sim.joints["wheel"].limit_force == pytest.approx(-2 * pull, rel=1e-6)


def test_limits_of_several_joints_share_a_load() -> None:
    """A chain that hangs on two limits: torque statics about each joint."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    for name, parent, place in (("upper", "wall", 0.0), ("lower", "upper", 1.0)):
        scene.add_body(name, parent=parent, position=(place, 0, 0),
                       joint=ss.Joint("revolute", axis=(0, 1, 0), lower=-1.0, upper=0.0),
                       inertial=ss.Inertial(1.0, (0.5, 0, 0), 0.1 * np.eye(3)))
    sim = simulate(scene)
    sim.step(2_000)
    assert sim.joints["lower"].limit_force == pytest.approx(-9.8 * 0.5, rel=1e-6)
    assert sim.joints["upper"].limit_force == pytest.approx(-9.8 * (0.5 + 1.5), rel=1e-6)
    np.testing.assert_allclose(sim.q, 0.0, atol=1e-9)


# ---- Coulomb friction ------------------------------------------------------------------------------------------------


def rubbing(static: float, kinetic: float, torque: float = 0.0, **joint: Any) -> ss.Scene:
    scene = wheel(static_friction=static, kinetic_friction=kinetic, **joint)
    scene.add_actuator("wheel", "torque", feed_forward=torque)
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_static_friction_holds_below_its_torque_and_lets_go_above(integrator: str, sign: float) -> None:
    sim = simulate(rubbing(2.0, 1.0, 1.999 * sign), integrator)
    sim.step(10_000)
    assert abs(sim.q[0]) < 1e-9 and abs(sim.v[0]) < 1e-12 and not sim.joints["wheel"].slipping
    assert sim.joints["wheel"].friction_force == pytest.approx(-1.999 * sign, rel=1e-6)
    sim = simulate(rubbing(2.0, 1.0, 2.001 * sign), integrator)
    sim.step(1_000)
    assert sim.joints["wheel"].slipping and sim.joints["wheel"].friction_force == pytest.approx(-sign)
    assert sim.v[0] == pytest.approx(sign * (2.001 - 1.0) / INERTIA, rel=1e-9)  # kinetic from the first step on


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_friction_stops_a_wheel_exactly_and_keeps_it(integrator: str) -> None:
    """It stops after v0 I / tau at v0^2 I / (2 tau), to first order in dt, and then stands still for good."""
    speed, torque = 3.0001, 1.0
    errors = []
    for dt in (1e-3, 5e-4):
        sim = simulate(rubbing(2.0, torque, velocity=speed), integrator, dt)
        sim.step(round(1.4999 / dt))
        assert sim.joints["wheel"].slipping and sim.v[0] > 0.0
        sim.step(round(0.01 / dt))
        stopped = sim.q[0]
        errors.append(abs(stopped - speed**2 * INERTIA / (2 * torque)))
        for _ in range(50):
            sim.step(20)
            assert abs(sim.v[0]) < 1e-12 and not sim.joints["wheel"].slipping
        assert abs(sim.q[0] - stopped) < 1e-12
        assert abs(sim.joints["wheel"].friction_force) < 1e-9
    assert errors[0] < 2 * speed * 1e-3 and errors[1] < 0.6 * errors[0]


def test_friction_turns_round_with_the_motion() -> None:
    """A sprung wheel loses 4 tau per half swing and ends anywhere within tau/k of rest."""
    stiffness, torque = 20.0, 0.5
    sim = simulate(rubbing(torque, torque, stiffness=stiffness, position=0.3), dt=1e-4)
    half = round(np.pi * np.sqrt(INERTIA / stiffness) / 1e-4)
    sim.step(half)  # amplitude shrinks by 2 tau/k each half swing
    assert sim.q[0] == pytest.approx(-(0.3 - 2 * torque / stiffness), abs=1e-3)
    sim.step(10 * half)
    assert abs(sim.v[0]) < 1e-12 and abs(sim.q[0]) <= torque / stiffness + 1e-9
    assert sim.joints["wheel"].friction_force == pytest.approx(stiffness * sim.q[0], abs=1e-6)


def test_it_sticks_again_only_where_static_friction_can_hold() -> None:
    """Torque between kinetic and static: moving it accelerates on, at rest it stays at rest."""
    moving = simulate(rubbing(2.0, 1.0, 1.5, velocity=0.1))
    moving.step(1_000)
    assert moving.v[0] == pytest.approx(0.1 + 0.5 / INERTIA, rel=1e-6)
    backing = simulate(rubbing(2.0, 1.0, 1.5, velocity=-0.1))  # brakes, stops, and static friction keeps it there
    backing.step(1_000)
    assert abs(backing.v[0]) < 1e-12 and not backing.joints["wheel"].slipping


def test_friction_of_every_axis_of_a_spherical_joint() -> None:
    scene = wheel(kind="spherical", static_friction=0.3, velocity=(1, -2, 0.5))
    sim = simulate(scene)
    sim.step(4_000)  # the fastest axis stops after 2 / (0.3 / 0.5) s
    np.testing.assert_allclose(sim.v, 0.0, atol=1e-12)
    sim = simulate(scene)
    sim.step(100)
    np.testing.assert_allclose(sim.joints["wheel"].friction_force, [-0.3, 0.3, -0.3], rtol=1e-9)


def test_friction_and_limit_act_together() -> None:
    """The limit carries what friction does not: load 19.6 N, friction 5 N."""
    sim = simulate(wheel(gravity=(0, 0, -9.8), kind="prismatic", lower=-0.01, upper=1.0, static_friction=5.0))
    sim.step(2_000)
    total = sim.joints["wheel"].limit_force + sim.joints["wheel"].friction_force
    assert total == pytest.approx(2 * 9.8, rel=1e-6)
    assert abs(sim.v[0]) < 1e-10 and abs(sim.joints["wheel"].friction_force) <= 5.0 + 1e-9


# ---- mimics ----------------------------------------------------------------------------------------------------------


def geared(ratio: float, offset: float = 0.0, start: float = 0.0) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    for name in ("motor", "finger"):
        scene.add_body(name, parent="wall", inertial=ss.Inertial(1.0, (0, 0, 0), np.diag([0.2, 0.2, 0.2])),
                       joint=ss.Joint("revolute", position=start if name == "finger" else 0.0))
    scene.add_mimic("finger", "motor", ratio, offset)
    scene.add_actuator("motor", "torque", feed_forward=1.0)
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("ratio", [1.0, -2.0, 0.3])
def test_mimic_keeps_its_ratio_and_carries_the_inertia(integrator: str, ratio: float) -> None:
    """Acceleration of the motor: torque / (I + ratio^2 I)."""
    sim = simulate(geared(ratio), integrator)
    sim.step(2_000)
    assert sim.v[0] == pytest.approx(2.0 / (0.2 * (1 + ratio**2)), rel=1e-9)
    assert sim.v[1] == pytest.approx(ratio * sim.v[0], rel=1e-9)
    assert sim.q[1] == pytest.approx(ratio * sim.q[0], abs=1e-5 if integrator.startswith("rk") else 1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_mimic_offset_is_taken_up(integrator: str) -> None:
    sim = simulate(geared(2.0, offset=0.1), integrator)
    sim.step(500)
    assert sim.q[1] - 2 * sim.q[0] == pytest.approx(0.1, abs=1e-5 if integrator.startswith("rk") else 1e-8)


def test_mimic_across_trees_and_in_a_chain() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    for name in "abc":
        scene.add_body(name, joint=ss.Joint("revolute"), inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3)))
    scene.add_mimic("b", "a", 2.0)
    scene.add_mimic("c", "b", -1.5)
    scene.add_actuator("c", "torque", feed_forward=1.0)
    sim = simulate(scene)
    sim.step(1_000)
    assert sim.v[0] == pytest.approx(-3.0 / (1 + 4 + 9), rel=1e-9)
    np.testing.assert_allclose(sim.q, sim.q[0] * np.array([1, 2, -3]), atol=1e-9)
