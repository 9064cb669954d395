"""Choreonoid's body files: small files of our own, against closed forms and the same robot in URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.geometry.shapes import Box, Capsule, ConvexMesh, Cylinder, Mesh, Sphere
from sesshoku.scene.io.spec import load_robot
from sesshoku.spatial.rotation import quaternion_to_matrix

HEAD = "format: ChoreonoidBody\nformatVersion: 1.0\nname: Tester\n"

ARM = HEAD + """
angleUnit: degree
links:
  -
    name: BASE
    jointType: fixed
    translation: [0, 0, 1]
    elements:
      -
        type: RigidBody
        mass: 2.0
        centerOfMass: [0, 0, 0.1]
        inertia: [0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.01]
        elements:
          -
            type: Shape
            geometry: { type: Box, size: [0.2, 0.3, 0.4] }
            appearance: &LOOK
              material: { diffuseColor: [0.1, 0.2, 0.3], transparency: 0.5 }
  -
    name: UPPER
    parent: BASE
    jointId: 0
    jointType: revolute
    jointAxis: -Y
    jointRange: [-90, 45]
    jointVelocityRange: [-180, 180]
    maxJointEffort: 30
    rotorInertia: 1e-4
    gearRatio: 50
    translation: [0, 0, 0.2]
    rotation: [0, 0, 1, 90]
    elements:
      - { type: RigidBody, mass: 1, centerOfMass: [0, 0, 0.25], inertia: [0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.002] }
      - { type: ForceSensor, name: shoulder_force, id: 0, translation: [0, 0, 0.05] }
      - { type: AccelerationSensor, name: accelerometer, id: 0 }
      - { type: Camera, name: eye, format: COLOR }
      -
        type: Visual
        shape: { geometry: { type: Capsule, radius: 0.05, height: 0.3 }, appearance: *LOOK }
      -
        type: Collision
        elements:
          -
            type: Transform
            translation: [0, 0, 0.2]
            rotation: [1, 0, 0, 90]
            elements:
              Shape:
                geometry: { type: Cylinder, radius: 0.04, height: 0.4 }
  -
    name: SLIDE
    parent: UPPER
    joint_id: 1
    joint_type: prismatic
    joint_axis: [0, 0, 1]
    joint_range: [0, 0.2]
    joint_displacement: 0.1
    translation: [0, 0, 0.5]
    mass: 0.5
    inertia: [0.001, 0, 0, 0, 0.001, 0, 0, 0, 0.001]
standardPose: [30, 0.05]
linkGroup:
  - name: ALL
    links: [ UPPER, SLIDE ]
collisionDetection: { excludeTreeDepth: 2 }
"""


def read(tmp_path: Path, text: str, name: str = "robot.body", **options: object) -> RobotDescription:
    path = tmp_path / name
    path.write_text(text)
    return load_robot(path, **options)  # type: ignore[arg-type]


def test_links_and_joints(tmp_path: Path) -> None:
    robot = read(tmp_path, ARM)
    base, upper, slide = robot.bodies
    assert robot.name == "Tester" and not robot.floats
    assert base.joint.kind == "fixed" and base.position.tolist() == [0, 0, 1]
    assert upper.joint.kind == "revolute" and upper.joint.axis.tolist() == [0, -1, 0]
    assert (upper.joint.lower, upper.joint.upper) == pytest.approx((-np.pi / 2, np.pi / 4))
    assert upper.joint.velocity_limit == pytest.approx(np.pi) and upper.joint.effort == 30.0
    assert upper.joint.armature == pytest.approx(1e-4 * 2500)
    assert np.allclose(upper.rotation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    assert slide.joint.kind == "prismatic" and (slide.joint.lower, slide.joint.upper) == (0.0, 0.2)
    assert slide.joint.position.tolist() == [0.1]


def test_masses(tmp_path: Path) -> None:
    base, _, slide = read(tmp_path, ARM).bodies
    assert base.inertial is not None and base.inertial.mass == 2.0
    assert base.inertial.center.tolist() == [0, 0, 0.1] and np.diag(base.inertial.matrix).tolist() == [0.02, 0.02, 0.01]
    assert slide.inertial is not None and slide.inertial.mass == 0.5  # given on the link itself


def test_masses_below_transforms_add_up(tmp_path: Path) -> None:
    """Two balls at the ends of a rod, one given in a turned frame: parallel axes."""
    robot = read(tmp_path, HEAD + """
links:
  - name: ROD
    jointType: free
    elements:
      - type: Transform
        translation: [1, 0, 0]
        rotation: [0, 0, 1, 90]
        elements: [ { type: RigidBody, mass: 1, inertia: [1, 0, 0, 0, 2, 0, 0, 0, 3] } ]
      - type: Transform
        translation: [-1, 0, 0]
        elements: [ { type: RigidBody, mass: 1, inertia: [1, 0, 0, 0, 2, 0, 0, 0, 3] } ]
