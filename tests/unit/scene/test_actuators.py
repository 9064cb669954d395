"""Actuators of every kind and tendons: what is refused, and that files keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.elements.actuators import Actuator, holding_control, with_control


def gripper() -> ss.Scene:
    """Two fingers on a palm that floats, tendons, thrusters; every key of an actuator is used somewhere."""
    scene = ss.Scene(gravity=(0, 0, -9.8), name="gripper")
    ball = np.eye(3) * 1e-3
    scene.add_body("palm", inertial=ss.Inertial(1.0, (0.01, 0, 0), ball), position=(0, 0, 1),
                   gravity_compensation=0.5)
    for side, y in (("left", 0.05), ("right", -0.05)):
        scene.add_body(side, parent="palm", position=(0, y, 0),
                       inertial=ss.Inertial(0.1, (0, 0, 0.02), 1e-4 * np.eye(3)),
                       joint=ss.Joint("prismatic", axis=(0, 1, 0), effort_range=(-3.0, 5.0),
                                      actuator_compensation=side == "left"), gravity_compensation=1.25)
    scene.add_tendon("grip", {"left": 0.5, "right": -0.75}, stiffness=20.0, rest=(-0.01, 0.02), viscous=0.3)
    scene.add_tendon("tie", {"left": 1.0, "right": 1.0}, stiffness=2.0, rest=0.01)
    scene.add_actuator(tendon="grip", kind="general", gain=(3.0, 0.1, -0.2), bias=(0.5, -30.0, -2.0), gear=2.0,
                       force_range=(-1.0, 4.0), command_range=(0.0, 2.0), target=0.5)
    scene.add_actuator("left", "position", name="hold", kp=5.0, kd=0.1, command_range=(-0.5, 0.5), target=0.02)
    scene.add_actuator("right", "general", name="lag", gain=(2.0, 0, 0), bias=(0, -2.0, 0), dynamics="filterexact",
                       time_constant=0.05, activation=0.1, activation_range=(-1.0, 1.0))
    scene.add_actuator("left", "velocity", name="drag", kd=0.2, target_velocity=0.1, implicit=False)
    scene.add_actuator(body="palm", name="rotor", position=(0.1, 0, 0), rotation=(0.6, 0, 0.8, 0),
                       wrench=(0, 0, 1, 0, 0, 0.05), command_range=(0, 20), target=3.0)
    scene.add_actuator(body="left", name="pinch", base="palm", position=(0, 0, 0.02), rotation=(0.6, 0.8, 0, 0),
                       wrench=(0, 1, 0, 0, 0, 0), target=0.4, gear=-2.0)
    return scene


def test_a_site_stands_for_body_and_place(tmp_path: Path) -> None:
    scene = gripper()
    scene.add_frame("nozzle", body="palm", position=(0.1, 0, 0), rotation=(0.6, 0, 0.8, 0))
    made = scene.add_actuator(site="nozzle", wrench=(0, 0, 1, 0, 0, 0.05), command_range=(0, 20), target=3.0)
    assert made == replace(scene.actuators["rotor"], name="nozzle")
    path = tmp_path / "scene.toml"
    scene.save(path)
    path.write_text(path.read_text() + '\n[[actuator]]\nsite = "nozzle"\nname = "again"\n')
    assert ss.Scene.read(path).actuators["again"].position == (0.1, 0.0, 0.0)
    with pytest.raises(ss.SceneError, match=r"no such frame on a body .*nozzle"):
        scene.add_actuator(site="nozle")
    with pytest.raises(ss.SceneError, match="site= and position= say the same"):
        scene.add_actuator(site="nozzle", position=(0, 0, 1), name="b")


def test_activations_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><worldbody><body name="b"><joint name="j"/><geom size=".1"/></body></worldbody><actuator>'
                    '<motor name="m" joint="j"/><intvelocity name="i" joint="j" kp="2" actrange="-1 1"/></actuator>'
                    '<keyframe><key name="k" qpos="0.5" ctrl="1 0.2" act="0.4"/></keyframe></mujoco>')
    scene = ss.Scene()
    scene.load(path, pose="k")
    assert (scene.actuators["i"].activation, scene.actuators["i"].target) == (0.4, 0.2)
    assert ss.Simulation(scene, "none").actuators["i"].activation == 0.4


def motion(scene: ss.Scene, steps: int = 50) -> np.ndarray:
    sim = ss.Simulation(scene, "none", dt=1e-3)
    sim.step(steps)
    return np.concatenate([sim.q, sim.v, sim.actuator_force])


def test_scene_files_keep_them(tmp_path: Path) -> None:
    scene = gripper()
    scene.save(tmp_path / "scene.toml")
    again = ss.Scene.read(tmp_path / "scene.toml")
    assert again.actuators == scene.actuators
    assert again.tendons == scene.tendons
    np.testing.assert_array_equal(motion(again), motion(scene))


@pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature")
def test_mjcf_keeps_them(tmp_path: Path) -> None:
    """Written and read again: the same motion, from the keyframe."""
    scene = gripper()
    (tmp_path / "scene.xml").write_text(scene.to_mjcf())
    again = ss.Scene()
    again.load(tmp_path / "scene.xml", pose="start")
    for name, actuator in scene.actuators.items():
        control = actuator.target_velocity if actuator.kind == "velocity" else actuator.target
        again.actuators[name] = with_control(again.actuators[name], control)
        again.actuators[name].activation, again.actuators[name].implicit = actuator.activation, actuator.implicit
    ours, theirs = motion(scene), motion(again)
    ours[-2:] /= np.array([1.0, -2.0])  # of those that push bodies the gear has gone into the wrench
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("options", "message"), [
    ({}, "it drives one thing"), ({"joint": "left", "tendon": "grip"}, "it drives one thing"),
    ({"tendon": "gripp"}, "no such tendon"), ({"body": "thumb"}, "no such body"),
    ({"body": "palm", "base": "thumb"}, "no such body"),
    ({"joint": "left", "base": "palm"}, "only an actuator that pushes"),
    ({"body": "palm", "kind": "position", "kp": 1.0}, "cannot depend on its motion"),
    ({"body": "palm", "kind": "general", "bias": (0, -1, 0)}, "cannot depend on its motion"),
    ({"joint": "left", "dynamics": "filter"}, "only a general actuator has dynamics"),
    ({"joint": "left", "kind": "general", "dynamics": "muscle"}, "unknown dynamics"),
    ({"joint": "left", "kind": "general", "dynamics": "filter", "time_constant": 0.0}, "time_constant must be greater"),
    ({"joint": "left", "command_range": (1.0, -1.0)}, "lower bound of command_range is above"),
    ({"joint": "left", "force_range": 3.0}, "force_range is not a pair"),
    ({"joint": "left", "gain": (1.0, 2.0)}, "gain needs 3 numbers"),
    ({"body": "palm", "wrench": (0, 0, 1)}, "wrench needs 6 numbers"),
])
def test_actuators_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ss.SceneError, match=message):
        gripper().add_actuator(name="a", **options)


@pytest.mark.parametrize(("options", "message"), [
    ({"joints": {}}, "not a table of coefficients"), ({"joints": {"thumb": 1.0}}, "no such joint"),
    ({"joints": {"palm": 1.0}}, "joints of one axis"), ({"joints": {"left": np.nan}}, "not finite"),
    ({"joints": {"left": 1.0}, "rest": (1.0, 0.0)}, "lower bound of rest"),
    ({"joints": {"left": 1.0}, "stiffness": -1.0}, "stiffness must be at least 0"),
    ({"name": "grip", "joints": {"left": 1.0}}, "the name is taken already"),
])
def test_tendons_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ss.SceneError, match=message):
        gripper().add_tendon(**{"name": "t"} | options)


def test_changes_after_adding_are_checked_again() -> None:
    scene = gripper()
    scene.actuators["hold"].joint = "thumb"
    with pytest.raises(ss.SceneError, match=r"actuator 'hold': names no joint"):
        ss.Simulation(scene, "none")
    scene = gripper()
    del scene.tendons["grip"]
    with pytest.raises(ss.SceneError, match="no such tendon"):
        ss.Simulation(scene, "none")


def test_a_robot_owns_what_drives_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "hand.xml"
    path.write_text('<mujoco><worldbody><body name="b"><joint name="j"/><geom size=".1"/><site name="s"/></body>'
                    '</worldbody><tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon><actuator>'
                    '<motor name="m" tendon="t"/><motor name="f" site="s" gear="1 0 0 0 0 0"/></actuator></mujoco>')
    scene = ss.Scene()
    left, right = (scene.load(path, name=name, position=(n, 0, 0)) for n, name in enumerate(("left", "right")))
    assert left.actuators == ["left/m", "left/f"] and right.actuators == ["right/m", "right/f"]
    assert scene.tendons["right/t"].joints == {"right/j": 2.0}
    assert scene.actuators["right/m"].tendon == "right/t" and scene.actuators["right/f"].body == "right/b"
    scene.save(tmp_path / "two.toml")
    again = ss.Scene.read(tmp_path / "two.toml")
    assert again.robots["left"].actuators == left.actuators


def test_holding_controls() -> None:
    servo = Actuator("a", "j", "general", gain=(3.0, 0, 0), bias=(1.0, -30.0, -2.0), gear=2.0)
    control = holding_control(servo, 0.2)
    assert control is not None
    assert 3.0 * control + 1.0 - 30.0 * 0.4 == pytest.approx(0.0)
    assert holding_control(Actuator("a", "j", "position", kp=3.0), 0.2) == 0.2
    assert holding_control(Actuator("a", "j"), 0.2) is None
    assert with_control(Actuator("a", "j", "velocity", kd=1.0), 0.3).target_velocity == 0.3
    assert with_control(servo, 0.3).target == 0.3
