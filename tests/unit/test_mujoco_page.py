"""docs/coming-from-mujoco.md keeps its word: both programs run and agree, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss

TEXT = (Path(__file__).parents[2] / "docs" / "coming-from-mujoco.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
ARM = """<mujoco model="go1"><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="base" pos="0 0 0.5"><geom type="box" size="0.05 0.05 0.05"/>
    <body name="upper"><joint name="knee" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
      <body name="hand" pos="0.2 0 0"><joint name="wrist" axis="0 1 0" damping="0.1"/>
        <geom type="sphere" size="0.03"/><site name="pinch" pos="0 0 0.05"/><site name="imu"/></body></body></body>
  <body name="ball" pos="0.5 0 0.099"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody>
  <actuator><position name="knee" joint="knee" kp="5" kv="0.1"/></actuator>
  <sensor><gyro name="imu" site="imu"/></sensor>
  <keyframe><key name="home" qpos="0.3 0.2 0.5 0 0.1 1 0 0 0" ctrl="0.5"/></keyframe></mujoco>"""


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "robot.xml").write_text(ARM)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "robot.xml"


def test_both_programs_end_at_the_same_place(robot: Path) -> None:
    ends = []
    for number, block in enumerate(BLOCKS):
        names: dict[str, Any] = {}
        exec(compile(block, f"coming-from-mujoco.md, block {number}", "exec"), names)
        ends.append(np.array(names["hand"]))
    theirs, ours = ends
    assert np.linalg.norm(ours - theirs) < 1e-3
    assert np.linalg.norm(ours - [0.2, 0, 0.5]) > 0.03  # it moved


def test_what_the_table_names_is_there(robot: Path) -> None:
    """Every `sim. ...` and `scene. ...` of the page, on a robot that has such things."""
    scene = ss.Scene()
    scene.load(robot, pose="home")
    sim = ss.Simulation(scene, "none")
    sim.step(2)
    found = set(re.findall(r"`((?:sim|scene)\.[^`]*)`", TEXT))
    assert len(found) > 25
    for words in sorted(found):
        thing = re.match(r'(sim|scene)((?:\.\w+)(?:\[(?:"\w+"|name)\])?(?:\.\w+)?)', words)
        assert thing is not None, words
        expression = thing.group(1) + thing.group(2).replace("[name]", '["hand"]')
        eval(expression, {"sim": sim, "scene": scene})


def test_what_stands_behind_commas_is_there(robot: Path) -> None:
    """`sim.bodies["hand"].position`, `.rotation` ...: the further ones belong to the same thing."""
    scene = ss.Scene()
    scene.load(robot, pose="home")
    sim = ss.Simulation(scene, "none")
    for owner, rest in re.findall(r'`(sim\.\w+(?:\["\w+"\])?)\.\w+`((?:, `\.\w+`)+)', TEXT):
        for attribute in re.findall(r"`\.(\w+)`", rest):
            assert hasattr(eval(owner, {"sim": sim}), attribute), (owner, attribute)


def test_defaults_are_as_the_page_says() -> None:
    assert ss.Simulation(ss.Scene(), "none").dt == 1e-3
    assert ss.Scene().gravity.tolist() == [0, 0, -9.8]
    scene = ss.Scene()
    assert not scene.self_colliding
