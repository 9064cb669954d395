"""Assembly from the leaves to the root with inertias in place of their inverses: the fast case of assemble.py.

In that order a part has one open joint, its root's, and what the root needs of it is its articulated inertia, Phi^-1.
Joining one more axis changes that by rank one (U U^T / D), so no 6x6 inverse is formed, and links without inertia of
their own may stand between. A contact with the world whose wrench is f* - G a is assembled first, where it acts: it
adds G to the inertia of its link ((Lambda^-1 + G)^-1 is the response that is left) and f* to what pushes it. Links that
touch other moving links stay handles: a wrench on handle k is carried towards the root, and leaves at each axis d its
share z_kd = S_d . w / sqrt(D_d); then Phi_kl = sum over common axes of z_kd z_ld (`handle_rows`).

One tree at a time. Writes `articulated`, `pivot_force`, `pivot_inverse`, `pivot_residual`, `acceleration` of `data`,
the acceleration without gravity's part (a root at rest has -g), as in `aba`.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import (
    accelerate_link,
    bias_to_parent,
    eliminate_axis,
    eliminate_force,
    inertia_to_parent,
)
from sesshoku.dynamics.kinematics import last_dof
from sesshoku.spatial.algebra import symmetric_inertia


@jit
def assemble_tree(model, data, t, stiff, stiffened, diagonal, extra):
    """Articulated inertias of tree t and, per dof, U and 1/D. Needs `kinematics`.

    stiff (L, 21): G of world contacts, lower triangle, where stiffened (L) is 1; diagonal, extra (V): added to D.
    """
    for i in range(model.tree_link[t], model.tree_link[t + 1]):
        IA = data.articulated[i]
        symmetric_inertia(data.inertia[i], IA)
        if stiffened[i] != 0:
            G = stiff[i]
            for a in range(21):
                IA[a] += G[a]  # (3), implicit
    for i in range(model.tree_link[t + 1] - 1, model.tree_link[t] - 1, -1):
        first = model.link_dof[i]
        for k in range(first + model.link_dof_count[i] - 1, first - 1, -1):
            eliminate_axis(data, i, k, model.dof_armature[k] + diagonal[k] + extra[k])
        inertia_to_parent(model, data, i)


@jit
def disassemble_tree(model, data, t, bias, push, force, extra_force, acceleration_out):
    """Joint accelerations of tree t, from the articulated inertias `assemble_tree` left.

    bias (L, 6): v x* I v - external wrench of each link; push (L, 6): further wrenches; force, extra_force (V): at the
    joints. Needs `link_velocities`.
    """
    start, end = model.tree_link[t], model.tree_link[t + 1]
    for i in range(start, end):
        p, given, more = data.articulated_bias[i], bias[i], push[i]
        for a in range(6):
            p[a] = given[a] - more[a]
    for i in range(end - 1, start - 1, -1):
        first = model.link_dof[i]
        for k in range(first + model.link_dof_count[i] - 1, first - 1, -1):
            eliminate_force(data, i, k, force[k] + extra_force[k])
        bias_to_parent(model, data, i)
    for i in range(start, end):
        accelerate_link(model, data, i, acceleration_out)


@jit
def handle_rows(model, data, link, count, rows_out):
    """z (6, count) of unit wrenches at the tree's origin on `link`, over the dofs of its tree, `count` of them.

    rows_out: flat, row after row; dofs that do not move the link get zero.
    """
    for n in range(6 * count):
        rows_out[n] = 0.0
    first = model.tree_dof[model.link_tree[link]]
    for n in range(6):
        carry_row(model, data, link, last_dof(model, link), n, first, rows_out[n * count : (n + 1) * count])


@jit
def carry_row(model, data, link, last, axis, first, row_out):
    """One row of `handle_rows`: unit wrench number `axis`, carried from dof `last` to the root."""
    S, U, dinv = data.axis, data.pivot_force, data.pivot_inverse
    w0 = w1 = w2 = w3 = w4 = w5 = 0.0
    if axis == 0:
        w0 = 1.0
    elif axis == 1:
        w1 = 1.0
    elif axis == 2:
        w2 = 1.0
    elif axis == 3:
        w3 = 1.0
    elif axis == 4:
        w4 = 1.0
    else:
        w5 = 1.0
    carry(model, S, U, dinv, (last, first), (w0, w1, w2, w3, w4, w5), row_out)


@jit
def dof_row(model, data, k, row_out):
    """z (count) of a unit force at dof k, over the dofs of its tree."""
    S, U, dinv = data.axis, data.pivot_force, data.pivot_inverse
    first = model.tree_dof[model.link_tree[model.dof_link[k]]]
    for n in range(len(row_out)):
        row_out[n] = 0.0
    row_out[k - first] = sqrt(dinv[k])
    s = -dinv[k]  # the force's reaction goes on as U / D
    carry(model, S, U, dinv, (model.dof_parent[k], first),
          (s * U[k, 0], s * U[k, 1], s * U[k, 2], s * U[k, 3], s * U[k, 4], s * U[k, 5]), row_out)


@jit
def carry(model, S, U, dinv, span, wrench, row_out):
    """Carry a wrench from dof `last` to the root, its shares into row_out (by dof, from `first`)."""
    last, first = span
    w0, w1, w2, w3, w4, w5 = wrench
    k = last
    while k >= 0:
        s = S[k, 0] * w0 + S[k, 1] * w1 + S[k, 2] * w2 + S[k, 3] * w3 + S[k, 4] * w4 + S[k, 5] * w5
        row_out[k - first] = s * sqrt(dinv[k])
        s *= dinv[k]
        w0, w1, w2 = w0 - U[k, 0] * s, w1 - U[k, 1] * s, w2 - U[k, 2] * s
        w3, w4, w5 = w3 - U[k, 3] * s, w4 - U[k, 4] * s, w5 - U[k, 5] * s
        k = model.dof_parent[k]
