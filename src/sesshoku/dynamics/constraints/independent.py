"""Rows of loops and mimics made independent: an orthonormal basis of the rows of each cluster.

A planar four-bar that a ball closes has three rows of which one, out of the plane, moves nothing; three parallel cranks
under one coupler have two rows that say the same; a linkage that passes through its dead centre has two that say nearly
the same. Solved as they stand such rows ask for impulses of rounding divided by rounding.

The rows J of a cluster (`rows.cluster_rows`) are brought to half form, Z = J L^-1 D^-1/2 (solvers/problem.py), divided
by their natural size s, and orthogonalised: the row with the largest part that is independent of those chosen before
comes next (Gram-Schmidt with pivoting, each row twice),
    Z_r / s_r = sum_l R_lr Q_l,     Q_l of unit length,
until what is left is rounding. Velocities along the basis vanish iff those along all rows do, and
    y+ = y - sum_l Q_l (Q_l . y - wanted_l)
takes energy however near the rows are to depending on each other, as long as nothing is wanted. What is wanted along a
row, w_r / s_r = sum_l R_lr wanted_l, is damped where R_ll is small, for there it is an error divided by nothing.

The natural size of an anchor's rows is the largest of the three, how far an impulse moves the anchor in the direction
in which it moves most; of the rows of its turning what the joints on the way can turn it by.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import ROW_LOOP
from sesshoku.dynamics.kinematics import last_dof

REASSOCIATE = {"contract", "reassoc"}
DEPENDENT = 1e-8  # a row whose independent part is below this share of its size says what others say already
ROUNDING = 1e-11  # an anchor that all its joints together move less than this share of what each could stands still
NEARLY = 1e-3  # what is wanted of velocities along rows nearer to that than this is damped


@jit
def independent_rows(model, data, cluster, count, nearly):
    """Basis of the first `count` rows, those of a cluster; returns its rank. Needs the factor of H.

    nearly: what is wanted along rows nearer to dependence than this is damped. Leaves in data.row_target and row_turn,
    at the places basis_order names, what is wanted along the basis.
    """
    n, first = model.cluster_dofs[cluster, 1], model.cluster_start[cluster]
    for r in range(count):
        data.basis_source[first[0] + r, 0] = data.row_source[r, 0]
        data.basis_source[first[0] + r, 1] = data.row_source[r, 1]
        spread_row(model, data, cluster, r)
    scale_rows(model, data, cluster, count)
    Z, R = data.basis[first[1] : first[1] + count * n], data.basis_factor[first[2] : first[2] + count * count]
    left, order, rank = data.row_bias, data.basis_order[first[0] : first[0] + count], 0
    for e in range(count * count):
        R[e] = 0.0
    for r in range(count):
        left[r] = norm2(Z[r * n : r * n + n])
    for _ in range(count):
        p = 0
        for r in range(1, count):
            if left[r] > left[p]:
                p = r
        if not left[p] > DEPENDENT * DEPENDENT:
            break
        row = Z[p * n : p * n + n]
        for b in range(rank):  # once more: what rounding left along the rows chosen before
            take_part(data, n, count, b, order[b], p, Z, R)
        size = sqrt(norm2(row))
        left[p] = -1.0
        if size <= DEPENDENT:
            continue
        for e in range(n):
            row[e] /= size
        R[rank * count + p] = size
        damping = 1.0 / size if size > nearly else size / (nearly * nearly)
        data.row_target[p] *= damping
        data.row_turn[p] *= damping
        order[rank] = p
        for r in range(count):
            if left[r] >= 0.0:
                take_part(data, n, count, rank, p, r, Z, R)
                left[r] = norm2(Z[r * n : r * n + n])
        rank += 1
    data.basis_rank[cluster] = rank
    return rank


@jit
def take_part(data, n, count, l, chosen, r, Z, R):
    """Take from row r its part along row l of the basis, which was row `chosen`, and what is wanted along it."""
    mine, theirs = Z[r * n : r * n + n], Z[chosen * n : chosen * n + n]
    c = dot(theirs, mine)
    for e in range(n):
        mine[e] -= c * theirs[e]
    R[l * count + r] += c
    data.row_target[r] -= c * data.row_target[chosen]
    data.row_turn[r] -= c * data.row_turn[chosen]


@jit(fastmath=REASSOCIATE, into_callers=True)
def dot(x, y):
    """Scalar product; summed in any order, several at a time: one after the other it is most of the time of it all."""
    s = 0.0
    for e in range(len(x)):
        s += x[e] * y[e]
    return s


@jit(into_callers=True)
def norm2(x):
    return dot(x, x)


@jit
def spread_row(model, data, cluster, r):
    """Row r over all dofs of the cluster, in half form, into its place in data.basis."""
    start, n = model.cluster_dofs[cluster, 0], model.cluster_dofs[cluster, 1]
    at, place, dofs = model.cluster_start[cluster, 1] + r * n, data.dof_place, model.row_dof[start : start + n]
    row = data.basis[at : at + n]
    for e in range(n):
        row[e] = 0.0
        place[dofs[e]] = e
    for side in range(2):
        end, begin = data.row_end[r, side], data.row_start[r, side]
        if end >= 0:
            for e in range(model.dof_depth[end] + 1):
                row[place[model.row_dof[model.dof_row[end] + e]]] += data.row_jacobian[begin + e]
    for e in range(n - 1, -1, -1):
        k, a = dofs[e], row[e]
        if a != 0.0:
            for f in range(model.dof_row[k], model.dof_row[k] + model.dof_depth[k]):
                row[place[model.row_dof[f]]] -= data.factor[f] * a
            row[e] = sqrt(data.factor_dinv[k]) * a


@jit
def scale_rows(model, data, cluster, count):
    """Divide every row by its natural size, and what is wanted along it; rows that are rounding become zero."""
    n, first = model.cluster_dofs[cluster, 1], model.cluster_start[cluster]
    Z, scale = data.basis[first[1] : first[1] + count * n], data.basis_scale[first[0] : first[0] + count]
    r = 0
    while r < count:
        kind, number, last = data.row_source[r, 0], data.row_source[r, 1], r + 1
        size = sqrt(norm2(Z[r * n : r * n + n]))
        if kind == ROW_LOOP:
            while last < count and data.row_source[last, 0] == kind and data.row_source[last, 1] // 3 == number // 3:
                size = max(size, sqrt(norm2(Z[last * n : last * n + n])))  # 6 n + d: of one anchor, or of its turning
                last += 1
            shift, turn = mobility(model, data, number // 6)
            if number % 6 >= 3:
                size = turn  # a hinge has no row about the axis about which it turns most
            elif size <= ROUNDING * shift:
                size = 0.0
        for s in range(r, last):
            scale[s] = size
            part = 1.0 / size if size > 0.0 else 0.0
            for e in range(n):
                Z[s * n + e] *= part
            data.row_target[s] *= part
            data.row_turn[s] *= part
        r = last


@jit
def mobility(model, data, n):
    """How far a unit impulse may shift and turn the anchors of loop n, by the joints on the way to them each alone.

    The shift about the tree's origin: what its rows are the difference of, so that its rounding is theirs.
    """
    shift = turn = 0.0
    for side in range(2):
        link = model.loop_link[n, side]
        end = last_dof(model, link) if link >= 0 else -1
        if end < 0:
            continue
        p, o, arm2 = data.loop_point[n, side], data.tree_origin[model.link_tree[link]], 0.0
        for a in range(3):
            arm2 += (p[a] - o[a]) * (p[a] - o[a])
        for e in range(model.dof_row[end], model.dof_row[end + 1]):
            k = model.row_dof[e]
            s = data.axis[k]
            slide2, turn2 = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], s[3] * s[3] + s[4] * s[4] + s[5] * s[5]
            shift += data.factor_dinv[k] * (slide2 + turn2 * arm2)
            turn += data.factor_dinv[k] * turn2
    return sqrt(shift), sqrt(turn)


@jit
def half_velocity(model, data, cluster, v, y_out):
    """y (n) of the cluster's dofs that velocities v stand for: D^1/2 L v; returns its length."""
    start, n = model.cluster_dofs[cluster, 0], model.cluster_dofs[cluster, 1]
    dofs, s = model.row_dof[start : start + n], 0.0
    for e in range(n):
        k = dofs[e]
        t = v[k]
        for f in range(model.dof_row[k], model.dof_row[k] + model.dof_depth[k]):
            t += data.factor[f] * v[model.row_dof[f]]
        y_out[e] = t / sqrt(data.factor_dinv[k])
        s += y_out[e] * y_out[e]
    return sqrt(s)


