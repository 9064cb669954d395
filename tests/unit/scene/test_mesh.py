"""Meshes: mass properties against closed forms, repair and refusal, hulls, convex pieces and their cache, reading."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import optimize

from sesshoku import robots
from sesshoku.errors import SceneError
from sesshoku.scene.elements import Inertial
from sesshoku.scene.geometry import mass, mesh
from sesshoku.scene.geometry import pieces as mesh_pieces
from sesshoku.scene.geometry.repair import signed_volume
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

ROUND = [Sphere(0.3), Capsule(0.2, 0.7), Cylinder(0.25, 0.6), Ellipsoid((0.3, 0.2, 0.5))]
L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]  # around (0.5, 0.5) every corner is seen


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "convex_pieces"


def cube(at=(0.0, 0.0, 0.0), edge=1.0):
    vertices, faces = mesh.surface(Box((edge, edge, edge)))
    return vertices + np.array(at), faces


def l_shape():
    """A closed L of thickness 1: volume 3."""
    n = len(L_SHAPE)
    flat = np.array([*L_SHAPE, (0.5, 0.5)], dtype=float)
    vertices = np.vstack([np.column_stack([flat, np.full(n + 1, z)]) for z in (0.0, 1.0)])
    faces = []
    for i in range(n):
        j, up = (i + 1) % n, n + 1
        faces += [(j, i, n), (up + i, up + j, up + n), (i, j, up + j), (i, up + j, up + i)]
    return vertices, np.array(faces)


def directed_edges(faces):
    return {(a, b) for face in faces.tolist() for a, b in zip(face, face[1:] + face[:1], strict=True)}


def is_convex(piece):
    """No vertex in front of any face, seen from the outside."""
    a, b, c = (piece.vertices[piece.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > 0] / lengths[lengths > 0, None]
    above = np.einsum("fj,vfj->vf", normals, piece.vertices[:, None] - a[lengths > 0][None])
    return above.max() < 1e-7 * np.ptp(piece.vertices)


# --- mass properties


def test_closed_forms():
    box = mesh.shape_inertial(Box((1.0, 2.0, 3.0)), mass=12.0)
    np.testing.assert_allclose(box.matrix, np.diag([13.0, 10.0, 5.0]), rtol=1e-14)
    np.testing.assert_allclose(mesh.shape_inertial(Sphere(0.5), mass=2.0).matrix, 0.2 * np.eye(3), rtol=1e-14)
    rod = mesh.shape_inertial(Cylinder(1e-4, 2.0), mass=3.0)
    np.testing.assert_allclose(np.diag(rod.matrix)[:2], 1.0, rtol=1e-7)  # m L^2 / 12
    assert mesh.shape_inertial(Cylinder(0.5, 2.0), density=10.0).mass == pytest.approx(5.0 * np.pi, rel=1e-14)
    # a capsule of no length is a ball
    ball, stub = mesh.shape_inertial(Sphere(0.3), density=7.0), mesh.shape_inertial(Capsule(0.3, 1e-9), density=7.0)
    np.testing.assert_allclose(stub.matrix, ball.matrix, rtol=1e-7, atol=1e-15)


def test_capsule_against_quadrature():
    """Slices along z: disc of radius rho adds pi rho^4 / 2 about z, pi rho^4 / 4 + pi rho^2 z^2 about x."""
    r, length = 0.2, 0.7
    z, w = np.polynomial.legendre.leggauss(60)
    caps = length / 2 + r * (z + 1) / 2  # upper cap
    rho2 = r * r - (caps - length / 2) ** 2
    tube_z = z * length / 2
    about_z = 2 * (np.pi / 2 * rho2**2) @ w * r / 2 + np.pi / 2 * r**4 * length
    about_x = 2 * (np.pi / 4 * rho2**2 + np.pi * rho2 * caps**2) @ w * r / 2
    about_x += (np.pi / 4 * r**4 + np.pi * r * r * tube_z**2) @ w * length / 2
    result = np.diag(mesh.shape_inertial(Capsule(r, length), density=1.0).matrix)
    np.testing.assert_allclose(result, [about_x, about_x, about_z], rtol=1e-12)


def test_tetrahedra_give_the_box_exactly_wherever_it_is():
    rotation = quaternion_to_matrix(np.array([0.3, -0.5, 0.7, 0.4]))
    vertices, _ = mesh.surface(Box((0.4, 1.0, 0.2)))
    hull = mesh.convex_mesh(vertices @ rotation.T + np.array([30.0, -20.0, 10.0]))
    exact = mesh.shape_inertial(Box((0.4, 1.0, 0.2)), density=500.0)
    found = mesh.shape_inertial(hull, density=500.0)
    assert found.mass == pytest.approx(exact.mass, rel=1e-12)
    np.testing.assert_allclose(found.center, [30.0, -20.0, 10.0], rtol=1e-12)
    np.testing.assert_allclose(found.matrix, rotation @ exact.matrix @ rotation.T, atol=1e-11)


@pytest.mark.parametrize("shape", ROUND, ids=lambda shape: shape.kind)
def test_surfaces_converge_to_the_primitive_with_second_order(shape):
    exact = mesh.shape_inertial(shape, density=1000.0)

    def errors(resolution):
        found = mesh.shape_inertial(mesh.triangle_mesh(*mesh.surface(shape, resolution)), density=1000.0)
        assert found.mass < exact.mass  # inscribed
        return np.array([exact.mass - found.mass, *np.diag(exact.matrix - found.matrix)])

    ratio = errors(24) / errors(48)
    np.testing.assert_allclose(ratio, 4.0, rtol=0.03)
    assert (errors(96) < 4e-3 * np.array([exact.mass, *np.diag(exact.matrix)])).all()


@pytest.mark.parametrize("shape", [Box((1.0, 2.0, 3.0)), *ROUND], ids=lambda shape: shape.kind)
def test_surfaces_are_closed(shape):
    _, faces = mesh.surface(shape, 9)
    edges = directed_edges(faces)
    assert len(edges) == 3 * len(faces)
    assert {(b, a) for a, b in edges} == edges


def test_surface_of_a_plane_and_of_a_mesh():
    vertices, faces = mesh.surface(Plane(), size=4.0)
    assert np.ptp(vertices, axis=0).tolist() == [4.0, 4.0, 0.0]
    a, b, c = vertices[faces[0]]
    assert np.cross(b - a, c - a)[2] > 0
    hull = mesh.convex_mesh(cube()[0])
    assert np.array_equal(mesh.surface(hull)[0], hull.vertices)
    with pytest.raises(SceneError, match="resolution"):
        mesh.surface(Sphere(1.0), 2)


@pytest.mark.parametrize("arguments", [{}, {"mass": 1.0, "density": 1.0}, {"mass": 0.0}, {"density": -1.0},
                                       {"mass": np.nan}])
def test_shape_inertial_wants_one_positive_number(arguments):
    with pytest.raises(SceneError, match="plate"):
        mesh.shape_inertial(Box((1, 1, 1)), element="plate", **arguments)


@pytest.mark.parametrize("shape", [Box((1e-200,) * 3), Sphere(1e-150), Sphere(1e160), Cylinder(1e-200, 1.0),
                                   Capsule(1e200, 1.0), Box((1e200,) * 3)], ids=str)
@pytest.mark.parametrize("amount", [{"mass": 1.0}, {"density": 1.0}], ids=str)
def test_sizes_beyond_floating_point_are_refused(shape, amount):
    with pytest.raises(SceneError, match="too small or too large"):
        mesh.shape_inertial(shape, **amount)


def test_a_physical_inertia_is_not_repaired(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for moments in ([1, 1, 1], [1, 1, 2], [0, 1, 1], [1, 1.5, 2]):
        assert mass.repair(turn @ np.diag(np.array(moments, dtype=float)) @ turn.T) is None


def test_a_repaired_inertia_is_the_nearest_physical_one(rng):
    """Against a general solver of the same projection: least squares under the inequalities."""
    rows = np.vstack([np.eye(3), 1.0 - 2.0 * np.eye(3)])  # positive, and each at most the sum of the others
    for _ in range(20):
        moments = np.sort(rng.normal(0.5, 1.0, 3))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        repaired = mass.repair(turn @ np.diag(moments) @ turn.T, exact=True)
        if repaired is None:
            assert moments[0] >= -1e-12 and moments[0] + moments[1] >= moments[2] - 1e-12
            continue
        best = optimize.minimize(lambda x, m=moments: ((x - m) ** 2).sum(), np.ones(3), method="SLSQP",
                                 constraints={"type": "ineq", "fun": rows.dot}, options={"ftol": 1e-14})
        found = np.linalg.eigvalsh(repaired)
        np.testing.assert_allclose(found, np.sort(best.x), atol=1e-5)  # ours keeps a millionth where zero is nearest
        assert found[0] > 0.0 and found[0] + found[1] >= found[2] * (1 - 1e-12)
        np.testing.assert_allclose(np.diag(turn.T @ repaired @ turn), found, atol=1e-9)  # the axes stay


def test_a_plane_has_no_mass():
    with pytest.raises(SceneError, match="plane"):
        mesh.shape_inertial(Plane(), mass=1.0)


def test_combine_puts_two_half_boxes_together():
    half = mesh.shape_inertial(Box((1.0, 1.0, 2.0)), mass=3.0)
    turn = axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 2)  # z to x
    whole = mesh.combine([(half, (1.0, 5.0, 0.0), turn), (half, (3.0, 5.0, 0.0), turn)])
    exact = mesh.shape_inertial(Box((4.0, 1.0, 1.0)), mass=6.0)
    assert whole.mass == 6.0
    np.testing.assert_allclose(whole.center, [2.0, 5.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(whole.matrix, exact.matrix, atol=1e-14)


def test_combine_moves_by_the_parallel_axis_theorem():
    a = Inertial(2.0, (0.1, 0.0, 0.0), np.diag([1.0, 2.0, 2.5]))
    point = Inertial(2.0, (0.0, 0.0, 0.0))
    both = mesh.combine([(a, (0.0, 0.0, 0.0), np.eye(3)), (point, (0.1, 0.0, 0.6), (1, 0, 0, 0))])
    np.testing.assert_allclose(both.matrix, np.diag([1.0 + 4 * 0.09, 2.0 + 4 * 0.09, 2.5]), atol=1e-14)
    assert mesh.combine([]).mass == 0.0


# --- closing, turning, refusing


def test_triangle_soup_is_merged_and_doubles_dropped():
    vertices, faces = cube()
    soup = vertices[faces].reshape(-1, 3) + 1e-11
    triangles = np.arange(len(soup)).reshape(-1, 3)
    extra = np.array([[0, 1, 1], [0, 1, 2], [2, 1, 0]])  # a line, a double, a double the other way round
    made = mesh.triangle_mesh(soup, np.vstack([triangles, extra]))
    assert (len(made.vertices), len(made.faces), len(made.pieces)) == (8, 12, 1)


def test_inverted_faces_are_turned_outward():
    vertices, faces = cube()
    for wrong in (faces[:, ::-1], np.vstack([faces[:3, ::-1], faces[3:]]), np.vstack([faces[:9, ::-1], faces[9:]])):
        assert signed_volume(*_arrays(mesh.triangle_mesh(vertices, wrong))) == pytest.approx(1.0)


def _arrays(made: Mesh):
    return made.vertices, made.faces


def test_cavities_stay_cavities_and_separate_shells_turn_outward():
    outer, inner, beside = cube(edge=2.0), cube(edge=1.0), cube(at=(5.0, 0.0, 0.0))
    vertices = np.vstack([outer[0], inner[0], beside[0]])
    faces = np.vstack([outer[1], inner[1][:, ::-1] + 8, beside[1][:, ::-1] + 16])
    for given in (faces, faces[:, ::-1]):
        made = mesh.triangle_mesh(vertices, given, decompose=False)
        assert mesh.shape_inertial(made, density=1.0).mass == pytest.approx(8.0 - 1.0 + 1.0)


def test_small_holes_are_filled():
    vertices, faces = cube()
    assert len(mesh.triangle_mesh(vertices, faces[1:]).faces) == 12  # a hole of three edges has one filling
    vertices, faces = mesh.surface(Sphere(1.0), 40)
    whole = signed_volume(vertices, faces)
    pole = (faces != 0).all(axis=1)  # without the fan about the lower pole: a ring of 40 edges
    made = mesh.triangle_mesh(vertices, faces[pole])
    assert 0.99 * whole < signed_volume(*_arrays(made)) < whole


def test_filled_holes_are_told():
    vertices, faces = cube()
    assert mesh.triangle_mesh(vertices, faces).repairs == ()
    (repair,) = mesh.triangle_mesh(vertices, faces[1:]).repairs
    assert repair == "a hole in the mesh filled (3 open edges)"


def test_large_holes_are_refused_and_named():
    vertices, faces = cube()
    top = (vertices[faces][:, :, 2] > 0).all(axis=1)
    said = re.escape("mesh 'box.stl': the mesh is open: a hole of 4 edges, 4 m around, at (0, 0, 0.5)")
    with pytest.raises(SceneError, match=said):
        mesh.triangle_mesh(vertices, faces[~top], source="box.stl")


def test_branching_and_one_sided_surfaces_are_refused():
    a, b = cube(), cube(at=(1.0, 1.0, 0.0))  # two cubes that share an edge
    with pytest.raises(SceneError, match=r"branches.*4 triangles"):
        mesh.triangle_mesh(np.vstack([a[0], b[0]]), np.vstack([a[1], b[1] + 8]))
    projective_plane = np.array([(0, 1, 4), (0, 1, 5), (0, 2, 3), (0, 2, 5), (0, 3, 4), (1, 2, 3), (1, 2, 4), (1, 3, 5),
                                 (2, 4, 5), (3, 4, 5)])
    with pytest.raises(SceneError, match="one side"):
        mesh.triangle_mesh(np.random.default_rng(1).normal(size=(6, 3)), projective_plane)


def test_flat_meshes_are_refused():
    square = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], dtype=float)
    both_sides = np.array([(0, 1, 2), (0, 2, 3), (1, 0, 3), (1, 3, 2)])
    with pytest.raises(SceneError, match="flat"):
        mesh.triangle_mesh(square, both_sides)
    for points in (square, square * 0, square[:3], square + np.array([[0, 0, 1e-13]]) * np.arange(4)[:, None]):
        with pytest.raises(SceneError, match=r"plane|four points"):
            mesh.convex_mesh(points)


@pytest.mark.parametrize(("vertices", "faces"), [
    ([[0, 0, np.nan]] * 4, [[0, 1, 2]]), ([[0, 0, 0]] * 4, [[0, 1, 4]]), ([[0, 0, 0]] * 4, [[0, 1, -1]]),
    ([[0, 0]] * 4, [[0, 1, 2]]), ([[0, 0, 1e300]] * 4, [[0, 1, 2]]), ([[0, 0, 0]] * 4, [[0, 1, 2, 3]]),
    ([[0, 0, 0]] * 4, [[0, 0.5, 1]]), ("nonsense", [[0, 1, 2]]), ([], []), ([[0, 0, 0]] * 4, np.zeros((0, 3), int)),
    ([[0, 0, 0]] * 4, [[0, 1, 2]]),
])
def test_broken_arrays_are_refused(vertices, faces):
    with pytest.raises(SceneError):
        mesh.triangle_mesh(vertices, faces)


def test_threshold_is_checked():
    with pytest.raises(SceneError, match="threshold"):
        mesh.triangle_mesh(*cube(), threshold=0.0)


# --- hulls


def test_hull_keeps_corners_only_and_faces_outward():
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3), axis=-1).reshape(-1, 3)
    hull = mesh.convex_mesh(grid, source="a.stl", scale=(2, 2, 2))
    assert (len(hull.vertices), len(hull.faces), hull.source, hull.scale) == (8, 12, "a.stl", (2.0, 2.0, 2.0))
    assert signed_volume(*_arrays(hull)) == pytest.approx(8.0)
    assert not hull.vertices.flags.writeable


@pytest.mark.parametrize("seed", range(5))
def test_hull_of_random_points_is_convex_and_closed(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(200, 3)) * np.array([1.0, 0.1, 0.01]) + 7.0
    hull = mesh.convex_mesh(points)
    edges = directed_edges(hull.faces)
    assert len(edges) == 3 * len(hull.faces)
    assert {(b, a) for a, b in edges} == edges
    assert is_convex(hull)
    assert mesh.triangle_mesh(hull.vertices, hull.faces, decompose=False).pieces  # and known to be convex


# --- convex pieces


def test_heart_falls_into_a_few_convex_pieces(cache, capfd):
    vertices, faces = mesh.read(robots.path("heart.stl"))
    heart = mesh.triangle_mesh(vertices, faces)
    output, errors = capfd.readouterr()
    assert output == ""
    assert errors.count("\n") == 1
    assert "convex pieces" in errors
    assert len(heart.vertices) == len(vertices)
    assert 2 <= len(heart.pieces) < 10
    assert all(is_convex(piece) for piece in heart.pieces)
    together = sum(signed_volume(*_arrays(piece)) for piece in heart.pieces)  # the cuts are planes: no overlap
    assert together == pytest.approx(signed_volume(vertices, faces), rel=0.03)


def test_pieces_come_from_the_cache_the_second_time(cache, monkeypatch):
    import coacd

    first = mesh.triangle_mesh(*l_shape())
    assert len(first.pieces) == 2

    def never(*_args, **_options):
        raise AssertionError("coacd was called again")

    monkeypatch.setattr(coacd, "run_coacd", never)
    second = mesh.triangle_mesh(*l_shape())
    assert second.pieces == first.pieces
    assert not mesh.triangle_mesh(*l_shape(), decompose=False).pieces
    with pytest.raises(SceneError, match="coacd was called again"):  # another threshold is another result
        mesh.triangle_mesh(*l_shape(), threshold=0.2)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip", None])
def test_a_damaged_cache_is_rebuilt(cache, damage):
    first = mesh.triangle_mesh(*l_shape())
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    if damage is None:  # a good file with impossible content
        np.savez(file, points=np.zeros((5, 3)), counts=np.array([4, 4]))
    else:
        file.write_bytes(damage)
    assert mesh.triangle_mesh(*l_shape()).pieces == first.pieces
    assert list(cache.iterdir()) == [file]
    assert len(file.read_bytes()) == len(whole)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "file"))
    assert len(mesh.triangle_mesh(*l_shape()).pieces) == 2
    assert mesh_pieces._load(tmp_path / "file" / "x.npz") is None


# --- files


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb", "dae"])
def test_read_gives_back_what_was_written(tmp_path, kind):
    trimesh = pytest.importorskip("trimesh")
    if kind == "dae":
        pytest.importorskip("collada")
    vertices, faces = l_shape()
    path = tmp_path / f"thing.{kind}"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    points, triangles = mesh.read(path, scale=(0.1, 0.2, 0.3))
    assert len(points) == len(vertices)
    assert signed_volume(points, triangles) == pytest.approx(3.0 * 0.006, rel=1e-6)
    np.testing.assert_allclose(points.max(axis=0), [0.2, 0.4, 0.3], rtol=1e-6)


def test_gltf_with_its_buffer_beside_it(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    for name, content in trimesh.Trimesh(*l_shape(), process=False).scene().export(file_type="gltf").items():
        (tmp_path / name).write_bytes(content)
    whole = (tmp_path / "model.gltf").read_bytes()
    assert signed_volume(*mesh.read(tmp_path / "model.gltf")) == pytest.approx(3.0)
    (tmp_path / "cut.gltf").write_bytes(whole[:100])  # must not be answered with the whole file beside it
    with pytest.raises(SceneError, match="cannot be read as GLTF"):
        mesh.read(tmp_path / "cut.gltf")


def test_collada_units_become_metres(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    path = tmp_path / "thing.dae"
    trimesh.Trimesh(*l_shape(), process=False).export(path)
    text = path.read_text()
    path.write_text(text.replace("<up_axis>", '<unit name="millimeter" meter="0.001"/><up_axis>'))
    assert path.read_text() != text
    np.testing.assert_allclose(mesh.read(path)[0].max(axis=0), [0.002, 0.002, 0.001], rtol=1e-6)


def test_a_mirroring_scale_keeps_faces_outward(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "thing.stl"
    trimesh.Trimesh(*l_shape(), process=False).export(path)
    for scale in ((-1, 1, 1), (1, -1, 1), (-1, -1, 1), (-1, -1, -1)):
        assert signed_volume(*mesh.read(path, scale)) == pytest.approx(3.0)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("gone.stl", None, "no such file"), ("thing.step", b"x", "cannot be read"), ("empty.stl", b"", "read|triangles"),
    ("noise.stl", b"solid nothing\nendsolid", "read|triangles"),
    ("noise.ply", b"ply\nformat ascii 1.0\n", "read|triangles"),
    ("noise.glb", b"glTF" + b"\xff" * 40, "read|triangles"),
    ("noise.obj", b"v 0 0\nf 1 2 9", "read|triangles|vertices"),
    ("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "read|triangles"), ("noise.dae", b"<COLLADA", "read|installed"),
    ("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"), ("noise.off", b"OFF\n9 9 9\n", "read|triangles"),
    ("cut.stl", b" " * 80 + b"\xff\xff\xff\x7f" + b"abc", "read|triangles"),
])
def test_bad_files_raise_one_kind_of_error_that_names_them(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SceneError, match=message) as caught:
        mesh.read(path)
    assert name in str(caught.value)


def test_a_scale_of_zero_or_nan_is_refused():
    for scale in ((1, 0, 1), (1, np.nan, 1), (1, 1)):
        with pytest.raises(SceneError, match="scale"):
            mesh.read(robots.path("heart.stl"), scale)
