"""The command `bench`: the time of a step, by stages and beside MuJoCo; `bench batch`: of many worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from sesshoku.cli.console import out, print_json
from sesshoku.cli.options import FixedBase, Json, TimeStep
from sesshoku.cli.reading import read
from sesshoku.errors import SceneError
from sesshoku.methods.registry import DEFAULT
from sesshoku.scene.scene import Scene

BATCH = Path("batch")
Worlds = Annotated[int, typer.Option(help="Worlds of `bench batch`.")]
Threads = Annotated[int | None, typer.Option(help="Threads of `bench batch`; default: all cores.")]
Steps = Annotated[int, typer.Option(help="Steps a call of `bench batch`.")]


def bench(
    file: Annotated[Path | None, typer.Argument(metavar="[batch] [FILE]",
                                                help="Default: the shipped large humanoid.")] = None,
    other: Annotated[Path | None, typer.Argument(hidden=True)] = None,
    method: Annotated[str, typer.Option(help="Contact method.")] = DEFAULT,
    dt: TimeStep = 1e-3,
    worlds: Worlds = 256,
    threads: Threads = None,
    steps: Steps = 10,
    fixed_base: FixedBase = False,
    json: Json = False,
) -> None:
    """Time a step of a scene, stage by stage, and against MuJoCo on the same model, in turns in this process.

    `bench batch` times many worlds of the scene side by side against as many simulations in a loop.

    Example: `sesshoku bench models/arm_gripper.xml --dt 0.002`
    """
    many = file == BATCH
    if other is not None and not many:
        raise SceneError("one file at a time", element="bench", value=str(other),
                         remedy="or `bench batch FILE` for many worlds")
    scene = _scene(other if many else file, fixed_base, ground=many)
    if many:
        _bench_batch(scene, method, dt, worlds, threads, steps, json)
    else:
        _bench_step(scene, method, dt, json)


def _scene(file: Path | None, fixed_base: bool, ground: bool) -> Scene:
    """The scene of a file; of none, the large humanoid, hanging free or on the ground."""
    from sesshoku import robots

    if file is not None or not ground:
        return read(file or Path(robots.path("humanoid_large.xml")), fixed_base)
    scene = Scene(name="large humanoid standing")
    scene.add_ground()
    scene.load(robots.path("humanoid_large.xml"), pose="stand")
    return scene


def _bench_step(scene: Scene, method: str, dt: float, json: bool) -> None:
    from sesshoku.comparison.bench import step_against_mujoco
    from sesshoku.simulation.simulation import Simulation

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
    out.print(_against(comparisons))


def _bench_batch(scene: Scene, method: str, dt: float, worlds: int, threads: int | None, steps: int,
                 json: bool) -> None:
    from sesshoku.comparison.bench import batch_against_simulations
    from sesshoku.simulation.batch import Batch

    if steps < 1:
        raise SceneError("steps must be 1 or more", element="bench batch", value=steps)
    size = Batch(scene, worlds, method, dt, threads=threads).bytes_per_world
    found = batch_against_simulations(scene, method, dt, worlds=worlds, threads=threads, steps=steps)
    rate = steps / found.ours
    if json:
        print_json({"against": [found.as_dict()], "world_steps_per_second": round(rate), "bytes_per_world": size})
        return
    out.print(_against([found], f"{scene.name}, {method}, dt {dt:g} s: {steps} steps of one world"))
    out.print(f"{rate:,.0f} steps of worlds a second, {size / 1024:.0f} KiB a world")


def _against(comparisons: list[Any], title: str = "against a peer") -> Table:
    table = Table(title=escape(title), title_justify="left")
    for column in ("what", "ours µs", "peer", "peer µs", "ratio"):
        table.add_column(column, justify="left" if column in ("what", "peer") else "right")
    for c in comparisons:
        table.add_row(c.name, f"{c.ours * 1e6:.2f}", c.peer_name, f"{c.peer * 1e6:.2f}", f"{c.ratio:.2f}")
    return table
