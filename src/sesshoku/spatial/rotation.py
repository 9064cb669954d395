"""Rotations in Python (set-up code): quaternions w x y z; matrices take a body's coordinates to the world's."""

from __future__ import annotations

import numpy as np


def quaternion_to_matrix(quaternion: np.ndarray) -> np.ndarray:
    """R (3, 3) of a quaternion w x y z of any non-zero length."""
    w, x, y, z = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def matrix_to_quaternion(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion w x y z, w >= 0, of a rotation matrix."""
    R = np.asarray(matrix, dtype=np.float64)
    # the largest of the four candidates keeps the square root away from zero
    squares = np.array([R[0, 0] + R[1, 1] + R[2, 2], R[0, 0] - R[1, 1] - R[2, 2],
                        R[1, 1] - R[0, 0] - R[2, 2], R[2, 2] - R[0, 0] - R[1, 1]])
    k = int(np.argmax(squares))
    big = 0.5 * np.sqrt(1.0 + squares[k])
    s = 0.25 / big
    a, b, c = (R[2, 1] - R[1, 2]) * s, (R[0, 2] - R[2, 0]) * s, (R[1, 0] - R[0, 1]) * s
    d, e, f = (R[0, 1] + R[1, 0]) * s, (R[0, 2] + R[2, 0]) * s, (R[1, 2] + R[2, 1]) * s
    q = np.array([[big, a, b, c], [a, big, d, e], [b, d, big, f], [c, e, f, big]][k])
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def unit(quaternion: np.ndarray) -> np.ndarray:
    """A quaternion of length 1."""
    return quaternion / np.linalg.norm(quaternion)


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion product a b."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return np.array([
        aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
    ])


def axis_angle(axis: np.ndarray, angle: float) -> np.ndarray:
    """Quaternion of a turn by `angle` (rad) about a unit axis."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, dtype=np.float64)])


def from_roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Quaternion of URDF's fixed-axis roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll)."""
    turn = multiply(axis_angle(np.array([0, 1, 0]), pitch), axis_angle(np.array([1, 0, 0]), roll))
    return multiply(axis_angle(np.array([0, 0, 1]), yaw), turn)


def frame_with_z(axis: np.ndarray) -> np.ndarray:
    """A rotation matrix whose z column is the given unit axis; the identity for z itself."""
    z = np.asarray(axis, dtype=np.float64)
    if z[0] == 0.0 and z[1] == 0.0 and z[2] > 0.0:  # z[2] alone is 1.0 up to a tilt of 1e-8
        return np.eye(3)
    x = np.zeros(3)
    x[int(np.argmin(np.abs(z)))] = 1.0
    y = np.cross(z, x)
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """The rotation vector (axis times angle, rad, angle in [0, pi]) of a rotation matrix."""
    w, *xyz = matrix_to_quaternion(matrix)
    length = float(np.linalg.norm(xyz))
    return np.asarray(xyz) * (2.0 if length < 1e-12 else 2.0 * np.arctan2(length, w) / length)
