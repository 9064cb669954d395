"""Free rotation of a rigid body: energy and angular momentum to rounding, order two, steady spins exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sesshoku as ss
from sesshoku.integrate.rotor import MOST_TURN, rotor
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    """Of a mass cloud with second moments decades apart, any axes."""
    moments = 10 ** rng.uniform(-3, 0, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn @ np.diag(moments.sum() - moments) @ turn.T


def ten(inertia: np.ndarray) -> np.ndarray:
    i = inertia
    return np.array([1.0, 0, 0, 0, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])


def turned(inertia: np.ndarray, spin: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Spin in the start's axes, and the rotation matrix of the turn."""
    result = np.array(rotor(ten(inertia), *spin, dt))
    return result[:3], quaternion_to_matrix(result[3:])


@given(seed=st.integers(0, 2**32 - 1), turn=st.floats(-3, np.log10(0.999 * MOST_TURN)))
def test_energy_and_momentum_are_kept_to_rounding(seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    inertia, spin = random_inertia(rng), rng.normal(size=3)
    spin *= 10**turn / np.linalg.norm(spin)
    after, turn_matrix = turned(inertia, spin, 1.0)
    momentum = inertia @ spin
    assert after @ inertia @ after == pytest.approx(spin @ momentum, rel=1e-12)
    assert np.linalg.norm(turn_matrix @ inertia @ after - momentum) < 1e-12 * np.linalg.norm(momentum)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("angle", [1e-3, 0.4, 3.0])
def test_a_steady_spin_turns_by_its_own_angle(axis: int, angle: float) -> None:
    spin = angle * np.eye(3)[axis]
    after, turn_matrix = turned(np.diag([1.0, 1.5, 2.2]), spin, 1.0)
    assert after == pytest.approx(spin, abs=1e-14)
    np.testing.assert_allclose(turn_matrix, quaternion_to_matrix(axis_angle(np.eye(3)[axis], angle)), atol=1e-13)


def test_beyond_the_largest_turn_the_spin_is_held(rng: np.random.Generator) -> None:
    spin = np.array([1.1, -0.3, 0.2]) * 3 * MOST_TURN
    after, turn_matrix = turned(random_inertia(rng), spin, 1.0)
    np.testing.assert_array_equal(after, spin)
    np.testing.assert_allclose(turn_matrix @ spin, spin, rtol=1e-12)


@given(seed=st.integers(0, 2**32 - 1))
def test_halving_the_step_quarters_the_error(seed: int) -> None:
    """Against two thousand steps: second order in spin and turn."""
    rng = np.random.default_rng(seed)
    inertia, spin, time = random_inertia(rng), rng.normal(size=3), 1.0
    ends = {}
    for steps in (16, 32, 2000):
        w, total = spin, np.eye(3)
        for _ in range(steps):
            w, turn_matrix = turned(inertia, w, time / steps)
            total = total @ turn_matrix
        ends[steps] = np.concatenate([w, total.ravel()])
    coarse, fine = (np.abs(ends[steps] - ends[2000]).max() for steps in (16, 32))
    assert fine < 1e-10 or coarse / fine > 3.2


@pytest.mark.parametrize("method", ["none", "lcp:recommended"])
@pytest.mark.parametrize("turn", [0.002, 0.05, 1.0, 10.0])
def test_a_tumbling_body_keeps_energy_and_momentum(method: str, turn: float, rng: np.random.Generator) -> None:
    """Through the whole step, with contact switched on: 2,000 steps of `turn` radians."""
    scene, dt = ss.Scene(gravity=(0, 0, 0)), 1e-3
    spin = rng.normal(size=3)
    scene.add_body("body", inertial=ss.Inertial(2.0, matrix=random_inertia(rng)), velocity=(1, 2, 3),
                   angular_velocity=spin * turn / dt / np.linalg.norm(spin))
    sim = ss.Simulation(scene, method, dt)
    energy, momentum = sim.energy[0], sim.momentum()
    sim.step(2000)
    assert sim.energy[0] == pytest.approx(energy, rel=1e-11)
    np.testing.assert_allclose(sim.momentum(), momentum, rtol=0, atol=1e-11 * np.abs(momentum).max())


def test_a_torque_brings_the_work_it_does(rng: np.random.Generator) -> None:
    """A constant torque on a fast body: angular momentum grows by torque times time, to rounding."""
    scene, dt, torque = ss.Scene(gravity=(0, 0, 0)), 1e-3, np.array([0.3, -0.2, 0.5])
    scene.add_body("body", inertial=ss.Inertial(2.0, matrix=random_inertia(rng)), angular_velocity=(80, 60, 50))
    sim = ss.Simulation(scene, "none", dt)
    before = sim.momentum()[3:]
    for _ in range(200):
        sim.apply_force("body", (0, 0, 0), torque=torque)
        sim.step()
    wanted = before + 200 * dt * torque
    np.testing.assert_allclose(sim.momentum()[3:], wanted, rtol=0, atol=1e-11 * np.abs(before).max())
