"""Where a step's time goes: each stage of a method run singly from Python, and timed."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sesshoku.simulation import Simulation


def profile(sim: Simulation, steps: int) -> dict[str, float]:
    """Mean time (seconds) of each stage and of a whole step; see `Simulation.profile`."""
    stages = sim.method.module.stages(sim.method.options)
    sim.step(0)
    if steps == 0:
        return dict.fromkeys(stages, 0.0) | {"step": 0.0}
    before = sim.save()
    start = wall.perf_counter()
    sim.step(steps)
    whole = (wall.perf_counter() - start) / max(steps, 1)
    sim.restore(before)
    overhead = call_overhead(sim)
    spent = dict.fromkeys(stages, 0.0)
    for n in range(-1, steps):  # the first pass only compiles
        if n == 0:
            sim.restore(before)
            spent = dict.fromkeys(stages, 0.0)
        sim._script.aim(sim.data, sim.dt)
        for name, stage in stages.items():
            start = wall.perf_counter()
            stage(sim.model, sim.data, *sim.records.values(), sim._parameters, sim.dt)
            spent[name] += wall.perf_counter() - start - overhead
    if sim._pushed:
        sim._release()
    sim._stale = True
    return {name: max(total, 0.0) / max(steps, 1) for name, total in spent.items()} | {"step": whole}


def call_overhead(sim: Simulation, repeat: int = 200) -> float:
    """Seconds a call of an empty stage costs."""
    times, nothing = [], sim.method.module.stage_nothing
    for _ in range(repeat):
        start = wall.perf_counter()
        nothing(sim.model, sim.data, *sim.records.values(), sim._parameters, sim.dt)
        times.append(wall.perf_counter() - start)
    return float(np.median(times[1:]))
