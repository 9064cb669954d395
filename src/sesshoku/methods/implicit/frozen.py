"""`coupling="frozen"`: every point solved alone with its own response, its force then held. The counter-example.

Points of one body do not know of each other here, so that n of them push n times too hard: stable for one, divergent
for a few as soon as dt^2 k is not small against the mass.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.blocks import invert_symmetric
from sesshoku.dynamics.assembly.tree import assemble_tree, carry, disassemble_tree
from sesshoku.methods.implicit.law import add_loop, clear_laws, contact_terms
from sesshoku.methods.implicit.problem import moves
from sesshoku.spatial.algebra import add_force, cross, symmetric_times


@jit
def freeze_contacts(model, data, work, dt, group):
    """Accelerations of a group with every contact's force found alone."""
    clear_laws(model, work, group)
    for n in range(model.loop_count):  # loops to the world stay in the inertias; others are not for this option
        a, b = model.loop_link[n, 0], model.loop_link[n, 1]
        mover = a if moves(model, a) else b
        if moves(model, mover) and work.tree_group[model.link_tree[mover]] == group and work.loop_mark[n] < 0:
            add_loop(model, data, work, dt, n)
    start, end = work.group_tree_start[group], work.group_tree_start[group + 1]
    for m in range(start, end):
        t = work.group_tree[m]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            if work.stiffened[i] != 0:
                more, push = data.force[i], work.push[i]
                symmetric_times(work.stiff[i], work.reference[i], more)
                for a in range(6):
                    push[a] += more[a]
        assemble_tree(model, data, t, work.stiff, work.stiffened, data.implicit_diagonal, work.extra)
        disassemble_tree(model, data, t, work.bias, work.push, data.joint_force, work.extra_force,
                         data.free_acceleration)
    for n in range(work.group_contact_start[group], work.group_contact_start[group + 1]):
        c = work.group_contact[n]
        if work.on[c] != 0:
            solve_alone(model, data, work, dt, c)
    for m in range(start, end):
        disassemble_tree(model, data, work.group_tree[m], work.bias, work.push, data.joint_force,
                         work.extra_force, data.free_acceleration)


@jit
def solve_alone(model, data, work, dt, c):
    """phi = (1 + g Lambda)^-1 (phi* - g J x0) of contact c, put on its two links: eq. (3) applied to eq. (4)."""
    contacts = work.contacts
    A, L, inverse = work.work[0:6, 0:6], work.work[0:6, 6:12], work.work[0:6, 12:18]
    T, n, p = contacts.tangent[c], contacts.normal[c], contacts.point[c]
    fx, fy, fz, gn, gt = contact_terms(work, dt, c)
    for a in range(3):
        for b in range(3):
            A[a, b] = 0.0
    ux = uy = uz = 0.0
    for side in range(2):
        link, sign = contacts.link[c, side], 1.0 if side == 1 else -1.0
        if link < 0:
            continue
        o, acc, ref = data.tree_origin[model.link_tree[link]], data.acceleration[link], work.reference[link]
        x, y, z = p[0] - o[0], p[1] - o[1], p[2] - o[2]
        cx, cy, cz = cross(acc[3] - ref[3], acc[4] - ref[4], acc[5] - ref[5], x, y, z)
        ux, uy, uz = (ux + sign * (acc[0] - ref[0] + cx), uy + sign * (acc[1] - ref[1] + cy),
                      uz + sign * (acc[2] - ref[2] + cz))
        if moves(model, link):
            add_own_response(model, data, link, T, n, (x, y, z), work.row_work, A)
    # symmetric form: s = sqrt(g), (1 + s A s) y = ..., phi = s y; g = 0 leaves phi* as it is
    rhs0 = T[0, 0] * fx + T[0, 1] * fy + T[0, 2] * fz - gt * (T[0, 0] * ux + T[0, 1] * uy + T[0, 2] * uz)
    rhs1 = T[1, 0] * fx + T[1, 1] * fy + T[1, 2] * fz - gt * (T[1, 0] * ux + T[1, 1] * uy + T[1, 2] * uz)
    rhs2 = n[0] * fx + n[1] * fy + n[2] * fz - gn * (n[0] * ux + n[1] * uy + n[2] * uz)
    g = work.work[6]
    g[0], g[1], g[2] = gt**0.5, gt**0.5, gn**0.5
    for a in range(3):
        for b in range(3):
            A[a, b] = g[a] * A[a, b] * g[b] + (1.0 if a == b else 0.0)
    invert_symmetric(3, A, L, 0.0, inverse)
    # (1 + g Lambda)^-1 r = r - s (1 + s Lambda s)^-1 s Lambda r; with r = s (r / s) simply s (..)^-1 (r / s)
    r0, r1, r2 = (rhs0 / g[0] if g[0] > 0.0 else 0.0), (rhs1 / g[1] if g[1] > 0.0 else 0.0), rhs2 / g[2]
    y0 = g[0] * (inverse[0, 0] * r0 + inverse[0, 1] * r1 + inverse[0, 2] * r2)
    y1 = g[1] * (inverse[1, 0] * r0 + inverse[1, 1] * r1 + inverse[1, 2] * r2)
    y2 = g[2] * (inverse[2, 0] * r0 + inverse[2, 1] * r1 + inverse[2, 2] * r2)
    fx, fy, fz = (T[0, 0] * y0 + T[1, 0] * y1 + n[0] * y2, T[0, 1] * y0 + T[1, 1] * y1 + n[1] * y2,
                  T[0, 2] * y0 + T[1, 2] * y1 + n[2] * y2)
    for side in range(2):
        link, sign = contacts.link[c, side], 1.0 if side == 1 else -1.0
        if moves(model, link):
            o = data.tree_origin[model.link_tree[link]]
            add_force(work.push[link], p[0] - o[0], p[1] - o[1], p[2] - o[2], sign * fx, sign * fy, sign * fz)


@jit
def add_own_response(model, data, link, T, n, at, rows, A):
    """A (3, 3) += the response of a point of a link to forces at it, along T and n. rows: work space, three trees long.

    Between two links of one tree the cross terms are left out: alone is alone.
    """
    x, y, z = at
    t = model.link_tree[link]
    first, count = model.tree_dof[t], model.tree_dof[t + 1] - model.tree_dof[t]
    last = model.link_dof[link] + model.link_dof_count[link] - 1
    for d in range(3):
        fx, fy, fz = (n[0], n[1], n[2]) if d == 2 else (T[d, 0], T[d, 1], T[d, 2])
        nx, ny, nz = cross(x, y, z, fx, fy, fz)
        row = rows[d * count : (d + 1) * count]
        for k in range(count):
            row[k] = 0.0
        carry(model, data.axis, data.pivot_force, data.pivot_inverse, (last, first), (fx, fy, fz, nx, ny, nz), row)
    for d in range(3):
        for e in range(3):
            s = 0.0
            for k in range(count):
                s += rows[d * count + k] * rows[e * count + k]
            A[d, e] += s
