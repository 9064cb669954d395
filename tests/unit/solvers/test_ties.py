"""Ties: inertias between any two bodies of a group, against the dense matrix they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.methods.springs.solve.descent import make_springs
from sesshoku.methods.springs.solve.inertia import factor_groups, solve_group
from support import SEED

PARENTS = (-1, 0, 0, 2, -1, 4, -1, 6)  # four trees; the world comes last
TOPS = (0, 0, 0, 0, 4, 4, 0, 0, -1)  # the third tree is tied to the first, across the second
TIES = ((3, 1), (3, 6), (2, 8), (5, 8))  # within a tree, between trees, to the world; and one of the other group


def tied(rng):
    """Bodies coupled to their parents, and the ties; the dense matrix of all."""
    B = len(PARENTS) + 1
    springs = make_springs(B, 1, TIES, TOPS)
    dense = np.zeros((6 * B, 6 * B))

    def add(bodies, rows):
        at = np.concatenate([np.arange(6 * b, 6 * b + 6) for b in bodies])
        dense[np.ix_(at, at)] += rows.T @ rows

    for b, p in enumerate(PARENTS):
        add([b], rng.normal(size=(6, 6)) + 3.0 * np.eye(6))
        springs.group[b], springs.above[b] = TOPS[b], p
        springs.group_end[TOPS[b]] = b + 1
        if p >= 0:
            rows = rng.normal(size=(3, 12)) * 10.0 ** rng.uniform(-1, 2, size=(3, 1))
            add([b, p], rows)
            springs.cross[b] = rows[:, :6].T @ rows[:, 6:]
    for b in range(len(PARENTS)):
        springs.block[b] = dense[6 * b:6 * b + 6, 6 * b:6 * b + 6]
    for t, pair in enumerate(TIES):
        springs.tie_arm[t], springs.tie_inertia[t] = rng.normal(size=(2, 3)), 10.0 ** rng.uniform(-1, 3)
        sides = []
        for side, b in enumerate(pair):
            x, y, z = springs.tie_arm[t, side]
            point = np.hstack([np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])  # v + w x r
            sides.append((1.0 if side == 1 else -1.0) * (point if b < len(PARENTS) else 0.0 * point))
        add(pair, np.sqrt(springs.tie_inertia[t]) * np.hstack(sides))
    factor_groups(springs)
    return springs, dense[:-6, :-6]


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_a_group_with_ties_answers_as_its_dense_matrix():
    for n in range(5):
        rng = np.random.default_rng([SEED, n])
        springs, dense = tied(rng)
        force = rng.normal(size=(len(PARENTS) + 1, 6))
        out = force.copy()
        for top in (0, 4):
            solve_group(springs, top, out)
        left = dense @ out[:-1].ravel() - force[:-1].ravel()
        # a backward error: solutions themselves are as uncertain as the matrix is ill-conditioned
        assert np.abs(left).max() < 1e-10 * np.abs(dense).max() * np.abs(out).max()
        assert (out[-1] == force[-1]).all()


def test_every_group_has_its_own_ties():
    springs = make_springs(len(TOPS), 1, TIES, TOPS)
    assert springs.group_tie[0].tolist() == [0, 3] and springs.group_tie[4].tolist() == [3, 4]
    assert len(springs.tie_columns) == 3 * 18 * 8 + 18 * 2
