"""Motion without contact against closed forms and tight solutions of its equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sesshoku as ss
from mechanisms import INTEGRATORS, four_bar, pendulum, simulate, slope, wheel
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix, rotation_vector

ORDER = {"semi-implicit": (1.0, 0.2), "euler": (1.0, 0.2), "rk4": (4.0, 0.4), "rkg": (4.0, 0.4)}
FINE = {"rtol": 1e-13, "atol": 1e-13, "method": "DOP853"}


# ---- free tumbling ---------------------------------------------------------------------------------------------------

MOMENTS = np.array([1.0, 2.0, 3.0])
SPIN = np.array([0.1, 4.0, 0.1])  # about the unstable middle axis


def tumbling(time: float) -> np.ndarray:
    """Quaternion after `time` by Euler's equations."""
    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, w = y[:4], y[4:]
        return np.concatenate([0.5 * multiply(q, np.array([0.0, *w])), -np.cross(w, MOMENTS * w) / MOMENTS])

    return solve_ivp(rate, (0, time), [1, 0, 0, 0, *SPIN], **FINE).y[:4, -1]


def tumble(integrator: str, dt: float, time: float) -> tuple[float, float, float]:
    """Orientation error (rad), relative change of energy and of angular momentum."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("rock", inertial=ss.Inertial(1.0, (0, 0, 0), np.diag(MOMENTS)), angular_velocity=SPIN)
    sim = simulate(scene, integrator, dt)
    energy, momentum = sim.energy[0], sim.momentum()[3:]
    sim.step(round(time / dt))
    turn = sim.bodies["rock"].rotation_matrix @ quaternion_to_matrix(tumbling(time)).T
    lost = np.linalg.norm(sim.momentum()[3:] - momentum) / np.linalg.norm(momentum)
    return float(np.linalg.norm(rotation_vector(turn))), abs(sim.energy[0] / energy - 1), float(lost)


@pytest.mark.parametrize("integrator", ["rk4", "rkg"])
def test_tumbling_for_ten_seconds(integrator: str) -> None:
    orientation, energy, momentum = tumble(integrator, 1e-3, 10.0)
    assert orientation < 1e-6 and energy < 1e-10 and momentum < 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_errors_shrink_at_the_schemes_order(integrator: str) -> None:
    """Orientation, energy and momentum of the tumbling body."""
    sizes, time = ([2e-3, 1e-3, 5e-4, 2.5e-4], 1.0) if ORDER[integrator][0] == 1 else ([0.04, 0.02, 0.01, 0.005], 2.0)
    errors = np.array([tumble(integrator, dt, time) for dt in sizes])
    order, margin = ORDER[integrator]
    if integrator == "semi-implicit":  # a lone free body turns by the midpoint rule: second order, nothing drifts
        assert abs(slope(sizes, errors[:, 0]) - 2.0) < margin
        assert errors[:, 1:].max() < 1e-11
        return
    assert abs(slope(sizes, errors[:, 0]) - order) < margin
    for drift in errors[:, 1:].T:  # what a scheme keeps by chance may drift slower
        assert slope(sizes, drift) > order - margin


# ---- the double pendulum of two boxes, 2 x 2 x 6 m, 5 kg -------------------------------------------------------------


def double_pendulum(friction: float = 0.0) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("base", fixed=True)
    for name, parent, place, start in (("upper", "base", -2, np.pi / 4), ("lower", "upper", -4, 0.0)):
        scene.add_box(name, size=(2, 2, 6), mass=5.0, parent=parent, position=(0, 0, place),
                      joint=ss.Joint("continuous", axis=(1, 0, 0), anchor=(0, 0, 2), position=start,
                                     static_friction=friction))
    return scene


def boxes(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias of the relative angles, written down from the absolute ones."""
    m, g, s, l, I = 5.0, 9.8, 2.0, 4.0, 5.0 / 12 * (4 + 36)
    to_absolute = np.array([[1.0, 0], [1, 1]])
    (a, c), (w1, w2) = to_absolute @ q, to_absolute @ v
    cross = m * l * s * np.cos(c - a)
    M = np.array([[I + m * s * s + m * l * l, cross], [cross, I + m * s * s]])
    swing = m * l * s * np.sin(c - a)
    h = np.array([-swing * w2**2 + (m * s + m * l) * g * np.sin(a), swing * w1**2 + m * g * s * np.sin(c)])
    return to_absolute.T @ M @ to_absolute, to_absolute.T @ h


