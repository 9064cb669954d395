"""MJCF export: MuJoCo compiles it to the same masses, inertias, frames, start and forces that the scene describes."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from every_kind import every_kind
from sesshoku.errors import UnsupportedFeature
from sesshoku.scene.elements import Body, Geometry, Inertial, Joint, Material, Motion
from sesshoku.scene.geometry.shapes import Box, Plane, Sphere
from sesshoku.scene.io.mjcf.write import scene_to_mjcf
from sesshoku.scene.io.spec import load_robot
from sesshoku.scene.scene import Scene


def compiled(scene: Scene) -> tuple[mujoco.MjModel, mujoco.MjData]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        text = scene_to_mjcf(scene)
    model = mujoco.MjSpec.from_string(text).compile()
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture(scope="module")
def world() -> tuple[Scene, mujoco.MjModel, mujoco.MjData]:
    scene = every_kind()
    return scene, *compiled(scene)


def turn(quaternion: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def transform(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def joint_transform(joint: Joint) -> np.ndarray:
    """Motion of a joint in the body's frame at zero, written down from the definition of each kind."""
    q, to_anchor = joint.position, transform(np.eye(3), joint.anchor)
    about = {"revolute": lambda: Rotation.from_rotvec(joint.axis * q[0]),
             "spherical": lambda: Rotation.from_quat(q, scalar_first=True)}
    about["continuous"] = about["revolute"]
    if joint.kind in about:
        return to_anchor @ transform(about[joint.kind]().as_matrix(), np.zeros(3)) @ np.linalg.inv(to_anchor)
    if joint.kind == "prismatic":
        return transform(np.eye(3), joint.axis * q[0])
    return np.eye(4)


