"""`Watcher`: follows a run step by step and turns it into an Outcome's numbers, traces and frames.

It asks little of what it watches, so that a peer can stand in for a Simulation: time, dt, energy, report, body_poses(),
bodies[name] with center_of_mass, position and rotation_matrix; a peer also touch() and step_seconds.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS, RELEASED
from sesshoku.comparison.outcome import Outcome
from sesshoku.recording.film import Look, look
from sesshoku.stages.report import CHANNELS

SAMPLES = 400  # samples kept of a run, for the plots
LONGEST_TIMING = 3.0  # s of wall time
FILM_FRAMES = 150  # looks kept of a run, to be played; at most FILM_RATE a simulated second
FILM_RATE = 50.0
FRAMES = 5  # poses kept of a run, for the picture
TRACES = ("travel", "height", "energy", "force", "penetration", "residual")


def touch(sim: Any) -> tuple[float, float]:
    """Sum of the normal forces of all contacts, N, and tangential speed of the fastest that carries force, m/s."""
    if hasattr(sim, "touch"):
        return sim.touch()
    contacts = sim.records.get("contacts")
    if contacts is None or contacts.counts[CONTACTS] == 0:
        return 0.0, 0.0
    count = contacts.counts[CONTACTS]
    force = float((contacts.force[:count] * contacts.normal[:count]).sum())
    return force, float(np.where(contacts.state[:count] != RELEASED, contacts.slip[:count], 0.0).max())


def time_steps(sim: Any, controller: Callable[[Any], None] | None, steps: int) -> float:
    """Seconds a step takes, without anything watching: looking at a state between steps slows the next one."""
    spent, done = 0.0, 0
    while done < steps and spent < LONGEST_TIMING:
        if controller is not None:
            controller(sim)
        start = wall.perf_counter()
        sim.step()
        spent += getattr(sim, "step_seconds", wall.perf_counter() - start)  # a peer's own time, without the stand-in's
        done += 1
    return spent / max(done, 1)


class Watcher:
    """Give it the start and every state after a step by `sample`; `write` fills an Outcome."""

    def __init__(self, watched: list[str], steps: int, dt: float = 1e-3) -> None:
        self.watched, self.stride = watched, max(-(-steps // SAMPLES), 1)
        self.film_stride = max(-(-steps // FILM_FRAMES), round(1.0 / (FILM_RATE * dt)), 1)
        self.film: list[tuple[float, np.ndarray, Look | None]] = []
        self.steps = steps
        self.frame_steps = {round(i * steps / (FRAMES - 1)) for i in range(FRAMES)}
        self.count = 0
        self.slip = 0.0
        self.residuals: list[float] = []
        self.unconverged = 0
        self.energies: list[float] = []
        self.gain = 0.0
        self.depths: list[float] = []
        self.lift = 0.0
        self.worst: dict[str, float] = {}
        self.rows: list[list[float]] = []
        self.frames: list[tuple[float, np.ndarray]] = []
        self.start: np.ndarray | None = None
        self.place = np.zeros(3)
        self.first_rotation = self.rotation = np.eye(3)
        self.last: dict[str, np.ndarray] = {}

    def sample(self, sim: Any) -> None:
        """Take in the state after a step (and the start)."""
        energy, report, (force, slip) = float(sum(sim.energy)), sim.report, touch(sim)
        self.last = {name: sim.bodies[name].position for name in self.watched}
        if self.watched:
            body = sim.bodies[self.watched[0]]
            self.place, self.rotation = body.center_of_mass, body.rotation_matrix
        if self.start is None:
            self.start, self.first_rotation = self.place.copy(), self.rotation.copy()
        else:
            self.residuals.append(report.residual)
            self.unconverged += not report.converged
            self.slip += sim.dt * slip
            self.gain = max(self.gain, report.energy_change)
            for name in CHANNELS:
                value = float(getattr(report, name))
                self.worst[name] = min(self.worst.get(name, 1.0), value) if name == "converged" else \
                    max(self.worst.get(name, 0.0), abs(value))
        way = self.place - self.start
        self.lift = max(self.lift, float(way[2]))
        self.energies.append(energy)
        self.depths.append(report.penetration)
        row = [sim.time, float(np.hypot(way[0], way[1])), float(self.place[2]), energy, force, report.penetration,
               report.residual]
        if self.count % self.stride == 0:
            self.rows.append(row)
        else:  # what lies between samples shall not be lost where the worst is asked for
            self.rows[-1][5], self.rows[-1][6] = max(self.rows[-1][5], row[5]), max(self.rows[-1][6], row[6])
        if self.count in self.frame_steps:
            self.frames.append((sim.time, sim.body_poses()))
        if self.count % self.film_stride == 0 or self.count == self.steps:
            self.film.append((sim.time, sim.body_poses(), None if hasattr(sim, "touch") else look(sim)))
        self.count += 1

    def write(self, outcome: Outcome) -> None:
        """Fill the outcome (all but the time of a step)."""
        steps = max(self.count - 1, 1)
        settled = self.depths[len(self.depths) // 10:]
        way = self.place - (self.place if self.start is None else self.start)
        cosine = 0.5 * (float(np.trace(self.first_rotation.T @ self.rotation)) - 1.0)
        sine = 0.5 * np.linalg.norm(_axis(self.first_rotation.T @ self.rotation))
        outcome.positions = self.last
        outcome.report = self.worst
        outcome.frames, outcome.film = self.frames, self.film
        outcome.measures = {
            "travel": float(np.hypot(way[0], way[1])), "height": float(self.place[2]),
            "turned": float(np.degrees(np.arctan2(sine, cosine))), "lift": self.lift, "slip": self.slip,
            "penetration": max(settled, default=0.0), "energy_change": self.energies[-1] - self.energies[0],
            "energy_gain": self.gain, "residual": float(np.median(self.residuals)) if self.residuals else 0.0,
            "residual_max": max(self.residuals, default=0.0), "unconverged": 100.0 * self.unconverged / steps,
            "step": float("nan"),
        }
        if not self.watched:
            outcome.measures |= dict.fromkeys(("travel", "height", "turned", "lift"), float("nan"))
        rows = np.array(self.rows).reshape(-1, 1 + len(TRACES))
        outcome.time = rows[:, 0]
        outcome.traces = {name: rows[:, 1 + i] for i, name in enumerate(TRACES)}


def _axis(R: np.ndarray) -> np.ndarray:
    """2 sin(angle) times the axis of a rotation: accurate for small angles, where the trace is not."""
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
