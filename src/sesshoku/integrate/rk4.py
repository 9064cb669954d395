"""The classical fourth-order Runge-Kutta scheme."""

from __future__ import annotations

import numpy as np

# columns: time of the stage, then the weights of the rates before it; last row: the step
TABLEAU = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.0, 0.0, 0.0],
    [0.5, 0.0, 0.5, 0.0, 0.0],
    [1.0, 0.0, 0.0, 1.0, 0.0],
    [1.0, 1 / 6, 1 / 3, 1 / 3, 1 / 6],
])
