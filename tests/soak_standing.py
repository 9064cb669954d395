"""A humanoid that stands for hours: `python tests/soak_standing.py --hours 24 --out FILE`.

The large humanoid on its servos under `exact` at 1 ms, in calls of ten simulated seconds. Kept are how far its base has
gone from where it stood after the first minute, its energy, the residual, and how much memory the process takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss

SETTLED = 60.0  # s


def memory() -> float:
    """Resident memory of this process, MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stand(hours: float, method: str, out: Path | None) -> dict[str, Any]:
    """Stand for so long; drift, memory and what else there is to say."""
    scene = ss.Scene()
    scene.add_ground(material=ss.Material(0.8, 0.7, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    sim = ss.Simulation(scene, method, 1e-3)
    base = next(name for name in sim.bodies if name != "ground")
    begun, start, marks = time.process_time(), None, []
    found: dict[str, Any] = {}
    while sim.time < 3600.0 * hours:
        sim.step(10_000)
        if sim.time < SETTLED:
            continue
        if start is None:
            start, first = sim.bodies[base].position.copy(), memory()
        marks.append([round(sim.time, 3), float(np.linalg.norm(sim.bodies[base].position - start)), memory()])
        found = {"method": method, "simulated_h": sim.time / 3600.0, "steps": round(sim.time / sim.dt),
                 "processor_s": round(time.process_time() - begun, 1), "drift_m": marks[-1][1],
                 "largest_drift_m": max(mark[1] for mark in marks), "memory_first_mb": round(first, 1),
                 "memory_last_mb": round(marks[-1][2], 1), "kinetic_J": sim.energy.kinetic,
                 "residual": sim.report.residual, "converged": sim.report.converged}
        if out is not None and len(marks) % 10 == 0:
            out.write_text(json.dumps(found, indent=1) + "\n")
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0.1)
    parser.add_argument("--method", default="exact")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    print(json.dumps(stand(given.hours, given.method, given.out), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
