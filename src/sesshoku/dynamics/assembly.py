"""Forward dynamics by assembly and disassembly: joints are added one at a time, in any order, then settled backwards.

Assembly. A part answers wrenches f at its handles with accelerations a_y = sum_x Phi_yx f_x + b_y. Joint i between the
parent's handle p and the child's handle c sees
    a_c - a_p - c_J = Lambda f_J + beta + sum_x R_x f_x,   R_x = Phi_cx - Phi_px  (a term only where x is in that part)
and every kind of joint is a law f_J = h - W (beta + sum_x R_x f_x) for the wrench on its child:
    tree joint   S^T f = tau - G_q q'', motion only along S    W = Y - Y S E^-1 S^T Y,  h = Y S E^-1 tau,
                                                               Y = Lambda^-1,  E = S^T Y S + G_q
    loop         T^T (a_c - a_p - c_J) = 0                      W = T (T^T Lambda T)^+ T^T,  h = 0
    contact      f = f* - G (a_c - a_p)                         W = (1 + G Lambda)^-1 G,  h = (1 + G Lambda)^-1 f*
With f0 = h - W beta the new part has Phi_yx - R_y^T W R_x and b_y + R_y^T f0. G_q holds rotor inertias and what
implicit springs and servos add. `temporary` forces f0 ignore the joints assembled later; disassembly runs backwards,
knows the later joints' wrenches on the handles, and evaluates the law with them. The pseudo-inverse makes redundant
loops harmless: forces are then not unique, motion is.

The result does not depend on the order; the cost does: H^2 blocks per joint, H the handles left open. From the leaves
to the root a tree has H = 1 and the recursion is the articulated-body algorithm; `assembly_tree` is that case with
inertias in place of their inverses, which single-axis joints change by rank one.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import gyroscopic_force
from sesshoku.dynamics.assembly_blocks import invert_symmetric, shift_motion, shift_response
from sesshoku.dynamics.assembly_laws import joint_law
from sesshoku.dynamics.assembly_work import JOINTS, MOST_HANDLES, OVERFLOW
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.scene.model import FREE, KINEMATIC
from sesshoku.spatial.algebra import symmetric_inertia


@jit
def assembly_dynamics(model, data, asm, q, v, joint_force, acceleration_out):
    """Joint accelerations (V) at q, v under joint forces (V), external forces, loops and the contact joints of `asm`.

    False where a part was too large for the pool, or a link has no inertia of its own.
    """
    kinematics(model, data, q)
    link_velocities(model, data, v)
    external_wrenches(model, data)
    return assemble_all(model, data, asm, joint_force, data.implicit_diagonal, acceleration_out)


@jit
def assemble_all(model, data, asm, joint_force, diagonal, acceleration_out):
    """`assembly_dynamics` where poses, velocities and wrenches are known; diagonal (V): G_q beside rotor inertias."""
    if not start(model, data, asm, joint_force, diagonal):
        return False
    if not assemble(model, data, asm, joint_force, diagonal):
        return False
    disassemble(model, asm)
    joint_accelerations(model, data, asm, acceleration_out)
    return True


@jit
def start(model, data, asm, joint_force, diagonal):
    """Every link a part of its own; which joints are still to come. Poses of `data` at the common origin."""
    L, pool, handles = model.link_count, asm.pool, asm.handles
    for a in range(3):
        asm.origin[a] = data.tree_origin[0, a] if model.tree_count > 0 else 0.0
    asm.counts[OVERFLOW] = asm.counts[MOST_HANDLES] = 0
    if len(pool) < 42 * L:
        asm.counts[OVERFLOW] = 1
        return False
    for i in range(L):
        asm.pending[i] = 0
        asm.leader[i] = asm.part[i] = handles[i] = i
        asm.part_handle[i, 0], asm.part_handle[i, 1], asm.part_block[i] = i, 1, 42 * i
        for a in range(6):
            asm.wrench[i, a] = 0.0
        if not load_link(model, data, asm, joint_force, diagonal, i):
            return False
    for j in range(asm.counts[JOINTS]):
        for side in range(2):
            if asm.link[j, side] >= 0:
                asm.pending[asm.link[j, side]] += 1
    return True


@jit
def load_link(model, data, asm, joint_force, diagonal, i):
    """Phi = I^-1 and b = g - I^-1 p of link i, axes and velocity of its joint, all at the common origin."""
    block, g, first = asm.pool[42 * i : 42 * i + 36], model.gravity, model.link_dof[i]
    b, o, O = asm.pool[42 * i + 36 : 42 * i + 42], data.tree_origin[model.link_tree[i]], asm.origin
    x, y, z = O[0] - o[0], O[1] - o[1], O[2] - o[2]
    shift_motion(data.velocity[i], x, y, z, asm.velocity[i])
    for k in range(first, first + model.link_dof_count[i]):
        shift_motion(data.axis[k], x, y, z, asm.axis[k])
    if model.link_joint[i] == KINEMATIC:  # moves as its script says, whatever acts on it
        for n in range(36):
            block[n] = 0.0
        shift_motion(data.velocity_product[i], x, y, z, b)
        return True
    A, L, inverse, p, triangle = asm.work[0], asm.work[1], asm.work[2], data.articulated_bias, data.articulated[i]
    symmetric_inertia(data.inertia[i], triangle)
    for n in range(6):
        for m in range(n + 1):
            A[n, m] = A[m, n] = triangle[(n * (n + 1)) // 2 + m]
    gyroscopic_force(data, i, p)
    if model.link_joint[i] == FREE:  # its axes are the identity: rotor inertia and drive are the link's own
        for n in range(6):
            extra = model.dof_armature[first + n] + diagonal[first + n]
            A[n, n] += extra
            p[i, n] -= joint_force[first + n] + extra * data.velocity_product[i, n]
            if extra > 0.0 and n < 3:  # the gravity added below goes through the whole inverse
                p[i, n] += extra * g[n]
    if not invert_symmetric(6, A, L, 0.0, inverse):
        return False
    for n in range(6):
        s = g[n] if n < 3 else 0.0
        for m in range(6):
            s -= inverse[n, m] * p[i, m]
        b[n] = s
    if x != 0.0 or y != 0.0 or z != 0.0:
        shift_response(inverse, x, y, z)
        shift_motion(b, x, y, z, b)
    for n in range(6):
        for m in range(6):
            block[6 * n + m] = inverse[n, m]
    return True


@jit
def assemble(model, data, asm, joint_force, diagonal):
    """All joints in order. False where the pool is too small."""
    used, listed = 42 * model.link_count, model.link_count
    for n in range(asm.counts[JOINTS]):
        j = asm.order[n]
        used, listed = join(model, data, asm, j, joint_force, diagonal, used, listed)
        if used < 0:
            asm.counts[OVERFLOW] = 1
            return False
    return True


@jit
def find(leader, n):
    """The link that stands for the part of link n."""
    while leader[n] != n:
        leader[n] = leader[leader[n]]
        n = leader[n]
    return n


@jit
def place_of(asm, part, link):
    """Which handle of a part a link is."""
    first = asm.part_handle[part, 0]
    for n in range(asm.part_handle[part, 1]):
        if asm.handles[first + n] == link:
            return n
    return -1


@jit
def join(model, data, asm, j, joint_force, diagonal, used, listed):
    """Assemble joint j: its law, then the part it makes. Returns what is used of pool and handles, -1: too much."""
    p, c, pool, beta = asm.link[j, 0], asm.link[j, 1], asm.pool, asm.bias[j]
    A = asm.part[find(asm.leader, p)] if p >= 0 else -1
    B = asm.part[find(asm.leader, c)] if c >= 0 else -1
    Lam = asm.work[0]
    for n in range(6):
        beta[n] = 0.0
        for m in range(6):
            Lam[n, m] = 0.0
    ip, ic = (place_of(asm, A, p) if A >= 0 else -1), (place_of(asm, B, c) if B >= 0 else -1)
    if A >= 0:
        add_response(asm, A, ip, ip, 1.0, Lam)
        add_bias(asm, A, ip, -1.0, beta)
    if B >= 0:
        add_response(asm, B, ic, ic, 1.0, Lam)
        add_bias(asm, B, ic, 1.0, beta)
    if A >= 0 and A == B:
        add_response(asm, A, ip, ic, -1.0, Lam)
        add_response(asm, A, ic, ip, -1.0, Lam)
    joint_law(model, data, asm, j, joint_force, diagonal)
    W, h, f0 = asm.W[j], asm.drive[j], asm.force[j]
    for n in range(6):
        s = h[n]
        for m in range(6):
            s -= W[n, m] * beta[m]
        f0[n] = s
    for side in range(2):
        if asm.link[j, side] >= 0:
            asm.pending[asm.link[j, side]] -= 1
    first, count = listed, 0
    for side in range(2):
        part = A if side == 0 else B
        if part < 0 or (side == 1 and A == B):
            continue
        start_ = asm.part_handle[part, 0]
        for n in range(asm.part_handle[part, 1]):
            link = asm.handles[start_ + n]
            if asm.pending[link] > 0 or asm.keep[link] != 0:
                if first + count >= len(asm.handles):
                    return -1, -1
                asm.handles[first + count] = link
                count += 1
    block, rows = used, used + 36 * count * count + 6 * count
    if rows + 36 * count > len(pool):
        return -1, -1
    new = model.link_count + j
    asm.part_handle[new, 0], asm.part_handle[new, 1] = first, count
    asm.part_block[new], asm.joint_block[j] = block, rows
    asm.counts[MOST_HANDLES] = max(asm.counts[MOST_HANDLES], count)
    for n in range(count):
        joint_rows(asm, j, A, B, ip, ic, asm.handles[first + n], pool[rows + 36 * n : rows + 36 * n + 36])
    new_part(asm, j, A, B, new)
    merge(asm, p, c, new)
    return rows + 36 * count, first + count


@jit
def merge(asm, p, c, new):
    """The parts of p and c are one from now on, `new`."""
    if p >= 0 and c >= 0:
        a, b = find(asm.leader, p), find(asm.leader, c)
        asm.leader[b] = a
        asm.part[a] = new
    elif p >= 0 or c >= 0:
        asm.part[find(asm.leader, p if p >= 0 else c)] = new


@jit
def add_response(asm, part, y, x, sign, A_out):
    """A += sign Phi_yx."""
    at = asm.part_block[part] + 36 * (y * asm.part_handle[part, 1] + x)
    block = asm.pool[at : at + 36]
    for n in range(6):
        for m in range(6):
            A_out[n, m] += sign * block[6 * n + m]


@jit
def add_bias(asm, part, y, sign, b_out):
    """b += sign b_y."""
    count = asm.part_handle[part, 1]
    at = asm.part_block[part] + 36 * count * count + 6 * y
    b = asm.pool[at : at + 6]
    for n in range(6):
        b_out[n] += sign * b[n]


@jit
def joint_rows(asm, j, A, B, ip, ic, link, R_out):
    """R_x = Phi_cx - Phi_px of handle x, each term only where x is in that part."""
    for n in range(36):
        R_out[n] = 0.0
    for side in range(2):
        part, at, sign = (A, ip, -1.0) if side == 0 else (B, ic, 1.0)
        if part < 0:
            continue
        x = place_of(asm, part, link)
        if x >= 0:
            start_ = asm.part_block[part] + 36 * (at * asm.part_handle[part, 1] + x)
            block = asm.pool[start_ : start_ + 36]
            for n in range(36):
                R_out[n] += sign * block[n]


@jit
def new_part(asm, j, A, B, new):
    """Phi_yx - R_y^T W R_x and b_y + R_y^T f0 of the part that joint j makes."""
    first, count, pool, W, f0 = asm.part_handle[new, 0], asm.part_handle[new, 1], asm.pool, asm.W[j], asm.force[j]
    block, rows, WR = asm.part_block[new], asm.joint_block[j], asm.work[5]
    b_new = pool[block + 36 * count * count : block + 36 * count * count + 6 * count]
    for x in range(count):
        R = pool[rows + 36 * x : rows + 36 * x + 36]
        for n in range(6):
            for m in range(6):
                s = 0.0
                for k in range(6):
                    s += W[n, k] * R[6 * k + m]
                WR[n, m] = s
        part_x, place_x = old_place(asm, A, B, asm.handles[first + x])
        old_count = asm.part_handle[part_x, 1]
        old_b = pool[asm.part_block[part_x] + 36 * old_count * old_count + 6 * place_x :]
        for n in range(6):
            s = old_b[n]
            for k in range(6):
                s += R[6 * k + n] * f0[k]
            b_new[6 * x + n] = s
        for y in range(x + 1):
            Ry = pool[rows + 36 * y : rows + 36 * y + 36]
            to = pool[block + 36 * (y * count + x) : block + 36 * (y * count + x) + 36]
            mirror = pool[block + 36 * (x * count + y) : block + 36 * (x * count + y) + 36]
            part_y, place_y = old_place(asm, A, B, asm.handles[first + y])
            same = part_y == part_x
            at = asm.part_block[part_x] + 36 * (place_y * old_count + place_x) if same else 0
            old = pool[at : at + 36]
            for n in range(6):
                for m in range(6):
                    s = old[6 * n + m] if same else 0.0
                    for k in range(6):
                        s -= Ry[6 * k + n] * WR[k, m]
                    to[6 * n + m] = s
                    if x != y:
                        mirror[6 * m + n] = s


@jit
def old_place(asm, A, B, link):
    """The part a handle comes from, and its place there."""
    if A >= 0:
        place = place_of(asm, A, link)
        if place >= 0:
            return A, place
    return B, place_of(asm, B, link)


# ---- backwards -----------------------------------------------------------------------------------------------------


@jit
def disassemble(model, asm):
    """Final wrenches of the joints, last first, then the links' accelerations. `wrench`: what acts on kept handles."""
    wrench, handles, pool = asm.wrench, asm.handles, asm.pool
    for n in range(asm.counts[JOINTS] - 1, -1, -1):
        j = asm.order[n]
        new = model.link_count + j
        first, count, rows = asm.part_handle[new, 0], asm.part_handle[new, 1], asm.joint_block[j]
        W, f, met = asm.W[j], asm.force[j], asm.work[0, 0]
        for a in range(6):
            met[a] = asm.bias[j, a]
        for x in range(count):
            R, given = pool[rows + 36 * x : rows + 36 * x + 36], wrench[handles[first + x]]
            for a in range(6):
                for b in range(6):
                    met[a] += R[6 * a + b] * given[b]
        for a in range(6):
            s = asm.drive[j, a]
            for b in range(6):
                s -= W[a, b] * met[b]
            f[a] = s
        for side in range(2):
            link, sign = asm.link[j, side], (1.0 if side == 1 else -1.0)
            if link >= 0:
                for a in range(6):
                    wrench[link, a] += sign * f[a]
    for i in range(model.link_count):
        block, b = pool[42 * i : 42 * i + 36], pool[42 * i + 36 : 42 * i + 42]
        for a in range(6):
            s = b[a]
            for k in range(6):
                s += block[6 * a + k] * wrench[i, k]
            asm.acceleration[i, a] = s


