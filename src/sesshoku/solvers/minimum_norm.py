"""x = A^+ b: the least-squares solution of smallest norm, for matrices of any rank, also where A x = b has no solution.

Singular values up to `tolerance` times the largest count as zero. Stages, each for what the one before cannot do:
    factor    A = sum_k b_k c_k^T by complete pivoting (for symmetric A >= 0 pivoted Cholesky, b = c), until only
              rounding is left: the k vectors span what A reaches, however many rows repeat each other
    Gram      x = C^T (C C^T)^-1 (B B^T)^-1 B b with Cholesky factors of the two small Gram matrices, and one step of
              refinement, which takes the squared condition out of the error again
    triangle  where that is too ill-conditioned: B = R Q with orthonormal rows Q (twice by Cholesky), the same for C,
              and x = Q_c^T R_c^-1 R_b^-T Q_b b
    rotate    where a singular value may lie below the tolerance: one-sided Jacobi rotations of the small triangle give
              the singular values themselves, and those below it are left out
    refine    the last two, where small singular values are kept: one correction A^+ A^+T A^T (b - A x) by A itself, its
              sums in twice the precision. What the factor lost to rounding, such values magnify; this takes it out
              again, and A^T keeps what A does not reach out of it
The cost is rows times rank squared. When rows leave (`drop_rows`), the same vectors b_k without their entries still
factor the rest: the Gram matrix is down-dated, and only a loss of rank makes a new factor necessary.

Vectors are kept as rows of `factor` and `other` (k, n), so that every inner loop is contiguous.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array

REASSOCIATE = {"contract", "reassoc"}  # sums may be split over vector lanes
NOISE = 4e-16  # times the number of rows: pivots below this share of the largest are rounding,
FAINT = 1e-6  # but after one below this share
FAINT_NOISE = 2.5e-17  # those down to this are taken too: left out they would tilt the directions of small pivots
SAFE_PIVOT = 1e-4  # with smaller pivots than this share of the largest Gram matrices are not tried,
SAFE_MARGIN = 1e4  # nor with those less than so many tolerances
MOVED = 1e-7  # a refinement by more than this share of x: too ill-conditioned for Gram matrices
SWEEPS = 60
VANISHED = 2e-15  # a row of so little of the largest is rounding
ORTHOGONAL = 1e-15  # cosine of two rows that count as orthogonal
REFINED = 1e-4  # with singular values that may be below this share of the largest, triangles and rotations are refined
SPLIT = 134217729.0  # 2^27 + 1: halves the digits of a number


class NormWork(Record):
    """Work space for systems of up to D rows."""

    factor = array(float, "D", "D")  # b_k
    other = array(float, "D", "D")  # c_k of a matrix that is not symmetric
    gram = array(float, "D", "D")  # B B^T, down-dated
    root = array(float, "D", "D")  # its Cholesky factor, reciprocals on the diagonal
    root_other = array(float, "D", "D")  # of C C^T
    triangle = array(float, 2, "D", "D")  # R of both factors
    rest = array(float, "D", "D")  # what is left of a matrix that is being factored
    diagonal = array(float, "D")
    small = array(float, 2, "D")
    residual = array(float, "D")
    change = array(float, "D")
    every = array(int, "D")  # 0 ... D - 1
    rank = array(int, 4)  # vectors of the factor that stands; systems solved by Gram, triangle, rotations so far


def make_norm_work(rows: int) -> NormWork:
    """Room for systems of so many rows."""
    D = max(rows, 1)
    return NormWork.sized({"D": D}, every=np.arange(D))


@jit
def solve_symmetric(n, rows, M, b, tolerance, known, work, x_out):
    """x_out (n) <- A^+ b with A = M[rows, rows] symmetric, positive semi-definite: eqs. (18), (19), multipoint.

    Where (17) has a solution; where it has none, its least squares (rows are picked in print).

    known: the factor of exactly these rows stands in `work` already (`drop_rows`). Returns whether one stands there
    afterwards.
    """
    safe = max(SAFE_PIVOT, SAFE_MARGIN * tolerance)
    if known:
        k = work.rank[0]
        B, R = work.factor, work.root
        if cholesky(k, work.gram, safe, R) and by_factor((n, k), (B, R, B, R), b, work, x_out):
            return True
    k, ratio = pivoted_cholesky(n, rows, M, work.factor, work.diagonal)
    work.rank[0] = k
    if k == 0:
        for i in range(n):
            x_out[i] = 0.0
        return False
    if ratio > safe:
        fill_gram(n, k, work.factor, work.gram)
        B, R = work.factor, work.root
        if cholesky(k, work.gram, safe, R) and by_factor((n, k), (B, R, B, R), b, work, x_out):
            return True
    orthogonalise(n, k, work.factor, work.gram, work.root, work.triangle[0])
    by_triangle((n, k), (work.factor, work.triangle[0], work.factor, work.triangle[0]), True, rows, M, b, tolerance,
                work, x_out)
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
    safe = max(SAFE_PIVOT, SAFE_MARGIN * tolerance)
    if ratio > safe:
        fill_gram(n, k, work.factor, work.gram)
        fill_gram(n, k, work.other, work.rest)
        if (cholesky(k, work.gram, safe, work.root) and cholesky(k, work.rest, safe, work.root_other)
                and by_factor((n, k), (work.factor, work.root, work.other, work.root_other), b, work, x_out)):
            return
    orthogonalise(n, k, work.factor, work.gram, work.root, work.triangle[0])
    orthogonalise(n, k, work.other, work.gram, work.root, work.triangle[1])
    by_triangle((n, k), (work.factor, work.triangle[0], work.other, work.triangle[1]), False, work.every, A, b,
                tolerance, work, x_out)


@jit
def pivoted_cholesky(n, rows, M, factor, diagonal):
    """factor (k, n) with factor^T factor = M[rows, rows] up to rounding; k and the last pivot's share of the first."""
    largest = 0.0
    for i in range(n):
        diagonal[i] = M[rows[i], rows[i]]
        largest = max(largest, diagonal[i])
    k, last = 0, largest
    while k < n:
        p, best = -1, (NOISE if last > FAINT * largest else FAINT_NOISE) * n * largest
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
        p, q, best = -1, -1, (NOISE if last > FAINT * first else FAINT_NOISE) * n * first
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
def cholesky(k, gram, least, root_out):
    """Lower factor (k, k) of a Gram matrix, reciprocals on its diagonal; False where a pivot is below `least` times the
    largest entry: rank is lost, or too near to it."""
    largest = 0.0
    for i in range(k):
        largest = max(largest, gram[i, i])
    for i in range(k):
        mine = root_out[i]
        for j in range(i):
            mine[j] = (gram[i, j] - dot(j, mine, root_out[j])) * root_out[j, j]
        pivot = gram[i, i] - dot(i, mine, mine)
        if not pivot > least * largest:
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
def through_factor(size, factors, b, z, x_out):
    """x_out (n) = C^T (C C^T)^-1 (B B^T)^-1 B b, B = factor and C = other; z (k): work."""
    n, k = size
    factor, root, other, root_other = factors
    for j in range(k):
        z[j] = dot(n, factor[j], b)
    solve_gram(k, root, z)
    solve_gram(k, root_other, z)
    sum_rows(n, k, z, other, x_out)


