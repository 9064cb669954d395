"""Minimum-norm least squares by pivoted factors, against `eigh` and `lstsq`: every rank, consistent or not."""

from __future__ import annotations

import numpy as np
import pytest

from decimal_oracle import product_difference, pseudo_inverse_times
from sesshoku.solvers.minimum_norm import drop_rows, make_norm_work, solve_general, solve_symmetric
from support import sample_count

TOLERANCE = 1e-9
COUNT = sample_count(1000, 10_000)


def skew(p):
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def oracle(M, b, tolerance=TOLERANCE):
    """M^+ b by the eigenvalues of M, and those."""
    values, vectors = np.linalg.eigh(M)
    kept = values > tolerance * values[-1]
    return vectors[:, kept] @ ((vectors[:, kept].T @ b) / values[kept]), values


def contact_half(rng, points=None, bodies=None):
    """Z (3 N, 6 B), M = Z Z^T, of N points on B bodies (some between two): duplicated points, near ones, near-parallel
    normals, masses up to 1e4 apart."""
    N = int(rng.integers(1, 11)) if points is None else points
    B = int(rng.integers(1, 4)) if bodies is None else bodies
    root = np.repeat(10.0 ** rng.uniform(-1, 1, B), 6) * np.tile([1, 1, 1, 2, 3, 2.5], B)
    place, body = rng.normal(size=(N, 3)), rng.integers(B, size=N)
    axes = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(N)]
    kind = rng.choice(["random", "duplicate", "near", "parallel", "coplanar"])
    for n in range(1, N):
        if kind == "duplicate" and rng.random() < 0.5:
            place[n], body[n] = place[n - 1], body[n - 1]
            axes[n] = axes[n - 1] if rng.random() < 0.5 else axes[n]
        elif kind == "near":
            place[n], body[n] = place[0] + 10.0 ** rng.uniform(-9, 0) * rng.normal(size=3), body[0]
        elif kind == "parallel":  # normals that differ by little, at points that differ by little
            axes[n] = axes[0] @ np.linalg.qr(np.eye(3) + 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(3, 3)))[0]
            place[n] = place[0] + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=3)
        elif kind == "coplanar":
            place[n, 2] = place[0, 2]
    J = np.zeros((3 * N, 6 * B))
    for n in range(N):
        rows = axes[n] @ np.hstack([np.eye(3), -skew(place[n])])
        J[3 * n : 3 * n + 3, 6 * body[n] : 6 * body[n] + 6] = rows
        other = int(rng.integers(B))
        if rng.random() < 0.3 and other != body[n]:
            J[3 * n : 3 * n + 3, 6 * other : 6 * other + 6] = -rows
    return J * root


def right_hand_side(rng, Z):
    """Velocities the bodies can have, or any."""
    return Z @ rng.normal(size=Z.shape[1]) if rng.random() < 0.5 else rng.normal(size=len(Z))


def assert_agrees(A, b, x, expected, sizes, tolerance, label):
    """Impulses to 1e-9 where the kept eigenvalues exceed 1e-5 of the largest, else A x to 1e-7 of its scale, that of b.

    Where the oracle's own rounding is more than that, one in sixty digits stands in its place. Left out, and returned
    as False: systems with an eigenvalue on the very tolerance, or close ones on either side of it, so that any rounding
    of the matrix mixes what is kept with what is not.
    """
    largest = np.abs(sizes).max()
    sizes = np.sort(np.abs(sizes)) / largest
    kept, dropped = sizes[sizes > tolerance][0], sizes[sizes <= tolerance].max(initial=0.0)
    if kept > 1e-5:
        assert np.abs(x - expected).max() <= 1e-9 * max(np.abs(expected).max(), np.abs(b).max() / largest), label
    elif kept < 2.0 * dropped or np.abs(sizes / tolerance - 1.0).min() < 1e-4:
        return False
    elif np.abs(A @ (x - expected)).max() > 1e-7 * np.abs(b).max():
        exact = pseudo_inverse_times(A, b, tolerance)
        assert product_difference(A, x, exact) <= 1e-7 * np.abs(b).max(), label
    return True


