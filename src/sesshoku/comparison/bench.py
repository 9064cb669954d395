"""Timing against peers: interleaved in one process, smallest of many rounds, ratios rather than times.

Used by `sesshoku bench` and by the project's benchmarks/ folder. Two things are compared by running them in turns, a
short burst each, so that a busy machine slows both; the quotient of the smallest bursts is the ratio.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.scene.scene import Scene


@dataclass(frozen=True)
class Comparison:
    """Seconds per call of ours and a peer's, and their quotient; `spread`: middle half of the per-round quotients."""

    name: str
    ours: float
    peer: float
    peer_name: str
    spread: tuple[float, float]

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "ours_us": round(self.ours * 1e6, 3), "peer": self.peer_name,
                "peer_us": round(self.peer * 1e6, 3), "ratio": round(self.ratio, 3),
                "spread": [round(value, 3) for value in self.spread]}


def interleave(name: str, ours: Callable[[], Any], peer: Callable[[], Any], peer_name: str, *, calls: int = 200,
               calls_ours: int | None = None, per_ours: int = 1, rounds: int = 60) -> Comparison:
    """Time `ours` and `peer` in turns. per_ours: how many steps one call of ours makes."""
    calls_ours = calls if calls_ours is None else calls_ours
    ours(), peer()
    mine, theirs = np.empty(rounds), np.empty(rounds)
    for n in range(rounds):
        start = time.perf_counter()
        for _ in range(calls_ours):
            ours()
        middle = time.perf_counter()
        for _ in range(calls):
            peer()
        mine[n] = (middle - start) / (calls_ours * per_ours)
        theirs[n] = (time.perf_counter() - middle) / calls
    low, high = np.percentile(mine / theirs, [25, 75])
    return Comparison(name, float(mine.min()), float(theirs.min()), peer_name, (float(low), float(high)))


def mujoco_of(scene: Scene, dt: float) -> tuple[Any, Any]:
    """MuJoCo's model and data of the same scene (through `to_mjcf`), in its start state."""
    import warnings

    import mujoco

    from sesshoku.errors import UnsupportedFeature

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        text = scene.to_mjcf()
    model = mujoco.MjSpec.from_string(text).compile()
    model.opt.timestep = dt
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return model, data


def step_against_mujoco(scene: Scene, method: Any = "none", dt: float = 1e-3, *, name: str | None = None,
                        rounds: int = 60) -> list[Comparison]:
    """One step from Python, and `step(1000)`, against `mj_step` of the same model; both start anew each round."""
    import mujoco

    from sesshoku.simulation.simulation import Simulation

    sim = Simulation(scene, method, dt)
    sim.step()
    start = sim.save()
    model, data = mujoco_of(scene, dt)
    label = name or scene.name

    def theirs() -> None:
        mujoco.mj_step(model, data)

    def ours_many() -> None:
        sim.restore(start)
        sim.step(1000)

    single = interleave(f"{label}: sim.step()", sim.step, theirs, "mj_step", rounds=rounds)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    many = interleave(f"{label}: sim.step(1000)", ours_many, theirs, "mj_step", calls=500, calls_ours=1, per_ours=1000,
                      rounds=max(rounds // 2, 5))
    return [single, many]


def batch_against_simulations(scene: Scene, method: Any, dt: float, *, worlds: int = 256, threads: int | None = None,
                              steps: int = 10, rounds: int = 10) -> Comparison:
    """A batch against as many simulations in the same states, stepped one after the other by a loop in Python.

    Times are of `steps` steps of one world. Worlds start a little apart, and both do the same, bit for bit.
    """
    from itertools import cycle

    from sesshoku.simulation.batch import Batch
    from sesshoku.simulation.batch.vary import QUANTITIES

    probe = Batch(scene, 1, method, dt)
    vary = {name: size for name, size in (("joint_position", 0.04), ("rotation", 0.02), ("joint_velocity", 0.1))
            if QUANTITIES[name].elements(probe.compiled)}
    batch = Batch(scene, worlds, method, dt, threads=threads, vary=vary)
    sims = [batch[w] for w in range(worlds)]
    turn = cycle(sims)

    def ours() -> None:
        batch.step(steps)

    def theirs() -> None:
        next(turn).step(steps)

    ours()
    for sim in sims:
        sim.step(steps)
    name = f"{scene.name}, {batch.method.label}: {worlds} worlds on {batch.threads} cores, batch.step({steps})"
    return interleave(name, ours, theirs, f"sim.step({steps}) in a loop", calls=worlds, calls_ours=1, per_ours=worlds,
                      rounds=rounds)
