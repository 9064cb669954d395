"""Runs of random scenes without end: `python tests/soak.py --minutes 30`, or `make soak MINUTES=30`.

Each method runs in a process of its own, which says what it begins before it begins it: a process that dies, or takes
longer than a step may, is a finding with its seed. Other findings: an exception that is not ours, a state that is not
finite, a run of a method that promises otherwise which diverges, and energy in a passive scene that nothing brought
and nobody warned of. Methods as in their papers are not held to the last: what they gain is counted. Result: a JSON
file and a table; a seed runs again alone by `python tests/soak.py --only METHOD SEED`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.methods.registry import keywords, resolve
from sesshoku.stages.deep_overlaps import DeepOverlap
from wild_scenes import wild_scene

STEPS = 200
PATIENCE = 120.0  # s that a scene may take, its compilation aside
GAIN = 0.05  # of the largest motion there was, or could have been: what a passive scene may gain
CAUTIONS = (ss.UnstableStep, DeepOverlap)  # said of a scene, they explain a gain
TOLD = (*CAUTIONS, ss.SuspectRun)
HERE = Path(__file__).parent


def examine(method: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """One scene: {"steps": n, "found": what is wrong, or None, "note": what the method says of itself}.

    "gain": of a passive scene, the most energy that nothing brought, as a share of the largest there was.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            wild = wild_scene(seed)
            sim = ss.Simulation(wild.scene, method, wild.dt)
        except ss.SesshokuError as error:
            return {"steps": 0, "found": None, "note": f"refused: {type(error).__name__}"}
        result = run(sim, wild.passive, steps, warned=any(issubclass(w.category, CAUTIONS) for w in said))
        return result | {"warned": sorted({w.category.__name__ for w in said if issubclass(w.category, TOLD)})}


def run(sim: ss.Simulation, passive: bool, steps: int, warned: bool = False) -> dict[str, Any]:
    chosen = sim.method
    kinetic, potential = sim.energy
    start, lowest, given, gain = kinetic + potential, potential, 0.0, 0.0
    scale = kinetic + float(np.sum(sim.model.link_mass)) * (max(np.linalg.norm(sim.model.gravity), 1.0) * sim.dt)**2
    for n in range(steps):
        try:
            sim.step()
        except ss.SimulationDiverged as error:
            declared = chosen.definition.guaranteed("finite", chosen.options)
            return {"steps": n, "found": f"diverged: {error}" if declared else None, "note": "diverged", "gain": gain}
        if not (np.isfinite(sim.q).all() and np.isfinite(sim.v).all()):
            return {"steps": n, "found": "a state that is not finite", "note": ""}
        kinetic, potential = sim.energy
        given += max(sim.report.correction_work, 0.0)
        lowest = min(lowest, potential)
        scale = max(scale, kinetic, start - lowest)  # what was, or could have become, motion
        if passive and scale > 0.0:
            gain = max(gain, (kinetic + potential - start - given) / scale)
    found = None
    if gain > GAIN and not warned and is_held(chosen):
        found = f"energy from nowhere: {gain:.2g} of {scale:.3g} J, beside {given:.3g} J by corrections"
    return {"steps": steps, "found": found, "note": "", "gain": gain}


def is_held(chosen: Any) -> bool:
    """Whether a method is held to bring no energy: all but those that are as their papers say."""
    return bool(chosen.keyword in ("exact", "none") or ":" in chosen.keyword)


def work(method: str, first: int, steps: int) -> None:
    """Scenes first, first + 1, ... until the process is ended; a line before and after each."""
    examine(method, 0, 1)  # compiles
    seed = first
    while True:
        print(json.dumps({"begins": seed}), flush=True)
        try:
            result = examine(method, seed, steps)
        except Exception as error:
            result = {"steps": 0, "found": f"{type(error).__name__}: {error}", "note": ""}
        print(json.dumps({"seed": seed, **result}), flush=True)
        seed += 1


