"""The file: readable up to wherever it was cut or damaged, and never silent about a failed write."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fake_simulation import FakeSimulation
from sesshoku.errors import RecordingError
from sesshoku.recording import Recorder, Recording
from waiting import PATIENCE, until

TESTS = Path(__file__).parents[2]


def record(path: Path | None, count: int = 12, per_chunk: int = 5, **options: object) -> tuple[Recording, np.ndarray]:
    """A small recording in chunks of `per_chunk` samples, and what v should read."""
    sim = FakeSimulation(dt=0.01)
    recorder = Recorder(sim, channels=["v", {"steps": lambda s: s.steps}], path=path, **options)  # type: ignore[arg-type]
    expected = []
    for i in range(count):
        recorder.sample(sim)
        expected.append(sim.v.copy())
        if (i + 1) % per_chunk == 0:
            recorder.flush()
        if i < count - 1:
            sim.step()
    return recorder.finish(), np.array(expected)


def test_cut_at_every_byte(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.ssk", tmp_path / "cut.ssk"
    _, expected = record(whole)
    data = whole.read_bytes()
    head = data.index(b"SSKC")
    body = 24 + 8 * 5 * (1 + len(expected[0]) + 1)  # a chunk of five samples
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        if length < head:
            with pytest.raises(RecordingError, match="cut.ssk"):
                Recording.load(cut)
            continue
        recording = Recording.load(cut)
        chunks = (length - head) // body
        rows = 12 if length >= len(data) - 24 else 5 * min(chunks, 2)
        assert recording.truncated
        assert len(recording) == rows
        np.testing.assert_array_equal(recording["v"], expected[:rows])
    assert not Recording.load(whole).truncated


def test_damaged_byte(tmp_path: Path) -> None:
    whole, bad = tmp_path / "whole.ssk", tmp_path / "bad.ssk"
    _, expected = record(whole)
    data = whole.read_bytes()
    head, body = data.index(b"SSKC"), 24 + 8 * 5 * (1 + len(expected[0]) + 1)
    for place in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        bad.write_bytes(damaged)
        if place < head:
            with pytest.raises(RecordingError):
                Recording.load(bad)
            continue
        recording = Recording.load(bad)
        rows = 12 if place >= len(data) - 24 else 5 * min((place - head) // body, 2)
        assert recording.truncated and len(recording) == rows
        np.testing.assert_array_equal(recording["v"], expected[:rows])


def test_numbers_lie_on_multiples_of_eight(tmp_path: Path) -> None:
    for i in range(9):
        path = tmp_path / "a.ssk"
        sim = FakeSimulation()
        recorder = Recorder(sim, channels={"n" * (i + 1): lambda s: 1.0}, path=path)
        recorder.sample(sim)
        recorder.finish()
        assert path.read_bytes().index(b"SSKC") % 8 == 0


ENDLESS = """
import sys
from fake_simulation import FakeSimulation
from sesshoku.recording import Recorder
sim = FakeSimulation()
recorder = Recorder(sim, channels=["q", "poses"], path=sys.argv[1])
while True:
    recorder.sample(sim)
    sim.step()
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], env=os.environ | {"PYTHONPATH": path},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_survives_kill(tmp_path: Path) -> None:
    path = tmp_path / "killed.ssk"
    process = start(ENDLESS, path)
    until(lambda: process.poll() is not None or path.exists() and path.stat().st_size > 2**20)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    recording = Recording.load(path)
    assert recording.truncated and len(recording) > 1000
    sim = FakeSimulation()
    sim.step(len(recording) - 1)
    assert recording.time[-1] == sim.time
    np.testing.assert_array_equal(recording["q"][-1], sim.q)
    np.testing.assert_array_equal(recording["poses"][-1], sim.body_poses())


