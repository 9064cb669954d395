"""Angular momentum of lone bodies: how they turn after impacts, and how well islands of them keep it.

A body that impacts alone touch spins freely to the instant of the first of them, and freely again from there, both by
`rotor`, which keeps energy and angular momentum; in between its angular momentum changes by arm x impulse. All of it in
the axes that the body has in the middle of the step, E from those of the instant (`instant`). Impulses that act later
(what carries load from then on, a second impact) turn the body by less, d.

An island is free where lone bodies touch each other and nothing else. What its impulses do to them sums up to nothing:
bodies on which contacts last end with the spin that their angular momentum gives them.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import turns_fast
from sesshoku.integrate.position import store_unit
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.exact.free_islands import tree_is_free
from sesshoku.methods.exact.instant import MET, NEVER
from sesshoku.methods.exact.spin import turn, turn_back
from sesshoku.methods.exact.work import IMPACTS, SUPPORT, TAKEN
from sesshoku.solvers.problem import TURNING
from sesshoku.spatial.algebra import cross, quaternion_matrix, quaternion_times, turn_quaternion
from sesshoku.stages.free_motion import ALWAYS
from sesshoku.stages.report import MOMENTUM_RESIDUAL

FAR = 0.5  # rad per step: so much and there is no pose that stands for the step
ROUNDING = 1e-13  # of the momenta that are summed up
UNTOUCHED, HIT, LOADED = range(3)  # `touched`: by nothing, by impacts alone, by contacts that last


@jit
def gather_torques(model, data, work, dt):
    """What touches the lone bodies, and the torque impulses of their contacts; before `new_v` is turned anywhere.

    torque (V): of the impulses, world axes. hit_torque (V): the same in the axes of the middle. late (V): each times
    how much longer it acts than from the body's instant on.
    """
    contacts, problem = work.contacts, work.problem
    for t in range(model.tree_count):
        work.touched[t] = UNTOUCHED
    for k in range(model.dof_count):
        work.torque[k] = work.hit_torque[k] = work.late[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        x = work.impulse_world[c]
        if x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0:
            continue
        hits = work.met[c] == MET or work.impact[c, TAKEN] > 0.0 or work.impact[c, SUPPORT] > 0.0
        for side in range(2):
            if problem.body[c, side] >= 0:
                t = model.link_tree[contacts.link[c, side]]
                if work.tree_lone[t] == 1:
                    alone = hits and (work.impacts[IMPACTS] == 0 or work.crowded[t] == 0)
                    work.touched[t] = max(work.touched[t], HIT if alone else LOADED)
                    add_torque(model, data, work, dt, c, side, t)


@jit
def add_torque(model, data, work, dt, c, side, t):
    """The share of one side of contact c."""
    contacts, p, k = work.contacts, work.impulse_world[c], work.problem.body[c, side] + 3
    sign, at, o = 1.0 if side else -1.0, contacts.point[c], data.tree_origin[t]
    x, y, z = at[0] - o[0], at[1] - o[1], at[2] - o[2]
    if work.met[c] == MET:
        x, y, z = work.arm[c, side, 0], work.arm[c, side, 1], work.arm[c, side, 2]
    x, y, z = cross(x, y, z, sign * p[0], sign * p[1], sign * p[2])
    if work.problem.counts[TURNING] > 0:
        f, h = contacts.torque[c], sign * dt
        x, y, z = x + h * f[0], y + h * f[1], z + h * f[2]
    work.torque[k], work.torque[k + 1], work.torque[k + 2] = (
        work.torque[k] + x, work.torque[k + 1] + y, work.torque[k + 2] + z)
    if work.impacts[IMPACTS] > 0 and work.tree_instant[t] < NEVER:
        x, y, z = turn_back(work.frame[t], x, y, z)
        longer = work.longer[c] - (0.5 * dt - work.tree_instant[t])
        for d, value in enumerate((x, y, z)):
            work.hit_torque[k + d] += value
            work.late[k + d] += longer * value


@jit
def given_torque(model, data, work, dt, i):
    """Torque impulse of forces on lone link i in the step, axes of the middle: not of contacts, not gyroscopic."""
    k, g = model.link_dof[i] + 3, work.gyration
    x, y, z = spin_momentum(data.inertia[i], data.new_v[k] - data.v[k] - g[k],
                            data.new_v[k + 1] - data.v[k + 1] - g[k + 1], data.new_v[k + 2] - data.v[k + 2] - g[k + 2])
    f = data.held_force
    return x - dt * f[k], y - dt * f[k + 1], z - dt * f[k + 2]


@jit
def spin_momentum(I, x, y, z):
    """I w, I the ten-number inertia at the centre of mass."""
    return (I[4] * x + I[7] * y + I[8] * z, I[7] * x + I[5] * y + I[9] * z, I[8] * x + I[9] * y + I[6] * z)


@jit
def momentum_spin(I, x, y, z):
    """I^-1 (x, y, z)."""
    xx, yy, zz, xy, xz, yz = I[4], I[5], I[6], I[7], I[8], I[9]
    u0, u1, u2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * u0 + xy * u1 + xz * u2
    v1, v2, w2 = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    return (u0 * x + u1 * y + u2 * z) / det, (u1 * x + v1 * y + v2 * z) / det, (u2 * x + v2 * y + w2 * z) / det


@jit
def turn_from_instants(model, data, work, dt):
    """Pose and spin at the step's end of lone bodies that impacts alone have touched, for `finish_turns` to take over.

    Their turn is taken out of work.shift. Needs `gather_torques`.
    """
    for t in range(model.tree_count):
        if work.touched[t] != HIT or work.tree_instant[t] >= NEVER:
            continue
        i = model.tree_link[t]
        k, at, E, I, W = model.link_dof[i] + 3, model.link_coordinate[i] + 3, work.frame[t], data.inertia[i], \
            work.instant_spin
        x, y, z = spin_momentum(I, W[k], W[k + 1], W[k + 2])
        gx, gy, gz = given_torque(model, data, work, dt, i)
        h = work.hit_torque
        x, y, z = x + gx + h[k], y + gy + h[k + 1], z + gz + h[k + 2]
        lx, ly, lz = momentum_spin(I, work.late[k], work.late[k + 1], work.late[k + 2])
        late = turn_quaternion(lx, ly, lz)
        if tree_is_free(work, t):  # the body turns, its angular momentum does not
            x, y, z = turn_back(late, x, y, z)
        x, y, z = momentum_spin(I, x, y, z)
        wx, wy, wz, dw, dx, dy, dz = rotor(I, x, y, z, dt - work.tree_instant[t])
        aw, ax, ay, az = quaternion_times(E[0], E[1], E[2], E[3], late[0], late[1], late[2], late[3])
        full = quaternion_times(aw, ax, ay, az, dw, dx, dy, dz)
        end, q = data.turn[i], data.new_q
        end[4], end[5], end[6] = turn(full, wx, wy, wz)
        store_unit(end, 0, quaternion_times(full[0], full[1], full[2], full[3], q[at], q[at + 1], q[at + 2], q[at + 3]))
        end[7] = ALWAYS
        work.shift[k] = work.shift[k + 1] = work.shift[k + 2] = 0.0


@jit
def note_momenta(model, data, work, dt):
    """Of free islands: what their momenta sum up to without impulses (`due`), and spin_goal. Needs `gather_torques`.

    due (island, 6): momentum and angular momentum, about where the island's first body is in the middle. new_v is as it
    was solved.
    """
    contacts = work.contacts
    for island in range(contacts.counts[ISLANDS]):
        for a in range(6):
            work.due[island, a] = 0.0
    for t in range(model.tree_count):
        if not tree_is_free(work, t):
            continue
        i = model.tree_link[t]
        k, v, p, f = model.link_dof[i], data.v, data.new_v, data.held_force
        m, I, due, h = data.inertia[i, 0], data.inertia[i], work.due[contacts.tree_island[t]], 0.5 * dt
        vx, vy, vz = p[k] - dt * f[k] / m, p[k + 1] - dt * f[k + 1] / m, p[k + 2] - dt * f[k + 2] / m
        rx, ry, rz = relative_place(work, data, t)
        lx, ly, lz = cross(rx + h * vx, ry + h * vy, rz + h * vz, m * vx, m * vy, m * vz)
        x, y, z = spin_momentum(I, v[k + 3], v[k + 4], v[k + 5])
        work.far[t] = 1 if (v[k + 3] ** 2 + v[k + 4] ** 2 + v[k + 5] ** 2) * dt * dt > FAR * FAR else 0
        if not turns_fast(model, data, t, dt):
            x, y, z = turn_back(turn_quaternion(h * v[k + 3], h * v[k + 4], h * v[k + 5]), x, y, z)
        gx, gy, gz = given_torque(model, data, work, dt, i)
        x, y, z = x + gx, y + gy, z + gz
        goal, T = work.spin_goal, work.torque
        goal[k + 3], goal[k + 4], goal[k + 5] = x + T[k + 3], y + T[k + 4], z + T[k + 5]
        due[0], due[1], due[2] = due[0] + m * vx, due[1] + m * vy, due[2] + m * vz
        due[3], due[4], due[5] = due[3] + lx + x, due[4] + ly + y, due[5] + lz + z
        work.fall[t, 0], work.fall[t, 1], work.fall[t, 2] = (vx - v[k]) / dt, (vy - v[k + 1]) / dt, (vz - v[k + 2]) / dt
    add_falls(model, work, dt)


@jit
def relative_place(work, data, t):
    """Origin of tree t in the middle, from that of the first tree of its island."""
    contacts = work.contacts
    o, first = data.tree_origin[t], data.tree_origin[
        contacts.island_tree[contacts.island_tree_start[contacts.tree_island[t]]]]
    return o[0] - first[0], o[1] - first[1], o[2] - first[2]


@jit
def keep_momenta(model, data, work):
    """Free islands at the step's end: spins by angular momentum where contacts last, and what is missing given back.

    report.momentum_residual is what they have then and what is due. Needs `note_momenta`; the links stand in the
    middle still.
    """
    contacts = work.contacts
    for island in range(contacts.counts[ISLANDS]):
        if work.island_bound[island] == 1 or not settles(work, island):
            continue
        for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
            settle_spin(model, data, work, contacts.island_tree[n])
        missing = measure_momenta(model, data, work, island)
        if missing > 0.0:  # impacts one after the other, or beside contacts that last
            turn_island(model, data, work, island)
            missing = measure_momenta(model, data, work, island)
        data.report[MOMENTUM_RESIDUAL] = max(data.report[MOMENTUM_RESIDUAL], missing)


@jit
def settles(work, island):
    """Whether an impulse acts in an island, and no contact that lasts on a body that turns far in the step.

    Such a one has no pose between start and end that it could be taken at: it keeps its energy, turned as it ends.
    """
    contacts, touched = work.contacts, 0
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        t = contacts.island_tree[n]
        touched = max(touched, work.touched[t])
        if work.touched[t] == LOADED and work.far[t] == 1:
            return False
    return touched > UNTOUCHED


@jit
def settle_spin(model, data, work, t):
    """The spin that lone tree t has by its angular momentum, spin_goal, if contacts that last touch it."""
    i = model.tree_link[t]
    if work.touched[t] == UNTOUCHED or work.touched[t] == HIT and data.turn[i, 7] == ALWAYS:
        return
    k, at, goal = model.link_dof[i] + 3, model.link_coordinate[i] + 3, work.spin_goal
    x, y, z = to_middle_axes(data.rotation[i], data.q, at, goal[k], goal[k + 1], goal[k + 2])
    x, y, z = momentum_spin(data.inertia[i], x, y, z)
    data.v[k], data.v[k + 1], data.v[k + 2] = from_middle_axes(data.rotation[i], data.q, at, x, y, z)


@jit
def measure_momenta(model, data, work, island):
    """work.sums (6): momentum and angular momentum of a free island beyond what is due.

    Returns the larger of both, N s and N m s; 0 where it is rounding of the momenta that are summed up.
    """
    contacts, sums, size, push = work.contacts, work.sums, 0.0, 0.0
    for a in range(6):
        sums[a] = -work.due[island, a]
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        t = contacts.island_tree[n]
        i = model.tree_link[t]
        k, at, v, q, R, m = model.link_dof[i], model.link_coordinate[i] + 3, data.v, data.q, data.rotation[i], \
            data.inertia[i, 0]
        x, y, z = to_middle_axes(R, q, at, v[k + 3], v[k + 4], v[k + 5])
        x, y, z = spin_momentum(data.inertia[i], x, y, z)
        x, y, z = from_middle_axes(R, q, at, x, y, z)
        rx, ry, rz = place_at_end(model, data, work, t)
        lx, ly, lz = cross(rx, ry, rz, m * v[k], m * v[k + 1], m * v[k + 2])
        sums[0], sums[1], sums[2] = sums[0] + m * v[k], sums[1] + m * v[k + 1], sums[2] + m * v[k + 2]
        sums[3], sums[4], sums[5] = sums[3] + lx + x, sums[4] + ly + y, sums[5] + lz + z
        speed = sqrt(v[k] ** 2 + v[k + 1] ** 2 + v[k + 2] ** 2)
        push += m * speed
        size += sqrt(x * x + y * y + z * z) + m * speed * sqrt(rx * rx + ry * ry + rz * rz)
    momentum = sqrt(sums[0] ** 2 + sums[1] ** 2 + sums[2] ** 2)
    turning = sqrt(sums[3] ** 2 + sums[4] ** 2 + sums[5] ** 2)
    return max(momentum if momentum > ROUNDING * push else 0.0, turning if turning > ROUNDING * size else 0.0)


@jit
def place_at_end(model, data, work, t):
    """Where tree t is at the step's end, from where the first tree of its island was in the middle."""
    x, y, z = relative_place(work, data, t)
    at, o = model.link_coordinate[model.tree_link[t]], data.tree_origin[t]
    return x + data.q[at] - o[0], y + data.q[at + 1] - o[1], z + data.q[at + 2] - o[2]


