"""LU factors of a dense matrix with partial pivoting, in place; row by row, so that the inner loops are contiguous."""

from __future__ import annotations

from sesshoku.compiled.jit import jit

REASSOCIATE = {"contract", "reassoc"}  # sums may be split over vector lanes


@jit
def lu_factor(n, A, pivot):
    """A (>= n, >= n) <- its factors, the multipliers below the diagonal; pivot (n): row swapped with row k.

    The diagonal keeps the reciprocals of the pivots. False if a pivot vanishes.
    """
    for k in range(n):
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
        inverse = 1.0 / A[k, k]
        A[k, k] = inverse
        mine = A[k, k + 1 : n]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                f = A[i, k] * inverse
                A[i, k] = f
                theirs = A[i, k + 1 : n]
                for j in range(len(theirs)):
                    theirs[j] -= f * mine[j]
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
