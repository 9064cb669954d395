"""Newton direction of newton.py in primal form, (E16): (I + Z^T (D/eps) Z) dy = R, tree by tree (block_lu.py).

A contact adds Z_a^T (D/eps) Z_b for each pair of the trees it touches. The mass matrix is the identity here, since rows
are kept in half form; what remains is as sparse as who touches whom. Blocks of lone bodies are kept in twists instead,
and their contacts added pair by pair (pair_blocks.py): the same system in other coordinates.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.matrix import as_matrix
from sesshoku.solvers import block_lu
from sesshoku.solvers.dense_lu import symmetric_factor, symmetric_solve
from sesshoku.solvers.proximal.local import OPEN, SLIP
from sesshoku.solvers.proximal.pair_blocks import add_pair, from_twist, place_mass, to_wrench, twist_rows
from sesshoku.solvers.proximal.rows import push_rows, read_rows
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS, FACTOR_SIZE, RUNS, SYMMETRIC


@jit
def analyze_island(chains, problem, lists, work):
    """Elimination order and layout of the island's trees; returns the flops of a factorisation, -1: not possible."""
    contact_list, joint_list, dof_list = lists
    count, touch = len(dof_list), work.touch
    if count > work.block_capacity:
        return -1.0
    for b in range(count):
        first, last = dof_list[b, 0], dof_list[b, 1]
        work.block_dof[b], work.block_size[b] = first, last - first
        for k in range(first, last):
            work.dof_block[k], work.dof_place[k] = b, k - first
        for e in range(count):
            touch[b, e] = 0
    for i in range(len(contact_list)):
        join(chains, problem.span[contact_list[i]], work)
    for i in range(len(joint_list)):
        join(chains, problem.joint_span[joint_list[i]], work)
        join_all(chains, problem.joint_span[joint_list[i], 0], work)
    choose_twists(chains, problem, lists, work)
    used, flops = block_lu.analyze(count, work.block_size, touch, work.place, work.order, work.neighbour_start,
                                   work.neighbour, work.degree, work.done)
    if used < 0 or used > len(work.arena):
        return -1.0
    work.info[FACTOR_SIZE] = used
    return flops


@jit
def choose_twists(chains, problem, lists, work):
    """Which blocks are kept in twists: those of lone bodies without joint rows or rolling blocks."""
    contact_list, joint_list, dof_list = lists
    for b in range(len(dof_list)):
        work.twists[b] = work.lone[dof_list[b, 0]] if len(dof_list) > 1 and work.block_size[b] == 6 else 0
    for i in range(work.info[CONTACT_BLOCKS], len(contact_list)):
        stay_half(chains, problem.span[contact_list[i]], work)
    for i in range(len(joint_list)):
        stay_half(chains, problem.joint_span[joint_list[i]], work)


@jit
def stay_half(chains, span, work):
    """No twists for the trees of a row."""
    for side in range(2):
        for e in range(span[side, 1]):
            work.twists[work.dof_block[chains[span[side, 0] + e]]] = 0


@jit
def join(chains, span, work):
    """Mark the two trees of a row as touching."""
    if span[0, 1] > 0 and span[1, 1] > 0:
        a, b = work.dof_block[chains[span[0, 0]]], work.dof_block[chains[span[1, 0]]]
        if a != b:
            work.touch[a, b] = work.touch[b, a] = 1


@jit
def join_all(chains, span, work):
    """Mark all trees of one side of a row as touching: rows of loops may reach several."""
    dofs = chains[span[0] : span[0] + span[1]]
    for e in range(1, len(dofs)):
        b = work.dof_block[dofs[e]]
        if b != work.dof_block[dofs[e - 1]]:
            for f in range(e):
                a = work.dof_block[dofs[f]]
                work.touch[a, b] = work.touch[b, a] = 1


@jit
def fill_blocks(chains, problem, lists, sigma, work):
    """(E16): I + Z^T (D/eps) Z; of one tree in which nothing slips the upper triangle will do.

    Of lone bodies in twists: M in place of I, J in place of Z.
    """
    contact_list, joint_list, dof_list = lists
    m, arena, place, size, run = len(contact_list), work.arena, work.place, work.block_size, work.run
    m0 = work.info[CONTACT_BLOCKS]
    symmetric = len(dof_list) == 1 and m == m0
    for i in range(m0):
        symmetric = symmetric and work.state[i] != SLIP
    work.info[SYMMETRIC] = 1 if symmetric else 0
    for n in range(work.info[FACTOR_SIZE]):
        arena[n] = 0.0
    for b in range(len(dof_list)):
        n, at = size[b], place[b, b]
        if work.twists[b] == 1:
            place_mass(problem, work.lower, work.block_dof[b], arena[at : at + 36])
            continue
        for r in range(n):
            arena[at + r * n + r] = 1.0
    for r in range(work.info[RUNS]):
        if in_twists(problem, contact_list[run[r]], work):
            add_pair(problem, contact_list, run[r], run[r + 1], sigma, work)
            continue
        for i in range(run[r], run[r + 1]):
            if work.state[i] != OPEN:
                add_contact(chains, problem, contact_list[i], work.slope[i], 1.0 / (sigma * work.scale[i]), work)
    for i in range(m0, m):
        if work.state[i] != OPEN:
            add_rolling(chains, problem, contact_list[i], work.slope[i], 1.0 / (sigma * work.scale[i]), work)
    for i in range(len(joint_list)):
        if work.state[m + i] != OPEN:
            stiffness = 1.0 / (sigma * work.scale[m + i])
            if len(dof_list) == 1 and problem.joint_span[joint_list[i], 1, 1] == 0:
                add_chain_row(chains, problem, joint_list[i], stiffness, symmetric, work)
            else:
                add_joint(chains, problem, joint_list[i], stiffness, work)


