"""Islands: groups of trees that touch, or that loops and mimics join; each can be solved apart from the others.

The world and scripted links join nobody: a contact with them belongs to the island of the tree on its other side.
Islands are numbered by their first tree; a tree that no contact reaches is in none.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import find
from sesshoku.model.arrays import KINEMATIC


@jit
def find_islands(model, contacts):
    """Writes tree_island, island_start, island_contact, island_tree_start, island_tree and counts[ISLANDS]."""
    count, trees = contacts.counts[CONTACTS], model.tree_count
    leader, island = contacts.iwork, contacts.tree_island
    for t in range(trees):
        leader[t] = model.tree_joined[t]
        island[t] = -1
    for c in range(count):
        a, b = contact_trees(model, contacts, c)
        if a >= 0 and b >= 0:
            join(leader, a, b)
    for c in range(count):  # mark the leaders that have contacts
        a, b = contact_trees(model, contacts, c)
        t = a if a >= 0 else b
        if t >= 0:
            island[find(leader, t)] = 0
    contacts.counts[ISLANDS] = number_islands(leader, island, trees)
    list_trees(contacts, trees)
    list_contacts(model, contacts, count)


@jit
def contact_trees(model, contacts, c):
    """Trees that contact c moves, -1 for the world and for scripted links."""
    a, b = contacts.link[c, 0], contacts.link[c, 1]
    tree_a = -1 if a < 0 or model.link_joint[a] == KINEMATIC else model.link_tree[a]
    tree_b = -1 if b < 0 or model.link_joint[b] == KINEMATIC else model.link_tree[b]
    return tree_a, tree_b


@jit
def join(leader, a, b):
    a, b = find(leader, a), find(leader, b)
    if a < b:
        leader[b] = a
    else:
        leader[a] = b


@jit
def number_islands(leader, island, trees):
    """Give every tree the number of its island. A leader is the first tree of its set, so one pass does."""
    islands = 0
    for t in range(trees):
        first = find(leader, t)
        if first != t:
            island[t] = island[first]
        elif island[t] == 0:
            island[t] = islands
            islands += 1
    return islands


@jit
def list_trees(contacts, trees):
    """Trees island by island: counting sort."""
    start, island, islands = contacts.island_tree_start, contacts.tree_island, contacts.counts[ISLANDS]
    for k in range(islands + 1):
        start[k] = 0
    for t in range(trees):
        if island[t] >= 0:
            start[island[t]] += 1
    ends_from_counts(start, islands)
    for t in range(trees - 1, -1, -1):  # from behind, so that they ascend within an island
        if island[t] >= 0:
            start[island[t]] -= 1
            contacts.island_tree[start[island[t]]] = t


@jit
def list_contacts(model, contacts, count):
    """Contacts island by island: counting sort."""
    start, island, islands = contacts.island_start, contacts.tree_island, contacts.counts[ISLANDS]
    for k in range(islands + 1):
        start[k] = 0
    for c in range(count):
        a, b = contact_trees(model, contacts, c)
        t = a if a >= 0 else b
        if t >= 0:
            start[island[t]] += 1
    ends_from_counts(start, islands)
    for c in range(count - 1, -1, -1):
        a, b = contact_trees(model, contacts, c)
        t = a if a >= 0 else b
        if t >= 0:
            start[island[t]] -= 1
            contacts.island_contact[start[island[t]]] = c


@jit
def ends_from_counts(start, n):
    """Turn n counts into the ends of their ranges, the total last; filling from behind makes them beginnings."""
    total = 0
    for k in range(n):
        total += start[k]
        start[k] = total
    start[n] = total
