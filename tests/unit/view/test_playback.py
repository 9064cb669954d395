"""Recordings as pages: self-contained, whole, and of the size they say."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.errors import RecordingError
from sesshoku.recording import Recording
from sesshoku.view.frame import HEADER
from sesshoku.view.playback import frames_of
from viewing import box_scene


@pytest.fixture(scope="module")
def recording() -> Recording:
    return ss.Simulation(box_scene(2)).run(0.5)


def player_data(text: str, name: str = "run") -> tuple[dict[str, Any], bytes]:
    """What a page's player inflates: about, and the frames."""
    found = re.search(rf"<script type='text/plain' id='{name}'>([^<]*)</script>", text)
    assert found is not None
    data = zlib.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4:4 + length]), data[4 + length:]


def test_the_page_is_one_file_that_fetches_nothing(recording: Recording, tmp_path: Path) -> None:
    path = recording.to_html(tmp_path / "run.html")
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.html"]
    text = re.sub(r"(<script type='text/plain'[^>]*>)[^<]*", r"\1", path.read_text(encoding="utf-8"))
    assert not re.search(r"(?:src|href)=(?!'data:,')", text) and "http" not in text and "//" not in text


def test_frames_hold_what_was_recorded(recording: Recording, tmp_path: Path) -> None:
    about, frames = player_data(recording.to_html(tmp_path / "run.html").read_text(encoding="utf-8"))
    run = frames_of(recording)
    assert about["views"] == [{"title": "exact", "frames": run.length}] and frames == run.frames
    assert about["layout"]["header"] == list(HEADER)
    first = np.frombuffer(frames, "<f4", count=len(HEADER) + 21)
    np.testing.assert_allclose(first[len(HEADER):].reshape(3, 7), recording["poses"][0], atol=1e-6)
    assert 29 <= run.length <= 32  # 60 a second
    head = dict(zip(HEADER, np.frombuffer(run.frames, "<f4")[:len(HEADER)], strict=True))
    assert head["kinetic"] + head["potential"] == pytest.approx(recording["energy"][0].sum(), rel=1e-6)


def test_contact_forces_are_in_the_page(recording: Recording) -> None:
    values, at, forces = np.frombuffer(frames_of(recording).frames, "<f4"), 0, []
    while at < len(values):
        head = dict(zip(HEADER, values[at:at + len(HEADER)].tolist(), strict=True))
        at += len(HEADER) + int(7 * head["bodies"] + 11 * head["contacts"] + 5 * head["corners"] + 7 * head["lines"]
                                + 4 * head["marks"])
        forces.append(head["force"])
    assert at == len(values) and forces[0] == 0.0
    np.testing.assert_allclose(forces[3:], 2 * 9.8, rtol=1e-3)


def test_rate_thins_out(recording: Recording) -> None:
    assert frames_of(recording, 10.0).length == 6
    assert frames_of(recording, 1e-3).length == 2  # the first and the last


@pytest.mark.parametrize(("path", "options", "word"), [
    ("run.txt", {}, r"\.html"), ("missing/run.html", {}, "cannot be written"), ("run.html", {"rate": 0}, "rate"),
    ("run.html", {"rate": float("nan")}, "rate"), (7, {}, "path")])
def test_bad_input_is_refused(recording: Recording, tmp_path: Path, path: Any, options: Any, word: str) -> None:
    with pytest.raises(RecordingError, match=word):
        recording.to_html(tmp_path / path if isinstance(path, str) else path, **options)
    assert not list(tmp_path.iterdir())


def test_without_poses_there_is_nothing_to_show(tmp_path: Path) -> None:
    recording = ss.Simulation(box_scene()).run(0.01, record=["q"])
    with pytest.raises(RecordingError, match="poses"):
        recording.to_html(tmp_path / "run.html")


def test_names_of_bodies_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    scene = ss.Scene(name="</script><script>alert(1)</script>")
    scene.add_box("<img src=x onerror=alert(1)>", size=(1, 1, 1), mass=1.0)
    text = ss.Simulation(scene, "none").run(0.02).to_html(tmp_path / "run.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text and "<img" not in text


def test_size_of_three_hundred_frames_of_fifty_bodies(tmp_path: Path) -> None:
    """A pile of fifty bodies for 5 s: at most 2 MB, of it less than 0.4 MB for the player."""
    scene = ss.Scene(name="fifty")
    scene.add_ground()
    for n in range(50):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, position=(0.25 * (n % 5), 0.25 * (n // 5 % 5),
                                                                           0.11 + 0.25 * (n // 25)))
    recording = ss.Simulation(scene, "exact", dt=0.01).run(299 / 60, rate=50)
    run = frames_of(recording, 60.0)
    assert 240 <= run.length <= 300
    assert recording.to_html(tmp_path / "run.html").stat().st_size < 2_000_000
