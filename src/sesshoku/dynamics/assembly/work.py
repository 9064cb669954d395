"""What an assembly works on: its joints, its parts, and the pool their blocks live in; and orders of assembly.

A **part** is a set of links joined so far. Its **handles** are those of its links on which a joint not yet assembled
(or somebody outside: `keep`) will act. A part of H handles occupies H x H blocks of 6x6 numbers (Phi, how a wrench at
one handle accelerates another) and H vectors (b, the acceleration of a handle without such wrenches) in the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sesshoku.compiled.table import Record, array, scalar
from sesshoku.errors import SceneError
from sesshoku.model.arrays import FREE, KINEMATIC, Model

TREE_JOINT, LOOP_JOINT, CONTACT_JOINT = range(3)
JOINTS, OVERFLOW, CONTACT_JOINTS, MOST_HANDLES, ROUGH = range(5)  # places in `counts`; ROUGH: few digits are right
Order = Literal["leaves", "root", "balanced"]


class Assembly(Record):
    """L links, V dofs, J joints, C contact joints, H handles, P numbers in the pool.

    Spatial vectors (linear, angular), world axes, at `origin`.
    """

    contact_capacity = scalar()
    counts = array(int, 5)
    origin = array(float, 3)  # world
    # ---- joints: of the tree, loops, contacts
    kind = array(int, "J")
    index = array(int, "J")  # link, loop or contact joint
    link = array(int, "J", 2)  # parent and child link, -1: world
    order = array(int, "J")  # joints in the order they are assembled
    contact_link = array(int, "C", 2)  # parent, child
    contact_matrix = array(float, "C", 6, 6)  # G: wrench on the child = contact_force - G (a_child - a_parent)
    contact_force = array(float, "C", 6)
    # ---- what a joint does
    W = array(float, "J", 6, 6)
    drive_axis = array(float, "V", 6)  # h of a tree joint per unit force
    drive = array(float, "J", 6)  # h
    rate = array(float, "J", 6)  # c_J: relative acceleration the joint adds
    bias = array(float, "J", 6)  # beta
    force = array(float, "J", 6)  # wrench on the child
    found = array(float, "J", 6)  # the same, before the rest is solved for
    rest = array(float, "V")  # joint force that accelerations leave over
    change = array(float, "V")  # of the accelerations
    # ---- parts
    keep = array(int, "L")  # 1: stays a handle to the end
    pending = array(int, "L")  # joints that will still act on the link
    leader = array(int, "L")  # union-find
    part = array(int, "L")  # the part that a leader's links form
    part_handle = array(int, "L + J", 2)  # first and count in `handles`
    part_block = array(int, "L + J")  # where its blocks stand in the pool; its vectors follow
    joint_part = array(int, "J", 2)  # parts the joint joined, -1: the world
    joint_block = array(int, "J")  # where the joint's rows R stand in the pool, one block per handle of the new part
    handles = array(int, "H")  # links
    pool = array(float, "P")
    # ---- links
    axis = array(float, "V", 6)
    velocity = array(float, "L", 6)
    wrench = array(float, "L", 6)  # sum of the joints' wrenches
    acceleration = array(float, "L", 6)
    work = array(float, 6, 6, 6)
    spare = array(float, 6, 6)


def tree_joints(model: Model) -> np.ndarray:
    """Links whose joint is assembled: all but free and scripted roots, which hang on nothing."""
    return np.flatnonzero((model.link_joint != FREE) & (model.link_joint != KINEMATIC))


def joint_links(model: Model, contact_links: Sequence[tuple[int, int]] = ()) -> tuple[np.ndarray, ...]:
    """Kind (J), index (J) and links (J, 2) of all joints: the tree's, loops, contacts."""
    tree = tree_joints(model)
    loops, contacts = np.arange(model.loop_count), np.arange(len(contact_links))
    kind = np.concatenate([np.full(len(tree), TREE_JOINT), np.full(len(loops), LOOP_JOINT),
                           np.full(len(contacts), CONTACT_JOINT)]).astype(np.int64)
    pairs = [np.stack([model.link_parent[tree], tree], axis=1).reshape(-1, 2), model.loop_link.reshape(-1, 2),
             np.array(contact_links, dtype=np.int64).reshape(-1, 2)]
    return kind, np.concatenate([tree, loops, contacts]).astype(np.int64), np.concatenate(pairs).astype(np.int64)


def make_order(model: Model, order: Order | Sequence[int], joints: int) -> np.ndarray:
    """Numbers of the joints in the order of assembly.

    leaves: from the leaves to the root, the articulated-body algorithm's; root: from the root to the leaves; balanced:
    halves of each tree first, then the joint between them, so that the joints of one depth (`depth`) could be assembled
    side by side. Loops and contacts come last. Or any permutation of the joints.
    """
    count = len(tree_joints(model))
    if isinstance(order, str):
        chosen = {"leaves": range(count - 1, -1, -1), "root": range(count)}
        if order not in (*chosen, "balanced"):
            raise SceneError("no such order of assembly", element="assembly", value=order,
                             remedy="leaves, root, balanced, or a permutation of the joints")
        first = list(chosen[order]) if order in chosen else balanced_order(model)
        return np.array([*first, *range(count, joints)], dtype=np.int64)
    given = np.array(order, dtype=np.int64)
    if sorted(given.tolist()) != list(range(joints)):
        raise SceneError("an order of assembly must name every joint once", element="assembly", value=len(given),
                         remedy=f"give a permutation of 0 .. {joints - 1}")
    return given


