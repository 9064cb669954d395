"""Linear programmes with few equations and many non-negative unknowns, by the revised simplex method:

    max  cost . x    subject to    sum_j x_j column_j = rhs,    x >= 0.

At most 8 equations: the basis' inverse is kept whole. Phase 1 begins with one artificial unknown per equation and
lowers their sum; what is left of it is how far `rhs` is from the cone of the columns (sum of absolute errors), so
`feasible` compares it with a tolerance instead of zero. Entering columns by steepest reduced cost; after a run of
steps without progress by the lowest number (Bland), which cannot cycle. The inverse is built afresh from the columns
from time to time and before an answer is given.

The caller scales: `rhs` and columns are meant to be of order one. Ties in the ratio test go to the largest pivot.
"""

from __future__ import annotations

from math import inf

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array

OPTIMAL, INFEASIBLE, UNBOUNDED, OUT_OF_ITERATIONS = range(4)
MOST_ROWS = 8
PIVOT = 1e-10  # entries of a column smaller than this don't bound it
GAIN = 1e-11  # reduced costs below this share of the largest cost don't count
PATIENCE = 6  # steps without progress before columns enter by number
REFRESH = 24  # steps between fresh inverses


class SimplexSpace(Record):
    """Work space for programmes of at most M columns."""

    inverse = array(float, MOST_ROWS, MOST_ROWS)  # of the basis
    matrix = array(float, MOST_ROWS, 2 * MOST_ROWS)  # of the fresh inverse
    basis = array(int, MOST_ROWS)  # column numbers; artificial ones: -1 - row
    value = array(float, MOST_ROWS)  # of the basic unknowns
    price = array(float, MOST_ROWS)  # multipliers of the equations
    change = array(float, MOST_ROWS)  # inverse times the entering column
    sign = array(float, MOST_ROWS)  # of the artificial columns
    is_basic = array(int, "M")


def make_simplex_space(columns: int) -> SimplexSpace:
    """Allocate."""
    return SimplexSpace.sized({"M": columns})


@jit
def feasible(rows, count, columns, rhs, tolerance, space):
    """Whether rhs (rows) lies within `tolerance` of the cone of `count` columns (>= count, >= rows).

    Returns (status, distance, iterations): OPTIMAL for yes, INFEASIBLE for no, OUT_OF_ITERATIONS where undecided.
    """
    start_artificial(rows, count, rhs, space)
    most = 40 + 6 * (rows + count)
    status, iterations = climb((rows, count, columns, rhs, rhs), True, tolerance, most, space)
    distance = artificial_sum(rows, space)
    if distance <= tolerance:
        return OPTIMAL, distance, iterations
    return (INFEASIBLE if status == OPTIMAL else status), distance, iterations


@jit
def solve_lp(programme, tolerance, space, x_out):
    """Maximise cost . x; returns (status, iterations). x (>= count) is zero where there is no optimum."""
    rows, count, columns, rhs = programme[0], programme[1], programme[2], programme[3]
    for j in range(count):
        x_out[j] = 0.0
    status, _, first = feasible(rows, count, columns, rhs, tolerance, space)
    if status != OPTIMAL:
        return status, first
    most = 40 + 6 * (rows + count)
    status, second = climb(programme, False, 0.0, most, space)
    if status != UNBOUNDED:
        for i in range(rows):
            if space.basis[i] >= 0:
                x_out[space.basis[i]] = max(space.value[i], 0.0)
    return status, first + second


@jit
def start_artificial(rows, count, rhs, space):
    """A basis of artificial unknowns, signed so that they are positive."""
    for j in range(count):
        space.is_basic[j] = 0
    for i in range(rows):
        space.sign[i] = -1.0 if rhs[i] < 0.0 else 1.0
        space.basis[i], space.value[i] = -1 - i, abs(rhs[i])
        for k in range(rows):
            space.inverse[i, k] = space.sign[i] if i == k else 0.0


@jit
def artificial_sum(rows, space):
    """How much of rhs the artificial unknowns carry."""
    total = 0.0
    for i in range(rows):
        if space.basis[i] < 0:
            total += abs(space.value[i])
    return total


