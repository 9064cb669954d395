"""What carries a lone body until an impact turns it: a block that rocks stands on one corner until the other one lands.

The impact and what follows decide the velocities at the step's end, so the solve alone would leave the corner that
lifts off without load for the whole step, and the corner that lands with all of the weight. What contacts carry until
the instant s is known from the step before: the share s/dt of their impulses. It is given, as a force is; the solve
adds what they carry from then on. Not where the step before had an impact, too, nor where it would bring energy.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.free_islands import island_of
from sesshoku.methods.exact.instant import NEVER
from sesshoku.methods.exact.work import GIVEN, IMPACTS, TAKEN
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
        f, free, G, own = work.old_impulse[contacts.previous[c]], problem.free[c], problem.block[c], 0.0
        for d in range(3):
            axis = problem.axes[c, d]
            given[d] = share * (axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2])
        for d in range(3):
            energy += given[d] * free[d]
            own += given[d] * (free[d] + 0.5 * (G[d, 0] * given[0] + G[d, 1] * given[1] + G[d, 2] * given[2]))
        if own > 0.0:  # it would bring energy: no load that holds something
            for d in range(3):
                energy -= given[d] * free[d]
                given[d] = 0.0
            continue
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
def share_until_impact(model, work, dt, c):
    """The share of the step until a lone body that contact c has carried hits something; 0 where none does."""
    contacts, first = work.contacts, NEVER
    old = contacts.previous[c]
    if work.met[c] != 0 or old < 0 or work.old_parted[old] == 1:
        return 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            t = model.link_tree[link]
            if work.tree_jammed[t] == 1 or work.tree_shaken[t] == 1:
                return 0.0
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
            for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
                work.tree_shaken[contacts.island_tree[n]] = 1


@jit
def add_given(model, data, work, dt):
    """The given impulses in forces and report, after `apply_forces`."""
    contacts, problem, push = work.contacts, work.problem, work.y_before
    generalized_impulse(model, data, problem, work.given_y, push)
    for k in range(model.dof_count):
        data.held_force[k] += push[k] / dt
        data.report[CONSTRAINT_WORK] += 0.5 * push[k] * (data.v[k] + data.new_v[k])
    data.report[ENERGY_CHANGE] += work.given_energy[0]
    for c in range(contacts.counts[CONTACTS]):
        x, axes = work.given[c], problem.axes[c]
        for a in range(3):
            f = axes[0, a] * x[0] + axes[1, a] * x[1] + axes[2, a] * x[2]
            work.impulse_world[c, a] += f
            work.old_impulse[c, a] += f
            contacts.force[c, a] += f / dt