def world_transforms(scene: Scene, moved: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """`moved` holds the transforms of planar joints, whose axes in the plane are a convention checked apart."""
    found: dict[str, np.ndarray] = {}
    for body in scene.bodies.values():
        position, rotation = body.position, body.rotation
        if isinstance(body.motion, Motion):  # a script begins at its first pose (ours begins at time 0)
            assert body.motion.times[0] >= 0.0
            position, rotation = body.motion.positions[0], body.motion.rotations[0]
        T = transform(turn(rotation), position) @ moved.get(body.name, joint_transform(body.joint))
        found[body.name] = T if body.parent is None else found[body.parent] @ T
    return found


def planar_transform(body: Body, model: mujoco.MjModel) -> np.ndarray:
    """From the exported slides: they must lie in the plane and be right-handed; then x, y, angle say the rest."""
    joint = body.joint
    x, y = (model.jnt_axis[model.joint(f"{joint.name}/{part}").id] for part in "xy")
    np.testing.assert_allclose(np.cross(x, y), joint.axis, atol=1e-12)
    np.testing.assert_allclose([np.linalg.norm(x), np.linalg.norm(y), x @ joint.axis], [1, 1, 0], atol=1e-12)
    to_anchor = transform(np.eye(3), joint.anchor)
    slide = transform(np.eye(3), x * joint.position[0] + y * joint.position[1])
    spin = transform(Rotation.from_rotvec(joint.axis * joint.position[2]).as_matrix(), np.zeros(3))
    return slide @ to_anchor @ spin @ np.linalg.inv(to_anchor)


# ---- bodies and joints --------------------------------------------------------------------------------------------


def test_masses_centres_and_inertias(world) -> None:
    scene, model, _ = world
    for body in scene.bodies.values():
        i = model.body(body.name).id
        given = body.inertial or Inertial(0.0)
        assert model.body_mass[i] == pytest.approx(given.mass, rel=1e-12, abs=1e-15)
        if given.mass:
            R = turn(model.body_iquat[i])
            np.testing.assert_allclose(R @ np.diag(model.body_inertia[i]) @ R.T, given.matrix, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(model.body_ipos[i], given.center, rtol=1e-12, atol=1e-15)


def test_poses_at_the_start(world) -> None:
    scene, model, data = world
    planar = {body.name: planar_transform(body, model) for body in scene.bodies.values() if body.joint.kind == "planar"}
    assert len(planar) == 2
    for name, T in world_transforms(scene, planar).items():
        np.testing.assert_allclose(data.xpos[model.body(name).id], T[:3, 3], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(data.xmat[model.body(name).id].reshape(3, 3), T[:3, :3], atol=1e-9, err_msg=name)


def test_poses_agree_with_our_own_compiler() -> None:
    """The planar convention and everything else against what sesshoku itself simulates."""
    from sesshoku.scene.compiler import compile_scene, compose, link_poses

    scene = every_kind()
    model, data = compiled(scene)
    ours = compile_scene(scene)
    arrays = {key: getattr(ours.model, key) for key in (
        "link_count", "link_joint", "link_coordinate", "link_parent", "link_position", "link_rotation")}
    arrays["link_count"] = int(ours.model.link_count)
    poses = link_poses(arrays, ours.q, ours.kinematic_pose)
    for i, name in enumerate(ours.frame_names):
        frame = (ours.model.frame_position[i], ours.model.frame_rotation[i])
        link = int(ours.model.frame_link[i])
        position, rotation = frame if link < 0 else compose(poses[link], frame)
        np.testing.assert_allclose(data.xpos[model.body(name).id], position, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(data.xmat[model.body(name).id].reshape(3, 3), rotation, atol=1e-9, err_msg=name)


def test_joint_axes_anchors_limits_and_friction(world) -> None:
    scene, model, _ = world
    kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "continuous": mujoco.mjtJoint.mjJNT_HINGE,
             "prismatic": mujoco.mjtJoint.mjJNT_SLIDE, "spherical": mujoco.mjtJoint.mjJNT_BALL,
             "free": mujoco.mjtJoint.mjJNT_FREE}
    checked = 0
    for body in scene.bodies.values():
        joint = body.joint
        if joint.kind not in kinds:
            continue
        j = model.joint(joint.name).id
        dof = model.jnt_dofadr[j]
        assert model.jnt_type[j] == kinds[joint.kind] and model.jnt_bodyid[j] == model.body(body.name).id
        assert model.dof_damping[dof] == joint.viscous and model.dof_frictionloss[dof] == joint.kinetic_friction
        assert model.dof_armature[dof] == joint.armature and model.jnt_stiffness[j].sum() == joint.stiffness
        if joint.kind != "free":
            np.testing.assert_allclose(model.jnt_pos[j], joint.anchor, atol=1e-15)
        if joint.kind in ("revolute", "continuous", "prismatic"):
            np.testing.assert_allclose(model.jnt_axis[j], joint.axis, atol=1e-12)
            assert model.qpos_spring[model.jnt_qposadr[j]] == joint.rest
            assert model.jnt_limited[j] == (np.isfinite(joint.lower) or np.isfinite(joint.upper))
            written = [limit if np.isfinite(limit) else np.sign(limit) * 1e6 for limit in (joint.lower, joint.upper)]
            assert not model.jnt_limited[j] or list(model.jnt_range[j]) == written
            assert model.jnt_actfrclimited[j] == np.isfinite(joint.effort)
        checked += 1
    assert checked > 15


def test_velocities_at_the_start(world) -> None:
    scene, model, data = world
    velocity = np.zeros(6)
    for body in scene.bodies.values():
        i = model.body(body.name).id
        if body.joint.kind == "free":
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
            np.testing.assert_allclose(velocity, [*body.angular_velocity, *body.velocity], atol=1e-9, err_msg=body.name)
        elif body.joint.kind in ("revolute", "continuous", "prismatic", "spherical"):
            j = model.joint(body.joint.name).id
            at = model.jnt_dofadr[j]
            np.testing.assert_array_equal(data.qvel[at:at + len(body.joint.velocity)], body.joint.velocity)
    assert np.abs(data.qvel).max() > 0.5


def test_kinematic_bodies_are_mocap_and_planes_stand_on_static_bodies(world) -> None:
    scene, model, _ = world
    for body in scene.bodies.values():
        assert (model.body_mocapid[model.body(body.name).id] >= 0) == body.kinematic
    assert model.geom_type[model.geom("ground/geom0").id] == mujoco.mjtGeom.mjGEOM_PLANE


# ---- loops, mimics, actuators -------------------------------------------------------------------------------------


def test_loops_are_closed_at_the_start(world) -> None:
    scene, model, data = world
    kinds = {"ball": (mujoco.mjtEq.mjEQ_CONNECT, 1), "hinge": (mujoco.mjtEq.mjEQ_CONNECT, 2),
             "weld": (mujoco.mjtEq.mjEQ_WELD, 1)}
    for loop in scene.loops.values():
        kind, count = kinds[loop.kind]
        points = []
        for number in range(count):
            suffix = str(number or "")
            assert model.eq(f"{loop.name}/{number}" if number else loop.name).type == kind
            a, b = (data.site(f"{loop.name}/{side}{suffix}") for side in "ab")
            np.testing.assert_allclose(a.xpos, b.xpos, atol=1e-9)
            np.testing.assert_allclose(a.xmat, b.xmat, atol=1e-9)
            points.append(a.xpos.copy())
        frame = data.body(loop.body_a)
        anchor = frame.xpos + frame.xmat.reshape(3, 3) @ loop.position
        np.testing.assert_allclose(np.mean(points, axis=0), anchor, atol=1e-9)
        if count == 2:  # both points on the hinge's axis
            along = frame.xmat.reshape(3, 3) @ loop.axis
            np.testing.assert_allclose(np.cross(points[0] - points[1], along), 0.0, atol=1e-9)
            assert np.linalg.norm(points[0] - points[1]) > 0.1


def test_a_given_anchor_of_the_second_body_is_kept() -> None:
    """The bodies need not meet at the start: the second site must stand where `position_b` and `rotation_b` say."""
    scene = Scene()
    for name in ("a", "b"):
        scene.add_box(name, size=(1, 1, 1), mass=1.0, position=(0 if name == "a" else 3, 0, 0))
    turned = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_quat(scalar_first=True)
    scene.add_loop("weld", "a", "b", name="glue", position=(0.5, 0, 0), position_b=(-0.4, 0.1, 0), rotation_b=turned)
    _, data = compiled(scene)
    np.testing.assert_allclose(data.site("glue/b").xpos, [2.6, 0.1, 0], atol=1e-12)
    np.testing.assert_allclose(data.site("glue/b").xmat.reshape(3, 3), turn(turned), atol=1e-12)


def test_mimics_become_joint_equalities(world) -> None:
    scene, model, _ = world
    rows = {(int(model.eq_obj1id[i]), int(model.eq_obj2id[i])): model.eq_data[i] for i in range(model.neq)
            if model.eq_type[i] == mujoco.mjtEq.mjEQ_JOINT}
    assert len(rows) == len(scene.mimics) == 2
    for mimic in scene.mimics.values():
        row = rows[model.joint(mimic.joint).id, model.joint(mimic.source).id]
        np.testing.assert_allclose(row[:5], [mimic.offset, mimic.ratio, 0, 0, 0], atol=1e-15)


def expected_force(scene: Scene, name: str) -> float:
    """The law that `Actuator` states: clipped to the actuator's effort, times gear, clipped to the joint's."""
    a = scene.actuators[name]
    joint = scene.joint(a.joint)
    q, v = joint.position[0], joint.velocity[0]
    wanted = a.feed_forward + {"torque": a.target, "position": a.kp * (a.target - q) + a.kd * (a.target_velocity - v),
                               "velocity": a.kd * (a.target_velocity - v)}[a.kind]
    return float(np.clip(a.gear * np.clip(wanted, -a.effort, a.effort), -joint.effort, joint.effort))


def test_actuator_forces_at_the_start(world) -> None:
    scene, model, data = world
    for name, actuator in scene.actuators.items():
        dof = model.jnt_dofadr[model.joint(actuator.joint).id]
        assert model.actuator(name).trnid[0] == model.joint(actuator.joint).id
        total = sum(expected_force(scene, other) for other, b in scene.actuators.items() if b.joint == actuator.joint)
        assert data.qfrc_actuator[dof] == pytest.approx(total, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("kind", ["torque", "position", "velocity"])
@pytest.mark.parametrize("gear", [1.0, 7.0, -2.0])
@pytest.mark.parametrize("constant", [0.0, 0.4])
def test_gears_and_constants_of_actuators(kind: str, gear: float, constant: float) -> None:
    scene = Scene()
    scene.add_body("arm", joint=Joint("revolute", position=0.3, velocity=-0.7, effort=30.0),
                   inertial=Inertial(1.0, (0, 0, 0), (1, 1, 1)))
    scene.add_actuator("arm", kind, kp=11.0, kd=3.0, effort=4.0, gear=gear, target=0.5, target_velocity=constant,
                       feed_forward=constant)
    _, data = compiled(scene)
    assert data.qfrc_actuator[0] == pytest.approx(expected_force(scene, "arm"), rel=1e-12)
    assert abs(data.qfrc_actuator[0]) > 0.1


# ---- contact ------------------------------------------------------------------------------------------------------


def touching(model: mujoco.MjModel, data: mujoco.MjData) -> dict[tuple[str, str], float]:
    """Friction of every pair of bodies that MuJoCo finds in contact."""
    found = {}
    for contact in data.contact:
        a, b = sorted(model.body(model.geom_bodyid[g]).name for g in contact.geom)
        found[a, b] = contact.friction[0] if contact.dim > 1 else 0.0
    return found


def heap(**options: Material | None) -> Scene:
    """Three boxes that overlap one another and the ground."""
    scene = Scene(material=Material(0.4))
    scene.add_ground(material=options.get("ground"))
    for k, name in enumerate("abc"):
        scene.add_box(name, size=(1, 1, 1), mass=1.0, position=(0.1 * k, 0.05 * k, 0.4), material=options.get(name))
    return scene


def test_unlike_frictions_combine_by_the_geometric_mean() -> None:
    scene = heap(a=Material(0.9, 0.8), b=Material(0.2), ground=Material(0.0))
    scene.friction("b", "c", static=0.7, kinetic=0.6)
    found = touching(*compiled(scene))
    want = {("a", "b"): np.sqrt(0.8 * 0.2), ("a", "c"): np.sqrt(0.8 * 0.4), ("b", "c"): 0.6,
            ("a", "ground"): 0.0, ("b", "ground"): 0.0, ("c", "ground"): 0.0}
    assert found == pytest.approx(want)


def test_like_frictions_need_no_pairs() -> None:
    scene = heap()
    assert compiled(scene)[0].npair == 0
    assert touching(*compiled(scene)) == pytest.approx(
        dict.fromkeys([("a", "b"), ("a", "c"), ("b", "c"), ("a", "ground"), ("b", "ground"), ("c", "ground")], 0.4))


def test_excluded_and_forced_pairs() -> None:
    scene = heap()
    scene.bodies["c"].geometries[0].category = 2
    scene.bodies["c"].geometries[0].mask = 0
    scene.bodies["a"].geometries[0].mask = scene.bodies["b"].geometries[0].mask = 1
    scene.bodies["ground"].geometries[0].mask = 0xFFFF_FFFF
    scene.exclude_collision("a", "b")
    scene.include_collision("a", "c")
    assert set(touching(*compiled(scene))) == {("a", "c"), ("a", "ground"), ("b", "ground"), ("c", "ground")}


def tower(self_collision: bool, fixed: bool) -> Scene:
    """A robot of three overlapping links in a row (the third fixed to the second's child) beside a loose ball."""
    scene = Scene()
    joint = Joint("revolute", axis=(0, 1, 0))
    for name, parent in (("base", None), ("arm", "base"), ("hand", "arm"), ("palm", "hand")):
        scene.add_body(name, parent=parent, fixed=fixed and parent is None, robot="tower",
                       joint=None if parent is None or name == "palm" else Joint(**vars(joint) | {"name": name}),
                       inertial=Inertial(1.0, (0, 0, 0), (0.1, 0.1, 0.1)), geometries=[Geometry(Box((1, 1, 1)))])
    from sesshoku.scene.scene import Robot

    scene.robots["tower"] = Robot("tower", list(scene.bodies), ["arm", "hand"], [])
    scene.add_sphere("ball", radius=0.4, mass=1.0, position=(0.6, 0, 0))
    if self_collision:
        scene.self_collision("tower")
    return scene


@pytest.mark.parametrize("fixed", [True, False])
def test_links_of_a_robot_touch_only_when_asked_and_never_across_a_joint(fixed: bool) -> None:
    loose = {("arm", "ball"), ("ball", "base"), ("ball", "hand"), ("ball", "palm")}
    assert set(touching(*compiled(tower(False, fixed)))) == loose
    # base-arm, arm-hand and arm-palm (rigid with the hand) are joined by joints; hand and palm are one
    assert set(touching(*compiled(tower(True, fixed)))) == loose | {("base", "hand"), ("base", "palm")}


# ---- what is lost, and odd input ----------------------------------------------------------------------------------


def test_one_warning_and_the_comment_list_what_mjcf_cannot_say() -> None:
    with pytest.warns(UnsupportedFeature) as caught:
        text = every_kind().to_mjcf()
    assert len(caught) == 1
    head = text[:text.index("-->")]
    for topic in ("static friction apart", "restitution", "stiffness and damping", "motions of kinematic",
                  "velocities of kinematic",
                  "drift correction", "static friction of joints", "velocity limits"):
        assert topic in str(caught[0].message) and topic in head, topic


def test_nothing_lost_nothing_said() -> None:
    scene = Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "cannot say" not in scene.to_mjcf()


def test_names_that_xml_or_mujoco_minds() -> None:
    scene = Scene(name="a & b")
    for number, name in enumerate(("world", 'quo"te', "<less>", "a--b", "日本")):
        scene.add_box(name, size=(1, 1, 1), mass=1.0, position=(3 * number, 0, 0), material=Material(0.5, 0.4))
    model, _ = compiled(scene)
    assert [model.body(i).name for i in range(1, model.nbody)] == ["world_2", 'quo"te', "<less>", "a--b", "日本"]


def test_inertias_that_mujoco_refuses_are_nudged_and_named() -> None:
    scene = Scene()
    scene.add_body("bob", joint=Joint("continuous"), inertial=Inertial(2.0, (0, 0, -1)))  # a point mass
    scene.add_body("rod", joint=Joint("continuous"), inertial=Inertial(2.0, (0, 0, 0), (0.0, 0.1, 0.1)))
    scene.add_body("frame", joint=Joint("continuous"), inertial=None)
    with pytest.warns(UnsupportedFeature,
                      match="(?s)edge of the physical.*'bob', 'rod'.*'frame'|'frame'.*'bob', 'rod'"):
        scene.to_mjcf()
    model, _ = compiled(scene)
    assert model.body("bob").mass == 2.0
    np.testing.assert_allclose(np.sort(model.body("rod").inertia), [0.0, 0.1, 0.1], atol=1e-9)


def test_ranges_without_width_are_widened() -> None:
    scene = Scene()
    scene.add_body("stuck", joint=Joint("revolute", lower=0.3, upper=0.3, effort=0.0, position=0.3),
                   inertial=Inertial(1.0, (0, 0, 0), (1, 1, 1)))
    model, _ = compiled(scene)
    np.testing.assert_allclose(model.jnt_range[0], [0.3, 0.3], atol=1e-8)


def test_time_step_and_gravity() -> None:
    scene = Scene(gravity=(0, 1, -2))
    scene.add_body("post", fixed=True, geometries=[Geometry(Sphere(1.0)), Geometry(Plane())])
    assert compiled(scene)[0].opt.timestep == 0.001  # ours where none is given; left unsaid it would be MuJoCo's
    scene.time_step = 0.004
    assert compiled(scene)[0].opt.timestep == 0.004
    scene.run["dt"] = 0.003
    model, _ = compiled(scene)
    assert model.opt.timestep == 0.003 and list(model.opt.gravity) == [0, 1, -2]


# ---- back through our own loader ----------------------------------------------------------------------------------


def test_the_export_reads_back_through_our_own_loader(tmp_path: Path) -> None:
    scene = every_kind()
    with pytest.warns(UnsupportedFeature):
        (tmp_path / "scene.xml").write_text(scene.to_mjcf(), encoding="utf-8")
    robot = load_robot(tmp_path / "scene.xml")
    bodies = {body.name: body for body in robot.bodies}
    assert set(bodies) >= set(scene.bodies)
    for body in scene.bodies.values():
        again = bodies[body.name]
        if body.joint.kind != "planar":  # written as three joints, read as three bodies
            assert again.parent == body.parent
        if body.inertial is not None:
            assert again.inertial is not None
            assert again.inertial.mass == pytest.approx(body.inertial.mass, rel=1e-12)
            np.testing.assert_allclose(again.inertial.matrix, body.inertial.matrix, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(again.inertial.center, body.inertial.center, atol=1e-12)
        if body.joint.kind in ("revolute", "prismatic", "spherical"):
            assert again.joint.kind == body.joint.kind or np.isinf(body.joint.upper)
            np.testing.assert_allclose(again.joint.axis, body.joint.axis, atol=1e-9)
            np.testing.assert_allclose(again.position, body.position, atol=1e-9)
    assert {actuator.name for actuator in robot.actuators} == set(scene.actuators)
    assert {mimic.joint for mimic in robot.mimics} == set(scene.mimics)


@pytest.mark.parametrize(("center", "joint", "lost"), [
    ((0, 0, 0.2), Joint("free", viscous=1.0), True), ((0, 0, 0.2), Joint("free", armature=1.0), True),
    ((0, 0, 0.2), Joint("free"), False), ((0, 0, 0), Joint("free", viscous=1.0), False),
])
def test_damping_of_an_off_centre_free_body_is_listed(center: tuple[float, ...], joint: Joint, lost: bool) -> None:
    scene = Scene()
    scene.add_body("b", joint=joint, inertial=Inertial(1.0, center, np.eye(3)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scene_to_mjcf(scene)
    assert any("at the centre of mass" in str(warning.message) for warning in said) == lost


def test_what_is_fixed_to_a_free_body_moves_its_centre() -> None:
    scene = Scene()
    scene.add_body("b", joint=Joint("free", viscous=1.0), inertial=Inertial(1.0, (0, 0, 0), np.eye(3)))
    scene.add_body("c", parent="b", position=(0, 0, 1), inertial=Inertial(1.0, (0, 0, 0), np.eye(3)))
    with pytest.warns(UnsupportedFeature, match="at the centre of mass"):
        scene_to_mjcf(scene)
