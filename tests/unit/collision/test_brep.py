"""Edge-centred lists of polyhedra: topology, stated meshes, frames, filters, what counts as a corner."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.collision.contacts import PAIRS
from sesshoku.collision.swept.brep import Breps, make_breps
from sesshoku.collision.swept.polyhedra import polyhedron, solid
from sesshoku.collision.swept.sweep import make_events, make_sweeps, sweep_inflate
from sesshoku.dynamics.data import make_data
from sesshoku.dynamics.frames import frame_poses
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.errors import SceneError
from sesshoku.robots.heart import heart
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry, Joint
from sesshoku.scene.geometry.mesh import convex_mesh, triangle_mesh
from sesshoku.scene.geometry.repair import signed_volume
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import quaternion_to_matrix
from swept import INERTIAL, Swept, any_turn, cube, divided, hull, l_shape, prism, torus
from trees import random_inertial, unit

MESHES = [cube(), l_shape(), heart(), divided(*cube()), torus(12, 8, 1.0, 0.3)]


def check_lists(breps: Breps) -> None:
    """Everything that the lists promise about each other."""
    for e, (a, b) in enumerate(breps.edge_vertex):
        right, left = breps.edge_face[e]
        runs = {f: [(int(i), int(j)) for i, j in zip(t, np.roll(t, -1), strict=True)]
                for f, t in ((int(f), breps.face_vertex[f]) for f in (right, left))}
        assert (b, a) in runs[int(right)] and (a, b) in runs[int(left)]
        assert breps.edge_shape[e] == breps.vertex_shape[a] == breps.vertex_shape[b] == breps.face_shape[right]
    for f, (t, edges) in enumerate(zip(breps.face_vertex, breps.face_edge, strict=True)):
        for k in range(3):
            assert set(breps.edge_vertex[edges[k]]) == {t[k], t[(k + 1) % 3]} and f in breps.edge_face[edges[k]]
    around: list[list[int]] = [[] for _ in range(breps.vertex_count)]
    for e, ends in enumerate(breps.edge_vertex):
        for v in ends:
            around[v].append(e)
    for v, edges in enumerate(around):
        assert sorted(breps.vertex_edge[slice(*breps.vertex_edge_start[v:v + 2])]) == edges


@pytest.mark.boundscheck
def test_lists_of_several_meshes_hold_together() -> None:
    breps = Swept(MESHES, 1e-3).breps
    check_lists(breps)
    for s in range(breps.shape_count):
        V, E, F = (int(np.diff(span[s])[0]) for span in (breps.shape_vertex, breps.shape_edge, breps.shape_face))
        assert (0 if s == 4 else 2) == V - E + F  # Euler; the torus has a hole
        assert 2 * E == 3 * F
    of_body = [breps.body_shape[slice(*breps.body_shape_start[b:b + 2])].tolist() for b in range(breps.body_count)]
    assert of_body == [[0], [1], [2], [3], [4], []]


def test_planes_of_faces(rng: np.random.Generator) -> None:
    """Face planes contain their corners, look outward, and agree with the right-hand rule."""
    vertices, faces = hull(rng)
    breps = Swept([(vertices, faces)], 1e-4).breps
    corners = breps.vertex[breps.face_vertex]
    heights = np.einsum("fkj,fj->fk", corners, breps.face_normal) + breps.face_offset[:, None]
    assert np.abs(heights).max() < 1e-14
    assert (breps.vertex.mean(axis=0) @ breps.face_normal.T + breps.face_offset < 0).all()
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(doubled, 2 * breps.face_area[:, None] * breps.face_normal, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(breps.vertex_normal, axis=1), 1.0, atol=1e-12)


def test_cube_has_twelve_edges_and_eight_corners_however_it_is_cut() -> None:
    for mesh in (cube(), divided(*cube()), divided(*divided(*cube()))):
        breps = Swept([mesh], 0.01).breps
        assert breps.patch_count == 6 and breps.vertex_used.sum() == 8
        corners = breps.vertex[breps.vertex_used == 1]
        np.testing.assert_allclose(np.abs(corners), 0.5, atol=1e-15)
        ends = breps.vertex[breps.edge_vertex[breps.edge_used == 1]]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum()
        assert length == pytest.approx(12.0, abs=1e-12)
        np.testing.assert_allclose(breps.patch_area, 1.0, atol=1e-12)
        literal = Swept([mesh], 0.01, merge_coplanar=False).breps
        assert literal.vertex_used.all() and literal.edge_used.all()


def test_concave_edges_are_the_reflex_ones() -> None:
    breps = Swept([l_shape()], 0.01).breps
    concave = breps.vertex[breps.edge_vertex[breps.edge_concave == 1]]
    assert len(concave) == 1
    np.testing.assert_allclose(np.sort(concave[0], axis=0), [[0.5, 0.5, -0.5], [0.5, 0.5, 0.5]])
    assert Swept([cube()], 0.01).breps.edge_concave.sum() == 0
    ring = Swept([torus(12, 8, 1.0, 0.3)], 0.01).breps
    concave = ring.vertex[ring.edge_vertex[ring.edge_concave == 1]].mean(axis=1)
    assert 0 < len(concave) < ring.edge_count and np.linalg.norm(concave[:, :2], axis=1).max() < 1.0


@pytest.mark.parametrize(("angle", "within"), [(10, True), (45, True), (80, True), (-10, False), (100, False),
                                               (225, False)])  # fmt: skip
def test_order_of_the_faces_of_an_edge_makes_the_wedge_test_right(angle: float, within: bool) -> None:
    """(5.7) with n turning from the normal of one face (0 degrees) to that of the other (90) over every cube edge."""
    breps = Swept([cube()], 0.01).breps
    for e in np.flatnonzero(breps.edge_used):
        a, b = breps.vertex[breps.edge_vertex[e]]
        right, left = breps.face_normal[breps.edge_face[e]]
        n = np.cos(np.radians(angle)) * right + np.sin(np.radians(angle)) * left
        assert (np.cross(n, right) @ (b - a) >= 0 and np.cross(n, left) @ (b - a) <= 0) == within


STATED: list[tuple[Shape, int, int, float]] = [
    (Box((1, 2, 3)), 8, 12, 6.0),
    (Cylinder(0.5, 2.0), 50, 96, np.pi * 0.25 * 2.0),
    (Sphere(0.5), 162, 320, np.pi / 6),
    (Capsule(0.5, 1.0), 290, 576, np.pi * (0.25 + 1 / 6)),
    (Plane(), 8, 12, 2000.0 * 2000.0 * 100.0),
    (convex_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), 4, 4, 1 / 6),
]


@pytest.mark.parametrize(("shape", "vertex_count", "face_count", "volume"), STATED, ids=[row[0].kind for row in STATED])
def test_stated_meshes(shape: Shape, vertex_count: int, face_count: int, volume: float) -> None:
    vertices, faces = solid(shape, 1.0)
    assert (len(vertices), len(faces)) == (vertex_count, face_count)
    held = signed_volume(vertices, faces)
    flat = shape.kind in ("box", "plane", "convex")
    assert held == pytest.approx(volume, rel=1e-12) if flat else 0.94 * volume < held < volume
    check_lists(Swept([(vertices, faces)], 1e-3).breps)
    if isinstance(shape, Plane):
        assert vertices[:, 2].max() == 0.0
    if isinstance(shape, Sphere):
        np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.5, atol=1e-15)


def test_slab_exceeds_the_largest_shape() -> None:
    vertices, _ = solid(Plane(), 1e3)
    assert np.ptp(vertices[:, 0]) == pytest.approx(2e5)


def test_open_mesh_is_refused_by_name() -> None:
    vertices, faces = cube()
    with pytest.raises(SceneError, match=r"mesh of body 'crate'.*not closed and oriented"):
        polyhedron(vertices, faces[:-1], "mesh of body 'crate'")
    with pytest.raises(SceneError, match="not closed and oriented"):
        polyhedron(vertices, np.vstack([faces[:-1], faces[-1:, ::-1]]), "mesh")


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan, np.inf])
def test_margin_must_be_positive(margin: float) -> None:
    with pytest.raises(SceneError, match="margin"):
        Swept([cube()], margin)


def test_sliver_triangles_take_the_plane_around_them() -> None:
    """A corner on an edge of a cube's face: the triangle between has no area, and nothing turns NaN."""
    vertices, faces = cube()
    a, b = 0, 1
    vertices = np.vstack([vertices, 0.5 * (vertices[a] + vertices[b])])
    middle = len(vertices) - 1
    cut = [t for t in faces.tolist() if {a, b} <= set(t)]
    split = []
    for i, j, k in [np.roll(cut[0], -cut[0].index(next(v for v in cut[0] if v not in (a, b)))).tolist()]:
        split += [(i, j, middle), (i, middle, k)]
    # the other triangle at this edge stays whole; a sliver closes the gap
    i, j, k = np.roll(cut[1], -cut[1].index(next(v for v in cut[1] if v not in (a, b)))).tolist()
    rest = [t for t in faces.tolist() if t not in cut]
    mesh = polyhedron(vertices, np.array([*rest, *split, (i, j, k), (k, j, middle)]), "mesh")
    assert len(mesh.patch_normal) == 6 and np.isfinite(mesh.face_normal).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.face_normal, axis=1), 1.0, atol=1e-12)


