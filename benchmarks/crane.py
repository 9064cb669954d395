"""The crane game: time of a step in a scripted round, and how long a key press takes to move the crane.

Latency is measured twice: by a plain websocket client, from sending the key to the first frame in which the crane has
moved; and in a browser, from the key event to the first drawn frame in which it has.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.apps.crane.game import Game, game_method, playable
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.comparison.bench import Comparison
from sesshoku.simulation.simulation import Simulation

METHODS = ("springs", "springs:recommended", "exact")
PRESSES = 60
FLAGS = ("--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
# in the page: milliseconds from each keydown to the first drawn frame whose crane stands elsewhere
WATCH = """(at) => {
  window.late = [];
  let pressed = null, before = 0;
  addEventListener("keydown", (e) => {
    if (!e.repeat) { pressed = performance.now(); before = sesshoku.live.frame.poses[at]; }
  }, true);
  sesshoku.onFrame((frame) => {
    if (pressed === null || Math.abs(frame.poses[at] - before) < 1e-5) return;
    window.late.push(performance.now() - pressed);
    pressed = null;
  });
}"""


def round_times(method: str, prize: str = "red_box") -> dict[str, Any]:
    """Time per step of a scripted round, rules and observation of the game included, and the real-time factor."""
    game = Game(method)
    game.sim.step(0)
    spent: list[float] = []
    for _ in range(3):
        game.new_round()
        pilot = Pilot(prize)
        while pilot.stage != "done" and game.state.phase != "over":
            held = pilot.inputs(game)
            begin = time.perf_counter()
            game.step(held)
            spent.append(time.perf_counter() - begin)
    times = np.array(spent)
    return {"steps": len(times), "median µs per step": round(1e6 * float(np.median(times)), 1),
            "p99 µs per step": round(1e6 * float(np.quantile(times, 0.99)), 1),
            "real-time factor": round(game.sim.dt / float(times.mean()), 1),
            "points of the last round": game.state.score}


def _summary(late: list[float]) -> dict[str, float]:
    return {"presses": len(late), "median ms": round(1e3 * float(np.median(late)), 1),
            "p95 ms": round(1e3 * float(np.quantile(late, 0.95)), 1)}


def _open() -> Any:
    from sesshoku.view import show
    from sesshoku.view.crane import CranePage

    page = CranePage(seconds=1e4)
    sim = Simulation(page.round.scene, game_method("springs"), page.round.dt)
    sim.step(0)
    return show(sim, page=page, block=False, browser=False)


def socket_latency(presses: int = PRESSES) -> dict[str, float]:
    """From a key message to the first frame in which the crane has moved, without a browser."""
    from websockets.sync.client import connect

    from sesshoku.view.frame import HEADER

    viewer, late = _open(), []
    crab = len(HEADER) + 7 * viewer.sim.compiled.frame_names.index("crab")
    port = viewer.server.port
    number = HEADER.index("number")
    try:
        with connect(f"ws://127.0.0.1:{port}/socket", origin=f"http://127.0.0.1:{port}", max_size=None) as socket:

            def frame() -> float:
                while True:
                    data = socket.recv(timeout=30)
                    if not isinstance(data, str):
                        values = np.frombuffer(data, "<f4")
                        socket.send(json.dumps({"type": "drawn", "number": float(values[number])}))
                        return float(values[crab])

            for n in range(presses):
                key = "right" if n % 2 == 0 else "left"
                at = frame()
                while (now := frame()) != at:  # until it rests
                    at = now
                time.sleep(0.02 * np.random.default_rng(n).random())  # at any phase of step and frame
                begin = time.perf_counter()
                socket.send(json.dumps({"type": "key", "key": key, "down": True}))
                while frame() == at:
                    pass
                late.append(time.perf_counter() - begin)
                socket.send(json.dumps({"type": "key", "key": key, "down": False}))
    finally:
        viewer.stop()
    return _summary(late)


def browser_latency(presses: int = PRESSES) -> dict[str, Any]:
    """From a key event in the page to the first drawn frame in which the crane has moved, with software GL."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {"skipped": "playwright is not installed"}
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        return {"skipped": "no Chromium on this machine"}
    viewer = _open()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
            page = browser.new_page(viewport={"width": 720, "height": 440})
            page.set_default_timeout(90_000)
            page.goto(viewer.url)
            page.wait_for_selector("body[data-phase=ready]")
            page.evaluate(WATCH, 7 * viewer.sim.compiled.frame_names.index("crab"))
            for n in range(presses):
                key = "ArrowRight" if n % 2 == 0 else "ArrowLeft"
                page.keyboard.down(key)
                _wait(page, f"window.late.length > {n}")
                page.keyboard.up(key)
                _wait(page, "sesshoku.game.state.speed.every((v) => v === 0)")
                time.sleep(0.1 * np.random.default_rng(n).random())
            late = [1e-3 * value for value in page.evaluate("window.late")]
            frames = page.evaluate("sesshoku.live.framesPerSecond()")
            browser.close()
    finally:
        viewer.stop()
    return _summary(late) | {"frames per second": round(float(frames), 1)}


def _wait(page: Any, condition: str, seconds: float = 60.0) -> None:
    """The page's policy allows no functions from strings, so it is asked again and again."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.01)


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """No peer plays the game; values by name."""
    values: dict[str, Any] = {}
    carried = playable()
    for method in METHODS:
        say(f"crane: a round with {method}")
        values[f"crane, {method}"] = round_times(method) if not carried[method] else {"refused": carried[method]}
    say("crane: latency of a key, without and with a browser")
    values["crane, key to frame"] = socket_latency()
    values["crane, key to drawn frame in the browser"] = browser_latency()
    return [], values


if __name__ == "__main__":
    print(json.dumps(measure(print)[1], indent=1, ensure_ascii=False))
