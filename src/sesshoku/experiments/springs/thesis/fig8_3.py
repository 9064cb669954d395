"""Fig. 8.3: initial speed and kinetic friction, 19.6 m/s."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.sliding import one_speed

TITLE = "a block thrown at 19.6 m/s slides to rest, dt 1/50 s (Fig. 8.3)"


def run(progress: Callable[[str], None]) -> Result:
    return one_speed(19.6, progress)
