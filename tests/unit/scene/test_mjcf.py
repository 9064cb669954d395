"""MJCF: every feature on a small hand-made file."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjcf_files import BALL, DATA, HINGE, MACHINE, body, load, write
from sesshoku.errors import SceneError
from sesshoku.scene.elements import Actuator, RobotDescription
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Plane, Sphere
from sesshoku.scene.io.mjcf import read as mjcf
from sesshoku.scene.io.mjcf.read import load_mjcf
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import quaternion_to_matrix

DEGREE = np.pi / 180


@pytest.fixture(scope="module")
def machine() -> RobotDescription:
    return load_mjcf(MACHINE)


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_names_and_tree(machine: RobotDescription) -> None:
    assert machine.name == "contraption"
    assert [(b.name, b.parent, b.joint.kind, b.joint.name) for b in machine.bodies] == [
        ("world", None, "fixed", "world"), ("puppet", None, "fixed", "puppet"), ("torso", None, "free", "root"),
        ("thigh/hip_x", "torso", "revolute", "hip_x"), ("thigh/hip_y", "thigh/hip_x", "continuous", "hip_y"),
        ("thigh", "thigh/hip_y", "prismatic", "stretch"), ("shin", "thigh", "revolute", "knee"),
        ("head", "torso", "spherical", "neck"), ("pack", "torso", "fixed", "pack"),
        ("crate", None, "prismatic", "push"),
    ]
    assert [b.name for b in machine.bodies if b.kinematic] == ["puppet"]
    assert [b.name for b in machine.bodies if b.inertial is None] == ["world", "thigh/hip_x", "thigh/hip_y"]


def test_joint_values(machine: RobotDescription) -> None:
    hip_x, hip_y = body(machine, "thigh/hip_x").joint, body(machine, "thigh/hip_y").joint
    assert (hip_x.lower, hip_x.upper) == pytest.approx((-45 * DEGREE, 45 * DEGREE))
    assert (hip_x.viscous, hip_x.armature, hip_x.static_friction, hip_x.kinetic_friction) == (2.0, 0.05, 0.3, 0.3)
    assert (hip_x.stiffness, hip_x.rest) == pytest.approx((8.0, 10 * DEGREE))
    assert hip_x.position == pytest.approx(20 * DEGREE)  # starts at its ref
    np.testing.assert_array_equal(hip_y.anchor, [0, 0, -0.1])
    stretch, neck, root = body(machine, "thigh").joint, body(machine, "head").joint, body(machine, "torso").joint
    assert (stretch.lower, stretch.upper, stretch.effort) == (-0.1, 0.2, 7.0)
    assert (neck.viscous, root.viscous) == (0.1, 0.0)


def test_inertials_are_what_the_compiler_infers(machine: RobotDescription) -> None:
    thigh, head, torso = (body(machine, name).inertial for name in ("thigh", "head", "torso"))
    mass = 500 * np.pi * 0.05**2 * 0.4  # a cylinder of density 500
    assert thigh is not None and head is not None and torso is not None
    assert thigh.mass == pytest.approx(mass)
    np.testing.assert_allclose(np.diag(thigh.matrix), mass * np.array(
        [0.05**2 / 4 + 0.4**2 / 12, 0.05**2 / 4 + 0.4**2 / 12, 0.05**2 / 2]), rtol=1e-12)
    # given, turned by 90 degrees about y: x and z trade places
    np.testing.assert_allclose(head.matrix, np.diag([0.015, 0.02, 0.01]), atol=1e-15)
    np.testing.assert_array_equal(head.center, [0, 0, 0.1])
    assert torso.mass == pytest.approx(3.2)


def test_geometries(machine: RobotDescription) -> None:
    floor, hill = body(machine, "world").geometries
    assert hill.shape == HeightField([[1, 0], [0, 1]], (2.0, 2.0), 1.0)  # the file's first row is the last: y descends
    assert floor.shape == Plane()
    assert floor.material is not None
    assert (floor.material.static_friction, floor.material.kinetic_friction) == (0.7, 0.7)
    chest, look, shield = body(machine, "torso").geometries
    assert (chest.name, chest.shape, chest.color) == ("chest", Box((0.2, 0.4, 0.6)), (0.1, 0.2, 0.3, 1.0))
    assert (chest.category, chest.mask, chest.collides) == (2, 5, True)
    # no bits, but named by a contact pair: it collides where that forces it to
    assert (look.category, look.mask, look.collides, look.color) == (0, 0, True, (1.0, 0.0, 0.0, 1.0))
    assert (look.visible, shield.visible) == (True, False)
    (puppet,) = body(machine, "puppet").geometries
    assert not puppet.collides
    assert body(machine, "thigh").geometries[0].shape == Cylinder(0.05, 0.4)
    assert [g.shape for g in body(machine, "head").geometries] == [Ellipsoid((0.1, 0.1, 0.15)), Sphere(0.02)]
    (shin,) = body(machine, "shin").geometries  # fromto
    assert isinstance(shin.shape, Capsule)
    assert (shin.shape.radius, shin.shape.length) == pytest.approx((0.04, 0.4))
    np.testing.assert_allclose(shin.position, [0, 0, -0.2], atol=1e-15)


def test_meshes_stand_where_the_file_puts_them(machine: RobotDescription) -> None:
    """MuJoCo moves meshes to their principal axes; ours are back in the frame of the mesh file."""
    _, look, shield = body(machine, "torso").geometries
    corners = np.array([(x, y, z) for x, z in ((0, 0), (0.4, 0), (0, 0.1)) for y in (0, 0.1)])
    for geometry, place in ((look, corners), (shield, corners @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + [0.5, 0, 0])):
        found = geometry.shape.vertices @ quaternion_to_matrix(geometry.rotation).T + geometry.position
        assert len(found) == 6
        distance = np.linalg.norm(found[:, None] - place[None], axis=2)
        assert distance.min(axis=1).max() < 1e-6  # MuJoCo keeps vertices in single precision
        assert distance.min(axis=0).max() < 1e-6
        assert Path(geometry.shape.source).name == "wedge.obj"
        assert geometry.shape.scale == (2.0, 1.0, 1.0)


def test_mesh_with_a_reference_frame_has_no_source(tmp_path: Path) -> None:
    mesh = f'<mesh name="m" file="{DATA}/parts_description/meshes/wedge.obj" refpos="1 0 0"/>'
    geom = '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'
    made = load(tmp_path, f"<asset>{mesh}</asset><worldbody><body name='b'><freejoint/>{geom}</body></worldbody>")
    (geometry,) = body(made, "b").geometries
    assert geometry.shape.kind == "mesh"
    assert geometry.shape.source is None
    found = geometry.shape.vertices @ quaternion_to_matrix(geometry.rotation).T + geometry.position
    np.testing.assert_allclose(found.min(axis=0), [-1, 0, 0], atol=1e-6)


def test_actuators(machine: RobotDescription) -> None:
    assert machine.actuators == [
        Actuator("m", "hip_x", "torque", gear=3.0, command_range=(-2.0, 2.0)),
        Actuator("p", "knee", "general", gain=(10.0, 0.0, 0.0), bias=(0.0, -10.0, -2.0), effort=5.0, gear=-2.0,
                 command_range=(0.0, 4.0)),
        Actuator("v", "push", "general", gain=(4.0, 0.0, 0.0), bias=(0.0, 0.0, -4.0), gear=2.0),
        Actuator("g", "hip_y", "position", kp=6.0, kd=0.5, feed_forward=1.0),
        Actuator("odd", "hip_y", "general", gain=(6.0, 0.0, 0.0), bias=(0.0, -3.0, 0.0)),
    ]


@pytest.mark.parametrize("actuator", [
    '<motor joint="j" gear="3" ctrlrange="-2 2"/>', '<motor joint="j" gear="-3" forcerange="-1 1"/>',
    '<general joint="j" gainprm="4" gear="0.5" forcerange="-2 2"/>', '<position joint="j" kp="10" kv="2" gear="-2"/>',
    '<position joint="j" kp="100" gear="3" forcerange="-5 5"/>', '<velocity joint="j" kv="4" gear="-2"/>',
    '<general joint="j" gainprm="6" biastype="affine" biasprm="1 -6 -0.5" gear="-1.5"/>',
])
def test_actuator_forces_are_mujocos(actuator: str, tmp_path: Path) -> None:
    path = write(tmp_path, HINGE + f"<actuator>{actuator}</actuator>")
    (ours,) = load_mjcf(path).actuators
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for q, v, ctrl in ((0.3, -0.7, 1.1), (-1.2, 0.4, -3.0), (0.0, 0.0, 0.2)):
        data.qpos[0], data.qvel[0], data.ctrl[0] = q, v, ctrl
        mujoco.mj_forward(model, data)
        u = ctrl if ours.command_range is None else np.clip(ctrl, *ours.command_range)
        (g0, _, _), (b0, b1, b2), gear = ours.gain, ours.bias, ours.gear
        force = {"torque": u, "position": ours.kp * (u - q) - ours.kd * v + ours.feed_forward,
                 "velocity": ours.kd * (u - v) + ours.feed_forward,
                 "general": g0 * u + b0 + b1 * gear * q + b2 * gear * v}[ours.kind]
        assert gear * np.clip(force, *ours.forces) == pytest.approx(data.qfrc_actuator[0], rel=1e-12)


def test_loops_mimics_pairs_and_options(machine: RobotDescription) -> None:
    pin, glue = machine.loops
    assert (pin.name, pin.kind, pin.body_a, pin.body_b) == ("pin", "ball", "shin", "torso")
    np.testing.assert_allclose(pin.position, [0, 0, -0.4])
    np.testing.assert_allclose(pin.position_b, [0, 0, -1.2], atol=1e-12)
    assert (glue.kind, glue.body_a, glue.body_b) == ("weld", "head", "crate")
    (mimic,) = machine.mimics
    assert (mimic.joint, mimic.source, mimic.ratio) == ("stretch", "knee", 0.5)
    assert mimic.offset == pytest.approx(0.1 + 0.05 + 0.5 * 30 * DEGREE)  # the refs are in it
    assert [frozenset(pair) for pair in machine.excluded_pairs] == [{"head", "shin"}, {"torso", "thigh"}]
    ((pair, own),) = machine.geometry_pairs.items()
    assert not machine.forced_pairs and [name for name, _ in pair] == ["torso", "world"]
    geometries = [body(machine, name).geometries[number].name for name, number in pair]
    assert geometries == ["look", "floor"] and own is not None and own.coefficients == (1.0, 1.0, 0.0, 0.0)
    assert machine.gravity is not None
    assert machine.gravity.tolist() == [0, 0, -5]
    assert machine.time_step == 0.004


def test_what_the_file_does_not_state(tmp_path: Path) -> None:
    made = load(tmp_path, HINGE)
    assert made.gravity is not None
    assert made.gravity.tolist() == [0, 0, -9.81] and not made.gravity_stated  # MuJoCo's default
    scene = Scene()
    scene.load(tmp_path / "robot.xml")
    assert scene.gravity.tolist() == [0, 0, -9.81]
    assert scene.notes == ["gravity [0.0, 0.0, -9.81] taken from robot, MuJoCo's default: the file states none",
                           "time step 0.002 s taken from robot where none is given, MuJoCo's default: the file states "
                           "none"]
    assert Simulation(scene, method="none").dt == 0.002 and Simulation(scene, method="none", dt=1e-3).dt == 1e-3
    mine = Scene(gravity=(0, 0, -9.8))
    mine.time_step = 0.001
    mine.load(tmp_path / "robot.xml")
    assert mine.gravity.tolist() == [0, 0, -9.8] and mine.time_step == 0.001 and not mine.notes
    assert made.time_step == 0.002 and not made.time_step_stated  # MuJoCo's default
    assert made.unsupported == []
    assert made.name == "robot"


def test_gravity_may_be_switched_off(tmp_path: Path) -> None:
    made = load(tmp_path, '<option><flag gravity="disable" contact="disable"/></option>' + HINGE)
    assert made.gravity is not None
    assert made.gravity.tolist() == [0, 0, 0]
    assert made.unsupported == ["option flag contact disabled"]


def test_warnings_of_the_compiler_are_listed_and_those_of_the_interpreter_are_not(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rubbish that happens to be collected while a file is read is no matter of the file."""
    usual = mjcf._compile

    def compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
        warnings.warn("an inertia is odd", UserWarning, stacklevel=1)
        warnings.warn("unclosed file", ResourceWarning, stacklevel=1)
        return usual(spec)

    monkeypatch.setattr(mjcf, "_compile", compiled)
    with pytest.warns(ResourceWarning, match="unclosed file"):
        found = load(tmp_path, HINGE)
    assert found.unsupported == ["MuJoCo's compiler warns: an inertia is odd"]


