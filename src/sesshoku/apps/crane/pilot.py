"""A player made of rules: says which keys to hold so that a prize ends in the chute. For tests, demos and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.apps.crane.motion import Inputs, Limits
from sesshoku.apps.crane.robot import HIP_OPEN, KNEE_RANGE, toe_height
from sesshoku.apps.crane.scene import CHUTE_HIGH, CHUTE_LOW, LIMITS

GRIP_SECONDS, OPEN_SECONDS = 1.2, 1.2
NEAR = 0.02  # m: as near as keys that are held for whole steps can bring it
ABOVE = 0.05  # m above a prize's middle is where the toes take hold: it hangs, and does not tip
#: height of the crab at which toes that close on a prize in the middle of their range touch it, above its middle
HANG = toe_height(0.7 * HIP_OPEN, KNEE_RANGE[1])


def toward(here: float, speed: float, target: float, keys: tuple[str, str], acceleration: float,
           near: float) -> list[str]:
    """The key to hold on one axis so that the crane stops at the target."""
    stop = here + speed * abs(speed) / (2.0 * acceleration)
    if abs(target - here) < near and abs(speed) < 0.1:
        return []
    if abs(target - stop) < 0.5 * near:
        return []
    return [keys[1] if target > stop else keys[0]]


class Pilot:
    """Picks one prize up and drops it into the chute."""

    def __init__(self, prize: str, limits: Limits = LIMITS, near: float = NEAR) -> None:
        self.prize, self.limits, self.near = prize, limits, near
        self.stage, self.since = "over it", 0.0

    def inputs(self, game: Any) -> Inputs:
        """What to hold down in the coming step of a `Game`."""
        path = game.path
        return Inputs.of_keys(self.keys(path.position, path.velocity, game.sim.bodies[self.prize].position,
                                        game.sim.dt))

    def keys(self, crane: Any, velocity: Any, prize: Any, dt: float) -> set[str]:
        """The keys to hold for the coming dt seconds: crane and prize where they are now, m, and m/s."""
        low, high = (np.asarray(side) for side in self.limits.room)
        carry = high[2]
        chute = 0.5 * (np.array(CHUTE_LOW) + CHUTE_HIGH)
        grip = max(low[2], prize[2] + ABOVE + HANG)
        match self.stage:
            case "over it":
                return self._go(crane, velocity, (prize[0], prize[1], carry), set(), "down")
            case "down":
                return self._go(crane, velocity, (prize[0], prize[1], grip), set(), "grip")
            case "grip":
                return self._wait(GRIP_SECONDS, {"grab"}, "lift", dt)
            case "lift":
                return self._go(crane, velocity, (crane[0], crane[1], carry), {"grab"}, "carry")
            case "carry":
                return self._go(crane, velocity, (chute[0], chute[1], carry), {"grab"}, "drop")
            case "drop":
                return self._wait(OPEN_SECONDS, set(), "done", dt)
        return set()

    def _go(self, crane: Any, velocity: Any, target: Any, held: set[str], after: str) -> set[str]:
        target = np.clip(target, *(np.asarray(side) for side in self.limits.room))
        if np.abs(target - crane).max() < self.near and np.abs(velocity).max() < 0.05:
            self.stage, self.since = after, 0.0
        names = (("left", "right"), ("back", "forward"), ("down", "up"))
        keys = set(held)
        for k in range(3):
            keys |= set(toward(crane[k], velocity[k], float(target[k]), names[k],
                               self.limits.acceleration / np.sqrt(3.0), self.near))
        return keys

    def _wait(self, seconds: float, held: set[str], after: str, dt: float) -> set[str]:
        self.since += dt
        if self.since >= seconds:
            self.stage, self.since = after, 0.0
        return held
