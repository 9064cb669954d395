"""Numbers that users hand in for all worlds, checked; rotations of all worlds."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check


def module_of(values: Any) -> Any:
    """NumPy, or CuPy for an array on a GPU."""
    if not hasattr(values, "__cuda_array_interface__"):
        return np
    return importlib.import_module("cupy")


def on_host(values: Any) -> Any:
    """An array on a GPU as one of NumPy; anything else as it is."""
    if not hasattr(values, "__cuda_array_interface__"):
        return values
    cupy = module_of(values)
    return cupy.asnumpy(cupy.asarray(values))


def numbers_of(value: Any, like: Any, what: str, element: str) -> Any:
    """Finite numbers of the shape of an array, or of one of its rows; where the array lies, there they are."""
    xp = module_of(like)
    try:
        if not hasattr(value, "__cuda_array_interface__") and not check.is_numeric(value):
            raise TypeError
        values = xp.asarray(value if xp is not np else on_host(value), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.full(1, np.nan)
    if values.shape not in (like.shape, like.shape[1:]):
        rows = f" or {like.shape[1:]}" if like.ndim > 1 else " numbers, or one for all worlds"
        raise SceneError(f"{what} does not fit", element=element, value=getattr(value, "shape", np.shape(value)),
                         remedy=f"give {like.shape}{rows}")
    if not xp.isfinite(values).all():
        raise SceneError(f"{what} is not finite", element=element, remedy="replace NaN and infinity by numbers")
    return values


def quaternions_to_matrices(quaternions: np.ndarray) -> np.ndarray:
    """(n, 3, 3) of unit quaternions (n, 4), w x y z."""
    w, x, y, z = quaternions.T
    return module_of(quaternions).stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1).reshape(-1, 3, 3)
