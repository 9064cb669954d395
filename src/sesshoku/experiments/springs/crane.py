"""Figs. 8.14 to 8.16: the virtual crane game's grip, scripted."""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.apps.crane import trials
from sesshoku.apps.crane.game import CHOSEN, TIME_STEP, Game
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.experiments.base import Check, Result
from sesshoku.recording.picture import draw

TITLE = "crane game: a box lifted by friction, a heart by its notch, a jerk that drops the box (Figs. 8.14-8.16)"
METHOD = "springs"
LIMIT = CHOSEN["springs"]["limit"]


def run(progress: Callable[[str], None]) -> Result:
    """Every trial with `springs` as the thesis has it, and one whole round."""
    progress("a box lifted and let go")
    lifted, slick = trials.lift_box(METHOD), trials.lift_box(METHOD, 0.0)
    progress("a heart hooked, and its hull")
    heart, hull = trials.hook_heart(METHOD), trials.hook_heart(METHOD, hull=True)
    progress("gentle and jerky motion")
    gentle, jerk = trials.jerk_box(METHOD, 0.6), trials.jerk_box(METHOD, 1.5)
    progress("a minute of lifting")
    minute = trials.endure(METHOD)
    progress("a round of the game")
    won, deepest, factor = a_round()
    longest = max(lifted.step_seconds, slick.step_seconds, minute.step_seconds)
    checks = [
        Check("(a) box lifted by 1 m rises", lifted.rise, 0.9, 0.0, "m", "at_least"),
        Check("(a) and slips", 1e3 * lifted.slip, 1.5, 0.0, "mm", "at_most"),
        Check("(b) without friction it rises", 1e3 * slick.rise, 0.1, 0.0, "mm", "at_most"),
        Check("(c) let go it falls", lifted.fallen, 0.9, 0.0, "m", "at_least"),
        Check("(d) weight over 2 µ' N", trials.MASS * trials.GRAVITY / gentle.bound, 0.5, 0.0, "", "at_most"),
        Check("(d) at 0.6 of the bound it sinks", gentle.drop, 0.114, 0.0, "m", "at_most"),
        Check("(d) at 1.5 of the bound it is dropped", jerk.drop, trials.BOX, 0.0, "m", "at_least"),
        Check("(e) heart without friction rises", heart.rise, 0.9, 0.0, "m", "at_least"),
        Check("(e) its convex hull rises", hull.rise, 0.0, 0.0, "m", "at_most"),
        Check("(f) deepest contact of a minute over w", minute.penetration / LIMIT, 1.05, 0.0, "", "at_most"),
        Check("(f) simulated without failing", minute.seconds, 60.0, 0.0, "s", "at_least"),
        Check("(f) the last box still rises", minute.highest, 0.9, 0.0, "m", "at_least"),
        Check("(g) longest step", longest, 1.0 / 15.0, 0.0, "s", "at_most"),
        Check("a round wins the red box", won, 10, 0, "points"),
        Check("deepest contact of the round over w", deepest / LIMIT, 1.05, 0.0, "", "at_most"),
        Check("real-time factor of the round", factor, 1.0, 0.0, "", "at_least"),
    ]
    rows = [("Fig. 8.14: a box, lifted and let go", lifted),
            ("Fig. 8.15: the heart, by its notch, without friction", heart),
            ("Fig. 8.16: too fast: the box slips and falls", jerk)]
    return Result(checks, lambda figure: paint(figure, rows), figure_size=(11.0, 8.4))


def a_round(method: str = METHOD, prize: str = "red_box") -> tuple[int, float, float]:
    """Points of a scripted round with one prize, deepest contact (m), and how much faster than real time it ran."""
    game, pilot, deepest, steps = Game(method), Pilot(prize), 0.0, 0
    game.sim.step(0)
    begin = wall.process_time()
    while pilot.stage != "done" and game.state.phase != "over":
        game.step(pilot.inputs(game))
        deepest, steps = max(deepest, game.sim.report.penetration), steps + 1
    spent = wall.process_time() - begin
    return game.state.score, deepest, steps * TIME_STEP / spent


def paint(figure: Any, rows: list[tuple[str, Any]]) -> None:
    """A strip of pictures for each trial, all of a strip in one scale."""
    count = max(len(trial.frames) for _, trial in rows)
    for r, (title, trial) in enumerate(rows):
        crab, prize = (np.array([poses[name][:3] for _, poses in trial.frames]) for name in ("crab", "prize"))
        apart = float(np.abs(crab - prize)[:, :2].max())  # m: of a prize that was thrown
        half = max(0.5 * (crab[:, 2].max() + 0.4), 0.5 * apart + 1.0 if apart > 1.0 else 0.0)
        for n, (time, poses) in enumerate(trial.frames):
            middle = np.append(0.5 * (crab + prize)[n, :2], half)
            axis = figure.add_subplot(len(rows), count, r * count + n + 1, projection="3d")
            draw(trial.scene, poses, axis, (middle - half, middle + half))
            axis.set_title(f"{title}\n{time:.2f} s" if n == 0 else f"\n{time:.2f} s", fontsize=8, loc="left")
