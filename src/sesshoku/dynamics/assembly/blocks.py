"""Small dense matrices of the assembly: inverses, pseudo-inverses and products of blocks of at most six rows.

All work in place or into arrays handed in; nothing is allocated. `n` is the number of rows in use.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross

ROUNDS = 30  # of Jacobi's rotations over a matrix; six to eight do
CUT = 1e-10  # eigenvalues below this share of the largest count as zero


@jit
def invert_symmetric(n, A, L, least, inverse_out):
    """inverse = A^-1 of a symmetric positive definite matrix, by Cholesky; False where a pivot is lost in rounding.

    L (n, n) is work space; pivots up to `least` are rounding.
    """
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                if not s > max(1e-13 * A[i, i], least):
                    return False
                L[i, i] = sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    for c in range(n):  # columns of L^-1, lower triangle
        for i in range(c, n):
            s = 1.0 if i == c else 0.0
            for k in range(c, i):
                s -= L[i, k] * inverse_out[k, c]
            inverse_out[i, c] = s / L[i, i]
    for i in range(n):  # L^-T L^-1, upper triangle first: it reads only rows below
        for j in range(i, n):
            s = 0.0
            for k in range(j, n):
                s += inverse_out[k, i] * inverse_out[k, j]
            L[i, j] = s
    for i in range(n):
        for j in range(i, n):
            inverse_out[i, j] = inverse_out[j, i] = L[i, j]
    return True


@jit
def pseudo_inverse(n, A, V, scale, inverse_out):
    """inverse = A^+ of a symmetric positive semi-definite matrix, by Jacobi's rotations. Destroys A; V is work space.

    scale: a size that eigenvalues are measured by, where the largest of them may itself be rounding.
    """
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(ROUNDS):
        off = total = 0.0
        for i in range(n):
            total += A[i, i] * A[i, i]
            for j in range(i):
                off += A[i, j] * A[i, j]
        if not off > 1e-34 * total:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) > 1e-20 * (abs(A[p, p]) + abs(A[q, q])):
                    rotate(n, A, V, p, q)
    most = scale
    for i in range(n):
        most = max(most, A[i, i])
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                if A[k, k] > CUT * most:
                    s += V[i, k] * V[j, k] / A[k, k]
            inverse_out[i, j] = s


@jit
def rotate(n, A, V, p, q):
    """One rotation of Jacobi's method: makes A[p, q] zero."""
    theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + sqrt(theta * theta + 1.0))
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for k in range(n):
        x, y = A[k, p], A[k, q]
        A[k, p], A[k, q] = c * x - s * y, s * x + c * y
    for k in range(n):
        x, y = A[p, k], A[q, k]
        A[p, k], A[q, k] = c * x - s * y, s * x + c * y
    for k in range(n):
        x, y = V[k, p], V[k, q]
        V[k, p], V[k, q] = c * x - s * y, s * x + c * y


@jit
def solve_rows(A, B, columns):
    """B <- A^-1 B for a 6x6 matrix A and `columns` columns of B, by elimination with row exchanges. Destroys A."""
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(6):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(columns):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, 6):
            s = A[i, k] * inverse
            if s != 0.0:
                for j in range(k + 1, 6):
                    A[i, j] -= s * A[k, j]
                for j in range(columns):
                    B[i, j] -= s * B[k, j]
    for k in range(5, -1, -1):
        inverse = 1.0 / A[k, k]
        for j in range(columns):
            s = B[k, j]
            for i in range(k + 1, 6):
                s -= A[k, i] * B[i, j]
            B[k, j] = s * inverse


@jit
def axes_inverse(S, count, A, L, B, R_out):
    """R = (S^T S)^-1 S^T (count, 6) of the axes in the rows of S: motion -> rates along them. A, L, B: work space."""
    for k in range(count):
        for e in range(count):
            s = 0.0
            for a in range(6):
                s += S[k, a] * S[e, a]
            A[k, e] = s
    invert_symmetric(count, A, L, 0.0, B)
    for k in range(count):
        for a in range(6):
            s = 0.0
            for e in range(count):
                s += B[k, e] * S[e, a]
            R_out[k, a] = s


@jit
def complement(n, S, T_out):
    """Orthonormal T (6, 6 - n), in the first columns of T_out, with T^T S = 0 for the n columns in the rows of S (n,
    6).

    Unit vectors are freed of S and of each other, the one with most left first. Returns 6 - n.
    """
    count = 0
    for k in range(n):  # columns 6 - n .. 5 of T_out hold an orthonormal basis of S meanwhile
        for a in range(6):
            T_out[a, 5 - k] = S[k, a]
        orthonormal(T_out, 5 - k, 0, 6 - k)
    while count < 6 - n:
        best, most = 0, -1.0
        for e in range(6):  # how much of unit vector e is left
            left = 1.0
            for j in range(6):
                if j < count or j >= 6 - n:
                    left -= T_out[e, j] * T_out[e, j]
            if left > most:
                best, most = e, left
        for a in range(6):
            T_out[a, count] = 1.0 if a == best else 0.0
        orthonormal(T_out, count, count, 6 - n)
        count += 1
    return count


@jit
def orthonormal(T, column, before, after):
    """Free a column of those before `before` and from `after` on (twice: once leaves rounding), and norm it."""
    for _ in range(2):
        for j in range(6):
            if j < before or j >= after:
                s = 0.0
                for a in range(6):
                    s += T[a, j] * T[a, column]
                for a in range(6):
                    T[a, column] -= s * T[a, j]
    size = 0.0
    for a in range(6):
        size += T[a, column] * T[a, column]
    for a in range(6):
        T[a, column] /= sqrt(size)


@jit
def shift_motion(motion, x, y, z, shifted_out):
    """A motion vector (6) seen from a point (x, y, z) away: linear part + angular part x (x, y, z)."""
    cx, cy, cz = cross(motion[3], motion[4], motion[5], x, y, z)
    shifted_out[0], shifted_out[1], shifted_out[2] = motion[0] + cx, motion[1] + cy, motion[2] + cz
    shifted_out[3], shifted_out[4], shifted_out[5] = motion[3], motion[4], motion[5]


@jit
def shift_response(A, x, y, z):
    """X A X^T in place: wrench -> acceleration (6, 6) seen from a point (x, y, z) away."""
    for n in range(6):  # columns are motions
        cx, cy, cz = cross(A[3, n], A[4, n], A[5, n], x, y, z)
        A[0, n], A[1, n], A[2, n] = A[0, n] + cx, A[1, n] + cy, A[2, n] + cz
    for n in range(6):
        cx, cy, cz = cross(A[n, 3], A[n, 4], A[n, 5], x, y, z)
        A[n, 0], A[n, 1], A[n, 2] = A[n, 0] + cx, A[n, 1] + cy, A[n, 2] + cz
