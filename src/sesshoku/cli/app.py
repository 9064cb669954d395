"""The command line: `sesshoku run | view | play | compare | reproduce | info | bench | prepare | cache`.

Exit codes: 0 done, 1 the run failed, 2 bad input.
"""

from __future__ import annotations

import json as json_module
import sys
import time as wall
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from sesshoku import methods
from sesshoku._version import __version__
from sesshoku.cli import cache as commands_cache
from sesshoku.cli import commands
from sesshoku.cli import play as commands_play
from sesshoku.cli import view as commands_view
from sesshoku.cli.commands import read
from sesshoku.errors import (
    MethodError,
    RecordingError,
    SceneError,
    SesshokuError,
    SimulationDiverged,
    UnsupportedFeature,
)
from sesshoku.methods.registry import make, resolve
from sesshoku.recording.channels import REPORT_UNITS
from sesshoku.scene.scene import Scene
from sesshoku.stages.report import CHANNELS

app = typer.Typer(
    name="sesshoku", no_args_is_help=True, add_completion=False, rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Simulate articulated rigid robots. Scenes are TOML files; URDF and MJCF robots are scenes of their own.\n\n"
    "Try: `sesshoku info robot.urdf`, then `sesshoku run robot.urdf --fixed-base --time 2 --plot run.png`, then "
    "`sesshoku compare examples/crate_thrown.toml` to see one scene under every contact law.",
)
out, err = Console(), Console(stderr=True)
DEFAULT_RATE = 100.0  # samples per second of a recording
# of the report: nothing to be worst at
NOT_WORST = ("energy_change", "rows", "iterations", "converged", "constraint_work", "applied_work", "fast_trees")

SceneFile = Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.toml) or a robot (.urdf, .xml).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
FixedBase = Annotated[bool, typer.Option("--fixed-base", help="Bolt the base of a robot to the world.")]
Pose = Annotated[str | None, typer.Option("--pose", metavar="NAME", help="Start a robot (.xml) in this keyframe.")]
Repair = Annotated[bool, typer.Option("--repair-inertia",
                                      help="Replace inertias no body can have by the nearest possible ones.")]


def main() -> None:
    """Entry point: known errors become one line on stderr and an exit code; anything else is a bug, with its trace."""
    try:
        app()
    except SimulationDiverged as error:
        complain("diverged", error)
        sys.exit(1)
    except SesshokuError as error:
        complain("error", error)
        sys.exit(2)


def complain(what: str, error: Exception) -> None:
    err.print(f"[red]{what}:[/]", end=" ")
    err.print(str(error), markup=False, highlight=False, soft_wrap=True)


