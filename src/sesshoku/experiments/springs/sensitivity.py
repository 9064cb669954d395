"""What three choices do on which the thesis is silent: half the axis of a joint, the limit of contacts, the speed of
rest.

A rod of 1 m and 2.5 cm swings on a joint of explicit springs: its gap and its period by half the axis. Five cubes
stand on each other: how far the top one comes down, and what a step costs, by the limit of contacts. Table 8.1: how
many of its 28 cells come out, by the speed below which a contact rests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.block import STICK_SPEED, method, slips
from sesshoku.experiments.springs.static import FORCES, STEPS, THESIS
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Inertial, Joint, Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "sensitivity to half the axis of a joint, to the limit of contacts, to the speed of rest"
LENGTH, THICK, START, G = 1.0, 0.025, 0.1, 9.8
WIDTHS = (0.004, 0.008, 0.016, 0.03, 0.06, 0.12, 0.25, 0.373)  # m
OWN_WIDTH, MEAN_WIDTH = 0.016, 0.373  # by the least and by the mean moment of inertia of the rod
SHARES = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2)  # limit, of the cubes' width
SPEEDS = (5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1)  # m/s
CUBES, EDGE = 5, 0.2


def swing(width: float) -> tuple[float, float]:
    """Largest gap (mm) and error of the period (share) of the rod over 4 s."""
    scene = Scene(gravity=(0, 0, -G), name="rod")
    scene.add_body("rod", joint=Joint("revolute", axis=(0, 1, 0), position=START), inertial=Inertial(
        1.0, (0, 0, -LENGTH / 2), np.diag([LENGTH**2 + THICK**2] * 2 + [2 * THICK**2]) / 12.0))
    sim = Simulation(scene, make("springs", {"joint_width": width}), 1e-3)
    angles, gap = [float(sim.q[0])], 0.0
    for _ in range(4000):
        sim.step()
        angles.append(float(sim.q[0]))
        gap = max(gap, sim.report.loop_error)
    x = np.array(angles)
    falling = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    crossings = falling + x[falling] / (x[falling] - x[falling + 1])
    period = 1e-3 * float(np.diff(crossings).mean())
    I = (LENGTH**2 + THICK**2) / 12.0 + LENGTH**2 / 4.0
    exact = 2 * np.pi * np.sqrt(I / (G * LENGTH / 2)) * (1 + START**2 / 16.0)
    return 1e3 * gap, abs(period / exact - 1.0)


def stand(share: float) -> tuple[float, float]:
    """How far the top of five cubes came down after 1 s (mm), and mean iterations of a step."""
    scene = Scene(gravity=(0, 0, -G), name="five cubes")
    scene.add_ground(material=Material(0.5))
    for n in range(CUBES):
        scene.add_box(f"cube{n}", size=(EDGE,) * 3, mass=1.0, position=(0, 0, EDGE * (n + 0.5)), material=Material(0.5))
    sim = Simulation(scene, make("springs", {"limit": share * EDGE}), 1 / 200)
    iterations = 0
    for _ in range(200):
        sim.step()
        iterations += sim.report.iterations
    return 1e3 * float(EDGE * (CUBES - 0.5) - sim.bodies[f"cube{CUBES - 1}"].position[2]), iterations / 200


def cells(speed: float) -> int:
    """Cells of Table 8.1 that come out as in the thesis."""
    return sum(slips(force, 1 / parts,
                     method(stick_speed=speed)) == THESIS[force] for parts in STEPS for force in FORCES)


def run(progress: Callable[[str], None]) -> Result:
    progress("half the axis of a joint")
    swings = np.array([swing(width) for width in WIDTHS])
    progress("limit of contacts")
    stands = np.array([stand(share) for share in SHARES])
    progress("speed of rest")
    right = [cells(speed) for speed in SPEEDS]
    own, mean = swings[WIDTHS.index(OWN_WIDTH)], swings[WIDTHS.index(MEAN_WIDTH)]
    checks = [
        Check("half the axis by the least moment: gap", float(own[0]), 0.6, 0.0, "mm", "at_most"),
        Check("half the axis by the least moment: error of the period", 100 * float(own[1]), 0.03, 0.0, "%", "at_most"),
        Check("half the axis by the mean moment: gap over that", float(mean[0] / own[0]), 20.0, 0.0, "", "at_least"),
        Check("limit of 1 % of the width: five cubes come down", float(stands[SHARES.index(1e-2), 0]), 15.0, 0.0, "mm",
              "at_most"),
        Check("cells of Table 8.1 at 5 mm/s to 2 cm/s, least", float(min(right[n] for n, s in enumerate(SPEEDS)
                                                                     if 5e-3 <= s <= 0.02)), 28.0, 0.0),
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        axes[0].loglog(WIDTHS, swings[:, 0], "o-", markersize=4, label="gap [mm]")
        axes[0].loglog(WIDTHS, 100 * swings[:, 1], "s-", markersize=4, label="error of the period [%]")
        for width, name in ((OWN_WIDTH, "default"), (MEAN_WIDTH, '"inertia"')):
            axes[0].axvline(width, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)))
            axes[0].text(width, axes[0].get_ylim()[0] * 1.3, f" {name}", fontsize=8,
                         ha="right" if width > 0.1 else "left")
        axes[0].set_title("a rod on a joint, by half its axis")
        axes[0].set_xlabel("half the axis [m]")
        axes[0].legend(fontsize=8)
        axes[1].loglog(100 * np.array(SHARES), stands[:, 0], "o-", markersize=4, label="comes down by [mm]")
        axes[1].loglog(100 * np.array(SHARES), np.maximum(stands[:, 1], 0.01), "s-", markersize=4,
                       label="iterations of a step")
        axes[1].axvline(1.0, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="default")
        axes[1].set_title("top of five cubes, by the limit")
        axes[1].set_xlabel("limit of contacts [% of the width]")
        axes[1].legend(fontsize=8)
        axes[2].semilogx(SPEEDS, right, "o-", markersize=4)
        axes[2].axvline(STICK_SPEED, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="of the experiments")
        axes[2].axvline(1e-3, color="#a0a0a0", linewidth=0.9, linestyle=(0, (1, 1.5)), label="default")
        axes[2].set_title("cells of Table 8.1, of 28")
        axes[2].set_xlabel("speed of rest [m/s]")
        axes[2].legend(fontsize=8)

    values = {"widths": list(WIDTHS), "gap_mm": swings[:, 0].tolist(), "period_error": swings[:, 1].tolist(),
              "limits": list(SHARES), "down_mm": stands[:, 0].tolist(), "iterations": stands[:, 1].tolist(),
              "speeds": list(SPEEDS), "cells": right}
    return Result(checks, draw, values, figure_size=(12.0, 3.6))
