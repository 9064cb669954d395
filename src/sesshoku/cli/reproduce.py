"""The command `reproduce`: figures and tables of the papers, with their checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from sesshoku.cli.console import err, out, print_json, print_written
from sesshoku.errors import SceneError
from sesshoku.experiments import base


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
        print_experiments(json)
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
        print_json(results if len(results) > 1 else results[0])
    if any(entry["verdict"] == "fail" for entry in results):
        raise typer.Exit(1)


def print_experiments(json: bool) -> None:
    """What there is to reproduce."""
    titles = {known: base.title(known) for known in base.EXPERIMENTS}
    if json:
        print_json(titles)
        return
    table = Table(title="experiments", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("what it shows")
    for known, title in titles.items():
        table.add_row(known, title)
    out.print(table)


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
    print_written([f"{stem}.png and .json{runs}"])
