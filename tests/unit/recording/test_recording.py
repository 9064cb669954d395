"""Recorder and Recording: what goes in comes out, within bounded memory."""

from __future__ import annotations

import csv
import gc
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from fake_simulation import FakeSimulation
from sesshoku.errors import RecordingError
from sesshoku.recording import Recorder, Recording
from sesshoku.recording.channels import BUILT_IN, DEFAULT
from sesshoku.recording.recording import CHUNK_BYTES
from support import sample_count


def record(count: int, channels: object = None, **options: object) -> tuple[Recording, dict[str, np.ndarray]]:
    sim = FakeSimulation()
    recorder = Recorder(sim, channels=channels, **options)  # type: ignore[arg-type]
    expected: dict[str, list[np.ndarray]] = {"time": [], "q": [], "poses": []}
    for i in range(count):
        if i:
            sim.step(recorder.stride)
        recorder.sample(sim)
        for name, value in (("time", sim.time), ("q", sim.q.copy()), ("poses", sim.body_poses())):
            expected[name].append(np.asarray(value))
    return recorder.finish(), {name: np.array(values) for name, values in expected.items()}


@pytest.mark.parametrize("where", ["memory", "spilled", "file"])
def test_what_goes_in_comes_out(tmp_path: Path, where: str) -> None:
    options = {"memory": {}, "spilled": {"memory_limit": 2**20}, "file": {"path": tmp_path / "run.ssk"}}[where]
    recording, expected = record(6000, ["q", "poses"], **options)
    assert len(recording) == 6000 and not recording.truncated
    assert recording._store.on_disk == (where != "memory")
    np.testing.assert_array_equal(recording.time, expected["time"])
    for name in ("q", "poses"):
        np.testing.assert_array_equal(recording[name], expected[name])
        for start, stop in ((0, 1), (2999, 3700), (5990, None), (100, 100)):
            np.testing.assert_array_equal(recording.read(name, start, stop), expected[name][start:stop])


def test_every_channel_and_meta(tmp_path: Path) -> None:
    recording, _ = record(3, list(BUILT_IN), path=tmp_path / "run.ssk", every=20)
    loaded = Recording.load(tmp_path / "run.ssk")
    assert loaded.keys() == list(loaded) == list(BUILT_IN) and "q" in loaded and "height" not in loaded
    assert loaded.channels == recording.channels and loaded.meta == recording.meta
    meta = loaded.meta
    assert (meta["scene"], meta["dt"], meta["rate"]) == ("pendulum and crate", 1e-3, 50.0)
    assert meta["gravity"] == [0, 0, -9.8]
    assert meta["bodies"] == ["stand", "rod", "bead", "crate"] and meta["actuator_joints"] == ["swing", "slide"]
    assert meta["versions"]["numpy"] == np.__version__
    assert "3 samples" in repr(loaded) and "poses" in repr(loaded)
    assert record(2)[0].keys() == [*DEFAULT, "force_sensors", "imus"]


def test_by_label() -> None:
    recording, expected = record(50, ["poses", "joints"])
    np.testing.assert_array_equal(recording["poses", "crate"], expected["poses"][:, 3])
    np.testing.assert_array_equal(recording["poses", "crate", "z"], expected["poses"][:, 3, 2])
    np.testing.assert_array_equal(recording["joints", "swing"], expected["q"][:, 0])
    for key, message in ((("poses", "crat"), "did you mean 'crate'"), (("joints", "swing", "z"), "has no 'z'"),
                         ("pose", "did you mean 'poses'"), (("time", "x"), "has no 'x'")):
        with pytest.raises(RecordingError, match=message):
            recording[key]


def test_arrays_are_read_only() -> None:
    recording, _ = record(5, "q")
    with pytest.raises(ValueError, match="read-only"):
        recording["q"][0] = 0.0


