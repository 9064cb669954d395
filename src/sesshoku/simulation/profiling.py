"""Where a step's time goes: each stage of a method run singly from Python, and timed."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

UNDISTURBED = 99  # percentile above which a time counts as that: the system was at something else


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
    # an empty stage in every pass: a call costs more than most stages, and not the same from one moment to the next
    called = [*stages.values(), sim.method.module.stage_nothing]
    spent = np.zeros((steps, len(called)))
    for n in range(-1, steps):  # the first pass only compiles
        if n == 0:
            sim.restore(before)
        sim._script.aim(sim.data, sim.dt)
        for k, stage in enumerate(called):
            start = wall.perf_counter()
            stage(sim.model, sim.data, *sim.records.values(), sim._parameters, sim.dt)
            spent[n, k] = wall.perf_counter() - start
    if sim._pushed:
        sim._release()
    sim._stale = True
    mean = np.minimum(spent, np.percentile(spent, UNDISTURBED, axis=0)).mean(axis=0)
    return {name: max(float(mean[k] - mean[-1]), 0.0) for k, name in enumerate(stages)} | {"step": whole}
