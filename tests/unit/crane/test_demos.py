"""Demonstrations: what they hold, that they play again bit for bit, and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recording_mutants import changed_npz
from sesshoku.apps.crane import demos
from sesshoku.apps.crane.game import Game
from sesshoku.apps.crane.motion import Inputs
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.errors import RecordingError, SimulationDiverged
from support import SEED, sample_count


def recorded(path: Path, method: str = "springs", idle: int = 7, most: int = 2000) -> Game:
    """A round that starts after some idle steps, written down."""
    game, pilot = Game(method), Pilot("red_box")
    recorder = demos.Recorder(game.round)
    for n in range(idle + most):
        held = Inputs() if n < idle else pilot.inputs(game)
        recorder.before(game.sim, held)
        game.step(held)
        recorder.after(game.sim)
        if pilot.stage == "done":
            break
    recorder.save(path)
    return game


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demos") / "round.npz"
    recorded(path)
    return path


def test_it_holds_what_its_description_says(demo: Path) -> None:
    found = demos.read(demo)
    steps = len(found["inputs"])
    assert found["inputs"].shape == (steps, 6) and list(found["input_names"])[:3] == ["x", "y", "z"]
    assert found["inputs"][0].any()  # from the first key on
    assert found["observations"].shape == (steps + 1, len(found["observation_names"]))
    assert bool(found["success"]) and int(found["score"]) == 10 and found["won"].shape == (1, 2)
    won_at, prize = found["won"][0]
    assert 0 < won_at <= steps and found["prizes"][prize] == "red_box"
    column = list(found["observation_names"]).index("red_box_z")
    assert found["observations"][won_at, column] < 0.0 < found["observations"][won_at - 60, column]
    assert str(found["method"]) == "springs" and '"limit": 0.01' in str(found["options"]) and float(found["dt"]) == 0.02
    names, count = [str(name) for name in found["body_names"]], len(found["contact_step"])
    assert count > steps and found["contact_step"].max() == steps - 1
    for name, width in (("bodies", 2), ("point", 3), ("normal", 3), ("force", 3)):
        assert found[f"contact_{name}"].shape == (count, width)
    gripped = [pair for pair in found["contact_bodies"] if {"red_box", "left_knee"} == {names[k] for k in pair}]
    assert len(gripped) > 100
    assert np.linalg.norm(found["contact_normal"], axis=1) == pytest.approx(np.ones(count))


def test_it_plays_again_bit_for_bit(demo: Path) -> None:
    found = demos.replay(demo, method="springs", dt=0.02)
    assert found.exact and found.differs_at is None and found.largest_difference == 0.0
    assert found.score == 10 and found.won == ("red_box",)


def test_a_changed_input_is_seen(demo: Path, tmp_path: Path) -> None:
    arrays = demos.read(demo)
    arrays["inputs"][100, 0] = -arrays["inputs"][100, 0] + 0.5 * (arrays["inputs"][100, 0] == 0.0)
    np.savez(tmp_path / "changed.npz", **arrays)
    found = demos.replay(tmp_path / "changed.npz")
    assert found.differs_at == 101 and found.largest_difference > 0.0


@pytest.mark.parametrize("changes, said", [
    ({"version": "0.0.0"}, "version of sesshoku"), ({"machine": "abacus"}, "another machine"),
    ({"rules": "cheating"}, "rules"), ({"format": 99}, "layout 99"), ({"method": "sprigns"}, "cannot be made"),
    ({"options": '{"limitt": 1}'}, "limitt"), ({"options": '{"limit": -1}'}, "limit"),
    ({"options": "["}, "cannot be made"),
    ({"prizes": np.array(["cake"])}, "cake"), ({"method": "lcp", "options": "{}"}, "another scene"),
])
def test_what_cannot_play_the_same_is_refused_by_name(demo: Path, tmp_path: Path, changes: dict, said: str) -> None:
    np.savez(tmp_path / "other.npz", **(demos.read(demo) | changes))
    with pytest.raises(RecordingError, match=said) as error:
        demos.replay(tmp_path / "other.npz")
    assert "other.npz" in str(error.value)


def test_method_and_step_asked_for_must_be_the_file_s(demo: Path) -> None:
    with pytest.raises(RecordingError, match="recorded with method 'springs', not 'exact'"):
        demos.replay(demo, method="exact")
    with pytest.raises(RecordingError, match="dt = 0.02 s, not 0.01"):
        demos.replay(demo, dt=0.01)


def test_files_that_are_none_are_refused(tmp_path: Path, demo: Path) -> None:
    (tmp_path / "text.npz").write_text("no numbers")
    np.savez(tmp_path / "empty.npz", a=1)
    (tmp_path / "cut.npz").write_bytes(demo.read_bytes()[:5000])
    for name in ("text.npz", "empty.npz", "cut.npz", "missing.npz"):
        with pytest.raises(RecordingError, match=name):
            demos.replay(tmp_path / name)


@pytest.mark.parametrize("changes, said", [
    ({"inputs": np.zeros((5, 3))}, "inputs"), ({"inputs": np.zeros(())}, "inputs"),
    ({"inputs": np.full((5, 6), "left")}, "inputs"), ({"observations": np.zeros((2, 4))}, "observations"),
    ({"observations": np.zeros(())}, "observations"), ({"start_path": np.zeros(3)}, "start_path"),
])
def test_arrays_out_of_shape_are_refused_by_name(demo: Path, tmp_path: Path, changes: dict, said: str) -> None:
    np.savez(tmp_path / "odd.npz", **(demos.read(demo) | changes))
    with pytest.raises(RecordingError, match=rf"odd\.npz: {said} has"):
        demos.replay(tmp_path / "odd.npz")


def test_damaged_files_are_refused_or_read(demo: Path, tmp_path: Path) -> None:
    """Bytes changed anywhere: nothing but a RecordingError comes out."""
    rng, good, refused = np.random.default_rng(SEED), demo.read_bytes(), 0
    for _ in range(sample_count(200, 5000)):
        bad = bytearray(good[:int(rng.integers(len(good)))] if rng.random() < 0.2 else good)
        for place in rng.integers(max(len(bad), 1), size=int(rng.integers(1, 9))) if bad else ():
            bad[place] = int(rng.integers(256))
        (tmp_path / "bad.npz").write_bytes(bad)
        try:
            demos.read(tmp_path / "bad.npz")
        except RecordingError:
            refused += 1
    assert refused > 100


def test_nothing_played_is_nothing_to_write(tmp_path: Path) -> None:
    game = Game()
    recorder = demos.Recorder(game.round)
    recorder.before(game.sim, Inputs())
    game.step()
    recorder.after(game.sim)
    assert not recorder.used
    with pytest.raises(RecordingError, match="no key"):
        recorder.save(tmp_path / "none.npz")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(file: Any, **_: Any) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    game = Game(seconds=1.0)
    recorder = demos.Recorder(game.round)
    recorder.before(game.sim, Inputs(x=1.0))
    game.step(Inputs(x=1.0))
    recorder.after(game.sim)
    monkeypatch.setattr(demos.np, "savez_compressed", cut)
    with pytest.raises(RecordingError, match="No space left"):
        recorder.save(tmp_path / "round_0001.npz")
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    assert recorder.save(tmp_path / "round_0001.npz") == tmp_path / "round_0001.npz"
    assert [entry.name for entry in tmp_path.iterdir()] == ["round_0001.npz"]


def test_files_are_numbered(tmp_path: Path) -> None:
    folder = tmp_path / "demos"
    assert demos.next_path(folder).name == "round_0001.npz"
    (folder / "round_0007.npz").touch()
    (folder / "notes.txt").touch()
    assert demos.next_path(folder).name == "round_0008.npz"
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="no folder"):
        demos.next_path(tmp_path / "file")


# ---- from outside


def changed(demo: Path, to: Path, **values: Any) -> Path:
    """The demonstration with some arrays replaced."""
    with np.load(demo) as file:
        found = {name: file[name] for name in file.files}
    np.savez(to, **(found | values))
    return to


@pytest.mark.parametrize(("name", "value", "said"), [
    ("start/contacts.counts", np.full(8, 1_000_000), r"contacts.counts \[0\] must lie within"),
    ("start/presses.counts", np.full(8, 1_000_000), r"presses.counts \[0\] must lie within"),
    ("start/springs.counts", np.full(4, 1_000_000), r"springs.counts \[0\] must lie within"),
    ("start/q", np.array(["a"]), "q must hold float64"), ("start/fingerprint", np.zeros(3), "fingerprint"),
    ("inputs", np.full((3, 6), np.nan), "inputs has a value outside -1 .. 1|observations has"),
    ("dt", np.float64(np.nan), "dt has a value outside"), ("dt", np.array("x"), "dt has .* not"),
    ("seconds", np.float64(1e300), "seconds has a value outside"), ("format", np.zeros(2, int), "format has"),
    ("options", np.array("[" * 100_000), "its method cannot be made"),
    ("method", np.array("nothing"), "cannot be made"),
    ("start_path", np.full(9, np.inf), "start_path has a value outside"), ("prizes", np.zeros(3), "prizes has"),
])
def test_a_demonstration_with_bad_values_is_refused(demo: Path, tmp_path: Path, name: str, value: Any,
                                                    said: str) -> None:
    path = changed(demo, tmp_path / "bad.npz", **{name: value})
    with pytest.raises(RecordingError, match=f"bad.npz: .*({said})"):
        demos.replay(path)


def test_mutants_are_played_or_refused(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and bytes changed anywhere; of what is taken, a few steps are played."""
    monkeypatch.setattr(demos, "_play", lambda found, game, sim, law: (game.before_step(sim, Inputs()), sim.step(3)))
    good, path = demo.read_bytes(), tmp_path / "bad.npz"
    for n in range(sample_count(25, 2000)):
        path.write_bytes(changed_npz(np.random.default_rng([SEED, 27, n]), good))
        with contextlib.suppress(RecordingError, SimulationDiverged):
            demos.replay(path)
