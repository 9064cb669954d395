"""Steps with contact against MuJoCo on the same model: same start, sleeping off, MuJoCo's defaults."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.comparison.bench import Comparison, interleave, mujoco_of


def standing() -> ss.Scene:
    """The large humanoid on its box feet, servos holding its stance: 8 contacts."""
    scene = ss.Scene(gravity=(0, 0, -9.8), name="large humanoid standing")
    scene.add_ground(material=ss.Material(0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    return scene


def limp() -> ss.Scene:
    """The same without servos, tilted a little: it falls."""
    scene = standing()
    scene.name = "large humanoid falling limp"
    scene.actuators.clear()
    scene.bodies["pelvis"].rotation = np.array([np.cos(0.05), 0.0, np.sin(0.05), 0.0])
    return scene


def pile(edge: int = 5, seed: int = 1) -> ss.Scene:
    """Loose, slightly tilted cubes of 0.1 m in a block, about to settle."""
    rng = np.random.default_rng(seed)
    scene = ss.Scene(name=f"pile of {edge**3}")
    scene.add_ground(material=ss.Material(0.5))
    for n in range(edge**3):
        i, j, k = n % edge, n // edge % edge, n // edge**2
        turn = np.array([1.0, *rng.normal(scale=0.05, size=3)])
        place = np.array([i, j, k]) * 0.115 + (*rng.uniform(-3e-3, 3e-3, 2), 0.06)
        scene.add_box(f"cube{n}", size=(0.1, 0.1, 0.1), mass=1.0, position=place, rotation=turn / np.linalg.norm(turn),
                      material=ss.Material(0.5))
    return scene


def steady(
    scene: ss.Scene, method: str, dt: float, settle: float, rounds: int = 40, calls: int = 100
) -> list[Comparison]:
    """Both settle first, then steps are timed in turns, from Python and inside step(n)."""
    import mujoco

    sim = ss.Simulation(scene, method, dt)
    model, data = mujoco_of(scene, dt)
    for _ in range(round(settle / dt)):
        mujoco.mj_step(model, data)
    sim.step(round(settle / dt))

    def theirs() -> None:
        mujoco.mj_step(model, data)

    label = f"{scene.name}, {method}"
    return [interleave(f"{label}: sim.step()", sim.step, theirs, "mj_step", calls=calls, rounds=rounds),
            interleave(f"{label}: sim.step({10 * calls})", lambda: sim.step(10 * calls), theirs, "mj_step", calls=calls,
                       calls_ours=1, per_ours=10 * calls, rounds=rounds // 2)]


def whole_run(
    scene: ss.Scene, method: str, dt: float, duration: float, rounds: int = 5
) -> tuple[Comparison, dict[str, Any]]:
    """The whole motion from the start, ours and MuJoCo's in turns; with depth and residual over our run."""
    import mujoco

    sim = ss.Simulation(scene, method, dt)
    sim.step(0)
    start = sim.save()
    model, data = mujoco_of(scene, dt)
    steps = round(duration / dt)
    mine, theirs = np.empty(rounds), np.empty(rounds)
    for n in range(rounds):
        sim.restore(start)
        clock = time.perf_counter()
        for _ in range(steps):
            sim.step()
        mine[n] = (time.perf_counter() - clock) / steps
        mujoco.mj_resetDataKeyframe(model, data, 0)
        clock = time.perf_counter()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        theirs[n] = (time.perf_counter() - clock) / steps
    their_depth = max((-float(data.contact[i].dist) for i in range(data.ncon)), default=0.0)
    sim.restore(start)
    residuals, depth = [], 0.0
    for _ in range(steps):
        sim.step()
        residuals.append(sim.report.residual)
    depth = sim.report.penetration
    low, high = np.percentile(mine / theirs, [25, 75])
    comparison = Comparison(f"{scene.name}, {method}: whole run", float(mine.min()), float(theirs.min()), "mj_step",
                            (float(low), float(high)))
    return comparison, {
        "residual_median": float(np.median(residuals)),
        "residual_p95": float(np.percentile(residuals, 95)),
        "depth_at_end": depth,
        "mujoco_depth_at_end": their_depth,
        "contacts": len(sim.contacts),
    }


def robots_and_pile(method: str) -> tuple[list[Comparison], dict[str, Any]]:
    """The large humanoid standing and falling limp, and a pile of 125 boxes."""
    comparisons, details = steady(standing(), method, 1e-3, 0.5), {}
    for scene, dt, duration in ((limp(), 1e-3, 1.2), (pile(), 1 / 200, 2.0)):
        comparison, details[scene.name] = whole_run(scene, method, dt, duration)
        comparisons.append(comparison)
    return comparisons, details


def contact_growth(method: str) -> dict[str, Any]:
    """Microseconds per step of the large humanoid on soles of 4 to 256 contacts, and the exponent of their growth."""
    from sesshoku.experiments.lcp.time import FEET, step_times, studded

    one_foot = studded(1)
    one_foot.bodies[FEET[1]].geometries.clear()  # four contacts
    scenes = [one_foot, *(studded(studs) for studs in (1, 2, 4, 8, 16, 32))]
    times = step_times(method, scenes, lambda line: None)
    counts = sorted(times)
    fit = np.polyfit(np.log(counts[2:]), np.log([times[m][0] for m in counts[2:]]), 1)
    return {"microseconds": {str(m): round(1e6 * times[m][0], 1) for m in counts},
            "sweeps": {str(m): times[m][1] for m in counts}, "exponent from 16 on": round(float(fit[0]), 2)}


def separate_boxes(method: str, counts: tuple[int, ...] = (10, 100, 1000)) -> dict[str, float]:
    """Microseconds per box and step for boxes resting apart from each other."""
    found = {}
    for count in counts:
        scene = ss.Scene(name=f"{count} boxes")
        scene.add_ground()
        side = int(np.ceil(np.sqrt(count)))
        for n in range(count):
            scene.add_box(f"box{n}", size=(0.5, 0.5, 0.5), mass=1.0, position=(n % side, n // side, 0.25))
        sim = ss.Simulation(scene, method, 1e-3)
        sim.step(50)
        best = np.inf
        for _ in range(20):
            clock = time.perf_counter()
            sim.step(20)
            best = min(best, (time.perf_counter() - clock) / 20)
        found[str(count)] = round(best * 1e6 / count, 4)
    return found
