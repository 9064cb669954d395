"""Table 8.1: which forces move the block."""

from __future__ import annotations

from collections.abc import Callable

from sesshoku.experiments.base import Result
from sesshoku.experiments.springs.static import table

TITLE = "static friction: which force moves the block, at four step sizes (Table 8.1)"


def run(progress: Callable[[str], None]) -> Result:
    return table(progress)
