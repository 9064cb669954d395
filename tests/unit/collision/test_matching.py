"""Ids that persist from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.collision.contacts import CONTACTS, NEXT_ID, Contacts, make_contacts
from sesshoku.collision.matching import MATCH_SHARE, STILL_SHARE, keep_contacts, match_contacts, match_distance
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix
from support import sample_count
from trees import Posed, unit

pytestmark = pytest.mark.boundscheck
CORNERS = 0.5 * np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)])


def boxes(count: int = 1, slab: bool = False) -> Posed:
    """Ground (shape 0) and boxes of edge 1 (shapes 1 ...); the ground may be a free slab instead."""
    scene = Scene()
    if slab:
        scene.add_box("slab", size=(20, 20, 1), mass=1.0, position=(0, 0, -0.5))
    else:
        scene.add_ground()
    for i in range(count):
        scene.add_box(f"b{i}", size=(1, 1, 1), mass=1.0, position=(3.0 * i, 0, 0.5))
    return Posed(scene)


def step(posed: Posed, contacts: Contacts, points: dict[tuple[int, int], Any]) -> dict[tuple[int, int], list[int]]:
    """One detection that finds the given world points; returns the ids by pair of shapes."""
    keep_contacts(contacts)
    c, spans = 0, {}
    for pair in sorted(points):
        for point in points[pair]:
            contacts.shape[c] = pair
            contacts.link[c] = posed.model.shape_link[list(pair)]
            contacts.point[c] = point
            c += 1
        spans[pair] = slice(c - len(points[pair]), c)
    contacts.counts[CONTACTS] = c
    contacts.local[:c] = contacts.previous[:c] = contacts.id[:c] = contacts.iwork[:100] = -99
    match_contacts(posed.model, posed.data, contacts)
    return {pair: contacts.id[span].tolist() for pair, span in spans.items()}


def place(posed: Posed, body: int, position: Any, rotation: Any) -> np.ndarray:
    """Move a free body; returns the world corners of its lower face."""
    posed.data.q.reshape(-1, 7)[body] = [*position, *rotation]
    kinematics(posed.model, posed.data, posed.data.q)
    return np.array(position) + CORNERS @ quaternion_to_matrix(np.array(rotation)).T


@pytest.mark.nojit
def test_ids_stay_on_a_box_that_slides_and_turns_whatever_the_order(rng: np.random.Generator) -> None:
    for slab in (False, True):
        posed = boxes(slab=slab)
        contacts, body = make_contacts(posed.model, 10, 1), int(slab)
        turn, position = np.array([1.0, 0, 0, 0]), np.array([0, 0, 0.5])
        first = step(posed, contacts, {(0, 1): place(posed, body, position, turn)})[0, 1]
        assert sorted(first) == [0, 1, 2, 3] and (contacts.previous[:4] == -1).all()
        for _ in range(30):
            position = position + [*(2.0 * rng.normal(size=2)), 0]  # farther than any allowance, but not on the box
            turn = multiply(axis_angle((0, 0, 1), rng.uniform(-3, 3)), turn)
            corners, order = place(posed, body, position, turn), rng.permutation(4)
            before = contacts.id[:4].copy()
            ids = step(posed, contacts, {(0, 1): corners[order]})[0, 1]
            assert ids == [first[k] for k in order]
            assert before[contacts.previous[:4]].tolist() == ids


def test_a_contact_that_comes_is_new_and_one_that_goes_is_forgotten() -> None:
    posed = boxes()
    contacts = make_contacts(posed.model, 10, 1)
    corners = place(posed, 0, (0, 0, 0.5), (1, 0, 0, 0))
    assert step(posed, contacts, {(0, 1): corners[:2]})[0, 1] == [0, 1]
    assert step(posed, contacts, {(0, 1): corners})[0, 1] == [0, 1, 2, 3]
    assert step(posed, contacts, {(0, 1): corners[[3, 1]]})[0, 1] == [3, 1]
    assert step(posed, contacts, {})  == {}
    assert step(posed, contacts, {(0, 1): corners})[0, 1] == [4, 5, 6, 7]
    assert contacts.counts[NEXT_ID] == 8


def test_the_pair_of_shapes_must_be_the_same() -> None:
    posed = boxes(3)
    contacts = make_contacts(posed.model, 20, 1)
    point = [[0.0, 0, 0]]
    assert step(posed, contacts, {(0, 1): point, (0, 3): point}) == {(0, 1): [0], (0, 3): [1]}
    want = {(0, 1): [0], (0, 2): [2], (0, 3): [1], (1, 2): [3], (2, 3): [4]}
    assert step(posed, contacts, dict.fromkeys(want, point)) == want
    assert step(posed, contacts, {(1, 2): point, (2, 3): point}) == {(1, 2): [3], (2, 3): [4]}
    assert step(posed, contacts, {(0, 2): point, (1, 2): point}) == {(0, 2): [5], (1, 2): [3]}


def test_beyond_the_allowed_distance_it_is_another_contact() -> None:
    posed = boxes()
    most = match_distance(posed.model, 0, 1)
    assert most == pytest.approx(MATCH_SHARE * np.sqrt(0.75))  # of the box, not of the boundless ground
    contacts = make_contacts(posed.model, 10, 1)
    assert step(posed, contacts, {(0, 1): [[0.0, 0, 0]]})[0, 1] == [0]
    assert step(posed, contacts, {(0, 1): [[0.99 * most, 0, 0]]})[0, 1] == [0]
    assert step(posed, contacts, {(0, 1): [[2.01 * most, 0, 0]]})[0, 1] == [1]


def greedy(new: np.ndarray, old: np.ndarray, most: float) -> list[int]:
    """The closest couple of all, again and again."""
    distance = np.linalg.norm(new[:, None] - old[None], axis=2)
    distance[distance >= most] = np.inf
    previous = [-1] * len(new)
    while distance.size and np.isfinite(distance.min()):
        c, o = np.unravel_index(distance.argmin(), distance.shape)
        previous[c] = int(o)
        distance[c], distance[:, o] = np.inf, np.inf
    return previous


def test_closest_couples_first_and_each_used_once(rng: np.random.Generator) -> None:
    posed = boxes()
    most = match_distance(posed.model, 0, 1)
    for _ in range(sample_count(100, 5000)):
        contacts = make_contacts(posed.model, 64, 1)
        old = rng.uniform(-0.5, 0.5, (int(rng.integers(1, 30)), 3))
        new = rng.uniform(-0.5, 0.5, (int(rng.integers(1, 30)), 3))
        step(posed, contacts, {(0, 1): old})
        ids = step(posed, contacts, {(0, 1): new})[0, 1]
        previous = contacts.previous[: len(new)].tolist()
        want = greedy(new, old, most)
        if min(np.linalg.norm(new[:, None] - old[None], axis=2).diagonal(), default=1.0) > STILL_SHARE * most:
            assert previous == want
        kept = [p for p in previous if p >= 0]
        assert len(set(kept)) == len(kept) and len(set(ids)) == len(ids)


def test_equal_distances_and_equal_points_are_settled_the_same_way_always(rng: np.random.Generator) -> None:
    """Points on a lattice and points that coincide: still a couple for each, and the same for the same input."""
    posed = boxes()
    for _ in range(sample_count(50, 1000)):
        old, new = (0.1 * rng.integers(0, 3, (int(rng.integers(1, 20)), 3)) for _ in range(2))
        seen = []
        for _ in range(2):
            contacts = make_contacts(posed.model, 64, 1)
            step(posed, contacts, {(0, 1): old})
            step(posed, contacts, {(0, 1): new})
            seen.append(contacts.previous[: len(new)].tolist())
        assert seen[0] == seen[1]
        kept = [p for p in seen[0] if p >= 0]
        assert len(set(kept)) == len(kept)
        left_new = [c for c, p in enumerate(seen[0]) if p < 0]
        left_old = sorted(set(range(len(old))) - set(kept))
        if left_new and left_old:  # nothing near enough was left over on both sides
            apart = np.linalg.norm(new[left_new][:, None] - old[left_old][None], axis=2)
            assert apart.min() >= match_distance(posed.model, 0, 1)


def test_points_are_kept_in_the_frames_of_both_links(rng: np.random.Generator) -> None:
    posed = boxes(2)
    contacts = make_contacts(posed.model, 10, 1)
    for body in range(2):
        place(posed, body, rng.normal(size=3), unit(rng, 4))
    point = rng.normal(size=3)
    step(posed, contacts, {(0, 1): [point], (1, 2): [point]})
    np.testing.assert_allclose(contacts.local[0, 0], point)
    for c, side, body in ((0, 1, 0), (1, 0, 0), (1, 1, 1)):
        pose = posed.data.q.reshape(-1, 7)[body]
        want = quaternion_to_matrix(pose[3:]).T @ (point - pose[:3])
        np.testing.assert_allclose(contacts.local[c, side], want, atol=1e-12)
