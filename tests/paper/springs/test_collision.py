"""Collision detection of the thesis: which features meet in its scenes, tunnelling, and the cost of the parts (7.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.collision.swept.sweep import (
    BOX_TESTS,
    BOX_UPDATES,
    CUBIC,
    EDGE_EDGE,
    LINEAR,
    PRIMITIVE_TESTS,
    VERTEX_FACE,
)
from sesshoku.robots.heart import heart
from support import sample_count
from swept import Box, Swept, any_turn, cube, inside, prism, torus, turn, world

LIMIT, DEPTH = 0.05, 0.01  # m: stretch limit w, and how deep the bodies of the scenes overlap
SLAB = Box((4.0, 4.0, 1.0))
BOTH = pytest.mark.parametrize("crossing", [LINEAR, CUBIC], ids=["linear", "cubic"])


def kinds(events: list[dict[str, Any]]) -> list[int]:
    return [sum(e["kind"] == kind for e in events) for kind in (VERTEX_FACE, EDGE_EDGE)]


def push(e: dict[str, Any]) -> np.ndarray:
    """Direction in which the contact pushes body 0."""
    return np.asarray(e["normal"] if e["kind"] == VERTEX_FACE and e["body"][0] == 0 else -e["normal"])


def check_set(events: list[dict[str, Any]], expected: list[int], along: Any) -> None:
    assert kinds(events) == expected
    for e in events:
        np.testing.assert_allclose(push(e), along, atol=1e-9)
        # face-parallel contact: both surfaces grow by w / 2 and meet where the depth is left over
        assert e["time"] == pytest.approx(1 - DEPTH / LIMIT, abs=1e-6)


# ---- contact sets (5.3.2, 5.4): cube of 1 m, w = 0.05, overlap 0.01 -------------------------------------------------


@BOTH
@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4, 2.0])
def test_cube_on_the_floor_stands_on_four_vertices(yaw: float, crossing: int) -> None:
    """Across the diagonal of the floor's triangles too: one contact per vertex and flat patch, none on the diagonal."""
    scene = Swept([cube(1.0), SLAB], 0.5 * LIMIT)
    for x, y in ((0.3, 0.2), (0.0, 0.0), (0.5, 0.5), (-1.0, 1.2)):
        at = scene.poses(((x, y, 1.0 - DEPTH), turn((0, 0, 1), yaw)), (0, 0, 0))
        check_set(scene.inflate(at, crossing), [4, 0], [0, 0, 1])


@pytest.mark.parametrize("yaw", [0.0, 0.3, 0.7, -0.5])
def test_cube_over_the_rim_stands_on_two_vertices_and_two_edges(yaw: float) -> None:
    scene = Swept([cube(1.0), SLAB], 0.5 * LIMIT)
    at = scene.poses(((2.0, 0.2, 1.0 - DEPTH), turn((0, 0, 1), yaw)), (0, 0, 0))
    check_set(scene.inflate(at), [2, 2], [0, 0, 1])


def test_cube_against_the_side() -> None:
    scene = Swept([cube(1.0), SLAB], 0.5 * LIMIT)
    check_set(scene.inflate(scene.poses((2.5 - DEPTH, 0.2, 0.3), (0, 0, 0))), [2, 2], [1, 0, 0])


def test_cube_over_a_crest_does_not_stumble() -> None:
    """Up a slope of 10 degrees, the front edge 0.1 m past the crest: every push is along the slope's normal."""
    slope = np.radians(10)
    fall = 3 * np.tan(slope)
    profile = prism([(-3, -1 - fall), (3, -1 - fall), (3, -fall), (0, 0), (-3, -fall)], -3, 3)
    crest = (profile[0][:, [0, 2, 1]] * [1, -1, 1], profile[1])  # x stays, the profile stands up
    scene = Swept([cube(1.0), crest], 0.5 * LIMIT)
    up, n = np.array([np.cos(slope), 0, np.sin(slope)]), np.array([-np.sin(slope), 0, np.cos(slope)])
    at = scene.poses((up * (0.1 - 0.5) + n * (0.5 - DEPTH), turn((0, 1, 0), -slope)), (0, 0, 0))
    check_set(scene.inflate(at), [2, 2], n)


def test_inner_edges_of_a_flat_floor_push_sideways_unless_left_out() -> None:
    """The literal thesis: the cube's upright edges cross the floor's diagonal, e0 x e1 is level (figure 5.6)."""
    at = ((0.1, 0.05, 1.0 - DEPTH), np.eye(3))
    literal = Swept([cube(1.0), SLAB], 0.5 * LIMIT, merge_coplanar=False)
    assert kinds(literal.inflate(literal.poses(at, (0, 0, 0))))[1] > 0
    merged = Swept([cube(1.0), SLAB], 0.5 * LIMIT)
    assert kinds(merged.inflate(merged.poses(at, (0, 0, 0))))[1] == 0


