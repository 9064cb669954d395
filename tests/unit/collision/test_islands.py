"""Islands against a plain search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.collision.contacts import CONTACTS, ISLANDS, Contacts, make_contacts
from sesshoku.collision.islands import find_islands
from sesshoku.model.arrays import KINEMATIC, Model
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Joint
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import random_inertial

pytestmark = pytest.mark.boundscheck


def random_world(rng: np.random.Generator, trees: int, joins: int) -> Scene:
    """Trees of one to three links, some on scripted bodies, some joined by loops and mimics."""
    scene = Scene()
    roots: list[str] = []
    for t in range(trees):
        root = f"t{t}"
        scene.add_body(root, kinematic=bool(rng.uniform() < 0.2), inertial=random_inertial(rng))
        for k in range(int(rng.integers(3))):
            scene.add_body(f"{root} {k}", parent=root, joint=Joint("revolute", armature=1.0),
                           inertial=random_inertial(rng))
        roots.append(root)
    for _ in range(joins if len(scene.bodies) > 1 else 0):
        a, b = (str(name) for name in rng.choice(list(scene.bodies), 2, replace=False))
        if rng.integers(2):
            scene.add_loop("ball", a, b if rng.integers(5) else None, name=f"loop {len(scene.loops)}")
            continue
        joints = [str(body.joint.name) for body in scene.bodies.values() if body.joint.kind == "revolute"]
        free = [name for name in joints if name not in scene.mimics]
        if len(free) > 1:
            scene.add_mimic(*(str(name) for name in rng.choice(free, 2, replace=False)))
    return scene


def set_links(contacts: Contacts, links: Any) -> None:
    contacts.counts[CONTACTS] = len(links)
    contacts.link[: len(links)] = np.array(links, dtype=np.int64).reshape(-1, 2)


def plain_islands(model: Model, links: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """(trees, contacts) of each island, by walking from tree to tree."""
    def tree(i: int) -> int:
        return -1 if i < 0 or model.link_joint[i] == KINEMATIC else int(model.link_tree[i])

    touched = [[t for t in map(tree, pair) if t >= 0] for pair in links]
    joined = [[t for t in map(tree, pair) if t >= 0] for pair in model.loop_link]
    joined += [[int(model.link_tree[model.dof_link[k]]) for k in pair]
               for pair in zip(model.mimic_dof, model.mimic_source, strict=True)]
    islands, seen = [], set()
    for first in range(model.tree_count):
        if first in seen:
            continue
        members, grown = set(), {first}
        while members != grown:
            members = set(grown)
            for edge in touched + joined:
                if members & set(edge):
                    grown |= set(edge)
        seen |= members
        own = [c for c, edge in enumerate(touched) if members & set(edge)]
        if own:
            islands.append((sorted(members), own))
    return islands


@pytest.mark.nojit
def test_islands_equal_a_plain_search(rng: np.random.Generator) -> None:
    for _ in range(sample_count(20, 500)):
        model = compile_scene(random_world(rng, int(rng.integers(1, 12)), int(rng.integers(4)))).model
        contacts = make_contacts(model, 20, 1)
        movers = np.flatnonzero(model.link_joint != KINEMATIC)
        count = int(rng.integers(12)) if len(movers) else 0
        links = [[int(rng.choice(movers)), int(rng.integers(-1, model.link_count))][:: rng.choice([-1, 1])]
                 for _ in range(count)]
        set_links(contacts, links)
        for name in ("tree_island", "island_start", "island_contact", "island_tree_start", "island_tree", "iwork"):
            getattr(contacts, name)[:] = -99
        find_islands(model, contacts)
        want = plain_islands(model, np.array(links, dtype=np.int64).reshape(-1, 2))
        assert contacts.counts[ISLANDS] == len(want)
        island_of = np.full(model.tree_count, -1)
        for k, (trees, own) in enumerate(want):
            island_of[trees] = k
            span = slice(*contacts.island_tree_start[k : k + 2])
            assert contacts.island_tree[span].tolist() == trees
            assert contacts.island_contact[slice(*contacts.island_start[k : k + 2])].tolist() == own
        np.testing.assert_array_equal(contacts.tree_island, island_of)
        assert contacts.island_start[0] == contacts.island_tree_start[0] == 0


def test_the_world_and_scripted_bodies_join_nobody() -> None:
    scene = Scene()
    scene.add_box("belt", size=(1, 1, 1), kinematic=True)
    for name in "abcd":
        scene.add_box(name, size=(1, 1, 1), mass=1.0)
    model = compile_scene(scene).model
    contacts = make_contacts(model, 10, 1)
    set_links(contacts, [[-1, 1], [0, 1], [0, 2], [-1, 3], [3, 2]])
    find_islands(model, contacts)
    assert contacts.tree_island.tolist() == [-1, 0, 1, 1, -1]
    assert contacts.island_contact[:5].tolist() == [0, 1, 2, 3, 4]


def test_a_chain_of_many_bodies_is_one_island() -> None:
    scene = Scene()
    count = 300
    for i in range(count):
        scene.add_box(f"b{i}", size=(1, 1, 1), mass=1.0)
    model = compile_scene(scene).model
    contacts = make_contacts(model, count, 1)
    set_links(contacts, [[i, i + 1] for i in reversed(range(count - 1))])
    find_islands(model, contacts)
    assert contacts.counts[ISLANDS] == 1
    np.testing.assert_array_equal(contacts.island_tree[:count], np.arange(count))
    set_links(contacts, [])
    find_islands(model, contacts)
    assert contacts.counts[ISLANDS] == 0 and (contacts.tree_island == -1).all()
