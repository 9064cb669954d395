"""The contact problem of a step, in the form every point-based method can solve: sparse rows in half form.

Each contact has a block of three rows (t1, t2, n), each joint constraint (limit, friction, mimic, loop) one row. With
the factor H = L^T D L of the mass matrix the rows are kept as Z = J L^-1 D^-1/2, nonzero only along the ancestor
chains of its two links, so that
    J H^-1 J^T = Z Z^T,      u = u_free + Z y,      y = Z^T x,      v+ = v_free + L^-1 D^-1/2 y.
A solver that keeps y beside the impulses x reads and changes a contact in the length of its chains, never in the number
of contacts, and no matrix of all contacts is formed; island_matrix.py forms it where a method wants it.

Contacts with rolling or torsional friction have a second block of three rows, their **rolling block**: the relative
angular velocity along (t1, t2, n), and a torque impulse that is bounded by the contact's normal impulse. That of
contact c stands in slot C + c, so that whatever works on a block by its rows serves both; in an island's list of blocks
the rolling blocks follow all contacts, in the same order. Scenes without such materials have no such slots.

`chains` below is the model's list of ancestor chains (Model.row_dof): a span is (start in chains, length, place in the
arena). A side that hangs on a free joint alone has the six dofs `body[c, side]` onwards, in order: most contacts of a
pile are between two of them, and loops of six without indirection took a visit from 65 to 20 ns.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, scalar


class Problem(Record):
    """C contacts, E rolling blocks (C or none), K = C + E, J joint rows, V dofs, N numbers in the arena of rows."""

    arena = scalar()  # N
    contact_capacity = scalar()  # C
    joint_capacity = scalar()
    counts = array(int, 4)  # used arena, joint rows, overflow, rolling blocks
    axes = array(float, "C", 3, 3)  # t1, t2, n of each contact, as the method chose them
    span = array(int, "K", 2, 3)  # side a, b: start in model.row_dof, length of the chain, place in the arena
    body = array(int, "K", 2)  # first dof of a side that hangs on a free joint alone; NOTHING or CHAIN
    half = array(float, "N")  # coefficients of Z: the rows t1, t2, n of a side, one after the other
    block = array(float, "K", 3, 3)  # Z Z^T of the block with itself
    inverse = array(float, "K", 2)  # 1 / max(block_00, block_11), 1 / block_22; 0 where there is nothing to divide by
    velocity = array(float, "C", 3)  # relative velocity at the start of the step, along the axes
    free = array(float, "K", 3)  # the same without contact and joint impulses, at the end
    correction = array(float, "C")  # normal speed that depth correction asks for
    impulse = array(float, "K", 3)
    rolling = array(int, "E")  # slots of the rolling blocks in use
    rolling_bound = array(float, "E", 2)  # m: largest rolling and torsional torque per normal force of contact c
    y = array(float, "V")
    root_dinv = array(float, "V")  # D^-1/2
    # joint rows
    joint_span = array(int, "J", 2, 3)
    joint_source = array(int, "J", 2)  # kind and index, see dynamics.rows
    joint_tree = array(int, "J")  # a tree it acts on
    joint_block = array(float, "J")
    joint_free = array(float, "J")  # free velocity minus target
    joint_low = array(float, "J")
    joint_high = array(float, "J")
    joint_impulse = array(float, "J")
    work = array(float, 16)


USED, JOINT_ROWS, PROBLEM_OVERFLOW, ROLLING = range(4)
NOTHING, CHAIN = -1, -2  # sides that do not move; sides that are links of a mechanism


def make_problem(contacts: int, joint_rows: int, dofs: int, chain: int, rolling: bool = False,
                 basis: int = 0) -> Problem:
    """Allocate for so many contacts, joint rows and dofs; `chain`: the longest ancestor chain.

    rolling: with a rolling block for each contact. basis: numbers in the independent rows of loops and mimics.
    """
    C, E = contacts, contacts if rolling else 0
    K = C + E
    arena = K * 6 * min(chain, 48) + 2 * joint_rows * chain + basis + 64
    return Problem.sized({"C": C, "E": E, "K": K, "J": joint_rows, "V": dofs, "N": arena},
                         arena=arena, contact_capacity=C, joint_capacity=joint_rows)


@jit
def contacts_among(problem, block_list):
    """How many blocks of a list are contacts; rolling blocks follow them."""
    m = len(block_list)
    while m > 0 and block_list[m - 1] >= problem.contact_capacity:
        m -= 1
    return m


@jit
def diagonal_block(chains, problem, c):
    """Z Z^T (3, 3) of one contact with itself: both sides and, in one tree, their common ancestors."""
    xx = xy = xz = yy = yz = zz = 0.0
    span, half, W = problem.span[c], problem.half, problem.block[c]
    for side in range(2):
        count, at = span[side, 1], span[side, 2]
        r0, r1, r2 = half[at : at + count], half[at + count :], half[at + 2 * count :]
        for e in range(len(r0)):
            a, b, n = r0[e], r1[e], r2[e]
            xx, xy, xz, yy, yz, zz = xx + a * a, xy + a * b, xz + a * n, yy + b * b, yz + b * n, zz + n * n
    e, least = 0, min(span[0, 1], span[1, 1])
    while e < least and chains[span[0, 0] + e] == chains[span[1, 0] + e]:
        at, bt = span[0, 2] + e, span[1, 2] + e
        a0, a1, a2 = half[at], half[at + span[0, 1]], half[at + 2 * span[0, 1]]
        b0, b1, b2 = half[bt], half[bt + span[1, 1]], half[bt + 2 * span[1, 1]]
        xx, yy, zz = xx + 2.0 * a0 * b0, yy + 2.0 * a1 * b1, zz + 2.0 * a2 * b2
        xy, xz, yz = xy + a0 * b1 + a1 * b0, xz + a0 * b2 + a2 * b0, yz + a1 * b2 + a2 * b1
        e += 1
    W[0, 0], W[1, 1], W[2, 2] = xx, yy, zz
    W[0, 1] = W[1, 0] = xy
    W[0, 2] = W[2, 0] = xz
    W[1, 2] = W[2, 1] = yz
    tangent = max(xx, yy)
    problem.inverse[c, 0] = 1.0 / tangent if tangent > 0.0 else 0.0
    problem.inverse[c, 1] = 1.0 / zz if zz > 0.0 else 0.0


@jit(into_callers=True)
def read_contact(chains, problem, c, y):
    """Z y along the three axes of contact c."""
    u0 = u1 = u2 = 0.0
    body, span, half = problem.body, problem.span, problem.half
    for side in range(2):
        k, at = body[c, side], span[c, side, 2]
        if k >= 0:
            rows, own = half[at : at + 18], y[k : k + 6]
            for e in range(6):
                u0 += rows[e] * own[e]
                u1 += rows[6 + e] * own[e]
                u2 += rows[12 + e] * own[e]
        elif k == CHAIN:
            start, count = span[c, side, 0], span[c, side, 1]
            dofs, r0, r1, r2 = chains[start : start + count], half[at:], half[at + count :], half[at + 2 * count :]
            for e in range(len(dofs)):
                s = y[dofs[e]]
                u0 += r0[e] * s
                u1 += r1[e] * s
                u2 += r2[e] * s
    return u0, u1, u2


@jit(into_callers=True)
def read_normal(chains, problem, c, y):
    """Z y along the normal of contact c."""
    u = 0.0
    body, span, half = problem.body, problem.span, problem.half
    for side in range(2):
        k, count = body[c, side], span[c, side, 1]
        at = span[c, side, 2] + 2 * count
        if k >= 0:
            row, own = half[at : at + 6], y[k : k + 6]
            for e in range(6):
                u += row[e] * own[e]
        elif k == CHAIN:
            start = span[c, side, 0]
            dofs, row = chains[start : start + count], half[at : at + count]
            for e in range(len(dofs)):
                u += row[e] * y[dofs[e]]
    return u


@jit(into_callers=True)
def push_contact(chains, problem, c, x0, x1, x2, y_out):
    """y += Z^T x for an impulse (x0, x1, x2) at contact c."""
    body, span, half = problem.body, problem.span, problem.half
    for side in range(2):
        k, at = body[c, side], span[c, side, 2]
        if k >= 0:
            rows, own = half[at : at + 18], y_out[k : k + 6]
            for e in range(6):
                own[e] += rows[e] * x0 + rows[6 + e] * x1 + rows[12 + e] * x2
        elif k == CHAIN:
            start, count = span[c, side, 0], span[c, side, 1]
            dofs, r0, r1, r2 = chains[start : start + count], half[at:], half[at + count :], half[at + 2 * count :]
            for e in range(len(dofs)):
                y_out[dofs[e]] += r0[e] * x0 + r1[e] * x1 + r2[e] * x2


@jit
def read_joint(chains, problem, j, y):
    """Z y of a joint row."""
    u = 0.0
    for side in range(2):
        span = problem.joint_span[j, side]
        start, count, at = span[0], span[1], span[2]
        dofs, half = chains[start : start + count], problem.half[at : at + count]
        for e in range(count):
            u += half[e] * y[dofs[e]]
    return u


@jit
def push_joint(chains, problem, j, x, y_out):
    """y += Z^T x for an impulse x of a joint row."""
    for side in range(2):
        span = problem.joint_span[j, side]
        start, count, at = span[0], span[1], span[2]
        dofs, half = chains[start : start + count], problem.half[at : at + count]
        for e in range(count):
            y_out[dofs[e]] += half[e] * x
