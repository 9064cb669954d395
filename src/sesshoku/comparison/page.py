"""The page of `compare`: one self-contained HTML file with tables and plots."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sesshoku.comparison.outcome import Comparison

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } td.refused { text-align: left; color: #a05000; white-space:
normal; } tr:hover td { background: #f5f8fb; } svg { max-width: 100%; height: auto; } dl { font-size: .88rem; columns:
2; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 0; } .scroll { overflow-x: auto; }
"""
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6f4ba8", "#8c6d31", "#444444")
PLOTS = {"travel": ("distance of the first watched body", "m", False), "energy": ("total energy", "J", False),
         "penetration": ("deepest overlap", "m", True), "residual": ("violation of the contact law", "m/s", True)}


def plot(comparison: Comparison) -> str:
    """The traces of all methods as one inline SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.6), layout="constrained")
    for n, (name, (title, unit, logarithmic)) in enumerate(PLOTS.items()):
        axis = figure.add_subplot(2, 2, n + 1)
        for k, outcome in enumerate(comparison.outcomes):
            if not outcome.traces:
                continue
            values = outcome.traces[name]
            if logarithmic:
                values = np.where(values > 0.0, values, np.nan)
            axis.plot(outcome.time, values, color=COLORS[k % len(COLORS)], lw=1.3, label=outcome.method,
                      ls="--" if ":" in outcome.method else "-")
        if logarithmic and any(np.any(o.traces.get(name, np.zeros(1)) > 0.0) for o in comparison.outcomes):
            axis.set_yscale("log")
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylabel(unit)
        axis.grid(color="#e6e6e6", lw=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        if n >= 2:
            axis.set_xlabel("time, s")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg")
    text = buffer.getvalue()
    return text[text.index("<svg"):]


def table(comparison: Comparison) -> str:
    from sesshoku.comparison.outcome import MEASURES

    head = "".join(f"<th title='{html.escape(meaning)}'>{html.escape(name)}<br><small>{html.escape(unit)}</small></th>"
                   for name, unit, meaning in MEASURES.values())
    rows = []
    for outcome in comparison.outcomes:
        label = html.escape(outcome.method)
        if not outcome.measures:
            rows.append(f"<tr><td>{label}</td><td class='refused' colspan='{len(MEASURES) + 1}'>"
                        f"{html.escape(outcome.refused or '')}</td></tr>")
            continue
        cells = "".join(f"<td>{outcome.measures[name]:.3g}</td>" for name in MEASURES)
        note = f" ({html.escape(outcome.refused)})" if outcome.refused else ""
        rows.append(f"<tr><td>{label}{note}</td>{cells}<td>{outcome.seconds_per_step * 1e6:.1f}</td></tr>")
    return (f"<div class='scroll'><table><tr><th>method</th>{head}<th>step<br><small>µs</small></th></tr>"
            f"{''.join(rows)}</table></div>")


def places(comparison: Comparison) -> str:
    """Where the watched bodies ended."""
    if not comparison.watched:
        return ""
    head = "".join(f"<th>{html.escape(name)}: x, y, z</th>" for name in comparison.watched)
    rows = "".join(
        f"<tr><td>{html.escape(o.method)}</td>" + "".join(
            f"<td>{', '.join(f'{x:.5f}' for x in o.positions[name])}</td>" for name in comparison.watched) + "</tr>"
        for o in comparison.outcomes if o.positions)
    return f"<h3>where it ended</h3><div class='scroll'><table><tr><th>method</th>{head}</tr>{rows}</table></div>"


def write_page(comparisons: Sequence[Comparison], path: str | Path, title: str = "sesshoku compare",
               notes: Sequence[str] = ()) -> None:
    """Write one page for one or several scenes."""
    from sesshoku.comparison.outcome import MEASURES

    meanings = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(meaning)} ({html.escape(unit)})</dd>"
                       for name, unit, meaning in MEASURES.values())
    parts: list[Any] = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1>"
        "<p>The same scene, step size and forces under every contact method.</p>"
    ]
    for n, comparison in enumerate(comparisons):
        parts.append(f"<h2>{html.escape(comparison.scene)}</h2>")
        if n < len(notes):
            parts.append(f"<p>{html.escape(notes[n])}</p>")
        parts.append(f"<p><small>{comparison.duration:g} s in steps of {comparison.dt:g} s</small></p>")
        parts += [table(comparison), plot(comparison), places(comparison)]
    parts.append(f"<h2>what the columns mean</h2><dl>{meanings}</dl></body></html>")
    Path(path).write_text("\n".join(parts), encoding="utf-8")
