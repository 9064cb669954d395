"""Laws of joints in an assembly: W and h of tree joints, loops and contacts (assemble.py says what they are)."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.blocks import axes_inverse, complement, invert_symmetric, pseudo_inverse, solve_rows
from sesshoku.dynamics.assembly.work import LOOP_JOINT, TREE_JOINT
from sesshoku.dynamics.constraints.rows import loop_error
from sesshoku.model.arrays import BALL, HINGE
from sesshoku.spatial.algebra import cross

NEAR_SINGULAR = 1e-9  # of the links' own response: below it Lambda is taken apart by directions (`singular_tree_law`)


@jit
def joint_law(model, data, asm, j, diagonal):
    """W of joint j for Lambda in work[0] (left as it is), and h: of tree joints per unit force (`drive_axis`)."""
    i, kind = asm.index[j], asm.kind[j]
    if kind == TREE_JOINT:
        first, count = model.link_dof[i], model.link_dof_count[i]
        if not tree_law(model, asm, j, first, count, diagonal):
            singular_tree_law(model, asm, j, first, count, diagonal)
    elif kind == LOOP_JOINT:
        loop_law(model, data, asm, j, i)
    else:
        contact_law(asm, j, asm.contact_matrix[i], asm.contact_force[i])


@jit
def tree_law(model, asm, j, first, count, diagonal):
    """W = Y - Y S E^-1 S^T Y, h = Y S E^-1 tau. False where Lambda has no inverse."""
    Lam, Y, YS, E, inverse = asm.work[0], asm.work[1], asm.work[2], asm.work[3], asm.work[4]
    W, h, S = asm.W[j], asm.drive_axis, asm.axis
    if not invert_symmetric(6, Lam, inverse, NEAR_SINGULAR * own_response(asm, j), Y):
        return False
    for k in range(count):
        for n in range(6):
            s = 0.0
            for m in range(6):
                s += Y[n, m] * S[first + k, m]
            YS[k, n] = s
    for k in range(count):
        for e in range(count):
            s = 0.0
            for n in range(6):
                s += S[first + k, n] * YS[e, n]
            E[k, e] = s
        E[k, k] += model.dof_armature[first + k] + diagonal[first + k]
    if not invert_symmetric(count, E, asm.work[5], 0.0, inverse):
        return False
    for n in range(6):
        for m in range(6):
            W[n, m] = Y[n, m]
    for k in range(count):
        for n in range(6):
            s = 0.0
            for e in range(count):
                s += inverse[k, e] * YS[e, n]
            h[first + k, n] = s
            for m in range(6):
                W[n, m] -= s * YS[k, m]
    return True


@jit
def singular_tree_law(model, asm, j, first, count, diagonal):
    """The same where Lambda is singular (a loop was closed first): the constraint by pseudo-inverse, then the drive.

    W_1 = T (T^T Lambda T)^+ T^T leaves Lambda_1 = Lambda - Lambda W_1 Lambda for the drive f = R (tau - G_q R^T a), R =
    S (S^T S)^-1; W = W_1 + (1 - W_1 Lambda) W_2 (1 - Lambda W_1) with W_2 = (1 + G_2 Lambda_1)^-1 G_2.
    """
    Lam, T, A, V, B = asm.work[0], asm.work[1], asm.work[2], asm.work[3], asm.work[4]
    W, h, S = asm.W[j], asm.drive_axis, asm.axis
    free = complement(count, S[first : first + count], T)
    constraint(Lam, T, free, own_scale(asm, j, T, free), A, V, B, W)
    R = asm.work[1]  # in T's place
    axes_inverse(S[first : first + count], count, A, V, B, R)
    # P = 1 - W_1 Lambda (in V), Lambda_1 = P^T Lambda (in A)
    for n in range(6):
        for m in range(6):
            s = 1.0 if n == m else 0.0
            for k in range(6):
                s -= W[n, k] * Lam[k, m]
            V[n, m] = s
    for n in range(6):
        for m in range(6):
            s = 0.0
            for k in range(6):
                s += V[k, n] * Lam[k, m]
            A[n, m] = s
    # B = 1 + G_2 Lambda_1; right-hand sides G_2 and the columns of R
    G2, copy = asm.work[5], asm.spare
    for n in range(6):
        for m in range(6):
            s = 0.0
            for k in range(count):
                s += R[k, n] * (model.dof_armature[first + k] + diagonal[first + k]) * R[k, m]
            G2[n, m] = s
    for n in range(6):
        for m in range(6):
            s = 1.0 if n == m else 0.0
            for k in range(6):
                s += G2[n, k] * A[k, m]
            B[n, m] = copy[n, m] = s
    solve_rows(copy, G2, 6)
    for n in range(6):
        for k in range(count):
            copy[n, k] = R[k, n]
    solve_rows(B, copy, count)
    # h = P h_2, W += P W_2 P^T
    for k in range(count):
        for n in range(6):
            s = 0.0
            for m in range(6):
                s += V[n, m] * copy[m, k]
            h[first + k, n] = s
    for n in range(6):
        for m in range(6):
            s = 0.0
            for k in range(6):
                s += V[n, k] * G2[k, m]
            B[n, m] = s
    for n in range(6):
        for m in range(6):
            for k in range(6):
                W[n, m] += B[n, k] * V[m, k]


@jit
def solve_with_vector(A, B, b, copy):
    """B <- A^-1 B and b <- A^-1 b for 6x6 A, B; `copy` (6, 6) is work space."""
    for n in range(6):
        for m in range(6):
            copy[n, m] = A[n, m]
    solve_rows(copy, B, 6)
    for n in range(6):
        copy[n, 0] = b[n]
    solve_rows(A, copy, 1)
    for n in range(6):
        b[n] = copy[n, 0]


@jit
def constraint(Lam, T, rows, scale, A, V, B, W_out):
    """W = T (T^T Lambda T)^+ T^T for the first `rows` columns of T; A, V, B are work space."""
    for n in range(6):
        for k in range(rows):
            s = 0.0
            for m in range(6):
                s += Lam[n, m] * T[m, k]
            B[n, k] = s
    for n in range(rows):
        for k in range(rows):
            s = 0.0
            for m in range(6):
                s += T[m, n] * B[m, k]
            A[n, k] = s
    pseudo_inverse(rows, A, V, scale, B)
    for n in range(6):
        for k in range(rows):
            s = 0.0
            for m in range(rows):
                s += T[n, m] * B[m, k]
            A[n, k] = s
    for n in range(6):
        for m in range(6):
            s = 0.0
            for k in range(rows):
                s += A[n, k] * T[m, k]
            W_out[n, m] = s


@jit
def own_response(asm, j):
    """The largest response of the two links by themselves along single axes."""
    most = 0.0
    for side in range(2):
        link = asm.link[j, side]
        if link >= 0:
            for n in range(6):
                most = max(most, asm.pool[42 * link + 7 * n])
    return most


@jit
def own_scale(asm, j, T, rows):
    """The largest response of the two links by themselves along the columns of T: joints can only lessen it.

    What is left of it after other loops have taken a direction away is rounding, and must not be inverted.
    """
    most = 0.0
    for side in range(2):
        link = asm.link[j, side]
        if link < 0:
            continue
        block = asm.pool[42 * link : 42 * link + 36]
        for k in range(rows):
            s = 0.0
            for n in range(6):
                for m in range(6):
                    s += T[n, k] * block[6 * n + m] * T[m, k]
            most = max(most, s)
    return most


@jit
def loop_law(model, data, asm, j, n):
    """A loop holds T^T (a_c - a_p - c_J) = 0, T its wrenches at the anchor: 3 of a ball, 5 of a hinge, 6 of a weld."""
    T, V, O = asm.work[1], asm.work[3], asm.origin
    point, frame, error = data.loop_point[n], data.loop_frame[n], data.loop_error[n]
    loop_error(model, data, n, point, frame, error)
    kind = model.loop_kind[n]
    rows = 3 if kind == BALL else (5 if kind == HINGE else 6)
    px, py, pz = (0.5 * (point[0, 0] + point[1, 0]) - O[0], 0.5 * (point[0, 1] + point[1, 1]) - O[1],
                  0.5 * (point[0, 2] + point[1, 2]) - O[2])  # fmt: skip
    for k in range(rows):
        x, y, z = frame[0, 0, k % 3], frame[0, 1, k % 3], frame[0, 2, k % 3]
        if k < 3:
            T[0, k], T[1, k], T[2, k] = x, y, z
            T[3, k], T[4, k], T[5, k] = cross(px, py, pz, x, y, z)
        else:
            T[0, k] = T[1, k] = T[2, k] = 0.0
            T[3, k], T[4, k], T[5, k] = x, y, z
    for a in range(6):
        asm.drive[j, a] = 0.0
    constraint(asm.work[0], T, rows, own_scale(asm, j, T, rows), asm.work[2], V, asm.work[4], asm.W[j])


@jit
def loop_rate(asm, p, c, rate_out):
    """c_J = v_p x (v_c - v_p): what the turning of the parent's axes adds to the relative acceleration."""
    v, u = asm.velocity, rate_out
    for a in range(6):
        u[a] = (v[c, a] if c >= 0 else 0.0) - (v[p, a] if p >= 0 else 0.0)
    if p < 0:
        for a in range(6):
            u[a] = 0.0
        return
    lx, ly, lz = cross(v[p, 3], v[p, 4], v[p, 5], u[0], u[1], u[2])
    mx, my, mz = cross(v[p, 0], v[p, 1], v[p, 2], u[3], u[4], u[5])
    ax, ay, az = cross(v[p, 3], v[p, 4], v[p, 5], u[3], u[4], u[5])
    u[0], u[1], u[2], u[3], u[4], u[5] = lx + mx, ly + my, lz + mz, ax, ay, az


@jit
def contact_law(asm, j, G, f_star):
    """W = (1 + G Lambda)^-1 G and h = (1 + G Lambda)^-1 f*: eq. (3), implicit, applied to eq. (4), implicit."""
    Lam, A, B, W, h = asm.work[0], asm.work[1], asm.work[2], asm.W[j], asm.drive[j]
    for n in range(6):
        h[n] = f_star[n]
        for m in range(6):
            W[n, m] = G[n, m]
            s = 1.0 if n == m else 0.0
            for k in range(6):
                s += G[n, k] * Lam[k, m]
            A[n, m] = s
    solve_with_vector(A, W, h, B)
    for n in range(6):  # symmetric but for rounding
        for m in range(n):
            W[n, m] = W[m, n] = 0.5 * (W[n, m] + W[m, n])
