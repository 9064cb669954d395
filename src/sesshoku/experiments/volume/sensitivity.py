"""What four choices do: the depth asked for in a step, the weight of impulses, the pyramid's sides and where it lies.

The paper gives k = 1000 1/s, lambda = 0.001 and 8 sides for steps of 1 ms and is silent on how they follow the step,
the masses and the plane. A box is set down on the floor: how high it is thrown within a second, by k dt. At rest: how
deep it lies, and how fast a fifth of what friction holds moves it, by lambda. And the force that static friction holds
between two edges of the pyramid, by its sides, with the pyramid in the plane's own axes and along the force.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.volume.base import EDGE, HEIGHT, MASS, STATIC, WEIGHT, box_scene, sticks
from sesshoku.methods.registry import make
from sesshoku.simulation.simulation import Simulation

TITLE = "sensitivity to the depth asked for in a step, to lambda, to the sides of the pyramid and where it lies"
GAINS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 3.9, 4.1, 5.0)  # k dt
WEIGHTS = np.geomspace(1e-6, 1e-1, 6)
SIDES = (4, 6, 8, 12, 16, 32)
DT = 1e-3


def thrown(product: float) -> float:
    """Most height (m) of a box that is set down on the floor, over a second."""
    sim = Simulation(box_scene(), make("volume", {"depth_gain": product / DT}), DT)
    box, most = sim.bodies["box"], 0.0
    for _ in range(1000):
        sim.step()
        most = max(most, float(box.position[2]) - 0.5 * HEIGHT)
    return most


def at_rest(weight: float) -> tuple[float, float]:
    """Depth (m) of the box at rest, and its speed (m/s) under a fifth of what friction holds."""
    sim = Simulation(box_scene(), make("volume", {"regularization": float(weight)}), DT)
    sim.step(300)
    box = sim.bodies["box"]
    depth = 0.5 * HEIGHT - float(box.position[2])
    for _ in range(300):
        sim.apply_force("box", (0.2 * STATIC * WEIGHT, 0, 0), point=(*box.position[:2], 0.0))
        sim.step()
    return depth, abs(float(box.velocity[0]))


def holds(sides: int, axis: str) -> float:
    """Least force over mu N at which a box lets go, pushed between two edges of the pyramid."""
    angle = np.pi / sides
    sim = Simulation(box_scene(), make("volume:recommended", {"pyramid_sides": sides, "pyramid_axis": axis}), DT)
    sim.step(40)
    start = sim.save()
    low, high = 0.0, 1.2
    for _ in range(9):
        middle = 0.5 * (low + high)
        sim.restore(start)
        stuck = True
        for _ in range(3):
            force = middle * STATIC * WEIGHT * np.array([np.cos(angle), np.sin(angle), 0.0])
            sim.apply_force("box", force, point=(*sim.bodies["box"].position[:2], 0.0))
            sim.step()
            stuck = stuck and sticks(sim)
        low, high = (middle, high) if stuck else (low, middle)
    return 0.5 * (low + high)


def run(progress: Callable[[str], None]) -> Result:
    progress("depth asked for in a step")
    heights = np.array([thrown(product) for product in GAINS])
    progress("weight of the impulses")
    rests = np.array([at_rest(weight) for weight in WEIGHTS])
    held = {}
    for axis in ("plane", "force"):
        progress(f"pyramid along the {axis}")
        held[axis] = np.array([holds(sides, axis) for sides in SIDES])
    closed = WEIGHTS * MASS**2 * 9.8 * DT / (1000.0 * EDGE**2)
    below = heights[[product < 4.0 for product in GAINS]]
    checks = [
        Check("k dt below 4: highest throw", 1e3 * float(below.max()), 1.0, 0.0, "mm", "at_most"),
        Check("k dt of 5: throw", float(heights[-1]), 0.1, 0.0, "m", "at_least"),
        Check("depth at rest over lambda m² g dt / (k A)", float((rests[:4, 0] / closed[:4]).max()), 1.0, 0.02),
        Check("pyramid in the plane: least of what it holds over cos(π / sides)",
              float((held["plane"] / np.cos(np.pi / np.array(SIDES))).min()), 1.0, 0.01),
        Check("pyramid along the force: least of what it holds", float(held["force"].min()), 1.0, 0.01),
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        axes[0].loglog(GAINS, np.maximum(heights, 1e-7), "o-", markersize=4)
        axes[0].axvline(4.0, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="bound")
        axes[0].axvline(1.0, color="#a0a0a0", linewidth=0.9, linestyle=(0, (1, 1.5)), label="the paper's, 1 ms")
        axes[0].set_title("a box at rest rises [m]")
        axes[0].set_xlabel("k dt")
        axes[0].legend(fontsize=8)
        axes[1].loglog(WEIGHTS, rests[:, 0], "o-", markersize=4, label="depth at rest [m]")
        axes[1].loglog(WEIGHTS, np.maximum(rests[:, 1], 1e-12), "s-", markersize=4, label="creep [m/s]")
        axes[1].loglog(WEIGHTS, closed, color="#404040", linewidth=0.9, linestyle=(0, (1, 1.5)),
                       label="$\\lambda m^2 g\\,dt/kA$")
        axes[1].axvline(1e-3, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="the paper's")
        axes[1].set_title("1 kg at rest, and under a load")
        axes[1].set_xlabel("$\\lambda$")
        axes[1].legend(fontsize=8)
        for axis, values in held.items():
            axes[2].plot(SIDES, values, "o-", markersize=4, label=f'pyramid_axis="{axis}"')
        axes[2].plot(SIDES, np.cos(np.pi / np.array(SIDES)), color="#404040", linewidth=0.9, linestyle=(0, (1, 1.5)),
                     label="cos(π / sides)")
        axes[2].axvline(8, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="the paper's")
        axes[2].set_title("held between two edges [µ N]")
        axes[2].set_xlabel("sides of the pyramid")
        axes[2].legend(fontsize=8)

    values = {"gains": list(GAINS), "rises_m": heights.tolist(), "lambda": WEIGHTS.tolist(),
              "depth_m": rests[:, 0].tolist(),
              "creep": rests[:, 1].tolist(), "sides": list(SIDES), **{axis: h.tolist() for axis, h in held.items()}}
    return Result(checks, draw, values, figure_size=(12.0, 3.6))
