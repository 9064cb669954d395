"""Checks at the boundary: every number a user or a file hands in passes through one of these."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sesshoku.errors import SceneError

QUATERNION_TOLERANCE = 1e-3  # a quaternion further from unit length than this is refused, nearer ones are normalised
UNIT_ROUNDING = 1e-15  # this near to unit length nothing is divided, so that a checked value passes again bit for bit

#: what to do about a number that will not do, by what it is
REMEDIES = {
    "mass": "give it in kg, such as 1.0",
    "density": "give it in kg/m^3, such as 1000",
    "dt": "give seconds, such as 1e-3",
    "timestep": "give seconds, such as 0.002",
    "duration": "give seconds",
    "time": "give seconds",
    "size": "give full edge lengths in metres, such as (0.1, 0.2, 0.3)",
    "radius": "give it in metres, such as 0.1",
    "length": "give it in metres, such as 0.5",
    "radii": "give half axes in metres, such as (0.1, 0.2, 0.3)",
    "scale": "give one number, or three",
}
T = TypeVar("T")


def is_numeric(value: Any) -> bool:
    """False where text or truth values would be taken for numbers; what else is wrong, the conversion finds out."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu" or (value.dtype.kind == "O" and all(map(is_numeric, value.flat)))
    if isinstance(value, (list, tuple)):
        return all(map(is_numeric, value))
    return not isinstance(value, (str, bytes, bool, np.bool_))


def vector(value: Any, what: str, element: str, size: int = 3) -> np.ndarray:
    """A finite float64 vector of the given size."""
    try:
        if not is_numeric(value):
            raise TypeError
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{what} is not a vector of {size} numbers", element=element, value=value,
                         remedy=REMEDIES.get(what, f"give {size} numbers, such as {(0.0,) * min(size, 7)}")) from None
    if result.shape != (size,):
        raise SceneError(f"{what} needs {size} numbers", element=element, value=value, remedy=REMEDIES.get(what))
    if not np.isfinite(result).all():
        raise SceneError(f"{what} is not finite", element=element, value=value,
                         remedy="replace NaN and infinity by numbers")
    return result


def heights(value: Any, element: str) -> np.ndarray:
    """A finite float64 table of at least two rows and columns, copied."""
    try:
        if not is_numeric(value):
            raise TypeError
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        result = np.zeros(0)
    if result.ndim != 2 or min(result.shape) < 2:
        raise SceneError("heights are not a table of at least two rows and two columns of numbers", element=element,
                         value=result.shape if result.size else type(value).__name__,
                         remedy="give elevations in metres, rows along y, columns along x: [[0, 0], [0, 0.1]]")
    if not np.isfinite(result).all():
        bad = np.argwhere(~np.isfinite(result))[0]
        raise SceneError("heights are not finite", element=element, value=f"row {bad[0]}, column {bad[1]}",
                         remedy="replace NaN and infinity by numbers")
    return result


def number(value: Any, what: str, element: str, *, least: float = -np.inf, above: float = -np.inf, most: float = np.inf,
           infinite: bool = False) -> float:
    """A float in [least, most] and greater than `above`; infinity only where `infinite` says so."""
    remedy = REMEDIES.get(what)
    try:
        if not is_numeric(value):
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise SceneError(f"{what} is not a number", element=element, value=value,
                         remedy=remedy or "give a number, without quotes") from None
    if np.isnan(result) or (np.isinf(result) and not infinite):
        raise SceneError(f"{what} is not finite", element=element, value=value, remedy=remedy or "give a finite number")
    if result <= above != -np.inf:
        raise SceneError(f"{what} must be greater than {above:g}", element=element, value=value, remedy=remedy)
    if result < least:
        raise SceneError(f"{what} must be at least {least:g}", element=element, value=value, remedy=remedy)
    if result > most:
        raise SceneError(f"{what} must be at most {most:g}", element=element, value=value, remedy=remedy)
    return result


def bounds(value: Any, what: str, element: str) -> tuple[float, float] | None:
    """A lower and an upper bound, infinite where there is none on that side; or None."""
    if value is None:
        return None
    remedy = "give (lower, upper), such as (-1.0, 2.0)"
    if not isinstance(value, (list, tuple, np.ndarray)) or np.shape(value) != (2,):
        raise SceneError(f"{what} is not a pair of bounds", element=element, value=value, remedy=remedy)
    low, high = (number(bound, what, element, infinite=True) for bound in value)
    if low > high or low == np.inf or high == -np.inf:
        raise SceneError(f"lower bound of {what} is above the upper one", element=element, value=(low, high),
                         remedy="swap them")
    return low, high


def lengths(value: Any, what: str, element: str) -> tuple[float, float, float]:
    """Three numbers above zero."""
    x, y, z = (number(length, what, element, above=0.0) for length in vector(value, what, element))
    return x, y, z


def scale(value: Any, element: str) -> tuple[float, float, float]:
    """Three factors, or one that stands for all three."""
    if isinstance(value, (int, float, np.number)):
        return (number(value, "scale", element),) * 3
    x, y, z = vector(value, "scale", element)
    return float(x), float(y), float(z)


def color(value: Any, element: str) -> tuple[float, float, float, float]:
    """Red, green, blue and, where given, opacity."""
    size = 3 if isinstance(value, (list, tuple, np.ndarray)) and np.size(value) == 3 else 4
    try:
        r, g, b, a = [*vector(value, "color", element, size=size), 1.0][:4]
    except SceneError as error:
        raise SceneError(error.problem, element=element, value=value,
                         remedy="give red, green, blue, opacity from 0 to 1, such as (1, 0, 0, 1)") from None
    return float(r), float(g), float(b), float(a)


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
        raise SceneError(f"{what} must be a non-empty printable string", element=element, value=value,
                         remedy="give a name such as 'knee'")
    return value


def text(value: Any, what: str, element: str) -> str | None:
    """A string, or None."""
    if value is not None and not isinstance(value, str):
        raise SceneError(f"{what} must be a string", element=element, value=value, remedy="put it in quotes")
    return value


def flag(value: Any, what: str, element: str) -> bool:
    """True or False; a word such as "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise SceneError(f"{what} must be True or False", element=element, value=value, remedy="give one of the two")
    return bool(value)


def kind(value: Any, expected: type[T], what: str, element: str, example: str) -> T:
    """A value of the class that is needed."""
    if not isinstance(value, expected):
        raise SceneError(f"{what} is not a {expected.__name__}", element=element, value=value,
                         remedy=f"give {example}")
    return value


def path(value: Any, element: str) -> Path:
    """A path of a file."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise SceneError("a path must be a string or a Path", element=element, value=value,
                         remedy="give the name of a file")
    return Path(value)
