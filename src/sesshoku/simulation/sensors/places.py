"""What users hold of a scene's frames in a simulation: pose, velocity and Jacobian of a named place of a body."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix


class Place:
    """A pose carried by a body (None: the world), in world axes."""

    __slots__ = ("_at", "_sim", "_turn", "body")

    def __init__(self, sim: Any, body: str | None, position: Any, rotation: Any) -> None:
        self._sim, self.body = sim, body
        self._at, self._turn = np.asarray(position), quaternion_to_matrix(rotation)

    @property
    def position(self) -> np.ndarray:
        """Position of the origin (3), m."""
        if self.body is None:
            return self._at.copy()
        view = self._sim.bodies[self.body]
        at: np.ndarray = view.position + view.rotation_matrix @ self._at
        return at

    @property
    def rotation_matrix(self) -> np.ndarray:
        """R_world_frame (3, 3)."""
        if self.body is None:
            return self._turn.copy()
        turn: np.ndarray = self._sim.bodies[self.body].rotation_matrix @ self._turn
        return turn

    @property
    def rotation(self) -> np.ndarray:
        """Orientation as a quaternion w x y z."""
        return matrix_to_quaternion(self.rotation_matrix)

    @property
    def velocity(self) -> np.ndarray:
        """Velocity of the origin (3), m/s."""
        if self.body is None:
            return np.zeros(3)
        view = self._sim.bodies[self.body]
        speed: np.ndarray = view.velocity + np.cross(view.angular_velocity, view.rotation_matrix @ self._at)
        return speed

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity (3), rad/s."""
        spin: np.ndarray = np.zeros(3) if self.body is None else self._sim.bodies[self.body].angular_velocity
        return spin

    def jacobian(self) -> np.ndarray:
        """J (6, V): velocity of the origin and angular velocity, of the velocities of the joints."""
        if self.body is None:
            return np.zeros((6, self._sim.model.dof_count))
        J: np.ndarray = self._sim.jacobian(self.body, self.position)
        return J


@checked
class FrameView(Place):
    """A named frame of the scene in a simulation, in world axes."""

    __slots__ = ("name",)

    def __init__(self, sim: Any, name: str, index: int) -> None:
        frame = sim.scene.frames[name]
        super().__init__(sim, frame.body, frame.position, frame.rotation)
        self.name = name

    def __repr__(self) -> str:
        return f"FrameView({self.name!r}, position={np.round(self.position, 6).tolist()})"
