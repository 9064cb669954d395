"""Rows of impacts of lone bodies, with the geometry of their instants (`instant`) and the inertia of the middle.

    E = R_s R_M^T       the turn of a body from the middle to the instant s, by `rotor`
    row                 (n, E^T (arm x n)): force along the normal of the instant, torque in the axes of the middle, in
                        which the inertia is known. G and the speed of approach are those of the instant then
The impulse acts on positions from s on (`impact_longer`), which is where r(s) + arm is one point for both bodies: their
angular momenta change by opposite amounts.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import script_lead
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.exact.impacts.instant import MET, find_impacts
from sesshoku.methods.exact.momenta.spin import turn_back, turn_from_middle
from sesshoku.methods.exact.work import FOUND, IMPACTS, NEVER
from sesshoku.solvers.problem import diagonal_block
from sesshoku.spatial.algebra import cross


@jit
def meet_impacts(model, data, work, dt):
    """Tell the impacts of the step, and give those of lone bodies the geometry and the rows of their instants.

    Needs `contact_rows` and `split_free`. Leaves `met` and `instant` of the contacts, and tree_instant: the first
    impact of a body. A problem that is built again in a step has the same impacts.
    """
    if work.impacts[FOUND] == 0:
        find_impacts(model, data, work, dt)
        work.impacts[FOUND] = 1
    if work.impacts[IMPACTS] == 0:
        return
    for t in range(model.tree_count):
        if work.tree_instant[t] < NEVER:
            frame_body(model, data, work, dt, t)
    for c in range(work.contacts.counts[CONTACTS]):
        if work.met[c] == MET:
            instant_rows(model, data, work, c)


@jit
def frame_body(model, data, work, dt, t):
    """E of lone tree t at its impact, and its spin there, in the axes of the middle.

    Where other contacts carry it as well, it has the axes of the middle, and what gyroscopic torque does in the step is
    done before: all its rows act on one velocity.
    """
    i = model.tree_link[t]
    k, v, E = model.link_dof[i] + 3, data.v, work.frame[t]
    if work.crowded[t] == 1:
        E[0], E[1], E[2], E[3] = 1.0, 0.0, 0.0, 0.0
        for d in range(k, k + 3):
            work.instant_spin[d] = v[d] + work.gyration[d]
        return
    x, y, z, dw, dx, dy, dz = rotor(data.inertia[i], v[k], v[k + 1], v[k + 2], work.tree_instant[t])
    work.instant_spin[k], work.instant_spin[k + 1], work.instant_spin[k + 2] = x, y, z
    E[0], E[1], E[2], E[3] = turn_from_middle(model, data, t, dt, (dw, dx, dy, dz))


@jit
def instant_rows(model, data, work, c):
    """Rows and free velocity of impact c at its instant, in place of those of the middle."""
    contacts, problem = work.contacts, work.problem
    before, forced = problem.velocity[c], work.forced[c]
    for d in range(3):
        before[d] = forced[d] = 0.0
    for side in range(2):
        link, sign = contacts.link[c, side], 1.0 if side else -1.0
        if link < 0:
            continue
        if problem.body[c, side] >= 0:
            lone_side(model, data, work, c, side)
            continue
        o, p, w = data.tree_origin[model.link_tree[link]], contacts.point[c], data.velocity[link]
        x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        lx, ly, lz = script_lead(model, data, link, p)
        x, y, z = x + w[0] + lx, y + w[1] + ly, z + w[2] + lz
        for d in range(3):
            axis = problem.axes[c, d]
            before[d] += sign * (axis[0] * x + axis[1] * y + axis[2] * z)
    for d in range(3):
        work.unaided[c, d] = problem.free[c, d] = before[d] + forced[d]
    diagonal_block(model.row_dof, problem, c)


@jit
def lone_side(model, data, work, c, side):
    """The share of a lone body: as `contact_rows.lone_body_rows`, with the torque of the instant."""
    contacts, problem = work.contacts, work.problem
    k, t, arm = problem.body[c, side], model.link_tree[contacts.link[c, side]], work.arm[c, side]
    E, sign = work.frame[t], 1.0 if side else -1.0
    five, four = data.factor[model.dof_row[k + 5] :], data.factor[model.dof_row[k + 4] :]
    s54, s53, s43 = five[4], five[3], four[3]
    old, new, root = data.v[k : k + 6], data.new_v[k : k + 6], problem.root_dinv[k : k + 6]
    spin, gyration = work.instant_spin[k : k + 6], work.gyration[k : k + 6]
    at = problem.span[c, side, 2]
    rows = problem.half[at : at + 18]
    for d in range(3):
        axis = problem.axes[c, d]
        fx, fy, fz = sign * axis[0], sign * axis[1], sign * axis[2]
        x, y, z = cross(arm[0], arm[1], arm[2], fx, fy, fz)
        nx, ny, nz = turn_back(E, x, y, z)
        problem.velocity[c, d] += (fx * old[0] + fy * old[1] + fz * old[2] + nx * spin[3] + ny * spin[4]
                                   + nz * spin[5])
        work.forced[c, d] += (
            fx * (new[0] - old[0]) + fy * (new[1] - old[1]) + fz * (new[2] - old[2])
            + nx * (new[3] - old[3] - gyration[3]) + ny * (new[4] - old[4] - gyration[4])
            + nz * (new[5] - old[5] - gyration[5]))
        ny -= s54 * nz
        nx -= s53 * nz + s43 * ny
        rows[6 * d], rows[6 * d + 1], rows[6 * d + 2] = root[0] * fx, root[1] * fy, root[2] * fz
        rows[6 * d + 3], rows[6 * d + 4], rows[6 * d + 5] = root[3] * nx, root[4] * ny, root[5] * nz
