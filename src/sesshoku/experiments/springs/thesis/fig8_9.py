"""Fig. 8.9: joint angles."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.pendulum import one_run

TITLE = "double pendulum against the Lagrange equations, w 0.2 m, dt 0.02 s (Fig. 8.9)"


def run(progress: Callable[[str], None]) -> Result:
    return one_run(0.02, 0.2, progress)
