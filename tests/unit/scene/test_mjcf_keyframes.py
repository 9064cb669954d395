"""Keyframes of MJCF files: positions, velocities and commands, against MuJoCo's own state after the same key."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjcf_files import BALL, HINGE, MACHINE, write
from sesshoku.errors import SceneError
from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.io.mjcf.read import load_mjcf
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle

DEGREE = np.pi / 180


@pytest.fixture(scope="module")
def machine() -> RobotDescription:
    return load_mjcf(MACHINE)


STAND = HINGE.replace('<joint name="j"', '<joint name="j" range="-90 90"') + \
    '<actuator><position name="a" joint="j" kp="1"/><motor name="m" joint="j"/></actuator>'


def key(attributes: str) -> str:
    return f"<keyframe><key {attributes}/></keyframe>"


def test_keyframes_are_poses(machine: RobotDescription) -> None:
    assert list(machine.poses) == ["home"]
    home = machine.poses["home"]  # a keyframe without qpos is the file's own pose: refs, and the free body where it is
    assert home["hip_x"] == pytest.approx(20 * DEGREE) and home["stretch"] == 0.05 and home["push"] == 0.0
    np.testing.assert_allclose(home["root"], [0, 0, 1, *np.sqrt([0.5, 0, 0, 0.5])], atol=1e-15)
    np.testing.assert_array_equal(home["neck"], [1, 0, 0, 0])


def test_a_robot_starts_in_a_pose_and_its_servos_hold_it(tmp_path: Path) -> None:
    path = write(tmp_path, STAND + key('name="bent" qpos="0.5"'))
    scene = Scene()
    scene.load(path, pose="bent")
    assert scene.joint("j").position == 0.5
    assert scene.actuators["a"].target == 0.5
    assert scene.actuators["m"].target == 0.0  # a motor's target is a force
    assert Simulation(scene).joints["j"].position == 0.5


def test_a_free_body_starts_in_a_pose(tmp_path: Path) -> None:
    path = write(tmp_path, f'<worldbody><body name="b"><freejoint name="f"/>{BALL}</body></worldbody>'
                 + key('qpos="1 2 3 0.6 0 0.8 0"'))
    scene = Scene()
    scene.load(path, pose="key0")  # unnamed keyframes are numbered
    sim = Simulation(scene)
    np.testing.assert_allclose(sim.bodies["b"].position, [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(sim.bodies["b"].rotation, [0.6, 0, 0.8, 0], atol=1e-15)


def test_an_unknown_pose_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, STAND + key('name="bent" qpos="0.5"'))
    with pytest.raises(SceneError, match=r"no such pose \(got 'sit'\); poses: bent") as caught:
        Scene().load(path, pose="sit")
    assert str(path) in str(caught.value)


def test_commands_of_a_key_are_taken_as_they_are(tmp_path: Path) -> None:
    """`ctrl` is the actuators' command; a key that states zeros means zeros."""
    drives = ('<actuator><position name="p" joint="j" kp="1" gear="-2"/><velocity name="v" joint="j" kv="1" gear="4"/>'
              '<motor name="m" joint="j" gear="3"/></actuator>')
    keys = '<keyframe><key name="k" qpos="0.5" ctrl="0.6 2 7"/><key name="z" qpos="0.5" ctrl="0 0 0"/></keyframe>'
    path = write(tmp_path, HINGE + drives + keys)
    scene = Scene()
    scene.load(path, pose="k")
    assert [scene.actuators[name].target for name in "pvm"] == [0.6, 2.0, 7.0]
    assert scene.unsupported == []
    still = Scene()
    still.load(path, pose="z")
    assert still.actuators["p"].target == 0.0 and still.joint("j").position == 0.5
    scene.save(tmp_path / "scene.toml")
    assert Scene.read(tmp_path / "scene.toml").actuators == scene.actuators


