"""Momenta of floating islands: mechanisms in flight that touch themselves, each other or lone bodies, and nothing else.

Impacts on links have the geometry of the middle of the step, and what they make of a mechanism's velocities goes on to
the step's end at constant joint speeds: momentum and angular momentum would be off at first order in dt. They are what
they were at the start, and what forces have done in the step, summed up over the trees as wrenches on their free roots;
what is missing is given back as one rigid motion of the island, which changes no joint's speed and no velocity of one
body relative to another.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.centroid import momentum
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.methods.exact.momenta.free_islands import FLOATING, island_of
from sesshoku.methods.exact.momenta.momentum import momentum_spin
from sesshoku.spatial.algebra import cross
from sesshoku.stages.report import MOMENTUM_RESIDUAL

ROUNDING = 1e-13  # of the momenta that are summed up


@jit
def note_floating(model, data, work, dt):
    """State at the start, and work.due (island, 6): momenta that forces bring in the step, about the island's place.

    Only of floating islands in which a contact carries load. Needs the links in the middle, before `from_middle`.
    """
    contacts, g = work.contacts, model.gravity
    for n in range(model.coordinate_count):
        work.start_q[n] = data.q[n]
    for k in range(model.dof_count):
        work.start_v[k] = data.v[k]
    for island in range(contacts.counts[ISLANDS]):
        work.island_loaded[island] = 0
    for c in range(contacts.counts[CONTACTS]):
        island = island_of(model, work, c)
        if island >= 0 and work.island_bound[island] == FLOATING and work.problem.impulse[c, 2] > 0.0:
            work.island_loaded[island] = 1
    for island in range(contacts.counts[ISLANDS]):
        if work.island_loaded[island] == 0:
            continue
        due, first = work.due[island], contacts.island_tree_start[island]
        o = data.tree_origin[contacts.island_tree[first]]
        work.island_place[island, 0], work.island_place[island, 1], work.island_place[island, 2] = o[0], o[1], o[2]
        for a in range(6):
            due[a] = 0.0
        for n in range(first, contacts.island_tree_start[island + 1]):
            t = contacts.island_tree[n]
            k, at, f = model.link_dof[model.tree_link[t]], data.tree_origin[t], data.joint_force
            add_wrench(due, o, at, dt, (f[k], f[k + 1], f[k + 2]), (f[k + 3], f[k + 4], f[k + 5]))
            for i in range(model.tree_link[t], model.tree_link[t + 1]):
                I, w = data.inertia[i], data.wrench[i]
                add_wrench(due, o, at, dt, (w[0], w[1], w[2]), (w[3], w[4], w[5]))
                x, y, z = cross(I[1], I[2], I[3], g[0], g[1], g[2])
                add_wrench(due, o, at, dt, (I[0] * g[0], I[0] * g[1], I[0] * g[2]), (x, y, z))


@jit
def add_wrench(due, o, at, dt, force, torque):
    """due += dt times a force and torque at the place `at`, about o."""
    x, y, z = cross(at[0] - o[0], at[1] - o[1], at[2] - o[2], force[0], force[1], force[2])
    due[0], due[1], due[2] = due[0] + dt * force[0], due[1] + dt * force[1], due[2] + dt * force[2]
    due[3], due[4], due[5] = due[3] + dt * (torque[0] + x), due[4] + dt * (torque[1] + y), due[5] + dt * (torque[2] + z)


@jit
def keep_floating(model, data, work):
    """Momenta of floating islands at the step's end: what is missing is given back, and what remains reported."""
    contacts = work.contacts
    kinematics(model, data, work.start_q)
    link_velocities(model, data, work.start_v)
    for island in range(contacts.counts[ISLANDS]):
        if work.island_loaded[island] == 1:
            sum_momenta(model, data, work, island, work.due[island])
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    for island in range(contacts.counts[ISLANDS]):
        if work.island_loaded[island] == 1:
            if missing_momenta(model, data, work, island) > 0.0:
                move_island(model, data, work, island)
                link_velocities(model, data, data.v)
            data.report[MOMENTUM_RESIDUAL] = max(data.report[MOMENTUM_RESIDUAL],
                                                 missing_momenta(model, data, work, island))