def test_flushed_once_per_second_of_wall_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("sesshoku.recording.recording.wall.monotonic", lambda: now[0])
    sim = FakeSimulation()
    recorder = Recorder(sim, channels="q", path=tmp_path / "a.ssk")
    for _ in range(30):  # steps of 0.3 s: no sample may wait longer than a second
        recorder.sample(sim)
        assert len(Recording.load(tmp_path / "a.ssk")) >= recorder_count(sim) - 3
        now[0] += 0.3
        sim.step()
    now[0] += 10.0
    recorder.sample(sim)  # and slow ones are flushed at once
    assert len(Recording.load(tmp_path / "a.ssk")) == recorder_count(sim)
    recorder.finish()


def recorder_count(sim: FakeSimulation) -> int:
    return sim.steps + 1


def test_flushed_on_simulated_interval(tmp_path: Path) -> None:
    sim = FakeSimulation(dt=0.01)
    recorder = Recorder(sim, channels="q", path=tmp_path / "a.ssk", flush_interval=0.1, fsync=True)
    for _ in range(95):
        recorder.sample(sim)
        sim.step()
    assert len(Recording.load(tmp_path / "a.ssk")) == 91
    recorder.finish()


def test_unwritable_path(tmp_path: Path) -> None:
    folder = tmp_path / "folder.ssk"
    folder.mkdir()
    for path in (tmp_path / "none" / "run.ssk", folder):
        with pytest.raises(RecordingError, match=f"{path}: cannot be written"):
            record(path)
    with pytest.raises(RecordingError, match=r"run.npz.*ending in .ssk"):
        record(tmp_path / "run.npz")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "full.ssk"
    path.symlink_to("/dev/full")
    with pytest.raises(RecordingError, match=r"full.ssk.*No space left"):
        record(path)


LIMITED = """
import resource, signal, sys
import numpy as np
from fake_simulation import FakeSimulation
from sesshoku.errors import RecordingError
from sesshoku.recording import Recorder, Recording
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sim = FakeSimulation()
recorder = Recorder(sim, channels=["q"], path=sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))   # the disk is full in the middle of a chunk
taken = 0
try:
    while True:
        recorder.sample(sim)
        taken += 1
        if taken % 100 == 0:
            recorder.flush()
        sim.step()
except RecordingError as error:
    print(error)
first = recorder.finish()
assert first.truncated and len(first) == taken, (len(first), taken)   # from memory what the disk did not take
assert (np.diff(first.time) > 0).all()
on_disk = Recording.load(sys.argv[1])
assert on_disk.truncated and 0 < len(on_disk) < taken and len(on_disk) % 100 == 0
assert np.array_equal(on_disk["q"], first["q"][:len(on_disk)])
"""


def test_full_disk_on_the_way_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "limited.ssk"
    process = start(LIMITED, path)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "limited.ssk" in output and "failed" in output


def test_full_disk_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, channels="q", path=tmp_path / "a.ssk")
    recorder.sample(sim)

    def no_space(self: object, data: bytes) -> None:
        raise RecordingError("a.ssk: no space")

    monkeypatch.setattr("sesshoku.recording.stream._Appender._write", no_space)
    with pytest.raises(RecordingError, match="no space"):
        recorder.finish()
    monkeypatch.undo()
    recording = recorder.finish()  # said once; the samples are still there
    assert recording.truncated and len(recording) == 1


def test_not_a_recording(tmp_path: Path) -> None:
    for name, content in (("a.ssk", b""), ("b.ssk", b"hello\n" * 100), ("c.npz", b"PK nonsense"),
                          ("d.ssk", b"sesshoku-recording 2 000000000002 00000000\n{}")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RecordingError, match=name):
            Recording.load(tmp_path / name)
    with pytest.raises(RecordingError, match="missing.ssk"):
        Recording.load(tmp_path / "missing.ssk")


def test_file_replaced_or_removed_after_loading(tmp_path: Path) -> None:
    path = tmp_path / "a.ssk"
    old, _ = record(path)
    new, expected = record(path, count=7)
    with pytest.raises(RecordingError, match="replaced"):
        old["v"]
    np.testing.assert_array_equal(new["v"], expected)
    path.unlink()
    with pytest.raises(RecordingError, match="moved"):
        new["steps"]
