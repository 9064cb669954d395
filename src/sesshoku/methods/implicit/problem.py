"""Before the passes of a step: elasticity, velocities and friction states of the contacts, groups, pairs, biases."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, ISLANDS, VERTEX
from sesshoku.collision.filter import find_pair
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import gyroscopic_force
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.implicit.options import BALANCED, UNLOADED, VISCOUS
from sesshoku.methods.implicit.work import CONTACT_PAIR, GROUPS, LOOP_PAIR, MIMIC_PAIR, PAIRS
from sesshoku.model.arrays import FREE, KINEMATIC, RULED
from sesshoku.spatial.algebra import cross
from sesshoku.stages.contact_rows import contact_velocity
from sesshoku.stages.free_motion import SPIN

LOADS = 10.0  # weights that a point at rest may carry
LET_OUT = 10.0  # 1/s: how fast springs that began unloaded come to carry all of their depth
LET_OUT_SPEED = 1.0  # m/s: and how fast at most, so that what begins deep in something comes out gently


@jit
def build_problem(model, data, work, dt):
    """Everything the passes start from. Needs `detect`, `link_velocities`, `joint_forces`, `external_wrenches`."""
    contacts = work.contacts
    make_groups(model, work)
    reference_accelerations(model, data, work)
    link_biases(model, data, work, dt)
    for c in range(contacts.counts[CONTACTS]):
        count_points(work, c)
        elasticity(model, work, dt, c)
        start_contact(model, data, work, dt, c)
        drift(model, data, work, dt, c)
    if work.options.entry == UNLOADED:
        share_offsets(work)
    make_pairs(model, work)


@jit
def moves(model, link):
    """Whether forces move a link."""
    return link >= 0 and model.link_joint[link] != KINEMATIC


@jit
def make_groups(model, work):
    """Group of every tree: its island, else the trees joined with it; with another schedule one group for all."""
    contacts, options = work.contacts, work.options
    islands, trees, group = contacts.counts[ISLANDS], model.tree_count, work.tree_group
    count = islands
    for t in range(trees):
        if options.schedule == BALANCED:
            group[t], count = 0, 1
        elif contacts.tree_island[t] >= 0:
            group[t] = contacts.tree_island[t]
        elif model.tree_joined[t] != t:
            group[t] = group[model.tree_joined[t]]
        else:
            group[t] = count
            count += 1
    work.counts[GROUPS] = count
    start = work.group_tree_start
    for g in range(count + 1):
        start[g] = 0
    for t in range(trees):
        start[group[t] + 1] += 1
    for g in range(count):
        start[g + 1] += start[g]
    for t in range(trees - 1, -1, -1):  # from behind: fill each range downwards, then it begins where it should
        start[group[t] + 1] -= 1
        work.group_tree[start[group[t] + 1]] = t
    for g in range(count):
        start[g] = start[g + 1]
    start[count] = trees
    list_contacts(work, count, islands)


@jit
def list_contacts(work, count, islands):
    """Contacts group by group: the islands' lists, or all of them in one."""
    contacts, options = work.contacts, work.options
    total = contacts.island_start[islands] if islands > 0 else 0
    for n in range(total):
        work.group_contact[n] = contacts.island_contact[n]
    for g in range(count):
        if options.schedule == BALANCED:
            work.group_contact_start[g] = 0
        else:
            work.group_contact_start[g] = contacts.island_start[g] if g < islands else total
    work.group_contact_start[count] = total


@jit
def reference_accelerations(model, data, work):
    """The acceleration (without gravity's part) at which the velocity of a link does not change in the step's eyes.

    rate_terms: none at all, a = 0; without: that of joints at rest, so that velocities at the end are J v+. Trees that
    loops hold are without: near a dead centre the rows of a loop depend on each other, and J' v is divided by nothing.
    work.rate keeps the difference, J' v, for points that J' v does not belong to (`drift`).
    """
    options = work.options
    g, reference, c = model.gravity, work.reference, data.velocity_product
    for i in range(model.link_count):
        parent, rates = model.link_parent[i], options.rate_terms != 0 and work.tree_looped[model.link_tree[i]] == 0
        for a in range(6):
            work.rate[i, a] = (c[i, a] + (work.rate[parent, a] if parent >= 0 else 0.0)) if rates else 0.0
        if rates or parent < 0:
            for a in range(3):
                reference[i, a], reference[i, 3 + a] = -g[a], 0.0
        else:
            for a in range(6):
                reference[i, a] = reference[parent, a]
        if not rates:
            for a in range(6):
                reference[i, a] += c[i, a]


