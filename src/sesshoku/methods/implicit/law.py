"""The implicit laws of a pass: contacts, loops, mimics, limits and joint friction as forces affine in acceleration.

With x the acceleration beyond the reference (see `build_problem`) the velocity at the end is u + dt J x (u with the
drift of points that do not turn with a link), and a contact pushes with
    phi = phi* - g J x,   normal  phi* = k depth - (d + dt k) u,   g = dt d + dt^2 k
                          rest    phi* = k_t e - (d_t + dt k_t) u,  g = dt d_t + dt^2 k_t     e: from point to anchor
                          slide   phi* = -c u,                      g = dt c,  c = mu phi_n / max(|u|, slip_speed)
phi = k (depth at the end) - d (velocity at the end) and so on: backward Euler, eq. (2), linearised, eq. (3).
Contacts of a link with the world or with scripted links add up to one G and one f* on that link; contacts between
moving links to the blocks of their pair. Mimics, limits and sticking joints hold a wanted velocity with g =
RIGID times the inertia they meet.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import loop_error
from sesshoku.methods.implicit.options import BALANCED
from sesshoku.methods.implicit.problem import moves
from sesshoku.methods.implicit.work import LIMIT_ON, PAIRS, RIGID
from sesshoku.model.arrays import BALL, HINGE
from sesshoku.spatial.algebra import add_force, cross, symmetric_times


@jit
def build_laws(model, data, work, dt, group):
    """G and f* of the group's links, blocks of its pairs, diagonal and force of its joints."""
    clear_laws(model, work, group)
    for n in range(work.group_contact_start[group], work.group_contact_start[group + 1]):
        c = work.group_contact[n]
        if work.on[c] != 0:
            add_contact(model, data, work, dt, c)
    for n in range(model.loop_count if work.options.schedule == BALANCED else 0):  # else closed exactly: `loops`
        a, b = model.loop_link[n, 0], model.loop_link[n, 1]
        mover = a if moves(model, a) else b
        if moves(model, mover) and work.tree_group[model.link_tree[mover]] == group:
            add_loop(model, data, work, dt, n)
    for n in range(model.mimic_count):
        if work.pair_group[work.mimic_mark[n]] == group:
            add_mimic(model, data, work, dt, n)
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            if work.stiffened[i] != 0:  # f* - G (a - reference)
                more, push = data.force[i], work.push[i]
                symmetric_times(work.stiff[i], work.reference[i], more)
                for a in range(6):
                    push[a] += more[a]


@jit
def clear_laws(model, work, group):
    """Nothing acts yet."""
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            push = work.push[i]
            for a in range(6):
                push[a] = 0.0
            work.stiffened[i] = 0
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group:
            aa, bb, ba, push = work.pair_aa[p], work.pair_bb[p], work.pair_ba[p], work.pair_push[p]
            for n in range(36):
                aa[n] = bb[n] = ba[n] = 0.0
            for n in range(6):
                push[0, n] = push[1, n] = 0.0


@jit
def contact_terms(work, dt, c):
    """phi* (3, world axes), and g across and along the surface."""
    contacts, options = work.contacts, work.options
    n, u, w, e = contacts.normal[c], work.before[c], work.drift[c], work.stretch[c]
    k, d = work.elastic[c, 0], work.elastic[c, 1]
    ux, uy, uz = u[0] + w[0], u[1] + w[1], u[2] + w[2]
    un = ux * n[0] + uy * n[1] + uz * n[2]
    gn = dt * d + dt * dt * k  # (3): G = dt D + dt^2 K
    normal = -k * (contacts.gap[c] + work.offset[c]) - (d + dt * k) * un  # (3): f* = tau - dt K q'
    if contacts.gap[c] > 0.0:  # seen coming: the damper acts on the part of the way behind the surface
        normal -= d * contacts.gap[c] / dt
    if work.slides[c] != 0:
        stiffness, rub = 0.0, work.damper[c]
        gt = dt * rub
    else:
        stiffness, rub = options.tangential * k, options.tangential * (d + dt * k)
        gt = options.tangential * gn
    return (normal * n[0] + stiffness * e[0] - rub * (ux - un * n[0]),
            normal * n[1] + stiffness * e[1] - rub * (uy - un * n[1]),
            normal * n[2] + stiffness * e[2] - rub * (uz - un * n[2]), gn, gt)


