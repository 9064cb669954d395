"""What step adjustment buys: pushes of up to 60 N s on the chest, in four directions, under four controllers.

The large humanoid walks four steps with stabiliser; again with landings that are placed; with landings that are placed
and timed; and so that the controller knows by the robot's own ankle sensors and IMU only. The push (0.1 s long) comes
in the middle of the second single support, on the left foot: to the left is outward there, where only a crossing step
would help. With landings placed and timed also earlier and later in that support. The runs are spread over all
processor cores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku import control
from sesshoku.comparison.sweep import sweep
from sesshoku.compiled.jit import CACHE_DIRECTORY
from sesshoku.compiled.plain.sources import source_hash
from sesshoku.control.walking import footsteps
from sesshoku.errors import SesshokuError, SimulationDiverged, UnstableStep
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.experiments.walking import Walk
from sesshoku.simulation.simulation import Simulation

TITLE = "pushes on a walking humanoid: stabiliser, with placed, with placed and timed landings, by its own sensors"
PUSHES = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 60.0)
STEPS, LENGTH, SECONDS, PUSHED = 3, 0.2, 0.1, "chest"
STABILISER, PLACED, TIMED = "stabiliser", "landings placed", "landings placed and timed"
SENSED = f"{TIMED}, own sensors"
#: name -> step adjustment, whether the controller knows by sensors only
CONTROL: dict[str, tuple[bool | control.Adjustment, bool]] = {
    STABILISER: (False, False), PLACED: (control.Adjustment(timing=False), False), TIMED: (True, False),
    SENSED: (True, True)}
MOMENT = 0.4  # share of the single support after which the push begins
MOMENTS = (0.0, 0.25, 0.5, 0.7, 0.85)  # others, for TIMED
DIRECTIONS = {"ahead": (1.0, 0.0), "back": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}


@dataclass(frozen=True)
class Case:
    """One walk of the map; push in N s along a direction of the world, at a moment of the single support."""

    method: str
    friction: float
    push: float
    direction: str
    control: str
    moment: float = MOMENT


@cache
def plan(friction: float) -> Walk:
    """The walk on ground of a friction; every process plans it once."""
    return Walk.plan("large", footsteps.forward(STEPS, LENGTH), friction=friction)


def fall(case: Case) -> float | None:
    """When the robot fell, s; None: it stands when the walk is over."""
    walk = plan(case.friction)
    gait = walk.pattern.gait
    begin = gait.start + gait.single + gait.double + case.moment * gait.single
    force = np.array([*DIRECTIONS[case.direction], 0.0]) * case.push / SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableStep)
        sim = Simulation(walk.scene, case.method)
    adjust, sensors = CONTROL[case.control]
    walker = control.Walker(walk.pattern, True, adjust=adjust, sensors=sensors)
    walker.place(sim)
    for _ in range(round(walk.pattern.duration / sim.dt)):
        walker(sim)
        if walker.fallen_at is not None:
            return walker.fallen_at[0]
        if case.push > 0.0 and begin <= sim.time < begin + SECONDS - 0.5 * sim.dt:
            sim.apply_force(PUSHED, force)
        try:
            sim.step()
        except SimulationDiverged:
            return sim.time
    return None


def fall_of(method: str, friction: float, push: float, direction: str, control: str,
            moment: float) -> dict[str, float | None]:
    """A run of the sweep."""
    return {"fell_at": fall(Case(method, friction, push, direction, control, moment))}


def falls(cases: Sequence[Case], progress: Callable[[str], None], workers: int | None,
          keep: str) -> dict[Case, float | None]:
    """When each walk fell. What was computed is kept under a name, until the package's code changes."""
    path = Path(CACHE_DIRECTORY) / "runs" / f"{keep}-{source_hash('')}.jsonl"
    study = sweep(fall_of, [asdict(case) for case in cases], workers=workers, path=path, progress=progress)
    for row in study.failed:
        raise SesshokuError(f"{keep}: {row['method']}, friction {row['friction']:g}, {row['push']:g} N s: "
                            f"{row['error']}")
    return {case: row["fell_at"] for case, row in zip(cases, study, strict=True)}


def run(progress: Callable[[str], None], method: str = "exact", pushes: tuple[float, ...] = PUSHES,
        moments: tuple[float, ...] = MOMENTS, workers: int | None = None) -> Result:
    cases = [Case(method, 0.5, size, direction, how) for how in CONTROL for direction in DIRECTIONS for size in pushes]
    cases += [Case(method, 0.5, size, direction, TIMED, moment) for moment in moments for direction in DIRECTIONS
              for size in pushes]
    outcome = falls(cases, progress, workers, "pushes")
    rows, checks, grids = [], [], {}
    for how in CONTROL:
        grids[how] = np.array([[outcome[Case(method, 0.5, size, direction, how)] is None for size in pushes]
                               for direction in DIRECTIONS])
        for direction, stands in zip(DIRECTIONS, grids[how]):
            held = [size for size, stood in zip(pushes, stands) if stood]
            rows.append([how, direction, ", ".join(f"{size:g}" for size in held)])
            checks += [Check(f"{how}: upright after {size:g} N s, {direction}", float(size in held), 1.0, 0.0)
                       for size in pushes if size <= 10.0 or (how == TIMED and direction != "left" and size == 30.0)]
    checks.append(Check("falls that placing and timing of landings prevents",
                        float(grids[TIMED].sum() - grids[STABILISER].sum()), 0.0, 0.0, kind="report"))

    def held_at(moment: float, direction: str) -> str:
        """Pushes after which it stands, begun at a moment."""
        stood = [size for size in pushes if outcome[Case(method, 0.5, size, direction, TIMED, moment)] is None]
        return ", ".join(f"{size:g}" for size in stood)

    later = [[f"{moment:g}", *(held_at(moment, direction) for direction in DIRECTIONS)] for moment in moments]

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axis, (how, grid) in zip(axes, grids.items()):
            axis.imshow(grid.astype(float), vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
            axis.set_xticks(range(len(pushes)), [f"{size:g}" for size in pushes])
            axis.set_yticks(range(len(DIRECTIONS)), list(DIRECTIONS))
            axis.set_title(how)
            axis.grid(False)
        for axis in axes[-2:]:
            axis.set_xlabel("push [N s]; green: upright, red: falls")

    return Result(checks, draw, {"runs": len(outcome), "method": method}, figure_size=(9.0, 4.4),
                  tables=[Table("upright after pushes, N s", ["control", "direction", "upright at"], rows),
                          Table(f"{TIMED}: upright after pushes, N s, begun at a share of the single support",
                                ["share", *DIRECTIONS], later)])
