"""Ellipsoids and height fields as users and files give them: checks, TOML, MJCF, drawings, masses."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Geometry, Joint
from sesshoku.scene.geometry.drawing import drawing
from sesshoku.scene.geometry.mass import polyhedron_moments, shape_inertial
from sesshoku.scene.geometry.shapes import Ellipsoid, HeightField
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.scene.scene import Scene

HEIGHTS = np.array([[0.0, 0.1, 0.3, 0.0], [-0.2, 0.0, 0.1, 0.2], [0.0, 0.0, 0.4, 0.1]])


def hills_and_egg() -> Scene:
    scene = Scene()
    scene.add_height_field("hills", HEIGHTS, size=(3, 2), position=(1, 2, 0.5))
    scene.add_ellipsoid("egg", radii=(0.1, 0.2, 0.3), mass=2.0, position=(0, 0, 1))
    return scene


def shape(scene: Scene, body: str) -> object:
    return scene.bodies[body].geometries[0].shape


@pytest.mark.parametrize("bad", [(0.1, 0.2), (0.1, 0.2, -0.3), (0.1, 0.2, np.inf), "round", None])
def test_radii_are_three_lengths(bad: object) -> None:
    with pytest.raises(SceneError, match="radii"):
        Ellipsoid(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("heights", "size", "base", "says"), [
    ([0, 1], (1, 1), None, "rows"), ([[0, 1]], (1, 1), None, "rows"), ([[0, 1], [2]], (1, 1), None, "rows"),
    ([["a", "b"], ["c", "d"]], (1, 1), None, "rows"), ([[0, np.nan], [0, 0]], (1, 1), None, "row 0, column 1"),
    (HEIGHTS, (1, 0), None, "size"), (HEIGHTS, (1, 1, 1), None, "size"), (HEIGHTS, (1, 1), 0.2, "base"),
    (HEIGHTS, (1, 1), "deep", "base"),
])
def test_heights_are_a_table(heights: object, size: object, base: object, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        HeightField(heights, size, base)  # type: ignore[arg-type]


def test_terrain_does_not_move() -> None:
    scene = Scene()
    for options in ({"joint": Joint("free")}, {"joint": Joint("revolute")}):
        with pytest.raises(SceneError, match="height field belongs to a body fixed to the world"):
            scene.add_body("raft", geometries=[Geometry(HeightField(HEIGHTS, (1, 1)))], **options)
    with pytest.raises(SceneError, match="height field has no mass"):
        shape_inertial(HeightField(HEIGHTS, (1, 1)), mass=1.0)
    assert scene.add_height_field("hills", HEIGHTS, size=(1, 1)).joint.kind == "fixed"


def test_mass_of_an_ellipsoid() -> None:
    inertial = shape_inertial(Ellipsoid((0.1, 0.2, 0.3)), density=1000.0)
    assert inertial.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.006, rel=1e-14)
    np.testing.assert_allclose(inertial.matrix, inertial.mass / 5 * np.diag([0.13, 0.10, 0.05]), rtol=1e-14)
    fine = polyhedron_moments(*surface(Ellipsoid((0.1, 0.2, 0.3)), 200))
    assert fine[0] == pytest.approx(inertial.mass / 1000, rel=1e-3)


def test_the_surface_of_terrain_is_closed() -> None:
    field = HeightField(HEIGHTS, (3.0, 2.0), 0.5)
    vertices, faces = surface(field)
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in faces for k in range(3)}
    assert len(edges) == 3 * len(faces) and all((j, i) in edges for i, j in edges)
    a, b, c, d = HEIGHTS[:-1, :-1], HEIGHTS[:-1, 1:], HEIGHTS[1:, :-1], HEIGHTS[1:, 1:]  # of cells of 1 m^2
    above = float(((a + b + c) / 6 + (b + c + d) / 6).sum())
    assert polyhedron_moments(vertices, faces)[0] == pytest.approx(above + 6.0 * 0.5, rel=1e-13)


def test_toml_round_trip(tmp_path: Path) -> None:
    scene = hills_and_egg()
    scene.save(tmp_path / "scene.toml")
    again = Scene.read(tmp_path / "scene.toml")
    assert shape(again, "hills") == shape(scene, "hills") and shape(again, "egg") == shape(scene, "egg")


@pytest.mark.parametrize("kind", ["npy", "csv", "txt"])
def test_heights_from_a_file(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"hills.{kind}"
    if kind == "npy":
        np.save(file, HEIGHTS)
    else:
        np.savetxt(file, HEIGHTS, delimiter="," if kind == "csv" else " ")
    (tmp_path / "scene.toml").write_text(
        f'[[height_field]]\nname = "hills"\nsize = [3, 2]\nbase = 2\nfile = "hills.{kind}"\n'
        '[[ellipsoid]]\nname = "egg"\nradii = [0.1, 0.2, 0.3]\nmass = 1\nposition = [0, 0, 1]\n')
    scene = Scene.read(tmp_path / "scene.toml")
    assert shape(scene, "hills") == HeightField(HEIGHTS, (3, 2), 2.0)
    assert shape(scene, "egg") == Ellipsoid((0.1, 0.2, 0.3))
    scene.save(tmp_path / "again.toml")
    assert f'file = "hills.{kind}"' in (tmp_path / "again.toml").read_text()
    assert shape(Scene.read(tmp_path / "again.toml"), "hills") == shape(scene, "hills")


@pytest.mark.parametrize(("keys", "says"), [
    ("", "file or heights"), ('file = "none.npy"', "no such file"), ('file = "bad.csv"', "cannot be read"),
    ("heights = [[0, 0], [0]]", "rows"), ("heights = [[0, 0], [0, 0]]\nmass = 1", "no mass"),
])
def test_errors_of_scene_files(tmp_path: Path, keys: str, says: str) -> None:
    (tmp_path / "bad.csv").write_text("1, 2\n3, four\n")
    (tmp_path / "scene.toml").write_text(f'[[height_field]]\nname = "hills"\nsize = [3, 2]\n{keys}\n')
    with pytest.raises(SceneError, match=says):
        Scene.read(tmp_path / "scene.toml")


def test_mjcf_there_and_back(tmp_path: Path) -> None:
    scene = hills_and_egg()
    text = scene.to_mjcf()
    model = mujoco.MjModel.from_xml_string(text)
    geom = int(np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD)[0])
    heights = model.hfield_data.reshape(3, 4) * model.hfield_size[0, 2] + model.geom_pos[geom, 2]
    np.testing.assert_allclose(heights, HEIGHTS, atol=1e-7)
    (tmp_path / "scene.xml").write_text(text)
    again = Scene()
    again.load(tmp_path / "scene.xml")
    found = {g.shape.kind: g for body in again.bodies.values() for g in body.geometries}
    assert found["ellipsoid"].shape == Ellipsoid((0.1, 0.2, 0.3))
    field = found["height_field"]
    assert isinstance(field.shape, HeightField)
    np.testing.assert_allclose(field.shape.heights + field.position[2], HEIGHTS, atol=1e-7)
    assert not again.unsupported


def test_flat_terrain_can_be_written() -> None:
    scene = Scene()
    scene.add_height_field("flat", np.full((2, 2), 0.25), size=(1, 1))
    model = mujoco.MjModel.from_xml_string(scene.to_mjcf())
    assert model.geom_pos[0, 2] == 0.25 and not model.hfield_data.any()


def test_drawing() -> None:
    drawn = drawing(hills_and_egg(), np.zeros((2, 7)))
    hills, egg = drawn["shapes"]
    assert hills["kind"] == "height_field" and hills["mesh"] == 0 and len(drawn["meshes"]) == 1
    assert egg["kind"] == "ellipsoid" and egg["radii"] == [0.1, 0.2, 0.3]
