"""`sesshoku cache`: what is kept, how old it is, what came with the package; clearing asks first."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import pytest

from command_line import Call, caller
from sesshoku.compiled import shipped, store

DAY = 86400.0


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache with two kernels, an entry of ten days ago, a mesh's pieces, and a file that is not ours."""
    made = tmp_path / "cache"
    monkeypatch.setenv("SESSHOKU_CACHE", str(made))
    kept = store.Store(made / "kernels")
    for n in range(2):
        kept.write("kernel", f"{n:02x}" * 20, {}, bytes(1000))
    kept.write("entry", "ee" * 20, {}, bytes(5000))
    then = time.time() - 10.2 * DAY
    os.utime(kept.path("entry", "ee" * 20), (then, then))
    (made / "convex_pieces").mkdir()
    (made / "convex_pieces" / "heart.npz").write_bytes(bytes(300))
    (made / "letter.txt").write_text("somebody's own")
    return made


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    from sesshoku.cli import cache

    monkeypatch.setattr(cache.out, "_width", 200)
    return caller(monkeypatch, capsys)


def test_what_is_kept(call: Call, root: Path) -> None:
    found = call("cache", "--json").json
    assert found["folder"] == str(root)
    rows = {row["what"]: row for row in found["rows"]}
    assert rows["kernels, as bitcode"]["entries"] == 2
    assert rows["machine code that Python calls"]["entries"] == 1
    assert rows["machine code that Python calls"]["bytes"] > 5000
    assert rows["machine code, shared"] == {"what": "machine code, shared", "entries": 0, "bytes": 0, "newest": None,
                                            "oldest": None}
    assert rows["convex pieces of meshes"]["bytes"] == 300
    assert found["bytes"] == sum(row["bytes"] for row in found["rows"])
    assert found["limit"] == store.LIMIT
    said = call("cache")
    assert said.code == 0
    assert str(root) in said.out and "10 days ago" in said.out and "today" in said.out
    assert "bounded to 1.00 GiB" in said.out
    assert "no code came with the package" in said.out


def test_an_empty_cache_is_shown_and_cleared(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "nowhere"))
    assert call("cache", "--json").json["bytes"] == 0
    assert "holds nothing" in call("cache", "--clear").out
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(("answer", "cleared"), [("n\n", False), ("", False), ("y\n", True)])
def test_clearing_asks_first(call: Call, root: Path, monkeypatch: pytest.MonkeyPatch, answer: str,
                             cleared: bool) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    said = call("cache", "--clear")
    assert (said.code == 0) == cleared
    assert (root / "kernels").exists() != cleared
    assert "Remove 0.0 MiB" in said.out


def test_clearing_takes_what_is_ours_and_nothing_else(call: Call, root: Path) -> None:
    said = call("cache", "--clear", "--yes")
    assert said.code == 0 and "removed" in said.out
    assert [path.name for path in root.iterdir()] == ["letter.txt"]
    assert call("cache", "--json").json["bytes"] == 0


def test_what_came_with_the_package(call: Call, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder of other versions is shown with the reason why it does not serve, and is never cleared."""
    folder = tmp_path / "shipped"
    store.Store(folder).write("entry", "ab" * 20, {}, bytes(700))
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setattr(shipped, "described", lambda: {
        "processor": {"triple": "t", "name": "x86-64-v3", "features": ""},
        "versions": shipped.versions() | {"numba": "0.1"}})
    said = call("cache")
    assert "came with the package: 1 files" in said.out
    assert "does not serve here: it was made with numba 0.1" in said.out
    call("cache", "--clear", "--yes")
    assert store.Store(folder).has("entry", "ab" * 20)