@jit
def turn_island(model, data, work, island):
    """Take work.sums out of an island's angular momentum by a common turning about its centre of mass.

    It changes no velocity of one body relative to another.
    """
    contacts, I, total, cx, cy, cz = work.contacts, work.island_inertia, 0.0, 0.0, 0.0, 0.0
    first, last = contacts.island_tree_start[island], contacts.island_tree_start[island + 1]
    for n in range(first, last):
        t = contacts.island_tree[n]
        x, y, z = place_at_end(model, data, work, t)
        m = data.inertia[model.tree_link[t], 0]
        total, cx, cy, cz = total + m, cx + m * x, cy + m * y, cz + m * z
    cx, cy, cz = cx / total, cy / total, cz / total
    for a in range(len(I)):
        I[a] = 0.0
    for n in range(first, last):
        t = contacts.island_tree[n]
        i = model.tree_link[t]
        R, at, m = data.rotation[i], model.link_coordinate[i] + 3, data.inertia[i, 0]
        x, y, z = place_at_end(model, data, work, t)
        x, y, z = x - cx, y - cy, z - cz
        for d in range(3):
            ex, ey, ez = 1.0 if d == 0 else 0.0, 1.0 if d == 1 else 0.0, 1.0 if d == 2 else 0.0
            ax, ay, az = to_middle_axes(R, data.q, at, ex, ey, ez)
            ax, ay, az = spin_momentum(data.inertia[i], ax, ay, az)
            ax, ay, az = from_middle_axes(R, data.q, at, ax, ay, az)
            vx, vy, vz = cross(ex, ey, ez, m * x, m * y, m * z)
            bx, by, bz = cross(x, y, z, vx, vy, vz)
            if d == 0:
                I[4], I[7], I[8] = I[4] + ax + bx, I[7] + ay + by, I[8] + az + bz
            elif d == 1:
                I[5], I[9] = I[5] + ay + by, I[9] + az + bz
            else:
                I[6] += az + bz
    wx, wy, wz = momentum_spin(I, -work.sums[3], -work.sums[4], -work.sums[5])
    for n in range(first, last):
        t = contacts.island_tree[n]
        k, v = model.link_dof[model.tree_link[t]], data.v
        x, y, z = place_at_end(model, data, work, t)
        x, y, z = cross(wx, wy, wz, x - cx, y - cy, z - cz)
        v[k], v[k + 1], v[k + 2] = v[k] + x, v[k + 1] + y, v[k + 2] + z
        v[k + 3], v[k + 4], v[k + 5] = v[k + 3] + wx, v[k + 4] + wy, v[k + 5] + wz


