"""`python -m benchmarks robots` on small files of our own: results, reasons, stand-ins, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.robots import command, stand_ins, table
from benchmarks.robots.measure import measure
from benchmarks.robots.pair import load

PENDULUM = """<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="arm" pos="0 0 1"{extra}>
      <joint name="hinge" axis="0 1 0" damping="0.01"/>
      <geom name="bar" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="hinge" kp="20" kv="1"/></actuator>
  {more}
</mujoco>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "good": PENDULUM.format(extra="", more='<keyframe><key name="up" qpos="0.4" ctrl="0.6"/></keyframe>'),
        "broken": "<mujoco><worldbody><body name='arm'><joint/></body></worldbody></mujoco>",
        "holes": """<mujoco><compiler meshdir="assets"/><asset><mesh name="part" file="part.stl"/></asset>
            <worldbody><body name="part"><freejoint/><geom type="mesh" mesh="part"/></body></worldbody></mujoco>""",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "scene.xml").write_text(text)
    return tmp_path


def test_commands_and_start_are_the_keyframes(folder: Path) -> None:
    row = measure(folder / "good" / "scene.xml", "none")
    assert row["result"] == "agrees" and row["distance"] < 1e-4
    assert row["keyframe"] == "up" and row["dof"] == 1 and row["steps"] == 500
    assert row["ratio"] > 0.0 and row["peak energy"] == pytest.approx(row["their peak energy"], rel=0.1)
    assert load(folder / "good" / "scene.xml").control.tolist() == [0.6]


def test_a_keyframe_without_controls_is_held(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(PENDULUM.format(extra="", more='<keyframe><key name="up" qpos="0.4"/></keyframe>'))
    assert load(scene).control.tolist() == pytest.approx([0.4])


def test_the_reason_names_the_part_that_differs(tmp_path: Path) -> None:
    """The inertia of a cord has no counterpart: taking tendons away brings both together."""
    scene = tmp_path / "scene.xml"
    scene.write_text("""<mujoco><worldbody>
        <site name="hook" pos="0.3 0 2"/>
        <body name="arm" pos="0 0 1">
          <joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
          <body name="hand" pos="0.3 0 0"><site name="tip"/></body>
        </body></worldbody>
        <tendon>
          <spatial name="rope" stiffness="100" armature="200"><site site="hook"/><site site="tip"/></spatial>
        </tendon></mujoco>""")
    kept: list[dict[str, object]] = []
    row = measure(scene, "none", kept.append)
    assert row["result"] == "differs" and row["distance"] > 0.03
    assert "of the joints" in row["reason"] and "agrees without tendons" in row["reason"]
    assert kept and kept[0]["result"] == "differs"  # a time limit would have kept this


def test_what_mujoco_cannot_load(folder: Path) -> None:
    row = measure(folder / "broken" / "scene.xml", "none")
    assert row["result"] == "MuJoCo cannot load" and "mass and inertia" in row["reason"]


def test_missing_meshes_become_cubes(folder: Path, tmp_path: Path) -> None:
    assert measure(folder / "holes" / "scene.xml", "none")["result"] == "MuJoCo cannot load"
    assert stand_ins.mirror(folder, tmp_path / "copy") == ["holes/assets/part.stl"]
    row = measure(tmp_path / "copy" / "holes" / "scene.xml", "none")
    assert row["result"] == "agrees" and row["bodies"] == 1
    assert not (folder / "holes" / "assets").exists()  # the original stays as it is


def test_pointers_become_cubes_too(folder: Path, tmp_path: Path) -> None:
    (folder / "holes" / "assets").mkdir()
    (folder / "holes" / "assets" / "part.stl").write_text("version https://git-lfs.github.com/spec/v1\nsize 1\n")
    assert stand_ins.mirror(folder, tmp_path / "copy") == ["holes/assets/part.stl"]
    assert load(tmp_path / "copy" / "holes" / "scene.xml").model.body_mass[1] == pytest.approx(1000 * 0.05**3)


def test_the_whole_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "found.json"
    command.main(["--folder", str(folder), "--method", "none", "--stand-ins", "--out", str(out)])
    results = json.loads(out.read_text())
    assert {name: row["result"] for name, row in results["scenes"].items()} == {
        "good/scene.xml": "agrees", "broken/scene.xml": "MuJoCo cannot load", "holes/scene.xml": "agrees"}
    assert str(tmp_path) not in out.read_text() and results["stand_ins"] == 1
    assert "[3/3] holes/scene.xml: agrees" in capsys.readouterr().out
    text = out.with_suffix(".md").read_text()
    assert "| good/scene | agrees |" in text and "3 scenes: **2** agrees, **1** MuJoCo cannot load." in text
    command.main(["--folder", str(folder), "--method", "none", "--only", "good", "--out", str(out)])
    assert set(json.loads(out.read_text())["scenes"]) == set(results["scenes"])  # the other rows stay


def test_scenes_that_are_not_there(folder: Path) -> None:
    with pytest.raises(SystemExit, match="nothing.xml: no such file"):
        command.scene_files(folder, [str(folder / "nothing.xml")], [])
    with pytest.raises(SystemExit, match="no scene in .* with go9"):
        command.scene_files(folder, [], ["go9"])
    assert command.scene_files(folder, [str(folder / "good" / "scene.xml")], []) == [Path("good/scene.xml")]


def test_a_time_limit_stops_one_scene_only(folder: Path) -> None:
    found = command.measure_all(folder, [Path("good/scene.xml")], "none", limit=0.05, say=lambda text: None)
    assert found["scenes"]["good/scene.xml"] == {"result": "too slow", "reason": "more than 0.05 s"}


def test_the_page_quotes_the_committed_result() -> None:
    files = sorted(table.RESULTS.glob("*.json"))
    inside = table.BLOCK.search(table.PAGE.read_text(encoding="utf-8"))
    assert inside is not None
    made = table.table(json.loads(files[0].read_text())) if files else ""
    assert inside.group(0) == inside.group(1) + made + inside.group(2), "run python -m benchmarks robots"
    for file in files:
        for row in json.loads(file.read_text())["scenes"].values():
            assert row["reason"] or row["result"] == "agrees"
