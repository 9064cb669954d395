"""`Recorder` samples a simulation; `Recording` is what the run leaves behind."""

from __future__ import annotations

import platform
import time as wall
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku._version import __version__
from sesshoku.errors import RecordingError, SesshokuError, did_you_mean
from sesshoku.recording.channels import Channel, bind
from sesshoku.recording.film import Film
from sesshoku.recording.stream import LOOKS, MEMORY_LIMIT, SHAPES, Store, open_file
from sesshoku.scene.calls import checked_as

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHUNK_BYTES = 2**20  # samples are gathered in memory up to this size before they are stored
FLUSH_SECONDS = 1.0  # of wall time: what a kill can cost at most
CACHE_BYTES = 64 * 2**20  # channels up to this size stay in memory once read


@checked_as(RecordingError)
class Recorder:
    """Takes samples of a simulation: `sample(sim)` at each instant of interest, then `finish()`.

    channels: see `channels.bind`. rate: samples per simulated second, or every: one sample in so many steps; by default
    every step. `stride` is the resulting number of steps between samples (1/(rate dt), rounded). path: stream to this
    `.ssk` file; without it samples stay in memory up to `memory_limit` bytes, then move to a temporary file.
    A file is flushed once per second of wall time, and every `flush_interval` seconds of simulated time if given; what
    is flushed survives the death of the process, and with `fsync` that of the machine.
    """

    def __init__(self, sim: Any, channels: Any = None, rate: float | None = None, path: str | Path | None = None, *,
                 every: int | None = None, memory_limit: int = MEMORY_LIMIT, flush_interval: float | None = None,
                 fsync: bool = False) -> None:
        self.stride = _stride(sim.dt, rate, every)
        if flush_interval is not None and not _is_number(flush_interval):
            raise RecordingError(f"flush_interval must be a number of seconds (got {flush_interval!r})")
        bound = bind(sim, channels)
        self.channels = {channel.name: channel for channel, _ in bound}
        self.meta = _meta(sim, self.stride)
        self._store = Store([1] + [channel.size for channel in self.channels.values()], memory_limit=memory_limit)
        self.path = None if path is None else _stream_path(path)
        if self.path is not None:
            self._store.write_to(self.path, _header(self.channels, self.meta), fsync)
        self._film = Film.of(sim) if "poses" in self.channels else None  # without poses nothing can be drawn
        if self._film is not None:
            self._store.add_film(SHAPES, self._film.shapes_bytes())
            self._film.streams = self.path is not None
        capacity = max(1, CHUNK_BYTES // (8 * sum(self._store.sizes)))
        self._time = np.empty(capacity)
        self._buffers = [np.empty((capacity, *channel.shape)) for channel in self.channels.values()]
        self._pairs = [(read, buffer) for (_, read), buffer in zip(bound, self._buffers)]
        self._capacity, self._count = capacity, 0
        self._sim = sim
        self._recording: Recording | None = None
        self._failed = False  # the last attempt to write failed; the samples are still in the buffers
        # less half a step, for times are sums of dt and so carry its rounding
        self._flush_interval = np.inf if flush_interval is None else float(flush_interval) - 0.5 * sim.dt
        self._last = wall.monotonic()  # wall time of the last sample
        self._due = self._last + FLUSH_SECONDS if self.path is not None else np.inf
        self._sim_due = sim.time + self._flush_interval if self.path is not None else np.inf

    @property
    def buffer_bytes(self) -> int:
        """Memory set aside for samples on their way to the store."""
        return self._time.nbytes + sum(buffer.nbytes for buffer in self._buffers)

    @property
    def held_bytes(self) -> int:
        """Memory taken by samples that are stored already; none when they stream to a file."""
        return self._store.held_bytes

    def sample(self, sim: Any) -> None:
        """Record the present state."""
        k = self._count
        if k == self._capacity:  # only after a failed flush, or the end
            if self._recording is not None:
                raise RecordingError("the recording is finished; make a new Recorder")
            self.flush()
            k = self._count
        time = self._time[k] = sim.time
        for read, buffer in self._pairs:
            buffer[k] = read(sim)
        if self._film is not None:
            self._film.sample(sim, time)
        self._count = k + 1  # the sample counts only once it is whole
        now = wall.monotonic()
        # the next sample may come too late for the deadline when steps are slow: expect it to take as long as this one
        if self._count == self._capacity or now + (now - self._last) >= self._due or time >= self._sim_due:
            self.flush()
        self._last = now

    def flush(self) -> None:
        """Hand all samples so far to the store (and so to the file)."""
        try:
            if self._count:
                self._store.add(self._taken())
                self._count, self._failed = 0, False
            looks = None if self._film is None else self._film.take_bytes()
            if looks is not None:
                self._store.add_film(LOOKS, looks)
        except RecordingError:
            self._failed = True
            raise
        if self.path is not None:
            self._due = wall.monotonic() + FLUSH_SECONDS
            self._sim_due = self._sim.time + self._flush_interval

    def finish(self) -> Recording:
        """The recording, also after an error; asked again it gives the same one.

        The state the simulation ended in is added if it was not sampled yet. A first failure to write is raised; called
        again, or after a failure in `sample`, it returns what is on disk and, from memory, the rest.
        """
        if self._recording is None:
            if not self._failed:
                self._sample_end()
                self.flush()
            elif self._count:
                self._store.keep(self._taken())
                self._count = 0
            self._close_store()
            self._recording = Recording(self._store, self.channels, self.meta, path=self.path, truncated=self._failed,
                                        film=self._film)
            self._capacity, self._count, self._sim = 0, 0, None
            self._time, self._buffers, self._pairs = np.empty(0), [], []
        return self._recording

    def _close_store(self) -> None:
        try:
            self._store.finish(complete=not self._failed)
        except RecordingError:
            self._failed = True
            raise

    def _taken(self) -> list[np.ndarray]:
        return [self._time[:self._count], *(buffer[:self._count] for buffer in self._buffers)]

    def _sample_end(self) -> None:
        last = self._time[self._count - 1] if self._count else self._store.last_time()
        if last is not None and last != self._sim.time:
            try:
                self.sample(self._sim)
            except Exception:  # a channel of the user's that fails here has ended the run already, with this very error
                if self._failed:  # but a failure to write is news
                    raise


@checked_as(RecordingError)
class Recording:
    """Samples of a run: `recording.time` (n) and `recording["poses"]` (n, ...), read from disk when asked for.

    `recording["poses", "crate"]` and `recording["poses", "crate", "z"]` pick by label. Arrays are read-only: copy to
    change.
    channels: name -> Channel (labels, units). meta: scene, method, dt, names, gravity, versions. truncated: the run was
    cut short or the file is damaged, and this is what could be read. len() is the number of samples.
    """

    def __init__(self, store: Store, channels: Mapping[str, Channel], meta: dict[str, Any], *, path: Path | None = None,
                 truncated: bool = False, rows: range | None = None, film: Film | None = None) -> None:
        self._store, self.channels, self.meta, self.path, self.truncated = store, dict(channels), meta, path, truncated
        self._rows = range(store.rows) if rows is None else rows
        self.film = film if film is not None else Film.from_bytes(*store.film_parts())
        self._numbers = {name: i + 1 for i, name in enumerate(self.channels)}
        self._cache: dict[str, np.ndarray] = {}

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Open a `.ssk` or `.npz` file; samples of an `.ssk` stay on disk, those of an `.npz` may take 2 GB."""
        from sesshoku.recording import export

        path = _path(path)
        if path.suffix == ".npz":
            header, store, complete = export.read_npz(path)
        else:
            header, store, complete = open_file(path)
        channels = {channel["name"]: Channel.from_json(channel) for channel in header["channels"]}
        try:
            return cls(store, channels, header["meta"], path=path, truncated=not complete)
        except RecordingError as error:  # of the film, which does not know the file
            raise RecordingError(f"{path}: {error}") from error

    # ---- reading

    @property
    def time(self) -> np.ndarray:
        """Simulated time of each sample (n), s."""
        return self["time"]

    def __getitem__(self, key: str | tuple[str, ...]) -> np.ndarray:
        name, *labels = (key,) if isinstance(key, str) else key
        values = self._cache.get(name)
        if values is None:
            values = self.read(name)
            values.flags.writeable = False
            if values.nbytes + sum(array.nbytes for array in self._cache.values()) <= CACHE_BYTES:
                self._cache[name] = values
        for axis, label in enumerate(labels):
            values = values[:, self._place(name, axis, label)]
        return values

    def _place(self, name: str, axis: int, label: str) -> int:
        labels = self.channels[name].labels if name in self.channels else ()
        known = labels[axis] if axis < len(labels) else ()
        if label not in known:
            hint = did_you_mean(label, known, f"labels: {', '.join(known[:12]) or 'none'}")
            raise RecordingError(f"channel {name!r} has no {label!r}; {hint}")
        return known.index(label)

    def read(self, name: str, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Samples start .. stop of a channel as a new array, for recordings larger than memory."""
        if name != "time" and name not in self.channels:
            hint = did_you_mean(name, self.channels, also=f"there are {', '.join(self.channels) or 'none'}")
            raise RecordingError(f"no channel {name!r} was recorded; {hint}")
        rows = self._rows[start:stop]
        values = self._store.read(self._numbers.get(name, 0), rows.start, max(rows.stop, rows.start))
        return values.reshape(len(rows), *(self.channels[name].shape if name != "time" else ()))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def keys(self) -> list[str]:
        return list(self.channels)

    def __contains__(self, name: object) -> bool:
        return name in self.channels

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} .. {self.time[-1]:g} s" if len(self) else "empty"
        cut = ", truncated" if self.truncated else ""
        return f"Recording({self.meta.get('scene')!r}, {len(self)} samples, {span}, {', '.join(self.channels)}{cut})"

    def _repr_html_(self) -> str:
        """In a notebook: the run, playing; without the extra `view`, pictures of it."""
        from sesshoku.recording.notebook import framed, words

        if "poses" not in self or len(self) == 0 or self.film.drawing is None:
            return words(repr(self))
        try:
            from sesshoku.view.playback import playback_text

            return framed(playback_text(self, rate=30.0)) + words(repr(self))
        except SesshokuError:
            from sesshoku.recording.notebook import pictured
            from sesshoku.recording.render.video import strip_of

            return pictured(strip_of(self, np.linspace(self.time[0], self.time[-1], 4).tolist()), repr(self))

    def between(self, start: float, stop: float) -> Recording:
        """The samples with start <= time <= stop, without copying."""
        time = self.time
        if np.any(np.diff(time) < 0.0):
            raise RecordingError("time runs backwards in this recording (a state was restored); pick samples by number")
        slack = 1e-3 * self.meta.get("dt", 0.0)  # times are sums of dt and so carry its rounding
        first, last = np.searchsorted(time, start - slack), np.searchsorted(time, stop + slack, side="right")
        rows = self._rows[int(first):max(int(first), int(last))]
        return Recording(self._store, self.channels, self.meta, path=self.path, truncated=self.truncated, rows=rows,
                         film=self.film)

    # ---- leaving

    def save(self, path: str | Path) -> Path:
        """Write to `.npz` (compressed NumPy arrays), `.ssk` or `.csv`, every number exactly; or, with the extra `data`,
        to `.mcap` (Foxglove) or `.rrd` (Rerun). Returns the path."""
        from sesshoku.recording import export

        return export.save(self, _path(path))

    def header(self) -> dict[str, Any]:
        """Channels and meta as JSON can hold them."""
        return _header(self.channels, self.meta)

    def plot(self, channels: Sequence[str] | str | None = None, path: str | Path | None = None, show: bool = False, *,
             bodies: Sequence[str] | str | None = None, joints: Sequence[str] | str | None = None) -> Figure:
        """Draw channels over time, one panel each; see `record.plot.plot`."""
        from sesshoku.recording.plot import plot

        return plot(self, channels, path, show, bodies=bodies, joints=joints)

    def to_html(self, path: str | Path, *, rate: float = 60.0, title: str | None = None) -> Path:
        """Write one self-contained page that plays the run in a browser, from disk: timeline, speed, contact forces.

        rate: frames per simulated second at most; without the channel "poses" there is nothing to show. Needs the extra
        `view`. Returns the path.
        """
        from sesshoku.view.playback import write_playback

        return write_playback(self, _path(path), rate, title)

    def to_video(self, path: str | Path, *, camera: Any = None, size: Any = (640, 480), fps: float = 30.0,
                 speed: float = 1.0, contacts: bool = True, ghosts: Sequence[Recording] = (),
                 trails: Sequence[str] = (), label: bool = True, progress: bool = False) -> Path:
        """Write a film: `.mp4` or `.webm` (extra `video`), or `.gif`. Returns the path.

        camera: name of a camera of the scene, a `View(eye, target, follow=body)`, or None: one view of all of the run.
        fps: pictures a second; speed: simulated seconds a second. contacts: draw points and forces. ghosts: other runs
        of the scene, drawn translucent over it. trails: bodies whose way is drawn. label: method and time in a corner.
        """
        from sesshoku.recording.render.video import write_video

        return write_video(self, _path(path), camera=camera, size=size, fps=fps, speed=speed, contacts=contacts,
                           ghosts=ghosts, trails=trails, label=label, progress=progress)

    def to_strip(self, path: str | Path, times: Sequence[float] | int = 5, *, camera: Any = None,
                 size: Any = (360, 420), contacts: bool = True, columns: int | None = None) -> Path:
        """Write pictures side by side, as papers show a motion: at `times`, or so many spread evenly.

        path: ends in `.png`, `.pdf` or `.svg`. camera: as in `to_video`, the same for all; size: of one
        picture; columns: pictures in a row.
        """
        from sesshoku.recording.render.video import write_strip

        if isinstance(times, int):
            if times < 1 or len(self) == 0:
                raise RecordingError(f"a strip needs one picture at least, of a run that is not empty (got {times})")
            times = np.linspace(self.time[0], self.time[-1], times).tolist() if times > 1 else [float(self.time[-1])]
        return write_strip(self, _path(path), times, camera=camera, size=size, contacts=contacts, columns=columns)

    def close(self) -> None:
        """Free the memory or temporary file now rather than with the object; also for its `between` parts."""
        self._cache.clear()
        self._store.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stride(dt: float, rate: float | None, every: int | None) -> int:
    if rate is not None and every is not None:
        raise RecordingError("give rate (samples per second) or every (steps per sample), not both")
    if every is not None:
        if not _is_number(every) or int(every) != every or every < 1:
            raise RecordingError(f"every must be a whole number of steps, 1 or more (got {every!r})")
        return int(every)
    if rate is None:
        return 1
    if not _is_number(rate) or not 0.0 < rate < np.inf:
        raise RecordingError(f"rate must be a positive number of samples per second (got {rate!r})")
    if rate * dt > 1.0 + 1e-9:
        raise RecordingError(f"rate {rate:g} Hz is above the {1 / dt:g} steps per second; lower the rate or dt")
    return max(1, round(1.0 / (rate * dt)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _path(path: Any) -> Path:
    if not isinstance(path, (str, Path)):
        raise RecordingError(f"a path must be a string or a Path (got {path!r}); give the name of a file")
    return Path(path)


def _stream_path(path: str | Path) -> Path:
    path = _path(path)
    if path.suffix != ".ssk":
        raise RecordingError(f"{path}: a run streams to a file ending in .ssk; "
                             "for .npz or .csv call recording.save(path) after the run")
    return path.absolute()  # the process may change its folder before the file is read


def _header(channels: Mapping[str, Channel], meta: dict[str, Any]) -> dict[str, Any]:
    return {"channels": [channel.to_json() for channel in channels.values()], "meta": meta}


def _meta(sim: Any, stride: int) -> dict[str, Any]:
    """What one needs to know to read the samples later."""
    compiled = sim.compiled
    model = compiled.model
    method = getattr(sim, "method", None)
    return {
        "scene": compiled.scene.name, "method": getattr(method, "keyword", None), "method_options": repr(method),
        "dt": float(sim.dt), "stride": stride, "rate": 1.0 / (stride * float(sim.dt)),
        "gravity": np.array(model.gravity).tolist(),
        "bodies": list(compiled.frame_names), "links": list(compiled.link_names), "joints": list(compiled.joint_names),
        "actuators": list(compiled.actuator_names), "sensors": list(getattr(compiled.scene, "sensors", ())),
        "actuator_joints": [actuator.driven for actuator in compiled.scene.actuators.values()],
        "versions": {"sesshoku": __version__, "numpy": np.__version__, "python": platform.python_version()},
    }
