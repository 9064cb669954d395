"""The whole stage: contacts with frames, materials, ids and islands."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core import config

from sesshoku.collision.contacts import CONTACTS, ISLANDS, NEXT_ID, OVERFLOW, PAIR_OVERFLOW, PAIRS, Contacts
from sesshoku.collision.materials import pair_coefficients
from sesshoku.collision.points.detect import (
    contact_capacity,
    detect,
    new_contacts,
    pair_capacity,
    tangents,
)
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene, combine_materials
from sesshoku.spatial.rotation import axis_angle
from support import sample_count
from trees import Posed, unit

pytestmark = pytest.mark.boundscheck


def ground_and(*balls: Any, boxes: Any = ()) -> Posed:
    """Ground (shape 0), balls of radius 0.5 and boxes of edge 1 at the given positions."""
    scene = Scene()
    scene.add_ground()
    for i, position in enumerate(balls):
        scene.add_sphere(f"ball{i}", radius=0.5, mass=1.0, position=position)
    for i, position in enumerate(boxes):
        scene.add_box(f"box{i}", size=(1, 1, 1), mass=1.0, position=position)
    return Posed(scene)


def found(posed: Posed, contacts: Contacts, margin: float = 0.0, most: int = 0) -> int:
    """Number of contacts at the present pose."""
    kinematics(posed.model, posed.data, posed.data.q)
    detect(posed.model, posed.data, contacts, margin, 0.0, most)
    return int(contacts.counts[CONTACTS])


@pytest.mark.nojit
def test_a_box_on_the_ground() -> None:
    posed = ground_and(boxes=[(1, 2, 0.499)])
    contacts = new_contacts(posed.model)
    for step in range(3):
        assert found(posed, contacts) == 4
        c = slice(0, 4)
        corners = {(round(x, 9), round(y, 9)) for x, y, _ in contacts.point[c]}
        assert corners == {(0.5, 1.5), (0.5, 2.5), (1.5, 1.5), (1.5, 2.5)}
        np.testing.assert_allclose(contacts.gap[c], -1e-3, atol=1e-12)
        np.testing.assert_allclose(contacts.normal[c], [[0, 0, 1]] * 4, atol=1e-12)
        np.testing.assert_allclose(contacts.tangent[c], [[[1, 0, 0], [0, 1, 0]]] * 4, atol=1e-12)
        assert contacts.shape[c].tolist() == [[0, 1]] * 4 and contacts.link[c].tolist() == [[-1, 0]] * 4
        assert contacts.id[c].tolist() == [0, 1, 2, 3]
        assert contacts.previous[c].tolist() == ([-1] * 4 if step == 0 else [0, 1, 2, 3])
    assert contacts.counts[ISLANDS] == 1 and contacts.counts[OVERFLOW] == 0 and contacts.counts[NEXT_ID] == 4


def test_ids_follow_a_box_that_slides_and_spins() -> None:
    posed = ground_and(boxes=[(0, 0, 0.499)])
    contacts = new_contacts(posed.model)
    for k in range(100):
        posed.data.q[:3] = [0.4 * k, -0.3 * k, 0.499]
        posed.data.q[3:] = axis_angle((0, 0, 1), 0.2 * k)
        assert found(posed, contacts) == 4
        assert sorted(contacts.id[:4]) == [0, 1, 2, 3]


def test_the_margin_finds_what_is_near() -> None:
    posed = ground_and((0, 0, 0.55), (0, 3, 0.55), (1.05, 3, 0.55))
    contacts = new_contacts(posed.model)
    assert found(posed, contacts) == 0
    assert found(posed, contacts, 0.06) == 4
    np.testing.assert_allclose(contacts.gap[:4], 0.05, atol=1e-12)


def test_touching_bodies_are_islands() -> None:
    posed = ground_and((0, 0, 0.499), (0.99, 0, 0.499), (5, 0, 0.499), (5, 0, 9.0), (5.9, 0, 9.0), (9, 9, 9))
    contacts = new_contacts(posed.model)
    assert found(posed, contacts) == 5
    assert contacts.tree_island.tolist() == [0, 0, 1, 2, 2, -1]


def test_frames_are_right_handed_and_jump_only_where_they_say(rng: np.random.Generator) -> None:
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        frame = np.array(tangents(*axis)).reshape(2, 3)
        assert {tuple(np.abs(row)) for row in frame} | {tuple(np.abs(axis))} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    for _ in range(sample_count(200, 10000)):
        n = unit(rng, 3)
        t, u = np.array(tangents(*n)).reshape(2, 3)
        np.testing.assert_allclose(np.array([t, u, n]) @ np.array([t, u, n]).T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(np.cross(t, u), n, atol=1e-14)
        if abs(abs(n[0]) - 0.9) > 1e-5:
            near = n + 1e-6 * unit(rng, 3)
            moved = np.array(tangents(*(near / np.linalg.norm(near)))).reshape(2, 3)
            np.testing.assert_allclose(moved, [t, u], atol=2e-5)


def test_materials_combine_unless_the_pair_is_given(rng: np.random.Generator) -> None:
    scene = Scene(material=Material(0.8, 0.6))
    materials = [None, *(Material(*sorted(rng.uniform(0, 1, 2))[::-1], restitution=rng.uniform()) for _ in range(4))]
    for i, material in enumerate(materials):
        scene.add_sphere(f"b{i}", radius=1.0, mass=1.0, material=material)
    scene.friction("b3", "b1", static=0.7, kinetic=0.1)
    scene.friction("b0", "b4", static=0.0, kinetic=0.0, restitution=0.9)
    scene.exclude_collision("b0", "b2")  # a rule, but no material of its own
    model = Posed(scene).model
    for a in range(5):
        for b in range(5):
            pair = tuple(sorted((f"b{a}", f"b{b}")))
            combined = combine_materials(materials[a] or scene.material, materials[b] or scene.material)
            want = scene.pair_friction.get(pair) or combined
            assert pair_coefficients(model, a, b) == pytest.approx(
                (want.static_friction, want.kinetic_friction, want.restitution))
    assert pair_coefficients(model, 1, 3)[:2] == (0.7, 0.1) and pair_coefficients(model, 4, 0) == (0.0, 0.0, 0.9)


def test_contacts_carry_their_materials() -> None:
    scene = Scene()
    scene.add_ground(material=Material(0.5, 0.4, 0.1))
    scene.add_sphere("a", radius=1.0, mass=1.0, position=(0, 0, 0.99), material=Material(0.5, 0.1, 0.3))
    scene.add_sphere("b", radius=1.0, mass=1.0, position=(5, 0, 0.99))
    scene.friction("b", "ground", static=0.9, kinetic=0.2, restitution=0.0)
    posed = Posed(scene)
    contacts = new_contacts(posed.model)
    assert found(posed, contacts) == 2
    np.testing.assert_allclose(contacts.material[:2], [[0.5, 0.2, 0.3], [0.9, 0.2, 0.0]])


def test_what_does_not_fit_is_counted_and_the_rest_is_sound() -> None:
    posed = ground_and(boxes=[(2 * k, 0, 0.499) for k in range(3)])
    contacts = new_contacts(posed.model, capacity=10)
    assert found(posed, contacts) == 10 and contacts.counts[OVERFLOW] == 2
    assert contacts.island_start[: contacts.counts[ISLANDS] + 1].tolist() == [0, 4, 8, 10]
    contacts = new_contacts(posed.model, pairs=2)
    assert found(posed, contacts) == 8 and contacts.counts[OVERFLOW] == contacts.counts[PAIR_OVERFLOW] == 1
    posed.data.q[2] = 9.0  # the next step has room, and says so
    assert found(posed, contacts) == 8 and contacts.counts[OVERFLOW] == 0


def test_points_can_be_reduced() -> None:
    posed = ground_and(boxes=[(0, 0, 0.499), (3, 0, 0.499)])
    contacts = new_contacts(posed.model)
    assert found(posed, contacts, most=3) == 6
    assert contacts.shape[:6, 1].tolist() == [1, 1, 1, 2, 2, 2]


def crowd(rng: np.random.Generator, count: int) -> Posed:
    return ground_and(*(rng.uniform((-2, -2, 0.3), (2, 2, 2), (count, 3))))


def shake(rng: np.random.Generator, posed: Posed) -> None:
    posed.data.q.reshape(-1, 7)[:, :3] += 0.02 * rng.normal(size=(posed.model.tree_count, 3))


def test_saved_and_restored_contacts_go_on_as_if_nothing_had_been(rng: np.random.Generator) -> None:
    posed = crowd(rng, 40)
    contacts, other = new_contacts(posed.model), new_contacts(posed.model)
    for _ in range(5):
        shake(rng, posed)
        assert found(posed, contacts) > 20
    for name in ("counts", "shape", "id", "local"):  # all that the next call depends on
        getattr(other, name)[...] = getattr(contacts, name)
    for _ in range(3):
        shake(rng, posed)
        count = found(posed, contacts)
        assert found(posed, other) == count and (contacts.previous[:count] >= 0).sum() > 10
        np.testing.assert_array_equal(contacts.counts, other.counts)
        for name, mine in contacts.saved().items():
            theirs = getattr(other, name)
            rows = count if len(mine) == contacts.capacity else len(mine)
            if name in ("island_start", "island_tree_start"):
                rows = contacts.counts[ISLANDS] + 1
            if name == "island_tree":
                rows = contacts.island_tree_start[contacts.counts[ISLANDS]]
            np.testing.assert_array_equal(mine[:rows], theirs[:rows], err_msg=name)


def test_contacts_depend_on_the_pose_alone(rng: np.random.Generator) -> None:
    """All but ids: after a history and without one; nothing is NaN."""
    posed = crowd(rng, 60)
    contacts = new_contacts(posed.model)
    for _ in range(10):
        shake(rng, posed)
        count = found(posed, contacts, 0.01)
        fresh = new_contacts(posed.model)
        assert found(posed, fresh, 0.01) == count > 0 and fresh.counts[PAIRS] == contacts.counts[PAIRS]
        for name in ("shape", "link", "point", "normal", "tangent", "gap", "kind", "material"):
            assert np.isfinite(getattr(contacts, name)[:count]).all()
            np.testing.assert_array_equal(getattr(contacts, name)[:count], getattr(fresh, name)[:count])
        order = [tuple(pair) for pair in contacts.shape[:count]]
        assert order == sorted(order)


def test_a_state_that_is_not_a_number_gives_no_contacts() -> None:
    posed = ground_and((0, 0, 0.4), (5, 0, 0.4))
    posed.data.q[:3] = np.nan
    contacts = new_contacts(posed.model)
    assert found(posed, contacts) == 1 and contacts.link[0, 1] == 1


@pytest.mark.skipif(config.DISABLE_JIT, reason="counts what compiled code allocates")
def test_nothing_is_allocated(rng: np.random.Generator) -> None:
    from numba.core.runtime import _nrt_python, rtsys

    posed = crowd(rng, 60)
    contacts = new_contacts(posed.model)
    assert found(posed, contacts) > 20

    @numba.njit
    def repeat(model: Any, data: Any, contacts: Any, n: int) -> None:
        for _ in range(n):
            detect(model, data, contacts, 0.0, 0.0, 0)

    def allocations(n: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        repeat(posed.model, posed.data, contacts, n)
        return int(rtsys.get_allocation_stats().alloc - before)

    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        allocations(1)
        assert allocations(50) == allocations(1)
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()


def test_room_grows_with_the_scene() -> None:
    one, many = ground_and((0, 0, 1)).model, ground_and(*[(k, 0, 1) for k in range(300)]).model
    assert (contact_capacity(one), pair_capacity(one)) == (128, 1)
    assert contact_capacity(many) == 24 * 300 and pair_capacity(many) == 256 + 24 * 301 + 300
    assert new_contacts(many, capacity=7, pairs=9).pair.shape == (9, 2)


def test_fast_shapes_are_found_ahead() -> None:
    """A ball that will arrive within the step is a contact; one that flies as fast past half its size is not."""
    posed = ground_and((0, 0, 0.6), (3, 0, 1.2))
    contacts = new_contacts(posed.model)
    for speed, horizon, expected in (
            (0.0, 1e-2, 0), (-11.0, 1e-2, 1), (-9.0, 1e-2, 0), (-11.0, 0.0, 0), (-1e3, 1e-2, 1)):
        posed.data.v[:] = 0.0
        posed.data.v[[2, 8]] = speed
        kinematics(posed.model, posed.data, posed.data.q)
        link_velocities(posed.model, posed.data, posed.data.v)
        detect(posed.model, posed.data, contacts, 0.0, horizon, 0)
        assert contacts.counts[CONTACTS] == expected, (speed, horizon)
    posed.data.v[:] = 0.0
    posed.data.v[3] = 30.0  # spin alone: the surface moves by 0.3 m, though a ball's would not come nearer
    link_velocities(posed.model, posed.data, posed.data.v)
    detect(posed.model, posed.data, contacts, 0.0, 1e-2, 0)
    assert contacts.counts[CONTACTS] == 1
