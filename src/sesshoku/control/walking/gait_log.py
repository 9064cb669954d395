"""What a walk did: `record_walk` runs a simulation under a walker and keeps what one asks of a gait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.control.measure import foot_wrenches, zmp
from sesshoku.control.walking.gait import BOTH
from sesshoku.control.walking.walker import Walker
from sesshoku.dynamics.centroid import center_of_mass
from sesshoku.errors import SimulationDiverged
from sesshoku.recording import Recorder, Recording
from sesshoku.simulation.simulation import Simulation
from sesshoku.stages.report import ENERGY_CHANGE, PENETRATION

LEAST_LOAD = 0.05  # of the weight: with less the ZMP means nothing
COLUMNS = ("time", "com", "zmp", "wrench", "height", "tilt", "feet", "report", "torque", "contacts", "seconds")
SUMMARY = ("tilt", "com_error", "end_drift", "zmp_rms_x", "zmp_rms_y", "zmp_error", "mean_force", "peak_force", "slip",
           "penetration", "contact_energy")
LEANING = 0.05  # rad: a robot that leans so far is on its way to the ground, if it falls
SETTLING = 0.05  # s at the start that maxima leave out: contacts find their forces


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return f"<GaitLog of {len(self.time)} rows: {self.end()}>"

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

    def end(self) -> str:
        """How the walk ended, in words; of a fall also what was the matter when it began."""
        if self.diverged:
            return f"diverges at {self.time[-1]:.2f} s" if len(self.time) else "diverges in the first step"
        if self.fell is None:
            return f"upright, {self.time[-1]:.1f} s"
        when = f"in step {self.fell[1]}" if self.fell[1] else "before the first step"
        return f"falls {when}, {self.fell[0]:.1f} s"

    def why(self) -> str:
        """What was measured when a fall began (the last time the trunk leant by 0.05 rad); empty if it did not fall."""
        if self.fell is None or not len(self.time):
            return ""
        upright = np.flatnonzero(self.tilt < LEANING)
        k = int(upright[-1]) if len(upright) else 0
        off = 1e3 * (self.zmp[k] - self.walker.planned(self.walker.pattern.line.zmp, self.time[k]))
        way = 1e3 * (self.com[k] - self.walker.planned(self.walker.pattern.com, self.time[k]))
        pressure = f"ZMP {off[0]:.0f}, {off[1]:.0f} mm off its reference" if np.isfinite(off).all() else "no load"
        return (f"leans for good from {self.time[k]:.2f} s on; then {pressure}, centre of mass {way[0]:.0f}, "
                f"{way[1]:.0f} mm off its plan, force {self.load[k].sum() / self.weight:.2f} of the weight, deepest "
                f"point {1e3 * self.report[k, PENETRATION]:.2g} mm, slip so far {1e3 * self.slip():.2g} mm")

    def summary(self) -> dict[str, float]:
        """Largest tilt (rad), COM error (m), ZMP error rms and largest (m), forces (of the weight), penetration (m).

        slip: the farthest (m) a planted sole moved during one support. contact_energy (J): what contact took or gave.
        NaN where nothing was logged.
        """
        if not len(self.time):
            return dict.fromkeys(SUMMARY, float("nan"))
        pattern, settled = self.walker.pattern, self.time > self.time[0] + SETTLING
        if not settled.any():  # it ended before: better all of it than nothing
            settled[:] = True
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


class GaitRecorder:
    """Takes rows of a walk, one per time step, until it is asked for the log."""

    def __init__(self, walker: Walker, poses_every: float = 0.1) -> None:
        self.walker, self._every, self._next = walker, poses_every, -np.inf
        self._rows: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._poses: list[tuple[float, dict[str, np.ndarray]]] = []

    def sample(self, sim: Simulation, seconds: tuple[float, float] = (np.nan, np.nan)) -> None:
        """After a step. seconds: of wall time in the controller and in the step."""
        walker, biped, rows = self.walker, self.walker.biped, self._rows
        wrench = foot_wrenches(sim, biped)
        sim.refresh()
        found: Any = sim.records.get("contacts")
        values = (sim.time, _center(sim, walker), zmp(wrench, LEAST_LOAD * biped.mass * walker.pattern.gait.gravity),
                  wrench, float(sim.q[biped.legs.root_coordinate + 2]), walker.tilt(sim), _soles(sim, walker),
                  sim.report_array.copy(), sim.actuator_force[biped.actuator].copy(),
                  0 if found is None else int(found.counts[CONTACTS]), seconds)
        for name, value in zip(COLUMNS, values, strict=True):
            rows[name].append(value)
        if sim.time >= self._next - 1e-9:
            self._poses.append((sim.time, dict(zip(sim.compiled.frame_names, sim.body_poses()))))
            self._next = max(self._next, sim.time - sim.dt) + self._every

    def finish(self, diverged: bool = False, recording: Recording | None = None) -> GaitLog:
        return GaitLog(self.walker, **{name: np.array(values) for name, values in self._rows.items()},
                       poses=self._poses, fell=self.walker.fallen_at, diverged=diverged, recording=recording)


def record_walk(sim: Simulation, walker: Walker, duration: float | None = None, *, after_fall: float = 0.0,
                push: Callable[[Simulation], None] | None = None, poses_every: float = 0.1,
                rate: float | None = None) -> GaitLog:
    """Run a walk (from the pattern's beginning) and log it; ends `after_fall` seconds after a fall.

    push(sim) is called before every step: apply forces there. rate: also record the run, so many samples a second.
    """
    steps = round((walker.pattern.duration if duration is None else duration) / sim.dt)
    walker.place(sim)
    log, diverged = GaitRecorder(walker, poses_every), False
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
        log.sample(sim, (controlled - clock, time.perf_counter() - controlled))
        if walker.fallen_at is not None and sim.time > walker.fallen_at[0] + after_fall:
            break
    return log.finish(diverged, None if recorder is None else recorder.finish())


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
