"""USD stages with UsdPhysics: small stages of our own, against closed forms and the same robot in MJCF."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.geometry.shapes import Box, Capsule, ConvexMesh, Mesh, Plane, Sphere
from sesshoku.scene.io.spec import load_robot
from sesshoku.spatial.rotation import quaternion_to_matrix

pytest.importorskip("pxr", reason="usd-core is not installed (extra `usd`)")

HEAD = """#usda 1.0
( defaultPrim = "robot"  metersPerUnit = {meter}  upAxis = "{up}"  {more} )
"""

ARM = """
def PhysicsScene "physics" { vector3f physics:gravityDirection = (0, 0, -1)  float physics:gravityMagnitude = 981 }
def Material "rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
{ float physics:staticFriction = 0.8  float physics:dynamicFriction = 0.6  float physics:restitution = 0.1 }
def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
  def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
  {
    double3 xformOp:translate = (0, 0, 100)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    float physics:mass = 3
    float3 physics:diagonalInertia = (200, 300, 400)
    def Cube "box" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
      double size = 1
      float3 xformOp:scale = (10, 20, 30)
      uniform token[] xformOpOrder = ["xformOp:scale"]
      rel material:binding:physics = </rubber>
      color3f[] primvars:displayColor = [(1, 0.5, 0)]
    }
  }
  def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
  {
    double3 xformOp:translate = (0, 0, 120)
    quatd xformOp:orient = (0.9238795325112867, 0, 0.3826834323650898, 0)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    float physics:mass = 1
    point3f physics:centerOfMass = (0, 0, 25)
    float3 physics:diagonalInertia = (100, 200, 250)
    quatf physics:principalAxes = (0.70710678, 0, 0, 0.70710678)
    def Capsule "link" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
      uniform token axis = "X"  double radius = 4  double height = 40
      uniform token purpose = "guide"
      double3 xformOp:translate = (0, 0, 25)
      uniform token[] xformOpOrder = ["xformOp:translate"]
    }
  }
  def Xform "slider" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
  {
    matrix4d xformOp:transform = (
      (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (35.35533905932738, 0, 155.35533905932738, 1))
    uniform token[] xformOpOrder = ["xformOp:transform"]
    def Sphere "ball" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"])
    { double radius = 5  float physics:mass = 0.5 }
  }
  def PhysicsFixedJoint "anchor" { rel physics:body1 = </robot/base>  point3f physics:localPos0 = (0, 0, 100) }
  def PhysicsRevoluteJoint "shoulder" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
  {
    rel physics:body0 = </robot/base>
    rel physics:body1 = </robot/arm>
    uniform token physics:axis = "Y"
    point3f physics:localPos0 = (0, 0, 20)
    float physics:lowerLimit = -90
    float physics:upperLimit = 60
    float drive:angular:physics:stiffness = 1000
    float drive:angular:physics:damping = 10
    float drive:angular:physics:targetPosition = 30
    float drive:angular:physics:maxForce = 50000
    float physxJoint:armature = 100
  }
  def PhysicsPrismaticJoint "slide" (prepend apiSchemas = ["PhysicsDriveAPI:linear"])
  {
    rel physics:body0 = </robot/arm>
    rel physics:body1 = </robot/slider>
    uniform token physics:axis = "Z"
    point3f physics:localPos0 = (0, 0, 40)
    quatf physics:localRot1 = (0.92387953, 0, 0.38268343, 0)
    float physics:lowerLimit = 0
    float physics:upperLimit = 20
    float drive:linear:physics:damping = 5
    float drive:linear:physics:targetVelocity = 10
  }
}
"""


def stage(text: str, meter: float, up: str = "Z", more: str = "") -> str:
    """The file: two blanks, and braces, stand for the line breaks that the format asks for between statements."""
    whole = HEAD.format(meter=meter, up=up, more=more) + text
    return whole.replace("  ", "\n").replace("{ ", "{\n").replace(" }", "\n}")


def read(tmp_path: Path, text: str, meter: float = 0.01, up: str = "Z", more: str = "", **options: Any,
         ) -> RobotDescription:
    path = tmp_path / "robot.usda"
    path.write_text(stage(text, meter, up, more))
    return load_robot(path, **options)


def test_bodies_and_masses_in_metres_and_kilograms(tmp_path: Path) -> None:
    robot = read(tmp_path, ARM)
    base, arm, slider = robot.bodies
    assert robot.name == "robot" and robot.gravity is not None and np.allclose(robot.gravity, [0, 0, -9.81])
    assert base.inertial is not None and base.inertial.mass == 3.0
    assert np.allclose(np.diag(base.inertial.matrix), [0.02, 0.03, 0.04]) and np.allclose(base.inertial.center, 0.0)
    assert arm.inertial is not None and np.allclose(arm.inertial.center, [0, 0, 0.25])
    # the principal axes are turned by a quarter about z: the moments of x and y change places
    assert np.allclose(arm.inertial.matrix, np.diag([0.02, 0.01, 0.025]), atol=1e-8)
    assert slider.inertial is not None and slider.inertial.mass == pytest.approx(0.5)  # of its collider
    assert np.allclose(np.diag(slider.inertial.matrix), 0.4 * 0.5 * 0.05**2)
    assert robot.unsupported == []


def test_joints_limits_and_starts(tmp_path: Path) -> None:
    base, arm, slider = read(tmp_path, ARM).bodies
    assert base.joint.kind == "fixed" and np.allclose(base.position, [0, 0, 1])
    assert arm.parent == "base" and arm.joint.kind == "revolute" and arm.joint.name == "shoulder"
    assert np.allclose(arm.joint.axis, [0, 1, 0]) and np.allclose(arm.position, [0, 0, 0.2])
    assert (arm.joint.lower, arm.joint.upper) == pytest.approx((-np.pi / 2, np.pi / 3))
    assert arm.joint.position[0] == pytest.approx(np.pi / 4)  # as it is drawn
    assert arm.joint.armature == pytest.approx(0.01)
    assert slider.joint.kind == "prismatic" and slider.joint.position[0] == pytest.approx(0.1, abs=1e-6)
    assert (slider.joint.lower, slider.joint.upper) == pytest.approx((0.0, 0.2))


def test_drives_are_servos(tmp_path: Path) -> None:
    shoulder, slide = read(tmp_path, ARM).actuators
    degree = np.pi / 180
    assert (shoulder.kind, shoulder.joint) == ("position", "shoulder")
    assert shoulder.kp == pytest.approx(1000 * 1e-4 / degree) and shoulder.kd == pytest.approx(10 * 1e-4 / degree)
    assert shoulder.target == pytest.approx(30 * degree) and shoulder.effort == pytest.approx(5.0)
    assert slide.kind == "velocity" and slide.kd == pytest.approx(5.0)
    assert slide.target_velocity == pytest.approx(0.1)


def test_colliders_materials_and_looks(tmp_path: Path) -> None:
    base, arm, _ = read(tmp_path, ARM).bodies
    box, = base.geometries
    assert isinstance(box.shape, Box) and np.allclose(box.shape.size, [0.1, 0.2, 0.3])
    assert box.color == (1.0, 0.5, 0.0, 1.0) and box.visible and box.collides
    assert box.material is not None
    assert (box.material.static_friction, box.material.kinetic_friction) == pytest.approx((0.8, 0.6))
    assert box.material.restitution == pytest.approx(0.1)
    link, = arm.geometries
    assert isinstance(link.shape, Capsule) and (link.shape.radius, link.shape.length) == pytest.approx((0.04, 0.4))
    assert not link.visible  # a guide
    assert np.allclose(np.abs(quaternion_to_matrix(link.rotation)[:, 2]), [1, 0, 0])
    assert np.allclose(link.position, [0, 0, 0.25])


def test_it_moves_as_the_same_robot_in_mjcf(tmp_path: Path) -> None:
    read(tmp_path, ARM)
    (tmp_path / "robot.xml").write_text("""<mujoco><option gravity="0 0 -9.81"/><worldbody>
      <body name="base" pos="0 0 1">
        <body name="arm" pos="0 0 0.2">
          <joint name="shoulder" axis="0 1 0" range="-90 60" limited="true" armature="0.01"/>
          <inertial pos="0 0 0.25" mass="1" diaginertia="0.02 0.01 0.025"/>
          <body name="slider" pos="0 0 0.4" euler="0 -45 0">
            <joint name="slide" type="slide" axis="0.70710678 0 0.70710678" range="0 0.2" limited="true"/>
            <inertial pos="0 0 0" mass="0.5" diaginertia="0.0005 0.0005 0.0005"/></body></body></body></worldbody>
      <actuator>
        <position joint="shoulder" kp="5.729577951308232" kv="0.05729577951308232" forcerange="-5 5"/>
        <velocity joint="slide" kv="5"/></actuator></mujoco>""")
    ends = []
    for file in ("robot.usda", "robot.xml"):
        scene = ss.Scene()
        scene.load(tmp_path / file)
        scene.joint("shoulder").position[:] = np.pi / 4
        scene.joint("slide").position[:] = 0.1
        sim = ss.Simulation(scene, "none", dt=1e-3)
        shoulder, slide = list(sim.actuators)
        sim.actuators[shoulder].target = np.pi / 6
        sim.actuators[slide].target_velocity = 0.1
        start = sim.bodies["slider"].position.copy()
        sim.step(300)
        ends.append(sim.bodies["slider"].position)
        assert np.linalg.norm(ends[-1] - start) > 0.02
    assert np.allclose(*ends, atol=1e-5)


def test_y_up_is_turned(tmp_path: Path) -> None:
    robot = read(tmp_path, """
