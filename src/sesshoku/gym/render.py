"""Pictures of a simulation for `render`, by Matplotlib: no window, no graphics card."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.recording.picture import draw

SIZE, DPI = 4.0, 100  # inches, dots an inch


def picture(sim: Any) -> np.ndarray:
    """(400, 400, 3) bytes, red green blue."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIZE, SIZE), dpi=DPI)
    canvas: Any = FigureCanvasAgg(figure)
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    draw(sim.scene, dict(zip(sim.compiled.frame_names, sim.body_poses(), strict=True)), axis)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
