"""Drag of the fluid that bodies move through (scene/fluid.py has the law), as wrenches on links.

Drag is explicit: each scheme takes it where it evaluates its forces, so that it has the scheme's order. A body's drag
along an axis is at most what stops the body within one step (`drag_most`), so that any step is stable: kinetic energy
and drag power of a mechanism are sums over its bodies, so no motion of it decays faster than that of its bodies alone.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross


@jit
def drag_links(model, data, wrench_out):
    """Add drag to wrenches (L, 6) at the trees' origins. Needs `link_velocities`."""
    for d in range(model.drag_count):
        i, c = model.drag_link[d], model.drag_position[d]
        R, o, u = data.rotation[i], data.offset[i], data.velocity[i]
        x = o[0] + R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2]
        y = o[1] + R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2]
        z = o[2] + R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2]
        vx, vy, vz = cross(u[3], u[4], u[5], x, y, z)
        f, out = data.drag_wrench[d], wrench_out[i]
        drag_of_body(model, data.drag_most[d], d, R, (u[0] + vx, u[1] + vy, u[2] + vz), (u[3], u[4], u[5]), f)
        tx, ty, tz = cross(x, y, z, f[0], f[1], f[2])
        out[0], out[1], out[2] = out[0] + f[0], out[1] + f[1], out[2] + f[2]
        out[3], out[4], out[5] = out[3] + f[3] + tx, out[4] + f[4] + ty, out[5] + f[5] + tz


@jit
def drag_of_body(model, most, d, R, velocity, spin, wrench_out):
    """Force and torque (6) on body d, about its centre of mass, world axes.

    most (6): bounds of drag per speed. R (3, 3): rotation of its link. velocity: of its centre of mass, world axes.
    """
    A, linear, square, wind = model.drag_rotation[d], model.drag_linear[d], model.drag_square[d], model.wind
    vx, vy, vz = velocity[0] - wind[0], velocity[1] - wind[1], velocity[2] - wind[2]
    wx, wy, wz = spin
    for a in range(6):
        wrench_out[a] = 0.0
    for a in range(3):
        ex = R[0, 0] * A[0, a] + R[0, 1] * A[1, a] + R[0, 2] * A[2, a]
        ey = R[1, 0] * A[0, a] + R[1, 1] * A[1, a] + R[1, 2] * A[2, a]
        ez = R[2, 0] * A[0, a] + R[2, 1] * A[1, a] + R[2, 2] * A[2, a]
        v, w = ex * vx + ey * vy + ez * vz, ex * wx + ey * wy + ez * wz
        f = -min(linear[a] + square[a] * abs(v), most[a]) * v
        n = -min(linear[3 + a] + square[3 + a] * abs(w), most[3 + a]) * w
        wrench_out[0], wrench_out[1], wrench_out[2] = (
            wrench_out[0] + f * ex, wrench_out[1] + f * ey, wrench_out[2] + f * ez)
        wrench_out[3], wrench_out[4], wrench_out[5] = (
            wrench_out[3] + n * ex, wrench_out[4] + n * ey, wrench_out[5] + n * ez)
