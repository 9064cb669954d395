"""The page of `compare`: one self-contained HTML file with tables, side views and plots; nothing is fetched.

With the extra `view` the runs can be played side by side; without it the page has no script at all.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sesshoku._version import __version__
from sesshoku.comparison.chart import Line, line_chart
from sesshoku.comparison.mujoco import NAME as MUJOCO
from sesshoku.comparison.outcome import EXACT, MEASURES, Comparison, Outcome
from sesshoku.comparison.silhouette import side_views
from sesshoku.comparison.style import HUES, STYLE
from sesshoku.comparison.table import say
from sesshoku.errors import RecordingError
from sesshoku.recording.channels import REPORT_UNITS
from sesshoku.recording.export import written_file
from sesshoku.stages.report import CHANNELS

#: trace -> (title, unit, logarithmic, measure whose closed form is drawn across)
PLOTS = {
    "travel": ("distance along the floor", "m", False, "travel"),
    "height": ("height of the centre of mass", "m", False, "height"),
    "energy": ("change of total energy", "J", False, None),
    "force": ("sum of the normal forces of all contacts", "N", False, None),
    "penetration": ("deepest overlap", "m", True, None),
    "residual": ("violation of the method's contact law", "m/s", True, None),
}
LONG_FORCE = 4.0  # times the median: a higher peak of force is cut off in the plot


def _reading(comparisons: Sequence[Comparison]) -> str:
    """How to read the page; of what it shows only."""
    names = {outcome.method for c in comparisons for outcome in c.outcomes}
    said = [("Green agrees with the closed form, red does not.", any(c.expected for c in comparisons)),
            ("Dashed curves are a method as its paper has it, solid ones its recommended preset.",
             any(":" in name and base(name) in names for name in names)),
            ("A curve may hide under another that agrees with it. In the side views the start is outlined, the end "
             "filled.", True),
            (f"{MUJOCO} runs the exported model with its default settings.", MUJOCO in names)]
    return " ".join(text for text, shown in said if shown)


def palette(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """method -> classes: one hue a method; solid for a preset or where there is no preset, dashed for the paper's."""
    names = list(dict.fromkeys(outcome.method for c in comparisons for outcome in c.outcomes))
    bases = list(dict.fromkeys(base(name) for name in names if name != MUJOCO))
    presets = {base(name) for name in names if ":" in name}
    found = {}
    for name in names:
        hue = "peer" if name == MUJOCO else f"hue{bases.index(base(name)) % HUES}"
        found[name] = hue + (" dashed" if base(name) in presets and ":" not in name else "")
    return found


def base(name: str) -> str:
    """The method of a label: "lcp" of "lcp:recommended" and of "lcp (max_sweeps=20)"."""
    return name.partition(":")[0].partition(" ")[0]


def legend(comparison: Comparison, colors: dict[str, str]) -> str:
    items = [f"<li><svg width='30' height='10'><path class='curve {colors[o.method]}' d='M1 5H29'/></svg>"
             f"{html.escape(o.method)}</li>" for o in comparison.outcomes if o.ran]
    return f"<ul class='legend'>{''.join(items)}</ul>"


def plots(comparison: Comparison, colors: dict[str, str]) -> str:
    """The traces of all methods, one chart a quantity."""
    def behind(outcome: Outcome) -> tuple[bool, bool]:  # peers at the back, dashes on top: nothing hides quite
        return outcome.method != MUJOCO, "dashed" in colors[outcome.method]

    charts = []
    for name, (title, unit, log, measure) in PLOTS.items():
        lines = [Line(o.method, f"curve {colors[o.method]}", o.time,
                      o.traces[name] - o.traces[name][0] if name == "energy" else o.traces[name])
                 for o in sorted(comparison.outcomes, key=behind) if o.ran]
        if name == "force":
            title, lines = _cut(title, lines)
        if not any(np.isfinite(line.y).any() for line in lines):
            continue
        levels = [(comparison.expected[measure][0], EXACT)] if measure in comparison.expected else []
        charts.append(line_chart(title, unit, lines, log=log, levels=levels))
    return f"<div class='charts'>{''.join(charts)}</div>"


def _cut(title: str, lines: list[Line]) -> tuple[str, list[Line]]:
    """Forces with the spikes of impacts cut off: a step of 1 ms that stops a body shows thousands of newtons."""
    carried = [line.y[line.y > 0.0] for line in lines]
    most = LONG_FORCE * max((float(np.median(y)) for y in carried if len(y)), default=np.inf)
    if not any((y > most).any() for y in carried):
        return title, lines
    return f"{title}, peaks cut off", [replace(line, y=np.minimum(line.y, most)) for line in lines]