@jit
def sum_rows(n, k, z, rows, x_out):
    """x_out (n) = the first k rows, each times its entry of z (k)."""
    for i in range(n):
        x_out[i] = 0.0
    for j in range(k):
        t, row = z[j], rows[j, :n]
        for i in range(n):
            x_out[i] += t * row[i]


@jit
def by_factor(sizes, factors, b, work, x_out):
    """x_out (n) from a factor and the roots of its Gram matrices, refined once; False if that moved it too far."""
    n, k = sizes
    factor, other = factors[0], factors[2]
    r, change, z = work.residual, work.change, work.small[1]
    through_factor(sizes, factors, b, z, x_out)
    for i in range(n):
        r[i] = b[i]
    for j in range(k):
        t, row = dot(n, other[j], x_out), factor[j, :n]
        for i in range(n):
            r[i] -= t * row[i]
    through_factor(sizes, factors, r, z, change)
    moved = size = wanted = largest = 0.0
    for i in range(n):
        moved, size, wanted = max(moved, abs(change[i])), max(size, abs(x_out[i])), max(wanted, abs(b[i]))
        x_out[i] += change[i]
    for j in range(k):
        largest = max(largest, dot(n, factor[j], factor[j]))
    work.rank[1] += 1
    return moved <= MOVED * size + 1e-13 * wanted / largest


