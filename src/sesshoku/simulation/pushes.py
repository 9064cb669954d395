"""Standing forces: `sim.bodies["crate"].push((5, 0, 0), until=2.0)` acts in every step until then, or until released.

Forces are constant in world axes. One given at a point follows the body: its torque is renewed before every step, so
that steps are then made one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.compiled.checks import Unsound, check_array, check_finite
from sesshoku.model.arrays import KINEMATIC

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

SAVED = "pushes."  # prefix of what a saved state holds
MOST_PUSHES = 2**53  # numbers of pushes: whole ones that a float holds exactly
NUMBERS = 12  # of a row there: number, frame, force, torque, arm, until
ROUNDING = 1e-6  # of a step: times are sums of dt


@dataclass
class Push:
    """A standing force on a body; `release` ends it. `active`: it still acts."""

    body: str
    force: np.ndarray
    torque: np.ndarray
    until: float
    _number: int = field(repr=False)
    _pushes: Pushes = field(repr=False)

    @property
    def active(self) -> bool:
        return self._number in self._pushes.standing

    def release(self) -> None:
        """End it now; again: nothing."""
        self._pushes.release(lambda number, row: number == self._number)


@dataclass
class Row:
    """A push as it acts: frame and link, force and torque (world axes), arm from the centre of mass (link axes)."""

    frame: int
    link: int
    force: np.ndarray
    torque: np.ndarray
    arm: np.ndarray
    until: float

    @property
    def turns(self) -> bool:
        """Whether its torque changes as the body turns."""
        return bool(self.arm.any())


class Pushes:
    """The standing forces of a simulation. Its `external_force` is `once` (of the next step alone) and these."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.standing: dict[int, Row] = {}
        self._next = 0
        self.once = np.zeros_like(sim.data.external_force)  # (L, 6) kept while there are any
        self.once_felt = np.zeros((sim.model.frame_count, 6))  # the same body by body, for force sensors

    def add(self, view: Any, force: np.ndarray, torque: np.ndarray, point: np.ndarray | None, until: float) -> Push:
        """Begin a push. point: in the world; the body carries it from now on."""
        sim = self._sim
        arm = np.zeros(3) if point is None else view._link_rotation().T @ (point - view.center_of_mass)
        if not self.standing:
            self.once[:] = sim.data.external_force
            if sim._sensing is not None:
                self.once_felt[:] = sim._sensing.mounts.push
        number, self._next = self._next, self._next + 1
        self.standing[number] = Row(view._frame, view.link, force, torque, arm, until)
        sim._read_sensors()
        self.renew()
        return Push(view.name, force.copy(), torque.copy(), until, number, self)

    def release(self, which: Any) -> None:
        """End the pushes of which which(number, row) is true."""
        ended = [number for number, row in self.standing.items() if which(number, row)]
        for number in ended:
            del self.standing[number]
        if ended:
            self._sim._read_sensors()
            self.renew()

    def add_once(self, link: int, frame: int, wrench: tuple[float, ...]) -> None:
        """A force for the next step alone, beside those that stand."""
        self.once[link] += wrench
        self.once_felt[frame] += wrench

    def forget_once(self) -> None:
        """After a step: only what stands acts."""
        self.once[:] = 0.0
        self.once_felt[:] = 0.0
        self._expire()
        self.renew()

    def renew(self) -> None:
        """Write the sum of all forces where the step reads it."""
        sim = self._sim
        felt = None if sim._sensing is None else sim._sensing.mounts.push
        sim.data.external_force[:] = self.once
        if felt is not None:
            felt[:] = self.once_felt
        if any(row.turns for row in self.standing.values()):
            sim.refresh()
        for row in self.standing.values():
            torque = row.torque
            if row.turns:
                torque = torque + np.cross(sim.data.rotation[row.link] @ row.arm, row.force)
            wrench = np.concatenate([row.force, torque])
            sim.data.external_force[row.link] += wrench
            if felt is not None:
                felt[row.frame] += wrench

    def _expire(self) -> None:
        sim = self._sim
        for number in [n for n, row in self.standing.items() if row.until <= sim.time + ROUNDING * sim.dt]:
            del self.standing[number]

    def advance(self, steps: int) -> int:
        """Make steps; how many were made before the state stopped being finite."""
        sim, done = self._sim, 0
        while done < steps:
            self._expire()
            self.renew()
            count = steps - done
            for row in self.standing.values():
                left = (row.until - sim.time) / sim.dt
                count = 1 if row.turns else min(count, math.ceil(left - ROUNDING)) if left < count else count
            made = sim._make_steps(count)
            sim._stale = True
            done += made
            if made < count:
                break
        return done

    # ---- saved states

    def saved(self) -> dict[str, np.ndarray]:
        """What a saved state holds of them: nothing where there are none."""
        if not self.standing:
            return {}
        rows = [[number, row.frame, *row.force, *row.torque, *row.arm, row.until]
                for number, row in self.standing.items()]
        return {SAVED + "rows": np.array(rows), SAVED + "once": self.once.copy(),
                SAVED + "once_felt": self.once_felt.copy()}

    def check(self, snapshot: Mapping[str, Any]) -> None:
        """Raise `Unsound` where a state's standing forces must not enter."""
        if not any(SAVED + name in snapshot for name in ("rows", "once", "once_felt")):
            return
        model, rows = self._sim.model, snapshot.get(SAVED + "rows")
        count = len(rows) if isinstance(rows, np.ndarray) and rows.ndim else 0
        for name, shape in (("once", self.once.shape), ("once_felt", self.once_felt.shape), ("rows", (count, NUMBERS))):
            check_array(SAVED + name, snapshot.get(SAVED + name), shape, np.float64)
        check_finite(SAVED + "once", snapshot[SAVED + "once"])
        check_finite(SAVED + "once_felt", snapshot[SAVED + "once_felt"])
        assert isinstance(rows, np.ndarray)
        check_finite(SAVED + "rows", rows[:, :-1])
        for n, row in enumerate(rows):
            for place, most in ((0, MOST_PUSHES), (1, model.frame_count - 1)):
                if not 0 <= row[place] <= most or row[place] != int(row[place]):
                    raise Unsound(SAVED + "rows", f"[{n}, {place}] must be a whole number within 0 .. {most}",
                                  row[place])
            link = model.frame_link[int(row[1])]
            if link < 0 or model.link_joint[link] == KINEMATIC:
                raise Unsound(SAVED + "rows", f"[{n}, 1] must be the number of a body that forces move", row[1])
            if np.isnan(row[-1]):
                raise Unsound(SAVED + "rows", f"[{n}, {NUMBERS - 1}] must be a time", row[-1])

    def restore(self, snapshot: Any) -> None:
        """Take over what `saved` gave; the forces themselves are restored as arrays."""
        frame_link = self._sim.model.frame_link
        self.standing = {}
        for row in snapshot.get(SAVED + "rows", ()):
            frame = int(row[1])
            self.standing[int(row[0])] = Row(frame, int(frame_link[frame]), row[2:5].copy(), row[5:8].copy(),
                                             row[8:11].copy(), float(row[11]))
            self._next = max(self._next, int(row[0]) + 1)
        for name in ("once", "once_felt"):
            getattr(self, name)[:] = snapshot.get(SAVED + name, 0.0)
