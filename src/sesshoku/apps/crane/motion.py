"""What a player holds down, and the crane's path: speed and acceleration are limited, and so is the room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from sesshoku.errors import SceneError

#: key name -> (axis, sign) of what it moves
KEYS = {"left": ("x", -1.0), "right": ("x", 1.0), "forward": ("y", 1.0), "back": ("y", -1.0), "up": ("z", 1.0),
        "down": ("z", -1.0), "turn_left": ("turn", 1.0), "turn_right": ("turn", -1.0)}
SWITCHES = ("grab", "hurry")
AXES = ("x", "y", "z", "turn")


@dataclass(frozen=True)
class Inputs:
    """What is held down in a step: x, y, z, turn from -1 to 1; grab: fingers closed; hurry: no gentle starts."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    turn: float = 0.0
    grab: bool = False
    hurry: bool = False

    def __post_init__(self) -> None:
        for axis in AXES:
            value = getattr(self, axis)
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if not number or not abs(float(value)) <= 1.0:
                raise SceneError("an input is a number from -1 to 1", element=f"input {axis!r}", value=value)
            object.__setattr__(self, axis, float(value))
        for switch in SWITCHES:
            object.__setattr__(self, switch, bool(getattr(self, switch)))

    @staticmethod
    def of_keys(held: Iterable[str]) -> Inputs:
        """Inputs from the names of the keys that are held down; opposite ones cancel."""
        sums = dict.fromkeys(AXES, 0.0)
        switches = dict.fromkeys(SWITCHES, False)
        for key in set(held):
            if key in SWITCHES:
                switches[key] = True
            elif key in KEYS:
                axis, sign = KEYS[key]
                sums[axis] += sign
            else:
                raise SceneError("no such key", element=f"key {key!r}", remedy=f"keys: {', '.join((*KEYS, *SWITCHES))}")
        return Inputs(sums["x"], sums["y"], sums["z"], sums["turn"], switches["grab"], switches["hurry"])

    def as_row(self) -> np.ndarray:
        """All inputs as numbers (6), in the order of the fields."""
        return np.array([float(getattr(self, item.name)) for item in fields(self)])

    @staticmethod
    def of_row(row: Any) -> Inputs:
        x, y, z, turn, grab, hurry = (float(value) for value in row)
        return Inputs(x, y, z, turn, grab > 0.5, hurry > 0.5)


@dataclass(frozen=True)
class Limits:
    """Of the crane's motion: m/s and m/s^2, and rad/s and rad/s^2 for its turn; the room (2, 3), m."""

    speed: tuple[float, float, float] = (1.5, 1.5, 1.0)
    acceleration: float = 3.0
    turn_speed: float = 1.0
    turn_acceleration: float = 2.0
    hurry: float = 8.0  # times the acceleration, and half of it times the speed: jerks no grip bears
    force: float = 30.0  # N
    room: Any = ((-np.inf,) * 3, (np.inf,) * 3)


@dataclass
class Path:
    """Where the crane is: a body's script. `aim` says what is wanted for the coming step."""

    position: Any
    limits: Limits
    angle: float = 0.0
    time: float = 0.0
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    turning: float = 0.0

    def __post_init__(self) -> None:
        self.position = np.array(self.position, dtype=np.float64)

    def __call__(self, time: float) -> tuple[np.ndarray, tuple[float, float, float, float]]:
        """Pose at a time of the coming step: straight on at the velocity it was aimed at."""
        after = time - self.time
        half = 0.5 * (self.angle + after * self.turning)
        return self.position + after * self.velocity, (float(np.cos(half)), 0.0, 0.0, float(np.sin(half)))

    def aim(self, inputs: Inputs, dt: float, load: Any = (0.0, 0.0, 0.0)) -> None:
        """Velocities of the coming step: towards what is wanted, no faster than the limits allow.

        load (3), N: what pushes on the crane from outside. Against more than `limits.force` it does not go on.
        """
        limits = self.limits
        haste = limits.hurry if inputs.hurry else 1.0
        fast = max(1.0, 0.25 * haste)
        wanted = fast * np.array(limits.speed) * (inputs.x, inputs.y, inputs.z)
        a = haste * limits.acceleration
        low, high = (np.asarray(side, dtype=np.float64) for side in limits.room)
        for k in range(3):  # in time before the room's end, at the gentle rate
            for end, sign in ((high[k], 1.0), (low[k], -1.0)):
                left = max(sign * (end - self.position[k]), 0.0)
                most = min(np.sqrt(2.0 * a * left), left / dt) if np.isfinite(left) else np.inf
                if sign * wanted[k] > most:
                    wanted[k] = sign * most
        push = float(np.linalg.norm(load))
        if push > limits.force:
            against = np.asarray(load) / push
            wanted = wanted - min(0.0, float(wanted @ against)) * against
            self.velocity = self.velocity - min(0.0, float(self.velocity @ against)) * against
        change = wanted - self.velocity
        size = float(np.linalg.norm(change))
        self.velocity = self.velocity + change * min(1.0, a * dt / size if size > 0.0 else 1.0)
        self.velocity = np.clip(self.velocity, np.minimum((low - self.position) / dt, 0.0),
                                np.maximum((high - self.position) / dt, 0.0))
        most_change = haste * limits.turn_acceleration * dt
        self.turning += float(np.clip(fast * limits.turn_speed * inputs.turn - self.turning, -most_change, most_change))

    def advance(self, dt: float) -> None:
        """The step is done: stand at its end."""
        self.position = self.position + dt * self.velocity
        self.angle += dt * self.turning
        self.time += dt
