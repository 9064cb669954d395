"""`lcp:recommended` against MuJoCo on the same model, and how its cost grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import contact
from sesshoku.comparison.bench import Comparison

PRESET = "lcp:recommended"


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """A robot that stands, one that falls, a pile; boxes apart from each other; many contacts on one robot."""
    say("standing, falling, a pile ...")
    comparisons, details = contact.robots_and_pile(PRESET)
    say("separate boxes ...")
    details["separate boxes, us per box"] = contact.separate_boxes(PRESET)
    say("growth with the number of contacts on one robot ...")
    details["contacts on one tree"] = contact.contact_growth(PRESET)
    return comparisons, details
