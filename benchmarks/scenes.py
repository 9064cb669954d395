"""What the demo's scenes come to under every method and under MuJoCo: the physics that README and docs quote."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sesshoku as ss
from sesshoku.comparison.bench import Comparison

EXAMPLES = Path(__file__).parent.parent / "examples"


def outcomes() -> dict[str, dict[str, float | str]]:
    """Question -> method -> the measure that answers it, with the closed form where there is one.

    Of the thrown crate also how far it lifts off.
    """
    sys.path.insert(0, str(EXAMPLES))
    from demo import CASES

    found: dict[str, dict[str, float | str]] = {}
    for case in CASES:
        scene = ss.Scene.read(EXAMPLES / f"{case.file}.toml")
        options: dict[str, Any] = {"time": scene.run["time"], "dt": scene.run["dt"]} | case.more
        result = ss.compare(scene, controller=case.controller(), peers=("mujoco",), expected=case.expected, **options)
        heading = case.heading.replace("\u00a0", " ")
        for key, name in ((case.key, heading), ("lift", f"{heading}: lift, m")):
            if key != case.key and key not in case.expected:
                continue
            row: dict[str, float | str] = {"closed form": float(case.expected[key][0])}
            for outcome in result.outcomes:
                row[outcome.method] = float(f"{outcome.measures[key]:.6g}") if outcome.ran else str(outcome.refused)
            found[name] = row
    return found


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """The demo's scenes under every method."""
    say("the demo's scenes under every method ...")
    return [], outcomes()