def test_rounded_meshes_keep_their_flat_faces(rng: np.random.Generator) -> None:
    """Corners rounded to single precision, as in STL files, lie in one plane all the same."""
    vertices, faces = divided(*divided(*cube(0.137)))
    R = any_turn(rng)
    breps = Swept([((vertices @ R.T).astype(np.float32).astype(float), faces)], 1e-3).breps
    assert breps.patch_count == 6 and breps.vertex_used.sum() == 8


# ---- in a scene -----------------------------------------------------------------------------------------------------


def test_vertices_are_where_the_scene_puts_them(rng: np.random.Generator) -> None:
    """Body frames begin at centres of mass; links of several bodies, moving and fixed ones."""
    scene = Scene()
    scene.add_body("wall", geometries=[Geometry(Box((1, 2, 3)), position=(1, 2, 3), rotation=unit(rng, 4))],
                   joint=Joint("fixed"), position=(0.5, 0, 0), rotation=unit(rng, 4))
    scene.add_body("base", inertial=random_inertial(rng), position=rng.normal(size=3), rotation=unit(rng, 4),
                   geometries=[Geometry(Box((1, 1, 1)), position=rng.normal(size=3), rotation=unit(rng, 4))])
    scene.add_body("tool", parent="base", joint=Joint("fixed"), inertial=random_inertial(rng),
                   position=rng.normal(size=3), rotation=unit(rng, 4), geometries=[Geometry(Sphere(0.3))])
    scene.add_body("arm", parent="base", joint=Joint("revolute", axis=(1, 2, 3), anchor=(0.1, 0.2, 0.3), position=0.4),
                   inertial=random_inertial(rng), position=rng.normal(size=3), rotation=unit(rng, 4),
                   geometries=[Geometry(Cylinder(0.2, 1.0), rotation=unit(rng, 4))])
    compiled = compile_scene(scene)
    model, data = compiled.model, make_data(compiled)
    kinematics(model, data, data.q)
    breps = make_breps(compiled, 1e-3)
    assert breps.shape_body.tolist() == [model.link_count, 0, 0, 1]
    frames = np.zeros((model.frame_count, 7))
    frame_poses(model, data, frames)
    for s, body in enumerate(scene.bodies.values()):
        pose, geometry, b = frames[compiled.frame_index[body.name]], body.geometries[0], breps.shape_body[s]
        in_body = solid(geometry.shape, 1.0)[0] @ quaternion_to_matrix(geometry.rotation).T + geometry.position
        expected = in_body @ quaternion_to_matrix(pose[3:]).T + pose[:3]
        x, R = np.zeros(3), np.eye(3)
        if b < model.link_count:
            R = data.rotation[b]
            x = data.tree_origin[model.link_tree[b]] + data.offset[b] + R @ model.link_center[b]
        found = breps.vertex[slice(*breps.shape_vertex[s])] @ R.T + x
        np.testing.assert_allclose(found, expected, atol=1e-12)


