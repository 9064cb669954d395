"""The command `sweep`: a study file, run on all cores or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from sesshoku.cli.console import out, print_json, print_written
from sesshoku.cli.options import Json


def sweep(
    file: Annotated[Path, typer.Argument(metavar="STUDY", help="A study (.toml): function, grid or sample, seeds.")],
    workers: Annotated[int | None, typer.Option(help="Processes. Default: the file's, else one a core.", min=0)] = None,
    on: Annotated[str, typer.Option(help="`processes`, `threads`, or `ray` (extra `cluster`).")] = "processes",
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster: `auto`, or `ray://host:10001`.")] = None,
    path: Annotated[Path | None, typer.Option("--out", help="Where rows are kept, .parquet or .jsonl.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever the file holds.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Make the runs that failed again.")] = False,
    json: Json = False,
) -> None:
    """Run a function over a grid or a sample of conditions; rows are kept as they arrive.

    `sesshoku sweep study.toml --workers 4`

    A sweep that was stopped, or killed, goes on where it was. A run that fails is a row with its error.
    Exit code: 0 done, 1 every run failed, 2 bad input.
    """
    from sesshoku.comparison.sweep.file import run_study

    changed: dict[str, Any] = {"on": on, "address": address, "fresh": fresh, "retry": retry, "progress": not json}
    changed |= {name: value for name, value in (("workers", workers), ("path", path)) if value is not None}
    study, said = run_study(file, **changed)
    failed = study.failed
    if json:
        print_json({"runs": len(study), "failed": len(failed), "conditions": study.conditions,
                    "results": study.results, "path": None if study.path is None else str(study.path)})
    else:
        out.print(escape(repr(study)), highlight=False, soft_wrap=True)
        for row in failed[:5]:
            given = ", ".join(f"{name} {row[name]}" for name in (*study.conditions, "seed"))
            out.print(f"  run {row['run']} ({given}): {row['error']}", markup=False, highlight=False, soft_wrap=True)
        drawn = [file.resolve().parent / said.map.file] if said.map is not None and said.map.file is not None and \
            len(failed) < len(study) else []
        print_written([*([study.path] if study.path is not None else []), *drawn])
    if len(failed) == len(study):
        raise typer.Exit(1)
