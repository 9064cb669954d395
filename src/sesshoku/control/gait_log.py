"""What a walk did: `record_walk` runs a simulation under a walker and keeps what one asks of a gait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.control.gait import BOTH
from sesshoku.control.measure import foot_wrenches, zmp
from sesshoku.control.walker import Walker
from sesshoku.dynamics.centroid import center_of_mass
from sesshoku.errors import SimulationDiverged
from sesshoku.methods.report import ENERGY_CHANGE, PENETRATION
from sesshoku.record import Recorder, Recording
from sesshoku.simulation import Simulation

LEAST_LOAD = 0.05  # of the weight: with less the ZMP means nothing
SETTLING = 0.05  # s at the start that maxima leave out: contacts find their forces


@dataclass(frozen=True)
class GaitLog:
    """Rows (n) of one walk, one per time step.

    com (n, 3), zmp (n, 2; NaN without load): m; wrench (n, 2, 6): force and moment about the world's origin on each
    foot; height of the base (n), tilt (n, rad); feet (n, 2, 3): sole points; report (n, ...) as `methods.report`;
    torque (n, A): of the robot's servos; contacts (n): how many; seconds (n, 2): of wall time in the controller
    and in the simulation's step. poses: (time, body poses) now and then. fell: time and step, None if it
    stands. diverged: the state stopped being finite. recording: of the run, if asked for.
    """

    walker: Walker
    time: np.ndarray
    com: np.ndarray
    zmp: np.ndarray
    wrench: np.ndarray
    height: np.ndarray
    tilt: np.ndarray
    feet: np.ndarray
    report: np.ndarray
    torque: np.ndarray
    contacts: np.ndarray
    seconds: np.ndarray
    poses: list[tuple[float, dict[str, np.ndarray]]]
    fell: tuple[float, int] | None
    diverged: bool
    recording: Recording | None = None

    @property
    def completed(self) -> bool:
        return self.fell is None and not self.diverged

    @property
    def weight(self) -> float:
        return self.walker.biped.mass * self.walker.pattern.gait.gravity

    @property
    def load(self) -> np.ndarray:
        """(n, 2) vertical force on each foot, N."""
        return self.wrench[:, :, 2]

    def plan(self, table: np.ndarray) -> np.ndarray:
        """Rows of a table of the plan at the log's times."""
        return np.array([self.walker.planned(table, t) for t in self.time])

    def summary(self) -> dict[str, float]:
        """Largest tilt (rad), COM error (m), ZMP error rms and largest (m), forces (of the weight), penetration (m).

        slip: the farthest (m) a planted sole moved during one support. contact_energy (J): what contact took or gave.
        """
        pattern, settled = self.walker.pattern, self.time > self.time[0] + SETTLING
        error = (self.zmp - self.plan(pattern.line.zmp))[settled]
        drift = (self.com - self.plan(pattern.com))[settled]
        total = self.load.sum(axis=1)[settled] / self.weight
        seen = len(error) > 0 and bool(np.isfinite(error).any())
        return {
            "tilt": float(self.tilt.max()), "com_error": float(np.abs(drift[:, :2]).max()),
            "end_drift": float(np.linalg.norm(drift[-1, :2])),
            "zmp_rms_x": float(np.sqrt(np.nanmean(error[:, 0] ** 2))) if seen else np.nan,
            "zmp_rms_y": float(np.sqrt(np.nanmean(error[:, 1] ** 2))) if seen else np.nan,
            "zmp_error": float(np.nanmax(np.abs(error))) if seen else np.nan,
            "mean_force": float(total.mean()), "peak_force": float(total.max()), "slip": self.slip(),
            "penetration": float(self.report[settled, PENETRATION].max()),
            "contact_energy": float(self.report[:, ENERGY_CHANGE].sum()),
        }

    def cycle_force(self) -> float:
        """Mean vertical force over whole gait cycles (two steps each), of the weight; first and last step left out."""
        gait, steps = self.walker.pattern.gait, len(self.walker.pattern.steps)
        cycles = (steps - 2) // 2
        start = self.time[0] + gait.start + gait.single + gait.double
        inside = (self.time > start) & (self.time <= start + 2 * cycles * (gait.single + gait.double))
        if cycles < 1 or self.time[-1] < start + 2 * cycles * (gait.single + gait.double):
            return float("nan")
        return float(self.load[inside].sum(axis=1).mean() / self.weight)

    def slip(self) -> float:
        """The farthest (m) a standing sole moved within one single support."""
        support = np.array([self.walker.pattern.line.support[self.walker.sample(t)[0]] for t in self.time])
        step = np.array([self.walker.step_number(t) for t in self.time])
        worst = 0.0
        for n in range(1, int(step.max()) + 1 if len(step) else 0):
            for side in range(2):
                rows = np.flatnonzero((step == n) & (support == side) & (support != BOTH))
                if len(rows) > 1:
                    moved = self.feet[rows, side, :2] - self.feet[rows[0], side, :2]
                    worst = max(worst, float(np.linalg.norm(moved, axis=1).max()))
        return worst


