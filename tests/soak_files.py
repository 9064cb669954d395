"""Damaged files without end: `python tests/soak_files.py --count 100000 --out FILE`, or `make soak-files COUNT=...`.

Robots (URDF, MJCF), scenes (TOML), recordings (.ssk, .npz), saved states of every method, stored code: a mutant is read
or refused with an error of ours, within LIMIT seconds. Everything else is a finding, with the kind and number that
make it again. Kinds take turns; each has as large a share as its files are quick to read.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from property.test_broken_files import DATA, FILES, assert_finite, mutated
from property.test_broken_toml import TABLE_MUTATIONS, mutate_text, places, tables
from recording_mutants import changed_bytes, changed_npz, changed_ssk
from sesshoku.compiled.store import packed, unpacked
from sesshoku.methods.registry import keywords
from sesshoku.recording import Recording
from sesshoku.scene.io.spec import load_robot
from sesshoku.scene.io.toml.read import read_scene
from sesshoku.scene.io.toml.write import dumps
from snapshot_fuzz import same_state, simulated, spoil
from unit.recording.test_outside import recorded

LIMIT = 10.0  # s for one file
SHARES = {"state": 35, "ssk": 25, "npz": 20, "code": 10, "toml": 6, "urdf": 2, "mjcf": 2}
AFTER = 3  # steps that a state which was taken back is run for


class Mutants:
    """`try_one(kind, number)`: True if the mutant was read, False if it was refused; anything else is raised."""

    def __init__(self, folder: Path, methods: list[str]) -> None:
        self.folder, self.methods = folder, methods
        shutil.copytree(DATA, folder / "data")
        self._good = {kind: recorded(folder / f"good.{kind}").read_bytes() for kind in ("ssk", "npz")}
        self._texts = {kind: (DATA / name).read_text() for kind, name in FILES.items()}
        self._tables = tables(folder)
        self._states: dict[str, tuple[ss.Simulation, ss.Snapshot]] = {}
        self._code = packed("unit", "key", {"name": "f", "calls": ["g", "h"]}, bytes(range(256)) * 8)

    def try_one(self, kind: str, number: int) -> bool:
        attempt: dict[str, Callable[[int], None]] = {
            "state": self._state, "ssk": self._ssk, "npz": self._npz, "code": self._stored, "toml": self._toml,
            "urdf": self._urdf, "mjcf": self._mjcf}
        try:
            attempt[kind](number)
        except ss.SesshokuError:
            return False
        return True

    def _recording(self, suffix: str, data: bytes) -> None:
        path = self.folder / f"bad.{suffix}"
        path.write_bytes(data)
        recording = Recording.load(path)
        assert repr(recording) and len(recording.time) == len(recording)
        for name in recording:
            assert len(recording[name]) == len(recording)
        recording.film.at(0.0)

    def _ssk(self, number: int) -> None:
        self._recording("ssk", changed_ssk(np.random.default_rng([1, number]), self._good["ssk"]))

    def _npz(self, number: int) -> None:
        self._recording("npz", changed_npz(np.random.default_rng([2, number]), self._good["npz"]))

    def _stored(self, number: int) -> None:
        changed = changed_bytes(np.random.default_rng([3, number]), self._code)
        if changed != self._code and unpacked("unit", "key", changed) is not None:
            raise AssertionError("damaged code was taken for sound")
        raise ss.SesshokuError("refused")

    def _state(self, number: int) -> None:
        method = self.methods[number % len(self.methods)]
        if method not in self._states:
            sim = simulated(method, 20)
            self._states[method] = sim, sim.save()
        sim, good = self._states[method]
        bad, what = spoil(np.random.default_rng([4, number]), good)
        try:
            sim.restore(bad)
        except ss.SceneError:
            if not same_state(sim.save(), good):
                raise AssertionError(f"a refused state left something behind ({what})") from None
            raise
        try:
            sim.step(AFTER)
        finally:
            sim.restore(good)

    def _toml(self, number: int) -> None:
        rng = random.Random(number)
        data = copy.deepcopy(rng.choice(self._tables))
        path = self.folder / "scene.toml"
        if rng.random() < 0.5:
            for _ in range(rng.choice([1, 1, 2, 3])):
                if len(places(data)) > 1:
                    rng.choice(TABLE_MUTATIONS)(data, rng)
            path.write_text(dumps(data), encoding="utf-8")
        else:
            path.write_bytes(mutate_text(dumps(data), rng))
        read_scene(path)

    def _robot(self, kind: str, number: int) -> None:
        path = (self.folder / "data" / FILES[kind]).with_name(f"broken{Path(FILES[kind]).suffix}")
        path.write_text(mutated(self._texts[kind], 10_000 + number))
        assert_finite(load_robot(path), f"{kind} {number}")

    def _urdf(self, number: int) -> None:
        self._robot("urdf", number)

    def _mjcf(self, number: int) -> None:
        self._robot("mjcf", number)


def soak(count: int, first: int, methods: list[str], out: Path | None) -> int:
    """Try so many mutants; the number of findings."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    counts = {kind: {"tried": 0, "read": 0, "longest_s": 0.0} for kind in SHARES}
    findings: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mutants, begun = Mutants(Path(place), methods), time.monotonic()
        for n in range(first, first + count):
            kind, number = kinds[n % len(kinds)], n
            told, begin = counts[kind], time.monotonic()
            try:
                told["read"] += mutants.try_one(kind, number)
            except Exception as error:
                findings.append({"kind": kind, "number": number, "found": f"{type(error).__name__}: {error}"[:300]})
            took = time.monotonic() - begin
            told["tried"] += 1
            told["longest_s"] = max(told["longest_s"], round(took, 3))
            if took > LIMIT:
                findings.append({"kind": kind, "number": number, "found": f"took {took:.1f} s"})
            if out is not None and (n + 1) % 1000 == 0:
                write(out, count, first, counts, findings, time.monotonic() - begun)
        if out is not None:
            write(out, count, first, counts, findings, time.monotonic() - begun)
    for kind, told in counts.items():
        print(f"{kind:8}{told['tried']:8} tried, {told['read']:8} read, longest {told['longest_s']:.2f} s")
    for finding in findings[:50]:
        print(finding)
    return len(findings)


def write(out: Path, count: int, first: int, counts: Any, findings: Any, seconds: float) -> None:
    tried = sum(told["tried"] for told in counts.values())
    out.write_text(json.dumps({"wanted": count, "tried": tried, "first": first, "seconds": round(seconds),
                               "limit_s": LIMIT, "kinds": counts, "findings": findings}, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--method", nargs="*", default=keywords())
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs=2, metavar=("KIND", "NUMBER"))
    given = parser.parse_args()
    if given.only:
        with tempfile.TemporaryDirectory() as place:
            mutants = Mutants(Path(place), given.method)
            print("read" if mutants.try_one(given.only[0], int(given.only[1])) else "refused")
        return 0
    return int(soak(given.count, given.first, given.method, given.out) > 0)


if __name__ == "__main__":
    sys.exit(main())
