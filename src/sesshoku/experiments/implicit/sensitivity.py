"""What choices do on which the paper is silent: stiffness of points, the speed of slip, damping, passes.

The small humanoid walks four steps: how deep it sinks and how far it comes off its plan, by `depth`, which chooses the
stiffness. A crate pushed with 98 % of what friction holds: how fast it creeps, by `slip_speed`. A ball set down 1 cm
above the floor: how high it comes back, by `damping_ratio`. A box that slides down 35 degrees: its way against the
closed form, by `max_passes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.experiments.walking import Walk
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from sesshoku.stages.report import PENETRATION

TITLE = "sensitivity to the stiffness of points, the speed of slip, the damping ratio and the number of passes"
DEPTHS = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)  # m
SPEEDS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # m/s
RATIOS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PASSES = (1, 2, 3, 6, 12)
STEPS, MU, G, SLOPE = 4, 0.5, 9.8, np.radians(35.0)


def walk_on(walk: Walk, depth: float) -> tuple[float, float, float]:
    """Deepest point and error of the centre of mass (mm), and whether it stayed upright."""
    log = walk.run(make("implicit", {"depth": depth}))
    return (1e3 * float(log.report[200:, PENETRATION].max()), 1e3 * log.summary()["com_error"], float(log.completed))


def creep(speed: float) -> float:
    """Speed (m/s) of a crate after 2 s under 98 % of what friction holds."""
    sim = Simulation(crate_on_floor(static=MU, edge=0.2), make("implicit", {"slip_speed": speed}), 1e-3)
    body = sim.bodies["crate"]
    for _ in range(2000):
        sim.apply_force("crate", (0.98 * MU * G, 0, 0), point=body.position - (0, 0, 0.1))
        sim.step()
    return abs(float(body.velocity[0]))


def rebound(ratio: float) -> float:
    """Speed after an impact over that before, of a ball that lands at 0.44 m/s, at 0.1 ms."""
    scene = Scene(gravity=(0, 0, -G), name="ball")
    scene.add_ground(material=Material(MU))
    scene.add_sphere("ball", radius=0.05, mass=1.0, position=(0, 0, 0.06), material=Material(MU))
    sim = Simulation(scene, make("implicit", {"damping_ratio": ratio}), 1e-4)
    fastest = most = 0.0
    for _ in range(3000):
        sim.step()
        v = float(sim.bodies["ball"].velocity[2])
        fastest, most = min(fastest, v), max(most, v)
    return most / abs(fastest)


def slid(passes: int, dt: float) -> float:
    """Way of a box down 35 degrees in 1 s over the closed form's."""
    turn = axis_angle(np.array([0.0, 1.0, 0.0]), SLOPE)
    scene, material = Scene(gravity=(0, 0, -G), name="slope"), Material(MU)
    scene.add_ground(rotation=turn, material=material)
    up = quaternion_to_matrix(turn) @ np.array([0, 0, 0.1])
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=1.0, position=up, rotation=turn, material=material)
    sim = Simulation(scene, make("implicit", {"max_passes": passes}), dt)
    sim.step(round(1.0 / dt))
    way = float(np.linalg.norm(sim.bodies["box"].position - up))
    return way / (0.5 * G * (np.sin(SLOPE) - MU * np.cos(SLOPE)))


def run(progress: Callable[[str], None]) -> Result:
    progress("stiffness")
    walk = Walk.plan("small", footsteps.forward(STEPS, 0.04))
    walks = np.array([walk_on(walk, depth) for depth in DEPTHS])
    progress("speed of slip")
    creeps = [creep(speed) for speed in SPEEDS]
    progress("damping")
    rebounds = [rebound(ratio) for ratio in RATIOS]
    progress("passes")
    ways = {dt: [slid(passes, dt) for passes in PASSES] for dt in (1e-3, 5e-3, 2e-2)}
    own = DEPTHS.index(1e-3)
    checks = [
        Check("default depth: the walk ends upright", float(walks[own, 2]), 1.0, 0.0),
        Check("default depth: deepest point of the walk", float(walks[own, 0]), 3.0, 0.0, "mm", "at_most"),
        Check("creep under 98 % at the default speed of slip", creeps[SPEEDS.index(1e-3)], 0.0, 1e-9, "m/s"),
        Check("creep under 98 % over the speed of slip, at 1 cm/s and more, farthest from 0.98",
              max(abs(c / s - 0.98) for c, s in zip(creeps, SPEEDS) if s >= 1e-2), 0.0, 1e-3),
        Check("rebound at the default damping ratio", rebounds[RATIOS.index(1.0)], 0.07, 0.0, "", "at_most"),
        Check("rebound at a ratio of 0.05", rebounds[0], 0.6, 0.0, "", "at_least"),
        Check("six passes, 1 ms: way down the slope over the closed form's", ways[1e-3][PASSES.index(6)], 1.0, 0.01),
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 4)
        axes[0].loglog(1e3 * np.array(DEPTHS), walks[:, 0], "o-", markersize=4, label="deepest point [mm]")
        axes[0].loglog(1e3 * np.array(DEPTHS), walks[:, 1], "s-", markersize=4, label="off the plan [mm]")
        axes[0].axvline(1.0, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="default")
        axes[0].set_title("a walk, by the depth of rest")
        axes[0].set_xlabel("depth [mm]")
        axes[1].loglog(SPEEDS, np.maximum(creeps, 1e-9), "o-", markersize=4)
        axes[1].axvline(1e-3, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="default")
        axes[1].set_title("creep at 98 % [m/s]")
        axes[1].set_xlabel("speed of slip [m/s]")
        axes[2].semilogx(RATIOS, rebounds, "o-", markersize=4)
        axes[2].axvline(1.0, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="default")
        axes[2].set_title("rebound of a ball")
        axes[2].set_xlabel("damping ratio")
        for dt, values in ways.items():
            axes[3].plot(PASSES, values, "o-", markersize=4, label=f"{1e3 * dt:g} ms")
        axes[3].axvline(6, color="#404040", linewidth=0.9, linestyle=(0, (4, 2)), label="default")
        axes[3].set_title("way down a slope, of the closed form")
        axes[3].set_xlabel("most passes")
        for axis in axes:
            axis.legend(fontsize=7)

    values = {"depths": list(DEPTHS), "walk": walks.tolist(), "speeds": list(SPEEDS), "creep": creeps,
              "ratios": list(RATIOS), "rebound": rebounds, "ways": {str(dt): v for dt, v in ways.items()}}
    return Result(checks, draw, values, figure_size=(14.0, 3.6))
