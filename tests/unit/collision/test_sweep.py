"""The two sweeps and their primitive tests: closed forms, all-against-all, tunnelling, concave contact, any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.collision.swept.brep import make_breps
from sesshoku.collision.swept.crossing import (
    PARAMETERS,
    SIGNS,
    TIMES,
    WORK,
    determinant_polynomial,
    edge_edge,
    sign_changes,
    value,
    vertex_face,
)
from sesshoku.collision.swept.events import FOUND
from sesshoku.collision.swept.sweep import (
    CUBIC,
    EDGE_EDGE,
    EVENTS,
    LINEAR,
    LOST,
    PAIRS_LOST,
    VERTEX_FACE,
    make_events,
    make_sweeps,
    sweep_inflate,
    sweep_motion,
    try_primitives,
)
from sesshoku.collision.swept.tree import boxes_overlap
from sesshoku.robots.heart import heart
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.scene import Scene
from support import sample_count
from swept import Box, Swept, all_linear, any_turn, cube, hull, inside, l_shape, prism, rows, torus, turn, world

BOTH = pytest.mark.parametrize("crossing", [LINEAR, CUBIC], ids=["linear", "cubic"])
FLOOR = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]])  # a triangle that looks up


def vertex_time(p0: Any, p1: Any, T0: Any, T1: Any, crossing: int, graze: float = 0.0) -> tuple[float, np.ndarray]:
    """Time and barycentrics of a vertex through a triangle."""
    start, end, work = np.vstack([p0, T0]).astype(float), np.vstack([p1, T1]).astype(float), np.full(WORK, np.nan)
    return float(vertex_face((start, end), 0, (1, 2, 3), graze, crossing, work)), work[PARAMETERS:PARAMETERS + 3]


def edge_time(A0: Any, A1: Any, B0: Any, B1: Any, crossing: int, graze: float = 0.0) -> tuple[float, np.ndarray]:
    """Time and parameters of two edges, each the ridge of a roof: edge 0 looks up (+z), edge 1 down."""
    roof = [[0.3, 1, -5], [0.3, -1, -5]]
    start = np.vstack([A0, roof, B0, -np.array(roof)]).astype(float)
    end = np.vstack([A1, roof, B1, -np.array(roof)]).astype(float)
    faces = np.array([[0, 1, 2], [1, 0, 3], [4, 5, 6], [5, 4, 7]])
    work = np.full(WORK, np.nan)
    edges, sides = np.array([[0, 1], [4, 5]]), np.array([[1, 0], [3, 2]])
    t = edge_edge((start, end), (0, 1), (edges, sides, faces), graze, crossing, work)
    return float(t), work[PARAMETERS:PARAMETERS + 2]


# ---- vertex and face ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.nojit
@pytest.mark.boundscheck
def test_vertex_through_a_face_at_a_quarter(crossing: int) -> None:
    t, weights = vertex_time([0, 0, 1], [0, 0, -3], FLOOR, FLOOR, crossing)
    assert t == pytest.approx(0.25, abs=1e-15)
    np.testing.assert_allclose(weights, [0.25, 0.25, 0.5], atol=1e-15)
    both_move, _ = vertex_time([0, 0, 0], [0, 0, -2], FLOOR - [0, 0, 1], FLOOR + [0, 0, 1], crossing)
    assert both_move == pytest.approx(0.25, abs=1e-15)


@BOTH
@pytest.mark.parametrize(("p0", "p1"), [
    ((0, 0, -3), (0, 0, 1)),  # going out
    ((0, 0, 1), (0, 0, 2)), ((0, 0, -1), (0, 0, -2)),  # on one side
    ((0, 0, 1), (0, 0, 0)),  # arrives: has not passed
    ((0, 0, 1), (0, 0, 1)), ((0, 0, 0), (0.1, 0, 0)), ((5, 0, 0), (-5, 0, 0)),  # at rest, in the plane, across in it
    ((2, 0, 1), (2, 0, -1)), ((0.51, 0, 1), (0.51, 0, -1)), ((0, -1.01, 1), (0, -1.01, -1)),  # beside the triangle
    ((np.nan, 0, 1), (0, 0, -1)), ((0, 0, 1), (0, np.nan, -1)), ((0, 0, np.inf), (0, 0, -np.inf)),
])
def test_vertices_that_do_not_go_in(p0: Any, p1: Any, crossing: int) -> None:
    assert vertex_time(p0, p1, FLOOR, FLOOR, crossing)[0] == -1.0


@BOTH
def test_vertex_that_begins_in_the_plane_goes_in_at_once(crossing: int) -> None:
    assert vertex_time([0, 0, 0], [0, 0, -1], FLOOR, FLOOR, crossing)[0] == 0.0


@BOTH
def test_rims_of_a_triangle_belong_to_it(crossing: int) -> None:
    for x, y in ((0, -1), (0.5, 0), (-1, -1), (0, 1), (-0.5, 0)):
        assert vertex_time([x, y, 1], [x, y, -1], FLOOR, FLOOR, crossing)[0] == pytest.approx(0.5)


@BOTH
def test_triangles_without_area_are_never_met(crossing: int) -> None:
    for T in ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 0, 0]] * 3, [[0, 0, 0], [1, 0, 0], [1, 1e-14, 0]]):
        assert vertex_time([0.5, 0, 1], [0.5, 0, -1], T, T, crossing)[0] == -1.0


@BOTH
def test_fast_and_far(crossing: int) -> None:
    """Crossing times keep their digits over twelve orders of magnitude of speed, and far from the origin."""
    for reach in (1e-6, 1.0, 1e6):
        t, _ = vertex_time([0, 0, reach], [0, 0, -3 * reach], FLOOR, FLOOR, crossing)
        assert t == pytest.approx(0.25, rel=1e-12)
        away = np.array([1e3, -1e3, 1e3])
        t, _ = vertex_time(away + [0, 0, 1], away - [0, 0, 3], FLOOR + away, FLOOR + away, crossing)
        assert t == pytest.approx(0.25, rel=1e-9)


def test_linear_and_cubic_time_of_a_turning_face() -> None:
    """A corner of a triangle falls from z = 1 to -3: the plane is z = (1 - 4 t) x / 2, the vertex at x = 1/2, z = h.

    Height over the plane is -(1 - 4 t) / 4 + h: through at t = (1 - 4 h) / 4 exactly. Linear distances differ, because
    the normal's length changes: d = height / sqrt(1 + slope^2) at both ends.
    """
    T0 = np.array([[0, 0, 0], [0, 2, 0], [2, 0, 1.0]])  # looks down: the vertex goes in from below
    T1 = np.array([[0, 0, 0], [0, 2, 0], [2, 0, -3.0]])
    for h in (0.0, 0.1, -0.2):
        v = [0.5, 0.5, h]
        t, weights = vertex_time(v, v, T0, T1, CUBIC)
        assert t == pytest.approx((1 - 4 * h) / 4, abs=1e-14)
        assert weights[2] == pytest.approx(0.25, abs=1e-12)
        d0, d1 = (0.25 - h) / np.hypot(1, 0.5), (-0.75 - h) / np.hypot(1, 1.5)
        assert vertex_time(v, v, T0, T1, LINEAR)[0] == pytest.approx(d0 / (d0 - d1), abs=1e-14)


def test_determinant_as_a_polynomial(rng: np.random.Generator) -> None:
    for _ in range(20):
        start, end, c = rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), np.full(WORK, np.nan)
        determinant_polynomial((start, end), (1, 2, 1, 3, 1, 0), c)
        for t in np.linspace(0, 1, 7):
            p = (1 - t) * start + t * end
            assert value(c, t) == pytest.approx(np.linalg.det([p[2] - p[1], p[3] - p[1], p[0] - p[1]]), abs=1e-12)


def test_cubic_finds_what_goes_in_and_out_again() -> None:
    """A vertex that falls through a plane which falls after it, turning: outside at both ends, inside between.

    The plane is z = s(t) x with s falling from 1 to -3 while the vertex moves along x with z fixed at 0: height
    -(1 - 4 t)(x0 + x1 t), looked at from below: roots where s = 0 and where x = 0.
    """
    T0, T1 = np.array([[-2, 2, -2], [-2, -2, -2], [4, 0, 4.0]]), np.array([[-2, 2, 6], [-2, -2, 6], [4, 0, -12.0]])
    p0, p1 = [1.0, 0, 0], [-1.0, 0, 0]  # x = 1 - 2 t; height ~ -(1 - 4 t)(1 - 2 t): below until 1/4, above until 1/2
    up = [0, 1, 2]
    assert vertex_time(p0, p1, T0[up], T1[up], CUBIC)[0] == pytest.approx(0.5, abs=1e-12)
    assert vertex_time(p0, p1, T0[up], T1[up], LINEAR)[0] == -1.0  # inside at both ends
    down = [1, 0, 2]
    assert vertex_time(p0, p1, T0[down], T1[down], CUBIC)[0] == pytest.approx(0.25, abs=1e-12)
    assert vertex_time(p0, p1, T0[down], T1[down], LINEAR)[0] == -1.0  # outside at both ends


# ---- the cubic's roots ----------------------------------------------------------------------------------------------


def crossings_of(coefficients: Any) -> list[float]:
    """Sign changes of a cubic within [0, 1] as the primitive tests find them."""
    c = np.full(WORK, np.nan)
    c[:4] = 0.0
    c[: len(coefficients)] = coefficients
    count = sign_changes(c, float(value(c, 0.0)), float(value(c, 1.0)), 0.0)
    times, signs = c[TIMES:TIMES + count], c[SIGNS:SIGNS + count]
    assert (np.diff(times) >= 0).all()
    for t, sign in zip(times, signs, strict=True):
        assert value(c, t - 1e-4) * sign >= 0 or t == 0.0
    return times.tolist()


@pytest.mark.parametrize(("coefficients", "expected"), [
    ([0.0, 0, 0, 0], []),  # the zero polynomial: motion within the plane
    ([1.0, 0, 0, 0], []), ([-2.0, 0, 0, 0], []),  # constant
    ([1.0, -4, 0, 0], [0.25]), ([-1.0, 4, 0, 0], [0.25]), ([1.0, -0.5, 0, 0], []),  # linear
    ([0.1875, -1, 1, 0], [0.25, 0.75]), ([1.0, 0, 1, 0], []),  # quadratic: two roots, none
    ([0.25, -1, 1, 0], []), ([-0.25, 1, -1, 0], []),  # double root at 1/2: a touch from above, from below
    ([0.0, 0, 1, 0], [0.0]), ([1.0, -2, 1, 0], []),  # double root at an end: leaves the plane, arrives in it
    ([-0.125, 0.75, -1.5, 1], [0.5]),  # triple root at 1/2
    ([0.0, 0.5, -1.5, 1], [0.0, 0.5]),  # roots 0, 1/2, 1
    ([-0.125, 0.625, -1, 0.5], []),  # (t - 1/2)^2 (t - 1) / 2: a touch, then an arrival
    ([-0.0625, 0.5, -1.25, 1], [0.25]),  # (t - 1/4)(t - 1/2)^2: a crossing, then a touch
    ([1.0, 1, 1, 1], []), ([1e-30, -4e-30, 0, 0], [0.25]), ([1e30, -4e30, 0, 0], [0.25]),  # any scale
])
def test_roots_in_closed_form(coefficients: list[float], expected: list[float]) -> None:
    assert crossings_of(coefficients) == pytest.approx(expected, abs=1e-12)


def test_roots_against_numpy(rng: np.random.Generator) -> None:
    for _ in range(sample_count(500, 10000)):
        roots = rng.uniform(-0.5, 1.5, rng.integers(1, 4))
        roots = roots[np.argsort(roots)]
        if len(roots) > 1 and np.diff(roots).min() < 1e-3 or np.abs(roots * (roots - 1)).min() < 1e-6:
            continue
        c = np.polynomial.polynomial.polyfromroots(roots) * 10.0 ** rng.uniform(-6, 6)
        np.testing.assert_allclose(crossings_of(c), roots[(roots > 0) & (roots < 1)], atol=1e-9)


# ---- edge and edge --------------------------------------------------------------------------------------------------

ALONG_X, ALONG_Y = np.array([[-0.5, 0, 0], [0.5, 0, 0]]), np.array([[0, -0.5, 0], [0, 0.5, 0]])


@BOTH
@pytest.mark.nojit
@pytest.mark.boundscheck
def test_unit_edges_that_cross_in_the_middle(crossing: int) -> None:
    up = np.array([0, 0, 1.0])
    t, parameters = edge_time(ALONG_X, ALONG_X, ALONG_Y + up, ALONG_Y - up, crossing)
    assert t == pytest.approx(0.5, abs=1e-15)
    np.testing.assert_allclose(parameters, [0.5, 0.5], atol=1e-15)
    t, parameters = edge_time(ALONG_X, ALONG_X, ALONG_Y + up + [0.25, 0, 0], ALONG_Y - 3 * up + [0.25, 0, 0], crossing)
    assert t == pytest.approx(0.25, abs=1e-15)
    np.testing.assert_allclose(parameters, [0.75, 0.5], atol=1e-15)


@BOTH
@pytest.mark.parametrize(("B0", "B1"), [
    (ALONG_X + [0, 0, 1.0], ALONG_X - [0, 0, 1.0]),  # parallel
    (ALONG_Y + [0, 0, 1.0], ALONG_Y + [0, 0, 0.5]),  # on one side
    (ALONG_Y + [0, 0, 1.0], ALONG_Y),  # arrives
    (ALONG_Y, ALONG_Y + [0, 0, 1.0]),  # begins in touch and leaves
    (ALONG_Y + [0.6, 0, 1.0], ALONG_Y + [0.6, 0, -1.0]), (ALONG_Y + [0, 0.6, 1], ALONG_Y + [0, 0.6, -1]),  # beside
    (ALONG_Y + [-5, 0, 0], ALONG_Y + [5, 0, 0]),  # coplanar motion, right across
    (ALONG_Y * np.nan, ALONG_Y), (ALONG_Y + [0, 0, np.inf], ALONG_Y - [0, 0, np.inf]),
    (ALONG_Y * 0 + [0, 0, 1.0], ALONG_Y * 0 - [0, 0, 1.0]),  # an edge without length
])
def test_edges_that_do_not_pass(B0: Any, B1: Any, crossing: int) -> None:
    assert edge_time(ALONG_X, ALONG_X, B0, B1, crossing)[0] == -1.0


@BOTH
def test_edges_that_begin_in_touch_and_go_in(crossing: int) -> None:
    assert edge_time(ALONG_X, ALONG_X, ALONG_Y, ALONG_Y - [0, 0, 1.0], crossing)[0] == 0.0


def test_a_sign_that_changed_by_turning_alone() -> None:
    """Edge 1 turns by 120 degrees a metre above edge 0 and never comes near: its distance changes sign all the same."""
    B0 = ALONG_Y @ turn((0, 0, 1), -1.0).T + [0, 0, 1.0]
    B1 = ALONG_Y @ turn((0, 0, 1), 2.0).T + [0, 0, 1.0]
    for crossing in (LINEAR, CUBIC):
        assert edge_time(ALONG_X, ALONG_X, B0, B1, crossing)[0] == -1.0


def test_cubic_sees_edges_pass_while_they_turn_over(rng: np.random.Generator) -> None:
    """Straight paths checked by bisection on a fine grid: wherever the edges pass, the cubic finds the time."""
    passed = 0
    for _ in range(sample_count(300, 5000)):
        A0, A1, B0, B1 = (rng.standard_normal((2, 3)) for _ in range(4))
        t, (s, r) = edge_time(A0, A1, B0, B1, CUBIC)
        found = []
        times = np.linspace(0, 1, 401)
        A = (1 - times)[:, None, None] * A0 + times[:, None, None] * A1
        B = (1 - times)[:, None, None] * B0 + times[:, None, None] * B1
        det = np.einsum("ij,ij->i", np.cross(A[:, 1] - A[:, 0], B[:, 1] - B[:, 0]), A[:, 0] - B[:, 0])
        for k in np.flatnonzero(det[1:] * det[:-1] < 0):
            at = times[k] + (times[k + 1] - times[k]) * det[k] / (det[k] - det[k + 1])
            a, b = (1 - at) * A0 + at * A1, (1 - at) * B0 + at * B1
            n = np.cross(a[1] - a[0], b[1] - b[0])
            q = np.linalg.solve(np.column_stack([a[1] - a[0], b[0] - b[1], n]), b[0] - a[0])
            if 0.01 < q[0] < 0.99 and 0.01 < q[1] < 0.99:
                found.append(at)
        if found:
            passed += 1
            assert 0 <= t <= found[0] + 1e-3
        if t >= 0:
            a, b = (1 - t) * A0 + t * A1, (1 - t) * B0 + t * B1
            np.testing.assert_allclose(a[0] + s * (a[1] - a[0]), b[0] + r * (b[1] - b[0]), atol=1e-7)
    assert passed > 10


# ---- whole shapes ---------------------------------------------------------------------------------------------------


def features(events: list[dict[str, Any]]) -> dict[tuple[int, int, int], float]:
    return {(int(e["kind"]), *map(int, e["feature"])): float(e["time"]) for e in events}


def by_patch(scene: Swept, found: dict[tuple[int, int, int], float]) -> dict[tuple[int, int, int], float]:
    """Earliest time per pair of edges, or vertex and patch."""
    result: dict[tuple[int, int, int], float] = {}
    for (kind, a, b), t in found.items():
        key = (kind, a, int(scene.breps.face_patch[b]) if kind == VERTEX_FACE else b)
        result[key] = min(t, result.get(key, 2.0))
    return result


def random_meshes(rng: np.random.Generator) -> list[Any]:
    notched = prism([(0, 0), (1, 0), (1, 1), (0.5, 0.3), (0, 1)], -0.4, 0.4)
    return [hull(rng, 8), l_shape(), hull(rng, 6), notched, cube()]


def test_pairs_equal_all_against_all(rng: np.random.Generator) -> None:
    """Both sweeps, convex and concave, against NumPy trying every feature with every other, no boxes and no trees.

    Motions are translations, where linear distances are exact and boxes can part nothing that crosses.
    """
    seen, scenes = [0, 0], 0
    while scenes < sample_count(6, 200) or min(seen) < 12:
        scene = Swept(random_meshes(rng), 0.05)
        before = scene.poses(*[(rng.uniform(-0.8, 0.8, 3), any_turn(rng)) for _ in range(5)])
        after = (before[0] + rng.normal(0, 0.4, before[0].shape) * (np.arange(6) < 5)[:, None], before[1])
        scenes += 1
        breps = scene.breps
        for number, (events, start, end) in enumerate((
                (scene.motion(before, after), world(breps, breps.inner, before), world(breps, breps.inner, after)),
                (scene.inflate(after), world(breps, breps.inner, after), world(breps, breps.vertex, after)))):
            expected = by_patch(scene, all_linear(breps, start, end))
            found = by_patch(scene, features(events))
            assert found.keys() == expected.keys()
            np.testing.assert_allclose([found[k] for k in found], [expected[k] for k in found], atol=1e-6)
            seen[number] += len(found)


@BOTH
def test_pairs_of_turning_bodies_equal_all_leaves_tried(crossing: int, rng: np.random.Generator) -> None:
    """Any motion: the trees lose and add nothing to their own leaf test run on all pairs of leaves."""
    scene = Swept(random_meshes(rng)[:4], 0.02)
    breps, sweeps, seen = scene.breps, scene.sweeps, 0
    leaves = [[i for i in range(*breps.shape_node[s]) if breps.node[i, 0] < 0] for s in range(4)]
    while seen < sample_count(60, 600):
        before = scene.poses(*[(rng.uniform(-0.8, 0.8, 3), any_turn(rng)) for _ in range(4)])
        after = scene.poses(*[(p + rng.normal(0, 0.4, 3), turn(rng.standard_normal(3), rng.uniform(0, 1.5)) @ R)
                              for p, R in zip(*(x[:4] for x in before), strict=True)])
        found = scene.motion(before, after, crossing)
        brute = make_events(4096)
        for a, b in sweeps.pair[: sweeps.counts[1]]:
            for i in leaves[a]:
                for j in leaves[b]:
                    kinds = {int(breps.node[i, 2]), int(breps.node[j, 2])}
                    if kinds in ({1, 4}, {2}) and boxes_overlap(sweeps.node_box, i, j):
                        try_primitives(breps, sweeps, brute, i, j, crossing)
        keys = brute.raw_key[: brute.counts[FOUND]]
        assert np.unique(keys).tolist() == [e["key"] for e in found]
        seen += len(found)


@BOTH
def test_no_body_enters_another_unseen(crossing: int, rng: np.random.Generator) -> None:
    """Shrunken copies apart before, a corner of one inside the other after: a crossing is always found.

    With linear distances for translations; with the cubic for any straight paths, however much the bodies turn.
    """
    entered = 0
    while entered < sample_count(25, 400):
        scene = Swept([hull(rng, 8), l_shape()], 0.02)
        breps = scene.breps
        away = rng.standard_normal(3)
        far = scene.poses((3 * away / np.linalg.norm(away), any_turn(rng)), (np.zeros(3), any_turn(rng)))
        near = (far[0] * rng.uniform(-1.0, 0.3), far[1].copy())
        if crossing == CUBIC:
            near[1][0], near[1][1] = any_turn(rng), any_turn(rng)
        end = world(breps, breps.inner, near)
        spans = [slice(*span) for span in breps.shape_vertex]
        faces = [breps.face_vertex[slice(*span)] for span in breps.shape_face]
        deep = any(inside(p, end, faces[1 - s]) for s in (0, 1) for p in end[spans[s]])
        if deep:
            entered += 1
            assert scene.motion(far, near, crossing), "entered unseen"


@pytest.mark.parametrize("bullet", ["cube", "sphere", "hull", "needle"])
@BOTH
def test_bullet_never_passes_a_thin_plate(bullet: str, crossing: int, rng: np.random.Generator) -> None:
    """Ten body lengths in a step, from every side, anywhere on the plate, spinning a little: always caught going in."""
    corners, faces = hull(rng, 12)
    shapes = {"cube": cube(0.1), "sphere": Sphere(0.05), "hull": (0.05 * corners, faces),
              "needle": prism([(-0.01, -0.01), (0.01, -0.01), (0, 0.01)], -0.05, 0.05)}
    scene = Swept([shapes[bullet], Box((1.0, 1.0, 0.004))], 5e-4)
    for _ in range(sample_count(40, 1000)):
        at = np.array([*rng.uniform(-0.35, 0.35, 2), 0.0])
        aim = rng.standard_normal(3) * [0.3, 0.3, 1.0]
        aim *= np.sign(aim[2]) * rng.choice([-1.0, 1.0]) / np.linalg.norm(aim)
        if abs(aim[2]) < 0.3:
            continue
        share = rng.uniform(0.2, 0.8)
        R = any_turn(rng)
        spin = turn(rng.standard_normal(3), rng.uniform(0, 0.3))
        frame, place = any_turn(rng), rng.standard_normal(3)
        before = scene.poses((frame @ (at - share * aim) + place, frame @ R), (place, frame))
        after = scene.poses((frame @ (at + (1 - share) * aim) + place, frame @ spin @ R), (place, frame))
        entering = [e for e in scene.motion(before, after, crossing) if not e["leaving"]]
        assert entering
        facing = [e for e in entering if e["kind"] == VERTEX_FACE and e["body"][1] == 1]
        assert all(e["normal"] @ (frame @ aim) < 1e-9 or abs(e["normal"] @ frame[:, 2]) < 0.5 for e in facing)


def test_events_say_where_and_how(rng: np.random.Generator) -> None:
    """Points lie on their features at the crossing time, normals are unit and look from the host to the guest."""
    scene = Swept([hull(rng, 14), hull(rng, 14)], 0.02)
    breps, kinds = scene.breps, set()
    for _ in range(sample_count(30, 300)):
        before = scene.poses((rng.normal(0, 0.2, 3) + [0, 0, 2.5], any_turn(rng)), (np.zeros(3), any_turn(rng)))
        after = (before[0] - np.array([[0, 0, 2.0], [0, 0, 0], [0, 0, 0]]), before[1])
        start, end = world(breps, breps.inner, before), world(breps, breps.inner, after)
        for e in scene.motion(before, after):
            kinds.add(int(e["kind"]))
            a, b = e["feature"]
            now = (1 - e["time"]) * start + e["time"] * end
            n, (p, q) = e["normal"], e["point"]
            assert np.linalg.norm(n) == pytest.approx(1.0)
            np.testing.assert_allclose(p, q, atol=1e-9)
            if e["kind"] == VERTEX_FACE:
                assert e["shape"].tolist() == [breps.vertex_shape[a], breps.face_shape[b]]
                np.testing.assert_allclose(p, now[a], atol=1e-12)
                np.testing.assert_allclose(e["parameter"] @ now[breps.face_vertex[b]], q, atol=1e-9)
                host = int(breps.shape_body[breps.face_shape[b]])
                assert n @ before[1][host] @ breps.face_normal[b] > 0.99  # tilted by shrinking at most
            else:
                assert e["shape"].tolist() == [0, 1]
                for k, (edge, point) in enumerate(zip((a, b), (p, q), strict=True)):
                    i, j = now[breps.edge_vertex[edge]]
                    np.testing.assert_allclose(i + e["parameter"][k] * (j - i), point, atol=1e-9)
                    assert abs(n @ (j - i)) < 1e-9
                # edge 1 came from the side the normal looks to
                foot = [start[breps.edge_vertex[x], :] for x in (a, b)]
                line = np.cross(foot[0][1] - foot[0][0], foot[1][1] - foot[1][0])
                gap = (foot[1][0] - foot[0][0]) @ line / np.linalg.norm(line)
                assert np.sign(gap) * (line @ n) > 0
            assert e["body"].tolist() == breps.shape_body[e["shape"]].tolist()
    assert kinds == {VERTEX_FACE, EDGE_EDGE}


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_edges_on_the_way_out_are_marked() -> None:
    """A cube through a plate, edge on: it enters by edges over the rim's edge and leaves by others."""
    scene = Swept([cube(1.0), cube(1.0)], 0.01)
    R0, R1 = turn((0, 1, 0), np.pi / 4), turn((1, 0, 0), np.pi / 4)  # ridges up and down, crossing at right angles
    before = scene.poses(((0, 0, 3.0), R0), ((0, 0, 0), R1))
    after = scene.poses(((0, 0, -3.0), R0), ((0, 0, 0), R1))
    events = [e for e in scene.motion(before, after) if e["kind"] == EDGE_EDGE]
    first, last = min(events, key=lambda e: e["time"]), max(events, key=lambda e: e["time"])
    assert first["leaving"] == 0 and last["leaving"] == 1
    np.testing.assert_allclose(first["normal"], [0, 0, -1], atol=1e-12)  # outward of body 0, the upper one
    reach = 2 * np.sqrt(0.5) * 0.98
    assert first["time"] == pytest.approx((3 - reach) / 6) and last["time"] == pytest.approx((3 + reach) / 6)