""")
    inertial = robot.bodies[0].inertial
    assert inertial is not None and inertial.mass == 2.0 and np.allclose(inertial.center, 0.0)
    assert np.allclose(np.diag(inertial.matrix), [2 + 1, 1 + 2 + 2, 3 + 3 + 2])
    assert robot.bodies[0].joint.kind == "free"


def test_shapes_visual_and_collision(tmp_path: Path) -> None:
    base, upper, _ = read(tmp_path, ARM).bodies
    both, = base.geometries
    assert both.shape == Box((0.2, 0.3, 0.4)) and both.collides and both.visible
    assert both.color == (0.1, 0.2, 0.3, 0.5)
    shown, solid = upper.geometries
    assert shown.shape == Capsule(0.05, 0.3) and not shown.collides and shown.color == both.color
    assert solid.shape == Cylinder(0.04, 0.4) and solid.collides and not solid.visible
    assert solid.position.tolist() == [0, 0, 0.2]
    # the axis of the file's cylinder is y; the Transform turns it to z
    from sesshoku.spatial.rotation import quaternion_to_matrix

    assert np.allclose(quaternion_to_matrix(solid.rotation)[:, 2], [0, 0, 1])


def test_sensors_poses_pairs_and_what_is_left_out(tmp_path: Path) -> None:
    robot = read(tmp_path, ARM)
    force, imu = robot.sensors
    assert (force.name, force.body) == ("shoulder_force", "UPPER") and force.position.tolist() == [0, 0, 0.05]
    assert type(imu).__name__ == "Imu" and imu.name == "accelerometer"
    assert robot.poses == {"standard": {"UPPER": pytest.approx(np.pi / 6), "SLIDE": 0.05}}
    assert robot.excluded_pairs == [("BASE", "SLIDE"), ("BASE", "UPPER"), ("SLIDE", "UPPER")]
    assert robot.unsupported == ["Camera 'eye' of link 'UPPER'",
                                 "link_group of the file (for planning, not for motion)"]


def test_the_robot_moves_as_its_urdf_does(tmp_path: Path) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text("""<robot name="arm">
      <link name="BASE"/>
      <link name="UPPER"><inertial><origin xyz="0 0 0.25"/><mass value="1"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="SLIDE"><inertial><mass value="0.5"/>
        <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="UPPER" type="revolute"><parent link="BASE"/><child link="UPPER"/><axis xyz="0 -1 0"/>
        <origin xyz="0 0 0.2" rpy="0 0 1.5707963267948966"/><limit lower="-1.5707963" upper="0.7853982" effort="30"
        velocity="3"/></joint>
      <joint name="SLIDE" type="prismatic"><parent link="UPPER"/><child link="SLIDE"/><axis xyz="0 0 1"/>
        <origin xyz="0 0 0.5"/><limit lower="0" upper="0.2" effort="100" velocity="3"/></joint></robot>""")
    (tmp_path / "arm.body").write_text(ARM)
    places = []
    for file in ("arm.body", "arm.urdf"):
        scene = ss.Scene()
        with pytest.warns(ss.UnsupportedFeature) if file.endswith("body") else _quiet():
            scene.load(tmp_path / file, fixed_base=True, position=(0, 0, 0))
        scene.joint("SLIDE").position[:] = 0.1
        scene.joint("UPPER").armature = 0.25
        sim = ss.Simulation(scene, "none", dt=1e-3)
        sim.step(300)
        places.append(sim.bodies["SLIDE"].position - sim.bodies["BASE"].position)
    assert np.allclose(*places, atol=1e-9)
    assert np.linalg.norm(places[0] - [0, 0, 0.8]) > 0.01  # it did move


def _quiet() -> object:
    from contextlib import nullcontext

    return nullcontext()


def test_radians_snake_case_imports_and_unlimited_joints(tmp_path: Path) -> None:
    robot = read(tmp_path, """
format: ChoreonoidBody
format_version: 2.0
angle_unit: radian
name: wheels
root_link: BODY
WHEEL: &WHEEL
  parent: BODY
  joint_type: revolute
  joint_axis: Y
  joint_range: unlimited
  rotation: [1, 0, 0, 0.5]
  mass: 1e-1
links:
  - { import: *WHEEL, name: LEFT }
  - { <<: *WHEEL, name: RIGHT, joint_range: 1.5 }
  - { name: BODY, joint_type: free }
