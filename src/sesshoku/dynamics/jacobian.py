"""Jacobians of points fixed on links, dense (for users) and by ancestor chain (for solvers), and their rates."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import last_dof
from sesshoku.model.arrays import FREE, PLANAR
from sesshoku.spatial.algebra import cross


@jit
def point_jacobian(model, data, link, point, jacobian_out):
    """J (6, V): velocity of the world point (3) carried by `link`, and the link's angular velocity, world axes.

    Needs `kinematics`. Columns of dofs that do not move the link are zero.
    """
    S, row, row_dof = data.axis, model.dof_row, model.row_dof
    last, x, y, z = start_columns(model, data, link, point, jacobian_out)
    if last < 0:
        return
    for n in range(row[last], row[last + 1]):
        k = row_dof[n]
        cx, cy, cz = cross(S[k, 3], S[k, 4], S[k, 5], x, y, z)
        jacobian_out[0, k], jacobian_out[1, k], jacobian_out[2, k] = S[k, 0] + cx, S[k, 1] + cy, S[k, 2] + cz
        for a in range(3):
            jacobian_out[3 + a, k] = S[k, 3 + a]


@jit
def start_columns(model, data, link, point, matrix_out):
    """Clear a matrix (6, V); the last dof that moves the link (-1: none), and the point from its tree's origin."""
    for a in range(6):
        for k in range(model.dof_count):
            matrix_out[a, k] = 0.0
    last = last_dof(model, link)
    if last < 0:
        return last, 0.0, 0.0, 0.0
    origin = data.tree_origin[model.link_tree[link]]
    return last, point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]


@jit
def point_jacobian_rate(model, data, link, point, rate_out):
    """dJ/dt (6, V) of `point_jacobian` for the point moving with the link. Needs `kinematics` and `link_velocities`."""
    S, row, row_dof, vel = data.axis, model.dof_row, model.row_dof, data.velocity
    last, x, y, z = start_columns(model, data, link, point, rate_out)
    if last < 0:
        return
    px, py, pz = point_velocity(vel, link, x, y, z)
    for n in range(row[last], row[last + 1]):
        k = row_dof[n]
        i = model.dof_link[k]
        kind, within = model.link_joint[i], k - model.link_dof[i]
        if kind == FREE and within < 3:
            continue  # world axes: constant
        carrier = i  # the link whose turning turns the axis
        if kind == PLANAR and within < 2:
            carrier = model.link_parent[i]
        wx = wy = wz = 0.0
        if carrier >= 0 and kind != FREE:  # the free joint turns about world axes
            wx, wy, wz = vel[carrier, 3], vel[carrier, 4], vel[carrier, 5]
        if S[k, 3] == 0.0 and S[k, 4] == 0.0 and S[k, 5] == 0.0:  # sliding: only its direction changes
            rate_out[0, k], rate_out[1, k], rate_out[2, k] = cross(wx, wy, wz, S[k, 0], S[k, 1], S[k, 2])
            continue
        # turning about an axis a through the joint's origin o: d/dt (a x (p - o)) = a' x (p - o) + a x (p' - o')
        ox, oy, oz = data.offset[i, 0], data.offset[i, 1], data.offset[i, 2]
        vx, vy, vz = point_velocity(vel, i, ox, oy, oz)
        ax, ay, az = cross(wx, wy, wz, S[k, 3], S[k, 4], S[k, 5])
        bx, by, bz = cross(ax, ay, az, x - ox, y - oy, z - oz)
        cx, cy, cz = cross(S[k, 3], S[k, 4], S[k, 5], px - vx, py - vy, pz - vz)
        rate_out[0, k], rate_out[1, k], rate_out[2, k] = bx + cx, by + cy, bz + cz
        rate_out[3, k], rate_out[4, k], rate_out[5, k] = ax, ay, az


@jit
def point_velocity(vel, i, x, y, z):
    """Velocity of the point (x, y, z), seen from the tree's origin, carried by link i."""
    cx, cy, cz = cross(vel[i, 3], vel[i, 4], vel[i, 5], x, y, z)
    return vel[i, 0] + cx, vel[i, 1] + cy, vel[i, 2] + cz


@jit
def chain_row(model, data, link, force, torque, row_out, start):
    """One Jacobian row over the ancestors of a link: the power of a wrench (at the tree's origin) per unit dof speed.

    Writes row_out[start + e] for e = 0..depth and returns the number written (0 for the world).
    """
    fx, fy, fz = force
    nx, ny, nz = torque
    S, row, row_dof = data.axis, model.dof_row, model.row_dof
    last = last_dof(model, link)
    if last < 0:
        return 0
    count = model.dof_depth[last] + 1
    for e in range(count):
        k = row_dof[row[last] + e]
        row_out[start + e] = (S[k, 0] * fx + S[k, 1] * fy + S[k, 2] * fz
                              + S[k, 3] * nx + S[k, 4] * ny + S[k, 5] * nz)
    return count


@jit
def chain_times(model, end, row, start, x):
    """Product of a chain row (ancestors of dof `end`) with a joint vector."""
    s = 0.0
    if end >= 0:
        first = model.dof_row[end]
        for e in range(model.dof_depth[end] + 1):
            s += row[start + e] * x[model.row_dof[first + e]]
    return s


@jit
def add_chain(model, end, row, start, scale, x_out):
    """x += scale * row^T."""
    if end >= 0:
        first = model.dof_row[end]
        for e in range(model.dof_depth[end] + 1):
            x_out[model.row_dof[first + e]] += scale * row[start + e]
