"""What carries a lone body until an impact turns it: a block that rocks stands on one corner until the other one lands.

The impact and what follows decide the velocities at the step's end, so the solve alone would leave the corner that
lifts off without load for the whole step, and the corner that lands with all of the weight. What contacts carry until
the instant s is known from the step before: the share s/dt of their impulses. It is given, as a force is; the solve
adds what they carry from then on. The instant itself is that of the motion which they carry (`instant`): in free fall
the points of a face that slaps down would each have their own. Not where the step before had an impact, too, nor where
it would bring energy.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.momenta.free_islands import island_of, tree_of
from sesshoku.methods.exact.work import GIVEN, IMPACTS, NEVER, TAKEN
from sesshoku.solvers.problem import push_contact, read_contact
from sesshoku.stages.contact_rows import generalized_impulse, velocity_change
from sesshoku.stages.report import CONSTRAINT_WORK, ENERGY_CHANGE


@jit
def carry_until_impacts(model, data, work, dt):
    """Given impulses of contacts, and with them new_v and the free velocities. Needs `meet_impacts`."""
    contacts, problem, y = work.contacts, work.problem, work.given_y
    count, energy = contacts.counts[CONTACTS], 0.0
    work.impacts[GIVEN] = 0
    if work.impacts[IMPACTS] == 0:
        return
    for k in range(model.dof_count):
        y[k] = 0.0
    for c in range(count):
        given, share = work.given[c], share_until_impact(model, work, dt, c)
        given[0] = given[1] = given[2] = 0.0
        if share <= 0.0:
            continue
        x, z, n = old_load(work, c)
        if x == 0.0 and z == 0.0 and n == 0.0:
            continue
        given[0], given[1], given[2] = share * x, share * z, share * n
        for d in range(3):
            energy += given[d] * problem.free[c, d]
        work.instant[c] = share * dt
        work.impacts[GIVEN] += 1
        push_contact(model.row_dof, problem, c, given[0], given[1], given[2], y)
    if work.impacts[GIVEN] == 0:
        return
    velocity_change(model, data, problem, y, work.y_before)
    for k in range(model.dof_count):
        data.new_v[k] += work.y_before[k]
        energy += 0.5 * y[k] * y[k]
    for c in range(count):
        x, z, n = read_contact(model.row_dof, problem, c, y)
        for d, change in enumerate((x, z, n)):
            problem.free[c, d] += change
            work.unaided[c, d] += change
    work.given_energy[0] = energy


@jit
def expect_support(model, data, work):
    """work.support (V): what the contacts that carry on change velocities by in a step; given_y: its y. True if any.

    Needs `contact_rows`.
    """
    contacts, problem, y, some = work.contacts, work.problem, work.given_y, False
    for k in range(model.dof_count):
        y[k] = work.support[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        if carries_on(model, work, c):
            x, z, n = old_load(work, c)
            push_contact(model.row_dof, problem, c, x, z, n, y)
            some = True
    if some:
        velocity_change(model, data, problem, y, work.support)
    return some


@jit
def carries_on(model, work, c):
    """Whether contact c, no impact, carried load in the step before, without impacts among what it holds.

    It comes no faster than a step's forces make it: a rim that rolls on has its load somewhere else in every step.
    """
    contacts, before = work.contacts, work.problem.velocity[c, 2]
    old = contacts.previous[c]
    if work.met[c] != 0 or old < 0 or work.old_parted[old] == 1 or before < -abs(work.problem.free[c, 2] - before):
        return False
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            t = model.link_tree[link]
            if work.tree_jammed[t] == 1 or work.tree_shaken[t] == 1:
                return False
    return True


@jit
def old_load(work, c):
    """Impulse of contact c in the step before along its axes; zero where it would bring energy, and hold nothing."""
    problem = work.problem
    f, free, G, axes = work.old_impulse[work.contacts.previous[c]], problem.free[c], problem.block[c], problem.axes[c]
    x = axes[0, 0] * f[0] + axes[0, 1] * f[1] + axes[0, 2] * f[2]
    y = axes[1, 0] * f[0] + axes[1, 1] * f[1] + axes[1, 2] * f[2]
    z = axes[2, 0] * f[0] + axes[2, 1] * f[1] + axes[2, 2] * f[2]
    brought = (x * (free[0] + 0.5 * (G[0, 0] * x + G[0, 1] * y + G[0, 2] * z))
               + y * (free[1] + 0.5 * (G[1, 0] * x + G[1, 1] * y + G[1, 2] * z))
               + z * (free[2] + 0.5 * (G[2, 0] * x + G[2, 1] * y + G[2, 2] * z)))
    return (0.0, 0.0, 0.0) if brought > 0.0 else (x, y, z)


@jit
def share_until_impact(model, work, dt, c):
    """The share of the step until a lone body that contact c has carried hits what carries it; 0 where none does.

    Not where it is something else: the contact then passes the impact on, and its impulse is mostly that.
    """
    contacts, first = work.contacts, NEVER
    if not carries_on(model, work, c):
        return 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            t = model.link_tree[link]
            if work.tree_hit_by[t] == tree_of(model, contacts.link[c, 1 - side]):
                first = min(first, work.tree_instant[t])
    return first / dt if first < NEVER else 0.0


@jit
def note_shaken(model, work):
    """For the next step: which trees are in islands with an impact, whose impulses say nothing of what they carry."""
    contacts = work.contacts
    for t in range(model.tree_count):
        work.tree_shaken[t] = 0
    for c in range(contacts.counts[CONTACTS] if work.impacts[IMPACTS] > 0 else 0):
        if work.impact[c, TAKEN] > 0.0 and work.problem.impulse[c, 2] > 0.0:
            island = island_of(model, work, c)
            first, last = contacts.island_tree_start[island], contacts.island_tree_start[island + 1]
            if work.tree_shaken[contacts.island_tree[first]] == 0:
                for n in range(first, last):
                    work.tree_shaken[contacts.island_tree[n]] = 1


@jit
def add_given(model, data, work, dt):
    """The given impulses in forces and report, after `apply_forces`."""
    contacts, problem, push = work.contacts, work.problem, work.y_before
    generalized_impulse(model, data, problem, work.given_y, push)
    for k in range(model.dof_count):
        data.constraint_force[k] += push[k] / dt
        data.report[CONSTRAINT_WORK] += 0.5 * push[k] * (data.v[k] + data.new_v[k])
    data.report[ENERGY_CHANGE] += work.given_energy[0]
    for c in range(contacts.counts[CONTACTS]):
        x, axes = work.given[c], problem.axes[c]
        for a in range(3):
            f = axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]
            work.impulse_world[c, a] += f
            work.old_impulse[c, a] += f
            contacts.force[c, a] += f / dt