@jit(into_callers=True)
def in_twists(problem, c, work):
    """Whether the rows of contact c are a point's and all blocks that they act on are kept in twists."""
    a, b = problem.body[c, 0], problem.body[c, 1]
    return work.pointed[c] == 1 and (a < 0 or work.twists[work.dof_block[a]] == 1) and (
        b < 0 or work.twists[work.dof_block[b]] == 1)


@jit(into_callers=True)
def side_of(problem, c, side, work):
    """Rows of one side of contact c in the coordinates of its block: where they stand, and from which place on."""
    k = problem.body[c, side]
    if k >= 0 and work.twists[work.dof_block[k]] == 1:
        twist_rows(problem, work, c, side, work.side_rows[18 * side : 18 * side + 18])
        return work.side_rows, 18 * side
    return problem.half, problem.span[c, side, 2]


@jit
def add_contact(chains, problem, c, slope, stiffness, work):
    """(E16): Z^T (D/eps) Z of one contact."""
    span, scratch = problem.span[c], work.small
    d0, d1, d2 = slope[0] * stiffness, slope[1] * stiffness, slope[2] * stiffness
    d3, d4 = slope[3] * stiffness, slope[4] * stiffness
    for side in range(2):
        columns = span[side, 1]
        if columns == 0:
            continue
        half, at = side_of(problem, c, side, work)
        z0, z1, z2 = half[at:], half[at + columns :], half[at + 2 * columns :]
        p, q, s = scratch[:columns], scratch[columns : 2 * columns], scratch[2 * columns : 3 * columns]
        for e in range(columns):  # D Z along this chain
            x, y, w = z0[e], z1[e], z2[e]
            p[e], q[e], s[e] = d0 * x + d1 * y + d3 * w, d1 * x + d2 * y + d4 * w, stiffness * w
        dofs = chains[span[side, 0] : span[side, 0] + columns]
        column_block = work.dof_block[dofs[0]]
        together = dofs[columns - 1] - dofs[0] == columns - 1  # dofs in one run, as a free body's
        for other in range(2):
            rows = span[other, 1]
            if rows == 0:
                continue
            half, at = side_of(problem, c, other, work)
            l0, l1, l2 = half[at:], half[at + rows :], half[at + 2 * rows :]
            row_dofs = chains[span[other, 0] : span[other, 0] + rows]
            width, at = work.block_size[column_block], work.place[work.dof_block[row_dofs[0]], column_block]
            for r in range(rows):
                a, b, d = l0[r], l1[r], l2[r]
                begin = at + work.dof_place[row_dofs[r]] * width
                if together:
                    begin += work.dof_place[dofs[0]]
                    line = work.arena[begin : begin + columns]
                    for e in range(columns):
                        line[e] += a * p[e] + b * q[e] + d * s[e]
                else:
                    line = work.arena[begin : begin + width]
                    for e in range(columns):
                        line[work.dof_place[dofs[e]]] += a * p[e] + b * q[e] + d * s[e]


@jit
def add_rolling(chains, problem, p, slope, stiffness, work):
    """(E16): Z^T (D/eps) of the rolling block in slot p, times its own rows and its contact's normal row.

    Both blocks lie on the same links, so their chains are the same.
    """
    span, half, scratch = problem.span[p], problem.half, work.small
    normal = problem.span[p - problem.contact_capacity]
    for side in range(2):
        columns, at = span[side, 1], span[side, 2]
        z0, z1, z2 = half[at:], half[at + columns :], half[at + 2 * columns :]
        zn = half[normal[side, 2] + 2 * columns :]
        p0, p1, p2 = scratch[:columns], scratch[columns : 2 * columns], scratch[2 * columns : 3 * columns]
        for e in range(columns):
            x, y, z, n = stiffness * z0[e], stiffness * z1[e], stiffness * z2[e], stiffness * zn[e]
            p0[e], p1[e] = slope[0] * x + slope[1] * y + slope[3] * n, slope[1] * x + slope[2] * y + slope[4] * n
            p2[e] = slope[5] * z + slope[6] * n
        dofs = chains[span[side, 0] : span[side, 0] + columns]
        for other in range(2):
            rows, at = span[other, 1], span[other, 2]
            row_dofs = chains[span[other, 0] : span[other, 0] + rows]
            if rows == 0 or columns == 0:
                continue
            column_block = work.dof_block[dofs[0]]
            width, place = work.block_size[column_block], work.place[work.dof_block[row_dofs[0]], column_block]
            for r in range(rows):
                a, b, d = half[at + r], half[at + rows + r], half[at + 2 * rows + r]
                begin = place + work.dof_place[row_dofs[r]] * width
                line = work.arena[begin : begin + width]
                for e in range(columns):
                    line[work.dof_place[dofs[e]]] += a * p0[e] + b * p1[e] + d * p2[e]


