"""Block-sparse LU: one block row per tree of an island (6 for a free body, all dofs of a robot), nonzero blocks where
two trees touch, and where elimination fills in.

`analyze` orders the trees by greedy minimum degree, counted in dofs, and lays out the blocks; it depends only on who
touches whom. Pivots are chosen inside diagonal blocks, not between them. Blocks are stored row-major in one arena:
block (p, q) of n_p x n_q numbers begins at place[p, q].
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.matrix import as_matrix
from sesshoku.solvers.dense_lu import REASSOCIATE, lu_factor, lu_solve, lu_solve_left


@jit
def analyze(count, size, touch, place_out, order_out, start_out, neighbour_out, degree, done):
    """Elimination order, fill and layout; returns (numbers in the arena, flops of a factorisation).

    size (count): dofs of each tree. touch (>= count, >= count): 1 where two trees touch, both triangles; comes back
    with the fill. order: trees as eliminated; start, neighbour: what is still there around each when it goes. degree,
    done: work space. (-1, 0.0) if `neighbour_out` is too short.
    """
    for i in range(count):
        done[i] = 0
        total = 0
        for j in range(count):
            place_out[i, j] = -1
            if touch[i, j] != 0 and j != i:
                total += size[j]
        degree[i] = total
    used, listed, flops = 0, 0, 0.0
    start_out[0] = 0
    for s in range(count):
        p = -1
        for i in range(count):
            if done[i] == 0 and (p < 0 or degree[i] < degree[p]):
                p = i
        done[p], order_out[s], first = 1, p, listed
        row, mine = touch[p], size[p]
        place_out[p, p] = used
        used += mine * mine
        flops += 0.67 * mine * mine * mine + 2.0 * mine * degree[p] * (mine + degree[p])
        for j in range(count):
            if row[j] != 0 and done[j] == 0:
                if listed >= len(neighbour_out):
                    return -1, 0.0
                neighbour_out[listed] = j
                listed += 1
                place_out[p, j], place_out[j, p] = used, used + mine * size[j]
                used += 2 * mine * size[j]
        for a in range(first, listed):  # the neighbours now touch each other
            i = neighbour_out[a]
            degree[i] -= mine
            for b in range(first, a):
                j = neighbour_out[b]
                if touch[i, j] == 0:
                    touch[i, j] = touch[j, i] = 1
                    degree[i] += size[j]
                    degree[j] += size[i]
        start_out[s + 1] = listed
    return used, flops


@jit
def factor(count, size, dof, layout, arena, pivot):
    """Factor in place. Diagonal blocks of 6 become their inverses, others LU factors. dof: first dof of each tree.

    Blocks below the diagonal become A_ip A_pp^-1. pivot (V): of each tree's rows. False if a pivot vanishes.
    """
    order, start, neighbour, place = layout
    for s in range(count):
        p = order[s]
        n = size[p]
        if n == 0:
            continue
        P = arena[place[p, p] : place[p, p] + n * n]
        if n == 6:
            if not invert6(P):
                return False
        elif not lu_factor(n, as_matrix(P, n, n), pivot[dof[p] : dof[p] + n]):
            return False
        for a in range(start[s], start[s + 1]):
            i = neighbour[a]
            A = arena[place[i, p] : place[i, p] + size[i] * n]
            if n == 6:
                times_inverse6(size[i], A, P)
            else:
                F = as_matrix(P, n, n)
                for r in range(size[i]):
                    lu_solve_left(n, F, pivot[dof[p] : dof[p] + n], A[r * n : r * n + n])
            for b in range(start[s], start[s + 1]):
                j = neighbour[b]
                B = arena[place[p, j] : place[p, j] + n * size[j]]
                C = arena[place[i, j] : place[i, j] + size[i] * size[j]]
                if n == 6 and size[i] == 6 and size[j] == 6:
                    subtract_product6(C, A, B)
                else:
                    subtract_product(size[i], n, size[j], C, A, B)
    return True


@jit
def solve(count, size, dof, layout, arena, pivot, x):
    """x (V) <- A^-1 x over the dofs of the trees."""
    order, start, neighbour, place = layout
    for s in range(count):
        p = order[s]
        n, mine = size[p], x[dof[p] : dof[p] + size[p]]
        for a in range(start[s], start[s + 1]):
            i = neighbour[a]
            subtract_times(size[i], n, arena[place[i, p] : place[i, p] + size[i] * n], mine, x[dof[i] :])
    for s in range(count - 1, -1, -1):
        p = order[s]
        n, mine = size[p], x[dof[p] : dof[p] + size[p]]
        for a in range(start[s], start[s + 1]):
            j = neighbour[a]
            subtract_times(n, size[j], arena[place[p, j] : place[p, j] + n * size[j]], x[dof[j] :], mine)
        P = arena[place[p, p] : place[p, p] + n * n]
        if n == 6:
            times6(P, mine)
        elif n > 0:
            lu_solve(n, as_matrix(P, n, n), pivot[dof[p] : dof[p] + n], mine)


@jit(fastmath=REASSOCIATE)
def subtract_times(rows, columns, A, x, y_out):
    """y -= A x, A (rows, columns) flat."""
    for r in range(rows):
        row, t = A[r * columns : r * columns + columns], 0.0
        for k in range(columns):
            t += row[k] * x[k]
        y_out[r] -= t


@jit
def times6(A, x):
    """x (6) <- A x, A (36)."""
    a, b, c, d, e, f = x[0], x[1], x[2], x[3], x[4], x[5]
    for r in range(6):
        row = A[6 * r : 6 * r + 6]
        x[r] = row[0] * a + row[1] * b + row[2] * c + row[3] * d + row[4] * e + row[5] * f


@jit
def times_inverse6(rows, A, X):
    """A (rows, 6) <- A X, X (36)."""
    for r in range(rows):
        row = A[6 * r : 6 * r + 6]
        a, b, c, d, e, f = row[0], row[1], row[2], row[3], row[4], row[5]
        for j in range(6):
            row[j] = a * X[j] + b * X[6 + j] + c * X[12 + j] + d * X[18 + j] + e * X[24 + j] + f * X[30 + j]


@jit
def subtract_product6(C, A, B):
    """C -= A B, all (36)."""
    for r in range(0, 36, 6):
        a, b, c, d, e, f = A[r], A[r + 1], A[r + 2], A[r + 3], A[r + 4], A[r + 5]
        for j in range(6):
            C[r + j] -= a * B[j] + b * B[6 + j] + c * B[12 + j] + d * B[18 + j] + e * B[24 + j] + f * B[30 + j]


@jit
def subtract_product(rows, inner, columns, C, A, B):
    """C (rows, columns) -= A (rows, inner) B (inner, columns), flat."""
    for r in range(rows):
        row = C[r * columns : r * columns + columns]
        for k in range(inner):
            f, b = A[r * inner + k], B[k * columns : k * columns + columns]
            for j in range(columns):
                row[j] -= f * b[j]


@jit
def invert6(A):
    """A (36) <- A^-1 in place by Gauss-Jordan with partial pivoting; False if a pivot vanishes."""
    p0 = p1 = p2 = p3 = p4 = p5 = 0
    for k in range(6):
        p, largest = k, abs(A[7 * k])
        for i in range(k + 1, 6):
            if abs(A[6 * i + k]) > largest:
                p, largest = i, abs(A[6 * i + k])
        if not largest > 0.0:
            return False
        if k == 0:
            p0 = p
        elif k == 1:
            p1 = p
        elif k == 2:
            p2 = p
        elif k == 3:
            p3 = p
        elif k == 4:
            p4 = p
        else:
            p5 = p
        mine = A[6 * k : 6 * k + 6]
        if p != k:
            other = A[6 * p : 6 * p + 6]
            for j in range(6):
                mine[j], other[j] = other[j], mine[j]
        inverse = 1.0 / mine[k]
        mine[k] = 1.0
        for j in range(6):
            mine[j] *= inverse
        for i in range(6):
            if i != k:
                row = A[6 * i : 6 * i + 6]
                f = row[k]
                row[k] = 0.0
                for j in range(6):
                    row[j] -= f * mine[j]
    for k in range(5, -1, -1):  # undo the swaps of rows as swaps of columns
        p = p5 if k == 5 else (p4 if k == 4 else (p3 if k == 3 else (p2 if k == 2 else (p1 if k == 1 else p0))))
        if p != k:
            for i in range(6):
                A[6 * i + k], A[6 * i + p] = A[6 * i + p], A[6 * i + k]
    return True
