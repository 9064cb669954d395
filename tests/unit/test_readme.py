"""The README keeps its word: its Python runs, its commands exist, its numbers are those of the committed results."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sesshoku as ss
from benchmarks import readme
from sesshoku.cli import app as cli
from sesshoku.methods import registry

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_python_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                         capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ss.robots.path("arm_gripper.urdf"), tmp_path / "robot.urdf")
    monkeypatch.chdir(tmp_path)
    code = BLOCKS[number]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(compile(code, f"README.md, block {number}", "exec"), {})
    for written in re.findall(r'"(\w+\.(?:png|npz))"', code):
        assert (tmp_path / written).stat().st_size > 1000
    assert bool(capsys.readouterr().out) == ("print" in code)


def test_there_are_blocks_of_python() -> None:
    assert len(BLOCKS) == 2


COMMANDS = [line.split("#")[0].split() for line in TEXT.splitlines() if line.startswith("    .venv/bin/sesshoku ")]


@pytest.mark.parametrize("command", COMMANDS, ids=shlex.join)
def test_the_commands_exist(command: list[str]) -> None:
    known = CliRunner().invoke(cli.app, [command[1], "--help"], env={"COLUMNS": "200"})
    assert known.exit_code == 0
    for word in command[2:]:
        if word.startswith("--"):
            assert word in known.output, f"sesshoku {command[1]} has no {word}"
        elif word.startswith(("models/", "examples/")):
            assert (ROOT / word).is_file(), word


def test_the_numbers_are_those_of_a_committed_result() -> None:
    inside, path = readme.quoted(TEXT)
    assert path is not None and path.is_file(), "run python -m benchmarks --readme"
    assert inside == readme.table(path), "the results changed: run python -m benchmarks --readme"
    assert len(re.findall(r"\*\*\d\.\d\d\*\*", inside)) >= 4  # the ratios


def test_the_page_of_humanoids_quotes_the_same_result() -> None:
    path = readme.quoted(TEXT)[1]
    inside = readme.WALKING_BLOCK.search(readme.HUMANOIDS.read_text(encoding="utf-8"))
    assert path is not None and inside is not None
    assert inside.group(0) == inside.group(1) + readme.walking_table(path) + inside.group(2), (
        "the results changed: run python -m benchmarks --readme")


def test_no_other_ratio_or_time_is_quoted() -> None:
    rest = readme.BLOCK.sub("", TEXT)
    assert not re.search(r"\d\s*(µs|us|ms)\b|\d (times|x) (as fast|faster)", rest)


def test_the_table_of_methods_is_honest() -> None:
    status = dict(re.findall(r"^\| `(\w+)` \|.*\| (\w+) \|$", TEXT, re.MULTILINE))
    assert set(registry.MODULES) == set(status)
    assert {name for name, word in status.items() if word == "works"} == set(registry.MODULES)
    assert set(status.values()) <= {"works", "planned"}


def test_links_and_pictures_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert target.startswith("http") or (ROOT / target).exists(), target
    assert len(TEXT.splitlines()) < 150
