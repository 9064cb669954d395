"""Processes killed while they write: `python tests/soak_kills.py --count 1000 --out FILE`, or `make soak-kills`.

A child of this process writes without end and is killed (SIGKILL) after a random time. What it leaves must be whole up
to some point: a recording that streams is read up to its last chunk, number for number; a file that is saved in one go
is the old one or the new one; stored code is sound or not there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fake_simulation import FakeSimulation
from sesshoku.compiled.store import Store
from sesshoku.errors import RecordingError
from sesshoku.recording import Recorder, Recording

LONGEST = 0.04  # s that a child lives, at most


def killed(write: Callable[[Callable[[], object]], None], seconds: float) -> None:
    """Run `write` in a child of this process, and kill it so long after it called what it is given: it begins."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(lambda: os.write(writing, b"."))
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.read(reading, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        raise AssertionError(f"the child ended by itself, with status {status}")


def stream(folder: Path, rng: np.random.Generator) -> str:
    """A recording that streams to its file."""
    path, every, sim = folder / "run.ssk", int(rng.integers(1, 20)), FakeSimulation()
    path.unlink(missing_ok=True)

    def write(begin: Callable[[], object]) -> None:
        n = 0
        begin()
        recorder = Recorder(sim, channels=["q", "poses"], path=path)
        while True:
            recorder.sample(sim)
            sim.step()
            n += 1
            if n % every == 0:
                recorder.flush()

    killed(write, float(rng.uniform(0.0, LONGEST)))
    if not path.exists():
        return "nothing yet"
    try:
        recording = Recording.load(path)
    except RecordingError:
        if b"SSKC" in path.read_bytes():
            raise
        return "header cut"
    sim = FakeSimulation()
    for n in range(len(recording)):
        if not (np.array_equal(recording["q"][n], sim.q) and np.array_equal(recording["poses"][n], sim.body_poses())):
            raise AssertionError(f"sample {n} is not what was recorded")
        sim.step()
    return "samples read" if len(recording) else "no samples yet"


def saved(folder: Path, rng: np.random.Generator) -> str:
    """A recording that is saved again and again over itself."""
    path = folder / "run.npz"
    path.unlink(missing_ok=True)
    runs = []
    for length in (50, 400):
        sim = FakeSimulation()
        recorder = Recorder(sim, channels=["q"])
        for _ in range(length):
            recorder.sample(sim)
            sim.step()
        runs.append(recorder.finish())
    made = {len(run): run for run in runs}
    runs[0].save(path)

    def write(begin: Callable[[], object]) -> None:
        begin()
        while True:
            runs[1].save(path)
            runs[0].save(path)

    killed(write, float(rng.uniform(0.0, LONGEST)))
    recording = Recording.load(path)
    if len(recording) not in made or not np.array_equal(recording["q"], made[len(recording)]["q"]):
        raise AssertionError(f"{len(recording)} samples, neither the old file nor the new one")
    return f"{len(recording)} samples"


def stored(folder: Path, rng: np.random.Generator) -> str:
    """Code that is kept in the store."""
    place = folder / "store"
    shutil.rmtree(place, ignore_errors=True)

    def code(n: int) -> bytes:
        return bytes([n % 256]) * 20_000

    def write(begin: Callable[[], object]) -> None:
        store, n = Store(place), 0
        begin()
        while True:
            store.write("unit", f"{n % 40:040x}", {"n": n % 40}, code(n % 40))
            n += 1

    killed(write, float(rng.uniform(0.0, LONGEST)))
    store, found = Store(place), 0
    for n in range(40):
        there = store.path("unit", f"{n:040x}").exists()
        read = store.read("unit", f"{n:040x}")
        if there and read != ({"n": n}, code(n)):
            raise AssertionError(f"entry {n} is there and not sound")
        found += read is not None
    return "whole" if found == 40 else "part"


TARGETS = {"stream": stream, "saved": saved, "stored": stored}


def soak(count: int, seed: int, out: Path | None) -> int:
    """So many kills; the number of findings."""
    counts: dict[str, dict[str, int]] = {name: {} for name in TARGETS}
    findings: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for n in range(count):
            name = list(TARGETS)[n % len(TARGETS)]
            try:
                outcome = TARGETS[name](Path(place), np.random.default_rng([seed, n]))
                counts[name][outcome] = counts[name].get(outcome, 0) + 1
            except Exception as error:
                findings.append({"target": name, "number": n, "found": f"{type(error).__name__}: {error}"[:300]})
    if out is not None:
        out.write_text(json.dumps({"kills": count, "seed": seed, "outcomes": counts, "findings": findings}, indent=1)
                       + "\n")
    print(json.dumps(counts, indent=1))
    for finding in findings[:50]:
        print(finding)
    return len(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    return int(soak(given.count, given.seed, given.out) > 0)


if __name__ == "__main__":
    sys.exit(main())
