"""Factors of a dense matrix in place: LU with partial pivoting, or without pivots where it is symmetric and positive
definite; row by row, so that the inner loops are contiguous."""

from __future__ import annotations

from sesshoku.compiled.jit import jit

REASSOCIATE = {"contract", "reassoc"}  # sums may be split over vector lanes


@jit
def lu_factor(n, A, pivot):
    """A (>= n, >= n) <- its factors, the multipliers below the diagonal; pivot (n): row swapped with row k.

    The diagonal keeps the reciprocals of the pivots. Four columns at a time: the rest of the matrix is then visited
    once for the four, not once for each. False if a pivot vanishes.
    """
    k = 0
    while k < n:
        width = min(4, n - k)
        end = k + width
        for c in range(k, end):  # the columns themselves, with all rows below
            if not choose_pivot(n, A, pivot, c):
                return False
            inverse = 1.0 / A[c, c]
            A[c, c] = inverse
            for i in range(c + 1, n):
                f = A[i, c] * inverse
                A[i, c] = f
                for j in range(c + 1, end):
                    A[i, j] -= f * A[c, j]
        if end == n:
            return True
        for c in range(k + 1, end):  # their rows to the right
            theirs = A[c, end:n]
            for i in range(k, c):
                f, mine = A[c, i], A[i, end:n]
                for j in range(len(theirs)):
                    theirs[j] -= f * mine[j]
        r0, r1, r2, r3 = A[k, end:n], A[k + 1, end:n], A[k + 2, end:n], A[k + 3, end:n]
        for i in range(end, n):  # and what remains
            f0, f1, f2, f3, theirs = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3], A[i, end:n]
            for j in range(len(theirs)):
                theirs[j] -= f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j]
        k = end
    return True


@jit
def choose_pivot(n, A, pivot, k):
    """Bring the largest entry of column k on or below the diagonal to the diagonal; False if it vanishes."""
    p, largest = k, abs(A[k, k])
    for i in range(k + 1, n):
        if abs(A[i, k]) > largest:
            p, largest = i, abs(A[i, k])
    pivot[k] = p
    if not largest > 0.0:  # also NaN
        return False
    if p != k:
        upper, lower = A[k, :n], A[p, :n]
        for j in range(n):
            upper[j], lower[j] = lower[j], upper[j]
    return True


@jit(fastmath=REASSOCIATE)
def lu_solve(n, A, pivot, x):
    """x (n) <- A^-1 x with the factors of `lu_factor`."""
    for k in range(n):
        p = pivot[k]
        if p != k:
            x[k], x[p] = x[p], x[k]
    for i in range(1, n):
        row, t = A[i, :i], x[i]
        for j in range(i):
            t -= row[j] * x[j]
        x[i] = t
    for i in range(n - 1, -1, -1):
        row, rest, t = A[i, i + 1 : n], x[i + 1 : n], x[i]
        for j in range(len(row)):
            t -= row[j] * rest[j]
        x[i] = t * A[i, i]


@jit
def lu_solve_left(n, A, pivot, x):
    """x^T (n) <- x^T A^-1 with the factors of `lu_factor`."""
    for k in range(n):  # x^T U^-1
        t = x[k] * A[k, k]
        x[k] = t
        if t != 0.0:
            row, rest = A[k, k + 1 : n], x[k + 1 : n]
            for j in range(len(row)):
                rest[j] -= t * row[j]
    for k in range(n - 1, 0, -1):  # then L^-1
        row, t = A[k, :k], x[k]
        if t != 0.0:
            for j in range(k):
                x[j] -= t * row[j]
    for k in range(n - 1, -1, -1):  # then the swaps, backwards
        p = pivot[k]
        if p != k:
            x[k], x[p] = x[p], x[k]


@jit
def symmetric_factor(n, A):
    """Upper triangle of a symmetric positive definite A (>= n, >= n) <- rows U of its factors A = U^T D^-1 U, D the
    diagonal of U, of which the reciprocals are kept. False if one is not positive.

    Half the flops of `lu_factor`, and no search for pivots. What is below the diagonal is left alone.
    """
    k = 0
    while k < n:
        end = min(k + 4, n)
        for c in range(k, end):  # the rows themselves
            mine = A[c, c:n]
            for i in range(k, c):
                theirs, f = A[i, c:n], A[i, c] * A[i, i]
                for j in range(len(mine)):
                    mine[j] -= f * theirs[j]
            if not mine[0] > 0.0:
                return False
            mine[0] = 1.0 / mine[0]
        if end - k == 4:
            d0, d1, d2, d3 = A[k, k], A[k + 1, k + 1], A[k + 2, k + 2], A[k + 3, k + 3]
            for i in range(end, n):  # and what remains
                r0, r1, r2, r3, mine = A[k, i:n], A[k + 1, i:n], A[k + 2, i:n], A[k + 3, i:n], A[i, i:n]
                f0, f1, f2, f3 = d0 * r0[0], d1 * r1[0], d2 * r2[0], d3 * r3[0]
                for j in range(len(mine)):
                    mine[j] -= f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j]
        k = end
    return True


@jit(fastmath=REASSOCIATE)
def symmetric_solve(n, A, x):
    """x (n) <- A^-1 x with the factors of `symmetric_factor`."""
    for i in range(n):
        t = x[i] * A[i, i]
        x[i] = t
        row, rest = A[i, i + 1 : n], x[i + 1 : n]
        for j in range(len(row)):
            rest[j] -= t * row[j]
    for i in range(n - 1, -1, -1):
        row, rest, t = A[i, i + 1 : n], x[i + 1 : n], 0.0
        for j in range(len(row)):
            t += row[j] * rest[j]
        x[i] -= t * A[i, i]
