"""Reading a file for a command, and the commands `compare`, `reproduce` and `prepare`; cli/app.py registers them."""

from __future__ import annotations

import difflib
import json as json_module
import re
import time as wall
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sesshoku.errors import SceneError, UnsupportedFeature
from sesshoku.experiments import base
from sesshoku.methods.registry import keywords, resolve
from sesshoku.scene.scene import Scene

out, err = Console(), Console(stderr=True)


def read(file: Path, fixed_base: bool = False, pose: str | None = None, repair_inertia: bool = False) -> Scene:
    """The scene of a file; what the file uses and we don't is printed once. The options are for robots alone."""
    scene_file = file.suffix.lower() == ".toml"
    if scene_file and (fixed_base or pose is not None or repair_inertia):
        raise SceneError("--fixed-base, --pose and --repair-inertia are for a robot's own file", value=file.name,
                         remedy="write fixed_base, pose or repair_inertia into the [[robot]] table of the scene")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fixed_base or pose is not None or repair_inertia:
            scene = Scene(name=file.stem)
            scene.load(file, fixed_base=fixed_base or None, pose=pose, repair_inertia=repair_inertia)
        else:
            scene = Scene.read(file)
    for warning in caught:
        if issubclass(warning.category, UnsupportedFeature):
            err.print(str(warning.message), style="yellow", markup=False, highlight=False, soft_wrap=True)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return scene


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.toml), a robot (.urdf, .xml), or a walk: "
                                                              "`walk`, `walk/large`, `walk/stabiliser`, "
                                                              "`walk/bush`, `walk/bush-stabiliser`.")],
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="A method or preset, e.g. `lcp:recommended`; may be repeated. "
                                            "Default: all but `none`."),
    ] = None,
    time: Annotated[
        float | None, typer.Option("--time", "-t", help="Seconds to simulate. Default: the file's, else 2.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Time step, s. Default: the file's, else 0.001.")] = None,
    push: Annotated[
        tuple[str, float, float, float] | None,
        typer.Option(metavar="BODY FX FY FZ", help="Push a body at its centre of mass all the time, N, world axes.")
    ] = None,
    watch: Annotated[
        list[str] | None, typer.Option(help="A body to follow; may be repeated. Default: the free ones. Travel, height "
                                            "and turn are of the first.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="MEASURE=VALUE[±WITHIN]", help="An answer you know, e.g. `travel=9.8` (within 1 %) or "
                                                            "`travel=0±1e-5`; shown beside, agreement in green.")
    ] = None,
    peer: Annotated[list[str] | None, typer.Option(help="Also run `mujoco` on the same model (not on a walk).")] = None,
    strict: Annotated[bool, typer.Option(
        "--strict", help="Refuse methods that would leave something of the scene out (rolling friction, restitution).")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page with tables and plots.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Run one scene under every contact method and put the results side by side.

    `sesshoku compare examples/crate_thrown.toml --expect travel=9.8 --peer mujoco --html report.html`

    `sesshoku compare examples/crate_at_rest.toml --push crate 4.998 0 0 --time 5`

    `sesshoku compare walk --html walk.html`: a humanoid under one controller; who falls, when and why.

    A method that cannot carry the scene is listed with its reason, one that leaves something of it out with what.
    Exit code: 0 done, 1 no method could run it, 2 bad input.
    """
    from sesshoku.comparison.compare import compare as run_compare
    from sesshoku.comparison.page import page_path

    if html is not None:
        page_path(html)  # now, not after the runs
    walk = None if file.is_file() else _walk(file.as_posix())
    scene = read(file, False) if walk is None else walk.scene
    wishes = scene.run
    usual = float(wishes.get("time", 2.0)) if walk is None else walk.duration
    pushed = None if push is None else lambda sim: sim.apply_force(push[0], push[1:])
    if walk is not None and push is not None:
        raise SceneError("a walk is not pushed here", element="--push", value=push[0],
                         remedy="sesshoku reproduce exact/pushes does it")
    if push is not None and push[0] not in scene.bodies:
        raise SceneError("no such body", element="--push", value=push[0], remedy=f"bodies: {', '.join(scene.bodies)}")
    with ProgressLine(quiet=json) as progress:
        result = run_compare(
            scene, method, time=time if time is not None else usual,
            dt=dt if dt is not None else wishes.get("dt"), watch=watch, peers=peer or (),
            expected=_expected(expect or []), progress=progress, strict=strict,
            controller=pushed if walk is None else walk)
    if html is not None:
        result.to_html(html)
    if json:
        typer.echo(json_module.dumps(result.as_dict()))
    else:
        for part in (*result.tables(out.width), *result.endings()):
            out.print(part)
    if html is not None and not json:
        out.print(f"wrote {html}", markup=False, highlight=False, soft_wrap=True)
    if not any(outcome.ran for outcome in result.outcomes):
        raise typer.Exit(1)


def _walk(name: str) -> Any:
    """A walk by its name, None for what may be a file; a word that is neither is told what walks there are."""
    from sesshoku.control.walking.watched_walk import NAMES, WatchedWalk

    if WatchedWalk.knows(name):
        return WatchedWalk.named(name)
    if Path(name).suffix or Path(name).exists():
        return None
    near = difflib.get_close_matches(name, NAMES, n=1)
    raise SceneError("no such file, nor a walk of that name", element="compare", value=name,
                     remedy=(f"did you mean {near[0]!r}? " if near else "")
                     + f"give a .toml, .urdf or .xml file, or one of the walks: {', '.join(NAMES)}")


def _expected(given: list[str]) -> dict[str, Any]:
    """measure -> value or (value, within) from `--expect travel=9.8±0.01`."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        value, sign, within = rest.replace("+-", "±").partition("±")
        try:
            found[name] = (float(value), float(within)) if sign else float(value)
        except ValueError:
            raise SceneError("an expected answer reads measure=value or measure=value±within", element="--expect",
                             value=text) from None
        if not equals:
            raise SceneError("an expected answer reads measure=value", element="--expect", value=text)
    return found


def print_certificate(found: dict[str, Any]) -> None:
    """The certificate of a run as a table, and its verdict in one line."""
    residual, energy, deep = found["residual"], found["energy"], found["penetration"]

    def when(part: dict[str, Any]) -> str:
        return "" if part["at"] is None else f" (at {part['at']:.6g} s)"

    table = Table(title="certificate", title_justify="left", show_header=False)
    table.add_row("covers", escape(found["covers"]))
    table.add_row("residual of the law", f"worst {residual['worst']:.2e} m/s{when(residual)}, "
                                         f"median {residual['median']:.2e} m/s")
    table.add_row("steps above tolerance", f"{residual['steps_above']} of {found['steps']} above "
                                           f"{found['tolerance']:g} m/s; {found['unconverged']} did not converge")
    table.add_row("momentum imbalance", f"{found['momentum_imbalance']:.2e} N s at most")
    table.add_row("energy", f"{energy['start']:.6g} J at the start, {energy['end']:.6g} J at the end")
    books = f"not judged: {energy['not_judged']}" if energy["not_judged"] else (
        f"contacts and joints {energy['by_contact']:.6g} J, actuators, springs, dampers and pushes "
        f"{energy['by_actuators_springs_dampers_pushes']:.6g} J, nothing explains {energy['unexplained']:.2e} J")
    table.add_row("books of energy", escape(books))
    table.add_row("energy by a step's contacts", f"{energy['largest_gain_of_a_step']:.2e} J at most, beside "
                  f"{energy['by_depth_correction']:.3g} J by depth correction in all")
    table.add_row("penetration", f"{deep['worst']:.2e} m at most{when(deep)}")
    table.add_row("tunnelling, overflow", f"{found['tunnelling']['steps']} and {found['overflow']['steps']} steps")
    out.print(table)
    if found["certified"]:
        out.print(f"[green]certified[/]: all {found['steps']} steps keep the law to {found['tolerance']:g} m/s")
    else:
        out.print(f"[red]not certified[/]: {escape('; '.join(found['reasons']))}", soft_wrap=True)


class ProgressLine:
    """What is running and how far it is: one line that renews itself in a terminal, one line a method elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet, self._said = quiet, ""
        self._status = err.status("") if err.is_terminal and not quiet else None

    def __enter__(self) -> ProgressLine:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, label: str, done: float, scene: str = "") -> None:
        text = f"{scene}: {label}" if scene else label
        if self._status is not None:
            state = f"{100 * done:.0f} %" if done > 0.0 else "starting; the first run of a method compiles it, once"
            self._status.update(f"{escape(text)}  {state}")
        elif not self._quiet and re.sub(r"[0-9]+ (s|min|of)?", "", text) != self._said:
            err.print(f"running {text} ...", markup=False, highlight=False)
            self._said = re.sub(r"[0-9]+ (s|min|of)?", "", text)  # one line however far it is


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="An experiment, or a part of its name (`lcp`, "
            "`lcp/time`); without it the list is printed; `all` runs all.",
        ),
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Where figures and numbers go.")] = Path("out/reproduce"),
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: name, measured and expected values, verdict.")
    ] = False,
) -> None:
    """Re-run a figure or table of the papers, with its checks; without a name, list what there is.

    `sesshoku reproduce lcp/sliding` runs one, `sesshoku reproduce lcp` all of a method, `sesshoku reproduce all` all.

    Each writes its figure (.png) and its numbers (.json), those of robots their runs as well: recordings (.npz) and
    pages that play them (.html). Exit code: 0 every check passed, 1 a check failed, 2 bad input.
    """
    if name is None:
        table = Table(title="experiments", title_justify="left")
        table.add_column("name", no_wrap=True)
        table.add_column("what it shows")
        for known in base.EXPERIMENTS:
            table.add_row(known, base.title(known))
        if json:
            typer.echo(json_module.dumps({known: base.title(known) for known in base.EXPERIMENTS}))
        else:
            out.print(table)
        return
    chosen = [known for known in base.EXPERIMENTS if name in ("all", known) or known.startswith(f"{name}/")]
    if not chosen:
        raise SceneError(
            "no such experiment", element=f"experiment {name!r}", remedy=f"experiments: {', '.join(base.EXPERIMENTS)}"
        )
    results: list[dict[str, Any]] = []
    for experiment in chosen:
        result = base.run(
            experiment, folder, (lambda text: None) if json else (lambda text: err.print(f"  {text} ..."))
        )
        results.append(base.as_dict(experiment, result))
        if not json:
            print_result(experiment, result, folder)
    if json:
        typer.echo(json_module.dumps(results if len(results) > 1 else results[0]))
    if any(entry["verdict"] == "fail" for entry in results):
        raise typer.Exit(1)


def prepare(
    method: Annotated[list[str] | None, typer.Argument(metavar="[METHOD]...", help="Default: all.")] = None,
) -> None:
    """Compile methods now, on all cores, so that the first simulation with them does not wait.

    For a fresh machine, an image or a continuous-integration job: `sesshoku prepare`, or `sesshoku prepare exact lcp`.
    """
    from sesshoku.compiled.prepare import prepare as compile_methods
    from sesshoku.compiled.progress import CompileProgress

    clock = wall.perf_counter()
    modules = dict.fromkeys(resolve(keyword).module for keyword in method or keywords())
    names = [module.__name__.rpartition(".")[2] for module in modules]
    with CompileProgress(", ".join(names) if len(names) < 3 else f"{len(names)} methods") as line:
        compile_methods(list(modules), tell=line.tell)
    out.print(f"ready: {', '.join(names)} "
              f"({wall.perf_counter() - clock:.0f} s)", highlight=False)


def print_result(name: str, result: base.Result, folder: Path) -> None:
    """The checks of one experiment as a table."""
    table = Table(title=f"{name}: {base.title(name)}", title_justify="left")
    for column in ("check", "measured", "expected", "within", ""):
        table.add_column(column, justify="left" if column in ("check", "") else "right", overflow="fold")
    signs = {"near": "±", "at_most": "at most, +", "at_least": "at least, -", "report": ""}
    for check in result.checks:
        verdict = "" if check.kind == "report" else ("[green]pass[/]" if check.passed else "[red]FAIL[/]")
        wanted = "" if check.kind == "report" else f"{check.expected:.6g} {check.unit}"
        within = "" if check.kind == "report" else f"{signs[check.kind]} {check.tolerance:.2g}"
        table.add_row(check.name, f"{check.measured:.6g} {check.unit}", wanted, within, verdict)
    out.print(table)
    for extra in result.tables:
        shown = Table(title=extra.title, title_justify="left")
        numbers = [all(not isinstance(row[n], str) for row in extra.rows) for n in range(len(extra.columns))]
        for column, right in zip(extra.columns, numbers, strict=True):
            shown.add_column(column, justify="right" if right else "left", overflow="fold")  # names are never cut
        for row in extra.rows:
            shown.add_row(*("" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell)
                            for cell in row))
        out.print(shown)
    stem = folder / name.replace("/", "_")
    runs = f"; {len(result.recordings)} runs as {stem}_*.npz, .html plays them" if result.recordings else ""
    out.print(f"wrote {stem}.png and .json{runs}", markup=False, highlight=False, soft_wrap=True)
