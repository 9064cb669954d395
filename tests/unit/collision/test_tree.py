"""Trees of swept boxes: build, refit, the same pairs as a tree built anew, and the slab filter."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.collision.swept.brep import Breps
from sesshoku.collision.swept.sweep import PRIMITIVE_TESTS
from sesshoku.collision.swept.tree import (
    EDGE,
    FACE,
    VERTEX,
    build,
    edge_slabs,
    face_slabs,
    outside_slab,
    outside_slabs,
    refit,
)
from sesshoku.robots.heart import heart
from support import sample_count
from swept import Box, Swept, any_turn, cube, hull, rows, torus, turn, world


def leaf_boxes(breps: Breps, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Swept box (N, 6) of every leaf, unpadded; NaN for inner nodes."""
    box = np.full((len(breps.node), 6), np.nan)
    for i, (child, _, kind, f) in enumerate(breps.node):
        if child < 0:
            corners = {VERTEX: np.array([f]), EDGE: breps.edge_vertex[f] if kind == EDGE else None,
                       FACE: breps.face_vertex[f] if kind == FACE else None}[int(kind)]
            points = np.vstack([start[corners], end[corners]])
            box[i] = [*points.min(axis=0), *points.max(axis=0)]
    return box


def below(node: np.ndarray, i: int) -> list[int]:
    """Leaves under a node."""
    return [i] if node[i, 0] < 0 else below(node, int(node[i, 0])) + below(node, int(node[i, 1]))


@pytest.mark.boundscheck
def test_every_primitive_is_one_leaf() -> None:
    breps = Swept([heart(), cube()], 1e-3).breps
    for s in range(breps.shape_count):
        first, last = breps.shape_node[s]
        leaves = below(breps.node, int(first))
        assert len(leaves) == (last - first + 1) // 2
        for kind, name in ((VERTEX, "vertex"), (EDGE, "edge"), (FACE, "face")):
            span = np.arange(*getattr(breps, f"shape_{name}")[s])
            used = span if kind == FACE else span[getattr(breps, f"{name}_used")[span] == 1]
            assert sorted(int(breps.node[i, 3]) for i in leaves if breps.node[i, 2] == kind) == used.tolist()
        for i in range(first, last):
            if breps.node[i, 0] >= 0:
                children = breps.node[i, :2]
                assert (children > i).all()  # one backward walk refits
                assert breps.node[i, 2] == np.bitwise_or.reduce(breps.node[children, 2])


@pytest.mark.nojit
def test_refit_boxes_hold_what_is_below_and_nothing_more(rng: np.random.Generator) -> None:
    breps = Swept([hull(rng, 10)], 1e-3).breps
    start = breps.inner @ any_turn(rng).T
    end = breps.vertex @ any_turn(rng).T + rng.standard_normal(3)
    box = np.full((len(breps.node), 6), np.nan)
    ways = np.hstack([np.minimum(start, end), np.maximum(start, end)])
    refit(breps.node, (0, len(breps.node)), (breps.edge_vertex, breps.face_vertex), ways, 0.0, box)
    leaf = leaf_boxes(breps, start, end)
    for i in range(len(breps.node)):
        under = leaf[below(breps.node, i)]
        np.testing.assert_array_equal(box[i], [*under[:, :3].min(axis=0), *under[:, 3:].max(axis=0)])


def test_cut_at_the_mean_with_axes_in_turn() -> None:
    """Eight points of a 2 x 2 x 2 grid part along x, then y, then z."""
    points = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    node, depth = build(np.full(8, VERTEX), np.arange(8), points, points)
    assert depth == 3 and len(node) == 15
    for axis, nodes in enumerate(([0], node[0, :2], node[node[0, :2], :2].ravel())):
        for i in nodes:
            low, high = (points[node[below(node, int(child)), 3], axis] for child in node[int(i), :2])
            assert low.max() == 0.0 and high.min() == 1.0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_trees_of_equal_and_of_lopsided_boxes(count: int) -> None:
    same = np.zeros((count, 3))
    node, depth = build(np.full(count, FACE), np.arange(count), same, same)
    assert len(node) == max(2 * count - 1, 0) and depth <= np.ceil(np.log2(max(count, 1)))
    steep = np.repeat(2.0 ** -np.arange(count, dtype=float)[:, None], 3, axis=1)
    node, depth = build(np.full(count, FACE), np.arange(count), steep, steep)
    if count:
        assert sorted(node[below(node, 0), 3]) == list(range(count)) and depth < count


