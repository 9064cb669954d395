"""Parameters of a gait, and its timeline: feet, ZMP reference and load share at every sample.

    hold, ZMP shift | single support, double support | ... | single support | ZMP shift to the middle, hold
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sesshoku.control.walking import swing
from sesshoku.control.walking.footsteps import LEFT, RIGHT, Footstep, Place
from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked

BOTH = 2  # support: LEFT, RIGHT or BOTH


@checked
@dataclass(frozen=True)
class Gait:
    """Lengths in m, times in s.

    com_height: of the centre of mass above the ground, constant. zmp_ahead: the ZMP's place on a sole, ahead of the
    ankle. width: distance of the feet. single, double: duration of the supports. start: standing before the first step,
    the last `shift` of it moving the ZMP under the first foot; finish: the same at the end. preview: how far the
    controller looks ahead; jerk_cost: R of `preview.preview_gains`. sample, preview_sample: grids of pattern and
    controller.
    """

    com_height: float
    width: float
    zmp_ahead: float = 0.0
    single: float = 0.70
    double: float = 0.15
    start: float = 2.0
    shift: float = 0.8
    finish: float = 2.0
    swing_height: float = 0.05
    preview: float = 1.6
    jerk_cost: float = 1e-6
    sample: float = 1e-3
    preview_sample: float = 5e-3
    gravity: float = 9.8

    def __post_init__(self) -> None:
        for item in fields(self):
            least = -np.inf if item.name == "zmp_ahead" else 0.0
            check.number(getattr(self, item.name), item.name, "gait", above=least)
        if not self.shift < min(self.start, self.finish):
            raise SceneError("the ZMP's shift must end within start and finish", element="gait",
                             value=(self.shift, self.start, self.finish), remedy="give start and finish more time")

    @classmethod
    def by_rule(cls, com_height: float, width: float, *, gravity: float = 9.8, **changes: float) -> Gait:
        """A gait from the height alone, in units of the pendulum's time sqrt(z / g)."""
        time = float(np.sqrt(check.number(com_height, "com_height", "gait", above=0.0)
                             / check.number(gravity, "gravity", "gait", above=0.0)))
        usual = {"single": 2.6 * time, "double": 0.55 * time, "start": 7.4 * time, "shift": 3.0 * time,
                 "finish": 7.4 * time, "swing_height": 0.06 * com_height, "preview": 6.0 * time,
                 "jerk_cost": 1e-3 * (com_height / gravity) ** 3}
        rounded = {name: value if name in ("swing_height", "jerk_cost") else round(value / 5e-3) * 5e-3
                   for name, value in usual.items()}
        return cls(**{"com_height": com_height, "width": width, "gravity": gravity, **rounded, **changes})

    def duration(self, steps: int) -> float:
        """Seconds from start to end of a walk of so many steps."""
        if steps == 0:
            return self.start + self.finish
        return self.start + steps * (self.single + self.double) - self.double + self.finish


@dataclass(frozen=True)
class Timeline:
    """Tables over n samples.

    zmp (n, 2): reference. share (n): of the load on the left foot. support (n): LEFT, RIGHT or BOTH. step (n): number
    of the present or last step, -1 before the first. feet (n, 2, 6): x, y, z, roll, pitch, yaw of the sole points.
    base (n, 3): roll, pitch, yaw of the base.
    """

    time: np.ndarray
    zmp: np.ndarray
    share: np.ndarray
    support: np.ndarray
    step: np.ndarray
    feet: np.ndarray
    base: np.ndarray


def timeline(steps: Sequence[Footstep], gait: Gait) -> Timeline:
    """What feet, ZMP and load do over the whole walk."""
    count = round(gait.duration(len(steps)) / gait.sample) + 1
    t = np.arange(count) * gait.sample
    feet, base = np.zeros((count, 2, 6)), np.zeros((count, 3))
    support, step_of = np.full(count, BOTH), np.full(count, -1)
    at = [Place(0.0, 0.5 * gait.width, 0.0), Place(0.0, -0.5 * gait.width, 0.0)]
    for side in (LEFT, RIGHT):
        _put(feet[:, side], at[side])
    middle = 0.5 * (_zmp_point(at[LEFT], gait) + _zmp_point(at[RIGHT], gait))
    knots = [(0.0, middle, 0.5)]  # time, ZMP, share of the left foot
    if steps:
        knots.append((gait.start - gait.shift, middle, 0.5))
    begin = gait.start
    for n, step in enumerate(steps):
        end, standing = begin + gait.single, 1 - step.side
        place, share = _zmp_point(at[standing], gait), 1.0 if standing == LEFT else 0.0
        knots += [(begin, place, share), (end, place, share)]
        swings, after = (t >= begin - 1e-9) & (t < end - 1e-9), t >= end - 1e-9
        phase = (t[swings] - begin) / gait.single
        moved = swing.along(phase, np.array(step.start), np.array(step.goal))
        for column, values in zip((0, 1, 5), moved.T):
            feet[swings, step.side, column] = values
        feet[swings, step.side, 2] = swing.height(phase, gait.swing_height)
        _put(feet[:, step.side], step.goal, after)
        base[swings, 2] = step.yaw_before + (step.yaw_after - step.yaw_before) * swing.smooth(phase)
        base[after, 2] = step.yaw_after
        support[swings], step_of[t >= begin - 1e-9] = standing, n
        at[step.side], begin = step.goal, end + gait.double
    if steps:
        middle = 0.5 * (_zmp_point(at[LEFT], gait) + _zmp_point(at[RIGHT], gait))
        knots.append((begin - gait.double + gait.shift, middle, 0.5))
    times, places, shares = (np.array(column) for column in zip(*knots))
    zmp = np.stack([np.interp(t, times, places[:, axis]) for axis in range(2)], axis=1)
    share = np.where(support == BOTH, np.interp(t, times, shares), support == LEFT)  # exact in single support
    return Timeline(t, zmp, share, support, step_of, feet, base)


def _put(table: np.ndarray, place: Place, rows: np.ndarray | slice = slice(None)) -> None:
    for column, value in zip((0, 1, 5), place):
        table[rows, column] = value
    table[rows, 2] = 0.0


def _zmp_point(place: Place, gait: Gait) -> np.ndarray:
    """Where the ZMP belongs on a planted foot."""
    return np.array([place.x + np.cos(place.yaw) * gait.zmp_ahead, place.y + np.sin(place.yaw) * gait.zmp_ahead])
