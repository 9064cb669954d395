"""Files from outside, read with limits: archives of arrays, JSON, packed bytes. Every fault is a RecordingError.

A small file can ask for any amount of memory: compressed zeros, a header that promises more than there is, brackets
without end. What is read here is bounded before it is unpacked, and looked at before it is believed.
"""

from __future__ import annotations

import json
import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from sesshoku.errors import RecordingError

MOST_ARCHIVE = 2 * 2**30  # bytes of all arrays of an .npz file, unpacked
MOST_ENTRIES = 10_000  # arrays in it
MOST_JSON = 64 * 2**20  # bytes of a header
MOST_PACKED = 256 * 2**20  # bytes of one part of a film, unpacked
MOST_CHANNELS, MOST_NUMBERS = 10_000, 100_000_000  # channels of a recording, and numbers in one sample
MOST_CHARACTER = 0x10FFFF  # of Unicode
KINDS = "fiubUS"  # element types that are plain values
#: what zipfile, zlib and NumPy raise of files that are none of theirs, cut short or changed
DAMAGED = (OSError, ValueError, KeyError, EOFError, SyntaxError, tokenize.TokenError, TypeError, MemoryError,
           OverflowError, RuntimeError, NotImplementedError, AttributeError, IndexError, zipfile.BadZipFile, zlib.error,
           struct.error)


def check_regular(path: Path) -> None:
    """Refuse what is no file: a device or a pipe would never end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not stat.S_ISREG(mode):
        raise RecordingError(f"{path}: cannot be read (it is a folder, a device or a pipe); give a file")


def read_arrays(path: Path, what: str, most: int = MOST_ARCHIVE) -> dict[str, np.ndarray]:
    """All arrays of an .npz file, plain values only. what: the file should be, for errors."""
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            if len(entries) > MOST_ENTRIES or total > most:
                raise RecordingError(f"{path}: unpacks to {len(entries)} arrays, {total / 2**20:.0f} MB together; at "
                                     "most "
                                     f"{MOST_ENTRIES}, {most / 2**20:.0f} MB are read (an .ssk file has no limit)")
            found = {}
            for entry in entries:
                if entry.flag_bits & 1:
                    raise RecordingError(f"{path}: {entry.filename} is encrypted; save it without a password")
                with archive.open(entry) as file:
                    found[entry.filename.removesuffix(".npy")] = _read_array(file, entry.file_size)
            return found
    except RecordingError:
        raise
    except DAMAGED as error:
        raise RecordingError(f"{path}: is damaged, or not {what} ({_said(error)})") from error


def _read_array(file: IO[bytes], size: int) -> np.ndarray:
    """One .npy file of `size` bytes."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of .npy")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    length = math.prod(shape) * dtype.itemsize
    if length > size:
        raise ValueError(f"an array of {length} bytes in {size}")
    data = file.read(length)
    if len(data) != length:
        raise ValueError("an array is cut short")
    if dtype.kind == "U" and length:
        points = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if points.max() > MOST_CHARACTER or ((points >= 0xD800) & (points < 0xE000)).any():
            raise ValueError("text that is none")
    array = np.frombuffer(data, dtype) if length else np.zeros(math.prod(shape), dtype)
    return array.reshape(shape, order="F" if fortran else "C").copy()


def parse_json(path: Path, text: bytes | str) -> dict[str, Any]:
    """A JSON object."""
    if len(text) > MOST_JSON:
        raise RecordingError(f"{path}: its header is longer than {MOST_JSON // 2**20} MB")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: its header is damaged ({_said(error)})") from error
    if not isinstance(found, dict):
        raise RecordingError(f"{path}: its header is damaged (no table)")
    return found


