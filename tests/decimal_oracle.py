"""A^+ b in sixty digits, for the few systems in which an oracle in double precision is itself too inexact."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np


def decimals(a) -> np.ndarray:
    """The same numbers, exactly."""
    return np.array([Decimal(float(value)) for value in np.ravel(a)], dtype=object).reshape(np.shape(a))


def pseudo_inverse_times(A, b, tolerance) -> np.ndarray:
    """A^+ b as decimals, singular values up to `tolerance` times the largest left out.

    Eigenvectors of A^T A by Jacobi rotations, begun with those of double precision made orthonormal.
    """
    n = len(b)
    with localcontext() as context:
        context.prec = 60
        exact, V = decimals(A), decimals(np.linalg.svd(A)[2])
        for _ in range(2):
            for i in range(n):
                for j in range(i):
                    V[i] = V[i] - (V[i] @ V[j]) * V[j]
                V[i] = V[i] / (V[i] @ V[i]).sqrt()
        half = exact @ V.T
        G = half.T @ half
        small, turned = max(np.diag(G)) * Decimal("1e-48"), True
        while turned:
            turned = False
            for i in range(n - 1):
                for j in range(i + 1, n):
                    if abs(G[i, j]) > small:
                        turned = True
                        turn(G, V, i, j)
        image, x = exact.T @ decimals(b), decimals(np.zeros(n))
        least = Decimal(tolerance) ** 2 * max(np.diag(G))
        for i in range(n):
            if G[i, i] > least:
                x = x + (V[i] @ image) / G[i, i] * V[i]
        return x


def turn(G, V, i, j) -> None:
    """The rotation of rows and columns i, j that makes G[i, j] zero."""
    zeta = (G[j, j] - G[i, i]) / (2 * G[i, j])
    t = (1 if zeta >= 0 else -1) / (abs(zeta) + (1 + zeta * zeta).sqrt())
    c = 1 / (1 + t * t).sqrt()
    s = c * t
    for rows in (G, G.T, V):
        first, second = rows[i].copy(), rows[j].copy()
        rows[i], rows[j] = c * first - s * second, s * first + c * second


def product_difference(A, x, y) -> float:
    """max |A (x - y)| with x in double precision, y decimals."""
    with localcontext() as context:
        context.prec = 60
        return float(max(abs(value) for value in decimals(A) @ (decimals(x) - y)))
