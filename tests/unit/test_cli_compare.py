"""`sesshoku compare` and `sesshoku reproduce`: tables, JSON, pages, exit codes, help; and the demo."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import Call, caller
from sesshoku.cli import console
from sesshoku.comparison.outcome import MEASURES
from sesshoku.control.walking.watched_walk import NAMES
from sesshoku.experiments import base
from sesshoku.methods import lcp, registry

ROOT = Path(__file__).parents[2]
CRATE = ROOT / "examples" / "crate_at_rest.toml"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


def test_compare_prints_a_row_a_method(call: Call) -> None:
    said = call("compare", CRATE, "--time", 0.02, "--peer", "mujoco")
    assert said.code == 0, said.err
    for keyword in registry.keywords():
        assert (f" {keyword} " in said.out) == (keyword != "none")
    assert "MuJoCo" in said.out and "travel" in said.out and "running lcp ..." in said.err


def test_a_narrow_terminal_loses_no_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    for width in (80, 200):
        said = caller(monkeypatch, capsys, width=width)("compare", CRATE, "-m", "none", "--time", 0.01)
        for measure in MEASURES.values():
            assert measure.heading in said.out, (width, measure.heading)
        assert (said.out.count("method") > 1) == (width == 80)


def test_compare_as_json(call: Call) -> None:
    said = call("compare", CRATE, "--time", 0.02, "--peer", "mujoco", "--json", "--expect", "travel=0±1e-5")
    result = said.json  # fails on NaN
    assert said.err == "" and result["scene"] == "crate_at_rest" and result["dt"] == 0.001
    assert result["expected"] == {"travel": {"value": 0.0, "within": 1e-5}}
    rows = {row["method"]: row for row in result["methods"]}
    assert rows["lcp:recommended"]["agrees"] == {"travel": True} and rows["MuJoCo"]["residual"] is None
    assert rows["lcp"]["report"]["penetration"] >= 0.0 and len(rows["lcp"]["positions"]["crate"]) == 3
    assert rows["lcp"]["refused"] is None and rows["lcp"]["step"] > 0.0


def test_compare_pushes_and_knows_the_answer(call: Call) -> None:
    said = call("compare", CRATE, "-m", "lcp:recommended", "--time", 0.5, "--push", "crate", 4.998, 0, 0,
                "--expect", "travel=0.01225+-3e-4", "--json")
    assert said.json["methods"][0]["agrees"] == {"travel": True}
    said = call("compare", CRATE, "-m", "lcp:recommended", "--time", 0.1, "--expect", "travel=1", "--json")
    assert said.json["methods"][0]["agrees"] == {"travel": False}


def test_compare_writes_a_page(call: Call, tmp_path: Path) -> None:
    said = call("compare", CRATE, "-m", "lcp", "-m", "none", "--time", 0.02, "--html", "report.html")
    assert said.code == 0 and "wrote report.html" in said.out
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "crate_at_rest" in text and text.count("<svg class='chart'") >= 4


def test_when_no_method_can_run_it_the_exit_code_is_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lcp, "METHOD", replace(lcp.METHOD, supports=lambda compiled: ["not today"]))
    said = call("compare", CRATE, "-m", "lcp", "--time", 0.01)
    assert said.code == 1 and "refused: " in said.out and "not today" in said.out
    assert call("compare", CRATE, "-m", "lcp", "-m", "none", "--time", 0.01).code == 0


BAD = {
    "missing file": (["compare", "nowhere.toml"], "nowhere.toml"),
    "unknown method": (["compare", CRATE, "-m", "lpc"], "did you mean 'lcp'"),
    "unknown preset": (["compare", CRATE, "-m", "lcp:best"], "presets: recommended"),
    "method twice": (["compare", CRATE, "-m", "lcp", "-m", "lcp"], "asked for twice"),
    "no folder": (["compare", CRATE, "--html", "no/report.html"], "no folder"),
    "a folder": (["compare", CRATE, "--html", "."], "is a folder"),
    "dt of zero": (["compare", CRATE, "--dt", "0"], "dt must be greater than 0"),
    "negative dt": (["compare", CRATE, "--dt", "-0.001"], "dt must be greater than 0"),
    "no time": (["compare", CRATE, "--time", "0"], "time must be greater than 0"),
    "unknown body": (["compare", CRATE, "--watch", "box"], "no such body"),
    "pushed nobody": (["compare", CRATE, "-m", "none", "--push", "box", "1", "0", "0"], "no such body"),
    "push of two numbers": (["compare", CRATE, "--push", "crate", "1", "0"], "push"),
    "unknown peer": (["compare", CRATE, "--peer", "bullet"], "peers: mujoco"),
    "expected nothing": (["compare", CRATE, "--expect", "travel"], "measure=value"),
    "expected text": (["compare", CRATE, "--expect", "travel=far"], "measure=value"),
    "unknown measure": (["compare", CRATE, "--expect", "speed=1"], "measures: travel"),
    "unknown experiment": (["reproduce", "lcp/nonsense"], "experiments: lcp/model"),
    "file for a folder": (["reproduce", "lcp/landing", "--out", "taken"], "taken"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_says_why(case: str, call: Call, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    arguments, words = BAD[case]
    said = call(*arguments)
    assert said.code == 2, said.out
    assert words in said.err and "Traceback" not in said.err and said.out == ""


@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_help_teaches(command: str, call: Call) -> None:
    said = call(command, "--help")
    assert said.code == 0 and f"sesshoku {command} " in said.out and "Exit code" in said.out
    for word in said.out.replace("│", " ").split():
        if word.startswith("examples/"):
            assert (ROOT / word).is_file(), word


# ---- reproduce -------------------------------------------------------------------------------------------------------


def test_without_a_name_the_experiments_are_listed(call: Call) -> None:
    said = call("reproduce")
    assert said.code == 0
    for name in base.EXPERIMENTS:
        assert name in said.out
    assert call("reproduce", "--json").json == {name: base.title(name) for name in base.EXPERIMENTS}


def experiment(passes: bool) -> base.Result:
    answer = base.Check("the answer", 42.0, 42.0 if passes else 41.0, 0.5, "m")
    seen = base.Check("seen", 1, 0, 0, "", "report")
    return base.Result([answer, seen], lambda figure: figure.add_subplot(), {"more": [1, 2]})


@pytest.mark.parametrize("passes", [True, False])
def test_the_verdict_is_the_exit_code(
    passes: bool, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:
    monkeypatch.setattr(base.load("lcp/landing"), "run", lambda progress: experiment(passes))
    said = call("reproduce", "lcp/landing", "--out", "here")
    assert said.code == (0 if passes else 1)
    assert ("pass" in said.out) == passes and ("FAIL" in said.out) != passes and "the answer" in said.out
    assert (tmp_path / "here" / "lcp_landing.png").stat().st_size > 1000
    stored = json.loads((tmp_path / "here" / "lcp_landing.json").read_text())
    said = call("reproduce", "lcp/landing", "--out", "here", "--json")
    assert said.code == (0 if passes else 1) and said.json == stored
    assert stored["verdict"] == ("pass" if passes else "fail") and stored["values"] == {"more": [1, 2]}
    assert {"name", "measured", "expected", "tolerance", "passed"} <= set(stored["checks"][0])


def test_a_part_of_the_name_runs_all_below_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    for name in base.EXPERIMENTS:
        monkeypatch.setattr(base.load(name), "run", lambda progress, name=name: ran.append(name) or experiment(True))
    below = [name for name in base.EXPERIMENTS if name.startswith("lcp/")]
    assert len(call("reproduce", "lcp", "--json").json) == len(below) < len(base.EXPERIMENTS) and ran == below


@pytest.mark.parametrize(("kind", "measured", "passes"), [
    ("near", 1.04, True), ("near", 1.2, False), ("near", float("nan"), False), ("at_most", 0.0, True),
    ("at_most", 1.2, False), ("at_least", 2.0, True), ("at_least", 0.8, False), ("report", 99.0, True),
])
def test_checks(kind: str, measured: float, passes: bool) -> None:
    assert base.Check("x", measured, 1.0, 0.05, kind=kind).passed is passes


# ---- the progress line and the demo ----------------------------------------------------------------------------------


def test_the_progress_line_names_each_method_once(capsys: pytest.CaptureFixture[str]) -> None:
    with console.ProgressLine() as progress:
        for done in (0.0, 0.5, 1.0):
            progress("lcp", done, "crate")
    assert capsys.readouterr().err == "running crate: lcp ...\n"
    with console.ProgressLine(quiet=True) as progress:
        progress("lcp", 0.0)
    assert capsys.readouterr().err == ""


def test_the_demo_compares_every_method(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:
    specification = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert specification is not None and specification.loader is not None
    demo = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(__import__("sys").modules, "demo", demo)
    specification.loader.exec_module(demo)
    for case in demo.CASES:
        case.more["time"] = 0.02  # the whole runs are `make demo`'s
    monkeypatch.chdir(tmp_path)
    demo.main()
    said = capsys.readouterr().out
    for keyword in [*(k for k in registry.keywords() if k != "none"), "MuJoCo", "closed form"]:
        assert f"\n{keyword} " in said
    assert "A contact says why" in said and "slips at" in said and "out/report.html" in said
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for case in demo.CASES:
        assert case.title in page


def test_a_walk_has_a_name_of_its_own(call: Call) -> None:
    """`compare walk`: columns of a walk, and how it ended; unknown walks and pushes on one are refused."""
    found = call("compare", "walk", "-m", "exact", "--time", 0.04, "--json").json
    assert found["scene"] == "small humanoid walks 13 steps" and found["methods"][0]["end"].startswith("upright")
    assert found["methods"][0]["foot_slip"] == 0.0 and found["methods"][0]["tilt"] < 0.01
    for words, text in ((("walk/huge",), "walk/large"), (("walk", "--push", "chest", 1, 0, 0), "exact/pushes"),
                        (("walk", "--peer", "mujoco"), "leave the peer out"), (("wallk",), "did you mean 'walk'"),
                        (("wlak/bush",), "walk/bush-stabiliser"), (("nothing-like-it",), "walk/large")):
        refused = call("compare", *words)
        assert refused.code == 2 and text in refused.err and "running" not in refused.err, words
    shown = call("compare", "--help").out.replace("│", " ").split()
    assert all(any(name == word.strip("`.,:") for word in shown) for name in NAMES if name != "walk/small")


def test_a_folder_named_walk_hides_no_walk(call: Call, tmp_path: Path) -> None:
    (tmp_path / "walk").mkdir()
    assert call("compare", "walk", "-m", "exact", "--time", 0.01, "--json").json["scene"].startswith("small humanoid")
