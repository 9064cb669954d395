"""Numbers that users hand in for all worlds, checked; rotations of all worlds."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check


def numbers_of(value: Any, like: np.ndarray, what: str, element: str) -> np.ndarray:
    """Finite numbers of the shape of an array, or of one of its rows."""
    try:
        if not check.is_numeric(value):
            raise TypeError
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.full(1, np.nan)
    if values.shape not in (like.shape, like.shape[1:]):
        rows = f" or {like.shape[1:]}" if like.ndim > 1 else " numbers, or one for all worlds"
        raise SceneError(f"{what} does not fit", element=element, value=np.shape(value),
                         remedy=f"give {like.shape}{rows}")
    if not np.isfinite(values).all():
        raise SceneError(f"{what} is not finite", element=element, remedy="replace NaN and infinity by numbers")
    return values


def quaternions_to_matrices(quaternions: np.ndarray) -> np.ndarray:
    """(n, 3, 3) of unit quaternions (n, 4), w x y z."""
    w, x, y, z = quaternions.T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1).reshape(-1, 3, 3)