def table(comparison: Comparison, colors: dict[str, str]) -> str:
    head = "".join(f"<th title='{html.escape(m.meaning, quote=True)}'>{html.escape(m.heading)}</th>"
                   for m in comparison.measures.values())
    rows = []
    if comparison.expected:
        cells = "".join(f"<td>{_number(comparison.expected[name][0], m.unit) if name in comparison.expected else ''}"
                        "</td>" for name, m in comparison.measures.items())
        rows.append(f"<tr class='exact'><th>{EXACT}</th>{cells}</tr>")
    for o in comparison.outcomes:
        swatch = f"<span class='swatch {colors[o.method]}'></span>"
        note = f"<small class='refused'> {html.escape(o.refused)}</small>" if o.refused and o.ran else ""
        note += f"<small> leaves out {html.escape('; '.join(o.left_out))}</small>" if o.left_out else ""
        first = f"<th>{swatch}{html.escape(o.method)}{note}</th>"
        if o.ran:
            rows.append(f"<tr>{first}{''.join(_cell(comparison, o, name) for name in comparison.measures)}</tr>")
        else:
            rows.append(f"<tr>{first}<td class='refused' colspan='{len(comparison.measures)}'>"
                        f"{html.escape(o.refused or '')}</td></tr>")
    ends = "".join(f"<dt>{html.escape(o.method)}</dt><dd>{html.escape(o.remark)}</dd>" for o in comparison.outcomes
                   if o.remark)
    told = f"<dl>{ends}</dl>" if ends else ""
    return (f"<div class='scroll'><table><thead><tr><th>method</th>{head}</tr></thead>{''.join(rows)}</table></div>"
            f"{told}")


def _number(value: float, unit: str) -> str:
    return html.escape(say(value, unit)).replace("-", "−") if math.isfinite(value) else "–"


def _cell(comparison: Comparison, outcome: Outcome, name: str) -> str:
    unit, value = comparison.measures[name].unit, outcome.measures.get(name, math.nan)
    hit = comparison.hits(outcome, name)
    if hit is None:
        return f"<td>{_number(value, unit)}</td>"
    wanted, within = comparison.expected[name]
    told = f"off by {say(value - wanted, unit)}; agreement means within {say(within, unit)}"
    return f"<td class='{'hit' if hit else 'miss'}' title='{html.escape(told)}'>{_number(value, unit)}</td>"


def reports(comparison: Comparison) -> str:
    """The worst of every field of the physics report that is not zero everywhere."""
    shown = [name for name in CHANNELS if name not in ("rows", "converged")
             and any(o.report.get(name) for o in comparison.outcomes)]
    if not shown:
        return ""
    units = dict(zip(CHANNELS, REPORT_UNITS))
    head = "".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in shown)
    rows = []
    for o in comparison.outcomes:
        if o.ran:
            cells = "".join(f"<td>{_report_cell(o.report.get(name, math.nan), units.get(name, ''))}</td>"
                            for name in shown)
            rows.append(f"<tr><th>{html.escape(o.method)}</th>{cells}</tr>")
    return ("<details><summary>Physics report: the worst step of each run</summary><div class='scroll'><table>"
            f"<thead><tr><th>method</th>{head}</tr></thead>{''.join(rows)}</table></div></details>")


def _report_cell(value: float, unit: str) -> str:
    return _number(value, unit) if unit in ("m", "m/s", "N", "J", "N s") else \
        "–" if math.isnan(value) else f"{value:.4g} {html.escape(unit)}".strip()


def places(comparison: Comparison) -> str:
    """Where the watched bodies ended."""
    if not comparison.watched:
        return ""
    head = "".join(f"<th>{html.escape(name)}: x, y, z in m</th>" for name in comparison.watched)
    rows = "".join(
        f"<tr><th>{html.escape(o.method)}</th>" + "".join(
            f"<td>{', '.join(f'{x:.5f}' for x in o.positions[name])}</td>" for name in comparison.watched) + "</tr>"
        for o in comparison.outcomes if o.positions)
    return (f"<details><summary>Where it ended, in coordinates</summary><div class='scroll'><table><thead><tr>"
            f"<th>method</th>{head}</tr></thead>{rows}</table></div></details>")