@jit
def orthogonalise(n, k, rows, gram, root, triangle_out):
    """rows (k, n) <- Q with orthonormal rows, rows = R Q; triangle_out (k, k) <- R, lower.

    Cholesky twice: the first leaves Q orthonormal up to the condition of the rows, the second up to rounding. A row
    that depends on those above but for rounding becomes zero, with zeros in its column of R.
    """
    for again in range(2):
        fill_gram(n, k, rows, gram)
        for i in range(k):
            mine, row = root[i], rows[i, :n]
            for j in range(i):
                mine[j] = (gram[i, j] - dot(j, mine, root[j])) * root[j, j]
            pivot = gram[i, i] - dot(i, mine, mine)
            size = sqrt(pivot) if pivot > 1e-14 * gram[i, i] else 0.0
            mine[i] = 1.0 / size if size > 0.0 else 0.0
            for j in range(i):
                f, theirs = mine[j], rows[j, :n]
                for e in range(n):
                    row[e] -= f * theirs[e]
            for e in range(n):
                row[e] *= mine[i]
        for i in range(k):  # R <- R root, the roots' own diagonals in place of their reciprocals
            for j in range(i + 1):
                if not again:
                    triangle_out[i, j] = root[i, j] if j < i else (1.0 / root[i, i] if root[i, i] > 0.0 else 0.0)
                    continue
                total = 0.0
                for e in range(j, i + 1):
                    own = root[e, j] if e > j else (1.0 / root[j, j] if root[j, j] > 0.0 else 0.0)
                    total += triangle_out[i, e] * own
                triangle_out[i, j] = total


@jit
def by_triangle(size, factors, symmetric, rows, A, b, tolerance, work, x_out):
    """x_out (n) = Q_o^T (R^T R_o)^+ Q b; the matrix itself, A[rows, rows], for refinement.

    By substitution if no singular value can be below the tolerance, else by rotations. symmetric: R_o is R.
    """
    n, k = size
    Q, R, Q_other, R_other = factors
    least, most = triangle_bounds(k, R, work.rest)
    if not symmetric:
        other_least, other_most = triangle_bounds(k, R_other, work.rest)
        least, most = sqrt(least * other_least), sqrt(most * other_most)
    regular = least > tolerance * most
    work.rank[2 if regular else 3] += 1
    through_triangle(size, factors, regular, b, tolerance, work, x_out)
    if least <= REFINED * most:
        rest, image, change = work.residual, work.diagonal, work.change
        subtract_product(n, rows, A, False, b, x_out, rest)
        subtract_product(n, rows, A, True, b, rest, image)
        through_triangle(size, (Q_other, R_other, Q, R), regular, image, tolerance, work, rest)
        through_triangle(size, factors, regular, rest, tolerance, work, change)
        for i in range(n):
            x_out[i] -= change[i]


@jit
def through_triangle(size, factors, regular, b, tolerance, work, x_out):
    """x_out (n) = Q_o^T (R^T R_o)^+ Q b, by substitution where the triangles are regular, else by rotations."""
    n, k = size
    Q, R, Q_other, R_other = factors
    t = work.small[0]
    for i in range(k):
        t[i] = dot(n, Q[i], b)
    if regular:
        for i in range(k - 1, -1, -1):  # R^T w = t
            t[i] /= R[i, i]
            for j in range(i):
                t[j] -= R[i, j] * t[i]
        for i in range(k):  # R_o z = w
            t[i] = (t[i] - dot(i, R_other[i], t)) / R_other[i, i]
    else:
        rotate_triangles(k, R, R_other, tolerance, t, work)
    sum_rows(n, k, t, Q_other, x_out)


