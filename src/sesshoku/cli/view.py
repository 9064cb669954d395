"""The command `view`: a scene in motion, or a recording as a page, in the browser."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from sesshoku.cli.options import FileTimeStep, FixedBase, Host, NoBrowser, Port, Pose
from sesshoku.cli.reading import read
from sesshoku.errors import RecordingError, SceneError
from sesshoku.methods.registry import DEFAULT

RECORDINGS = (".ssk", ".npz")


def view(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.toml), a robot (.urdf, .xml), or a recording "
                                                              "(.npz, .ssk).")],
    method: Annotated[str | None, typer.Option(help="Contact method; the page can switch it.")] = None,
    dt: FileTimeStep = None,
    speed: Annotated[float, typer.Option(help="Simulated seconds per second.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Wait for the play button.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 0,
    html: Annotated[Path | None, typer.Option(help="Of a recording: write the page here, open nothing.")] = None,
    no_browser: NoBrowser = False,
    fixed_base: FixedBase = False,
    pose: Pose = None,
) -> None:
    """Look at a scene as it runs, or at a recording, in the browser.

    `sesshoku view examples/falling_crates.toml --method springs`

    `sesshoku run examples/humanoid_drop.toml --record run.npz`, then `sesshoku view run.npz`

    Live: play, pause, step, slow motion; drag bodies with the mouse; switch the contact law; change materials. Ctrl-C
    ends it. A recording becomes one self-contained page. Exit code: 0 done, 2 bad input.
    """
    if file.suffix.lower() in RECORDINGS:
        _recording(file, html, no_browser)
        return
    if html is not None:
        raise SceneError("--html is for recordings", value=str(file), remedy="record first: sesshoku run --record")
    if not 0.001 <= speed <= 10.0:
        raise SceneError("speed is out of range", element="--speed", value=speed, remedy="give 0.001 .. 10")
    from sesshoku.simulation.simulation import Simulation
    from sesshoku.view import show
    from sesshoku.view.bundle import require

    require()  # before anything is compiled
    scene = read(file, fixed_base, pose)
    chosen = method or scene.run.get("method", DEFAULT)
    sim = Simulation(scene, chosen, dt if dt is not None else scene.run.get("dt"))
    show(sim, host=host, port=port, browser=not no_browser, playing=not paused, speed=speed)


def _recording(file: Path, html: Path | None, no_browser: bool) -> None:
    from sesshoku.recording import Recording
    from sesshoku.view.bundle import require

    if not file.is_file():
        raise RecordingError(f"{file}: there is no such file")
    require()
    page = html or Path(tempfile.mkdtemp(prefix="sesshoku-")) / f"{file.stem}.html"
    Recording.load(file).to_html(page)
    typer.echo(f"wrote {page}")
    if html is None and not no_browser:
        webbrowser.open(page.absolute().as_uri())
