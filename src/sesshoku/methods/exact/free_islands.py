"""Islands of lone free bodies that touch each other and nothing else: no impulse of theirs may change what their
momenta sum up to."""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.work import FREE_ISLANDS
from sesshoku.solvers.problem import CHAIN


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
    """island_bound: 1 where an island touches more than lone bodies. Needs `contact_rows`."""
    contacts, problem = work.contacts, work.problem
    count = contacts.counts[ISLANDS]
    for island in range(count):
        work.island_bound[island] = 0
    work.impacts[FREE_ISLANDS] = count
    for c in range(contacts.counts[CONTACTS]):
        island = island_of(model, work, c)
        if island < 0 or work.island_bound[island] == 1:
            continue
        bound = problem.body[c, 0] < 0 or problem.body[c, 1] < 0
        if bound or not (comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1)):
            work.island_bound[island] = 1
            work.impacts[FREE_ISLANDS] -= 1


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
    return island >= 0 and work.island_bound[island] == 0


@jit
def tree_is_free(work, t):
    """Whether tree t is in a free island."""
    island = work.contacts.tree_island[t]
    return island >= 0 and work.island_bound[island] == 0
