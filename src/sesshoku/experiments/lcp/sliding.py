"""A thrown box slides to rest.

Where it stops, how steady its normal force is, and where its centre of pressure stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import make
from sesshoku.simulation.simulation import Simulation

TITLE = "a box thrown at 1 m/s, mu 0.3: stopping place, normal force, centre of pressure"

#: how steady the normal force must be; the preset stops its sweeps at 1e-4
STEADY = {"paper (RK4)": 3e-8, "semi-implicit": 1e-6, "recommended": 9e-5}


def run(progress: Callable[[str], None]) -> Result:
    dt, speed, mu, g, edge = 1e-3, 1.0, 0.3, 9.8, 1.0
    expected = speed**2 / (2 * mu * g) - speed * dt / 2
    checks, traces = [], {}
    exact = make("lcp", {"integrator": "semi-implicit", "centripetal": False})
    for label, method in (("paper (RK4)", "lcp"), ("semi-implicit", exact), ("recommended", "lcp:recommended")):
        progress(label)
        sim = Simulation(crate_on_floor(speed, static=mu, edge=edge), method, dt)
        rows = []
        for _ in range(500):
            sim.step()
            contacts = sim.contacts
            total = sum(contact.normal_force for contact in contacts)
            center = (
                sum(contact.point[0] * contact.normal_force for contact in contacts) / total if total > 0 else np.nan
            )
            rows.append((sim.time, sim.bodies["crate"].position[0], sim.bodies["crate"].velocity[0], total,
                         center - sim.bodies["crate"].position[0]))
        data = np.array(rows)
        traces[label] = data
        sliding = data[:, 2] > 0.05
        stop = speed**2 / (2 * mu * g) if label.startswith("paper") else expected
        checks.append(
            Check(
                f"stopping place, {label}", float(data[-1, 1]), stop, 1e-3 if label.startswith("paper") else 1e-5, "m"
            )
        )
        checks.append(
            Check(
                f"normal force while sliding, {label}",
                float(np.abs(data[sliding, 3] / g - 1.0).max()),
                0.0,
                STEADY[label],
                "of mg",
            )
        )
        checks.append(
            Check(
                f"centre of pressure ahead by mu h, {label}",
                float(np.median(data[sliding, 4])),
                mu * edge / 2,
                1e-3,
                "m",
            )
        )

    def draw(figure: Any) -> None:
        axes = figure.subplots(3, 1, sharex=True)
        dashes = ("-", (0, (5, 1.5)), (0, (1, 1.2)))  # the curves lie on each other
        for (label, data), dash in zip(traces.items(), dashes, strict=True):
            for axis, values in zip(axes, (data[:, 1], data[:, 3] / g - 1.0, data[:, 4]), strict=True):
                axis.plot(data[:, 0], values, label=label, linestyle=dash)
        for axis, exact in zip(axes, (speed**2 / (2 * mu * g), None, mu * edge / 2), strict=True):
            if exact is not None:
                axis.axhline(exact, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)), label="closed form")
        titles = ("place [m]", "normal force / weight - 1", "centre of pressure ahead of the centre [m]")
        for axis, title in zip(axes, titles, strict=True):
            axis.set_title(title)
        axes[0].legend(loc="lower right")
        axes[-1].set_xlabel("time [s]")

    return Result(checks, draw, figure_size=(8.0, 6.0))
