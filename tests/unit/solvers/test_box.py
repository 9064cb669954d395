"""The box-constrained solver against independent oracles, on regular, singular and degenerate problems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

from sesshoku.solvers.box import residual, solve_box
from support import sample_count

pytestmark = pytest.mark.boundscheck
UNBOUNDED = 1e300


def solve(G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, tolerance: float = 1e-10,
          start: np.ndarray | None = None) -> tuple[np.ndarray, float, int]:
    n = len(b)
    x = np.zeros(n) if start is None else start.copy()
    worst, passes = solve_box(n, (G, b), (low, high), tolerance, x,
                              (np.full((n, n), np.nan), np.full((6, n), np.nan), np.full(n, -9)))
    return x, worst, passes


def violation(G: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, x: np.ndarray) -> float:
    """Distance from the optimality conditions in the units of b: our own words, not the solver's."""
    w, worst = G @ x + b, 0.0
    for i in range(len(b)):
        assert low[i] <= x[i] <= high[i]
        inside_low, inside_high = x[i] > low[i], x[i] < high[i]
        if inside_low:  # then w may not push it down: w <= 0, up to the distance left
            worst = max(worst, min(w[i], G[i, i] * min(x[i] - low[i], 1e100)))
        if inside_high:
            worst = max(worst, min(-w[i], G[i, i] * min(high[i] - x[i], 1e100)))
    return worst


def rounding(G: np.ndarray, x: np.ndarray) -> float:
    """What a product G x can be known to: near-singular problems have large solutions."""
    return float(1e-14 * np.abs(G).max() * np.abs(x).max())


def objective(G: np.ndarray, b: np.ndarray, x: np.ndarray) -> float:
    return float(0.5 * x @ G @ x + b @ x)


def random_problem(rng: np.random.Generator, singular: bool, spread: float = 0.0) -> tuple[np.ndarray, ...]:
    """Rows like those of a mechanism: free (loops), one-sided (limits), two-sided (friction), pinned at zero.

    b lies in the range of J, as a velocity does, so that the free rows can be met.
    """
    n = int(rng.integers(1, 14))
    rank = int(rng.integers(1, n + 1)) if singular else n
    J = rng.normal(size=(n, rank)) * np.exp(spread * rng.normal(size=(n, 1)))
    if singular and n > 1:
        J[n - 1] = J[0] * rng.choice([1.0, -1.0])  # the same row twice: a redundant loop, or both limits of a joint
    kind = rng.integers(0, 5, size=n)
    width = rng.uniform(0, 1, size=n)
    low = np.select([kind == 0, kind == 1, kind == 4], [-UNBOUNDED, 0.0, 0.0], -width)
    high = np.select([kind == 0, kind == 1, kind == 4], [UNBOUNDED, UNBOUNDED, 0.0], width)
    b = J @ rng.normal(size=rank)
    if rng.integers(3) == 0:
        b[rng.integers(n)] = 0.0 if not singular else b[rng.integers(n)]
        b = J @ np.linalg.lstsq(J, b, rcond=None)[0]
    return J @ J.T, b, low, high, J


@pytest.mark.parametrize("singular", [False, True])
def test_solutions_obey_the_complementarity_conditions(singular: bool, rng: np.random.Generator) -> None:
    for _ in range(sample_count(500, 20_000)):
        G, b, low, high, _ = random_problem(rng, singular)
        tolerance = 1e-10 * max(1.0, np.abs(b).max(), np.abs(G).max())
        x, worst, _ = solve(G, b, low, high, tolerance)
        reached = tolerance + rounding(G, x)
        assert worst <= reached
        assert violation(G, b, low, high, x) <= 2 * reached
        assert worst == residual(len(b), G, b, low, high, x)


@pytest.mark.parametrize("singular", [False, True])
def test_same_minimum_as_scipys_bounded_least_squares(singular: bool, rng: np.random.Generator) -> None:
    """min 1/2 |J^T x + c|^2 over the box, with b = J c."""
    for _ in range(sample_count(40, 2_000)):
        G, b, low, high, J = random_problem(rng, singular)
        low, high = np.maximum(low, -1e3), np.minimum(high, 1e3)  # scipy runs away along what does not matter
        c = np.linalg.lstsq(J, b, rcond=None)[0]
        pinned = low == high  # scipy wants room between the bounds
        x, _, _ = solve(G, b, low, high, 1e-11 * max(1.0, np.abs(G).max()))
        theirs = np.zeros(len(b))
        if not pinned.all():
            free = ~pinned
            theirs[free] = lsq_linear(J[free].T, -c, (low[free], high[free]), tol=1e-14, method="bvls").x
        assert objective(G, b, x) <= objective(G, b, theirs) + 1e-8 * max(1.0, abs(objective(G, b, theirs)))


def test_same_solution_as_non_negative_least_squares(rng: np.random.Generator) -> None:
    for _ in range(sample_count(100, 3_000)):
        n = int(rng.integers(1, 12))
        J, c = rng.normal(size=(n, n + 3)), rng.normal(size=n + 3)
        wanted, _ = nnls(J.T, -c)
        x, _, _ = solve(J @ J.T, J @ c, np.zeros(n), np.full(n, UNBOUNDED), 1e-12)
        np.testing.assert_allclose(x, wanted, atol=1e-8)


