"""The page of an audit: one self-contained HTML file that a person reads in a minute; nothing is fetched."""

from __future__ import annotations

import html
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sesshoku._version import __version__
from sesshoku.comparison.audit.ghosts import ghosts
from sesshoku.comparison.audit.statistics import Share, percent
from sesshoku.comparison.audit.trial import nominal_scene
from sesshoku.comparison.mujoco import KEY
from sesshoku.comparison.outcome import Comparison
from sesshoku.comparison.page import base, page_path, players
from sesshoku.comparison.silhouette import side_views
from sesshoku.comparison.style import HUES, STYLE
from sesshoku.comparison.table import say
from sesshoku.recording.export import written_file

if TYPE_CHECKING:
    from sesshoku.comparison.audit.parting import Parting
    from sesshoku.comparison.audit.run import Audit
    from sesshoku.comparison.audit.touch import Felt

OWN_STYLE = """
.verdict{font-size:1.2rem;line-height:1.45;max-width:56rem;border-left:6px solid var(--good);padding:.4rem 1rem;
 background:var(--card);border-radius:0 8px 8px 0}.verdict.depends{border-color:var(--bad)}
.verdict.open{border-color:var(--hue4)}
td.share{text-align:center;min-width:6.5rem;color:var(--ink);background:color-mix(in srgb,
 color-mix(in srgb,var(--good) calc(var(--s)*1%),var(--bad)) 26%,var(--paper))}
td.share small{display:block;color:var(--soft);font-size:.72rem}
td.share b{font-weight:600}td.words,th.words{white-space:normal;text-align:left;max-width:34rem}
.ghosts{display:flex;flex-wrap:wrap;gap:.8rem 1.2rem}.ghosts figure{margin:0}
.ghosts path{fill:var(--c);stroke:var(--c);fill-opacity:.12;stroke-width:1.3;stroke-linejoin:round}
.ghosts figcaption{font-size:.8rem;color:var(--soft)}
"""


def write_audit(result: Audit, path: str | Path) -> None:
    """Write the page."""
    place = page_path(path)
    colors = palette(result.laws)
    head, film = _film(result)
    kind = "depends" if result.depends else "" if result.finding.decided else "open"
    reasons = "".join(f"<li>{html.escape(text)}.</li>" for text in result.finding.because)
    text = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'><title>sesshoku audit</title>"
        f"<style>{STYLE}{OWN_STYLE}</style>{head}</head><body><header><h1>Does it depend on the simulator?</h1>"
        f"<p class='verdict {kind}'>{html.escape(result.verdict)}</p></header>"
        f"{'<ul>' + reasons + '</ul>' if reasons else ''}{_map(result, colors)}{_case(result, colors, film)}"
        f"{_contacts(result, colors)}{_setting(result)}<footer>sesshoku {__version__}</footer></body></html>\n")
    with written_file(place) as part:
        part.write_text(text, encoding="utf-8")


def palette(laws: list[str]) -> dict[str, str]:
    """law -> class of its colour."""
    bases = list(dict.fromkeys(base(law) for law in laws if law != KEY))
    return {law: "peer" if law == KEY else f"hue{bases.index(base(law)) % HUES}" for law in laws}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _law(law: str, colors: dict[str, str]) -> str:
    return f"<th><span class='swatch {colors[law]}'></span>{html.escape(law)}</th>"


def _share(share: Share) -> str:
    if not share.total:
        return "<td>–</td>"
    low, high = share.interval
    return (f"<td class='share' style='--s:{100 * share.value:.0f}'><b>{percent(share.value)}</b>"
            f"<small>{percent(low)} to {percent(high)}; {share.total}</small></td>")


def _map(result: Audit, colors: dict[str, str]) -> str:
    """Success of every law, over all runs and along every condition."""
    parts = [(c, *result.cells(c)) for c in result.mapped]
    top = "".join(f"<th colspan='{len(heads)}' style='text-align:center'>by {html.escape(c.name)}</th>"
                  for c, heads, _ in parts)
    heads = "".join(f"<th>{html.escape(head)}</th>" for _, names, _ in parts for head in names)
    rows = []
    for law in result.laws:
        if law in result.refused:
            rows.append(f"<tr>{_law(law, colors)}<td class='refused' colspan='{2 + sum(len(p[1]) for p in parts)}'>"
                        f"refused: {html.escape(result.refused[law])}</td></tr>")
            continue
        cells = "".join(_share(share) for _, _, found in parts for share in found[law])
        rows.append(f"<tr>{_law(law, colors)}{_share(result.share(law))}{cells}"
                    f"<td class='words'>{html.escape(result.how_it_ended(law)) or '–'}</td></tr>")
    above = f"<tr><th></th><th></th>{top}<th></th></tr>" if parts else ""
    return (f"<section><h2>Successes</h2><p class='meta'>Share of runs, Wilson's 95 % interval, number of runs. All "
            f"laws ran the same conditions and seeds.</p><div class='scroll'><table><thead>{above}<tr><th>law</th>"
            f"<th>all runs</th>{heads}<th class='words'>failures</th></tr></thead>{''.join(rows)}</table></div>"
            "</section>")


