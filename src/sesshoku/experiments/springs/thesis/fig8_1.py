"""Fig. 8.1: the block on the floor as a wire frame, with its contact springs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.block import DEPTH, MASS, SLAB, STIFFNESS, G, block_scene, method
from sesshoku.simulation.simulation import Simulation

TITLE = "the sliding block and the floor as wire frames, with the contact springs (Fig. 8.1)"
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5
EDGES = [(a, b) for a in range(8) for b in range(a + 1, 8) if np.sum(CORNERS[a] != CORNERS[b]) == 1]


def run(progress: Callable[[str], None]) -> Result:
    progress("block")
    sim = Simulation(block_scene(9.8), method(), 1 / 50)
    frames = []
    for steps in (1, 24, 25):
        sim.step(steps)
        frames.append((sim.time, sim.bodies["block"].position.copy(), [(c.point, c.force) for c in sim.contacts]))
    forces = np.array([force[2] for _, _, contacts in frames for _, force in contacts])
    checks = [
        Check("contact springs", float(min(len(contacts) for *_, contacts in frames)), 4.0, 0.0),
        Check("their normal forces add up to the weight", float(forces.sum()) / len(frames), MASS * G, 0.02 * G, "N"),
        Check("depth of the block, of m g / 4 k", float(0.5 * SLAB[2] - frames[0][1][2]) / DEPTH, 1.0, 0.01),
    ]

    def draw(figure: Any) -> None:
        axis = figure.add_subplot(projection="3d")
        far = float(frames[-1][1][0])
        for x in np.linspace(-2.0, far + 2.0, 14):
            axis.plot([x, x], [-2.5, 2.5], [0, 0], color="#c04030", linewidth=0.6)
        for y in np.linspace(-2.5, 2.5, 6):
            axis.plot([-2.0, far + 2.0], [y, y], [0, 0], color="#c04030", linewidth=0.6)
        for time, place, contacts in frames:
            corners = CORNERS * SLAB + place
            for a, b in EDGES:
                axis.plot(*corners[[a, b]].T, color="#2e8b57", linewidth=1.4)
            for point, force in contacts:
                axis.plot(*np.array([point, point + 0.35 * force]).T, color="#3060a0", linewidth=1.8)
            axis.text(*(place + (0, 0, 0.6)), f"{time:.2f} s", fontsize=8)
        axis.set_xlim(-2.0, far + 2.0)
        axis.set_ylim(-2.5, 2.5)
        axis.set_box_aspect((far + 4.0, 5.0, 2.0), zoom=1.45)
        axis.set_zlim(0, 2.0)
        axis.view_init(elev=22, azim=-70)
        axis.set_axis_off()
        axis.set_title(f"thrown at 9.8 m/s; blue: forces of the springs of {STIFFNESS:g} N/m")

    return Result(checks, draw, figure_size=(9.0, 3.2))