@jit
def to_basis(model, data, cluster, l, given):
    """Impulse along row l of the basis that impulses of the rows given (those of `rows`) come to."""
    first, count = model.cluster_start[cluster], model.cluster_start[cluster + 1, 0] - model.cluster_start[cluster, 0]
    x, scale = 0.0, data.basis_scale[first[0] : first[0] + count]
    for r in range(count):
        x += data.basis_factor[first[2] + l * count + r] * scale[r] * given[r]
    return x


@jit
def from_basis(model, data, cluster, x, given_out):
    """Impulses of the rows given that come to x (rank) along the basis; of many the smallest. Destroys x.

    sum_r R_lr s_r given_r = x_l: by substitution where all rows are independent; else given s = R^T (R R^T)^-1 x.
    """
    first, count = model.cluster_start[cluster], model.cluster_start[cluster + 1, 0] - model.cluster_start[cluster, 0]
    rank, order, scale = data.basis_rank[cluster], data.basis_order[first[0] :], data.basis_scale[first[0] :]
    R = data.basis_factor[first[2] : first[2] + count * count]
    for r in range(count):
        given_out[r] = 0.0
    if rank == count:
        for l in range(rank - 1, -1, -1):
            t = x[l]
            for m in range(l + 1, rank):
                t -= R[l * count + order[m]] * given_out[order[m]]
            given_out[order[l]] = t / R[l * count + order[l]]
    else:
        smallest(count, rank, R, x, data.row_matrix)
        for r in range(count):
            for l in range(rank):
                given_out[r] += R[l * count + r] * x[l]
    for r in range(count):
        given_out[r] = given_out[r] / scale[r] if scale[r] > 0.0 else 0.0


@jit
def smallest(count, rank, R, x, A):
    """x <- (R R^T)^-1 x by Cholesky, A: work space. The sum of squares on the diagonal keeps it from vanishing."""
    for i in range(rank):
        for j in range(i + 1):
            t = 0.0
            for r in range(count):
                t += R[i * count + r] * R[j * count + r]
            if i == j:
                t *= 1.0 + 1e-12
            for k in range(j):
                t -= A[i, k] * A[j, k]
            A[i, j] = sqrt(max(t, DEPENDENT * DEPENDENT)) if i == j else t / A[j, j]
        t = x[i]
        for k in range(i):
            t -= A[i, k] * x[k]
        x[i] = t / A[i, i]
    for i in range(rank - 1, -1, -1):
        t = x[i]
        for k in range(i + 1, rank):
            t -= A[k, i] * x[k]
        x[i] = t / A[i, i]
