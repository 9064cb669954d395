"""The runs of a comparison side by side, in sync, for the page that `compare` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesshoku.errors import SesshokuError
from sesshoku.scene.geometry.drawing import drawing
from sesshoku.view import bundle, frame, html
from sesshoku.view.playback import Run, describe

if TYPE_CHECKING:
    from sesshoku.comparison.outcome import Comparison

MOST_VIEWS = 16


def player_head() -> str:
    """Style and modules for the head of the page; empty where the extra `view` is not installed."""
    try:
        bundle.require()
    except SesshokuError:
        return ""
    return html.player_parts()


def side_by_side(comparison: Comparison, name: str) -> str:
    """A player with one view a method that ran; one time and one camera for all. Empty where there is nothing."""
    shown = [outcome for outcome in comparison.outcomes if outcome.ran and outcome.film][:MOST_VIEWS]
    if comparison.subject is None or not shown:
        return ""
    runs = []
    for outcome in shown:
        blocks = [frame.pack({"number": float(n), "time": time, "running": 1.0}, poses, look)
                  for n, (time, poses, look) in enumerate(outcome.film)]
        runs.append(Run(outcome.method, len(blocks), b"".join(blocks)))
    about = describe(runs, drawing(comparison.subject, shown[0].film[0][1]), "")
    rows = -(-len(runs) // 3)
    player = html.player(name, about, b"".join(run.frames for run in runs), height=f"{max(24, 13 * rows + 5)}rem")
    return f"<h3>Side by side</h3>{player}"
