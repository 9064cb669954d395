"""The maps of the walking experiments are sweeps."""

from __future__ import annotations

import pytest

import sesshoku as ss
from sesshoku.experiments.exact import pushes, robustness


def test_maps_of_pushes_and_frictions(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    monkeypatch.setattr(pushes, "CACHE_DIRECTORY", tmp_path)
    monkeypatch.setattr(pushes, "DIRECTIONS", {"right": (0.0, -1.0)})
    found = pushes.run(lambda text: None, pushes=(20.0,), workers=0)
    assert [row[2] for row in found.tables[0].rows] == ["", "20", "20", "20"]
    found.draw(Figure())
    monkeypatch.setattr(pushes, "DIRECTIONS", {"ahead": (1.0, 0.0)})
    found = robustness.run(lambda text: None, ("exact",), friction=(0.5,), pushes=(60.0,), workers=0)
    assert found.tables[0].rows[0][:3] == ["exact", 0.5, "none"] and "60 at" in found.tables[0].rows[0][3]
    found.draw(Figure())


def test_what_was_computed_is_kept_until_the_code_changes(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(pushes, "CACHE_DIRECTORY", tmp_path)
    monkeypatch.setattr(pushes, "fall", lambda case: seen.append(case) or 1.5)
    cases = [pushes.Case("exact", 0.5, size, "ahead", pushes.TIMED) for size in (10.0, 20.0)]
    for _ in range(2):
        assert pushes.falls(cases, lambda text: None, 0, "map") == dict.fromkeys(cases, 1.5)
    assert seen == cases
    monkeypatch.setattr(pushes, "source_hash", lambda module: "other")
    pushes.falls(cases, lambda text: None, 0, "map")
    assert seen == cases + cases


def test_a_walk_that_cannot_be_run_is_no_walk_that_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(pushes, "CACHE_DIRECTORY", tmp_path)
    with pytest.raises(ss.SesshokuError, match="no such method"):
        pushes.falls([pushes.Case("nosuch", 0.5, 10.0, "ahead", pushes.TIMED)], lambda text: None, 0, "map")
