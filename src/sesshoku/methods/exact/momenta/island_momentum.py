"""Momentum and angular momentum of free islands, where lone bodies touch each other and nothing else.

What impulses do to them sums up to nothing. Bodies on which contacts last end with the spin that their angular momentum
gives them; what is missing then is given back as a common turning of the island.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import turns_fast
from sesshoku.methods.exact.impacts.instant import MET
from sesshoku.methods.exact.momenta.free_islands import FREE, tree_is_free
from sesshoku.methods.exact.momenta.momentum import HIT, LOADED, UNTOUCHED, given_torque, momentum_spin, spin_momentum
from sesshoku.methods.exact.momenta.spin import turn_back
from sesshoku.spatial.algebra import cross, quaternion_matrix, turn_quaternion
from sesshoku.stages.free_motion import ALWAYS
from sesshoku.stages.report import MOMENTUM_RESIDUAL

FAR = 0.5  # rad per step: so much and there is no pose that stands for the step
ROUNDING = 1e-13  # of the momenta that are summed up


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
        k, v, p, f = model.link_dof[i], data.v, data.new_v, data.constraint_force
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
def keep_momenta(model, data, work):
    """Free islands at the step's end: spins by angular momentum where contacts last, and what is missing given back.

    report.momentum_residual is what they have then and what is due. Needs `note_momenta`; the links stand in the
    middle still.
    """
    contacts = work.contacts
    for island in range(contacts.counts[ISLANDS]):
        if work.island_bound[island] != FREE or not settles(work, island):
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
