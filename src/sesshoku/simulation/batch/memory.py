"""The memory of many worlds.

A record says which of its arrays a saved state holds: what a step reads of an earlier one. Only these, and what varies
between worlds, a world has of its own. Everything else is work space, which one world can leave to the next: there is
one for each thread, not for each world. A **lane** is such a work space with the tables (`compiled/table.py`) of a few
worlds at a time, in which the addresses of what a world owns are filled in before its steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import config

from sesshoku.compiled.table import Record
from sesshoku.errors import SceneError
from sesshoku.simulation.batch.kernels import bind

WORD = 8  # bytes of an element
LINE = 8  # words that share a cache line: two threads must not write to one
MOST_BOUND = 32  # worlds whose tables a lane holds at once

Roots = Mapping[str, Record]  # "model", "data", "work" ... -> record


@dataclass(frozen=True)
class Place:
    """An array of a record, or of a record within it: the record's path and the array's name there."""

    root: str
    path: tuple[str, ...]
    name: str

    @property
    def key(self) -> str:
        """Such as "data.q" or "work.contacts.id"."""
        return ".".join((self.root, *self.path, self.name))

    def record(self, roots: Roots) -> Record:
        """The record that has it."""
        found = roots[self.root]
        for name in self.path:
            found = getattr(found, name)
        return found

    def array(self, roots: Roots) -> np.ndarray:
        """The array itself."""
        found: np.ndarray = getattr(self.record(roots), self.name)
        return found


def places_of(root: str, record: Record, path: tuple[str, ...] = ()) -> Iterator[tuple[Place, bool]]:
    """Every array of a record and of those within, and whether a saved state holds it."""
    for name, field in record.fields.items():
        if field.is_record:
            yield from places_of(root, getattr(record, name), (*path, name))
        elif field.extents is not None:
            yield Place(root, path, name), field.saved


class WorldMemory:
    """What every world has of its own: `arrays`, by key, each (worlds, ...).

    One block of memory a world, but for the keys in `apart`: arrays that users hold, each in one piece.
    """

    def __init__(self, places: list[Place], roots: Roots, worlds: int, apart: frozenset[str]) -> None:
        self.places, self.worlds = places, worlds
        first = {place.key: place.array(roots) for place in places}
        inside = [place.key for place in places if place.key not in apart]
        ends = np.cumsum([0, *(first[key].size for key in inside)])
        words = -(-int(ends[-1]) // LINE) * LINE
        self._block = np.zeros((worlds, words), dtype=np.int64)
        self.arrays: dict[str, np.ndarray] = {}
        for key, at in zip(inside, ends[:-1].tolist(), strict=True):
            like = first[key]
            self.arrays[key] = np.ndarray((worlds, *like.shape), like.dtype, self._block, at * WORD,
                                          (words * WORD, *np.zeros(like.shape).strides))
        for key in first:
            if key in apart:
                self.arrays[key] = np.zeros((worlds, *first[key].shape), first[key].dtype)
            if first[key].any():
                self.arrays[key][:] = first[key]
        # for `bind`: where the first world's array lies, and how far the next world's is from it
        self.bases = np.array([self.arrays[place.key].ctypes.data for place in places], dtype=np.int64)
        self.strides = np.array([self.arrays[place.key].strides[0] for place in places], dtype=np.int64)

    def write(self, key: str, values: Any, chosen: Any = None) -> None:
        """Numbers into an array of all worlds, or of some, by their numbers."""
        self.arrays[key][slice(None) if chosen is None else chosen] = values

    def row(self, key: str, world: int) -> np.ndarray:
        """An array of one world."""
        return self.arrays[key][world]

    @staticmethod
    def bytes_per_world(places: list[Place], roots: Roots) -> int:
        """What a world takes, before anything is allocated."""
        return WORD * (sum(place.array(roots).size for place in places) + LINE)


def bytes_of_lane(roots: Roots) -> int:
    """What the work space of one thread takes."""
    return WORD * sum(place.array(roots).size for root, record in roots.items() if root != "model"
                      for place, _ in places_of(root, record))


def free_memory() -> int | None:
    """Bytes that could be had without pushing others out, None where the system does not say."""
    found = [free for free in (_free_in_machine(), _free_in_container()) if free is not None]
    return min(found, default=None)


def _free_in_machine() -> int | None:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _free_in_container() -> int | None:
    """Where a control group has a limit of its own."""
    folder = Path("/sys/fs/cgroup")
    for limit, used in (("memory.max", "memory.current"),
                        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        try:
            return int((folder / limit).read_text()) - int((folder / used).read_text())
        except (OSError, ValueError):  # not of this kind, or "max": no limit
            continue
    return None


def check_room(worlds: int, per_world: int, lanes: int) -> None:
    """Refuse a batch for which there is not enough memory, before any is taken."""
    free = free_memory()
    if free is not None and worlds * per_world + lanes > free:
        fit = max(0, (free - lanes) // per_world)
        raise SceneError(f"not enough memory: {per_world / 1024:.0f} KiB a world and {lanes / 2**20:.0f} MiB for the "
                         f"threads, {free / 2**20:.0f} MiB are free", element="Batch: worlds", value=worlds,
                         remedy=f"{fit} worlds fit" if fit else "fewer threads need less")


class Lane:
    """A work space and the tables of up to `capacity` worlds: `tables["data"]` (capacity, n), a row is a table.

    Compiled code trusts that a table does not change while it runs, so tables are filled by a call of their own.
    """

    def __init__(self, memory: WorldMemory, roots: Roots) -> None:
        self._memory, self._roots = memory, roots
        self.capacity = 1 if config.DISABLE_JIT else MOST_BOUND
        self.tables: dict[str, Any] = {}
        if config.DISABLE_JIT:
            self.tables = {name: [record] for name, record in roots.items()}
            return
        spans: dict[tuple[str, ...], tuple[int, int]] = {}  # path of a record -> first entry, entries in a row
        self._count_entries = 0
        for name, record in roots.items():
            self._plan((name,), record, spans)
        self._flat = np.zeros(self._count_entries, dtype=np.int64)
        for name, record in roots.items():
            self._fill((name,), record, spans)
            self.tables[name] = self._rows(spans[(name,)])
        where = [(spans[(place.root, *place.path)], place.record(roots).fields[place.name].slot)
                 for place in memory.places]
        self._places = np.array([first + slot for (first, _), slot in where], dtype=np.int64)
        self._pitches = np.array([length for (_, length), _ in where], dtype=np.int64)
        self.bind(np.zeros(0, dtype=np.int64))  # compiles it, before threads ask for it side by side

    def _plan(self, path: tuple[str, ...], record: Record, spans: dict[tuple[str, ...], tuple[int, int]]) -> None:
        spans[path] = self._count_entries, len(record.table)
        self._count_entries += self.capacity * len(record.table)
        for name, field in record.fields.items():
            if field.is_record:
                self._plan((*path, name), getattr(record, name), spans)

    def _rows(self, span: tuple[int, int]) -> np.ndarray:
        first, length = span
        return self._flat[first:first + self.capacity * length].reshape(self.capacity, length)

    def _fill(self, path: tuple[str, ...], record: Record, spans: dict[tuple[str, ...], tuple[int, int]]) -> None:
        """The lane's own addresses; of records within, those of their tables in the same row."""
        rows = self._rows(spans[path])
        rows[:] = record.table
        for name, field in record.fields.items():
            if field.is_record:
                self._fill((*path, name), getattr(record, name), spans)
                within = self._rows(spans[*path, name])
                rows[:, field.slot] = within.ctypes.data + np.arange(self.capacity) * within.strides[0]

    def bind(self, worlds: np.ndarray) -> None:
        """Make the first rows of the tables those worlds."""
        memory = self._memory
        if config.DISABLE_JIT:
            for place in memory.places:
                place.record(self._roots).__dict__[place.name] = memory.arrays[place.key][int(worlds[0])]
            return
        bind(self._flat, self._places, self._pitches, memory.bases, memory.strides, worlds)


MakeLane = Callable[[], Lane]
