"""`sesshoku reproduce` of the walks: a few steps of each in the normal run, all of them in the full one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sesshoku.control.walking import footsteps
from sesshoku.experiments import base
from sesshoku.experiments.implicit import walk as implicit_walk
from sesshoku.experiments.lcp import oscillation, stepping, walk19
from sesshoku.experiments.multipoint import walk as multipoint_walk
from sesshoku.experiments.walking import Walk, upright_checks
from sesshoku.robots.bush import Bush
from support import FULL


def quiet(text: str) -> None:
    pass


def failed(result: base.Result) -> list[dict]:
    return [check.as_dict() for check in result.checks if not check.passed]


@pytest.mark.skipif(not FULL, reason="some minutes; a few steps of each run below")
@pytest.mark.parametrize("name", ["multipoint/walk", "implicit/walk", "lcp/oscillation", "lcp/stepping", "lcp/walk19"])
def test_every_check_passes(name, tmp_path):
    result = base.run(name, tmp_path)
    assert not failed(result)
    stem = tmp_path / name.replace("/", "_")
    assert stem.with_suffix(".png").stat().st_size > 20_000
    assert json.loads(stem.with_suffix(".json").read_text())["verdict"] == "pass"


def test_multipoint_walks_a_few_steps():
    result = multipoint_walk.run(quiet, steps=3)
    assert not failed(result)


def test_implicit_stands_and_walks_at_one_and_five_milliseconds():
    result = implicit_walk.run(quiet, seconds=1.0, steps=2)
    assert not failed(result)


def test_the_tilted_robot_swings_as_the_formula_says():
    result = oscillation.run(quiet, methods=("lcp",))
    assert not failed(result)
    assert result.values["mass"] == pytest.approx(55.7, abs=0.05)


def test_stepping_in_place():
    result = stepping.run(quiet, steps=4, methods=("lcp:recommended",))
    assert not failed(result)


def test_on_a_soft_bush_the_walk_ends_early_without_stabiliser():
    walk = Walk.plan("large_bush", footsteps.around()[:6], bush=Bush(4e4))
    fell = walk.run("lcp").fell
    assert fell is not None and fell[1] <= walk19.EARLY
    log = walk.run("lcp", True, duration=4.0)
    assert log.completed and log.summary()["tilt"] < 0.02


@pytest.mark.parametrize("kind, increments", [
    ("small", footsteps.sideways(2, 0.02)), ("small", footsteps.turning(2, np.deg2rad(12.0))),
    ("small", footsteps.backward(2, 0.03)), ("large", [(0.1, 0.0, np.deg2rad(12.0)), (0.0, 0.0, 0.0)])],
    ids=["sideways", "turning", "backward", "bend"])
def test_every_kind_of_step_is_walked(kind, increments):
    log = Walk.plan(kind, increments).run("exact")
    found = [check for check in upright_checks("walk", log, kind) if not check.passed and "cycles" not in check.name]
    assert not found
