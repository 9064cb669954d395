"""Shrunken copies: closed forms, every row of the table, what is refused, and any size."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sesshoku.collision.swept.polyhedra import polyhedron, solid
from sesshoku.collision.swept.shrink import (
    face_tree,
    least_squares,
    passes_through,
    shrink,
    smallest,
    vertex_offset,
    vertex_offsets,
)
from sesshoku.errors import SceneError
from sesshoku.robots.heart import heart
from sesshoku.scene.geometry.mesh import triangle_mesh
from sesshoku.scene.geometry.repair import signed_volume
from sesshoku.scene.geometry.shapes import Sphere
from support import sample_count
from swept import Triangles, any_turn, cube, divided, hull, inside, l_shape, prism, torus

MARGIN = 0.02


def shrunken(mesh: Triangles, margin: float = MARGIN) -> tuple[np.ndarray, float]:
    return shrink(polyhedron(*mesh, "mesh"), margin, "mesh")


def offset_of(normals: list[np.ndarray]) -> np.ndarray:
    """Offset of a vertex among faces of these normals, for a margin of one."""
    n, out = np.array(normals, dtype=float), np.full(3, np.nan)
    vertex_offset(n, np.full_like(n, np.nan), out)
    return out


# ---- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_cube_becomes_a_smaller_cube_exactly() -> None:
    vertices, faces = cube(1.0)
    inner, applied = shrunken((vertices, faces))
    assert applied == MARGIN
    np.testing.assert_allclose(inner, vertices * (0.5 - MARGIN) / 0.5, atol=1e-15)


def test_tetrahedron_becomes_a_homothetic_one_exactly(rng: np.random.Generator) -> None:
    """Any tetrahedron: offset planes are those of the copy scaled by 1 - margin / inradius about the incentre."""
    for _ in range(sample_count(20, 200)):
        corners = rng.standard_normal((4, 3))
        faces = np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)])
        if signed_volume(corners, faces) < 0:
            faces = faces[:, ::-1]
        mesh = polyhedron(corners, faces, "mesh")
        inradius = 3 * signed_volume(corners, faces) / mesh.face_area.sum()
        opposite = [next(v for v in range(4) if v not in face) for face in faces.tolist()]
        incentre = corners[opposite].T @ mesh.face_area / mesh.face_area.sum()
        if inradius < 0.05:
            continue
        margin = 0.01 * inradius
        inner, applied = shrink(mesh, margin, "mesh")
        assert applied == margin
        np.testing.assert_allclose(inner, incentre + (corners - incentre) * (1 - margin / inradius), atol=1e-12)


def test_reflex_edge_moves_into_the_solid() -> None:
    vertices, faces = l_shape(1.0)
    inner, _ = shrunken((vertices, faces))
    reflex = np.isclose(vertices[:, :2], 0.5).all(axis=1)
    assert reflex.sum() == 2
    np.testing.assert_allclose(inner[reflex, :2], 0.5 - MARGIN, atol=1e-15)
    tip = np.isclose(vertices[:, 0], 1.0) & np.isclose(vertices[:, 1], 0.5)
    np.testing.assert_allclose(inner[tip, :2], [[1 - MARGIN, 0.5 - MARGIN]] * 2, atol=1e-15)


@pytest.mark.parametrize("times", [1, 2])
def test_divided_cube_equals_the_plain_one(times: int) -> None:
    """Triangles in one plane weigh as one: corners, edge middles (two normals) and face middles (one)."""
    mesh = cube(1.0)
    for _ in range(times):
        mesh = divided(*mesh)
    inner, applied = shrunken(mesh)
    assert applied == MARGIN
    on_side = np.isclose(np.abs(mesh[0]), 0.5)  # coordinates that a face holds at +-1/2; the others stay
    expected = np.where(on_side, mesh[0] - MARGIN * np.sign(mesh[0]), mesh[0])
    np.testing.assert_allclose(inner, expected, atol=1e-15)


def test_sphere_stays_a_sphere() -> None:
    vertices, faces = solid(Sphere(0.5), 1.0)
    inner, applied = shrunken((vertices, faces))
    assert applied == MARGIN
    radius = np.linalg.norm(inner, axis=1)
    assert (radius < 0.5 - MARGIN + 1e-12).all() and (radius > 0.5 - 1.1 * MARGIN).all()
    assert (np.linalg.norm(np.cross(inner, vertices), axis=1) < 0.05 * MARGIN).all()


# ---- the table ------------------------------------------------------------------------------------------------------


def test_one_two_and_three_normals(rng: np.random.Generator) -> None:
    R = any_turn(rng)
    x, y, z = R.T
    np.testing.assert_allclose(offset_of([x]), -x, atol=1e-15)
    np.testing.assert_allclose(offset_of([x, x + 1e-8 * y]), -x, atol=1e-7)
    np.testing.assert_allclose(offset_of([x, y]), -x - y, atol=1e-14)
    np.testing.assert_allclose(offset_of([x, y, z]), -x - y - z, atol=1e-14)
    np.testing.assert_allclose(offset_of([x, x, y, z, z + 1e-9 * x]), -x - y - z, atol=1e-7)
    # two planes at an acute angle: along the bisector, by 1 / cos of half the angle between the normals
    n = [np.cos(1.4) * x + s * np.sin(1.4) * y for s in (1, -1)]
    np.testing.assert_allclose(offset_of(n), -x / np.cos(1.4), atol=1e-12)
    # three dependent normals (a bend in a strip): the outer two decide
    np.testing.assert_allclose(offset_of([n[0], n[1], x]), -x / np.cos(1.4), atol=1e-12)


def test_apex_of_a_pyramid(rng: np.random.Generator) -> None:
    """Equal slopes all round: the apex sinks along the axis by margin / cos(slope), however many sides there are."""
    R = any_turn(rng)
    for sides in (3, 4, 5, 8, 40):
        turn = 2 * np.pi * np.arange(sides) / sides
        n = np.column_stack([np.sin(1.1) * np.cos(turn), np.sin(1.1) * np.sin(turn), np.full(sides, np.cos(1.1))])
        expected = R @ [0, 0, -1 / np.cos(1.1)]
        np.testing.assert_allclose(offset_of(list(rng.permutation(n @ R.T))), expected, atol=1e-10)


def nearest_by_cases(normals: np.ndarray, depth: float, start: np.ndarray) -> np.ndarray | None:
    """Nearest point to `start` with n . d <= -depth: all sets of up to three planes tried."""
    best = None
    for size in range(4):
        for chosen in combinations(range(len(normals)), size):
            N = normals[list(chosen)]
            if size == 3 and abs(np.linalg.det(N)) < 1e-9:
                continue
            d = start - (np.linalg.pinv(N) @ (N @ start + depth) if size else 0.0)
            if (normals @ d <= -depth + 1e-9).all() and (
                    best is None or np.linalg.norm(d - start) < np.linalg.norm(best - start)):
                best = d
    return best


def test_smallest_offset_against_all_cases(rng: np.random.Generator) -> None:
    feasible = 0
    for _ in range(sample_count(150, 2000)):
        n = rng.standard_normal((rng.integers(1, 9), 3)) + rng.uniform(0, 2) * np.array([0, 0, 1.0])
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        expected = nearest_by_cases(n, 1.0, np.zeros(3))
        found = np.full(3, np.nan)
        if smallest(n, len(n), 1.0, found):
            feasible += 1
            assert expected is not None
            np.testing.assert_allclose(found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
        else:
            assert expected is None or np.linalg.norm(expected) > 900.0
        start = rng.standard_normal(3)
        moved = start.copy()
        if smallest(n, len(n), 0.0, moved):
            wanted = nearest_by_cases(n, 0.0, start)
            assert wanted is not None
            np.testing.assert_allclose(moved, wanted, atol=1e-7)
    assert feasible > 20


def test_saddles_take_least_squares_and_move_no_plane_outward(rng: np.random.Generator) -> None:
    """Normals all round, in conflict: no offset moves every plane inward."""
    R = any_turn(rng)
    n = np.array([(1, 0, 0.2), (-1, 0, 0.2), (0, 1, -0.2), (0, -1, -0.2)]) @ R.T
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    assert not smallest(n, 4, 1.0, np.zeros(3))
    assert (n @ offset_of(list(n)) <= 1e-12).all()
    for _ in range(sample_count(100, 1000)):
        n = rng.standard_normal((rng.integers(4, 10), 3))
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        d = offset_of(list(n))
        assert np.isfinite(d).all() and (n @ d <= 1e-9).all()
        fitted = np.zeros(3)
        least_squares(n, len(n), fitted)
        np.testing.assert_allclose(fitted, np.linalg.lstsq(n, -np.ones(len(n)), rcond=None)[0], atol=1e-4, rtol=1e-4)


# ---- whole meshes ---------------------------------------------------------------------------------------------------


def test_every_plane_of_a_convex_mesh_moves_in_by_the_margin(rng: np.random.Generator) -> None:
    for _ in range(sample_count(20, 200)):
        mesh = polyhedron(*hull(rng, int(rng.integers(4, 30))), "mesh")
        inner, applied = shrink(mesh, 1e-3, "mesh")
        moved = np.einsum("fkj,fj->fk", (inner - mesh.vertices)[mesh.faces], mesh.face_normal)
        assert (moved <= -applied * (1 - 1e-6)).all()
        assert 0 < signed_volume(inner, mesh.faces) < signed_volume(mesh.vertices, mesh.faces)


@pytest.mark.parametrize("mesh", [heart(), torus(16, 10, 0.06, 0.025), l_shape(0.1),
                                  prism([(0, 0), (4, 0), (4, 3), (3, 3), (3, 1), (1, 1), (1, 3), (0, 3)], 0, 1)],
                         ids=["heart", "torus", "l", "notch"])  # fmt: skip
def test_concave_copies_stay_inside(mesh: Triangles) -> None:
    inner, applied = shrunken(mesh, 1e-3)
    assert applied == 1e-3
    assert all(inside(p, *mesh) for p in inner)


@pytest.mark.parametrize("thickness", [0.05, 0.01, 1e-3, 1e-4])
def test_thin_plates_shrink_by_less(thickness: float) -> None:
    plate = prism([(0, 0), (1, 0), (1, 1), (0, 1)], 0, thickness)
    inner, applied = shrunken(plate, 0.04)
    assert applied < 0.5 * thickness and np.log2(0.04 / applied) == round(np.log2(0.04 / applied))
    assert applied > 0.2 * thickness  # halved no more often than it must be
    np.testing.assert_allclose([inner[:, 2].min(), inner[:, 2].max()], [applied, thickness - applied], atol=1e-15)


def test_a_cube_never_turns_inside_out() -> None:
    """A margin beyond the middle would mirror it onto itself with all normals right."""
    for margin in (0.5, 0.6, 0.99, 3.0, 1e6):
        inner, applied = shrunken(cube(1.0), margin)
        np.testing.assert_allclose(inner, cube(1.0)[0] * (1 - 2 * applied), atol=1e-12)
        assert applied < 0.5


@pytest.mark.parametrize("height", [0.1, 0.01, 1e-3])
def test_acute_wedges_and_needles(height: float) -> None:
    """A blade's edge retreats by far more than the margin; what is left is still the same solid, smaller."""
    for mesh in (prism([(0, 0), (1, -height), (1, height)], 0, 1),  # blade
                 prism([(0, 0), (height, 0), (0, height)], 0, 1)):  # needle
        inner, applied = shrunken(mesh, 0.04)
        assert 1e-6 < applied <= 0.04
        assert all(inside(p, *mesh) for p in inner)
        assert signed_volume(inner, mesh[1]) > 0


