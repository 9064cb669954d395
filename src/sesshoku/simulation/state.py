"""The present state of a simulation, and what is read from it: brought up to date when somebody looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sesshoku.dynamics.data import Data
from sesshoku.dynamics.observe import observe_bodies, observe_energy, refresh
from sesshoku.model.arrays import FREE, SPHERICAL, Model
from sesshoku.scene import check
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.scene import Scene
from sesshoku.simulation.sensors import Sensing
from sesshoku.simulation.views import BodyView, Energy

STEPPED = 2  # what a step leaves: stale, but written by nobody else


class State:
    """Coordinates, velocities, poses and energy."""

    scene: Scene
    compiled: CompiledScene
    model: Model
    data: Data
    bodies: Mapping[str, BodyView]
    _sensing: Sensing | None

    def _start_state(self, dt: float) -> None:
        """Of a new simulation, once it has its model and data."""
        self._dt = dt
        self._model_table, self._data_table = self.model.table, self.data.table
        self._stale: int = True  # link poses and velocities belong to an older state; STEPPED: that before a step
        self._unobserved = True  # and so does what bodies are read from: poses, velocities, centres of mass
        self._lent = False  # somebody holds q or v and may write to them at any time
        self._seen = b"", b""  # q and v that the links belong to, where they are lent
        F, L = self.model.frame_count, self.model.link_count
        self._observed = np.zeros((F, 7)), np.zeros((F, 6)), np.zeros((L, 3))

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self.data.time[0])

    @property
    def dt(self) -> float:
        """The time step, s; fixed for the life of a simulation."""
        return self._dt

    @property
    def q(self) -> np.ndarray:
        """Coordinates (Q), live: what is written to it holds. A free joint's are of its body's centre of mass.

        `set_state` checks what it is given; `robots[name].q` has the coordinates as the robot's file counts them.
        """
        self._lend()
        return self.data.q[:]  # a view: it can be written to, not resized

    @q.setter
    def q(self, value: Any) -> None:
        self.set_state(q=value)

    @property
    def v(self) -> np.ndarray:
        """Velocities (V), live as `q` is."""
        self._lend()
        return self.data.v[:]

    @v.setter
    def v(self, value: Any) -> None:
        self.set_state(v=value)

    def _lend(self) -> None:
        """Hand out q or v: whoever holds them may write, so that from now on reading looks whether they changed."""
        self._read_sensors()
        if not self._lent:
            self._lent, self._seen = True, (self.data.q.tobytes(), self.data.v.tobytes())

    def set_state(self, q: Any = None, v: Any = None) -> None:
        """Set coordinates and velocities; quaternions must be unit."""
        if q is not None:
            q = check.vector(q, "q", "state", size=self.model.coordinate_count)
            for link in np.flatnonzero(np.isin(self.model.link_joint, (FREE, SPHERICAL))):
                last = self.model.link_coordinate[link] + (7 if self.model.link_joint[link] == FREE else 4)
                check.quaternion(q[last - 4:last], f"rotation of joint {self.compiled.joint_names[link]!r}", "state")
        if v is not None:
            v = check.vector(v, "v", "state", size=self.model.dof_count)
        self._read_sensors()
        if q is not None:
            self.data.q[:] = q
        if v is not None:
            self.data.v[:] = v
        self._stale = True

    def body_poses(self) -> np.ndarray:
        """(F, 7) position and quaternion of every named body, in the order of `compiled.frame_names`."""
        self._observe()
        return self._observed[0].copy()

    def body_velocities(self) -> np.ndarray:
        """(F, 6) velocity and angular velocity of every named body's frame, world axes."""
        self._observe()
        return self._observed[1].copy()

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy (gravity and joint springs), J."""
        self.refresh()
        return Energy(*observe_energy(self._model_table, self._data_table))

    def refresh(self) -> None:
        """Bring link poses and velocities up to the present state (views call it when needed)."""
        self._read_sensors()
        if self._stale or (self._lent and self._written()):
            refresh(self._model_table, self._data_table)
            self._stale, self._unobserved = False, True
            self._look()

    def _observe(self) -> None:
        """Bring up to date what bodies are read from, by one compiled call after each change of the state."""
        if self._sensing is not None and self._sensing.unread:
            self._sensing.read(self)
        stale = self._stale or (self._lent and self._written())
        if stale or self._unobserved:
            observe_bodies(self._model_table, self._data_table, stale, *self._observed)
            self._stale = self._unobserved = False
            self._look()

    def _written(self) -> bool:
        """Whether somebody wrote to q or v since the links were brought up to date."""
        return self._seen != (self.data.q.tobytes(), self.data.v.tobytes())

    def _look(self) -> None:
        if self._lent:
            self._seen = self.data.q.tobytes(), self.data.v.tobytes()

    def _read_sensors(self) -> None:
        """What the sensors say of the last step, before the links or the state are changed."""
        if self._sensing is not None and self._sensing.unread:
            self._sensing.read(self)
