"""URDF: every feature on a small hand-made file, errors, and whole humanoids against MuJoCo and Pinocchio."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sesshoku.errors import SceneError, UnsupportedFeature
from sesshoku.scene.elements import Body, RobotDescription
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Sphere
from sesshoku.scene.io.spec import load_robot
from sesshoku.scene.io.urdf.read import load_urdf
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import from_roll_pitch_yaw, quaternion_to_matrix
from support import example_robots

DATA = Path(__file__).parents[2] / "data"
MACHINE = DATA / "parts_description" / "urdf" / "machine.urdf"


@pytest.fixture(scope="module")
def machine() -> RobotDescription:
    return load_urdf(MACHINE)


def body(description: RobotDescription, name: str) -> Body:
    return next(body for body in description.bodies if body.name == name)


def write(folder: Path, inside: str, name: str = "robot.urdf") -> Path:
    path = folder / name
    path.write_text(f'<robot name="r">{inside}</robot>')
    return path


TWO_LINKS = '<link name="a"/><link name="b"/>'


def joint(inside: str = '<limit lower="-1" upper="1" effort="1" velocity="1"/>', kind: str = "revolute",
          name: str = "j", parent: str = "a", child: str = "b") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_names_and_tree(machine: RobotDescription) -> None:
    assert machine.name == "machine"
    tree = {b.name: (b.parent, b.joint.kind, b.joint.name) for b in machine.bodies}
    assert tree == {
        "base": (None, "fixed", "base"), "upper": ("base", "revolute", "shoulder"),
        "wheel": ("upper", "continuous", "spin"), "slider": ("upper", "prismatic", "rail"),
        "finger": ("slider", "prismatic", "grip"), "table": ("base", "planar", "glide"),
        "kite": (None, "free", "string"), "tool": ("upper", "fixed", "bolt"),
    }
    seen: set[str] = set()
    for b in machine.bodies:
        assert b.parent is None or b.parent in seen, "parents come first"
        seen.add(b.name)


def test_joint_values(machine: RobotDescription) -> None:
    shoulder = body(machine, "upper").joint
    np.testing.assert_array_equal(shoulder.axis, [0, 1, 0])
    assert (shoulder.lower, shoulder.upper, shoulder.effort, shoulder.velocity_limit) == (-1.5, 2.0, 30.0, 4.0)
    assert (shoulder.viscous, shoulder.static_friction, shoulder.kinetic_friction) == (0.7, 0.4, 0.4)
    spin = body(machine, "wheel").joint
    np.testing.assert_array_equal(spin.axis, [1, 0, 0])  # URDF's default axis
    assert (spin.lower, spin.upper, spin.effort) == (-np.inf, np.inf, 5.0)
    rail = body(machine, "slider").joint
    assert (rail.lower, rail.upper) == (-0.1, 0.3)
    (mimic,) = machine.mimics
    assert (mimic.joint, mimic.source, mimic.ratio, mimic.offset) == ("grip", "rail", -2.0, 0.01)


def test_poses(machine: RobotDescription) -> None:
    upper, kite = body(machine, "upper"), body(machine, "kite")
    np.testing.assert_array_equal(upper.position, [0, 0, 0.5])
    turn = from_roll_pitch_yaw(0.1, 0.2, 0.3)
    np.testing.assert_allclose(upper.rotation, turn, atol=1e-15)
    # Rz(0.3) Ry(0.2) Rx(0.1), written out: the first column is that of yaw and pitch alone
    np.testing.assert_allclose(quaternion_to_matrix(turn)[:, 0],
                               [np.cos(0.3) * np.cos(0.2), np.sin(0.3) * np.cos(0.2), -np.sin(0.2)], atol=1e-15)
    # a floating link starts a tree of its own where the file puts it: 1 m along x of "upper"
    np.testing.assert_allclose(kite.position, upper.position + quaternion_to_matrix(turn)[:, 0], atol=1e-15)
    np.testing.assert_allclose(kite.rotation, turn, atol=1e-15)


def test_inertials(machine: RobotDescription) -> None:
    base = body(machine, "base").inertial
    assert base is not None
    assert base.mass == 4.0
    np.testing.assert_array_equal(base.center, [0.1, 0, 0.2])
    # turned by 90 degrees about z: x and y trade places
    np.testing.assert_allclose(base.matrix, np.diag([0.02, 0.01, 0.025]), atol=1e-17)
    assert body(machine, "wheel").inertial is None


def test_geometries(machine: RobotDescription) -> None:
    look, hull, tube = body(machine, "base").geometries
    assert (look.collides, look.visible, look.color) == (False, True, (0.0, 0.0, 1.0, 0.5))
    assert (hull.collides, hull.visible, hull.name) == (True, False, "base_hull")
    assert look.shape.kind == "mesh"
    assert hull.shape.kind == "convex"
    np.testing.assert_array_equal(look.position, [0, 0, 0.05])
    for geometry in (look, hull):  # the wedge is 0.2 x 0.1 x 0.1, twice as large here
        np.testing.assert_allclose(np.ptp(geometry.shape.vertices, axis=0), [0.4, 0.2, 0.2], atol=1e-7)
        assert Path(geometry.shape.source).name == "wedge.stl"
        assert geometry.shape.scale == (2.0, 2.0, 2.0)
    assert tube.shape == Cylinder(0.1, 0.5)
    np.testing.assert_allclose(quaternion_to_matrix(tube.rotation) @ [0, 0, 1], [1, 0, 0], atol=1e-15)
    shapes = {name: body(machine, name).geometries[0].shape for name in ("upper", "wheel", "slider")}
    assert shapes == {"upper": Box((0.1, 0.2, 0.3)), "wheel": Sphere(0.05), "slider": Capsule(0.05, 0.2)}
    assert body(machine, "wheel").geometries[0].visible, "a link without visuals shows what collides"


def test_everything_left_out_is_listed(machine: RobotDescription) -> None:
    assert sorted(machine.unsupported) == sorted([
        "texture 'package://parts_description/wood.png' of material 'wood'",
        "safety_controller of joint 'shoulder'", "calibration of joint 'shoulder'",
        "attribute dont_collapse of joint 'bolt'", "transmission 'drive'", "gazebo 'wheel' (2 times)",
        "visual mesh 'package://parts_description/meshes/lost.stl' of link 'base': mesh not found",
        "lower and upper limit of continuous joint 'spin'",
    ])


def test_attributes_of_somebodys_own_are_one_line_each(tmp_path: Path) -> None:
    """A vendor's attributes change nothing that URDF means; a misspelt one may."""
    links = '<link name="a"/>' + "".join(f'<link name="l{n}">{HEAVY}</link>' for n in range(12))
    limit = '<limit effort="1" velocity="1" lower="-1" upper="1" current="5" gear_velocity="3" {}/>'
    wrong = {3: 'uper="2"'}
    joints = "".join(f'<joint name="j{n}" type="revolute"><parent link="a"/><child link="l{n}"/>'
                     f'{limit.format(wrong.get(n, ""))}</joint>' for n in range(12))
    with pytest.warns(UnsupportedFeature) as told:
        Scene().load(write(tmp_path, links + joints))
    assert str(told[0].message).splitlines()[1:] == [
        "  - changes the motion: attribute uper of limit of joint 'j3'; did you mean 'upper'?",
        "  - changes it slightly: attribute current of limit of 12 joints (j0, j1, j2, ...)",
        "  - changes it slightly: attribute gear_velocity of limit of 12 joints (j0, j1, j2, ...)"]