""")
    body, left, right = robot.bodies
    assert body.name == "BODY"  # parents first, whatever the file's order
    assert left.joint.kind == "continuous" and left.joint.axis.tolist() == [0, 1, 0]
    assert np.allclose(left.rotation, [np.cos(0.25), np.sin(0.25), 0, 0])
    assert (right.joint.lower, right.joint.upper) == (-1.5, 1.5)
    assert right.inertial is not None and right.inertial.mass == 0.1
    assert len(robot.unsupported) == 1 and "of the file" in robot.unsupported[0]  # the anchor's own entry


def test_files_of_shapes(tmp_path: Path) -> None:
    (tmp_path / "part.wrl").write_text("""#VRML V2.0 utf8
        DEF A Transform { translation 0 0 1 children Shape { geometry Sphere { radius 0.1 } } }
        Shape { geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0 1 0 0 0 1 0 0 0 1 ] }
          coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 2 0 3 -1 ] } }
        Shape { geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0 1 0 0 0 1 0 ] }
          coordIndex [ 0 1 2 -1 ] } }""")
    (tmp_path / "part.obj").write_text(
        "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    robot = read(tmp_path, HEAD + """
links:
  - name: ROOT
    jointType: fixed
    elements:
      - { type: Resource, uri: part.wrl }
      - { type: Shape, geometry: { type: Resource, uri: part.wrl, node: A } }
      - { type: Collision, resource: { uri: "${SHARE}/part.obj", lengthUnit: millimeter, upperAxis: Y } }
      - { type: Visual, elements: [ { type: Resource, uri: missing.dae } ] }
""")
    ball, hull, shown, flat, again, turned = robot.bodies[0].geometries
    assert ball.shape == Sphere(0.1) and ball.position.tolist() == [0, 0, 1]
    assert isinstance(hull.shape, ConvexMesh) and hull.collides and not hull.visible
    assert isinstance(shown.shape, Mesh) and not shown.collides and isinstance(flat.shape, Mesh)
    assert again.shape == Sphere(0.1)
    assert isinstance(turned.shape, ConvexMesh)
    assert np.allclose(turned.shape.vertices.max(axis=0), [1, 0, 1])  # its y is up
    assert np.allclose(turned.shape.vertices.min(axis=0), [0, -1, 0])
    assert any("flat mesh" in item for item in robot.unsupported)
    assert any("visual file 'missing.dae': mesh not found" in item for item in robot.unsupported)


def test_extra_joints_close_loops(tmp_path: Path) -> None:
    links = "\n".join(f"""  - name: {name}
    parent: {parent}
    jointType: revolute
    jointAxis: Y
    translation: [{x}, 0, 0]
    elements:
      - {{ type: RigidBody, mass: 1, centerOfMass: [0, 0, 0.1], inertia: [.01, 0, 0, 0, .01, 0, 0, 0, .01] }}"""
                      for name, parent, x in (("A", "ROOT", 0.0), ("B", "ROOT", 0.3)))
    robot = read(tmp_path, HEAD + f"""
links:
  - name: ROOT
    jointType: fixed
{links}
extraJoints:
  - {{ link1Name: A, link2Name: B, jointType: ball, link1LocalPos: [0.15, 0, 0.2], link2LocalPos: [-0.15, 0, 0.2] }}
  - {{ link1Name: A, link2Name: B, jointType: piston, jointAxis: [1, 0, 0] }}
