"""Recordings from outside: mutants, bombs and wrong files are RecordingErrors, within limits."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from fake_simulation import FakeSimulation
from recording_mutants import changed_npz, changed_ssk
from sesshoku.errors import RecordingError
from sesshoku.recording import Recorder, Recording, outside
from sesshoku.recording.film import MEMORY, Film, Look, _pack
from sesshoku.recording.stream import SHAPES, chunk_header, encode_header
from support import SEED, sample_count


def recorded(path: Path) -> Path:
    """A recording of 30 samples with shapes to draw."""
    sim = FakeSimulation()
    recorder = Recorder(sim, ["poses", "energy"], path=path if path.suffix == ".ssk" else None)
    for _ in range(30):
        recorder.sample(sim)
        sim.step()
    recording = recorder.finish()
    if path.suffix != ".ssk":
        recording.save(path)
    return path


def use(path: Path) -> None:
    """Read all there is."""
    recording = Recording.load(path)
    assert repr(recording) and len(recording.time) == len(recording)
    for name in recording:
        assert len(recording[name]) == len(recording)
    recording.film.at(0.0)
    recording.header()


@pytest.mark.parametrize("suffix", [".ssk", ".npz"])
def test_mutants_are_read_or_refused_with_an_error_of_ours(tmp_path, suffix):
    good = recorded(tmp_path / f"good{suffix}").read_bytes()
    change, path = changed_ssk if suffix == ".ssk" else changed_npz, tmp_path / f"bad{suffix}"
    refused = 0
    for n in range(sample_count(300, 5000)):
        path.write_bytes(change(np.random.default_rng([SEED, 26, n]), good))
        try:
            use(path)
        except RecordingError as error:
            refused += 1
            assert str(path) in str(error) or "time runs" in str(error), (n, str(error))
    assert refused > 30


# ---- bombs


def test_a_film_that_unpacks_without_end_is_refused(tmp_path):
    """8 MB of file that would be 8 GB of memory."""
    header = {"channels": [], "meta": {}}
    bomb = zlib.compress(bytes(outside.MOST_PACKED + 8), 9)
    bomb += bytes(-len(bomb) % 8)
    assert len(bomb) < 2**20
    path = tmp_path / "bomb.ssk"
    path.write_bytes(encode_header(header) + chunk_header(SHAPES, 0, bomb) + bomb)
    with pytest.raises(RecordingError, match="bomb.ssk: .*film unpacks to more than 256 MB"):
        Recording.load(path)


def test_looks_in_many_parts_stay_within_memory():
    seen = Look(np.zeros((20_000, 11), np.float32), np.zeros((0, 5), np.float32), np.zeros((0, 7), np.float32),
                np.zeros((0, 4), np.float32))
    part = _pack([0.0, 1.0], [seen, seen])
    film = Film.from_bytes(None, [part] * (3 * MEMORY // (2 * seen.contacts.nbytes)))
    assert sum(one.contacts.nbytes for one in film.looks) <= MEMORY and len(film.times) == len(film.looks) > 10


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(outside.read_arrays, "__defaults__", (2**20,))
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, time=np.zeros(2**18))
    assert path.stat().st_size < 10_000
    with pytest.raises(RecordingError, match="bomb.npz: unpacks to 1 arrays, 2 MB together; at most 10000, 1 MB"):
        Recording.load(path)


def test_an_array_that_promises_more_than_there_is(tmp_path):
    """2^50 numbers in a header of a hundred bytes."""
    path, entry = tmp_path / "bomb.npz", io.BytesIO()
    np.lib.format.write_array_header_2_0(entry, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("time.npy", entry.getvalue())
    with pytest.raises(RecordingError, match="an array of 9007199254740992 bytes in"):
        Recording.load(path)


def test_an_encrypted_archive_is_refused(tmp_path):
    path = tmp_path / "secret.npz"
    data = bytearray(recorded(tmp_path / "good.npz").read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        for entry in archive.infolist():
            data[entry.header_offset + 6] |= 1
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="is encrypted; save it without a password"):
        Recording.load(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[1]", "7", "null", '{"channels": 5, "meta": {}}',
                                  '{"channels": [{"name": "a"}], "meta": {}}', "9" * 10_000])
def test_headers_that_are_none(tmp_path, text):
    body = text.encode()
    first = b"sesshoku-recording 1 %012d %08x\n" % (len(body), zlib.crc32(body))
    (tmp_path / "a.ssk").write_bytes(first + body)
    with pytest.raises(RecordingError, match="a.ssk: .*header"):
        Recording.load(tmp_path / "a.ssk")
    np.savez(tmp_path / "a.npz", meta=np.array(text), time=np.zeros(1))
    with pytest.raises(RecordingError, match="a.npz: .*header"):
        Recording.load(tmp_path / "a.npz")


def test_a_header_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "MOST_JSON", 100)
    monkeypatch.setattr("sesshoku.recording.stream.MOST_JSON", 100)
    (tmp_path / "a.ssk").write_bytes(encode_header({"channels": [], "meta": {"scene": "x" * 200}}))
    with pytest.raises(RecordingError, match="header is longer than"):
        Recording.load(tmp_path / "a.ssk")


@pytest.mark.parametrize("point", [0xFFFFFFFF, 0x110000, 0xD800])
def test_text_that_is_none(tmp_path, point):
    np.savez(tmp_path / "a.npz", meta=np.array([point], np.uint32).view("<U1").reshape(()), time=np.zeros(1))
    with pytest.raises(RecordingError, match="text that is none"):
        Recording.load(tmp_path / "a.npz")


def test_pickles_in_an_archive_are_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    np.savez(tmp_path / "a.npz", time=np.array([Trap()], dtype=object), meta=np.array(json.dumps({})))
    with pytest.raises(RecordingError, match="array of object"):
        Recording.load(tmp_path / "a.npz")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("suffix", [".ssk", ".npz"])
def test_pipes_devices_and_folders_are_no_recordings(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(RecordingError, match="a folder, a device or a pipe"):
            Recording.load(tmp_path / f"{name}{suffix}")


def test_samples_of_another_shape_are_refused(tmp_path):
    meta = {"channels": [{"name": "a", "shape": [2], "labels": [["x", "y"]], "unit": "m"}], "truncated": False}
    np.savez(tmp_path / "a.npz", time=np.zeros(3), a=np.zeros((4, 2)), meta=np.array(json.dumps(meta)))
    with pytest.raises(RecordingError, match=r"'a' has float64 \(4, 2\) where float64 \(3, 2\)"):
        Recording.load(tmp_path / "a.npz")


def test_what_was_written_before_these_checks_is_still_read(tmp_path):
    """Chunks without rows, parts of a film with padding, meta without keys that came later."""
    header = {"channels": [{"name": "a", "shape": [], "labels": [], "unit": ""}], "meta": {"scene": None}}
    body = struct.pack("<4d", 0.0, 1.0, 5.0, 6.0)
    (tmp_path / "a.ssk").write_bytes(encode_header(header) + chunk_header(b"SSKC", 0, b"")
                                     + chunk_header(b"SSKC", 2, body) + body + chunk_header(b"SSKE", 0, b""))
    recording = Recording.load(tmp_path / "a.ssk")
    assert recording["a"].tolist() == [5.0, 6.0] and not recording.truncated
