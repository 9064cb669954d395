"""Strictly convex quadratic programme over a polyhedral cone:

    min 1/2 x^T P x + q^T x     subject to     G x >= 0,      P symmetric positive definite.

Optimal iff  P x + q = G^T y,  y >= 0,  G x >= 0,  y^T G x = 0.  x = 0 is always feasible, so an optimum exists.

Dual active set (Goldfarb and Idnani): start at the unconstrained minimum, take up the most violated row, drop rows
whose multiplier would turn negative, until none is violated. Each step raises the dual function, so no set of active
rows comes back; the unconstrained case costs one Cholesky factorisation and one look at the rows. Variables are scaled
to a unit diagonal of P and rows to unit length first, since forces and torques stand side by side. At the end the
optimality equations of the settled set are refined once. Zeros at the beginning of a row of P stay zeros of its factor
and are passed over: a long chain of bodies has few others.

A row of G touches `width` neighbouring variables from `at` on: the rows of one contact see its own wrench only.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array

SOLVED, OUT_OF_ITERATIONS, NOT_CONVEX = range(3)
# a row farther below zero than these shares of the largest scaled variable, now and at the start, is taken up
VIOLATED, VIOLATED_START = 1e-12, 1e-13
DEPENDENT = 1e-11  # a row whose part outside the active ones is shorter than this lies in their span


class ConeSpace(Record):
    """Work space for at most N variables and M rows of at most W coefficients."""

    row = array(float, "M", "W")  # scaled rows
    length = array(float, "M")  # of the rows before
    place = array(int, "M")  # of a row among the active ones, -1: not active
    scale = array(float, "N")  # x = scale * scaled x
    first = array(int, "N")  # the first column of a row of P that is not zero
    factor = array(float, "N", "N")  # lower Cholesky factor of the scaled P, reciprocals on the diagonal
    basis = array(float, "N", "N")  # J = L^-T times the rotations: J^T P J = 1, its first rows' span the active normals
    triangle = array(float, "N", "N")  # R of the active rows: J^T G_active^T = (R; 0)
    active = array(int, "N")  # rows in the order they were taken up
    point = array(float, "N")  # scaled x
    price = array(float, "N")  # multipliers of the active rows
    inner = array(float, "N")  # J^T g
    step = array(float, "N")  # direction of x
    turn = array(float, "N")  # minus the direction of the multipliers
    rest = array(float, "N")  # residual


def make_cone_space(variables: int, rows: int, width: int) -> ConeSpace:
    """Allocate."""
    return ConeSpace.sized({"N": variables, "M": rows, "W": width})


@jit
def cone_qp(n, quadratic, m, cone, space, x_out, y_out):
    """Solve for x (n) and the multipliers y (m); returns (status, iterations).

    P (>= n, >= n), q (>= n), rows (>= m, >= width), at (>= m).
    """
    P, q = quadratic
    rows, at, width = cone
    for k in range(m):
        y_out[k] = 0.0
        space.place[k] = -1
    if n == 0:
        return SOLVED, 0
    if not factorize_scaled(n, P, space):
        for i in range(n):
            x_out[i] = 0.0
        return NOT_CONVEX, 0
    point, scale = space.point, space.scale
    for i in range(n):
        point[i] = -q[i] * scale[i]
    solve_factor(n, space.first, space.factor, point)
    scale_rows(m, rows, at, width, space)
    least = 0.0
    for i in range(n):
        least = min(least, -VIOLATED_START * abs(point[i]))
    worst, violated = most_violated(n, m, at, width, least, space)
    status, iterations, count = SOLVED, 0, 0
    if violated >= 0:
        invert_factor(n, space.first, space.factor, space.basis)
        most = 50 + 10 * (n + m)
        while violated >= 0 and status == SOLVED:
            count, used = take_up(n, at, width, violated, worst, count, most - iterations, space)
            iterations += used
            worst, violated = most_violated(n, m, at, width, least, space)
            if iterations >= most and violated >= 0:
                status = OUT_OF_ITERATIONS
        refine(n, P, q, at, width, count, space)
    for i in range(n):
        x_out[i] = scale[i] * point[i]
    for a in range(count):
        k = space.active[a]
        y_out[k] = max(space.price[a], 0.0) / space.length[k]
    return status, iterations


@jit
def factorize_scaled(n, P, space):
    """Scale to a unit diagonal and factorise; False if P is not positive definite (to rounding)."""
    scale, first, L = space.scale, space.first, space.factor
    for i in range(n):
        if not P[i, i] > 0.0:
            return False
        scale[i] = 1.0 / sqrt(P[i, i])
    for i in range(n):
        mine, d, start = L[i], scale[i], 0
        while P[i, start] == 0.0:  # the diagonal is not
            mine[start] = 0.0
            start += 1
        first[i] = start
        for j in range(start, i + 1):
            other, t = L[j], P[i, j] * d * scale[j]
            for k in range(max(start, first[j]), j):
                t -= mine[k] * other[k]
            if j < i:
                mine[j] = t * other[j]
            else:
                if not t > 1e-15:
                    return False
                mine[i] = 1.0 / sqrt(t)
    return True


@jit
def solve_factor(n, first, L, x):
    """x <- (L L^T)^-1 x, reciprocals on the diagonal."""
    for i in range(n):
        t, row = x[i], L[i]
        for k in range(first[i], i):
            t -= row[k] * x[k]
        x[i] = t * row[i]
    for i in range(n - 1, -1, -1):
        row = L[i]
        t = x[i] * row[i]
        x[i] = t
        for k in range(first[i], i):
            x[k] -= row[k] * t


@jit
def invert_factor(n, first, L, J_out):
    """J = L^-T, kept by rows of its transpose: J_out[c] is column c of J."""
    for c in range(n):
        column = J_out[c]
        for j in range(n):
            column[j] = 0.0
        column[c] = 1.0
        for k in range(c, -1, -1):
            t, row = column[k], L[k]
            if t != 0.0:
                t *= row[k]
                column[k] = t
                for j in range(first[k], k):
                    column[j] -= t * row[j]


@jit
def scale_rows(m, rows, at, width, space):
    """Rows in scaled variables, of unit length; rows of zeros hold for every x and stay zero."""
    for k in range(m):
        size, first, row, out = 0.0, at[k], rows[k], space.row[k]
        for j in range(width):
            out[j] = row[j] * space.scale[first + j] if row[j] != 0.0 else 0.0
            size += out[j] * out[j]
        size = sqrt(size)
        space.length[k] = size if size > 0.0 else 1.0
        for j in range(width):
            out[j] /= space.length[k]


@jit
def most_violated(n, m, at, width, least, space):
    """The lowest value of an inactive row and its number, -1 if none is below the tolerance (`least` of the start)."""
    largest, point, number = 0.0, space.point, -1
    for i in range(n):
        largest = max(largest, abs(point[i]))
    least -= VIOLATED * largest
    for k in range(m):
        if space.place[k] < 0:
            value, row, first = 0.0, space.row[k], at[k]
            for j in range(width):
                if row[j] != 0.0:
                    value += row[j] * point[first + j]
            if value < least:
                least, number = value, k
    return least, number


@jit
def take_up(n, at, width, k, value, count, most, space):
    """Make row k active, dropping others on the way; returns (how many are active, iterations)."""
    price, active, d, z, r, J = space.price, space.active, space.inner, space.step, space.turn, space.basis
    row, first, point, own = space.row[k], at[k], space.point, 0.0
    for iteration in range(most):
        outside, t2, z_g = 0.0, np.inf, 0.0
        for c in range(n):
            t, column = 0.0, J[c]
            for j in range(width):
                if row[j] != 0.0:
                    t += column[first + j] * row[j]
            d[c] = t
            if c >= count:
                outside += t * t
        full = 0.0
        for c in range(count):
            full += d[c] * d[c]
        if outside > DEPENDENT * DEPENDENT * (full + outside) and count < n:
            for j in range(n):
                z[j] = 0.0
            for c in range(count, n):
                column, t = J[c], d[c]
                for j in range(n):
                    z[j] += t * column[j]
            z_g = outside
            t2 = -value / z_g
        back_substitute(count, space.triangle, d, r)
        t1, drop = np.inf, -1
        for a in range(count):
            if r[a] > 0.0 and price[a] < t1 * r[a]:
                t1, drop = max(price[a], 0.0) / r[a], a
        if t1 == np.inf and t2 == np.inf:  # cannot be: x = 0 is feasible; rounding only
            return count, iteration + 1
        t = min(t1, t2)
        for a in range(count):
            price[a] -= t * r[a]
        own += t
        if t2 < np.inf:
            for j in range(n):
                point[j] += t * z[j]
            value += t * z_g
        if t2 <= t1:
            price[count], active[count], space.place[k] = own, k, count
            append(n, count, space)
            return count + 1, iteration + 1
        count = remove(n, count, drop, space)
    return count, most


@jit
def back_substitute(count, R, d, r_out):
    """r = R^-1 d over the active rows."""
    for a in range(count - 1, -1, -1):
        t = d[a]
        for b in range(a + 1, count):
            t -= R[a, b] * r_out[b]
        r_out[a] = t / R[a, a]


@jit
def append(n, count, space):
    """Rotate the free part of J^T g (in `inner`) onto its first axis and add the column to R."""
    d, J, R = space.inner, space.basis, space.triangle
    for c in range(n - 1, count, -1):
        if d[c] != 0.0:
            size = sqrt(d[c - 1] * d[c - 1] + d[c] * d[c])
            co, si = d[c - 1] / size, d[c] / size
            d[c - 1], d[c] = size, 0.0
            one, two = J[c - 1], J[c]
            for j in range(n):
                one[j], two[j] = co * one[j] + si * two[j], co * two[j] - si * one[j]
    for a in range(count + 1):
        R[a, count] = d[a]


@jit
def remove(n, count, drop, space):
    """Take active row number `drop` out and make R triangular again; returns how many are left."""
    R, J, active, price, place = space.triangle, space.basis, space.active, space.price, space.place
    place[active[drop]] = -1
    for a in range(drop, count - 1):
        active[a], price[a] = active[a + 1], price[a + 1]
        place[active[a]] = a
        for b in range(a + 2):
            R[b, a] = R[b, a + 1]
    for a in range(drop, count - 1):
        size = sqrt(R[a, a] * R[a, a] + R[a + 1, a] * R[a + 1, a])
        co, si = R[a, a] / size, R[a + 1, a] / size
        for b in range(a, count - 1):
            R[a, b], R[a + 1, b] = co * R[a, b] + si * R[a + 1, b], co * R[a + 1, b] - si * R[a, b]
        one, two = J[a], J[a + 1]
        for j in range(n):
            one[j], two[j] = co * one[j] + si * two[j], co * two[j] - si * one[j]
    return count - 1


@jit
def refine(n, P, q, at, width, count, space):
    """One correction of P x + q = G^T y, G_active x = 0 by the factors at hand."""
    point, price, scale, rest, w = space.point, space.price, space.scale, space.rest, space.inner
    J, R, r = space.basis, space.triangle, space.turn
    for i in range(n):
        t, row = q[i], P[i]
        for j in range(n):
            t += row[j] * (scale[j] * point[j])
        rest[i] = -t * scale[i]
    for a in range(count):
        k = space.active[a]
        row, first, value = space.row[k], at[k], 0.0
        for j in range(width):
            if row[j] != 0.0:
                value += row[j] * point[first + j]
                rest[first + j] += row[j] * price[a]
        r[a] = -value
    for a in range(count):  # w1 = R^-T r, the part along the active rows
        t = r[a]
        for b in range(a):
            t -= R[b, a] * w[b]
        w[a] = t / R[a, a]
    for c in range(count, n):
        t, column = 0.0, J[c]
        for j in range(n):
            t += column[j] * rest[j]
        w[c] = t
    for a in range(count):  # R dy = w1 - J1^T rest
        t, column = w[a], J[a]
        for j in range(n):
            t -= column[j] * rest[j]
        space.step[a] = t
    back_substitute(count, R, space.step, r)
    for a in range(count):
        price[a] += r[a]
    for c in range(n):
        t, column = w[c], J[c]
        for j in range(n):
            point[j] += t * column[j]
