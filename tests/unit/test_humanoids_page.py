"""The page on humanoids: its snippets run as they stand, and its tables do not contradict each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sesshoku as ss
from sesshoku import control
from sesshoku.experiments import base
from support import FULL

DOCS = Path(__file__).parents[2] / "docs"
SHORT = 0.3  # s of each run of a snippet in the usual tests


def snippets(page: str) -> list[str]:
    """Indented blocks of Python."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^|\n\n)((?:    .*\n|\n(?=    ))+)", text)
    made = ["\n".join(line[4:] for line in block.splitlines()) for block in blocks]
    return [block for block in made if not re.match(r"(sesshoku|python) ", block)]


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs end after SHORT seconds; the whole ones are under SESSHOKU_FULL."""
    if FULL:
        return
    run, record, compare = ss.Simulation.run, control.record_walk, ss.compare
    monkeypatch.setattr(ss.Simulation, "run", lambda sim, time, *a, **o: run(sim, min(time, SHORT), *a, **o))
    monkeypatch.setattr(control, "record_walk", lambda sim, walker, **o: record(sim, walker, SHORT, **o))
    monkeypatch.setattr(ss, "compare", lambda scene, **o: compare(scene, **{"methods": ["exact"], **o, "time": SHORT}))


@pytest.mark.parametrize(("page", "least"), [("humanoids.md", 4), ("sensors.md", 1)])
def test_snippets_run_as_they_stand(page: str, least: int, shortened: None, monkeypatch: pytest.MonkeyPatch,
                                    tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    ran = snippets(page)
    assert len(ran) >= least
    for snippet in ran:
        exec(compile(snippet, page, "exec"), names)  # later ones go on where earlier ones ended


def rows(first: str) -> list[list[str]]:
    """Rows of the page's table with that first heading."""
    text = (DOCS / "humanoids.md").read_text(encoding="utf-8")
    lines = text[text.index(f"\n| {first} |") + 1:].splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:end]]


def test_the_tables_agree_on_the_walks_they_share() -> None:
    """`exact/walk` and `lcp/walk19` both walk 19 steps on rigid soles without stabiliser."""
    walks = {row[1]: row for row in rows("walk") if row[0] == "large, 19 steps"}
    nineteen = {row[1]: row for row in rows("setting") if row[0] == "rigid soles, no stabiliser"}
    assert set(nineteen) == {"`lcp`", "`exact`"}
    for method, row in nineteen.items():
        for mine, theirs in ((row[3], walks[method][3]), (row[5], walks[method][7])):  # tilt, peak force
            assert float(mine) == pytest.approx(float(theirs), abs=0.06 if mine == row[3] else 0.006), method
        for mine, theirs in zip(row[4].split(", "), walks[method][6].split(", ")):  # ZMP rms
            assert float(mine) == pytest.approx(float(theirs), abs=0.06), method


def test_every_experiment_of_a_walk_is_on_the_page() -> None:
    text = (DOCS / "humanoids.md").read_text(encoding="utf-8")
    for name in ("multipoint/walk", "multipoint/fall", "multipoint/jump", "lcp/oscillation", "lcp/stepping",
                 "lcp/walk19", "implicit/walk", "exact/walk", "exact/pushes", "exact/robustness"):
        assert name in base.EXPERIMENTS and name in text