def _case(result: Audit, colors: dict[str, str], film: str) -> str:
    """One run under all laws: where they part, and the contact that made the difference."""
    case = result.case
    if case is None:
        return ""
    endings = "".join(f"<tr>{_law(law, colors)}<td class='words'>{html.escape(ending.end)}</td></tr>"
                      for law, ending in case.endings.items())
    partings = "".join(_parting(parting) for parting in case.partings)
    told = (f"<h3>Where they part</h3><div class='scroll'><table><thead><tr><th>laws</th><th>part at</th><th>body</th>"
            f"<th>apart</th><th class='words'>contact that made the difference</th><th>begins at</th>"
            f"<th>impulse differs by</th><th>law</th><th>pressed by</th><th>friction</th><th>slip</th><th>depth</th>"
            f"</tr></thead>{partings}</table></div>") if partings else "<p>The laws do not part in it.</p>"
    scene = nominal_scene(result.setting)
    times = [parting.time for parting in case.partings[:1]]
    return (f"<section><h2>One run that tells</h2><p class='meta'>{html.escape(_capital(str(case)))}</p>"
            f"<div class='scroll'><table><thead><tr><th>law</th><th class='words'>ending</th></tr></thead>{endings}"
            f"</table></div>{told}{film}<h3>One over the other</h3>{ghosts(scene, case.outcomes, colors, times)}"
            f"{side_views(scene, case.outcomes, colors)}</section>")


def _parting(parting: Parting) -> str:
    pair = "–" if parting.pair is None else " and ".join(parting.pair)
    if parting.untouched is not None:
        pair = f"none: {parting.untouched} had touched nothing when it began"
    rows = []
    for n, (law, felt) in enumerate(zip(parting.laws, (parting.first, parting.second))):
        lead = (f"<th rowspan='2'>{html.escape(' and '.join(parting.laws))}</th>"
                f"<td rowspan='2'>{parting.time:.3f} s</td><td rowspan='2'>{html.escape(parting.body)}</td>"
                f"<td rowspan='2'>{say(parting.distance, 'm')}</td>"
                f"<td rowspan='2' class='words'>{html.escape(pair)}</td><td rowspan='2'>{parting.since:.3f} s</td>"
                f"<td rowspan='2'>{say(parting.impulse, 'N s')}</td>") if n == 0 else ""
        rows.append(f"<tr>{lead}<td>{html.escape(law)}</td>{_felt(felt)}</tr>")
    return "".join(rows)


def _felt(felt: Felt | None) -> str:
    if felt is None:
        return "<td colspan='4'>does not touch</td>"
    return (f"<td>{felt.normal:.4g} N</td><td>{felt.friction:.4g} N</td><td>{say(felt.slip, 'm/s')}</td>"
            f"<td>{say(felt.depth, 'm')}</td>")


def _contacts(result: Audit, colors: dict[str, str], most: int = 6) -> str:
    """What the pairs that carry the most did under every law."""
    touched = {law: result.touches(law) for law in result.laws if law not in result.refused}
    carried: dict[str, float] = {}
    for found in touched.values():
        for pair, one in found.items():
            carried[pair] = carried.get(pair, 0.0) + one["force"] * one["loaded"]
    shown = sorted(carried, key=lambda pair: -carried[pair])[:most]
    if not shown:
        return ""
    head = "".join(f"<th colspan='3' style='text-align:center'>{html.escape(pair)}</th>" for pair in shown)
    under = "<th>creep</th><th>slip</th><th>depth</th>" * len(shown)
    rows = "".join(f"<tr>{_law(law, colors)}{''.join(_means(found.get(pair)) for pair in shown)}</tr>"
                   for law, found in touched.items())
    return (f"<section><h2>What contacts do</h2><p class='meta'>Means over all runs while they carry load. Creep: "
            f"speed along the surface while friction is within its bound, where Coulomb's law says 0. Slip: speed "
            f"altogether.</p>"
            f"<div class='scroll'><table><thead><tr><th></th>{head}</tr><tr><th>law</th>{under}</tr></thead>{rows}"
            f"</table></div></section>")


def _means(one: dict[str, float] | None) -> str:
    values = [math.nan] * 3 if one is None else [one["creep"], one["slip"], max(one["depth"], 0.0)]
    return "".join(f"<td>{html.escape(say(value, unit))}</td>" for value, unit in zip(values, ("m/s", "m/s", "m")))


def _setting(result: Audit) -> str:
    s = result.setting
    facts = {"controller": s.controller, "robot": s.robot or "the controller's own scene",
             "conditions": "; ".join(map(str, s.conditions)) or "none",
             "success": s.success or "the controller's word, else upright",
             "runs": f"{len(result.study)}, {len(result.study.failed)} of them could not be made"}
    return "<section><h2>Setting</h2><dl>" + "".join(
        f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts.items()) + "</dl></section>"


def _film(result: Audit) -> tuple[str, str]:
    """The telling run played side by side; empty without the extra `view`."""
    if result.case is None:
        return "", ""
    scene: Any = nominal_scene(result.setting)
    outcomes = result.case.outcomes
    head, found = players([Comparison(scene.name, 0.0, 0.0, [], outcomes, subject=scene)])
    return head, found[0]