# ---- flush boxes ----------------------------------------------------------------------------------------------------


def placed(scene: Swept, R: np.ndarray, x: np.ndarray, *positions: Any) -> Any:
    """Poses of bodies at positions in a frame turned by R at x."""
    return scene.poses(*[(R @ np.asarray(p, dtype=float) + x, R) for p in positions])


@BOTH
def test_stacked_boxes_touch_at_four_places_however_they_are_aligned(crossing: int, rng: np.random.Generator) -> None:
    """Corners on corners, edges on edges, or neither, in any frame: four contacts, all upright, none sideways."""
    scene = Swept([Box((1.0, 1.0, 1.0)), Box((1.0, 1.0, 1.0))], 0.0275)
    for shift in ((0, 0), (0.25, 0), (0, -0.5), (0.3, 0.2), (1e-6, 0), (1e-6, -1e-6), (1e-10, 1e-10)):
        for R, x in ((np.eye(3), np.zeros(3)), *((any_turn(rng), rng.normal(0, 2, 3)) for _ in range(5))):
            above, base = (*shift, 0.99), (0, 0, 0)
            for events in (scene.inflate(placed(scene, R, x, above, base), crossing),
                           scene.motion(placed(scene, R, x, (*shift, 1.9), base),
                                        placed(scene, R, x, (*shift, 0.8), base), crossing)):
                assert len(events) == 4
                assert all(abs(e["normal"] @ R[:, 2]) > 0.999 for e in events)
    literal = Swept([Box((1.0, 1.0, 1.0)), Box((1.0, 1.0, 1.0))], 0.0275, merge_coplanar=False)
    assert len(literal.inflate(literal.poses((0, 0, 0.99), (0, 0, 0)), crossing)) > 4


