"""What `run --certify` prints."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from sesshoku.cli.console import out


def print_certificate(found: dict[str, Any]) -> None:
    """The certificate of a run as a table, and its verdict in one line."""
    residual, energy, deep = found["residual"], found["energy"], found["penetration"]

    def when(part: dict[str, Any]) -> str:
        return "" if part["at"] is None else f" (at {part['at']:.6g} s)"

    table = Table(title="certificate", title_justify="left", show_header=False)
    table.add_row("covers", escape(found["covers"]))
    table.add_row("residual of the law", f"worst {residual['worst']:.2e} m/s{when(residual)}, "
                                         f"median {residual['median']:.2e} m/s")
    table.add_row("steps above tolerance", f"{residual['steps_above']} of {found['steps']} above "
                                           f"{found['tolerance']:g} m/s; {found['unconverged']} did not converge")
    table.add_row("momentum imbalance", f"{found['momentum_imbalance']:.2e} N s at most")
    table.add_row("energy", f"{energy['start']:.6g} J at the start, {energy['end']:.6g} J at the end")
    books = f"not judged: {energy['not_judged']}" if energy["not_judged"] else (
        f"contacts and joints {energy['by_contact']:.6g} J, actuators, springs, dampers and pushes "
        f"{energy['by_actuators_springs_dampers_pushes']:.6g} J, nothing explains {energy['unexplained']:.2e} J")
    table.add_row("books of energy", escape(books))
    table.add_row("energy by a step's contacts", f"{energy['largest_gain_of_a_step']:.2e} J at most, beside "
                  f"{energy['by_depth_correction']:.3g} J by depth correction in all")
    table.add_row("penetration", f"{deep['worst']:.2e} m at most{when(deep)}")
    table.add_row("tunnelling, overflow", f"{found['tunnelling']['steps']} and {found['overflow']['steps']} steps")
    out.print(table)
    if found["certified"]:
        out.print(f"[green]certified[/]: all {found['steps']} steps keep the law to {found['tolerance']:g} m/s")
    else:
        out.print(f"[red]not certified[/]: {escape('; '.join(found['reasons']))}", soft_wrap=True)
