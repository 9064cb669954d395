"""The paper's Fig. 2: snapshots of the dropped box by the implicit step and by explicit Euler.

The implicit step at 2 ms, explicit Euler at a tenth of it, and explicit Euler at the implicit step's own 2 ms, where it
does not come to rest. Protocol and coefficients are those of `table1`; the paper's are lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.errors import SimulationDiverged
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.implicit.table1 import EDGE, SUCCESS, box_drop, drop, method
from sesshoku.recording.picture import draw as draw_scene
from sesshoku.simulation.simulation import Simulation

TITLE = "the dropped box in pictures: implicit at 2 ms, explicit Euler at 0.2 and at 2 ms (Fig. 2)"
RUNS = (("implicit", 2e-3), ("euler", 2e-4), ("euler", 2e-3))
APART = 20.0  # mm
FRAMES = (0.0, 0.15, 0.25, 0.4, 0.6, 1.0, 2.0)  # s


def frames_of(integrator: str, dt: float) -> tuple[Any, list[tuple[float, dict[str, np.ndarray]]]]:
    """The scene, and its body poses at FRAMES, as far as the run stays finite."""
    sim = Simulation(box_drop(), method(integrator), dt)
    found = []
    for time in FRAMES:
        try:
            sim.step(round((time - sim.time) / dt))
        except SimulationDiverged:
            break
        found.append((time, dict(zip(sim.compiled.frame_names, sim.body_poses()))))
    return sim.scene, found


def run(progress: Callable[[str], None]) -> Result:
    strips, ends = {}, {}
    for integrator, dt in RUNS:
        progress(f"{integrator}, {1e3 * dt:g} ms")
        strips[integrator, dt] = frames_of(integrator, dt)
        ends[integrator, dt] = drop(integrator, dt).outcome
    at = {key: np.array([poses["box"][:3] for _, poses in frames]) for key, (_, frames) in strips.items()}
    implicit, fine = at["implicit", 2e-3], at["euler", 2e-4]
    apart = float(np.linalg.norm(implicit - fine, axis=1).max())
    checks = [
        Check("implicit at 2 ms comes to rest", float(ends["implicit", 2e-3] == SUCCESS), 1.0, 0.0),
        Check("euler at 0.2 ms comes to rest", float(ends["euler", 2e-4] == SUCCESS), 1.0, 0.0),
        Check("euler at 2 ms comes to rest", float(ends["euler", 2e-3] == SUCCESS), 0.0, 0.0),
        Check("box of implicit at 2 ms off that of euler at 0.2 ms, over the pictures", 1e3 * apart, APART, 0.0, "mm",
              "at_most"),
    ]

    def draw(figure: Any) -> None:
        rows = figure.subfigures(len(RUNS), 1)
        middle = np.array([0.25, 0.0, 0.22])
        for row, (key, (scene, frames)) in zip(rows, strips.items(), strict=True):
            for n, (time, poses) in enumerate(frames):
                axis = row.add_subplot(1, len(FRAMES), n + 1, projection="3d")
                there = np.abs(poses["box"][:3] - middle).max() < 0.35 + EDGE
                draw_scene(scene, poses if there else {name: np.r_[9.0, 9.0, 9.0, 1, 0, 0, 0] if name == "box" else pose
                                                       for name, pose in poses.items()}, axis,
                           (middle - 0.32, middle + 0.32))
                axis.set_title(f"{time:.2f} s" + ("" if there else "\n(out of sight)"), fontsize=8, loc="center",
                               pad=-4)
            row.suptitle(f"{key[0]}, {1e3 * key[1]:g} ms: {ends[key]}", fontsize=9)

    return Result(checks, draw, {"outcome": {f"{name}, {1e3 * dt:g} ms": end for (name, dt), end in ends.items()}},
                  figure_size=(11.0, 6.0))
