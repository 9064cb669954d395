"""Where a script (`Motion` or function of time) wants a kinematic body."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.elements import Motion
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix, rotation_vector


def motion_pose(motion: Any, time: float, element: str) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion a script wants at a time."""
    if not isinstance(motion, Motion):
        wanted = motion(time)
        try:
            position, rotation = wanted
        except (TypeError, ValueError):
            raise SceneError("a motion function returns (position, rotation)", element=element, value=wanted) from None
        return check.vector(position, "position", element), check.quaternion(rotation, "rotation", element)
    times = motion.times
    if len(times) == 1 or time <= times[0]:
        return motion.positions[0], motion.rotations[0]
    if time >= times[-1]:
        return motion.positions[-1], motion.rotations[-1]
    n = int(np.searchsorted(times, time, side="right")) - 1
    s = (time - times[n]) / (times[n + 1] - times[n])
    position = (1 - s) * motion.positions[n] + s * motion.positions[n + 1]
    turn = turn_between(motion.rotations[n], motion.rotations[n + 1])
    return position, multiply(_quaternion(s * turn), motion.rotations[n])


def _quaternion(turn: np.ndarray) -> np.ndarray:
    angle = float(np.linalg.norm(turn))
    if angle < 1e-12:
        return np.array([1.0, *(0.5 * turn)])
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) / angle * turn)])


def turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rotation vector, world axes, that takes quaternion a to b the short way."""
    return rotation_vector(quaternion_to_matrix(b) @ quaternion_to_matrix(a).T)
