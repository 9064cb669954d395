"""The cone programme against its optimality conditions and daqp: general rows, and those of contact wrenches."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.solvers.cone_qp import NOT_CONVEX, OUT_OF_ITERATIONS, SOLVED, cone_qp, make_cone_space
from support import SEED, sample_count

pytestmark = pytest.mark.boundscheck
MOST_VARIABLES = 60


def solve(P, q, rows, at):
    """x, y, status, iterations; work space and outputs begin as NaN."""
    n, (m, width) = len(q), rows.shape
    space = make_cone_space(n, m, width)
    for name, field in space.fields.items():
        getattr(space, name)[...] = np.nan if field.dtype is float else -9
    x, y = np.full(n, np.nan), np.full(m, np.nan)
    status, iterations = cone_qp(n, (P, q), m, (rows, at, width), space, x, y)
    return x, y, status, iterations


def dense(rows, at, n):
    G = np.zeros((len(rows), n))
    for k, first in enumerate(at):
        G[k, first : first + rows.shape[1]] += rows[k, : n - first]
    return G


def kkt_residual(P, q, G, x, y):
    """Largest violation of the optimality conditions, relative, in variables scaled to a unit diagonal of P."""
    d = 1.0 / np.sqrt(np.diag(P))
    g = np.linalg.norm(G * d, axis=1)
    g[g == 0.0] = 1.0
    stationary = np.abs((P @ x + q - G.T @ y) * d).max() / max(np.abs(q * d).max(), 1e-300)
    size = np.abs(np.linalg.solve(P * d[:, None] * d, q * d)).max()  # the unconstrained minimum's
    values, prices = (G @ x) / g, y * g / max(np.abs(q * d).max(), 1e-300)
    feasible = max(0.0, -values.min() / max(size, 1e-300))
    assert (y >= 0.0).all()
    return max(stationary, feasible, (np.abs(values) / max(size, 1e-300) * prices).max())


def general(rng):
    """Any rows; often more of them than variables, sometimes repeated, sometimes only x = 0 is feasible."""
    n = int(rng.integers(1, MOST_VARIABLES + 1))
    m = int(rng.integers(1, 2 * n + 3))
    J = rng.normal(size=(n + 2, n))
    P = J.T @ J + 10.0 ** rng.uniform(-4, 0) * np.eye(n)
    scale = np.exp(rng.normal(size=n))
    P = P * scale[:, None] * scale
    rows = rng.normal(size=(m, n))
    if m > 3:
        rows[0] = rows[1]
    if rng.random() < 0.1:
        rows[-1] = -rows[0]  # an equation
    return P, rng.normal(size=n) * scale, rows, np.zeros(m, dtype=np.int64)


def wrenches(rng, most=MOST_VARIABLES // 6):
    """What a method poses: A Q A + lambda, the rows of convex polygons; bodies in a chain touch each other."""
    count = int(rng.integers(1, most + 1))
    n = 6 * count
    J = np.zeros((n, 6 * (count + 1)))
    for i in range(count):
        J[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = np.eye(6) + 0.3 * rng.normal(size=(6, 6))
        J[6 * i : 6 * i + 6, 6 * i + 6 : 6 * i + 12] = -np.eye(6) + 0.3 * rng.normal(size=(6, 6))
    inverse = np.repeat(10.0 ** rng.uniform(-1.5, 1.5, size=count + 1), 6)
    A = J * inverse @ J.T
    Q, rows, at = np.zeros((n, n)), [], []
    for i in range(count):
        size = 10.0 ** rng.uniform(-2, 0)
        angle = np.sort(rng.uniform(0, 2 * np.pi, size=int(rng.integers(3, 13))))
        polygon = size * np.c_[np.cos(angle), np.sin(angle)]
        W = rng.normal(size=(6, 6)) * np.array([1, 1, 1, size, size, size])
        Q[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = size**2 * W.T @ W
        for (x, y), (u, v) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            d = np.array([u - x, v - y]) / np.hypot(u - x, v - y)
            rows.append([0, 0, d[1] * x - d[0] * y, d[0], d[1], 0])
            at.append(6 * i)
        rows.append([0, 0, 1, 0, 0, 0])
        at.append(6 * i)
    P = A @ Q @ A
    P += 10.0 ** rng.uniform(-7, -3) * np.trace(P) / n * np.eye(n)
    return P, A @ Q @ rng.normal(size=n), np.array(rows, dtype=float), np.array(at)


@pytest.mark.parametrize("draw", [general, wrenches])
def test_optimal_to_1e_9(draw):
    rng, worst, most = np.random.default_rng(SEED), 0.0, 0
    for n in range(sample_count(300, 5000)):
        P, q, rows, at = draw(rng)
        x, y, status, iterations = solve(P, q, rows, at)
        assert status == SOLVED, (SEED, n)
        worst, most = max(worst, kkt_residual(P, q, dense(rows, at, len(q)), x, y)), max(most, iterations)
        assert worst < 1e-9, (SEED, n)
    print(f"{draw.__name__}: largest residual {worst:.1e}, most iterations {most}")


@pytest.mark.parametrize("draw", [general, wrenches])
def test_the_same_minimum_as_daqp(draw):
    """daqp is a dual active set of its own; its answer, where it claims one, can be no better than ours."""
    daqp = pytest.importorskip("daqp")
    rng, compared = np.random.default_rng(SEED + 1), 0
    for n in range(sample_count(100, 5000)):
        P, q, rows, at = draw(rng)
        G, d = dense(rows, at, len(q)), 1.0 / np.sqrt(np.diag(P))
        x, y, _, _ = solve(P, q, rows, at)
        other, _, flag, _ = daqp.solve(P * d[:, None] * d, q * d, np.ascontiguousarray(G * d), np.full(len(G), 1e30),
                                       np.zeros(len(G)), np.zeros(len(G), dtype=np.int32), primal_tol=1e-10)
        if flag != 1:
            continue
        compared += 1
        other = d * other

        def cost(z, P=P, q=q):
            return 0.5 * z @ P @ z + q @ z

        lowest = -cost(np.linalg.solve(P, -q))
        outside = y @ np.maximum(-G @ other, 0.0)  # what its tolerance on the rows can gain it
        assert cost(x) <= cost(other) + outside + 1e-10 * lowest, (SEED, n)
        assert cost(other) <= cost(x) + 1e-6 * lowest, (SEED, n)
        assert x / d == pytest.approx(other / d, abs=1e-3 * np.abs(x / d).max() + 1e-5 * np.abs(q * d).max()), (SEED, n)
    assert compared > 0.9 * sample_count(100, 5000)


def test_unconstrained_minimum_and_apex():
    P, at = np.diag([2.0, 1.0, 4.0]), np.zeros(3, dtype=np.int64)
    x, y, status, iterations = solve(P, np.array([-2.0, -1.0, -4.0]), np.eye(3), at)
    assert (status, iterations) == (SOLVED, 0) and x == pytest.approx([1, 1, 1]) and not y.any()
    x, y, status, _ = solve(P, np.array([2.0, 1.0, 4.0]), np.eye(3), at)
    assert status == SOLVED and x == pytest.approx([0, 0, 0], abs=1e-15) and y == pytest.approx([2, 1, 4])


@pytest.mark.nojit
def test_what_is_not_convex_is_said():
    x, _, status, _ = solve(np.diag([1.0, -1.0]), np.ones(2), np.eye(2), np.zeros(2, dtype=np.int64))
    assert status == NOT_CONVEX and not x.any()
    x, _, status, _ = solve(np.ones((2, 2)), np.ones(2), np.eye(2), np.zeros(2, dtype=np.int64))
    assert status == NOT_CONVEX
    assert {SOLVED, OUT_OF_ITERATIONS, NOT_CONVEX} == {0, 1, 2}
