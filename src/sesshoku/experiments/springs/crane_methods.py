"""The crane game's trials under every method that carries them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from sesshoku.apps.crane import trials
from sesshoku.apps.crane.game import playable
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.springs.crane import a_round
from sesshoku.recording.plot import COLORS

TITLE = "crane game: the same trials under every method, dt 1/50 s"
#: slips at most (mm), sinks at 0.6 of the bound at most (m), heart is won, round is won. `multipoint` and `volume` as
#: their papers have them carry no grip at 1/50 s, which the table shows
HELD_TO = {"lcp": (140.0, 0.14, True, True), "lcp:recommended": (0.1, 0.001, True, True),
           "exact": (0.1, 0.003, True, True),
           "multipoint:recommended": (2.0, 0.001, True, True), "volume:recommended": (13.0, 0.08, False, False),
           "implicit": (3.0, 0.01, False, True), "implicit:recommended": (1.5, 0.001, False, True),
           "springs": (1.2, 0.114, True, True), "springs:recommended": (0.15, 0.006, True, True)}
COLUMNS = ["method", "box rises [m]", "slips [mm]", "frictionless rises [m]", "falls when let go [m]",
           "sinks at 0.6 of the bound [m]", "at 1.5 [m]", "heart rises [m]", "its hull rises [m]", "deepest [mm]",
           "a round [points]", "round's deepest [mm]", "times real time"]


def run(progress: Callable[[str], None]) -> Result:
    """Trials (a) to (e) and a round; a trial that fails is said to."""
    rows, refused = [], []
    for method, reasons in playable().items():
        if reasons:
            refused.append([method, "; ".join(reasons)])
            continue
        progress(method)
        rows.append([method, *row(method)])
    checks = [check for line in rows if line[0] in HELD_TO for check in grip_checks(line)]
    tables = [Table("trials", COLUMNS, rows)]
    if refused:
        tables.append(Table("refused", ["method", "why"], refused))
    return Result(checks, lambda figure: paint(figure, rows), {"columns": COLUMNS, "rows": rows}, tables=tables)


def grip_checks(line: list[Any]) -> list[Check]:
    """What a grip must do, of one method's row; a trial that failed does none of it."""
    method, rises, slips, slick, falls, gentle, jerk, heart, hull, _, points = line[:11]
    most_slip, most_sinking, wins_heart, wins = HELD_TO[method]
    wanted = [("box rises", rises, 0.9, "at_least", "m"), ("and slips", slips, most_slip, "at_most", "mm"),
              ("frictionless box rises", slick, 0.001, "at_most", "m"),
              ("falls when let go", falls, 0.9, "at_least", "m"),
              ("sinks at 0.6 of the bound", gentle, most_sinking, "at_most", "m"),
              ("sinks at 1.5 of the bound", jerk, 0.8, "at_least", "m"),
              ("hull of the heart rises", hull, -0.1, "at_most", "m")]
    wanted += [("heart rises", heart, 0.9, "at_least", "m")] if wins_heart else []
    wanted += [("a round", points, 10.0, "at_least", "points")] if wins else []
    return [Check(f"{method}: {name}", math.nan if found is None else found, bound, 0.0, unit, kind)
            for name, found, bound, kind, unit in wanted]


def row(method: str) -> list[Any]:
    """The numbers of one method; None where a trial failed."""
    lifted, _ = trials.tried(lambda: trials.lift_box(method))
    slick, _ = trials.tried(lambda: trials.lift_box(method, 0.0))
    jerks = [trials.tried(partial(trials.jerk_box, method, share))[0] for share in (0.6, 1.5)]
    hearts = [trials.tried(partial(trials.hook_heart, method, hull))[0] for hull in (False, True)]
    points, deepest, factor = a_round(method)

    def of(result: Any, name: str, scale: float = 1.0) -> float | None:
        return None if result is None else round(scale * float(getattr(result, name)), 3)

    return [of(lifted, "rise"), of(lifted, "slip", 1e3), of(slick, "rise"), of(lifted, "fallen"), of(jerks[0], "drop"),
            of(jerks[1], "drop"), of(hearts[0], "rise"), of(hearts[1], "rise"), of(lifted, "penetration", 1e3), points,
            round(1e3 * deepest, 2), round(factor, 1)]


def paint(figure: Any, rows: list[list[Any]]) -> None:
    """How high box and heart rise under each method."""
    axis = figure.add_subplot()
    for n, (label, column) in enumerate((("box", 1), ("box without friction", 3), ("heart without friction", 7),
                                         ("its hull", 8))):
        heights = [float("nan") if line[column] is None else line[column] for line in rows]
        axis.bar([k + 0.2 * (n - 1.5) for k in range(len(rows))], heights, width=0.2, label=label, color=COLORS[n])
    axis.axhline(1.0, color="0.6", lw=0.8)
    axis.set_ylim(-0.3, 1.5)  # what flies off or sinks through the floor goes beyond
    axis.set_xticks(range(len(rows)), [line[0] for line in rows], rotation=30, ha="right")
    axis.set_ylabel("rises by [m], the crane by 1 m")
    axis.legend(fontsize=8, ncols=4)
