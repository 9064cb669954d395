"""Islands that touch nothing but themselves: no impulse of theirs may change what their momenta sum up to.

Free ones hold lone bodies alone, floating ones also mechanisms, all of them on free joints.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.work import FLOATING_ISLANDS, FREE_ISLANDS
from sesshoku.solvers.problem import CHAIN, NOTHING

FREE, BOUND, FLOATING = range(3)  # `island_bound`
WORLD, NOBODY, SEVERAL = -1, -2, -3  # `tree_partner`, `tree_hit_by`; or a tree


@jit
def comes_alone(model, data, work, c, side):
    """Whether a side of contact c is a lone free body without dampers, or nothing moves it."""
    k = work.problem.body[c, side]
    if k == CHAIN:
        return False
    return k < 0 or work.tree_lone[model.link_tree[work.contacts.link[c, side]]] == 1 and (
        data.implicit_diagonal[k + 3] <= 0.0)


@jit
def find_free_islands(model, data, work):
    """island_bound: FREE, BOUND where an island touches the world or hangs on it, or FLOATING. Needs `contact_rows`."""
    contacts, problem = work.contacts, work.problem
    count = contacts.counts[ISLANDS]
    for island in range(count):
        work.island_bound[island] = FREE
    for c in range(contacts.counts[CONTACTS]):
        island = island_of(model, work, c)
        if island < 0 or work.island_bound[island] == BOUND:
            continue
        if problem.body[c, 0] == NOTHING or problem.body[c, 1] == NOTHING:
            work.island_bound[island] = BOUND
        elif not (comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1)):
            work.island_bound[island] = FLOATING
    free = floating = 0
    for island in range(count):
        if work.island_bound[island] == FLOATING and not floats(model, data, work, island):
            work.island_bound[island] = BOUND
        free += work.island_bound[island] == FREE
        floating += work.island_bound[island] == FLOATING
    work.impacts[FREE_ISLANDS], work.impacts[FLOATING_ISLANDS] = free, floating


@jit
def floats(model, data, work, island):
    """Whether nothing holds the trees of an island: they hang on free joints, without armature or dampers."""
    contacts = work.contacts
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        t = contacts.island_tree[n]
        k = model.link_dof[model.tree_link[t]]
        if work.tree_floats[t] == 0 or data.implicit_diagonal[k] > 0.0 or data.implicit_diagonal[k + 3] > 0.0:
            return False
    return True


@jit
def island_of(model, work, c):
    """The island of contact c, -1: none."""
    contacts, island = work.contacts, -1
    for side in range(2):
        if contacts.link[c, side] >= 0:
            island = max(island, contacts.tree_island[model.link_tree[contacts.link[c, side]]])
    return island


@jit
def contact_is_free(model, work, c):
    """Whether contact c is one of a free island."""
    island = island_of(model, work, c)
    return island >= 0 and work.island_bound[island] == FREE


@jit
def tree_is_free(work, t):
    """Whether tree t is in a free island."""
    island = work.contacts.tree_island[t]
    return island >= 0 and work.island_bound[island] == FREE


@jit
def tree_of(model, link):
    """The tree of a link, WORLD if it is none."""
    return model.link_tree[link] if link >= 0 else WORLD