def test_between(tmp_path: Path) -> None:
    recording, expected = record(2001, "q", path=tmp_path / "run.ssk")
    part = recording.between(0.5, 1.5)
    assert (len(part), part.time[0], part.time[-1]) == (1001, 0.5, 1.5)
    np.testing.assert_array_equal(part["q"], expected["q"][500:1501])
    np.testing.assert_array_equal(part.between(0.7, 0.8)["q"], expected["q"][700:801])
    assert len(recording.between(5.0, 6.0)) == len(recording.between(1.0, 0.0)) == 0
    part.save(tmp_path / "part.npz")
    np.testing.assert_array_equal(Recording.load(tmp_path / "part.npz").time, part.time)


def test_between_refuses_time_that_runs_back() -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, "q")
    for steps in (0, 5, -3):
        sim.step(steps)
        recorder.sample(sim)
    with pytest.raises(RecordingError, match="backwards"):
        recorder.finish().between(0, 1)


@pytest.mark.parametrize("suffix", [".npz", ".ssk"])
def test_save_and_load_exactly(tmp_path: Path, suffix: str) -> None:
    odd = {"odd": lambda s: [np.pi * s.time, np.nan, -np.inf, 5e-324]}
    recording, _ = record(700, ["q", "poses", "report", odd])
    path = recording.save(tmp_path / f"run{suffix}")
    loaded = Recording.load(path)
    assert not loaded.truncated and loaded.meta == recording.meta and loaded.channels == recording.channels
    for name in ("time", *recording):
        assert loaded[name].tobytes() == recording[name].tobytes()
    assert sorted(tmp_path.iterdir()) == [path]  # no part files left


def test_npz_is_plain_numpy(tmp_path: Path) -> None:
    recording, expected = record(10, ["poses"])
    with np.load(recording.save(tmp_path / "run.npz"), allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["poses"], expected["poses"])
        assert json.loads(str(archive["meta"]))["dt"] == 1e-3


def test_truncated_stays_truncated_when_saved(tmp_path: Path) -> None:
    record(100, "q", path=tmp_path / "run.ssk")
    data = (tmp_path / "run.ssk").read_bytes()
    (tmp_path / "cut.ssk").write_bytes(data[:-1])
    cut = Recording.load(tmp_path / "cut.ssk")
    for name in ("a.npz", "a.ssk"):
        loaded = Recording.load(cut.save(tmp_path / name))
        assert loaded.truncated and len(loaded) == 100


def test_csv(tmp_path: Path) -> None:
    recording, expected = record(5, ["q", {"height": lambda s: s.time / 3}])
    with recording.save(tmp_path / "run.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["time [s]", "q swing [rad]", "q slide [m]"] and rows[0][-1] == "height"
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 1:10], expected["q"])


def test_save_failures(tmp_path: Path) -> None:
    recording, _ = record(5, "q")
    for path, message in ((tmp_path / "a.txt", "saved as"), (tmp_path / "no" / "a.npz", "No such file"),
                          (tmp_path / "no" / "a.ssk", f"{tmp_path}/no/a.ssk"), (tmp_path / "no" / "a.csv", "No such")):
        with pytest.raises(RecordingError, match=message):
            recording.save(path)


@pytest.mark.parametrize(("options", "stride"), [
    ({}, 1), ({"rate": 1000}, 1), ({"rate": 100}, 10), ({"rate": 60}, 17), ({"rate": 0.5}, 2000), ({"every": 7}, 7)])
def test_rate(options: dict[str, float], stride: int) -> None:
    assert Recorder(FakeSimulation(), "q", **options).stride == stride  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"rate": 0}, {"rate": -1}, {"rate": np.nan}, {"rate": 1001}, {"every": 0},
                                     {"every": 1.5}, {"rate": 10, "every": 10}])
def test_bad_rate(options: dict[str, float]) -> None:
    with pytest.raises(RecordingError):
        Recorder(FakeSimulation(), "q", **options)  # type: ignore[arg-type]


