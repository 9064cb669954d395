"""Checks at the boundary: every number a user or a file hands in passes through one of these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sesshoku.errors import SceneError

QUATERNION_TOLERANCE = 1e-3  # a quaternion further from unit length than this is refused, nearer ones are normalised
UNIT_ROUNDING = 1e-15  # this near to unit length nothing is divided, so that a checked value passes again bit for bit


def vector(value: Any, what: str, element: str, size: int = 3) -> np.ndarray:
    """A finite float64 vector of the given size."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{what} is not a vector of {size} numbers", element=element, value=value) from None
    if result.shape != (size,):
        raise SceneError(f"{what} needs {size} numbers", element=element, value=value)
    if not np.isfinite(result).all():
        raise SceneError(f"{what} is not finite", element=element, value=value,
                         remedy="replace NaN and infinity by numbers")
    return result


def number(value: Any, what: str, element: str, *, least: float = -np.inf, above: float = -np.inf, most: float = np.inf,
           infinite: bool = False) -> float:
    """A float in [least, most] and greater than `above`; infinity only where `infinite` says so."""
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{what} is not a number", element=element, value=value) from None
    if np.isnan(result) or (np.isinf(result) and not infinite):
        raise SceneError(f"{what} is not finite", element=element, value=value)
    if result <= above != -np.inf:
        raise SceneError(f"{what} must be greater than {above:g}", element=element, value=value)
    if result < least:
        raise SceneError(f"{what} must be at least {least:g}", element=element, value=value)
    if result > most:
        raise SceneError(f"{what} must be at most {most:g}", element=element, value=value)
    return result


def quaternion(value: Any, what: str, element: str) -> np.ndarray:
    """A unit quaternion w x y z; a rotation matrix is accepted too."""
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)  # `vector` below says what is wrong
    if given.shape == (3, 3):
        if not np.isfinite(given).all() or np.abs(given @ given.T - np.eye(3)).max() > 1e-6 or np.linalg.det(given) < 0:
            raise SceneError(f"{what} is not a rotation matrix", element=element, value=value)
        from sesshoku.spatial.rotation import matrix_to_quaternion

        return matrix_to_quaternion(given)
    result = vector(value, what, element, size=4)
    length = math.hypot(*result)
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise SceneError(f"{what} is not a unit quaternion (length {length:.6g})", element=element, value=value,
                         remedy="give w x y z of length 1")
    return result if abs(length - 1.0) < UNIT_ROUNDING else result / length


def unit_axis(value: Any, what: str, element: str) -> np.ndarray:
    """A direction, returned with length 1."""
    result = vector(value, what, element)
    length = math.hypot(*result)
    if not 1e-9 < length < 1e150:
        raise SceneError(f"{what} has no direction", element=element, value=value, remedy="give a non-zero vector")
    return result if abs(length - 1.0) < UNIT_ROUNDING else result / length


def name(value: Any, what: str, element: str = "scene") -> str:
    """A non-empty string without control characters."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise SceneError(f"{what} must be a non-empty printable string", element=element, value=value)
    return value
