"""Solids of the game that are no primitives: a heart with a deep notch, a gem, a football, the crab's shell."""

from __future__ import annotations

import numpy as np

from sesshoku.scene.geometry.mass import polyhedron_moments

HEART_WIDTH, HEART_THICKNESS = 0.9, 0.4
ARC_STEPS = 9  # of a lobe: enough to look round, few enough to be fast


def heart_outline(width: float = HEART_WIDTH) -> np.ndarray:
    """Corners (n, 2) counter-clockwise from the tip (down); concave only in the notch between the lobes.

    The lobes are arcs about (+-a, 0) that begin where the straight flanks touch them and end low on the axis between.
    """
    a, radius, tip = 0.27 * width, 0.23 * width, -0.60 * width
    # where the flank from the tip touches the right arc: the tangent's foot, seen from the centre
    first = np.arctan2(tip, -a) + np.arccos(radius / np.hypot(a, tip))
    turn = np.linspace(first, 0.97 * np.pi, ARC_STEPS + 1)
    right = np.stack([a + radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    notch = np.array([[0.0, -0.03 * width]])
    left = right[::-1] * np.array([-1.0, 1.0])
    return np.vstack([[[0.0, tip]], right, notch, left])


def prism(outline: np.ndarray, thickness: float, hub: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of an outline (n, 2) given a thickness along y; all of it must be seen from the hub (2).

    The outline lies in the x-z plane; the centre of mass is at 0.
    """
    n = len(outline)
    flat = np.vstack([outline, hub[None]])
    front = np.column_stack([flat[:, 0], np.full(n + 1, -0.5 * thickness), flat[:, 1]])
    back = front * np.array([1.0, -1.0, 1.0])
    here, after, behind = np.arange(n), (np.arange(n) + 1) % n, n + 1
    faces = np.vstack([
        np.column_stack([here, after, np.full(n, n)]),
        np.column_stack([behind + after, behind + here, np.full(n, behind + n)]),
        np.column_stack([after, here, behind + here]),
        np.column_stack([after, behind + here, behind + after]),
    ])
    vertices = np.vstack([front, back])
    _, center, _ = polyhedron_moments(vertices, faces)
    return vertices - center, faces


def heart(width: float = HEART_WIDTH, thickness: float = HEART_THICKNESS) -> tuple[np.ndarray, np.ndarray]:
    """A heart that stands on its tip in the x-z plane, thickness along y: vertices (m) and triangles."""
    return prism(heart_outline(width), thickness, np.array([0.0, -0.2 * width]))


def gem(radius: float = 0.42, sides: int = 8) -> np.ndarray:
    """Corners of a cut stone: a small table, a wide girdle, a blunt point."""
    corners = []
    for height, share in ((0.30, 0.55), (0.10, 1.0), (-0.30, 0.45)):
        turn = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
        ring = share * radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        corners.append(np.column_stack([ring, np.full(sides, height)]))
    return np.vstack(corners)


def ball(radius: float = 0.36) -> np.ndarray:
    """Corners of a truncated icosahedron, the football."""
    g = 0.5 * (1.0 + np.sqrt(5.0))
    seeds = [(0.0, 1.0, 3.0 * g), (1.0, 2.0 + g, 2.0 * g), (g, 2.0, 2.0 * g + 1.0)]
    corners = set()
    for seed in seeds:
        for signs in np.ndindex(2, 2, 2):
            x, y, z = (value * (1.0 - 2.0 * sign) for value, sign in zip(seed, signs, strict=True))
            corners |= {(x, y, z), (y, z, x), (z, x, y)}
    points = np.array(sorted({(round(x, 9) + 0.0, round(y, 9) + 0.0, round(z, 9) + 0.0) for x, y, z in corners}))
    return radius * points / np.linalg.norm(points, axis=1).max()


def shell(size: tuple[float, float, float], around: int = 20, rings: int = 5) -> np.ndarray:
    """Corners of a crab's shell: an egg with a flat belly, wider in front."""
    corners = []
    for n in range(rings + 1):
        tilt = 0.5 * np.pi * n / rings
        count = 1 if n == rings else around
        turn = 2.0 * np.pi * np.arange(count) / count
        wide = np.cos(tilt) * (1.0 + 0.12 * np.sin(turn))
        corners.append(np.column_stack([0.5 * size[0] * wide * np.cos(turn), 0.5 * size[1] * wide * np.sin(turn),
                                        np.full(count, size[2] * np.sin(tilt))]))
    return np.vstack(corners)
