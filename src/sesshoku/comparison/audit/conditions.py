"""What varies in an audit: `friction=0.3..1.0 mass=±10% push=0..40 delay=0..20ms dt=1ms,2ms`.

Values in a list make a grid: each is run with every seed. A range is drawn anew for every seed, alike under all laws,
so that laws are compared on the same runs. Names are those of `Batch` (friction, mass, inertia, gain, armature, gravity
...) and of the run: push (N s, for 0.1 s, in a direction and at a moment that the seed draws), delay (s, of commands),
dt (s).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, did_you_mean
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.scene import Scene
from sesshoku.simulation.batch.varied import start_state, varied_scene
from sesshoku.simulation.batch.vary import QUANTITIES, draw_all

PUSH_SECONDS = 0.1
OF_THE_RUN = ("push", "delay", "dt")
OF_THE_SCENE = tuple(name for name in QUANTITIES if name not in ("q", "v"))
NAMES = (*OF_THE_SCENE, *OF_THE_RUN)
SCALES = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "%": 1e-2, "N": 1.0, "Ns": 1.0, "kg": 1.0, "m": 1.0}
STARTS = ("joint_position", "joint_velocity", "position", "rotation", "velocity", "angular_velocity")


@dataclass(frozen=True)
class Condition:
    """One name: values of a grid, or a range (low, high). spread: it is plus or minus, drawn for each element."""

    name: str
    values: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    spread: bool = False

    @property
    def drawn(self) -> bool:
        return not self.values

    def draw(self, seed: int) -> float:
        """A number of the range that belongs to the seed; of a spread its size: elements draw their own."""
        if self.spread:
            return self.high
        key = [seed, zlib.crc32(self.name.encode())]
        return self.low + (self.high - self.low) * float(np.random.Generator(np.random.Philox(key=key)).random())

    def __str__(self) -> str:
        if self.values:
            return f"{self.name} {', '.join(f'{value:g}' for value in self.values)}"
        return f"{self.name} ±{self.high:g}" if self.spread else f"{self.name} {self.low:g} to {self.high:g}"


def read_conditions(said: Any) -> list[Condition]:
    """Conditions of texts "name=...", or of name -> list of values, (low, high), or a number for plus or minus."""
    found = [_from_value(name, value) for name, value in said.items()] if isinstance(said, Mapping) else \
        [_from_text(text) for text in ([said] if isinstance(said, str) else said or ())]
    names = [condition.name for condition in found]
    for name in names:
        if names.count(name) > 1:
            raise SceneError("said twice", element="over", value=name, remedy="say it once")
    return found


def _from_value(name: str, value: Any) -> Condition:
    if isinstance(value, str):
        return _from_text(f"{name}={value}")
    if isinstance(value, tuple) and len(value) == 2:
        return _checked(Condition(_name(name), (), float(value[0]), float(value[1])))
    if isinstance(value, Iterable):
        return _checked(Condition(_name(name), tuple(float(one) for one in value)))
    return _checked(Condition(_name(name), (), -float(value), float(value), True))


def _from_text(text: str) -> Condition:
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or not rest:
        raise SceneError("a condition reads name=value", element="--over", value=text,
                         remedy="such as friction=0.3..1.0, mass=±10%, push=0,20,40 or delay=0..20ms")
    _name(name)
    if rest.startswith(("±", "+-")):
        size = _number(rest.removeprefix("±").removeprefix("+-"), text)
        return _checked(Condition(name, (), -size, size, True))
    if ".." in rest:
        low, _, high = rest.partition("..")
        unit = re.sub(r"^[-+0-9.eE ]*", "", high)
        return _checked(Condition(name, (), _number(low if re.search(r"[^-+0-9.eE ]", low) else low + unit, text),
                                  _number(high, text)))
    parts = rest.split(",")
    unit = re.sub(r"^[-+0-9.eE ]*", "", parts[-1].strip())
    return _checked(Condition(name, tuple(
        _number(part if re.search(r"[^-+0-9.eE ]", part) else part + unit, text) for part in parts)))


def _name(name: str) -> str:
    if name not in NAMES:
        raise SceneError("nothing of that name varies", element="over", value=name,
                         remedy=did_you_mean(name, NAMES, also=f"there is {', '.join(NAMES)}"))
    return name


def _number(text: str, whole: str) -> float:
    found = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9]*)\s*", text)
    try:
        if found is None or found.group(2) not in SCALES:
            raise ValueError
        return float(found.group(1)) * SCALES[found.group(2)]
    except ValueError:
        raise SceneError("not a number with a unit", element="--over", value=whole,
                         remedy=f"units are {', '.join(unit for unit in SCALES if unit)}") from None


def _checked(condition: Condition) -> Condition:
    ends = condition.values or (condition.low, condition.high)
    if not condition.values and condition.low > condition.high:
        raise SceneError("the lower end is above the upper one", element=condition.name,
                         value=(condition.low, condition.high), remedy="swap them")
    if condition.spread and condition.name in OF_THE_RUN:
        raise SceneError("plus or minus is for what a scene has", element=condition.name,
                         remedy="give a range, such as push=0..40")
    if condition.name in OF_THE_RUN and (min(ends) < 0.0 or (condition.name == "dt" and min(ends) <= 0.0)):
        raise SceneError("must not be below zero" if condition.name != "dt" else "must be greater than zero",
                         element=condition.name, value=min(ends))
    return condition


def vary_scene(scene: Scene, conditions: Iterable[Condition], point: Mapping[str, float], seed: int) -> Scene:
    """A scene with the friction, masses ... of a run. A number is of all elements alike, a spread of each its own."""
    vary: dict[str, Any] = {}
    for condition in conditions:
        if condition.name in OF_THE_SCENE:
            value = point[condition.name]
            vary[condition.name] = value if condition.spread else \
                (value, value) if condition.name != "gravity" else np.array([value])
    if not vary:
        return scene
    compiled = compile_scene(scene)
    return varied_scene(compiled, draw_all(compiled, vary, 1, seed), 0)


def start_of(scene: Scene, conditions: Iterable[Condition], point: Mapping[str, float],
             seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Coordinates and velocities to start from, where conditions vary the start; else None."""
    vary = {c.name: point[c.name] if c.spread else (point[c.name], point[c.name]) for c in conditions
            if c.name in STARTS}
    if not vary:
        return None
    compiled = compile_scene(scene)
    q, v = start_state(compiled, draw_all(compiled, vary, 1, seed), 1)
    return q[0], v[0]


