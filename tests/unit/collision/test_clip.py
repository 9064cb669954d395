"""Cutting polygons: none of the corners is lost where a corner lies on the line that cuts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sesshoku.collision.points.clip import clip_polygon
from support import sample_count

pytestmark = pytest.mark.boundscheck


def ring(rng: np.random.Generator, corners: int) -> np.ndarray:
    """A convex polygon around the origin, counter-clockwise, rows (x, y, 0)."""
    angle = 2.0 * np.pi * (np.arange(corners) + rng.uniform(0.0, 0.9, corners)) / corners
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(corners)])


def area(points: np.ndarray) -> float:
    x, y = points[:, 0], points[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def exact_area(P: np.ndarray, Q: np.ndarray) -> float:
    """Of what two convex polygons have in common, in rational numbers."""
    polygon = [(Fraction(float(x)), Fraction(float(y))) for x, y, _ in P]
    line = [(Fraction(float(x)), Fraction(float(y))) for x, y, _ in Q]
    for (ax, ay), (bx, by) in zip(line, line[1:] + line[:1], strict=True):
        side = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in polygon]
        kept = []
        for k, (p, s) in enumerate(zip(polygon, side, strict=True)):
            q, r = polygon[k - 1], side[k - 1]
            if (r >= 0) != (s >= 0):
                t = r / (r - s)
                kept.append((q[0] + t * (p[0] - q[0]), q[1] + t * (p[1] - q[1])))
            if s >= 0:
                kept.append(p)
        polygon = kept
    return float(sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True)) / 2)


@pytest.mark.nojit
def test_corners_on_corners_and_edges(rng: np.random.Generator) -> None:
    """Polygons through corners and points on edges of the other one: on the line, but for rounding."""
    for _ in range(sample_count(300, 20_000)):
        Q = ring(rng, int(rng.integers(3, 7)))
        n = len(Q)
        k, m = (int(i) for i in rng.choice(n, 2, replace=False))
        t = rng.uniform()
        on = np.array([Q[k], Q[m] + t * (Q[(m + 1) % n] - Q[m])])
        beyond = rng.uniform(-1.5, 1.5, size=(1, 3)) * (1, 1, 0)
        P = np.concatenate([on, beyond])
        if area(P) < 0.0:
            P = P[::-1]
        P = np.ascontiguousarray(np.roll(P, int(rng.integers(3)), axis=0))
        buffers = np.full((2, 32, 3), np.nan)
        count, which = clip_polygon(P, 3, Q, n, 0.0, buffers)
        found = area(buffers[which, :count]) if count >= 3 else 0.0
        assert found == pytest.approx(exact_area(P, Q), abs=1e-12)