@pytest.mark.parametrize("integrator", ["rk4", "rkg"])
def test_double_pendulum_without_friction(integrator: str) -> None:
    def rate(_: float, y: np.ndarray) -> np.ndarray:
        H, h = boxes(y[:2], y[2:])
        return np.concatenate([y[2:], np.linalg.solve(H, -h)])

    sim = simulate(double_pendulum(), integrator)
    energy = sum(sim.energy)
    sim.step(10_000)
    wanted = solve_ivp(rate, (0, 10), [np.pi / 4, 0, 0, 0], **FINE).y[:2, -1]
    assert np.abs(sim.q - wanted).max() < 1e-6
    assert abs(sum(sim.energy) - energy) < 1e-9 * abs(energy)


class RubbingPendulum:
    """The double pendulum with Coulomb friction in both joints, solved from event to event (stick, slip, turn)."""

    def __init__(self, friction: float) -> None:
        self.friction = friction

    def accelerate(self, q: np.ndarray, v: np.ndarray, mode: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and friction torques; mode 0: the joint sticks, +-1: it slips that way."""
        H, h = boxes(q, v)
        slips = np.array(mode) != 0
        torque, a = -self.friction * np.array(mode, dtype=float), np.zeros(2)
        if slips.any():
            a[slips] = np.linalg.solve(H[np.ix_(slips, slips)], (torque - h)[slips])
        return a, np.where(slips, torque, H @ a + h)

    def next_mode(self, q: np.ndarray, v: np.ndarray) -> tuple[int, int]:
        """The one mode whose accelerations and torques agree with it."""
        choices = [(int(np.sign(x)),) if abs(x) > 1e-9 else (0, 1, -1) for x in v]
        for mode in ((i, j) for i in choices[0] for j in choices[1]):
            a, torque = self.accelerate(q, v, mode)
            fits = [abs(v[n]) > 1e-9 or (abs(torque[n]) <= self.friction if mode[n] == 0 else a[n] * mode[n] > 0)
                    for n in range(2)]
            if all(fits):
                return mode
        raise AssertionError("no mode fits")

    def solve(self, time: float) -> tuple[np.ndarray, int]:
        """Angles at `time`, and how many events there were on the way."""
        t, y, events = 0.0, np.array([np.pi / 4, 0.0, 0.0, 0.0]), 0
        while t < time:
            mode = self.next_mode(y[:2], y[2:])

            def rate(_: float, z: np.ndarray, mode: tuple[int, int] = mode) -> np.ndarray:
                return np.concatenate([z[2:], self.accelerate(z[:2], z[2:], mode)[0]])

            done = solve_ivp(rate, (t, time), y, events=[self.event(n, mode, t) for n in range(2)], **FINE)
            t, y = done.t[-1], done.y[:, -1]
            y[2:][np.abs(y[2:]) < 1e-9] = 0.0
            events += 1
        return y[:2], events

    def event(self, n: int, mode: tuple[int, int], start: float) -> Callable[[float, np.ndarray], float]:
        def value(t: float, y: np.ndarray) -> float:
            if t < start + 1e-7:
                return 1.0
            if mode[n] != 0:
                return float(y[2 + n] * mode[n])
            return float(self.friction - abs(self.accelerate(y[:2], y[2:], mode)[1][n]))

        value.terminal, value.direction = True, -1  # type: ignore[attr-defined]
        return value


def test_double_pendulum_with_joint_friction_converges_at_first_order() -> None:
    wanted, events = RubbingPendulum(0.3).solve(10.0)
    assert events > 5  # the joints turn round several times
    sizes = [8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
    for integrator, most in (("semi-implicit", 1e-3), ("euler", 1e-1), ("rk4", 1e-5), ("rkg", 1e-5)):
        errors = []
        for dt in sizes:
            sim = simulate(double_pendulum(0.3), integrator, dt)
            sim.step(round(10 / dt))
            errors.append(np.abs(sim.q - wanted).max())
        assert errors[3] < most, integrator
        # where in a step a joint turns round changes single errors, so the trend over seven halvings counts
        assert abs(slope(sizes, errors) - 1.0) < (0.1 if most > 1e-4 else 0.25), integrator


# ---- springs and servos ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_spring_and_damper_closed_form(integrator: str) -> None:
    """q = e^(-d t) (cos w t + d/w sin w t), the damped oscillator from rest at 1."""
    inertia, stiffness, viscous, dt, time = 0.5, 8.0, 0.4, 1e-4, 3.0
    sim = simulate(wheel(stiffness=stiffness, viscous=viscous, rest=0.2, position=1.2), integrator, dt)
    sim.step(round(time / dt))
    decay = viscous / (2 * inertia)
    w = np.sqrt(stiffness / inertia - decay**2)
    wanted = 0.2 + np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
    assert abs(sim.q[0] - wanted) < (1e-11 if integrator.startswith("rk") else 10 * dt)


def test_spring_period() -> None:
    """Undamped: after one period 2 pi sqrt(I/k) it is back where it was, at rest."""
    period = 2 * np.pi * np.sqrt(0.5 / 8.0)
    sim = simulate(wheel(stiffness=8.0, position=1.0), "rk4", period / 1000)
    sim.step(1000)
    assert abs(sim.q[0] - 1.0) < 1e-9 and abs(sim.v[0]) < 1e-8


def test_implicit_springs_and_servos_are_stable_at_any_gain() -> None:
    """k dt^2 / I = 10^4: far beyond what an explicit step bears (4)."""
    dt, stiff = 1e-2, 1e4 * 0.5 / 1e-4
    for joint, actuator in (({"stiffness": stiff}, None), ({"stiffness": stiff, "viscous": 1e6}, None),
                            ({}, {"kp": stiff}), ({}, {"kp": stiff, "kd": 1e3})):
        scene = wheel(position=1.0, **joint)
        if actuator:
            scene.add_actuator("wheel", "position", **actuator)
        sim = simulate(scene, dt=dt)
        largest = 0.0
        for _ in range(500):
            sim.step()
            largest = max(largest, abs(sim.q[0]))
        assert largest <= 1.0 and abs(sim.q[0]) < 1e-3
    with pytest.raises(ss.SimulationDiverged):
        simulate(wheel(stiffness=stiff, position=1.0, implicit=False), dt=dt).step(1000)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_position_servo_sags_by_load_over_gain(integrator: str) -> None:
    scene = pendulum(length=0.5, mass=1.0, viscous=0.05)
    scene.add_actuator("rod", "position", kp=50.0, kd=5.0, target=1.0)
    sim = simulate(scene, integrator)
    sim.step(8_000)
    load = 9.8 * 0.5 * np.sin(sim.q[0])
    assert sim.q[0] == pytest.approx(1.0 - load / 50.0, abs=1e-9) and abs(sim.v[0]) < 1e-9
    assert sim.actuators["rod"].force == pytest.approx(load, rel=1e-8)


def test_feed_forward_removes_the_sag() -> None:
    scene = pendulum()
    scene.add_actuator("rod", "position", kp=50.0, kd=5.0, target=1.0, feed_forward=9.8 * 0.5 * np.sin(1.0))
    sim = simulate(scene)
    sim.step(8_000)
    assert sim.q[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_torque_gear_and_effort(integrator: str) -> None:
    """Constant acceleration by gear * clipped torque / inertia."""
    scene = wheel(effort=100.0)
    scene.add_actuator("wheel", "torque", gear=5.0, effort=0.2, feed_forward=3.0)
    sim = simulate(scene, integrator)
    sim.step(1000)
    assert sim.v[0] == pytest.approx(5 * 0.2 / 0.5, rel=1e-12) and sim.actuators["wheel"].force == pytest.approx(1.0)


def test_velocity_servo_reaches_its_speed_at_its_rate() -> None:
    """v = v* (1 - e^(-kd t / I)), implicit: (1 + dt kd/I)^-n."""
    scene = wheel()
    scene.add_actuator("wheel", "velocity", kd=2.0, target_velocity=3.0)
    sim = simulate(scene)
    sim.step(500)
    assert sim.v[0] == pytest.approx(3 * (1 - (1 + 1e-3 * 2 / 0.5) ** -500), rel=1e-12)
    assert sim.v[0] == pytest.approx(3 * (1 - np.exp(-0.5 * 2 / 0.5)), abs=2e-3)


def test_armature_slows_the_joint() -> None:
    scene = wheel(armature=1.5)
    scene.add_actuator("wheel", "torque", feed_forward=4.0)
    sim = simulate(scene)
    sim.step(1000)
    assert sim.v[0] == pytest.approx(4.0 / 2.0, rel=1e-12)


def test_servos_work_without_script_loops_or_limits() -> None:
    assert simulate(four_bar("ball")).report.rows == 0  # nothing solved before the first step