def PhysicsScene "physics" {}
def Sphere "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
  double radius = 0.5
  double3 xformOp:translate = (1, 2, 3)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  vector3f physics:velocity = (0, 4, 0)
  vector3f physics:angularVelocity = (0, 0, 180)
}
def Plane "floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { uniform token axis = "Y" }
""", meter=1.0, up="Y")
    world, ball = robot.bodies
    assert np.allclose(ball.position, [1, -3, 2]) and np.allclose(ball.velocity, [0, 0, 4])
    assert np.allclose(ball.angular_velocity, [0, -np.pi, 0], atol=1e-6)
    assert ball.joint.kind == "free" and ball.inertial is not None
    assert ball.inertial.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.125)  # as heavy as water
    assert world.name == "world" and isinstance(world.geometries[0].shape, Plane)
    assert np.allclose(quaternion_to_matrix(world.geometries[0].rotation)[:, 2], [0, 0, 1])
    assert robot.gravity is not None and np.allclose(robot.gravity, [0, 0, -9.81]) and not robot.gravity_stated


MESH = """
  def Mesh "shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
  {
    point3f[] points = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (0, 0, 1), (2, 0, 1), (2, 1, 1), (0, 1, 1)]
    int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = [3, 2, 1, 0, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7]
    uniform token physics:approximation = "%s"
  }
