"""Blocks of one large island (sparse.py has the programme): tree blocks of its system, and local ones of each overlap.

The system has one block row per tree, [Z^T Q Z, K; K, -Z^T W Z], in the arena that solvers.block_lu factors. The
unknowns x of an overlap are its wrench, or the corner forces of what slides: p = B x, W = B (R + G^T D G)^-1 B^T.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.dense import CORNER_RIDGE
from sesshoku.methods.volume.work import SLIDES
from sesshoku.solvers import block_lu
from sesshoku.solvers.problem import push_joint, read_joint
from sesshoku.solvers.proximal.primal import join_all

JOINT_SOFTNESS = 1e-9  # compliance of clamped joint rows, as a share of their own
CLAMPED = 1


@jit
def lay_out(model, work, island, contact_list, joint_list):
    """Blocks of the island's trees and their factor's layout; False if they don't fit."""
    contacts, problem, sparse = work.contacts, work.problem, work.sparse
    first, last = contacts.island_tree_start[island], contacts.island_tree_start[island + 1]
    count, touch = last - first, sparse.touch
    if count > sparse.block_capacity:
        return False
    for b in range(count):
        t = contacts.island_tree[first + b]
        sparse.block_start[b] = 2 * model.tree_dof[t]
        sparse.block_size[b] = 2 * (model.tree_dof[t + 1] - model.tree_dof[t])
        for k in range(model.tree_dof[t], model.tree_dof[t + 1]):
            sparse.dof_block[k], sparse.dof_place[k] = b, k - model.tree_dof[t]
        for d in range(count):
            touch[b, d] = 1 if b == d else 0
    for i in range(len(contact_list)):
        span = problem.span[2 * contact_list[i]]
        if span[0, 1] > 0 and span[1, 1] > 0:
            a, b = sparse.dof_block[model.row_dof[span[0, 0]]], sparse.dof_block[model.row_dof[span[1, 0]]]
            touch[a, b] = touch[b, a] = 1
    for n in range(len(joint_list)):
        span = problem.joint_span[joint_list[n]]
        if span[0, 1] > 0 and span[1, 1] > 0:
            a, b = sparse.dof_block[model.row_dof[span[0, 0]]], sparse.dof_block[model.row_dof[span[1, 0]]]
            touch[a, b] = touch[b, a] = 1
        join_all(model.row_dof, span[0], sparse)
    used, _ = block_lu.analyze(count, sparse.block_size, touch, sparse.place, sparse.order, sparse.neighbour_start,
                               sparse.neighbour, sparse.degree, sparse.done)
    sparse.info[0], sparse.info[1] = count, used
    return 0 <= used <= len(sparse.arena)


@jit
def add_blocks(work, chains, c, S, row_shift, column_shift, sign):
    """arena += sign Z^T S Z of overlap c, S (6, 6), into the quarter of the tree blocks that the shifts (0, 1) name."""
    problem, sparse = work.problem, work.sparse
    span_f, span_t, half = problem.span[2 * c], problem.span[2 * c + 1], problem.half
    SZ = sparse.small
    for side in range(2):
        count = span_f[side, 1]
        for e in range(count):
            f, t = span_f[side, 2] + e, span_t[side, 2] + e
            k = chains[span_f[side, 0] + e]
            b = sparse.dof_block[k]
            for r in range(6):
                SZ[r] = sign * (S[r, 0] * half[f] + S[r, 1] * half[f + count] + S[r, 2] * half[f + 2 * count]
                                + S[r, 3] * half[t] + S[r, 4] * half[t + count] + S[r, 5] * half[t + 2 * count])
            for other in range(2):
                wide = span_f[other, 1]
                for n in range(wide):
                    f2, t2 = span_f[other, 2] + n, span_t[other, 2] + n
                    k2 = chains[span_f[other, 0] + n]
                    b2 = sparse.dof_block[k2]
                    size, size2 = sparse.block_size[b] // 2, sparse.block_size[b2] // 2
                    row, column = sparse.dof_place[k] + row_shift * size, sparse.dof_place[k2] + column_shift * size2
                    sparse.arena[sparse.place[b, b2] + row * 2 * size2 + column] += (
                        half[f2] * SZ[0] + half[f2 + wide] * SZ[1] + half[f2 + 2 * wide] * SZ[2]
                        + half[t2] * SZ[3] + half[t2 + wide] * SZ[4] + half[t2 + 2 * wide] * SZ[5])


