"""Where samples are kept: in memory up to a limit, beyond it or on wish in an append-only file that survives a kill.

The file (`.ssk`, everything little-endian, float64):

    line 1          `sesshoku-recording 1 LENGTH CRC`     LENGTH bytes of JSON follow, with their CRC-32
    JSON            channels and meta, padded with spaces so that the numbers behind it lie on multiples of 8 bytes
    chunk ...       24 bytes: b"SSKC", rows, bytes of the body (8), CRC-32 of the body, CRC-32 of the 20 bytes before
                    body: time (rows), then each channel (rows, ...), each contiguous
    film            chunk headers b"SSKD" and b"SSKV" with 0 rows: what there is to draw, and contacts (record/film.py)
    end mark        a chunk header b"SSKE" with 0 rows: the recording was finished, not cut

A chunk counts once it is whole, so a file cut or damaged anywhere is readable up to there.
"""

from __future__ import annotations

import bisect
import contextlib
import json
import math
import os
import re
import stat
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.outside import MOST_JSON, check_header, check_regular, parse_json

FORMAT, VERSION = b"sesshoku-recording", 1
CHUNK, END = b"SSKC", b"SSKE"
SHAPES, LOOKS = b"SSKD", b"SSKV"  # parts of a film
CHUNK_HEADER = struct.Struct("<4sIQI")  # without its own CRC
HEADER_SIZE = CHUNK_HEADER.size + 4
FLOAT = np.dtype("<f8")
LONGEST_FIRST_LINE = 80
MEMORY_LIMIT = 256 * 2**20  # bytes of samples kept in memory before they spill to a temporary file


class Frame(NamedTuple):
    """A chunk: `rows` samples, either in memory or in the file with its body at `offset`."""

    rows: int
    offset: int
    arrays: list[np.ndarray] | None


