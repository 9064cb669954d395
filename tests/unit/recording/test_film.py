"""What a recording keeps to be looked at: shapes and contacts, in memory and in files."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from fake_simulation import FakeSimulation
from sesshoku.recording import Recorder, Recording
from sesshoku.recording import film as film_module
from waiting import PATIENCE


def box_scene() -> ss.Scene:
    scene = ss.Scene(name="box")
    scene.add_ground()
    scene.add_box("crate", size=(0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.2))
    return scene


def box_run(tmp_path: Path | None = None, **options: object) -> Recording:
    return ss.Simulation(box_scene()).run(0.2, **options)  # type: ignore[arg-type]


def assert_same(one: film_module.Film, other: film_module.Film) -> None:
    assert one.drawing == other.drawing and one.times == other.times
    for a, b in zip(one.looks, other.looks, strict=True):
        for part, its in zip(a, b, strict=True):
            np.testing.assert_array_equal(part, its)


def test_contacts_are_looked_at_thirty_times_a_second() -> None:
    film = box_run().film
    assert np.diff(film.times).min() >= 1 / 30 - 1e-3 and 6 <= len(film.times) <= 7
    seen = film.at(0.1)
    assert seen is not None and seen.contacts.shape == (4, 11)
    assert seen.contacts[:, 8].sum() == pytest.approx(9.8, rel=1e-3)  # the floor carries the weight
    assert film.at(-1.0) is None


@pytest.mark.parametrize("suffix", [".npz", ".ssk"])
def test_files_keep_the_film(tmp_path: Path, suffix: str) -> None:
    recording = box_run()
    recording.save(tmp_path / f"run{suffix}")
    assert_same(Recording.load(tmp_path / f"run{suffix}").film, recording.film)


def test_a_streamed_file_keeps_the_film_and_a_cut_one_all_of_it_that_was_written(tmp_path: Path) -> None:
    sim = ss.Simulation(box_scene())
    recorder = Recorder(sim, path=tmp_path / "run.ssk", flush_interval=0.05)  # as the files of killed runs are
    for _ in range(200):
        recorder.sample(sim)
        sim.step()
    recording = recorder.finish()
    assert_same(Recording.load(tmp_path / "run.ssk").film, recording.film)
    data = (tmp_path / "run.ssk").read_bytes()
    places = [found.start() for found in re.finditer(b"SSKV", data)]
    assert len(places) >= 3
    for n, place in enumerate(places):
        (tmp_path / "cut.ssk").write_bytes(data[:place + 30])
        cut = Recording.load(tmp_path / "cut.ssk")
        assert cut.truncated and cut.film.drawing == recording.film.drawing
        assert bool(cut.film.looks) == (n > 0) and cut.film.times == recording.film.times[:len(cut.film.times)]
        assert not n or cut.film.times[-1] > recording.time[-1] * n / len(places) - 0.1


def test_a_run_that_is_killed_leaves_poses_and_contacts(tmp_path: Path) -> None:
    script = ("""import os, signal, sys
import sesshoku as ss
from sesshoku.recording import Recorder
scene = ss.Scene()
scene.add_ground()
scene.add_box("crate", size=(0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.2))
sim = ss.Simulation(scene)
recorder = Recorder(sim, path=sys.argv[1], flush_interval=0.1)
while True:
    recorder.sample(sim)
    sim.step()
    if sim.time > 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
""")
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path / "run.ssk")], timeout=PATIENCE)
    assert ran.returncode == -signal.SIGKILL
    left = Recording.load(tmp_path / "run.ssk")
    assert left.truncated and left.time[-1] > 0.35
    assert left.film.times[-1] > 0.3 and len(left.film.looks[-1].contacts) == 4


def test_a_damaged_film_is_noticed(tmp_path: Path) -> None:
    recording = box_run(path=tmp_path / "run.ssk")
    data = bytearray((tmp_path / "run.ssk").read_bytes())
    data[data.index(b"SSKV") + 40] ^= 0x10
    (tmp_path / "bad.ssk").write_bytes(data)
    bad = Recording.load(tmp_path / "bad.ssk")
    assert bad.truncated and len(bad) == len(recording) and not bad.film.looks


def test_without_poses_nothing_is_kept(tmp_path: Path) -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, channels=["q"], path=tmp_path / "a.ssk")
    recorder.sample(sim)
    film = recorder.finish().film
    assert film.drawing is None and not film.looks and b"SSKD" not in (tmp_path / "a.ssk").read_bytes()


def test_a_long_run_is_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(film_module, "MEMORY", 900)
    film = box_run().film
    assert 2 <= len(film.looks) <= 5 and film.times[0] == 0.0
    assert sum(part.nbytes for one in film.looks for part in one) <= 900


def test_a_state_put_back_is_seen() -> None:
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0)
    sim = ss.Simulation(scene, "none")
    recorder, start = Recorder(sim, ["poses"]), sim.save()
    for _ in range(2):
        sim.restore(start)
        for _ in range(40):
            recorder.sample(sim)
            sim.step()
    times = recorder.finish().film.times
    assert times.count(0.0) == 2
