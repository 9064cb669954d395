"""Step adjustment: where the capture point runs away farther than ankles can hold, the foot is put elsewhere, sooner.

The centre of mass c is an inverted pendulum of height z: with w = sqrt(g / z) the capture point xi = c + c'/w obeys
xi' = w (xi - p), p the ZMP, so over a single support of T more seconds with p at the standing foot

    xi_landing - p = (xi - p) e^(w T).                                                                        (1)

That is all a robot can choose by: where its next foot is put, and T. A push leaves an error e of the capture point.
Ankles bring back what soles can; the rest, x, grows with e^(w T). The plan goes on as it was, but moved by a shift D
of the swing foot, and of all steps after it. Over the double support (d seconds) the ZMP goes from foot to foot, and
the capture point of the moved plan is then, at the landing, moved by h D:

    h = (1 - e^(-w d)) / (w d).                                                                               (2)

The moved plan lands after T seconds, where the plan itself would need T0. By (1), its capture point is now off the
plan's by (S: shift of the standing foot; xi_L, p: capture point and ZMP of the plan at the landing)

    o(T, D) = S + (D - S) h e^(-w T) + (xi_L - p) (e^(-w T) - e^(-w T0)).                                     (3)

What is measured is o + x; so for every T there is one D with o(T, D) = o + x: placement. Of all T between the fastest
swing and the planned one, that is taken whose D is in reach, small, and near the planned time: timing (`choose`). The
swing is hurried by letting the plan's clock run faster. The centre of mass of the moved plan follows c' = w (xi - c).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from sesshoku.control.balance import COM, COM_VELOCITY, FEET, SHARE, ZMP
from sesshoku.control.checks import check_all
from sesshoku.control.walking.footsteps import LEFT
from sesshoku.control.walking.gait import BOTH
from sesshoku.control.walking.pattern import Pattern
from sesshoku.errors import SceneError
from sesshoku.scene import check


@dataclass(frozen=True)
class Adjustment:
    """held: share of half a sole's length and width within which ankles are left to do it alone.

    longest (m): of a step, along the foot's heading; None: 0.44 of the height of the centre of mass. outward, inward
    (m): the most a foot is put to its own side, or towards the other foot; None: 0.35 of that height, and three
    quarters of the room between the soles. first_chance, last_chance (s): after lifting and before landing, between
    which a goal is moved: the estimate goes over to the other foot at each landing; None: a seventh and a sixth of the
    single support. speed (m/s): the most the goal of a swing foot is moved with; None: 2 heights a second. timing:
    whether landings are made sooner; fastest: the most the plan's clock is hurried then. hurry, small: prices of time
    (m/s: that many metres out of reach a second) and of shifts against what is out of reach.
    """

    held: float = 0.4
    longest: float | None = None
    outward: float | None = None
    inward: float | None = None
    first_chance: float | None = None
    last_chance: float | None = None
    speed: float | None = None
    timing: bool = True
    fastest: float = 2.0
    hurry: float = 0.1
    small: float = 0.2

    def __post_init__(self) -> None:
        if not isinstance(self.timing, bool):
            raise SceneError("timing is True or False", element="step adjustment", value=self.timing)
        check_all(self, "step adjustment")
        check.number(self.fastest, "fastest", "step adjustment", least=1.0)  # the plan is never slowed down

    def by_rule(self, pattern: Pattern) -> Settled:
        """All settings, those left open from the robot's size and gait."""
        gait, box = pattern.gait, pattern.biped.legs.sole_box
        room = max(gait.width - 0.5 * float((box[:, 3] - box[:, 2]).sum()), 0.0)
        rule: dict[str, Any] = {
            "longest": 0.44 * gait.com_height, "outward": 0.35 * gait.com_height, "inward": 0.75 * room,
            "first_chance": gait.single / 7.0, "last_chance": gait.single / 6.0, "speed": 2.0 * gait.com_height}
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        return Settled(**{name: rule[name] if value is None else value for name, value in given.items()})