def test_the_fluid_is_read(machine: RobotDescription, tmp_path: Path) -> None:
    assert machine.fluid == Fluid(1.2, 0.0, (1.0, 0.0, 0.0))
    assert load(tmp_path, '<option wind="1 0 0"/>' + HINGE).fluid is None  # of nothing


def test_everything_left_out_is_listed(machine: RobotDescription) -> None:
    assert sorted(machine.unsupported) == sorted([
        "light 'sun'",
        "numeric 'size'", "texture 'checks'", "visual settings", "option integrator = RK4",
        "solref of geom 'nose'", "margin of geom 'nose'", "range of ball joint 'neck'",
        "actuator 'biceps': its gain or bias is not affine",
        "equality 'bend': polycoef beyond the linear term", "equality 'lock': it holds joint 'push' at a constant",
    ])


LISTED = {
    "margin of joint 'j'": HINGE.replace('name="j"', 'name="j" margin="0.1"'),
    "solreflimit of joint 'j'": HINGE.replace('name="j"', 'name="j" solreflimit="0.1 1"'),
    "solimpfriction of joint 'j'": HINGE.replace('name="j"', 'name="j" solimpfriction="0.5 0.6 0.01"'),
    "adhesion of geom 0 of body 'b'": HINGE.replace('size="0.1"', 'size="0.1" adhesion="2"'),
    "statistic": HINGE + '<statistic extent="2"/>',
    "actuator 'a': its gain or bias is not affine":
        HINGE + '<actuator><muscle name="a" joint="j" lengthrange="0 1"/></actuator>',
    "actuator 'a': adhesion of a body":
        HINGE + '<actuator><adhesion name="a" body="b" ctrlrange="0 1"/></actuator>',
    "actuator 'a': it drives a ball or free joint":
        HINGE.replace('name="j"', 'name="j" type="ball"') + '<actuator><motor name="a" joint="j"/></actuator>',
    "armature of tendon 't'":
        HINGE + '<tendon><fixed name="t" armature="1"><joint joint="j" coef="2"/></fixed></tendon>',
    "equality 'e': not active": HINGE + '<equality><weld name="e" body1="b" active="false"/></equality>',
    "solref of equality 'e'": HINGE + '<equality><weld name="e" body1="b" solref="0.1 1"/></equality>',
    "torquescale of equality 'e'": HINGE + '<equality><weld name="e" body1="b" torquescale="2"/></equality>',
    "light (line 1)": HINGE.replace("<worldbody>", "<worldbody><light/>"),
}


