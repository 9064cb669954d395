"""The game's page without a browser: what websocket clients may say, and what they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed (extra `view`)")

from sesshoku.apps.crane import demos
from sesshoku.apps.crane.game import game_method
from sesshoku.apps.crane.motion import Inputs
from sesshoku.errors import RecordingError
from sesshoku.simulation.simulation import Simulation
from sesshoku.view import Viewer
from sesshoku.view.crane import KEEP, CranePage, Key, LetGo, Stick
from sesshoku.view.messages import Reader
from support import SEED, sample_count
from viewing import Guest, viewing
from waiting import until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demos")


@pytest.fixture(scope="module")
def game(folder: Path) -> Iterator[Viewer]:
    page = CranePage(demos=folder)
    sim = Simulation(page.round.scene, game_method("springs"), page.round.dt)
    sim.step(0)
    with viewing(sim, page) as made:
        yield made


def crane(guest: Guest) -> np.ndarray:
    return np.array(guest.status["page"]["crane"])


def told(guest: Guest) -> bool:
    return bool(guest.status.get("page"))


def fresh(guest: Guest) -> None:
    guest.send(type="let_go")  # a key held down would begin it at once
    guest.send(type="new_round")
    guest.until(lambda g: told(g) and g.status["page"]["phase"] == "ready" and g.status["page"]["crane"][2] == 3.0)


def test_keys_of_a_client_move_the_crane_until_they_are_up(game: Viewer) -> None:
    with Guest(game) as guest:
        fresh(guest)
        start = crane(guest)
        guest.send(type="key", key="right", down=True)
        guest.send(type="key", key="grab", down=True)
        guest.until(lambda g: crane(g)[0] > start[0] + 0.1 and g.status["page"]["closed"])
        assert guest.status["page"]["phase"] == "playing"
        guest.send(type="key", key="right", down=False)
        guest.until(lambda g: g.status["page"]["speed"] == [0.0, 0.0, 0.0])


def test_materials_are_part_of_the_game(game: Viewer) -> None:
    """There is no panel for them, and a message is refused: rounds could not be played again."""
    with Guest(game) as guest:
        fresh(guest)
        before = [dict(material) for material in game.runner.status()["materials"]]
        guest.send(type="material", material=0, field="static_friction", value=0.0)
        guest.until(lambda g: g.status["notice"] == "no such material")
        assert game.runner.status()["materials"] == before


def test_a_client_that_leaves_lets_go(game: Viewer) -> None:
    with Guest(game) as watcher:
        fresh(watcher)
        with Guest(game) as player:
            player.send(type="stick", x=1.0, y=0.0)
            watcher.until(lambda g: g.status["page"]["speed"][0] > 0.1)
        watcher.until(lambda g: g.status["page"]["speed"] == [0.0, 0.0, 0.0])


def test_rounds_are_written_and_play_again(game: Viewer, folder: Path) -> None:
    with Guest(game) as guest:
        fresh(guest)
        before = set(folder.iterdir())
        guest.send(type="key", key="right", down=True)
        guest.until(lambda g: crane(g)[0] > -1.8)
        guest.send(type="stick", x=-0.25, y=0.125)
        guest.until(lambda g: crane(g)[0] > -1.2)
        guest.send(type="let_go")
        fresh(guest)
    (written,) = set(folder.iterdir()) - before
    found = demos.read(written)
    assert not found["success"] and {0.75, 1.0} <= set(found["inputs"][:, 0].tolist())
    assert demos.replay(written).exact


def test_a_round_under_way_is_kept_in_its_file(game: Viewer, folder: Path) -> None:
    """A game that is killed loses no more than the last seconds: what is on the disk plays again by itself."""
    with Guest(game) as guest:
        fresh(guest)
        before = set(folder.glob("round_*"))
        game.runner.speed = 4.0
        guest.send(type="stick", x=0.3, y=0.1)
        until(lambda: len(set(folder.glob("round_*")) - before) == 1)
        (kept,) = set(folder.glob("round_*")) - before
        game.runner.speed = 1.0
        assert game.runner.page.round.state.phase == "playing" and kept not in game.runner.page.written
        part = demos.read(kept)
        assert len(part["inputs"]) == KEEP / 0.02 and not part["finished"]
        assert demos.replay(kept).exact
        guest.until(lambda g: g.status["page"]["demos"]["now"] == "recording")
        fresh(guest)
        guest.until(lambda g: kept.name in g.status["page"]["demos"]["last"])
        assert set(folder.iterdir()) - before == {kept}  # the same file, now with all of the round
        assert len(demos.read(kept)["inputs"]) > len(part["inputs"]) and demos.replay(kept).exact


def test_a_switch_of_the_law_ends_the_demonstration_and_that_is_told(game: Viewer) -> None:
    with Guest(game) as guest:
        fresh(guest)
        guest.until(lambda g: g.status["page"]["demos"]["now"].startswith("recorded from the first key"))
        guest.send(type="key", key="right", down=True)
        guest.until(lambda g: g.status["page"]["demos"]["now"] == "recording")
        count = len(game.runner.page.written)
        guest.send(type="method", name="springs:recommended")
        guest.until(lambda g: g.status["page"]["demos"]["now"].startswith("not recorded: the law was switched"))
        assert len(game.runner.page.written) == count + 1 and guest.status["page"]["phase"] == "playing"
        guest.send(type="method", name="springs")
        until(lambda: game.sim.method.keyword == "springs")
        fresh(guest)
        guest.until(lambda g: g.status["page"]["demos"]["now"].startswith("recorded from the first key"))


def test_a_full_disk_is_told_and_the_game_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    page = CranePage(demos=tmp_path)
    sim = Simulation(page.round.scene, game_method("springs"), page.round.dt)
    page.placed(sim)
    monkeypatch.setattr(demos.np, "savez_compressed", full)
    page.receive(Key(type="key", key="right", down=True), 1)
    for _ in range(3):
        page.before_step(sim)
        sim.step()
        page.after_step(sim)
    page.placed(sim)
    assert "No space left" in page._told()["last"] and not page.written
    assert page.recorder.start is None and not list(tmp_path.iterdir())


def test_the_menu_lists_all_methods_that_have_contact(game: Viewer) -> None:
    offered = {entry["name"]: entry["refused"] for entry in game.runner.status()["methods"]}
    assert {"springs", "exact", "lcp", "volume:recommended"} <= set(offered) and "none" not in offered


@pytest.mark.parametrize("bad", [
    {"type": "key", "key": "jump", "down": True}, {"type": "key", "key": "left"},
    {"type": "key", "key": "left", "down": 1},
    {"type": "stick", "x": 2.0, "y": 0.0}, {"type": "stick", "x": "1", "y": 0.0}, {"type": "stick", "x": 0.0},
    {"type": "new_round", "seed": 1}, {"type": "key", "key": "left", "down": True, "more": 0},
])
def test_messages_out_of_shape_are_dropped(bad: dict[str, Any]) -> None:
    assert Reader(CranePage.inputs).read(json.dumps(bad)) is None


def test_whatever_clients_hold_is_one_input_within_bounds() -> None:
    """Any mixture of messages from several browsers gives inputs from -1 to 1; opposite keys cancel."""
    rng, page = np.random.default_rng(SEED), CranePage()
    keys = ("left", "right", "forward", "back", "up", "down", "turn_left", "turn_right", "grab", "hurry")
    for _ in range(sample_count(300, 10_000)):
        client = int(rng.integers(3))
        match int(rng.integers(4)):
            case 0 | 1:
                page.receive(Key(type="key", key=keys[rng.integers(len(keys))], down=bool(rng.integers(2))), client)
            case 2:
                x, y = (float(value) for value in rng.uniform(-1, 1, 2))
                page.receive(Stick(type="stick", x=x, y=y), client)
            case _:
                page.receive(LetGo(type="let_go"), client) if rng.random() < 0.2 else page.left(client)
        held = page.held()
        assert max(abs(held.x), abs(held.y), abs(held.z), abs(held.turn)) <= 1.0
    for client in range(3):
        page.left(client)
    assert page.held() == Inputs()


def test_a_folder_that_cannot_be_is_refused_before_the_game(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="no folder"):
        CranePage(demos=tmp_path / "file")
