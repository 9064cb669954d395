"""What the experiments with the small humanoid share: runs watched at every step, strips of frames, checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.control.biped import Biped
from sesshoku.experiments.base import Check
from sesshoku.recording import Recorder, Recording
from sesshoku.recording.picture import _bounds, _triangles, draw
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.stages.report import ENERGY_CHANGE, ITERATIONS, PENETRATION, ROWS

DT = 1e-3
BASE = "base"  # the sensor that a free base has: it reads what no force explains
COLUMNS = ("time", "load", "force", "touching", "one_way", "passes", "gain", "unexplained", "ankles", "com", "momentum",
           "speed", "depth")
LABELS = {"multipoint": "paper", "multipoint:recommended": "recommended"}


@dataclass
class Run:
    """Rows (n), one a step.

    load (n, 2): vertical contact force on each foot; force (n): on all bodies; touching (n): contact points that carry;
    one_way, passes (n): contact points and rows of joints that the loop may remove, its passes; gain (n): change of
    kinetic energy by contact over the energy without it; unexplained (n): size of the force that a sensor at the free
    base reads; ankles (n, 2): vertical force that the ankle sensors read.
    """

    scene: Scene
    weight: float
    time: np.ndarray
    load: np.ndarray
    force: np.ndarray
    touching: np.ndarray
    one_way: np.ndarray
    passes: np.ndarray
    gain: np.ndarray
    unexplained: np.ndarray
    ankles: np.ndarray
    com: np.ndarray
    momentum: np.ndarray
    speed: np.ndarray
    depth: np.ndarray
    seconds: float  # of computing per step
    frames: list[tuple[float, dict[str, np.ndarray]]]
    recording: Recording

    @property
    def smooth_force(self) -> np.ndarray:
        """(n) vertical force of all contacts over the weight, mean of 10 ms."""
        return smooth(self.force) / self.weight

    @property
    def airborne(self) -> tuple[int, int]:
        """First and last sample of the longest time without contact force."""
        air = np.concatenate([[False], self.force <= 0.0, [False]])
        edges = np.flatnonzero(np.diff(air.astype(int))).reshape(-1, 2)
        if not len(edges):
            return 0, 0
        first, end = edges[int(np.argmax(edges[:, 1] - edges[:, 0]))]
        return int(first), int(end - 1)


def smooth(values: np.ndarray) -> np.ndarray:
    """Mean (n) over the 10 ms around each sample."""
    window = np.ones(round(0.01 / DT))
    return np.convolve(values, window, mode="same") / np.convolve(np.ones(len(values)), window, mode="same")


def with_base_sensor(scene: Scene) -> Scene:
    """The scene with a force sensor at the robot's free base."""
    root = next(name for name, body in scene.bodies.items() if body.joint.kind == "free")
    scene.add_force_sensor(BASE, root)
    return scene


def watch(sim: Simulation, biped: Biped, duration: float, frames: Sequence[float],
          controller: Callable[[Simulation], None] | None = None) -> Run:
    """Run and look at every step; frames: times of pictures."""
    rows: list[list[Any]] = []
    kept, left = [], list(frames)
    recorder = Recorder(sim, rate=100)
    weight, feet = biped.mass * biped.gravity, ("left_foot", "right_foot")
    spent = 0.0
    for _ in range(round(duration / sim.dt)):
        if controller is not None:
            controller(sim)
        begin = time.perf_counter()
        sim.step()
        spent += time.perf_counter() - begin
        load, total = np.zeros(2), 0.0
        for contact in sim.contacts:
            total += contact.force[2]
            for side, foot in enumerate(feet):
                if foot in contact.bodies:
                    load[side] += contact.force[2]
        report, kinetic = sim.report_array, sim.energy[0]
        base = sim.sensors[BASE]
        views = sim.sensors["left_ankle"], sim.sensors["right_ankle"]
        ankles = [(view.rotation_matrix @ view.force)[2] for view in views]
        rows.append([sim.time, load, total, sum(c.state != "released" for c in sim.contacts),
                     report[ROWS] - 2 * len(sim.contacts), report[ITERATIONS],
                     report[ENERGY_CHANGE] / max(kinetic - report[ENERGY_CHANGE], 1e-12),
                     max(np.abs(base.force).max(), np.abs(base.torque).max()), ankles,
                     sim.center_of_mass(), sim.momentum(), float(np.abs(sim.v).max()), report[PENETRATION]])
        if len(rows) % recorder.stride == 0:
            recorder.sample(sim)
        if left and sim.time >= left[0] - 1e-9:
            kept.append((sim.time, dict(zip(sim.compiled.frame_names, sim.body_poses()))))
            left.pop(0)
    columns = dict(zip(COLUMNS, (np.array(column) for column in zip(*rows)), strict=True))
    return Run(scene=sim.scene, weight=weight, seconds=spent / max(len(rows), 1), frames=kept,
               recording=recorder.finish(), **columns)


def draw_strip(figure: Any, run: Run) -> None:
    """A row of pictures in one scale."""
    bounds = _bounds([_triangles(run.scene, poses)[0] for _, poses in run.frames])
    for n, (instant, poses) in enumerate(run.frames):
        axis = figure.add_subplot(1, len(run.frames), n + 1, projection="3d")
        draw(run.scene, poses, axis, bounds)
        axis.set_title(f"{instant:.2f} s", fontsize=9, loc="center")


def common_checks(label: str, runs: Sequence[Run], more: float = 0.0) -> list[Check]:
    """What all runs of the method must show. more: passes beyond the points, where points come back into the set."""
    return [
        Check(f"{label}: momentum that no force explains, by the sensor at the base",
              max(float(run.unexplained.max()) / run.weight for run in runs), 0.0, 1e-9, "of the weight"),
        Check(f"{label}: passes of the loop beyond the number of points and limits",
              max(float((run.passes - run.one_way)[run.touching > 0].max(initial=-np.inf)) for run in runs), more, 0.0,
              kind="at_most"),
    ]


def cost(run: Run) -> list[Any]:
    """Mean passes of steps with contact, and mean time of a step, ms (4 in the paper)."""
    return [float(run.passes[run.touching > 0].mean()), 1e3 * run.seconds]


__all__ = ["BASE", "DT", "LABELS", "Run", "common_checks", "cost", "draw_strip", "smooth", "watch",
           "with_base_sensor"]
