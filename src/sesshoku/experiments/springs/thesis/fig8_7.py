"""Fig. 8.7: the double pendulum, its links and measures, as the simulation has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.pendulum import CENTER, LENGTH, MASS, MOMENT, pendulum_scene
from sesshoku.simulation.simulation import Simulation

TITLE = "the double pendulum hung from the ceiling, its links and measures (Fig. 8.7)"


def run(progress: Callable[[str], None]) -> Result:
    progress("mass matrix")
    sim = Simulation(pendulum_scene(), "none", 0.005)
    sim.set_state(q=np.zeros(2))
    H = sim.mass_matrix()
    straight = 2 * MOMENT + MASS * LENGTH**2 + 2 * MASS * LENGTH * CENTER
    checks = [
        Check("I of a link about its axis (100/3 in print)", float(H[1, 1]), 110.0 / 3.0, 1e-9, "kg m²"),
        Check("H of (8.5), straight: first joint", float(H[0, 0]), straight, 1e-9 * straight, "kg m²"),
        Check("H of (8.5), straight: between the joints", float(H[0, 1]), MOMENT + MASS * LENGTH * CENTER, 1e-9,
              "kg m²"),
    ]

    def draw(figure: Any) -> None:
        from matplotlib.patches import Polygon

        axis = figure.add_subplot()
        axis.add_patch(Polygon([(-2.5, 0.0), (2.5, 0.0), (2.5, 0.8), (-2.5, 0.8)], color="#d0d0d0"))
        axis.text(-2.4, 0.95, "L$_0$, fixed to the ceiling")
        turn, joint = np.pi / 4, np.array([0.0, 0.0])
        along, across = np.array([np.sin(turn), -np.cos(turn)]), np.array([np.cos(turn), np.sin(turn)])
        for n in range(2):
            corners = [joint + s * along + t * across for s, t in ((-1, -1), (5, -1), (5, 1), (-1, 1))]
            axis.add_patch(Polygon(corners, facecolor="#d7e6f0" if n == 0 else "#e4efda", edgecolor="#404040",
                                   alpha=0.9))
            axis.plot(*joint, "o", color="#c0392b", markersize=8)
            axis.text(*(joint - (0.75, 0.15)), f"J$_{n}$", color="#c0392b", fontsize=11)
            middle = joint + CENTER * along
            axis.plot(*middle, "+", color="#202020", markersize=10)
            axis.text(*(middle + 0.3 * across), f"L$_{n + 1}$: {MASS:g} kg, 2 x 2 x 6 m", fontsize=9)
            axis.annotate("", middle - 1.3 * across, joint - 1.3 * across, arrowprops={"arrowstyle": "<->", "lw": 0.8})
            axis.text(*(joint + 0.5 * CENTER * along - 1.95 * across), f"s = {CENTER:g} m", fontsize=8)
            joint = joint + LENGTH * along
        axis.plot([0, 0], [0, -4.5], color="#707070", linestyle=(0, (3, 2)), linewidth=0.8)
        axis.text(0.15, -2.6, "$\\theta_0$", fontsize=11)
        axis.text(*(0.5 * joint + 2.6 * across - (0.3, 0)), f"l = {LENGTH:g} m from J$_0$ to J$_1$", fontsize=8)
        axis.set_aspect("equal")
        axis.set_xlim(-3.0, 9.5)
        axis.set_ylim(-9.5, 1.5)
        axis.axis("off")

    return Result(checks, draw, figure_size=(6.4, 5.4))
