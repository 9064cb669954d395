"""The whole stage: overlaps with materials, ids and islands; what does not fit, what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from sesshoku.collision.contacts import CONTACTS, ISLANDS, OVERFLOW, Contacts, make_contacts
from sesshoku.collision.overlap.detect import find_overlaps
from sesshoku.collision.overlap.overlaps import (
    AREA,
    DEGENERATE,
    FACES,
    SECTION,
    THICKNESS,
    UNFIT,
    Overlaps,
    make_overlaps,
)
from sesshoku.collision.overlap.polyhedra import Polyhedra, make_polyhedra
from sesshoku.collision.points.detect import new_contacts, pair_capacity, tangents
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from sesshoku.scene.scene import Scene
from shape_pairs import random_polyhedron
from support import sample_count
from trees import Posed

pytestmark = pytest.mark.boundscheck
UNIT = Inertial(1.0, matrix=np.eye(3))


def unit(quaternion: np.ndarray) -> np.ndarray:
    return quaternion / np.linalg.norm(quaternion)


class Stage:
    """A scene and its records; `find()` runs the stage at the present pose."""

    def __init__(self, scene: Scene, capacity: int | None = None, corners: int | None = None) -> None:
        self.posed = Posed(scene)
        model = self.posed.model
        self.contacts: Contacts = (new_contacts(model) if capacity is None
                                   else make_contacts(model, capacity, pair_capacity(model)))
        self.polyhedra: Polyhedra = make_polyhedra(model)
        self.overlaps: Overlaps = make_overlaps(self.contacts, self.polyhedra, corners)

    def find(self, integral: int = FACES) -> int:
        kinematics(self.posed.model, self.posed.data, self.posed.data.q)
        find_overlaps(self.posed.model, self.posed.data, self.contacts, self.polyhedra, self.overlaps, integral, 0.0)
        return int(self.contacts.counts[CONTACTS])

    def pairs(self) -> list[tuple[int, int]]:
        return [(int(a), int(b)) for a, b in self.contacts.shape[: self.contacts.counts[CONTACTS]]]


def stack(*heights: float, ground: bool = True) -> Scene:
    """Boxes of edge 1 with their middles at these heights, on the ground."""
    scene = Scene()
    if ground:
        scene.add_ground(material=Material(0.9, 0.4))
    for i, z in enumerate(heights):
        scene.add_box(f"box{i}", size=(1, 1, 1), mass=1.0, position=(0, 0, z), material=Material(0.4, 0.1))
    return scene


@pytest.mark.nojit
def test_a_stack_of_two() -> None:
    stage = Stage(stack(0.499, 1.497))
    for step in range(3):
        assert stage.find() == 2 and stage.pairs() == [(0, 1), (1, 2)]
        c, o = stage.contacts, stage.overlaps
        np.testing.assert_allclose(c.normal[:2], [(0, 0, 1), (0, 0, 1)], atol=1e-12)
        np.testing.assert_allclose(c.point[:2], [(0, 0, -0.0005), (0, 0, 0.998)], atol=1e-12)
        np.testing.assert_allclose(c.gap[:2], [-0.001, -0.002], rtol=1e-9)
        np.testing.assert_allclose(c.material[0], (0.6, 0.2, 0.0), rtol=1e-12)
        np.testing.assert_allclose(c.tangent[0], [(1, 0, 0), (0, 1, 0)], atol=1e-12)
        assert list(c.link[0]) == [-1, 0] and list(c.link[1]) == [0, 1]
        assert list(c.id[:2]) == [0, 1] and list(c.previous[:2]) == ([-1, -1] if step == 0 else [0, 1])
        assert c.counts[ISLANDS] == 1 and list(c.island_contact[:2]) == [0, 1]
        assert list(o.polygon_start[:3]) == [0, 4, 8] and (o.kind[:2] == AREA).all()
        np.testing.assert_allclose(o.volume[:2], [0.001, 0.002], rtol=1e-9)


def test_ids_follow_the_pair_of_shapes() -> None:
    scene = stack(0.499)
    for i in range(3):
        scene.add_sphere(f"ball{i}", radius=0.2, mass=1.0, position=(2.0 + i, 0, 0.19))
    stage = Stage(scene)
    assert stage.find() == 4 and list(stage.contacts.id[:4]) == [0, 1, 2, 3] and stage.contacts.counts[ISLANDS] == 4
    q = stage.posed.data.q.reshape(-1, 7)
    q[1, 2] = 3.0  # ball 0 leaves, ball 1 rolls far
    q[2, :2] = (-40.0, 7.0)
    assert stage.find() == 3 and list(stage.contacts.id[:3]) == [0, 2, 3]
    assert list(stage.contacts.previous[:3]) == [0, 2, 3]
    q[1, 2] = 0.19  # and comes back: a new one
    assert stage.find() == 4 and list(stage.contacts.id[:4]) == [0, 4, 2, 3]
    assert list(stage.contacts.previous[:4]) == [0, -1, 1, 2]


def test_a_nested_pair_is_counted_and_left_out() -> None:
    scene = Scene()
    scene.add_box("hull", size=(1, 1, 1), mass=1.0)
    scene.add_box("seed", size=(0.2, 0.2, 0.2), mass=1.0)
    stage = Stage(scene)
    assert stage.find() == 0 and stage.overlaps.counts[DEGENERATE] == 1
    stage.posed.data.q[7] = 0.45
    assert stage.find() == 1 and stage.overlaps.counts[DEGENERATE] == 0


def test_what_does_not_fit_is_counted() -> None:
    scene = Scene()
    scene.add_ground()
    for i in range(6):
        scene.add_box(f"box{i}", size=(1, 1, 1), mass=1.0, position=(2.0 * i, 0, 0.49))
    few = Stage(scene, capacity=4)
    assert few.find() == 4 and few.contacts.counts[OVERFLOW] == 2
    corners = Stage(scene, corners=9)
    assert corners.find() == 2 and corners.contacts.counts[OVERFLOW] == 4 and corners.overlaps.counts[UNFIT] == 4


def test_a_concave_mesh_overlaps_by_its_pieces() -> None:
    """An arch on two legs: one overlap per leg, one island."""
    bars = [((0.2, 1, 1), (-0.4, 0, 0)), ((0.2, 1, 1), (0.4, 0, 0)), ((1.0, 1, 0.2), (0, 0, 0.6))]
    cube = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    pieces = tuple(convex_mesh(cube * size + at) for size, at in bars)
    arch = Mesh(pieces[2].vertices, pieces[2].faces, pieces)
    scene = Scene()
    scene.add_ground()
    scene.add_body("arch", position=(0, 0, 0.499), inertial=UNIT, geometries=[Geometry(arch)])
    stage = Stage(scene)
    assert stage.find() == 2 and stage.contacts.counts[ISLANDS] == 1
    np.testing.assert_allclose(stage.overlaps.volume[:2], 0.2 * 0.001, rtol=1e-9)


def test_a_state_that_is_not_a_number_gives_no_overlaps() -> None:
    for number in range(7):
        stage = Stage(stack(0.499, 1.497))
        stage.posed.data.q[7 + number] = np.nan
        assert stage.find() >= 1 and stage.pairs()[0] == (0, 1)
        assert np.isfinite(stage.overlaps.area_moment[0]).all()


def crowd(rng: np.random.Generator, count: int, scale: float = 1.0) -> Scene:
    """Shapes of all kinds in a heap, many of them overlapping, some deep, on the ground."""
    scene = Scene()
    scene.add_ground()
    for i in range(count):
        a, b, c = scale * rng.uniform(0.2, 0.6, 3)
        rounds: list[Any] = [Box((a, b, c)), Sphere(0.5 * a), Capsule(0.3 * a, b), Cylinder(0.4 * a, b)]
        kind = int(rng.integers(5))
        shape = rounds[kind] if kind < 4 else random_polyhedron(rng, int(rng.integers(4, 30)), scale)
        scene.add_body(f"b{i}", position=scale * rng.uniform(-1, 1, 3), rotation=unit(rng.normal(size=4)),
                       inertial=UNIT, geometries=[Geometry(shape)])
    return scene


def assert_sound(stage: Stage) -> None:
    """All that was written is finite and what it claims to be."""
    c, o = stage.contacts, stage.overlaps
    n = int(c.counts[CONTACTS])
    for value in (c.point[:n], c.normal[:n], c.tangent[:n], c.gap[:n], c.local[:n], o.volume[:n], o.surface[:n],
                  o.area_vector[:n], o.depth[:n], o.polygon[: o.polygon_start[n]], o.polygon_area[:n],
                  o.polygon_radius[:n], o.area_moment[:n], o.depth_moment[:n]):
        assert np.isfinite(value).all()
    np.testing.assert_allclose(np.linalg.norm(c.normal[:n], axis=1), 1.0, atol=1e-12)
    assert (o.volume[:n] > 0.0).all() and (o.depth[:n] > 0.0).all() and (o.area_moment[:n, 0] > 0.0).all()
    corners = np.diff(o.polygon_start[: n + 1])
    assert ((corners >= 3) == (o.kind[:n] == AREA)).all()


@settings(max_examples=sample_count(10, 300))
@given(number=st.integers(0, 2**32), exponent=st.floats(-6, 3), integral=st.sampled_from([FACES, THICKNESS, SECTION]))
def test_a_crowd_of_any_size_is_sound(number: int, exponent: float, integral: int) -> None:
    stage = Stage(crowd(np.random.default_rng(number), 8, 10.0**exponent))
    stage.find(integral)
    assert stage.contacts.counts[OVERFLOW] == 0 and stage.overlaps.counts[UNFIT] == 0
    assert_sound(stage)


lattice = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
noise = st.sampled_from([0.0, 1e-17, -1e-17, 1e-16, -1e-16, 1e-13, -1e-13, 1e-9, -1e-9])
quarter = st.sampled_from([0.0, 0.5 * np.pi, np.pi, 0.25 * np.pi])


@given(at=st.tuples(lattice, lattice, lattice), off=st.tuples(noise, noise, noise), angle=quarter, tilt=noise,
       exponent=st.sampled_from([-6, 0, 3]))
def test_faces_edges_and_corners_that_just_meet(at: Any, off: Any, angle: float, tilt: float, exponent: int) -> None:
    """Two cubes, flush or touching in a face, an edge, a corner, or one in the other, off by rounding."""
    scale = 10.0**exponent
    turn = np.array([np.cos(0.5 * angle), tilt, 0.0, np.sin(0.5 * angle)])
    scene = Scene()
    scene.add_box("a", size=(scale, scale, scale), mass=1.0)
    scene.add_box("b", size=(scale, scale, scale), mass=1.0, position=scale * (np.array(at) + off), rotation=unit(turn))
    stage = Stage(scene)
    found = stage.find()
    assert_sound(stage)
    if angle < 1e-9 or abs(angle - 0.5 * np.pi) < 1e-9 or abs(angle - np.pi) < 1e-9:
        common = np.prod(1.0 - np.abs(at))  # without the rounding
        if found:
            assert abs(stage.overlaps.volume[0] / scale**3 - common) < 1e-8
        else:
            assert common == 0.0 or stage.overlaps.counts[DEGENERATE] == 1


def test_tangents_are_those_of_other_methods(rng: np.random.Generator) -> None:
    """On floors e1 is x and e2 is y, and rounding of the normal does not turn them by a right angle."""
    stage = Stage(stack(0.499))
    for turn in (0.0, 1e-17, -1e-17, 1e-9):
        stage.posed.data.q[3:7] = unit(np.array([1.0, turn, -turn, 0.3]))
        assert stage.find() == 1
        np.testing.assert_allclose(stage.contacts.tangent[0], [(1, 0, 0), (0, 1, 0)], atol=1e-8)
        np.testing.assert_allclose(stage.contacts.tangent[0].ravel(), tangents(*stage.contacts.normal[0]), atol=1e-15)


@pytest.mark.skipif(config.DISABLE_JIT, reason="counts what compiled code allocates")
def test_nothing_is_allocated(rng: np.random.Generator) -> None:
    from numba.core.runtime import _nrt_python, rtsys

    stage = Stage(crowd(rng, 20))
    posed = stage.posed
    assert stage.find() > 5

    def allocations(n: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        for k in range(n):
            find_overlaps(posed.model, posed.data, stage.contacts, stage.polyhedra, stage.overlaps, k % 3, 0.0)
        return int(rtsys.get_allocation_stats().alloc - before)

    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        assert allocations(60) == 60 * 5  # handing over five records from Python, nothing beside
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()