@BOTH
def test_box_slides_flush_along_a_wall(crossing: int, rng: np.random.Generator) -> None:
    """Distance zero, give or take rounding: neither sliding along it nor standing beside it is a crossing."""
    scene = Swept([Box((1.0, 1.0, 1.0)), Box((1.0, 4.0, 4.0))], 0.02)
    gap = 1.0 - 2 * 0.02  # the shrunken copies are flush
    for _ in range(sample_count(30, 300)):
        R, x, slide = any_turn(rng), rng.normal(0, 2, 3), rng.uniform(-1, 1, 4)
        before = placed(scene, R, x, (gap, slide[0], slide[1]), (0, 0, 0))
        after = placed(scene, R, x, (gap, slide[2], slide[3]), (0, 0, 0))
        assert scene.motion(before, after, crossing) == []
        flush = placed(scene, R, x, (1.0, slide[0], slide[1]), (0, 0, 0))
        assert scene.inflate(flush, crossing) == []


@BOTH
@pytest.mark.parametrize("step", [1e-13, 1e-12, 3e-12, 1e-10])
def test_creeping_contact_is_found_once(step: float, crossing: int) -> None:
    """In steps far smaller than the depth that counts as touch: nothing slips through between two sweeps."""
    graze, count = 5e-12, 0
    tilted = ALONG_Y @ turn((0, 0, 1), 0.3).T
    hits = [0, 0]
    while count < 20 or (count * step < 4 * graze and count < 500):
        high, low = 2 * graze - count * step, 2 * graze - (count + 1) * step
        hits[0] += vertex_time([0, 0, high], [0, 0, low], FLOOR, FLOOR, crossing, graze)[0] >= 0
        hits[1] += edge_time(ALONG_X, ALONG_X, tilted + [0, 0, high], tilted + [0, 0, low], crossing, graze)[0] >= 0
        count += 1
    assert hits == [1, 1]


