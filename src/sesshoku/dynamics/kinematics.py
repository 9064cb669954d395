"""Forward kinematics: where the links are, how their joints move them, and their inertias at the tree's origin."""

from __future__ import annotations

from math import cos, sin

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.tendons import place_tendons
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from sesshoku.spatial.algebra import cross, quaternion_matrix


@jit
def kinematics(model, data, q):
    """Poses, joint axes and inertias of all links at q (Q); writes tree_origin, rotation, offset, axis, inertia, and
    where there are spatial tendons their lengths and arms."""
    for i in range(model.link_count):
        place_link(model, data, q, i)
        joint_axes(model, data, i)
        place_inertia(model, data, i)
    if model.spatial_count > 0:
        place_tendons(model, data)


@jit
def place_links(model, data, q):
    """Poses and joint axes alone."""
    for i in range(model.link_count):
        place_link(model, data, q, i)
        joint_axes(model, data, i)


@jit
def place_link(model, data, q, i):
    """Pose of link i from its parent's and its coordinates."""
    R, r, origin = data.rotation, data.offset, data.tree_origin
    kind, at, parent, t = model.link_joint[i], model.link_coordinate[i], model.link_parent[i], model.link_tree[i]
    if kind == FREE or kind == KINEMATIC:  # always a root: its position is the tree's origin
        pose = data.kinematic_pose[i] if kind == KINEMATIC else q[at : at + 7]
        for a in range(3):
            origin[t, a] = pose[a]
            r[i, a] = 0.0
        set_rotation(R, i, pose[3], pose[4], pose[5], pose[6])
        return
    p0, R0 = model.link_position, model.link_rotation
    x, y, z = p0[i, 0], p0[i, 1], p0[i, 2]
    if parent < 0:
        for a in range(3):
            origin[t, a] = p0[i, a]
            r[i, a] = 0.0
            for b in range(3):
                R[i, a, b] = R0[i, a, b]
    else:
        for a in range(3):
            Pa0, Pa1, Pa2 = R[parent, a, 0], R[parent, a, 1], R[parent, a, 2]
            r[i, a] = r[parent, a] + Pa0 * x + Pa1 * y + Pa2 * z
            for b in range(3):
                R[i, a, b] = Pa0 * R0[i, 0, b] + Pa1 * R0[i, 1, b] + Pa2 * R0[i, 2, b]
    if kind == REVOLUTE:
        turn_about_z(R, i, q[at])
    elif kind == PRISMATIC:
        for a in range(3):
            r[i, a] += R[i, a, 2] * q[at]
    elif kind == PLANAR:
        for a in range(3):
            r[i, a] += R[i, a, 0] * q[at] + R[i, a, 1] * q[at + 1]
        turn_about_z(R, i, q[at + 2])
    elif kind == SPHERICAL:
        m00, m01, m02, m10, m11, m12, m20, m21, m22 = quaternion_matrix(q[at], q[at + 1], q[at + 2], q[at + 3])
        for a in range(3):
            c0, c1, c2 = R[i, a, 0], R[i, a, 1], R[i, a, 2]
            R[i, a, 0] = c0 * m00 + c1 * m10 + c2 * m20
            R[i, a, 1] = c0 * m01 + c1 * m11 + c2 * m21
            R[i, a, 2] = c0 * m02 + c1 * m12 + c2 * m22


@jit
def set_rotation(R, i, w, x, y, z):
    (R[i, 0, 0], R[i, 0, 1], R[i, 0, 2], R[i, 1, 0], R[i, 1, 1], R[i, 1, 2],
     R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]) = quaternion_matrix(w, x, y, z)  # fmt: skip


@jit
def turn_about_z(R, i, angle):
    """R[i] <- R[i] Rz(angle): only the first two columns mix."""
    c, s = cos(angle), sin(angle)
    for a in range(3):
        x, y = R[i, a, 0], R[i, a, 1]
        R[i, a, 0] = c * x + s * y
        R[i, a, 1] = c * y - s * x


@jit
def joint_axes(model, data, i):
    """Columns S of link i: the spatial velocity that unit speed of each of its dofs gives."""
    S, R, r = data.axis, data.rotation, data.offset
    kind, k = model.link_joint[i], model.link_dof[i]
    if kind == REVOLUTE:
        turning_axis(S, k, r, i, R[i, 0, 2], R[i, 1, 2], R[i, 2, 2])
    elif kind == PRISMATIC:
        sliding_axis(S, k, R[i, 0, 2], R[i, 1, 2], R[i, 2, 2])
    elif kind == FREE:  # velocity of the root's origin, angular velocity, world axes: the identity
        for a in range(6):
            for b in range(6):
                S[k + a, b] = 1.0 if a == b else 0.0
    elif kind == SPHERICAL:  # about the link's own axes
        for b in range(3):
            turning_axis(S, k + b, r, i, R[i, 0, b], R[i, 1, b], R[i, 2, b])
    elif kind == PLANAR:  # along the plane's axes (undo the turn), then about its normal
        R0 = model.link_rotation  # axes at zero position, in the parent
        parent = model.link_parent[i]
        for b in range(2):
            for a in range(3):
                if parent < 0:
                    S[k + b, a] = R0[i, a, b]
                else:
                    S[k + b, a] = (R[parent, a, 0] * R0[i, 0, b] + R[parent, a, 1] * R0[i, 1, b]
                                   + R[parent, a, 2] * R0[i, 2, b])  # fmt: skip
                S[k + b, 3 + a] = 0.0
        turning_axis(S, k + 2, r, i, R[i, 0, 2], R[i, 1, 2], R[i, 2, 2])