def test_same_solution_as_trying_every_active_set(rng: np.random.Generator) -> None:
    """Up to five rows: all 3^n guesses of which row is at which bound; the one that meets all conditions."""
    for _ in range(sample_count(40, 1_000)):
        n = int(rng.integers(1, 6))
        J = rng.normal(size=(n, n + 1))
        G, b, width = J @ J.T, J @ rng.normal(size=n + 1) * 2, rng.uniform(0.05, 0.5, size=n)
        found = []
        for guess in itertools.product((-1, 0, 1), repeat=n):
            state = np.array(guess)
            x = state * width
            free = state == 0
            x[free] = np.linalg.solve(G[np.ix_(free, free)], -(b + G @ x)[free])
            w = G @ x + b
            if (np.abs(x) <= width + 1e-12).all() and (w[state < 0] >= -1e-12).all() and (w[state > 0] <= 1e-12).all():
                found.append(x)
        assert found
        x, _, _ = solve(G, b, -width, width, 1e-12)
        np.testing.assert_allclose(x, found[0], atol=1e-9)


def test_badly_scaled_rows(rng: np.random.Generator) -> None:
    """Turning and sliding rows mix: diagonals over twelve orders of magnitude. The result is judged row by row."""
    for _ in range(sample_count(200, 5_000)):
        G, b, low, high, _ = random_problem(rng, False, spread=3.0)
        tolerance = 1e-9 * max(1.0, np.abs(b).max(), np.abs(G).max())
        x, worst, _ = solve(G, b, low, high, tolerance)
        reached = tolerance + rounding(G, x)
        assert worst <= reached
        assert violation(G, b, low, high, x) <= 2 * reached


def test_redundant_rows_share_the_load_from_a_cold_start() -> None:
    """The proximal passes go to the solution nearest the start: equal rows carry equal impulses."""
    G = np.ones((3, 3))
    x, worst, _ = solve(G, np.full(3, -6.0), np.full(3, -UNBOUNDED), np.full(3, UNBOUNDED))
    assert worst <= 1e-10
    np.testing.assert_allclose(x, [2, 2, 2], atol=1e-9)


def test_a_solution_is_kept_as_it_is(rng: np.random.Generator) -> None:
    G, b, low, high, _ = random_problem(rng, False)
    x, _, _ = solve(G, b, low, high, 1e-10)
    again, worst, passes = solve(G, b, low, high, 1e-6, start=x)
    assert passes == 0 and worst <= 1e-10
    np.testing.assert_array_equal(x, again)


def test_starts_outside_the_box_are_brought_in() -> None:
    x, worst, _ = solve(np.eye(2), np.array([-3.0, 0.5]), np.zeros(2), np.ones(2), start=np.array([1e9, -1e9]))
    np.testing.assert_allclose(x, [1.0, 0.0])
    assert worst <= 1e-10


@pytest.mark.nojit
def test_small_cases() -> None:
    x, worst, passes = solve(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))
    assert (len(x), worst, passes) == (0, 0.0, 0)
    x, worst, _ = solve(np.array([[2.0]]), np.array([-4.0]), np.array([0.0]), np.array([UNBOUNDED]))
    assert x[0] == pytest.approx(2.0) and worst <= 1e-10
    x, _, _ = solve(np.array([[2.0]]), np.array([4.0]), np.array([0.0]), np.array([UNBOUNDED]))
    assert x[0] == 0.0
    # a row nothing can move does not hinder the others
    x, worst, _ = solve(np.diag([0.0, 1.0]), np.array([-1.0, -1.0]), np.full(2, -5.0), np.full(2, 5.0))
    assert x[1] == pytest.approx(1.0) and abs(x[0]) <= 5.0 and worst <= 1e-10


def test_what_cannot_be_met_is_reported() -> None:
    """Two equal free rows that want different speeds: the residual says so, the answer stays finite."""
    x, worst, _ = solve(np.ones((2, 2)), np.array([1.0, -1.0]), np.full(2, -UNBOUNDED), np.full(2, UNBOUNDED))
    assert worst > 0.5 and np.isfinite(x).all()


@pytest.mark.peer
def test_same_solution_as_daqp(rng: np.random.Generator) -> None:
    daqp = pytest.importorskip("daqp")
    for _ in range(sample_count(100, 5_000)):
        n = int(rng.integers(2, 12))
        J = rng.normal(size=(n, n + 2))
        G, b = J @ J.T, J @ rng.normal(size=n + 2)
        low, high = np.where(rng.integers(2, size=n), -0.3, 0.0), np.where(rng.integers(2, size=n), 0.3, 1e30)
        wanted, _, flag, _ = daqp.solve(G, b, np.zeros((0, n)), high, low, np.zeros(n, dtype=np.int32))
        assert flag == 1
        x, _, _ = solve(G, b, low, high, 1e-12)
        np.testing.assert_allclose(x, wanted, atol=1e-6)
