"""Posing the problem of a step: six rows per overlap, its targets, and how its corners would slide.

The blocks 2 c and 2 c + 1 of `Problem` are the linear and the angular rows of overlap c along (e1, e2, n), both at its
barycentre: the relative twist of b against a, and the wrench on b.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OLD_CONTACTS
from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.options import GAIN, ONSET, ONSET_SPEED, RECOVERY, REST, ZERO
from sesshoku.methods.volume.work import FREED
from sesshoku.model.arrays import FREE
from sesshoku.solvers.problem import diagonal_block
from sesshoku.spatial.algebra import cross
from sesshoku.stages.contact_rows import claim_rows, contact_velocity, start_problem, to_half_form
from sesshoku.stages.joint_rows import joint_rows

JOINT_SLIP = 1e-4  # rad/s or m/s: a joint that moves faster has kinetic friction


@jit
def pose_problem(model, data, contacts, overlaps, problem, memory, options, dt):
    """Rows, free twists, targets, corners and joint rows. Needs the free velocity in new_v."""
    start_problem(model, data, problem)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]  # a joint that turned round since the last step is first tried with static friction
        data.friction_slips[k] = abs(data.v[k]) > JOINT_SLIP and not data.v[k] * memory.old_v[k] < 0.0
        memory.old_v[k] = data.v[k]
    for c in range(contacts.counts[CONTACTS]):
        twist_rows(model, data, contacts, problem, c, data.new_v)
        choose_targets(overlaps, memory, options, c)
    joint_rows(model, data, problem, data.q, data.new_v, dt, True)
    list_corners(contacts, overlaps, memory)
    for c in range(contacts.counts[CONTACTS]):
        choose_slip(contacts, problem, memory, options, c)
        start_wrench(contacts, memory, c)


@jit
def twist_rows(model, data, contacts, problem, c, v_new):
    """Six rows of overlap c: half form, diagonal blocks, relative twist before and, contact aside, after the step."""
    n, t = contacts.normal[c], contacts.tangent[c]
    x, y, z = contact_velocity(model, data, contacts, c)
    wx = wy = wz = 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            w, sign = data.velocity[link], 1.0 if side else -1.0
            wx, wy, wz = wx + sign * w[3], wy + sign * w[4], wz + sign * w[5]
    for block in range(2 * c, 2 * c + 2):
        axes = problem.axes[block]
        for a in range(3):
            axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
        if block % 2 == 1:
            x, y, z = wx, wy, wz
        for d in range(3):
            problem.velocity[block, d] = axes[d, 0] * x + axes[d, 1] * y + axes[d, 2] * z
            problem.free[block, d] = problem.velocity[block, d]
        problem.correction[block] = 0.0
        for side in range(2):
            twist_side(model, data, contacts, problem, c, block, side, v_new)
        diagonal_block(model.row_dof, problem, block)


@jit
def twist_side(model, data, contacts, problem, c, block, side, v_new):
    """Three rows of one side of overlap c, linear or angular, and their share in the free twist."""
    link, span, free = contacts.link[c, side], problem.span[block, side], problem.free[block]
    count = claim_rows(model, problem, link, block, side)
    if count == 0:
        return
    tree = model.link_tree[link]
    free_root = model.link_joint[model.tree_link[tree]] == FREE
    dofs, S, o, p = model.row_dof[span[0] : span[0] + count], data.axis, data.tree_origin[tree], contacts.point[c]
    half, sign, turning = problem.half[span[2] : span[2] + 3 * count], 1.0 if side else -1.0, block % 2 == 1
    for d in range(3):
        row, axis = half[d * count : (d + 1) * count], problem.axes[block, d]
        nx, ny, nz = sign * axis[0], sign * axis[1], sign * axis[2]
        fx = fy = fz = 0.0
        if not turning:
            fx, fy, fz = nx, ny, nz
            nx, ny, nz = cross(p[0] - o[0], p[1] - o[1], p[2] - o[2], fx, fy, fz)
        first = 0
        if free_root:  # its axes are the identity: the wrench itself
            first = 6
            row[0], row[1], row[2], row[3], row[4], row[5] = fx, fy, fz, nx, ny, nz
        for e in range(first, count):
            s = S[dofs[e]]
            row[e] = s[0] * fx + s[1] * fy + s[2] * fz + s[3] * nx + s[4] * ny + s[5] * nz
        for e in range(count):
            free[d] += row[e] * (v_new[dofs[e]] - data.v[dofs[e]])
    to_half_form(model, data.factor, problem.root_dinv, dofs, half)


@jit
def choose_targets(overlaps, memory, options, c):
    """k c^T n of (8): what the normal part of the least squares pulls towards."""
    V, S, k = overlaps.depth_moment[c], overlaps.area_moment[c], options[GAIN]
    rest = 0.5 * options[REST]  # both caps of the overlap are half its thickness from the plane
    depth, depth1, depth2 = V[0] - rest * S[0], V[1] - rest * S[1], V[2] - rest * S[2]
    if k * depth > options[RECOVERY] * S[0]:
        k = options[RECOVERY] * S[0] / depth
    memory.target[c, 0], memory.target[c, 1], memory.target[c, 2] = k * depth, k * depth2, -k * depth1


@jit
def list_corners(contacts, overlaps, memory):
    """Corners of all polygons; a point contact has one at its centre."""
    at = 0
    for c in range(contacts.counts[CONTACTS]):
        memory.corner_start[c] = at
        if overlaps.kind[c] == POINT:
            memory.corner[at, 0] = memory.corner[at, 1] = 0.0
            at += 1
        else:
            for l in range(overlaps.polygon_start[c], overlaps.polygon_start[c + 1]):
                memory.corner[at, 0], memory.corner[at, 1] = overlaps.polygon[l, 0], overlaps.polygon[l, 1]
                at += 1
        memory.corner_start[c + 1] = at


@jit
def choose_slip(contacts, problem, memory, options, c):
    """Wrench of a unit normal force with kinetic friction at each corner: against the slip before the step (32).

    A corner that does not slip has none, or with `onset` friction against the motion it would have without contact.
    """
    v, w, mu = problem.velocity[2 * c], problem.velocity[2 * c + 1, 2], contacts.material[c, 1]
    free, turn = problem.free[2 * c], problem.free[2 * c + 1, 2]
    memory.moves[c] = 0
    for l in range(memory.corner_start[c], memory.corner_start[c + 1]):
        r1, r2, out = memory.corner[l, 0], memory.corner[l, 1], memory.pull[l]
        x, y = v[0] - w * r2, v[1] + w * r1
        speed = sqrt(x * x + y * y)
        if speed > options[ONSET_SPEED]:
            memory.moves[c] = 1
        elif options[ONSET]:
            x, y = free[0] - turn * r2, free[1] + turn * r1
            speed = sqrt(x * x + y * y)
        t1 = t2 = 0.0
        if speed > options[ZERO]:
            t1, t2 = -mu * x / speed, -mu * y / speed
        out[0], out[1], out[2] = t1, t2, 1.0
        out[3], out[4], out[5] = r2, -r1, r1 * t2 - r2 * t1


@jit
def start_wrench(contacts, memory, c):
    """The last step's wrench: where the joint rows begin."""
    old = contacts.previous[c]
    memory.verdict[c] = FREED
    for a in range(3):
        memory.center[c, a] = contacts.point[c, a]
    for a in range(6):
        memory.wrench[c, a] = memory.old_wrench[old, a] if 0 <= old < contacts.counts[OLD_CONTACTS] else 0.0