def test_symmetric_systems_agree_with_eigenvalues(rng):
    work, ranks, clear = make_norm_work(30), set(), 0
    for n in range(COUNT):
        Z = contact_half(rng)
        b, M = right_hand_side(rng, Z), Z @ Z.T
        x = np.full(len(b), np.nan)
        solve_symmetric(len(b), np.arange(len(b)), M, b, TOLERANCE, False, work, x)
        expected, values = oracle(M, b)
        ranks.add(int((values > TOLERANCE * values[-1]).sum()))
        clear += assert_agrees(M, b, x, expected, values, TOLERANCE, n)
    assert clear >= COUNT - max(3, COUNT // 500)
    assert {3, 5, 6} <= ranks and max(ranks) > 10
    assert (work.rank[1:] > 0).all(), "Gram matrices, triangles and rotations must all have been needed"
    assert work.rank[1] > 2 * work.rank[3], "and rotations rarely"


def test_dropping_rows_agrees_with_solving_anew(rng):
    """Down-dated factors, through losses of rank down to the last point."""
    work = make_norm_work(30)
    for n in range(COUNT // 5):
        Z = contact_half(rng)
        M, b = Z @ Z.T, right_hand_side(rng, Z)
        rows, known = np.arange(len(b)), False
        while len(rows):
            x = np.full(len(rows), np.nan)
            known = solve_symmetric(len(rows), rows, M, b[rows], TOLERANCE, known, work, x)
            sub = M[np.ix_(rows, rows)]
            expected, values = oracle(sub, b[rows])
            assert_agrees(sub, b[rows], x, expected, values, TOLERANCE, (n, len(rows)))
            points = len(rows) // 3
            keep = np.repeat(rng.random(points) < 0.6, 3)
            if keep.all():
                keep[:3] = False
            if known:
                assert drop_rows(len(rows), keep.astype(np.int64), work) == keep.sum()
            rows = rows[keep]


def test_general_systems_agree_with_lstsq(rng):
    """Some points slip: one equation and one unknown each, n . M (n - mu d)."""
    work = make_norm_work(30)
    for n in range(COUNT // 2):
        Z = contact_half(rng)
        N, M = len(Z) // 3, Z @ Z.T
        slips, mu = rng.random(N) < 0.5, rng.uniform(0, 1.2, N)
        P, Q = [], []
        for i in range(N):
            angle = rng.uniform(0, 2 * np.pi)
            for e in (2,) if slips[i] else (0, 1, 2):
                row = np.zeros(3 * N)
                row[3 * i + e] = 1.0
                P.append(row)
                column = row.copy()
                if slips[i]:
                    column[3 * i : 3 * i + 2] = -mu[i] * np.cos(angle), -mu[i] * np.sin(angle)
                Q.append(column)
        A, b = np.array(P) @ M @ np.array(Q).T, np.array(P) @ right_hand_side(rng, Z)
        U, sizes, Vt = np.linalg.svd(A)
        kept = sizes > TOLERANCE * sizes[0]
        if sizes[0] == 0.0:
            continue
        expected = Vt[kept].T @ ((U[:, kept].T @ b) / sizes[kept])
        x = np.full(len(b), np.nan)
        solve_general(len(b), A, b, TOLERANCE, work, x)
        assert_agrees(A, b, x, expected, sizes, TOLERANCE, n)


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_ranks_of_one_free_body():
    """1, 2, 3, 4 points of a free body: ranks 3, 5, 6, 6 (the paper has M regular up to three)."""
    rng, work = np.random.default_rng(1), make_norm_work(12)
    for points, rank in ((1, 3), (2, 5), (3, 6), (4, 6)):
        J = np.vstack([np.hstack([np.eye(3), -skew(p)]) for p in rng.normal(size=(points, 3))])
        M = J @ J.T
        b, x = J @ rng.normal(size=6), np.full(3 * points, np.nan)
        assert np.linalg.matrix_rank(M) == rank
        solve_symmetric(len(b), np.arange(len(b)), M, b, TOLERANCE, False, work, x)
        assert work.rank[0] == rank
        assert M @ x == pytest.approx(b, abs=1e-12)
        assert x == pytest.approx(np.linalg.pinv(M, rcond=1e-10, hermitian=True) @ b, abs=1e-9)


@pytest.mark.boundscheck
@pytest.mark.nojit
@pytest.mark.parametrize("tolerance", [1e-12, 1e-9, 1e-4])
def test_what_is_below_the_tolerance_is_left_out(tolerance):
    """Eigenvalues on either side of the tolerance, and many equal ones, by rotations."""
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    values = np.array([1.0, 1.0, 0.3, 30 * tolerance, 2 * tolerance, 0.5 * tolerance, 0.0, 0.0])
    M, b, x = Q @ np.diag(values) @ Q.T, rng.normal(size=8), np.full(8, np.nan)
    work = make_norm_work(8)
    solve_symmetric(8, np.arange(8), 0.5 * (M + M.T), b, tolerance, False, work, x)
    kept = values > tolerance
    expected = Q[:, kept] @ ((Q[:, kept].T @ b) / values[kept])
    scale = 1e-7 if tolerance > 1e-10 else 2e-3  # eps over the smallest kept
    assert np.abs(Q.T @ (x - expected)).max() <= scale * np.abs(expected).max()
    assert work.rank[3] == 1
    y = np.full(8, np.nan)
    solve_general(8, 0.5 * (M + M.T), b, tolerance, work, y)
    assert np.abs(Q.T @ (y - expected)).max() <= scale * np.abs(expected).max()


@pytest.mark.nojit
def test_nothing_to_solve():
    work, x = make_norm_work(4), np.full(4, np.nan)
    solve_symmetric(4, np.arange(4), np.zeros((4, 4)), np.ones(4), TOLERANCE, False, work, x)
    assert (x == 0.0).all()
    x[:] = np.nan
    solve_general(4, np.zeros((4, 4)), np.ones(4), TOLERANCE, work, x)
    assert (x == 0.0).all()
    M, b = np.diag([4.0, 2.0, 1.0, 0.5]), np.zeros(4)
    solve_symmetric(4, np.arange(4), M, b, TOLERANCE, False, work, x)
    assert (x == 0.0).all()


def test_the_answer_does_not_depend_on_the_order_of_rows(rng):
    work = make_norm_work(30)
    for _ in range(50):
        Z = contact_half(rng, points=5)
        M, b, order = Z @ Z.T, rng.normal(size=15), rng.permutation(15)
        values = np.linalg.eigvalsh(M)
        if values[values > TOLERANCE * values[-1]][0] < 1e-4 * values[-1]:
            continue
        x, y = np.empty(15), np.empty(15)
        solve_symmetric(15, np.arange(15), M, b, TOLERANCE, False, work, x)
        solve_symmetric(15, np.arange(15), M[np.ix_(order, order)].copy(), b[order], TOLERANCE, False, work, y)
        assert np.abs(x[order] - y).max() <= 1e-9 * np.abs(x).max()
