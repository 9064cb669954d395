"""The command `compare`: one scene under many contact laws, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sesshoku.cli.console import ProgressLine, out, print_json, print_written
from sesshoku.cli.options import FileTimeStep
from sesshoku.cli.reading import read
from sesshoku.errors import SceneError, did_you_mean


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
    dt: FileTimeStep = None,
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
        print_json(result.as_dict())
    else:
        for part in (*result.tables(out.width), *result.endings()):
            out.print(part)
    if html is not None and not json:
        print_written([html])
    if not any(outcome.ran for outcome in result.outcomes):
        raise typer.Exit(1)


def _walk(name: str) -> Any:
    """A walk by its name, None for what may be a file; a word that is neither is told what walks there are."""
    from sesshoku.control.walking.watched_walk import NAMES, WatchedWalk

    if WatchedWalk.knows(name):
        return WatchedWalk.named(name)
    if Path(name).suffix or Path(name).exists():
        return None
    listed = f"give a .toml, .urdf or .xml file, or one of the walks: {', '.join(NAMES)}"
    raise SceneError("no such file, nor a walk of that name", element="compare", value=name,
                     remedy=did_you_mean(name, NAMES, also=listed))


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