def balanced_order(model: Model) -> list[int]:
    """Tree joints in balanced order: cut each tree at the joint that halves it best, its halves likewise."""
    joint_of = {int(link): n for n, link in enumerate(tree_joints(model))}
    result: list[int] = []
    stack = [(sorted(range(int(first), int(last))), False) for first, last in
             zip(model.tree_link[:-1], model.tree_link[1:], strict=True)]
    emitted: list[tuple[list[int], bool]] = stack
    while emitted:
        links, is_joint = emitted.pop()
        if is_joint:
            result.append(joint_of[links[0]])
            continue
        inside = set(links)
        size = dict.fromkeys(links, 1)
        for link in reversed(links):  # parents have smaller numbers
            above = int(model.link_parent[link])
            if above in inside:
                size[above] += size[link]
        cuts = [link for link in links if int(model.link_parent[link]) in inside]
        if not cuts:
            # one link, or roots side by side: joints to what is outside are not this part's
            result += [joint_of[link] for link in links if link in joint_of and int(model.link_parent[link]) < 0]
            continue
        cut = min(cuts, key=lambda link: (abs(2 * size[link] - len(links)), link))
        below = {cut}
        for link in links:
            if int(model.link_parent[link]) in below:
                below.add(link)
        emitted.append(([cut], True))
        emitted.append(([link for link in links if link not in below], False))
        emitted.append(([link for link in links if link in below], False))
    return result


def symbolic(links: np.ndarray, order: np.ndarray, link_count: int, keep: Sequence[int]) -> dict[str, int]:
    """What an order needs and how deep it is: numbers in the pool, entries of handles, most handles, depth."""
    pending, kept = np.zeros(link_count, dtype=np.int64), set(keep)
    for pair in links:
        for link in pair:
            if link >= 0:
                pending[link] += 1
    part: dict[int, int] = {n: n for n in range(link_count)}
    handles: dict[int, list[int]] = {n: [n] for n in range(link_count)}
    depth: dict[int, int] = dict.fromkeys(range(link_count), 0)
    pool, listed, most, deepest = 42 * link_count, link_count, 1, 0

    def find(n: int) -> int:
        while part[n] != n:
            part[n] = part[part[n]]
            n = part[n]
        return n

    for j in order:
        ends = [int(link) for link in links[j] if link >= 0]
        roots = sorted({find(link) for link in ends})
        for link in ends:
            pending[link] -= 1
        merged = [h for root in roots for h in handles[root] if pending[h] > 0 or h in kept]
        level = 1 + max((depth[root] for root in roots), default=0)
        for root in roots[1:]:
            part[root] = roots[0]
        if roots:
            handles[roots[0]], depth[roots[0]] = merged, level
        n = len(merged)
        pool, listed = pool + 36 * n * n + 42 * n, listed + n
        most, deepest = max(most, n), max(deepest, level)
    return {"pool": pool, "handles": listed, "most": most, "depth": deepest}


def make_assembly(model: Model, order: Order | Sequence[int] = "leaves", keep: Sequence[int] = (),
                  contact_links: Sequence[tuple[int, int]] = (), spare_contacts: int = 0,
                  spare_pool: int = 0) -> Assembly:
    """Room for assembling a model in a given order.

    keep: links that stay handles. contact_links: parent and child of contact joints known beforehand; spare_contacts,
    spare_pool: room for such joints named later, step by step (`assemble.start`).
    """
    kind, index, links = joint_links(model, contact_links)
    sequence = make_order(model, order, len(kind))
    needs = symbolic(links, sequence, model.link_count, keep)
    L, V, J, C = model.link_count, model.dof_count, len(kind) + spare_contacts, len(contact_links) + spare_contacts

    def longer(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.zeros((spare_contacts, *values.shape[1:]), dtype=np.int64)])

    links_given = np.concatenate([np.array(contact_links, dtype=np.int64).reshape(-1, 2),
                                  np.full((spare_contacts, 2), -1, dtype=np.int64)])
    sizes = {"L": L, "V": V, "J": J, "C": C, "H": needs["handles"] + spare_pool // 16, "P": needs["pool"] + spare_pool}
    assembly = Assembly.sized(sizes, contact_capacity=C, kind=longer(kind), index=longer(index), link=longer(links),
                              order=longer(sequence), contact_link=links_given)
    assembly.keep[list(keep)] = 1
    assembly.counts[JOINTS], assembly.counts[CONTACT_JOINTS] = len(kind), len(contact_links)
    return assembly