# ---- concave contact ------------------------------------------------------------------------------------------------

NOTCH = prism([(-2, -2), (2, -2), (2, 1), (0.5, 1), (0.5, -1), (-0.5, -1), (-0.5, 1), (-2, 1)], -1, 1)  # 1 wide, 2 deep


def peg(width: float) -> Any:
    return Box((width, 2.0, 1.0))


def test_peg_slides_into_a_notch_untouched() -> None:
    """A convex hull would stop it at the rim."""
    scene = Swept([peg(0.9), NOTCH], 0.01)
    before, after = scene.poses((0, 3.0, 0), (0, 0, 0)), scene.poses((0, 0.05, 0), (0, 0, 0))
    assert scene.motion(before, after) == [] and scene.inflate(after) == []


def test_peg_reaches_the_bottom_of_the_notch() -> None:
    scene = Swept([peg(0.9), NOTCH], 0.01)
    before, after = scene.poses((0, 3.0, 0), (0, 0, 0)), scene.poses((0, -0.5, 0), (0, 0, 0))
    events = scene.motion(before, after)
    assert {(int(e["kind"]), *e["body"]) for e in events} == {(VERTEX_FACE, 0, 1)} and len(events) == 4
    for e in events:
        np.testing.assert_allclose(e["normal"], [0, 1, 0], atol=1e-12)
        assert e["time"] == pytest.approx(3.02 / 3.5)
    resting = scene.inflate(scene.poses((0, -0.005, 0), (0, 0, 0)))
    assert len(resting) == 4 and all(e["normal"] @ [0, 1, 0] > 0.999 for e in resting)