@jit
def turning_axis(S, k, r, i, x, y, z):
    """Rotation about the axis (x, y, z) through the origin of link i: linear part r x axis."""
    S[k, 0], S[k, 1], S[k, 2] = cross(r[i, 0], r[i, 1], r[i, 2], x, y, z)
    S[k, 3], S[k, 4], S[k, 5] = x, y, z


@jit
def sliding_axis(S, k, x, y, z):
    S[k, 0], S[k, 1], S[k, 2] = x, y, z
    S[k, 3] = S[k, 4] = S[k, 5] = 0.0


@jit
def place_inertia(model, data, i):
    """Spatial inertia of link i at the tree's origin, world axes: R I R^T and the parallel-axis terms."""
    R, r, out = data.rotation, data.offset, data.inertia
    m, c, I = model.link_mass[i], model.link_center, model.link_inertia
    r00, r01, r02 = R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]
    r10, r11, r12 = R[i, 1, 0], R[i, 1, 1], R[i, 1, 2]
    r20, r21, r22 = R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]
    x, y, z = c[i, 0], c[i, 1], c[i, 2]
    cx = r[i, 0] + r00 * x + r01 * y + r02 * z
    cy = r[i, 1] + r10 * x + r11 * y + r12 * z
    cz = r[i, 2] + r20 * x + r21 * y + r22 * z
    xx, yy, zz, xy, xz, yz = I[i, 0], I[i, 1], I[i, 2], I[i, 3], I[i, 4], I[i, 5]
    a0, a1, a2 = r00 * xx + r01 * xy + r02 * xz, r00 * xy + r01 * yy + r02 * yz, r00 * xz + r01 * yz + r02 * zz
    b0, b1, b2 = r10 * xx + r11 * xy + r12 * xz, r10 * xy + r11 * yy + r12 * yz, r10 * xz + r11 * yz + r12 * zz
    d0, d1, d2 = r20 * xx + r21 * xy + r22 * xz, r20 * xy + r21 * yy + r22 * yz, r20 * xz + r21 * yz + r22 * zz
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = m, m * cx, m * cy, m * cz
    out[i, 4] = a0 * r00 + a1 * r01 + a2 * r02 + m * (cy * cy + cz * cz)
    out[i, 5] = b0 * r10 + b1 * r11 + b2 * r12 + m * (cx * cx + cz * cz)
    out[i, 6] = d0 * r20 + d1 * r21 + d2 * r22 + m * (cx * cx + cy * cy)
    out[i, 7] = a0 * r10 + a1 * r11 + a2 * r12 - m * cx * cy
    out[i, 8] = a0 * r20 + a1 * r21 + a2 * r22 - m * cx * cz
    out[i, 9] = b0 * r20 + b1 * r21 + b2 * r22 - m * cy * cz


@jit
def coordinate_rate(model, q, v, rate_out):
    """q' of q (Q) at velocity v (V): v itself for scalar coordinates, half the quaternion product for turns."""
    for i in range(model.link_count):
        kind, at, k = model.link_joint[i], model.link_coordinate[i], model.link_dof[i]
        if kind == FREE:  # angular velocity in world axes: q' = 1/2 (0, w) q
            for a in range(3):
                rate_out[at + a] = v[k + a]
            wx, wy, wz = 0.5 * v[k + 3], 0.5 * v[k + 4], 0.5 * v[k + 5]
            w, x, y, z = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
            rate_out[at + 3] = -wx * x - wy * y - wz * z
            rate_out[at + 4] = wx * w + wy * z - wz * y
            rate_out[at + 5] = wy * w + wz * x - wx * z
            rate_out[at + 6] = wz * w + wx * y - wy * x
        elif kind == SPHERICAL:  # angular velocity in the link's axes: q' = 1/2 q (0, w)
            wx, wy, wz = 0.5 * v[k], 0.5 * v[k + 1], 0.5 * v[k + 2]
            w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
            rate_out[at] = -wx * x - wy * y - wz * z
            rate_out[at + 1] = wx * w - wy * z + wz * y
            rate_out[at + 2] = wy * w - wz * x + wx * z
            rate_out[at + 3] = wz * w - wx * y + wy * x
        else:
            for a in range(model.link_dof_count[i]):
                rate_out[at + a] = v[k + a]


@jit
def world_point(model, data, i, p):
    """World place of the point p (3) of link i's frame; i = -1: of the world's own."""
    if i < 0:
        return p[0], p[1], p[2]
    R, r, o = data.rotation[i], data.offset[i], data.tree_origin[model.link_tree[i]]
    return (o[0] + r[0] + R[0, 0] * p[0] + R[0, 1] * p[1] + R[0, 2] * p[2],
            o[1] + r[1] + R[1, 0] * p[0] + R[1, 1] * p[1] + R[1, 2] * p[2],
            o[2] + r[2] + R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2])


@jit
def sum_to_joints(model, data, start, end, force_out):
    """force_out[k] = S_k . (force of its link and of all beyond it), links start to end - 1: whole trees.

    Sums data.force to the roots.
    """
    S, f = data.axis, data.force
    for i in range(end - 1, start - 1, -1):
        first, parent = model.link_dof[i], model.link_parent[i]
        for k in range(first, first + model.link_dof_count[i]):
            force_out[k] = (S[k, 0] * f[i, 0] + S[k, 1] * f[i, 1] + S[k, 2] * f[i, 2]
                            + S[k, 3] * f[i, 3] + S[k, 4] * f[i, 4] + S[k, 5] * f[i, 5])  # fmt: skip
        if parent >= 0:
            for a in range(6):
                f[parent, a] += f[i, a]


@jit
def last_dof(model, link):
    """The last dof at or above a link, -1 if there is none."""
    i = link
    while i >= 0:
        if model.link_dof_count[i] > 0:
            return model.link_dof[i] + model.link_dof_count[i] - 1
        i = model.link_parent[i]
    return -1