@jit
def add_stiffness(work, chains, joint_list):
    """K: one on the diagonals of both off-diagonal quarters, and the clamped joint rows as stiff springs."""
    problem, sparse = work.problem, work.sparse
    for b in range(sparse.info[0]):
        n = sparse.block_size[b] // 2
        for k in range(n):
            at = sparse.place[b, b]
            sparse.arena[at + k * 2 * n + n + k] += 1.0
            sparse.arena[at + (n + k) * 2 * n + k] += 1.0
    for i in range(len(joint_list)):
        j = joint_list[i]
        if work.joint_state[0, i] != CLAMPED or not problem.joint_block[j] > 0.0:
            continue
        stiff, span, half = 1.0 / (JOINT_SOFTNESS * problem.joint_block[j]), problem.joint_span[j], problem.half
        for side in range(2):
            for e in range(span[side, 1]):
                k, z = chains[span[side, 0] + e], stiff * half[span[side, 2] + e]
                if z == 0.0:
                    continue
                b = sparse.dof_block[k]
                for other in range(2):
                    for n in range(span[other, 1]):
                        k2 = chains[span[other, 0] + n]
                        b2 = sparse.dof_block[k2]
                        size, size2 = sparse.block_size[b] // 2, sparse.block_size[b2] // 2
                        r, s, at = sparse.dof_place[k], sparse.dof_place[k2], sparse.place[b, b2]
                        t = z * half[span[other, 2] + n]
                        sparse.arena[at + r * 2 * size2 + size2 + s] += t
                        sparse.arena[at + (size + r) * 2 * size2 + s] += t


@jit
def times_stiffness(work, chains, joint_list, dof_list, x, out):
    """out = K x over the island's dofs."""
    problem = work.problem
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            out[k] = x[k]
    for i in range(len(joint_list)):
        j = joint_list[i]
        if work.joint_state[0, i] == CLAMPED and problem.joint_block[j] > 0.0:
            stiff = 1.0 / (JOINT_SOFTNESS * problem.joint_block[j])
            push_joint(chains, problem, j, stiff * read_joint(chains, problem, j, x), out)


@jit
def local_factor(work, i, c, first_row, last_row):
    """W (6, 6) of overlap i and the factor of R + G^T D G, D = dual / slack of its rows; its size."""
    sparse = work.sparse
    start = work.unknown_start[i]
    n, F, W, slides = work.unknown_start[i + 1] - start, sparse.local, sparse.weight[i], work.verdict[c] == SLIDES
    parts = wrench_size(work, c)
    for r in range(n):
        for s in range(n):
            F[r, s] = 0.0
    for r in range(n):
        if slides:
            for s in range(n):
                one, two = work.pull[work.corner_start[c] + r], work.pull[work.corner_start[c] + s]
                for a in range(6):
                    F[r, s] += work.ridge[6 * i + a] * one[a] * two[a]
            F[r, r] += CORNER_RIDGE * sparse.mean[i]
        else:
            F[r, r] = work.ridge[6 * i + r]
    for k in range(first_row, last_row):
        row, at, d = work.cone_row[k], work.cone_at[k] - start, sparse.dual[k] / sparse.slack[k]
        for a in range(6):
            if row[a] != 0.0:
                for b in range(6):
                    if row[b] != 0.0:
                        F[at + a, at + b] += d * row[a] * row[b]
    for r in range(n):  # Cholesky, reciprocals on the diagonal
        least = 1e-14 * F[r, r] + 1e-290
        for s in range(r + 1):
            t = F[r, s]
            for e in range(s):
                t -= F[r, e] * F[s, e]
            F[r, s] = t * F[s, s] if s < r else 1.0 / sqrt(max(t, least))
    X = sparse.half_weight  # F^-1 B^T, one column per component of the wrench
    for a in range(6):
        for r in range(n):
            t = work.pull[work.corner_start[c] + r, a] if slides else (1.0 if r == a and a < parts else 0.0)
            for e in range(r):
                t -= F[r, e] * X[a, e]
            X[a, r] = t * F[r, r]
    for a in range(6):
        for b in range(6):
            t = 0.0
            for r in range(n):
                t += X[a, r] * X[b, r]
            W[a, b] = t
    return n


@jit
def local_solve(n, F, x):
    """x <- (F F^T)^-1 x."""
    for r in range(n):
        t = x[r]
        for e in range(r):
            t -= F[r, e] * x[e]
        x[r] = t * F[r, r]
    for r in range(n - 1, -1, -1):
        t = x[r] * F[r, r]
        x[r] = t
        for e in range(r):
            x[e] -= F[r, e] * t


@jit(into_callers=True)
def wrench_size(work, c):
    """How many components of the wrench of overlap c act: all six, or the force alone in a point contact."""
    return 3 if work.overlaps.kind[c] == POINT else 6


@jit
def to_wrench(work, i, c, x, out):
    """B x of overlap i; a point contact has no torque."""
    start, parts = work.unknown_start[i], wrench_size(work, c)
    for a in range(6):
        out[a] = 0.0 if work.verdict[c] == SLIDES or a >= parts else x[start + a]
    if work.verdict[c] == SLIDES:
        for l in range(work.corner_start[c], work.corner_start[c + 1]):
            for a in range(6):
                out[a] += x[start + l - work.corner_start[c]] * work.pull[l, a]


@jit
def transpose(work, i, c, w, k):
    """Component k of B^T w of overlap i."""
    if work.verdict[c] != SLIDES:
        return w[k] if k < wrench_size(work, c) else 0.0
    pull, t = work.pull[work.corner_start[c] + k], 0.0
    for a in range(6):
        t += pull[a] * w[a]
    return t
