"""Time of a step against the number of contacts on one humanoid (the paper's Fig. 8), and how far beyond it one can go.

The paper forms K by test forces and sweeps it: cost grows with the square of the contacts, its open problem. The preset
sweeps rows in half form, whose cost grows with the contacts alone. Soles of many small studs make the contacts. Beside
it the paper's own picture: every tenth step of a walk of 19 steps as a point, time without detection and control over
contacts.
"""

from __future__ import annotations

import time as wall
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku import control, robots
from sesshoku.control.walking import footsteps
from sesshoku.errors import UnsupportedFeature
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.walking import Walk
from sesshoku.robots.bush import Bush
from sesshoku.scene.elements import Geometry, Material
from sesshoku.scene.geometry.shapes import Box
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "time per step against the number of contacts, m = 8 to 256, on a 36-DOF humanoid (Fig. 8)"
FEET = ("left_foot", "right_foot")
DETECTION = ("place links", "find points")  # not counted in the paper


def studded(studs: int) -> Scene:
    """The large humanoid standing on `studs` small boxes under each foot: 8 contacts per pair of studs."""
    scene = Scene(gravity=(0, 0, -9.8), name=f"{8 * studs} contacts")
    scene.add_ground(material=Material(0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        scene.load(robots.path("humanoid_large.xml"), pose="stand")
    for foot in FEET:
        body = scene.bodies[foot]
        sole = next(g for g in body.geometries if isinstance(g.shape, Box) and g.collides)
        columns = int(np.ceil(np.sqrt(studs)))
        rows = int(np.ceil(studs / columns))
        assert isinstance(sole.shape, Box)
        sx, sy, sz = sole.shape.size
        body.geometries = [g for g in body.geometries if g is not sole]
        for n in range(studs):
            i, j = n % columns, n // columns
            place = sole.position + np.array([(i + 0.5) / columns - 0.5, (j + 0.5) / rows - 0.5, 0.0]) * (sx, sy, 0.0)
            shape = Box((0.8 * sx / columns, 0.8 * sy / rows, sz))
            body.geometries.append(Geometry(
                shape, position=place, material=sole.material, category=sole.category, mask=sole.mask))
    return scene


def step_times(method: str, scenes: list[Scene], progress: Callable[[str], None]) -> dict[int, tuple[float, float]]:
    """contacts -> (seconds per step, mean sweeps), timed over a standing stretch."""
    found = {}
    for scene in scenes:
        sim = Simulation(scene, method, 1e-3)
        sim.step(20)
        contacts, best, sweeps = len(sim.contacts), np.inf, []
        progress(f"{method}: {contacts} contacts")
        start = sim.save()
        for _ in range(5):
            sim.restore(start)
            clock = wall.perf_counter()
            sim.step(20)
            best = min(best, (wall.perf_counter() - clock) / 20)
            sweeps.append(sim.report.iterations)
        found[contacts] = (best, float(np.mean(sweeps)))
    return found


def walked(method: str) -> np.ndarray:
    """Rows of contacts and seconds without detection, every tenth step of 19 on bush feet."""
    walk = Walk.plan("large_bush", footsteps.around(), bush=Bush(8e4))
    sim, walker = Simulation(walk.scene, method, 1e-3), control.Walker(walk.pattern, True)
    walker.place(sim)
    rows = []
    for n in range(round(walk.pattern.duration / sim.dt)):
        walker(sim)
        if n % 10 == 0:
            stages = sim.profile(1)
            spent = stages["step"] - sum(stages[name] for name in DETECTION)
            rows.append((len(sim.contacts), spent))
        else:
            sim.step()
    return np.array(rows)


def run(progress: Callable[[str], None]) -> Result:
    scenes = [studded(studs) for studs in (1, 2, 4, 8, 16, 32)]
    paper = step_times("lcp", scenes[:-1], progress)
    preset = step_times("lcp:recommended", scenes, progress)
    progress("walks")
    walks = {method: walked(method) for method in ("lcp", "lcp:recommended")}

    def slope(times: dict[int, tuple[float, float]], last: int = 3) -> float:
        chosen = sorted(times)[-last:]
        return float(np.polyfit(np.log(chosen), np.log([times[m][0] for m in chosen]), 1)[0])

    fit = np.polyfit(sorted(paper), [1e6 * paper[m][0] for m in sorted(paper)], 2)
    checks = [
        Check("contacts of the walk, most", float(max(rows[:, 0].max() for rows in walks.values())), 8.0, 0.0, "",
              "at_least"),
        Check("growth exponent at the upper end, paper", slope(paper), 2.2, 0.0, "", "at_most"),
        Check("growth exponent at the upper end, recommended", slope(preset), 2.0, 0.0, "", "at_most"),
        Check(
            "8 contacts, recommended: time per step", 1e6 * min(preset[m][0] for m in preset), 0.0, 0.0, "µs", "report"
        ),
    ]

    def draw(figure: Any) -> None:
        scatter, axis = figure.subplots(1, 2, width_ratios=(1.0, 1.3))
        rng = np.random.default_rng(1)
        for method, rows in walks.items():
            scatter.plot(rows[:, 0] + rng.uniform(-0.25, 0.25, len(rows)), 1e3 * rows[:, 1], ".", markersize=2.5,
                         label=method)
        scatter.set_yscale("log")
        # not what came between
        scatter.set_ylim(5e-3, 2e3 * max(float(np.percentile(rows[:, 1], 95)) for rows in walks.values()))
        scatter.set_title("a walk of 19 steps on bush feet")
        scatter.set_xlabel("contacts")
        scatter.set_ylabel("[ms], without detection")
        scatter.legend(markerscale=4)
        for label, times in (("paper: test forces, 120 sweeps of K", paper), ("recommended: half-form rows", preset)):
            axis.loglog(sorted(times), [1e3 * times[m][0] for m in sorted(times)], "o-", label=label)
        axis.axhline(1.0, color="#404040", linestyle=(0, (1, 1.5)), linewidth=1.0, label="real time at dt 1 ms")
        axis.set_title("standing on studded soles")
        axis.set_xlabel("contacts")
        axis.set_ylabel("[ms]")
        ticks = sorted({*paper, *preset})
        axis.set_xticks(ticks, [str(m) for m in ticks])
        axis.minorticks_off()
        axis.legend()

    values = {"paper_us": {str(m): round(1e6 * t, 1) for m, (t, _) in paper.items()},
              "recommended_us": {str(m): round(1e6 * t, 1) for m, (t, _) in preset.items()},
              "walk_us": {method: {str(int(m)): round(1e6 * float(np.median(rows[rows[:, 0] == m, 1])), 1)
                                   for m in np.unique(rows[:, 0])} for method, rows in walks.items()},
              "paper_fit_us": {"c0": fit[2], "c1": fit[1], "c2": fit[0]}}
    return Result(checks, draw, values, figure_size=(11.0, 4.0))