@BOTH
def test_shallow_cubes_always_touch(crossing: int, rng: np.random.Generator) -> None:
    """Random cubes whose overlap is below w: L1 finds a contact, and the pushes part them."""
    scene = Swept([cube(1.0), cube(1.0)], 0.5 * LIMIT)
    for _ in range(sample_count(100, 400)):
        A, B = any_turn(rng), any_turn(rng)
        aim = rng.standard_normal(3)
        aim /= np.linalg.norm(aim)
        far, near = 2.0, 0.0  # distance along `aim` at which the cubes just overlap: by separating axes
        axes = [*A.T, *B.T, *(np.cross(a, b) for a in A.T for b in B.T)]
        axes = [n / np.linalg.norm(n) for n in axes if np.linalg.norm(n) > 1e-9]

        def overlap(d: float, A: np.ndarray = A, B: np.ndarray = B, aim: np.ndarray = aim, axes: Any = axes) -> float:
            return float(min(0.5 * (np.abs(A.T @ n).sum() + np.abs(B.T @ n).sum()) - abs(d * aim @ n) for n in axes))

        for _ in range(60):
            middle = 0.5 * (near + far)
            near, far = (middle, far) if overlap(middle) > 0.02 else (near, middle)
        events = scene.inflate(scene.poses((near * aim, A), (np.zeros(3), B)), crossing)
        assert events
        assert sum(push(e) @ aim for e in events) > 0


# ---- L0 (5.3.2): however far a step leads ---------------------------------------------------------------------------


@BOTH
def test_cube_through_a_plate_at_two_metres_per_step(crossing: int) -> None:
    scene = Swept([cube(0.1), Box((1.0, 1.0, 0.04))], 0.01)
    for start in np.linspace(0.1, 1.9, 19):
        events = scene.motion(scene.poses((0.1, 0.2, start), (0, 0, 0)),
                              scene.poses((0.1, 0.2, start - 2.0), (0, 0, 0)), crossing)
        entering = [e for e in events if not e["leaving"]]
        first = min(entering, key=lambda e: e["time"])
        assert first["time"] == pytest.approx((start - 0.05 - 0.02 + 0.02) / 2.0)
        np.testing.assert_allclose(push(first), [0, 0, 1], atol=1e-12)


@BOTH
def test_what_begins_apart_never_ends_inside_unseen(crossing: int, rng: np.random.Generator) -> None:
    """The heart thrown at a torus, turning: copies apart at first and overlapping at last without an event: never."""
    scene = Swept([heart(), torus(12, 8, 0.08, 0.03)], 1e-3)
    breps, entered = scene.breps, 0
    while entered < sample_count(8, 200):
        aim = rng.standard_normal(3)
        aim *= 0.4 / np.linalg.norm(aim)
        turned = any_turn(rng)
        before = scene.poses((aim, turned), (np.zeros(3), np.eye(3)))
        spin = turn(rng.standard_normal(3), rng.uniform(0, 2.5)) if crossing == CUBIC else np.eye(3)
        after = scene.poses((rng.uniform(-0.5, 0.2) * aim, spin @ turned), (np.zeros(3), np.eye(3)))
        end = world(breps, breps.inner, after)
        spans, faces = breps.shape_vertex, breps.face_vertex
        other = [faces[slice(*breps.shape_face[1])], faces[slice(*breps.shape_face[0])]]
        if any(inside(p, end, other[s]) for s in (0, 1) for p in end[slice(*spans[s])]):
            entered += 1
            assert scene.motion(before, after, crossing)


# ---- cost (7.2) -----------------------------------------------------------------------------------------------------


def test_trees_save_nearly_all_primitive_tests() -> None:
    """A fine heart on a fine torus: a few hundred of the hundred thousands of feature pairs are tried."""
    ring = torus(32, 16, 0.08, 0.03)
    scene = Swept([heart(), ring], 1e-3)
    breps = scene.breps
    events = scene.inflate(scene.poses((0.0, 0.0, 0.054), (0, 0, 0)))
    assert events
    work = scene.sweeps.work_counts
    V, E, F = (np.bincount(getattr(breps, f"{name}_shape"), minlength=2) for name in ("vertex", "edge", "face"))
    everything = V[0] * F[1] + V[1] * F[0] + E[0] * E[1]
    assert work[PRIMITIVE_TESTS] < 0.01 * everything and work[BOX_TESTS] < 0.1 * everything
    assert work[BOX_UPDATES] == len(breps.node)


def test_work_grows_with_the_number_of_bodies_alone() -> None:
    """A row of cubes, each touching its neighbours: work per body stays the same from 20 to 160 bodies."""
    per_body = []
    for count in (20, 160):
        scene = Swept([cube(1.0)] * count, 0.5 * LIMIT)
        events = scene.inflate(scene.poses(*[(0.99 * i, 0.1 * (i % 2), 0.1 * (i % 3)) for i in range(count)]))
        assert len(events) >= count - 1
        per_body.append(scene.sweeps.work_counts[:3] / count)
    assert (per_body[1] < 1.1 * per_body[0]).all()
