"""Fig. 8.2: initial speed and kinetic friction, 9.8 m/s."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.sliding import one_speed

TITLE = "a block thrown at 9.8 m/s slides to rest, dt 1/50 s (Fig. 8.2)"


def run(progress: Callable[[str], None]) -> Result:
    return one_speed(9.8, progress)
