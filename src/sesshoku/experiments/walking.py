"""What the walking experiments share: a walk of a shipped humanoid, its checks and its pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku import control
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.walking.gait_log import GaitLog
from sesshoku.errors import UnstableStep
from sesshoku.experiments.base import Check
from sesshoku.methods.registry import Method
from sesshoku.recording.picture import draw
from sesshoku.recording.plot import COLORS
from sesshoku.robots.bush import Bush
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

SIDES = ("left", "right")
FRAMES = 50.0  # samples per second of recordings
#: a walk on rigid soles that counts as good: tilt (mrad), COM error (mm), ZMP rms (mm), end drift (mm)
LEVELS = {"small": (30.0, 25.0, 15.0, 50.0), "large": (30.0, 25.0, 30.0, 50.0)}


@dataclass(frozen=True)
class Walk:
    """A scene and the plan of a walk in it; planned once, walked under several methods."""

    kind: str
    scene: Scene
    pattern: control.Pattern

    @classmethod
    def plan(cls, kind: str, increments: Iterable[Sequence[float]], *, friction: float = 0.5,
             material: Material | None = None, bush: Bush | None = None) -> Walk:
        scene = stage(kind, friction=friction, material=material, bush=bush)
        return cls(kind, scene, control.walk(control.humanoids.biped(scene), increments, GAITS[kind]))

    def run(self, method: str | Method, stabiliser: bool | control.Gains = False, dt: float = 1e-3, *,
            adjust: bool | control.Adjustment = False, sensors: bool = False, **options: Any) -> GaitLog:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnstableStep)
            sim = Simulation(self.scene, method, dt)
        return control.record_walk(sim, control.Walker(self.pattern, stabiliser, adjust=adjust, sensors=sensors),
                                   **options)


def upright_checks(label: str, log: GaitLog, kind: str, levels: Sequence[float] | None = None) -> list[Check]:
    """The walk ended on its feet and was where it should be. levels: of this walk, instead of those of a good one."""
    tilt, place, pressure, drift = levels or LEVELS[kind.removesuffix("_bush")]
    found = log.summary()
    return [
        Check(f"{label}: upright after {len(log.walker.pattern.steps)} steps", float(log.completed), 1.0, 0.0),
        Check(f"{label}: tilt of the trunk", 1e3 * found["tilt"], tilt, 0.0, "mrad", "at_most"),
        Check(f"{label}: centre of mass off its plan", 1e3 * found["com_error"], place, 0.0, "mm", "at_most"),
        Check(f"{label}: ZMP error rms", 1e3 * max(found["zmp_rms_x"], found["zmp_rms_y"]), pressure, 0.0, "mm",
              "at_most"),
        Check(f"{label}: drift at the end", 1e3 * found["end_drift"], drift, 0.0, "mm", "at_most"),
        Check(f"{label}: mean vertical force over whole cycles", log.cycle_force(), 1.0, 1e-3, "of the weight"),
    ]


def swing_force(log: GaitLog, side: int) -> float:
    """Largest vertical force (N) on a foot while its sole is planned to be lifted by a tenth of the way or more.

    Below that a bush that is relieved still reaches the ground.
    """
    lifted = log.plan(log.walker.pattern.line.feet)[:, side, 2] > 0.1 * log.walker.pattern.gait.swing_height
    return float(np.abs(log.load[lifted, side]).max()) if lifted.any() else 0.0


def single_support(log: GaitLog, side: int, trim: float = 0.2) -> np.ndarray:
    """Rows in the middle of the single supports of a foot, `trim` of each left out at both ends."""
    line, gait = log.walker.pattern.line, log.walker.pattern.gait
    rows = []
    for n in range(len(log.walker.pattern.steps)):
        begin = gait.start + n * (gait.single + gait.double)
        inside = (log.time > begin + trim * gait.single) & (log.time < begin + (1 - trim) * gait.single)
        at = min(round((begin + 0.5 * gait.single) / gait.sample), len(line.support) - 1)
        if line.support[at] == side:
            rows.append(inside)
    return np.any(rows, axis=0) if rows else np.zeros(len(log.time), dtype=bool)


def touchdowns(log: GaitLog, side: int) -> list[float]:
    """Times at which a swing foot is planned to land."""
    gait = log.walker.pattern.gait
    return [gait.start + n * (gait.single + gait.double) + gait.single
            for n, step in enumerate(log.walker.pattern.steps) if step.side == side]


# ---- pictures --------------------------------------------------------------------------------------------------------


def draw_strip(figure: Any, scene: Scene, log: GaitLog, count: int = 6, title: str = "") -> None:
    """A row of frames over one cycle of two steps in the middle of a walk, or over its fall, by a fixed camera."""
    gait = log.walker.pattern.gait
    cycle = 2.0 * (gait.single + gait.double)
    begin = gait.start + (len(log.walker.pattern.steps) // 4) * cycle
    if log.fell is not None:
        begin, cycle = log.fell[0] - cycle, cycle + 0.9
    frames = recorded_poses(scene, log)
    times = np.array([time for time, _ in frames])
    picks = [frames[int(np.abs(times - begin - cycle * n / (count - 1)).argmin())] for n in range(count)]
    draw_frames(figure, scene, picks, log.walker.biped, fixed=True)
    if title:
        figure.suptitle(title, fontsize=9)


def recorded_poses(scene: Scene, log: GaitLog) -> list[tuple[float, dict[str, np.ndarray]]]:
    """Times and body poses of the walk's recording, or what the log kept now and then."""
    if log.recording is None:
        return log.poses
    poses = log.recording["poses"]
    return [(float(time), dict(zip(scene.bodies, poses[n].reshape(len(scene.bodies), 7), strict=True)))
            for n, time in enumerate(log.recording.time)]


