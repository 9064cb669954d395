"""How robust a walk is under every method: friction from 0.05 to 1.0 times pushes of 0 to 60 N s, a success map each.

The large humanoid walks four steps with stabiliser, landings placed and timed; the push (0.1 s long, on the chest,
ahead) comes in the middle of the second single support. Every run is a process' work; all cores are used, and what was
computed is kept, so that an interrupted map goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.exact.pushes import TIMED, Case, falls
from sesshoku.methods.registry import keywords

TITLE = "a walk on slippery ground and under pushes: success maps of every method"
FRICTION = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
PUSHES = (0.0, 10.0, 20.0, 30.0, 45.0, 60.0)
DIRECTION = "ahead"
ACROSS = 4  # maps in a row of the figure


def run(progress: Callable[[str], None], methods: tuple[str, ...] | None = None,
        friction: tuple[float, ...] = FRICTION, pushes: tuple[float, ...] = PUSHES,
        workers: int | None = None) -> Result:
    chosen = methods or tuple(keyword for keyword in keywords() if keyword != "none")
    cases = [Case(method, mu, size, DIRECTION, TIMED) for method in chosen for mu in friction for size in pushes]
    outcome = falls(cases, progress, workers, "robustness")
    rows, checks, maps = [], [], {}
    for method in chosen:
        fell = np.array([[np.nan if (when := outcome[Case(method, mu, size, DIRECTION, TIMED)]) is None else when
                          for size in pushes] for mu in friction])
        maps[method] = fell
        for mu, line in zip(friction, fell):
            stands = [f"{size:g}" for size, when in zip(pushes, line) if np.isnan(when)]
            rows.append([method, mu, ", ".join(stands) or "none", "; ".join(
                f"{size:g} at {when:.1f} s" for size, when in zip(pushes, line) if not np.isnan(when))])
        checks.append(Check(f"{method}: upright, share of the map", float(np.isnan(fell).mean()), 0.0, 0.0,
                            kind="report"))
        if method == "exact":
            checks += [Check(f"{method}: upright at friction {mu:g} after {size:g} N s",
                             float(np.isnan(fell[i, j])), 1.0, 0.0)
                       for i, mu in enumerate(friction) for j, size in enumerate(pushes) if mu >= 0.1 and size <= 10.0]

    def draw(figure: Any) -> None:
        down = -(-len(chosen) // ACROSS)
        axes = figure.subplots(down, min(ACROSS, len(chosen)), squeeze=False, sharex=True, sharey=True)
        for axis in axes.flat[len(chosen):]:
            axis.set_visible(False)
        for axis, (method, fell) in zip(axes.flat, maps.items()):
            axis.imshow(np.isnan(fell).astype(float), vmin=0, vmax=1, cmap="RdYlGn", aspect="auto", origin="lower")
            axis.set_title(method)
            axis.grid(False)
            axis.set_xticks(range(len(pushes)), [f"{size:g}" for size in pushes])
            axis.set_yticks(range(len(friction)), [f"{mu:g}" for mu in friction])
        for column in range(axes.shape[1]):
            lowest = axes[(len(chosen) - 1 - column) // axes.shape[1], column]
            lowest.set_xlabel("push ahead [N s]; green: upright")
            lowest.tick_params(labelbottom=True)
        for line in axes:
            line[0].set_ylabel("friction")

    return Result(checks, draw, {"runs": len(outcome), "green": "upright at the end", "red": "fell"},
                  figure_size=(11.0, 2.6 * -(-len(chosen) // ACROSS)),
                  tables=[Table("walks that end upright", ["method", "friction", "upright after, N s", "falls"], rows)])
