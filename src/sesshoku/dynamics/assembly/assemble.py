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
to the root a tree has H = 1 and the recursion is the articulated-body algorithm; tree.py is that case with
inertias in place of their inverses, which single-axis joints change by rank one.

Inverses of single light links far from the common origin have few digits to spare. So what joint accelerations leave
over of the equations of motion (`rnea`, which inverts nothing) is solved for again with the same W and Phi, until that
changes nothing that counts: one more pass over vectors, seldom two. parts.py makes the matrices,
vectors.py carries right-hand sides through them.
"""

from __future__ import annotations

from math import inf

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import gyroscopic_force
from sesshoku.dynamics.assembly.blocks import invert_symmetric, shift_motion, shift_response
from sesshoku.dynamics.assembly.parts import assemble, kept_response
from sesshoku.dynamics.assembly.vectors import (
    carry_forward,
    disassemble,
    first_right_side,
    joint_accelerations,
    law_forces,
    left_over,
    link_accelerations,
    right_side_of_rest,
)
from sesshoku.dynamics.assembly.work import JOINTS, MOST_HANDLES, OVERFLOW, ROUGH
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.model.arrays import FREE, KINEMATIC
from sesshoku.spatial.algebra import symmetric_inertia

MOST_REFINEMENTS = 3
FINE = 1e-12  # a correction below this share of the accelerations is rounding
COARSE = 1e-6  # where the last one was above this share, laws are too stiff for these inverses (`ROUGH`)


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
    """`assembly_dynamics` where poses, velocities and wrenches are known; diagonal (V): G_q beside rotor inertias.

    Leaves the links' accelerations in `asm` and, without gravity's part and at the trees' origins, in `data`.
    """
    if not start(model, data, asm, joint_force, diagonal):
        return False
    if not assemble(model, data, asm, diagonal):
        return False
    first_right_side(model, data, asm, joint_force)
    carry_forward(model, asm)
    disassemble(model, asm)
    joint_accelerations(model, data, asm, 1.0, acceleration_out)
    for j in range(asm.counts[JOINTS]):
        for a in range(6):
            asm.found[j, a] = asm.force[j, a]
    refine(model, data, asm, joint_force, diagonal, acceleration_out)
    link_accelerations(model, data, asm, acceleration_out)
    law_forces(asm)
    for j in range(asm.counts[JOINTS]):
        for a in range(6):
            asm.force[j, a] = asm.found[j, a]
    return True


@jit
def refine(model, data, asm, joint_force, diagonal, acceleration):
    """Solve for what is left over, and add it to accelerations (V) and to the joints' wrenches (`found`)."""
    before = inf
    asm.counts[ROUGH] = 0
    for _ in range(MOST_REFINEMENTS):
        link_accelerations(model, data, asm, acceleration)
        law_forces(asm)
        left_over(model, data, asm, joint_force, diagonal, acceleration)
        right_side_of_rest(model, data, asm)
        carry_forward(model, asm)
        disassemble(model, asm)
        joint_accelerations(model, data, asm, 0.0, asm.change)
        size = largest = 0.0
        for k in range(model.dof_count):
            size, largest = max(size, abs(asm.change[k])), max(largest, abs(acceleration[k]))
        asm.counts[ROUGH] = 0 if size <= COARSE * largest else 1
        if not size < 0.5 * before:  # rounding is all that is left
            return
        before = size
        for k in range(model.dof_count):
            acceleration[k] += asm.change[k]
        for j in range(asm.counts[JOINTS]):
            for a in range(6):
                asm.found[j, a] += asm.force[j, a]
        if size <= FINE * largest:
            return


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


__all__ = ["assemble_all", "assembly_dynamics", "kept_response"]
