"""The viewer: what a frame costs in Python, and frames per second in a browser, with 10, 50 and 200 bodies.

Frames per second are of the system's Chromium with software GL (no graphics card), in a window of 1200 x 760, while the
simulation runs beside it on the same cores; without Chromium they are left out.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.comparison.bench import Comparison

COUNTS = (10, 50, 200)
FLAGS = ("--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync")
SECONDS = 6.0


def scene_of(count: int, turned: bool = False) -> ss.Scene:
    """Boxes that fall on the ground in layers of 25; turned: each its own way, so that they tumble into a pile."""
    scene, rng = ss.Scene(name=f"{count} boxes"), np.random.default_rng(1)
    scene.add_ground()
    for n in range(count):
        rotation = rng.normal(size=4) if turned else np.array([1.0, 0.0, 0.0, 0.0])
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0, rotation=rotation / np.linalg.norm(rotation),
                      position=(0.3 * (n % 5), 0.3 * (n // 5 % 5), 0.2 + 0.36 * (n // 25)))
    return scene


def rendered_per_second(frames: int = 60) -> dict[str, float]:
    """`sim.render` at 640 x 480 with contacts: the large humanoid standing, and boxes."""
    from benchmarks.contact import standing

    found = {}
    scenes = {"large humanoid": standing(), "50 boxes": scene_of(50)}
    for name, scene in scenes.items():
        sim = ss.Simulation(scene, dt=1e-3)
        sim.step(300)
        sim.render()
        begin = time.perf_counter()
        for _ in range(frames):
            sim.render()
        found[name] = round(frames / (time.perf_counter() - begin), 1)
    return found


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Milliseconds of Python per frame, frames per second, and the size of a playback file."""
    details: dict[str, Any] = {"Python, ms per frame": {}, "of it, poses and contacts": {}, "frames per second": {},
                               "frames per second, without the simulation": {}}
    for count in COUNTS:
        say(f"frames of {count} bodies ...")
        sim = ss.Simulation(scene_of(count), dt=1 / 200)
        sim.step(200)
        whole, packed = python_per_frame(sim)
        details["Python, ms per frame"][count] = round(1e3 * whole, 3)
        details["of it, poses and contacts"][count] = round(1e3 * packed, 3)
    say("pictures without a window ...")
    details["rendered, frames per second"] = rendered_per_second()
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        details["frames per second"] = details["frames per second, without the simulation"] = "no Chromium here"
    else:
        for count in COUNTS:
            say(f"a browser with {count} bodies ...")
            for name, playing in (("frames per second", True), ("frames per second, without the simulation", False)):
                details[name][count] = round(frames_per_second(found, count, playing), 1)
    say("a page of 300 frames of 50 bodies ...")
    for name, turned in (("at rest", False), ("tumbling into a pile", True)):
        details[f"page of 300 frames of 50 bodies {name}, MB"] = round(page_size(turned) / 1e6, 2)
    return [], details


def python_per_frame(sim: ss.Simulation, rounds: int = 200) -> tuple[float, float]:
    """Seconds of processor time a frame costs: made, sent and answered for; and made alone.

    The first is of the whole process, the client that takes the frames included: an upper bound.
    """
    import json

    import websockets.sync.client

    from sesshoku.view import show
    from sesshoku.view.frame import snapshot

    made = []
    for _ in range(rounds):
        begin = time.thread_time()
        snapshot(sim)
        made.append(time.thread_time() - begin)
    # to send and to hear that it was drawn: processor time of the process while a client takes frames as they come
    spent: list[float] = []
    viewer = show(sim, block=False, browser=False, playing=False)

    def renew() -> None:  # a new frame, though time stands still
        viewer.runner._sight = None
        viewer.runner.publish()

    try:
        address = f"127.0.0.1:{viewer.server.port}"
        with websockets.sync.client.connect(f"ws://{address}/socket", origin=f"http://{address}",
                                            max_size=None) as client:
            while len(spent) < rounds:
                begin, frames = time.process_time(), 0
                while frames < 20:
                    viewer.runner.ask(renew)
                    data = client.recv(timeout=20)
                    if isinstance(data, bytes):
                        frames += 1
                        client.send(json.dumps({"type": "drawn", "number": frames}))
                spent += [(time.process_time() - begin) / 20] * 20
    finally:
        viewer.stop()
    return statistics.median(spent), statistics.median(made)


def frames_per_second(chromium: str, count: int, playing: bool) -> float:
    """Pictures a browser draws in a second, once it has settled."""
    from playwright.sync_api import sync_playwright

    from sesshoku.view import show

    sim = ss.Simulation(scene_of(count), dt=1 / 200)
    sim.step(200)
    viewer = show(sim, block=False, browser=False, playing=playing)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1200, "height": 760})
            page.goto(viewer.url)
            page.wait_for_selector("body[data-drawn]", timeout=120_000)
            if not playing:  # draw as often as it can
                page.evaluate("setInterval(() => sesshoku.redraw(), 1)")
            time.sleep(3.0)
            first, begin = page.evaluate("sesshoku.drawnFrames"), time.perf_counter()
            time.sleep(SECONDS)
            drawn, spent = page.evaluate("sesshoku.drawnFrames") - first, time.perf_counter() - begin
            browser.close()
    finally:
        viewer.stop()
    return drawn / spent


def page_size(turned: bool) -> int:
    """Bytes of the playback file of 300 frames of 50 bodies, with contacts."""
    recording = ss.Simulation(scene_of(50, turned), dt=1 / 300).run(299 / 60, rate=60)
    with TemporaryDirectory() as folder:
        return recording.to_html(Path(folder) / "run.html").stat().st_size
