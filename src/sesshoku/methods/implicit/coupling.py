"""Laws between moving links: trees are reduced to their handles, and the handles' wrenches found together.

A tree answers wrenches at its handles (links, or single dofs of mimics) with x = x0 + L L^T f: L L^T = Phi, L the rows
z of `tree.handle_rows` over the tree's dofs, or, where that is smaller, a Cholesky factor of Phi. A pair's law
is f = f* - K x with K its blocks (symmetric, positive semi-definite over both its ends). With x = x0 + L y:
    (1 + L^T K L) y = L^T (f* - K x0)
symmetric positive definite whatever the trees and their number of dofs. The matrix couples trees that touch and no
others: it is stored by rows from the first entry that may differ from zero, and factored within them.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.tree import dof_row, handle_rows
from sesshoku.methods.implicit.loops import backward_rows, close_loops, forward_rows, has_loops, in_group
from sesshoku.methods.implicit.problem import moves
from sesshoku.methods.implicit.work import COUPLING_OVERFLOW, MIMIC_PAIR, PAIRS, PORTS

TREE, ELEMENT, SIZE, FIRST, PLACE, KIND = range(6)  # columns of `port`
LINK_PORT, DOF_PORT = range(2)


@jit
def couple(model, data, work, dt, group):
    """Wrenches of the group's pairs (pair_force); needs its trees assembled and disassembled without them.

    False where there was no room.
    """
    find_ports(model, work, group)
    if not place_rows(model, data, work, group):
        work.counts[COUPLING_OVERFLOW] += 1
        return False
    if not shape_matrix(model, work, group):
        work.counts[COUPLING_OVERFLOW] += 1
        return False
    fill_matrix(model, data, work, group)
    size = unknowns(work, group)
    factor_rows(work.matrix, work.matrix_row, size)
    forward_rows(work.matrix, work.matrix_row, size, work.unknown)
    if has_loops(model, work, group):
        close_loops(model, data, work, dt, group, size, work.unknown)
    backward_rows(work.matrix, work.matrix_row, size, work.unknown)
    pair_forces(work, group)
    return True


@jit
def has_pairs(work, group):
    """Whether anything couples trees or links of the group."""
    found = False
    for p in range(work.counts[PAIRS]):
        found = found or (work.pair_group[p] == group and acts(work, p))
    return found


@jit
def acts(work, p):
    """Whether anything of pair p is on: a zero block means every point of it is off."""
    return work.pair_bb[p, 0] != 0.0 or work.pair_bb[p, 7] != 0.0 or work.pair_bb[p, 14] != 0.0


@jit
def find_ports(model, work, group):
    """Handles of the pairs that act, tree by tree."""
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        work.tree_rows[t] = 0
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            work.link_port[i] = -1
        for k in range(model.tree_dof[t], model.tree_dof[t + 1]):
            work.dof_port[k] = -1
    count = 0
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] != group or not acts(work, p):
            continue
        kind = DOF_PORT if work.pair_kind[p] == MIMIC_PAIR else LINK_PORT
        for side in range(2):
            element = work.pair_link[p, side]
            listed = work.dof_port if kind == DOF_PORT else work.link_port
            if listed[element] < 0:
                t = model.link_tree[model.dof_link[element] if kind == DOF_PORT else element]
                port, size = work.port[count], 1 if kind == DOF_PORT else 6
                port[TREE], port[ELEMENT], port[SIZE], port[FIRST] = t, element, size, work.tree_rows[t]
                port[KIND] = kind
                work.tree_rows[t] += size
                listed[element] = count
                count += 1
            work.pair_port[p, side] = listed[element]
    if has_loops(model, work, group):
        for n in range(model.loop_count):
            if in_group(model, work, n, group):
                for side in range(2):
                    link = model.loop_link[n, side]
                    work.loop_port[n, side] = -1
                    if moves(model, link):
                        count = link_handle(model, work, link, count)
                        work.loop_port[n, side] = work.link_port[link]
    work.counts[PORTS] = count


@jit
def link_handle(model, work, link, count):
    """The link is a handle, if it was not; how many there are then."""
    if work.link_port[link] >= 0:
        return count
    t = model.link_tree[link]
    port = work.port[count]
    port[TREE], port[ELEMENT], port[SIZE], port[FIRST], port[KIND] = t, link, 6, work.tree_rows[t], LINK_PORT
    work.tree_rows[t] += 6
    work.link_port[link] = count
    return count + 1


@jit
def place_rows(model, data, work, group):
    """L of every tree with handles, row after row: the rows z themselves, or the factor of z z^T. False: no room."""
    used, at = 0, 0
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        count, dofs = work.tree_rows[t], model.tree_dof[t + 1] - model.tree_dof[t]
        size = min(count, dofs)
        work.tree_size[t], work.tree_at[t], work.tree_place[t] = size, at, used
        at += size
        if used + count * size > work.row_capacity or count * dofs > work.row_capacity:
            return False
        used += count * size
    for n in range(work.counts[PORTS]):
        port = work.port[n]
        t = port[TREE]
        dofs = model.tree_dof[t + 1] - model.tree_dof[t]
        port[PLACE] = work.tree_place[t] + port[FIRST] * work.tree_size[t]
        if work.tree_size[t] == dofs:
            port_rows(model, data, port, dofs, work.rows[port[PLACE] : port[PLACE] + port[SIZE] * dofs])
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        count, dofs = work.tree_rows[t], model.tree_dof[t + 1] - model.tree_dof[t]
        if 0 < count < dofs:
            for n in range(work.counts[PORTS]):
                port = work.port[n]
                if port[TREE] == t:
                    start = port[FIRST] * dofs
                    port_rows(model, data, port, dofs, work.row_work[start : start + port[SIZE] * dofs])
            compress(work.row_work, count, dofs, work.rows[work.tree_place[t] :])
    return True


@jit
def port_rows(model, data, port, dofs, rows_out):
    if port[KIND] == LINK_PORT:
        handle_rows(model, data, port[ELEMENT], dofs, rows_out)
    else:
        dof_row(model, data, port[ELEMENT], rows_out)


@jit
def compress(z, count, dofs, L_out):
    """L (count, count), lower triangular, with L L^T = z z^T; columns of directions that cannot move are zero."""
    for i in range(count):
        for j in range(i + 1):
            s = 0.0
            zi, zj = z[i * dofs : (i + 1) * dofs], z[j * dofs : (j + 1) * dofs]
            for k in range(dofs):
                s += zi[k] * zj[k]
            L_out[i * count + j] = s
            if j < i:
                L_out[j * count + i] = 0.0
    for j in range(count):
        whole = L_out[j * count + j]
        s = whole
        for k in range(j):
            s -= L_out[j * count + k] * L_out[j * count + k]
        pivot = sqrt(s) if s > 1e-13 * whole else 0.0
        L_out[j * count + j] = pivot
        for i in range(j + 1, count):
            s = L_out[i * count + j]
            for k in range(j):
                s -= L_out[i * count + k] * L_out[j * count + k]
            L_out[i * count + j] = s / pivot if pivot > 0.0 else 0.0


@jit
def unknowns(work, group):
    last = work.group_tree[work.group_tree_start[group + 1] - 1]
    return work.tree_at[last] + work.tree_size[last]


@jit
def shape_matrix(model, work, group):
    """Where each row of the matrix begins: at the first unknown of the first tree it is coupled to. False: no room."""
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        work.tree_first[t] = work.tree_at[t]
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group and acts(work, p):
            ta, tb = work.port[work.pair_port[p, 0], TREE], work.port[work.pair_port[p, 1], TREE]
            low = min(work.tree_at[ta], work.tree_at[tb])
            work.tree_first[ta] = min(work.tree_first[ta], low)
            work.tree_first[tb] = min(work.tree_first[tb], low)
    used = 0
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        for n in range(work.tree_size[t]):
            row = work.tree_at[t] + n
            work.matrix_row[row] = used
            used += row - work.tree_first[t] + 1
            if used > work.matrix_capacity:
                return False
    work.matrix_row[unknowns(work, group)] = used
    matrix = work.matrix[:used]
    for n in range(used):
        matrix[n] = 0.0
    return True


@jit
def fill_matrix(model, data, work, group):
    """1 + L^T K L, lower triangle, and the right-hand side L^T (f* - K x0): eqs. (3), (4) of all pairs together."""
    matrix, row, y, K = work.matrix, work.matrix_row, work.unknown, work.port_K
    for r in range(unknowns(work, group)):
        matrix[row[r + 1] - 1] = 1.0
        y[r] = 0.0
    for n in range(work.counts[PORTS]):
        port, x = work.port[n], work.port_x[n]
        for a in range(36):
            K[n, a] = 0.0
        if port[KIND] == LINK_PORT:
            i = port[ELEMENT]
            for a in range(6):
                x[a] = data.acceleration[i, a] - work.reference[i, a]
        else:
            x[0] = data.free_acceleration[port[ELEMENT]]
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group and acts(work, p):
            a, b = work.pair_port[p, 0], work.pair_port[p, 1]
            for n in range(36):
                K[a, n] += work.pair_aa[p, n]
                K[b, n] += work.pair_bb[p, n]
            add_right_side(work, p, a, b)
            add_product(work, b, a, work.pair_ba[p], -1.0)
    for n in range(work.counts[PORTS]):
        add_product(work, n, n, K[n], 1.0)


@jit
def add_right_side(work, p, a, b):
    """L^T (f* - K x0) of pair p."""
    law_forces(work, p, work.port_x[a], work.port_x[b], work.pair_force[p])
    for side in range(2):
        port, f = work.port[a if side == 0 else b], work.pair_force[p, side]
        size, at = work.tree_size[port[TREE]], work.tree_at[port[TREE]]
        for n in range(port[SIZE]):
            L = work.rows[port[PLACE] + n * size : port[PLACE] + (n + 1) * size]
            for k in range(size):
                work.unknown[at + k] += L[k] * f[n]


@jit
def law_forces(work, p, xa, xb, force_out):
    """f* - K x of pair p on its two ends: f_b = f*_b - K_bb x_b + K_ba x_a, f_a = f*_a - K_aa x_a + K_ba^T x_b."""
    aa, bb, ba, push = work.pair_aa[p], work.pair_bb[p], work.pair_ba[p], work.pair_push[p]
    size = 1 if work.pair_kind[p] == MIMIC_PAIR else 6
    for n in range(size):
        fa, fb = push[0, n], push[1, n]
        for m in range(size):
            fa += ba[6 * m + n] * xb[m] - aa[6 * n + m] * xa[m]
            fb += ba[6 * n + m] * xa[m] - bb[6 * n + m] * xb[m]
        force_out[0, n], force_out[1, n] = fa, fb


@jit
def add_product(work, i, j, K, sign):
    """Matrix += sign L_i^T K L_j (and its transpose where the two are apart), lower triangle only."""
    pi, pj = work.port[i], work.port[j]
    ti, tj = pi[TREE], pj[TREE]
    mi, mj, size = work.tree_size[ti], work.tree_size[tj], pi[SIZE]
    oi, oj, first = work.tree_at[ti], work.tree_at[tj], work.tree_first
    row, matrix, column = work.matrix_row, work.matrix, work.work[0]
    for c in range(mj):
        for n in range(size):
            s = 0.0
            for m in range(size):
                s += K[6 * n + m] * work.rows[pj[PLACE] + m * mj + c]
            column[n] = s
        for r in range(mi):
            s = 0.0
            for n in range(size):
                s += work.rows[pi[PLACE] + n * mi + r] * column[n]
            s *= sign
            at_r, at_c = oi + r, oj + c
            if i == j:
                if at_c <= at_r:
                    matrix[row[at_r] + at_c - first[ti]] += s
                continue
            # the block and its transpose: where trees differ one of them is below the diagonal, else both share it
            if at_c < at_r:
                matrix[row[at_r] + at_c - first[ti]] += s
            elif at_c > at_r:
                matrix[row[at_c] + at_r - first[tj]] += s
            else:
                matrix[row[at_r] + at_c - first[ti]] += 2.0 * s


@jit
def factor_rows(matrix, row, size):
    """Cholesky factor in place of rows that end on the diagonal."""
    for r in range(size):
        start, length = row[r], row[r + 1] - row[r]
        low = r - length + 1
        mine = matrix[start : start + length]
        for c in range(low, r):
            c_length = row[c + 1] - row[c]
            c_low = c - c_length + 1
            theirs = matrix[row[c] : row[c] + c_length]
            s = mine[c - low]
            begin = max(low, c_low)
            left, right = mine[begin - low : c - low], theirs[begin - c_low : c - c_low]
            for k in range(len(left)):
                s -= left[k] * right[k]
            mine[c - low] = s / theirs[c_length - 1]
        s = mine[length - 1]
        for k in range(length - 1):
            s -= mine[k] * mine[k]
        mine[length - 1] = sqrt(s) if s > 1e-14 else 1e-7  # at least 1 but for rounding


@jit
def pair_forces(work, group):
    """x = x0 + L y at the handles, then f* - K x of every pair."""
    for n in range(work.counts[PORTS]):
        port, x = work.port[n], work.port_x[n]
        size, at = work.tree_size[port[TREE]], work.tree_at[port[TREE]]
        for a in range(port[SIZE]):
            L = work.rows[port[PLACE] + a * size : port[PLACE] + (a + 1) * size]
            for k in range(size):
                x[a] += L[k] * work.unknown[at + k]
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group and acts(work, p):
            a, b = work.pair_port[p, 0], work.pair_port[p, 1]
            law_forces(work, p, work.port_x[a], work.port_x[b], work.pair_force[p])
