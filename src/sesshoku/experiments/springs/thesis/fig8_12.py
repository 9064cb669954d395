"""Fig. 8.12: joint angles."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.pendulum import one_run

TITLE = "double pendulum against the Lagrange equations, w 0.05 m, dt 0.01 s (Fig. 8.12)"


def run(progress: Callable[[str], None]) -> Result:
    return one_run(0.01, 0.05, progress)