@pytest.mark.nojit
def test_tight_peg_is_held_by_both_walls() -> None:
    """A peg wider than the notch by 0.01 presses on both sides, deep inside the hull of the notch."""
    scene = Swept([peg(1.01), NOTCH], 0.01)
    events = scene.inflate(scene.poses((0, 0.2, 0), (0, 0, 0)))
    push = {tuple(np.round(e["normal"], 6) + 0.0) for e in events if e["kind"] == VERTEX_FACE}
    assert push == {(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)}
    # the peg's corners on the walls; the rim of the notch meets the peg's edges
    assert {tuple(e["body"]) for e in events if e["kind"] == VERTEX_FACE} == {(0, 1)}
    rim = [e for e in events if e["kind"] == EDGE_EDGE]
    assert len(rim) == 4 and all(abs(e["normal"][0]) > 0.999 for e in rim)


def test_l_hangs_on_an_edge() -> None:
    """The inner corner of an L over the edge of a box: both of its inner faces rest, nothing else touches."""
    table = Box((2.0, 2.0, 2.0))
    # the L of l_shape(): arms along x and y; turned so that its inner faces look down (-y) and to the left (-x)
    scene = Swept([l_shape(1.0), table], 0.01)
    R = np.diag([-1.0, -1.0, 1.0])
    corner = np.array([1.0, 1.0, 0.0])  # the table's edge runs along z at x = y = 1
    inner = R @ np.array([0.5, 0.5, 0.0])
    apart = scene.inflate(scene.poses((corner - inner + [0.05, 0.05, 0], R), (0, 0, 0)))
    assert apart == []
    events = scene.inflate(scene.poses((corner - inner - [0.004, 0.004, 0], R), (0, 0, 0)))
    assert events
    normals = {tuple(np.round(np.abs(e["normal"]), 6) + 0.0) for e in events}
    assert normals == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}
    falling = scene.motion(scene.poses((corner - inner + [0, 3, 0], R), (0, 0, 0)),
                           scene.poses((corner - inner - [0, 3, 0], R), (0, 0, 0)))
    first = min(falling, key=lambda e: e["time"])
    assert abs(first["normal"][1]) > 0.999 and first["time"] == pytest.approx((3 + 0.02) / 6)


