"""A thrown cube slides to rest: what friction after the normal forces does to them, and what solving both does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import RESOLVED, G, multipoint, planar_crate
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import Method
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "a cube thrown at 1 m/s, mu 0.3: stopping place and normal force, friction after or resolved"
SPEED, MU, DT, EDGE = 1.0, 0.3, 1e-3, 0.2


def slide(scene: Scene, method: str | Method, steps: int = 500) -> np.ndarray:
    """Rows of time, place, velocity, normal force, height of the centre above its rest."""
    sim, rows = Simulation(scene, method, DT), []
    for _ in range(steps):
        sim.step()
        body = sim.bodies["crate"]
        rows.append(
            (
                sim.time,
                body.position[0],
                body.velocity[0],
                sum(c.normal_force for c in sim.contacts),
                body.position[2] - EDGE / 2,
            )
        )
    return np.array(rows)


def stopping(data: np.ndarray) -> tuple[int, float]:
    """Step and place where the velocity first comes down to zero, or to what one step of friction takes."""
    step = int(np.argmax(data[:, 2] <= MU * G * DT))
    return step, float(data[step, 1])


def run(progress: Callable[[str], None]) -> Result:
    expected, last = SPEED**2 / (2 * MU * G), SPEED / (MU * G * DT)
    exact = expected - SPEED * DT / 2
    cases: dict[str, tuple[Scene, str | Method]] = {
        "paper: friction after": (planar_crate(SPEED, edge=EDGE), "multipoint"),
        "resolve, stick zero": (planar_crate(SPEED, edge=EDGE), multipoint(**RESOLVED)),
        "recommended, free cube": (crate_on_floor(SPEED, static=MU, edge=EDGE), "multipoint:recommended"),
        "paper, free cube": (crate_on_floor(SPEED, static=MU, edge=EDGE), "multipoint"),
    }
    traces, checks = {}, []
    for label, (scene, method) in cases.items():
        progress(label)
        data = traces[label] = slide(scene, method)
        step, place = stopping(data)
        force = data[:step, 3]
        if label.startswith("paper"):
            planar = "free" not in label
            # the slope of the slide: single steps scatter by what the normal force does
            slope = -np.polyfit(data[:300, 0], data[:300, 2], 1)[0]
            checks += [
                Check(f"stopping place, {label}", place, expected, 5e-3 * expected, "m"),
                Check(f"steps to stop by the mean deceleration, {label}", SPEED / (slope * DT), last, 2.0),
                Check(f"normal force: spread, {label}", float(force.std()), 11.1 if planar else 9.7, 0.5, "N"),
                Check(f"rises after the slide by, {label}", float(data[:, 4].max()), 3e-5 if planar else 2e-4, 0.0, "m",
                      "at_most"),
            ]
        else:
            checks += [
                Check(f"stopping place, {label}", float(data[-1, 1]), exact, 5e-4 * expected, "m"),
                Check(f"steps to stop, {label}", float(step + 1), last, 2.0),
                Check(f"normal force: spread, {label}", float(force.std()), 0.0, 1e-9 * G, "N"),
                Check(f"speed left after it, {label}", float(np.abs(data[-50:, 2]).max()), 0.0, 1e-9, "m/s"),
            ]
        checks.append(Check(f"normal force: mean, {label}", float(force.mean()), G,
                            (5e-3 if label.startswith("paper") else 1e-8) * G, "N"))

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, 1, sharex=True)
        shown = list(traces.items())[:2]
        for label, data in shown:
            axes[0].plot(
                data[:, 0], data[:, 1], label=label, linestyle="-" if label.startswith("paper") else (0, (4, 2))
            )
        axes[0].axhline(expected, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)), label="v²/2µg")
        for label, data in shown:
            axes[1].plot(data[:, 0], data[:, 3], label=label, linewidth=0.6 if label.startswith("paper") else 1.6)
        axes[0].set_title("place [m]")
        axes[1].set_title("sum of normal forces [N]; the weight is 9.8 N")
        axes[1].set_xlabel("time [s]")
        axes[0].legend(loc="lower right")
        axes[1].set_ylim(-2, 60)

    return Result(checks, draw, figure_size=(8.0, 5.0))