def pairs_found(scene: Scene) -> set[tuple[str, str]]:
    """Names of the bodies whose shapes the sweep compares, everything being in one place."""
    compiled = compile_scene(scene)
    breps = make_breps(compiled, 1e-3)
    sweeps = make_sweeps(breps)
    B = breps.body_count
    sweep_inflate(breps, sweeps, make_events(4096), np.zeros((B, 3)), np.tile(np.eye(3), (B, 1, 1)), 0)
    names = [compiled.frame_names[f] for f in breps.shape_frame]
    return {(names[a], names[b]) for a, b in sweeps.pair[: sweeps.counts[PAIRS]]}


def test_the_scenes_filters_choose_the_pairs() -> None:
    scene = Scene()
    scene.add_ground()
    box = [Geometry(Box((1, 1, 1)))]
    scene.add_body("base", geometries=box, inertial=INERTIAL)
    scene.add_body("arm", parent="base", joint=Joint("revolute"), geometries=box, inertial=INERTIAL)
    scene.add_body("hand", parent="arm", joint=Joint("revolute"), geometries=box, inertial=INERTIAL)
    scene.add_body("glove", parent="hand", joint=Joint("fixed"), geometries=box)
    scene.add_body("ghost", geometries=[Geometry(Box((1, 1, 1)), category=0x10000, mask=0)], inertial=INERTIAL)
    scene.add_body("wall", joint=Joint("fixed"), geometries=box)
    scene.add_body("loose", geometries=[Geometry(triangle_mesh(*l_shape(), decompose=False))], inertial=INERTIAL)
    scene.exclude_collision("loose", "hand")
    assert pairs_found(scene) == {
        ("ground", "base"), ("ground", "arm"), ("ground", "hand"), ("ground", "glove"), ("ground", "loose"),
        ("base", "hand"), ("base", "glove"), ("base", "wall"), ("base", "loose"), ("arm", "wall"), ("arm", "loose"),
        ("hand", "wall"), ("glove", "wall"), ("glove", "loose"), ("wall", "loose"),
    }


def test_scene_without_shapes() -> None:
    scene = Scene()
    scene.add_body("point", inertial=INERTIAL)
    assert pairs_found(scene) == set()


def test_prism_helper_is_closed() -> None:
    vertices, faces = prism([(0, 0), (4, 0), (4, 3), (3, 3), (3, 1), (1, 1), (1, 3), (0, 3)], 0, 1)
    assert signed_volume(vertices, faces) == pytest.approx(8.0)
