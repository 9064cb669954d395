"""Loops closed exactly: their wrenches are the multipliers of B^T x = c, within the solve of what couples trees.

Rows B of a loop stand at the handles of the links it joins (`coupling`). With x = x0 + L y and the laws of contacts,
    A y = b + C^T lambda,   C y = r,      A = 1 + L^T K L,  C = B^T L,  r = -u / dt - B^T x0,
u the velocity along a row: it is to be nothing at the end of the step. With A = F F^T and the columns G = F^-1 C^T,
    G^T G lambda = r - G^T F^-1 b,        F^T y = F^-1 b + G lambda.
G^T G is factored with pivots; rows of which others leave nothing (redundant loops) carry nothing: the motion is the
same. It is the law of `dynamics.assembly.laws.loop_law`, W = T (T^T Lambda T)^+ T^T, of all loops of a group at once.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import loop_error, loop_row_count
from sesshoku.methods.implicit.law import loop_row, loop_scale, row_times, side_row
from sesshoku.methods.implicit.options import BALANCED
from sesshoku.methods.implicit.problem import moves
from sesshoku.methods.implicit.work import LOOP_ROWS, RIGID

DEPENDENT = 1e-9  # of a row's own response: what is left of it beside others, where it says nothing of its own


@jit
def is_exact(work):
    """Whether loops are closed here; in another order of assembly they are stiff laws."""
    return work.options.schedule != BALANCED


@jit
def in_group(model, work, n, group):
    """Whether loop n holds a tree of the group."""
    for side in range(2):
        link = model.loop_link[n, side]
        if moves(model, link):
            return work.tree_group[model.link_tree[link]] == group
    return False


@jit
def has_loops(model, work, group):
    """Whether a loop is to be closed in the group."""
    found = False
    for n in range(model.loop_count if is_exact(work) else 0):
        found = found or in_group(model, work, n, group)
    return found


@jit
def close_loops(model, data, work, dt, group, size, forward):
    """Multipliers of the group's loops (work.loop_force); `forward` (size) = F^-1 b gains G lambda."""
    count = fill_rows(model, data, work, dt, group, size)
    columns, S, right, order, found = (work.loop_column, work.loop_matrix, work.loop_right, work.loop_order,
                                       work.loop_answer)
    for r in range(count):
        forward_rows(work.matrix, work.matrix_row, size, columns[r])
    for r in range(count):
        order[r] = r
        for k in range(size):
            right[r] -= columns[r, k] * forward[k]
        for s in range(r + 1):
            total = 0.0
            for k in range(size):
                total += columns[r, k] * columns[s, k]
            S[r, s] = S[s, r] = total
    rank = pivoted_factor(S, count, order, work.loop_scale)
    solve_factored(S, order, rank, right, found)
    for r in range(count):
        found_r = 0.0
        for e in range(rank):
            if order[e] == r:
                found_r = found[e]
        n, d = work.loop_index[r] // 6, work.loop_index[r] % 6
        work.loop_force[n, d] = found_r
        if found_r != 0.0:
            for k in range(size):
                forward[k] += found_r * columns[r, k]


@jit
def fill_rows(model, data, work, dt, group, size):
    """C (loop_column), r (loop_right) and own responses (loop_scale) of the rows of the group's loops; how many."""
    count, row = 0, work.work[1]
    for n in range(model.loop_count):
        if not in_group(model, work, n, group):
            continue
        loop_error(model, data, n, data.loop_point[n], data.loop_frame[n], data.loop_error[n])
        for d in range(loop_row_count(model.loop_kind[n])):
            x, y, z, px, py, pz = loop_row(data, work, n, d)
            column = work.loop_column[count]
            for k in range(size):
                column[k] = 0.0
            wanted = 0.0
            for side in range(2):
                link, sign = model.loop_link[n, side], 1.0 if side == 1 else -1.0
                if link < 0:
                    continue
                side_row(model, data, link, d < 3, (x, y, z), (px, py, pz), row)
                wanted -= sign * row_times(row, data.velocity[link]) / dt
                port = work.loop_port[n, side]
                if port >= 0:
                    wanted -= sign * row_times(row, work.port_x[port])
                    add_port_row(work, port, sign, row, column)
                else:  # a script: what it does within the step is known
                    for a in range(6):
                        known = data.velocity_product[link, a] - work.reference[link, a]
                        known -= model.gravity[a] if a < 3 else 0.0
                        wanted -= sign * row[a] * known
            own = 0.0
            for k in range(size):
                own += column[k] * column[k]
            # a row along which the mechanism cannot move has rounding for its own: the tree's mass says what is none
            work.loop_scale[count] = max(own, RIGID / loop_scale(model, work, n, d >= 3))
            work.loop_right[count], work.loop_index[count] = wanted, 6 * n + d
            count += 1
    work.counts[LOOP_ROWS] = count
    return count