"""


@pytest.mark.parametrize(("word", "kind", "weight"), [
    ("convexHull", ConvexMesh, 2.0), ("convexDecomposition", Mesh, 2.0), ("boundingCube", Box, 2.0),
    ("boundingSphere", Sphere, 4 / 3 * np.pi * 1.5**1.5)])
def test_meshes_stand_for_what_the_file_asks(tmp_path: Path, word: str, kind: type, weight: float) -> None:
    robot = read(tmp_path, 'def Xform "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n'
                           "{ float physics:density = 1" + MESH % word + "}", meter=1.0)
    solid, shown = robot.bodies[0].geometries
    assert isinstance(solid.shape, kind) and solid.collides and not solid.visible
    assert isinstance(shown.shape, Mesh) and not shown.collides
    assert robot.bodies[0].inertial is not None and robot.bodies[0].inertial.mass == pytest.approx(weight)


CHAIN = """
def Scope "parts"
{
%s
}
def Xform "robot" {
%s
}
"""


def linked(bodies: int, *joints: str) -> str:
    """A row of balls a metre apart."""
    made = [f"""def Sphere "b{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
      {{ double radius = 0.1  double3 xformOp:translate = ({i}, 0, 2)
         uniform token[] xformOpOrder = ["xformOp:translate"] }}""" for i in range(bodies)]
    return CHAIN % ("", "\n".join([*made, *joints]))


def joint(kind: str, name: str, first: int, second: int, more: str = "") -> str:
    return f"""def Physics{kind}Joint "{name}" {{ rel physics:body0 = </robot/b{first}>
      rel physics:body1 = </robot/b{second}>  point3f physics:localPos0 = (0.5, 0, 0)
      point3f physics:localPos1 = ({first + 0.5 - second}, 0, 0)  {more} }}"""


def test_circles_become_loops(tmp_path: Path) -> None:
    robot = read(tmp_path, linked(
        3, joint("Revolute", "a", 0, 1), joint("Spherical", "b", 1, 2),
        joint("Revolute", "c", 0, 2, "bool physics:excludeFromArticulation = true"), joint("Fixed", "d", 0, 2),
        joint("Prismatic", "e", 1, 2, "bool physics:excludeFromArticulation = true")), meter=1.0)
    kinds = {body.name: (body.parent, body.joint.kind) for body in robot.bodies}
    assert kinds == {"b0": (None, "free"), "b1": ("b0", "continuous"), "b2": ("b0", "fixed")}
    loops = {loop.name: (loop.kind, loop.body_a, loop.body_b) for loop in robot.loops}
    assert loops == {"b": ("ball", "b1", "b2"), "c": ("hinge", "b0", "b2")}
    assert robot.loops[0].position.tolist() == [0.5, 0, 0] and robot.loops[0].position_b.tolist() == [-0.5, 0, 0]
    assert robot.unsupported == ["prismatic joint 'e' closes a loop"]


def test_a_joint_hung_the_other_way_round_keeps_its_sign(tmp_path: Path) -> None:
    """The world is the second body: the first one moves against it, and limits keep their meaning."""
    robot = read(tmp_path, """
