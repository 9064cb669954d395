"""A certificate of a run: how well every single step kept the contact law, momentum and energy.

    watch = Certificate(sim)
    sim.run(5.0, controller=watch)          # it is called before every step, and looks at the one before
    watch.look()                            # at the last one
    print(watch.summary()["certified"])

A run is certified if no step violates the law the method solves by more than `tolerance` (m/s), every change of
velocity is explained by an impulse to the same accuracy (as a speed of all that moves), no contact was left out for
want of room, nothing tunnelled, and no energy appeared that nothing accounts for (`recording.ledger`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.recording import ledger
from sesshoku.stages.report import CHANNELS

TOLERANCE = 1e-8  # m/s: what the exact solver calls solved
RANGES = 20  # stretches of time that are listed


class Certificate:
    """Collects the report of every step of a simulation; also a controller, around one of your own."""

    def __init__(self, sim: Any, tolerance: float = TOLERANCE, controller: Callable[[Any], None] | None = None) -> None:
        if not (isinstance(tolerance, (int, float)) and 0.0 < tolerance < float("inf")):
            raise SceneError("the tolerance of a certificate must be above zero", element="certify", value=tolerance)
        self.sim, self.tolerance, self.controller = sim, float(tolerance), controller
        self.times: list[float] = []
        self.reports: list[np.ndarray] = []
        self.start_energy = float(sum(sim.energy))
        self.ledger = ledger.Ledger(sim)
        self._seen = sim.time

    def __call__(self, sim: Any) -> None:
        self.look()
        if self.controller is not None:
            self.controller(sim)
        self.ledger.push()

    def look(self) -> None:
        """Take the report of the step just made, once."""
        if self.sim.time > self._seen:
            steps = round((self.sim.time - self._seen) / self.sim.dt)
            self._seen = self.sim.time
            self.times.append(self._seen)
            self.reports.append(np.array(self.sim.report_array))
            self.ledger.step(self.reports[-1], steps)

    def summary(self) -> dict[str, Any]:
        """What the steps came to, in plain values; `certified`, and where not the `reasons`."""
        report = np.array(self.reports).reshape(-1, len(CHANNELS))
        column = {name: report[:, n] for n, name in enumerate(CHANNELS)}
        times, dt, mass = np.array(self.times), self.sim.dt, float(np.sum(self.sim.model.link_mass))
        worst = _worst
        residual = column["residual"] if has_residual(self.sim.method) else np.zeros(len(times))
        above = ~(residual <= self.tolerance)
        imbalance = worst(column["momentum_residual"])
        unbalanced = ~(column["momentum_residual"] <= self.tolerance * max(mass, 1e-300))
        gain = column["energy_change"] - column["correction_work"]
        solved = bool(column["rows"].max(initial=0.0) > 0.0)
        found: dict[str, Any] = {
            "certified": False, "reasons": [], "tolerance": self.tolerance, "steps": len(times), "dt": dt,
            "residual": {"worst": worst(residual), "at": _at(times, residual),
                         "median": float(np.median(residual)) if len(residual) else 0.0,
                         "steps_above": int(above.sum()), "when": _ranges(times, above, dt)},
            "covers": self._covers(solved), "unconverged": int(np.sum(column["converged"] == 0.0)),
            "momentum_imbalance": imbalance,
            "energy": {"start": self.start_energy, "end": float(sum(self.sim.energy)),
                       "by_depth_correction": float(column["correction_work"].sum()),
                       "largest_gain_of_a_step": max(worst(gain, signed=True), 0.0), **self.ledger.summary(times)},
            "penetration": {"worst": worst(column["penetration"]), "at": _at(times, column["penetration"])},
            "cone_violation": worst(column["cone_violation"]), "limit_violation": worst(column["limit_violation"]),
            "loop_error": worst(column["loop_error"]),
            "tunnelling": {"steps": int(np.sum(column["tunnelling"] > 0)),
                           "when": _ranges(times, column["tunnelling"] > 0, dt)},
            "overflow": {"steps": int(np.sum(column["overflow"] > 0)),
                         "when": _ranges(times, column["overflow"] > 0, dt)},
        }
        found["reasons"] = self._reasons(found, int(unbalanced.sum()))
        found["certified"] = not found["reasons"]
        return found

    def _covers(self, solved: bool) -> str:
        """What the residual is of."""
        if not has_residual(self.sim.method):
            return "nothing: the method has no residual"
        law = "joint limits, joint friction and loops, but no contacts: the method has none"
        if self._has_contacts():
            law = f"the contact law of {self.sim.method.keyword!r}, joint limits, joint friction and loops"
        return law if solved else f"{law} (nothing was touched or held in this run)"

    def _has_contacts(self) -> bool:
        return getattr(self.sim.work, "contacts", None) is not None

    def _reasons(self, found: dict[str, Any], unbalanced: int) -> list[str]:
        """Why a run is not certified, in words."""
        reasons = []
        keyword = self.sim.method.keyword
        if found["steps"] == 0:
            reasons.append("no step was made")
        if not has_residual(self.sim.method):
            reasons.append(f"method {keyword!r} reports no residual of a contact law")
        elif not self._has_contacts() and self.sim.model.shape_count > 0:
            reasons.append(f"method {keyword!r} has no contacts: what should touch passes through")
        elif found["residual"]["steps_above"]:
            reasons.append(f"{_count(found['residual']['steps_above'], 'step')} above {self.tolerance:g} m/s, "
                           f"{_when(found['residual'])}")
        if unbalanced:
            reasons.append(f"{_count(unbalanced, 'step')} with a change of velocity that no impulse explains")
        if found["overflow"]["steps"]:
            reasons.append(f"{_count(found['overflow']['steps'], 'step')} in which contacts were left out for want of "
                           f"room, {_when(found['overflow'])}")
        if found["tunnelling"]["steps"]:
            reasons.append(f"{_count(found['tunnelling']['steps'], 'step')} in which a body tunnelled, "
                           f"{_when(found['tunnelling'])}")
        reasons += ledger.reasons(found["energy"])
        return reasons


def has_residual(method: Any) -> bool:
    """Whether a method's report has a residual: all have, but where its guarantees say residual(options) is False."""
    return bool(method.definition.guaranteed("residual", method.options))


def _worst(values: np.ndarray, signed: bool = False) -> float:
    if not len(values):
        return 0.0
    return float(np.max(values if signed else np.abs(values)))


def _at(times: np.ndarray, values: np.ndarray) -> float | None:
    """When the largest value was met; None where all are zero."""
    return float(times[int(np.argmax(values))]) if len(values) and np.max(values) > 0.0 else None


def _ranges(times: np.ndarray, chosen: np.ndarray, dt: float) -> list[list[float]]:
    """First and last time of each unbroken run of chosen steps, at most RANGES of them."""
    places = np.flatnonzero(chosen)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
    return [[float(times[run[0]]), float(times[run[-1]])] for run in runs[:RANGES]]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _when(part: dict[str, Any], shown: int = 4) -> str:
    """The listed times in words."""
    words = [f"{a:.6g} s" if a == b else f"{a:.6g} to {b:.6g} s" for a, b in part["when"]]
    return "at " + ", ".join(words[:shown]) + (" and later" if len(words) > shown else "")


__all__ = ["TOLERANCE", "Certificate", "has_residual"]
