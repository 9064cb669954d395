"""Where a step's time goes: the stages of a method, timed where they stand in its compiled loop."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation


def profile(sim: Simulation, steps: int) -> dict[str, float]:
    """Mean time (seconds) of each stage and of a whole step; see `Simulation.profile`.

    The processor's clock counts between stages; their sum is scaled to what the steps took by the wall's.
    """
    names, clock = sim.method.definition.stages_of(sim.method.options).names, sim.data.clock
    sim.step(0)
    if steps == 0:
        return dict.fromkeys(names, 0.0) | {"step": 0.0}
    clock[:] = 0
    clock[0] = 1
    start = wall.perf_counter()
    try:
        sim.step(steps)
    finally:
        clock[0] = 0
    whole = (wall.perf_counter() - start) / steps
    ticks = clock[1 : 1 + len(names)]
    share = ticks / max(int(ticks.sum()), 1)
    return {name: float(part) * whole for name, part in zip(names, share, strict=True)} | {"step": whole}
