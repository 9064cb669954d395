"""`sesshoku reproduce lcp/...`: every check of every experiment (time and sensitivity only in the full run)."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sesshoku.cli import app as cli
from sesshoku.experiments import base
from support import FULL

QUICK = ["lcp/landing", "lcp/sliding", "lcp/bush", "lcp/pyramids"]


@pytest.mark.parametrize("name", [*QUICK, "lcp/time", "lcp/sensitivity"] if FULL else QUICK)
def test_every_check_passes(name, tmp_path):
    result = base.run(name, tmp_path)
    failed = [check.as_dict() for check in result.checks if not check.passed]
    assert not failed
    stem = tmp_path / name.replace("/", "_")
    assert stem.with_suffix(".png").stat().st_size > 5000
    assert json.loads(stem.with_suffix(".json").read_text())["verdict"] == "pass"


def test_the_command_lists_and_refuses():
    runner = CliRunner()
    listed = runner.invoke(cli.app, ["reproduce", "--json"])
    assert set(json.loads(listed.output)) == set(base.EXPERIMENTS)
    assert runner.invoke(cli.app, ["reproduce", "lcp/nonsense"]).exit_code != 0


def test_a_failed_check_is_exit_code_1(monkeypatch, tmp_path):
    failing = base.Result([base.Check("x", 1.0, 2.0, 0.1)], lambda figure: figure.add_subplot())
    monkeypatch.setattr(base.load("lcp/landing"), "run", lambda progress: failing)
    outcome = CliRunner().invoke(cli.app, ["reproduce", "lcp/landing", "--json", "--out", str(tmp_path)])
    assert outcome.exit_code == 1
    assert json.loads(outcome.output)["verdict"] == "fail"
