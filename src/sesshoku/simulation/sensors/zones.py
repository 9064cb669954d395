"""Zones of touch sensors: whether a point is inside, and whether a ray meets one. In the zone's own axes.

Sizes are those of MJCF sites: a sphere's radius; radius and half length of a capsule and a cylinder along z; half axes
of an ellipsoid; half edges of a box.
"""

from __future__ import annotations

import numpy as np


def inside(zone: str, size: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point (3) is inside or on the surface of a zone."""
    x, y, z = (float(value) for value in point)
    if zone == "sphere":
        return bool(np.linalg.norm(point) <= size[0])
    if zone == "ellipsoid":
        return bool(np.linalg.norm(point / size) <= 1.0)
    if zone == "box":
        return bool((np.abs(point) <= size).all())
    if zone == "cylinder":
        return bool(abs(z) <= size[1] and np.hypot(x, y) <= size[0])
    beyond = z - min(max(z, -size[1]), size[1])
    return bool(np.linalg.norm([x, y, beyond]) <= size[0])


def ray_hits(zone: str, size: np.ndarray, start: np.ndarray, along: np.ndarray) -> bool:
    """Whether the ray from `start` along `along` (3, unit) meets a zone; from inside it always does."""
    if inside(zone, size, start):
        return True
    if zone == "sphere":
        return _ball(start, along, float(size[0]))
    if zone == "ellipsoid":
        return _ball(start / size, along / size, 1.0)
    if zone == "box":
        return _slabs(start, along, size)
    if zone == "cylinder":
        return _tube(start, along, float(size[0]), float(size[1]))
    ends = [np.array([0.0, 0.0, z]) for z in (-size[1], size[1])]
    return _tube(start, along, float(size[0]), float(size[1])) or any(
        _ball(start - end, along, float(size[0])) for end in ends)


def _ball(p: np.ndarray, d: np.ndarray, radius: float) -> bool:
    """A ball around the origin: the largest root of |p + t d|^2 = r^2 is not negative."""
    a, b, c = float(d @ d), float(p @ d), float(p @ p) - radius * radius
    return b * b >= a * c and -b + np.sqrt(b * b - a * c) >= 0.0


def _slabs(p: np.ndarray, d: np.ndarray, half: np.ndarray) -> bool:
    """A box: the ray is between all three pairs of planes at once."""
    first, last = 0.0, np.inf
    for k in range(3):
        if d[k] == 0.0:
            if abs(p[k]) > half[k]:
                return False
            continue
        near, far = sorted(((-half[k] - p[k]) / d[k], (half[k] - p[k]) / d[k]))
        first, last = max(first, near), min(last, far)
    return bool(first <= last)


def _tube(p: np.ndarray, d: np.ndarray, radius: float, half: float) -> bool:
    """A closed cylinder along z: within the round wall and between the two ends at once."""
    first, last = 0.0, np.inf
    a, b = float(d[:2] @ d[:2]), float(p[:2] @ d[:2])
    c = float(p[:2] @ p[:2]) - radius * radius
    if a == 0.0:
        if c > 0.0:
            return False
    else:
        if b * b < a * c:
            return False
        root = np.sqrt(b * b - a * c)
        first, last = max(first, (-b - root) / a), min(last, (-b + root) / a)
    if d[2] == 0.0:
        return bool(abs(p[2]) <= half and first <= last)
    near, far = sorted(((-half - p[2]) / d[2], (half - p[2]) / d[2]))
    return bool(max(first, near) <= min(last, far))
