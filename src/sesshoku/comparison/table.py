"""Numbers as people read them, and the tables of `compare` in a terminal."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from sesshoku.comparison.outcome import EXACT, MEASURES, Comparison, Outcome

PREFIXES = ((0.1, 1.0, ""), (1e-4, 1e-3, "m"), (1e-7, 1e-6, "µ"), (0.0, 1e-9, "n"))  # from this size on: scale, prefix
NOTHING = 1e-9  # smaller numbers are rounding
GAP = 3  # between columns
REPR_WIDTH = 100  # characters
LEFT_OUT = "*"  # mark of a method that left something of the scene out


def say(value: float, unit: str) -> str:
    """A number with a unit, in four digits: 9.8 m, 12.3 µm, 0 J; a dash for what was not measured."""
    if not math.isfinite(value):
        return "-"
    if unit in ("°", "%"):
        return f"{0.0 if abs(value) < 5e-4 else value:.3g}{' ' * (unit == '%')}{unit}"
    size = abs(value)
    if size < NOTHING:
        return f"0 {unit}"
    scale, prefix = next((scale, prefix) for least, scale, prefix in PREFIXES if size >= least)
    return f"{value / scale:#.4g}".rstrip(".") + f" {prefix}{unit}" if size < 1e4 else f"{value:.4g} {unit}"


def tables(comparison: Comparison, title: str | None = None, width: int | None = None) -> list[Any]:
    """One row a method; the closed form, where there is one, above them. Columns beyond the width go on in another
    table below."""
    from rich.markup import escape

    heading = title or comparison.title or comparison.scene
    made = [_table(comparison, names) for names in columns(comparison, width)]
    made[0].title = f"{escape(heading)}  [dim]{comparison.duration:g} s in steps of {comparison.dt:g} s[/]"
    return made


def plain_table(comparison: Comparison, width: int = REPR_WIDTH) -> str:
    """The first table of a comparison and its endings as plain text."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, color_system=None, highlight=False, emoji=False)
    for part in (tables(comparison, None, width)[0], *endings(comparison)):
        console.print(part)
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines())


def endings(comparison: Comparison) -> list[str]:
    """Who was refused or stopped and why, who left out what of the scene, and how runs ended: a line each."""
    from rich.markup import escape

    said = [f"{LEFT_OUT} {escape(', '.join(methods))}: left out {escape('; '.join(items))}"
            for items, methods in leaving_out(comparison).items()]
    for outcome in comparison.outcomes:
        if outcome.refused:
            said.append(f"[yellow]{escape(outcome.method)}[/]: {escape(outcome.refused)}")
        if outcome.remark:
            said.append(f"{escape(outcome.method)}: {escape(outcome.remark)}")
    return said


def leaving_out(comparison: Comparison) -> dict[tuple[str, ...], list[str]]:
    """What was left out -> the methods that did."""
    found: dict[tuple[str, ...], list[str]] = {}
    for outcome in comparison.outcomes:
        if outcome.left_out:
            found.setdefault(outcome.left_out, []).append(outcome.method)
    return found


def _named(outcome: Outcome) -> str:
    """The method, marked where it left something out."""
    return f"{outcome.method} {LEFT_OUT}" if outcome.left_out else outcome.method


def _table(comparison: Comparison, names: list[str]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    made = Table(title_justify="left", title_style="bold", box=_box(), pad_edge=False)
    made.add_column("method", no_wrap=True)
    for name in names:
        made.add_column(comparison.measures[name].heading, justify="right", no_wrap=True)
    if comparison.expected:
        cells = [say(comparison.expected[name][0], comparison.measures[name].unit) if name in comparison.expected
                 else "" for name in names]
        made.add_row(EXACT, *cells, style="bold", end_section=True)
    for outcome in comparison.outcomes:
        if outcome.ran:
            made.add_row(escape(_named(outcome)), *(_cell(comparison, outcome, name) for name in names))
        else:
            made.add_row(escape(outcome.method), *(["[yellow]refused[/]"] + [""] * (len(names) - 1))[:len(names)])
    return made


def _cell(comparison: Comparison, outcome: Outcome, name: str) -> str:
    text = say(outcome.measures.get(name, math.nan), comparison.measures[name].unit)
    hit = comparison.hits(outcome, name)
    return text if hit is None else f"[green]{text}[/]" if hit else f"[red]{text}[/]"


def columns(comparison: Comparison, width: int | None) -> list[list[str]]:
    """The measures of each table, as many as fit side by side; those with a closed form first, then by rank."""
    known = comparison.measures
    if width is None:
        return [list(known)]
    room = width - max(len(EXACT), *(len(_named(outcome)) for outcome in comparison.outcomes)) - GAP
    blocks: list[list[str]] = [[]]
    left = room
    for name in sorted(known, key=lambda name: (name not in comparison.expected, known[name].rank)):
        cells = [say(outcome.measures.get(name, math.nan), known[name].unit) for outcome in comparison.outcomes
                 if outcome.ran]
        need = max(map(len, [known[name].heading, "refused", *cells])) + GAP
        if need > left and blocks[-1]:
            blocks.append([])
            left = room
        blocks[-1].append(name)
        left -= need
    order = list(known)
    return [sorted(block, key=order.index) for block in blocks]


def _box() -> Any:
    from rich import box

    return box.SIMPLE_HEAD


def summary(comparisons: Sequence[Comparison], keys: Sequence[str], headings: Sequence[str]) -> Any:
    """One row a method, one column a scene: the number that matters there beside its closed form."""
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=_box(), pad_edge=False, show_edge=False)
    made.add_column("method", no_wrap=True, vertical="bottom")
    for heading in headings:
        made.add_column(escape(heading), justify="right")
    exact = [say(c.expected[key][0], MEASURES[key].unit) if key in c.expected else "" for c, key in
             zip(comparisons, keys, strict=True)]
    made.add_row(EXACT, *exact, style="bold", end_section=True)
    for method in dict.fromkeys(outcome.method for c in comparisons for outcome in c.outcomes):
        cells = []
        for c, key in zip(comparisons, keys, strict=True):
            found = next((outcome for outcome in c.outcomes if outcome.method == method), None)
            cells.append("" if found is None else _cell(c, found, key) if found.ran else "[yellow]refused[/]")
        made.add_row(escape(method), *cells)
    return made