# ---- the base --------------------------------------------------------------------------------------------------------

HEAVY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def based(folder: Path, root: str, kind: str = "continuous") -> Path:
    return write(folder, f'<link name="a">{root}</link><link name="b">{HEAVY}</link>' + joint("", kind))


def root_kind(path: Path, **options: Any) -> str:
    scene = Scene()
    scene.load(path, **options)
    return scene.bodies["a"].joint.kind


def test_the_base_is_free_unless_bolted_down(tmp_path: Path) -> None:
    path = based(tmp_path, HEAVY)
    assert load_urdf(path).floats
    assert root_kind(path) == "free"
    assert root_kind(path, fixed_base=False) == "free"
    assert root_kind(path, fixed_base=True) == "fixed"


def test_a_root_without_mass_stands_for_the_world(tmp_path: Path) -> None:
    path = based(tmp_path, "")
    assert not load_urdf(path).floats
    assert root_kind(path) == "fixed"


def test_a_massless_root_with_a_heavy_link_fixed_to_it_is_a_base(tmp_path: Path) -> None:
    path = based(tmp_path, "", kind="fixed")  # base_link -> trunk, as many legged robots are written
    assert load_urdf(path).floats
    assert root_kind(path) == "free"


def test_a_free_base_stands_where_it_is_put(tmp_path: Path) -> None:
    scene = Scene()
    scene.load(based(tmp_path, HEAVY), position=(1, 2, 3))
    np.testing.assert_array_equal(scene.bodies["a"].position, [1, 2, 3])


# ---- inertias no body can have ---------------------------------------------------------------------------------------

MADE_UP = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5"/></inertial>'


