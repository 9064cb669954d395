"""The command `play`: the crane game in the browser; cli/app.py registers it. And `run --replay` of what was played."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sesshoku.errors import SceneError

GAMES = ("crane",)


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="`crane`.")] = "crane",
    method: Annotated[str, typer.Option(help="Contact method; the page can switch it.")] = "springs",
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 0.02,
    seconds: Annotated[float, typer.Option(help="Length of a round, s.")] = 90.0,
    record_demos: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each round there as a demonstration "
                                                                          "(.npz): observations, inputs, contacts, "
                                                                          "success.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on. Default: this machine only. Any other puts a random "
                                           "token into the URL, which a browser then needs.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Play the crane game: fingers driven by torques take boxes, a heart and more out of a bin.

    `sesshoku play crane --record-demos demos`, then `sesshoku run --replay demos/round_0001.npz`

    Arrow keys move, W and S lift and lower, A and D turn, space closes the fingers, shift hurries (and drops what is
    held). Ctrl-C ends it. Exit code: 0 done, 2 bad input.
    """
    from sesshoku.apps.crane.game import game_method
    from sesshoku.simulation.simulation import Simulation
    from sesshoku.view import show
    from sesshoku.view.bundle import require
    from sesshoku.view.crane import CranePage

    if game not in GAMES:
        raise SceneError("no such game", element=f"game {game!r}", remedy=f"games: {', '.join(GAMES)}")
    require()  # before anything is compiled
    page = CranePage(dt, seconds, record_demos)
    sim = Simulation(page.round.scene, game_method(method), dt)
    sim.step(0)  # compile before the page opens
    show(sim, page=page, host=host, port=port, browser=not no_browser)
    page.write()
    for path in page.written:
        typer.echo(f"wrote {path}")


def replay(file: Path, method: str | None, dt: float | None, json: bool) -> None:
    """`run --replay`: play a demonstration again and say whether it went the same way, bit for bit."""
    from sesshoku.apps.crane import demos

    if not file.is_file():
        raise SceneError("there is no such file", element="--replay", value=str(file))
    found = demos.replay(file, method=method, dt=dt)
    result: dict[str, Any] = {
        "file": str(file), "method": repr(found.method), "dt": found.dt, "steps": found.steps, "score": found.score,
        "won": list(found.won), "exact": found.exact, "differs_at": found.differs_at,
        "largest_difference": found.largest_difference}
    if json:
        typer.echo(json_module.dumps(result))
    else:
        prizes = ", ".join(found.won) or "no prize"
        typer.echo(f"{file}: {found.steps} steps of {found.dt:g} s with {found.method.label}: {prizes}, "
                   f"{found.score} points")
        typer.echo("the same, bit for bit" if found.exact else
                   f"differs from step {found.differs_at} on, by {found.largest_difference:.3g} at most")
    if not found.exact:
        raise typer.Exit(1)
