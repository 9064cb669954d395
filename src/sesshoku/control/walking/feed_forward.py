"""Inverse dynamics of a planned motion: its multibody ZMP, and joint forces with the ground's share taken off.

The motion's root wrench (what the ground must give) is shared among the feet by their load: each foot takes its share
of the force at a point of its own such that together they act at the ZMP, and of the moment about the vertical.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import inverse_dynamics
from sesshoku.spatial.algebra import cross


@jit
def feed_forward_table(model, data, legs, state, share, feet, out):
    """Joint forces (n, V) and ZMP (n, 2) of a motion q (n, Q), v, acceleration (n, V).

    share (n, 2): of the load on each foot (both 0: in flight). feet (n, 2, 6): sole points. The six rows of the base
    come out zero up to rounding, except in flight, where nothing holds the robot.
    """
    q, v, acceleration = state
    force_out, zmp_out = out
    for k in range(len(q)):
        kinematics(model, data, q[k])
        inverse_dynamics(model, data, v[k], acceleration[k], force_out[k])
        zmp_out[k, 0], zmp_out[k, 1] = take_ground(model, data, legs, share[k], feet[k], force_out[k])


@jit
def take_ground(model, data, legs, share, feet, force):
    """Take off force (V) what the ground gives through the feet; returns the ZMP."""
    S, origin, at = data.axis, data.tree_origin[legs.tree], legs.root_dof
    fx, fy, fz = force[at], force[at + 1], force[at + 2]
    nx, ny, nz = force[at + 3], force[at + 4], force[at + 5]  # about the base's origin
    zx = zy = 0.0
    if fz > 0.0:  # where the wrench has no horizontal moment on the ground z = 0
        zx = origin[0] + (-ny - origin[2] * fx) / fz
        zy = origin[1] + (nx - origin[2] * fy) / fz
    _, _, mz = cross(zx - origin[0], zy - origin[1], -origin[2], fx, fy, fz)
    twist = nz - mz
    middle_x = share[0] * feet[0, 0] + share[1] * feet[1, 0]
    middle_y = share[0] * feet[0, 1] + share[1] * feet[1, 1]
    for side in range(2):
        part = share[side]
        if part <= 0.0:
            continue
        px, py = zx, zy
        if share[1 - side] > 0.0:
            px, py = feet[side, 0] + zx - middle_x, feet[side, 1] + zy - middle_y
        gx, gy, gz = part * fx, part * fy, part * fz
        tx, ty, tz = cross(px - origin[0], py - origin[1], -origin[2], gx, gy, gz)
        tz += part * twist
        last = legs.dof[side, 5]
        for n in range(model.dof_row[last], model.dof_row[last + 1]):
            j = model.row_dof[n]
            force[j] -= (S[j, 0] * gx + S[j, 1] * gy + S[j, 2] * gz + S[j, 3] * tx + S[j, 4] * ty + S[j, 5] * tz)
    return zx, zy
