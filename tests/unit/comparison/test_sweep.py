"""Sweeps: every run is a row, whatever happens to it, to its process, or to the sweep."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from command_line import caller
from sesshoku.comparison.sweep import run as sweeping_run
from sesshoku.comparison.sweep.progress import Bar
from sesshoku.experiments.scenes import crate_on_floor
from sweeping import fragile, noted, root, slide, slow

PRODUCT = {"x": [1.0, 2.0, 3.0]}


def quiet(function: Any, points: Any, **options: Any) -> ss.Study:
    return ss.sweep(function, points, **{"workers": 0, "progress": False} | options)


def results(study: ss.Study, *names: str) -> list[Any]:
    return [tuple(row[name] for name in names) for row in study]


# ---- which runs -----------------------------------------------------------------------------------------------------


def test_a_grid_with_seeds(tmp_path: Path) -> None:
    study = quiet(noted, {"x": [1.0, 2], "log": [str(tmp_path / "log")]}, seeds=3)
    assert results(study, "run", "x", "seed") == [(n, x, seed) for n, (x, seed) in enumerate(
        (x, seed) for x in (1.0, 2) for seed in range(3))]
    assert all(row["product"] == row["x"] * np.random.default_rng(row["seed"]).random() for row in study)
    assert study.results == ["product", "odd"] and study.conditions == ["x", "log"]


def test_a_sample_of_ranges_and_choices() -> None:
    def keep(friction: float, method: str) -> dict[str, Any]:
        return {"double": 2 * friction}

    few = quiet(keep, {"friction": (0.2, 0.8), "method": ["exact", "lcp"]}, samples=20)
    more = quiet(keep, {"friction": (0.2, 0.8), "method": ["exact", "lcp"]}, samples=40)
    assert results(few, "friction", "method") == results(more, "friction", "method")[:20]  # a sample grows
    friction = more.column("friction")
    assert 0.2 <= friction.min() < 0.3 and 0.7 < friction.max() <= 0.8 and len(set(friction)) == 40
    assert set(more.column("method")) == {"exact", "lcp"}
    other = quiet(keep, {"friction": (0.2, 0.8), "method": ["exact", "lcp"]}, samples=20, sample_seed=1)
    assert not set(other.column("friction")) & set(friction)
    drawn = quiet(lambda a: a, lambda rng: {"a": int(rng.integers(10**9))}, samples=5)
    assert results(drawn, "value") == results(drawn, "a") and len(set(drawn.column("a"))) == 5


@pytest.mark.parametrize(("points", "options", "said"), [
    ({"y": [1.0]}, {}, "root takes no y"),
    ({}, {}, "root needs x"),
    ({"x": 3.0}, {}, r"the values of a grid are a list.*give \[3.0\]"),
    ({"x": []}, {}, "no values"),
    ({"x": [1.0, 1]}, {}, "asked for twice"),
    ({"x": [object()]}, {}, "cannot stand in a table"),
    ({"seed": [1]}, {}, "the name is taken"),
    ({"x": [1.0]}, {"seeds": 3}, "takes no seed"),
    ({"x": [1.0]}, {"seeds": 0}, "at least one seed"),
    ({"x": [1.0]}, {"on": "mars"}, "no such place"),
    ({"x": [1.0]}, {"workers": -1}, "workers is a whole number"),
    ({"x": (2.0, 1.0)}, {"samples": 3}, "lower one first"),
    (lambda rng: {"x": 1.0}, {}, "how many"),
    ([3.0], {}, "a point is a mapping"),
    ({"x": [1.0]}, {"scene": crate_on_floor()}, "root takes no scene"),
])
def test_what_cannot_be_run_is_told_before_anything_runs(points: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ss.SceneError, match=said):
        quiet(root, points, **options)


def test_a_run_that_fails_is_a_row() -> None:
    study = quiet(root, {"x": [4.0, -1.0, 9.0]})
    assert results(study, "value") == [(2.0,), (None,), (3.0,)]
    assert study[0]["error"] is None and study[1]["error"].startswith("ValueError: ")
    assert [row["run"] for row in study.failed] == [1] and "1 failed" in repr(study)
    np.testing.assert_array_equal(study.column("value"), [2.0, np.nan, 3.0])


def test_what_a_function_may_return() -> None:
    study = quiet(lambda x: {"n": np.float64(x), "list": np.arange(3), "text": "a", "none": None}, {"x": [1]})
    assert study[0]["list"] == [0, 1, 2] and type(study[0]["n"]) is float
    assert "cannot stand in a table" in quiet(lambda x: {"a": object()}, {"x": [1]})[0]["error"]
    assert "name of another column" in quiet(lambda x: {"x": 2}, {"x": [1]})[0]["error"]


# ---- processes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["processes", "threads"])
def test_the_same_wherever_it_runs(on: str) -> None:
    options: dict[str, Any] = {"scene": crate_on_floor(), "method": "exact", "seeds": 2, "progress": False}
    here = ss.sweep(slide, {"speed": [1.0, 3.0]}, workers=0, **options)
    there = ss.sweep(slide, {"speed": [1.0, 3.0]}, workers=2, on=on, **options)
    assert not here.failed
    names = ("run", "speed", "seed", "x", "y", "scene", "method", "versions", "key")
    assert results(there, *names) == results(here, *names)
    assert here[0]["method"] == "exact" and here[0]["scene"].startswith("crate") and "numba" in here[0]["versions"]


def test_a_process_that_dies_takes_no_other_run_with_it(tmp_path: Path) -> None:
    points = {"x": [0, 1, 2, 3, 4, 5], "log": [str(tmp_path / "once")]}
    study = ss.sweep(fragile, points, workers=2, progress=False)
    assert results(study, "value") == [(10 * n,) for n in range(6)] and not study.failed  # tried once more
    points = {"x": [0, 1, 2, 3, 4, 5], "log": [str(tmp_path / "always")], "always": [True]}
    study = ss.sweep(fragile, points, workers=2, progress=False)
    assert [row["x"] for row in study.failed] == [2] and "SIGKILL" in study[2]["error"]
    assert (tmp_path / "always").read_text().split().count("2") == 2


def test_a_run_that_takes_too_long_is_given_up() -> None:
    study = ss.sweep(slow, {"x": [0.0, 60.0, 0.1]}, workers=2, timeout=4.0, progress=False)
    assert [row["error"] is None for row in study] == [True, False, True] and "TimeoutError" in study[1]["error"]


def test_a_function_that_cannot_be_sent_to_a_process() -> None:
    with pytest.raises(ss.SceneError, match="workers=0"):
        ss.sweep(lambda x: x, {"x": [1, 2]}, workers=2, progress=False)


def test_progress_is_told_with_rate_and_time_left() -> None:
    told: list[str] = []
    ss.sweep(root, {"x": [1.0, -2.0]}, workers=0, progress=told.append)
    assert told[-1] == "2 of 2 runs, 1 failed"
    bar = Bar(100, 10, False)
    bar._start = time.monotonic() - 10.0
    for _ in range(30):
        bar.advance(False)
    assert bar.text() == "40 of 100 runs, 3 /s, 20 s left"


# ---- on disk --------------------------------------------------------------------------------------------------------


def test_parquet_is_read_by_others(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "study.parquet"
    study = quiet(lambda x: {"half": x / 2, "mixed": x if x > 1 else "one"}, {"x": [1, 2.5, 3]}, path=path)
    assert not path.with_name("study.parquet.journal").exists()
    table = parquet.read_table(path)
    assert table["half"].to_pylist() == [0.5, 1.25, 1.5] and table["mixed"].to_pylist() == ["one", "2.5", "3"]
    again = ss.Study.read(path)
    assert results(again, "run", "x", "half", "key") == results(study, "run", "x", "half", "key")
    assert again.conditions == ["x"] and again.results == ["half", "mixed"]
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(pandas.read_parquet(path)["half"], study.to_pandas()["half"])


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_conditions_and_results_are_told_apart_when_read(tmp_path: Path, ending: str) -> None:
    """Also where the first run failed, and where the method is a condition."""
    if ending == "parquet":
        pytest.importorskip("pyarrow")

    def run(x: int, method: str) -> dict[str, float]:
        return {"inverse": 1 / x}

    study = quiet(run, {"x": [0, 1], "method": ["exact", "lcp"]}, path=tmp_path / f"study.{ending}")
    again = ss.Study.read(tmp_path / f"study.{ending}")
    for one in (study, again):
        assert one.conditions == ["x", "method"] and one.results == ["inverse"] and len(one.failed) == 2
        assert one.columns[:4] == ["run", "x", "method", "seed"] and one.columns[4:6] == ["inverse", "error"]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path, seen = tmp_path / f"study.{ending}", []

    def run(x: int) -> int:
        seen.append(x)
        if x == 3 and len(seen) == 4:
            raise KeyboardInterrupt
        return 10 * x

    with pytest.raises(KeyboardInterrupt):
        quiet(run, {"x": range(5)}, path=path)
    journal = tmp_path / ("study.parquet.journal" if ending == "parquet" else "study.jsonl")
    with journal.open("a") as file:
        file.write('{"run": 4, "x": 4')  # a line cut off
    assert len(ss.Study.read(path)) == 3  # readable meanwhile
    study = quiet(run, {"x": range(5)}, path=path)
    assert results(study, "value") == [(10 * n,) for n in range(5)] and seen == [0, 1, 2, 3, 3, 4]
    more = quiet(run, {"x": [7, *range(5)]}, path=path)  # a larger grid
    assert seen[6:] == [7] and results(more, "run", "x") == [(0, 7), *((n + 1, n) for n in range(5))]
    less = quiet(run, {"x": [4, 2]}, path=path)
    assert results(less, "x", "value") == [(4, 40), (2, 20)] and len(ss.Study.read(path)) == 6 and len(seen) == 7
    quiet(run, {"x": [4]}, path=path, fresh=True)
    assert len(seen) == 8 and len(ss.Study.read(path)) == 1


def test_runs_that_failed_are_made_again_on_request(tmp_path: Path) -> None:
    path, right = tmp_path / "study.jsonl", [False]

    def run(x: int) -> int:
        if x == 1 and not right[0]:
            raise RuntimeError("not yet")
        return x

    assert len(quiet(run, {"x": [0, 1]}, path=path).failed) == 1
    right[0] = True
    assert len(quiet(run, {"x": [0, 1]}, path=path).failed) == 1
    assert not quiet(run, {"x": [0, 1]}, path=path, retry=True).failed
    assert not ss.Study.read(path).failed


def test_rows_of_other_code_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.jsonl"
    quiet(root, {"x": [1.0]}, path=path)
    with pytest.raises(ss.RecordingError, match="another function.*fresh=True"):
        quiet(slow, {"x": [0.0]}, path=path)
    monkeypatch.setattr(sweeping_run, "source_hash", lambda module: "other")
    with pytest.raises(ss.RecordingError, match="another code"):
        quiet(root, {"x": [1.0]}, path=path)


def test_paths_that_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(ss.RecordingError, match="written as .parquet or .jsonl"):
        quiet(root, {"x": [1.0]}, path=tmp_path / "study.xls")
    with pytest.raises(ss.RecordingError, match="no such file"):
        ss.Study.read(tmp_path / "nothing.jsonl")
    (tmp_path / "folder").write_text("")
    with pytest.raises(ss.RecordingError, match="cannot be written"):
        quiet(root, {"x": [1.0]}, path=tmp_path / "folder" / "study.jsonl")


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ss.MissingExtra, match=r"pip install 'sesshoku\[cluster\]'"):
        quiet(root, {"x": [1.0]}, path=tmp_path / "study.parquet")


DRIVER = """
import sys
from sweeping import noted
import sesshoku as ss
if __name__ == "__main__":
    ss.sweep(noted, {"x": list(range(6)), "log": [sys.argv[1]], "pause": [0.3]}, seeds=2, workers=2,
             path=sys.argv[2], progress=False)
