"""Runs that stay finite and cannot be right: said once, with the body and the time.

`Simulation.step` looks at two numbers of the last step's report, and calls `Alarm.look` where they are unusual: the
residual, and the energy that contacts and joints brought. Where contacts and joints are springs, which give back what
they took, the energy of the whole scene is looked at instead. A run that goes on is not stopped.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.errors import SuspectRun
from sesshoku.recording.certificate import has_residual
from sesshoku.recording.ledger import fastest, gives_back
from sesshoku.stages.report import CONVERGED, CORRECTION_WORK, ENERGY_CHANGE, PENETRATION, RESIDUAL

RESIDUAL_MATTERS = 1e-2  # m/s: a contact that is wrong by so much is a millimetre off in a tenth of a second
IN_A_ROW = 50  # steps beyond it, not converged, before it is said
MAD = 3.0  # times the fastest motion: a residual as large says nothing is solved
RISE, DRIVEN_RISE = 100.0, 1e4  # times the motion there was: a rise of energy that springs, and servos, do not explain
LENGTH = 0.1  # m: a fall from there is a motion that any scene may have
WEIGHED = 16  # steps between two weighings of a scene that is elastic
GAIN = 0.5  # of the kinetic energy: what contacts and joints may bring in a step before it is said


class Alarm:
    """What a simulation asks after a step. `residual`, `gain`: above either, `look` is due."""

    def __init__(self, sim: Any) -> None:
        self.sim = sim
        self.residual = RESIDUAL_MATTERS if has_residual(sim.method) else np.inf
        g, mass = float(np.linalg.norm(sim.model.gravity)), float(np.sum(sim.model.link_mass))
        self.least = mass * (max(g, 1.0) * sim.dt) ** 2  # J: what weight brings in a step; less is no news
        self.gain = np.inf if gives_back(sim) else self.least
        self.elastic = sim.method.definition.guaranteed("elastic", sim.method.options)
        self.motion = LENGTH * mass * max(g, 1.0)  # J: the most kinetic energy there was
        self.energy: float | None = None  # J: the least there was since the state was last changed from outside
        self.rise = RISE if sim.model.actuator_count == 0 else DRIVEN_RISE
        self.due = 0  # steps until it is weighed again
        self.count = 0  # steps in a row beyond the residual, not converged
        self._told: set[str] = set()

    def forget(self) -> None:
        """The state was changed from outside: energies are compared from here on."""
        self.energy, self.due = None, 0

    def passed(self, steps: int) -> None:
        """Weigh now and then, since it costs as much as half a step; always where the state may be written unseen."""
        self.due -= steps
        if self.due <= 0 or self.sim._lent:
            self.due = WEIGHED
            self.weigh()

    def weigh(self) -> None:
        """The energy of a scene whose contacts and joints are springs, after a step."""
        kinetic, potential = self.sim.energy
        total = kinetic + potential
        if self.energy is None or self._scripts_move():
            self.energy = total
        if not total - self.energy <= self.rise * self.motion:
            self.elastic = False
            self._tell("energy", f"energy rose by {total - self.energy:.3g} J where no motion had more than "
                                 f"{self.motion:.3g} J")
        self.energy, self.motion = min(self.energy, total), max(self.motion, kinetic)

    def look(self) -> None:
        """A closer look at the step just made."""
        report = self.sim.report_array
        beyond = not report[RESIDUAL] <= self.residual
        self.count = self.count + 1 if beyond and report[CONVERGED] == 0.0 else 0
        gain = float(report[ENERGY_CHANGE] - report[CORRECTION_WORK])
        if not gain <= self.gain and not self._scripts_move():
            kinetic = float(self.sim.energy[0])
            if not gain <= GAIN * max(kinetic, self.least):
                self._tell("energy", f"contacts and joints brought {gain:.3g} J into a motion of {kinetic:.3g} J")
            else:
                self.gain = 2.0 * gain  # lively, not mad: look again when there is more
        if beyond and "residual" not in self._told:
            speed = self._speed()
            if not report[RESIDUAL] <= max(MAD * speed, 1.0):
                self._tell("residual", f"the residual is {report[RESIDUAL]:.3g} m/s where nothing moves faster than "
                                       f"{speed:.3g} m/s")
        if self.count >= IN_A_ROW and not self._known_deep():
            self._tell("unsolved", f"{self.count} steps in a row did not converge, the residual is "
                                   f"{report[RESIDUAL]:.3g} m/s, the deepest overlap {report[PENETRATION]:.3g} m"
                                   f"{self._deepest()}")

    def _known_deep(self) -> bool:
        """Whether it was said that bodies are too deep inside each other for steps to converge."""
        return bool(self.sim._told_deep and not self.sim.method.definition.finds_deep)

    def _scripts_move(self) -> bool:
        return bool(np.any(self.sim.data.kinematic_velocity))

    def _speed(self) -> float:
        """Of the fastest body, turning counted at a decimetre, m/s."""
        speeds = self.sim.body_velocities()
        return float(np.max(np.linalg.norm(speeds[:, :3], axis=1) + 0.1 * np.linalg.norm(speeds[:, 3:], axis=1),
                            initial=0.0))

    def _deepest(self) -> str:
        """The bodies of the deepest contact."""
        contacts: Any = getattr(self.sim.work, "contacts", None)
        count = 0 if contacts is None else int(contacts.counts[CONTACTS])
        if count == 0:
            return ""
        frames = self.sim.model.shape_frame[contacts.shape[int(np.argmin(contacts.gap[:count]))]]
        one, other = (self.sim.compiled.frame_names[int(frame)] for frame in frames)
        return f", of bodies {one!r} and {other!r}"

    def _tell(self, what: str, problem: str) -> None:
        if what in self._told:
            return
        self._told.add(what)
        if what == "energy":
            self.gain = np.inf
        if self._told >= {"residual", "unsolved"}:
            self.residual = np.inf
        remedy = (f"What follows cannot be trusted; try a smaller dt (now {self.sim.dt:g} s), more armature for light "
                  f"links, or look at what the bodies start in")
        warnings.warn(f"method {self.sim.method.keyword!r}, at {self.sim.time:.6g} s: {problem}; fastest: body "
                      f"{fastest(self.sim)!r}. {remedy}", SuspectRun, stacklevel=5)


__all__ = ["Alarm"]
