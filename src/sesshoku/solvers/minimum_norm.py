"""x = A^+ b: the least-squares solution of smallest norm, for matrices of any rank, also where A x = b has no solution.

What counts as zero: singular values up to `tolerance` times the largest. Three stages:
    factor    A = sum_k b_k c_k^T by complete pivoting (for symmetric A >= 0 pivoted Cholesky, b = c), until only
              rounding is left: the k vectors span what A reaches, however many rows repeat each other
    solve     x = C^T (C C^T)^-1 (B B^T)^-1 B b with Cholesky factors of the two small Gram matrices, and one step of
              refinement, which takes the squared condition out of the error again
    rotate    where pivots come near the tolerance, or refinement moves x by more than a rounding: one-sided Jacobi
              rotations give the singular values themselves, and those below the tolerance are left out
The first two cost rows times rank squared. When rows leave (`drop_rows`), the same vectors b_k without their entries
still factor the rest: the Gram matrix is down-dated, and only a loss of rank makes a new factor necessary.

Vectors are kept as rows of `factor` and `other` (k, n), so that every inner loop is contiguous.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, viewer

REASSOCIATE = {"contract", "reassoc"}  # sums may be split over vector lanes
NOISE = 4e-16  # times the number of rows: pivots below this share of the largest are rounding
SAFE_PIVOT = 1e-6  # smaller pivots than this share of the largest call for rotations,
SAFE_MARGIN = 1e4  # and those less than so many tolerances
GRAM_PIVOT = 1e-9  # a Gram matrix whose pivots fall below this share of its diagonal has lost rank
MOVED = 1e-6  # a refinement by more than this share of x: too ill-conditioned for Gram matrices
SWEEPS = 60
ORTHOGONAL = 1e-15  # cosine of two rows that count as orthogonal


class NormWork(Record):
    """Work space for systems of up to D rows."""

    factor = array(float, 2)  # (D, D) b_k
    other = array(float, 2)  # (D, D) c_k of a matrix that is not symmetric
    gram = array(float, 2)  # (D, D) B B^T, down-dated
    root = array(float, 2)  # (D, D) its Cholesky factor, reciprocals on the diagonal
    root_other = array(float, 2)  # (D, D) of C C^T
    rest = array(float, 2)  # (D, D) what is left of a matrix that is being factored
    diagonal = array(float, 1)  # (D)
    small = array(float, 2)  # (2, D)
    residual = array(float, 1)  # (D)
    change = array(float, 1)  # (D)
    rank = array(int, 1)  # (2) vectors of the factor that stands; how many systems needed rotations


as_norm_work = viewer(NormWork)


def make_norm_work(rows: int) -> NormWork:
    """Room for systems of so many rows."""
    D = max(rows, 1)
    square = {name: np.zeros((D, D)) for name in ("factor", "other", "gram", "root", "root_other", "rest")}
    lines = {name: np.zeros(D) for name in ("diagonal", "residual", "change")}
    return NormWork(**square, **lines, small=np.zeros((2, D)), rank=np.zeros(2, dtype=np.int64))


@jit
def solve_symmetric(n, rows, M, b, tolerance, known, work, x_out):
    """x_out (n) <- A^+ b with A = M[rows, rows] symmetric, positive semi-definite.

    known: the factor of exactly these rows stands in `work` already (`drop_rows`). Returns whether one stands there
    afterwards.
    """
    if known:
        k = work.rank[0]
        if cholesky(k, work.gram, work.root) and by_factor(n, k, work.factor, work.root, work.factor, work.root, b, work,
                                                           x_out):  # fmt: skip
            return True
    k, ratio = pivoted_cholesky(n, rows, M, work.factor, work.diagonal)
    work.rank[0] = k
    if k == 0:
        for i in range(n):
            x_out[i] = 0.0
        return False
    if ratio > max(SAFE_PIVOT, SAFE_MARGIN * tolerance):
        fill_gram(n, k, work.factor, work.gram)
        if cholesky(k, work.gram, work.root) and by_factor(n, k, work.factor, work.root, work.factor, work.root, b, work,
                                                           x_out):  # fmt: skip
            return True
    rotate(n, k, work.factor, work.small[0], False)
    add_kept(n, k, work.factor, b, tolerance, True, work, x_out)
    return False


@jit
def solve_general(n, A, b, tolerance, work, x_out):
    """x_out (n) <- A^+ b of a square matrix A (>= n, >= n); A and b are kept."""
    R = work.rest
    for i in range(n):
        for j in range(n):
            R[i, j] = A[i, j]
    k, ratio = cross_factor(n, R, work.factor, work.other)
    if k == 0:
        for i in range(n):
            x_out[i] = 0.0
        return
    if ratio > max(SAFE_PIVOT, SAFE_MARGIN * tolerance):
        fill_gram(n, k, work.factor, work.gram)
        fill_gram(n, k, work.other, work.rest)
        if (cholesky(k, work.gram, work.root) and cholesky(k, work.rest, work.root_other)
                and by_factor(n, k, work.factor, work.root, work.other, work.root_other, b, work, x_out)):  # fmt: skip
            return
    turned = work.small[0]
    for i in range(n):
        turned[i] = b[i]
        for j in range(n):
            R[i, j] = A[i, j]
    rotate(n, n, R, turned, True)
    add_kept(n, n, R, b, tolerance, False, work, x_out)


@jit
def pivoted_cholesky(n, rows, M, factor, diagonal):
    """factor (k, n) with factor^T factor = M[rows, rows] up to rounding; k and the last pivot's share of the first."""
    largest = 0.0
    for i in range(n):
        diagonal[i] = M[rows[i], rows[i]]
        largest = max(largest, diagonal[i])
    k, last, noise = 0, 0.0, NOISE * n * largest
    while k < n:
        p, best = -1, noise
        for i in range(n):
            if diagonal[i] > best:
                p, best = i, diagonal[i]
        if p < 0:
            break
        mine, source = factor[k, :n], M[rows[p]]
        for i in range(n):
            mine[i] = source[rows[i]]
        for j in range(k):
            theirs = factor[j, :n]
            f = theirs[p]
            for i in range(n):
                mine[i] -= f * theirs[i]
        inverse = 1.0 / sqrt(best)
        for i in range(n):
            mine[i] *= inverse
            diagonal[i] -= mine[i] * mine[i]
        diagonal[p] = 0.0
        last = best
        k += 1
    return k, (last / largest if largest > 0.0 else 0.0)


