"""Worlds in tiles (`compiled/tiles.py`) stepped by the CPU, stage by stage over all worlds, as a GPU does it."""

from __future__ import annotations

from functools import cache

import numpy as np

import sesshoku as ss
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import written_out
from sesshoku.compiled.tiled_stages import make_bodies, make_loop
from sesshoku.methods.registry import Method, resolve
from sesshoku.simulation.batch.tiles import TiledWorlds, TileLayout, types_of, views_of
from sesshoku.simulation.simulation import Simulation


def layout_of(sim: Simulation, varied: frozenset[str] = frozenset()) -> TileLayout:
    """Where the arrays of such a simulation lie in tiles."""
    roots = {"model": sim.model, "data": sim.data, "work": sim.work}
    return TileLayout(roots, types_of(roots, sim.method), varied)


@cache
def bodies_of(keyword: str | Method) -> dict[str, object]:
    """The bodies of a method's stages; of the whole step where it has parts."""
    method = resolve(keyword)
    definition, stages = method.definition, method.definition.stages_of(method.options)
    probe = ss.Scene()
    probe.add_box("box", size=(1, 1, 1), mass=1.0)
    views = views_of(layout_of(Simulation(probe, method)).types)
    return make_bodies(stages, views, definition.module) or {"loop": make_loop(stages, views, definition.module)}


@cache
def all_worlds(keyword: str | Method):
    """The compiled loop over steps, stages and worlds."""
    bodies = bodies_of(keyword)
    lines = ["def all_worlds(model, data, work, own, space, dt, steps, alive_out):", "    for _ in range(steps):"]
    for n in range(len(bodies)):
        lines += ["        for w in range(len(alive_out)):",
                  f"            if alive_out[w] and not body{n}(model, data, work, own, space, dt, 1, 0, w):",
                  "                alive_out[w] = 0"]
    space = {f"body{n}": body for n, body in enumerate(bodies.values())} | {"__name__": "tiled"}
    return jit(written_out(lines, space, "all_worlds", f"<all worlds of {keyword}>"))


class CpuTiles:
    """Tiles of a scene's worlds on the CPU."""

    def __init__(self, scene: ss.Scene, worlds: int, method: str | Method, dt: float,
                 varied: dict[str, np.ndarray] | None = None) -> None:
        self.sim = Simulation(scene, method, dt)
        self.method, self.dt = method, dt
        self.worlds = TiledWorlds(layout_of(self.sim, frozenset(varied or ())), worlds, np)
        self.alive = np.ones(worlds, dtype=np.int64)
        for key, values in (varied or {}).items():
            self.worlds.write(key, values)

    def step(self, steps: int) -> None:
        tables, w = self.worlds.tables, self.worlds
        all_worlds(self.method)(tables["model"], tables["data"], tables["work"], w.own_bytes, w.work_bytes, self.dt,
                                steps, self.alive)
