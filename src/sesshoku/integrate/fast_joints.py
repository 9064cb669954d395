"""Mechanisms whose joints turn far within one step: their momentum is carried from pose to pose.

Three crossed hinges with light links between them come near gimbal lock: two of them spin at thousands of rad/s while
the body they hold moves slowly. Coriolis forces at the start's pose then say nothing about the step, and the joints'
new speeds mean another motion at the new pose: explicit, both bring energy without bound. For a tree of which a joint
turns by more than FAST within a step (STURDY times that, if no link is light) they are left out, and the speeds at the
new pose are those that keep what the links have, their momenta p and L in world axes:
    H(q+) v+ = sum of J(q+)^T (p, L),    as d/dt (H v) = J'^T (p, L) + forces (Lagrange).
The energy is then made what it was before the move: joint speeds are scaled, at the same momentum of the whole tree.

A lone free body needs none of this (`rotor`), nor does a single hinge, whose inertia is the same in every pose.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.kinematics import joint_axes, place_inertia, place_link, sum_to_joints
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR, REVOLUTE, SPHERICAL
from sesshoku.spatial.algebra import cross, inertia_times

FAST_TREES = 0  # place in `counters`: how many trees are marked
FAST = 0.1  # rad per step: explicit Coriolis forces err by its square
RUNGE_KUTTA_FAST = 0.3  # the same where the scheme is of fourth order
STURDY = 3.0  # times that for trees without light links, which have no such locks: schemes keep their order longer
LOCKED = 1e-10  # of a dof's inertia, added to it: in the lock itself the mass matrix is singular
MOST_GAIN = 1.2  # of joint speeds, where carrying took energy


@jit
def find_fast(model, data, v, dt, limit, again):
    """Mark the trees in which a joint of v (V) turns by more than `limit` in dt, in `tree_fast`; how many.

    again: those marked before stay so.
    """
    fast, count = data.tree_fast, 0
    for t in range(model.tree_count):
        first, last = model.tree_link[t], model.tree_link[t + 1]
        lone = last == first + 1 and model.link_joint[first] == FREE
        if not again:
            fast[t] = 0
        if lone or model.tree_dof[t + 1] - model.tree_dof[t] < 2:
            continue
        most = (limit if model.tree_light[t] else STURDY * limit) / dt
        for i in range(first, last):
            kind, k = model.link_joint[i], model.link_dof[i]
            if kind == REVOLUTE:
                if abs(v[k]) > most:
                    fast[t] = 1
            elif kind == SPHERICAL or kind == FREE:
                k += 3 if kind == FREE else 0
                if v[k] * v[k] + v[k + 1] * v[k + 1] + v[k + 2] * v[k + 2] > most * most:
                    fast[t] = 1
            elif kind == PLANAR and abs(v[k + 2]) > most:
                fast[t] = 1
        count += fast[t]
    data.counters[FAST_TREES] = count
    return count


@jit
def rest_bias(model, data, bias):
    """Bias (V) of marked trees without Coriolis and gyroscopic forces: gravity, less external wrenches."""
    g, acc, f = model.gravity, data.acceleration, data.force
    for t in range(model.tree_count):
        if data.tree_fast[t] == 0:
            continue
        root = model.tree_link[t]
        for i in range(root, model.tree_link[t + 1]):
            parent = model.link_parent[i]
            scripted = i == root and model.link_joint[i] == KINEMATIC
            for a in range(6):
                acc[i, a] = acc[parent, a] if parent >= 0 else (-g[a] if a < 3 else 0.0)
                if scripted:
                    acc[i, a] += data.velocity_product[i, a]
            x, y, z, u, v, w = inertia_times(
                data.inertia, i, acc[i, 0], acc[i, 1], acc[i, 2], acc[i, 3], acc[i, 4], acc[i, 5])
            f[i, 0], f[i, 1], f[i, 2], f[i, 3], f[i, 4], f[i, 5] = x, y, z, u, v, w
            for a in range(6):
                f[i, a] -= data.wrench[i, a]
        sum_to_joints(model, data, model.tree_link[t], model.tree_link[t + 1], bias)


@jit
def rest_products(model, data):
    """Marked trees without the accelerations that come of velocities; those of a scripted root stay."""
    for i in range(model.link_count):
        if data.tree_fast[model.link_tree[i]] != 0 and model.link_joint[i] != KINEMATIC:
            for a in range(6):
                data.velocity_product[i, a] = 0.0


@jit
def place_fast(model, data, q):
    """`kinematics` of the marked trees alone."""
    for t in range(model.tree_count):
        if data.tree_fast[t] != 0:
            for i in range(model.tree_link[t], model.tree_link[t + 1]):
                place_link(model, data, q, i)
                joint_axes(model, data, i)
                place_inertia(model, data, i)


@jit
def center(data, i):
    """Centre of mass of link i from its tree's origin; the origin where it has no mass."""
    I = data.inertia[i]
    if I[0] > 0.0:
        return I[1] / I[0], I[2] / I[0], I[3] / I[0]
    return 0.0, 0.0, 0.0