def section(comparison: Comparison, colors: dict[str, str], player: str = "") -> str:
    """Everything about one scene. player: its runs side by side, to be played."""
    note = f"<p class='note'>{html.escape(comparison.note)}</p>" if comparison.note else ""
    watched = f" The first watched body is <b>{html.escape(comparison.watched[0])}</b>." if comparison.watched else ""
    views = side_views(comparison.subject, comparison.outcomes, colors) if comparison.subject is not None else ""
    steps = round(comparison.duration / comparison.dt)
    return (f"<section><h2>{html.escape(comparison.title or comparison.scene)}</h2>{note}"
            f"<p class='meta'>{comparison.duration:g} s in {steps} steps of {comparison.dt:g} s.{watched}</p>"
            f"{table(comparison, colors)}{player}{views}{legend(comparison, colors)}{plots(comparison, colors)}"
            f"{reports(comparison)}{places(comparison)}</section>")


def glance(comparisons: Sequence[Comparison], keys: Sequence[str], headings: Sequence[str],
           colors: dict[str, str]) -> str:
    """One row a method, one column a scene: the number that matters there."""
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    pairs = list(zip(comparisons, keys, strict=True))
    exact = "".join(f"<td>{_number(c.expected[key][0], MEASURES[key].unit) if key in c.expected else ''}</td>"
                    for c, key in pairs)
    rows = [f"<tr class='exact'><th>{EXACT}</th>{exact}</tr>"]
    for method in colors:
        found = [next((o for o in c.outcomes if o.method == method), None) for c, _ in pairs]
        cells = "".join("<td></td>" if o is None else _cell(c, o, key) if o.ran else "<td class='refused'>refused</td>"
                        for (c, key), o in zip(pairs, found))
        rows.append(f"<tr><th><span class='swatch {colors[method]}'></span>{html.escape(method)}</th>{cells}</tr>")
    return (f"<div class='scroll'><table class='glance'><thead><tr><th>method</th>{head}</tr></thead>{''.join(rows)}"
            "</table></div>")


def write_page(comparisons: Sequence[Comparison], path: str | Path, title: str = "sesshoku compare", intro: str = "",
               keys: Sequence[str] = (), headings: Sequence[str] = ()) -> None:
    """Write one page for one or several scenes. keys, headings: of the table at the top, one a scene."""
    path = page_path(path)
    text = page_text(comparisons, title, intro, keys, headings)
    with written_file(path) as part:
        part.write_text(text, encoding="utf-8")


def page_text(comparisons: Sequence[Comparison], title: str = "sesshoku compare", intro: str = "",
              keys: Sequence[str] = (), headings: Sequence[str] = ()) -> str:
    """The text of that page."""
    colors = palette(comparisons)
    told = {m.heading: m.meaning for c in comparisons for m in c.measures.values()}
    meanings = "".join(f"<dt>{html.escape(heading)}</dt><dd>{html.escape(meaning)}</dd>"
                       for heading, meaning in told.items())
    lead = intro or "The same scene, step size and forces under every contact method."
    top = glance(comparisons, keys, headings, colors) if keys else ""
    head, films = players(comparisons)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>{head}</head><body><header><h1>{html.escape(title)}</h1>"
        f"<p>{html.escape(lead)}</p></header>{top}"
        f"{''.join(section(c, colors, player) for c, player in zip(comparisons, films, strict=True))}"
        f"<section><h2>How to read it</h2><dl>{meanings}</dl><p>{_reading(comparisons)}</p></section>"
        f"<footer>sesshoku {__version__}</footer></body></html>\n"
    )


def players(comparisons: Sequence[Comparison]) -> tuple[str, list[str]]:
    """What players need in the page's head, and a player for each scene; empty without the extra `view`."""
    from sesshoku.view.embed import player_head, side_by_side

    head = player_head()
    if not head:
        return "", [""] * len(comparisons)
    found = [side_by_side(comparison, f"player{n}") for n, comparison in enumerate(comparisons)]
    return (head, found) if any(found) else ("", found)


def page_path(path: str | Path) -> Path:
    """A path a page can be written to; asked before a run, not after it."""
    path = Path(path)
    if path.is_dir():
        raise RecordingError(f"{path}: is a folder; give the name of a page, such as {path / 'report.html'}")
    if not path.absolute().parent.is_dir():
        raise RecordingError(f"{path}: cannot be written: there is no folder {path.parent}")
    return path
