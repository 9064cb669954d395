"""What a browser may say: small JSON messages, each checked against a schema before anything acts on it.

A message that is too long, not JSON, of an unknown type, or with a field that is missing, unknown or out of range is
dropped and counted. Numbers are finite and bounded; names are looked up in lists the server made, never used as paths,
code or commands.
"""

from __future__ import annotations

import time as wall
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

LONGEST = 4096  # bytes of a message
RATE, BURST = 250.0, 500.0  # messages per second of one client, and how many may come at once

Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Point = tuple[Number, Number, Number]


class Message(BaseModel):
    """Base of all messages: unknown fields are refused, and nothing is converted from another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Play(Message):
    type: Literal["play"]


class Pause(Message):
    type: Literal["pause"]


class Step(Message):
    type: Literal["step"]
    count: Annotated[int, Field(ge=1, le=1000)] = 1


class Reset(Message):
    type: Literal["reset"]


class Speed(Message):
    """Simulated seconds per second."""

    type: Literal["speed"]
    value: Annotated[float, Field(allow_inf_nan=False, ge=0.001, le=10.0, strict=False)]


class ChooseMethod(Message):
    type: Literal["method"]
    name: Annotated[str, Field(max_length=64)]


class ChangeMaterial(Message):
    """One number of a material, by its place in the list the page was given."""

    type: Literal["material"]
    material: Annotated[int, Field(ge=0, le=10_000)]
    field: Literal["static_friction", "kinetic_friction", "restitution", "stiffness", "damping"]
    value: Annotated[float, Field(allow_inf_nan=False, ge=0.0, le=1e12, strict=False)]


class Drag(Message):
    """Pull a body (by number) at a point of its own frame towards a point of the world."""

    type: Literal["drag"]
    body: Annotated[int, Field(ge=0, le=1_000_000)]
    point: Annotated[Point, Field(strict=False)]
    target: Annotated[Point, Field(strict=False)]


class Release(Message):
    type: Literal["release"]


class Drawn(Message):
    """A frame has been drawn: the next ones may come."""

    type: Literal["drawn"]
    number: Annotated[float, Field(allow_inf_nan=False, ge=0.0, strict=False)]


BuiltIn = Play | Pause | Step | Reset | Speed | ChooseMethod | ChangeMaterial | Drag | Release | Drawn


class Reader:
    """Bytes or text -> a checked message, or None. extra: models of a page's own inputs, each with a literal `type`."""

    def __init__(self, extra: tuple[type[Message], ...] = ()) -> None:
        choice: Any = BuiltIn
        for model in extra:
            choice = choice | model
        self._adapter: TypeAdapter[Any] = TypeAdapter(Annotated[choice, Field(discriminator="type")])

    def read(self, text: str | bytes) -> Message | None:
        if len(text) > LONGEST:
            return None
        try:
            found: Message = self._adapter.validate_json(text)
            return found
        except (ValidationError, ValueError, RecursionError):
            return None


class Allowance:
    """A bucket of messages that refills with time: `take()` says whether one more may pass."""

    def __init__(self, rate: float = RATE, burst: float = BURST) -> None:
        self.rate, self.burst, self._left, self._last = rate, burst, burst, wall.monotonic()

    def take(self) -> bool:
        now = wall.monotonic()
        self._left = min(self.burst, self._left + (now - self._last) * self.rate)
        self._last = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