def Sphere "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) { double radius = 0.1 }
def PhysicsPrismaticJoint "slide" { rel physics:body0 = </robot>  uniform token physics:axis = "Z"
  float physics:lowerLimit = -1  float physics:upperLimit = 0.25 }""", meter=1.0)
    body, = robot.bodies
    assert np.allclose(body.joint.axis, [0, 0, -1]) and (body.joint.lower, body.joint.upper) == (-1.0, 0.25)


def test_generic_joints_by_their_limits(tmp_path: Path) -> None:
    locked = "float limit:{0}:physics:low = 1  float limit:{0}:physics:high = -1"
    dofs = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")

    def generic(name: str, second: int, free: tuple[str, ...]) -> str:
        schemas = ", ".join(f'"PhysicsLimitAPI:{dof}"' for dof in dofs if dof not in free)
        text = joint("", name, 0, second, "  ".join(locked.format(dof) for dof in dofs if dof not in free))
        return text.replace(f'"{name}"', f'"{name}" (prepend apiSchemas = [{schemas}])', 1)

    robot = read(tmp_path, linked(5, generic("hinge", 1, ("rotZ",)), generic("ball", 2, dofs[3:]),
                                  generic("weld", 3, ()), generic("odd", 4, ("rotX", "transZ"))), meter=1.0)
    assert {body.name: body.joint.kind for body in robot.bodies} == {
        "b0": "free", "b1": "continuous", "b2": "spherical", "b3": "fixed", "b4": "free"}
    assert robot.unsupported == ["joint 'odd' is free along transZ, rotX: it joins nothing here"]


def test_groups_and_filtered_pairs(tmp_path: Path) -> None:
    balls = linked(3).replace('"PhysicsCollisionAPI"]', '"PhysicsCollisionAPI", "PhysicsFilteredPairsAPI"]', 1)
    robot = read(tmp_path, balls.replace("{ double", "{ rel physics:filteredPairs = </robot/b2>  double", 1) + """
def PhysicsCollisionGroup "first" { rel collection:colliders:includes = </robot/b0>
  rel physics:filteredGroups = </second> }
def PhysicsCollisionGroup "second" { rel collection:colliders:includes = </robot/b1> }
""", meter=1.0)
    assert robot.excluded_pairs == [("b0", "b2")]
    a, b, c = (body.geometries[0] for body in robot.bodies)

    def touch(one: Any, other: Any) -> bool:
        return bool(one.category & other.mask or other.category & one.mask)

    assert not touch(a, b) and touch(a, c) and touch(b, c) and touch(a, a)


def test_a_crate_slides_as_its_two_frictions_say(tmp_path: Path) -> None:
    """Dynamic friction alone brakes it: v0^2 / (2 mu g)."""
    (tmp_path / "crate.usda").write_text(stage("""
def PhysicsScene "physics" { float physics:gravityMagnitude = 10 }
def Material "wood" (prepend apiSchemas = ["PhysicsMaterialAPI"])
{ float physics:staticFriction = 0.9  float physics:dynamicFriction = 0.5 }
def Cube "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"])
{ double size = 0.2  double3 xformOp:translate = (0, 0, 0.1)  uniform token[] xformOpOrder = ["xformOp:translate"]
  vector3f physics:velocity = (2, 0, 0)  rel material:binding:physics = </wood> }