@pytest.mark.parametrize("item", LISTED)
def test_an_item_is_listed(item: str, tmp_path: Path) -> None:
    assert load(tmp_path, LISTED[item]).unsupported == [item]


# ---- inertias no body can have ---------------------------------------------------------------------------------------

MADE_UP = '<worldbody><body name="b"><joint name="j"/><inertial pos="0 0 0" mass="1" {}/></body></worldbody>'


@pytest.mark.parametrize(("given", "moments"), [
    ('diaginertia="1 5 1"', [2, 2, 4]), ('diaginertia="1 5 1" euler="30 40 50"', [2, 2, 4]),
    ('fullinertia="1 1 5 0 0 0"', [2, 2, 4]), ('fullinertia="1 1 2 0.5 0 0"', [0.5, 1.5, 2]),
    ('fullinertia="3 2 -1 0 0 0"', [3e-6, 2.5, 2.5]), ('diaginertia="1 1 2.0001"', [1.00003, 1.00003, 2.00007]),
])
def test_inertias_are_repaired_on_demand(given: str, moments: list[float], tmp_path: Path) -> None:
    path = write(tmp_path, MADE_UP.format(given))
    physical = moments == [0.5, 1.5, 2]
    if not physical:
        with pytest.raises(SceneError, match="repair_inertia=True"):
            load_mjcf(path)
    description = load_mjcf(path, repair_inertia=True)
    inertial = description.bodies[0].inertial
    assert inertial is not None
    np.testing.assert_allclose(np.linalg.eigvalsh(inertial.matrix), moments, rtol=1e-5)
    assert [item.startswith("inertia of body 'b' is not physical") for item in description.unsupported] == \
        [True] * (not physical)