@jit
def add_port_row(work, port, sign, row, column):
    """column += sign L^T row of a handle."""
    tree, place = work.port[port, 0], work.port[port, 4]
    size, at = work.tree_size[tree], work.tree_at[tree]
    for a in range(6):
        s = sign * row[a]
        if s != 0.0:
            for k in range(size):
                column[at + k] += s * work.rows[place + a * size + k]


@jit
def forward_rows(matrix, row, size, y):
    """y <- F^-1 y of the factor in `matrix` (coupling.factor_rows)."""
    for r in range(size):
        length = row[r + 1] - row[r]
        low, start, s = r - length + 1, row[r], y[r]
        for k in range(length - 1):
            s -= matrix[start + k] * y[low + k]
        y[r] = s / matrix[start + length - 1]


@jit
def backward_rows(matrix, row, size, y):
    """y <- F^-T y."""
    for r in range(size - 1, -1, -1):
        length = row[r + 1] - row[r]
        low, start = r - length + 1, row[r]
        s = y[r] / matrix[start + length - 1]
        y[r] = s
        for k in range(length - 1):
            y[low + k] -= matrix[start + k] * s


@jit
def pivoted_factor(S, count, order, scale):
    """Cholesky factor with pivots in place: row e of it is S[order[e]]; returns the rank.

    scale: of each row, its response alone; what others leave of it is compared with that.
    """
    for e in range(count):
        best, at = 0.0, -1
        for f in range(e, count):
            r = order[f]
            left = S[r, r]
            for g in range(e):
                left -= S[r, order[g]] * S[r, order[g]]
            share = left / scale[r] if scale[r] > 0.0 else 0.0
            if share > best:
                best, at = share, f
        if at < 0 or best <= DEPENDENT:
            return e
        order[e], order[at] = order[at], order[e]
        p = order[e]
        left = S[p, p]
        for g in range(e):
            left -= S[p, order[g]] * S[p, order[g]]
        root = sqrt(left)
        for f in range(e + 1, count):
            r = order[f]
            s = S[r, p]
            for g in range(e):
                s -= S[r, order[g]] * S[p, order[g]]
            S[r, p] = s / root
        S[p, p] = root
    return count


@jit
def solve_factored(S, order, rank, right, answer_out):
    """answer_out[e]: of row order[e], of S answer = right over the rows of the factor."""
    for e in range(rank):
        s = right[order[e]]
        for g in range(e):
            s -= S[order[e], order[g]] * answer_out[g]
        answer_out[e] = s / S[order[e], order[e]]
    for e in range(rank - 1, -1, -1):
        s = answer_out[e]
        for g in range(e + 1, rank):
            s -= S[order[g], order[e]] * answer_out[g]
        answer_out[e] = s / S[order[e], order[e]]


@jit
def add_loop_forces(model, data, work, group):
    """Wrenches of the group's loops into `total`."""
    row = work.work[1]
    for n in range(model.loop_count):
        if not in_group(model, work, n, group):
            continue
        for d in range(loop_row_count(model.loop_kind[n])):
            x, y, z, px, py, pz = loop_row(data, work, n, d)
            for side in range(2):
                link, s = model.loop_link[n, side], work.loop_force[n, d] if side == 1 else -work.loop_force[n, d]
                if moves(model, link):
                    side_row(model, data, link, d < 3, (x, y, z), (px, py, pz), row)
                    for a in range(6):
                        work.total[link, a] += s * row[a]
