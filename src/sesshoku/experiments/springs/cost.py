"""What the parts of a step cost: what the thesis leaves open beyond T = N_v C_v + N_p C_p + N_u C_u (7.2).

Cubes settle in a loose block of 1 to 64; the stages of a step are timed one by one, the two sweeps alone as well, with
their counts of overlap tests (N_v), primitive tests (N_p) and boxes refitted (N_u).
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.collision.swept.sweep import BOX_TESTS, BOX_UPDATES, PRIMITIVE_TESTS, sweep_inflate, sweep_motion
from sesshoku.experiments.base import Check, Result
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "cost of the parts of a step: forces, descent, the two sweeps; 1 to 64 cubes"
COUNTS = (1, 4, 16, 64)
METHODS = ("springs", "springs:recommended")
PARTS = ("forces", "descent", "sweep L0", "sweep L1", "springs from crossings", "rest")
DT = 1 / 200


def cubes(count: int) -> Scene:
    """Cubes of 0.1 m in a loose block above the floor."""
    rng = np.random.default_rng(count)
    scene = Scene(name=f"{count} cubes")
    scene.add_ground(material=Material(0.5))
    side = round(count ** (1 / 3) + 0.499)
    for n in range(count):
        turn = np.array([1.0, *rng.normal(scale=0.03, size=3)])
        place = np.array([n % side, n // side % side, n // side**2]) * 0.112 + (0, 0, 0.055)
        scene.add_box(f"cube{n}", size=(0.1, 0.1, 0.1), mass=1.0, position=place, rotation=turn / np.linalg.norm(turn),
                      material=Material(0.5))
    return scene


def best_of(call: Callable[[], None], repeat: int = 15) -> float:
    """Shortest time of a call, s."""
    times = []
    for _ in range(repeat):
        start = wall.perf_counter()
        call()
        times.append(wall.perf_counter() - start)
    return min(times)


def parts_of(keyword: str, count: int) -> tuple[dict[str, float], dict[str, int]]:
    """Seconds of each part of a step in the settling block; counts of the sweeps and the descent."""
    sim = Simulation(cubes(count), keyword, DT)
    sim.step(round(0.3 / DT))
    breps, sweeps, events = sim.work.breps, sim.work.sweeps, sim.work.events
    bodies, springs = sim.work.bodies, sim.work.springs
    stages = sim.profile(40)
    # the sweeps alone, at the poses those steps left
    sweep_inflate(breps, sweeps, events, bodies.position, bodies.rotation, 0)
    inflate = best_of(lambda: sweep_inflate(breps, sweeps, events, bodies.position, bodies.rotation, 0))
    work = sweeps.work_counts
    counts = {"box tests": int(work[BOX_TESTS]), "primitive tests": int(work[PRIMITIVE_TESTS]),
              "boxes refitted": int(work[BOX_UPDATES]), "contacts": len(sim.contacts),
              "iterations": sim.report.iterations}
    way = bodies.position, bodies.rotation, springs.new_position, springs.new_rotation
    motion = best_of(lambda: sweep_motion(breps, sweeps, events, way, 0))
    constrain, find = stages["constrain"] + stages["release"], stages["find"]
    return {"forces": stages["forces"], "descent": max(0.0, constrain - motion), "sweep L0": min(motion, constrain),
            "sweep L1": min(inflate, find), "springs from crossings": max(0.0, find - inflate),
            "rest": stages["start"] + stages["measure"] + stages["move"]}, counts


def run(progress: Callable[[str], None]) -> Result:
    found = {}
    for keyword in METHODS:
        for count in COUNTS:
            progress(f"{keyword}: {count} cubes")
            found[keyword, count] = parts_of(keyword, count)
    checks = []
    for keyword in METHODS:
        totals = [sum(found[keyword, count][0].values()) for count in COUNTS]
        growth = float(np.polyfit(np.log(COUNTS[1:]), np.log(totals[1:]), 1)[0])
        checks.append(Check(f"growth of a step with the cubes, {keyword}", growth, 0.0, 0.0, "exponent", "report"))
        for name in ("box tests", "primitive tests", "boxes refitted"):
            work = [found[keyword, count][1][name] for count in COUNTS[1:]]
            exponent = float(np.polyfit(np.log(COUNTS[1:]), np.log(work), 1)[0])
            checks.append(Check(f"growth of {name}, {keyword}", exponent, 1.6, 0.0, "exponent", "at_most"))
        parts = found[keyword, COUNTS[-1]][0]
        for name in PARTS:
            checks.append(Check(f"{keyword}, {COUNTS[-1]} cubes: {name}", parts[name] / totals[-1], 0.0, 0.0,
                                "of a step", "report"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, keyword in zip(axes, METHODS, strict=True):
            below = np.zeros(len(COUNTS))
            for name in PARTS:
                share = np.array([found[keyword, count][0][name] / sum(found[keyword, count][0].values())
                                  for count in COUNTS])
                axis.bar([str(count) for count in COUNTS], 100 * share, bottom=100 * below, label=name)
                below += share
            for n, count in enumerate(COUNTS):
                total = 1e6 * sum(found[keyword, count][0].values())
                axis.text(n, 101, f"{total:.0f} µs", ha="center", fontsize=8)
            axis.set_title(keyword, pad=14)
            axis.set_xlabel("cubes")
        axes[0].set_ylabel("share of a step [%]")
        axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    values = {f"{keyword}, {count}": {"microseconds": {name: round(1e6 * t, 2) for name, t in parts.items()}} | counts
              for (keyword, count), (parts, counts) in found.items()}
    return Result(checks, draw, values, figure_size=(9.5, 4.0))
