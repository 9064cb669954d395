"""A box lands flat at 0.5 m/s.

One step must stop it, with the force that momentum demands; the sign of b decides it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import make
from sesshoku.simulation import Simulation

TITLE = "a flat box lands at 0.5 m/s and stays (the sign of b, erratum 1)"


def run(progress: Callable[[str], None]) -> Result:
    dt, speed, g = 1e-3, 0.5, 9.8
    exact = make("lcp", {"integrator": "semi-implicit", "centripetal": False})
    sim = Simulation(crate_on_floor(vertical=-speed), exact, dt)
    sim.step()
    force = sum(contact.normal_force for contact in sim.contacts)
    checks = [
        Check("velocity after one step", float(np.abs(sim.v).max()), 0.0, 1e-9, "m/s"),
        Check("total force", force, speed / dt + g, 1e-6 * speed / dt, "N"),
    ]
    drops: dict[str, Any] = {}
    for label, method in (("paper (RK4)", "lcp"), ("semi-implicit", exact), ("recommended", "lcp:recommended")):
        progress(label)
        sim = Simulation(crate_on_floor(height=0.2), method, dt)
        times, heights = [], []
        for _ in range(600):
            sim.step()
            times.append(sim.time)
            heights.append(float(sim.bodies["crate"].position[2]) - 0.5)
        drops[label] = (times, heights)
        # without depth correction a box may rest as deep as one step of free fall carries it
        deepest = 2.0 * dt * np.sqrt(2 * g * 0.2)
        checks.append(Check(f"depth at rest, {label}", -heights[-1], 0.0, deepest, "m", "at_most"))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for label, (times, heights) in drops.items():
            axis.plot(times, np.array(heights) * 1e3, label=label, lw=1.3)
        axis.set_xlabel("time, s")
        axis.set_ylabel("height of the lower face, mm")
        axis.set_title("dropped from 0.2 m, dt 1 ms", loc="left")
        axis.grid(color="#e6e6e6")
        axis.legend(frameon=False)

    return Result(checks, draw)
