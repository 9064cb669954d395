"""The contact problem of a step, in the form every point-based method can solve: sparse rows in half form.

Each contact has a block of three rows (t1, t2, n), each joint constraint (limit, friction, mimic, loop) one row. With
the factor H = L^T D L of the mass matrix the rows are kept as Z = J L^-1 D^-1/2, nonzero only along the ancestor
chains of its two links, so that
    J H^-1 J^T = Z Z^T,      u = u_free + Z y,      y = Z^T x,      v+ = v_free + L^-1 D^-1/2 y.
A solver that keeps y beside the impulses x reads and changes a contact in the length of its chains, never in the number
of contacts, and no matrix of all contacts is formed; `dense_matrix` forms it where a method wants it.

`dofs` below is the model's list of ancestor chains (Model.row_dof): a span is (start in dofs, length, place in the
arena).
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, scalar, viewer


class Problem(Record):
    """C contacts, J joint rows, V dofs, N numbers in the arena of row coefficients."""

    arena = scalar()  # N
    joint_capacity = scalar()
    counts = array(int, 1)  # (4) used arena, joint rows, overflow
    axes = array(float, 3)  # (C, 3, 3) t1, t2, n of each contact, as the method chose them
    span = array(int, 3)  # (C, 2, 3) side a, b: start in model.row_dof, length of the chain, place in the arena
    half = array(float, 1)  # (N) coefficients of Z, chain position by chain position, three rows interleaved
    block = array(float, 3)  # (C, 3, 3) Z Z^T of the contact with itself
    velocity = array(float, 2)  # (C, 3) relative velocity at the start of the step, along the axes
    free = array(float, 2)  # (C, 3) the same without contact and joint impulses, at the end
    impulse = array(float, 2)  # (C, 3)
    y = array(float, 1)  # (V)
    root_dinv = array(float, 1)  # (V) D^-1/2
    # joint rows
    joint_span = array(int, 3)  # (J, 2, 3)
    joint_source = array(int, 2)  # (J, 2) kind and index, see dynamics.rows
    joint_tree = array(int, 1)  # (J) a tree it acts on
    joint_block = array(float, 1)  # (J)
    joint_free = array(float, 1)  # (J) free velocity minus target
    joint_low = array(float, 1)
    joint_high = array(float, 1)
    joint_impulse = array(float, 1)
    work = array(float, 1)  # (16)


USED, JOINT_ROWS, PROBLEM_OVERFLOW = range(3)
as_problem = viewer(Problem)


def make_problem(contacts: int, joint_rows: int, dofs: int, chain: int) -> Problem:
    """Allocate for so many contacts, joint rows and dofs; `chain`: the longest ancestor chain."""
    C, W, V = contacts, joint_rows, dofs
    arena = C * 6 * min(chain, 48) + 2 * W * chain + 64
    shapes = {
        "counts": 4,
        "axes": (C, 3, 3),
        "span": (C, 2, 3),
        "half": arena,
        "block": (C, 3, 3),
        "velocity": (C, 3),
        "free": (C, 3),
        "impulse": (C, 3),
        "y": V,
        "root_dinv": V,
        "joint_span": (W, 2, 3),
        "joint_source": (W, 2),
        "joint_tree": W,
        "joint_block": W,
        "joint_free": W,
        "joint_low": W,
        "joint_high": W,
        "joint_impulse": W,
        "work": 16,
    }
    arrays = {name: np.zeros(shape, dtype=np.int64 if Problem.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    return Problem(arena=arena, joint_capacity=W, **arrays)


@jit
def diagonal_block(chains, problem, span, block_out):
    """Z Z^T (3, 3) of one contact, both sides and, in one tree, their common ancestors."""
    for i in range(3):
        for j in range(3):
            block_out[i, j] = 0.0
    for side in range(2):
        count, at = span[side, 1], span[side, 2]
        half = problem.half[at : at + 3 * count]
        for e in range(count):
            a, b, c = half[3 * e], half[3 * e + 1], half[3 * e + 2]
            block_out[0, 0] += a * a
            block_out[0, 1] += a * b
            block_out[0, 2] += a * c
            block_out[1, 1] += b * b
            block_out[1, 2] += b * c
            block_out[2, 2] += c * c
    if span[0, 1] > 0 and span[1, 1] > 0:
        dofs_a, dofs_b = chains[span[0, 0] :], chains[span[1, 0] :]
        half_a, half_b = problem.half[span[0, 2] :], problem.half[span[1, 2] :]
        e, least = 0, min(span[0, 1], span[1, 1])
        while e < least and dofs_a[e] == dofs_b[e]:
            for i in range(3):
                for j in range(i, 3):
                    block_out[i, j] += (half_a[3 * e + i] * half_b[3 * e + j] + half_b[3 * e + i] * half_a[3 * e + j])
            e += 1
    block_out[1, 0], block_out[2, 0], block_out[2, 1] = block_out[0, 1], block_out[0, 2], block_out[1, 2]


@jit
def read_contact(chains, problem, c, y):
    """Z y along the three axes of contact c."""
    span, half = problem.span, problem.half
    u0 = u1 = u2 = 0.0
    for side in range(2):
        start, at = span[c, side, 0], span[c, side, 2]
        for e in range(span[c, side, 1]):
            s, n = y[chains[start + e]], at + 3 * e
            u0 += half[n] * s
            u1 += half[n + 1] * s
            u2 += half[n + 2] * s
    return u0, u1, u2


@jit
def push_contact(chains, problem, c, x0, x1, x2, y_out):
    """y += Z^T x for an impulse (x0, x1, x2) at contact c."""
    span, half = problem.span, problem.half
    for side in range(2):
        start, at = span[c, side, 0], span[c, side, 2]
        for e in range(span[c, side, 1]):
            n = at + 3 * e
            y_out[chains[start + e]] += half[n] * x0 + half[n + 1] * x1 + half[n + 2] * x2


@jit
def read_joint(chains, problem, j, y):
    """Z y of a joint row."""
    u = 0.0
    for side in range(2):
        start, count, at = (
            problem.joint_span[j, side, 0],
            problem.joint_span[j, side, 1],
            problem.joint_span[j, side, 2],
        )
        dofs, half = chains[start : start + count], problem.half[at : at + count]
        for e in range(count):
            u += half[e] * y[dofs[e]]
    return u


@jit
def push_joint(chains, problem, j, x, y_out):
    """y += Z^T x for an impulse x of a joint row."""
    for side in range(2):
        start, count, at = (
            problem.joint_span[j, side, 0],
            problem.joint_span[j, side, 1],
            problem.joint_span[j, side, 2],
        )
        dofs, half = chains[start : start + count], problem.half[at : at + count]
        for e in range(count):
            y_out[dofs[e]] += half[e] * x


@jit
def block_product(chains, problem, c, e, block_out):
    """Z_c Z_e^T (3, 3) of two contacts: over the common ancestors of their chains."""
    for i in range(3):
        for j in range(3):
            block_out[i, j] = 0.0
    for side_c in range(2):
        a = problem.span[c, side_c]
        for side_e in range(2):
            b = problem.span[e, side_e]
            n, least = 0, min(a[1], b[1])
            while n < least and chains[a[0] + n] == chains[b[0] + n]:
                x, y = problem.half[a[2] + 3 * n : a[2] + 3 * n + 3], problem.half[b[2] + 3 * n : b[2] + 3 * n + 3]
                for i in range(3):
                    for j in range(3):
                        block_out[i, j] += x[i] * y[j]
                n += 1
