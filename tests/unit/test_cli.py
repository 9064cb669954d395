"""The command line: exit codes, JSON, files written, help that teaches; and the shipped examples."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command_line import Call, caller
from sesshoku._version import __version__
from sesshoku.recording import Recording
from sesshoku.simulation.simulation import Simulation
from waiting import PATIENCE, interruptible, until

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))

PENDULUM = """
[run]
dt = 0.002
time = 0.1

[[body]]
name = "rod"
mass = 1.0
center = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.01]
joint = { kind = "continuous", name = "pivot", axis = [0, 1, 0], position = 0.5 }
"""
# an explicit spring far too stiff for its step: each step multiplies the motion
DIVERGING = PENDULUM.replace("position = 0.5", "position = 0.5, stiffness = 1e8, implicit = false").replace(
    "[run]", '[run]\nmethod = "none"')

ROBOT = """
<mujoco model="arm">
  <worldbody>
    <light name="sun" pos="0 0 3"/>
    <body name="base"><freejoint name="root"/><geom size="0.1" mass="2"/>
      <body name="link">
        <joint name="hinge" axis="0 1 0" range="-90 90"/><geom pos="0 0 -0.3" size="0.05" mass="1"/>
      </body>
    </body>
  </worldbody>
  <keyframe><key name="bent" qpos="0 0 1 1 0 0 0 0.5"/></keyframe>
