"""Recordings and demonstrations with something changed: bytes, headers, entries."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

JUNK: tuple[Any, ...] = (None, 0, -1, 2**70, 1.5, float("nan"), "", "x", [], {}, [[]], [None], [1], True, [[["a"]]],
                         {"a": {}}, -3, "\x00", "../x", ["a"] * 3)


def changed_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Bits flipped, bytes put in, taken out, doubled, or cut."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        kind, at = int(rng.integers(6)), int(rng.integers(max(len(out), 1)))
        size = int(2 ** rng.integers(0, 10))
        if kind == 0 and out:
            out[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            out[at:at] = rng.bytes(size)
        elif kind == 2:
            del out[at:at + size]
        elif kind == 3:
            out[at:at] = out[at:at + size]
        elif kind == 4:
            out[at:at + size] = b"\xff" * size
        else:
            del out[at:]
    return bytes(out)


def changed_json(rng: np.random.Generator, found: Any) -> Any:
    """The same with one value, anywhere in it, replaced by another kind of thing, taken out or doubled."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            places.append((value, key))
            walk(value[key])

    copied = json.loads(json.dumps(found))
    walk(copied)
    holder, key = places[int(rng.integers(len(places)))]
    kind = int(rng.integers(3))
    if kind == 0 and isinstance(holder, (dict, list)):
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key] = JUNK[int(rng.integers(len(JUNK)))]
    return copied


def changed_ssk(rng: np.random.Generator, data: bytes) -> bytes:
    """Bytes changed anywhere, or a header that says something else with checksums that agree."""
    if rng.random() < 0.4:
        return changed_bytes(rng, data)
    from sesshoku.recording.stream import encode_header

    first, rest = data.split(b"\n", 1)
    length = int(first.split()[2])
    header, body = json.loads(rest[:length]), rest[length:]
    if rng.random() < 0.6:
        return encode_header(changed_json(rng, header)) + body
    return encode_header(header) + _rechecked(changed_bytes(rng, body))


def _rechecked(body: bytes) -> bytes:
    """Chunks whose checksums agree with what they hold by now."""
    out, at = bytearray(body), 0
    while at + 24 <= len(out):
        kind, rows, length, _ = struct.unpack("<4sIQI", out[at:at + 20])
        if length > len(out):
            break
        head = struct.pack("<4sIQI", kind, rows, length, zlib.crc32(out[at + 24:at + 24 + length]))
        out[at:at + 24] = head + struct.pack("<I", zlib.crc32(head))
        at += 24 + length
    return bytes(out)


def changed_npz(rng: np.random.Generator, data: bytes) -> bytes:
    """Bytes changed anywhere, or in an entry with checksums that agree, or an array that is another one."""
    if rng.random() < 0.3:
        return changed_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(list(entries)))
    kind = int(rng.integers(5))
    if kind == 0:
        entries[name] = changed_bytes(rng, entries[name])
    elif kind == 1:
        del entries[name]
    elif kind == 2 and "meta.npy" in entries:
        meta = json.loads(str(np.load(io.BytesIO(entries["meta.npy"]))))
        entries["meta.npy"] = _npy(np.array(json.dumps(changed_json(rng, meta))))
    else:
        entries[name] = _npy(_other_array(rng, np.load(io.BytesIO(entries[name]))))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, body in entries.items():
            archive.writestr(key, body)
    return out.getvalue()


def _other_array(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    number = values.dtype.kind in "fiub"
    choices: list[Any] = [values[..., None], values.astype(str), np.zeros(3), np.array("x"), np.zeros((0, 2)),
                          values.reshape(-1)[:-1], np.array([1 + 2j])]
    if number and values.size:
        for bad in (np.nan, np.inf, -1, 2**62, 10**6):
            other = values.astype(np.float64) if values.dtype.kind == "f" else values.astype(np.int64)
            if other.dtype.kind == "i" and not np.isfinite(bad):
                continue
            other.reshape(-1)[int(rng.integers(other.size))] = bad
            choices += [other, other]
    return np.asarray(choices[int(rng.integers(len(choices)))])


def _npy(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, values, allow_pickle=False)
    return out.getvalue()
