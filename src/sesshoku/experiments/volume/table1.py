"""What the friction programme costs (the paper's Table 1): five seconds at rest under a load, both methods."""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.volume.base import box_scene, load, sticks
from sesshoku.methods.registry import make
from sesshoku.simulation.simulation import Simulation

TITLE = "time of 5 s at rest under a load, proposed and previous method, mean of 5 runs (Table 1)"
REPEATS, DURATION, DT = 5, 5.0, 1e-3
PAPER = {"proposed": 1.34, "previous": 1.09}


def run(progress: Callable[[str], None]) -> Result:
    methods = {"proposed": make("volume", {"integrator": "rkg"}),
               "previous": make("volume", {"integrator": "rkg", "friction_limit": "separated"})}
    times: dict[str, list[float]] = {name: [] for name in methods}
    held = True
    for repeat in range(REPEATS):
        for name, method in methods.items():  # in turns: what else the machine does falls on both
            progress(f"{name} method, run {repeat + 1} of {REPEATS}")
            sim = Simulation(box_scene(), method, DT)
            sim.step(40)
            clock = wall.process_time()
            for _ in range(10):  # the load is held through each call
                load(sim, 0.4, 0.4)
                sim.step(round(0.1 * DURATION / DT))
            times[name].append(wall.process_time() - clock)
            held = held and sticks(sim)
    mean = {name: float(np.mean(values)) for name, values in times.items()}
    checks = [
        Check("static friction held in every run", float(held), 1.0, 0.0),
        Check("time, proposed / previous (paper: 1.34 s / 1.09 s = 1.23)", mean["proposed"] / mean["previous"], 1.5,
              0.5),
        Check("proposed: time of 5 s", mean["proposed"], PAPER["proposed"], 0.0, "s", "report"),
        Check("previous: time of 5 s", mean["previous"], PAPER["previous"], 0.0, "s", "report"),
    ]

    def draw(figure: Any) -> None:
        here, paper = figure.subplots(1, 2)
        names = ["previous", "proposed"]
        for axis, label, source in ((here, "this machine", mean), (paper, "paper (i7-4790S, C)", PAPER)):
            bars = axis.bar(names, [source[name] for name in names], color=["#2e8b57", "#c0392b"], width=0.55)
            axis.bar_label(bars, [f"{source[name]:.3g} s" for name in names], padding=2)
            axis.set_title(f"{label}: ratio {source['proposed'] / source['previous']:.2f}")
            axis.margins(y=0.15)
            axis.set_axisbelow(True)
        here.set_ylabel("time of 5 s simulated [s]")

    return Result(checks, draw, {"seconds": times}, figure_size=(7.0, 3.4))
