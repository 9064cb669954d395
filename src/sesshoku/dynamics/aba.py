"""Articulated-body algorithm: forward dynamics in one sweep down and up each tree.

A joint of several dofs is eliminated dof by dof (the articulated inertia loses one direction at a time), so one short
loop serves every joint type. All links of a tree share one reference point, so inertias add without transforms.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import kinematics, last_dof
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.spatial.algebra import (
    cross,
    inertia_times,
    symmetric_inertia,
    symmetric_subtract,
    symmetric_times,
)


@jit
def forward_dynamics(model, data, q, v, joint_force, acceleration_out):
    """Joint accelerations (V) at q, v under joint forces (V) and the external forces of `data`."""
    kinematics(model, data, q)
    if model.drag_count > 0:
        link_velocities(model, data, v)
    external_wrenches(model, data)
    articulate(model, data)
    accelerate(model, data, v, joint_force, acceleration_out)


@jit
def articulate(model, data):
    """Articulated inertias and, per dof, U = I^A S and 1/D: depends on q only. Needs `kinematics`."""
    for i in range(model.link_count):
        symmetric_inertia(data.inertia[i], data.articulated[i])
    for i in range(model.link_count - 1, -1, -1):
        first = model.link_dof[i]
        for k in range(first + model.link_dof_count[i] - 1, first - 1, -1):
            eliminate_axis(data, i, k, model.dof_armature[k] + data.implicit_diagonal[k])
        inertia_to_parent(model, data, i)


@jit
def accelerate(model, data, v, joint_force, acceleration_out):
    """Joint accelerations from cached articulated inertias. Needs `kinematics`, `external_wrenches`, `articulate`."""
    link_velocities(model, data, v)
    for i in range(model.link_count):
        gyroscopic_force(data, i, data.articulated_bias)
    for i in range(model.link_count - 1, -1, -1):
        first = model.link_dof[i]
        for k in range(first + model.link_dof_count[i] - 1, first - 1, -1):
            eliminate_force(data, i, k, joint_force[k])
        bias_to_parent(model, data, i)
    for i in range(model.link_count):
        accelerate_link(model, data, i, acceleration_out)


# ---- the steps of the sweeps, one link or axis at a time (assembly/tree.py goes the same way) -----------------------


@jit(into_callers=True)
def eliminate_axis(data, i, k, more):
    """U = I^A S and 1/D of dof k, D = S . U + more; the articulated inertia of its link i loses that direction."""
    S, U, IA = data.axis[k], data.pivot_force[k], data.articulated[i]
    symmetric_times(IA, S, U)
    d = S[0] * U[0] + S[1] * U[1] + S[2] * U[2] + S[3] * U[3] + S[4] * U[4] + S[5] * U[5]
    inverse = 1.0 / (d + more)
    data.pivot_inverse[k] = inverse
    symmetric_subtract(IA, U, inverse)


@jit(into_callers=True)
def inertia_to_parent(model, data, i):
    """Add what is left of link i's articulated inertia to its parent's."""
    parent = model.link_parent[i]
    if parent >= 0:
        above, IA = data.articulated[parent], data.articulated[i]
        for a in range(21):
            above[a] += IA[a]


@jit(into_callers=True)
def eliminate_force(data, i, k, force):
    """What force at dof k leaves to its motion, beyond the bias of its link i; the bias takes up the rest."""
    S, U, p = data.axis[k], data.pivot_force[k], data.articulated_bias[i]
    s = force - (S[0] * p[0] + S[1] * p[1] + S[2] * p[2] + S[3] * p[3] + S[4] * p[4] + S[5] * p[5])
    data.pivot_residual[k] = s
    s *= data.pivot_inverse[k]
    for a in range(6):
        p[a] += U[a] * s


@jit(into_callers=True)
def bias_to_parent(model, data, i):
    """p + I^A c of link i, whose I^A is reduced already, is the force left for its parent."""
    parent = model.link_parent[i]
    if parent >= 0:
        above, p, product = data.articulated_bias[parent], data.articulated_bias[i], data.force[i]
        symmetric_times(data.articulated[i], data.velocity_product[i], product)
        for a in range(6):
            above[a] += p[a] + product[a]


@jit(into_callers=True)
def accelerate_link(model, data, i, acceleration_out):
    """Joint accelerations of link i, and its own (a root at rest has -g), from its parent's."""
    parent, first, acc, c = model.link_parent[i], model.link_dof[i], data.acceleration[i], data.velocity_product[i]
    if parent < 0:
        for a in range(3):
            acc[a], acc[3 + a] = c[a] - model.gravity[a], c[3 + a]
    else:
        above = data.acceleration[parent]
        for a in range(6):
            acc[a] = above[a] + c[a]
    for k in range(first, first + model.link_dof_count[i]):
        S, U, s = data.axis[k], data.pivot_force[k], data.pivot_residual[k]
        s -= U[0] * acc[0] + U[1] * acc[1] + U[2] * acc[2] + U[3] * acc[3] + U[4] * acc[4] + U[5] * acc[5]
        s *= data.pivot_inverse[k]
        acceleration_out[k] = s
        for a in range(6):
            acc[a] += S[a] * s


