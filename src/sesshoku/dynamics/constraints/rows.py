"""Constraint rows that come with the model: joint limits, joint friction, the same of tendons, mimics and loops.

A row is one scalar velocity constraint u = J v (+ the part a scripted root gives). Each has up to two chains of dofs
(`row_end`, `row_start`, coefficients in `row_jacobian`), a wanted velocity `row_target` and bounds on its impulse:
    limit      u >= target, impulse >= 0         target = -gap/dt: the joint may just reach its limit; 0 beyond it
    friction   u  = 0 while |impulse| <= bound   bound = static or kinetic friction times dt
    both       u >= 0, impulse >= -bound         a joint with friction at its limit: the two rows would be the same one
    mimic, loop  u = target                      target = 0, but for scripts, and for what a method asks (`loop_turn`)
What a step leaves of a loop's error is undone by moving bodies (stages/closing.py), not by velocities: one that is
asked for along rows that nearly depend on each other would be a large one.
Trees that loops or mimics join form a **group**; rows of different groups never meet, so they are solved apart.
"""

from __future__ import annotations

from math import atan2, inf, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.tendon_rows import ROW_TENDON_LOWER, store_tendon_impulse, tendon_rows
from sesshoku.dynamics.jacobian import chain_row
from sesshoku.dynamics.kinematics import last_dof
from sesshoku.model.arrays import BALL, HINGE, KINEMATIC
from sesshoku.spatial.algebra import cross

ROW_LOWER, ROW_UPPER, ROW_FRICTION, ROW_MIMIC, ROW_LOOP, ROW_BASIS = range(6)  # the last: see `independent`
UNBOUNDED = 1e300
AS_ROW = 0  # of data.friction_state: the joint's friction is a row; else the method sees to it
STANDS_AT = 1e-10  # rad or m: a joint that is nearer to its limit stands at it
LIMIT_CORRECTION = 0.2  # share of a limit's violation removed per step


@jit
def group_rows(model, data, group, q, v_free, dt):
    """Build the rows of one group at q and return how many there are. Needs `kinematics` and `link_velocities`."""
    count, free = bounded_rows(model, data, group, q, v_free, dt, True)
    for cluster in range(model.group_cluster[group], model.group_cluster[group + 1]):
        count, free = cluster_rows(model, data, cluster, count, free)
    return count


@jit
def bounded_rows(model, data, group, q, v_free, dt, together):
    """Rows of limits and friction of a group's joints and tendons; how many, and the next free place in row_jacobian.

    together: joints that stand at a limit have one row for that and their friction.
    """
    count = 0
    free = 0
    for n in range(model.group_limited[group], model.group_limited[group + 1]):
        count, free = limit_rows(model, data, model.limited_dofs[n], (q, v_free), dt, (count, free))
    limits, at = count, 0
    for n in range(model.group_rubbing[group], model.group_rubbing[group + 1]):
        k = model.rubbing_dofs[n]
        if data.friction_state[k] != AS_ROW:
            continue
        bound = dt * (model.dof_kinetic_friction[k] if data.friction_slips[k] else model.dof_static_friction[k])
        while at < limits and (data.row_source[at, 1] < k
                               or data.row_source[at, 1] == k and data.row_target[at] * dt <= -STANDS_AT):
            at += 1
        if together and at < limits and data.row_source[at, 1] == k:
            sign = 1.0 if data.row_source[at, 0] == ROW_LOWER else -1.0
            data.row_low[at], data.row_target[at] = -bound, 0.0
            data.row_force[at] += sign * data.friction_impulse[k]
            continue
        count, free = dof_row(model, data, k, 1.0, count, free, ROW_FRICTION)
        row = count - 1
        data.row_low[row], data.row_high[row], data.row_target[row] = -bound, bound, 0.0
        data.row_force[row] = data.friction_impulse[k]
    for n in range(model.group_tendon[group], model.group_tendon[group + 1]):
        count, free = tendon_rows(model, data, model.rowed_tendons[n], (q, v_free), dt, (count, free))
    return count, free


@jit
def cluster_rows(model, data, cluster, count, free):
    """Rows of the mimics and loops of one cluster, behind `count` rows; how many then, and the next free place."""
    for n in range(model.cluster_mimic[cluster], model.cluster_mimic[cluster + 1]):
        count, free = mimic_row(model, data, n, count, free)
    for n in range(model.cluster_loop[cluster], model.cluster_loop[cluster + 1]):
        count, free = loop_rows(model, data, n, count, free)
    return count, free