@jit
def joint_accelerations(model, data, asm, acceleration_out):
    """q'' of every joint from the accelerations of its two links: (S^T S)^-1 S^T (a_c - a_p - c_J)."""
    u, c, A, L, inverse = asm.work[0, 0], asm.work[0, 1], asm.work[1], asm.work[2], asm.work[3]
    for i in range(model.link_count):
        first, count, parent = model.link_dof[i], model.link_dof_count[i], model.link_parent[i]
        if count == 0:
            continue
        o, O, S = data.tree_origin[model.link_tree[i]], asm.origin, asm.axis
        shift_motion(data.velocity_product[i], O[0] - o[0], O[1] - o[1], O[2] - o[2], c)
        for a in range(6):
            u[a] = asm.acceleration[i, a] - c[a] - (asm.acceleration[parent, a] if parent >= 0 else 0.0)
        if model.link_joint[i] == FREE:
            shift_motion(u, o[0] - O[0], o[1] - O[1], o[2] - O[2], c)
            for a in range(6):
                acceleration_out[first + a] = c[a]
            continue
        for k in range(count):
            for e in range(count):
                s = 0.0
                for a in range(6):
                    s += S[first + k, a] * S[first + e, a]
                A[k, e] = s
        invert_symmetric(count, A, L, 0.0, inverse)
        for k in range(count):
            s = 0.0
            for e in range(count):
                for a in range(6):
                    s += inverse[k, e] * S[first + e, a] * u[a]
            acceleration_out[first + k] = s


@jit
def kept_response(model, asm, links, response_out):
    """Phi (6 n, 6 n) of n kept links after `assemble`: wrenches at the common origin -> accelerations.

    The Delassus matrix of any rows on these links is one product away. Zero between links of different parts.
    """
    for y in range(len(links)):
        for x in range(len(links)):
            a, b = find(asm.leader, links[y]), find(asm.leader, links[x])
            part = asm.part[a]
            ready = a == b and asm.keep[links[y]] != 0 and asm.keep[links[x]] != 0
            at = 0
            if ready:
                at = asm.part_block[part] + 36 * (place_of(asm, part, links[y]) * asm.part_handle[part, 1]
                                                  + place_of(asm, part, links[x]))  # fmt: skip
            for n in range(6):
                for m in range(6):
                    response_out[6 * y + n, 6 * x + m] = asm.pool[at + 6 * n + m] if ready else 0.0
