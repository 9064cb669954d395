"""`sesshoku check`: what only MuJoCo does, against closed forms of Coulomb's law."""

from __future__ import annotations

from pathlib import Path

import pytest

import sesshoku as ss
from command_line import caller
from sesshoku.comparison.audit import check_model

CRATE = """<mujoco><option gravity="{push} 0 -9.8" timestep="0.002"/><worldbody>
<geom type="plane" size="5 5 1" friction="0.5 0 0" condim="3"/>
<body name="crate" pos="0 0 0.5"><freejoint/><geom type="box" size="0.5 0.5 0.5" mass="1" friction="0.5 0 0"/></body>
{more}</worldbody></mujoco>"""
HEAVY = '<body name="safe" pos="0 0 1.2"><freejoint/><geom type="box" size="0.2 0.2 0.2" mass="1000"/></body>'


def written(folder: Path, push: float, more: str = "") -> Path:
    file = folder / "crate.xml"
    file.write_text(CRATE.format(push=push, more=more))
    return file


def test_a_crate_that_friction_holds_creeps_in_mujoco(tmp_path: Path) -> None:
    """Gravity pulls it aside with 4.8 N; friction holds up to 4.9 N."""
    found = check_model(written(tmp_path, 4.8), time=1.0)
    (pair,) = found.found
    assert pair.pair == ("crate", "world") and found.differs
    assert pair.law.creep < 1e-9 and pair.mujoco.creep > 5e-3
    assert any("creeps" in text for text in pair.says)
    assert found.farthest == "crate" and found.apart == pytest.approx(pair.mujoco.creep * 1.0, rel=0.2)


def test_a_crate_that_must_slip_slips_in_both(tmp_path: Path) -> None:
    """Pulled with 6 N it moves by (6 - 4.9) t^2 / 2, the closed form."""
    found = check_model(written(tmp_path, 6.0), time=1.0)
    (pair,) = found.found
    way = 0.5 * 1.1 * (1.0 - 0.1**2)  # the first tenth is left out
    assert pair.law.slipped == pytest.approx(way, rel=0.02)
    assert not any("creeps" in text for text in pair.says)


def test_what_is_loaded_sinks_in_mujoco(tmp_path: Path) -> None:
    found = check_model(written(tmp_path, 0.0, HEAVY), time=1.0)
    floor = next(one for one in found.found if one.pair == ("crate", "world"))
    assert floor.law.depth < 1e-6 < floor.mujoco.depth and any("sinks" in text for text in floor.says)
    assert floor.law.force == pytest.approx(1001 * 9.8, rel=0.02)


def test_what_stands_differs_in_nothing(tmp_path: Path) -> None:
    assert not check_model(written(tmp_path, 0.0), time=0.5).differs


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(monkeypatch, capsys)
    said = call("check", written(tmp_path, 4.8), "--time", 0.5)
    assert said.code == 1 and "creeps at" in said.out and "crate and world" in said.out
    said = call("check", written(tmp_path, 0.0), "--time", 0.2, "--json")
    assert said.code == 0 and said.json["differs"] is False and said.json["pairs"][0]["bodies"] == ["crate", "world"]
    assert call("check", tmp_path / "nothing.xml").code == 2
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><geom/></worldbody></mujoco>")
    assert call("check", tmp_path / "bad.xml").code == 2
    assert call("check", tmp_path / "robot.urdf").code == 2


def test_a_robot_in_its_first_keyframe() -> None:
    found = check_model(ss.robots.path("humanoid_small.xml"), time=0.2)
    assert found.stopped is None and found.apart < 0.05
