"""Step adjustment: where the capture point runs away farther than ankles can hold, the foot is put elsewhere.

A push leaves an error e of the capture point. Feet bring back what soles can; the rest, x, grows to x e^(w T) until the
load goes over to the swing foot in T seconds, so that foot, and with it all of the plan that follows, is shifted by
that much. The shifted plan has a motion of its own that leads there: its capture point is offset by the shift times
e^(-w T) already now, and its centre of mass follows with c' = w (xi - c).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sesshoku.control.balance import COM, COM_VELOCITY, FEET, SHARE, ZMP
from sesshoku.control.footsteps import LEFT
from sesshoku.control.gait import BOTH
from sesshoku.control.pattern import Pattern
from sesshoku.scene import check


@dataclass(frozen=True)
class Adjustment:
    """held: share of half a sole's length and width within which ankles are left to do it alone.

    longest (m): of a step, along the foot's heading. outward, inward (m): the most a foot is put to its own side, or
    towards the other foot. first_chance, last_chance (s): after lifting and before landing, between which a goal is
    moved: the estimate goes over to the other foot at each landing. speed (m/s): the most the
    goal of a swing foot is moved with.
    """

    held: float = 0.4
    longest: float = 0.32
    outward: float = 0.15
    inward: float = 0.02
    first_chance: float = 0.10
    last_chance: float = 0.12
    speed: float = 1.5

    def __post_init__(self) -> None:
        for item in fields(self):
            check.number(getattr(self, item.name), item.name, "step adjustment", least=0.0)


class StepAdjustment:
    """Shifts rows of a plan (see `balance`) by what the capture point's error asks for. One for each walk."""

    def __init__(self, pattern: Pattern, chosen: Adjustment | None = None) -> None:
        self.pattern, self.chosen = pattern, chosen or Adjustment()
        self.frequency = float(np.sqrt(pattern.gait.gravity / pattern.gait.com_height))
        box = pattern.biped.legs.sole_box[0]
        self.allowed = self.chosen.held * 0.5 * np.array([box[1] - box[0], box[3] - box[2]])
        self.feet = np.zeros((2, 2))  # by which each foot's places are shifted
        self.wanted = np.zeros(2)  # shift of the next landing, and of all that follows
        self.com = np.zeros(2)  # shift of the centre of mass
        self.rate = np.zeros(2)
        self.largest = 0.0

    def update(self, time: float, support: int, step: int, error: np.ndarray, dt: float) -> None:
        """Take in the capture point's error (2) against the shifted plan at a time of the plan; see `shift`."""
        gait, w = self.pattern.gait, self.frequency
        landing = gait.start + step * (gait.single + gait.double) + gait.single  # step: number from 0
        handed_over = landing + 0.5 * gait.double
        if support != BOTH and 0 <= step < len(self.pattern.steps):
            swing = self.pattern.steps[step].side
            left = landing - time
            if self.chosen.last_chance < left < gait.single - self.chosen.first_chance:
                yaw = self.pattern.steps[step].goal.yaw
                c, s = np.cos(yaw), np.sin(yaw)
                turn = np.array([[c, s], [-s, c]])  # into the foot's heading
                excess = turn @ error
                excess -= np.clip(excess, -self.allowed, self.allowed)
                wish = self.wanted + turn.T @ (excess * np.exp(w * (handed_over - time)))
                self.wanted = self._within_reach(step, swing, turn, wish)
            gap, way = self.wanted - self.feet[swing], self.chosen.speed * dt
            share = dt / max(left - 0.5 * self.chosen.last_chance, dt)
            move = gap * min(share, 1.0)
            size = float(np.linalg.norm(move))
            self.feet[swing] += move if size <= way else move * (way / size)
            standing = self.feet[1 - swing]
            ahead = standing + (self.wanted - standing) * np.exp(-w * max(handed_over - time, 0.0))
        else:
            ahead = self.wanted
        self.rate = w * (ahead - self.com)
        self.com = self.com + dt * self.rate
        self.largest = max(self.largest, float(np.linalg.norm(self.wanted)))

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