@jit
def note_motion(model, data, v, h):
    """`link_motion` of the marked trees: p, L about the centre of mass, where that would be after h, energy (J).

    Needs `kinematics`; leaves the links' velocities at v.
    """
    link_velocities(model, data, v)
    for t in range(model.tree_count):
        if data.tree_fast[t] == 0:
            continue
        o = data.tree_origin[t]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            u, out = data.velocity[i], data.link_motion[i]
            px, py, pz, lx, ly, lz = inertia_times(data.inertia, i, u[0], u[1], u[2], u[3], u[4], u[5])
            cx, cy, cz = center(data, i)
            mx, my, mz = cross(cx, cy, cz, px, py, pz)
            sx, sy, sz = cross(u[3], u[4], u[5], cx, cy, cz)
            out[0], out[1], out[2] = px, py, pz
            out[3], out[4], out[5] = lx - mx, ly - my, lz - mz
            out[6], out[7] = o[0] + cx + h * (u[0] + sx), o[1] + cy + h * (u[1] + sy)
            out[8] = o[2] + cz + h * (u[2] + sz)
            out[9] = 0.5 * (u[0] * px + u[1] * py + u[2] * pz + u[3] * lx + u[4] * ly + u[5] * lz)


@jit
def carry_motion(model, data, v):
    """v (V) of the marked trees, from the pose where it was noted to the one where the links are now placed."""
    right, extra = data.rate_v[1], data.rate_v[2]
    link_velocities(model, data, v)
    mass_matrix(model, data, data.mass_matrix)
    for k in range(model.dof_count):
        right[k] = 0.0
        extra[k] = LOCKED * data.mass_matrix[model.dof_row[k] + model.dof_depth[k]]
    factorize(model, data.mass_matrix, extra, data.factor, data.factor_dinv)
    for t in range(model.tree_count):
        if data.tree_fast[t] != 0:
            missing_momentum(model, data, t)
            sum_to_joints(model, data, model.tree_link[t], model.tree_link[t + 1], right)
    solve(model, data.factor, data.factor_dinv, right)
    for t in range(model.tree_count):
        if data.tree_fast[t] != 0:
            data.tree_energy[t] = noted_energy(model, data, t, v)
            for k in range(model.tree_dof[t], model.tree_dof[t + 1]):
                v[k] += right[k]
    link_velocities(model, data, v)
    for t in range(model.tree_count):
        if data.tree_fast[t] != 0 and model.link_joint[model.tree_link[t]] != KINEMATIC:
            keep_energy(model, data, t, v, data.tree_energy[t])


@jit
def missing_momentum(model, data, t):
    """`force` of tree t's links: the noted momentum less what they have at the present pose and velocity."""
    for i in range(model.tree_link[t], model.tree_link[t + 1]):
        u, h, f = data.velocity[i], data.link_motion[i], data.force[i]
        px, py, pz, lx, ly, lz = inertia_times(data.inertia, i, u[0], u[1], u[2], u[3], u[4], u[5])
        cx, cy, cz = center(data, i)
        mx, my, mz = cross(cx, cy, cz, h[0], h[1], h[2])
        f[0], f[1], f[2] = h[0] - px, h[1] - py, h[2] - pz
        f[3], f[4], f[5] = h[3] + mx - lx, h[4] + my - ly, h[5] + mz - lz


