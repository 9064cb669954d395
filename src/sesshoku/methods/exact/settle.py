"""Depth at the end of a step: what the rest of the step carries in beyond first order is taken back in place.

The velocity of a step's end keeps gaps from closing as far as rows of the middle can tell. What turns on meanwhile ends
inside its neighbour at second order in the step: a crate that lands tilted, by 1.6 mm at 4 ms. So where contacts turn
or slide far enough, the narrow phase is asked again at the pose of the end. Bodies of islands that have gone in by more
than `slop` are displaced by as little as brings them out, measured by the mass matrix:

    d = H^-1 J_n^T p,     0 <= p  complementary to  gap + J_n d >= min(-slop, gap of the start)        (E32)

No velocity changes, but that the spin of a body turns with it. What that lifts is work of depth correction. What was in
already stays for (E29), and so does what waits for its rebound (`late_impacts`), which would gain height in every one,
and what happens in islands that touch nothing else, whose angular momentum is kept, or that have no solution.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.collision.contacts import CONTACTS, ISLANDS, OVERFLOW
from sesshoku.collision.points.bundles import load_bundle
from sesshoku.collision.points.fields import collide_field
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.collision.points.seams import leave_out_covered
from sesshoku.collision.shapes import pose_on_link
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.centroid import potential_energy
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import carried_velocities
from sesshoku.integrate.position import move, move_kinematic
from sesshoku.methods.exact.impacts.instant import MET
from sesshoku.methods.exact.momenta.free_islands import BOUND, island_of
from sesshoku.methods.exact.momenta.spin import turn
from sesshoku.methods.exact.work import TAKEN
from sesshoku.model.arrays import SHAPE_FIELD, SHAPE_PLANE
from sesshoku.solvers.problem import push_contact, read_normal
from sesshoku.spatial.algebra import turn_quaternion
from sesshoku.stages.contact_rows import velocity_change
from sesshoku.stages.report import CONSTRAINT_WORK, CORRECTION_WORK, ENERGY_CHANGE, RESIDUAL

ROUNDS = 4  # of measuring and displacing
SWEEPS, VISITS, LEAST_SWEEPS = 300, 40_000, 50  # of the solve of (E32): in large islands so many visits of contacts
CLOSE = 0.001  # of slop: how well it is solved
NEVER_ENTERS = -1
HARDLY = 1e-4  # rad: where all joints together turn by less in a step no link turns in
FACING = 0.5  # cosine between the normals of the middle and of the end, of the same contact


@jit
def settle(model, data, work, dt):
    """(E32): q at the end of the step, without what it brings in. Needs `from_middle`; middle_q: where the links are.

    Leaves everything else as it was.
    """
    if not may_enter(model, data, work, dt):
        return
    lifted = 0.0
    for n in range(ROUNDS):
        place(model, data, work, data.q)
        energy = potential_energy(model, data, data.q)
        lifted = lifted + energy if n > 0 else lifted
        deepest = measure_gaps(model, data, work, dt)
        if not deepest > work.options.slop or n == ROUNDS - 1:
            break
        lifted -= energy
        displace(model, data, work, dt)
    report = data.report
    report[CORRECTION_WORK] += lifted
    report[ENERGY_CHANGE] += lifted
    report[CONSTRAINT_WORK] += lifted
    move_kinematic(model, data, -0.5 * dt)
    place(model, data, work, work.middle_q)
    move_kinematic(model, data, 0.5 * dt)


@jit
def place(model, data, work, q):
    """Links and their shapes at q."""
    kinematics(model, data, q)
    for g in range(model.shape_count):
        if model.shape_link[g] >= 0:
            pose_on_link(model, data, work.contacts, g)


@jit
def may_enter(model, data, work, dt):
    """Mark the islands (island_enters) in which contacts may have gone in by more than slop; whether there are any."""
    contacts, slop, some = work.contacts, work.options.slop, False
    if contacts.counts[CONTACTS] == 0:
        return False
    for island in range(contacts.counts[ISLANDS]):
        work.island_enters[island] = 0 if may_displace(work, island) else NEVER_ENTERS
    speed = 0.0
    for k in range(model.dof_count):
        speed += abs(data.v[k])
    turns = dt * speed > HARDLY
    if turns:
        carried_velocities(model, data, data.v, data.force)
    closing = dt * data.report[RESIDUAL]
    for c in range(contacts.counts[CONTACTS]):
        island = island_of(model, work, c)
        if island >= 0 and work.island_enters[island] == 0:
            hit = work.met[c] != 0 or work.impact[c, TAKEN] > 0.0 or contacts.gap[c] < allowed_gap(work, dt, c)
            if hit or closing > slop or turns and closing + turned_in(model, data, work, dt, c) > slop:
                work.island_enters[island], some = 1, True
    return some


@jit
def may_displace(work, island):
    """Not free islands, whose angular momentum that would change, nor those that have no solution."""
    contacts = work.contacts
    if work.island_bound[island] != BOUND:
        return False
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        if work.tree_jammed[contacts.island_tree[n]] != 0:
            return False
    return True


@jit
def turned_in(model, data, work, dt, c):
    """How far the rest of the step may carry contact c in by turning its bodies, m. Needs carried velocities."""
    contacts, w, radius = work.contacts, data.force, inf
    x = y = z = 0.0
    for side in range(2):
        link, shape, sign = contacts.link[c, side], contacts.shape[c, side], 1.0 if side else -1.0
        if link >= 0:
            x, y, z = x + sign * w[link, 3], y + sign * w[link, 4], z + sign * w[link, 5]
        if model.shape_type[shape] != SHAPE_PLANE:
            radius = min(radius, model.shape_radius[shape])
    before = work.problem.velocity[c]
    slide = max(contacts.slip[c], sqrt(before[0] * before[0] + before[1] * before[1]))
    h = 0.5 * dt
    turn = h * sqrt(x * x + y * y + z * z)
    return turn * (turn * radius + h * slide)


@jit
def measure_gaps(model, data, work, dt):
    """end_gap of the contacts in marked islands; returns how far the worst is below what it may be, m."""
    contacts, worst, left_out = work.contacts, 0.0, work.contacts.counts[OVERFLOW]
    count, first = contacts.counts[CONTACTS], 0
    while first < count:
        a, b, last = contacts.shape[first, 0], contacts.shape[first, 1], first
        while last < count and contacts.shape[last, 0] == a and contacts.shape[last, 1] == b:
            work.end_gap[last] = inf
            last += 1
        island = island_of(model, work, first)
        if island >= 0 and work.island_enters[island] == 1:
            measure_pair(model, data, work, first, last)
            for c in range(first, last):
                if work.held[c] == 1 and contacts.material[c, 2] > 0.0:  # it waits for its rebound
                    work.end_gap[c] = inf
                worst = max(worst, allowed_gap(work, dt, c) - work.end_gap[c])
        first = last
    contacts.counts[OVERFLOW] = left_out
    return worst


@jit
def measure_pair(model, data, work, first, last):
    """end_gap of the contacts of one pair of shapes: the least gap of the points nearest to each."""
    contacts, margin = work.contacts, work.options.margin
    a, b = contacts.shape[first, 0], contacts.shape[first, 1]
    if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
        of_field = model.shape_type[a] == SHAPE_FIELD
        field, other = (a, b) if of_field else (b, a)
        for k in range(collide_field(model, contacts, field, other, margin)):
            count = load_bundle(contacts, k, 1.0 if of_field else -1.0)
            spread_gaps(model, data, work, first, last, count)
    else:
        count = collide_shapes(model, contacts, a, b, margin)
        count = leave_out_covered(model, contacts, a, b, count)
        spread_gaps(model, data, work, first, last, count)


@jit
def spread_gaps(model, data, work, first, last, count):
    """Give the gap of every point of the manifold to the contact that is nearest to it on either link."""
    contacts, n = work.contacts, work.contacts.manifold_normal
    for k in range(count):
        p, best, least = contacts.manifold_point[k], -1, inf
        for c in range(first, last):
            m = contacts.normal[c]
            if n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > FACING:
                d = min(moved2(model, data, contacts, c, 0, p), moved2(model, data, contacts, c, 1, p))
                if d < least:
                    best, least = c, d
        if best >= 0:
            work.end_gap[best] = min(work.end_gap[best], contacts.manifold_gap[k])


@jit
def moved2(model, data, contacts, c, side, p):
    """Squared distance of the world point p from where contact c was found on one of its links."""
    i, q = contacts.link[c, side], contacts.local[c, side]
    if i < 0:
        return (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2
    R, r, o = data.rotation[i], data.offset[i], data.tree_origin[model.link_tree[i]]
    d2 = 0.0
    for e in range(3):
        d2 += (o[e] + r[e] + R[e, 0] * q[0] + R[e, 1] * q[1] + R[e, 2] * q[2] - p[e]) ** 2
    return d2


@jit
def allowed_gap(work, dt, c):
    """Least gap that contact c may have at the end: -slop, or what it had when the step began, if that was less."""
    gap, rate = work.contacts.gap[c], work.problem.velocity[c, 2]
    if work.met[c] != MET:  # the gap of an impact is that of its instant
        gap -= 0.5 * dt * min(rate, 0.0)
    return min(-work.options.slop, gap)


@jit
def displace(model, data, work, dt):
    """(E32): displace what has gone in, by accelerated projected gradients over the normal rows of the middle.

    All contacts at once: their order does not show, however far it gets.
    """
    contacts, problem, y, push, ahead, chains = (work.contacts, work.problem, work.y_before, work.push, work.split,
                                                 model.row_dof)
    count, t, close = contacts.counts[CONTACTS], 1.0, CLOSE * work.options.slop
    softer = 1.0 / most_neighbours(model, work)
    for c in range(count):
        push[c] = ahead[c, 0] = 0.0
    for _ in range(max(LEAST_SWEEPS, min(SWEEPS, VISITS // max(count, 1)))):
        for k in range(model.dof_count):
            y[k] = 0.0
        for c in range(count):
            if ahead[c, 0] != 0.0:
                push_contact(chains, problem, c, 0.0, 0.0, ahead[c, 0], y)
        worst, uphill = 0.0, 0.0
        for c in range(count):
            size = problem.block[c, 2, 2]
            if work.end_gap[c] < inf and size > 0.0:
                wanting = allowed_gap(work, dt, c) - work.end_gap[c] - read_normal(chains, problem, c, y)
                fresh = max(0.0, ahead[c, 0] + softer * wanting / size)
                worst = max(worst, abs(fresh - ahead[c, 0]) * size)
                uphill += size * (ahead[c, 0] - fresh) * (fresh - push[c])
                ahead[c, 1], push[c] = fresh - push[c], fresh
        before, t = t, 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t))
        if uphill > 0.0:  # the way ahead has turned
            before, t = 1.0, 1.0
        for c in range(count):
            if work.end_gap[c] < inf:
                ahead[c, 0] = max(0.0, push[c] + (before - 1.0) / t * ahead[c, 1])
        if worst <= close:
            break
    for k in range(model.dof_count):
        y[k] = work.shift[k] = 0.0
    for c in range(count):
        if push[c] != 0.0:
            push_contact(chains, problem, c, 0.0, 0.0, push[c], y)
    velocity_change(model, data, problem, y, work.shift)
    move(model, data.q, work.shift, 1.0)
    turn_spins(model, data, work)


@jit
def turn_spins(model, data, work):
    """Spins of lone bodies along with their turns by work.shift: their energy stays what it is."""
    v, shift = data.v, work.shift
    for t in range(model.tree_count):
        k = model.link_dof[model.tree_link[t]] + 3
        if work.tree_lone[t] == 1 and (shift[k] != 0.0 or shift[k + 1] != 0.0 or shift[k + 2] != 0.0):
            E = turn_quaternion(shift[k], shift[k + 1], shift[k + 2])
            v[k], v[k + 1], v[k + 2] = turn(E, v[k], v[k + 1], v[k + 2])


@jit
def most_neighbours(model, work):
    """Most contacts that share a tree with one: no eigenvalue of their rows, scaled to ones, is larger."""
    contacts, most = work.contacts, 1
    for t in range(model.tree_count):
        work.touched[t] = 0
    for goal in range(2):
        for c in range(contacts.counts[CONTACTS]):
            if not work.end_gap[c] < inf:
                continue
            sides = 0
            for side in range(2):
                if contacts.link[c, side] >= 0:
                    t = model.link_tree[contacts.link[c, side]]
                    if goal == 0:
                        work.touched[t] += 1
                    sides += work.touched[t]
            most = max(most, sides if goal == 1 else 1)
    return float(most)
