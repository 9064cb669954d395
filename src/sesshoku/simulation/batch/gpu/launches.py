"""Steps of worlds in tiles on a card: what is compiled, and what is launched in which order.

A step is one launch for each stage, so that all worlds of a card are in the same code at once. Few worlds do better
with one launch for all their steps, in which none waits for another. Either way the launches of a call are recorded
once, as a CUDA graph, and then repeated as one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.compiled.gpu.stages import LOOP, make_bodies, make_loop
from sesshoku.compiled.gpu.tiles import WORK
from sesshoku.compiled.prepare.progress import Progress
from sesshoku.methods.registry import Method
from sesshoku.simulation.batch.gpu.bodies import enter, leave, make_observe, make_sensing, renew
from sesshoku.simulation.batch.gpu.tiles import address_of, views_of

FEW = 1024  # worlds below which a launch makes all steps
MANY = 32768  # worlds from which on threads get half of the registers, so that twice as many run at once
HALF = 128  # registers
LONGEST = 32  # steps that are recorded together
GRAPHS = 16  # recordings that are kept


class Launches:
    """The compiled steps of a method for the worlds of a memory. alive (worlds): 1 where a world is stepped.

    place: where sensors take the motion from (sensors/measure.py); None: there are no sensors.
    """

    def __init__(self, card: Any, memory: Any, method: Method, dt: float, alive: Any, place: int | None) -> None:
        self._card, self._memory, self._dt, self._alive = card, memory, dt, alive
        tiles, self._xp = memory.tiles, card.xp
        definition, stages = method.definition, method.definition.stages_of(method.options)
        views = views_of(tiles.layout.types)
        self.stages = make_bodies(stages, views[:3], definition.module)
        if not self.stages or tiles.at_once < FEW:
            self.stages = {LOOP: make_loop(stages, views[:3], definition.module)}
        self.registers = HALF if tiles.at_once >= MANY else 0
        self.block = 32 if tiles.at_once >= MANY else 16  # threads: few, so that many processors of a card have work
        self._sensing = {} if place is None else make_sensing(definition, views, place)
        self._observe = make_observe(views, definition.module)
        self._kernels: dict[str, Any] = {}
        self._graphs: dict[tuple[int, int, bool], Callable[[], None]] = {}
        self._ones = self._xp.ones(tiles.worlds, dtype=np.int64)
        self._exchanged = self._xp.asarray(memory.exchanged())
        image = self._xp.asarray(tiles.layout.image(WORK))
        self._renewed = self._xp.asarray(np.array([
            address_of(alive), address_of(tiles.blocks[WORK]), address_of(image), len(image)], dtype=np.int64))
        model = tiles.layout.roots["model"]
        W, F, L = tiles.worlds, model.frame_count, model.link_count
        self._found = tuple(self._xp.zeros(size) for size in ((W, F, 7), (W, F, 6), (W, L, 3)))
        self._seen = self._xp.asarray(np.array([address_of(array) for array in self._found], dtype=np.int64))
        self._held = image  # by its address

    def prepare(self, tell: Callable[[Progress], None] | None = None) -> None:
        """Compile what steps, or read what was compiled before, and load it onto the card."""
        self._load({"enter": enter, "leave": leave, "renew": renew, **self._sensing}, 0, tell)
        self._load(self.stages, self.registers, tell)

    def _load(self, bodies: dict[str, Any], registers: int, tell: Callable[[Progress], None] | None = None) -> None:
        self._kernels |= self._card.kernels(bodies, registers, tell)

    def step(self, steps: int) -> None:
        """Have steps made of all worlds that are alive; returns before they are done."""
        tiles = self._memory.tiles
        for first in range(0, tiles.worlds, tiles.at_once):
            left = steps
            while left > 0:
                count = min(left, LONGEST)
                left -= count
                self._recorded(first, count, left == 0)()

    def _recorded(self, first: int, steps: int, last: bool) -> Callable[[], None]:
        key = first, steps, last or not self._sensing
        if key not in self._graphs:
            if len(self._graphs) >= GRAPHS:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[key] = self._card.recorded(lambda: self._all(*key))
        return self._graphs[key]

    def _all(self, first: int, steps: int, last: bool) -> None:
        """Some steps of the worlds that have work space together, from and to the arrays that users hold."""
        self._launch("enter", first, address_of(self._exchanged), self._ones)
        read = int(last and bool(self._sensing))
        self._steps(first, steps - read)
        if read:
            mounts = self._memory.tiles.tables["mounts"]
            self._launch("remember", first, mounts, self._alive)
            self._steps(first, 1)
            self._launch("measure", first, mounts, self._alive)
        self._launch("renew", first, address_of(self._renewed), self._ones)
        self._launch("leave", first, address_of(self._exchanged), self._ones)

    def _steps(self, first: int, steps: int) -> None:
        if LOOP in self.stages:
            if steps:
                self._launch(LOOP, first, steps, self._alive)
            return
        for _ in range(steps):
            for name in self.stages:
                self._launch(name, first, 1, self._alive)

    def _launch(self, name: str, first: int, number: int, flags: Any) -> None:
        tiles, tables = self._memory.tiles, self._memory.tiles.tables
        count = min(tiles.at_once, tiles.worlds - first)
        self._card.launch(self._kernels[name], count, self.block, (
            tables["model"], tables["data"], tables["work"], tiles.own_bytes, tiles.work_bytes, self._dt, number, first,
            count, address_of(flags)))

    def now(self) -> tuple[Any, ...]:
        """Poses (worlds, F, 7), velocities (worlds, F, 6) and centres of mass (worlds, L, 3) of the present states."""
        if "observe" not in self._kernels:
            self._load({"observe": self._observe, "enter": enter}, 0)
        tiles = self._memory.tiles
        for first in range(0, tiles.worlds, tiles.at_once):
            self._launch("enter", first, address_of(self._exchanged), self._ones)
            self._launch("observe", first, address_of(self._seen), self._ones)
        return self._found