""")
    loop, = robot.loops
    assert (loop.kind, loop.body_a, loop.body_b) == ("ball", "A", "B")
    assert loop.position.tolist() == [0.15, 0, 0.2] and loop.position_b.tolist() == [-0.15, 0, 0.2]
    assert robot.unsupported == ["extra joint of type piston between 'A' and 'B'"]


def test_a_scene_reads_it_by_content_or_suffix(tmp_path: Path) -> None:
    for name in ("arm.body", "arm.yaml", "arm.txt"):
        assert len(read(tmp_path, ARM, name).bodies) == 3
    scene = ss.Scene()
    with pytest.warns(ss.UnsupportedFeature, match="Camera 'eye'"):
        robot = scene.load(tmp_path / "arm.body", pose="standard")
    assert robot.joints == ["UPPER", "SLIDE"] and scene.joint("UPPER").position[0] == pytest.approx(np.pi / 6)
    with pytest.warns(ss.UnsupportedFeature):
        assert "Tester" in ss.Scene.read(tmp_path / "arm.body").robots


@pytest.mark.parametrize(("change", "message"), [
    (("format: ChoreonoidBody", "format: Other"), r"format: not a body file \(got 'Other'\)"),
    (("formatVersion: 1.0", "formatVersion: 9"), r"format_version \(line 2\): unknown version"),
    (("angleUnit: degree", "angleUnit: turns"), r"angle_unit \(line 5\): unknown unit of angles \(got 'turns'\)"),
    (("parent: BASE", "parent: NOBODY"), r"link 'UPPER' \(line 24\): the parent does not exist \(got 'NOBODY'\)"),
    (("jointAxis: -Y", "jointAxis: W"), r"unknown axis of a joint \(got 'W'\); use X, Y, Z"),
    (("mass: 2.0", "mass: heavy"), r"link 'BASE': RigidBody \(line 14\): mass is not a number \(got 'heavy'\)"),
    (("jointType: revolute", "jointType: screw"), r"unknown type of joint \(got 'screw'\)"),
    (("jointRange: [-90, 45]", "jointRange: [1, 2, 3]"), "joint_range needs two numbers"),
    (("jointRange: [-90, 45]", "jointRange: [45, -90]"), r"joint 'UPPER' \(line 24\): lower limit 0.785398 is above"),
    (("name: SLIDE", "name: UPPER"), "two links have this name"),
    (("translation: [0, 0, 1]", "translation: [0, 0]"), r"translation needs 3 numbers \(got \['0', '0'\]\)"),
    (("size: [0.2, 0.3, 0.4]", "size: [0.2, -0.3, 0.4]"), "size must be greater than 0"),
    (("rotation: [0, 0, 1, 90]", "rotation: [0, 0, 0, 90]"), "the axis of a rotation has no direction"),
    (("      - { type: Camera, name: eye, format: COLOR }", "      - { type: Resource, uri: gone.stl }"),
     "mesh not found"),
    (("  -\n    name: BASE", "  -\n   name: BASE\n     x: y"), "is not well-formed YAML.*line 9"),
])
def test_bad_files_say_what_and_where(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in ARM
    with pytest.raises(ss.SceneError, match=message) as caught:
        read(tmp_path, ARM.replace(*change))
    assert "robot.body" in str(caught.value)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(ss.SceneError, match="OpenHRP model"):
        read(tmp_path, "modelFile: robot.wrl\n")
    with pytest.raises(ss.SceneError, match="there are no links"):
        read(tmp_path, HEAD)
    with pytest.raises(ss.SceneError, match="no such file"):
        load_robot(tmp_path / "nothing.body")
    with pytest.raises(ss.SceneError, match="in a circle"):
        read(tmp_path, HEAD + "links:\n  - { name: A, parent: B }\n  - { name: B, parent: A }\n")
    with pytest.raises(ss.SceneError, match="several links have no parent"):
        read(tmp_path, HEAD + "links:\n  - { name: A }\n  - { name: B }\n")
    with pytest.raises(ss.SceneError, match="SubBody is not read"):
        read(tmp_path, HEAD + "links:\n  - { type: SubBody, uri: other.body }\n")
    listed = read(tmp_path, HEAD + "links:\n  - { name: A, name: B, jointType: crawler, colour: red }\n").unsupported
    assert listed == ["continuous track of link 'B': its surface does not run, the link is fixed", "colour of link 'B'",
                      "key 'name' stands twice, the second time in line 5: the last one counts"]


def test_rotations_in_a_row_and_shapes_of_devices(tmp_path: Path) -> None:
    """A list of rotations is their product; the housing of a camera or a sensor is a shape of its link."""
    path = tmp_path / "eye.body"
    path.write_text(HEAD + """
links:
  - name: HEAD
    jointType: fixed
    mass: 1.0
    inertia: [0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01]
    elements:
      - type: Camera
        name: eye
        translation: [0.1, 0, 0.05]
        rotation: [[1, 0, 0, 90], [0, 1, 0, -90]]
        width: 320
        elements:
          Shape: { translation: [0, 0, -0.01], geometry: { type: Box, size: [0.02, 0.04, 0.06] } }
      - type: AccelerationSensor
        name: imu
        elements:
          - { type: Shape, geometry: { type: Sphere, radius: 0.01 } }
  - name: EAR
    parent: HEAD
    jointType: revolute
    rotation: [[0, 0, 1, 30], [0, 0, 1, 60]]
    mass: 1.0
    inertia: [0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01]
""")
    head, ear = load_robot(path).bodies
    box, ball = head.geometries
    assert isinstance(box.shape, Box) and isinstance(ball.shape, Sphere) and box.collides and ball.collides
    R = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]) @ np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(quaternion_to_matrix(box.rotation), R, atol=1e-12)
    np.testing.assert_allclose(box.position, np.array([0.1, 0, 0.05]) + R @ (0, 0, -0.01), atol=1e-12)
    np.testing.assert_allclose(quaternion_to_matrix(ear.rotation), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)