class Store:
    """Chunks of samples in order. Columns are numbered; column i of a chunk of n rows is an array (n, sizes[i])."""

    def __init__(self, sizes: Sequence[int], *, memory_limit: int = MEMORY_LIMIT) -> None:
        self.sizes = list(sizes)
        self.rows = 0
        self.memory_limit = memory_limit
        self._before = [sum(self.sizes[:i]) for i in range(len(self.sizes))]  # numbers per row before column i
        self._frames: list[Frame] = []
        self._starts: list[int] = []  # number of the first row of each frame
        self._held = 0  # bytes in memory
        self._file: _Appender | None = None
        self._source: _Source | None = None
        self._closed = False
        self.film: list[tuple[bytes, bytes]] = []  # parts of a film, SHAPES and LOOKS, of a file that was read

    # ---- writing

    def write_to(self, path: Path, header: dict[str, Any], fsync: bool = False) -> None:
        """Stream all further chunks to a file of its own."""
        self._file = _Appender.at_path(path, header, fsync)
        self._source = self._file.source()
        weakref.finalize(self, self._file.file.close)

    def add_film(self, kind: bytes, body: bytes) -> None:
        """Write a part of the film to the file, if there is one."""
        if self._file is not None:
            self._file.append_film(kind, body)

    def add(self, arrays: list[np.ndarray]) -> None:
        """Take over one chunk; the caller may reuse the arrays afterwards. On RecordingError it was not taken."""
        rows = len(arrays[0])
        if self._file is None and self._held + 8 * rows * sum(self.sizes) > self.memory_limit:
            self._spill()
        if self._file is None:
            self.keep(arrays)
        else:
            self._push(Frame(rows, self._file.append(rows, arrays), None))

    def keep(self, arrays: list[np.ndarray]) -> None:
        """Hold a chunk in memory."""
        held = [np.array(array, dtype=FLOAT) for array in arrays]
        self._push(Frame(len(held[0]), -1, held))
        self._held += sum(array.nbytes for array in held)

    def _push(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._starts.append(self.rows)
        self.rows += frame.rows

    def _spill(self) -> None:
        """Move everything from memory to a temporary file, which has no name and so vanishes with the process."""
        file = _Appender.temporary()
        try:
            moved = [Frame(rows, file.append(rows, arrays), None) for rows, _, arrays in self._frames if arrays]
        except RecordingError:
            file.file.close()
            raise
        self._frames, self._held = moved, 0
        self._file, self._source = file, file.source()
        weakref.finalize(self, file.file.close)

    def finish(self, complete: bool = True) -> None:
        """No more chunks come. complete: the recording is whole, so the file gets its end mark."""
        if self._file is not None:
            self._file.finish(complete)
            self._file = None

    # ---- reading

    def film_parts(self) -> tuple[bytes | None, list[bytes]]:
        """The shapes, if they are known, and the looks in the order they were written."""
        shapes = next((body for kind, body in self.film if kind == SHAPES), None)
        return shapes, [body for kind, body in self.film if kind == LOOKS]

    def adopt(self, source: _Source, frames: list[Frame]) -> None:
        """Read from a file that was scanned."""
        self._source = source
        for frame in frames:
            self._push(frame)

    def read(self, column: int, start: int, stop: int) -> np.ndarray:
        """(stop - start, size) rows of one column."""
        if self._closed:
            raise RecordingError("the recording is closed; load it again, or read before close()")
        size = self.sizes[column]
        result = np.empty((stop - start, size))
        if result.size == 0:
            return result
        with self._source.open() if self._source is not None else contextlib.nullcontext() as file:
            for n in range(bisect.bisect_right(self._starts, start) - 1, bisect.bisect_left(self._starts, stop)):
                frame, first = self._frames[n], self._starts[n]
                low, high = max(start - first, 0), min(stop - first, frame.rows)  # rows of the frame that are wanted
                out = result[first + low - start:first + high - start]
                if frame.arrays is not None:
                    out[:] = frame.arrays[column].reshape(frame.rows, size)[low:high]
                elif self._source is not None and file is not None:
                    file.seek(frame.offset + 8 * (frame.rows * self._before[column] + low * size))
                    self._source.fill(file, out)
        return result

    def last_time(self) -> float | None:
        return float(self.read(0, self.rows - 1, self.rows)[0, 0]) if self.rows else None

    @property
    def held_bytes(self) -> int:
        """Bytes of samples in memory."""
        return self._held

    @property
    def on_disk(self) -> bool:
        return self._source is not None

    def close(self) -> None:
        """Free memory and the temporary file. A file of the user's own stays."""
        if self._source is not None and self._source.path is None:
            self._source.file.close()  # type: ignore[union-attr]
        self._frames, self._source, self._closed = [], None, True


# ---- files ---------------------------------------------------------------------------------------------------------


class _Source:
    """A file to read from: opened anew for each reading when it has a path, held open when it is a temporary one."""

    def __init__(self, path: Path | None, file: BinaryIO) -> None:
        self.path, self.file = path, None if path else file
        self._identity = self._stat(file)

    @staticmethod
    def _stat(file: BinaryIO) -> tuple[int, int]:
        status = os.fstat(file.fileno())
        return status.st_dev, status.st_ino

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        if self.path is None:
            assert self.file is not None
            yield self.file
            return
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise RecordingError(f"{self.path}: cannot be read any more ({error.strerror}); was it moved?") from error
        with file:
            if self._stat(file) != self._identity:
                raise RecordingError(f"{self.path}: was replaced by another file; load it again")
            yield file

    def fill(self, file: BinaryIO, out: np.ndarray) -> None:
        """Read exactly what `out` holds."""
        data = file.read(out.nbytes)
        if len(data) != out.nbytes:
            raise RecordingError(f"{self.path or 'temporary file'}: became shorter while it was in use; load it again")
        out[:] = np.frombuffer(data, FLOAT).reshape(out.shape)


class _Appender:
    """Appends whole chunks to an unbuffered file; what a failed write left behind is cut off again."""

    def __init__(self, file: BinaryIO, path: Path | None, fsync: bool) -> None:
        self.file, self.path, self._fsync = file, path, fsync
        self._end = 0  # end of the last whole chunk

    @classmethod
    def at_path(cls, path: Path, header: dict[str, Any], fsync: bool) -> _Appender:
        try:
            if path.exists() and not path.is_symlink() and stat.S_ISREG(path.stat().st_mode):
                path.unlink()  # an older recording of that name stays readable for whoever still has it open
            file = path.open("wb", buffering=0)
        except OSError as error:
            raise RecordingError(f"{path}: cannot be written ({error.strerror}); choose a folder that exists and is "
                                 "writable") from error
        appender = cls(file, path, fsync)
        try:
            appender._write(encode_header(header))
        except RecordingError:
            file.close()
            raise
        return appender

    @classmethod
    def temporary(cls) -> _Appender:
        try:
            return cls(tempfile.TemporaryFile(prefix="sesshoku-", buffering=0), None, False)
        except OSError as error:
            raise RecordingError(f"{tempfile.gettempdir()}: no temporary file can be made there ({error.strerror}); "
                                 "set TMPDIR, or give the recording a path") from error

    def source(self) -> _Source:
        return _Source(self.path, self.file)

    def append(self, rows: int, arrays: Sequence[np.ndarray]) -> int:
        """Write a chunk; returns the offset of its body."""
        body = b"".join(np.ascontiguousarray(array, dtype=FLOAT).tobytes() for array in arrays)
        begin = self._end
        self._write(chunk_header(CHUNK, rows, body) + body)
        return begin + HEADER_SIZE

    def append_film(self, kind: bytes, body: bytes) -> None:
        if self.path is not None:
            body += bytes(-len(body) % 8)  # numbers behind it stay on multiples of 8 bytes
            self._write(chunk_header(kind, 0, body) + body)

    def finish(self, complete: bool) -> None:
        """Close a file that has a path; a temporary one stays open to be read."""
        if self.path is None:
            return
        try:
            if complete:
                self._write(chunk_header(END, 0, b""))
        finally:
            try:
                self.file.close()
            except OSError as error:  # network file systems report here what a write could not do
                self._fail(error)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            self.file.seek(self._end)  # over the remains of a write that an interrupt cut short
            while left:
                left = left[self.file.write(left):]
            if self._fsync:
                os.fsync(self.file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self.file.truncate(self._end)
            self._fail(error)
        self._end += len(data)

    def _fail(self, error: OSError) -> NoReturn:
        where = self.path or f"temporary file in {tempfile.gettempdir()}"
        raise RecordingError(f"{where}: writing the recording failed ({error.strerror}); what was written before is "
                             "readable. Free some space, record fewer channels or at a lower rate") from error


def encode_header(header: dict[str, Any]) -> bytes:
    text = json.dumps(header, ensure_ascii=False, allow_nan=True).encode()
    first_length = len(_first_line(text))
    text += b" " * (-(first_length + len(text) + 1) % 8) + b"\n"
    return _first_line(text) + text


def _first_line(text: bytes) -> bytes:
    return b"%s %d %012d %08x\n" % (FORMAT, VERSION, len(text), zlib.crc32(text))  # always the same length


def chunk_header(kind: bytes, rows: int, body: bytes) -> bytes:
    head = CHUNK_HEADER.pack(kind, rows, len(body), zlib.crc32(body))
    return head + struct.pack("<I", zlib.crc32(head))


def read_header(file: BinaryIO, path: Path) -> dict[str, Any]:
    """The JSON header; RecordingError where it is not a recording or the header is incomplete."""
    first = file.readline(LONGEST_FIRST_LINE)
    if not first.startswith(FORMAT):
        raise RecordingError(f"{path}: is not a recording of sesshoku; give a file written by run(path=...) or save()")
    damaged = RecordingError(f"{path}: the header is cut or damaged, so nothing can be read; record again")
    fields = re.fullmatch(rb"%s (\d+) (\d{12}) ([0-9a-f]{8})\n" % FORMAT, first)
    if fields is None:
        raise damaged
    version, length, crc = int(fields[1]), int(fields[2]), int(fields[3], 16)
    if version != VERSION:
        raise RecordingError(f"{path}: format version {version} is not known to this sesshoku, which reads {VERSION}; "
                             "update sesshoku")
    text = file.read(min(length, os.fstat(file.fileno()).st_size, MOST_JSON + 1))
    if length <= MOST_JSON and (len(text) != length or zlib.crc32(text) != crc):
        raise damaged
    header = parse_json(path, text)
    check_header(path, header)
    return header


def scan(file: BinaryIO, row_size: int, film: list[tuple[bytes, bytes]] | None = None) -> tuple[list[Frame], bool]:
    """Index the chunks from the present position on; whether the end mark was reached. Every CRC is checked.

    film: takes the parts of the film that are met.
    """
    frames: list[Frame] = []
    size, position = os.fstat(file.fileno()).st_size, file.tell()
    while True:
        head = file.read(HEADER_SIZE)
        if len(head) < HEADER_SIZE or zlib.crc32(head[:-4]) != struct.unpack("<I", head[-4:])[0]:
            return frames, False
        kind, rows, length, crc = CHUNK_HEADER.unpack(head[:-4])
        if kind == END:
            return frames, True
        position += HEADER_SIZE
        if kind in (SHAPES, LOOKS) and position + length <= size:
            body = file.read(length)
            if zlib.crc32(body) != crc:
                return frames, False
            if film is not None:
                film.append((kind, body))
            position += length
            continue
        if kind != CHUNK or length != 8 * rows * row_size or position + length > size or _crc(file, length) != crc:
            return frames, False
        frames.append(Frame(rows, position, None))
        position += length


def _crc(file: BinaryIO, length: int) -> int:
    crc = 0
    while length:
        part = file.read(min(length, 2**20))
        if not part:
            return -1
        crc, length = zlib.crc32(part, crc), length - len(part)
    return crc


def open_file(path: Path) -> tuple[dict[str, Any], Store, bool]:
    """Read header and index of a file: header, its samples, and whether it is complete."""
    check_regular(path)
    try:
        with path.open("rb") as file:
            header = read_header(file, path)
            sizes = [1] + [math.prod(channel["shape"]) for channel in header["channels"]]
            store = Store(sizes)
            frames, complete = scan(file, sum(sizes), store.film)
            store.adopt(_Source(path, file), frames)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror})") from error
    return header, store, complete