@jit
def dof_row(model, data, k, sign, count, free, kind):
    """A row on one dof: its chain with a single coefficient."""
    depth = model.dof_depth[k]
    for e in range(depth):
        data.row_jacobian[free + e] = 0.0
    data.row_jacobian[free + depth] = sign
    data.row_end[count, 0], data.row_end[count, 1] = k, -1
    data.row_start[count, 0], data.row_start[count, 1] = free, free
    data.row_source[count, 0], data.row_source[count, 1] = kind, k
    return count + 1, free + depth + 1


@jit
def near_limit(model, k, q, v_free, dt):
    """Whether dof k may reach one of its limits within the step."""
    lower, upper = model.dof_lower[k], model.dof_upper[k]
    if lower == -inf and upper == inf:
        return False
    position, near = q[model.dof_coordinate[k]], dt * (4.0 * abs(v_free[k]) + 0.1)
    return position - lower < near or upper - position < near


@jit
def limit_rows(model, data, k, state, dt, used):
    """Rows for the limits of dof k that the step may reach."""
    q, v_free = state
    count, free = used
    position, speed = q[model.dof_coordinate[k]], abs(v_free[k])
    near = dt * (4.0 * speed + 0.1)  # other rows may speed the joint up within the step
    for side in range(2):
        lower = side == 0
        gap = position - model.dof_lower[k] if lower else model.dof_upper[k] - position
        if gap < near:
            kind = ROW_LOWER if lower else ROW_UPPER
            count, free = dof_row(model, data, k, 1.0 if lower else -1.0, count, free, kind)
            row = count - 1
            data.row_low[row], data.row_high[row] = 0.0, UNBOUNDED
            data.row_target[row] = -gap / dt if gap > 0.0 else 0.0
            data.row_force[row] = max(0.0, data.limit_impulse[k] if lower else -data.limit_impulse[k])
        elif lower and data.limit_impulse[k] > 0.0 or not lower and data.limit_impulse[k] < 0.0:
            data.limit_impulse[k] = 0.0
    return count, free


@jit
def mimic_row(model, data, n, count, free):
    """q_joint - ratio q_source - offset = 0."""
    k, source, ratio = model.mimic_dof[n], model.mimic_source[n], model.mimic_ratio[n]
    count, free = dof_row(model, data, k, 1.0, count, free, ROW_MIMIC)
    row = count - 1
    depth = model.dof_depth[source]
    for e in range(depth):
        data.row_jacobian[free + e] = 0.0
    data.row_jacobian[free + depth] = -ratio
    data.row_end[row, 1], data.row_start[row, 1] = source, free
    data.row_low[row], data.row_high[row] = -UNBOUNDED, UNBOUNDED
    data.row_target[row] = data.row_turn[row] = 0.0
    data.row_source[row, 1] = n
    data.row_force[row] = data.mimic_impulse[n]
    return count, free + depth + 1


@jit
def loop_error(model, data, n, point_out, frame_out, error_out):
    """Anchor points (2, 3) and frames (2, 3, 3) of loop n in the world, and its error (6).

    error: position of anchor a minus anchor b, then the small rotation from b to a, all in the axes of anchor frame a.
    """
    for side in range(2):
        link, p, R = model.loop_link[n, side], model.loop_position[n, side], model.loop_rotation[n, side]
        for a in range(3):
            if link < 0:
                point_out[side, a] = p[a]
                for b in range(3):
                    frame_out[side, a, b] = R[a, b]
            else:
                W, t = data.rotation[link], model.link_tree[link]
                point_out[side, a] = (data.tree_origin[t, a] + data.offset[link, a]
                                      + W[a, 0] * p[0] + W[a, 1] * p[1] + W[a, 2] * p[2])
                for b in range(3):
                    frame_out[side, a, b] = W[a, 0] * R[0, b] + W[a, 1] * R[1, b] + W[a, 2] * R[2, b]
    A, B = frame_out[0], frame_out[1]
    # rotation vector of the turn from b to a, from the antisymmetric part of A^T B
    tx = ty = tz = trace = 0.0
    for a in range(3):
        trace += A[a, 0] * B[a, 0] + A[a, 1] * B[a, 1] + A[a, 2] * B[a, 2]
        tx += 0.5 * (A[a, 1] * B[a, 2] - A[a, 2] * B[a, 1])
        ty += 0.5 * (A[a, 2] * B[a, 0] - A[a, 0] * B[a, 2])
        tz += 0.5 * (A[a, 0] * B[a, 1] - A[a, 1] * B[a, 0])
    s = sqrt(tx * tx + ty * ty + tz * tz)
    scale = atan2(s, 0.5 * (trace - 1.0)) / s if s > 1e-12 else 1.0
    for b in range(3):
        error_out[b] = 0.0
        for a in range(3):
            error_out[b] += A[a, b] * (point_out[0, a] - point_out[1, a])
    error_out[3], error_out[4], error_out[5] = scale * tx, scale * ty, scale * tz
    if model.loop_kind[n] == HINGE:  # its z may turn far: the tilt of b's axis has the rate of the rows at any turn
        error_out[3] = error_out[4] = 0.0
        for a in range(3):
            error_out[3] += A[a, 1] * B[a, 2]
            error_out[4] -= A[a, 0] * B[a, 2]


