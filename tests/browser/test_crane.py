"""The crane game in a real browser: keys, buttons and joystick move the crane, and a round by keyboard wins a prize."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsing import Tab
from sesshoku.apps.crane import demos
from sesshoku.apps.crane.game import game_method
from sesshoku.apps.crane.motion import Inputs
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.simulation.simulation import Simulation
from sesshoku.view import Viewer
from sesshoku.view.crane import CranePage
from sesshoku.view.messages import Play, Step
from viewing import viewing
from waiting import PATIENCE, until

CODES = {"left": "ArrowLeft", "right": "ArrowRight", "forward": "ArrowUp", "back": "ArrowDown", "up": "KeyW",
         "down": "KeyS", "grab": "Space"}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    page = CranePage(demos=tmp_path_factory.mktemp("demos"), seconds=600.0)
    sim = Simulation(page.round.scene, game_method("springs"), page.round.dt)
    sim.step(0)
    with viewing(sim, page) as made:
        yield made


@pytest.fixture(scope="module")
def shared_tab(browser: Any, game: Viewer) -> Iterator[Tab]:
    made = Tab(browser, 720, 420)
    made.open(game.url)
    made.page.wait_for_selector("body[data-phase=ready]")
    yield made
    made.page.close()


@pytest.fixture
def tab(shared_tab: Tab, game: Viewer) -> Iterator[Tab]:
    """The game's page at the beginning of a round."""
    began = threading.Event()

    def begin() -> None:
        game.runner.reset()
        began.set()

    assert game.runner.ask(begin) and began.wait(PATIENCE)
    assert game.runner.page.round.state.phase == "ready"
    yield shared_tab
    shared_tab.page.evaluate("sesshoku.game.letGo()")
    until(lambda: game.runner.page.held() == Inputs())  # a key that is still down would begin the next round
    assert not shared_tab.complaints


def place(game: Viewer) -> Any:
    return game.runner.page.round.path.position.copy()


def at_rest(game: Viewer) -> bool:
    return not game.runner.page.round.path.velocity.any()


def test_key_down_moves_the_crane_and_key_up_stops_it(tab: Tab, game: Viewer) -> None:
    for key, axis, sign in (("ArrowRight", 0, 1), ("ArrowUp", 1, 1), ("KeyS", 2, -1), ("KeyW", 2, 1)):
        before = place(game)
        tab.page.keyboard.down(key)
        until(lambda axis=axis, sign=sign, before=before: sign * (place(game) - before)[axis] > 0.05)
        tab.page.keyboard.up(key)
        until(lambda: at_rest(game))
        moved = place(game) - before
        assert all(abs(moved[k]) < 1e-9 for k in range(3) if k != axis)
        now = game.sim.time
        until(lambda now=now: game.sim.time > now + 0.1)
        assert (place(game) == before + moved).all()
    assert tab.get("sesshoku.game.state.phase") == "playing"
    clock = float(tab.get("document.querySelector('.crane-clock').textContent"))
    assert clock < 600.0


def test_the_crane_is_seen_to_move(tab: Tab, game: Viewer) -> None:
    """Poses in the browser follow, and the numbers of speed are shown."""
    number = game.sim.compiled.frame_names.index("crab")
    seen = f"sesshoku.live.frame.poses[{7 * number}]"
    before = tab.get(seen)
    tab.page.keyboard.down("ArrowRight")
    tab.until(f"{seen} > {before} + 0.2")
    tab.page.keyboard.up("ArrowRight")
    words = tab.until("document.querySelector('.crane-speed').textContent")
    assert "real time" in words and "ms a step" in words and "frames/s" in words
    assert tab.pixels()["colors"] > 50


def test_losing_the_window_lets_go_of_all_keys(tab: Tab, game: Viewer) -> None:
    tab.page.keyboard.down("ArrowRight")
    until(lambda: not at_rest(game))
    tab.page.evaluate("window.dispatchEvent(new Event('blur'))")
    until(lambda: at_rest(game))
    tab.page.keyboard.up("ArrowRight")


def test_buttons_and_joystick_move_the_crane(tab: Tab, game: Viewer) -> None:
    page, before = tab.page, place(game)
    page.locator("button[data-key=down]").hover()  # its middle: a line of text more below shifts it a little
    page.mouse.down()
    until(lambda: place(game)[2] < before[2] - 0.05)
    page.mouse.up()
    until(lambda: at_rest(game))
    box = page.locator(".crane-stick").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.2 * box["height"], steps=2)
    until(lambda: (place(game) - before)[:2].min() > 0.05)  # to the right and away
    page.mouse.up()
    until(lambda: at_rest(game))
    grab = page.locator(".crane-grab")
    grab.dispatch_event("pointerdown")
    until(lambda: game.runner.page.round.inputs.grab)
    assert tab.until("document.querySelector('.crane-grab').getAttribute('aria-pressed') === 'true'")
    grab.dispatch_event("pointerdown")
    until(lambda: not game.runner.page.round.inputs.grab)