@jit
def add_contact(model, data, work, dt, c):
    """Contact c into the law of its link or its pair of links."""
    contacts = work.contacts
    a, b, p, n = contacts.link[c, 0], contacts.link[c, 1], contacts.point[c], contacts.normal[c]
    fx, fy, fz, gn, gt = contact_terms(work, dt, c)
    x, y, z = n[0], n[1], n[2]
    A, s = work.work[0], gn - gt
    A[0], A[1], A[2] = gt + s * x * x, s * x * y, s * x * z
    A[3], A[4], A[5] = A[1], gt + s * y * y, s * y * z
    A[6], A[7], A[8] = A[2], A[5], gt + s * z * z
    pair = work.pair[c]
    if pair < 0:
        mover, other, sign = (b, a, 1.0) if moves(model, b) else (a, b, -1.0)
        if other >= 0:  # a script: its velocity at the end is known
            ux, uy, uz = script_change(model, data, work, other, p)
            fx += sign * (A[0] * ux + A[1] * uy + A[2] * uz)
            fy += sign * (A[3] * ux + A[4] * uy + A[5] * uz)
            fz += sign * (A[6] * ux + A[7] * uy + A[8] * uz)
        o = data.tree_origin[model.link_tree[mover]]
        stiffen(work, mover, A, (p[0] - o[0], p[1] - o[1], p[2] - o[2]), (sign * fx, sign * fy, sign * fz))
        return
    oa, ob = data.tree_origin[model.link_tree[a]], data.tree_origin[model.link_tree[b]]
    ax, ay, az, bx, by, bz = p[0] - oa[0], p[1] - oa[1], p[2] - oa[2], p[0] - ob[0], p[1] - ob[1], p[2] - ob[2]
    couple_points(A, (ax, ay, az), (ax, ay, az), work.pair_aa[pair])
    couple_points(A, (bx, by, bz), (bx, by, bz), work.pair_bb[pair])
    couple_points(A, (bx, by, bz), (ax, ay, az), work.pair_ba[pair])
    add_force(work.pair_push[pair, 0], ax, ay, az, -fx, -fy, -fz)
    add_force(work.pair_push[pair, 1], bx, by, bz, fx, fy, fz)


