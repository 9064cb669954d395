"""Foot-step planner: increments of a planar body frame -> where each foot is put.

The body frame (x, y, yaw) walks between the feet. One increment (dx, dy, turn), in the body frame of the moment, gives
one step: the swing foot is put half the foot distance beside the new body frame, and the feet alternate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check

LEFT, RIGHT = 0, 1
SIDES = ("left", "right")
LARGEST_TURN = np.deg2rad(20.0)  # per step: more than that and the toes meet


class Increment(NamedTuple):
    """How far the body frame moves with one step: m ahead, m to the left, rad to the left."""

    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0


class Place(NamedTuple):
    """A planted foot: its sole point (below the ankle) on the ground and where its toes point."""

    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class Footstep:
    """One step of one foot (LEFT or RIGHT), and the heading of the body before and after it."""

    side: int
    start: Place
    goal: Place
    yaw_before: float
    yaw_after: float


CLOSING = Increment()  # brings the feet together


def _count(steps: int) -> int:
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise SceneError("steps is how many, a whole number", element="footsteps", value=steps,
                         remedy="give 0, 1, 2 ...; `backward` steps back, a negative length or angle too")
    return int(steps)


def forward(steps: int, length: float) -> list[Increment]:
    """So many steps ahead, and the closing one."""
    return [Increment(forward=length)] * _count(steps) + [CLOSING]


def backward(steps: int, length: float) -> list[Increment]:
    return forward(steps, -length)


def sideways(steps: int, width: float) -> list[Increment]:
    """Pairs: the foot on the side of the motion goes, the other follows. To the right: plan with first="right"."""
    return [Increment(left=width), CLOSING] * _count(steps)


def turning(steps: int, angle: float, length: float = 0.0) -> list[Increment]:
    """A turn on the spot, or a bend where the length is not zero."""
    return [Increment(forward=length, turn=angle)] * _count(steps) + [CLOSING]


def in_place(steps: int) -> list[Increment]:
    return [CLOSING] * _count(steps)


def around() -> list[Increment]:
    """19 steps of the large humanoid: ahead, a left bend, backward, a right turn on the spot, ahead, close."""
    left, right = np.deg2rad(12.0), -np.deg2rad(15.0)
    return [Increment(0.10), *[Increment(0.20)] * 4, *[Increment(0.10, 0.0, left)] * 4, Increment(0.0, 0.0, left),
            Increment(-0.10), *[Increment(-0.15)] * 2, Increment(-0.10), *[Increment(0.0, 0.0, right)] * 2,
            *[Increment(0.10)] * 2, CLOSING]


def plan(increments: Iterable[Sequence[float]], width: float,
         first: Literal["left", "right"] = "left") -> list[Footstep]:
    """Footsteps from increments. width: distance of the feet (m); first: the foot that swings first.

    The body frame starts at the world's origin, feet beside it.
    """
    if first not in SIDES:
        raise SceneError("first is neither left nor right", element="foot-step plan", value=first)
    x = y = yaw = 0.0
    feet = [Place(0.0, 0.5 * width, 0.0), Place(0.0, -0.5 * width, 0.0)]
    steps, side = [], SIDES.index(first)
    for n, increment in enumerate(increments):
        ahead, left, turn = check.vector(increment, "increment", f"step {n + 1}")
        if abs(turn) > LARGEST_TURN + 1e-12:
            raise SceneError("the foot turns too far in one step", element=f"step {n + 1}", value=round(float(turn), 4),
                             remedy=f"turn at most {np.rad2deg(LARGEST_TURN):g} degrees per step")
        x, y = x + np.cos(yaw) * ahead - np.sin(yaw) * left, y + np.sin(yaw) * ahead + np.cos(yaw) * left
        beside = 0.5 * width if side == LEFT else -0.5 * width
        goal = Place(x - np.sin(yaw + turn) * beside, y + np.cos(yaw + turn) * beside, yaw + turn)
        steps.append(Footstep(side, feet[side], goal, yaw, yaw + turn))
        feet[side], yaw, side = goal, yaw + turn, 1 - side
    return steps


def refuse_overlaps(steps: Sequence[Footstep], soles: np.ndarray, width: float) -> None:
    """SceneError where a foot would be put onto the other. soles (2, 4): x from, to, y from, to about the point."""
    feet = [Place(0.0, 0.5 * width, 0.0), Place(0.0, -0.5 * width, 0.0)]
    for n, step in enumerate(steps):
        other = 1 - step.side
        if _overlap(_corners(step.goal, soles[step.side]), _corners(feet[other], soles[other])):
            raise SceneError(f"the {SIDES[step.side]} sole would stand on the {SIDES[other]} one",
                             element=f"step {n + 1}", remedy="turn less, or step wider")
        feet[step.side] = step.goal


def _corners(place: Place, sole: np.ndarray) -> np.ndarray:
    c, s = np.cos(place.yaw), np.sin(place.yaw)
    local = np.array([(x, y) for x in sole[:2] for y in sole[2:]])
    return local @ np.array([[c, s], [-s, c]]) + [place.x, place.y]


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two rectangles (4, 2) overlap: no side of either parts them."""
    for corners in (a, b):
        for axis in (corners[1] - corners[0], corners[2] - corners[0]):
            if (a @ axis).max() <= (b @ axis).min() or (b @ axis).max() <= (a @ axis).min():
                return False
    return True
