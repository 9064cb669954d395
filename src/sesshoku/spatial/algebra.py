"""Leaves of the compiled dynamics: 3-D and 6-D vector algebra on scalars.

Spatial vectors are (linear, angular), six numbers in world axes at the tree's origin. A spatial inertia is ten numbers:
mass m, first moment h = m c (3), and the inertia xx yy zz xy xz yz about the origin. Functions take and return scalars
and tuples: measured 25 % faster than small arrays in the innermost loops.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from sesshoku.compiled.jit import jit


@jit
def cross(ax, ay, az, bx, by, bz):
    """a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@jit
def turned(R, x, y, z):
    """R v, R (3, 3): from a body's axes to those that its rotation R is given in."""
    return (R[0, 0] * x + R[0, 1] * y + R[0, 2] * z, R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z)  # fmt: skip


@jit
def turned_back(R, x, y, z):
    """R^T v: the other way."""
    return (R[0, 0] * x + R[1, 0] * y + R[2, 0] * z, R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
            R[0, 2] * x + R[1, 2] * y + R[2, 2] * z)  # fmt: skip


@jit
def add_force(wrench_out, x, y, z, fx, fy, fz):
    """wrench (6) += force f at (x, y, z)."""
    nx, ny, nz = cross(x, y, z, fx, fy, fz)
    wrench_out[0], wrench_out[1], wrench_out[2] = wrench_out[0] + fx, wrench_out[1] + fy, wrench_out[2] + fz
    wrench_out[3], wrench_out[4], wrench_out[5] = wrench_out[3] + nx, wrench_out[4] + ny, wrench_out[5] + nz


@jit
def motion_cross(a, i, bx, by, bz, bu, bv, bw):
    """Spatial cross product of two motions, a[i] x b: the rate of b carried along with velocity a[i]."""
    x1, y1, z1 = cross(a[i, 3], a[i, 4], a[i, 5], bx, by, bz)
    x2, y2, z2 = cross(a[i, 0], a[i, 1], a[i, 2], bu, bv, bw)
    x3, y3, z3 = cross(a[i, 3], a[i, 4], a[i, 5], bu, bv, bw)
    return x1 + x2, y1 + y2, z1 + z2, x3, y3, z3


@jit
def inertia_times(I, i, vx, vy, vz, wx, wy, wz):
    """Momentum or force: the ten-number inertia I[i] times a motion."""
    m, hx, hy, hz = I[i, 0], I[i, 1], I[i, 2], I[i, 3]
    return (
        m * vx + wy * hz - wz * hy,
        m * vy + wz * hx - wx * hz,
        m * vz + wx * hy - wy * hx,
        I[i, 4] * wx + I[i, 7] * wy + I[i, 8] * wz + hy * vz - hz * vy,
        I[i, 7] * wx + I[i, 5] * wy + I[i, 9] * wz + hz * vx - hx * vz,
        I[i, 8] * wx + I[i, 9] * wy + I[i, 6] * wz + hx * vy - hy * vx,
    )


@jit
def quaternion_matrix(w, x, y, z):
    """Rotation matrix, row by row, of a quaternion of any non-zero length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
        s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x),
        s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y),
    )  # fmt: skip


@jit
def quaternion_times(aw, ax, ay, az, bw, bx, by, bz):
    """Quaternion product a b."""
    return (
        aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
    )  # fmt: skip


@jit
def turn_quaternion(x, y, z):
    """Unit quaternion of the rotation vector (x, y, z), exact also for tiny turns."""
    half2 = 0.25 * (x * x + y * y + z * z)
    if half2 < 1e-8:  # series of sin(h)/h and cos(h): error below 1e-17
        s, c = 0.5 * (1.0 - half2 / 6.0), 1.0 - 0.5 * half2 + half2 * half2 / 24.0
    else:
        h = sqrt(half2)
        s, c = 0.5 * sin(h) / h, cos(h)
    return c, s * x, s * y, s * z


@jit
def symmetric_times(A, x, y_out):
    """y = A x for a symmetric 6x6 matrix given by its lower triangle, row by row (21 numbers)."""
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    y_out[0] = A[0] * x0 + A[1] * x1 + A[3] * x2 + A[6] * x3 + A[10] * x4 + A[15] * x5
    y_out[1] = A[1] * x0 + A[2] * x1 + A[4] * x2 + A[7] * x3 + A[11] * x4 + A[16] * x5
    y_out[2] = A[3] * x0 + A[4] * x1 + A[5] * x2 + A[8] * x3 + A[12] * x4 + A[17] * x5
    y_out[3] = A[6] * x0 + A[7] * x1 + A[8] * x2 + A[9] * x3 + A[13] * x4 + A[18] * x5
    y_out[4] = A[10] * x0 + A[11] * x1 + A[12] * x2 + A[13] * x3 + A[14] * x4 + A[19] * x5
    y_out[5] = A[15] * x0 + A[16] * x1 + A[17] * x2 + A[18] * x3 + A[19] * x4 + A[20] * x5


@jit
def symmetric_inertia(I, A_out):
    """The lower triangle (21) of the 6x6 matrix of a ten-number inertia."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    A_out[0], A_out[1], A_out[2], A_out[3], A_out[4], A_out[5] = m, 0.0, m, 0.0, 0.0, m
    A_out[6], A_out[7], A_out[8], A_out[9] = 0.0, -z, y, I[4]
    A_out[10], A_out[11], A_out[12], A_out[13], A_out[14] = z, 0.0, -x, I[7], I[5]
    A_out[15], A_out[16], A_out[17], A_out[18], A_out[19], A_out[20] = -y, x, 0.0, I[8], I[9], I[6]


@jit
def symmetric_subtract(A, u, scale):
    """A -= scale u u^T on the lower triangle."""
    for a in range(6):
        s = scale * u[a]
        for b in range(a + 1):
            A[(a * (a + 1)) // 2 + b] -= s * u[b]
