"""Dense and block-sparse LU against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.solvers import block_lu
from sesshoku.solvers.dense_lu import lu_factor, lu_solve, lu_solve_left, symmetric_factor, symmetric_solve
from support import sample_count

pytestmark = pytest.mark.boundscheck


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 11, 24, 37])
def test_dense_factors_solve_from_both_sides(n: int, rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 100)):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        F, pivot = np.full((n + 2, n + 2), np.nan), np.zeros(n, dtype=np.int64)
        F[:n, :n] = A
        assert lu_factor(n, F, pivot)
        for solve, M in ((lu_solve, A), (lu_solve_left, A.T)):
            x = b.copy()
            solve(n, F, pivot, x)
            np.testing.assert_allclose(M @ x, b, atol=1e-9 * max(1.0, np.linalg.cond(A) if n else 1.0) / 1e2)


def test_dense_factors_pivot() -> None:
    """A zero on the diagonal is no obstacle; a singular matrix is refused, as is one that is not finite."""
    pivot = np.zeros(3, dtype=np.int64)
    A = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    x = np.array([1.0, 2.0, 4.0])
    assert lu_factor(3, A, pivot)
    lu_solve(3, A, pivot, x)
    np.testing.assert_array_equal(x, [2.0, 1.0, 2.0])
    assert not lu_factor(3, np.ones((3, 3)), pivot)
    assert not lu_factor(3, np.full((3, 3), np.nan), pivot)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 11, 24, 37])
def test_symmetric_factors_solve_from_the_upper_triangle(n: int, rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 100)):
        Z, b = rng.normal(size=(n, n + 2)), rng.normal(size=n)
        A, F = Z @ Z.T, np.full((n + 2, n + 2), np.nan)
        F[:n, :n] = np.where(np.tri(n, k=-1), np.nan, A)
        assert symmetric_factor(n, F)
        x = b.copy()
        symmetric_solve(n, F, x)
        np.testing.assert_allclose(A @ x, b, atol=1e-11 * max(1.0, np.linalg.cond(A) if n else 1.0))
    assert not symmetric_factor(2, np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not symmetric_factor(3, np.full((3, 3), np.nan))


def random_blocks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes, who touches whom, and a matrix of that pattern: identity plus an unsymmetric part, as contacts make it."""
    count = int(rng.integers(1, 12))
    size = rng.choice([1, 3, 6, 6, 6, 9], size=count)
    touch = np.triu(rng.random((count, count)) < 0.3, 1).astype(np.int64)
    touch += touch.T
    first = np.concatenate([[0], np.cumsum(size)])
    A = np.eye(first[-1])
    for i in range(count):
        for j in range(count):
            if i == j or touch[i, j]:
                A[first[i] : first[i + 1], first[j] : first[j + 1]] += 0.3 * rng.normal(size=(size[i], size[j]))
    return size, touch, A + 2.0 * np.eye(len(A))


def test_block_factors_solve(rng: np.random.Generator) -> None:
    for _ in range(sample_count(60, 2000)):
        size, touch, A = random_blocks(rng)
        count, first = len(size), np.concatenate([[0], np.cumsum(size)])
        place, order = np.zeros((count, count), dtype=np.int64), np.zeros(count, dtype=np.int64)
        start, neighbour = np.zeros(count + 1, dtype=np.int64), np.zeros(count * count, dtype=np.int64)
        filled = touch.copy()
        used, flops = block_lu.analyze(count, size, filled, place, order, start, neighbour, order.copy(), order.copy())
        assert sorted(order) == list(range(count)) and flops > 0.0
        arena, taken = np.zeros(used), np.zeros(used, dtype=bool)
        for i in range(count):
            for j in range(count):
                block = A[first[i] : first[i + 1], first[j] : first[j + 1]]
                if place[i, j] < 0:
                    assert not block.any()
                else:
                    at = slice(place[i, j], place[i, j] + block.size)
                    assert not taken[at].any()  # blocks do not overlap
                    taken[at], arena[at] = True, block.ravel()
        assert taken.all()
        pivot, x = np.zeros(len(A), dtype=np.int64), rng.normal(size=len(A))
        b = x.copy()
        assert block_lu.factor(count, size, first[:-1].copy(), (order, start, neighbour, place), arena, pivot)
        block_lu.solve(count, size, first[:-1].copy(), (order, start, neighbour, place), arena, pivot, x)
        np.testing.assert_allclose(A @ x, b, atol=1e-8 * np.linalg.cond(A))


def test_fill_is_found_beforehand_and_small_where_it_can_be() -> None:
    """A chain of bodies fills nothing in; a star is eliminated from its points; a full lattice fills all."""
    def analyze(touch: np.ndarray, room: int = 1000) -> tuple[int, np.ndarray]:
        n = len(touch)
        z = [np.zeros(n, dtype=np.int64) for _ in range(4)]
        used, _ = block_lu.analyze(n, np.full(n, 6), touch, np.zeros((n, n), dtype=np.int64), z[0],
                                   np.zeros(n + 1, dtype=np.int64), np.zeros(room, dtype=np.int64), z[1], z[2])
        return used, z[0]

    n = 10
    chain = np.eye(n, k=1, dtype=np.int64) + np.eye(n, k=-1, dtype=np.int64)
    assert analyze(chain)[0] == 36 * (n + 2 * (n - 1))
    star = np.zeros((n, n), dtype=np.int64)
    star[0, 1:] = star[1:, 0] = 1
    used, order = analyze(star.copy())
    assert used == 36 * (n + 2 * (n - 1)) and 0 in order[-2:]
    full = np.ones((n, n), dtype=np.int64) - np.eye(n, dtype=np.int64)
    assert analyze(full)[0] == 36 * n * n
    assert analyze(full, room=5)[0] == -1  # no room for the pattern: said, not overrun


def test_six_by_six_inverse(rng: np.random.Generator) -> None:
    for _ in range(sample_count(50, 1000)):
        A = rng.normal(size=(6, 6))
        flat = A.ravel().copy()
        assert block_lu.invert6(flat)
        np.testing.assert_allclose(flat.reshape(6, 6) @ A, np.eye(6), atol=1e-10 * np.linalg.cond(A))
    permuted = np.eye(6)[[3, 0, 5, 1, 2, 4]]
    flat = permuted.ravel().copy()
    assert block_lu.invert6(flat)
    np.testing.assert_array_equal(flat.reshape(6, 6), permuted.T)
    assert not block_lu.invert6(np.zeros(36))
