"""Fig. 8.6: the block under 3.92 N."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.static import traces

TITLE = "static friction: the block under 3.92 N at four step sizes (Fig. 8.6)"


def run(progress: Callable[[str], None]) -> Result:
    return traces(progress)
