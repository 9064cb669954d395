"""Runs in worker processes: all are made, progress is told, what was made is kept."""

from __future__ import annotations

import pytest

from sesshoku.experiments import parallel
from sesshoku.experiments.exact import pushes, robustness


def square(n: int) -> int:
    return n * n


@pytest.mark.parametrize("workers", [1, 2])
def test_every_case_has_its_outcome(workers):
    told = []
    found = parallel.run_all(square, range(7), told.append, workers)
    assert found == {n: n * n for n in range(7)}
    assert told[-1] == "7 of 7 runs"


def test_an_interrupted_map_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "CACHE_DIRECTORY", tmp_path)
    seen = []

    def slow(n: int) -> int:
        seen.append(n)
        if n == 3 and len(seen) == 4:
            raise KeyboardInterrupt
        return 10 * n

    with pytest.raises(KeyboardInterrupt):
        parallel.run_all(slow, range(5), lambda text: None, 1, "map")
    kept = next(iter((tmp_path / "runs").iterdir()))
    kept.write_text(kept.read_text() + '["4", 4')  # a line cut off
    assert parallel.run_all(slow, range(5), lambda text: None, 1, "map") == {n: 10 * n for n in range(5)}
    assert seen == [0, 1, 2, 3, 3, 4]
    monkeypatch.setattr(parallel, "source_hash", lambda module: "other")  # other sources: nothing known
    parallel.run_all(slow, range(2), lambda text: None, 1, "map")
    assert seen[-2:] == [0, 1]


def test_maps_of_pushes_and_frictions(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    monkeypatch.setattr(parallel, "CACHE_DIRECTORY", tmp_path)
    monkeypatch.setattr(pushes, "DIRECTIONS", {"right": (0.0, -1.0)})
    found = pushes.run(lambda text: None, pushes=(20.0,), workers=1)
    assert [row[2] for row in found.tables[0].rows] == ["", "20", "20", "20"]
    found.draw(Figure())
    monkeypatch.setattr(pushes, "DIRECTIONS", {"ahead": (1.0, 0.0)})
    found = robustness.run(lambda text: None, ("exact",), friction=(0.5,), pushes=(60.0,), workers=1)
    assert found.tables[0].rows[0][:3] == ["exact", 0.5, "none"] and "60 at" in found.tables[0].rows[0][3]
    found.draw(Figure())