@jit
def subtract_product(n, rows, A, transposed, b, x, out):
    """out (n) = b - A[rows, rows] x, or -A[rows, rows]^T x, each sum with its rounding errors added up beside it.

    As if in twice the precision (Dot2 of Ogita, Rump and Oishi).
    """
    for i in range(n):
        total, lost = 0.0 if transposed else b[i], 0.0
        for j in range(n):
            a, y = -A[rows[j], rows[i]] if transposed else -A[rows[i], rows[j]], x[j]
            product = a * y
            t = SPLIT * a
            a_high = t - (t - a)
            t = SPLIT * y
            y_high = t - (t - y)
            a_low, y_low = a - a_high, y - y_high
            lost += a_low * y_low - (((product - a_high * y_high) - a_low * y_high) - a_high * y_low)
            before = total
            total += product
            t = total - before
            lost += (before - (total - t)) + (product - t)
        out[i] = total + lost


@jit
def triangle_bounds(k, R, inverse):
    """Bounds of the eigenvalues of R^T R, below the smallest and above the largest: norms of R and its inverse."""
    size = size_inverse = 0.0
    for i in range(k):
        if not R[i, i] > 0.0:
            return 0.0, 1.0
        size += dot(i + 1, R[i], R[i])
        mine = inverse[i]
        for j in range(i):
            total = 0.0
            for e in range(j, i):
                total += R[i, e] * inverse[e, j]
            mine[j] = -total / R[i, i]
        mine[i] = 1.0 / R[i, i]
        size_inverse += dot(i + 1, mine, mine)
    return 1.0 / size_inverse, size


@jit
def rotate_triangles(k, R, R_other, tolerance, t, work):
    """t (k) <- T^+ t with T = R^T R_o, singular values up to `tolerance` times the largest left out."""
    T, turned = work.rest, work.small[1]
    for i in range(k):
        turned[i] = t[i]
        for j in range(k):
            T[i, j] = 0.0
    for e in range(k):
        for i in range(e + 1):
            f = R[e, i]
            for j in range(e + 1):
                T[i, j] += f * R_other[e, j]
    rotate(k, T, turned)
    largest = 0.0
    for i in range(k):
        t[i] = 0.0
        largest = max(largest, dot(k, T[i], T[i]))
    for i in range(k):
        row = T[i, :k]
        size2 = dot(k, row, row)
        if size2 > tolerance * tolerance * largest:
            f = turned[i] / size2
            for j in range(k):
                t[j] += f * row[j]


@jit
def rotate(k, rows, turned):
    """One-sided Jacobi: turn pairs of rows (k, k), and the numbers `turned` (k) with them, until all are orthogonal.

    Rows that are rounding beside the largest are left: they stay rounding, and never become orthogonal.
    """
    for _ in range(SWEEPS):
        worst = least = 0.0
        for i in range(k):
            least = max(least, dot(k, rows[i], rows[i]))
        least *= VANISHED * VANISHED
        for i in range(k - 1):
            for j in range(i + 1, k):
                a, b = rows[i, :k], rows[j, :k]
                aa, bb, ab = dot(k, a, a), dot(k, b, b), dot(k, a, b)
                size = sqrt(aa) * sqrt(bb)
                if not abs(ab) > ORTHOGONAL * size or min(aa, bb) <= least:
                    continue
                worst = max(worst, abs(ab) / size)
                zeta = (bb - aa) / (2.0 * ab)
                t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta))
                c = 1.0 / sqrt(1.0 + t * t)
                s = c * t
                for e in range(k):
                    p, q = a[e], b[e]
                    a[e], b[e] = c * p - s * q, s * p + c * q
                p, q = turned[i], turned[j]
                turned[i], turned[j] = c * p - s * q, s * p + c * q
        if worst <= 1e-14:
            break


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