@jit
def gyroscopic_force(data, i, p_out):
    """p[i] = v x* (I v) - external wrench."""
    vel, wrench = data.velocity, data.wrench
    vx, vy, vz, wx, wy, wz = vel[i, 0], vel[i, 1], vel[i, 2], vel[i, 3], vel[i, 4], vel[i, 5]
    px, py, pz, lx, ly, lz = inertia_times(data.inertia, i, vx, vy, vz, wx, wy, wz)
    ax, ay, az = cross(wx, wy, wz, px, py, pz)
    bx, by, bz = cross(wx, wy, wz, lx, ly, lz)
    dx, dy, dz = cross(vx, vy, vz, px, py, pz)
    p_out[i, 0], p_out[i, 1], p_out[i, 2] = ax - wrench[i, 0], ay - wrench[i, 1], az - wrench[i, 2]
    p_out[i, 3], p_out[i, 4], p_out[i, 5] = bx + dx - wrench[i, 3], by + dy - wrench[i, 4], bz + dz - wrench[i, 5]


@jit
def wrench_response(model, data, link, wrench, response_out):
    """Joint accelerations a test wrench (6, at the tree's origin) on one link adds, from cached articulated inertias.

    Only the dofs between the root and `link` are written: response_out[k] is the residual force u_k / D_k there, which
    `path_acceleration` turns into the acceleration of any link of the tree. Returns nothing; O(depth).
    """
    S, U, dinv = data.axis, data.pivot_force, data.pivot_inverse
    p0, p1, p2, p3, p4, p5 = -wrench[0], -wrench[1], -wrench[2], -wrench[3], -wrench[4], -wrench[5]
    i = link
    while i >= 0:
        first = model.link_dof[i]
        for k in range(first + model.link_dof_count[i] - 1, first - 1, -1):
            s = -(S[k, 0] * p0 + S[k, 1] * p1 + S[k, 2] * p2 + S[k, 3] * p3 + S[k, 4] * p4 + S[k, 5] * p5) * dinv[k]
            response_out[k] = s
            p0, p1, p2 = p0 + U[k, 0] * s, p1 + U[k, 1] * s, p2 + U[k, 2] * s
            p3, p4, p5 = p3 + U[k, 3] * s, p4 + U[k, 4] * s, p5 + U[k, 5] * s
        i = model.link_parent[i]


@jit
def path_acceleration(model, data, source, link, response, acceleration_out):
    """Spatial acceleration (6) of `link` by the test wrench on `source` whose `wrench_response` is given. O(depth)."""
    S, U, dinv = data.axis, data.pivot_force, data.pivot_inverse
    row, row_dof, depth = model.dof_row, model.row_dof, model.dof_depth
    for a in range(6):
        acceleration_out[a] = 0.0
    last, last_source = last_dof(model, link), last_dof(model, source)
    if last < 0 or last_source < 0:
        return
    start, start_source, shared = row[last], row[last_source], True
    for e in range(depth[last] + 1):
        k = row_dof[start + e]
        # beyond the fork the source's residual forces are not on this path
        shared = shared and e <= depth[last_source] and row_dof[start_source + e] == k
        s = response[k] if shared else 0.0
        for a in range(6):
            s -= dinv[k] * U[k, a] * acceleration_out[a]
        for a in range(6):
            acceleration_out[a] += S[k, a] * s
