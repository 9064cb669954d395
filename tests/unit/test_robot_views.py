"""A robot as vectors: positions, velocities and commands in the order of its names."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import simulate

ROBOT = """
<mujoco><worldbody>
  <body name="trunk" pos="0 0 1"><freejoint name="root"/><geom size="0.1" mass="2" pos="0.05 0 0"/>
    <body name="arm" pos="0.2 0 0"><joint name="shoulder" axis="0 1 0"/><geom size="0.05" mass="0.5" pos="0.1 0 0"/>
      <body name="hand" pos="0.2 0 0"><joint name="wrist" type="ball"/><geom size="0.03" mass="0.2" pos="0.05 0 0"/>
      </body></body>
    <body name="leg" pos="-0.2 0 0"><joint name="hip" axis="1 0 0"/><geom size="0.05" mass="0.5" pos="0 0 -0.1"/></body>
  </body></worldbody>
  <actuator><motor name="push" joint="hip"/><position name="hold" joint="shoulder" kp="10"/>
    <velocity name="turn" joint="hip" kv="2"/></actuator>
</mujoco>"""


@pytest.fixture
def robots(tmp_path) -> tuple[ss.Simulation, ss.Robot, ss.Robot]:
    (tmp_path / "robot.xml").write_text(ROBOT)
    scene = ss.Scene()
    scene.add_box("other", size=(1, 1, 1), mass=1.0)
    one = scene.load(tmp_path / "robot.xml", name="one")
    two = scene.load(tmp_path / "robot.xml", name="two", position=(3, 0, 1))
    return simulate(scene), one, two


def test_a_motor_that_is_added_to_a_robot_is_the_robots() -> None:
    """A URDF says nothing of motors: those of the user answer to `command` as a file's do."""
    scene = ss.Scene()
    arm = scene.load(ss.robots.path("arm_gripper.urdf"), fixed_base=True)
    assert simulate(scene).robots[arm].actuator_names == []
    for joint in arm.joints:
        scene.add_actuator(joint, "torque")
    sim = simulate(scene)
    assert sim.robots[arm].actuator_names == arm.joints
    sim.robots[arm].command = np.arange(8.0)
    assert [sim.actuators[joint].target for joint in arm.joints] == list(range(8))


def test_names_stand_beside_the_numbers(robots) -> None:
    sim, _, two = robots
    robot = sim.robots[two]
    assert robot is sim.robots["two"] and list(sim.robots) == ["one", "two"] and two in sim.robots
    assert robot.joint_names == ["two/root", "two/shoulder", "two/wrist", "two/hip"] == two.joints
    assert robot.actuator_names == ["two/push", "two/hold", "two/turn"]
    assert len(robot.q) == 7 + 1 + 4 + 1 and len(robot.v) == 6 + 1 + 3 + 1 and len(robot.command) == 3
    assert robot.places["two/wrist"] == slice(8, 12) and robot.dofs["two/hip"] == slice(10, 11)
    assert robot.base.name == "two/trunk" and "two" in repr(robot)
    with pytest.raises(ss.SceneError, match="no such robot.*did you mean 'one'"):
        sim.robots["onne"]
    assert sim.robots.get("three") is None


def test_the_parts_are_those_of_the_joints(robots) -> None:
    sim, *_ = robots
    sim.step(50)
    for robot in sim.robots.values():
        for name in robot.joint_names:
            np.testing.assert_array_equal(robot.q[robot.places[name]], np.ravel(sim.joints[name].position))
            np.testing.assert_array_equal(robot.v[robot.dofs[name]], np.ravel(sim.joints[name].velocity))
        np.testing.assert_array_equal(robot.q[:3], robot.base.position)


def test_what_is_assigned_comes_back(robots, rng: np.random.Generator) -> None:
    sim, one, two = robots
    robot, other = sim.robots[two], sim.robots[one].q
    q = robot.q + rng.uniform(-0.3, 0.3, 13)
    for part in (slice(3, 7), slice(8, 12)):
        q[part] /= np.linalg.norm(q[part])
        q[part] *= np.sign(q[part][0])
    v = rng.normal(size=11)
    robot.q, robot.v = q, v
    np.testing.assert_allclose(robot.q, q, atol=1e-12)
    np.testing.assert_allclose(robot.v, v, atol=1e-12)
    np.testing.assert_array_equal(sim.robots[one].q, other)  # nobody else moved
    for read in (robot.q, robot.v, robot.command):  # copies: a write would be lost
        with pytest.raises(ValueError, match="read-only"):
            read[:] = 0.0
    np.testing.assert_allclose(robot.q, q, atol=1e-12)
    np.testing.assert_allclose(sim.bodies["two/trunk"].position, q[:3], atol=1e-12)


def test_commands_go_to_what_each_kind_follows(robots) -> None:
    sim, _, two = robots
    robot = sim.robots[two]
    robot.command = (1.5, 0.2, -3.0)
    assert sim.actuators["two/push"].target == 1.5 and sim.actuators["two/hold"].target == 0.2
    assert sim.actuators["two/turn"].target_velocity == -3.0 and sim.actuators["two/turn"].target == 0.0
    assert sim.actuators["one/push"].target == 0.0
    np.testing.assert_array_equal(robot.command, [1.5, 0.2, -3.0])
    sim.step()
    assert sim.actuators["two/push"].force == pytest.approx(1.5)


@pytest.mark.parametrize(("what", "value", "words"), [
    ("q", np.zeros(12), "q needs 13"), ("q", np.zeros(13), "rotation of joint 'two/root' is not a unit quaternion"),
    ("v", np.full(11, np.inf), "v is not finite"), ("command", [1, 2], "command needs 3"),
    ("command", np.array([1.0, np.nan, 0.0]), "command is not finite"), ("command", "full", "command is not a vector"),
])
def test_wrong_vectors_are_refused_and_change_nothing(robots, what: str, value: object, words: str) -> None:
    sim, _, two = robots
    before = sim.q.copy(), sim.v.copy(), sim.actuator_command.copy()
    with pytest.raises(ss.SceneError, match=f"robot 'two': {words}"):
        setattr(sim.robots[two], what, value)
    for old, new in zip(before, (sim.q, sim.v, sim.actuator_command), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_pd_controller_in_three_lines(robots) -> None:
    sim, one, _ = robots
    robot = sim.robots[one]
    at, dof = robot.places["one/hip"].start, robot.dofs["one/hip"].start
    for _ in range(2000):
        torque = 5.0 * (0.5 - robot.q[at]) - 0.5 * robot.v[dof]
        robot.command = np.array([torque, 0.0, 0.0]) + 0.0
        sim.step()
    assert abs(robot.v[dof]) < 5.0 and robot.q[at] > 0.05
