"""The memory of many worlds in tiles (`compiled/gpu/tiles.py`): two blocks, and tables that say where everything lies.

A block has, for each tile of 32 worlds, all numbers of its worlds, element after element. `own` is of all worlds,
`work` of as many as are stepped at once. Arrays come from NumPy on a CPU and from CuPy on a GPU: `xp` is either module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.compiled.gpu.tiles import (
    OWN,
    SHARED,
    STRIDE,
    TILE,
    VARIED,
    WORD,
    WORK,
    TiledType,
    tiled_type,
    tiled_viewer,
)
from sesshoku.compiled.table import Record
from sesshoku.methods.registry import Method
from sesshoku.simulation.batch.memory import Place, Roots

#: arrays of a model that `vary` may change: each world can have its own
VARYING = ("actuator_bias", "actuator_gain", "actuator_inertia", "actuator_kd", "actuator_kp", "dof_armature",
           "dof_inertia", "drag_inertia", "drag_linear", "drag_square", "gravity", "link_inertia", "link_lift",
           "link_mass", "pair_material", "shape_material", "tendon_inertia", "tree_light")
#: arrays of data that worlds own though a saved state does not hold them
KEPT = ("drag_most", "drive_force", "kinematic_lead")


def types_of(roots: Roots, method: Method) -> dict[str, TiledType]:
    """root -> the type by which compiled code knows it in tiles."""
    own = {"model": VARYING, "data": KEPT, "work": method.definition.follows_model,
           "mounts": ("part_mass", "part_inertia")}
    return {root: tiled_type(type(record), root == "model", own[root]) for root, record in roots.items()}


def views_of(types: dict[str, TiledType]) -> tuple[Any, ...]:
    """What turns addresses into the records of a world: model, data, work and, where there are sensors, mounts."""
    return tuple(tiled_viewer(types[root]) for root in ("model", "data", "work", "mounts") if root in types)


@dataclass(frozen=True)
class Spot:
    """An array in tiles: where in its block it begins, in words of one world."""

    place: Place
    block: str  # own, work or shared
    at: int
    shape: tuple[int, ...]
    dtype: Any

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


class TileLayout:
    """Where every array of a world lies. varied: keys of the model's arrays that differ between worlds."""

    def __init__(self, roots: Roots, types: dict[str, TiledType], varied: frozenset[str]) -> None:
        self.roots, self.types, self.varied = roots, types, varied
        self.words = {OWN: 0, WORK: 0, SHARED: 0}
        self.spots: dict[str, Spot] = {}
        arrays = [found for root, record in roots.items() for found in _arrays(root, record, types[root], ())]
        for place, kind, array, _ in sorted(arrays, key=lambda found: not found[3]):  # saved ones first
            block = kind if kind != VARIED else OWN if place.key in varied else SHARED
            self.spots[place.key] = Spot(place, block, self.words[block], array.shape, array.dtype)
            self.words[block] += array.size
        #: words at the beginning of the block `own` that a saved state holds
        self.state_words = sum(array.size for _, kind, array, saved in arrays if saved and kind == OWN)

    def bytes_of(self, block: str) -> int:
        """Of one world."""
        return WORD * self.words[block]

    def image(self, block: str) -> np.ndarray:
        """(words) one world's part of a block as it begins."""
        found = np.zeros(self.words[block], dtype=np.int64)
        for spot in self.spots.values():
            if spot.block == block:
                values = np.ascontiguousarray(spot.place.array(self.roots)).reshape(-1)
                found[spot.at:spot.at + spot.size] = values.view(np.int64)
        return found

    def tables(self, bases: dict[str, int], at: int) -> tuple[np.ndarray, dict[str, int]]:
        """All tables in one array that will lie at an address, and the address of each root's. bases: of the blocks."""
        entries: list[int] = []
        found: dict[str, int] = {}

        def add(root: str, record: Record, type_: TiledType, path: tuple[str, ...]) -> int:
            within = {name: add(root, getattr(record, name), type_.within(name), (*path, name))
                      for name, field in record.fields.items() if field.is_record}
            mine = np.zeros(type_.entries, dtype=np.int64)
            mine[:len(record._table)] = record._table
            for name, field in record.fields.items():
                if field.is_record:
                    mine[field.slot] = within[name]
                elif field.extents is not None:
                    spot = self.spots[Place(root, path, name).key]
                    apart = spot.block != SHARED
                    mine[field.slot] = bases[spot.block] + spot.at * (STRIDE if apart else WORD)
                    if type_.kind(name) == VARIED:
                        extra = type_.extra(name)
                        mine[extra], mine[extra + 1] = (-1, STRIDE) if apart else (0, WORD)
            address = at + WORD * len(entries)
            entries.extend(mine.tolist())
            return address

        for root, record in self.roots.items():
            found[root] = add(root, record, self.types[root], ())
        return np.array(entries, dtype=np.int64), found


