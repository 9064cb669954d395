"""The scene builder: what it adds, combines, filters and refuses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.elements import Actuator, Body, Geometry, Inertial, Joint, Loop, Material, Mimic, RobotDescription
from sesshoku.scene.geometry.shapes import Box, ConvexMesh, Sphere
from sesshoku.scene.scene import Scene, combine_materials
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

BLOCK = Inertial(2.0, (0, 0, 0), np.eye(3))


def crane() -> RobotDescription:
    """Base, boom and hook with an actuator, a loop, a mimic and filters."""
    return RobotDescription(
        "crane",
        [Body("base", joint=Joint("fixed"), inertial=BLOCK, position=(0, 0, 1)),
         Body("boom", "base", Joint("revolute", name="lift"), inertial=BLOCK),
         Body("hook", "boom", Joint("prismatic", name="reel"), inertial=BLOCK)],
        [Actuator("winch", "reel")], [Loop("rope", "ball", "hook", "base")], [Mimic("reel", "lift", 0.1)],
        [("base", "hook")], [("boom", "hook")], gravity=np.array([0, 0, -1.6]), time_step=0.004)


# ---- shapes ----------------------------------------------------------------------------------------------------------


def test_shapes_bring_their_mass_properties() -> None:
    scene = Scene()
    scene.add_box("box", size=(1, 2, 3), mass=12.0)
    scene.add_sphere("ball", radius=0.5, density=1000.0)
    scene.add_cylinder("can", radius=1.0, length=2.0, mass=3.0)
    scene.add_capsule("pill", radius=0.5, length=1.0, density=1.0)
    inertias = {name: body.inertial for name, body in scene.bodies.items()}
    np.testing.assert_allclose(np.diag(inertias["box"].matrix), [13, 10, 5])
    assert inertias["ball"].mass == pytest.approx(1000 * np.pi / 6)
    np.testing.assert_allclose(np.diag(inertias["can"].matrix), [3 / 4 + 1, 3 / 4 + 1, 1.5])
    assert inertias["pill"].mass == pytest.approx(np.pi * 0.25 + np.pi / 6)
    assert all(body.joint.kind == "free" for body in scene.bodies.values())


@pytest.mark.parametrize(("call", "words"), [
    (lambda s: s.add_box("b", size=(1, 1, 1)), "body 'b'.*needs mass or density"),
    (lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, speed=3), "body 'b'.*unknown keyword 'speed'"),
    (lambda s: s.add_box("b", size=(1, -1, 1), mass=1.0), "size"),
    (lambda s: s.add_sphere("b", radius=0.0, mass=1.0), "radius"),
    (lambda s: s.add_sphere("b", radius=1.0, mass=-1.0), "mass"),
    (lambda s: s.add_body("used", inertial=BLOCK), "body 'used'.*taken already"),
    (lambda s: s.add_body("b", joint=Joint("revolute", name="used")), "joint 'used'.*taken already"),
    (lambda s: s.add_body("b", parent="nobody"), "body 'b'.*unknown parent.*'nobody'"),
    (lambda s: s.add_body("b", fixed=True, joint=Joint("revolute")), "body 'b'.*no moving joint"),
    (lambda s: s.add_body("b", parent="used", joint=Joint("free")), "body 'b'.*world only"),
    (lambda s: s.add_body("b", kinematic=True, parent="used"), "body 'b'.*no parent"),
    (lambda s: s.add_body("b", parent="used", velocity=(1, 0, 0)), "body 'b'.*velocity of its own"),
    (lambda s: s.add_body("b", motion=lambda t: None), "body 'b'.*kinematic"),
    (lambda s: s.add_body(""), "name of a body"),
    (lambda s: s.add_mesh("b", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], mass=1.0), "body 'b'.*needs faces"),
    (lambda s: s.add_body("b", geometries=[ss.Geometry(ss.Plane())]), "body 'b'.*plane"),
    (lambda s: s.add_actuator("nothing"), "no such joint.*'nothing'|joint 'nothing'.*no such joint"),
    (lambda s: s.add_actuator("used"), "free joint can't be driven"),
    (lambda s: s.add_loop("weld", "used", "used"), "two different bodies"),
    (lambda s: s.add_loop("glue", "used"), "unknown loop kind"),
    (lambda s: s.add_loop("ball", "used", "nobody"), "no such body"),
    (lambda s: s.add_mimic("used", "used"), "one axis"),
    (lambda s: s.friction("used", "nobody", static=1.0), "no such body"),
    (lambda s: s.friction("used", "used2", static=0.1, kinetic=0.2), "kinetic_friction is above"),
    (lambda s: s.exclude_collision("used", "nobody"), "no such body"),
    (lambda s: s.self_collision("nobody"), "no such robot"),
])
def test_refused_by_name(call: Any, words: str) -> None:
    scene = Scene()
    scene.add_body("used", inertial=BLOCK)
    scene.add_body("used2", inertial=BLOCK)
    with pytest.raises(ss.SceneError, match=words):
        call(scene)
    assert list(scene.bodies) == ["used", "used2"] and not scene.actuators and not scene.loops and not scene.mimics


def test_mimics_are_one_each() -> None:
    scene = Scene()
    for name in "abc":
        scene.add_body(name, joint=Joint("revolute"), inertial=BLOCK)
    scene.add_mimic("a", "b")
    with pytest.raises(ss.SceneError, match="mimics another one already"):
        scene.add_mimic("a", "c")
    with pytest.raises(ss.SceneError, match="mimic itself"):
        scene.add_mimic("b", "b")


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), "down", 9.8])
def test_bad_gravity(gravity: Any) -> None:
    with pytest.raises(ss.SceneError, match="gravity"):
        Scene(gravity=gravity)
    with pytest.raises(ss.SceneError, match="gravity"):
        Scene().gravity = gravity


# ---- materials and filters -------------------------------------------------------------------------------------------


def test_materials_combine() -> None:
    ice = Material(0.04, 0.01, 0.8, stiffness=100.0, damping=1.0)
    rubber = Material(1.0, 0.64, 0.2, stiffness=300.0, damping=3.0)
    both = combine_materials(ice, rubber)
    assert (both.static_friction, both.kinetic_friction, both.restitution) == pytest.approx((0.2, 0.08, 0.8))
    assert (both.stiffness, both.damping) == pytest.approx((75.0, 2.0))  # springs in series
    assert combine_materials(rubber, ice) == both
    assert combine_materials(ice, Material()).stiffness == 100.0
    assert combine_materials(Material(), Material()).stiffness is None
    assert combine_materials(Material(0.0), rubber).static_friction == 0.0


def test_pairs_override_materials() -> None:
    scene = Scene(material=Material(0.25))
    scene.add_ground(material=Material(1.0, restitution=0.3))
    scene.add_box("crate", size=(1, 1, 1), mass=1.0)
    assert scene.combined_material("crate", "ground").static_friction == 0.5  # the scene's material where none is given
    scene.friction("crate", "ground", static=0.9, kinetic=0.7)
    pair = scene.pair_friction[("crate", "ground")]
    assert (pair.static_friction, pair.kinetic_friction, pair.restitution) == (0.9, 0.7, 0.3)
    scene.friction("ground", "crate", static=0.1)  # the same pair, either way round
    assert len(scene.pair_friction) == 1 and scene.pair_friction[("crate", "ground")].static_friction == 0.1


def test_collision_filters() -> None:
    scene = Scene()
    for name in "ab":
        scene.add_body(name, inertial=BLOCK)
    scene.exclude_collision("b", "a")
    assert scene.excluded_pairs == {("a", "b")}
    scene.include_collision("a", "b")  # the last word counts
    assert scene.forced_pairs == {("a", "b")} and not scene.excluded_pairs
    robot = scene.add_robot(crane())
    scene.self_collision(robot)
    assert scene.self_colliding == {"crane"}
    scene.self_collision("crane", on=False)
    assert not scene.self_colliding


# ---- robots ----------------------------------------------------------------------------------------------------------


def test_a_robot_keeps_its_names() -> None:
    scene = Scene()
    robot = scene.add_robot(crane())
    assert (robot.name, robot.bodies, robot.joints, robot.actuators) == (
        "crane", ["base", "boom", "hook"], ["lift", "reel"], ["winch"])
    assert scene.bodies["boom"].robot == "crane" and scene.joint("reel").kind == "prismatic"
    assert scene.excluded_pairs == {("base", "hook")} and scene.forced_pairs == {("boom", "hook")}


def test_a_name_becomes_a_prefix_of_everything() -> None:
    scene = Scene()
    scene.add_robot(crane())
    robot = scene.add_robot(crane(), name="left")
    assert robot.bodies == ["left/base", "left/boom", "left/hook"] and robot.joints == ["left/lift", "left/reel"]
    assert scene.bodies["left/hook"].parent == "left/boom"
    assert scene.actuators["left/winch"].joint == "left/reel" and scene.mimics["left/reel"].source == "left/lift"
    assert scene.loops["left/rope"].body_b == "left/base" and ("left/base", "left/hook") in scene.excluded_pairs
    with pytest.raises(ss.SceneError, match="robot 'left'.*taken already.*name="):
        scene.add_robot(crane(), name="left")


def test_placing_a_robot() -> None:
    turn = axis_angle(np.array([0, 0, 1.0]), np.pi / 2)
    scene = Scene()
    scene.add_robot(crane(), position=(5, 0, 0), rotation=turn)  # in front of the file's own pose
    np.testing.assert_allclose(scene.bodies["base"].position, [5, 0, 1])
    placed = quaternion_to_matrix(scene.bodies["base"].rotation)
    np.testing.assert_allclose(placed, quaternion_to_matrix(turn), atol=1e-15)
    assert scene.bodies["base"].joint.kind == "fixed"
    free = Scene()
    free.add_robot(crane(), position=(0, 0, 3), fixed_base=False)
    assert free.bodies["base"].joint.kind == "free"
    np.testing.assert_allclose(free.bodies["base"].position, [0, 0, 3])
    for bad in ({"position": (1, 2)}, {"rotation": (1, 1, 1, 1)}, {"position": (0, 0, np.inf)}):
        with pytest.raises(ss.SceneError, match="body 'base'"):
            Scene().add_robot(crane(), **bad)


def test_placing_is_all_or_nothing() -> None:
    scene = Scene()
    scene.add_body("hook", inertial=BLOCK)  # the robot's third body clashes
    before = {key: repr(value) for key, value in vars(scene).items()}
    with pytest.raises(ss.SceneError, match="body 'hook'.*taken already"):
        scene.add_robot(crane())
    assert {key: repr(value) for key, value in vars(scene).items()} == before
    broken = crane()
    broken.mimics.append(Mimic("lift", "nothing"))
    with pytest.raises(ss.SceneError, match="nothing"):
        Scene().add_robot(broken)


def test_a_files_gravity_and_step_are_taken_only_where_none_is_given() -> None:
    scene = Scene()
    scene.add_robot(crane())
    np.testing.assert_array_equal(scene.gravity, [0, 0, -1.6])
    assert scene.time_step == 0.004 and len(scene.notes) == 2
    mine = Scene(gravity=(0, 0, -9.8))
    mine.time_step = 0.001
    mine.add_robot(crane())
    assert mine.gravity[2] == -9.8 and mine.time_step == 0.001 and not mine.notes


def test_descriptions_are_not_changed_by_placing() -> None:
    description = crane()
    before = repr(description)
    Scene().add_robot(description, name="a", position=(1, 2, 3), fixed_base=False)
    assert repr(description) == before


def test_loading_shipped_robots_twice() -> None:
    scene = Scene()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # our own models use nothing we do not support
        for name in ("left", "right"):
            scene.load(ss.robots.path("arm_gripper.urdf"), name=name, fixed_base=True)
    assert len(scene.robots["left"].bodies) == len(scene.robots["right"].bodies) == len(scene.bodies) // 2
    assert "2 robots" in repr(scene)


def test_gravity_is_a_copy() -> None:
    scene = Scene(gravity=(0, 0, -9.8))
    scene.gravity[2] = 0.0
    assert scene.gravity[2] == -9.8


# ---- wrong arguments ------------------------------------------------------------------------------------------------

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SIDES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


@pytest.mark.parametrize("attempt", [
    lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, material="rubber"),
    lambda s: s.add_box("b", size=(1, 1, 1), mass="5"), lambda s: s.add_box("b", size=(1, 1, 1), mass=True),
    lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, fixed="yes"),
    lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, kinematic="no"),
    lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, joint="revolute"),
    lambda s: s.add_box("b", size=(1, 1, 1), mass=1.0, color="red"),
    lambda s: s.add_body("b", fixed="yes"), lambda s: s.add_body("b", joint="revolute"),
    lambda s: s.add_body("b", geometries=5), lambda s: Scene(material=5), lambda s: Scene(material={}),
    lambda s: s.add_convex("b", [(0, 0, 0), (1, 0)], mass=1.0), lambda s: s.add_convex("b", ["abc"] * 4, mass=1.0),
    lambda s: s.add_convex("b", [("0", "0", "0")] * 4, mass=1.0),
    lambda s: s.add_convex("b", CORNERS, mass=1.0, scale="big"),
    lambda s: s.add_convex("b", CORNERS, mass=1.0, scale=(1, 2)),
    lambda s: s.add_mesh("b", CORNERS, faces="abc", mass=1.0),
    lambda s: s.add_mesh("b", CORNERS, faces=[[10**30, 1, 2]], mass=1.0),
    lambda s: s.add_mesh("b", CORNERS, faces=[(0, 2, 1.5), *SIDES[1:]], mass=1.0),
    lambda s: s.load(None), lambda s: Scene.read(None), lambda s: s.save(None), lambda s: s.load(5),
    lambda s: s.add_actuator("reel", kpp=3.0), lambda s: s.add_actuator("reel", name=""),
    lambda s: s.add_loop("ball", "base", "hook", name=""), lambda s: s.self_collision("crane", "no"),
])
def test_wrong_arguments_are_scene_errors(attempt: Any) -> None:
    scene = Scene()
    scene.add_robot(crane())
    with pytest.raises(ss.SceneError) as caught:
        attempt(scene)
    assert caught.value.element


URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="bend" type="revolute"><parent link="base"/><child link="tip"/>
<limit lower="1" upper="2" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize("options", [{"name": 5}, {"name": ""}, {"fixed_base": "yes"}, {"package_paths": 5},
                                     {"package_paths": [5]}, {"repair_inertia": "no"}, {"pose": 5}])
def test_wrong_options_of_load_are_scene_errors(tmp_path: Any, options: dict[str, Any]) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    scene = Scene()
    with pytest.raises(ss.SceneError):
        scene.load(file, **options)
    assert not scene.bodies and not scene.notes


def test_package_paths_may_be_one_folder(tmp_path: Any) -> None:
    inner = tmp_path / "shared" / "arm_meshes"
    inner.mkdir(parents=True)
    (inner / "tip.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    mesh = '<collision><geometry><mesh filename="package://arm_meshes/tip.obj"/></geometry></collision></link>\n<joint'
    (tmp_path / "robots").mkdir()
    file = tmp_path / "robots" / "arm.urdf"
    file.write_text(URDF.replace("</link>\n<joint", mesh))
    for folder in (str(tmp_path / "shared"), tmp_path / "shared"):
        scene = Scene()
        scene.load(file, package_paths=folder)
        assert len(scene.bodies["tip"].geometries) == 1


def test_limits_that_leave_out_zero_are_noted(tmp_path: Any) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    scene = Scene()
    scene.load(tmp_path / "arm.urdf")
    assert scene.joint("bend").position.tolist() == [1.0]
    assert scene.notes == ["joint 'bend' starts at 1, its limit nearest to 0, which is outside its limits 1 .. 2"]
    assert ss.Simulation(scene).joints["bend"].position == 1.0
    scene.save(tmp_path / "saved.toml")
    again = Scene.read(tmp_path / "saved.toml")
    assert again.notes == scene.notes and again.joint("bend").position.tolist() == [1.0]
    (tmp_path / "placed.toml").write_text('[[robot]]\nfile = "arm.urdf"\njoints = { bend = 1.5 }\n')
    placed = Scene.read(tmp_path / "placed.toml")
    assert placed.joint("bend").position.tolist() == [1.5] and not placed.notes


def test_mimics_in_a_circle_are_refused() -> None:
    scene = Scene()
    for name in "abcd":
        scene.add_body(name, joint=Joint("revolute"), inertial=BLOCK)
    scene.add_mimic("a", "b")
    scene.add_mimic("b", "c")
    scene.add_mimic("d", "a")
    with pytest.raises(ss.SceneError, match="circle.*c -> a -> b -> c"):
        scene.add_mimic("c", "a")
    assert set(scene.mimics) == {"a", "b", "d"}


def test_a_mesh_that_was_closed_is_noted() -> None:
    scene = Scene()
    scene.add_mesh("whole", CORNERS, faces=SIDES, mass=1.0)
    assert not scene.notes
    scene.add_mesh("open", CORNERS, faces=SIDES[:3], mass=1.0)
    assert scene.notes == ["body 'open': a hole in the mesh filled (3 open edges)"]


def test_category_and_mask_of_whole_bodies_and_hulls_as_they_are() -> None:
    scene = ss.Scene()
    shapes = [Geometry(Box((1, 1, 1)), category=1), Geometry(Sphere(0.5), mask=3)]
    scene.add_body("crate", geometries=shapes, fixed=True, category=4, mask=6)
    assert [(part.category, part.mask) for part in scene.bodies["crate"].geometries] == [(4, 6), (4, 6)]
    assert shapes[0].category == 1  # the given ones stay
    hull = ConvexMesh.hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]])
    body = scene.add_convex("hull", hull, mass=1.0, category=2)
    assert body.geometries[0].category == 2 and len(body.geometries[0].shape.vertices) == 4
    with pytest.raises(ss.SceneError, match="category must be an integer bit field"):
        scene.add_body("other", geometries=shapes, fixed=True, category=1.5)