@jit
def loop_row_count(kind):
    """Rows of a loop: 3 for a ball, 5 for a hinge, 6 for a weld."""
    return 3 if kind == BALL else (5 if kind == HINGE else 6)


@jit
def mimic_error(model, n, q):
    """How far the joint of mimic n is from where its source wants it, rad or m."""
    here, there = q[model.dof_coordinate[model.mimic_dof[n]]], q[model.dof_coordinate[model.mimic_source[n]]]
    return here - model.mimic_ratio[n] * there - model.mimic_offset[n]


@jit
def loop_rows(model, data, n, count, free):
    """Rows of loop n along the axes of its anchor frame a: 3 for a ball, 5 for a hinge (z may turn), 6 for a weld."""
    point, frame, error = data.loop_point[n], data.loop_frame[n], data.loop_error[n]
    loop_error(model, data, n, point, frame, error)
    for d in range(loop_row_count(model.loop_kind[n])):
        b = d % 3
        x, y, z = frame[0, 0, b], frame[0, 1, b], frame[0, 2, b]
        data.row_target[count], data.row_turn[count] = 0.0, -data.loop_turn[n, d]
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            free = loop_chain(model, data, n, side, d < 3, (sign * x, sign * y, sign * z), (count, free))
        data.row_low[count], data.row_high[count] = -UNBOUNDED, UNBOUNDED
        data.row_source[count, 0], data.row_source[count, 1] = ROW_LOOP, 6 * n + d
        data.row_force[count] = data.loop_impulse[n, d]
        count += 1
    return count, free


@jit
def loop_chain(model, data, n, side, slide, at, used):
    """One side's chain of a loop row: force (x, y, z) midway between the anchors, or a torque; the next free place."""
    count, free = used
    x, y, z = at
    link = model.loop_link[n, side]
    data.row_start[count, side] = free
    data.row_end[count, side] = -1
    if link < 0:
        return free
    data.row_end[count, side] = last_dof(model, link)
    t = model.link_tree[link]
    point, origin = data.loop_point[n, side], data.tree_origin[t]
    fx = fy = fz = 0.0
    nx, ny, nz = x, y, z
    if slide:
        fx, fy, fz = x, y, z
        nx, ny, nz = cross(point[0] - origin[0], point[1] - origin[1], point[2] - origin[2], x, y, z)
    root = model.tree_link[t]
    if model.link_joint[root] == KINEMATIC:  # the scripted root's share of the velocity is given
        w = data.kinematic_velocity[root]
        data.row_target[count] -= fx * w[0] + fy * w[1] + fz * w[2] + nx * w[3] + ny * w[4] + nz * w[5]
    return free + chain_row(model, data, link, (fx, fy, fz), (nx, ny, nz), data.row_jacobian, free)


@jit
def store_impulse(data, kind, n, x, low):
    """Keep the impulse of a row with what it belongs to: for users, and as the start of the next step's solve.

    low: the row's bound. Of a row that is limit and friction, friction is what it can be.
    """
    if kind >= ROW_TENDON_LOWER:
        store_tendon_impulse(data, kind, n, x)
        return
    if kind <= ROW_UPPER and low < 0.0:
        friction = min(max(x, low), -low)
        data.friction_impulse[n] = friction if kind == ROW_LOWER else -friction
        x -= friction
    if kind == ROW_LOWER:
        data.limit_impulse[n] = x
    elif kind == ROW_UPPER:
        if x > 0.0 or data.limit_impulse[n] < 0.0:
            data.limit_impulse[n] = -x
    elif kind == ROW_FRICTION:
        data.friction_impulse[n] = x
    elif kind == ROW_MIMIC:
        data.mimic_impulse[n] = x
    else:
        data.loop_impulse[n // 6, n % 6] = x
