"""docs/batch.md and examples/push_recovery.py keep their word."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.simulation.batch.vary import QUANTITIES

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature")


def snippets() -> list[str]:
    """Indented blocks of Python."""
    blocks = re.findall(r"(?:^|\n\n)((?:    .*\n|\n(?=    ))+)", TEXT)
    made = ["\n".join(line[4:] for line in block.splitlines()) for block in blocks]
    return [block for block in made if not re.match(r"(sesshoku|python) ", block)]


def test_snippets_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    assert len(snippets()) >= 5
    for snippet in snippets():
        exec(compile(snippet, "batch.md", "exec"), names)
    assert names["stands"].shape == (64,) and 0 < names["stands"].sum() <= 64
    assert ss.Scene.read(tmp_path / "world17.toml").bodies


def test_the_table_lists_every_quantity() -> None:
    rows = re.findall(r"^\| (`[^|]*) \|[^|]*\|[^|]*\|[^|]*\|$", TEXT, re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(QUANTITIES)


def test_the_study_of_pushes_runs_and_draws(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("push_recovery", ROOT / "examples" / "push_recovery.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.study(24, threads=2)
    assert found["stands"][found["push"] < 10.0].all() and not found["stands"][found["push"] > 55.0].any()
    assert (found["friction"] >= module.FRICTION[0]).all() and len(np.unique(found["friction"])) == 24
    module.picture(found, tmp_path / "out" / "picture.png")
    assert (tmp_path / "out" / "picture.png").stat().st_size > 5000
