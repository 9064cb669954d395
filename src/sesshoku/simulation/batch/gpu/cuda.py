"""`Batch` on a GPU: the same worlds, kernels and names, with arrays of CuPy.

Worlds lie in tiles (tiles.py) and are stepped by launches (launches.py). What users hold (`q`, `v`, commands, reports)
are arrays with a row for each world: copied into tiles before steps and out of them behind. `step` returns before the
steps are done; whoever reads an array waits for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sesshoku.compiled.gpu.card import Card, NoCard
from sesshoku.compiled.gpu.tiles import OWN, TILE, WORK
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.compiled.table import Record
from sesshoku.errors import MethodError, SceneError, SuspectRun
from sesshoku.methods.registry import MODULES, load
from sesshoku.scene.calls import checked
from sesshoku.simulation.batch.batch import Batch
from sesshoku.simulation.batch.gpu.launches import Launches
from sesshoku.simulation.batch.gpu.tiles import TiledWorlds, TileLayout, address_of, types_of
from sesshoku.simulation.batch.gpu.verified import unverified
from sesshoku.simulation.batch.numbers import on_host
from sesshoku.simulation.batch.state import DIVERGED, state_name
from sesshoku.simulation.snapshots import FINGERPRINT, Snapshot

#: arrays that users hold, each with a row for each world
ROWS = ("data.q", "data.v", "data.time", "data.actuator_command", "data.activation", "data.external_force",
        "data.actuator_force", "data.report", "mounts.push", "mounts.reading")
SPARE = 512 << 20  # bytes of a card that are left to others: stacks of kernels, users


class CudaMemory:
    """The worlds' memory on a card: tiles, and the arrays that users hold."""

    def __init__(self, layout: TileLayout, worlds: int, at_once: int, xp: Any) -> None:
        self.tiles, self.xp, self.worlds = TiledWorlds(layout, worlds, xp, at_once), xp, worlds
        self.rows = {key: self.tiles.read(key) for key in ROWS if key in layout.spots}
        self.arrays = _Arrays(self)

    def write(self, key: str, values: Any, chosen: Any = None) -> None:
        """Numbers into an array of all worlds, or of some, by their numbers."""
        if key in self.rows:
            where = slice(None) if chosen is None else self.xp.asarray(chosen)
            self.rows[key][where] = self.xp.asarray(values)
        else:
            self.tiles.write(key, values, chosen)

    def row(self, key: str, world: int) -> np.ndarray:
        """An array of one world."""
        return on_host(self.rows[key][world]) if key in self.rows else on_host(self.tiles.read(key, world))

    def exchanged(self) -> np.ndarray:
        """The list of `bodies.enter`: arrays, their tiles, their lengths."""
        block, entries = address_of(self.tiles.blocks[OWN]), [len(self.rows)]
        for key, rows in self.rows.items():
            spot = self.tiles.layout.spots[key]
            entries += [address_of(rows), block + spot.at * 8 * TILE, spot.size]
        return np.array(entries, dtype=np.int64)


class _Arrays(Mapping[str, Any]):
    """key -> (worlds, ...): what users hold, live; of the rest copies."""

    def __init__(self, memory: CudaMemory) -> None:
        self._memory = memory

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return self._memory.rows[key] if key in self._memory.rows else self._memory.tiles.read(key)

    def __contains__(self, key: object) -> bool:
        spot = self._memory.tiles.layout.spots.get(str(key))
        return spot is not None and spot.block == OWN

    def __iter__(self) -> Iterator[str]:
        return (key for key, spot in self._memory.tiles.layout.spots.items() if spot.block == OWN)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@checked
