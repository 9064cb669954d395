"""Checks of experiments that could hardly fail: what `sesshoku reproduce` wrote, measured value beside bound.

    sesshoku reproduce all --out out/reproduce && python -m tools.loose_checks out/reproduce

A bound more than three times as far as what was measured says little, and a number that is only reported says nothing.
Bounds at the level of rounding (below 1e-6 of a unit) and counts that must be exact are left out: they are met or not.
So are times, which a busy machine lengthens.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FACTOR = 3.0
ROUNDING = 1e-6
NEAR = 0.1
TIMED = ("time", "growth exponent", "longest step", "of a step")


def slack(check: dict[str, Any]) -> float | None:
    """How many times farther the bound is than what was measured; None: nothing to compare."""
    measured, expected, tolerance = check["measured"], check["expected"], check["tolerance"]
    if any(word in f"{check['name']} {check['unit']}" for word in TIMED):
        return None
    if check["kind"] == "report":
        return float("inf")
    if check["kind"] == "at_most":
        bound, found = expected + tolerance, measured
    elif check["kind"] == "at_least":
        bound, found = measured, expected - tolerance
    else:
        bound, found = tolerance, abs(measured - expected)
        if tolerance <= NEAR * abs(expected):  # near to something is not loose
            return None
    if abs(bound) <= ROUNDING or bound <= 0.0:
        return None
    return bound / found if found > 0.0 else float("inf")


def main(folder: Path) -> int:
    """Print every loose check of a folder; how many there are."""
    count = 0
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        for check in found.get("checks", []):
            ratio = slack(check)
            if ratio is None or ratio <= FACTOR:
                continue
            count += 1
            kind, unit = check["kind"], check["unit"]
            bound = "" if kind == "report" else f"{kind} {check['expected']:.4g} ± {check['tolerance']:.3g}"
            print(f"{found['name']:28s} {check['name'][:84]:84s} {check['measured']:10.4g} {bound} {unit}")
    return count


if __name__ == "__main__":
    print(f"{main(Path(sys.argv[1]))} checks with a bound beyond {FACTOR:g} times what was measured, or none")