def test_inertias_are_repaired_on_demand(tmp_path: Path) -> None:
    path = based(tmp_path, MADE_UP)
    with pytest.raises(SceneError, match=r"link 'a': inertia is not physical.*repair_inertia=True"):
        load_urdf(path)
    description = load_urdf(path, repair_inertia=True)
    assert description.unsupported == [
        "inertia of link 'a' is not physical: principal moments 1, 1, 5 changed to 2, 2, 4"]
    for name, moments in {"a": [2, 2, 4], "b": [1, 1, 1]}.items():
        inertial = body(description, name).inertial
        assert inertial is not None
        np.testing.assert_allclose(inertial.matrix, np.diag(moments), rtol=1e-12)


def test_a_repair_is_told_in_the_one_warning(tmp_path: Path) -> None:
    scene = Scene()
    with pytest.warns(UnsupportedFeature, match="changed to 2, 2, 4") as caught:
        scene.load(based(tmp_path, MADE_UP), repair_inertia=True)
    assert len(caught) == 1 and len(scene.unsupported) == 1


def test_infinite_inertias_stay_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="not a finite"):
        load_urdf(based(tmp_path, MADE_UP.replace('"5"', '"inf"')), repair_inertia=True)


@pytest.mark.peer
@pytest.mark.parametrize("name", ["go1", "tiago", "anymal"])
def test_robots_with_made_up_inertias_load_repaired(name: str) -> None:
    path = next(example_robots().rglob(f"{name}.urdf"))
    with pytest.raises(SceneError, match="repair_inertia=True"):
        load_robot(path)
    assert any("is not physical" in item for item in load_robot(path, repair_inertia=True).unsupported)


def test_root_joint_does_not_take_the_name_of_a_joint(tmp_path: Path) -> None:
    names = [b.joint.name for b in load_urdf(write(tmp_path, TWO_LINKS + joint(name="a"))).bodies]
    assert len(set(names)) == 2
    assert "a" in names


def test_content_decides_not_the_suffix(tmp_path: Path) -> None:
    assert load_robot(write(tmp_path, '<link name="a"/>', name="robot.xml")).bodies[0].name == "a"


