"""Delassus matrix G = J H^-1 J^T of constraint rows, by two routes.

By factorisation: with H = L^T D L, G = Z D^-1 Z^T where Z^T = L^-T J^T; the support of a row of Z stays on its ancestor
chain, so a product of two rows runs over their common ancestors only. By unit test forces: the paper's O(n) route, one
pass of the articulated-body algorithm per direction, see `aba.wrench_response`.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import path_acceleration, wrench_response


@jit
def half_row(model, factor, end, jacobian, half_out, start):
    """half = L^-T J^T along the chain of dof `end`."""
    if end < 0:
        return
    row, row_dof, first = model.dof_row, model.row_dof, model.dof_row[end]
    count = model.dof_depth[end] + 1
    for e in range(count):
        half_out[start + e] = jacobian[start + e]
    for e in range(count - 1, -1, -1):
        below, t = row[row_dof[first + e]], half_out[start + e]
        for f in range(e):
            half_out[start + f] -= factor[below + f] * t


@jit
def common_ancestors(model, end_a, end_b):
    """How many leading dofs the chains of two dofs share."""
    if end_a < 0 or end_b < 0:
        return 0
    row, row_dof = model.dof_row, model.row_dof
    a, b = row[end_a], row[end_b]
    if row_dof[a] != row_dof[b]:
        return 0  # different trees
    least = min(model.dof_depth[end_a], model.dof_depth[end_b]) + 1
    e = 1
    while e < least and row_dof[a + e] == row_dof[b + e]:
        e += 1
    return e


@jit
def half_product(model, dinv, one, other):
    """z_a^T D^-1 z_b over the common ancestors of two chains."""
    end_a, half_a, start_a = one
    end_b, half_b, start_b = other
    s = 0.0
    if end_a >= 0:
        first = model.dof_row[end_a]
        for e in range(common_ancestors(model, end_a, end_b)):
            s += half_a[start_a + e] * dinv[model.row_dof[first + e]] * half_b[start_b + e]
    return s


@jit
def row_delassus(model, dinv, count, row_end, row_start, half, matrix_out):
    """G (count, count) of rows that have up to two chains each (row_end, row_start: (count, 2))."""
    for m in range(count):
        for n in range(m + 1):
            s = 0.0
            for a in range(2):
                for b in range(2):
                    s += half_product(model, dinv, (row_end[m, a], half, row_start[m, a]),
                                      (row_end[n, b], half, row_start[n, b]))
            matrix_out[m, n] = s
            matrix_out[n, m] = s


@jit
def wrench_delassus(model, data, count, link, wrench, scratch, matrix_out):
    """G (count, count) of wrenches (count, 6, at the tree's origin) on single links, by unit test forces.

    `response` (V) and `acceleration` (6) are work space. Needs `kinematics` and `articulate`. Visits, for each pair in
    the same tree, only the dofs between the root and the two links.
    """
    response, acceleration = scratch
    for n in range(count):
        wrench_response(model, data, link[n], wrench[n], response)
        for m in range(count):
            s = 0.0
            if link[m] >= 0 and link[n] >= 0 and model.link_tree[link[m]] == model.link_tree[link[n]]:
                path_acceleration(model, data, link[n], link[m], response, acceleration)
                for a in range(6):
                    s += wrench[m, a] * acceleration[a]
            matrix_out[m, n] = s
