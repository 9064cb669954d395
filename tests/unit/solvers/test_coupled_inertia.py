"""Coupled inertias against the dense matrix they stand for; the descent in their metric."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.methods.springs.solve import descent
from sesshoku.methods.springs.solve.descent import BOTH_WAYS, CONVERGED, descend, make_springs
from sesshoku.methods.springs.solve.inertia import factor_groups, opening, respond, solve_group
from support import SEED

DT = 0.01
PARENTS = (-1, 0, 0, 2, -1, 4, -1)  # two groups, a lone body; the world comes last


def coupled(rng, spring_count):
    """Bodies of random inertia, those with a parent coupled to it by random positive terms; dense matrix, inverse."""
    B = len(PARENTS) + 1
    springs = make_springs(B, spring_count)
    dense = np.zeros((6 * B, 6 * B))
    top = {}
    for b, p in enumerate(PARENTS):
        root = rng.normal(size=(3, 3))
        m, I = rng.uniform(0.05, 5.0), root @ root.T + 0.1 * np.eye(3)
        inverse = np.linalg.inv(I)
        springs.inverse_mass[b] = 1.0 / m
        springs.inverse_inertia[b] = inverse[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        here = slice(6 * b, 6 * b + 6)
        dense[here, here] += np.block([[m * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), I]])
        top[b] = b if p < 0 else top[p]
        springs.above[b] = p
        if p >= 0:
            rows = rng.normal(size=(3, 12)) * 10.0 ** rng.uniform(-2, 3, size=(3, 1))
            both = np.r_[here, 6 * p:6 * p + 6]
            dense[np.ix_(both, both)] += rows.T @ rows
            springs.cross[b] = rows[:, :6].T @ rows[:, 6:]
    for b, p in enumerate(PARENTS):
        if p >= 0 or b in PARENTS:
            springs.group[b] = top[b]
            springs.group_end[top[b]] = b + 1
            springs.block[b] = dense[6 * b:6 * b + 6, 6 * b:6 * b + 6]
    factor_groups(springs)
    moving = 6 * len(PARENTS)
    inverse = np.zeros_like(dense)
    inverse[:moving, :moving] = np.linalg.inv(dense[:moving, :moving])
    return springs, dense, inverse


def solves(dense, velocity, impulse):
    """Whether velocities answer impulses (both B, 6) to rounding: stiff couplings leave few digits of either alone."""
    v, p = velocity[:-1].ravel(), impulse[:-1].ravel()
    M = dense[:len(p), :len(p)]
    return bool(np.all(np.abs(M @ v - p) <= 1e-13 * (np.abs(M) @ np.abs(v)).max()))


def test_a_group_answers_as_its_dense_matrix():
    for n in range(20):
        springs, dense, _ = coupled(np.random.default_rng([SEED, n]), 1)
        force = np.random.default_rng([SEED, n, 1]).normal(size=(len(PARENTS) + 1, 6))
        out = force.copy()
        for top in (0, 4):
            solve_group(springs, top, out)
        assert (out[6:] == force[6:]).all()
        out[6] = np.linalg.solve(dense[36:42, 36:42], force[6])  # the lone body
        assert solves(dense, out, force)


def hang(rng, springs):
    """Springs between random bodies, stretched beyond their limits."""
    B = len(PARENTS) + 1
    springs.counts[0] = springs.capacity
    springs.position[:] = rng.normal(size=(B, 3))
    for s in range(springs.capacity):
        springs.body[s] = rng.choice(B, size=2, replace=False)
        springs.local[s] = rng.normal(size=(2, 3))
        springs.holds[s], springs.limit[s] = BOTH_WAYS, 0.5
    springs.velocity[:-1] = rng.normal(size=(B - 1, 6))


def test_what_a_pair_of_forces_moves():
    for n in range(20):
        rng = np.random.default_rng([SEED, n])
        springs, dense, inverse = coupled(rng, 4)
        hang(rng, springs)
        springs.arm[:] = springs.local
        direction = rng.normal(size=3)
        for s in range(4):
            row = np.zeros((len(PARENTS) + 1, 6))
            for side, sign in ((0, 1.0), (1, -1.0)):
                b = springs.body[s, side]
                row[b] += sign * np.r_[direction, np.cross(springs.arm[s, side], direction)]
            row[-1] = 0.0
            out = np.full((len(PARENTS) + 1, 6), np.nan)
            respond(springs, s, *direction, out)
            wanted = (inverse @ row.ravel()).reshape(-1, 6)
            felt = ~np.isnan(out[:, 0])
            assert not wanted[~felt].any()
            out[~felt] = 0.0
            assert solves(dense, out, row)
            assert opening(springs, s, out, *direction) == pytest.approx(row.ravel() @ inverse @ row.ravel(), rel=1e-7)


@pytest.mark.parametrize("newton", (0, 1))
def test_the_descent_pushes_through_the_coupled_inertia(newton, monkeypatch):
    """Every change of velocity is the answer to the forces found; the same where answers are not kept (no room)."""
    met = 0
    for n in range(10):
        ends = []
        for room in (1 << 20, 0):
            monkeypatch.setattr(descent, "MOST_COLUMNS", room)
            rng = np.random.default_rng([SEED, n])
            springs, dense, _ = coupled(rng, 3)
            hang(rng, springs)
            before = springs.velocity.copy()
            descend(springs, DT, 0.01, 0, 2000, newton)
            ends.append(springs.velocity.copy())
            met += int(springs.result[CONVERGED])
            change = (springs.velocity - before).ravel()
            impulse = np.zeros((len(PARENTS) + 1, 6))
            for s in range(3):
                for side, sign in ((0, 1.0), (1, -1.0)):
                    impulse[springs.body[s, side], :3] += sign * DT * springs.held[s]
            taken = (dense @ change).reshape(-1, 6)[:-1, :3]  # torques: arms turn on the way
            assert taken == pytest.approx(impulse[:-1, :3], rel=1e-6, abs=1e-6 * np.abs(impulse).max())
        assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-8)
    assert met > 0