@jit
def script_change(model, data, work, link, p):
    """J x of a scripted link at the world point p."""
    o, c, g = data.tree_origin[model.link_tree[link]], data.velocity_product[link], model.gravity
    r = work.reference[link]
    wx, wy, wz = c[3] - r[3], c[4] - r[4], c[5] - r[5]
    x, y, z = cross(wx, wy, wz, p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return c[0] - g[0] - r[0] + x, c[1] - g[1] - r[1] + y, c[2] - g[2] - r[2] + z


@jit
def open_link(work, link):
    """The first law on a link this pass: its G begins at zero."""
    if work.stiffened[link] == 0:
        work.stiffened[link] = 1
        G = work.stiff[link]
        for a in range(21):
            G[a] = 0.0


@jit
def stiffen(work, link, A, at, force):
    """G += J^T A J and f* += J^T f of a point (x, y, z) of a link; A symmetric (3, 3), flat."""
    x, y, z = at
    fx, fy, fz = force
    open_link(work, link)
    G = work.stiff[link]
    add_force(work.push[link], x, y, z, fx, fy, fz)
    b00, b10, b20 = cross(x, y, z, A[0], A[3], A[6])  # columns of [r] A
    b01, b11, b21 = cross(x, y, z, A[1], A[4], A[7])
    b02, b12, b22 = cross(x, y, z, A[2], A[5], A[8])
    c00, _, _ = cross(x, y, z, b00, b01, b02)  # rows of [r] A [r]^T
    c10, c11, _ = cross(x, y, z, b10, b11, b12)
    c20, c21, c22 = cross(x, y, z, b20, b21, b22)
    G[0], G[1], G[2] = G[0] + A[0], G[1] + A[3], G[2] + A[4]
    G[3], G[4], G[5] = G[3] + A[6], G[4] + A[7], G[5] + A[8]
    G[6], G[7], G[8], G[9] = G[6] + b00, G[7] + b01, G[8] + b02, G[9] + c00
    G[10], G[11], G[12], G[13], G[14] = G[10] + b10, G[11] + b11, G[12] + b12, G[13] + c10, G[14] + c11
    G[15], G[16], G[17], G[18] = G[15] + b20, G[16] + b21, G[17] + b22, G[18] + c20
    G[19], G[20] = G[19] + c21, G[20] + c22


@jit
def couple_points(A, at, uvw, K):
    """K (36, flat) += J_y^T A J_x of the points (x, y, z) on one side and (u, v, w) on the other."""
    x, y, z = at
    u, v, w = uvw
    for n in range(3):
        a0, a1, a2 = A[3 * n], A[3 * n + 1], A[3 * n + 2]
        t0, t1, t2 = cross(u, v, w, a0, a1, a2)
        row = 6 * n
        K[row], K[row + 1], K[row + 2] = K[row] + a0, K[row + 1] + a1, K[row + 2] + a2
        K[row + 3], K[row + 4], K[row + 5] = K[row + 3] + t0, K[row + 4] + t1, K[row + 5] + t2
    b00, b10, b20 = cross(x, y, z, A[0], A[3], A[6])
    b01, b11, b21 = cross(x, y, z, A[1], A[4], A[7])
    b02, b12, b22 = cross(x, y, z, A[2], A[5], A[8])
    for n in range(3):
        b0, b1, b2 = (b00, b01, b02) if n == 0 else ((b10, b11, b12) if n == 1 else (b20, b21, b22))
        t0, t1, t2 = cross(u, v, w, b0, b1, b2)
        row = 18 + 6 * n
        K[row], K[row + 1], K[row + 2] = K[row] + b0, K[row + 1] + b1, K[row + 2] + b2
        K[row + 3], K[row + 4], K[row + 5] = K[row + 3] + t0, K[row + 4] + t1, K[row + 5] + t2


# ---- loops and mimics ----------------------------------------------------------------------------------------------


@jit
def loop_scale(model, work, n, turning):
    """g of a loop's row: RIGID times mass (or inertia) of the lighter moving tree it joins."""
    least = 1e300
    for side in range(2):
        link = model.loop_link[n, side]
        if moves(model, link):
            t = model.link_tree[link]
            least = min(least, work.tree_inertia[t] if turning else work.tree_mass[t])
    return RIGID * least


@jit
def loop_row(data, work, n, d):
    """Direction of row d of loop n (world axes), and the point its wrenches act at: midway between the anchors."""
    point, frame = data.loop_point[n], data.loop_frame[n]
    b = d % 3
    return (frame[0, 0, b], frame[0, 1, b], frame[0, 2, b], 0.5 * (point[0, 0] + point[1, 0]),
            0.5 * (point[0, 1] + point[1, 1]), 0.5 * (point[0, 2] + point[1, 2]))


@jit
def side_row(model, data, link, slide, at, place, row_out):
    """Row (6, at the tree's origin) of a unit force at (px, py, pz), or of a unit torque."""
    x, y, z = at
    px, py, pz = place
    row_out[0], row_out[1], row_out[2], row_out[3], row_out[4], row_out[5] = 0.0, 0.0, 0.0, x, y, z
    if slide:
        o = data.tree_origin[model.link_tree[link]]
        row_out[0], row_out[1], row_out[2] = x, y, z
        row_out[3], row_out[4], row_out[5] = cross(px - o[0], py - o[1], pz - o[2], x, y, z)


@jit
def row_times(row, x):
    return row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3] + row[4] * x[4] + row[5] * x[5]


