"""Forces on links that the model itself holds: gravity compensation, actuators that push a body at a place, and drag.

Gravity compensation bears the weight of a mass fixed on a link, as an upward force at its centre. An actuator at a
place (a thruster) pushes its link with a wrench that turns with it; one with a base pushes in the axes of that other
link, which is pushed back at the same place.

Drag of the fluid that bodies move through (scene/elements/fluid.py has the law) is explicit: each scheme takes it where
it evaluates its forces, so that it has the scheme's order. A body's drag along an axis is at most what stops the body
within one step (`drag_most`), so that any step is stable: kinetic energy and drag power of a mechanism are sums over
its bodies, so no motion of it decays faster than that of its bodies alone.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import sum_to_joints
from sesshoku.spatial.algebra import add_force, cross, turned


@jit
def push_links(model, data, wrench_out):
    """Add gravity compensation, actuators at places and drag to wrenches (L, 6) at the trees' origins.

    Needs `link_velocities` where there is a fluid.
    """
    for i in range(model.link_count):
        if model.link_lift[i, 0] != 0.0:
            lift_link(model, data, i, wrench_out[i])
    for a in range(model.actuator_count):
        i = model.actuator_link[a]
        if i >= 0:
            push_at(model, data, a, i, wrench_out)
    if model.drag_count > 0:
        drag_links(model, data, wrench_out)


@jit
def lift_link(model, data, i, wrench_out):
    """wrench (6) += what bears the weight of link i."""
    R, c, g, m = data.rotation[i], model.link_lift[i, 1:4], model.gravity, model.link_lift[i, 0]
    x = data.offset[i, 0] + R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2]
    y = data.offset[i, 1] + R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2]
    z = data.offset[i, 2] + R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2]
    add_force(wrench_out, x, y, z, -m * g[0], -m * g[1], -m * g[2])


@jit
def push_at(model, data, a, i, wrench_out):
    """wrench (L, 6) += what actuator a does to its link i, and the opposite to its base."""
    base, w, p, s = model.actuator_base[a], model.actuator_wrench[a], model.actuator_place[a], data.actuator_force[a]
    fx, fy, fz, nx, ny, nz = s * w[0], s * w[1], s * w[2], s * w[3], s * w[4], s * w[5]
    if base >= 0:
        fx, fy, fz = turned(data.rotation[base], fx, fy, fz)
        nx, ny, nz = turned(data.rotation[base], nx, ny, nz)
    x, y, z = turned(data.rotation[i], p[0], p[1], p[2])
    x, y, z = x + data.offset[i, 0], y + data.offset[i, 1], z + data.offset[i, 2]
    own = wrench_out[i]
    add_force(own, x, y, z, fx, fy, fz)
    own[3], own[4], own[5] = own[3] + nx, own[4] + ny, own[5] + nz
    if base >= 0 and base != i:
        o, b, other = data.tree_origin[model.link_tree[i]], data.tree_origin[model.link_tree[base]], wrench_out[base]
        add_force(other, x + o[0] - b[0], y + o[1] - b[1], z + o[2] - b[2], -fx, -fy, -fz)
        other[3], other[4], other[5] = other[3] - nx, other[4] - ny, other[5] - nz


@jit
def lift_on_joints(model, data, force_out):
    """Joint forces (V) by which gravity compensation acts where it counts as an actuator's, zero elsewhere.

    Needs `kinematics`; uses data.force.
    """
    f = data.force
    for i in range(model.link_count):
        for a in range(6):
            f[i, a] = 0.0
        if model.link_lift[i, 0] != 0.0:
            lift_link(model, data, i, f[i])
    sum_to_joints(model, data, 0, model.link_count, force_out)
    for k in range(model.dof_count):
        if not model.dof_lifted[k]:
            force_out[k] = 0.0


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
