"""The command `bench`: the time of a step, by stages and beside MuJoCo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sesshoku.cli.console import out, print_json
from sesshoku.cli.options import FixedBase, Json, TimeStep
from sesshoku.cli.reading import read
from sesshoku.methods.registry import DEFAULT


def bench(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: the shipped large humanoid.")] = None,
    method: Annotated[str, typer.Option(help="Contact method.")] = DEFAULT,
    dt: TimeStep = 1e-3,
    fixed_base: FixedBase = False,
    json: Json = False,
) -> None:
    """Time a step of a scene, stage by stage, and against MuJoCo on the same model, in turns in this process.

    Example: `sesshoku bench models/arm_gripper.xml --dt 0.002`
    """
    from sesshoku import robots
    from sesshoku.comparison.bench import step_against_mujoco
    from sesshoku.simulation.simulation import Simulation

    scene = read(file or Path(robots.path("humanoid_large.xml")), fixed_base)
    stages = Simulation(scene, method, dt).profile(2000)
    comparisons = step_against_mujoco(scene, method, dt)
    if json:
        print_json({"stages_us": {name: round(value * 1e6, 3) for name, value in stages.items()},
                    "against": [comparison.as_dict() for comparison in comparisons]})
        return
    table = Table(title=escape(f"{scene.name}, {method}, dt {dt:g} s"), title_justify="left")
    table.add_column("stage")
    table.add_column("µs", justify="right")
    for name, value in stages.items():
        table.add_row(name if name != "step" else "whole step inside step(n)", f"{value * 1e6:.2f}")
    out.print(table)
    against = Table(title="against a peer", title_justify="left")
    for column in ("what", "ours µs", "peer", "peer µs", "ratio"):
        against.add_column(column, justify="left" if column in ("what", "peer") else "right")
    for c in comparisons:
        against.add_row(c.name, f"{c.ours * 1e6:.2f}", c.peer_name, f"{c.peer * 1e6:.2f}", f"{c.ratio:.2f}")
    out.print(against)