def _arrays(root: str, record: Record, type_: TiledType, path: tuple[str, ...]
            ) -> Iterator[tuple[Place, str, np.ndarray, bool]]:
    """Every array: where it is in the records, of which kind, the array itself, and whether a saved state holds it."""
    for name, field in record.fields.items():
        if field.is_record:
            yield from _arrays(root, getattr(record, name), type_.within(name), (*path, name))
        elif field.extents is not None:
            yield Place(root, path, name), type_.kind(name), getattr(record, name), field.saved


class TiledWorlds:
    """The blocks of some worlds, of which `at_once` have work space."""

    def __init__(self, layout: TileLayout, worlds: int, xp: Any, at_once: int | None = None) -> None:
        self.layout, self.worlds, self.xp = layout, worlds, xp
        self.at_once = min(worlds, at_once or worlds)
        images = {block: xp.asarray(layout.image(block)) for block in (OWN, WORK, SHARED)}
        self.blocks = {block: xp.empty((-(-count // TILE), layout.words[block], TILE), dtype=np.int64)
                       for block, count in ((OWN, worlds), (WORK, self.at_once))}
        self._images, self._shared = images, images[SHARED]
        for block, memory in self.blocks.items():
            memory[...] = images[block][None, :, None]
        bases = {block: address_of(memory) for block, memory in self.blocks.items()}
        bases[SHARED] = address_of(self._shared)
        entries, _ = layout.tables(bases, 0)
        self._tables = xp.zeros(len(entries), dtype=np.int64)
        entries, self.tables = layout.tables(bases, address_of(self._tables))
        self._tables[...] = xp.asarray(entries)
        self.own_bytes, self.work_bytes = (TILE * layout.bytes_of(block) for block in (OWN, WORK))

    def _view(self, spot: Spot) -> Any:
        """(tiles, elements, 32), live."""
        return self.blocks[spot.block][:, spot.at:spot.at + spot.size].view(spot.dtype)

    def read(self, key: str, world: int | None = None) -> Any:
        """(worlds, ...) or, of one world, (...); a copy."""
        spot = self.layout.spots[key]
        if world is not None:
            return self.xp.ascontiguousarray(self._view(spot)[world // TILE, :, world % TILE]).reshape(spot.shape)
        found = self._view(spot)
        rows = found.transpose(0, 2, 1).reshape(len(found) * TILE, spot.size)[:self.worlds]
        return self.xp.ascontiguousarray(rows).reshape(self.worlds, *spot.shape)

    def write(self, key: str, values: Any, chosen: Any = None) -> None:
        """Numbers (worlds, ...) or (...) into all worlds, or (chosen, ...) into some, numbers of worlds."""
        spot, xp = self.layout.spots[key], self.xp
        if chosen is None:
            chosen = np.arange(self.worlds)
        rows = xp.broadcast_to(xp.asarray(values, dtype=spot.dtype), (len(chosen), *spot.shape))
        chosen = xp.asarray(chosen)
        self._view(spot)[chosen // TILE, :, chosen % TILE] = rows.reshape(len(chosen), spot.size)

    def renew(self, chosen: Any = None) -> None:
        """The work space of all worlds or of some as it began."""
        memory, image = self.blocks[WORK], self._images[WORK]
        if chosen is None:
            memory[...] = image[None, :, None]
        else:
            chosen = self.xp.asarray(chosen)
            memory[chosen // TILE, :, chosen % TILE] = image[None]


def address_of(memory: Any) -> int:
    """Where an array of NumPy or CuPy begins."""
    return int(memory.ctypes.data if isinstance(memory, np.ndarray) else memory.data.ptr)