@jit
def link_biases(model, data, work, dt):
    """v x* I v - external wrench of every link.

    A lone free body that touches something or hangs on a loop turns on by `rotor`: its gyroscopic torque is what that
    free turning needs, which brings no energy; explicit, it would at large spins.
    """
    contacts = work.contacts
    bias, v = work.bias, data.v
    for i in range(model.link_count):
        gyroscopic_force(data, i, bias)
        if data.tree_fast[model.link_tree[i]] != 0:
            for a in range(6):
                bias[i, a] = -data.wrench[i, a]
    for t in range(model.tree_count):
        i = model.tree_link[t]
        held = contacts.tree_island[t] >= 0 or work.tree_looped[t] != 0
        if not held or model.link_joint[i] != FREE or model.tree_link[t + 1] != i + 1:
            continue
        k, I = model.link_dof[i] + 3, data.inertia[i]
        wx, wy, wz = v[k], v[k + 1], v[k + 2]
        if (wx * wx + wy * wy + wz * wz) * dt * dt < SPIN * SPIN:
            continue
        ex, ey, ez, _, _, _, _ = rotor(I, wx, wy, wz, dt)
        dx, dy, dz = (ex - wx) / dt, (ey - wy) / dt, (ez - wz) / dt
        wrench = data.wrench[i]
        bias[i, 3] = -(I[4] * dx + I[7] * dy + I[8] * dz) - wrench[3]
        bias[i, 4] = -(I[7] * dx + I[5] * dy + I[9] * dz) - wrench[4]
        bias[i, 5] = -(I[8] * dx + I[9] * dy + I[6] * dz) - wrench[5]


@jit
def count_points(work, c):
    """work.points: how many contacts the two links of contact c have; they stand in a row."""
    contacts = work.contacts
    a, b, end = contacts.link[c, 0], contacts.link[c, 1], c + 1
    if c > 0 and contacts.link[c - 1, 0] == a and contacts.link[c - 1, 1] == b:
        work.points[c] = work.points[c - 1]
        return
    while end < contacts.counts[CONTACTS] and contacts.link[end, 0] == a and contacts.link[end, 1] == b:
        end += 1
    work.points[c] = end - c


@jit
def elasticity(model, work, dt, c):
    """Stiffness and damping of contact c: the pair's own, the materials' combined, or what the scene needs.

    Damping that follows from restitution, or is a share of the critical one, is that of the reduced mass on as many
    points as there are; backward Euler's own damping, w dt / 2 of the critical one, is taken off a rebound's.
    """
    contacts = work.contacts
    a, b, out = contacts.shape[c, 0], contacts.shape[c, 1], work.elastic[c]
    if c > 0 and contacts.shape[c - 1, 0] == a and contacts.shape[c - 1, 1] == b:
        out[0], out[1] = work.elastic[c - 1, 0], work.elastic[c - 1, 1]
        return
    k = d = -1.0
    if model.shape_filter[a, RULED] == 1 and model.shape_filter[b, RULED] == 1:
        place = find_pair(model, a, b)
        if place >= 0:
            k, d = work.pair_elastic[place, 0], work.pair_elastic[place, 1]
    ka, kb, da, db = (work.shape_elastic[a, 0], work.shape_elastic[b, 0], work.shape_elastic[a, 1],
                      work.shape_elastic[b, 1])
    if k < 0.0:
        if ka >= 0.0 and kb >= 0.0:
            k = ka * kb / (ka + kb) if ka + kb > 0.0 else 0.0
        else:
            k = max(ka, kb)
    if d < 0.0:
        d = 0.5 * (da + db) if da >= 0.0 and db >= 0.0 else max(da, db)
    given = k >= 0.0
    if not given:
        k = work.default_elastic[0]
    if d < 0.0:
        bounce, mass = contacts.material[c, 2], pair_mass(model, work, c) / work.points[c]
        if bounce == 0.0:
            ratio, least = (1.0, 0.0) if given else (work.options.damping_ratio, work.default_elastic[1])
            d = max(2.0 * ratio * sqrt(k * mass), least)
        else:
            place = min(max(int(100.0 * bounce), 0), 99)
            share = 100.0 * bounce - place
            ratio = (1.0 - share) * work.damping_table[place] + share * work.damping_table[place + 1]
            d = max(2.0 * ratio * sqrt(k * mass) - dt * k, 0.0)
    out[0], out[1] = k, d