def test_finger_in_the_notch_of_a_heart() -> None:
    """A thin bar between the lobes: free where the hull is solid, caught at the notch's bottom."""
    vertices, faces = heart()
    notch = vertices[(np.abs(vertices[:, 0]) < 1e-12) & (vertices[:, 1] > 0)]
    bottom = notch[:, 1].min()
    assert bottom < vertices[:, 1].max() - 0.01
    scene = Swept([Box((0.004, 0.004, 0.2)), (vertices, faces)], 5e-4)
    R = turn((0, 0, 1), np.pi / 4)
    reach = 0.002 * np.sqrt(2)
    free = scene.poses(((0, bottom + reach + 0.002, 0), R), (0, 0, 0))
    assert scene.inflate(free) == []
    assert vertices[:, 1].max() > bottom + reach + 0.002  # below the lobes' tops: inside the hull
    caught = scene.inflate(scene.poses(((0, bottom + reach - 0.0004, 0), R), (0, 0, 0)))
    assert caught
    up = scene.motion(free, scene.poses(((0, -0.3, 0), R), (0, 0, 0)))
    assert up and min(e["time"] for e in up) < 0.05


# ---- invariants -----------------------------------------------------------------------------------------------------


def packed(rng: np.random.Generator, margin: float = 0.02) -> tuple[Swept, Any, Any]:
    scene = Swept([hull(rng, 10), l_shape(), cube(), torus(10, 6, 0.8, 0.25)], margin)
    before = scene.poses(*[(rng.uniform(-0.9, 0.9, 3), any_turn(rng)) for _ in range(4)])
    after = (before[0] + rng.normal(0, 0.3, before[0].shape) * (np.arange(5) < 4)[:, None], before[1].copy())
    for b in range(4):
        after[1][b] = turn(rng.standard_normal(3), rng.uniform(0, 0.2)) @ before[1][b]
    return scene, before, after


