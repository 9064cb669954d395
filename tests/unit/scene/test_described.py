"""Robots by name, through a stand-in of the package robot_descriptions: nothing is fetched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sesshoku as ss


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of that name whose robots are our own."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("DESCRIPTIONS = {'arm_description': 1, 'arm_mj_description': 1, "
                                        "'far_description': 1, 'odd_description': 1}")
    (folder / "arm_description.py").write_text(
        f"URDF_PATH = {str(ss.robots.path('arm_gripper.urdf'))!r}\nPACKAGE_PATH = {str(tmp_path)!r}")
    (folder / "arm_mj_description.py").write_text(f"MJCF_PATH = {str(ss.robots.path('humanoid_small.xml'))!r}")
    (folder / "far_description.py").write_text("raise OSError('could not resolve host: example.org')")
    (folder / "odd_description.py").write_text("XACRO_PATH = 'robot.urdf.xacro'")
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


@pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature")
def test_urdf_and_mjcf_by_name(package: Path, tmp_path: Path) -> None:
    scene = ss.Scene()
    assert scene.load("robot_descriptions:arm_description", fixed_base=True, name="arm").joints
    assert scene.load("robot_descriptions:arm_mj_description", name="human").joints
    assert ss.Scene.read("robot_descriptions:arm_description").robots
    (tmp_path / "scene.toml").write_text('[[robot]]\nfile = "robot_descriptions:arm_description"\n')
    assert ss.Scene.read(tmp_path / "scene.toml").robots


def test_an_unknown_name_suggests_the_nearest(package: Path) -> None:
    with pytest.raises(ss.SceneError, match=r"knows no such robot; did you mean arm_description"):
        ss.Scene().load("robot_descriptions:arm_descripton")


def test_its_own_error_is_told(package: Path) -> None:
    with pytest.raises(ss.SceneError, match=r"far_description: robot_descriptions cannot give its files: OSError: "
                                            r"could not resolve host: example.org; it fetches them over the network"):
        ss.Scene().load("robot_descriptions:far_description")
    with pytest.raises(ss.SceneError, match="neither URDF nor MJCF"):
        ss.Scene().load("robot_descriptions:odd_description")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(ss.SceneError, match="pip install robot_descriptions, or give a file"):
        ss.Scene().load("robot_descriptions:go2_mj_description")
