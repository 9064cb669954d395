"""The shipped robots: they are what their description says, in both formats, and what their gaits need."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from sesshoku import robots
from sesshoku.errors import SceneError
from sesshoku.robots import arm, heart, humanoid
from sesshoku.scene.geometry import mesh

ROBOTS = {**{f"humanoid_{kind}": humanoid.describe(kind) for kind in humanoid.KINDS}, "arm_gripper": arm.describe()}
OBJECTS = {"crate": arm.crate("crate", 0.2, 2.0), "cube": arm.crate("cube", 1.0, 1.0)}
DOF = {"humanoid_small": 20, "humanoid_large": 30, "humanoid_large_bush": 36, "arm_gripper": 8}
# the servo table the gaits were tuned with: kp, armature, then kd and joint inertia along the leg
TABLE = {
    "large": (4092.0, 0.0409, (28.5, 114.5, 115.9, 60.7, 23.1, 21.7), (0.0587, 1.595, 1.633, 0.418, 0.0255, 0.0175)),
    "small": (145.0, 0.00145, (0.78, 2.44, 2.46, 1.40, 0.72, 0.69),
              (0.00069, 0.0196, 0.0199, 0.0054, 0.00039, 0.00024)),
}
# largest joint torques met in walking and jumping with these robots (N m)
PEAKS = {"large": (9.0, 51.0, 41.0, 97.0, 23.0, 30.0), "small": (0.3, 2.3, 6.3, 5.4, 4.0, 0.5)}


def compiled(name: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(robots.path(name)))


def compiled_urdf(name: str) -> mujoco.MjModel:
    """URDF with its root kept as a body of its own and no link fused away."""
    spec = mujoco.MjSpec.from_file(str(robots.path(f"{name}.urdf")))
    spec.compiler.fusestatic = False
    return spec.compile()


def at(model: mujoco.MjModel, joints: dict[str, float], height: float = 0.0) -> mujoco.MjData:
    data = mujoco.MjData(model)
    for name, value in joints.items():
        data.joint(name).qpos[0] = value
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        data.qpos[2] = height
    mujoco.mj_forward(model, data)
    return data


def test_committed_files_are_what_the_generator_writes(tmp_path):
    command = [sys.executable, "-m", "sesshoku.robots", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(done.stdout.split("\n")) - 1 == len(written) == 13
    for name in written:
        assert (tmp_path / name).read_bytes() == robots.path(name).read_bytes(), name
    folder = robots.path("heart.stl").parent
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".md") == written


def test_generator_wants_one_folder():
    assert subprocess.run([sys.executable, "-m", "sesshoku.robots"], capture_output=True, check=False).returncode == 2


def test_unknown_models_are_refused():
    for name in ("humanoid_huge.xml", "../pyproject.toml"):
        with pytest.raises(SceneError, match=r"crate\.xml"):
            robots.path(name)
    with pytest.raises(SceneError, match="large_bush"):
        humanoid.describe("huge")


@pytest.mark.parametrize(("kind", "mass", "height"),
                         [("small", 6.0, 0.48), ("large", 58.0, 1.54), ("large_bush", 58.0, 1.54)])
def test_mass_and_height(kind, mass, height):
    robot = humanoid.describe(kind)
    assert robot.mass == pytest.approx(mass, rel=1e-5)  # the bush variant has four grains of 0.1 g
    tops, bottoms = [], []
    for link in robot.links:
        for part in link.parts:
            if part.collides:
                middle = robot.poses({})[link.name][0][2] + part.at[2]
                tops.append(middle + 0.5 * part.solid.size[2])
                bottoms.append(middle - 0.5 * part.solid.size[2])
    assert max(tops) - min(bottoms) == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_urdf_and_mjcf_say_the_same(name):
    one, other = compiled(f"{name}.xml"), compiled_urdf(name)
    robot = ROBOTS[name]
    assert other.nv == DOF[name] == len(robot.joints)
    assert one.nv == DOF[name] + (0 if robot.fixed else 6)
    poses = {joint.name: 0.3 * joint.lower + 0.5 * joint.upper for joint in robot.joints.values() if not joint.mimics}
    angles = {joint.name: poses[joint.mimics or joint.name] for joint in robot.joints.values()}
    data, data_urdf = at(one, angles, 0.0), at(other, angles)
    expected = robot.poses(angles)
    for link in robot.links:
        a, b = one.body(link.name), other.body(link.name)
        np.testing.assert_allclose([a.mass[0], b.mass[0]], link.inertial.mass, rtol=1e-9)
        np.testing.assert_allclose(a.ipos, link.inertial.center, atol=1e-10)
        np.testing.assert_allclose(b.ipos, link.inertial.center, atol=1e-10)
        np.testing.assert_allclose(_inertia(a), link.inertial.matrix, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(_inertia(b), link.inertial.matrix, rtol=1e-8, atol=1e-12)
        for state in (data, data_urdf):
            np.testing.assert_allclose(state.body(link.name).xpos, expected[link.name][0], atol=1e-9)
            np.testing.assert_allclose(state.body(link.name).xmat.reshape(3, 3), expected[link.name][1], atol=1e-9)
    for joint in robot.joints.values():
        for model in (one, other):
            np.testing.assert_allclose(model.joint(joint.name).range, (joint.lower, joint.upper), atol=1e-9)
    solid = {link.name: sum(part.collides for part in link.parts) for link in robot.links}
    for model in (one, other):  # the same collision shapes
        touching = [model.body(model.geom_bodyid[g]).name for g in range(model.ngeom) if model.geom_contype[g]]
        assert {link: touching.count(link) for link in solid} == solid


def _inertia(body) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, body.iquat)
    return R.reshape(3, 3) @ np.diag(body.inertia) @ R.reshape(3, 3).T


@pytest.mark.parametrize("name", ROBOTS)
def test_joint_inertias_match_the_mass_matrix(name):
    robot, model = ROBOTS[name], compiled(f"{name}.xml")
    model.dof_armature[:] = 0.0
    joints = {**robot.home.joints, "right_finger": 0.03} if robot.fixed else robot.home.joints
    data = at(model, joints, robot.home.base_height)
    H, unit = np.zeros(model.nv), np.zeros(model.nv)
    for joint, found in robot.joint_inertias(robot.home.joints).items():
        dof = model.joint(joint).dofadr[0]
        unit[:] = 0.0
        unit[dof] = 1.0
        mujoco.mj_mulM(model, data, H, unit)
        assert found == pytest.approx(H[dof], rel=1e-8), joint


@pytest.mark.parametrize("kind", TABLE)
def test_gains_are_those_the_gaits_were_tuned_with(kind):
    kp, armature, dampings, inertias = TABLE[kind]
    servos = humanoid.gains(kind)
    moved = humanoid.describe(kind).joint_inertias(humanoid.walking_stance(kind).joints)
    for side in ("left", "right"):
        for joint, damping, inertia in zip(humanoid.LEG, dampings, inertias, strict=True):
            servo = servos[f"{side}_{joint}"]
            assert servo.kp == pytest.approx(kp, rel=1e-3)
            assert servo.armature == pytest.approx(armature, rel=2e-3)
            assert servo.kd == pytest.approx(damping, rel=0.01)
            assert moved[f"{side}_{joint}"] == pytest.approx(inertia, rel=0.01)
    for name, servo in servos.items():
        strong = name.removeprefix("left_").removeprefix("right_") in humanoid.LEG or name.startswith("waist")
        assert servo.kp == pytest.approx(kp if strong else 0.1 * kp, rel=1e-3)


@pytest.mark.parametrize("kind", TABLE)
def test_walking_stance_has_its_centre_of_mass_where_the_gaits_want_it(kind):
    robot, stance = humanoid.describe(kind), humanoid.walking_stance(kind)
    size = humanoid.SIZES[kind]
    com = robot.center_of_mass(stance.joints, (0.0, 0.0, stance.base_height))
    position, rotation = robot.poses(stance.joints, (0.0, 0.0, stance.base_height))["left_foot"]
    assert com[2] == pytest.approx(size.walk[1], abs=1e-12)
    assert com[0] - position[0] == pytest.approx(size.walk[0], abs=1e-12)
    assert position[2] == pytest.approx(size.ankle, abs=1e-12)
    np.testing.assert_allclose(rotation, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("kind", TABLE)
def test_efforts_leave_room_over_the_torques_met(kind):
    servos = humanoid.gains(kind)
    for joint, peak in zip(humanoid.LEG, PEAKS[kind], strict=True):
        assert servos[f"left_{joint}"].effort >= 2 * peak


@pytest.mark.parametrize("kind", humanoid.KINDS)
def test_stand_keyframe_has_soles_on_the_ground_and_targets_at_the_pose(kind):
    model = compiled(f"humanoid_{kind}.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("stand").id)
    mujoco.mj_forward(model, data)
    for side in ("left", "right"):
        sole = data.geom(f"{side}_sole" if kind == "large_bush" else f"{side}_foot")
        half = model.geom(sole.name).size[2]
        assert sole.xpos[2] - half == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(sole.xmat.reshape(3, 3)[2], [0, 0, 1], atol=1e-9)
    pose, servos = humanoid.standing_pose(kind), humanoid.gains(kind)
    assert (pose.joints["left_knee"], pose.joints["left_elbow"]) == (0.6, -0.5)
    assert model.nu == len(servos)
    for name, servo in servos.items():
        assert data.joint(name).qpos[0] == pytest.approx(pose.joints.get(name, 0.0), abs=1e-9)
        assert data.actuator(name).ctrl[0] == pytest.approx(pose.joints.get(name, 0.0), abs=1e-9)
        actuator = model.actuator(name)
        np.testing.assert_allclose(actuator.gainprm[0], servo.kp, rtol=1e-9)
        np.testing.assert_allclose(actuator.biasprm[:3], (0.0, -servo.kp, -servo.kd), rtol=1e-9)
        np.testing.assert_allclose(actuator.forcerange, (-servo.effort, servo.effort))
        np.testing.assert_allclose(model.joint(name).armature, servo.armature, rtol=1e-9)
        assert model.joint(name).damping[0] == 0.0


@pytest.mark.parametrize("kind", humanoid.KINDS)
def test_left_mirrors_right(kind):
    robot = humanoid.describe(kind)
    poses, joints = robot.poses({}), robot.joints
    links = {link.name: link for link in robot.links}
    mirror = np.array([1.0, -1.0, 1.0])
    pairs = [(name, name.replace("left", "right")) for name in links if name.startswith("left")]
    assert len(pairs) * 2 + (5 if kind != "small" else 1) == len(links)
    for left, right in pairs:
        np.testing.assert_allclose(poses[left][0] * mirror, poses[right][0], atol=1e-15)
        mirrored = np.asarray(links[left].inertial.center) * mirror
        np.testing.assert_allclose(mirrored, links[right].inertial.center, atol=1e-15)
        np.testing.assert_array_equal(links[left].inertial.matrix, links[right].inertial.matrix)
    for name, joint in joints.items():
        if name.startswith("left"):
            other = joints[name.replace("left", "right")]
            # turning about y is its own mirror image, about x and z it changes sign; z of the bush slides
            same = joint.axis == (0.0, 1.0, 0.0) or joint.slides
            assert (other.lower, other.upper) == ((joint.lower, joint.upper) if same else (-joint.upper, -joint.lower))
            assert other.effort == joint.effort
    assert robot.center_of_mass(robot.home.joints)[1] == pytest.approx(0.0, abs=1e-15)


def test_bush_springs():
    model = compiled("humanoid_large_bush.xml")
    expected = {"z": (2.4e5, 4800.0, 1.92), "pitch": (768.0, 15.36, 6.144e-3), "roll": (400.0, 8.0, 3.2e-3)}
    for direction, (k, c, armature) in expected.items():
        for side in ("left", "right"):
            joint = model.joint(f"{side}_bush_{direction}")
            assert joint.stiffness[0] == pytest.approx(k)
            assert joint.damping[0] == pytest.approx(c)
            assert joint.armature[0] == pytest.approx(armature, rel=1e-3)
    rigid, bush = ({link.name: link for link in humanoid.describe(kind).links} for kind in ("large", "large_bush"))
    assert bush["left_foot"].inertial.mass == pytest.approx(0.3 * rigid["left_foot"].inertial.mass)
    np.testing.assert_allclose(bush["left_sole"].inertial.matrix, 0.7 * rigid["left_foot"].inertial.matrix)
    soft = humanoid.describe("large_bush", humanoid.Bush(stiffness=4e4)).joints["left_bush_roll"]
    assert soft.stiffness == pytest.approx(200.0)


@pytest.mark.parametrize("kind", humanoid.KINDS)
def test_humanoids_stand_still_on_a_plane(kind):
    """Their own servos carry them: 2 s in MuJoCo, without feed-forward, no fall and no creeping."""
    spec = mujoco.MjSpec.from_file(str(robots.path(f"humanoid_{kind}.xml")))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    model = spec.compile()
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    start = data.qpos[:3].copy()
    mujoco.mj_step(model, data, 2000)
    assert np.abs(data.qpos[:3] - start).max() < (0.015 if "bush" in kind else 0.003)
    assert data.qpos[3] > 0.999
    weight = model.body_mass.sum() * 9.8
    force = np.zeros(6)
    mujoco.mj_rnePostConstraint(model, data)
    total = 0.0
    for contact in range(data.ncon):
        mujoco.mj_contactForce(model, data, contact, force)
        total += force[0]
    assert total == pytest.approx(weight, rel=0.02)
    touching = {model.body(model.geom_bodyid[g]).name for pair in data.contact.geom for g in pair}
    assert touching == {"world"} | {f"{side}_{'sole' if 'bush' in kind else 'foot'}" for side in ("left", "right")}


def test_arm():
    robot, model = arm.describe(), compiled("arm_gripper.xml")
    assert robot.mass == pytest.approx(20.0, abs=0.5)
    stretched = robot.poses({})
    assert stretched["gripper"][0][2] - stretched["upper_arm"][0][2] == pytest.approx(0.85)
    assert (model.nu, model.neq) == (7, 1)
    pose = arm.home_pose()
    down = robot.poses(pose.joints)["gripper"][1]
    np.testing.assert_allclose(down @ [0, 0, 1], [0, 0, -1], atol=1e-12)
    for name, joint in robot.joints.items():
        assert joint.lower <= pose.joints.get(name, 0.0) <= joint.upper


def test_arm_holds_its_pose_and_closes_both_fingers():
    model = compiled("arm_gripper.xml")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    start = data.qpos.copy()
    data.ctrl[model.actuator("left_finger").id] = 0.01
    mujoco.mj_step(model, data, 2000)
    assert np.abs(data.qpos[:6] - start[:6]).max() < 0.03  # what gravity bends without feed-forward
    np.testing.assert_allclose(data.qpos[6:], 0.01, atol=2e-3)


def test_crates():
    for name, robot in OBJECTS.items():
        model = compiled(f"{name}.xml")
        edge = 2 * model.geom(0).size[0]
        mass = robot.mass
        assert (model.nv, model.body(name).mass[0], model.body(name).pos[2]) == (6, mass, 0.5 * edge)
        np.testing.assert_allclose(model.body(name).inertia, mass * edge**2 / 6, rtol=1e-9)
        assert compiled_urdf(name).body(name).mass[0] == mass
    assert (OBJECTS["crate"].mass, OBJECTS["cube"].mass) == (2.0, 1.0)


def test_heart_is_closed_concave_and_centred():
    vertices, faces = mesh.read(robots.path("heart.stl"))
    made = mesh.triangle_mesh(vertices, faces, decompose=False)
    assert len(made.faces) == len(faces)
    assert not made.pieces
    assert np.ptp(vertices[:, 0]) == pytest.approx(0.15, abs=1e-3)  # the lobes are polygons
    whole = mesh.shape_inertial(made, density=1000.0)
    np.testing.assert_allclose(whole.center, 0.0, atol=1e-8)
    side = heart.WIDTH / (1 + np.sqrt(0.5))
    assert whole.mass == pytest.approx(1000.0 * heart.THICKNESS * side**2 * (1 + np.pi / 4), rel=5e-3)
    np.testing.assert_allclose(vertices[faces].mean(axis=(0, 1))[0], 0.0, atol=1e-7)