@BOTH
def test_a_scene_moved_as_a_whole_has_the_same_contacts(crossing: int, rng: np.random.Generator) -> None:
    seen = 0
    while seen < sample_count(40, 400):
        scene, before, after = packed(rng)
        R, x = any_turn(rng), rng.normal(0, 3, 3)

        def moved(pose: Any, R: np.ndarray = R, x: np.ndarray = x) -> Any:
            return pose[0] @ R.T + x, R @ pose[1]

        for one, other in ((scene.motion(before, after, crossing), scene.motion(moved(before), moved(after), crossing)),
                           (scene.inflate(after, crossing), scene.inflate(moved(after), crossing))):
            assert [e["key"] for e in one] == [e["key"] for e in other]
            for e, f in zip(one, other, strict=True):
                assert e["time"] == pytest.approx(f["time"], abs=1e-9)
                np.testing.assert_allclose(e["point"] @ R.T + x, f["point"], atol=1e-8)
                np.testing.assert_allclose(R @ e["normal"], f["normal"], atol=1e-7)
            seen += len(one)


@pytest.mark.parametrize("size", [1e-3, 1e-1, 10.0, 1e3])
def test_any_size_alike(size: float, rng: np.random.Generator) -> None:
    meshes = [hull(rng, 10), l_shape(), cube(), torus(10, 6, 0.8, 0.25)]
    one = Swept(meshes, 0.02)
    other = Swept([(size * v, f) for v, f in meshes], 0.02 * size)
    before = one.poses(*[(rng.uniform(-0.9, 0.9, 3), any_turn(rng)) for _ in range(4)])
    after = (before[0] + rng.normal(0, 0.3, before[0].shape) * (np.arange(5) < 4)[:, None], before[1])
    for crossing in (LINEAR, CUBIC):
        small = one.motion(before, after, crossing)
        large = other.motion((size * before[0], before[1]), (size * after[0], after[1]), crossing)
        assert small and [e["key"] for e in small] == [e["key"] for e in large]
        np.testing.assert_allclose([e["time"] for e in small], [e["time"] for e in large], atol=1e-9)


def test_the_order_of_bodies_changes_nothing(rng: np.random.Generator) -> None:
    def named(scene: Swept, events: list[dict[str, Any]], numbers: np.ndarray) -> set[Any]:
        result, breps = set(), scene.breps
        for e in events:
            firsts = [breps.shape_edge] * 2 if e["kind"] == EDGE_EDGE else [breps.shape_vertex, breps.shape_face]
            parts = [(int(numbers[s]), int(f - first[s, 0]))
                     for s, f, first in zip(e["shape"], e["feature"], firsts, strict=True)]
            parts = sorted(parts) if e["kind"] == EDGE_EDGE else parts
            result.add((int(e["kind"]), *parts, round(float(e["time"]), 9)))
        return result

    meshes, seen = [hull(rng, 10), l_shape(), cube(), torus(10, 6, 0.8, 0.25)], 0
    order = np.array([2, 0, 3, 1])
    one, other = Swept(meshes, 0.02), Swept([meshes[i] for i in order], 0.02)
    while seen < sample_count(20, 200):
        poses = [(rng.uniform(-0.7, 0.7, 3), any_turn(rng)) for _ in range(4)]
        a, b = one.inflate(one.poses(*poses)), other.inflate(other.poses(*[poses[i] for i in order]))
        assert named(one, a, np.arange(4)) == named(other, b, order)
        seen += len(a)