class CudaBatch(Batch):
    """A `Batch` on a GPU."""

    _memory: Any

    def _check_device(self) -> None:
        try:
            self._card = self._find_card()
        except NoCard as error:
            raise SceneError(str(error), element="Batch: device", value="cuda", remedy='leave device="cuda" out') \
                from None
        if not self.method.definition.on_gpu:
            able = [name for name in MODULES if load(name).METHOD.on_gpu]
            raise MethodError("runs on the CPU alone", element=f"method {self.method.keyword!r}", value="cuda",
                              remedy=f'leave device="cuda" out, or take a method that runs there: {", ".join(able)}')
        if self._script.active:
            raise SceneError("scripted bodies are asked in Python and run on the CPU alone", element="Batch: device",
                             value="cuda", remedy='leave device="cuda" out')
        others = self._unverified()
        if others:
            raise SceneError(f"not known to move on a GPU as on the CPU: {', '.join(others)}", element="Batch: device",
                             value="cuda", remedy='leave device="cuda" out')
        if len(self.model.limited_dofs):
            warnings.warn("joints at their limits have not been compared between GPU and CPU: compare a run that "
                          "reaches them (docs/batch.md)", SuspectRun, stacklevel=4)
        self._xp = self._card.xp

    def _unverified(self) -> list[str]:
        return unverified(self.compiled)

    def _find_card(self) -> Card:
        return Card()

    # ---- memory --------------------------------------------------------------------------------------------------

    def _check_room(self, roots: dict[str, Record]) -> None:
        varied = frozenset(place.key for place in self._places if place.root == "model")
        self._layout = TileLayout(roots, types_of(roots, self.method), varied)
        self.bytes_per_world = self._layout.bytes_of(OWN)
        rows = sum(8 * self._layout.spots[key].size for key in ROWS if key in self._layout.spots)
        free, own, work = self._card.free_memory() - SPARE, self.bytes_per_world + rows, self._layout.bytes_of(WORK)
        self._at_once = (free - self.worlds * own) // (TILE * work) * TILE
        if self._at_once < min(TILE, self.worlds):
            fit = max(0, (free - TILE * work) // own)
            raise SceneError(f"not enough memory on the GPU: {own / 1024:.0f} KiB a world and {work / 1024:.0f} KiB of "
                             f"work space for each of at least {TILE}, {max(0, free) / 2**20:.0f} MiB are free",
                             element="Batch: worlds", value=self.worlds,
                             remedy=f"{fit} worlds fit" if fit else "another method needs less")

    def _take_memory(self, roots: dict[str, Record]) -> None:
        xp = self._xp
        self._memory = CudaMemory(self._layout, self.worlds, self._at_once, xp)
        self._alive = xp.ones(self.worlds, dtype=np.int64)  # 1: goes on; 0: just stopped; -1: and its place is clean
        self._settled = np.zeros(self.worlds, dtype=bool)  # that it diverged is known on the host, all done
        self._launches = Launches(self._card, self._memory, self.method, self.dt, self._alive,
                                  None if self._first._sensing is None else self._first._sensing.place)

    def _steps(self) -> Any:
        return None

    def _observer(self) -> Any:
        return self._launches

    def _to_start(self, chosen: np.ndarray, but: frozenset[str]) -> None:
        if but:
            return super()._to_start(chosen, but)
        xp, memory = self._xp, self._memory
        image = self._start_image()
        where = xp.asarray(chosen)
        memory.tiles.blocks[OWN][where // TILE, :len(image), where % TILE] = image[None]
        for key in self._start:
            if key in self._start_differs:
                memory.write(key, xp.asarray(self._start[key])[where], chosen)
            elif key in memory.rows:
                memory.rows[key][where] = xp.asarray(self._start[key])
        return None

    def _start_image(self) -> Any:
        """(state words) of a world as it begins, on the card."""
        image = self._layout.image(OWN)[:self._layout.state_words]
        for key, values in self._start.items():
            if key not in self._start_differs:
                spot = self._layout.spots[key]
                image[spot.at:spot.at + spot.size] = np.ascontiguousarray(values).reshape(-1).view(np.int64)
        return self._xp.asarray(image)

    # ---- stepping ------------------------------------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Advance every world by `steps` time steps, but for those that diverged. Returns before they are done."""
        if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or not 0 <= steps < 2**62:
            raise SceneError("steps must be a whole number, 0 or more", element="step", value=steps)
        if not self._warm:
            self._prepare()
        if steps == 0:
            return
        self._launches.step(int(steps))
        self._release()
        if self._errors._errors:
            readings = on_host(self.sensor_readings)
            self._errors.add(readings, np.round(on_host(self.time) / self.dt), np.flatnonzero(~on_host(self.diverged)))
            self.sensor_readings[:] = self._xp.asarray(readings)

    def _prepare(self) -> None:
        with CompileProgress(f"{self.method.keyword} for the GPU") as line:
            self._launches.prepare(line.tell)
        self._warm = True

    def _release(self) -> None:
        if self._pushed:
            for key in ("data.external_force", "mounts.push"):
                if key in self._memory.rows:
                    self._memory.rows[key][:] = 0.0
            self._pushed = False

    # ---- flags ---------------------------------------------------------------------------------------------------

    @property
    def diverged(self) -> Any:  # type: ignore[override]
        """(worlds) whether a world's state stopped being finite; it stands still in the state before."""
        return self._alive < 1

    @property
    def overflow(self) -> Any:
        """(worlds) whether a fixed capacity was too small in the last step, and contacts were left out."""
        found = super().overflow
        if not self._told_overflow and bool(found.any()):
            self._told_overflow = True
            warnings.warn(f"world {int(found.argmax())}: more contacts than there is room for; some are left out (flag "
                          "`overflow`)", SuspectRun, stacklevel=3)
        return found

    def _mark(self, worlds: Any, diverged: Any) -> None:
        where = worlds if isinstance(worlds, slice) else self._xp.asarray(worlds)
        self._alive[where] = self._xp.asarray(np.where(diverged, -1, 1))
        self._settled[worlds] = diverged

    def _settle(self) -> None:
        """What worlds that diverged since left besides their state is no start for another."""
        stopped = np.flatnonzero(on_host(self.diverged) & ~self._settled)
        if len(stopped):
            self._stop(stopped)

    # ---- states --------------------------------------------------------------------------------------------------

    def __getitem__(self, world: int) -> Any:
        self._settle()
        return super().__getitem__(world)

    def save(self) -> Snapshot:
        """The state of all worlds, as arrays of NumPy; `restore` brings it back bit for bit."""
        self._settle()
        snapshot = Snapshot({state_name(place): on_host(self._memory.arrays[place.key]).copy()
                             for place in self._states})
        snapshot[DIVERGED], snapshot[FINGERPRINT] = on_host(self.diverged), self._first._fingerprint.copy()
        return snapshot

    def __repr__(self) -> str:
        lost = int(self.diverged.sum())
        return (f"Batch of {self.worlds} worlds of {self.scene.name!r}: {self.method.label}, steps of {self.dt:g} s, "
                f"on {self._card.name}" + (f"; {lost} diverged" if lost else ""))
