"""Fig. 8.5: step size and kinetic friction."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.sliding import step_sizes

TITLE = "a block thrown at 19.6 m/s at dt 1/50, 1/100, 1/200 s (Fig. 8.5)"


def run(progress: Callable[[str], None]) -> Result:
    return step_sizes(progress)