def test_the_menu_switches_the_method_and_the_game_goes_on(tab: Tab, game: Viewer) -> None:
    offered = tab.get("[...document.querySelectorAll('#method option')].map((o) => o.value)")
    assert "springs" in offered and "exact" in offered and "none" not in offered
    for name in ("springs:recommended", "springs"):
        tab.page.locator("#method").select_option(name)
        until(lambda name=name: game.sim.method.keyword == name)
        assert game.sim.method.options.limit == 0.01  # the game's own
        before = place(game)
        tab.page.keyboard.down("ArrowRight")  # keys belong to the game, not to the menu
        until(lambda before=before: place(game)[0] > before[0] + 0.05)
        tab.page.keyboard.up("ArrowRight")
        assert game.sim.method.keyword == name
    # what each law did stands side by side
    names = "[...document.querySelectorAll('.crane-laws td:first-child')].map((e) => e.textContent)"
    tab.until(f"{names}.sort().join() === 'springs,springs:recommended'")
    tab.until("document.querySelector('.crane-now td').textContent === 'springs'")
    assert "m" in tab.get("document.querySelector('.crane-now td:nth-child(2)').textContent")


def test_a_machine_that_cannot_keep_up_is_said_and_time_goes_slower(tab: Tab, game: Viewer) -> None:
    page = game.runner.page
    usual, seen = page.before_step, [game.sim.time]
    shown = page.state

    def slowly(sim: Simulation) -> None:
        time.sleep(2.5 * sim.dt)
        usual(sim)

    def watched() -> dict[str, Any]:  # asked for every picture
        seen.append(game.sim.time)
        return shown()

    page.before_step, page.state = slowly, watched
    try:
        tab.until("document.querySelector('.crane-speed').textContent.includes(\"can't keep up\")")
        begin, clock, first = time.monotonic(), game.sim.time, len(seen)
        until(lambda: game.sim.time > clock + 1.0)  # it goes on ...
        now = game.sim.time
        assert now - clock < 0.6 * (time.monotonic() - begin)  # ... slower than the clock ...
        assert np.diff(seen[first:]).max() < 1.5 * game.sim.dt  # ... without leaps: every step is seen
    finally:
        del page.before_step, page.state
    begin, clock = time.monotonic(), game.sim.time
    until(lambda: game.sim.time > clock + 0.5)
    now = game.sim.time
    assert now - clock <= time.monotonic() - begin + 0.1  # lost time is not caught up


def test_a_round_by_keyboard_wins_a_prize_and_its_demonstration_plays_again(tab: Tab, game: Viewer) -> None:
    """Decisions by a pilot that sees crane and prize; every key goes through the browser's keyboard.

    Between decisions the game goes on by two steps, and waits for what is pressed then, however slow browser and
    machine are: as a player would see it at a speed where he can follow.
    """
    runner, held, keyboard = game.runner, set(), tab.page.keyboard
    rules, sim = runner.page.round, game.sim
    runner.ask(runner.pause)
    until(lambda: not runner.playing)
    pilot, count = Pilot("red_box"), 2
    for _ in range(1000):  # 40 s of play; it takes about 15
        wanted = pilot.keys(rules.path.position, rules.path.velocity, sim.bodies["red_box"].position, count * sim.dt)
        if pilot.stage == "done":
            break
        for key in held - wanted:
            keyboard.up(CODES[key])
        for key in wanted - held:
            keyboard.down(CODES[key])
        held, arrived = wanted, Inputs.of_keys(wanted)
        until(lambda arrived=arrived: runner.page.held() == arrived)
        before = sim.time
        runner.receive(Step(type="step", count=count))
        done = threading.Event()
        assert runner.ask(done.set) and done.wait(PATIENCE)
        assert sim.time == pytest.approx(before + count * sim.dt)
    assert pilot.stage == "done"
    runner.receive(Play(type="play"))
    until(lambda: rules.score == 10)
    tab.until("document.querySelector('.crane-score').textContent === '10'")
    assert tab.get("document.querySelector('[data-prize=red_box]').className") == "crane-won"
    count = len(game.runner.page.written)
    keyboard.press("KeyR")
    until(lambda: len(game.runner.page.written) > count and rules.state.phase == "ready")
    tab.until("document.querySelector('.crane-score').textContent === '0'")
    written: Path = game.runner.page.written[-1]
    found = demos.replay(written)
    assert found.exact and found.won == ("red_box",)
