"""What a method made of a scene: `Outcome`, its measures, and all of them side by side, `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.recording.film import Look
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Scene


@dataclass(frozen=True)
class Measure:
    """A column of the table. rank: the smaller, the sooner it is shown where a terminal is narrow."""

    heading: str
    unit: str
    meaning: str
    rank: int


MEASURES = {
    "travel": Measure("travel", "m", "how far the first watched body's centre of mass came, along the floor", 0),
    "height": Measure("height", "m", "height of its centre of mass at the end", 4),
    "turned": Measure("turned", "°", "angle between its orientations at the start and at the end", 5),
    "lift": Measure("lift", "m", "highest rise of its centre of mass above the start", 7),
    "slip": Measure("slip", "m", "way slipped at contacts: speed of the fastest contact that carries force, summed", 3),
    "penetration": Measure("depth", "m", "deepest overlap of two bodies after the first tenth of the run", 2),
    "energy_change": Measure("energy", "J", "total energy at the end minus at the start", 6),
    "energy_gain": Measure("gain", "J", "most kinetic energy that contact and constraint impulses added in a step", 9),
    "residual": Measure("law error", "m/s", "violation of the method's own contact law, median over the steps", 8),
    "residual_max": Measure("worst", "m/s", "largest violation of the method's own contact law", 10),
    "unconverged": Measure("unconv.", "%", "share of steps whose solver did not reach its tolerance", 11),
    "step": Measure("step", "s", "wall time of a step called from Python, mean; a busy machine shows in it", 1),
}
EXACT = "closed form"


@dataclass
class Outcome:
    """What one method made of the scene. `refused`: why it did not run (or stopped), else None."""

    method: str
    refused: str | None = None
    measures: dict[str, float] = field(default_factory=dict)
    report: dict[str, float] = field(default_factory=dict)  # field of Report -> its worst step
    positions: dict[str, np.ndarray] = field(default_factory=dict)  # watched body -> final position
    time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    traces: dict[str, np.ndarray] = field(default_factory=dict)  # name -> samples, for the plots
    frames: list[tuple[float, np.ndarray]] = field(default_factory=list)  # time, poses (F, 7): for the picture
    film: list[tuple[float, np.ndarray, Look | None]] = field(default_factory=list)  # time, poses, contacts: to play
    remark: str = ""  # how the run ended, in words, where the controller can tell
    left_out: tuple[str, ...] = ()  # what of the scene the method does not know
    asked: str = ""  # the name it was asked for by, where the label is another: "exact:recommended", "mujoco"

    @property
    def ran(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.measures)

    @property
    def seconds_per_step(self) -> float:
        return self.measures.get("step", math.nan)


@checked
@dataclass(repr=False)
class Comparison:
    """The outcomes of all methods on one scene, by name as it was asked for: `result["lcp"]`, `result["mujoco"]`.

    expected: measure -> (value, within): answers known in closed form.
    """

    scene: str
    duration: float
    dt: float
    watched: list[str]
    outcomes: list[Outcome]
    expected: dict[str, tuple[float, float]] = field(default_factory=dict)
    subject: Scene | None = None
    title: str = ""
    note: str = ""
    measures: dict[str, Measure] = field(default_factory=lambda: dict(MEASURES))  # the columns

    def __getitem__(self, method: str) -> Outcome:
        found: Outcome | None = self.get(method)
        if found is None:
            raise unknown("method", method, dict.fromkeys([*self, *(outcome.method for outcome in self.outcomes)]))
        return found

    def __iter__(self) -> Iterator[str]:
        """The names of the rows, as they were asked for: "mujoco"."""
        return iter([outcome.asked or outcome.method for outcome in self.outcomes])

    def __contains__(self, method: object) -> bool:
        return any(method in (outcome.method, outcome.asked) for outcome in self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def keys(self) -> list[str]:
        """The names of the rows, as they were asked for."""
        return list(self)

    def get(self, method: str, default: Any = None) -> Any:
        """The outcome of a method, or the default where it was not asked for."""
        found = [outcome for outcome in self.outcomes if method in (outcome.method, outcome.asked)]
        return found[0] if found else default

    def __repr__(self) -> str:
        """A short table: the measures that matter most, as many as stand in a line, and how runs ended."""
        from sesshoku.comparison.table import plain_table

        return plain_table(self)

    def _repr_html_(self) -> str:
        """In a notebook: the page that `to_html` writes, in a frame."""
        from sesshoku.comparison.page import page_text
        from sesshoku.recording.notebook import framed

        return framed(page_text([self]), height=640)

    def hits(self, outcome: Outcome, measure: str) -> bool | None:
        """Whether a measure agrees with its closed form; None where there is none, or nothing was measured."""
        value = outcome.measures.get(measure, math.nan)
        if measure not in self.expected or math.isnan(value):
            return None
        wanted, within = self.expected[measure]
        return abs(value - wanted) <= within

    def table(self, title: str | None = None) -> Any:
        """A rich table: one row a method, every measure a column."""
        from sesshoku.comparison.table import tables

        made = tables(self, title)[0]
        made.caption, made.caption_justify, made.caption_style = "\n".join(self.endings()) or None, "left", ""
        return made

    def tables(self, width: int, title: str | None = None) -> list[Any]:
        """The same as tables of at most `width` characters, as many as all the columns need; `endings` goes below."""
        from sesshoku.comparison.table import tables

        return tables(self, title, width)

    def endings(self) -> list[str]:
        """Who was refused or stopped and why, who left out what, and how runs ended: a line each, with rich's marks."""
        from sesshoku.comparison.table import endings

        return endings(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; what was not measured is None."""
        return {
            "scene": self.scene, "time": self.duration, "dt": self.dt, "watched": self.watched,
            "expected": {name: {"value": value, "within": within} for name, (value, within) in self.expected.items()},
            "methods": [self._row(outcome) for outcome in self.outcomes],
        }

    def _row(self, o: Outcome) -> dict[str, Any]:
        agrees = {name: self.hits(o, name) for name in self.expected}
        said = {"end": o.remark} if o.remark else {}
        return {
            "method": o.method, "refused": o.refused, "left_out": list(o.left_out), **said,
            **{name: plain(value) for name, value in o.measures.items()},
            "agrees": agrees, "report": {name: plain(value) for name, value in o.report.items()},
            "positions": {name: place.tolist() for name, place in o.positions.items()},
        }

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained page: table, picture, plots, meanings."""
        from sesshoku.comparison.page import write_page

        write_page([self], path)


def plain(value: float) -> float | None:
    """A number that JSON can say, or None."""
    return float(value) if math.isfinite(value) else None


def check_expected(expected: Mapping[str, Any] | None) -> dict[str, tuple[float, float]]:
    """measure -> (value, within) from what a user gave; a bare number means within 1 %."""
    found = {}
    if not isinstance(expected, (Mapping, type(None))):
        raise SceneError("expected answers are a dict", element="expected", value=expected,
                         remedy='such as {"travel": 9.8} or {"travel": (9.8, 0.01)}')
    for name, given in (expected or {}).items():
        if name not in MEASURES:
            raise SceneError("no such measure", element="expected", value=name,
                             remedy=f"measures: {', '.join(MEASURES)}")
        pair = given if isinstance(given, (tuple, list)) else (given, None)
        if len(pair) != 2:
            raise SceneError(f"{name} is a value, or (value, within)", element="expected", value=given)
        value = check.number(pair[0], name, "expected")
        within = 0.01 * abs(value) if pair[1] is None else check.number(pair[1], f"within of {name}", "expected",
                                                                         least=0.0)
        found[name] = (value, within)
    return found
