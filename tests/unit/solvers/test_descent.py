"""Descent on the exterior penalty: closed answers, the gradient against differences, islands, momentum."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.methods.springs.solve.descent import (
    ACROSS,
    ALONG,
    BOTH_WAYS,
    CONVERGED,
    ITERATIONS,
    ONE_WAY,
    UNLIMITED,
    descend,
    find_islands,
    make_springs,
    penalty,
    penalty_gradient,
    predict,
)
from support import SEED

DT = 0.02


def two_points(speed=10.0, limit=0.1):
    """Two 1 kg points at one place, flying apart along x; the world is body 2."""
    springs = make_springs(3, 1)
    springs.inverse_mass[:2] = 1.0
    springs.velocity[0, 0], springs.velocity[1, 0] = -speed / 2, speed / 2
    springs.counts[0] = 1
    springs.body[0], springs.limit[0], springs.holds[0] = (0, 1), limit, BOTH_WAYS
    return springs


def chain(rng, bodies=5, extra=3):
    """Bodies of random inertia with springs between neighbours and some others, stretched beyond their limits."""
    springs = make_springs(bodies + 1, bodies + extra)
    for b in range(bodies):
        A = rng.normal(size=(3, 3))
        I = np.linalg.inv(A @ A.T + 0.5 * np.eye(3))
        springs.inverse_mass[b] = rng.uniform(0.3, 3.0)
        springs.inverse_inertia[b] = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        springs.position[b] = [b, 0, 0]
        springs.rotation[b] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        springs.rotation[b] *= np.sign(np.linalg.det(springs.rotation[b]))
        springs.velocity[b] = rng.normal(size=6)
    count = bodies + extra
    springs.counts[0] = count
    for s in range(count):
        a = s if s < bodies else int(rng.integers(bodies))
        b = s + 1 if s < bodies else int(rng.integers(bodies))
        springs.body[s] = (a, b if b != a else bodies)
        springs.local[s] = 0.3 * rng.normal(size=(2, 3))
        springs.limit[s] = 0.05
        springs.holds[s] = int(rng.integers(4))
        n = rng.normal(size=3)
        springs.normal[s] = n / np.linalg.norm(n)
    return springs


@pytest.mark.nojit
def test_two_points_stop_at_the_limit():
    """Apart at 10 m/s, limit 0.1 m, dt 0.02 s: gap 0.1 m after a step, 5 m/s left; then nothing."""
    springs = two_points()
    descend(springs, DT, 0.01, 0, 100, 0)
    assert springs.result[ITERATIONS] == 1
    relative = springs.velocity[1, 0] - springs.velocity[0, 0]
    assert relative == pytest.approx(5.0, abs=1e-9)
    assert DT * springs.velocity[1, 0] == pytest.approx(0.05, abs=1e-12)
    assert springs.held[0, 0] == pytest.approx(1.0 * 2.5 / DT)  # N on body 0: 2.5 m/s of 1 kg
    for b in range(2):
        springs.position[b] += DT * springs.velocity[b, :3]
    springs.held[:] = 0.0
    descend(springs, DT, 0.01, 0, 100, 0)
    assert springs.velocity[1, 0] - springs.velocity[0, 0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("newton", [0, 1])
def test_within_the_limit_nothing_happens(newton):
    springs = two_points(speed=2.0)
    before = springs.velocity.copy()
    descend(springs, DT, 0.01, 0, 100, newton)
    assert springs.result[ITERATIONS] == 0 and np.array_equal(springs.velocity, before) and not springs.held.any()


def test_gradient_matches_differences():
    rng = np.random.default_rng(SEED)
    springs = chain(rng)
    springs.velocity[:, 3:] *= 1e-9  # the gradient is exact as dt w goes to nothing
    find_islands(springs)
    for island in range(springs.island_count[0]):
        predict(springs, springs.body_count - 1, DT)
        penalty(springs, island, DT)
        penalty_gradient(springs, island, DT)
        gradient = springs.gradient.copy()
        first, last = springs.island_body_start[island], springs.island_body_start[island + 1]
        for b in springs.island_body[first:last]:
            if springs.inverse_mass[b] == 0.0:
                continue
            for a in range(6):
                phi = []
                for sign in (1.0, -1.0):
                    springs.velocity[b, a] += sign * 1e-5
                    phi.append(penalty(springs, island, DT))
                    springs.velocity[b, a] -= sign * 1e-5
                scale = max(1.0, abs(gradient).max())
                assert (phi[0] - phi[1]) / 2e-5 == pytest.approx(gradient[b, a], abs=1e-6 * scale)


@pytest.mark.parametrize("newton", [0, 1])
def test_random_chains_end_within_their_limits(newton):
    for n in range(20):
        springs = chain(np.random.default_rng([SEED, n]), extra=1)
        descend(springs, DT, 0.01, 0, 2000, newton)
        if springs.result[CONVERGED]:
            assert (springs.gap[: springs.counts[0]] <= 0.01 * springs.limit[: springs.counts[0]] + 1e-12).all()
    assert springs.result[CONVERGED] in (0.0, 1.0)


@pytest.mark.parametrize("newton", [0, 1])
def test_linear_momentum_is_kept(newton):
    """Between bodies alone, by the velocities and by the forces found."""
    springs = chain(np.random.default_rng(SEED), extra=0)
    springs.holds[springs.body[:, 1] == springs.body_count - 1] = UNLIMITED  # nothing pulls at the world
    mass = 1.0 / springs.inverse_mass[:-1]
    before = mass @ springs.velocity[:-1, :3]
    descend(springs, DT, 0.01, 0, 100, newton)
    assert springs.result[ITERATIONS] > 0
    assert mass @ springs.velocity[:-1, :3] == pytest.approx(before, abs=1e-10)
    held = np.zeros((springs.body_count, 3))
    np.add.at(held, springs.body[:, 0], springs.held)
    np.add.at(held, springs.body[:, 1], -springs.held)
    assert held.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)


def test_directions_that_are_let_free():
    """Across: sliding along the normal is free. Along: only the normal is held. One way: only beyond it."""
    for holds, free, bound in ((ACROSS, 0, 1), (ALONG, 1, 0)):
        for axis, moves in ((free, True), (bound, False)):
            springs = two_points()
            springs.velocity[:] = 0.0
            springs.velocity[1, axis] = 10.0
            springs.holds[0], springs.normal[0] = holds, (1, 0, 0)
            descend(springs, DT, 0.01, 0, 100, 0)
            assert bool(springs.velocity[1, axis] == 10.0) is moves
    for speed, moves in ((-10.0, True), (10.0, False)):
        springs = two_points(speed)
        springs.holds[0], springs.normal[0] = ONE_WAY, (1, 0, 0)
        descend(springs, DT, 0.01, 0, 100, 1)
        assert bool(springs.velocity[1, 0] == speed / 2) is moves


def test_islands_do_not_touch_each_other():
    springs = make_springs(5, 2)
    springs.inverse_mass[:4] = 1.0
    springs.counts[0] = 2
    for s in range(2):
        springs.body[s], springs.limit[s], springs.holds[s] = (2 * s, 2 * s + 1), 0.1, BOTH_WAYS
        springs.velocity[2 * s + 1, 0] = 8.0 * s
    find_islands(springs)
    assert springs.island_count[0] == 3
    lists = [set(springs.island_body[springs.island_body_start[i]:springs.island_body_start[i + 1]]) for i in range(3)]
    assert lists == [{0, 1}, {2, 3}, {4}]
    descend(springs, DT, 0.01, 0, 100, 0)
    assert not springs.velocity[:2].any() and springs.held[1, 0] > 0.0


def test_what_cannot_be_met_is_reported():
    """A point between two walls farther apart than the springs allow."""
    springs = make_springs(2, 2)
    springs.inverse_mass[0], springs.counts[0] = 1.0, 2
    for s, x in enumerate((-1.0, 1.0)):
        springs.body[s], springs.limit[s], springs.holds[s] = (0, 1), 0.1, BOTH_WAYS
        springs.local[s, 1] = [x, 0, 0]
    descend(springs, DT, 0.01, 0, 100, 0)
    assert springs.result[CONVERGED] == 0.0 and springs.result[2] == pytest.approx(0.9, abs=1e-6)
    assert np.isfinite(springs.velocity).all()