class Settled(NamedTuple):
    """An `Adjustment` with nothing left open."""

    held: float
    longest: float
    outward: float
    inward: float
    first_chance: float
    last_chance: float
    speed: float
    timing: bool
    fastest: float
    hurry: float
    small: float


class StepAdjustment:
    """Shifts rows of a plan (see `balance`) by what the capture point's error asks for. One for each walk."""

    CHOICES = 16  # landing times that are compared

    def __init__(self, pattern: Pattern, chosen: Adjustment | None = None) -> None:
        self.pattern, self.chosen = pattern, (chosen or Adjustment()).by_rule(pattern)
        self.frequency = float(np.sqrt(pattern.gait.gravity / pattern.gait.com_height))
        box = pattern.biped.legs.sole_box[0]
        self.allowed = self.chosen.held * 0.5 * np.array([box[1] - box[0], box[3] - box[2]])
        self.feet = np.zeros((2, 2))  # by which each foot's places are shifted
        self.wanted = np.zeros(2)  # shift of the next landing, and of all that follows
        self.offset = np.zeros(2)  # of the capture point
        self.com = np.zeros(2)  # shift of the centre of mass
        self.rate = np.zeros(2)
        self.clock = 1.0  # seconds of the plan per second
        self.largest = 0.0
        self._awake = False  # until the first error that ankles do not hold

    def update(self, time: float, support: int, step: int, error: np.ndarray, dt: float) -> None:
        """Take in the capture point's error (2) against the shifted plan at a time of the plan; see `shift`."""
        gait, steps = self.pattern.gait, self.pattern.steps
        if not self._awake and (support == BOTH or not 0 <= step < len(steps) or self._held(step, error)):
            return  # nothing has happened yet
        self._awake = True
        self.clock = self.clock if support != BOTH else 1.0
        if 0 <= step < len(steps):
            landing = gait.start + step * (gait.single + gait.double) + gait.single  # step: number from 0
            if support != BOTH:
                self._swing(step, landing - time, error, dt)
            else:
                self._hand_over(step, time - landing)
        self.rate = self.frequency * (self.offset - self.com)
        self.com = self.com + dt * self.rate
        self.largest = max(self.largest, float(np.linalg.norm(self.wanted)))

    def _held(self, step: int, error: np.ndarray) -> bool:
        """Whether ankles hold an error (2) of the capture point."""
        yaw = self.pattern.steps[step].goal.yaw
        c, s, x, y = cos(yaw), sin(yaw), float(error[0]), float(error[1])
        return abs(c * x + s * y) <= self.allowed[0] and abs(c * y - s * x) <= self.allowed[1]

    def _swing(self, step: int, planned: float, error: np.ndarray, dt: float) -> None:
        """A single support that is planned to last so long yet."""
        chosen, gait, swing = self.chosen, self.pattern.gait, self.pattern.steps[step].side
        if planned >= gait.single - 1.5 * dt:
            self.clock = 1.0
        yaw = self.pattern.steps[step].goal.yaw
        c, s = np.cos(yaw), np.sin(yaw)
        turn = np.array([[c, s], [-s, c]])  # into the foot's heading
        excess = turn @ error
        excess -= np.clip(excess, -self.allowed, self.allowed)
        left = planned / self.clock
        if chosen.last_chance < left and planned < gait.single - chosen.first_chance and np.any(excess != 0.0):
            left, self.wanted = self.choose(step, planned, left, turn, turn.T @ excess)
            self.clock = planned / left
        gap, way = self.wanted - self.feet[swing], chosen.speed * dt
        move = gap * min(dt / max(left - 0.5 * chosen.last_chance, dt), 1.0)
        size = float(np.linalg.norm(move))
        self.feet[swing] += move if size <= way else move * (way / size)
        standing = self.feet[1 - swing]
        grown, plan = self._growth(step, planned, left)
        self.offset = standing + (self.wanted - standing) * self._handed(step) / grown + plan

    def choose(self, step: int, planned: float, left: float, turn: np.ndarray,
               excess: np.ndarray) -> tuple[float, np.ndarray]:
        """Seconds to the landing and shift (2) of its place for an error beyond the ankles (2).

        planned, left: seconds of the plan, and as things stand, until the landing. turn: into the foot's heading.
        """
        swing, chosen = self.pattern.steps[step].side, self.chosen
        standing = self.feet[1 - swing]
        soonest = min(max(planned / chosen.fastest, chosen.last_chance), left) if chosen.timing else left
        best, found = np.inf, (left, self.wanted)
        for time in np.linspace(left, soonest, self.CHOICES if soonest < left else 1):
            grown, plan = self._growth(step, planned, time)
            wish = standing + (self.offset + excess - standing - plan) * grown / self._handed(step)
            place = self._within_reach(step, swing, turn, wish)
            miss, way = wish - place, place - standing
            price = miss @ miss + (chosen.small ** 2) * (way @ way) + (chosen.hurry * (planned - time)) ** 2
            if price < best:
                best, found = price, (float(time), place)
        return found

    def _growth(self, step: int, planned: float, left: float) -> tuple[float, np.ndarray]:
        """e^(w T), and the last term of (3)."""
        row = min(round((self._landing(step)) / self.pattern.gait.sample), len(self.pattern.com) - 1)
        ahead = (self.pattern.com[row] + self.pattern.com_velocity[row] / self.frequency)[:2]
        grown = float(np.exp(self.frequency * left))
        w, way = self.frequency, ahead - self.pattern.line.zmp[row]
        return grown, way * (np.exp(-w * left) - np.exp(-w * planned))

    def _landing(self, step: int) -> float:
        gait = self.pattern.gait
        return gait.start + step * (gait.single + gait.double) + gait.single

    def _double(self, step: int) -> tuple[float, float]:
        """Duration of the double support after a step, and how much of the way to the new foot the ZMP goes in it."""
        last = step == len(self.pattern.steps) - 1
        return (self.pattern.gait.shift, 0.5) if last else (self.pattern.gait.double, 1.0)

    def _handed(self, step: int) -> float:
        """h of (2)."""
        duration, share = self._double(step)
        wd = self.frequency * duration
        return share * float(-np.expm1(-wd)) / wd

    def _hand_over(self, step: int, since: float) -> None:
        """Double support, so long since the landing: the capture point while the ZMP goes from foot to foot."""
        duration, share = self._double(step)
        swing = self.pattern.steps[step].side
        standing, w, rest = self.feet[1 - swing], self.frequency, max(duration - since, 0.0)
        gone = (duration - rest) / duration - float(np.expm1(-w * rest)) / (w * duration)
        self.offset = standing + share * gone * (self.feet[swing] - standing)

    def _within_reach(self, step: int, swing: int, turn: np.ndarray, wish: np.ndarray) -> np.ndarray:
        """The wished shift of a landing, cut to what the legs reach and the other foot leaves free."""
        goal = np.array(self.pattern.steps[step].goal[:2])
        others = [s for s in self.pattern.steps[:step] if s.side != swing]
        half = 0.5 * self.pattern.gait.width
        stance = np.array(others[-1].goal[:2]) if others else np.array([0.0, half if swing != LEFT else -half])
        planned = turn @ (goal - stance)
        shift = turn @ (wish - self.feet[1 - swing])  # against the standing foot
        shift[0] = np.clip(planned[0] + shift[0], -self.chosen.longest, self.chosen.longest) - planned[0]
        low, high = (-self.chosen.inward, self.chosen.outward) if swing == LEFT else \
            (-self.chosen.outward, self.chosen.inward)
        shift[1] = np.clip(shift[1], low, high)
        return np.asarray(self.feet[1 - swing] + turn.T @ shift)

    def shift(self, row: np.ndarray) -> np.ndarray:
        """A row of the plan, shifted."""
        moved = row.copy()
        moved[COM:COM + 2] += self.com
        moved[COM_VELOCITY:COM_VELOCITY + 2] += self.rate
        moved[ZMP:ZMP + 2] += row[SHARE] * self.feet[0] + (1.0 - row[SHARE]) * self.feet[1]
        for side in range(2):
            at = FEET + 6 * side
            moved[at:at + 2] += self.feet[side]
        return moved
