"""Stored code: damaged files are made anew, other people's files are refused, the size is bounded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sesshoku.compiled import store as store_module
from sesshoku.compiled.store import MAGIC, Store, distrust, packed, trusted_directory, unpacked
from small_package import UNITS_REPORT, Package

needs_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system without owners of files")
KINDS = ("kernel", "unit", "entry")


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_what_is_written_is_read(small: Store) -> None:
    assert small.read("kernel", "ab" * 20) is None
    small.write("kernel", "ab" * 20, {"calls": [1, 2]}, b"code")
    assert small.read("kernel", "ab" * 20) == ({"calls": [1, 2]}, b"code")
    assert small.read("unit", "ab" * 20) is None
    assert small.has("kernel", "ab" * 20)


def test_no_flipped_bit_and_no_cut_goes_unnoticed() -> None:
    """Every bit of a small file and every length."""
    data = packed("unit", "key", {"name": "f"}, b"some machine code")
    assert unpacked("unit", "key", data) == ({"name": "f"}, b"some machine code")
    for position in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[position] ^= 1 << bit
            assert unpacked("unit", "key", bytes(changed)) is None
        assert unpacked("unit", "key", data[:position]) is None
    assert unpacked("unit", "key", data + b"\0") is None
    assert unpacked("unit", "other", data) is None  # a file under another file's name
    assert unpacked("entry", "key", data) is None


def test_a_damaged_file_is_removed(small: Store) -> None:
    small.write("unit", "ab" * 20, {}, b"code")
    path = small.path("unit", "ab" * 20)
    path.write_bytes(path.read_bytes()[:-1])
    assert small.read("unit", "ab" * 20) is None
    assert not path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_code_is_never_run_and_made_anew(package: Package, kind: str) -> None:
    """A flip in the stored files, and a cut (above: any of them): the result stays right, the files get sound again."""
    assert package.run(UNITS_REPORT).stdout.split()[0] == "21.0"
    sound = {path: path.read_bytes() for path in package.files(kind)}
    assert sound
    for place in (0.5, None):
        for path, data in sound.items():
            changed = bytearray(data)
            if place is None:
                del changed[len(changed) // 2:]
            else:
                changed[int(place * (len(changed) - 1))] ^= 0x10
            path.write_bytes(bytes(changed))
        if kind != "entry":
            for path in package.files("entry"):  # else nobody would look at the damaged ones
                path.unlink()
        assert package.run(UNITS_REPORT).stdout.split()[0] == "21.0"
    for path in sound:
        key, start = path.parent.name[:2] + path.name, len(MAGIC) + 32
        data = path.read_bytes()
        assert data[len(MAGIC):start] == store_module._checksum(kind, key, data[start:])


@needs_owners
def test_files_of_others_are_refused(small: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write("unit", "ab" * 20, {}, b"code")
    monkeypatch.setattr(store_module.os, "geteuid", lambda: os.stat(small.directory).st_uid + 1)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert small.read("unit", "ab" * 20) is None
    assert small.path("unit", "ab" * 20).exists()  # not ours to remove


@needs_owners
@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_may_write_is_refused(small: Store, which: str) -> None:
    small.write("unit", "ab" * 20, {}, b"code")
    path = small.path("unit", "ab" * 20)
    (path if which == "file" else path.parent).chmod(0o777)
    with pytest.warns(RuntimeWarning, match=r"may be written by others \(mode 777\)"):
        assert small.read("unit", "ab" * 20) is None


@needs_owners
def test_a_folder_that_others_may_write_is_not_used(package: Package) -> None:
    folder = package.cache / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    result = package.run()
    assert result.stdout.split() == ["21.0"]
    assert f"compiled code in {folder} is not used: the folder may be written by others" in result.stderr
    assert "SESSHOKU_CACHE" in result.stderr
    assert not list(folder.iterdir())


@needs_owners
def test_written_files_are_the_users_own(small: Store) -> None:
    old = os.umask(0)
    try:
        small.write("unit", "ab" * 20, {}, b"code")
    finally:
        os.umask(old)
    path = small.path("unit", "ab" * 20)
    assert distrust(path.stat()) == distrust(path.parent.stat()) == ""


def test_a_folder_that_takes_no_files_is_replaced(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("a file where the directory should be")
    found = trusted_directory(taken)
    assert found.is_dir()
    assert found != taken


def test_a_store_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    broken = Store(taken)
    broken.write("unit", "ab" * 20, {}, b"code")
    assert broken.read("unit", "ab" * 20) is None


def test_the_size_is_bounded(small: Store) -> None:
    """What was not used for longest goes first; what was used within the hour stays, however much it is."""
    names = [f"{n:02x}" * 20 for n in range(6)]
    for n, key in enumerate(names):
        small.write("unit", key, {}, bytes(1000))
        then = time.time() - 7200.0 * n
        os.utime(small.path("unit", key), (then, then))
    small.path("unit", names[0]).with_name("writing-left").write_bytes(b"")
    os.utime(small.path("unit", names[0]).with_name("writing-left"), (0.0, 0.0))
    size = small.path("unit", names[0]).stat().st_size
    small.bound(3 * size)
    assert [small.has("unit", key) for key in names] == [True, True, True, False, False, False]
    assert not list(small.directory.rglob("writing-*"))
    small.bound(0)
    assert [small.has("unit", key) for key in names] == [True, False, False, False, False, False]


def test_reading_marks_a_file_as_used(small: Store) -> None:
    small.write("unit", "ab" * 20, {}, b"code")
    path = small.path("unit", "ab" * 20)
    os.utime(path, (1.0, 1.0))
    assert small.read("unit", "ab" * 20) is not None
    assert path.stat().st_mtime > 1.0
    assert path.read_bytes().startswith(MAGIC)