</mujoco>
"""


@pytest.fixture
def sesshoku(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Call the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    (tmp_path / "pendulum.toml").write_text(PENDULUM)
    return tmp_path / "pendulum.toml"


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    (tmp_path / "arm.xml").write_text(ROBOT)
    return tmp_path / "arm.xml"


# ---- run -------------------------------------------------------------------------------------------------------------


def test_run_says_what_happened(sesshoku: Call, pendulum: Path) -> None:
    said = sesshoku("run", pendulum)
    assert said.code == 0, said.err
    for word in ("pendulum", "0.1 s in steps of 0.002 s", "µs per step", "J at the start", "pivot", "rod"):
        assert word in said.out, word


def test_run_as_json(sesshoku: Call, pendulum: Path) -> None:
    result = sesshoku("run", pendulum, "--json").json
    assert set(result) == {"scene", "method", "dt", "time", "step_us", "real_time_factor", "energy", "worst_report",
                           "notes", "joints", "bodies", "label", "contacts", "left_out"}
    assert result["contacts"] == [] and result["label"] == "exact"
    assert result["dt"] == 0.002 and result["time"] == pytest.approx(0.1)
    energy = result["energy"]
    assert energy["kinetic"] > 0.0
    # first order: the error is about dt times the power of gravity, some 3 W here
    assert energy["kinetic"] + energy["potential"] == pytest.approx(energy["start"], abs=6e-3)
    assert result["joints"]["pivot"] < 0.5
    assert result["worst_report"]["converged"] is True


def test_the_command_line_stands_above_the_file(sesshoku: Call, pendulum: Path) -> None:
    result = sesshoku("run", pendulum, "--dt", 0.005, "--time", 0.02, "--json").json
    assert result["dt"] == 0.005 and result["time"] == pytest.approx(0.02)


def test_options_of_the_method(sesshoku: Call, pendulum: Path) -> None:
    assert "rk4" in sesshoku("run", pendulum, "--method", "lcp", "-o", "integrator=rk4", "--json").json["method"]
    pendulum.write_text(PENDULUM.replace("[run]", '[run]\nmethod = "none"\nintegrator = "rkg"'))
    assert "rkg" in sesshoku("run", pendulum, "--json").json["method"]
    assert "euler" in sesshoku("run", pendulum, "-o", "integrator=euler", "--json").json["method"]
    pendulum.write_text(PENDULUM.replace("[run]", "[run]\noptions = { tolerance = 1e-7 }"))
    assert "1e-07" in sesshoku("run", pendulum, "--json").json["method"]


def test_recordings_can_be_read(sesshoku: Call, pendulum: Path, tmp_path: Path) -> None:
    for name in ("run.npz", "run.ssk"):
        said = sesshoku("run", pendulum, "--record", name, "--rate", 250)
        assert said.code == 0 and f"wrote {name}" in said.out
        recording = Recording.load(tmp_path / name)
        assert not recording.truncated
        np.testing.assert_allclose(recording.time, np.linspace(0.0, 0.1, 26), atol=1e-12)
        assert recording["poses", "rod"].shape == (26, 7) and recording["q"][0, 0] == 0.5
    with np.load(tmp_path / "run.npz") as arrays:  # plain NumPy reads it, too
        assert arrays["q"].shape == (26, 1)


def test_the_files_wish_to_record_and_plot(sesshoku: Call, pendulum: Path, tmp_path: Path) -> None:
    pendulum.write_text(PENDULUM.replace("[run]", '[run]\nrecord = "wish.npz"\nplot = true'))
    assert sesshoku("run", pendulum).code == 0
    assert len(Recording.load(tmp_path / "wish.npz")) > 2
    assert is_png(tmp_path / "pendulum_plot.png")


def is_png(path: Path) -> bool:
    from matplotlib import image

    pixels = image.imread(path)
    return path.read_bytes()[:4] == b"\x89PNG" and min(pixels.shape[:2]) > 100 and float(pixels[..., :3].std()) > 0.0


def test_plot_and_picture_are_images(sesshoku: Call, pendulum: Path, tmp_path: Path) -> None:
    said = sesshoku("run", pendulum, "--plot", "plot.png", "--picture", "strip.png")
    assert said.code == 0, said.err
    assert is_png(tmp_path / "plot.png") and is_png(tmp_path / "strip.png")
    assert sesshoku("run", pendulum, "--plot", "plot.svg").code == 0
    assert "<svg" in (tmp_path / "plot.svg").read_text()


@pytest.mark.filterwarnings("error")
def test_a_robot_alone_is_a_scene(sesshoku: Call, robot: Path) -> None:
    free = sesshoku("run", robot, "--time", 0.2, "--json")
    fixed = sesshoku("run", robot, "--time", 0.2, "--fixed-base", "--json")
    posed = sesshoku("run", robot, "--time", 0, "--pose", "bent", "--json")
    assert free.json["bodies"]["base"][2] < -0.1 and fixed.json["bodies"]["base"] == [0, 0, 0]
    assert posed.json["joints"]["hinge"] == 0.5 and posed.json["bodies"]["base"] == [0, 0, 1]
    for said in (free, fixed, posed):  # what is left out is said, once
        assert said.code == 0 and said.err.count("light 'sun'") == 1


def test_names_with_brackets_are_printed_as_they_are(sesshoku: Call, pendulum: Path) -> None:
    pendulum.write_text(PENDULUM.replace('"rod"', '"rod [/red] [x]"').replace('"pivot"', '"[bold]"'))
    for command in ("run", "info"):
        said = sesshoku(command, pendulum)
        assert said.code == 0 and "rod [/red] [x]" in said.out and "[bold]" in said.out


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_diverging_run_exits_with_1_and_keeps_what_it_has(sesshoku: Call, pendulum: Path, tmp_path: Path) -> None:
    pendulum.write_text(DIVERGING)
    said = sesshoku("run", pendulum, "--json", "--record", "run.npz")
    assert said.code == 1
    assert said.err.startswith("diverged:") and "'rod'" in said.err and "last good state" in said.err
    assert "diverged" in said.json and 0.0 < said.json["time"] < 0.1
    recording = Recording.load(tmp_path / "run.npz")
    assert np.isfinite(recording["q"]).all() and recording.time[-1] == pytest.approx(said.json["time"])


@pytest.mark.parametrize("name", ["run.npz", "run.ssk", None])
def test_an_interrupted_run_exits_with_130_and_keeps_what_it_has(
    name: str | None, sesshoku: Call, pendulum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = Simulation.step

    def interrupted(sim: Simulation, steps: int = 1) -> None:
        if sim.time > 0.055:
            raise KeyboardInterrupt
        step(sim, steps)

    monkeypatch.setattr(Simulation, "step", interrupted)
    said = sesshoku("run", pendulum, "--json", "--picture", "late.png", *(["--record", name] if name else []))
    assert said.code == 130 and said.json["interrupted"] == said.json["time"]
    assert "interrupted at t = 0.06 s" in said.err and not (tmp_path / "late.png").exists()
    if name:
        assert f"{name} holds 7 samples" in said.err
        recording = Recording.load(tmp_path / name)
        np.testing.assert_allclose(recording.time, np.arange(7) * 0.01, atol=1e-12)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
def test_control_c(pendulum: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"}
    command = ["-m", "sesshoku", "run", "pendulum.toml", "--time", "1e7", "--record", "long.ssk"]
    recorded = tmp_path / "long.ssk"
    child = interruptible(*command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    try:
        until(lambda: child.poll() is not None or recorded.exists() and recorded.stat().st_size > 100_000)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 130 and "interrupted at t =" in said and "Traceback" not in said
    recording = Recording.load(tmp_path / "long.ssk")
    assert not recording.truncated and len(recording) > 100


BAD = {
    "missing file": (["run", "nowhere.toml"], "nowhere.toml"),
    "missing robot": (["info", "nowhere.urdf"], "no such file"),
    "other kind of file": (["run", "notes.txt"], "give a .toml file or a robot: .urdf .xml"),
    "bad TOML": (["run", "bad.toml"], "line 2"),
    "unknown key": (["info", "typo.toml"], "did you mean"),
    "unknown method": (["run", "pendulum.toml", "--method", "non"], "did you mean 'none'"),
    "unknown option": (["run", "pendulum.toml", "-o", "integrater=rk4"], "integrat"),
    "bad value of an option": (["run", "pendulum.toml", "--method", "none", "-o", "integrator=rk5"],
                               "semi-implicit, euler, rk4, rkg"),
    "bad value of the default's option": (["run", "pendulum.toml", "-o", "integrator=rk5"],
                                          "midpoint or semi-implicit"),
    "text for an option": (["run", "pendulum.toml", "--method", "none", "-o", "tolerance=abc"],
                           "tolerance must be a number"),
    "nothing for an option": (["run", "pendulum.toml", "--method", "none", "-o", "tolerance=null"],
                              "tolerance must be a number"),
    "text for the default's option": (["run", "pendulum.toml", "-o", "tolerance=abc"],
                                      "tolerance must be a number from 0 to"),
    "text for an option in the file": (["run", "text.toml"], "tolerance must be a number"),
    "picture of no kind": (["run", "pendulum.toml", "--time", "1e9", "--picture", "x.docx"], ".png, .pdf or .svg"),
    "plot of no kind": (["run", "pendulum.toml", "--time", "1e9", "--plot", "x.docx"], ".png, .pdf or .svg"),
    "option without value": (["run", "pendulum.toml", "-o", "rk4"], "name=value"),
    "no time step": (["run", "pendulum.toml", "--dt", "0"], "dt must be greater than 0"),
    "text for a number": (["run", "pendulum.toml", "--dt", "fast"], "--dt"),
    "negative time": (["run", "pendulum.toml", "--time", "-1"], "duration must be at least 0"),
    "rate of zero": (["run", "pendulum.toml", "--rate", "0"], "rate"),
    "no folder": (["run", "pendulum.toml", "--record", "no/where.npz"], "no folder"),
    "base of a scene": (["run", "pendulum.toml", "--fixed-base"], "[[robot]]"),
    "unknown pose": (["run", "arm.xml", "--pose", "sit"], "poses: bent"),
    "unknown command": (["walk"], "walk"),
    "benchmark of nothing": (["bench", "nowhere.xml"], "no such file"),
    "two files": (["bench", "one.xml", "other.xml"], "one file at a time"),
    "no worlds": (["bench", "batch", "--worlds", "0"], "worlds must be a whole number"),
    "no steps": (["bench", "batch", "--steps", "0"], "steps must be 1 or more"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_says_why(case: str, sesshoku: Call, pendulum: Path, robot: Path) -> None:
    (pendulum.parent / "bad.toml").write_text("[run]\ndt = = 1\n")
    (pendulum.parent / "typo.toml").write_text(PENDULUM.replace("mass", "mas"))
    (pendulum.parent / "text.toml").write_text(
        PENDULUM.replace("[run]", '[run]\nmethod = "none"\noptions = { tolerance = "a" }'))
    (pendulum.parent / "notes.txt").write_text("")
    arguments, expected = BAD[case]
    said = sesshoku(*arguments)
    assert said.code == 2, said.out
    assert expected in said.err and said.out == ""
    assert "Traceback" not in said.err


# ---- info and bench --------------------------------------------------------------------------------------------------


def test_info_shows_the_tree(sesshoku: Call) -> None:
    said = sesshoku("info", ROOT / "models" / "arm_gripper.urdf", "--fixed-base")
    assert said.code == 0, said.err
    for word in ("10 bodies", "8 degrees of freedom", "20 kg", "revolute joint elbow", "-2.7 .. 2.7", "effort 100",
                 "mimics (1): right_finger"):
        assert word in said.out, word


def test_info_as_json(sesshoku: Call, robot: Path) -> None:
    said = sesshoku("info", robot, "--json")
    facts = said.json
    assert set(facts) == {"name", "bodies", "total_mass", "degrees_of_freedom", "joints", "actuators", "loops",
                          "mimics", "shapes", "gravity", "fluid", "notes", "unsupported"}
    assert facts["bodies"] == {"base": pytest.approx(2.0), "link": pytest.approx(1.0)}
    assert facts["total_mass"] == pytest.approx(3.0) and facts["degrees_of_freedom"] == 7
    assert facts["joints"]["hinge"]["upper"] == pytest.approx(np.pi / 2)
    assert facts["joints"]["hinge"]["effort"] is None  # no limit: JSON has no infinity
    assert facts["unsupported"] == ["arm.xml: light 'sun'"] and said.err.count("light 'sun'") == 1


def test_info_repairs_inertias_on_demand(sesshoku: Call, tmp_path: Path) -> None:
    (tmp_path / "plate.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5"/></inertial></link>'
        "</robot>")
    refused = sesshoku("info", "plate.urdf")
    assert refused.code == 2 and "repair_inertia" in refused.err
    said = sesshoku("info", "plate.urdf", "--repair-inertia")
    assert said.code == 0 and "changed to 2, 2, 4" in said.err


def test_bench_times_stages_and_a_peer(sesshoku: Call, pendulum: Path) -> None:
    facts = sesshoku("bench", pendulum, "--json").json
    assert {"step", "find contacts", "solve islands"} <= set(facts["stages_us"]) and facts["stages_us"]["step"] > 0.0
    assert [entry["peer"] for entry in facts["against"]] == ["mj_step", "mj_step"]
    assert all(entry["ratio"] > 0.0 for entry in facts["against"])
    said = sesshoku("bench", pendulum)
    assert said.code == 0 and "against a peer" in said.out and "whole step" in said.out


# ---- help ------------------------------------------------------------------------------------------------------------


def test_bench_times_many_worlds(sesshoku: Call, pendulum: Path) -> None:
    words = ("bench", "batch", pendulum, "--worlds", "8", "--steps", "3", "--method", "none")
    facts = sesshoku(*words, "--json").json
    assert facts["world_steps_per_second"] > 0 and facts["bytes_per_world"] > 100
    assert facts["against"][0]["ratio"] > 0 and "8 worlds" in facts["against"][0]["name"]
    said = sesshoku(*words)
    assert "KiB a world" in said.out and "sim.step(3) in a loop" in said.out


def examples_in(text: str) -> list[str]:
    return re.findall(r"sesshoku (?:run|info|bench) [^.│\n]*\.(?:toml|urdf|xml)[^│\n.]*", text)


@pytest.mark.parametrize("command", [None, "run", "info", "bench"])
def test_help_teaches_with_an_example(command: str | None, sesshoku: Call) -> None:
    said = sesshoku(*([command] if command else []), "--help")
    assert said.code == 0
    assert examples_in(said.out), said.out
    for line in examples_in(said.out):
        for word in line.split():
            if word.startswith(("examples/", "models/")):
                assert (ROOT / word).is_file(), f"the help of {command} speaks of {word}, which is not there"


def test_help_explains_every_option(sesshoku: Call) -> None:
    text = sesshoku("run", "--help").out
    for option in ("--method", "--option", "--dt", "--time", "--record", "--rate", "--plot", "--picture",
                   "--fixed-base", "--pose", "--repair-inertia", "--json"):
        line = next(line for line in text.splitlines() if option in line and "│" in line)
        assert len(line.replace("│", "").split()) > 4, f"{option} has no explanation"


# ---- as users start it -----------------------------------------------------------------------------------------------


def in_subprocess(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120", "MPLBACKEND": "agg"}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=PATIENCE, check=False)


def test_exit_codes_of_the_real_command(pendulum: Path, tmp_path: Path) -> None:
    said = in_subprocess("-m", "sesshoku", "run", "pendulum.toml", "--json", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["scene"] == "pendulum"
    pendulum.write_text(DIVERGING)
    said = in_subprocess("-m", "sesshoku", "run", "pendulum.toml", folder=tmp_path)
    assert said.returncode == 1 and "diverged:" in said.stderr and "Traceback" not in said.stderr
    said = in_subprocess("-m", "sesshoku", "run", "nowhere.toml", folder=tmp_path)
    assert said.returncode == 2 and said.stderr.startswith("error: nowhere.toml") and said.stdout == ""
    said = in_subprocess("-m", "sesshoku", "--version", folder=tmp_path)
    assert said.returncode == 0 and said.stdout == f"sesshoku {__version__}\n"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_shipped_examples_run(path: Path, sesshoku: Call) -> None:
    said = sesshoku("run", path, "--time", 0.05, "--dt", 0.001, "--json")
    assert said.code == 0, said.err
    result = said.json
    assert result["time"] == pytest.approx(0.05) and result["worst_report"]["converged"]
    assert np.isfinite([result["energy"]["kinetic"], result["energy"]["potential"]]).all()


def test_the_contact_free_example_prints_a_table_and_draws(tmp_path: Path) -> None:
    said = in_subprocess(str(ROOT / "examples" / "contact_free.py"), folder=tmp_path)
    assert said.returncode == 0, said.stderr
    for word in ("humanoid", "double_pendulum", "four_bar", "arm_on_limits", "momentum stays zero", "µs"):
        assert word in said.stdout, word
    assert "Warning" not in said.stderr and "Traceback" not in said.stderr
    pictures = sorted(path.name for path in (tmp_path / "out").glob("*.png"))
    assert len(pictures) == 5 and all(is_png(tmp_path / "out" / name) for name in pictures)
    assert len(Recording.load(tmp_path / "out" / "humanoid.npz")) > 100
