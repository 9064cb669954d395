"""The command `play`: the crane game in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sesshoku.cli.options import Host, NoBrowser, Port, TimeStep
from sesshoku.errors import SceneError

GAMES = ("crane",)


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="`crane`.")] = "crane",
    method: Annotated[str, typer.Option(help="Contact method; the page can switch it.")] = "springs",
    dt: TimeStep = 0.02,
    seconds: Annotated[float, typer.Option(help="Length of a round, s.")] = 90.0,
    record_demos: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each round there as a demonstration "
                                                                          "(.npz): observations, inputs, contacts, "
                                                                          "success.")] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_browser: NoBrowser = False,
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
