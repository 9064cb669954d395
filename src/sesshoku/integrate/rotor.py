"""Free rotation of one rigid body over a step: kinetic energy and angular momentum kept to rounding, at any spin.

Euler's equations I W' = -W x I W are stepped by the implicit midpoint rule in axes that turn with the body,
    I (W1 - W0) = -h m x I m,    m = (W0 + W1) / 2.
Times m: the energy W I W is the same before and after. Turning the body by the Cayley rotation of h m,
(1 - h/2 [m])^-1 (1 + h/2 [m]), keeps the angular momentum in the world: the rule says exactly that I W1 is the inverse
turn of I W0. Both hold for any h, so h is chosen as 2 tan(|W0| dt / 2) / |W0|: a steady spin then turns by |W0| dt
itself. A body that turns far within the step takes several of them.

The axes are the world's as the body stands at the start of the step, so the inertia is the one `kinematics` placed.
"""

from __future__ import annotations

from math import sqrt, tan

from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross, quaternion_times, turn_quaternion

PART = 0.5  # rad: how far one midpoint step may turn; Newton's iteration then settles in three or four rounds
MOST_TURN = 16.0  # rad per step: beyond it the spin is held steady (energy kept, precession left out)
ROUNDS = 8
SETTLED = 1e-15


@jit
def rotor(I, wx, wy, wz, dt):
    """Spin (3) after dt in the start's axes, and the quaternion (4) of the body's turn, world axes.

    I: the ten-number inertia of the body at its centre of mass, world axes at the start.
    """
    dw, dx, dy, dz = 1.0, 0.0, 0.0, 0.0
    turn = sqrt(wx * wx + wy * wy + wz * wz) * dt
    if not turn <= MOST_TURN:
        dw, dx, dy, dz = turn_quaternion(dt * wx, dt * wy, dt * wz)
        return wx, wy, wz, dw, dx, dy, dz
    parts = 1 + int(turn / PART)
    for _ in range(parts):
        speed = sqrt(wx * wx + wy * wy + wz * wz)
        half = tan(0.5 * speed * dt / parts) / speed if speed > 0.0 else 0.0
        mx, my, mz = midpoint_spin(I, wx, wy, wz, half)
        wx, wy, wz = 2.0 * mx - wx, 2.0 * my - wy, 2.0 * mz - wz
        s = 1.0 / sqrt(1.0 + half * half * (mx * mx + my * my + mz * mz))
        t = half * s
        dw, dx, dy, dz = quaternion_times(dw, dx, dy, dz, s, t * mx, t * my, t * mz)
    return wx, wy, wz, dw, dx, dy, dz


@jit
def midpoint_spin(I, wx, wy, wz, half):
    """m with I (m - w) + half m x I m = 0, (E30), by Newton's method from m = w."""
    xx, yy, zz, xy, xz, yz = I[4], I[5], I[6], I[7], I[8], I[9]
    mx, my, mz = wx, wy, wz
    for _ in range(ROUNDS):
        hx, hy, hz = xx * mx + xy * my + xz * mz, xy * mx + yy * my + yz * mz, xz * mx + yz * my + zz * mz
        gx, gy, gz = cross(mx, my, mz, hx, hy, hz)
        ex, ey, ez = mx - wx, my - wy, mz - wz
        rx = xx * ex + xy * ey + xz * ez + half * gx
        ry = xy * ex + yy * ey + yz * ez + half * gy
        rz = xz * ex + yz * ey + zz * ez + half * gz
        # rows of the matrix I + half ([m] I - [I m])
        a0, a1 = xx + half * (my * xz - mz * xy), xy + half * (my * yz - mz * yy + hz)
        b0, b1 = xy + half * (mz * xx - mx * xz - hz), yy + half * (mz * xy - mx * yz)
        c0, c1 = xz + half * (mx * xy - my * xx + hy), yz + half * (mx * yy - my * xy - hx)
        a2, b2 = xz + half * (my * zz - mz * yz - hy), yz + half * (mz * xz - mx * zz + hx)
        c2 = zz + half * (mx * yz - my * xz)
        u0, u1, u2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
        det = a0 * u0 + a1 * u1 + a2 * u2
        if not det > 0.0:
            return wx, wy, wz
        dx = (rx * u0 + ry * (a2 * c1 - a1 * c2) + rz * (a1 * b2 - a2 * b1)) / det
        dy = (rx * u1 + ry * (a0 * c2 - a2 * c0) + rz * (a2 * b0 - a0 * b2)) / det
        dz = (rx * u2 + ry * (a1 * c0 - a0 * c1) + rz * (a0 * b1 - a1 * b0)) / det
        mx, my, mz = mx - dx, my - dy, mz - dz
        if dx * dx + dy * dy + dz * dz <= SETTLED * SETTLED * (wx * wx + wy * wy + wz * wz):
            break
    return mx, my, mz
