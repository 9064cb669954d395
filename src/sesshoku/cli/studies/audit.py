"""The commands `audit` and `check`: does a result depend on the simulator?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sesshoku.cli.console import out, print_json, print_written
from sesshoku.cli.options import FileTimeStep, FixedBase, Json, Pose
from sesshoku.errors import SceneError


def audit(
    controller: Annotated[str, typer.Argument(metavar="CONTROLLER", help=(
        "`module:function` (a function of the simulation), a policy (`policy.toml`, or `policy.onnx` with its "
        "`policy.toml` beside it), or a walk: `walk`, `walk/large`, `walk/sensed` ..."))],
    more: Annotated[list[str] | None, typer.Argument(metavar="[CONDITION]...", help="More conditions.")] = None,
    robot: Annotated[Path | None, typer.Option(help="A scene (.toml) or a robot (.urdf, .xml). Default: the "
                                                    "controller's own scene.")] = None,
    law: Annotated[list[str] | None, typer.Option("--law", "-m", help=(
        "A contact method, a preset, or `mujoco`; may be repeated. Default: all as recommended, and MuJoCo."))] = None,
    over: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUES", help=(
        "What varies: `friction=0.3..1.0`, `mass=±10%`, `push=0,20,40` (N s), `delay=0..20ms`, `dt=1ms,2ms`. Lists are "
        "a grid, ranges are drawn for every seed."))] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each law and point of the grid.")] = 20,
    time: Annotated[float | None, typer.Option("--time", "-t", help="Seconds of a run. Default: the controller's, "
                                                                    "else 5.")] = None,
    dt: FileTimeStep = None,
    success: Annotated[str | None, typer.Option(metavar="RULE", help=(
        "`upright`, `finished`, or `module:function` (of the simulation at the end). Default: the controller's word, "
        "else upright."))] = None,
    ground: Annotated[bool, typer.Option("--ground", help="Add a ground to the robot's file.")] = False,
    push_body: Annotated[str | None, typer.Option(help="The body that is pushed. Default: the free base.")] = None,
    threshold: Annotated[float, typer.Option(help="Distance from which on two runs count as parted, m.")] = 0.01,
    workers: Annotated[int | None, typer.Option(min=0, help="Processes. Default: one a core.")] = None,
    path: Annotated[Path | None, typer.Option("--out", help="Keep the runs (.parquet, .jsonl); an audit that was "
                                                            "stopped goes on from there.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page.")] = None,
    fixed_base: FixedBase = False,
    pose: Pose = None,
    json: Json = False,
) -> None:
    """Run one controller or policy under every contact law and MuJoCo: does its success depend on the simulator?

    `sesshoku audit walk --over friction=0.1..0.6 push=0..20 --seeds 10 --html audit.html`

    `sesshoku audit balance:control --robot robot.xml --law exact --law mujoco --over mass=±10% delay=0..20ms`

    Exit code: 0 it does not (or it is open), 1 it depends on the law, 2 bad input.
    """
    from sesshoku.comparison.audit import audit as run_audit
    from sesshoku.comparison.page import page_path

    if html is not None:
        page_path(html)  # now, not after the runs
    result = run_audit(
        _walk(controller), robot=robot, laws=law, over=[*(over or []), *(more or [])], seeds=seeds, time=time, dt=dt,
        success=success, pose=pose, ground=ground, fixed_base=fixed_base, push_body=push_body, threshold=threshold,
        workers=workers, path=path, progress=not json)
    if html is not None:
        result.to_html(html)
    if json:
        print_json(result.as_dict())
    else:
        for table in result.tables():
            out.print(table)
        out.print(result.verdict, style="red" if result.depends else "green" if result.finding.decided else "yellow",
                  markup=False, highlight=False)
        for text in result.finding.because:
            out.print(f"- {text}", markup=False, highlight=False)
        print_written([html] if html is not None else [])
    if result.depends:
        raise typer.Exit(1)


def _walk(name: str) -> str:
    """A walk of the shipped humanoids by its short name."""
    if name.partition("/")[0] != "walk":
        return name
    from sesshoku.control.walking.audited import WALKS

    if name not in WALKS:
        raise SceneError("no such walk", element="controller", value=name, remedy=f"there is {', '.join(WALKS)}")
    return f"sesshoku.control.walking.audited:{WALKS[name]}"


def check(
    file: Annotated[Path, typer.Argument(metavar="MODEL", help="An MJCF model (.xml).")],
    time: Annotated[float, typer.Option("--time", "-t", help="Seconds to simulate.")] = 2.0,
    dt: FileTimeStep = None,
    law: Annotated[str, typer.Option("--law", "-m", help="The law beside MuJoCo's.")] = "exact",
    pose: Pose = None,
    json: Json = False,
) -> None:
    """Run a MuJoCo file in MuJoCo and under Coulomb's law: what creeps, sinks, slips or lifts off in MuJoCo alone?

    `sesshoku check scene.xml --time 5`

    Both start in the file's first keyframe (or `--pose`) with their commands held. Exit code: 0 nothing differs, 1
    something does, 2 bad input.
    """
    from sesshoku.comparison.audit import check_model
    from sesshoku.comparison.table import say

    result = check_model(file, time=time, pose=pose, dt=dt, law=law)
    if json:
        print_json(result.as_dict())
    else:
        out.print(result.table())
        for text in result.sentences():
            out.print(f"- {text}", markup=False, highlight=False)
        out.print(f"{'Only MuJoCo does this.' if result.differs else 'Nothing differs.'} Farthest apart at the end: "
                  f"{result.farthest or 'nothing'}, {say(result.apart, 'm')}.", markup=False, highlight=False)
        if result.stopped:
            out.print(result.stopped, style="yellow", markup=False, highlight=False)
    if result.differs:
        raise typer.Exit(1)
