"""Building the problem of a step: six rows per overlap, its targets, and how its corners would slide.

The blocks 2 c and 2 c + 1 of `Problem` are the linear and the angular rows of overlap c along (e1, e2, n), both at its
barycentre: the relative twist of b against a, and the wrench on b.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OLD_CONTACTS
from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.options import ONSET
from sesshoku.methods.volume.work import FREED
from sesshoku.model.arrays import FREE
from sesshoku.solvers.problem import diagonal_block
from sesshoku.spatial.algebra import cross
from sesshoku.stages.contact_rows import claim_rows, contact_velocity, start_problem, to_half_form
from sesshoku.stages.joint_rows import joint_rows

JOINT_SLIP = 1e-4  # rad/s or m/s: a joint that moves faster has kinetic friction


@jit
def build_problem(model, data, work, dt):
    """Rows, free twists, targets, corners and joint rows. Needs the free velocity in new_v."""
    problem_rows(model, data, work, dt)
    remember_speeds(model, data.v, work)


@jit
def remember_speeds(model, v, work):
    """Velocities of joints with friction at the start of the step, for the next one."""
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        work.old_v[k] = v[k]


@jit
def problem_rows(model, data, work, dt):
    """The problem at the state in data.q and data.v: that of a step, or of a stage within one."""
    contacts, problem = work.contacts, work.problem
    start_problem(model, data, problem)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]  # a joint that turned round since the last step is first tried with static friction
        data.friction_slips[k] = abs(data.v[k]) > JOINT_SLIP and not data.v[k] * work.old_v[k] < 0.0
    for c in range(contacts.counts[CONTACTS]):
        twist_rows(model, data, work, c, data.new_v)
        choose_targets(work, dt, c)
    joint_rows(model, data, problem, data.q, data.new_v, dt, True)
    list_corners(work)
    for c in range(contacts.counts[CONTACTS]):
        choose_slip(work, c)
        start_wrench(work, c)


@jit
def twist_rows(model, data, work, c, v_new):
    """Six rows of overlap c: half form, diagonal blocks, relative twist before and, contact aside, after the step.

    eqs. (5), (6), (12): v_AB,g is what stands in problem.velocity, b of eq. (15) in problem.free.
    """
    contacts, problem = work.contacts, work.problem
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
            twist_side(model, data, work, c, block, side, v_new)
        diagonal_block(model.row_dof, problem, block)


@jit
def twist_side(model, data, work, c, block, side, v_new):
    """Three rows of one side of overlap c, linear or angular, and their share in the free twist."""
    contacts, problem = work.contacts, work.problem
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
            free[d] += row[e] * (v_new[dofs[e]] - data.v[dofs[e]])  # (15): b = J v_free
    to_half_form(model, data.factor, problem.root_dinv, dofs, half)


@jit
def choose_targets(work, dt, c):
    """k c^T n of eqs. (3), (8): what the normal part of the least squares pulls towards."""
    overlaps, options = work.overlaps, work.options
    V, S = overlaps.depth_moment[c], overlaps.area_moment[c]
    k = min(options.depth_gain, 2.0 * options.depth_share / dt)  # the speed asked for is k times half the thickness
    rest = 0.5 * options.rest_depth  # both caps of the overlap are half its thickness from the plane
    depth, depth1, depth2 = V[0] - rest * S[0], V[1] - rest * S[1], V[2] - rest * S[2]
    if k * depth > options.recovery_speed * S[0]:
        k = options.recovery_speed * S[0] / depth
    work.target[c, 0], work.target[c, 1], work.target[c, 2] = k * depth, k * depth2, -k * depth1


@jit
def list_corners(work):
    """Corners of all polygons; a point contact has one at its centre."""
    contacts, overlaps = work.contacts, work.overlaps
    at = 0
    for c in range(contacts.counts[CONTACTS]):
        work.corner_start[c] = at
        if overlaps.kind[c] == POINT:
            work.corner[at, 0] = work.corner[at, 1] = 0.0
            at += 1
        else:
            for l in range(overlaps.polygon_start[c], overlaps.polygon_start[c + 1]):
                work.corner[at, 0], work.corner[at, 1] = overlaps.polygon[l, 0], overlaps.polygon[l, 1]
                at += 1
        work.corner_start[c + 1] = at


@jit
def choose_slip(work, c):
    """(32): wrench of a unit normal force with kinetic friction at each corner, against the slip before the step.

    In print it is along the slip, whose normal part is left in.

    A corner that does not slip has none, or with `onset` friction against the motion it would have without contact.
    """
    contacts, problem, options = work.contacts, work.problem, work.options
    v, w, mu = problem.velocity[2 * c], problem.velocity[2 * c + 1, 2], contacts.material[c, 1]
    free, turn = problem.free[2 * c], problem.free[2 * c + 1, 2]
    work.moves[c] = 0
    for l in range(work.corner_start[c], work.corner_start[c + 1]):
        r1, r2, out = work.corner[l, 0], work.corner[l, 1], work.pull[l]
        x, y = v[0] - w * r2, v[1] + w * r1
        speed = sqrt(x * x + y * y)
        if speed > options.onset_speed:
            work.moves[c] = 1
        elif options.onset == ONSET:
            x, y = free[0] - turn * r2, free[1] + turn * r1
            speed = sqrt(x * x + y * y)
        t1 = t2 = 0.0
        if speed > options.zero_tolerance:
            t1, t2 = -mu * x / speed, -mu * y / speed
        out[0], out[1], out[2] = t1, t2, 1.0
        out[3], out[4], out[5] = r2, -r1, r1 * t2 - r2 * t1  # (22), (23)


@jit
def start_wrench(work, c):
    """The last step's wrench: where the joint rows begin."""
    contacts = work.contacts
    old = contacts.previous[c]
    work.verdict[c] = FREED
    for a in range(3):
        work.center[c, a] = contacts.point[c, a]
    for a in range(6):
        work.wrench[c, a] = work.old_wrench[old, a] if 0 <= old < contacts.counts[OLD_CONTACTS] else 0.0