def unpack(packed: bytes, most: int = MOST_PACKED) -> bytes:
    """Unpacked bytes, at most so many; what follows their end is padding."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise RecordingError(f"a part of the film is damaged ({error})") from error
    if len(data) > most:
        raise RecordingError(f"a part of the film unpacks to more than {most // 2**20} MB")
    return data


# ---- headers ---------------------------------------------------------------------------------------------------------


def check_header(path: Path, header: Mapping[str, Any]) -> None:
    """A header with channels and meta as a Recorder writes them; RecordingError for any other."""
    channels, meta = header.get("channels"), header.get("meta")
    if not isinstance(channels, list) or not isinstance(meta, dict):
        raise RecordingError(f"{path}: its header has no channels or no meta; it is damaged, or not of sesshoku")
    if len(channels) > MOST_CHANNELS:
        raise RecordingError(f"{path}: its header has {len(channels)} channels; at most {MOST_CHANNELS} are read")
    numbers, names = 0, set()
    for channel in channels:
        fault = _channel_fault(channel)
        if fault:
            name = channel.get("name") if isinstance(channel, dict) else channel
            raise RecordingError(f"{path}: channel {name!r:.60}: {fault}; the header is damaged")
        if channel["name"] in names:
            raise RecordingError(f"{path}: channel {channel['name']!r} is there twice; the header is damaged")
        names.add(channel["name"])
        numbers += math.prod(channel["shape"])
    if numbers > MOST_NUMBERS:
        raise RecordingError(f"{path}: a sample has {numbers} numbers; at most {MOST_NUMBERS} are read")
    for key, value in meta.items():
        fault = _meta_fault(key, value)
        if fault:
            raise RecordingError(f"{path}: meta {key!r:.60} {fault} (got {value!r:.60}); the header is damaged")


def _channel_fault(channel: Any) -> str:
    if not isinstance(channel, dict) or not isinstance(channel.get("name"), str):
        return "has no name"
    shape, labels, unit = channel.get("shape"), channel.get("labels"), channel.get("unit")
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size <= MOST_NUMBERS for size in shape) \
            or len(shape) > 32:
        return "its shape is no list of sizes"
    if not isinstance(labels, list) or not all(_is_words(axis) for axis in labels):
        return "its labels are no lists of words"
    if not isinstance(unit, str) and not _is_words(unit):
        return "its unit is no word"
    if [len(axis) for axis in labels] != shape:
        return "its labels do not fit its shape"
    if isinstance(unit, list) and len(unit) != math.prod(shape):
        return "its units do not fit its shape"
    return ""


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


WORDS = ("bodies", "links", "joints", "actuators", "sensors", "actuator_joints")
NUMBERS = ("dt", "stride", "rate")


def _meta_fault(key: str, value: Any) -> str:
    if key in WORDS and not (isinstance(value, list) and all(isinstance(word, str | None) for word in value)):
        return "is no list of words"
    if key in NUMBERS and not (type(value) in (int, float) and 0.0 < value < math.inf):
        return "is no positive number"
    if key == "gravity" and not (isinstance(value, list) and len(value) == 3 and
                                 all(type(x) in (int, float) and math.isfinite(x) for x in value)):
        return "is no vector"
    if key in ("scene", "method", "method_options") and not isinstance(value, str | None):
        return "is no word"
    if key == "versions" and not isinstance(value, dict):
        return "is no table"
    return ""


def check_samples(path: Path, arrays: Mapping[str, np.ndarray], channels: list[dict[str, Any]]) -> list[np.ndarray]:
    """Time and channels as arrays of numbers that belong together."""
    found: list[np.ndarray] = []
    for name, shape in [("time", []), *((channel["name"], channel["shape"]) for channel in channels)]:
        values = arrays.get(name)
        if values is None:
            raise RecordingError(f"{path}: is damaged, or not a recording of sesshoku (it has no {name!r})")
        rows = len(found[0]) if found else len(values) if values.ndim else -1
        if values.dtype != np.float64 or values.shape != (rows, *shape):
            raise RecordingError(f"{path}: {name!r} has {values.dtype} {values.shape} where float64 "
                                 f"{(max(rows, 0), *shape)} is wanted; the file is damaged")
        found.append(values)
    return found


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}".rstrip(": ")