@jit
def cross_factor(n, R, factor, other):
    """R (n, n), used up, = sum_k factor[k] other[k]^T by complete pivoting; k and the last pivot's share of the first.

    The pivot's root goes to either side, so that both Gram matrices are of a size.
    """
    k, first, last = 0, 0.0, 0.0
    while k < n:
        p, q, best = -1, -1, NOISE * n * first
        for i in range(n):
            row = R[i, :n]
            for j in range(n):
                if abs(row[j]) > best:
                    p, q, best = i, j, abs(row[j])
        if p < 0:
            break
        first, last = max(first, best), best
        pivot, scale = R[p, q], 1.0 / sqrt(best)
        left, right, chosen = factor[k, :n], other[k, :n], R[p, :n]
        for j in range(n):
            right[j] = chosen[j] * scale
        for i in range(n):
            left[i] = R[i, q] * (best / pivot) * scale
        for i in range(n):
            f, row = left[i], R[i, :n]
            for j in range(n):
                row[j] -= f * right[j]
        for j in range(n):
            R[p, j] = R[j, q] = 0.0
        k += 1
    return k, (last / first if first > 0.0 else 0.0)


@jit(fastmath=REASSOCIATE)
def dot(n, a, b):
    """a . b of the first n numbers."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@jit
def fill_gram(n, k, factor, gram_out):
    """Inner products (k, k) of the k rows of factor (k, n)."""
    for i in range(k):
        for j in range(i + 1):
            gram_out[i, j] = gram_out[j, i] = dot(n, factor[i], factor[j])


@jit
def cholesky(k, gram, root_out):
    """Lower factor (k, k) of a Gram matrix, reciprocals on its diagonal; False where it has lost rank."""
    for i in range(k):
        mine = root_out[i]
        for j in range(i):
            mine[j] = (gram[i, j] - dot(j, mine, root_out[j])) * root_out[j, j]
        pivot = gram[i, i] - dot(i, mine, mine)
        if not pivot > GRAM_PIVOT * gram[i, i]:
            return False
        mine[i] = 1.0 / sqrt(pivot)
    return True


@jit
def solve_gram(k, root, z):
    """z (k) <- (root root^T)^-1 z."""
    for i in range(k):
        z[i] = (z[i] - dot(i, root[i], z)) * root[i, i]
    for i in range(k - 1, -1, -1):
        t = z[i] * root[i, i]
        z[i] = t
        row = root[i]
        for j in range(i):
            z[j] -= row[j] * t


@jit
def through_factor(n, k, factor, root, other, root_other, b, z, x_out):
    """x_out (n) = C^T (C C^T)^-1 (B B^T)^-1 B b, B = factor and C = other; z (k): work."""
    for j in range(k):
        z[j] = dot(n, factor[j], b)
    solve_gram(k, root, z)
    solve_gram(k, root_other, z)
    for i in range(n):
        x_out[i] = 0.0
    for j in range(k):
        t, row = z[j], other[j, :n]
        for i in range(n):
            x_out[i] += t * row[i]


@jit
def by_factor(n, k, factor, root, other, root_other, b, work, x_out):
    """x_out (n) from a factor and the roots of its Gram matrices, refined once; False if that moved it too far."""
    r, change, z = work.residual, work.change, work.small[1]
    through_factor(n, k, factor, root, other, root_other, b, z, x_out)
    for i in range(n):
        r[i] = b[i]
    for j in range(k):
        t, row = dot(n, other[j], x_out), factor[j, :n]
        for i in range(n):
            r[i] -= t * row[i]
    through_factor(n, k, factor, root, other, root_other, r, z, change)
    moved = size = wanted = largest = 0.0
    for i in range(n):
        moved, size, wanted = max(moved, abs(change[i])), max(size, abs(x_out[i])), max(wanted, abs(b[i]))
        x_out[i] += change[i]
    for j in range(k):
        largest = max(largest, dot(n, factor[j], factor[j]))
    return moved <= MOVED * size + 1e-13 * wanted / largest


@jit
def rotate(n, k, rows, turned, also):
    """One-sided Jacobi: turn pairs of the k rows (k, n) until all are orthogonal; `turned` (k) with them if `also`."""
    for _ in range(SWEEPS):
        worst = 0.0
        for i in range(k - 1):
            for j in range(i + 1, k):
                a, b = rows[i, :n], rows[j, :n]
                aa, bb, ab = dot(n, a, a), dot(n, b, b), dot(n, a, b)
                size = sqrt(aa) * sqrt(bb)
                if not abs(ab) > ORTHOGONAL * size:
                    continue
                worst = max(worst, abs(ab) / size)
                zeta = (bb - aa) / (2.0 * ab)
                t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta))
                c = 1.0 / sqrt(1.0 + t * t)
                s = c * t
                for e in range(n):
                    p, q = a[e], b[e]
                    a[e], b[e] = c * p - s * q, s * p + c * q
                if also:
                    p, q = turned[i], turned[j]
                    turned[i], turned[j] = c * p - s * q, s * p + c * q
        if worst <= 1e-14:
            break


@jit
def add_kept(n, k, rows, b, tolerance, symmetric, work, x_out):
    """x_out (n) from orthogonal rows, those above the tolerance alone.

    symmetric: A = rows^T rows, eigenvalues are squared lengths. Else A = W^T rows, singular values are lengths and
    W b stands in work.small[0].
    """
    work.rank[1] += 1
    turned, largest = work.small[0], 0.0
    for i in range(n):
        x_out[i] = 0.0
    for j in range(k):
        largest = max(largest, dot(n, rows[j], rows[j]))
    for j in range(k):
        row = rows[j, :n]
        size2 = dot(n, row, row)
        least = tolerance * largest if symmetric else tolerance * tolerance * largest
        if not size2 > least:
            continue
        t = dot(n, row, b) / (size2 * size2) if symmetric else turned[j] / size2
        for i in range(n):
            x_out[i] += t * row[i]


@jit
def drop_rows(n, keep, work):
    """Take rows out of the factor that stands: those with keep (n) == 0. Returns how many are left."""
    k, factor, gram, left = work.rank[0], work.factor, work.gram, 0
    for i in range(n):
        if keep[i] == 0:
            for j in range(k):
                f, row = factor[j, i], gram[j]
                for e in range(k):
                    row[e] -= f * factor[e, i]
    for i in range(n):
        if keep[i] != 0:
            for j in range(k):
                factor[j, left] = factor[j, i]
            left += 1
    return left
