"""Gill's fourth-order Runge-Kutta scheme (1951), the one the `volume` paper integrates with."""

from __future__ import annotations

import numpy as np

R = np.sqrt(2.0)
# columns: time of the stage, then the weights of the rates before it; last row: the step
TABLEAU = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.0, 0.0, 0.0],
    [0.5, (R - 1) / 2, (2 - R) / 2, 0.0, 0.0],
    [1.0, 0.0, -R / 2, 1 + R / 2, 0.0],
    [1.0, 1 / 6, (2 - R) / 6, (2 + R) / 6, 1 / 6],
])
