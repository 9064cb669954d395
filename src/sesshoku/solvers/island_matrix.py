"""The matrix of an island, G = Z Z^T = J H^-1 J^T, dense: for methods that want it whole.

Rows 3 i, 3 i + 1, 3 i + 2 are t1, t2, n of the island's contact i; its joint rows follow.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import push_joint, read_contact, read_joint


@jit
def fill_contacts(chains, problem, contact_list, G_out):
    """(E5): rows and columns of the contacts among themselves."""
    span, half = problem.span, problem.half
    for i in range(len(contact_list)):
        W = problem.block[contact_list[i]]
        for a in range(3):
            for b in range(3):
                G_out[3 * i + a, 3 * i + b] = W[a, b]
        for e in range(i):
            fill_block(chains, span[contact_list[i]], span[contact_list[e]], half, G_out, 3 * i, 3 * e)


@jit
def fill_joints(chains, problem, lists, y, G_out):
    """Rows and columns of the joint rows. dof_list (n, 2): ranges of the island's dofs. y (V): work space."""
    contact_list, joint_list, dof_list = lists
    m = len(contact_list)
    for i in range(len(joint_list)):
        j, r = joint_list[i], 3 * m + i
        for n in range(len(dof_list)):
            for k in range(dof_list[n, 0], dof_list[n, 1]):
                y[k] = 0.0
        push_joint(chains, problem, j, 1.0, y)
        for e in range(m):
            u0, u1, u2 = read_contact(chains, problem, contact_list[e], y)
            G_out[r, 3 * e], G_out[r, 3 * e + 1], G_out[r, 3 * e + 2] = u0, u1, u2
        for e in range(i + 1):
            G_out[r, 3 * m + e] = read_joint(chains, problem, joint_list[e], y)
        for s in range(r + 1):
            G_out[s, r] = G_out[r, s]


@jit
def fill_block(chains, mine, theirs, half, G_out, r, s):
    """Block (r, s) of G and its mirror: Z_c Z_e^T of two contacts, over the common ancestors of their chains."""
    b00 = b01 = b02 = b10 = b11 = b12 = b20 = b21 = b22 = 0.0
    for side in range(2):
        for other in range(2):
            common = min(mine[side, 1], theirs[other, 1])
            at, to = mine[side, 0], theirs[other, 0]
            if common == 0 or chains[at] != chains[to]:
                continue
            if at != to:  # two chains of one tree
                n = 1
                while n < common and chains[at + n] == chains[to + n]:
                    n += 1
                common = n
            x, wide = half[mine[side, 2] :], mine[side, 1]
            y, long = half[theirs[other, 2] :], theirs[other, 1]
            xs, ys, xn, yn = x[wide:], y[long:], x[2 * wide :], y[2 * long :]
            for n in range(common):
                x0, x1, x2, y0, y1, y2 = x[n], xs[n], xn[n], y[n], ys[n], yn[n]
                b00 += x0 * y0
                b01 += x0 * y1
                b02 += x0 * y2
                b10 += x1 * y0
                b11 += x1 * y1
                b12 += x1 * y2
                b20 += x2 * y0
                b21 += x2 * y1
                b22 += x2 * y2
    G_out[r, s] = G_out[s, r] = b00
    G_out[r, s + 1] = G_out[s + 1, r] = b01
    G_out[r, s + 2] = G_out[s + 2, r] = b02
    G_out[r + 1, s] = G_out[s, r + 1] = b10
    G_out[r + 1, s + 1] = G_out[s + 1, r + 1] = b11
    G_out[r + 1, s + 2] = G_out[s + 2, r + 1] = b12
    G_out[r + 2, s] = G_out[s, r + 2] = b20
    G_out[r + 2, s + 1] = G_out[s + 1, r + 2] = b21
    G_out[r + 2, s + 2] = G_out[s + 2, r + 2] = b22