def chosen_method(wishes: dict[str, Any], keyword: str | None, options: list[str]) -> Any:
    """A method from `--method` and `--option name=value`, and before them from the scene file's [run]."""
    wanted = wishes.get("method", methods.registry.DEFAULT)
    values: dict[str, Any] = {}
    if keyword in (None, wanted):  # options belong to the method they stand with
        values |= wishes.get("options", {})
        values |= {"integrator": wishes["integrator"]} if wishes.get("integrator") else {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise MethodError("an option reads name=value", element="--option", value=option)
        try:
            values[name] = json_module.loads(text)
        except json_module.JSONDecodeError:
            values[name] = text
    return make(keyword or wanted, values) if values else resolve(keyword or wanted)


@app.command()
def run(
    file: Annotated[Path | None, typer.Argument(metavar="FILE",
                                                help="A scene (.toml) or a robot (.urdf, .xml).")] = None,
    method: Annotated[str | None, typer.Option(
        help="Contact method: `exact` (default), `lcp` (as in its paper), `lcp:recommended`, `none` ...")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE",
                                                     help="An option of the method, e.g. `-o integrator=rk4`.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time step, s. Default: the file's, else 0.001.")] = None,
    time: Annotated[float | None, typer.Option("--time", "-t",
                                               help="Seconds to simulate. Default: the file's, else 5.")] = None,
    record: Annotated[Path | None, typer.Option(
        help="Write the recording: .npz at the end, or .ssk streamed as it runs.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of the recording. Default: 100.")] = None,
    plot: Annotated[Path | None, typer.Option(
        help="Draw coordinates, energy, contact forces and report into this picture (.png, .pdf, .svg).")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw a strip of frames of the scene into this picture.")] = None,
    certify: Annotated[bool, typer.Option(
        "--certify", help="Look at every step's residual, momentum and energy, and say whether all of the run kept the "
                          "contact law.")] = False,
    certify_tolerance: Annotated[float | None, typer.Option(
        metavar="M/S", help="Residual that a certified step may have. Default: 1e-8.")] = None,
    replay: Annotated[Path | None, typer.Option(
        metavar="DEMO", help="Play a demonstration of `sesshoku play --record-demos` again, in place of FILE, and say "
                             "whether it went the same way.")] = None,
    strict: Annotated[bool, typer.Option(
        "--strict", help="Refuse a scene of which the method would leave something out.")] = False,
    fixed_base: FixedBase = False,
    pose: Pose = None,
    repair_inertia: Repair = False,
    json: Json = False,
) -> None:
    """Simulate a scene and say what happened.

    Example: `sesshoku run examples/double_pendulum.toml -o integrator=rk4 --plot swing.png`

    `sesshoku run examples/crate_thrown.toml --method exact --certify` also says how well every step kept the law.

    What is not said here is taken from the scene file's `[run]` table. Exit code: 0 done, 1 diverged, 2 bad input,
    130 interrupted (with what was recorded so far written).
    """
    from sesshoku.recording.certificate import TOLERANCE, Certificate
    from sesshoku.recording.plot import picture_path
    from sesshoku.simulation.simulation import Simulation

    if replay is not None:
        given = {"FILE": file, "--option": option, "--time": time, "--record": record, "--plot": plot,
                 "--picture": picture}
        for name, value in given.items():
            if value:
                raise SceneError(f"{name} does not go with --replay: the demonstration says it all", element="run",
                                 value=str(value))
        commands_play.replay(replay, method, dt, json)
        return
    if file is None:
        raise typer.BadParameter("Missing argument 'FILE'.")
    scene = read(file, fixed_base, pose, repair_inertia)
    wishes = scene.run
    record = record if record is not None or not wishes.get("record") else Path(wishes["record"])
    plot = plot if plot is not None or not wishes.get("plot") else Path(f"{file.stem}_plot.png")
    written = [path for path in (record, plot, picture) if path is not None]
    for drawn in (plot, picture):  # now, not after the run
        if drawn is not None:
            picture_path(drawn)
    for path in written:
        if not path.absolute().parent.is_dir():
            raise RecordingError(f"{path}: cannot be written: there is no folder {path.parent}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)  # the table says what is left out
        sim = Simulation(scene, chosen_method(wishes, method, option or []), wishes.get("dt") if dt is None else dt,
                         strict=strict)
    duration = time if time is not None else float(wishes.get("time", 5.0))
    start_energy = sum(sim.energy)
    stream = record if record is not None and record.suffix != ".npz" else None
    sim.step(0)  # compile before the clock starts
    sim.run(0.0)
    certificate = None
    if certify or certify_tolerance is not None:
        certificate = Certificate(sim, TOLERANCE if certify_tolerance is None else certify_tolerance)
    clock = wall.perf_counter()
    failure: SimulationDiverged | None = None
    interrupted = False
    try:
        recording = sim.run(duration, certificate, rate=DEFAULT_RATE if rate is None else rate, path=stream,
                            progress=not json and sys.stderr.isatty())
    except SimulationDiverged as error:
        failure, recording = error, sim.recording
    except KeyboardInterrupt:  # what was recorded so far is kept; pictures would keep the user waiting
        interrupted, recording = True, sim.recording
        plot = picture = None
        written = [path for path in (record,) if path is not None]
    spent = wall.perf_counter() - clock
    steps = max(round(sim.time / sim.dt), 1)
    if record is not None and stream is None:
        recording.save(record)
    if plot is not None:
        recording.plot(path=plot)
    if picture is not None:
        draw_strip(scene, recording, picture)
    result = summary(sim, recording, spent / steps, start_energy)
    if certificate is not None:
        certificate.look()
        result["certificate"] = certificate.summary()
        if failure is not None:
            result["certificate"]["certified"] = False
            result["certificate"]["reasons"].append("the run diverged")
    if failure is not None:
        result["diverged"] = str(failure)
    if interrupted:
        result["interrupted"] = sim.time
    if json:
        typer.echo(json_module.dumps(result))
    else:
        print_summary(result, written)
        if certificate is not None:
            commands.print_certificate(result["certificate"])
    if failure is not None:
        raise failure
    if interrupted:
        kept = f"; {record} holds {len(recording)} samples" if record is not None else ""
        err.print(f"interrupted at t = {sim.time:.6g} s{kept}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(130)


def draw_strip(scene: Scene, recording: Any, path: Path, count: int = 5) -> None:
    """A strip of `count` frames spread evenly over a recording."""
    from sesshoku.recording.picture import strip

    poses, times = recording["poses"], recording.time
    frames = []
    for n in sorted({round(i * (len(times) - 1) / max(count - 1, 1)) for i in range(count)}):
        by_name = poses[n].reshape(len(scene.bodies), 7)
        frames.append((float(times[n]), dict(zip(scene.bodies, by_name, strict=True))))
    strip(scene, frames, path)


def summary(sim: Any, recording: Any, per_step: float, start_energy: float) -> dict[str, Any]:
    """What a run did, in plain values."""
    kinetic, potential = sim.energy
    report = recording["report"]
    worst = {name: float(abs(report[:, i]).max()) for i, name in enumerate(CHANNELS)} if len(report) else {}
    worst["converged"] = bool(report[:, CHANNELS.index("converged")].min() > 0) if len(report) else True
    return {
        "scene": sim.scene.name, "method": repr(sim.method), "label": sim.method.label, "dt": sim.dt, "time": sim.time,
        "step_us": round(per_step * 1e6, 3), "real_time_factor": round(sim.dt / per_step, 1),
        "energy": {"start": start_energy, "kinetic": kinetic, "potential": potential},
        "worst_report": worst, "notes": sim.scene.notes, "left_out": list(sim.left_out),
        "joints": {name: _plain(sim.joints[name].position) for name in sim.joints},
        "bodies": {name: sim.bodies[name].position.tolist() for name in sim.bodies},
        "contacts": [
            {"id": c.id, "bodies": list(c.bodies), "point": c.point.tolist(), "normal": c.normal.tolist(),
             "depth": c.depth, "force": c.force.tolist(), "state": c.state, "reason": c.reason} for c in sim.contacts],
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, float) else value.tolist()


def print_summary(result: dict[str, Any], written: list[Path], most: int = 16) -> None:
    """The tables of `run`."""
    energy, worst = result["energy"], result["worst_report"]
    table = Table(title=escape(f"{result['scene']}: {result['label']}"), title_justify="left", show_header=False)
    table.add_row("simulated", f"{result['time']:.4g} s in steps of {result['dt']:g} s")
    table.add_row("speed", f"{result['step_us']:.1f} µs per step, {result['real_time_factor']:g} x real time")
    kinetic, potential = energy["kinetic"], energy["potential"]
    table.add_row("energy", f"{energy['start']:.6g} J at the start, {kinetic + potential:.6g} J at the end "
                            f"(kinetic {kinetic:.4g}, potential {potential:.4g})")
    shown = [f"{name.replace('_', ' ')} {worst[name]:.2e} {unit}".strip() for name, unit in zip(CHANNELS, REPORT_UNITS)
             if name not in NOT_WORST and worst.get(name)]
    table.add_row("worst step", ", ".join(shown) or "nothing to report")
    states = [contact["state"] for contact in result["contacts"]]
    if states:
        counted = ", ".join(f"{states.count(state)} {state}" for state in ("stick", "slip", "released")
                            if state in states)
        table.add_row("contacts", f"{len(states)} at the end: {counted}")
    if not worst.get("converged", True):
        table.add_row("[red]warning[/]", "some steps did not converge")
    for item in result["left_out"]:
        table.add_row("[yellow]left out[/]", escape(item))
    for note in result["notes"]:
        table.add_row("note", escape(note))
    out.print(table)
    joints = {name: value for name, value in result["joints"].items() if isinstance(value, float)}
    state = Table(title="final state", title_justify="left")
    state.add_column("joint")
    state.add_column("position", justify="right")
    state.add_column("body")
    state.add_column("x, y, z", justify="right")
    bodies = list(result["bodies"].items())
    rows = max(len(joints), len(bodies))
    for n in range(min(rows, most)):
        joint = list(joints.items())[n] if n < len(joints) else ("", "")
        body, place = bodies[n] if n < len(bodies) else ("", [])
        state.add_row(escape(joint[0]), f"{joint[1]:.5f}" if joint[0] else "", escape(body),
                      ", ".join(f"{x:.4f}" for x in place))
    out.print(state)
    if rows > most:
        out.print(f"... and {rows - most} more rows (--json prints them all)")
    for path in written:
        out.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def info(file: SceneFile, fixed_base: FixedBase = False, pose: Pose = None, repair_inertia: Repair = False,
         verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List all that is not supported.")] = False,
         json: Json = False) -> None:
    """Show the tree of a robot or scene: bodies, masses, joints, limits, and what is not supported.

    Example: `sesshoku info models/humanoid_small.urdf`
    """
    from sesshoku.scene.compiler import compile_scene
    from sesshoku.scene.io.unsupported import summary

    scene = read(file, fixed_base, pose, repair_inertia)
    compiled = compile_scene(scene)
    model = compiled.model
    masses = {body.name: body.inertial.mass if body.inertial else 0.0 for body in scene.bodies.values()}
    moving = [body for body in scene.bodies.values() if body.joint.kind != "fixed"]
    if json:
        typer.echo(json_module.dumps({
            "name": scene.name, "bodies": masses, "total_mass": sum(masses.values()),
            "degrees_of_freedom": model.dof_count,
            "joints": {str(body.joint.name): _joint_facts(body) for body in moving},
            "actuators": list(scene.actuators), "loops": list(scene.loops), "mimics": list(scene.mimics),
            "shapes": model.shape_count, "gravity": scene.gravity.tolist(), "notes": scene.notes,
            "unsupported": scene.unsupported,
        }))
        return
    root = Tree(f"[bold]{escape(scene.name)}[/]  {len(masses)} bodies, {model.link_count} links, "
                f"{model.dof_count} degrees of freedom, {sum(masses.values()):.4g} kg, "
                f"{model.shape_count} collision shapes")
    branches: dict[str | None, Tree] = {None: root}
    for body in scene.bodies.values():
        branches[body.name] = branches[body.parent].add(_body_line(body, masses[body.name]))
    out.print(root)
    for title, items in (("actuators", scene.actuators), ("loops", scene.loops), ("mimics", scene.mimics)):
        if items:
            out.print(f"{title} ({len(items)}): {', '.join(list(items)[:8])}{' ...' if len(items) > 8 else ''}",
                      markup=False)
    for note in scene.notes:
        out.print(f"note: {note}", markup=False)
    for line in summary(scene.unsupported, verbose=True) if verbose else ():
        out.print(f"not supported: {line}", markup=False, highlight=False, soft_wrap=True)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _joint_facts(body: Any) -> dict[str, Any]:
    joint = body.joint
    return {"kind": joint.kind, "body": body.name, "lower": _finite(joint.lower), "upper": _finite(joint.upper),
            "effort": _finite(joint.effort)}


def _body_line(body: Any, mass: float) -> str:
    """One line of `info`: the body and how it moves."""
    joint, parts = body.joint, [f"[cyan]{escape(body.name)}[/]", f"{mass:.4g} kg"]
    if body.kinematic:
        parts.append("scripted")
    elif joint.kind != "fixed":
        parts.append(f"{joint.kind} joint [green]{escape(joint.name)}[/]")
        if joint.kind not in ("free", "spherical"):
            parts.append("axis " + " ".join(f"{x:.3g}" for x in joint.axis))
        if _finite(joint.lower) is not None or _finite(joint.upper) is not None:
            parts.append(f"{joint.lower:.4g} .. {joint.upper:.4g}")
        if _finite(joint.effort) is not None:
            parts.append(f"effort {joint.effort:.4g}")
    shapes = [geometry.shape.kind for geometry in body.geometries if geometry.collides]
    if shapes:
        parts.append("shapes: " + ", ".join(sorted(set(shapes))))
    return ", ".join(parts)


@app.command()
def bench(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: the shipped large humanoid.")] = None,
    method: Annotated[str, typer.Option(help="Contact method.")] = methods.registry.DEFAULT,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
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
    sim = Simulation(scene, method, dt)
    stages = sim.profile(2000)
    comparisons = step_against_mujoco(scene, method, dt)
    if json:
        typer.echo(json_module.dumps({"stages_us": {name: round(value * 1e6, 3) for name, value in stages.items()},
                                      "against": [comparison.as_dict() for comparison in comparisons]}))
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


app.command()(commands.compare)
app.command()(commands.reproduce)
app.command()(commands.prepare)
app.command()(commands_cache.cache)
app.command()(commands_view.view)
app.command()(commands_play.play)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"sesshoku {__version__}")
        raise typer.Exit


@app.callback()
def _options(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                   help="Print the version.")] = False) -> None:
    pass


if __name__ == "__main__":
    main()
