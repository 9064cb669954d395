"""Two boxes: the separating-axis test over 15 axes (Gottschalk, Lin and Manocha 1996).

For overlapping boxes the axis of least overlap is the exact shortest way out. For boxes apart the best axis bounds
their distance from below; it is the distance where the facing features really meet along it, which the caller checks.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit

FACE_FIRST = 1e-10  # of the size: an edge axis must be better than a face axis by this, b's face better than a's
PARALLEL = 1e-16  # squared sine: edges this parallel have no common perpendicular of their own


@jit
def edge_axis(t, r, length2, best, margin):
    """Whether the axis (not of unit length) with centre distance t and radii sum r separates more than `best`.

    Returns 0 (no), 1 (yes) or 2 (by more than the margin). Square roots are left to the winner.
    """
    x = abs(t) - r
    if length2 <= PARALLEL:
        return 0
    if x > 0.0:
        if x * x > margin * margin * length2:
            return 2
        return 1 if best < 0.0 or x * x > best * best * length2 else 0
    return 1 if best < 0.0 and x * x < best * best * length2 else 0


@jit
def box_axis(A, h, B, g, offset, margin, size):
    """Axis of greatest separation of boxes with rotations A, B and half edges h, g, b's centre at c from a's.

    Returns (separation or something above the margin, unit axis from a to b).
    """
    cx, cy, cz = offset
    h0, h1, h2, g0, g1, g2 = h[0], h[1], h[2], g[0], g[1], g[2]
    t0 = A[0, 0] * cx + A[1, 0] * cy + A[2, 0] * cz
    t1 = A[0, 1] * cx + A[1, 1] * cy + A[2, 1] * cz
    t2 = A[0, 2] * cx + A[1, 2] * cy + A[2, 2] * cz
    r00 = A[0, 0] * B[0, 0] + A[1, 0] * B[1, 0] + A[2, 0] * B[2, 0]
    r01 = A[0, 0] * B[0, 1] + A[1, 0] * B[1, 1] + A[2, 0] * B[2, 1]
    r02 = A[0, 0] * B[0, 2] + A[1, 0] * B[1, 2] + A[2, 0] * B[2, 2]
    r10 = A[0, 1] * B[0, 0] + A[1, 1] * B[1, 0] + A[2, 1] * B[2, 0]
    r11 = A[0, 1] * B[0, 1] + A[1, 1] * B[1, 1] + A[2, 1] * B[2, 1]
    r12 = A[0, 1] * B[0, 2] + A[1, 1] * B[1, 2] + A[2, 1] * B[2, 2]
    r20 = A[0, 2] * B[0, 0] + A[1, 2] * B[1, 0] + A[2, 2] * B[2, 0]
    r21 = A[0, 2] * B[0, 1] + A[1, 2] * B[1, 1] + A[2, 2] * B[2, 1]
    r22 = A[0, 2] * B[0, 2] + A[1, 2] * B[1, 2] + A[2, 2] * B[2, 2]
    q00, q01, q02 = abs(r00), abs(r01), abs(r02)
    q10, q11, q12 = abs(r10), abs(r11), abs(r12)
    q20, q21, q22 = abs(r20), abs(r21), abs(r22)

    s0 = abs(t0) - (h0 + g0 * q00 + g1 * q01 + g2 * q02)
    s1 = abs(t1) - (h1 + g0 * q10 + g1 * q11 + g2 * q12)
    s2 = abs(t2) - (h2 + g0 * q20 + g1 * q21 + g2 * q22)
    w0, w1, w2 = t0 * r00 + t1 * r10 + t2 * r20, t0 * r01 + t1 * r11 + t2 * r21, t0 * r02 + t1 * r12 + t2 * r22
    s3 = abs(w0) - (g0 + h0 * q00 + h1 * q10 + h2 * q20)
    s4 = abs(w1) - (g1 + h0 * q01 + h1 * q11 + h2 * q21)
    s5 = abs(w2) - (g2 + h0 * q02 + h1 * q12 + h2 * q22)
    if s0 > margin or s1 > margin or s2 > margin or s3 > margin or s4 > margin or s5 > margin:
        return 2.0 * margin + size, 0.0, 0.0, 1.0

    bias = FACE_FIRST * size
    best, axis = s0, 0
    if s1 > best + bias:
        best, axis = s1, 1
    if s2 > best + bias:
        best, axis = s2, 2
    if s3 > best + bias:
        best, axis = s3, 3
    if s4 > best + bias:
        best, axis = s4, 4
    if s5 > best + bias:
        best, axis = s5, 5
    if axis < 3:
        sign = 1.0 if (t0 if axis == 0 else t1 if axis == 1 else t2) >= 0.0 else -1.0
        nx, ny, nz = sign * A[0, axis], sign * A[1, axis], sign * A[2, axis]
    else:
        e = axis - 3
        sign = 1.0 if (w0 if e == 0 else w1 if e == 1 else w2) >= 0.0 else -1.0
        nx, ny, nz = sign * B[0, e], sign * B[1, e], sign * B[2, e]

    # edge axes a_i x b_j, in a's frame
    t, r, l2 = t2 * r10 - t1 * r20, h1 * q20 + h2 * q10 + g1 * q02 + g2 * q01, r10 * r10 + r20 * r20
    y00 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t2 * r11 - t1 * r21, h1 * q21 + h2 * q11 + g0 * q02 + g2 * q00, r11 * r11 + r21 * r21
    y01 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t2 * r12 - t1 * r22, h1 * q22 + h2 * q12 + g0 * q01 + g1 * q00, r12 * r12 + r22 * r22
    y02 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t0 * r20 - t2 * r00, h0 * q20 + h2 * q00 + g1 * q12 + g2 * q11, r00 * r00 + r20 * r20
    y10 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t0 * r21 - t2 * r01, h0 * q21 + h2 * q01 + g0 * q12 + g2 * q10, r01 * r01 + r21 * r21
    y11 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t0 * r22 - t2 * r02, h0 * q22 + h2 * q02 + g0 * q11 + g1 * q10, r02 * r02 + r22 * r22
    y12 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t1 * r00 - t0 * r10, h0 * q10 + h1 * q00 + g1 * q22 + g2 * q21, r00 * r00 + r10 * r10
    y20 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t1 * r01 - t0 * r11, h0 * q11 + h1 * q01 + g0 * q22 + g2 * q20, r01 * r01 + r11 * r11
    y21 = edge_axis(t, r, l2, best + bias, margin)
    t, r, l2 = t1 * r02 - t0 * r12, h0 * q12 + h1 * q02 + g0 * q21 + g1 * q20, r02 * r02 + r12 * r12
    y22 = edge_axis(t, r, l2, best + bias, margin)
    better = y00 | y01 | y02 | y10 | y11 | y12 | y20 | y21 | y22
    if better >= 2:
        return 2.0 * margin + size, 0.0, 0.0, 1.0
    if better == 1:
        found = y00 | y01 << 1 | y02 << 2 | y10 << 3 | y11 << 4 | y12 << 5 | y20 << 6 | y21 << 7 | y22 << 8
        return best_edge_axis((A, h), (B, g), offset, (found, best), (nx, ny, nz), bias)
    return best, nx, ny, nz


@jit
def best_edge_axis(box_a, box_b, offset, so_far, normal, bias):
    """Of the edge pairs marked in `found` the axis that separates most, if any beats `best` along n by `bias`.

    Measured afresh along the normalised axis with all six half edges: then even a badly conditioned one is valid.
    """
    A, h = box_a
    B, g = box_b
    found, best = so_far
    cx, cy, cz = offset
    nx, ny, nz = normal
    bound = best + bias
    for pair in range(9):
        if not (found >> pair) & 1:
            continue
        i, j = pair // 3, pair % 3
        x = A[1, i] * B[2, j] - A[2, i] * B[1, j]
        y = A[2, i] * B[0, j] - A[0, i] * B[2, j]
        z = A[0, i] * B[1, j] - A[1, i] * B[0, j]
        along = x * cx + y * cy + z * cz
        k = (1.0 if along >= 0.0 else -1.0) / sqrt(x * x + y * y + z * z)
        x, y, z = k * x, k * y, k * z
        s = k * along
        for e in range(3):
            s -= h[e] * abs(A[0, e] * x + A[1, e] * y + A[2, e] * z)
            s -= g[e] * abs(B[0, e] * x + B[1, e] * y + B[2, e] * z)
        if s > bound:
            bound, best, nx, ny, nz = s, s, x, y, z
    return best, nx, ny, nz
