"""The simplex kernels against HiGHS: random programmes, friction of polygons, small and degenerate loads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sesshoku.solvers.simplex import (
    INFEASIBLE,
    OPTIMAL,
    OUT_OF_ITERATIONS,
    UNBOUNDED,
    feasible,
    make_simplex_space,
    solve_lp,
)
from support import SEED, sample_count

pytestmark = pytest.mark.boundscheck
TOLERANCE = 1e-9


def space_for(count):
    space = make_simplex_space(count)
    for name, field in space.fields.items():
        getattr(space, name)[...] = np.nan if field.dtype is float else -9
    return space


def maximise(columns, rhs, cost):
    x = np.full(len(columns), np.nan)
    status, iterations = solve_lp((len(rhs), len(columns), columns, rhs, cost), TOLERANCE, space_for(len(columns)), x)
    assert iterations <= 2 * (40 + 6 * (len(rhs) + len(columns)))
    return x, status


def carries(columns, rhs, tolerance=TOLERANCE):
    status, distance, _ = feasible(len(rhs), len(columns), columns, rhs, tolerance, space_for(len(columns)))
    return status, distance


def draw(rng):
    """Programmes of every outcome: feasible, infeasible, unbounded, degenerate."""
    rows, count = int(rng.integers(1, 9)), int(rng.integers(1, 60))
    columns = rng.normal(size=(count, rows))
    if rng.random() < 0.6:
        columns[:, 0] = 1.0  # bounded, like normal forces that add up to their sum
    x = rng.uniform(0, 1, size=count) * (rng.random(count) < rng.uniform(0.05, 1.0))
    rhs = columns.T @ x / max(count, 1) if rng.random() < 0.7 else rng.normal(size=rows)
    if rng.random() < 0.2:
        rhs[rng.integers(rows)] = 0.0
    return columns, rhs, rng.normal(size=count)


def test_programmes_end_as_highs_says():
    rng, seen = np.random.default_rng(SEED), dict.fromkeys(range(4), 0)
    for n in range(sample_count(300, 10_000)):
        columns, rhs, cost = draw(rng)
        x, status = maximise(columns, rhs, cost)
        seen[status] += 1
        oracle = linprog(-cost, A_eq=columns.T, b_eq=rhs, method="highs")
        if oracle.status == 4:  # HiGHS itself gave up: it cannot tell infeasible from unbounded
            continue
        assert status == {0: OPTIMAL, 2: INFEASIBLE, 3: UNBOUNDED}[oracle.status], (SEED, n)
        if status == OPTIMAL:
            assert (x >= 0).all() and columns.T @ x == pytest.approx(rhs, abs=1e-9), (SEED, n)
            assert cost @ x == pytest.approx(-oracle.fun, abs=1e-7 * max(1.0, abs(oracle.fun))), (SEED, n)
    assert seen[OUT_OF_ITERATIONS] == 0 and min(seen[OPTIMAL], seen[INFEASIBLE], seen[UNBOUNDED]) > 0


def friction_columns(polygon, mu, sides):
    """Columns of (28)-(31), lengths in units of the farthest corner."""
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.array([[1.0, y, -x, mu * np.cos(p), mu * np.sin(p), mu * (x * np.sin(p) - y * np.cos(p))]
                     for x, y in polygon for p in angle])


@pytest.mark.parametrize("corners", [3, 4, 7, 32])
def test_friction_of_polygons_is_judged_as_highs_does(corners):
    """Wrenches just below and above the limit that HiGHS finds along them."""
    rng = np.random.default_rng(SEED + corners)
    for n in range(sample_count(20, 600)):
        angle = np.sort(rng.uniform(0, 2 * np.pi, size=corners))
        polygon = np.c_[np.cos(angle), np.sin(angle)] * rng.uniform(0.3, 1.0, size=2)
        columns = friction_columns(polygon, rng.uniform(0.05, 1.5), 8)
        weights = 0.99 * rng.dirichlet(np.full(corners, 0.3)) + 0.01 / corners  # nearer an edge HiGHS' 1e-7 counts
        center = weights @ polygon
        normal = np.array([1.0, center[1], -center[0], 0.0, 0.0, 0.0])
        direction = np.r_[0, 0, 0, rng.normal(size=3)]
        # the largest s with normal + s direction carried
        best = linprog(np.r_[np.zeros(len(columns)), -1.0], A_eq=np.c_[columns.T, -direction], b_eq=normal,
                       method="highs")
        assert best.status == 0
        limit = -best.fun
        for share, expected in ((0.0, OPTIMAL), (0.5, OPTIMAL), (1 - 1e-5, OPTIMAL), (1.5, INFEASIBLE)):
            assert carries(columns, normal + share * limit * direction)[0] == expected, (SEED, n, share)
        if limit > 1e-3:
            assert carries(columns, normal + (1 + 1e-4) * limit * direction)[0] == INFEASIBLE, (SEED, n)


def test_small_and_centred_loads_are_carried():
    """Every right-hand side but the normal force at zero: the most degenerate programme there is; it is static."""
    polygon = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) / np.sqrt(2)
    columns = friction_columns(polygon, 0.5, 8)
    for noise in (0.0, 1e-300, 1e-17, 1e-13, 1e-10):
        for sign in (1.0, -1.0):
            rhs = np.array([1.0, 0, 0, sign * noise, -sign * noise, noise])
            assert carries(columns, rhs)[0] == OPTIMAL


@pytest.mark.nojit
def test_outcomes_by_hand():
    columns = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    x, status = maximise(columns, np.array([1.0, 1.0]), np.array([1.0, 1.0, 3.0]))
    assert status == OPTIMAL and x == pytest.approx([0, 2, 1])
    assert maximise(columns, np.array([-1.0, 0.0]), np.zeros(3))[1] == INFEASIBLE
    unbounded = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert maximise(unbounded, np.array([0.0, 1.0]), np.array([1.0, 1.0, 0.0]))[1] == UNBOUNDED
    status, distance = carries(columns, np.array([-0.25, 0.0]))
    assert status == INFEASIBLE and distance == pytest.approx(0.25)
