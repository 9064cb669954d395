"""`implicit` against MuJoCo: the large humanoid standing at 1 and 5 ms; chains of up to 2,000 links; a pile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.contact import pile, standing, steady, whole_run
from sesshoku.comparison.bench import Comparison
from sesshoku.experiments.implicit.scaling import chain, slope, step_times

METHODS = ("implicit", "implicit:recommended")


def real_time_factor(scene: ss.Scene, method: str, dt: float, seconds: float = 2.0, rounds: int = 5) -> float:
    """Simulated seconds per second, detection and servos included; the best of a few runs."""
    sim = ss.Simulation(scene, method, dt)
    sim.step(round(0.5 / dt))
    best = np.inf
    for _ in range(rounds):
        clock = time.perf_counter()
        sim.step(round(seconds / dt))
        best = min(best, time.perf_counter() - clock)
    return seconds / best


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Comparisons with mj_step, and numbers of our own."""
    comparisons: list[Comparison] = []
    numbers: dict[str, Any] = {"simulated seconds per second": {}, "standing": {}}
    for method in METHODS:
        for dt in (1e-3, 5e-3):
            say(f"{method}, standing, {1e3 * dt:g} ms")
            scene = standing()
            scene.name = f"{scene.name}, {1e3 * dt:g} ms"
            comparisons += steady(scene, method, dt, settle=1.0)
            numbers["simulated seconds per second"][f"{method}, {1e3 * dt:g} ms"] = round(
                real_time_factor(scene, method, dt), 1)
            numbers["standing"][f"{method}, {1e3 * dt:g} ms"] = ten_seconds(method, dt)
    say("pile of 27")
    comparison, more = whole_run(pile(3), "implicit:recommended", 1e-3, 0.5)
    comparisons.append(comparison)
    numbers["pile of 27"] = more
    say("chains")
    lengths = (20, 50, 100, 200, 500, 1000, 2000)
    times = step_times(lengths)
    numbers["chain, microseconds per step"] = {str(n): round(1e6 * t, 2) for n, t in times.items()}
    numbers["chain, growth exponent"] = round(slope(times), 3)
    numbers["chain of 2,000, dofs"] = ss.Simulation(chain(2000), "implicit").model.dof_count
    return comparisons, numbers


def ten_seconds(method: str, dt: float) -> dict[str, float]:
    """Ten seconds of standing: deepest point, how far the feet crept, lowest pelvis."""
    sim = ss.Simulation(standing(), method, dt)
    sim.step(round(0.5 / dt))
    feet = {name: sim.bodies[name].position.copy() for name in ("left_foot", "right_foot")}
    lowest, deepest = np.inf, 0.0
    for _ in range(95):
        sim.step(round(0.1 / dt))
        lowest, deepest = min(lowest, sim.bodies["pelvis"].position[2]), max(deepest, sim.report.penetration)
    crept = max(float(np.linalg.norm((sim.bodies[name].position - place)[:2])) for name, place in feet.items())
    return {"deepest_mm": round(1e3 * deepest, 4), "feet_crept_mm": round(1e3 * crept, 4),
            "lowest_pelvis_m": round(float(lowest), 4)}


if __name__ == "__main__":
    found, values = measure(print)
    for comparison in found:
        print(comparison)
    print(values)
