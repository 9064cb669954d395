"""An audit in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sesshoku.comparison.audit.statistics import percent
from sesshoku.comparison.table import say

if TYPE_CHECKING:
    from sesshoku.comparison.audit.run import Audit


def tables(result: Audit) -> list[Any]:
    """Laws and their successes; then the map along every condition."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    made = Table(title=escape(f"{result.setting.label} under {len(result.laws)} laws"), title_justify="left",
                 title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("law", "succeeds", "95 %", "runs", "creep", "depth", "failures"):
        made.add_column(heading, justify="left" if heading in ("law", "failures") else "right",
                        no_wrap=heading != "failures", min_width=16 if heading == "failures" else None)
    for law in result.laws:
        if law in result.refused:
            made.add_row(escape(law), "[yellow]refused[/]", "", "", "", "", escape(result.refused[law]))
            continue
        share, touches = result.share(law), result.touches(law).values()
        low, high = share.interval
        made.add_row(escape(law), percent(share.value), f"{percent(low)} to {percent(high)}", str(share.total),
                     say(max((t["creep"] for t in touches), default=0.0), "m/s"),
                     say(max((t["depth"] for t in touches if t["depth"] > 0.0), default=0.0), "m"),
                     escape(result.how_it_ended(law)))
    found: list[Any] = [made]
    for condition in result.mapped:
        heads, cells = result.cells(condition)
        part = Table(title=f"succeeds, by {condition.name}", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        part.add_column("law", no_wrap=True)
        for head in heads:
            part.add_column(head, justify="right", no_wrap=True)
        for law in result.laws:
            if law not in result.refused:
                part.add_row(escape(law), *(percent(share.value) for share in cells[law]))
        found.append(part)
    return found
