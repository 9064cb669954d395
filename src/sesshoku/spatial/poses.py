"""Poses as pairs (position, rotation matrix), and rows of them as arrays. Plain NumPy, for what is done once."""

from __future__ import annotations

from typing import Any

import numpy as np

Pose = tuple[np.ndarray, np.ndarray]  # position, rotation matrix
IDENTITY: Pose = (np.zeros(3), np.eye(3))


def compose(a: Pose, b: Pose) -> Pose:
    """The pose b, given in frame a, seen from where a is given."""
    return a[0] + a[1] @ b[0], a[1] @ b[1]


def inverse(a: Pose) -> Pose:
    return -a[1].T @ a[0], a[1].T


def stack(rows: list[Any], *shape: int) -> np.ndarray:
    """Rows as a float64 array (n, *shape), also when there are none."""
    return np.array(rows, dtype=np.float64).reshape(-1, *shape)
