"""Recordings as files of other kinds, a block of samples at a time so that any size fits in memory."""

from __future__ import annotations

import csv
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.mcap import write_mcap
from sesshoku.recording.outside import check_header, check_samples, parse_json, read_arrays
from sesshoku.recording.rerun import write_rrd
from sesshoku.recording.stream import FLOAT, LOOKS, SHAPES, Store
from sesshoku.scene.io.whole_file import whole_file

if TYPE_CHECKING:
    from sesshoku.recording.recording import Recording

BLOCK_BYTES = 8 * 2**20
FILM_ENTRIES = {"film_shapes": SHAPES, "film_looks": LOOKS}  # of an .npz file -> what they hold


def save(recording: Recording, path: Path) -> Path:
    """Write by the suffix of the path. The file appears whole or not at all."""
    writers: dict[str, Callable[[Recording, Path], None]] = {
        ".npz": _write_npz, ".ssk": _write_ssk, ".csv": _write_csv, ".mcap": write_mcap, ".rrd": write_rrd}
    if path.suffix not in writers:
        raise RecordingError(f"{path}: recordings are saved as {', '.join(writers)}; choose one of these endings")
    with written_file(path) as part:
        try:
            writers[path.suffix](recording, part)
        except RecordingError as error:
            raise RecordingError(str(error).replace(str(part), str(path))) from error
    return path


@contextmanager
def written_file(path: Path) -> Iterator[Path]:
    """`whole_file` whose failures are RecordingErrors that name the path."""
    try:
        with whole_file(path) as part:
            yield part
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written ({error.strerror})") from error


def blocks(recording: Recording, row_size: int) -> Iterator[tuple[int, int]]:
    """Ranges of samples whose numbers fit in a block."""
    step = max(1, BLOCK_BYTES // (8 * max(row_size, 1)))
    for start in range(0, len(recording), step):
        yield start, min(start + step, len(recording))


def _write_npz(recording: Recording, path: Path) -> None:
    """What np.savez_compressed would write, without ever holding a whole channel."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("time", *recording.channels):
            shape: tuple[int, ...] = (len(recording), *(recording.channels[name].shape if name != "time" else ()))
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                description = {"descr": FLOAT.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_2_0(file, description)
                for start, stop in blocks(recording, math.prod(shape[1:])):
                    file.write(recording.read(name, start, stop).astype(FLOAT, copy=False).tobytes())
        meta = recording.meta | {"channels": recording.header()["channels"], "truncated": recording.truncated}
        for entry, body in _film_entries(recording).items():
            with archive.open(f"{entry}.npy", "w") as file:
                np.lib.format.write_array(file, np.frombuffer(body, np.uint8), allow_pickle=False)
        with archive.open("meta.npy", "w") as file:
            np.lib.format.write_array(file, np.array(json.dumps(meta)), allow_pickle=False)


def _film_entries(recording: Recording) -> dict[str, bytes]:
    film = recording.film
    return ({"film_shapes": film.shapes_bytes()} if film.drawing is not None else {}) | \
        ({"film_looks": film.looks_bytes()} if film.looks else {})


def read_npz(path: Path) -> tuple[dict[str, Any], Store, bool]:
    """Header, samples (in memory) and whether the recording was complete."""
    archive = read_arrays(path, "a recording of sesshoku")
    if "meta" not in archive or archive["meta"].dtype.kind != "U" or archive["meta"].ndim:
        raise RecordingError(f"{path}: is damaged, or not a recording of sesshoku (it has no 'meta')")
    meta = parse_json(path, str(archive["meta"]))
    channels, truncated = meta.pop("channels", None), bool(meta.pop("truncated", False))
    header = {"channels": channels, "meta": meta}
    check_header(path, header)
    arrays = check_samples(path, archive, header["channels"])
    store = Store([1] + [math.prod(channel["shape"]) for channel in header["channels"]])
    store.keep(arrays)
    store.film = [(kind, archive[entry].tobytes()) for entry, kind in FILM_ENTRIES.items() if entry in archive]
    return header, store, not truncated


def _write_ssk(recording: Recording, path: Path) -> None:
    sizes = [1] + [channel.size for channel in recording.channels.values()]
    store = Store(sizes)
    store.write_to(path, recording.header())
    if recording.film.drawing is not None:
        store.add_film(SHAPES, recording.film.shapes_bytes())
    try:
        for start, stop in blocks(recording, sum(sizes)):
            store.add([recording.read(name, start, stop) for name in ("time", *recording.channels)])
        if recording.film.looks:
            store.add_film(LOOKS, recording.film.looks_bytes())
    finally:
        store.finish(complete=not recording.truncated)


def _write_csv(recording: Recording, path: Path) -> None:
    """One line per sample; 17 digits, so that every number reads back exactly."""
    titles = ["time [s]"]
    for channel in recording.channels.values():
        for column, unit in zip(channel.columns, channel.units):
            titles.append(f"{channel.name} {column}".strip() + (f" [{unit}]" if unit else ""))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        csv.writer(file, lineterminator="\n").writerow(titles)
        for start, stop in blocks(recording, len(titles)):
            parts = (recording.read(name, start, stop) for name in ("time", *recording.channels))
            np.savetxt(file, np.hstack([part.reshape(stop - start, -1) for part in parts]), fmt="%.17g", delimiter=",")
