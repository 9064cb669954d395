"""The page and the tables of `compare`: whole, self-contained, readable numbers."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as xml
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import sesshoku as ss
from sesshoku.comparison.chart import Line, line_chart, nice_ticks
from sesshoku.comparison.outcome import MEASURES, Comparison
from sesshoku.comparison.page import palette, write_page
from sesshoku.comparison.silhouette import _floor, hull, outlines
from sesshoku.comparison.table import say, summary
from sesshoku.experiments.scenes import crate_on_floor

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Checks that every tag is closed in order, and gathers tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.tags)


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def result() -> Comparison:
    scene = crate_on_floor(1.0)
    scene.name = "crates & <b>barrels</b>"
    return ss.compare(scene, time=0.3, dt=2e-3, peers=["mujoco"], expected={"travel": (0.0, 1e-3), "turned": (0.0, 1)})


def test_the_page_stands_alone(result: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra `view`; with it, see below."""
    monkeypatch.setattr("sesshoku.view.embed.player_head", lambda: "")
    result.to_html(tmp_path / "report.html")
    page, raw = read(tmp_path / "report.html"), (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("script") == page.count("link") == page.count("img") == 0
    assert not re.search(r"https?://|url\(|@import|src=", raw)  # nothing is fetched
    assert "prefers-color-scheme: dark" in raw
    assert "crates & <b>barrels</b>" in page.text and page.count("b") == 1  # the name is text; one <b> is the page's
    for outcome in result.outcomes:
        assert outcome.method in page.text
    for measure in MEASURES.values():
        assert measure.heading in page.text and measure.meaning in page.text
    charts = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") == "chart"]
    assert len(charts) == 6
    assert sum(tag == "figure" for tag, _ in page.tags) == len(result.outcomes)  # a side view each
    assert "nan" not in page.text.replace("unannounced", "") and len(raw) < 400_000


def test_with_the_viewer_the_runs_can_be_played_and_nothing_is_fetched(tmp_path: Path) -> None:
    pytest.importorskip("nicegui", reason="the extra `view` is not installed")
    scene = crate_on_floor(1.0)
    scene.name = "crates & <b>barrels</b>"
    ss.compare(scene, ["exact", "lcp"], time=0.1, dt=2e-3).to_html(tmp_path / "report.html")
    page = read(tmp_path / "report.html")
    players = [a for tag, a in page.tags if tag == "div" and "data-playback" in a]
    data = [a for tag, a in page.tags if tag == "script" and a.get("id") == "player0"]
    assert len(players) == len(data) == 1 and players[0]["data-playback"] == "player0"
    assert not any(name in ("src", "href") for _, attributes in page.tags for name in attributes)
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    raw = re.sub(r"(<script type='text/plain'[^>]*>)[^<]*", r"\1", raw)
    assert not re.search(r"https?://|url\(|@import|src=", raw) and page.count("b") == 1


def test_hits_and_misses_are_marked(result: Comparison, tmp_path: Path) -> None:
    result.to_html(tmp_path / "report.html")
    marks = [a["class"] for tag, a in read(tmp_path / "report.html").tags if tag == "td" and "class" in a]
    assert marks.count("miss") == len(result.outcomes)  # nobody stays at 0
    assert marks.count("hit") == len(result.outcomes)  # nobody turns


def test_several_scenes_with_a_table_on_top(result: Comparison, tmp_path: Path) -> None:
    write_page([result, result], tmp_path / "two.html", "two", "of a kind", ["travel", "step"], ["goes", "takes"])
    page = read(tmp_path / "two.html")
    assert page.count("section") == 3 and page.text.count("of a kind") == 1
    assert any(a.get("class") == "glance" for _, a in page.tags)


def test_refused_methods_are_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sesshoku.methods import lcp

    monkeypatch.setattr(lcp, "METHOD", replace(lcp.METHOD, supports=lambda compiled: ["too <heavy>"]))
    refused = ss.compare(crate_on_floor(), ["lcp", "none"], time=0.01)
    refused.to_html(tmp_path / "report.html")
    assert "too <heavy>" in read(tmp_path / "report.html").text
    assert "refused" in shown(refused.table()) and "too <heavy>" in shown(refused.table())
    every = ss.compare(crate_on_floor(), ["lcp"], time=0.01)
    every.to_html(tmp_path / "none.html")
    assert "too <heavy>" in read(tmp_path / "none.html").text


@pytest.mark.parametrize("path", ["no/where.html", "."])
def test_a_page_that_cannot_be_written_says_so(result: Comparison, path: str, tmp_path: Path) -> None:
    with pytest.raises(ss.RecordingError, match="no folder|is a folder"):
        result.to_html(tmp_path / path)


def test_presets_are_solid_and_share_their_papers_hue(result: Comparison) -> None:
    colors = palette([result])
    assert colors["lcp"] == "hue0 dashed" and colors["lcp:recommended"] == "hue0" and colors["MuJoCo"] == "peer"


# ---- numbers and tables ----------------------------------------------------------------------------------------------


def test_the_page_explains_only_what_it_shows(result: Comparison, tmp_path: Path) -> None:
    said = ("Green agrees", "Dashed curves", "MuJoCo runs")
    write_page([result], tmp_path / "all.html")
    lone = replace(result, outcomes=[result["exact"]], expected={})
    write_page([lone], tmp_path / "one.html")
    whole, one = ((tmp_path / name).read_text(encoding="utf-8") for name in ("all.html", "one.html"))
    assert all(words in whole for words in said) and not any(words in one for words in said)
    assert "start is outlined" in whole and "start is outlined" in one


@pytest.mark.parametrize(("value", "unit", "text"), [
    (9.8, "m", "9.800 m"), (0.5, "m", "0.5000 m"), (0.0123, "m", "12.30 mm"), (-4.56e-6, "J", "-4.560 µJ"),
    (2e-9, "m", "2.000 nm"), (1e-12, "m", "0 m"), (0.0, "J", "0 J"), (123456.0, "N", "1.235e+05 N"),
    (12.34, "°", "12.3°"), (1e-5, "°", "0°"), (4.0, "%", "4 %"), (math.nan, "m", "-"), (26.5e-6, "s", "26.50 µs"),
])
def test_numbers_as_people_read_them(value: float, unit: str, text: str) -> None:
    assert say(value, unit) == text


def shown(made: object, width: int = 200) -> str:
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(made)
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_narrow_terminal_gets_several_tables_and_every_column(result: Comparison, width: int) -> None:
    texts = [shown(table, width) for table in result.tables(width)]
    headings = [column.header for table in result.tables(width) for column in table.columns]
    assert sorted(headings) == sorted(["method"] * len(texts) + [measure.heading for measure in MEASURES.values()])
    for text in texts:
        assert "…" not in text
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width
        for outcome in result.outcomes:
            assert outcome.method in text
    assert len(texts) > 1 and "travel" in texts[0] and "closed form" in texts[0]  # what has a closed form comes first


def test_how_runs_ended_is_told_once(result: Comparison) -> None:
    outcomes = [replace(outcome, remark="fell over") for outcome in result.outcomes]
    ended = replace(result, outcomes=outcomes)
    assert [line.rpartition(": ")[2] for line in ended.endings()] == ["fell over"] * len(outcomes)
    assert str(ended.table().caption).count("fell over") == len(outcomes)
    assert all(table.caption is None for table in ended.tables(80))


def test_the_whole_table_has_every_column(result: Comparison) -> None:
    text = shown(result.table())
    for measure in MEASURES.values():
        assert measure.heading in text


def test_the_summary_has_a_column_a_scene(result: Comparison) -> None:
    text = shown(summary([result, result], ["travel", "height"], ["goes", "stands at"]))
    assert "goes" in text and "stands at" in text
    rows = [line.split("  ")[0].strip() for line in text.splitlines() if line.strip()]
    assert rows[-1 - len(result.outcomes):] == ["closed form", *(o.method for o in result.outcomes)]


# ---- charts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0.0, 9.8), (-3e-7, 4e-7), (499.0, 501.0), (0.0, 0.0), (1e6, 9e6)])
def test_ticks_are_round_and_cover(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low and ticks[-1] >= high and 2 <= len(ticks) <= 8
    step = ticks[1] - ticks[0]
    assert round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6) in (1.0, 2.0, 5.0, 10.0)


def curves(text: str) -> list[str]:
    return [str(path.get("d")) for path in xml.fromstring(text).iter("path")]


def test_a_chart_is_valid_svg_with_one_curve_a_line() -> None:
    t = np.linspace(0, 2, 50)
    text = line_chart("a < b", "m", [Line("one & two", "curve hue0", t, t**2), Line("x", "curve peer", t, -t)],
                      levels=[(1.0, "closed form")])
    assert len(curves(text)) == 2 and "a &lt; b" in text and "closed form" in text
    x, y = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", curves(text)[0]), dtype=float).T
    assert (np.diff(x) > 0).all() and (np.diff(y) <= 0).all()  # upwards is less y


def test_gaps_and_zeros_of_a_logarithmic_chart() -> None:
    t = np.arange(6.0)
    [path] = curves(line_chart("", "", [Line("", "c", t, np.array([1e-3, 1e-4, 0.0, np.nan, 1e-5, 0.0]))], log=True))
    assert path.count("M") == 2 and path.count("L") == 1 and "nan" not in path
    for log in (False, True):
        assert "zero throughout" in line_chart("", "", [Line("", "c", t, np.zeros(6))], log=log)
    assert "nothing measured" in line_chart("", "", [Line("", "c", t, np.full(6, np.nan))])
    assert "nothing measured" in line_chart("", "", [])


def test_noise_does_not_fill_a_chart() -> None:
    t = np.linspace(0, 1, 20)
    [path] = curves(line_chart("", "", [Line("", "c", t, 0.5 + 1e-9 * np.sin(9 * t))]))
    heights = np.array(re.findall(r"[ML][\d.]+ ([\d.]+)", path), dtype=float)
    assert np.ptp(heights) < 1.0


def test_hulls(rng: np.random.Generator) -> None:
    from scipy.spatial import ConvexHull

    points = rng.normal(size=(40, 2))
    np.testing.assert_allclose(sorted(hull(points).tolist()), sorted(points[ConvexHull(points).vertices].tolist()))


def test_a_tilted_floor_is_drawn_tilted(tmp_path: Path) -> None:
    scene = ss.Scene()
    scene.add_ground(rotation=(np.cos(0.05), 0, np.sin(0.05), 0))  # 0.1 rad about y: falls towards x
    scene.add_sphere("ball", radius=0.5, mass=1.0, position=(2, 0, 3))
    heights = _floor(scene, np.array([[0, 0, 0, np.cos(0.05), 0, np.sin(0.05), 0]]), 0, -1.0, 1.0)
    assert heights is not None
    np.testing.assert_allclose(heights, [np.tan(0.1), -np.tan(0.1)], rtol=1e-9)


def test_outlines_of_a_box_are_its_side() -> None:
    scene = crate_on_floor()
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [2, 3, 0.5, 1, 0, 0, 0.0]])
    [side] = outlines(scene, poses, axis=1)
    np.testing.assert_allclose([side.min(axis=0), side.max(axis=0)], [[2.5, 0.0], [3.5, 1.0]])
