"""Right-hand sides of an assembly: carried through its parts and back, and what a solution leaves over of them.

The matrices W and Phi stand (parts.py). A right-hand side is: b of every link, the relative acceleration c_J
that every joint adds (`rate`), and its drive h.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.blocks import axes_inverse, shift_motion
from sesshoku.dynamics.assembly.laws import loop_rate
from sesshoku.dynamics.assembly.parts import old_place, place_of
from sesshoku.dynamics.assembly.work import CONTACT_JOINT, JOINTS, LOOP_JOINT, TREE_JOINT
from sesshoku.dynamics.kinematics import sum_to_joints
from sesshoku.dynamics.rnea import link_forces
from sesshoku.model.arrays import FREE
from sesshoku.spatial.algebra import cross


@jit
def first_right_side(model, data, asm, joint_force):
    """c_J and h of every joint: velocities, joint forces (V), f* of contacts (`contact_law`); b: `load_link`."""
    O = asm.origin
    for j in range(asm.counts[JOINTS]):
        i, kind, rate = asm.index[j], asm.kind[j], asm.rate[j]
        if kind == TREE_JOINT:
            o = data.tree_origin[model.link_tree[i]]
            shift_motion(data.velocity_product[i], O[0] - o[0], O[1] - o[1], O[2] - o[2], rate)
            drive_of(model, asm, j, i, joint_force)
        elif kind == LOOP_JOINT:
            loop_rate(asm, asm.link[j, 0], asm.link[j, 1], rate)
        else:
            for a in range(6):
                rate[a] = 0.0


@jit
def drive_of(model, asm, j, i, force):
    """h of tree joint j, link i's, for joint forces (V)."""
    h, first = asm.drive[j], model.link_dof[i]
    for a in range(6):
        h[a] = 0.0
    for k in range(first, first + model.link_dof_count[i]):
        for a in range(6):
            h[a] += asm.drive_axis[k, a] * force[k]


@jit
def carry_forward(model, asm):
    """beta and f0 = h - W beta of every joint in order, and b of the parts they make: b_y + R_y^T f0."""
    pool = asm.pool
    for n in range(asm.counts[JOINTS]):
        j = asm.order[n]
        A, B, beta, f0, W = asm.joint_part[j, 0], asm.joint_part[j, 1], asm.bias[j], asm.force[j], asm.W[j]
        for a in range(6):
            beta[a] = -asm.rate[j, a]
        if A >= 0:
            add_bias(asm, A, place_of(asm, A, asm.link[j, 0]), -1.0, beta)
        if B >= 0:
            add_bias(asm, B, place_of(asm, B, asm.link[j, 1]), 1.0, beta)
        for a in range(6):
            s = asm.drive[j, a]
            for b in range(6):
                s -= W[a, b] * beta[b]
            f0[a] = s
        new = model.link_count + j
        first, count, rows = asm.part_handle[new, 0], asm.part_handle[new, 1], asm.joint_block[j]
        at = asm.part_block[new] + 36 * count * count
        for x in range(count):
            R, b_new = pool[rows + 36 * x : rows + 36 * x + 36], pool[at + 6 * x : at + 6 * x + 6]
            part, place = old_place(asm, A, B, asm.handles[first + x])
            for a in range(6):
                s = 0.0
                for b in range(6):
                    s += R[6 * b + a] * f0[b]
                b_new[a] = s
            add_bias(asm, part, place, 1.0, b_new)


@jit
def add_bias(asm, part, y, sign, b_out):
    """b += sign b_y."""
    count = asm.part_handle[part, 1]
    at = asm.part_block[part] + 36 * count * count + 6 * y
    b = asm.pool[at : at + 6]
    for n in range(6):
        b_out[n] += sign * b[n]


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
def joint_accelerations(model, data, asm, rates, acceleration_out):
    """q'' of every joint from the accelerations of its two links: (S^T S)^-1 S^T (a_c - a_p - c_J).

    rates: 1, or 0 for changes of q'', which have no c_J.
    """
    u, c, A, L = asm.work[0, 0], asm.work[0, 1], asm.work[1], asm.work[2]
    inverse, R = asm.work[3], asm.work[4]
    for i in range(model.link_count):
        first, count, parent = model.link_dof[i], model.link_dof_count[i], model.link_parent[i]
        if count == 0:
            continue
        o, O, S = data.tree_origin[model.link_tree[i]], asm.origin, asm.axis
        shift_motion(data.velocity_product[i], O[0] - o[0], O[1] - o[1], O[2] - o[2], c)
        for a in range(6):
            u[a] = asm.acceleration[i, a] - rates * c[a] - (asm.acceleration[parent, a] if parent >= 0 else 0.0)
        if model.link_joint[i] == FREE:
            shift_motion(u, o[0] - O[0], o[1] - O[1], o[2] - O[2], c)
            for a in range(6):
                acceleration_out[first + a] = c[a]
            continue
        axes_inverse(S[first : first + count], count, A, L, inverse, R)
        for k in range(count):
            s = 0.0
            for a in range(6):
                s += R[k, a] * u[a]
            acceleration_out[first + k] = s


