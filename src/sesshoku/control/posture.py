"""Whole-body posture: legs such that the soles stand where they should and the centre of mass is where it should be.

The base follows the error of the centre of mass; after every shift the legs are solved again, in closed form where the
leg allows it, else by a damped Newton step of their own.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.control.leg_angles import leg_angles
from sesshoku.dynamics.centroid import center_of_mass
from sesshoku.dynamics.frames import matrix_quaternion
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.model.arrays import FREE, SPHERICAL
from sesshoku.solvers.dense_lu import lu_factor, lu_solve


@jit
def rotation_of(roll, pitch, yaw, R_out):
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = -sp, cp * sr, cp * cr


@jit
def set_base(legs, base, q):
    """Turn the base of q to roll, pitch, yaw (3)."""
    R, at = legs.R_base, legs.root_coordinate
    rotation_of(base[0], base[1], base[2], R)
    q[at + 3], q[at + 4], q[at + 5], q[at + 6] = matrix_quaternion(
        R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])


@jit
def posture(model, data, legs, q, com, base, feet, passes, tolerance):
    """Change q (Q) in place: centre of mass at com (3), base turned by base (3), soles at feet (2, 6).

    base: roll, pitch, yaw; feet: x, y, z, roll, pitch, yaw of the sole points. q is where the search begins. Returns
    the error left (m or rad) and by how much (m) a foot was out of reach.
    """
    set_base(legs, base, q)
    for side in range(2):
        rotation_of(feet[side, 3], feet[side, 4], feet[side, 5], legs.R_foot[side])
    center, at = legs.point[3], legs.root_coordinate
    error = out_of_reach = 0.0
    for _ in range(passes):
        error = 0.0
        if legs.analytic == 1:
            out_of_reach = closed_legs(legs, q, feet)
            kinematics(model, data, q)
        else:
            kinematics(model, data, q)
        center_of_mass(model, data, legs.first_link, legs.last_link, center)
        ex, ey, ez = com[0] - center[0], com[1] - center[1], com[2] - center[2]
        if legs.analytic == 0:
            for side in range(2):
                error = max(error, newton_leg(data, legs, q, side, feet, (ex, ey, ez)))
        error = max(error, max(abs(ex), max(abs(ey), abs(ez))))
        if error < tolerance:
            break
        q[at], q[at + 1], q[at + 2] = q[at] + ex, q[at + 1] + ey, q[at + 2] + ez
    return error, out_of_reach


@jit
def closed_legs(legs, q, feet):
    """Both legs by `leg_angles` for the base as it is in q; returns by how much a foot is out of reach."""
    hip, ankle, angles, R = legs.point[0], legs.point[1], legs.angles, legs.R_base
    at, worst = legs.root_coordinate, 0.0
    for side in range(2):
        h, F, height = legs.hip[side], legs.R_foot[side], legs.length[side, 2]
        for a in range(3):
            hip[a] = q[at + a] + R[a, 0] * h[0] + R[a, 1] * h[1] + R[a, 2] * h[2]
            ankle[a] = feet[side, a] + F[a, 2] * height
        worst = max(worst, leg_angles(legs.length[side, 0], legs.length[side, 1], hip, R, ankle, F, angles))
        for j in range(6):
            q[legs.coordinate[side, j]] = angles[j]
    return worst


@jit
def sole_pose(data, legs, side, point_out, R_out):
    """Position (3) and axes (3, 3) of a sole in the world. Needs `kinematics`."""
    link, p, R0 = legs.foot_link[side], legs.sole_position[side], legs.sole_rotation[side]
    R, r, origin = data.rotation[link], data.offset[link], data.tree_origin[legs.tree]
    for a in range(3):
        point_out[a] = origin[a] + r[a] + R[a, 0] * p[0] + R[a, 1] * p[1] + R[a, 2] * p[2]
        for b in range(3):
            R_out[a, b] = R[a, 0] * R0[0, b] + R[a, 1] * R0[1, b] + R[a, 2] * R0[2, b]


@jit
def newton_leg(data, legs, q, side, feet, error):
    """One damped Newton step of a leg towards its foot, the base about to move by e. Returns the error before it."""
    ex, ey, ez = error
    S, J, N, x, point, R = data.axis, legs.jacobian, legs.normal, legs.error, legs.point[0], legs.R_sole
    F, origin, last = legs.R_foot[side], data.tree_origin[legs.tree], 0.0
    sole_pose(data, legs, side, point, R)
    # what turns the sole into place: half the skew part of F R^T
    wx = wy = wz = 0.0
    for a in range(3):
        wx += 0.5 * (F[2, a] * R[1, a] - F[1, a] * R[2, a])
        wy += 0.5 * (F[0, a] * R[2, a] - F[2, a] * R[0, a])
        wz += 0.5 * (F[1, a] * R[0, a] - F[0, a] * R[1, a])
    x[0], x[1], x[2] = feet[side, 0] - point[0], feet[side, 1] - point[1], feet[side, 2] - point[2]
    x[3], x[4], x[5] = wx, wy, wz
    for a in range(6):
        last = max(last, abs(x[a]))
    x[0], x[1], x[2] = x[0] - ex, x[1] - ey, x[2] - ez
    px, py, pz = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    for j in range(6):
        k = legs.dof[side, j]
        ax, ay, az = S[k, 3], S[k, 4], S[k, 5]
        J[0, j], J[1, j], J[2, j] = (S[k, 0] + ay * pz - az * py, S[k, 1] + az * px - ax * pz,
                                     S[k, 2] + ax * py - ay * px)
        J[3, j], J[4, j], J[5, j] = ax, ay, az
    for a in range(6):  # J J^T, damped
        for b in range(6):
            total = 1e-8 if a == b else 0.0
            for j in range(6):
                total += J[a, j] * J[b, j]
            N[a, b] = total
    lu_factor(6, N, legs.pivots)
    lu_solve(6, N, legs.pivots, x)
    for j in range(6):
        step = 0.0
        for a in range(6):
            step += J[a, j] * x[a]
        q[legs.coordinate[side, j]] += min(max(step, -0.2), 0.2)
    return last


@jit
def posture_table(model, data, legs, com, base, feet, passes, tolerance, q, out):
    """Postures (n, Q) along tables com (n, 3), base (n, 3), feet (n, 2, 6), each begun where the last one ended.

    q (Q): where the first begins; it has twenty times the passes.
    """
    q_out, error_out, reach_out = out
    for k in range(len(com)):
        for a in range(3 if k > 0 else 0):  # the base moves about as the centre of mass does
            q[legs.root_coordinate + a] += com[k, a] - com[k - 1, a]
        error_out[k], reach_out[k] = posture(
            model, data, legs, q, com[k], base[k], feet[k], passes if k > 0 else 20 * passes, tolerance)
        for c in range(len(q)):
            q_out[k, c] = q[c]


@jit
def velocity_table(model, q, dt, v_out):
    """Velocities (n, V) between consecutive configurations (n, Q); the last one repeats the one before."""
    count = len(q)
    for k in range(count - 1):
        for i in range(model.link_count):
            kind, at, first = model.link_joint[i], model.link_coordinate[i], model.link_dof[i]
            if kind == FREE:
                for a in range(3):
                    v_out[k, first + a] = (q[k + 1, at + a] - q[k, at + a]) / dt
                # the turn from one to the next, in world axes: q_next times the conjugate of q
                w0, x0, y0, z0 = q[k, at + 3], q[k, at + 4], q[k, at + 5], q[k, at + 6]
                w1, x1, y1, z1 = q[k + 1, at + 3], q[k + 1, at + 4], q[k + 1, at + 5], q[k + 1, at + 6]
                w = w1 * w0 + x1 * x0 + y1 * y0 + z1 * z0
                x = -w1 * x0 + x1 * w0 - y1 * z0 + z1 * y0
                y = -w1 * y0 + x1 * z0 + y1 * w0 - z1 * x0
                z = -w1 * z0 - x1 * y0 + y1 * x0 + z1 * w0
                sign = 1.0 if w >= 0.0 else -1.0
                length = sqrt(x * x + y * y + z * z)
                scale = 2.0 * sign / dt
                if length > 1e-6:  # below, the angle over its sine is 1 to the last digit
                    scale = 2.0 * sign * atan2(length, abs(w)) / (length * dt)
                v_out[k, first + 3], v_out[k, first + 4], v_out[k, first + 5] = scale * x, scale * y, scale * z
            elif kind != SPHERICAL:
                for a in range(model.link_dof_count[i]):
                    v_out[k, first + a] = (q[k + 1, at + a] - q[k, at + a]) / dt
    for c in range(v_out.shape[1]):
        v_out[count - 1, c] = v_out[count - 2, c]
