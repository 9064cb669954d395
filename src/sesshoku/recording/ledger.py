"""The energy books of a run: does something account for all energy that appears?

Per step, the energy of motion and weight changes by the work of contacts and joints (`constraint_work` of the report),
that of actuators, springs, dampers and pushes (`applied_work`), and what the scheme itself errs. Two rules:

    a step      contacts and joints bring no more than STEP_SHARE of the kinetic energy (and LEAST_SHARE of the most
                there was), depth correction aside
    the run     energy that no work explains rises by no more than RUN_SHARE of all that was turned over

Where the books cannot be kept the reason is said (`unjudged`) and nothing is claimed, but for one thing: where nothing
drives a scene, its energy rises above that of the start by no more than ELASTIC_SHARE of what could turn into motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.stages.report import APPLIED_WORK, CONSTRAINT_WORK, CORRECTION_WORK, ENERGY_CHANGE

STEP_SHARE = 0.01  # of the kinetic energy: what turning within a step errs by is (dt w)^2 of it
LEAST_SHARE = 1e-4  # of the most kinetic energy there was: less is not worth a word, however slow all is by then
ELASTIC_SHARE = 0.5  # of the start's kinetic energy and of the fall since: springs that are not booked may hold some
RUN_SHARE = 0.05  # of what was turned over: first-order schemes err by dt times the pace of the motion, and swing


class Ledger:
    """Takes the energies and the report of every step; `summary` says what they came to."""

    def __init__(self, sim: Any) -> None:
        self.sim = sim
        self.energy = self._mechanical()
        self.books = bool(sim.method.definition.guaranteed("books", sim.method.options))
        self.elastic = gives_back(sim)
        self.kinetic = self.most_kinetic = float(sim.energy[0])
        self.constraints = self.applied = self.turned_over = 0.0
        self.unexplained: list[float] = []
        self.allowed: list[float] = []  # beside it: how far it may rise
        self.gains: list[float] = []
        self.gain_allowed: list[float] = []
        self.bodies: list[str] = []
        self._start, self._lowest = sum(sim.energy), float(sim.energy[1])
        self.risen: list[float] = []  # energy above that of the start, and beside it how far it may be
        self.risen_allowed: list[float] = []
        self._moved = self._skipped = self._pushed = False

    def push(self) -> None:
        """Before a step: note whether a user pushes, where a method does not book it."""
        self._pushed = self._pushed or self.sim.pushed

    def step(self, report: np.ndarray, steps: int) -> None:
        """The step just made; steps: how many there were since the last one looked at."""
        sim = self.sim
        before, kinetic_before = self.energy, self.kinetic
        self.energy, self.kinetic = self._mechanical(), float(sim.energy[0])
        self._skipped = self._skipped or steps != 1
        self._moved = self._moved or bool(np.any(sim.data.kinematic_velocity))
        work, applied = float(report[CONSTRAINT_WORK]), float(report[APPLIED_WORK])
        self.constraints += work
        self.applied += applied
        self.most_kinetic = max(self.most_kinetic, self.kinetic)
        self.turned_over += abs(work) + abs(applied)
        last = self.unexplained[-1] if self.unexplained else 0.0
        rise = self.energy - before - work - applied
        if not self.unexplained and sim.model.cluster_count > 0:
            rise = 0.0  # loops that the scene leaves open are closed in the first step, by moving bodies
        self.unexplained.append(last + rise)
        rounding = 1e-12 * (abs(self.energy) + abs(before))
        fall = float(np.sum(sim.model.link_mass)) * float(np.sum(np.square(sim.model.gravity))) * sim.dt**2
        self.allowed.append(RUN_SHARE * (self.most_kinetic + self.turned_over) + fall + rounding)
        gain = float(report[ENERGY_CHANGE] - report[CORRECTION_WORK])
        self.gains.append(0.0 if self.elastic else gain)
        self.gain_allowed.append(STEP_SHARE * (max(self.kinetic, kinetic_before) + fall)
                                 + LEAST_SHARE * self.most_kinetic + rounding)
        kinetic, potential = sim.energy
        self._lowest = min(self._lowest, potential)
        self.risen.append(kinetic + potential - self._start)
        self.risen_allowed.append(ELASTIC_SHARE * (self._start - self._lowest) + fall + rounding)
        odd = not self.gains[-1] <= self.gain_allowed[-1] or not rise <= RUN_SHARE * self.most_kinetic + rounding
        odd = odd or not self.risen[-1] <= self.risen_allowed[-1]
        self.bodies.append(fastest(sim) if odd else "")

    def _mechanical(self) -> float:
        """Kinetic energy and that of weight, J: the work of springs is booked as what it does."""
        sim = self.sim
        kinetic, potential = sim.energy
        if not sim.method.definition.guaranteed("books", sim.method.options):
            return float(kinetic + potential)
        return float(kinetic + potential) - _in_springs(sim)

    @property
    def unjudged(self) -> str:
        """Why the books are not kept; empty: they are."""
        if self._moved:
            return "a scripted body moves, and may bring any energy"
        if self._skipped:
            return "not every step was looked at"
        if not self.books and self.sim.method.definition.guaranteed("elastic", self.sim.method.options):
            return "the method does not book the energy in its springs"
        if not self.books and (self._pushed or self.sim.model.actuator_count > 0):
            return "the method does not book the work of actuators and pushes"
        if not self.books and self.sim.model.drag_count > 0 and self.sim.model.wind.any():
            return "the method does not book the work of the wind"
        return ""

    def summary(self, times: np.ndarray) -> dict[str, Any]:
        """What appears beside the energies in a certificate."""
        found: dict[str, Any] = {"by_contact": self.constraints, "by_actuators_springs_dampers_pushes": self.applied,
                                 "unexplained": self.unexplained[-1] if self.unexplained else 0.0,
                                 "not_judged": self.unjudged, "gained": []}
        if self.unjudged:
            driven = self._moved or self._skipped or self._pushed or self.sim.model.actuator_count > 0
            over = np.flatnonzero(~(np.array(self.risen) <= np.array(self.risen_allowed)))
            if len(over) and not driven:
                found["gained"].append({"what": "run", "steps": len(over), "at": float(times[over[0]]),
                                        "energy": float(max(self.risen)), "body": self.bodies[over[0]]})
            return found
        gains, rise = np.array(self.gains), self._rise()
        steps = np.flatnonzero(~(gains <= np.array(self.gain_allowed)))
        if len(steps):
            n = int(steps[np.argmax(np.where(np.isfinite(gains[steps]), gains[steps], np.inf))])
            found["gained"].append({"what": "step", "steps": len(steps), "at": float(times[n]),
                                    "energy": float(gains[n]), "body": self.bodies[n]})
        above = np.flatnonzero(~(rise <= np.array(self.allowed)))
        if len(above):
            n = int(above[0])
            jump = int(np.argmax(np.diff(np.concatenate([[0.0], self.unexplained[: n + 1]]))))
            found["gained"].append({"what": "run", "steps": len(above), "at": float(times[jump]),
                                    "energy": float(rise[n]),
                                    "body": self.bodies[jump] or self.bodies[n] or fastest(self.sim)})
        return found

    def _rise(self) -> np.ndarray:
        """How far the unexplained energy stands above the least it has been."""
        sums = np.concatenate([[0.0], self.unexplained])
        return (sums - np.minimum.accumulate(sums))[1:]


def reasons(found: dict[str, Any]) -> list[str]:
    """What `Ledger.summary` found, in words."""
    texts = []
    for entry in found["gained"]:
        where = f" (fastest then: body {entry['body']!r})" if entry["body"] else ""
        if entry["what"] == "step":
            texts.append(f"{entry['steps']} step{'' if entry['steps'] == 1 else 's'} in which contacts or joints "
                         f"brought energy, most at {entry['at']:.6g} s: {entry['energy']:.3g} J{where}")
        else:
            texts.append(f"energy that no work explains: {entry['energy']:.3g} J, most of it at {entry['at']:.6g} s"
                         f"{where}")
    return texts


def gives_back(sim: Any) -> bool:
    """Whether contacts may give back energy that they took: springs, or restitution."""
    materials = np.concatenate([sim.model.shape_material[:, 2], sim.model.pair_material[:, 2]])
    return sim.method.definition.guaranteed("elastic", sim.method.options) or bool((materials > 0.0).any())


def _in_springs(sim: Any) -> float:
    """Energy in the springs of joints, J."""
    model = sim.model
    stiff = np.flatnonzero(model.dof_stiffness > 0.0)
    stretch = sim.data.q[model.dof_coordinate[stiff]] - model.dof_rest[stiff]
    return float(0.5 * np.sum(model.dof_stiffness[stiff] * stretch**2))


def fastest(sim: Any) -> str:
    """The body whose origin moves fastest, or turns so: by speed plus turning at a decimetre."""
    speeds = sim.body_velocities()
    names = sim.compiled.frame_names
    pace = np.linalg.norm(speeds[:, :3], axis=1) + 0.1 * np.linalg.norm(speeds[:, 3:], axis=1)
    return str(names[int(np.argmax(pace))]) if len(names) else ""


__all__ = ["RUN_SHARE", "STEP_SHARE", "Ledger", "fastest", "gives_back", "reasons"]