def test_a_repaired_inertia_keeps_its_axes(tmp_path: Path) -> None:
    path = write(tmp_path, MADE_UP.format('fullinertia="2 3 9 0.5 0 0"'))
    inertial = load_mjcf(path, repair_inertia=True).bodies[0].inertial
    assert inertial is not None
    given = np.array([[2, 0.5, 0], [0.5, 3, 0], [0, 0, 9.0]])
    np.testing.assert_allclose(inertial.matrix @ given, given @ inertial.matrix, atol=1e-9)  # same eigenvectors


def test_unnamed_elements_get_names(tmp_path: Path) -> None:
    inside = f'<joint axis="1 0 0"/><joint axis="0 1 0"/>{BALL}'
    made = load(tmp_path, f'<worldbody><body>{inside}</body><body name="body1">{inside}</body></worldbody>'
                          '<equality><weld body1="body1"/></equality>')
    assert len({b.name for b in made.bodies}) == 4
    assert len({b.joint.name for b in made.bodies}) == 4
    assert "body1" in {b.name for b in made.bodies}
    assert made.loops[0].body_b is None


def test_static_and_unpictured_parts_stay(tmp_path: Path) -> None:
    """Compiler settings that fuse, discard or shift do not act; a quaternion that is not unit is normalised."""
    made = load(tmp_path, '<compiler fusestatic="true" discardvisual="true" alignfree="true"/><worldbody>'
                          '<body name="a" quat="2 0 0 0"><freejoint/><geom size="0.1" pos="1 0 0" mass="1"/>'
                          '<body name="b"><geom name="v" size="0.1" contype="0" conaffinity="0"/></body></body>'
                          "</worldbody>")
    assert [(b.name, b.parent, b.joint.kind) for b in made.bodies] == [("a", None, "free"), ("b", "a", "fixed")]
    np.testing.assert_array_equal(made.bodies[0].position, [0, 0, 0])
    np.testing.assert_array_equal(made.bodies[0].rotation, [1, 0, 0, 0])
    assert made.bodies[1].geometries[0].name == "v"