@jit
def climb(programme, phase_one, enough, most, space):
    """Simplex steps until optimal, or in phase one until the artificial sum is at most `enough`.

    Phase one: cost is -1 for artificial unknowns, 0 else (`cost` is not read). Phase two: artificial unknowns that are
    still there stand at zero and leave as soon as a step would change them.
    """
    rows, count, columns, rhs, cost = programme
    largest = 1.0
    if not phase_one:
        largest = 0.0
        for j in range(count):
            largest = max(largest, abs(cost[j]))
    waiting = 0
    for iteration in range(most):
        if phase_one and artificial_sum(rows, space) <= enough:
            return OPTIMAL, iteration
        if iteration % REFRESH == REFRESH - 1:
            refresh(rows, columns, rhs, space)
        prices(rows, cost, phase_one, space)
        entering = choose_column((rows, count, columns, cost), phase_one, GAIN * largest, waiting > PATIENCE, space)
        if entering < 0:
            refresh(rows, columns, rhs, space)
            return OPTIMAL, iteration
        leaving, step = choose_row(rows, columns[entering], phase_one, waiting > PATIENCE, space)
        if leaving < 0:
            return UNBOUNDED, iteration
        waiting = waiting + 1 if step <= 0.0 else 0
        pivot(rows, entering, leaving, step, space)
    refresh(rows, columns, rhs, space)
    return OUT_OF_ITERATIONS, most


@jit
def prices(rows, cost, phase_one, space):
    """Multipliers y = inverse^T (costs of the basic unknowns)."""
    y = space.price
    for k in range(rows):
        y[k] = 0.0
    for i in range(rows):
        j = space.basis[i]
        if phase_one:
            c = -1.0 if j < 0 else 0.0
        else:
            c = 0.0 if j < 0 else cost[j]
        if c != 0.0:
            row = space.inverse[i]
            for k in range(rows):
                y[k] += c * row[k]


@jit
def choose_column(programme, phase_one, least, first, space):
    """The column that raises the objective most (or the first that does), -1: none."""
    rows, count, columns, cost = programme
    best, entering, y = least, -1, space.price
    for j in range(count):
        if space.is_basic[j] == 0:
            t = 0.0 if phase_one else cost[j]
            column = columns[j]
            for k in range(rows):
                t -= y[k] * column[k]
            if t > best:
                best, entering = t, j
                if first:
                    return j
    return entering


@jit
def choose_row(rows, column, phase_one, first, space):
    """The basic unknown that reaches zero first as the column enters, and the step; `change` is left for `pivot`."""
    d, leaving, step = space.change, -1, inf
    for i in range(rows):
        t, row = 0.0, space.inverse[i]
        for k in range(rows):
            t += row[k] * column[k]
        d[i] = t
    for i in range(rows):
        stands = not phase_one and space.basis[i] < 0 and abs(d[i]) > PIVOT  # artificial: must stay at zero
        if d[i] > PIVOT or stands:
            ratio = 0.0 if stands else max(space.value[i], 0.0) / d[i]
            better = ratio < step
            if ratio == step and leaving >= 0:
                better = space.basis[i] < space.basis[leaving] if first else abs(d[i]) > abs(d[leaving])
            if better:
                leaving, step = i, ratio
    return leaving, step


@jit
def pivot(rows, entering, leaving, step, space):
    """Exchange the two and update inverse and values."""
    d, B, x = space.change, space.inverse, space.value
    out = space.basis[leaving]
    if out >= 0:
        space.is_basic[out] = 0
    space.basis[leaving], space.is_basic[entering] = entering, 1
    mine, f = B[leaving], 1.0 / d[leaving]
    for k in range(rows):
        mine[k] *= f
    for i in range(rows):
        if i != leaving:
            x[i] = max(x[i] - step * d[i], 0.0)
            if d[i] != 0.0:
                row, g = B[i], d[i]
                for k in range(rows):
                    row[k] -= g * mine[k]
    x[leaving] = step


@jit
def refresh(rows, columns, rhs, space):
    """Inverse and values from the columns of the basis by Gauss-Jordan with row pivoting."""
    M = space.matrix
    for i in range(rows):
        j = space.basis[i]
        for k in range(rows):
            M[k, i] = columns[j, k] if j >= 0 else (space.sign[-1 - j] if k == -1 - j else 0.0)
            M[k, rows + i] = 1.0 if k == i else 0.0
    for i in range(rows):
        p = i
        for k in range(i + 1, rows):
            if abs(M[k, i]) > abs(M[p, i]):
                p = k
        if not abs(M[p, i]) > 0.0:
            return  # singular to rounding: keep the updated inverse
        for c in range(2 * rows):
            M[i, c], M[p, c] = M[p, c], M[i, c]
        f = 1.0 / M[i, i]
        for c in range(2 * rows):
            M[i, c] *= f
        for k in range(rows):
            if k != i and M[k, i] != 0.0:
                g = M[k, i]
                for c in range(2 * rows):
                    M[k, c] -= g * M[i, c]
    for i in range(rows):
        t = 0.0
        for k in range(rows):
            space.inverse[i, k] = M[i, rows + k]
            t += M[i, rows + k] * rhs[k]
        space.value[i] = t