# ---- what is left over -----------------------------------------------------------------------------------------------


@jit
def link_accelerations(model, data, asm, acceleration):
    """Accelerations of the links that joint accelerations (V) mean, and the forces they need (`link_forces`)."""
    g, O = model.gravity, asm.origin
    link_forces(model, data, acceleration)
    for i in range(model.link_count):
        a, o = asm.acceleration[i], data.tree_origin[model.link_tree[i]]
        for n in range(6):
            a[n] = data.acceleration[i, n] + (g[n] if n < 3 else 0.0)
        shift_motion(a, O[0] - o[0], O[1] - o[1], O[2] - o[2], a)


@jit
def law_forces(asm):
    """Wrenches of the contact joints as their law has it: f* - G (a_c - a_p)."""
    u = asm.work[0, 0]
    for j in range(asm.counts[JOINTS]):
        if asm.kind[j] == CONTACT_JOINT:
            relative_acceleration(asm, j, u)
            G, f_star = asm.contact_matrix[asm.index[j]], asm.contact_force[asm.index[j]]
            for a in range(6):
                s = f_star[a]
                for b in range(6):
                    s -= G[a, b] * u[b]
                asm.found[j, a] = s


@jit
def relative_acceleration(asm, j, u_out):
    """a_c - a_p of joint j, eq. (4), implicit; its signs are lost, ours: child minus parent."""
    p, c = asm.link[j, 0], asm.link[j, 1]
    for a in range(6):
        u_out[a] = (asm.acceleration[c, a] if c >= 0 else 0.0) - (asm.acceleration[p, a] if p >= 0 else 0.0)


@jit
def left_over(model, data, asm, joint_force, diagonal, acceleration):
    """`rest` (V): joint forces, contacts and loops less what the accelerations need. After `link_accelerations`."""
    O = asm.origin
    for j in range(asm.counts[JOINTS]):
        if asm.kind[j] == TREE_JOINT:
            continue
        f = asm.found[j]
        for side in range(2):
            link, sign = asm.link[j, side], (-1.0 if side == 1 else 1.0)
            if link >= 0:
                o, needed = data.tree_origin[model.link_tree[link]], data.force[link]
                nx, ny, nz = cross(O[0] - o[0], O[1] - o[1], O[2] - o[2], f[0], f[1], f[2])
                needed[0], needed[1], needed[2] = (needed[0] + sign * f[0], needed[1] + sign * f[1],
                                                   needed[2] + sign * f[2])  # fmt: skip
                needed[3] += sign * (f[3] + nx)
                needed[4] += sign * (f[4] + ny)
                needed[5] += sign * (f[5] + nz)
    sum_to_joints(model, data, 0, model.link_count, asm.rest)
    for k in range(model.dof_count):
        asm.rest[k] = joint_force[k] - asm.rest[k] - (model.dof_armature[k] + diagonal[k]) * acceleration[k]


@jit
def right_side_of_rest(model, data, asm):
    """The right-hand side whose solution removes `rest`, and what loops are short of."""
    O, w, u = asm.origin, asm.work[0, 0], asm.work[0, 1]
    for i in range(model.link_count):
        block, b, k = asm.pool[42 * i : 42 * i + 36], asm.pool[42 * i + 36 : 42 * i + 42], model.link_dof[i]
        for a in range(6):
            b[a] = 0.0
        if model.link_joint[i] == FREE:  # no joint of the assembly: a wrench on the link
            o, r = data.tree_origin[model.link_tree[i]], asm.rest[k : k + 6]
            nx, ny, nz = cross(o[0] - O[0], o[1] - O[1], o[2] - O[2], r[0], r[1], r[2])
            w[0], w[1], w[2], w[3], w[4], w[5] = r[0], r[1], r[2], r[3] + nx, r[4] + ny, r[5] + nz
            for a in range(6):
                for n in range(6):
                    b[a] += block[6 * a + n] * w[n]
        for a in range(6):
            asm.wrench[i, a] = 0.0
    for j in range(asm.counts[JOINTS]):
        rate, kind = asm.rate[j], asm.kind[j]
        for a in range(6):
            rate[a] = 0.0
        if kind == TREE_JOINT:
            drive_of(model, asm, j, asm.index[j], asm.rest)
            continue
        for a in range(6):
            asm.drive[j, a] = 0.0
        if kind == LOOP_JOINT:
            relative_acceleration(asm, j, u)
            loop_rate(asm, asm.link[j, 0], asm.link[j, 1], rate)
            for a in range(6):
                rate[a] -= u[a]
