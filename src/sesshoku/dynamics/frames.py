"""Poses and velocities of the named bodies (frames) from those of their links."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.jacobian import point_velocity


@jit
def frame_poses(model, data, poses_out):
    """(F, 7) position and quaternion w x y z of every frame in the world. Needs `kinematics`."""
    for f in range(model.frame_count):
        link, p, R = model.frame_link[f], model.frame_position[f], model.frame_rotation[f]
        if link < 0:
            poses_out[f, 0], poses_out[f, 1], poses_out[f, 2] = p[0], p[1], p[2]
            w, x, y, z = matrix_quaternion(
                R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
        else:
            W, t = data.rotation[link], model.link_tree[link]
            for a in range(3):
                poses_out[f, a] = (data.tree_origin[t, a] + data.offset[link, a]
                                   + W[a, 0] * p[0] + W[a, 1] * p[1] + W[a, 2] * p[2])  # fmt: skip
            w, x, y, z = matrix_quaternion(
                W[0, 0] * R[0, 0] + W[0, 1] * R[1, 0] + W[0, 2] * R[2, 0],
                W[0, 0] * R[0, 1] + W[0, 1] * R[1, 1] + W[0, 2] * R[2, 1],
                W[0, 0] * R[0, 2] + W[0, 1] * R[1, 2] + W[0, 2] * R[2, 2],
                W[1, 0] * R[0, 0] + W[1, 1] * R[1, 0] + W[1, 2] * R[2, 0],
                W[1, 0] * R[0, 1] + W[1, 1] * R[1, 1] + W[1, 2] * R[2, 1],
                W[1, 0] * R[0, 2] + W[1, 1] * R[1, 2] + W[1, 2] * R[2, 2],
                W[2, 0] * R[0, 0] + W[2, 1] * R[1, 0] + W[2, 2] * R[2, 0],
                W[2, 0] * R[0, 1] + W[2, 1] * R[1, 1] + W[2, 2] * R[2, 1],
                W[2, 0] * R[0, 2] + W[2, 1] * R[1, 2] + W[2, 2] * R[2, 2])
        poses_out[f, 3], poses_out[f, 4], poses_out[f, 5], poses_out[f, 6] = w, x, y, z


@jit
def matrix_quaternion(r00, r01, r02, r10, r11, r12, r20, r21, r22):
    """Unit quaternion, w >= 0, of a rotation matrix; the largest component is found first (Shepperd)."""
    trace = r00 + r11 + r22
    if trace >= r00 and trace >= r11 and trace >= r22:
        s = sqrt(1.0 + trace)
        w, x, y, z = 0.5 * s, (r21 - r12) / (2 * s), (r02 - r20) / (2 * s), (r10 - r01) / (2 * s)
    elif r00 >= r11 and r00 >= r22:
        s = sqrt(1.0 + r00 - r11 - r22)
        w, x, y, z = (r21 - r12) / (2 * s), 0.5 * s, (r01 + r10) / (2 * s), (r02 + r20) / (2 * s)
    elif r11 >= r22:
        s = sqrt(1.0 + r11 - r00 - r22)
        w, x, y, z = (r02 - r20) / (2 * s), (r01 + r10) / (2 * s), 0.5 * s, (r12 + r21) / (2 * s)
    else:
        s = sqrt(1.0 + r22 - r00 - r11)
        w, x, y, z = (r10 - r01) / (2 * s), (r02 + r20) / (2 * s), (r12 + r21) / (2 * s), 0.5 * s
    n = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        n = -n
    return w * n, x * n, y * n, z * n


@jit
def frame_velocities(model, data, velocities_out):
    """(F, 6) velocity of every frame's origin and its angular velocity, world axes. Needs `link_velocities`."""
    for f in range(model.frame_count):
        link, p = model.frame_link[f], model.frame_position[f]
        if link < 0:
            for a in range(6):
                velocities_out[f, a] = 0.0
            continue
        W, r = data.rotation[link], data.offset[link]
        x = r[0] + W[0, 0] * p[0] + W[0, 1] * p[1] + W[0, 2] * p[2]
        y = r[1] + W[1, 0] * p[0] + W[1, 1] * p[1] + W[1, 2] * p[2]
        z = r[2] + W[2, 0] * p[0] + W[2, 1] * p[1] + W[2, 2] * p[2]
        vx, vy, vz = point_velocity(data.velocity, link, x, y, z)
        velocities_out[f, 0], velocities_out[f, 1], velocities_out[f, 2] = vx, vy, vz
        for a in range(3):
            velocities_out[f, 3 + a] = data.velocity[link, 3 + a]