def test_forces_of_a_key_are_mujocos(tmp_path: Path) -> None:
    """At the key itself, motors and servos pull with the forces MuJoCo computes there."""
    body = f'<body name="{{0}}"><joint name="{{0}}" axis="0 1 0"/>{BALL}</body>'
    drives = ('<actuator><position name="p" joint="a" kp="30" kv="2" gear="-2"/><velocity name="v" joint="b" kv="5"/>'
              '<motor name="m" joint="c" gear="3"/></actuator>')
    bodies = "".join(body.format(name) for name in "abc")
    path = write(tmp_path, f"<worldbody>{bodies}</worldbody>{drives}"
                 '<keyframe><key name="k" qpos="0.5 -0.2 1" qvel="1 2 3" ctrl="0.6 2 7"/></keyframe>')
    scene = Scene()
    scene.load(path, pose="k")
    for actuator in scene.actuators.values():
        actuator.implicit = False
    sim = Simulation(scene, method="none", dt=1e-9)
    sim.step()
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    ours = [sim.actuators[name].force for name in ("p", "v", "m")]
    np.testing.assert_allclose(ours, data.qfrc_actuator, rtol=1e-6)


def test_velocities_of_a_key_are_mujocos(tmp_path: Path, rng: np.random.Generator) -> None:
    """Free bodies, balls, hinges: bodies move as MuJoCo says they do at the key; also where the robot is turned."""
    ball = f'<body name="b" pos="0.3 0 0.1"><joint name="s" type="ball" pos="0 0.1 0"/>{BALL}</body>'
    hinge = f'<body name="c" pos="0 2 0"><joint name="h" axis="1 0 0"/>{BALL}</body>'
    root = '<freejoint name="f"/><geom size="0.1" pos="0.2 0 0" mass="1"/>'
    tree = f'<body name="a" pos="0 0 1">{root}{ball}</body>{hinge}'
    qpos = np.concatenate([rng.normal(size=3), axis_angle((0, 0.6, 0.8), 0.7), axis_angle((1, 0, 0), 0.3), [0.4]])
    text = '<key name="k" qpos="{}" qvel="{}"/>'.format(
        *(" ".join(f"{value:.17g}" for value in values) for values in (qpos, rng.normal(size=10))))
    path = write(tmp_path, f"<worldbody>{tree}</worldbody><keyframe>{text}</keyframe>")
    scene = Scene()
    scene.load(path, pose="k")
    sim = Simulation(scene, method="none")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    velocity = np.zeros(6)
    turned = Scene()
    turn = axis_angle((0, 0, 1), 0.5 * np.pi)
    turned.load(path, pose="k", rotation=turn, position=(0, 0, 0))
    other = Simulation(turned, method="none")
    for name in ("a", "b", "c"):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body(name).id, velocity, 0)
        view = sim.bodies[name]
        np.testing.assert_allclose([*view.angular_velocity, *view.velocity], velocity, atol=1e-12)
        x, y, z = view.velocity
        np.testing.assert_allclose(other.bodies[name].velocity, [-y, x, z], atol=1e-12)
    held = Scene()
    held.load(path, pose="k", fixed_base=True)  # what is bolted down does not move
    assert not held.bodies["a"].velocity.any()


def test_positions_beyond_a_limit_are_moved_to_it(tmp_path: Path) -> None:
    path = write(tmp_path, STAND + key('name="k" qpos="1.6"'))
    scene = Scene()
    scene.load(path, pose="k")
    assert scene.joint("j").position == pytest.approx(90 * DEGREE)
    assert scene.actuators["a"].target == scene.joint("j").position
    assert load_mjcf(path).unsupported == [
        "keyframe 'k': positions beyond limits are moved to them (j 1.6 to 1.5708)"]
    Simulation(scene, method="none").step()


def test_scripted_bodies_start_where_the_key_says(tmp_path: Path) -> None:
    mocap = '<worldbody><body name="hand" mocap="true" pos="1 0 0"><geom size="0.1"/></body></worldbody>'
    path = write(tmp_path, mocap + '<keyframe><key name="k" mpos="0 2 3"/><key name="l"/></keyframe>')
    scene = Scene()
    scene.load(path, pose="k")
    assert scene.bodies["hand"].position.tolist() == [0, 2, 3]
    other = Scene()
    other.load(path, pose="l")
    assert other.bodies["hand"].position.tolist() == [1, 0, 0]
