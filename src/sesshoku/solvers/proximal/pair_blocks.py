"""Blocks of the primal system (primal.py) that belong to lone bodies, in twists (pairs.py): M + sum of K.

They take the place of 1 + Z^T (D/eps) Z. One 6 x 6 stiffness K about the centre of b serves the four places of a pair,
moved by d = o_b - o_a where a is concerned; a contact that sticks is k at its point r, and only k, k r and k r r^T are
summed: a tenth of the products that rows contact by contact take.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.proximal.local import OPEN, STICK
from sesshoku.solvers.proximal.pairs import between
from sesshoku.spatial.algebra import cross


@jit
def place_mass(problem, lower, k, block_out):
    """Mass matrix (36) of a lone body in twists: T^-T T^-1."""
    root = problem.root_dinv
    s43, s53, s54 = lower[k + 3], lower[k + 4], lower[k + 5]
    p, q, r = 1.0 / (root[k + 3] * root[k + 3]), 1.0 / (root[k + 4] * root[k + 4]), 1.0 / (root[k + 5] * root[k + 5])
    for e in range(36):
        block_out[e] = 0.0
    for e in range(3):
        block_out[7 * e] = 1.0 / (root[k + e] * root[k + e])
    block_out[21] = p + q * s43 * s43 + r * s53 * s53
    block_out[22] = block_out[27] = q * s43 + r * s53 * s54
    block_out[23] = block_out[33] = r * s53
    block_out[28] = q + r * s54 * s54
    block_out[29] = block_out[34] = r * s54
    block_out[35] = r


@jit
def to_wrench(problem, lower, k, y, f_out):
    """f (6) = T^-T y of a lone body: the wrench that changes y so."""
    root = problem.root_dinv
    for e in range(3):
        f_out[k + e] = y[k + e] / root[k + e]
    p, q, r = y[k + 3] / root[k + 3], y[k + 4] / root[k + 4], y[k + 5] / root[k + 5]
    f_out[k + 3] = p + lower[k + 3] * q + lower[k + 4] * r
    f_out[k + 4] = q + lower[k + 5] * r
    f_out[k + 5] = r


@jit
def from_twist(problem, lower, k, y):
    """y = T^-1 of the twist that stands there, of a lone body."""
    root = problem.root_dinv
    for e in range(3):
        y[k + e] /= root[k + e]
    p, q, r = y[k + 3], y[k + 4], y[k + 5]
    y[k + 3] = p / root[k + 3]
    y[k + 4] = (q + lower[k + 3] * p) / root[k + 4]
    y[k + 5] = (r + lower[k + 4] * p + lower[k + 5] * q) / root[k + 5]


@jit
def twist_rows(problem, work, c, side, rows_out):
    """Rows (18) of a side of contact c that is a lone body over its twist: Z T^-1."""
    k, at, root, lower = problem.body[c, side], problem.span[c, side, 2], problem.root_dinv, work.lower
    for d in range(3):
        z, row = problem.half[at + 6 * d : at + 6 * d + 6], rows_out[6 * d : 6 * d + 6]
        p, q, r = z[3] / root[k + 3], z[4] / root[k + 4], z[5] / root[k + 5]
        row[0], row[1], row[2] = z[0] / root[k], z[1] / root[k + 1], z[2] / root[k + 2]
        row[3], row[4], row[5] = p + lower[k + 3] * q + lower[k + 4] * r, q + lower[k + 5] * r, r


@jit
def pair_stiffness(problem, contact_list, first, last, sigma, work, K):
    """K (36): sum of J^T (D/eps) J of a pair's contacts about the centre of b, or of a; False if all are open."""
    some, at = False, 1 if problem.body[contact_list[first], 1] >= 0 else 0
    s = sx = sy = sz = xx = xy = xz = yy = yz = zz = 0.0
    for e in range(36):
        K[e] = 0.0
    for i in range(first, last):
        if work.state[i] == OPEN:
            continue
        c, some = contact_list[i], True
        k, arm = 1.0 / (sigma * work.scale[i]), work.arm[c, at]
        x, y, z = arm[0], arm[1], arm[2]
        if work.state[i] == STICK:
            kx, ky, kz = k * x, k * y, k * z
            s, sx, sy, sz = s + k, sx + kx, sy + ky, sz + kz
            xx, xy, xz = xx + kx * x, xy + kx * y, xz + kx * z
            yy, yz, zz = yy + ky * y, yz + ky * z, zz + kz * z
        else:
            add_slipping(problem.axes[c], work.slope[i], k, (x, y, z), K)
    if s > 0.0:
        K[0] += s
        K[7] += s
        K[14] += s
        K[4], K[5], K[9] = K[4] + sz, K[5] - sy, K[9] - sz
        K[11], K[15], K[16] = K[11] + sx, K[15] + sy, K[16] - sx
        K[24], K[30], K[19] = K[24] + sz, K[30] - sy, K[19] - sz
        K[31], K[20], K[26] = K[31] + sx, K[20] + sy, K[26] - sx
        K[21], K[28], K[35] = K[21] + yy + zz, K[28] + xx + zz, K[35] + xx + yy
        K[22], K[27], K[23] = K[22] - xy, K[27] - xy, K[23] - xz
        K[33], K[29], K[34] = K[33] - xz, K[29] - yz, K[34] - yz
    return some


