"""`sesshoku reproduce multipoint/...`: every check of every experiment."""

from __future__ import annotations

import json

import pytest

from sesshoku.experiments import base
from sesshoku.experiments.multipoint import energy, landing
from support import FULL

NAMES = [f"multipoint/{name}" for name in ("states", "sliding", "sticking", "tipping", "landing", "energy")]


def test_all_are_there():
    assert {name for name in base.EXPERIMENTS if name.startswith("multipoint/")} >= set(NAMES)  # and humanoids


@pytest.mark.parametrize("name", [*NAMES, "multipoint/threshold"] if FULL else NAMES)
def test_every_check_passes(name, tmp_path, monkeypatch):
    if not FULL:  # the shares of 5000 landings to within what 1500 scatter
        monkeypatch.setattr(energy, "COUNT", 1500)
        monkeypatch.setattr(landing, "COUNT", 1500)
    result = base.run(name, tmp_path)
    failed = [check.as_dict() for check in result.checks if not check.passed]
    assert not failed
    stem = tmp_path / name.replace("/", "_")
    assert stem.with_suffix(".png").stat().st_size > 5000
    assert json.loads(stem.with_suffix(".json").read_text())["verdict"] == "pass"
