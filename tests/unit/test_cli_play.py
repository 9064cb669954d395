"""`sesshoku play` and `sesshoku run --replay`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import Call, caller
from sesshoku.apps.crane import demos
from sesshoku.apps.crane.game import Game
from sesshoku.apps.crane.motion import Inputs


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(monkeypatch, capsys)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    game, path = Game(), tmp_path_factory.mktemp("demos") / "round_0001.npz"
    recorder = demos.Recorder(game.round)
    for n in range(60):
        held = Inputs(x=1.0, z=-0.5, grab=n > 30)
        recorder.before(game.sim, held)
        game.step(held)
        recorder.after(game.sim)
    return recorder.save(path)


def test_a_demonstration_plays_again(call: Call, demo: Path) -> None:
    said = call("run", "--replay", demo)
    assert said.code == 0 and "the same, bit for bit" in said.out and "60 steps of 0.02 s" in said.out
    found = call("run", "--replay", demo, "--method", "springs", "--dt", 0.02, "--json").json
    assert found["exact"] and found["steps"] == 60 and found["score"] == 0 and found["differs_at"] is None


def test_one_that_goes_another_way_fails(call: Call, demo: Path, tmp_path: Path) -> None:
    arrays = demos.read(demo)
    arrays["inputs"][10, 0] = 0.5
    np.savez(tmp_path / "other.npz", **arrays)
    said = call("run", "--replay", tmp_path / "other.npz")
    assert said.code == 1 and "differs from step 11 on" in said.out


def test_what_does_not_go_with_it_is_refused(call: Call, demo: Path, tmp_path: Path) -> None:
    for more in (["--method", "exact"], ["--dt", "0.01"], ["--time", "3"], ["examples/crate_thrown.toml"],
                 ["-o", "limit=0.02"], ["--record", tmp_path / "a.npz"]):
        said = call("run", "--replay", demo, *more)
        assert said.code == 2 and said.err.startswith("error: ") and len(said.err.splitlines()) == 1, more
    said = call("run", "--replay", tmp_path / "none.npz")
    assert said.code == 2 and "none.npz" in said.err
    np.savez(tmp_path / "old.npz", **(demos.read(demo) | {"version": "0.0.0"}))
    said = call("run", "--replay", tmp_path / "old.npz")
    assert said.code == 2 and "version of sesshoku (0.0.0; here" in said.err


def test_run_needs_a_file_still(call: Call) -> None:
    said = call("run")
    assert said.code == 2 and "Missing argument 'FILE'" in said.err


def test_play_names_what_it_does_not_know(call: Call, tmp_path: Path) -> None:
    pytest.importorskip("nicegui", reason="NiceGUI is not installed (extra `view`)")
    said = call("play", "checkers")
    assert said.code == 2 and "checkers" in said.err and "crane" in said.err
    said = call("play", "crane", "--method", "sprigns")
    assert said.code == 2 and "sprigns" in said.err
    (tmp_path / "file").touch()
    said = call("play", "crane", "--record-demos", tmp_path / "file")
    assert said.code == 2 and "no folder" in said.err


def test_play_shows_the_page_and_says_what_it_wrote(call: Call, tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nicegui", reason="NiceGUI is not installed (extra `view`)")
    shown = {}

    def show(sim, *, page, **options):
        shown.update(options, method=sim.method.keyword, dt=sim.dt)
        page.placed(sim)
        page.receive(page.inputs[0](type="key", key="right", down=True), 1)
        for _ in range(5):
            page.before_step(sim)
            sim.step()
            page.after_step(sim)

    monkeypatch.setattr("sesshoku.view.show", show)
    said = call("play", "crane", "--record-demos", tmp_path, "--no-browser", "--port", 1234, "--method",
                "springs:recommended")
    assert said.code == 0 and "round_0001.npz" in said.out
    assert shown == {"host": "127.0.0.1", "port": 1234, "browser": False, "method": "springs:recommended", "dt": 0.02}
    assert demos.replay(tmp_path / "round_0001.npz").exact
