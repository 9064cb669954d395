"""`run --replay`: a round of the crane game played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from sesshoku.cli.console import print_json
from sesshoku.errors import SceneError


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
        print_json(result)
    else:
        prizes = ", ".join(found.won) or "no prize"
        typer.echo(f"{file}: {found.steps} steps of {found.dt:g} s with {found.method.label}: {prizes}, "
                   f"{found.score} points")
        typer.echo("the same, bit for bit" if found.exact else
                   f"differs from step {found.differs_at} on, by {found.largest_difference:.3g} at most")
    if not found.exact:
        raise typer.Exit(1)
