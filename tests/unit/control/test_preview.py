"""Preview control: gains against the Riccati equation, tracking, and what the cart does between samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from sesshoku.control.walking.preview import preview_gains, riccati, track
from sesshoku.control.walking.swing import along, height, smooth
from support import SEED

# (height, dt, R) -> K_s, K_x, first three G
KNOWN = {
    (0.80, 1.6, 1e-6): (621.0198, (72420.63, 21294.50, 175.8014), (-621.0198, -778.4263, -952.5905)),
    (0.72, 1.6, 1e-6): (635.660, (70471.97, 19708.24, 168.1643), (-635.6597, -784.0827, -953.9545)),
    (0.24, 1.0, 1e-8): (4283.85, (274530.6, 44669.58, 273.8274), (-4283.848, -6530.570, -7856.623)),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known_gains(case):
    z, horizon, cost = case
    gains = preview_gains(z, 5e-3, horizon, jerk_cost=cost)
    K_s, K_x, G = KNOWN[case]
    assert gains.K_s == pytest.approx(K_s, rel=1e-5)
    assert gains.K_x == pytest.approx(K_x, rel=1e-5)
    assert gains.G[:3] == pytest.approx(G, rel=1e-5)
    assert len(gains.G) == round(horizon / 5e-3)


def test_riccati_as_scipy_solves_it_and_as_the_equation_says():
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 1))
        Q, R = np.diag(rng.uniform(0.1, 2.0, 4)), np.array([[rng.uniform(0.01, 1.0)]])
        P = riccati(A, B, Q, R)
        known = solve_discrete_are(A, B, Q, R)
        assert pytest.approx(known, rel=1e-7, abs=1e-7 * np.abs(known).max()) == P
        back = A.T @ P @ A - A.T @ P @ B @ np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A) + Q
        assert back == pytest.approx(P, abs=1e-8 * np.abs(P).max())


def test_preview_gains_fade_with_the_distance_and_sum_to_the_position_gain():
    """A reference that is constant for ever: u = 0 at rest over it, so K_x[0] = -sum of all G."""
    gains = preview_gains(0.8, 5e-3, 6.0)
    assert -gains.G.sum() == pytest.approx(gains.K_x[0], rel=1e-6)
    assert abs(gains.G[-1]) < 1e-3 * abs(gains.G).max()


def test_the_cart_follows_steps_of_the_zmp():
    reference = np.repeat([0.0, 0.09, -0.09, 0.09, 0.0, 0.0], 160)
    gains = preview_gains(0.72, 5e-3, 1.6)
    motion = track(reference, gains)
    zmp = motion.state @ gains.C
    inside = np.concatenate([np.arange(20, 140) + 160 * n for n in range(1, 4)])  # away from the jumps
    assert np.abs(zmp - reference)[inside].max() < 0.02
    assert motion.state[-1] == pytest.approx([0.0, 0.0, 0.0], abs=5e-3)


def test_between_samples_the_motion_is_a_cubic():
    gains = preview_gains(0.72, 5e-3, 1.6)
    motion = track(np.repeat([0.0, 0.05], 300), gains)
    c, v, a = motion.at(3000, 1e-3)
    assert c[::5] == pytest.approx(motion.state[:, 0], abs=1e-15)
    assert np.gradient(c, 1e-3)[1:-1] == pytest.approx(v[1:-1], abs=1e-5)
    assert np.gradient(v, 1e-3)[1:-1] == pytest.approx(a[1:-1], abs=2e-2)
    # and does not jump: the cubic of a sample ends where the next begins
    s = 5e-3
    end = motion.state[:-1, 0] + s * (motion.state[:-1, 1] + s * (motion.state[:-1, 2] / 2 + s * motion.jerk[:-1] / 6))
    assert end == pytest.approx(motion.state[1:, 0], abs=1e-14)


def test_swing_feet_start_and_land_at_rest():
    phase = np.linspace(0.0, 1.0, 2001)
    top = height(phase, 0.05)
    assert top[0] == top[-1] == 0.0 and top.max() == pytest.approx(0.05)
    d = phase[1]
    for values in (top, along(phase, np.zeros(1), np.ones(1))[:, 0], smooth(phase)):
        rate, twice = np.diff(values) / d, np.diff(values, 2) / d**2
        assert abs(rate[0]) < 1e-3 and abs(rate[-1]) < 1e-3
        assert abs(twice[0]) < 0.15 and abs(twice[-1]) < 0.15
    moved = along(phase, np.array([0.0, 1.0]), np.array([0.3, 1.0]))
    assert np.all(moved[phase >= 0.9] == [0.3, 1.0]) and np.all(moved[phase <= 0.05] == [0.0, 1.0])
