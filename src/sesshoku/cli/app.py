"""The command line.

`sesshoku run | view | play | compare | audit | check | sweep | export | reproduce | info | bench | prepare | cache`

Exit codes: 0 done, 1 the run failed, 2 bad input.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sesshoku._version import __version__
from sesshoku.cli.bench import bench
from sesshoku.cli.cache import cache
from sesshoku.cli.compare import compare
from sesshoku.cli.console import err
from sesshoku.cli.info import info
from sesshoku.cli.play import play
from sesshoku.cli.prepare import prepare
from sesshoku.cli.reproduce import reproduce
from sesshoku.cli.run import run
from sesshoku.cli.studies.audit import audit, check
from sesshoku.cli.studies.export import export
from sesshoku.cli.studies.sweep import sweep
from sesshoku.cli.view import view
from sesshoku.errors import SesshokuError, SimulationDiverged

app = typer.Typer(
    name="sesshoku", no_args_is_help=True, add_completion=False, rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Simulate articulated rigid robots. Scenes are TOML files; URDF and MJCF robots are scenes of their own.\n\n"
    "Try: `sesshoku info robot.urdf`, then `sesshoku run robot.urdf --fixed-base --time 2 --plot run.png`, then "
    "`sesshoku compare examples/crate_thrown.toml` to see one scene under every contact law.",
)
for command in (run, info, bench, compare, audit, check, sweep, export, reproduce, prepare, cache, view, play):
    app.command()(command)


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