def test_vertex_that_would_pass_through_a_far_wall() -> None:
    """An arrow whose sharp tip retreats through the notch behind it: no triangle turns, so only the wall tells."""
    vertices, faces = prism([(0, 0), (1, 0.2), (0.15, 0), (1, -0.2)][::-1], -1, 1)
    assert signed_volume(vertices, faces) > 0
    mesh = polyhedron(vertices, faces, "mesh")
    ways = vertex_offsets(mesh)
    tip = np.flatnonzero(np.isclose(vertices[:, 0], 0.0))
    far = vertices.copy()
    far[tip] += 0.2 * np.array([1, 0, 0])
    far[tip, 2] *= 0.9
    tree = face_tree(vertices, faces)
    assert passes_through(vertices, far, faces, *tree)
    assert not passes_through(vertices, vertices + 1e-4 * ways, faces, *tree)
    inner, applied = shrink(mesh, 0.1, "mesh")
    assert applied < 0.1 and all(inside(p, vertices, faces) for p in inner)


def test_a_fold_without_thickness_is_refused_by_name() -> None:
    blade = prism([(0, 0), (1, -1e-8), (1, 1e-8)], 0, 1)
    with pytest.raises(SceneError, match=r"mesh of body 'leaf'.*no shrunken copy.*remove needles"):
        shrink(polyhedron(*blade, "mesh of body 'leaf'"), 0.01, "mesh of body 'leaf'")


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_any_size_alike(size: float, rng: np.random.Generator) -> None:
    for vertices, faces in (hull(rng), l_shape(), heart(), torus(12, 8, 1.0, 0.3)):
        R = any_turn(rng)
        one, applied = shrunken((vertices, faces), 2e-3)
        other, scaled = shrunken((size * vertices @ R.T, faces), size * 2e-3)
        assert scaled == pytest.approx(size * applied)
        np.testing.assert_allclose(other / size, one @ R.T, atol=1e-9)


def test_repaired_meshes_from_files_shrink() -> None:
    """What the scene's repair hands over: a hole filled, doubled vertices merged."""
    vertices, faces = divided(*cube(0.2))
    soup = vertices[faces].reshape(-1, 3)
    mesh = triangle_mesh(soup[3:], np.arange(len(soup) - 3).reshape(-1, 3), decompose=False)
    inner, applied = shrink(polyhedron(mesh.vertices, mesh.faces, "mesh"), 0.01, "mesh")
    assert mesh.repairs and applied == 0.01
    assert np.abs(inner).max() == pytest.approx(0.09, abs=1e-12)
