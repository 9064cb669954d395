"""Batches on a GPU: against the golden states of the CPU, and steps per second. Needs a card (extra `cuda`).

    python -m benchmarks.gpu OUT.json [METHOD ...] [--scenes FILE]
    python -m benchmarks.gpu --write-scenes FILE      # for a machine that reads no robot files

The large humanoid standing, 4,096 different starts (repeated in larger batches), 0.3 s after them.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.stages.report import ITERATIONS

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import golden_worlds

SIZES = (1024, 4096, 16384, 65536)
METHODS = ("lcp:batch", "lcp:recommended", "exact", "none", "implicit", "multipoint")
SETTLE = 0.3  # s
LONG = {"none": 1000, "lcp:recommended": 1000, "exact": 1000}  # steps without a lost world; of others:
SHORT = 100


class Measured:
    """What was found so far, in a file that is whole at any time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.found: dict[str, Any] = {"golden": [], "speed": []}

    def add(self, what: str, **values: Any) -> None:
        """Keep and say a row."""
        self.found[what].append(values)
        print(what, json.dumps(values), flush=True)
        Path(self._path).write_text(json.dumps(self.found, indent=1) + "\n")


def check(measured: Measured, scene: ss.Scene, name: str, method: str) -> None:
    """Ten steps against the CPU's; then many, twice."""
    golden, runs = golden_worlds.golden(), []
    for _ in range(2):
        batch = golden_worlds.begun(scene, name, method, device="cuda")
        batch.step(golden_worlds.STEPS)
        state = batch.save()
        batch.step(LONG.get(method, SHORT) - golden_worlds.STEPS)
        runs.append((state, batch.save()))
    (state, end), (_, other) = runs
    off = {letter: float(np.abs(state[letter] - golden[f"{name} {method} {letter}"]).max()) for letter in "qv"}
    measured.add("golden", scene=name, method=method, after_ten_steps=off, steps=LONG.get(method, SHORT),
                 lost=int(end["diverged"].sum()),
                 same_twice=all(np.array_equal(end[key], other[key], equal_nan=end[key].dtype.kind == "f")
                                for key in end))


def speed(measured: Measured, scene: ss.Scene, method: str, worlds: int) -> None:
    """Steps per second of batch.step(10), and what a call of step() costs the host."""
    import cupy

    try:
        batch: Any = ss.Batch(scene, worlds, method, golden_worlds.DT, device="cuda")
    except ss.SceneError as error:
        measured.add("speed", method=method, worlds=worlds, refused=str(error))
        return
    q, v = golden_worlds.starts(batch.compiled.q, batch.compiled.v, min(worlds, 4096))
    numbers = np.arange(worlds) % len(q)
    batch.q, batch.v = q[numbers], v[numbers]
    slow = method in ("exact", "multipoint", "implicit")
    settle, rounds = (round(SETTLE / golden_worlds.DT) // (3 if slow else 1), 2 if slow else 10)
    batch.step(settle)
    batch.step(10)
    cupy.cuda.runtime.deviceSynchronize()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(rounds):
        batch.step(10)
    end.record()
    end.synchronize()
    took = cupy.cuda.get_elapsed_time(begin, end) * 1e-3
    host = []
    for _ in range(20):
        cupy.cuda.runtime.deviceSynchronize()
        clock = time.perf_counter()
        batch.step()
        host.append(time.perf_counter() - clock)
    measured.add("speed", method=method, worlds=worlds,
                 million_steps_per_second=round(worlds * rounds * 10 / took / 1e6, 3),
                 converged=round(float(batch.converged.mean()), 4),
                 contacts=round(float(batch.contact_count.mean()), 2),
                 iterations=round(float(batch.report_array[:, ITERATIONS].mean()), 2), lost=int(batch.diverged.sum()),
                 at_once=batch._memory.tiles.at_once, launches=len(batch._launches.stages),
                 host_us=round(1e6 * sorted(host)[len(host) // 2], 1))
    del batch
    gc.collect()
    cupy.get_default_memory_pool().free_all_blocks()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?")
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--scenes")
    parser.add_argument("--write-scenes")
    given = parser.parse_args()
    if given.write_scenes:
        Path(given.write_scenes).write_bytes(pickle.dumps({name: make() for name, (make, _) in
                                                           golden_worlds.SCENES.items()}))
        return
    scenes = pickle.loads(Path(given.scenes).read_bytes()) if given.scenes else {
        name: make() for name, (make, _) in golden_worlds.SCENES.items()}
    measured = Measured(given.out)
    card = ss.Batch(scenes["standing"], 1, "none", device="cuda")._card
    measured.found |= {"card": card.name, "sesshoku": ss.__version__, "cupy": card.xp.__version__,
                       "cuda": card.xp.cuda.runtime.runtimeGetVersion()}
    chosen = given.methods or METHODS
    for name, (_, methods) in golden_worlds.SCENES.items():
        for method in methods:
            if method in chosen or not given.methods:
                check(measured, scenes[name], name, method)
    for method in chosen:
        for worlds in SIZES:
            speed(measured, scenes["standing"], method, worlds)


if __name__ == "__main__":
    main()
