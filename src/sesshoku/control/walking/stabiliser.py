"""`Stabiliser`: ZMP feedback by ankles and body; its gains, and the Python side of `balance`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sesshoku.control import balance as kernels
from sesshoku.control.balance import Balance
from sesshoku.control.checks import check_all
from sesshoku.control.measure import foot_wrenches
from sesshoku.control.onboard import Onboard
from sesshoku.control.walking.correct import correct, correct_onboard
from sesshoku.control.walking.pattern import Pattern
from sesshoku.simulation.simulation import Simulation


@dataclass(frozen=True)
class Gains:
    """capture: k of the capture point law. bandwidth (rad/s), leak (1/s): of the moment loop at the ankles.

    load_filter, velocity_filter, target_filter: s. margin (m): of the sole left unused at each side; None: a seventh of
    half its width. body (1/s^2), body_rate (rad/s): shift of the centre of mass by the ZMP's error, 0: none.
    largest_angle (rad) of an ankle's correction, largest_shift (m) of the body's. level, level_filter (s): share of the
    way that a leaning body carries the swing foot along which is taken back.
    """

    capture: float = 1.0
    bandwidth: float = 20.0
    leak: float = 1.5
    load_filter: float = 0.004
    velocity_filter: float = 0.010
    target_filter: float = 0.020
    margin: float | None = None
    body: float = 0.0
    body_rate: float = 3.0
    largest_angle: float = 0.2
    largest_shift: float = 0.06
    level: float = 0.0
    level_filter: float = 0.03

    def __post_init__(self) -> None:
        check_all(self, "stabiliser", above=("_filter",))


class Stabiliser:
    """Corrects a pattern's postures by what the robot senses. One for each walk: it has a memory (`memory`).

    onboard: the robot's own force sensors and IMU; None: forces of contacts and the trunk's true orientation.
    """

    def __init__(self, pattern: Pattern, gains: Gains | None = None, onboard: Onboard | None = None) -> None:
        self.pattern, self.gains, self.onboard = pattern, gains or Gains(), onboard
        biped, chosen = pattern.biped, self.gains
        model, box = biped.model, biped.legs.sole_box
        margin = chosen.margin if chosen.margin is not None else float((box[:, 3] - box[:, 2]).min()) / 14.0
        values = np.zeros(kernels.GAIN_COUNT)
        for name, place in (("capture", kernels.CAPTURE), ("bandwidth", kernels.BANDWIDTH), ("leak", kernels.LEAK),
                            ("load_filter", kernels.LOAD_FILTER), ("velocity_filter", kernels.VELOCITY_FILTER),
                            ("target_filter", kernels.TARGET_FILTER), ("body", kernels.BODY),
                            ("body_rate", kernels.BODY_RATE), ("largest_angle", kernels.LARGEST_ANGLE),
                            ("largest_shift", kernels.LARGEST_SHIFT), ("level", kernels.LEVEL),
                            ("level_filter", kernels.LEVEL_FILTER)):
            values[place] = getattr(chosen, name)
        values[kernels.MARGIN], values[kernels.INVERT] = margin, float(biped.on_bushes)
        values[kernels.FREQUENCY] = np.sqrt(pattern.gait.gravity / pattern.gait.com_height)
        values[kernels.WEIGHT] = biped.mass * pattern.gait.gravity
        shapes = {"com": 3, "velocity": 3, "error": 2, "zmp": 2, "share": 2, "foot_zmp": (2, 2), "loop": (2, 2),
                  "spring": (2, 2), "sag": 2, "shift": 2, "shift_velocity": 2, "feet": (2, 6), "work": (4, 3),
                  "load": (2, 3), "level": (2, 6), "q": model.coordinate_count, "v": model.dof_count}
        self.memory = Balance(gains=values, stiffness=biped.stiffness, target=pattern.q[0].copy(),
                              started=np.zeros(1, dtype=np.int64),
                              **{name: np.zeros(shape) for name, shape in shapes.items()})
        self._tables = model.table, biped.data.table, biped.legs.table, self.memory.table

    def correct(self, sim: Simulation, now: np.ndarray, support: int, ahead: np.ndarray) -> np.ndarray:
        """Posture (Q) to have at the end of the step; see `balance.stabilise`."""
        if self.onboard is None:
            wrench = foot_wrenches(sim, self.pattern.biped)
            correct(*self._tables, sim.q, sim.v, wrench, now, support, ahead, sim.dt)
        else:
            senses = self.onboard
            correct_onboard(*self._tables, senses.senses.table, sim.q, sim.v, sim.sensor_readings, senses.index,
                            senses.wrench, now, support, ahead, sim.dt)
        return self.memory.target