@jit
def add_joint(chains, problem, j, stiffness, work):
    """(E16): Z^T Z / eps of one joint row."""
    span, half = problem.joint_span[j], problem.half
    for side in range(2):
        for e in range(span[side, 1]):
            a = half[span[side, 2] + e] * stiffness
            if a == 0.0:
                continue
            row = chains[span[side, 0] + e]
            b, r = work.dof_block[row], work.dof_place[row]
            for other in range(2):
                for f in range(span[other, 1]):
                    column = chains[span[other, 0] + f]
                    width, at = work.block_size[work.dof_block[column]], work.place[b, work.dof_block[column]]
                    work.arena[at + r * width + work.dof_place[column]] += a * half[span[other, 2] + f]


@jit
def add_chain_row(chains, problem, j, stiffness, upper, work):
    """The same for a row over one chain of the only tree; dofs ascend along a chain. upper: no more is needed."""
    start, count, at = problem.joint_span[j, 0, 0], problem.joint_span[j, 0, 1], problem.joint_span[j, 0, 2]
    dofs, z = chains[start : start + count], problem.half[at : at + count]
    width, place = work.block_size[0], work.dof_place
    for e in range(count):
        a, begin = z[e] * stiffness, place[dofs[e]] * width
        if a != 0.0:
            line = work.arena[begin : begin + width]
            for f in range(e if upper else 0, count):
                line[place[dofs[f]]] += a * z[f]


@jit
def primal_mismatch(chains, problem, lists, work):
    """y_image, y_gap and work.mismatch, the velocities of the images minus the velocities; returns the largest."""
    contact_list, joint_list, dof_list = lists
    y, gap, q, worst = problem.y, work.y_gap, work.mismatch, 0.0
    push_rows(chains, problem, lists, work, work.image, work.y_image)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            gap[k] = work.y_image[k] - y[k]
    read_rows(chains, problem, lists, work, gap, q)
    for k in range(3 * len(contact_list) + len(joint_list)):
        worst = max(worst, abs(q[k]))
    return worst


@jit
def primal_direction(chains, problem, lists, sigma, work):
    """(E16): Newton direction y_step and the change of the velocities along it.

    Returns (found, slope, size): whether the system could be solved; dy . y and dy . dy, for the line search.
    """
    dof_list = lists[2]
    count, step, gap = len(dof_list), work.y_step, work.y_gap
    fill_blocks(chains, problem, lists, sigma, work)
    if work.info[SYMMETRIC]:
        return symmetric_direction(chains, problem, lists, work)
    if not block_lu.factor(count, work.block_size, work.block_dof,
                           (work.order, work.neighbour_start, work.neighbour, work.place), work.arena, work.pivot):
        return False, 0.0, 0.0
    for r in range(count):
        if work.twists[r] == 1:
            to_wrench(problem, work.lower, dof_list[r, 0], gap, step)
            continue
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            step[k] = gap[k]
    block_lu.solve(count, work.block_size, work.block_dof,
                   (work.order, work.neighbour_start, work.neighbour, work.place), work.arena, work.pivot, step)
    for r in range(count):
        if work.twists[r] == 1:
            from_twist(problem, work.lower, dof_list[r, 0], step)
    slope, size = along_step(chains, problem, lists, work)
    return True, slope, size


@jit
def symmetric_direction(chains, problem, lists, work):
    """The same for one tree in which nothing slips."""
    dof_list = lists[2]
    first, last = dof_list[0, 0], dof_list[0, 1]
    n, step = last - first, work.y_step[first:last]
    A = as_matrix(work.arena, n, n)
    if not symmetric_factor(n, A):
        return False, 0.0, 0.0
    for k in range(n):
        step[k] = work.y_gap[first + k]
    symmetric_solve(n, A, step)
    slope, size = along_step(chains, problem, lists, work)
    return True, slope, size


@jit
def along_step(chains, problem, lists, work):
    """work.change, the change of the velocities along y_step; returns dy . y and dy . dy."""
    dof_list = lists[2]
    step, y, slope, size = work.y_step, problem.y, 0.0, 0.0
    read_rows(chains, problem, lists, work, step, work.change)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            slope += step[k] * y[k]
            size += step[k] * step[k]
    return slope, size
