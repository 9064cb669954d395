"""`compare walk`: one controller under several methods, who falls and why."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import sesshoku as ss
from sesshoku import control
from sesshoku.control.humanoids import SMALL, stage
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.watched_walk import WatchedWalk
from sesshoku.errors import SceneError


def short(**gait) -> WatchedWalk:
    scene = stage("small")
    chosen = dataclasses.replace(SMALL, **gait)
    pattern = control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(1, 0.03), chosen)
    return WatchedWalk(control.Walker(pattern))


def test_the_report_says_what_one_asks_of_a_walk(tmp_path):
    walk = short()
    result = ss.compare(walk.scene, ["exact", "lcp:recommended"], controller=walk, time=walk.duration)
    assert list(result.measures) == list(WatchedWalk.MEASURES)
    for outcome in result.outcomes:
        assert outcome.remark == f"upright, {walk.duration:.1f} s"
        assert outcome.measures["upright"] == pytest.approx(walk.duration)
        assert outcome.measures["tilt"] < 0.01 and outcome.measures["zmp_rms"] < 0.01
        assert 1.0 < outcome.measures["peak_force"] < 2.0 and outcome.measures["step"] > 0.0
        assert np.isfinite([outcome.measures[name] for name in WatchedWalk.MEASURES]).all()
    row = json.loads(json.dumps(result.as_dict()))["methods"][0]
    assert row["end"].startswith("upright") and row["foot_slip"] is not None
    result.to_html(tmp_path / "walk.html")
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    for text in ("ZMP error", "peak / weight", "energy by contact", "upright, ", "small humanoid"):
        assert text in page


def test_a_fall_is_told_with_its_beginning():
    walk = short()
    walk.walker._force[:] = 0.0
    walk.walker._q[400:] += 0.4  # every joint goes astray after 0.4 s
    result = ss.compare(walk.scene, ["exact"], controller=walk, time=1.5)
    said = result["exact"].remark
    assert said.startswith("falls before the first step") and "leans for good from 0.4" in said
    assert "slip so far" in said
    assert 0.4 < result["exact"].measures["upright"] < 1.4
    assert "exact: falls before" in str(result.table().caption)


def test_walks_have_names():
    assert WatchedWalk.knows("walk") and WatchedWalk.knows("walk/huge") and not WatchedWalk.knows("walking.toml")
    with pytest.raises(SceneError, match="walk/large"):
        WatchedWalk.named("walk/huge")


def test_a_walk_of_no_length_has_no_summary_but_an_end():
    walk = short()
    log = control.walking.gait_log.GaitRecorder(walk.walker).finish(diverged=True)
    assert set(log.summary()) == set(control.walking.gait_log.SUMMARY) and np.isnan(list(log.summary().values())).all()
    assert log.end() == "diverges in the first step" and log.why() == ""
