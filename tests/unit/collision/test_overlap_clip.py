"""Cutting polyhedra: the surface stays closed whatever is said about its vertices, and owners are kept."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from overlap_oracles import Pairs
from sesshoku.collision.overlap.clip import (
    BOTH,
    BUFFER,
    CUT,
    EMPTY,
    UNFIT_CUT,
    VERTICES,
    WHOLE,
    cut,
    cut_loops,
    start_polyhedron,
)
from sesshoku.collision.overlap.clip import FACES as FACE_COUNT
from sesshoku.collision.overlap.overlaps import Overlaps, make_overlaps
from sesshoku.scene.geometry.shapes import Box, Plane, Sphere
from shape_pairs import random_polyhedron
from support import sample_count

pytestmark = pytest.mark.boundscheck


def started(pairs: Pairs, shape: int = 0, owner: int = 0) -> Overlaps:
    start_polyhedron(pairs.polyhedra, shape, owner, np.eye(3), pairs.overlaps)
    return pairs.overlaps


def loops(o: Overlaps) -> list[list[int]]:
    which = o.state[BUFFER]
    start = o.loop_start[which]
    return [list(map(int, o.loop[which, start[f] : start[f + 1]])) for f in range(o.state[FACE_COUNT])]


def assert_closed(o: Overlaps) -> None:
    """Every edge is walked as often one way as the other, by vertices that exist."""
    edges = Counter((i, j) for loop in loops(o) for i, j in zip(loop, loop[1:] + loop[:1], strict=True))
    assert all(0 <= i < o.state[VERTICES] for edge in edges for i in edge)
    assert all(edges[j, i] == times for (i, j), times in edges.items())
    assert np.isfinite(o.vertex[o.state[BUFFER], : o.state[VERTICES]]).all()


@pytest.mark.nojit
def test_a_corner_off_a_cube() -> None:
    o = started(Pairs(Box((2, 2, 2))))
    n = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)
    assert cut(o, *n, 2.0 / np.sqrt(3.0), 1, 1e-9) == CUT  # through the three neighbours of the corner
    assert_closed(o)
    assert cut(o, *n, 0.1, 1, 1e-9) == CUT
    assert_closed(o)
    assert sorted(map(len, loops(o)))[-1] == 6 and o.owner[o.state[BUFFER], o.state[FACE_COUNT] - 1] == 1
    assert cut(o, *n, 2.0, 1, 1e-9) == WHOLE
    assert cut(o, *n, -2.0, 1, 1e-9) == EMPTY


@pytest.mark.nojit
def test_a_face_in_the_plane_belongs_to_both() -> None:
    for beyond in (0.0, 1e-16, -1e-16, 1e-11, -1e-11):
        o = started(Pairs(Box((2, 2, 2))))
        assert cut(o, 1.0, 0.0, 0.0, 1.0 + beyond, 1, 1e-9) in (WHOLE, CUT)
        owners = list(o.owner[o.state[BUFFER], : o.state[FACE_COUNT]])
        assert owners.count(BOTH) >= 1 and 1 not in owners
        assert_closed(o)
    o = started(Pairs(Box((2, 2, 2))))
    assert cut(o, -1.0, 0.0, 0.0, -1.0 + 1e-11, 1, 1e-9) == CUT  # it looks the other way: a thin slab, not flush
    assert BOTH not in o.owner[o.state[BUFFER], : o.state[FACE_COUNT]]


def test_any_signs_leave_a_closed_surface(rng: np.random.Generator) -> None:
    """Vertices said to be above or below at random, again and again: the worst that rounding could do."""
    pairs = Pairs(*(random_polyhedron(rng, int(rng.choice([4, 5, 6, 8, 12, 20, 60]))) for _ in range(12)))
    for trial in range(sample_count(300, 10_000)):
        o = started(pairs, trial % 12)
        for _ in range(10):
            count = o.state[VERTICES]
            o.height[:count] = rng.normal(size=count)
            if (o.height[:count] > 0).all() or (o.height[:count] <= 0).all():
                break
            if cut_loops(o, 1) == UNFIT_CUT:
                break
            assert_closed(o)


def test_no_room_is_said(rng: np.random.Generator) -> None:
    """With buffers too small by hand the kernel says so and writes nowhere else (bounds checks would tell)."""
    pairs = Pairs(Sphere(1.0), Sphere(1.1))
    few = Pairs(Box((1, 1, 1)), Plane())
    small = make_overlaps(few.contacts, few.polyhedra)
    start_polyhedron(few.polyhedra, 0, 0, np.eye(3), small)
    for _ in range(60):
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        outcome = cut(small, *n, 0.4, 1, 1e-9)
        assert outcome in (WHOLE, CUT, UNFIT_CUT)
        if outcome == UNFIT_CUT:
            break
    else:
        pytest.fail("60 cuts fitted in the room for a box and a plane")
    assert pairs.overlaps.loop.shape[1] > small.loop.shape[1]
