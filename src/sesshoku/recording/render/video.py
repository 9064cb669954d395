"""Films of recordings: mp4 and webm through ffmpeg, gif and strips of pictures through Pillow."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.export import written_file
from sesshoku.recording.plot import picture_path, write_picture
from sesshoku.recording.render.renderer import Renderer, checked_size
from sesshoku.recording.render.views import View, view_of_all
from sesshoku.scene.geometry.drawing import PALETTE

if TYPE_CHECKING:
    from sesshoku.recording.recording import Recording

CODECS = {".mp4": ["-c:v", "libx264", "-crf", "18", "-preset", "fast", "-movflags", "+faststart", "-f", "mp4"],
          ".webm": ["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-f", "webm"]}
FILMS = (*CODECS, ".gif")
MOST_FRAMES = 100_000
DPI = 100.0  # of strips as .pdf and .svg
FARTHEST = 20.0  # radii of the start: a view of everything leaves out what flies farther
LOOKS_AT = 60  # instants of a run that a view of everything is made for


class Shots:
    """Pictures of a run at any of its times. ghosts: further runs of the scene, drawn translucent over it."""

    def __init__(self, recording: Recording, size: Any, camera: Any = None, *, contacts: bool = True,
                 ghosts: Sequence[Recording] = (), trails: Sequence[str] = (), label: bool = False) -> None:
        self.runs = [recording, *ghosts]
        for run in self.runs:
            check_drawable(run)
        drawing = recording.film.drawing
        assert drawing is not None
        names = [body["name"] for body in drawing["bodies"]]
        for run in ghosts:
            assert run.film.drawing is not None
            if [body["name"] for body in run.film.drawing["bodies"]] != names:
                raise RecordingError("a ghost is a recording of the same scene; this one has other bodies")
        unknown = [name for name in trails if name not in names]
        if unknown:
            raise RecordingError(f"there is no body {unknown[0]!r} to draw a trail of; "
                                 f"there are {', '.join(names[:8])}")
        colors = [PALETTE[(k + 1) % len(PALETTE)] for k in range(len(ghosts))]
        self.renderer = Renderer(drawing, size, ghosts=colors)
        self.contacts, self.label, self.trails = contacts, label, [names.index(name) for name in trails]
        self.camera = camera if camera is not None else self._all()
        self.begin, self.end = float(recording.time[0]), float(recording.time[-1])

    def at(self, time: float) -> np.ndarray:
        """The picture (height, width, 3) at a time of the run."""
        here, *others = (poses_at(run, time) for run in self.runs)
        look = self.runs[0].film.at(time) if self.contacts else None
        picture = self.renderer.rgb(here, self.camera, look, ghosts=others, trails=[
            (self._way(body, time), PALETTE[k % len(PALETTE)]) for k, body in enumerate(self.trails)])
        return labelled(picture, f"{self.runs[0].meta.get('method')}  {time:.2f} s") if self.label else picture

    def _way(self, body: int, time: float) -> np.ndarray:
        """Places of a body up to a time, a hundred at most."""
        times = np.linspace(self.begin, time, 100)
        return np.array([poses_at(self.runs[0], t)[body, :3] for t in times])

    def _all(self) -> View:
        """One view of all of the run."""
        start = self.renderer.start
        first_low, first_high = self.renderer.bounds(start)
        middle, reach = 0.5 * (first_low + first_high), FARTHEST * self.renderer.radius
        low, high = first_low, first_high
        for run in self.runs:
            for n in np.unique(np.linspace(0, len(run) - 1, LOOKS_AT).astype(int)):
                here = self.renderer.bounds(run.read("poses", int(n), int(n) + 1).reshape(-1, 7))
                low, high = np.minimum(low, here[0]), np.maximum(high, here[1])
        low, high = np.maximum(low, middle - reach), np.minimum(high, middle + reach)
        return view_of_all(low, high, self.renderer.size[0] / self.renderer.size[1])


def check_drawable(recording: Recording) -> None:
    """Whether there is something to draw; said as playback says it."""
    if "poses" not in recording:
        raise RecordingError("the channel 'poses' was not recorded, so there is nothing to show; "
                             "leave `record` out, or name 'poses' in it")
    if recording.film.drawing is None:
        raise RecordingError(f"{recording.path or 'the recording'}: holds no shapes to draw (it was made by an older "
                             "sesshoku); record the run again")
    if len(recording) == 0:
        raise RecordingError("the recording is empty: there is nothing to show")


def poses_at(recording: Recording, time: float) -> np.ndarray:
    """Poses (F, 7) at a time: between two samples, positions along a line and rotations along the shorter arc."""
    times = recording.time
    n = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 1))
    if n == len(times) - 1 or time <= times[n]:
        return recording.read("poses", n, n + 1).reshape(-1, 7)
    a, b = recording.read("poses", n, n + 2).reshape(2, -1, 7)
    share = (time - times[n]) / (times[n + 1] - times[n])
    sign = np.where(np.sum(a[:, 3:] * b[:, 3:], axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    mixed = a + share * (b - a)
    mixed[:, 3:] = a[:, 3:] + share * (sign * b[:, 3:] - a[:, 3:])
    mixed[:, 3:] /= np.maximum(np.linalg.norm(mixed[:, 3:], axis=1, keepdims=True), 1e-300)
    return mixed


def labelled(picture: np.ndarray, text: str) -> np.ndarray:
    """A picture with a line of text in its upper left corner."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(picture)
    size = max(11, picture.shape[0] // 26)
    ImageDraw.Draw(image).text((size // 2, size // 3), text, fill=(40, 48, 58), font=ImageFont.load_default(size))
    return np.asarray(image)


def write_video(recording: Recording, path: Path, *, camera: Any = None, size: Any = (640, 480), fps: float = 30.0,
                speed: float = 1.0, contacts: bool = True, ghosts: Sequence[Recording] = (),
                trails: Sequence[str] = (), label: bool = True, progress: bool = False) -> Path:
    """Write a film; it appears whole or not at all. See `Recording.to_video`."""
    ending, exe = path.suffix.lower(), check_film(path)
    for name, value in (("fps", fps), ("speed", speed)):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.0 < value < math.inf:
            raise RecordingError(f"{name} must be a positive number (got {value!r})")
    shots = Shots(recording, checked_size(size), camera, contacts=contacts, ghosts=ghosts, trails=trails, label=label)
    count = max(1, math.ceil((shots.end - shots.begin) * fps / speed - 1e-6))
    if count > MOST_FRAMES:
        raise RecordingError(f"a film of {count} frames is longer than {MOST_FRAMES}; take a lower fps or more speed")
    pictures = _shown((shots.at(min(shots.begin + k * speed / fps, shots.end)) for k in range(count)), count, progress)
    with written_file(path) as part:
        if ending == ".gif":
            _write_gif(pictures, part, fps)
        else:
            _encode(exe, pictures, part, shots.renderer.size, fps, CODECS[ending], path)
    return path


def check_film(path: Path) -> str:
    """Whether a film can be written there, before the work is done; the program that encodes it, where one does."""
    ending = path.suffix.lower()
    if ending not in FILMS:
        raise RecordingError(f"{path}: films are written as {', '.join(FILMS)}; choose one of these endings")
    return ffmpeg() if ending in CODECS else ""


def strip_of(recording: Recording, times: Sequence[float], *, camera: Any = None, size: Any = (240, 240),
             contacts: bool = True, columns: int | None = None) -> np.ndarray:
    """Pictures at several times side by side, from one place, as one picture."""
    if len(times) == 0:
        raise RecordingError("a strip needs one time at least")
    shots = Shots(recording, checked_size(size), camera, contacts=contacts)
    pictures = [labelled(shots.at(float(time)), f"{time:.2f} s") for time in times]
    columns = len(pictures) if columns is None else max(1, int(columns))
    pictures += [np.full_like(pictures[0], 255)] * (-len(pictures) % columns)
    rows = [np.concatenate(pictures[k:k + columns], axis=1) for k in range(0, len(pictures), columns)]
    return np.concatenate(rows)


def write_strip(recording: Recording, path: Path, times: Sequence[float], **options: Any) -> Path:
    """Write `strip_of`; see `Recording.to_strip`."""
    from PIL import Image

    picture_path(path)
    whole = strip_of(recording, times, **options)
    if path.suffix.lower() == ".png":
        with written_file(path) as part:
            Image.fromarray(whole).save(part, format="png")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(whole.shape[1] / DPI, whole.shape[0] / DPI), dpi=DPI)
        figure.figimage(whole)
        write_picture(figure, path, dpi=DPI)
    return path


def ffmpeg() -> str:
    """The program that encodes: that of the extra `video`, else one on the path."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        found = shutil.which("ffmpeg")
        if found is None:
            raise RecordingError("films as .mp4 and .webm need ffmpeg, which the extra `video` brings: "
                                 "pip install 'sesshoku[video]'; or write a .gif") from None
        return found


def _encode(exe: str, pictures: Iterator[np.ndarray], part: Path, size: tuple[int, int], fps: float,
            codec: list[str], path: Path) -> None:
    """Pictures through a pipe into ffmpeg. Players want even sizes: an odd one gets a row or column more."""
    command = [exe, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}",
               "-r", f"{fps:g}", "-i", "-", "-an", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p",
               *codec, str(part)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            for picture in pictures:
                process.stdin.write(picture.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass  # it says below why it stopped
        except BaseException:
            process.kill()
            raise
        said = process.stderr.read().decode(errors="replace").strip()
        if process.wait() != 0:
            raise RecordingError(f"{path}: ffmpeg could not write it: {said.splitlines()[-1] if said else 'no reason'}")


def _write_gif(pictures: Iterator[np.ndarray], part: Path, fps: float) -> None:
    from PIL import Image

    frames = [Image.fromarray(picture).quantize(128) for picture in pictures]
    frames[0].save(part, format="gif", save_all=True, append_images=frames[1:], duration=1000.0 / fps, loop=0)


def _shown(pictures: Iterator[np.ndarray], count: int, progress: bool) -> Iterator[np.ndarray]:
    """The same, with a bar on the terminal."""
    if not progress or not sys.stderr.isatty():
        yield from pictures
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(pictures, "drawing", count, console=Console(stderr=True), transient=True)