def test_long_chain(tmp_path: Path) -> None:
    count = 3000
    text = "".join(f'<link name="l{i}"/>' for i in range(count))
    text += "".join(joint(name=f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in reversed(range(count - 1)))
    assert [b.name for b in load_urdf(write(tmp_path, text)).bodies] == [f"l{i}" for i in range(count)]


# ---- mesh paths ------------------------------------------------------------------------------------------------------


def mesh_robot(folder: Path, filename: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = f'<geometry><mesh filename="{filename}"/></geometry>'
    return write(folder, f'<link name="a"><collision>{mesh}</collision></link>')


@pytest.mark.parametrize("where", ["above", "sibling", "package_path", "package_parent", "ros", "ament", "relative",
                                   "file"])
def test_mesh_paths(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    name = "package://parts_description/meshes/wedge.stl"
    away, paths, folder = tmp_path / "away", [], tmp_path / "here"
    place = {"above": tmp_path / "renamed", "sibling": tmp_path / "parts_description",
             "ament": away / "share" / "parts_description"}.get(where, away / "parts_description")
    shutil.copytree(DATA / "parts_description", place)
    if where == "above":  # known by its package.xml, not by the folder's name
        folder = place / "urdf" / "deep"
    elif where == "package_path":
        paths = [place]
    elif where == "package_parent":
        paths = [away]
    elif where == "ros":
        monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join([str(tmp_path / "none"), str(away)]))
    elif where == "ament":
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(away))
    elif where == "relative":
        name = "../away/parts_description/meshes/wedge.stl"
    elif where == "file":
        name = f"file://{place}/meshes/wedge.stl"
    (geometry,) = load_urdf(mesh_robot(folder, name), package_paths=paths).bodies[0].geometries
    assert Path(geometry.shape.source) == (place / "meshes" / "wedge.stl").resolve()
    assert len(geometry.shape.vertices) == 6


def test_missing_collision_mesh_names_the_places(tmp_path: Path) -> None:
    path = mesh_robot(tmp_path / "here", "package://parts_description/meshes/wedge.stl")
    with pytest.raises(SceneError) as caught:
        load_urdf(path, package_paths=[tmp_path / "other"])
    text = str(caught.value)
    for part in (str(path), "link 'a'", "package://parts_description/meshes/wedge.stl",
                 str(tmp_path / "other" / "parts_description" / "meshes" / "wedge.stl"),
                 str(tmp_path / "parts_description" / "meshes" / "wedge.stl")):
        assert part in text


def test_decompose_gives_pieces(tmp_path: Path) -> None:
    path = mesh_robot(tmp_path, str(DATA / "parts_description" / "meshes" / "wedge.stl"))
    (geometry,) = load_urdf(path, decompose=True).bodies[0].geometries
    assert geometry.shape.kind == "mesh"
    assert len(geometry.shape.pieces) == 1  # the wedge is convex


# ---- errors ----------------------------------------------------------------------------------------------------------


def link(inside: str) -> str:
    return f'<link name="a">{inside}</link>'


def inertial(mass: str = "1", xx: str = "1", yy: str = "1", zz: str = "1") -> str:
    inertia = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
    return link(f'<inertial><mass value="{mass}"/>{inertia}</inertial>')


LIMIT = '<limit lower="{}" upper="{}" effort="1" velocity="1"/>'
BAD = {
    "no link": ("", "no link"),
    "unnamed link": ("<link/>", "no 'name'"),
    "double link": ('<link name="a"/><link name="a"/>', "link 'a': two links"),
    "double joint": (TWO_LINKS + '<link name="c"/>' + joint() + joint(child="c"), "joint 'j': two joints"),
    "unknown child": (TWO_LINKS + joint(child="zz"), "joint 'j': the child is not a link .*'zz'"),
    "two parents": (TWO_LINKS + '<link name="c"/>' + joint() + joint(name="k", parent="c"), "link 'b': .*two parent"),
    "two roots": (TWO_LINKS, r"several links .*\['a', 'b'\]"),
    "cycle": (TWO_LINKS + joint() + joint(name="k", parent="b", child="a"), "cycle"),
    "cycle beside": ('<link name="r"/>' + TWO_LINKS + joint() + joint(name="k", parent="b", child="a"), "cycle"),
    "own parent": (TWO_LINKS + joint(child="a"), "cycle|several"),
    "joint type": (TWO_LINKS + joint(kind="wobbly"), "unknown joint type .*'wobbly'"),
    "no limit": (TWO_LINKS + joint(""), "no <limit>.*continuous"),
    "reversed limits": (TWO_LINKS + joint(LIMIT.format(2.1, 0.3)),
                        "joint 'j': lower limit 2.1 is above upper limit 0.3"),
    "nan limit": (TWO_LINKS + joint(LIMIT.format("nan", 1)), "joint 'j'.*lower"),
    "word": (TWO_LINKS + joint(LIMIT.format("low", 1)), "joint 'j'.*lower.*not a number.*'low'"),
    "zero axis": (TWO_LINKS + joint('<axis xyz="0 0 0"/>' + LIMIT.format(0, 1)), "joint 'j': axis"),
    "short axis": (TWO_LINKS + joint('<axis xyz="0 1"/>' + LIMIT.format(0, 1)), "needs 3 numbers"),
    "two axes": (TWO_LINKS + joint("<axis/><axis/>" + LIMIT.format(0, 1)), "2 <axis>|no 'xyz'"),
    "negative damping": (TWO_LINKS + joint('<dynamics damping="-1"/>' + LIMIT.format(0, 1)), "joint 'j': viscous"),
    "mimic of nothing": (TWO_LINKS + joint('<mimic joint="q"/>' + LIMIT.format(0, 1)), "joint 'j'.*'q'"),
    "mimic of itself": (TWO_LINKS + joint('<mimic joint="j"/>' + LIMIT.format(0, 1)), "circle"),
    "negative mass": (inertial(mass="-1"), "link 'a': mass must be at least 0"),
    "infinite mass": (inertial(mass="1e999"), "link 'a': mass is not finite"),
    "inertia": (inertial(zz="3"), "link 'a': inertia is not physical"),
    "no mass": (link("<inertial/>"), "link 'a': <inertial> has no <mass>"),
    "zero box": (link('<collision><geometry><box size="1 0 1"/></geometry></collision>'),
                 "link 'a': collision: box: size"),
    "no shape": (link("<collision/>"), "link 'a': collision: needs one shape"),
    "two shapes": (link('<collision><geometry><sphere radius="1"/><sphere radius="1"/></geometry></collision>'),
                   "one shape"),
    "web mesh": (link('<collision><geometry><mesh filename="https://x/y.stl"/></geometry></collision>'),
                 "not understood"),
    "macro": ('<x:macro xmlns:x="http://www.ros.org/wiki/xacro" name="m"/>', "xacro"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_file_and_element(case: str, tmp_path: Path) -> None:
    inside, pattern = BAD[case]
    path = write(tmp_path, inside)
    with pytest.raises(SceneError, match=f"{re.escape(str(path))}: .*({pattern})"):
        load_urdf(path)


def test_wrong_root_is_refused() -> None:
    with pytest.raises(SceneError, match="<mujoco>.*<robot>"):
        load_urdf(DATA / "machine.xml")


# ---- whole humanoids -------------------------------------------------------------------------------------------------

HUMANOIDS = {
    "talos": "talos_data/robots/talos_reduced.urdf", "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "icub": "icub_description/robots/icub.urdf",
}


def humanoid(name: str) -> Path:
    """A robot of example-robot-data, which installs its files beside Pinocchio's libraries."""
    for base in sys.path:
        path = Path(base) / "cmeel.prefix" / "share" / "example-robot-data" / "robots" / HUMANOIDS[name]
        if path.is_file():
            return path
    pytest.skip("example-robot-data is not installed")


@pytest.fixture(scope="module")
def humanoids() -> dict[str, RobotDescription]:
    return {}


def loaded(name: str, humanoids: dict[str, RobotDescription]) -> RobotDescription:
    if name not in humanoids:
        humanoids[name] = load_robot(humanoid(name))
    return humanoids[name]


@pytest.mark.peer
@pytest.mark.parametrize("name", HUMANOIDS)
def test_humanoids_agree_with_pinocchio(name: str, humanoids: dict[str, RobotDescription]) -> None:
    pin = pytest.importorskip("pinocchio")
    model, ours = pin.buildModelFromUrdf(str(humanoid(name))), loaded(name, humanoids)
    mass = sum(b.inertial.mass for b in ours.bodies if b.inertial)
    # a fixed base's mass is in Pinocchio's universe
    assert mass == pytest.approx(sum(inertia.mass for inertia in model.inertias), rel=1e-12)
    moving = {b.joint.name: b.joint for b in ours.bodies if b.joint.kind != "fixed"}
    assert set(moving) == set(model.names) - {"universe"}
    for joint_name, joint_made in moving.items():
        i = model.joints[model.getJointId(joint_name)].idx_q
        assert (joint_made.lower, joint_made.upper) == (model.lowerPositionLimit[i], model.upperPositionLimit[i])
        assert joint_made.effort == model.upperEffortLimit[i]
    frames = {frame.name for frame in model.frames}
    assert {b.name for b in ours.bodies} <= frames
    meshes = [g for b in ours.bodies for g in b.geometries if g.shape.kind in ("convex", "mesh")]
    assert len(meshes) > 40, "package:// resolves"


@pytest.mark.peer
@pytest.mark.parametrize("name", HUMANOIDS)
def test_humanoids_agree_with_mujocos_reading(name: str, humanoids: dict[str, RobotDescription]) -> None:
    mujoco = pytest.importorskip("mujoco")
    root = ElementTree.parse(humanoid(name)).getroot()
    for xml in root.findall("link"):  # MuJoCo finds no package:// meshes
        for part in xml.findall("visual") + xml.findall("collision"):
            xml.remove(part)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    spec.compiler.fusestatic = 0
    stuffed = set()
    for item in spec.bodies:  # it refuses moving bodies without inertia, which these robots have
        if item.mass > 0 and not np.any(item.fullinertia > 1e-12) and not np.any(item.inertia > 1e-12):
            item.inertia, item.fullinertia = [1e-9] * 3, [np.nan] * 6
            stuffed.add(item.name)
    model = spec.compile()
    ours = loaded(name, humanoids)
    assert len(stuffed) < len(ours.bodies) / 2, "most inertias are compared as they are"
    there = {model.body(i).name: i for i in range(1, model.nbody)}
    assert set(there) == {b.name for b in ours.bodies}
    for b in ours.bodies:
        i = there[b.name]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, model.body_quat[i])
        np.testing.assert_allclose(b.position, model.body_pos[i], atol=1e-12)
        np.testing.assert_allclose(quaternion_to_matrix(b.rotation), R.reshape(3, 3), atol=1e-12)
        mass = b.inertial.mass if b.inertial else 0.0
        assert mass == pytest.approx(model.body_mass[i], rel=1e-12)
        if b.inertial and mass > 0.0:
            mujoco.mju_quat2Mat(R, model.body_iquat[i])
            axes = R.reshape(3, 3)
            np.testing.assert_allclose(b.inertial.center, model.body_ipos[i], atol=1e-12)
            theirs = np.zeros((3, 3)) if b.name in stuffed else axes @ np.diag(model.body_inertia[i]) @ axes.T
            tolerance = 1e-12 if b.name in stuffed else 1e-9 * np.abs(theirs).max()
            np.testing.assert_allclose(b.inertial.matrix, theirs, atol=tolerance)