class Push:
    """A push on a body, horizontal, in a direction and at a moment that the seed draws; size in N s."""

    def __init__(self, body: str, size: float, duration: float, seed: int) -> None:
        drawn = np.random.Generator(np.random.Philox(key=[seed, zlib.crc32(b"push")])).random(2)
        angle = 2.0 * np.pi * drawn[0]
        self.body, self.begin = body, (0.2 + 0.4 * float(drawn[1])) * duration
        self.force = np.array([np.cos(angle), np.sin(angle), 0.0]) * size / PUSH_SECONDS
        self.size = size

    def __call__(self, sim: Any) -> None:
        if self.size and self.begin <= sim.time + 1e-12 < self.begin + PUSH_SECONDS:
            sim.apply_force(self.body, self.force)


class Delay:
    """Commands that reach the actuators later: call it after the controller, before the step."""

    def __init__(self, seconds: float, dt: float) -> None:
        self._steps = round(seconds / dt)
        self._waiting: list[np.ndarray] = []

    def __call__(self, sim: Any) -> None:
        if not self._steps:
            return
        if not self._waiting:
            self._waiting = [self._first.copy() for _ in range(self._steps)]
        self._waiting.append(sim.actuator_command.copy())
        sim.actuator_command[:] = self._waiting.pop(0)

    def begin(self, sim: Any) -> None:
        """What the actuators follow before the first command arrives, and what a controller finds there."""
        self._first, self._waiting = sim.actuator_command.copy(), []

    def undo(self, sim: Any) -> None:
        """Before the controller: it finds its own last commands, not those that are being followed."""
        if self._steps and self._waiting:
            sim.actuator_command[:] = self._waiting[-1]