@jit
def noted_energy(model, data, t, v):
    """Kinetic energy that tree t had, and what gravity gave it beyond a straight way at the noted velocity."""
    o, g, energy = data.tree_origin[t], model.gravity, 0.0
    for i in range(model.tree_link[t], model.tree_link[t + 1]):
        h, m = data.link_motion[i], data.inertia[i, 0]
        cx, cy, cz = center(data, i)
        energy += h[9] + m * (g[0] * (o[0] + cx - h[6]) + g[1] * (o[1] + cy - h[7]) + g[2] * (o[2] + cz - h[8]))
    for k in range(model.tree_dof[t], model.tree_dof[t + 1]):
        energy += 0.5 * model.dof_armature[k] * v[k] * v[k]
    return energy


@jit
def keep_energy(model, data, t, v, wanted):
    """Scale the joint speeds of tree t so that its kinetic energy is `wanted`; a free root keeps the noted momentum."""
    root, o, k = model.tree_link[t], data.tree_origin[t], model.link_dof[model.tree_link[t]]
    free = model.link_joint[root] == FREE
    energy = hx = hy = hz = ax = ay = az = nx = ny = nz = bx = by = bz = 0.0
    for i in range(root, model.tree_link[t + 1]):
        u, h = data.velocity[i], data.link_motion[i]
        px, py, pz, lx, ly, lz = inertia_times(data.inertia, i, u[0], u[1], u[2], u[3], u[4], u[5])
        energy += 0.5 * (u[0] * px + u[1] * py + u[2] * pz + u[3] * lx + u[4] * ly + u[5] * lz)
        mx, my, mz = cross(h[6] - o[0], h[7] - o[1], h[8] - o[2], h[0], h[1], h[2])
        hx, hy, hz, ax, ay, az = hx + px, hy + py, hz + pz, ax + lx, ay + ly, az + lz
        nx, ny, nz = nx + h[0], ny + h[1], nz + h[2]
        bx, by, bz = bx + mx + h[3], by + my + h[4], bz + mz + h[5]
    for j in range(model.tree_dof[t], model.tree_dof[t + 1]):
        energy += 0.5 * model.dof_armature[j] * v[j] * v[j]
    old, new = data.rate_v[3, k : k + 6], data.rate_v[0, k : k + 6]
    if free:  # the whole tree as one rigid body, at the momentum it has now and at the one it must have
        energy -= rigid_motion(data.composite[root], (hx, hy, hz), (ax, ay, az), old)
        wanted -= rigid_motion(data.composite[root], (nx, ny, nz), (bx, by, bz), new)
    s = 1.0
    if energy > 0.0:
        s = min(sqrt(max(0.0, wanted) / energy), MOST_GAIN)
    for j in range(model.tree_dof[t], model.tree_dof[t + 1]):
        v[j] *= s
    if free:
        for a in range(6):
            v[k + a] += new[a] - s * old[a]


@jit
def rigid_motion(I, place, local, out):
    """Velocity (6) of a body of the ten-number inertia I with the momentum (p, l) at the origin; its energy."""
    px, py, pz = place
    lx, ly, lz = local
    m, cx, cy, cz = I[0], I[1] / I[0], I[2] / I[0], I[3] / I[0]
    rx, ry, rz = cross(cx, cy, cz, px, py, pz)
    rx, ry, rz = lx - rx, ly - ry, lz - rz
    xx, yy, zz = I[4] - m * (cy * cy + cz * cz), I[5] - m * (cx * cx + cz * cz), I[6] - m * (cx * cx + cy * cy)
    xy, xz, yz = I[7] + m * cx * cy, I[8] + m * cx * cz, I[9] + m * cy * cz
    u0, u1, u2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * u0 + xy * u1 + xz * u2
    v1, v2, w2 = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    d = 1.0 / det if det > 0.0 else 0.0
    wx, wy, wz = d * (u0 * rx + u1 * ry + u2 * rz), d * (u1 * rx + v1 * ry + v2 * rz), d * (u2 * rx + v2 * ry + w2 * rz)
    sx, sy, sz = cross(wx, wy, wz, cx, cy, cz)
    out[0], out[1], out[2] = px / m - sx, py / m - sy, pz / m - sz
    out[3], out[4], out[5] = wx, wy, wz
    return 0.5 * (px * out[0] + py * out[1] + pz * out[2] + lx * wx + ly * wy + lz * wz)
