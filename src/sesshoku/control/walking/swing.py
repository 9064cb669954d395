"""Paths of a swing foot and of the heading over one single support; phase runs from 0 to 1."""

from __future__ import annotations

import numpy as np

LIFTS, LANDS = 0.05, 0.90  # phases between which the foot moves along the ground: it lifts first, comes down upright


def smooth(u: np.ndarray) -> np.ndarray:
    """0 to 1 with velocity and acceleration zero at both ends (minimum jerk); constant outside."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def along(phase: np.ndarray, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """(n, k) places, headings ... of the foot on its way."""
    return start + (goal - start) * smooth((phase - LIFTS) / (LANDS - LIFTS))[:, None]


def height(phase: np.ndarray, top: float) -> np.ndarray:
    """(n) of the sole above the ground: up to `top` at half the phase, at rest at both ends and at the top."""
    return top * np.where(phase < 0.5, smooth(2.0 * phase), smooth(2.0 - 2.0 * phase))