def Cube "floor" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
{ double size = 10  double3 xformOp:translate = (0, 0, -5)  uniform token[] xformOpOrder = ["xformOp:translate"]
  rel material:binding:physics = </wood> }""", 1.0))
    scene = ss.Scene()
    scene.load(tmp_path / "crate.usda")
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(800)
    assert sim.bodies["robot"].position[0] == pytest.approx(2.0**2 / (2 * 0.5 * 10), rel=0.01)


def test_bad_stages(tmp_path: Path) -> None:
    with pytest.raises(ss.SceneError, match="no rigid body and no collider"):
        read(tmp_path, 'def Xform "robot" {}')
    with pytest.raises(ss.SceneError, match=r"robot.usda: USD cannot open the file"):
        read(tmp_path, 'def Xform "robot" {')
    with pytest.raises(ss.SceneError, match=r"joint '/robot/a'.*body1 is not there \(got '/robot/b7'\)"):
        read(tmp_path, linked(2, joint("Revolute", "a", 0, 7)))
    with pytest.raises(ss.SceneError, match="prim '/robot': the transform of a body is a mirror"):
        read(tmp_path, """def Xform "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
            { float3 xformOp:scale = (-1, 1, 1)  uniform token[] xformOpOrder = ["xformOp:scale"] }""")
    with pytest.raises(ss.SceneError, match="no such file"):
        load_robot(tmp_path / "nothing.usd")


def test_a_value_of_another_type_names_its_joint(tmp_path: Path) -> None:
    with pytest.raises(ss.SceneError, match="joint '/robot/a'.*a value of the wrong type"):
        read(tmp_path, linked(2, joint("Revolute", "a", 0, 1, 'uniform token physics:axis = "W"')))


def test_a_broken_mesh_names_its_prim(tmp_path: Path) -> None:
    with pytest.raises(ss.SceneError, match="prim '/robot/shape': the mesh is not whole"):
        read(tmp_path, 'def Xform "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{'
             + (MESH % "convexHull").replace("[4, 4, 4, 4, 4, 4]", "[4, 4, 4]") + "}")


def test_without_usd_core_the_error_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "pxr" or name.startswith("pxr.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(ss.SceneError, match=r"needs the package usd-core.*pip install 'sesshoku\[usd\]'"):
        read(tmp_path, ARM)


def test_scales_above_bodies_go_into_shapes_and_joints(tmp_path: Path) -> None:
    """A robot drawn in centimetres below a transform that scales it to metres."""
    scaled = ARM.replace("{\n  def Xform \"base\"", "{\n  float3 xformOp:scale = (0.01, 0.01, 0.01)\n"
                         '  uniform token[] xformOpOrder = ["xformOp:scale"]\n  def Xform "base"', 1)
    scaled = scaled.replace("point3f physics:localPos0 = (0, 0, 100) }", "point3f physics:localPos0 = (0, 0, 1) }")
    plain, small = read(tmp_path, ARM).bodies, read(tmp_path, scaled, meter=1.0).bodies
    for one, other in zip(plain, small):
        assert np.allclose(one.position, other.position) and np.allclose(one.joint.anchor, other.joint.anchor)
        for mine, theirs in zip(one.geometries, other.geometries):
            assert np.allclose(mine.position, theirs.position, atol=1e-9)
    assert np.allclose(small[0].geometries[0].shape.size, [0.1, 0.2, 0.3])  # type: ignore[union-attr]


def test_instanced_references_and_binary_files(tmp_path: Path) -> None:
    from pxr import Usd

    (tmp_path / "part.usda").write_text(stage('def Xform "part" { ' + (MESH % "convexHull") + " }", 1.0).replace(
        'defaultPrim = "robot"', 'defaultPrim = "part"'))
    robot = read(tmp_path, """
def Xform "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
  def Xform "left" (instanceable = true
    prepend references = @part.usda@) { double3 xformOp:translate = (0, 5, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"] }
  def Xform "right" (instanceable = true
    prepend references = @part.usda@) { }
}""", meter=1.0)
    solids = [geometry.shape for geometry in robot.bodies[0].geometries if geometry.collides]
    assert [float(solid.vertices[:, 1].min()) for solid in solids] == [5.0, 0.0]  # type: ignore[union-attr]
    binary = tmp_path / "robot.usdc"
    Usd.Stage.Open(str(tmp_path / "robot.usda")).Export(str(binary))
    again = load_robot(binary)
    assert again.bodies[0].inertial is not None and robot.bodies[0].inertial is not None
    assert again.bodies[0].inertial.mass == pytest.approx(robot.bodies[0].inertial.mass)
    (tmp_path / "part.usda").unlink()
    assert any("refers to is missing" in item for item in load_robot(tmp_path / "robot.usda").unsupported)


def test_mimic_joints(tmp_path: Path) -> None:
    follow = joint("Revolute", "b", 1, 2, """custom float physxMimicJoint:rotX:gearing = -2
      custom float physxMimicJoint:rotX:offset = 90
      custom rel physxMimicJoint:rotX:referenceJoint = </robot/a>""")
    mimic, = read(tmp_path, linked(3, joint("Revolute", "a", 0, 1), follow), meter=1.0).mimics
    assert (mimic.joint, mimic.source, mimic.ratio) == ("b", "a", 2.0) and mimic.offset == pytest.approx(-np.pi / 2)
