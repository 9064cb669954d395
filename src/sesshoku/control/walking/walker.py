"""`Walker`: a controller that plays a pattern on the robot's servos, with or without a stabiliser.

    walker = Walker(pattern, stabiliser=True)
    sim = Simulation(scene, dt=1e-3)
    walker.place(sim)
    sim.run(pattern.duration, controller=walker)
"""

from __future__ import annotations

from math import asin, sqrt

import numpy as np

from sesshoku.control.balance import BASE, COM, COM_VELOCITY, FEET, ROW, SHARE, ZMP
from sesshoku.control.onboard import Onboard
from sesshoku.control.walking.pattern import Pattern
from sesshoku.control.walking.stabiliser import Gains, Stabiliser
from sesshoku.control.walking.step_adjustment import Adjustment, StepAdjustment
from sesshoku.errors import SceneError
from sesshoku.simulation.simulation import Simulation

FALLEN_HEIGHT, FALLEN_TILT = 0.6, 0.5  # of the base's height at the start; rad


class Walker:
    """Sets target, target velocity and feed-forward of every servo of the robot, once per time step.

    It begins anew where the simulation's time is 0, or another simulation is handed in (`sesshoku.compare`).
    stabiliser: True, or its `Gains`. adjust: with the stabiliser, True (or an `Adjustment`) puts feet elsewhere when a
    push asks for it. sensors: with the stabiliser, True lets it feel and see by the robot's own force sensors at the
    ankles and its IMU (or the IMU of a name) only; False: by contact forces and the true orientation. feed_forward:
    scale of the inverse dynamics (1: all of it). The servos act over a step, so they are given the plan's middle of it.
    When the robot has fallen they hold its last targets.
    fallen_at: time and step number (1 ..) of the fall, None while it stands.
    """

    PEERS = ()  # simulators other than ours that it can drive in `compare`: it needs the state itself

    def __init__(self, pattern: Pattern, stabiliser: bool | Gains = False, *, adjust: bool | Adjustment = False,
                 sensors: bool | str = False, feed_forward: float = 1.0) -> None:
        if not isinstance(pattern, Pattern):
            raise SceneError("a walker plays a pattern", element="walker", value=type(pattern).__name__,
                             remedy="plan one: control.walk(biped, steps, gait) or control.jump(biped, gait, speed)")
        biped, line = pattern.biped, pattern.line
        self.pattern, self.biped = pattern, biped
        for given, name, kind in ((stabiliser, "stabiliser", Gains), (adjust, "adjust", Adjustment),
                                  (sensors, "sensors", str)):
            if not isinstance(given, (bool, kind)):
                raise SceneError(f"{name} is True, False or {kind.__name__}(...)", element="walker", value=given)
        if adjust is not False and stabiliser is False:
            raise SceneError("steps are adjusted by the stabiliser's estimate", element="walker", value=adjust,
                             remedy="give stabiliser=True too")
        if sensors is not False and stabiliser is False:
            raise SceneError("sensors are read by the stabiliser", element="walker", value=sensors,
                             remedy="give stabiliser=True too")
        self._gains, self._adjust, self._sensors = stabiliser, adjust, sensors
        if sensors is not False:
            self._onboard()  # what is missing is told now
        self.stabiliser: Stabiliser | None = None
        self.adjustment: StepAdjustment | None = None
        self._q = np.ascontiguousarray(pattern.q[:, biped.actuator_coordinate])
        self._force = np.ascontiguousarray(feed_forward * pattern.force[:, biped.actuator_dof])
        rows = np.empty((len(line.time), ROW))
        rows[:, COM:COM_VELOCITY], rows[:, COM_VELOCITY:ZMP] = pattern.com, pattern.com_velocity
        rows[:, ZMP:SHARE], rows[:, SHARE] = line.zmp, line.share
        rows[:, FEET:BASE], rows[:, BASE:] = line.feet.reshape(-1, 12), line.base
        self.rows = rows
        self._command = np.empty((self._q.shape[1], 3))  # target, its velocity, feed-forward
        self.fallen_at: tuple[float, int] | None = None
        self._sim: Simulation | None = None
        self._begin = self._base_height = 0.0
        self._last: np.ndarray | None = None  # the stabiliser's posture at the end of the last step
        self._lead = 0.0  # s by which hurried steps have brought the plan ahead of the simulation's clock
        self._leads: tuple[list[float], list[float]] = ([], [])  # times, and the lead from then on

    def place(self, sim: Simulation) -> None:
        """Put the robot where the pattern begins, at rest; the walk begins now."""
        if sim.model.coordinate_count != self.biped.model.coordinate_count:
            raise SceneError("the simulation is of another scene than the plan", element="walker",
                             remedy="make both from one scene")
        legs, q, v = self.biped.legs, sim.q.copy(), sim.v.copy()
        links = range(legs.first_link, legs.last_link)
        model = sim.model
        first, last = model.link_coordinate[legs.first_link], model.link_coordinate[links[-1]] + 1
        q[first:last] = self.pattern.q[0, first:last]
        v[legs.root_dof:model.link_dof[links[-1]] + 1] = 0.0
        sim.set_state(q, v)
        self.begin(sim)

    def begin(self, sim: Simulation) -> None:
        """The walk begins now, wherever the robot stands."""
        self._sim, self._begin, self.fallen_at, self._last = sim, sim.time, None, None
        self._lead, self._leads = 0.0, ([], [])
        self._base_height = float(sim.q[self.biped.legs.root_coordinate + 2])
        if self._gains is not False:
            usual = Gains(level=1.0 if self._adjust is not False else 0.0)  # shifted feet must land where they should
            self.stabiliser = Stabiliser(self.pattern, usual if self._gains is True else self._gains,
                                         None if self._sensors is False else self._onboard())
            if self.stabiliser.onboard is not None:
                self.stabiliser.onboard.start(sim)
        if self._adjust is not False:
            self.adjustment = StepAdjustment(self.pattern, None if self._adjust is True else self._adjust)
        sim.actuator_command[self.biped.actuator, 0] = self._q[0]

    def _onboard(self) -> Onboard:
        return Onboard(self.biped, None if self._sensors is True else str(self._sensors))

    # ---- reading -------------------------------------------------------------------------------------------------

    def plan_time(self, time: float) -> float:
        """Seconds since the plan's beginning; hurried steps (`Adjustment.timing`) make it run ahead."""
        times, leads = self._leads
        if not times or time <= times[0]:
            return time - self._begin
        return time - self._begin + (self._lead if time >= times[-1] else float(np.interp(time, times, leads)))

    def sample(self, time: float) -> tuple[int, float]:
        """Number of the plan's sample before a time of the simulation, and the way to the next (0 .. 1)."""
        at = min(max(self.plan_time(time) / self.pattern.gait.sample, 0.0), len(self._q) - 1.0)
        k = min(int(at + 1e-6), len(self._q) - 2)
        return k, max(at - k, 0.0)

    def planned(self, table: np.ndarray, time: float) -> np.ndarray:
        """A row of a table of the plan at a time of the simulation."""
        k, part = self.sample(time)
        return table[k] + part * (table[k + 1] - table[k]) if part > 1e-9 else table[k]

    def tilt(self, sim: Simulation) -> float:
        """Angle (rad) between the base's upright axis and the vertical."""
        at = self.biped.legs.root_coordinate
        _, x, y, _ = sim.q[at + 3:at + 7]
        return 2.0 * asin(min(sqrt(x * x + y * y), 1.0))

    def step_number(self, time: float) -> int:
        """Number (1 ..) of the step at a time, 0 before the first."""
        return int(self.pattern.line.step[self.sample(time)[0]]) + 1

    # ---- the controller ------------------------------------------------------------------------------------------

    def __call__(self, sim: Simulation) -> None:
        if sim is not self._sim or sim.time == 0.0:
            self.begin(sim)
        if self.fallen_at is None and self._has_fallen(sim):
            self.fallen_at = sim.time, self.step_number(sim.time)
            sim.actuator_command[self.biped.actuator, 1:] = 0.0
        if self.fallen_at is not None:
            return
        end = sim.time + sim.dt
        if self._gains is False:
            start, goal = self.planned(self._q, sim.time), self.planned(self._q, end)
        else:
            target = self._stabilised(sim)
            goal = target[self.biped.actuator_coordinate]
            start = goal if self._last is None else self._last
            self._last = goal
        command = self._command
        command[:, 0], command[:, 1] = 0.5 * (start + goal), (goal - start) / sim.dt
        command[:, 2] = self.planned(self._force, sim.time + 0.5 * sim.dt)
        sim.actuator_command[self.biped.actuator] = command

    def _stabilised(self, sim: Simulation) -> np.ndarray:
        """Posture (Q) the stabiliser wants at the end of the step."""
        assert self.stabiliser is not None  # made by `begin`
        k = self.sample(sim.time)[0]
        support, step = int(self.pattern.line.support[k]), int(self.pattern.line.step[k])
        now = self.planned(self.rows, sim.time)
        if self.adjustment is not None:
            now = self.adjustment.shift(now)
            self.adjustment.update(self.plan_time(sim.time), support, step, self.stabiliser.memory.error, sim.dt)
            self._hurry(sim)
        ahead = self.planned(self.rows, sim.time + sim.dt)
        if self.adjustment is not None:
            ahead = self.adjustment.shift(ahead)
        return self.stabiliser.correct(sim, now, support, ahead)

    def _hurry(self, sim: Simulation) -> None:
        """Let the plan's clock run through the coming step as the adjustment wants it."""
        assert self.adjustment is not None
        if self.adjustment.clock != 1.0:
            for time, lead in ((sim.time, self._lead), (sim.time + sim.dt, self._lead + (
                    self.adjustment.clock - 1.0) * sim.dt)):
                self._leads[0].append(time)
                self._leads[1].append(lead)
            self._lead = self._leads[1][-1]

    def _has_fallen(self, sim: Simulation) -> bool:
        height = float(sim.q[self.biped.legs.root_coordinate + 2])
        return height < FALLEN_HEIGHT * self._base_height or self.tilt(sim) > FALLEN_TILT
