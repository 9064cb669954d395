"""A recording as one self-contained page, and several runs of one scene side by side, in sync."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.export import written_file
from sesshoku.stages.report import CHANNELS
from sesshoku.view import bundle, frame, html

if TYPE_CHECKING:
    from sesshoku.recording import Recording

REPORTED = {"penetration": "penetration", "residual": "residual", "momentum": "momentum_residual",
            "cone": "cone_violation", "iterations": "iterations", "converged": "converged"}  # header -> report
MOST_FRAMES = 20_000


class Run(NamedTuple):
    """One run of a page: its title and its frames, one after another."""

    title: str
    length: int
    frames: bytes


def write_playback(recording: Recording, path: Path, rate: float = 60.0, title: str | None = None) -> Path:
    """Write a recording as a page; it appears whole or not at all."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise RecordingError(f"{path}: a page ends in .html; choose such a name")
    text = playback_text(recording, rate, title)
    with written_file(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def playback_text(recording: Recording, rate: float = 60.0, title: str | None = None) -> str:
    """A recording as the text of a page."""
    bundle.require()
    if not isinstance(rate, (int, float)) or isinstance(rate, bool) or not 0.0 < rate < np.inf:
        raise RecordingError(f"rate must be a positive number of frames per second (got {rate!r})")
    if "poses" not in recording:
        raise RecordingError("the channel 'poses' was not recorded, so there is nothing to show; "
                             "leave `record` out, or name 'poses' in it")
    if recording.film.drawing is None:
        raise RecordingError(f"{recording.path or 'the recording'}: holds no shapes to draw (it was made by an older "
                             "sesshoku); record the run again")
    run = frames_of(recording, rate)
    about = describe([run], recording.film.drawing, title or str(recording.meta.get("scene", "run")), _note(recording))
    return html.playback_page(about["title"], about, run.frames)


def describe(runs: list[Run], drawing: dict[str, Any], title: str, note: str = "") -> dict[str, Any]:
    """What a player is told besides the frames."""
    return {"title": title, "note": note, "drawing": drawing, "layout": frame.LAYOUT,
            "views": [{"title": run.title, "frames": run.length} for run in runs]}


def _note(recording: Recording) -> str:
    meta = recording.meta
    cut = "; the run was cut short" if recording.truncated else ""
    seen = "" if recording.film.looks else "; contacts were not kept"
    return f"{meta.get('method')}, steps of {meta.get('dt', 0.0):g} s{cut}{seen}"


def frames_of(recording: Recording, rate: float = 60.0) -> Run:
    """The frames of a recording, at most `rate` a simulated second."""
    if len(recording) == 0:
        raise RecordingError("the recording is empty: there is nothing to show")
    chosen = _thinned(recording.time, rate)
    blocks = []
    for n in chosen:
        numbers = {"number": float(n), "time": float(recording.time[n]), "running": 1.0, "speed": 1.0}
        numbers |= _measured(recording, n)
        seen = recording.film.at(float(recording.time[n]))
        if seen is not None:
            rows = seen.contacts
            numbers["force"] = float((rows[:, 3:6] * rows[:, 6:9]).sum())
        blocks.append(frame.pack(numbers, recording["poses"][n], seen))
    return Run(str(recording.meta.get("method") or "run"), len(blocks), b"".join(blocks))


def _thinned(time: np.ndarray, rate: float) -> list[int]:
    """Samples at least 1/rate apart, the first and the last among them."""
    rate = min(rate, MOST_FRAMES / max(float(time[-1] - time[0]), 1e-9))
    chosen, due = [0], float(time[0]) + 1.0 / rate
    for n in range(1, len(time)):
        if time[n] >= due - 1e-9 or time[n] < time[chosen[-1]]:
            chosen.append(n)
            due = float(time[n]) + 1.0 / rate
    if chosen[-1] != len(time) - 1:
        chosen.append(len(time) - 1)
    return chosen


def _measured(recording: Recording, n: int) -> dict[str, float]:
    found: dict[str, float] = {}
    if "energy" in recording:
        found["kinetic"], found["potential"] = map(float, recording["energy"][n])
    if "report" in recording:
        row = recording["report"][n]
        found |= {name: float(row[CHANNELS.index(channel)]) for name, channel in REPORTED.items()}
    return found