@jit
def sum_momenta(model, data, work, island, sums):
    """sums (6) += momenta of the island's links about its place; returns the sizes of what is summed up."""
    contacts, part, push, size = work.contacts, work.part, 0.0, 0.0
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        t = contacts.island_tree[n]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            momentum(model, data, i, i + 1, work.island_place[island], part)
            for a in range(6):
                sums[a] += part[a]
            push += sqrt(part[0] ** 2 + part[1] ** 2 + part[2] ** 2)
            size += sqrt(part[3] ** 2 + part[4] ** 2 + part[5] ** 2)
    return push, size


@jit
def missing_momenta(model, data, work, island):
    """work.sums (6): momenta beyond what is due. Returns the larger of both, N s and N m s; 0 where it is rounding."""
    sums = work.sums
    for a in range(6):
        sums[a] = -work.due[island, a]
    push, size = sum_momenta(model, data, work, island, sums)
    moves = sqrt(sums[0] ** 2 + sums[1] ** 2 + sums[2] ** 2)
    turns = sqrt(sums[3] ** 2 + sums[4] ** 2 + sums[5] ** 2)
    return max(moves if moves > ROUNDING * push else 0.0, turns if turns > ROUNDING * size else 0.0)


@jit
def move_island(model, data, work, island):
    """Take work.sums out of an island's momenta by one rigid motion of all of it, on the velocities of the roots."""
    contacts, J, o, s, v = work.contacts, work.island_inertia, work.island_place[island], work.sums, data.v
    first, last = contacts.island_tree_start[island], contacts.island_tree_start[island + 1]
    m, cx, cy, cz = 0.0, 0.0, 0.0, 0.0
    for n in range(first, last):
        t = contacts.island_tree[n]
        at = data.tree_origin[t]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            I = data.inertia[i]
            m, cx, cy, cz = (m + I[0], cx + I[1] + I[0] * (at[0] - o[0]), cy + I[2] + I[0] * (at[1] - o[1]),
                             cz + I[3] + I[0] * (at[2] - o[2]))
    cx, cy, cz = cx / m, cy / m, cz / m
    island_inertia(model, data, work, island, (o[0] + cx, o[1] + cy, o[2] + cz))
    lx, ly, lz = cross(cx, cy, cz, s[0], s[1], s[2])
    wx, wy, wz = momentum_spin(J, lx - s[3], ly - s[4], lz - s[5])
    for n in range(first, last):
        t = contacts.island_tree[n]
        k, at = model.link_dof[model.tree_link[t]], data.tree_origin[t]
        x, y, z = cross(wx, wy, wz, at[0] - o[0] - cx, at[1] - o[1] - cy, at[2] - o[2] - cz)
        v[k], v[k + 1], v[k + 2] = v[k] + x - s[0] / m, v[k + 1] + y - s[1] / m, v[k + 2] + z - s[2] / m
        v[k + 3], v[k + 4], v[k + 5] = v[k + 3] + wx, v[k + 4] + wy, v[k + 5] + wz


@jit
def island_inertia(model, data, work, island, center):
    """work.island_inertia: moments of an island's links about its centre of mass, in the places of `data.inertia`."""
    contacts, J = work.contacts, work.island_inertia
    for a in range(10):
        J[a] = 0.0
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        t = contacts.island_tree[n]
        at = data.tree_origin[t]
        x, y, z = at[0] - center[0], at[1] - center[1], at[2] - center[2]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            I = data.inertia[i]
            m, hx, hy, hz = I[0], I[1], I[2], I[3]
            # I + 2 (h . r) 1 - h r^T - r h^T + m (r . r 1 - r r^T): from the tree's origin to the centre
            both = 2.0 * (hx * x + hy * y + hz * z) + m * (x * x + y * y + z * z)
            J[4] += I[4] + both - 2.0 * hx * x - m * x * x
            J[5] += I[5] + both - 2.0 * hy * y - m * y * y
            J[6] += I[6] + both - 2.0 * hz * z - m * z * z
            J[7] += I[7] - hx * y - hy * x - m * x * y
            J[8] += I[8] - hx * z - hz * x - m * x * z
            J[9] += I[9] - hy * z - hz * y - m * y * z