def test_events_are_sorted_and_unique(rng: np.random.Generator) -> None:
    scene, before, after = packed(rng)
    keys = [e["key"] for e in scene.motion(before, after)]
    assert keys == sorted(set(keys)) and scene.events.counts[LOST] == 0
    again = make_sweeps(scene.breps)
    for record in (again, scene.events):  # whatever the work space held before
        for name, field in record.fields.items():
            if field.ndim > 0:
                getattr(record, name)[...] = -7 if field.dtype is int else np.nan
    sweep_motion(scene.breps, again, scene.events, (*before, *after), LINEAR)
    assert scene.events.key[: scene.events.counts[EVENTS]].tolist() == keys


@pytest.mark.boundscheck
def test_what_finds_no_room_is_counted(rng: np.random.Generator) -> None:
    scene, before, after = packed(rng)
    after[0][:4] *= 0.1  # all in one heap
    everything = scene.motion(before, after)
    total = len(everything)
    assert total > 8
    for capacity in (0, 1, total // 2):
        few = make_events(capacity)
        sweep_motion(scene.breps, scene.sweeps, few, (*before, *after), LINEAR)
        assert few.counts[EVENTS] <= capacity and few.counts[LOST] >= total - few.counts[EVENTS] > 0
        assert few.counts[PAIRS_LOST] == 0
    enough = make_events(total)
    sweep_motion(scene.breps, scene.sweeps, enough, (*before, *after), LINEAR)
    assert enough.counts[EVENTS] == total


@BOTH
@pytest.mark.boundscheck
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_poses_that_are_not_numbers_give_no_event(bad: float, crossing: int, rng: np.random.Generator) -> None:
    scene, before, after = packed(rng)
    for where in range(3):
        spoiled = (after[0].copy(), after[1].copy())
        if where == 2:
            spoiled[1][1] = bad
        else:
            spoiled[0][1, where] = bad
        for events in (scene.motion(before, spoiled, crossing), scene.inflate(spoiled, crossing)):
            for e in events:
                assert np.isfinite(e["time"])
                if np.isfinite(bad):
                    continue
                assert 1 not in e["body"]
                assert np.isfinite(e["normal"]).all() and np.isfinite(e["point"]).all()


def test_many_bodies_use_the_grid(rng: np.random.Generator) -> None:
    """Forty cubes (too many pairs for a list) on a floor: the same contacts as body pairs tried one by one."""
    count = 40
    scene = Swept([cube(0.3) for _ in range(count)], 0.01)
    assert scene.breps.pairs_listed == 0
    at = scene.poses(*[(rng.uniform(0, 1.2, 3), any_turn(rng)) for _ in range(count)])
    found = features(scene.inflate(at))
    two, expected = Swept([cube(0.3), cube(0.3)], 0.01), {}
    for a in range(count):
        for b in range(a + 1, count):
            if np.linalg.norm(at[0][a] - at[0][b]) < 0.3 * np.sqrt(3):
                pose = two.poses((at[0][a], at[1][a]), (at[0][b], at[1][b]))
                for (kind, i, j), t in features(two.inflate(pose)).items():
                    spans = (8, 12) if kind == VERTEX_FACE else (18, 18)
                    shift = [(a, b)[x // n] * n + x % n for x, n in zip((i, j), spans, strict=True)]
                    expected[kind, *shift] = t
    assert found == expected and len(found) > 20


def test_kernels_from_inside_and_outside_agree() -> None:
    """Called on records from Python, with every shape and body in its place."""
    scene = Swept([cube(1.0)], 0.01)
    sweep_inflate(scene.breps, scene.sweeps, scene.events, *scene.poses((0, 0, 0)), LINEAR)
    assert scene.events.counts.tolist() == [0, 0, 0, 0]


@BOTH
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_boxes_of_any_size_on_the_ground(size: float, crossing: int) -> None:
    """A plane enters as a slab of kilometres: a millimetre's box stands on it as a kilometre's does, far out too."""
    scene = Scene()
    scene.add_ground()
    scene.add_box("box", size=(size, size, size), mass=1.0)
    breps = make_breps(compile_scene(scene), 0.0275 * size)
    sweeps, events = make_sweeps(breps), make_events(64)
    np.testing.assert_allclose(breps.shape_margin, 0.0275 * size)
    for x, y in ((0.0, 0.0), (0.3 * size, -7.7 * size), (300.0, -400.0)):
        at = np.array([[x, y, 0.49 * size], [0, 0, 0]]), np.tile(np.eye(3), (2, 1, 1))
        sweep_inflate(breps, sweeps, events, *at, crossing)
        found = rows(events)
        assert [int(e["kind"]) for e in found] == [VERTEX_FACE] * 4
        for e in found:
            np.testing.assert_allclose(e["normal"], [0, 0, 1], atol=1e-9)
            assert e["time"] == pytest.approx(1 - 0.01 / 0.055, abs=1e-6)
        thrown = at[0] - np.array([[0, 0, 50 * size], [0, 0, 0]])
        sweep_motion(breps, sweeps, events, (*at, thrown, at[1]), crossing)
        assert len(rows(events)) >= 4
