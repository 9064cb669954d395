"""`multipoint`: a standing humanoid against MuJoCo, passes of the removal loop over falls, growth with the contacts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.contact import limp, standing, steady
from sesshoku.comparison.bench import Comparison
from sesshoku.experiments.lcp.time import FEET, step_times, studded

METHODS = ("multipoint", "multipoint:recommended")


def toppling() -> ss.Scene:
    """The large humanoid, servos on, thrown over backwards from its stance."""
    scene = standing()
    scene.name = "large humanoid toppling"
    scene.bodies["pelvis"].velocity = np.array([-1.5, 0.3, 0.0])
    return scene


def passes_of_a_fall(scene: ss.Scene, method: str, duration: float = 2.0, dt: float = 1e-3) -> dict[str, Any]:
    """Solves per step with contact, mean and most; contacts; how often, and by how much, contact brought energy."""
    sim = ss.Simulation(scene, method, dt)
    passes, contacts, gains, ended = [], [], [], duration
    for n in range(round(duration / dt)):
        try:
            sim.step()
        except ss.SimulationDiverged:  # the paper's friction can feed a limp fall until it overflows: said, not hidden
            ended = n * dt
            break
        if sim.contacts:
            passes.append(sim.report.iterations)
            contacts.append(len(sim.contacts))
            gains.append(sim.report.energy_change - sim.report.correction_work)
    solved = sim.records["norm"].rank
    return {
        "passes_mean": round(float(np.mean(passes)), 3),
        "passes_most": int(max(passes)),
        "contacts_most": int(max(contacts)),
        "steps_gaining_energy": round(float(np.mean(np.array(gains) > 1e-6)), 4),
        "largest_gain_J": float(f"{max(gains):.3g}"),
        "ran_s": ended,
        "solved_by": {"gram": int(solved[1]), "triangle": int(solved[2]), "rotations": int(solved[3])},
    }


def growth(method: str) -> dict[str, Any]:
    """Microseconds per step of the large humanoid on soles of 4 to 64 contacts, and the exponent of their growth."""
    one_foot = studded(1)
    one_foot.bodies[FEET[1]].geometries.clear()  # four contacts
    times = step_times(method, [one_foot, *(studded(studs) for studs in (1, 2, 4, 8))], lambda line: None)
    counts = sorted(times)
    fit = np.polyfit(np.log(counts[1:]), np.log([times[m][0] for m in counts[1:]]), 1)
    return {
        "microseconds": {str(m): round(1e6 * times[m][0], 1) for m in counts},
        "passes": {str(m): times[m][1] for m in counts},
        "exponent from 8 on": round(float(fit[0]), 2),
    }


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Comparisons with MuJoCo, and what else was measured."""
    comparisons: list[Comparison] = []
    found: dict[str, Any] = {}
    for method in METHODS:
        say(f"{method}: standing, in turns with MuJoCo ...")
        comparisons += steady(standing(), method, 1e-3, 0.5)
        say(f"{method}: falls ...")
        found[method] = {scene.name: passes_of_a_fall(scene, method) for scene in (toppling(), limp())}
        say(f"{method}: growth with the number of contacts ...")
        found[method]["contacts on one tree"] = growth(method)
    return comparisons, found


if __name__ == "__main__":
    import json

    compared, details = measure(print)
    for comparison in compared:
        print(json.dumps(comparison.as_dict()))
    print(json.dumps(details, indent=1))