def test_refitted_trees_find_what_rebuilt_ones_do(rng: np.random.Generator) -> None:
    """Bodies far from the pose their trees were built in: rebuilding from the swept boxes changes no event."""
    scene = Swept([torus(12, 8, 1.0, 0.3), hull(rng, 20), hull(rng, 8), cube()], 0.02)
    breps, seen = scene.breps, 0
    while seen < sample_count(60, 600):
        before = scene.poses(*[(rng.uniform(-1, 1, 3), any_turn(rng)) for _ in range(4)])
        after = scene.poses(*[(p + rng.normal(0, 0.5, 3), turn(rng.standard_normal(3), 0.3) @ R)
                              for p, R in zip(*(x[:4] for x in before), strict=True)])
        refitted = scene.motion(before, after)
        kept = breps.node.copy()
        leaf = leaf_boxes(breps, world(breps, breps.inner, before), world(breps, breps.inner, after))
        for first, last in breps.shape_node:
            leaves = np.array([i for i in range(first, last) if kept[i, 0] < 0])
            node, depth = build(kept[leaves, 2].copy(), kept[leaves, 3].copy(), leaf[leaves, :3], leaf[leaves, 3:])
            assert 2 * depth + 4 <= 2 * len(scene.sweeps.stack)
            node[:, :2] += np.where(node[:, :2] >= 0, first, 0)
            breps.node[first:last] = node
        rebuilt = scene.motion(before, after)
        breps.node[...] = kept
        seen += len(rebuilt)
        assert [(e["key"], e["time"]) for e in rebuilt] == [(e["key"], e["time"]) for e in refitted]


# ---- slab filter ----------------------------------------------------------------------------------------------------


def slab(n: np.ndarray, points: np.ndarray, box: np.ndarray) -> bool:
    along = points @ n
    return bool(outside_slab(n[0], n[1], n[2], along.min(), along.max(), box[None], 0))


def test_slab_test_is_the_separation_along_the_normal(rng: np.random.Generator) -> None:
    """(7.12) with signs put right: the eight corners of the box projected, against the points projected."""
    parted = 0
    for _ in range(sample_count(3000, 20000)):
        n, points = rng.standard_normal(3), rng.standard_normal((6, 3))
        low = rng.standard_normal(3) * 2
        box = np.concatenate([low, low + rng.exponential(1.0, 3)])
        corners = np.array([[box[0 if i else 3], box[1 if j else 4], box[2 if k else 5]]
                            for i in (0, 1) for j in (0, 1) for k in (0, 1)]) @ n
        gap = max((points @ n).min() - corners.max(), corners.min() - (points @ n).max())
        if abs(gap) > 1e-6:
            assert slab(n, points, box) == (gap > 0)
            parted += gap > 0
    assert parted > 100


@pytest.mark.boundscheck
def test_filter_never_parts_what_touches(rng: np.random.Generator) -> None:
    """Boxes around points of a swept face or edge, at random times and places, at any size and distance."""
    face, edge_vertex, edge_face = np.array([[0, 1, 2], [1, 0, 3]]), np.array([[0, 1]]), np.array([[1, 0]])
    for _ in range(sample_count(3000, 20000)):
        size, away = 10.0 ** rng.uniform(-3, 3), rng.standard_normal(3) * 10.0 ** rng.uniform(-3, 3)
        start = size * rng.standard_normal((4, 3)) + away
        end = size * rng.standard_normal((4, 3)) + away
        t, weights = rng.uniform(), rng.dirichlet([0.5, 0.5, 0.5])
        if rng.uniform() < 0.2:
            t, weights = float(rng.integers(2)), np.eye(3)[rng.integers(3)]  # corners at the ends: the slab's very rim
        now = (1 - t) * start + t * end
        grown = size * 10.0 ** rng.uniform(-9, 1, (2, 3)) * (rng.uniform(size=(2, 3)) < 0.8)
        p = weights @ now[:3]
        slabs = np.full((4, 5), np.nan)
        count = face_slabs(0, face, start, end, slabs)
        assert count == 2 and not outside_slabs(slabs, count, np.concatenate([p - grown[0], p + grown[1]])[None], 0)
        q = (1 - weights[0]) * now[0] + weights[0] * now[1]
        box = np.concatenate([q - grown[0], q + grown[1]])[None]
        count = edge_slabs(0, edge_vertex, edge_face, face, start, end, slabs)
        assert count >= 3 and not outside_slabs(slabs, count, box, 0)  # normals alike share one slab
        assert edge_slabs(0, edge_vertex, edge_face, face, start, start + away, slabs) <= 2  # nothing turned


def test_filter_saves_the_descent_below_a_large_triangle() -> None:
    """A slanted floor of two triangles under a fine mesh: boxes overlap everywhere, planes do not."""
    mesh = torus(24, 16, 1.0, 0.3)
    scene = Swept([Box((40.0, 40.0, 1.0)), mesh], 0.01)
    R = turn((1, 0, 0), 0.6)
    pose = scene.poses((R @ [0, 0, -0.5], R), (R @ [0, 0, 0.295], R))
    events = scene.inflate(pose)
    assert 1 <= len(events) <= 24
    assert scene.sweeps.work_counts[PRIMITIVE_TESTS] < 400 < len(mesh[1])
    assert rows(scene.events)[0]["normal"] @ R[:, 2] == pytest.approx(1.0)