@jit
def drift(model, data, work, dt, c):
    """work.drift: -dt J' v of a contact whose point is not fixed on a link, where accelerations include it.

    J' v is the rate of the velocity at a point that turns with the link, a vertex on a face. The point on which a ball
    rolls does not: the velocity there is to be J v+.
    """
    contacts = work.contacts
    p, out = contacts.point[c], work.drift[c]
    out[0] = out[1] = out[2] = 0.0
    if contacts.kind[c] == VERTEX:
        return
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            o, r = data.tree_origin[model.link_tree[link]], work.rate[link]
            x, y, z = cross(r[3], r[4], r[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
            s = -dt if side == 1 else dt
            out[0], out[1], out[2] = out[0] + s * (r[0] + x), out[1] + s * (r[1] + y), out[2] + s * (r[2] + z)


@jit
def pair_mass(model, work, c):
    """Reduced mass of the two trees that meet; the world and scripted links are endlessly heavy."""
    contacts = work.contacts
    inverse = 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if moves(model, link):
            inverse += 1.0 / max(work.tree_mass[model.link_tree[link]], 1e-12)
    return 1.0 / inverse if inverse > 0.0 else 1.0


@jit
def start_contact(model, data, work, dt, c):
    """Velocity, anchor and state of contact c at the start of the step."""
    contacts, options = work.contacts, work.options
    n, e, u, old = contacts.normal[c], work.stretch[c], work.before[c], contacts.previous[c]
    x, y, z = contact_velocity(model, data, contacts, c)
    u[0], u[1], u[2] = x, y, z
    un = x * n[0] + y * n[1] + z * n[2]
    depth, k, d = -contacts.gap[c], work.elastic[c, 0], work.elastic[c, 1]
    e[0] = e[1] = e[2] = 0.0
    if old >= 0 and work.old_on[old] != 0 and options.friction != VISCOUS:
        to_world(model, data, contacts.link[c, 0], work.old_stretch[old], e)
        along = e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        for a in range(3):
            e[a] -= along * n[a]
    near = depth > 0.0
    if options.speculative != 0:
        near = near or depth - dt * un > 0.0
    work.offset[c] = first_offset(model, work, dt, c, un)
    normal = max(k * (depth - work.offset[c]) - d * un, 0.0)
    if depth <= 0.0:  # about to touch: what stops the approach within the step, roughly
        normal = max(k * (depth - dt * un), 0.0) if near else 0.0
    work.on[c] = 1 if near and normal > 0.0 else 0
    if depth > 0.0:
        work.on[c] = 1
    work.normal[c] = normal
    tx, ty, tz = x - un * n[0], y - un * n[1], z - un * n[2]
    speed = sqrt(tx * tx + ty * ty + tz * tz)
    kt = options.tangential * k
    dt_ = options.tangential * d if speed >= options.slip_speed else 0.0
    fx, fy, fz = kt * e[0] - dt_ * tx, kt * e[1] - dt_ * ty, kt * e[2] - dt_ * tz
    bound = contacts.material[c, 0] * normal
    work.slides[c] = 1 if options.friction == VISCOUS or fx * fx + fy * fy + fz * fz > bound * bound else 0
    work.damper[c] = contacts.material[c, 1] * normal / max(speed, options.slip_speed)


@jit
def first_offset(model, work, dt, c, un):
    """The depth at which the spring of contact c has no load: what it was, let out; or what the point enters by.

    All of it where the spring would hold far more than the approach, and a fall through the overlap, explain: bodies
    that begin in each other.
    """
    depth, old = -work.contacts.gap[c], work.contacts.previous[c]
    if work.options.entry != UNLOADED or depth <= 0.0:
        return 0.0
    if old >= 0 and (work.old_on[old] != 0 or work.old_offset[old] > 0.0):
        before = work.old_offset[old]
        return min(max(before - dt * min(LET_OUT * before, LET_OUT_SPEED), 0.0), depth)
    if 0.5 * work.elastic[c, 0] * depth * depth > explained_energy(model, work, c, un, depth):
        return depth
    return min(max(-un, 0.0) * dt, depth)


@jit
def explained_energy(model, work, c, un, depth):
    """What a spring may hold that is first met at some depth, J: by the heavier of the two mechanisms."""
    mass, g = 0.0, model.gravity
    for side in range(2):
        link = work.contacts.link[c, side]
        if moves(model, link):
            mass = max(mass, work.tree_mass[model.link_tree[link]])
    return mass * (0.5 * un * un + LOADS * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * depth)


@jit
def share_offsets(work):
    """New points of two links that are in each other already begin as the others did: not with all of that depth."""
    contacts = work.contacts
    c = 0
    while c < contacts.counts[CONTACTS]:
        end, most = c + work.points[c], 0.0
        for n in range(c, end):
            most = max(most, work.offset[n])
        for n in range(c, end):
            if contacts.previous[n] < 0:
                work.offset[n] = max(min(most, -contacts.gap[n]), work.offset[n])
        c = end


@jit
def to_world(model, data, link, local, out):
    """A vector from a link's axes to the world's."""
    if link < 0:
        out[0], out[1], out[2] = local[0], local[1], local[2]
        return
    R = data.rotation[link]
    for a in range(3):
        out[a] = R[a, 0] * local[0] + R[a, 1] * local[1] + R[a, 2] * local[2]


@jit
def make_pairs(model, work):
    """Pairs of moving links that contacts, loops and mimics couple. Contacts of two links in a row share one."""
    contacts = work.contacts
    count, link, group = 0, work.pair_link, work.tree_group
    for c in range(contacts.counts[CONTACTS]):
        a, b = contacts.link[c, 0], contacts.link[c, 1]
        work.pair[c] = -1
        if moves(model, a) and moves(model, b):
            if c > 0 and work.pair[c - 1] >= 0 and link[count - 1, 0] == a and link[count - 1, 1] == b:
                work.pair[c] = count - 1
                continue
            link[count, 0], link[count, 1], work.pair_kind[count] = a, b, CONTACT_PAIR
            work.pair_group[count] = group[model.link_tree[a]]
            work.pair[c] = count
            count += 1
    for n in range(model.loop_count):
        a, b = model.loop_link[n, 0], model.loop_link[n, 1]
        work.loop_mark[n] = -1
        if moves(model, a) and moves(model, b):
            link[count, 0], link[count, 1], work.pair_kind[count] = a, b, LOOP_PAIR
            work.pair_group[count] = group[model.link_tree[a]]
            work.loop_mark[n] = count
            count += 1
    for n in range(model.mimic_count):
        a, b = model.mimic_source[n], model.mimic_dof[n]
        link[count, 0], link[count, 1], work.pair_kind[count] = a, b, MIMIC_PAIR
        work.pair_group[count] = group[model.link_tree[model.dof_link[b]]]
        work.mimic_mark[n] = count
        count += 1
    work.counts[PAIRS] = count


@jit
def keep_contacts(model, data, work):
    """After the step: what its contacts leave to the next one (anchors in the frame of link a)."""
    contacts = work.contacts
    for c in range(contacts.counts[CONTACTS]):
        link, e, out = contacts.link[c, 0], work.stretch[c], work.old_stretch[c]
        work.old_on[c], work.old_offset[c] = work.on[c], work.offset[c]
        if link < 0:
            out[0], out[1], out[2] = e[0], e[1], e[2]
        else:
            R = data.rotation[link]
            for a in range(3):
                out[a] = R[0, a] * e[0] + R[1, a] * e[1] + R[2, a] * e[2]


__all__ = ["keep_contacts", "moves", "build_problem"]
