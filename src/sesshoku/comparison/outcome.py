"""What a method made of a scene: `Outcome`, the `Watcher` that fills it, and the table of all, `Comparison`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS, RELEASED
from sesshoku.scene.calls import checked

SAMPLES = 400  # most samples kept of a run, for the plots


@dataclass
class Outcome:
    """What one method made of the scene. `refused`: why it did not run (or stopped), else None."""

    method: str
    refused: str | None = None
    seconds_per_step: float = float("nan")
    measures: dict[str, float] = field(default_factory=dict)
    positions: dict[str, np.ndarray] = field(default_factory=dict)  # watched body -> final position
    time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    traces: dict[str, np.ndarray] = field(default_factory=dict)  # name -> samples, for the plots


#: measure -> (heading, unit, what it means)
MEASURES = {
    "travel": ("travel", "m", "how far the first watched body came, along the floor"),
    "lift": ("lift", "m", "highest rise of the first watched body's centre of mass above its start"),
    "slip": ("slip", "m", "path slipped by the fastest contact point"),
    "penetration": ("depth", "m", "deepest overlap after the first tenth of the run"),
    "energy_change": ("energy", "J", "total energy at the end minus at the start"),
    "energy_gain": ("gain", "J", "most kinetic energy that contact and constraint impulses added in a step"),
    "residual": ("residual", "m/s", "median violation of the contact law"),
    "residual_max": ("worst", "m/s", "largest violation of the contact law"),
    "unconverged": ("unconv.", "%", "share of steps that did not reach the tolerance"),
}


def slip_speed(sim: Any) -> float:
    """Tangential speed of the fastest contact that carries force, m/s."""
    contacts = sim.records.get("contacts")
    if contacts is None or contacts.counts[CONTACTS] == 0:
        return 0.0
    count = contacts.counts[CONTACTS]
    return float(np.where(contacts.state[:count] != RELEASED, contacts.slip[:count], 0.0).max())


class Watcher:
    """Follows a run step by step and turns it into an Outcome's numbers and traces."""

    def __init__(self, watched: list[str], steps: int) -> None:
        self.watched, self.stride = watched, max(steps // SAMPLES, 1)
        self.count = 0
        self.slip = 0.0
        self.residuals: list[float] = []
        self.unconverged = 0
        self.energies: list[float] = []
        self.gain = 0.0
        self.depths: list[float] = []
        self.lift = 0.0
        self.rows: list[tuple[float, float, float, float, float]] = []
        self.start: np.ndarray | None = None
        self.last: dict[str, np.ndarray] = {}

    def sample(self, sim: Any) -> None:
        """Take in the state after a step (and the start)."""
        energy = float(sum(sim.energy()))
        report = sim.report
        self.last = {name: sim.bodies[name].position for name in self.watched}
        center = sim.bodies[self.watched[0]].center_of_mass if self.watched else np.zeros(3)
        if self.start is None:
            self.start = center.copy()
        else:
            self.residuals.append(report.residual)
            self.unconverged += not report.converged
            self.slip += sim.dt * slip_speed(sim)
            self.gain = max(self.gain, report.energy_change)
        self.lift = max(self.lift, float(center[2] - self.start[2]))
        self.energies.append(energy)
        self.depths.append(report.penetration)
        if self.count % self.stride == 0:
            self.rows.append((sim.time, float(np.linalg.norm((center - self.start)[:2])), energy, report.penetration,
                              report.residual))
        self.count += 1

    def write(self, outcome: Outcome, spent: float) -> None:
        """Fill the outcome."""
        steps = max(self.count - 1, 1)
        settled = self.depths[len(self.depths) // 10:]
        rows = np.array(self.rows).reshape(-1, 5)
        travel = 0.0 if self.start is None or not self.watched else rows[-1, 1]
        outcome.seconds_per_step = spent / steps
        outcome.positions = self.last
        outcome.measures = {
            "travel": float(travel), "lift": self.lift, "slip": self.slip, "penetration": max(settled, default=0.0),
            "energy_change": self.energies[-1] - self.energies[0], "energy_gain": self.gain,
            "residual": float(np.median(self.residuals)) if self.residuals else 0.0,
            "residual_max": max(self.residuals, default=0.0), "unconverged": 100.0 * self.unconverged / steps,
        }
        outcome.time = rows[:, 0]
        outcome.traces = {"travel": rows[:, 1], "energy": rows[:, 2], "penetration": rows[:, 3], "residual": rows[:, 4]}


@checked
@dataclass
class Comparison:
    """The outcomes of all methods on one scene."""

    scene: str
    duration: float
    dt: float
    watched: list[str]
    outcomes: list[Outcome]

    def __getitem__(self, method: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.method == method:
                return outcome
        raise KeyError(method)

    def table(self, title: str | None = None) -> Any:
        """A rich table: one row a method."""
        from rich.table import Table

        table = Table(title=title or f"{self.scene}: {self.duration:g} s, dt {self.dt:g} s", title_justify="left")
        table.add_column("method", no_wrap=True)
        for heading, unit, _ in MEASURES.values():
            table.add_column(f"{heading}\n{unit}", justify="right", no_wrap=True)
        table.add_column("step\nµs", justify="right", no_wrap=True)
        for outcome in self.outcomes:
            if not outcome.measures:
                table.add_row(outcome.method, f"[yellow]{outcome.refused}[/]")
                continue
            cells = [f"{outcome.measures[name]:.2e}" if name not in ("travel", "unconverged") else
                     f"{outcome.measures[name]:.4g}" for name in MEASURES]
            label = outcome.method + (f" [red]({outcome.refused})[/]" if outcome.refused else "")
            table.add_row(label, *cells, f"{outcome.seconds_per_step * 1e6:.1f}")
        return table

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"scene": self.scene, "time": self.duration, "dt": self.dt, "methods": [
            {"method": o.method, "refused": o.refused, "step_us": None if not o.measures else o.seconds_per_step * 1e6,
             "positions": {name: place.tolist() for name, place in o.positions.items()}, **o.measures}
            for o in self.outcomes]}

    def to_html(self, path: str | Path) -> None:
        """One self-contained page: table, meanings, plots."""
        from sesshoku.comparison.page import write_page

        write_page([self], path)