@jit
def add_loop(model, data, work, dt, n):
    """Loop n: the velocity of b relative to a along its rows is to vanish."""
    point, frame, error = data.loop_point[n], data.loop_frame[n], data.loop_error[n]
    loop_error(model, data, n, point, frame, error)
    kind, pair = model.loop_kind[n], work.loop_mark[n]
    rows = 3 if kind == BALL else (5 if kind == HINGE else 6)
    ra, rb = work.work[1], work.work[2]
    a, b = model.loop_link[n, 0], model.loop_link[n, 1]
    for d in range(rows):
        x, y, z, px, py, pz = loop_row(data, work, n, d)
        u = 0.0
        change = 0.0
        if a >= 0:
            side_row(model, data, a, d < 3, (x, y, z), (px, py, pz), ra)
            u -= row_times(ra, data.velocity[a])
        if b >= 0:
            side_row(model, data, b, d < 3, (x, y, z), (px, py, pz), rb)
            u += row_times(rb, data.velocity[b])
        g = loop_scale(model, work, n, d >= 3)
        f = -g * u / dt
        if pair >= 0:
            aa, bb, ba, push = work.pair_aa[pair], work.pair_bb[pair], work.pair_ba[pair], work.pair_push[pair]
            for r in range(6):
                push[0, r] -= ra[r] * f
                push[1, r] += rb[r] * f
                for s in range(6):
                    aa[6 * r + s] += g * ra[r] * ra[s]
                    bb[6 * r + s] += g * rb[r] * rb[s]
                    ba[6 * r + s] += g * rb[r] * ra[s]
            continue
        mover, other, sign = (b, a, 1.0) if moves(model, b) else (a, b, -1.0)
        row, still = (rb, ra) if sign > 0.0 else (ra, rb)
        if other >= 0:
            c, ref = data.velocity_product[other], work.reference[other]
            for r in range(6):
                change += still[r] * (c[r] - ref[r] - (model.gravity[r] if r < 3 else 0.0))
            f += sign * g * change
        stiffen_row(work, mover, g, row, sign * f)


@jit
def stiffen_row(work, link, g, row, f):
    """G += g row row^T, f* += f row."""
    open_link(work, link)
    G, push = work.stiff[link], work.push[link]
    for r in range(6):
        push[r] += f * row[r]
        for s in range(r + 1):
            G[(r * (r + 1)) // 2 + s] += g * row[r] * row[s]


@jit
def mimic_scale(model, work, n):
    return RIGID * max(work.dof_inertia[model.mimic_dof[n]], work.dof_inertia[model.mimic_source[n]])


@jit
def add_mimic(model, data, work, dt, n):
    """q_joint - ratio q_source - offset = 0, as a pair of dofs."""
    p, k, source, ratio = work.mimic_mark[n], model.mimic_dof[n], model.mimic_source[n], model.mimic_ratio[n]
    g = mimic_scale(model, work, n)
    u = data.v[k] - ratio * data.v[source]
    f = -g * u / dt
    work.pair_aa[p, 0], work.pair_bb[p, 0], work.pair_ba[p, 0] = g * ratio * ratio, g, g * ratio
    work.pair_push[p, 0, 0], work.pair_push[p, 1, 0] = -ratio * f, f


# ---- joints --------------------------------------------------------------------------------------------------------


@jit
def limit_gap(model, data, k, side):
    """How far dof k is from its lower (0) or upper (1) limit."""
    position = data.q[model.dof_coordinate[k]]
    return position - model.dof_lower[k] if side == 0 else model.dof_upper[k] - position


@jit
def build_joint_laws(model, data, work, dt):
    """What limits in reach and Coulomb friction add to the diagonal (`extra`) and to the joint forces.

    The joint forces begin at zero, those of mimics too, which `add_pair_forces` adds once they are known.
    """
    extra, force = work.extra, work.extra_force
    for n in range(model.mimic_count):
        force[model.mimic_dof[n]] = force[model.mimic_source[n]] = 0.0
    for n in range(len(model.limited_dofs)):
        extra[model.limited_dofs[n]] = force[model.limited_dofs[n]] = 0.0
    for n in range(len(model.rubbing_dofs)):
        extra[model.rubbing_dofs[n]] = force[model.rubbing_dofs[n]] = 0.0
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        for side in range(2):
            if work.limit_on[k, side] == LIMIT_ON:
                sign, g = 1.0 if side == 0 else -1.0, RIGID * work.dof_inertia[k]
                gap = max(limit_gap(model, data, k, side), 0.0)
                extra[k] += g
                force[k] -= sign * g * (sign * data.v[k] + gap / dt) / dt
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        if work.joint_slides[k] != 0:
            extra[k] += dt * work.joint_damper[k]  # (3)
            force[k] -= work.joint_damper[k] * data.v[k]
        else:
            g = RIGID * work.dof_inertia[k]
            extra[k] += g
            force[k] -= g * data.v[k] / dt