@jit
def add_falls(model, work, dt):
    """What forces add to `due` because impacts have moved the bodies they act on: -(dt - s)^2/2 a x impulse."""
    contacts, problem = work.contacts, work.problem
    for c in range(contacts.counts[CONTACTS]):
        if work.met[c] != MET:
            continue
        for side in range(2):
            t = model.link_tree[contacts.link[c, side]] if problem.body[c, side] >= 0 else -1
            if t < 0 or not tree_is_free(work, t):
                continue
            a, p, left = work.fall[t], work.impulse_world[c], dt - work.instant[c]
            h, due = 0.5 * left * left * (1.0 if side else -1.0), work.due[contacts.tree_island[t]]
            x, y, z = cross(a[0], a[1], a[2], p[0], p[1], p[2])
            due[3], due[4], due[5] = due[3] - h * x, due[4] - h * y, due[5] - h * z


@jit
def to_middle_axes(R, q, at, x, y, z):
    """A vector that goes along with a link, from its place at q back to the middle, where its rotation is R."""
    a, b, c, d, e, f, g, h, i = quaternion_matrix(q[at], q[at + 1], q[at + 2], q[at + 3])
    x, y, z = a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z
    return (R[0, 0] * x + R[0, 1] * y + R[0, 2] * z, R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z)


@jit
def from_middle_axes(R, q, at, x, y, z):
    """The other way."""
    a, b, c, d, e, f, g, h, i = quaternion_matrix(q[at], q[at + 1], q[at + 2], q[at + 3])
    x, y, z = (R[0, 0] * x + R[1, 0] * y + R[2, 0] * z, R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
               R[0, 2] * x + R[1, 2] * y + R[2, 2] * z)
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
