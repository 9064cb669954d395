"""Scene files: everything round-trips bit for bit, and every error names the line, the key and a remedy."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from every_kind import assert_same_scene, every_kind
from sesshoku.errors import SceneError, UnsupportedFeature
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.shapes import Mesh
from sesshoku.scene.io.toml.lines import key_lines
from sesshoku.scene.io.toml.read import read_scene, write_scene
from sesshoku.scene.io.toml.schema import SceneTable, Table, keys_of, tables_in
from sesshoku.scene.scene import Scene

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def read_text(folder: Path, text: str) -> Scene:
    (folder / "scene.toml").write_text(text, encoding="utf-8")
    return read_scene(folder / "scene.toml")


def refused(folder: Path, text: str) -> str:
    with pytest.raises(SceneError) as caught:
        read_text(folder, text)
    assert str(folder / "scene.toml") in str(caught.value)
    return str(caught.value)


def round_trip(scene: Scene, folder: Path) -> Scene:
    write_scene(scene, folder / "again.toml")
    again = read_scene(folder / "again.toml")
    assert_same_scene(scene, again)
    return again


# ---- round trips --------------------------------------------------------------------------------------------------


def test_every_kind_of_element_round_trips_exactly(tmp_path: Path) -> None:
    again = round_trip(every_kind(), tmp_path)
    assert again.robots["second"].actuators == ["second/push", "second/slide", "second/spin"]
    assert (tmp_path / "again.toml").read_text() == _written(again, tmp_path / "third.toml")


def _written(scene: Scene, path: Path) -> str:
    write_scene(scene, path)
    return path.read_text()


@pytest.mark.filterwarnings("ignore::sesshoku.errors.UnsupportedFeature")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_read_and_round_trip(path: Path, tmp_path: Path) -> None:
    scene = read_scene(path)
    assert scene.bodies and scene.run.get("method", "none") == "none" and scene.run["dt"] > 0.0
    round_trip(scene, tmp_path)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize(("static", "kinetic"), [(0.8, 0.5), (0.8, 0.8), (0.5, 0.0), (0.0, 0.0)])
def test_kinetic_friction_is_kept_apart_from_static(static: float, kinetic: float, tmp_path: Path) -> None:
    scene = Scene()
    scene.add_body("a", joint=Joint("revolute", static_friction=static, kinetic_friction=kinetic),
                   geometries=[Geometry(mesh.convex_mesh(np.eye(4)[:, :3]), material=Material(static, kinetic))])
    round_trip(scene, tmp_path)


def test_a_mesh_file_is_referenced_relative_to_the_scene(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    shutil.copy(ROOT / "tests/data/parts_description/meshes/wedge.stl", tmp_path / "parts/wedge.stl")
    scene = Scene()
    scene.add_mesh("wedge", tmp_path / "parts/wedge.stl", scale=0.001, mass=1.0)
    scene.add_convex("hull", tmp_path / "parts/wedge.stl", scale=(0.001, 0.002, -0.003), mass=1.0)
    round_trip(scene, tmp_path)
    text = (tmp_path / "again.toml").read_text()
    assert text.count('file = "parts/wedge.stl"') == 2 and "vertices" not in text


def test_a_mesh_whose_file_says_otherwise_is_written_out(tmp_path: Path) -> None:
    source = ROOT / "tests/data/parts_description/meshes/wedge.stl"
    vertices, faces = mesh.read(source)
    scene = Scene()
    moved = mesh.triangle_mesh(vertices + [0.1, 0, 0], faces, source=str(source))
    scene.add_body("moved", fixed=True, geometries=[Geometry(moved)])
    open_mesh = Mesh(vertices, faces[1:])  # a mesh for the eye need not be closed
    scene.add_body("seen", fixed=True, geometries=[Geometry(open_mesh, collides=False)])
    round_trip(scene, tmp_path)
    assert "file" not in (tmp_path / "again.toml").read_text()


@pytest.mark.filterwarnings("ignore::sesshoku.errors.UnsupportedFeature")
@pytest.mark.parametrize("collides", [True, False])
def test_what_was_mended_in_a_mesh_is_kept(collides: bool, tmp_path: Path) -> None:
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    closed = mesh.convex_mesh(corners)
    shape = mesh.triangle_mesh(closed.vertices, closed.faces[1:])
    assert len(shape.repairs) == 1
    scene = Scene()
    if not collides:
        shape = replace(shape, pieces=())  # which only collision asks for
    scene.add_body("crate", inertial=Inertial(1.0, (0, 0, 0), np.eye(3)),
                   geometries=[Geometry(shape, collides=collides)])
    scene.save(tmp_path / "scene.toml")
    again = Scene.read(tmp_path / "scene.toml")
    assert_same_scene(scene, again)
    assert again.bodies["crate"].geometries[0].shape.repairs == shape.repairs  # type: ignore[union-attr]


def test_a_loaded_robot_keeps_its_name_bodies_and_actuators(tmp_path: Path) -> None:
    scene = Scene()
    scene.load(ROOT / "models/humanoid_small.xml", position=(0, 0, 0.5))
    again = round_trip(scene, tmp_path)
    robot = again.robots["humanoid_small"]
    assert len(robot.bodies) == 21 and len(robot.actuators) == 20


def test_a_python_function_as_motion_cannot_be_written(tmp_path: Path) -> None:
    scene = Scene()
    scene.add_box("lift", size=(1, 1, 1), kinematic=True, motion=lambda time: ((0, 0, time), (1, 0, 0, 0)))
    with pytest.raises(SceneError, match="body 'lift'.*Python function.*give a Motion"):
        write_scene(scene, tmp_path / "lift.toml")
    assert not (tmp_path / "lift.toml").exists()


def test_wishes_for_the_run_are_checked_when_written(tmp_path: Path) -> None:
    scene = Scene()
    scene.run = {"dt": -1.0}
    with pytest.raises(SceneError, match="dt"):
        write_scene(scene, tmp_path / "run.toml")


def test_robot_files_make_a_scene_of_their_own() -> None:
    scene = read_scene(ROOT / "models/arm_gripper.urdf")
    assert list(scene.robots) == ["arm_gripper"] and scene.name == "arm_gripper"


# ---- what the keys mean -------------------------------------------------------------------------------------------


def test_mass_without_inertia_comes_from_the_geometries(tmp_path: Path) -> None:
    scene = read_text(tmp_path, """
        [[body]]
        name = "dumbbell"
        mass = 4.0
        [[body.geometry]]
        shape = "sphere"
        radius = 0.1
        position = [0, 0, 1]
        [[body.geometry]]
        shape = "sphere"
        radius = 0.1
        position = [0, 0, -1]
        """)
    inertial = scene.bodies["dumbbell"].inertial
    assert isinstance(inertial, Inertial)
    own = 0.4 * 2.0 * 0.1**2
    np.testing.assert_allclose(inertial.center, 0.0, atol=1e-15)
    np.testing.assert_allclose(inertial.matrix, np.diag([2 * own + 4.0, 2 * own + 4.0, 2 * own]), atol=1e-14)


def test_bodies_may_stand_before_their_parents_and_keep_the_order_of_the_file(tmp_path: Path) -> None:
    scene = read_text(tmp_path, """
        [[sphere]]
        name = "tip"
        parent = "rod"
        radius = 0.1
        mass = 1.0
        [[box]]
        name = "base"
        size = [1, 1, 1]
        fixed = true
        [[capsule]]
        name = "rod"
        parent = "base"
        radius = 0.1
        length = 1.0
        mass = 1.0
        joint = { kind = "revolute", axis = [0, 2, 0] }
        """)
    assert list(scene.bodies) == ["base", "rod", "tip"]
    np.testing.assert_array_equal(scene.bodies["rod"].joint.axis, [0, 1, 0])


@pytest.mark.filterwarnings("ignore::sesshoku.errors.UnsupportedFeature")
def test_a_robot_is_placed_posed_and_given_targets(tmp_path: Path) -> None:
    shutil.copy(ROOT / "models/arm_gripper.xml", tmp_path / "arm.xml")
    scene = read_text(tmp_path, """
        [[robot]]
        file = "arm.xml"
        name = "left"
        position = [0, 1, 0]
        joints = { elbow = 0.5, "left/wrist_pitch" = -0.25 }
        targets = { elbow = 0.75 }
        """)
    assert scene.joint("left/elbow").position == 0.5 and scene.joint("left/wrist_pitch").position == -0.25
    assert scene.actuators["left/elbow"].target == 0.75
    root = next(body for body in scene.bodies.values() if body.parent is None)
    np.testing.assert_allclose(root.position, [0, 1, 0])


@pytest.mark.filterwarnings("ignore::sesshoku.errors.UnsupportedFeature")
def test_a_robot_starts_in_a_pose(tmp_path: Path) -> None:
    shutil.copy(ROOT / "models/humanoid_small.xml", tmp_path / "robot.xml")
    text = '[[robot]]\nfile = "robot.xml"\npose = "stand"\njoints = { right_knee = 0.25 }\n'
    scene = read_text(tmp_path, text)
    assert scene.joint("left_knee").position == scene.actuators["left_knee"].target == 0.6
    assert scene.joint("right_knee").position == 0.25  # what the scene file says itself stands above the pose
    with pytest.raises(SceneError, match=r"robot.xml.*no such pose"):
        read_text(tmp_path, text.replace("stand", "sit"))


def test_a_robots_inertias_are_repaired(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5"/></inertial></link>'
        "</robot>")
    text = '[[robot]]\nfile = "robot.urdf"\n'
    with pytest.raises(SceneError, match=r"robot.urdf: link 'a'.*repair_inertia"):
        read_text(tmp_path, text)
    with pytest.warns(UnsupportedFeature, match="link 'a'"):
        scene = read_text(tmp_path, text + "repair_inertia = true\n")
    inertial = scene.bodies["a"].inertial
    assert inertial is not None
    np.testing.assert_allclose(np.diag(inertial.matrix), [2, 2, 4])
    assert "line 3" in refused(tmp_path, '[[robot]]\nname = "r"\nrepair_inertia = true\n')


def test_roll_pitch_yaw_turns_about_fixed_axes(tmp_path: Path) -> None:
    scene = read_text(tmp_path, "[ground]\nroll_pitch_yaw = [0, 0, 1.5707963267948966]\n")
    np.testing.assert_allclose(scene.bodies["ground"].rotation, np.sqrt([0.5, 0, 0, 0.5]), atol=1e-15)


# ---- errors -------------------------------------------------------------------------------------------------------

CRATE = """gravity = [0, 0, -9.8]
[ground]
[[box]]
name = "crate"
size = [1, 1, 1]
mass = 1.0
"""

BROKEN = {
    "syntax": (CRATE.replace("mass = 1.0", "mass = = 1"), "line 6, column 8: not valid TOML"),
    "unknown key": (CRATE.replace("mass", "mas"),
                    r"line 6: box\[0\].mas \(box 'crate'\): unknown key.*did you mean 'mass'"),
    "unknown table": (CRATE.replace("[ground]", "[grund]"), "line 2: grund: unknown key.*did you mean 'ground'"),
    "negative mass": (CRATE.replace("1.0", "-1.0"), r"line 6: box\[0\].mass \(box 'crate'\).*got -1.0"),
    "NaN": (CRATE.replace("1.0", "nan"), r"line 6: box\[0\].mass .*finite"),
    "text for a number": (CRATE.replace("1.0", '"heavy"'), r"line 6: .*got 'heavy'"),
    "missing key": (CRATE.replace("size = [1, 1, 1]\n", ""), r"line 3: box\[0\].size.*missing.*add it"),
    "short vector": (CRATE.replace("[1, 1, 1]", "[1, 1]"), r"line 5: box\[0\].size"),
    "flat box": (CRATE.replace("[1, 1, 1]", "[1, 1, 0]"), r"line 5: box\[0\].size.*greater than 0"),
    "no mass": (CRATE.replace("mass = 1.0\n", ""), r"line 3: box\[0\].*needs mass or density"),
    "quaternion": (CRATE + "rotation = [1, 1, 0, 0]\n", r"line 7: box\[0\].rotation.*unit quaternion"),
    "twice the same name": (CRATE + '[[sphere]]\nname = "crate"\nradius = 1\nmass = 1\n',
                            r"line 8: sphere\[0\].name .*taken"),
    "unknown parent": (CRATE + 'parent = "grund"\n', r"line 7: box\[0\].parent.*did you mean 'ground'"),
    "unknown material": (CRATE + 'material = "ice"\n', r"line 7: box\[0\].material.*materials.ice"),
    "limits reversed": (CRATE + '[box.joint]\nkind = "revolute"\nlower = 2\nupper = 1\n',
                        r"line 9: box\[0\].joint.lower .*above upper"),
    "unknown joint kind": (CRATE + 'joint = { kind = "hinge" }\n', r"line 7: box\[0\].joint.kind.*revolute"),
    "wrong shape key": ('[[body]]\nname = "a"\nfixed = true\n[[body.geometry]]\nshape = "box"\nradius = 1\n'
                        "size = [1, 1, 1]\n",
                        r"line 6: body\[0\].geometry\[0\].radius.*a box has no radius"),
    "missing mesh": (CRATE + '[[mesh]]\nname = "m"\nmass = 1\nfile = "none.stl"\n',
                     r"line 10: mesh\[0\].file.*no such file"),
    "missing robot": (CRATE + '[[robot]]\nfile = "none.urdf"\n', r"line 8: robot\[0\].file.*no such file.*relative"),
    "flat mesh": (CRATE + '[[convex]]\nname = "m"\nmass = 1\nvertices = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]\n',
                  r"line 7: convex\[0\].*plane"),
    "unknown joint": (CRATE + '[[actuator]]\njoint = "knee"\n', r"line 8: actuator\[0\].joint.*no such joint"),
    "unknown pair": (CRATE + '[collision]\nexclude = [\n["crate", "ground"],\n["crate", "wall"]]\n',
                     r"line 10: collision.exclude\[1\].*no such body.*got 'wall'"),
    "cyclic parents": ('[[box]]\nname = "a"\nparent = "b"\nsize = [1,1,1]\nmass = 1\n[[box]]\n'
                       'name = "b"\nparent = "a"\n'
                       "size = [1,1,1]\nmass = 1\n", r"line 3: box\[0\].parent.*cycle.*a -> b -> a"),
    "step of nothing": (CRATE + "[run]\ndt = 0.0\n", r"line 8: run.dt.*greater than 0"),
    "empty robot": (CRATE + '[[robot]]\nname = "r"\n', r"line 7: robot\[0\].*no body belongs"),
    "inertia of no body": (CRATE + '[[body]]\nname = "b"\nmass = 1\ninertia = [1, 1, 9]\n',
                           r"line 10: body\[0\].inertia.*physical"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_errors_name_line_key_and_remedy(case: str, tmp_path: Path) -> None:
    text, expected = BROKEN[case]
    message = refused(tmp_path, text)
    assert re.search(expected, message, re.DOTALL), message


def test_the_first_of_several_problems_is_named_and_the_rest_counted(tmp_path: Path) -> None:
    message = refused(tmp_path, CRATE.replace("1.0", "-1.0").replace("size", "sise"))
    assert "line 3" in message or "line 5" in message
    assert "2 more problems" in message


@pytest.mark.parametrize("name", ["none.toml", "scene.txt", "\0.toml"])
def test_files_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(SceneError):
        read_scene(tmp_path / name)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_bytes(b"name = 'x'\nnotes = ['\xff']\n")
    with pytest.raises(SceneError, match="line 2.*UTF-8"):
        read_scene(tmp_path / "scene.toml")


# ---- lines --------------------------------------------------------------------------------------------------------


def test_lines_of_keys_in_every_form_of_toml() -> None:
    text = '''# comment = 1
a = """two
lines ]] = # no comment""""
"b c".d = 'x # [[y]]'   # dotted
[t.u]
list = [ # of tables
  { k = 1, "k 2" = [1,
    2] },
]
[[t.v]]
x = 1
[t.v.w]
z = 1979-05-27 07:32:00
[[t.v]]
x = { y.z = "}" }
'''
    lines = key_lines(text)
    expected = {("a",): 2, ("b c", "d"): 4, ("t", "u", "list"): 6, ("t", "u", "list", 0, "k"): 7,
                ("t", "u", "list", 0, "k 2", 1): 8, ("t", "v", 0): 10, ("t", "v", 0, "x"): 11, ("t", "v", 0, "w",
                                                                                                "z"): 13,
                ("t", "v", 1): 14, ("t", "v", 1, "x", "y", "z"): 15}
    assert {path: lines.get(path) for path in expected} == expected


# ---- documentation ------------------------------------------------------------------------------------------------


def _tables(table: type[Table]) -> set[type[Table]]:
    found = {table}
    for field in keys_of(table).values():
        for inner in tables_in(field.annotation):
            found |= _tables(inner)
    return found


def test_the_documentation_lists_every_key() -> None:
    text = (ROOT / "docs/scene-files.md").read_text(encoding="utf-8")
    missing = [f"{table.__name__}.{key}" for table in _tables(SceneTable) for key, field in keys_of(table).items()
               if f"| `{key}` | {field.description} |" not in text]
    assert not missing


def test_the_examples_in_the_documentation_are_valid() -> None:
    text = (ROOT / "docs/scene-files.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        SceneTable.model_validate(tomllib.loads(block))
