"""Places carried by bodies, in all worlds: frames of the scene, and where state sensors sit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.simulation.batch.numbers import on_host
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix

if TYPE_CHECKING:
    from sesshoku.simulation.batch.reading import BatchReading


class PlaceBatch:
    """A pose carried by a body (None: the world), in world axes; arrays are (worlds, ...)."""

    __slots__ = ("_at", "_batch", "_turn", "body")

    def __init__(self, batch: BatchReading, body: str | None, position: Any, rotation: Any) -> None:
        self._batch, self.body = batch, body
        self._at, self._turn = np.asarray(position), quaternion_to_matrix(rotation)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        return self._batch._xp.repeat(self._batch._xp.asarray(values)[None], self._batch.worlds, axis=0)

    @property
    def position(self) -> np.ndarray:
        """(worlds, 3) of the origin, m."""
        if self.body is None:
            return self._spread(self._at)
        view = self._batch.bodies[self.body]
        at: np.ndarray = view.position + view.rotation_matrix @ self._batch._xp.asarray(self._at)
        return at

    @property
    def rotation_matrix(self) -> np.ndarray:
        """(worlds, 3, 3) R_world_frame."""
        if self.body is None:
            return self._spread(self._turn)
        turn: np.ndarray = self._batch.bodies[self.body].rotation_matrix @ self._batch._xp.asarray(self._turn)
        return turn

    @property
    def rotation(self) -> np.ndarray:
        """(worlds, 4) quaternions w x y z."""
        return self._batch._xp.asarray(np.array([matrix_to_quaternion(R) for R in on_host(self.rotation_matrix)]))

    @property
    def velocity(self) -> np.ndarray:
        """(worlds, 3) of the origin, m/s."""
        if self.body is None:
            return self._spread(np.zeros(3))
        view = self._batch.bodies[self.body]
        xp = self._batch._xp
        speed: np.ndarray = view.velocity + xp.cross(view.angular_velocity, view.rotation_matrix @ xp.asarray(self._at))
        return speed

    @property
    def angular_velocity(self) -> np.ndarray:
        """(worlds, 3) rad/s."""
        spin: np.ndarray = (self._spread(np.zeros(3)) if self.body is None
                            else self._batch.bodies[self.body].angular_velocity)
        return spin

    def local(self, vectors: np.ndarray) -> np.ndarray:
        """(worlds, 3) of the world along the axes of the place."""
        found: np.ndarray = self._batch._xp.einsum("wab,wa->wb", self.rotation_matrix, vectors)
        return found


@checked
class FrameBatch(PlaceBatch):
    """A named frame of the scene, in all worlds."""

    __slots__ = ("name",)

    def __init__(self, batch: BatchReading, name: str, index: int) -> None:
        frame = batch.scene.frames[name]
        super().__init__(batch, frame.body, frame.position, frame.rotation)
        self.name = name

    def __repr__(self) -> str:
        return f"FrameBatch({self.name!r}, {self._batch.worlds} worlds)"
