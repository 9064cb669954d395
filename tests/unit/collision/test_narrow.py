"""What every pair of shapes must give: valid normals and gaps, points on both surfaces, the same in either order."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core import config
from numba.core.runtime import _nrt_python, rtsys

from sesshoku.collision.contacts import SMOOTH
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from shape_pairs import KINDS, Manifold, Shapes, random_polyhedron, random_rotation, random_shape, turn
from support import sample_count

pytestmark = pytest.mark.boundscheck
PAIRS = [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if pair != ("plane", "plane")]
EXACT, CYLINDER = 1e-9, 2e-7  # of the size: how near the least gap is to the signed distance along the normal
AWKWARD = (0, 0.25, 0.5, 0.75, 1.0, 1 + 1e-9, 1 - 1e-9, 1 + 1e-13, 0.99)  # distances, in sizes
DRUM = 1e-4  # of the size: how near points on a cylinder are to its surface (its normals are found to some 1e-5)
CURVED = {"cylinder", "ellipsoid"}  # so are those of an ellipsoid deeper than its core


def check(pair: Shapes, found: Manifold, margin: float, exact: float, on_surface: float = 1e-6) -> None:
    """Finite, unit normal, gaps that belong to the normal, points on (or in) both shapes."""
    size = pair.size(0) + pair.size(1)
    rounding = 1e-14 * (size + np.abs(pair.contacts.shape_position).max())
    assert np.isfinite(found.point).all() and np.isfinite(found.gap).all() and np.isfinite(found.normal).all()
    assert np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-12)
    assert (found.gap <= margin).all()
    assert found.gap.min() == pytest.approx(pair.separation(0, 1, found.normal), abs=exact * size + rounding)
    assert off_surface(pair, found) <= on_surface * size + rounding


def off_surface(pair: Shapes, found: Manifold) -> float:
    """How far the points of the two surfaces between which each contact stands stick out of their shapes."""
    half = 0.5 * found.gap[:, None] * found.normal
    return float(max(pair.outside(0, found.point - half).max(), pair.outside(1, found.point + half).max()))


def best_known(pair: Shapes, rng: np.random.Generator) -> float:
    """The largest separation over the directions one would think of: no true distance may be below it."""
    A, B = pair.contacts.shape_rotation
    between = pair.contacts.shape_position[1] - pair.contacts.shape_position[0]
    directions = np.array([*A.T, *B.T, *(np.cross(a, b) for a in A.T for b in B.T), between, *rng.normal(size=(20, 3))])
    lengths = np.linalg.norm(directions, axis=1)
    units = directions[lengths > 1e-12] / lengths[lengths > 1e-12, None]
    return max(pair.separation(0, 1, s * d) for d in units for s in (1, -1))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_random_pairs(a: str, b: str, rng: np.random.Generator) -> None:
    exact = CYLINDER if "cylinder" in (a, b) else EXACT
    met = 0
    for _ in range(sample_count(4, 40)):
        pair = Shapes(random_shape(rng, a), random_shape(rng, b))
        for _ in range(50):
            pair.place(0, rng.normal(size=3), random_rotation(rng))
            way = rng.normal(size=3)
            way *= rng.uniform(0, 1.1) * (pair.size(0) + pair.size(1)) / np.linalg.norm(way)
            pair.place(1, pair.contacts.shape_position[0] + way, random_rotation(rng))
            margin = float(rng.choice([0.0, 0.05, 5.0]))
            found = pair.collide(0, 1, margin)
            if len(found) == 0:
                assert pair.collide(0, 1, 50.0).gap.min() > margin
                continue
            met += 1
            check(pair, found, margin, exact, DRUM if CURVED & {a, b} else 1e-6)
            again, other = pair.collide(0, 1, margin), pair.collide(1, 0, margin)
            assert np.array_equal(again.point, found.point) and np.array_equal(again.gap, found.gap)
            assert np.array_equal(other.point, found.point) and np.array_equal(other.gap, found.gap)
            np.testing.assert_array_equal(other.normal, -found.normal)
            if a != "plane":
                assert pair.separation(0, 1, found.normal) >= best_known(pair, rng) - exact
    assert met > 50


def awkward_shape(rng: np.random.Generator, kind: str, scale: float) -> Shape:
    """Sizes in whole ratios, so that edges and faces coincide."""
    d = scale * rng.choice([1.0, 0.5, 0.25], 3)
    if kind == "plane":
        return Plane()
    if kind == "box":
        return Box(d)
    if kind == "sphere":
        return Sphere(0.5 * d[0])
    if kind == "capsule":
        return Capsule(0.5 * d[0], d[1] if rng.random() < 0.8 else 1e-9 * scale)
    if kind == "cylinder":
        return Cylinder(0.5 * d[0], d[1])
    if kind == "ellipsoid":
        return Ellipsoid(0.5 * d)
    if rng.random() < 0.5:
        return convex_mesh(np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * d)
    return random_polyhedron(rng, int(rng.integers(4, 60)), scale)


def awkward_rotation(rng: np.random.Generator) -> np.ndarray:
    rotation = np.eye(3)
    for axis in np.eye(3):
        rotation = rotation @ turn(axis, rng.choice([0, np.pi / 4, np.pi / 2, np.pi, np.pi / 6]))
    if rng.random() < 0.5:
        rotation = rotation @ turn(rng.normal(size=3), 10.0 ** rng.integers(-16, -1))
    return rotation


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_awkward_pairs(a: str, b: str, rng: np.random.Generator) -> None:
    """Parallel, touching, flush, concentric, one in the other; 1e-6 to 1e3 m, ratios to 1e6, far from the origin.

    A cylinder and a shape deep in each other: gap and normal always hold, but one time in some 5,000 the place of the
    deepest point is off (its nearest points are lost among the slivers of EPA's polytope).
    """
    met = misplaced = 0
    for _ in range(sample_count(15, 300)):
        scale = 10.0 ** rng.choice([-6, -3, 0, 0, 3])
        other_scale = float(np.clip(scale * 10.0 ** rng.choice([0, 0, 0, -6, -3, -1, 1]), 1e-6, 1e3))
        pair = Shapes(awkward_shape(rng, a, scale), awkward_shape(rng, b, other_scale))
        for _ in range(20):
            base = np.zeros(3) if rng.random() < 0.7 else rng.uniform(-1e4, 1e4, 3)
            first, second = awkward_rotation(rng), awkward_rotation(rng)
            step = rng.choice([scale, other_scale, 0.5 * (scale + other_scale)])
            way = step * rng.choice([-1, 1], 3) * rng.choice(AWKWARD, 3)
            pair.place(0, base, first)
            pair.place(1, base + first @ way, first if rng.random() < 0.2 else second)
            margin = float(rng.choice([0.0, 1e-3 * min(scale, other_scale), 4.0 * max(scale, other_scale)]))
            found = pair.collide(0, 1, margin)
            assert len(pair.collide(1, 0, margin)) == len(found)
            if len(found):
                met += 1
                drum = bool(CURVED & {a, b})
                check(pair, found, margin, 1e-6, np.inf if drum else 1e-6)
                rounding = 1e-13 * np.abs(base).max()
                misplaced += off_surface(pair, found) > DRUM * (pair.size(0) + pair.size(1)) + rounding
                if a != "plane":
                    # something small near the axis of a large cylinder: all ways out are alike, EPA gives a fair one
                    loss = 1e-3 if drum else 1e-9
                    size = pair.size(0) + pair.size(1)
                    assert pair.separation(0, 1, found.normal) >= best_known(pair, rng) - loss * size - rounding
    assert met > 50
    assert misplaced <= 1 + met // 1000


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_the_same_shape_in_the_same_place(kind: str, scale: float, rng: np.random.Generator) -> None:
    shape = random_shape(rng, kind, scale)
    pair = Shapes(shape, shape)
    for position in ((0, 0, 0), (1e4, -1e4, 5e3)):
        rotation = random_rotation(rng)
        pair.place(0, position, rotation)
        pair.place(1, position, rotation)
        found = pair.collide()
        assert len(found) >= 1
        check(pair, found, 0.0, 1e-6, DRUM)


@pytest.mark.nojit
def test_every_pair_meets(rng: np.random.Generator) -> None:
    """Small enough to run as plain Python: every kind on every other, overlapping, touching, apart."""
    shapes = [random_shape(rng, kind) for kind in KINDS]
    pair = Shapes(*shapes, *shapes)
    for a, b in itertools.product(range(len(KINDS)), repeat=2):
        if a == b == 0:
            continue
        pair.place(a, (0, 0, 0))
        pair.place(len(KINDS) + b, (0, 0, 0) if b == 0 else (0.01, 0.02, 0.05))
        found = pair.collide(a, len(KINDS) + b)
        assert len(found) >= 1 and np.isfinite(found.point).all(), (KINDS[a], KINDS[b])
        assert found.gap.min() == pytest.approx(pair.separation(a, len(KINDS) + b, found.normal)
                                                if b else pair.separation(len(KINDS) + b, a, -found.normal), abs=1e-6)
    assert len(pair.collide(0, len(KINDS))) == 0  # two planes


def test_spheres_and_sides_are_smooth() -> None:
    pair = Shapes(Box((1, 1, 1)), Sphere(0.5), Capsule(0.2, 1.0), Cylinder(0.2, 1.0))
    lying = turn((0, 1, 0), np.pi / 2)
    pair.place(1, (0, 0, 0.99))
    pair.place(2, (0, 0, 0.69), lying)
    pair.place(3, (0, 0, 0.69), lying)
    assert pair.collide(0, 1).kind.tolist() == [SMOOTH]
    assert pair.collide(0, 2).kind.tolist() == [SMOOTH] * 2
    assert pair.collide(0, 3).kind.tolist() == [SMOOTH] * 2


@functools.cache
def many_times() -> Any:
    """A loop over one pair: compiled once for all of them."""

    @njit
    def many(model, contacts, n):  # type: ignore[no-untyped-def]
        total = 0
        for _ in range(n):
            total += collide_shapes(model, contacts, 0, 1, 0.01)
        return total

    return many


@pytest.mark.skipif(config.DISABLE_JIT, reason="counts what compiled code allocates")
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_nothing_is_allocated(a: str, b: str, rng: np.random.Generator) -> None:
    pair = None
    while pair is None or len(pair.collide(margin=0.01)) == 0:  # a hull of few points need not hold its origin
        pair = Shapes(random_shape(rng, a), random_shape(rng, b))
        pair.place(1, (0.1, 0.05, 0.0 if a == "plane" else 0.1), random_rotation(rng))

    def allocations(n: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        assert many_times()(pair.model, pair.contacts, n) >= n
        return int(rtsys.get_allocation_stats().alloc - before)

    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        allocations(1)
        assert allocations(100) == allocations(1)
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()
