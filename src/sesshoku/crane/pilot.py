"""A player made of rules: says which keys to hold so that a prize ends in the chute. For tests, demos and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.crane.motion import Inputs, Limits
from sesshoku.crane.robot import HIP_OPEN, KNEE_RANGE, toe_height
from sesshoku.crane.scene import CHUTE_HIGH, CHUTE_LOW, LIMITS

GRIP_SECONDS, OPEN_SECONDS = 1.2, 1.2
NEAR = 0.02  # m: as near as keys that are held for whole steps can bring it
ABOVE = 0.05  # m above a prize's middle is where the toes take hold: it hangs, and does not tip
#: height of the crab at which toes that close on a prize in the middle of their range touch it, above its middle
HANG = toe_height(0.7 * HIP_OPEN, KNEE_RANGE[1])


def toward(here: float, speed: float, target: float, keys: tuple[str, str], acceleration: float) -> list[str]:
    """The key to hold on one axis so that the crane stops at the target."""
    stop = here + speed * abs(speed) / (2.0 * acceleration)
    if abs(target - here) < NEAR and abs(speed) < 0.1:
        return []
    if abs(target - stop) < 0.5 * NEAR:
        return []
    return [keys[1] if target > stop else keys[0]]


class Pilot:
    """Picks one prize up and drops it into the chute."""

    def __init__(self, prize: str, limits: Limits = LIMITS) -> None:
        self.prize, self.limits = prize, limits
        self.stage, self.since = "over it", 0.0

    def keys(self, game: Any) -> set[str]:
        """What to hold down in the coming step."""
        path = game.path
        position = game.sim.bodies[self.prize].position
        low, high = (np.asarray(side) for side in self.limits.room)
        carry = high[2]
        chute = 0.5 * (np.array(CHUTE_LOW) + CHUTE_HIGH)
        if self.stage == "over it":
            return self._go(path, (position[0], position[1], carry), set(), "down", game.dt)
        if self.stage == "down":
            grip = max(low[2], position[2] + ABOVE + HANG)
            return self._go(path, (position[0], position[1], grip), set(), "grip", game.dt)
        if self.stage == "grip":
            return self._wait(GRIP_SECONDS, {"grab"}, "lift", game.dt)
        if self.stage == "lift":
            return self._go(path, (path.position[0], path.position[1], carry), {"grab"}, "carry", game.dt)
        if self.stage == "carry":
            return self._go(path, (chute[0], chute[1], carry), {"grab"}, "drop", game.dt)
        if self.stage == "drop":
            return self._wait(OPEN_SECONDS, set(), "done", game.dt)
        return set()

    def inputs(self, game: Any) -> Inputs:
        return Inputs.of_keys(self.keys(game))

    def _go(self, path: Any, target: Any, held: set[str], after: str, dt: float) -> set[str]:
        target = np.clip(target, *(np.asarray(side) for side in self.limits.room))
        if np.abs(target - path.position).max() < NEAR and np.abs(path.velocity).max() < 0.03:
            self.stage, self.since = after, 0.0
        names = (("left", "right"), ("back", "forward"), ("down", "up"))
        keys = set(held)
        for k in range(3):
            keys |= set(toward(path.position[k], path.velocity[k], float(target[k]), names[k],
                               self.limits.acceleration / np.sqrt(3.0)))
        return keys

    def _wait(self, seconds: float, held: set[str], after: str, dt: float) -> set[str]:
        self.since += dt
        if self.since >= seconds:
            self.stage, self.since = after, 0.0
        return held
