"""Projected Gauss-Seidel against exact answers: enumeration of active sets, four friction directions, the sign of b."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sesshoku as ss
from sesshoku.solvers.pgs import SLIDE, SQUARE
from sesshoku.solvers.pgs_dense import solve_dense
from support import sample_count

SEEDS = st.integers(0, 2**32 - 1)
OPEN, LOW, FREE, HIGH = range(4)
TIGHT = 1e-9


def random_problem(rng, m):
    """K (3 m, 3 m) as contacts on bodies have it, moderate friction, free velocities that mostly approach."""
    J = rng.normal(size=(3 * m, 3 * m + 2))
    K = J @ J.T / (3 * m + 2) + 0.3 * np.eye(3 * m)
    free = rng.normal(size=3 * m)
    free[2::3] -= 0.7
    return K, free, rng.uniform(0.05, 0.4, m)


def sweep(K, free, mu, law, sweeps=200_000):
    m = len(mu)
    x, w = np.zeros(3 * m), free.copy()
    done = solve_dense(m, 0, K, (np.full(m, law), mu), (np.zeros(0), np.zeros(0)), x, w, (sweeps, 1e-13))
    assert done < sweeps, "these problems are within the sweeps' reach"
    return x


def states(law):
    """What one contact can do: (normal, t1, t2)."""
    yield OPEN, LOW, LOW
    for t1, t2 in product((LOW, FREE, HIGH), (LOW, FREE, HIGH) if law == SQUARE else (LOW,)):
        yield FREE, t1, t2


def solve_active_set(K, free, mu, law, chosen):
    """The x (3 m) of one guess of active sets, or None where it breaks a bound or a sign."""
    m, n = len(mu), 3 * len(mu)
    A, b = np.zeros((n, n)), np.zeros(n)
    for c, (normal, *tangents) in enumerate(chosen):
        r = 3 * c + 2
        A[r], b[r] = (np.eye(n)[r], 0.0) if normal == OPEN else (K[r], -free[r])
        for d, state in enumerate(tangents):
            k = 3 * c + d
            if state == FREE:
                A[k], b[k] = K[k], -free[k]
            else:
                sign = 1.0 if state == HIGH else (-1.0 if law == SQUARE else 0.0)
                A[k, k], A[k, r] = 1.0, -sign * mu[c]
    x = np.linalg.solve(A, b)
    z = K @ x + free
    for c, (normal, *tangents) in enumerate(chosen):
        r = 3 * c + 2
        if x[r] < -TIGHT or (normal == OPEN and z[r] < -TIGHT):
            return None
        bound = mu[c] * x[r]
        for d, state in enumerate(tangents if normal != OPEN else ()):
            k = 3 * c + d
            if law == SLIDE and d == 1:
                continue  # the second axis carries nothing while sliding
            lowest = -bound if law == SQUARE else 0.0
            wrong = {LOW: z[k] < -TIGHT, HIGH: z[k] > TIGHT, FREE: not lowest - TIGHT <= x[k] <= bound + TIGHT}
            if wrong[state]:
                return None
    assert m * 3 == len(x)
    return x


def solutions(K, free, mu, law):
    found = []
    for chosen in product(list(states(law)), repeat=len(mu)):
        x = solve_active_set(K, free, mu, law, chosen)
        if x is not None and not any(np.abs(x - other).max() < 1e-7 for other in found):
            found.append(x)
    return found


@settings(max_examples=sample_count(40, 1000))
@given(seed=SEEDS, m=st.integers(1, 3))
def test_sliding_contacts_against_enumeration(seed, m):
    K, free, mu = random_problem(np.random.default_rng(seed), m)
    exact = solutions(K, free, mu, SLIDE)
    assert len(exact) == 1, "with little friction there is one answer"
    np.testing.assert_allclose(sweep(K, free, mu, SLIDE), exact[0], atol=1e-8 * (1 + np.abs(exact[0]).max()))


@settings(max_examples=sample_count(15, 150))
@given(seed=SEEDS, m=st.integers(1, 2))
def test_resting_contacts_against_enumeration(seed, m):
    K, free, mu = random_problem(np.random.default_rng(seed), m)
    exact = solutions(K, free, mu, SQUARE)
    assert len(exact) == 1
    np.testing.assert_allclose(sweep(K, free, mu, SQUARE), exact[0], atol=1e-8 * (1 + np.abs(exact[0]).max()))


@pytest.mark.full
def test_three_resting_contacts_against_enumeration(rng):
    for _ in range(20):
        K, free, mu = random_problem(rng, 3)
        exact = solutions(K, free, mu, SQUARE)
        assert len(exact) == 1
        np.testing.assert_allclose(sweep(K, free, mu, SQUARE), exact[0], atol=1e-8 * (1 + np.abs(exact[0]).max()))


def four_directions(K, free, mu, sweeps=100_000):
    """The paper's form: +-e1, +-e2 each with 0 <= f <= mu f_N. Net forces (3 m)."""
    m = len(mu)
    rows = [3 * c + 2 for c in range(m)] + [3 * c + d for c in range(m) for d in (0, 0, 1, 1)]
    signs = np.array([1.0] * m + [1.0, -1.0, 1.0, -1.0] * m)
    D = np.eye(3 * m)[rows] * signs[:, None]
    A, b, f = D @ K @ D.T, D @ free, np.zeros(5 * m)
    for _ in range(sweeps):
        before = f.copy()
        for i in range(5 * m):
            trial = f[i] - (A[i] @ f + b[i]) / A[i, i]
            f[i] = max(0.0, trial) if i < m else min(mu[(i - m) // 4] * f[(i - m) // 4], max(0.0, trial))
        if np.abs(f - before).max() < 1e-14:
            return D.T @ f
    raise AssertionError("did not settle")


@settings(max_examples=sample_count(10, 100))
@given(seed=SEEDS, m=st.integers(1, 3))
def test_four_directions_are_two_axes_with_both_signs(seed, m):
    K, free, mu = random_problem(np.random.default_rng(seed), m)
    np.testing.assert_allclose(four_directions(K, free, mu), sweep(K, free, mu, SQUARE), atol=1e-7)


def landing_box():
    """K and free velocity of the four corners of a cube that lands flat at 0.5 m/s; dt 1 ms."""
    J = []
    for x, y in product((-0.5, 0.5), repeat=2):
        r = np.array([x, y, -0.5])
        for axis in np.eye(3):
            J.append(np.concatenate([axis, np.cross(r, axis)]))
    J = np.array(J)
    inverse = np.diag([1.0] * 3 + [6.0] * 3)
    velocity, gravity = np.array([0, 0, -0.5, 0, 0, 0]), np.array([0, 0, -9.8, 0, 0, 0])
    return J, inverse, velocity, gravity


@pytest.mark.parametrize(("sign", "stops"), [(1.0, True), (-1.0, False)])
def test_the_printed_sign_of_b_lets_a_box_fall_through(sign, stops):
    """b = a0 - a_d with a_d = -v / dt stops it; the paper's printed a0 + a_d does not."""
    J, inverse, velocity, gravity = landing_box()
    dt = 1e-3
    free = dt * (J @ gravity) + sign * (J @ velocity)
    x = sweep(J @ inverse @ J.T, free, np.full(4, 0.5), SQUARE)
    after = J @ (velocity + dt * gravity + inverse @ J.T @ x)
    if stops:
        assert np.abs(after).max() < 1e-9
        assert x[2::3].sum() / dt == pytest.approx(0.5 / dt + 9.8, rel=1e-9)
    else:
        assert after[2::3].max() < -0.4


@pytest.mark.parametrize("name", ["humanoid_small.xml", "boxes"])
def test_matrix_by_test_forces_is_that_of_the_mass_matrix(name):
    """K by unit test forces = J H^-1 J^T, symmetric, positive semi-definite."""
    matrices = {}
    for route in ("aba", "mass_matrix"):
        scene = ss.Scene()
        scene.add_ground()
        if name == "boxes":
            for n in range(3):
                scene.add_box(f"box{n}", size=(0.4, 0.5, 0.2), mass=10.0**n, position=(0.03 * n, 0, 0.1 + 0.2 * n))
        else:
            scene.load(ss.robots.path(name), pose="stand")
        sim = ss.Simulation(scene, ss.methods.lcp(delassus_by=route, tangent_axes="fixed"), 1e-3)
        sim.step()
        rows = 3 * len(sim.contacts)
        assert rows >= 24
        matrices[route] = sim.work.matrix[:rows, :rows].copy()
    K, other = matrices["aba"], matrices["mass_matrix"]
    largest = np.linalg.eigvalsh(other)[-1]
    np.testing.assert_allclose(K, other, rtol=0, atol=1e-9 * largest)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-10 * largest)
    assert np.linalg.eigvalsh(0.5 * (K + K.T))[0] >= -1e-12 * largest
