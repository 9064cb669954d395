"""Walks of the shipped humanoids as controllers of an audit: `sesshoku audit walk`, `sesshoku audit walk/sensed` ..."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from sesshoku.control import humanoids
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.pattern import Pattern
from sesshoku.control.walking.pattern import walk as plan
from sesshoku.control.walking.walker import Walker

#: name on the command line -> class
WALKS = {"walk": "Small", "walk/small": "Small", "walk/large": "Large", "walk/stabiliser": "Stabilised",
         "walk/sensed": "Sensed", "walk/adjusted": "Adjusted"}


@cache
def _pattern(kind: str, steps: int, length: float) -> Pattern:
    """The plan of a walk, whose scene starts in its first posture; every process makes it once."""
    scene = humanoids.stage(kind)
    pattern = plan(humanoids.biped(scene), footsteps.forward(steps, length), humanoids.GAITS[kind])
    pattern.start_scene()
    return pattern


class AuditedWalk:
    """A walker that says whether it fell."""

    KIND, STEPS, LENGTH = "small", 4, 0.04
    OPTIONS: ClassVar[dict[str, Any]] = {}
    PEERS: tuple[str, ...] = ("mujoco",)
    push_body = "torso"

    def __init__(self) -> None:
        pattern = _pattern(self.KIND, self.STEPS, self.LENGTH)
        self._walker = Walker(pattern, **self.OPTIONS)
        self.scene, self.duration = pattern.biped.scene, pattern.duration

    def begin(self, sim: Any) -> None:
        self._walker.begin(sim)

    def __call__(self, sim: Any) -> None:
        self._walker(sim)

    def failed(self, sim: Any) -> str | None:
        """Whether it has fallen."""
        return None if self._walker.fallen_at is None else "fell"


class Small(AuditedWalk):
    """The small humanoid by its plan alone."""


class Large(AuditedWalk):
    """The large humanoid by its plan alone."""

    KIND, LENGTH = "large", 0.2
    push_body = "chest"


class Stabilised(Large):
    """With the stabiliser, which feels true contact forces: MuJoCo does not hand those in the form it reads."""

    OPTIONS: ClassVar[dict[str, Any]] = {"stabiliser": True}
    PEERS = ()


class Sensed(Large):
    """With the stabiliser, which feels by the robot's own force sensors and IMU, as on a real robot."""

    OPTIONS: ClassVar[dict[str, Any]] = {"stabiliser": True, "sensors": True}


class Adjusted(Large):
    """The same, with landings that are placed and timed after pushes."""

    OPTIONS: ClassVar[dict[str, Any]] = {"stabiliser": True, "sensors": True, "adjust": True}


__all__ = ["WALKS", "Adjusted", "AuditedWalk", "Large", "Sensed", "Small", "Stabilised"]
