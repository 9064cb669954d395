"""What an experiment is: a function that measures, a list of checks, a figure."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sesshoku.errors import RecordingError, SceneError, SesshokuError
from sesshoku.recording.plot import COLORS, STYLE

#: name -> module; each has `TITLE`, `run(progress) -> Result`
EXPERIMENTS = {
    "lcp/model": "sesshoku.experiments.lcp.model",
    "lcp/pivoting": "sesshoku.experiments.lcp.pivoting",
    "lcp/landing": "sesshoku.experiments.lcp.landing",
    "lcp/sliding": "sesshoku.experiments.lcp.sliding",
    "lcp/pyramids": "sesshoku.experiments.lcp.pyramids",
    "lcp/bush": "sesshoku.experiments.lcp.bush",
    "lcp/time": "sesshoku.experiments.lcp.time",
    "lcp/sensitivity": "sesshoku.experiments.lcp.sensitivity",
    "lcp/oscillation": "sesshoku.experiments.lcp.oscillation",
    "lcp/stepping": "sesshoku.experiments.lcp.stepping",
    "lcp/walk19": "sesshoku.experiments.lcp.walk19",
    "exact/targets": "sesshoku.experiments.exact.targets",
    "exact/solvers": "sesshoku.experiments.exact.solvers",
    "exact/convex-flies": "sesshoku.experiments.exact.convex_flies",
    "exact/landing": "sesshoku.experiments.exact.landing",
    "exact/walk": "sesshoku.experiments.exact.walk",
    "exact/pushes": "sesshoku.experiments.exact.pushes",
    "exact/robustness": "sesshoku.experiments.exact.robustness",
    "multipoint/model": "sesshoku.experiments.multipoint.model",
    "multipoint/states": "sesshoku.experiments.multipoint.states",
    "multipoint/sliding": "sesshoku.experiments.multipoint.sliding",
    "multipoint/sticking": "sesshoku.experiments.multipoint.sticking",
    "multipoint/tipping": "sesshoku.experiments.multipoint.tipping",
    "multipoint/landing": "sesshoku.experiments.multipoint.landing",
    "multipoint/energy": "sesshoku.experiments.multipoint.energy",
    "multipoint/threshold": "sesshoku.experiments.multipoint.threshold",
    "multipoint/walk": "sesshoku.experiments.multipoint.walk",
    "multipoint/fall": "sesshoku.experiments.multipoint.fall",
    "multipoint/jump": "sesshoku.experiments.multipoint.jump",
    "springs/fig8.1": "sesshoku.experiments.springs.thesis.fig8_1",
    "springs/fig8.2": "sesshoku.experiments.springs.thesis.fig8_2",
    "springs/fig8.3": "sesshoku.experiments.springs.thesis.fig8_3",
    "springs/fig8.4": "sesshoku.experiments.springs.thesis.fig8_4",
    "springs/fig8.5": "sesshoku.experiments.springs.thesis.fig8_5",
    "springs/table8.1": "sesshoku.experiments.springs.thesis.table8_1",
    "springs/fig8.6": "sesshoku.experiments.springs.thesis.fig8_6",
    "springs/fig8.7": "sesshoku.experiments.springs.thesis.fig8_7",
    "springs/fig8.8": "sesshoku.experiments.springs.thesis.fig8_8",
    "springs/fig8.9": "sesshoku.experiments.springs.thesis.fig8_9",
    "springs/fig8.10": "sesshoku.experiments.springs.thesis.fig8_10",
    "springs/fig8.11": "sesshoku.experiments.springs.thesis.fig8_11",
    "springs/fig8.12": "sesshoku.experiments.springs.thesis.fig8_12",
    "springs/fig8.13": "sesshoku.experiments.springs.thesis.fig8_13",
    "springs/trends": "sesshoku.experiments.springs.trends",
    "springs/edges": "sesshoku.experiments.springs.edges",
    "springs/sensitivity": "sesshoku.experiments.springs.sensitivity",
    "springs/constraint-friction": "sesshoku.experiments.springs.constraint_friction",
    "springs/cost": "sesshoku.experiments.springs.cost",
    "springs/crane": "sesshoku.experiments.springs.crane",
    "springs/crane-methods": "sesshoku.experiments.springs.crane_methods",
    "volume/fig8": "sesshoku.experiments.volume.fig8",
    "volume/table1": "sesshoku.experiments.volume.table1",
    "volume/sensitivity": "sesshoku.experiments.volume.sensitivity",
    "implicit/fig2": "sesshoku.experiments.implicit.fig2",
    "implicit/table1": "sesshoku.experiments.implicit.table1",
    "implicit/scaling": "sesshoku.experiments.implicit.scaling",
    "implicit/fall": "sesshoku.experiments.implicit.fall",
    "implicit/sensitivity": "sesshoku.experiments.implicit.sensitivity",
    "implicit/soles": "sesshoku.experiments.implicit.soles",
    "implicit/walk": "sesshoku.experiments.implicit.walk",
}


@dataclass(frozen=True)
class Check:
    """One measured number against what is expected: |measured - expected| <= tolerance (or the stated comparison)."""

    name: str
    measured: float
    expected: float
    tolerance: float
    unit: str = ""
    kind: str = "near"  # near, at_most, at_least, report

    @property
    def passed(self) -> bool:
        if self.kind == "report":
            return True
        if self.kind == "at_most":
            return bool(self.measured <= self.expected + self.tolerance)
        if self.kind == "at_least":
            return bool(self.measured >= self.expected - self.tolerance)
        return bool(abs(self.measured - self.expected) <= self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "measured": float(self.measured), "expected": float(self.expected),
                "tolerance": float(self.tolerance),
                "unit": self.unit, "kind": self.kind, "passed": self.passed}


@dataclass(frozen=True)
class Table:
    """Rows of plain values to print and keep beside the checks."""

    title: str
    columns: list[str]
    rows: list[list[Any]]


@dataclass
class Result:
    """What an experiment found. `draw(figure)` draws it."""

    checks: list[Check]
    draw: Callable[[Any], None]
    values: dict[str, Any] = field(default_factory=dict)
    figure_size: tuple[float, float] = (9.0, 5.0)
    tables: list[Table] = field(default_factory=list)
    recordings: dict[str, Any] = field(default_factory=dict)  # label -> Recording, to be played again

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def load(name: str) -> Any:
    """The module of an experiment."""
    if name not in EXPERIMENTS:
        raise SceneError(
            "no such experiment", element=f"experiment {name!r}", remedy=f"experiments: {', '.join(EXPERIMENTS)}"
        )
    return importlib.import_module(EXPERIMENTS[name])


def title(name: str) -> str:
    return str(load(name).TITLE)


def run(name: str, folder: Path | None = None, progress: Callable[[str], None] = lambda text: None) -> Result:
    """Run an experiment; with a folder, write its figure and its numbers there."""
    module = load(name)
    if folder is not None:  # now, not after the run
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingError(f"{folder}: no folder can be made there ({error.strerror})") from error
    result: Result = module.run(progress)
    if folder is not None:
        import json

        import matplotlib
        from cycler import cycler
        from matplotlib.figure import Figure

        stem = folder / name.replace("/", "_")
        with matplotlib.rc_context(STYLE | {"axes.prop_cycle": cycler(color=COLORS), "axes.titlesize": 10}):
            figure = Figure(figsize=result.figure_size, dpi=110, layout="constrained")
            result.draw(figure)
            figure.savefig(stem.with_name(f"{stem.name}.png"))  # names have dots of their own
        stem.with_name(f"{stem.name}.json").write_text(json.dumps(as_dict(name, result), indent=1) + "\n")
        for label, recording in result.recordings.items():
            place = stem.with_name(f"{stem.name}_{label.replace(', ', '_').replace(' ', '-').replace(':', '-')}")
            recording.save(place.with_name(f"{place.name}.npz"))
            if hasattr(recording, "to_html"):
                try:
                    recording.to_html(place.with_name(f"{place.name}.html"))
                except SesshokuError as error:  # the extra that makes pages is not installed
                    progress(str(error))
    return result


def as_dict(name: str, result: Result) -> dict[str, Any]:
    found = {"name": name, "title": title(name), "verdict": "pass" if result.passed else "fail",
            "checks": [check.as_dict() for check in result.checks], "values": result.values}
    if result.tables:
        found["tables"] = [{"title": table.title, "columns": table.columns, "rows": table.rows}
                           for table in result.tables]
    return found
