"""Helpers of the viewer's tests: a running viewer and a websocket client that speaks as a browser does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.compiled.prepare.progress import CompileProgress, Progress
from sesshoku.view import Page, Viewer, show
from sesshoku.view.frame import HEADER
from waiting import PATIENCE


def box_scene(boxes: int = 1, material: ss.Material | None = None) -> ss.Scene:
    """Boxes in a row, at rest on the ground."""
    scene = ss.Scene(name="boxes")
    scene.add_ground(material=material)
    for n in range(boxes):
        scene.add_box(f"box{n}", size=(0.4, 0.4, 0.4), mass=1.0, position=(0.6 * n, 0, 0.2), material=material)
    return scene


def compiling() -> tuple[ss.Simulation, threading.Event]:
    """A simulation whose first step compiles, as far as 212 of 403 kernels, until the event is set."""
    sim, compiled = ss.Simulation(box_scene()), threading.Event()
    step = sim.step

    def compile_and_step(steps: int = 1) -> None:
        if not compiled.is_set():
            with CompileProgress("exact", quiet=True) as line:
                line.tell(Progress(403, 212))
                assert compiled.wait(PATIENCE)
        step(steps)

    sim.step = compile_and_step  # type: ignore[method-assign]
    return sim, compiled


@contextmanager
def viewing(sim: ss.Simulation | None = None, page: Page | None = None, **options: Any) -> Iterator[Viewer]:
    viewer = show(sim or ss.Simulation(box_scene()), page=page, block=False, browser=False, **options)
    try:
        yield viewer
    finally:
        viewer.stop()


class Guest:
    """A websocket client; with `draws` it says of each frame that it drew it, as the page does."""

    def __init__(self, viewer: Viewer, draws: bool = True, **options: Any) -> None:
        from websockets.sync.client import connect

        address = f"ws://127.0.0.1:{viewer.server.port}/socket" + viewer.url.partition("/?")[2].join(("?", ""))
        options.setdefault("origin", f"http://127.0.0.1:{viewer.server.port}")
        self.draws = draws
        self._connection = connect(address, max_size=None, open_timeout=PATIENCE, **options)
        self.socket = self._connection.__enter__()
        self.hello = json.loads(self.socket.recv(timeout=PATIENCE))
        self.status: dict[str, Any] = {}
        self.frame: dict[str, float] = {}
        self.poses = np.zeros((0, 7))
        self.lines = 0

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def receive(self, timeout: float = PATIENCE) -> str:
        """Take in one message; returns its kind: "frame" or "status"."""
        data = self.socket.recv(timeout=timeout)
        if isinstance(data, str):
            self.status = json.loads(data)
            return "status"
        values = np.frombuffer(data, "<f4")
        self.frame = dict(zip(HEADER, values[:len(HEADER)].tolist(), strict=True))
        bodies = int(self.frame["bodies"])
        self.poses = values[len(HEADER):len(HEADER) + 7 * bodies].reshape(bodies, 7)
        if self.draws:
            self.send(type="drawn", number=self.frame["number"])
        return "frame"

    def until(self, condition: Callable[[Guest], bool], seconds: float = PATIENCE) -> None:
        """Listen until something holds."""
        end = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < end, f"not within {seconds} s: {self.status} {self.frame}"
            self.receive(timeout=seconds)

    def close(self) -> None:
        self._connection.__exit__(None, None, None)

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