def draw_frames(figure: Any, scene: Scene, frames: Sequence[tuple[float, dict[str, np.ndarray]]],
                biped: control.Biped, fixed: bool = False) -> None:
    """A row of pictures: times and body poses. fixed: by a camera that stays, else by one that goes along."""
    size = 2.2 * max(biped.home_height, 1e-3)
    root = biped.compiled.link_names[biped.root]
    places = np.array([poses[root][:2] for _, poses in frames])
    if fixed:
        size += float(np.ptp(places, axis=0).max())
    for n, (time, poses) in enumerate(frames):
        axis = figure.add_subplot(1, len(frames), n + 1, projection="3d")
        there = 0.5 * (places.min(axis=0) + places.max(axis=0)) if fixed else places[n]
        middle = np.array([*there, 0.5 * size])
        draw(scene, poses, axis, (middle - 0.5 * size, middle + 0.5 * size))
        axis.set_title(f"{time:.2f} s" if fixed else f"{time:.1f} s", fontsize=8, pad=-4)


def draw_forces(axis: Any, log: GaitLog, title: str) -> None:
    """Vertical forces of both feet, of the weight: as they are (pale), and their means over 20 ms."""
    total = log.load.sum(axis=1) / log.weight
    for values, name, color in ((total, "both", "#404040"), *(
            (log.load[:, side] / log.weight, f"{name} foot", COLORS[side]) for side, name in enumerate(SIDES))):
        axis.plot(log.time, values, linewidth=0.4, color=color, alpha=0.35)
        axis.plot(log.time, _mean(values, log.time), linewidth=1.0, color=color, label=name)
    axis.set_ylim(-0.1, min(max(1.6, float(total.max()) * 1.05), 3.0))
    axis.set_title(title)
    axis.set_ylabel("force / weight")


def _mean(values: np.ndarray, time: np.ndarray, window: float = 0.02) -> np.ndarray:
    """Running mean over 20 ms."""
    count = max(round(window / (time[1] - time[0])), 1)
    known = np.where(np.isfinite(values), values, 0.0)
    weight = np.convolve(np.isfinite(values), np.ones(count), "same")
    return np.asarray(np.convolve(known, np.ones(count), "same") / np.maximum(weight, 1e-9))


def draw_zmp(axis: Any, log: GaitLog, direction: int = 1) -> None:
    """ZMP measured from contacts, its reference and the centre of mass, along x (0) or y (1)."""
    axis.plot(log.time, log.zmp[:, direction], linewidth=0.7, label="ZMP from contact forces")
    axis.plot(log.time, log.plan(log.walker.pattern.line.zmp)[:, direction], linewidth=1.0, color="#404040",
              linestyle=(0, (4, 2)), label="ZMP reference")
    axis.plot(log.time, log.com[:, direction], linewidth=1.0, label="centre of mass")
    low, high = np.nanmin(log.com[:, direction]), np.nanmax(log.com[:, direction])
    room = 0.25 + 0.3 * (high - low) if log.walker.biped.home_height > 0.5 else 0.08 + 0.3 * (high - low)
    axis.set_ylim(low - room, high + room)
    axis.set_ylabel(f"{'xy'[direction]} [m]")


__all__ = ["FRAMES", "LEVELS", "Walk", "draw_forces", "draw_frames", "draw_strip", "draw_zmp", "recorded_poses",
           "single_support",
           "swing_force", "touchdowns", "upright_checks"]