def test_finish_adds_the_end_and_repeats() -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, "q", rate=100)
    recorder.sample(sim)
    sim.step(3)  # the run ends between two samples
    recording = recorder.finish()
    assert recording.time.tolist() == [0.0, sim.time] and recorder.finish() is recording
    with pytest.raises(RecordingError, match="finished"):
        recorder.sample(sim)


def test_a_failing_channel_leaves_the_samples_before_it(tmp_path: Path) -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, ["q", {"bad": lambda s: 1 / (3 - s.steps)}], path=tmp_path / "run.ssk")
    with pytest.raises(ZeroDivisionError):
        for _ in range(9):
            recorder.sample(sim)
            sim.step()
    assert len(recorder.finish()) == 3
    loaded = Recording.load(tmp_path / "run.ssk")
    assert len(loaded) == 3 and not loaded.truncated


def test_empty_recording(tmp_path: Path) -> None:
    recording = Recorder(FakeSimulation(), ["q", "poses"], path=tmp_path / "run.ssk").finish()
    assert len(recording) == 0 and recording["poses"].shape == (0, 4, 7) and "empty" in repr(recording)
    assert len(recording.between(0, 1)) == 0
    assert Recording.load(recording.save(tmp_path / "run.npz"))["q"].shape == (0, 9)


def test_memory_is_bounded_on_disk(tmp_path: Path) -> None:
    """Samples of many chunks, a million with full counts, pass through one chunk of memory."""
    count = sample_count(200_000, 1_000_000)
    sim = FakeSimulation()
    recorder = Recorder(sim, channels=["joints", {"three": lambda s: s.q[:3]}], path=tmp_path / "long.ssk")
    for _ in range(1000):
        recorder.sample(sim)
    tracemalloc.start()
    sample = recorder.sample
    for _ in range(count - 1000):
        sample(sim)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert recorder.buffer_bytes <= CHUNK_BYTES and recorder.held_bytes == 0
    assert peak < 4 * CHUNK_BYTES  # a chunk on its way to the file, and the index
    recording = recorder.finish()
    assert len(recording) == count and (tmp_path / "long.ssk").stat().st_size > max(48 * count, 9 * CHUNK_BYTES)
    assert len(Recording.load(tmp_path / "long.ssk")) == count


def test_memory_is_bounded_without_a_path() -> None:
    limit = 3 * CHUNK_BYTES
    sim = FakeSimulation()
    recorder = Recorder(sim, channels=["poses"], memory_limit=limit)
    for _ in range(30_000):
        recorder.sample(sim)
        assert recorder.held_bytes <= limit
    recording = recorder.finish()
    assert recording["poses"].nbytes > limit and recorder.held_bytes == 0


def test_temporary_file_goes_with_the_recording() -> None:
    def spilled() -> Recording:
        return record(2000, "poses", memory_limit=0)[0]

    recording = spilled()
    file = recording._store._source.file  # type: ignore[union-attr]
    assert not file.closed
    del recording
    gc.collect()
    assert file.closed
    with spilled() as recording:
        assert len(recording["poses"]) == 2000
    with pytest.raises(RecordingError, match="closed"):
        recording["poses"]


@pytest.mark.parametrize("options", [{"rate": "a"}, {"rate": True}, {"rate": None, "every": "a"}, {"every": np.nan},
                                     {"path": 5}, {"flush_interval": "a"}, {"channels": [["q"]]}, {"channels": [5]},
                                     {"channels": {5: lambda sim: 0.0}}])
def test_wrong_arguments_of_a_recorder(options: dict[str, object]) -> None:
    with pytest.raises(RecordingError):
        Recorder(FakeSimulation(), **options)  # type: ignore[arg-type]


def test_paths_that_are_none() -> None:
    recording, _ = record(3)
    for attempt in (lambda: Recording.load(None), lambda: recording.save(None), lambda: recording.plot(path=5)):
        with pytest.raises(RecordingError, match="a path must be a string or a Path"):
            attempt()  # type: ignore[no-untyped-call]