"""


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    log, path = tmp_path / "log", tmp_path / f"study.{ending}"
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    paths = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(ss.__file__).parents[1])])
    command = [sys.executable, str(script), str(log), str(path)]
    environment = os.environ | {"PYTHONPATH": paths}
    driver = subprocess.Popen(command, env=environment)
    waited = time.monotonic() + 120.0
    while (len(log.read_text().splitlines()) if log.is_file() else 0) < 6 and time.monotonic() < waited:
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    begun = [line.split() for line in log.read_text().splitlines()]
    _wait_for_the_end_of({int(line[2]) for line in begun})
    kept = len(ss.Study.read(path))
    assert len(begun) - 2 <= kept < 12  # all but those that were under way
    subprocess.run(command, env=environment, check=True, timeout=120)
    lines = log.read_text().splitlines()
    assert len(lines) - len(begun) == 12 - kept  # nothing was made twice but what was under way
    study = ss.Study.read(path)
    assert len(study) == 12 and not study.failed
    assert all(row["product"] == row["x"] * np.random.default_rng(row["seed"]).random() for row in study)


def _wait_for_the_end_of(processes: set[int]) -> None:
    """Workers end with their sweep, in the middle of a run."""
    until = time.monotonic() + 30.0
    while any(_runs(process) for process in processes):
        assert time.monotonic() < until, "workers outlive their sweep"
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_sweep_at_a_time_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"

    def run(x: int) -> int:
        with pytest.raises(ss.RecordingError, match="another sweep is writing"):
            quiet(root, {"x": [1.0]}, path=path)
        return x

    assert not quiet(run, {"x": [1]}, path=path).failed


# ---- maps -----------------------------------------------------------------------------------------------------------


def test_maps_of_a_study(tmp_path: Path) -> None:
    study = quiet(lambda a, b, kind, seed: {"fell": a * b + seed > 2}, {
        "a": [0, 1, 2], "b": [0.5, 1.5], "kind": ["one", "two"]}, seeds=2)
    xs, ys, mean = study.where(kind="one").mean("a", "b", "fell")
    assert xs == [0, 1, 2] and ys == [0.5, 1.5]
    np.testing.assert_array_equal(mean, [[0, 0, 0], [0, 0.5, 1]])
    figure = study.map("a", "b", "fell", by="kind", path=tmp_path / "map.png")
    assert [axis.get_title() for axis in figure.axes[:2]] == ["one", "two"]
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ss.SceneError, match="no such column.*did you mean 'fell'"):
        study.map("a", "b", "fel")
    with pytest.raises(ss.SceneError, match="only numbers"):
        study.map("a", "b", "kind")


def test_a_sample_is_mapped_in_bins() -> None:
    study = quiet(lambda x, y: x, {"x": (0.0, 1.0), "y": (0.0, 10.0)}, samples=400)
    xs, ys, mean = study.mean("x", "y", "value")
    assert len(xs) == len(ys) == 10 and abs(np.nanmean(mean, axis=0) - xs).max() < 0.03


# ---- the command ----------------------------------------------------------------------------------------------------

STUDY = """
function = "my_study:fall"
seeds = 2
workers = 0
out = "fall.jsonl"
[grid]
height = {from = 1.0, to = 4.0, count = 4}
gravity = [9.81, 1.62]
[map]
x = "height"
y = "gravity"
value = "time"
file = "map.png"
"""


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(monkeypatch, capsys)
    (tmp_path / "my_study.py").write_text(
        "def fall(height, gravity, seed):\n    if height > 3.5: raise ValueError('high')\n"
        "    return {'time': (2 * height / gravity) ** 0.5}\n")
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    said = call("sweep", file)
    assert said.code == 0 and "16 runs" in said.out and "4 failed" in said.out and "ValueError: high" in said.out
    assert (tmp_path / "map.png").is_file()
    study = ss.Study.read(tmp_path / "fall.jsonl")
    assert study[0]["time"] == (2 * 1.0 / 9.81) ** 0.5
    assert call("sweep", file, "--json").json == {
        "runs": 16, "failed": 4, "conditions": ["height", "gravity"], "results": ["time"],
        "path": str(tmp_path / "fall.jsonl")}
    for text, wrong in (("seeds = 2", "sheds = 2"), ('"my_study:fall"', '"my_study:fal"'), ("[grid]", "[gird]"),
                        ("count = 4", "cuont = 4")):
        file.write_text(STUDY.replace(text, wrong))
        said = call("sweep", file)
        assert said.code == 2 and "study.toml" in said.err, said.err
    file.write_text(STUDY.replace("gravity = [9.81, 1.62]", "gravity = [0.0]"))
    said = call("sweep", file, "--fresh")
    assert said.code == 1 and "ZeroDivisionError" in said.out  # every run failed


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra `cluster`)")
def test_the_same_bit_for_bit_on_ray(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scene": crate_on_floor(), "method": "exact", "seeds": 2, "progress": False,
                               "workers": 2}
    here = ss.sweep(slide, {"speed": [1.0, 3.0]}, **options)
    there = ss.sweep(slide, {"speed": [1.0, 3.0]}, on="ray", path=tmp_path / "study.jsonl", **options)
    names = ("run", "speed", "seed", "x", "y", "scene", "method", "versions", "key")
    assert not there.failed and json.dumps(results(there, *names)) == json.dumps(results(here, *names))


def test_the_study_of_the_examples(tmp_path: Path) -> None:
    """A few of its runs: the crate stops where the closed form says, under every law that is drawn."""
    from sesshoku.comparison.sweep.file import run_study

    folder = Path(__file__).parents[3] / "examples" / "studies"
    for name in ("slide_study.py", "slide_study.toml"):
        text = (folder / name).read_text().replace("count = 10000", "count = 8").replace(".parquet", ".jsonl")
        (tmp_path / name).write_text(text)
    study, _ = run_study(tmp_path / "slide_study.toml", workers=0, progress=False)
    assert len(study) == 8 and not study.failed and np.abs(study.column("off")).max() < 0.05
    assert (tmp_path / "slide_study.png").is_file()