def record_walk(sim: Simulation, walker: Walker, duration: float | None = None, *, after_fall: float = 0.0,
                push: Callable[[Simulation], None] | None = None, poses_every: float = 0.1,
                rate: float | None = None) -> GaitLog:
    """Run a walk (from the pattern's beginning) and log it; ends `after_fall` seconds after a fall.

    push(sim) is called before every step: apply forces there. rate: also record the run, so many samples a second.
    """
    biped, dt = walker.biped, sim.dt
    steps = round((walker.pattern.duration if duration is None else duration) / dt)
    rows: dict[str, list[Any]] = {name: [] for name in ("time", "com", "zmp", "wrench", "height", "tilt", "feet",
                                                        "report", "torque", "contacts", "seconds")}
    poses, next_pose, diverged = [], sim.time, False
    root = biped.legs.root_coordinate
    walker.place(sim)
    recorder = None if rate is None else Recorder(sim, rate=rate)
    for n in range(steps):
        if recorder is not None and n % recorder.stride == 0:
            recorder.sample(sim)
        clock = time.perf_counter()
        walker(sim)
        if push is not None:
            push(sim)
        controlled = time.perf_counter()
        try:
            sim.step()
        except SimulationDiverged:
            diverged = True
            break
        rows["seconds"].append((controlled - clock, time.perf_counter() - controlled))
        wrench = foot_wrenches(sim, biped)
        sim.refresh()
        rows["time"].append(sim.time)
        rows["com"].append(_center(sim, walker))
        rows["zmp"].append(zmp(wrench, LEAST_LOAD * biped.mass * walker.pattern.gait.gravity))
        rows["wrench"].append(wrench)
        rows["height"].append(float(sim.q[root + 2]))
        rows["tilt"].append(walker.tilt(sim))
        rows["feet"].append(_soles(sim, walker))
        rows["report"].append(sim.report_array.copy())
        found: Any = sim.records.get("contacts")
        rows["contacts"].append(0 if found is None else int(found.counts[CONTACTS]))
        rows["torque"].append(sim.actuator_force[biped.actuator].copy())
        if sim.time >= next_pose - 1e-9:
            poses.append((sim.time, dict(zip(sim.compiled.frame_names, sim.body_poses()))))
            next_pose += poses_every
        if walker.fallen_at is not None and sim.time > walker.fallen_at[0] + after_fall:
            break
    return GaitLog(walker, **{name: np.array(values) for name, values in rows.items()}, poses=poses,
                   fell=walker.fallen_at, diverged=diverged, recording=None if recorder is None else recorder.finish())


def _center(sim: Simulation, walker: Walker) -> np.ndarray:
    center, legs = np.zeros(3), walker.biped.legs
    center_of_mass(sim.model, sim.data, legs.first_link, legs.last_link, center)
    return center


def _soles(sim: Simulation, walker: Walker) -> np.ndarray:
    """(2, 3) sole points, world; `refresh` was called."""
    legs, data = walker.biped.legs, sim.data
    links = legs.foot_link
    return np.array([data.tree_origin[legs.tree] + data.offset[link] + data.rotation[link] @ legs.sole_position[side]
                     for side, link in enumerate(links)])
