"""The command `reproduce`: figures and tables of the papers, with their checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
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
    """The checks of one experiment as a table, those of one run under its name; then its other tables."""
    table = Table(title=f"{name}: {base.title(name)}", title_justify="left")
    for column in ("check", "measured", "wanted", ""):
        table.add_column(column, justify="left" if column in ("check", "") else "right", overflow="fold")
    group = None
    for check in result.checks:
        run, colon, what = check.name.partition(": ")
        if colon and run != group:
            table.add_row(f"[bold]{escape(run)}[/]")
        group = run if colon else None
        verdict = "" if check.kind == "report" else ("[green]pass[/]" if check.passed else "[red]FAIL[/]")
        table.add_row(escape(f"  {what}" if colon else check.name), f"{check.measured:.4g} {check.unit}",
                      wanted(check), verdict)
    out.print(table)
    for extra in result.tables:
        print_table(extra)
    stem = folder / name.replace("/", "_")
    runs = f"; {len(result.recordings)} runs as {stem}_*.npz, .html plays them" if result.recordings else ""
    print_written([f"{stem}.png and .json{runs}"])


def wanted(check: base.Check) -> str:
    """What a check asks for, in few words."""
    if check.kind == "report":
        return ""
    if check.kind == "at_most":
        return f"≤ {check.expected + check.tolerance:.4g}"
    if check.kind == "at_least":
        return f"≥ {check.expected - check.tolerance:.4g}"
    return f"{check.expected:.4g}" if check.tolerance == 0.0 else f"{check.expected:.4g} ± {check.tolerance:.2g}"


def print_table(table: base.Table) -> None:
    """A table of an experiment; one too wide for the terminal in parts, each with the columns of words again."""
    cells = [["" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
             for row in table.rows]
    words = [any(isinstance(row[n], str) for row in table.rows) for n in range(len(table.columns))]
    width = [max(max((len(row[n]) for row in cells), default=0), max(map(len, table.columns[n].split(" ")))) + 3
             for n in range(len(table.columns))]
    keys = [n for n in range(len(table.columns)) if words[n]][:2]  # what a row is of
    parts: list[list[int]] = [[]]
    for n in (n for n in range(len(table.columns)) if n not in keys):
        if parts[-1] and sum(width[k] for k in [*keys, *parts[-1], n]) > out.width:
            parts.append([])
        parts[-1].append(n)
    for count, part in enumerate(parts):
        shown = Table(title=table.title if count == 0 else None, title_justify="left")
        for n in (*keys, *part):
            # names are never cut, and those of rows not even broken
            shown.add_column(escape(table.columns[n]), justify="left" if words[n] else "right", overflow="fold",
                             no_wrap=n in keys and len(parts) > 1)
        for row in cells:
            shown.add_row(*(escape(row[n]) for n in (*keys, *part)))
        out.print(shown)