@jit
def add_slipping(axes, slope, k, arm, K):
    """K += J^T (D/eps) J of a contact that slips, J = (1, -[r]x) along its axes."""
    x, y, z = arm
    for r in range(3):
        t0, t1, t2 = axes[0, r], axes[1, r], axes[2, r]
        q0, q1 = k * (slope[0] * t0 + slope[1] * t1), k * (slope[1] * t0 + slope[2] * t1)
        q2 = k * (slope[3] * t0 + slope[4] * t1 + t2)
        a0 = q0 * axes[0, 0] + q1 * axes[1, 0] + q2 * axes[2, 0]
        a1 = q0 * axes[0, 1] + q1 * axes[1, 1] + q2 * axes[2, 1]
        a2 = q0 * axes[0, 2] + q1 * axes[1, 2] + q2 * axes[2, 2]
        b0, b1, b2 = cross(x, y, z, a0, a1, a2)  # row (a) of A times -[r]x
        # the torque of a force along axis r: lines 3 + (r + 1) % 3 and 3 + (r + 2) % 3
        up, down = 3 + (r + 1) % 3, 3 + (r + 2) % 3
        f, g = (z if r == 0 else (x if r == 1 else y)), -(y if r == 0 else (z if r == 1 else x))
        line, plus, minus = K[6 * r : 6 * r + 6], K[6 * up : 6 * up + 6], K[6 * down : 6 * down + 6]
        add_line(line, 1.0, a0, a1, a2, b0, b1, b2)
        add_line(plus, f, a0, a1, a2, b0, b1, b2)
        add_line(minus, g, a0, a1, a2, b0, b1, b2)


@jit(into_callers=True)
def add_line(line, s, a, b, c, d, e, f):
    """line (6) += s (a, ..., f)."""
    line[0] += s * a
    line[1] += s * b
    line[2] += s * c
    line[3] += s * d
    line[4] += s * e
    line[5] += s * f


@jit
def moved_columns(K, d, out):
    """K S (36): columns for a twist about a point at -d from K's, S = (1, -[d]x; 0, 1)."""
    x, y, z = d
    for r in range(6):
        row, to = K[6 * r : 6 * r + 6], out[6 * r : 6 * r + 6]
        a, b, c = row[0], row[1], row[2]
        p, q, s = cross(x, y, z, a, b, c)
        to[0], to[1], to[2], to[3], to[4], to[5] = a, b, c, row[3] + p, row[4] + q, row[5] + s


@jit
def add_moved_rows(K, d, sign, block_out):
    """block += sign S^T K."""
    x, y, z = d
    k0, k1, k2 = K[:6], K[6:12], K[12:18]
    for r in range(3):
        row, to = K[6 * r : 6 * r + 6], block_out[6 * r : 6 * r + 6]
        for e in range(6):
            to[e] += sign * row[e]
    for e in range(6):
        a, b, c = k0[e], k1[e], k2[e]
        block_out[18 + e] += sign * (K[18 + e] + y * c - z * b)
        block_out[24 + e] += sign * (K[24 + e] + z * a - x * c)
        block_out[30 + e] += sign * (K[30 + e] + x * b - y * a)


@jit
def add_pair(problem, contact_list, first, last, sigma, work):
    """A pair's stiffness to the blocks of its bodies, in twists."""
    K, moved, arena, place = work.stiffness[:36], work.stiffness[36:], work.arena, work.place
    if not pair_stiffness(problem, contact_list, first, last, sigma, work, K):
        return
    c = contact_list[first]
    a, b = problem.body[c, 0], problem.body[c, 1]
    if a < 0 or b < 0:
        p = work.dof_block[max(a, b)]
        own = arena[place[p, p] : place[p, p] + 36]
        for e in range(36):
            own[e] += K[e]
        return
    d, p, q = between(work, c), work.dof_block[a], work.dof_block[b]
    moved_columns(K, d, moved)
    own, other = arena[place[q, q] : place[q, q] + 36], arena[place[q, p] : place[q, p] + 36]
    for e in range(36):
        own[e] += K[e]
    for e in range(36):
        other[e] -= moved[e]
    add_moved_rows(K, d, -1.0, arena[place[p, q] : place[p, q] + 36])
    add_moved_rows(moved, d, 1.0, arena[place[p, p] : place[p, p] + 36])