class Worker:
    """A process that runs one method's scenes, started again where it died or hung."""

    def __init__(self, method: str, seed: int, steps: int) -> None:
        self.method, self.seed, self.steps = method, seed, steps
        self.counts = {"scenes": 0, "steps": 0, "refused": 0, "diverged": 0, "gained": 0}
        self.findings: list[dict[str, Any]] = []
        self.begun: float | None = None
        self.ended = False
        self._start()

    def _start(self) -> None:
        command = [sys.executable, __file__, "--work", self.method, str(self.seed), str(self.steps)]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.begun = None
        Thread(target=self._listen, args=(self.child,), daemon=True).start()

    def _listen(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            said = json.loads(line)
            if "begins" in said:
                self.seed, self.begun = said["begins"], time.monotonic()
                continue
            self.begun, self.seed = None, said["seed"] + 1
            self.counts["scenes"] += 1
            self.counts["steps"] += said["steps"]
            self.counts["refused"] += said["note"].startswith("refused")
            self.counts["diverged"] += said["note"] == "diverged"
            self.counts["gained"] += said.get("gain", 0.0) > GAIN
            if said["found"]:
                self.findings.append({"method": self.method, "seed": said["seed"], "found": said["found"]})
        if not self.ended and child is self.child:
            self._failed(f"the process ended with {child.wait()}")

    def _failed(self, what: str) -> None:
        self.findings.append({"method": self.method, "seed": self.seed, "found": what})
        self.seed += 1
        self._start()

    def watch(self) -> None:
        if self.begun is not None and time.monotonic() - self.begun > PATIENCE:
            child, self.child = self.child, None  # type: ignore[assignment]
            child.kill()
            self._failed(f"took longer than {PATIENCE:g} s")

    def end(self) -> None:
        self.ended = True
        self.child.kill()


def soak(methods: list[str], minutes: float, seed: int, steps: int, out: Path | None) -> int:
    """Run for so long; the number of findings."""
    deadline = time.monotonic() + 60.0 * minutes
    workers = [Worker(method, seed, steps) for method in methods]
    while time.monotonic() < deadline:
        time.sleep(min(2.0, max(deadline - time.monotonic(), 0.0)))
        for worker in workers:
            worker.watch()
        print("\r" + "  ".join(f"{w.method} {w.counts['steps']}" for w in workers)[:200], end="", file=sys.stderr)
    for worker in workers:
        worker.end()
    findings = [finding for worker in workers for finding in worker.findings]
    print(f"\n{'method':24}{'scenes':>8}{'steps':>10}{'refused':>9}{'diverged':>10}{'gained':>8}{'findings':>10}")
    for w in workers:
        print(f"{w.method:24}{w.counts['scenes']:8}{w.counts['steps']:10}{w.counts['refused']:9}"
              f"{w.counts['diverged']:10}{w.counts['gained']:8}{len(w.findings):10}")
    for finding in findings:
        print(f"{finding['method']} {finding['seed']}: {finding['found']}")
    if out is not None:
        out.write_text(json.dumps({"minutes": minutes, "first_seed": seed, "steps_per_scene": steps,
                                   "methods": {w.method: w.counts for w in workers}, "findings": findings}, indent=1))
    return len(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--method", nargs="*", default=[key for key in keywords() if key != "none"])
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6 * 1000, help="of the first scene")
    parser.add_argument("--steps", type=int, default=STEPS, help="of each scene")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs=2, metavar=("METHOD", "SEED"))
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work[0], int(given.work[1]), int(given.work[2]))
    if given.only:
        result = examine(given.only[0], int(given.only[1]), given.steps)
        print(json.dumps(result))
        return int(result["found"] is not None)
    for method in given.method:
        resolve(method)
    return int(soak(given.method, given.minutes, given.seed, given.steps, given.out) > 0)


if __name__ == "__main__":
    sys.exit(main())
