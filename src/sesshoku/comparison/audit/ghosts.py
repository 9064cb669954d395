"""Runs of all laws drawn over each other, at a few instants: a law a colour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sesshoku.comparison.outcome import Outcome
from sesshoku.comparison.silhouette import outlines
from sesshoku.scene.scene import Scene

PANELS, HEIGHT, WIDTH = 4, 230.0, 520.0  # instants, and px of a panel at most


def ghosts(scene: Scene, outcomes: Sequence[Outcome], colors: dict[str, str], also: Sequence[float] = ()) -> str:
    """Side views, one for each of four instants and those of `also` (s); runs that have ended stay as they ended."""
    films = {o.method: o.film for o in outcomes if o.film and all(np.isfinite(poses).all() for _, poses, _ in o.film)}
    if not films:
        return ""
    end = max(film[-1][0] for film in films.values())
    instants = sorted({*(end * n / (PANELS - 1) for n in range(PANELS)), *also})
    ways = np.concatenate([film[-1][1][:, :2] - film[0][1][:, :2] for film in films.values()])
    axis = 1 if np.abs(ways[:, 1]).max() > np.abs(ways[:, 0]).max() else 0
    panels = []
    for instant in instants:
        drawn = {}
        for law, film in films.items():
            frame = min(film, key=lambda one: abs(one[0] - instant))
            drawn[law] = outlines(scene, frame[1], axis)
        points = [shape for shapes in drawn.values() for shape in shapes]
        if points:
            panels.append(_panel(instant, drawn, np.concatenate(points), colors))
    return f"<div class='ghosts'>{''.join(panels)}</div>"


def _panel(instant: float, drawn: dict[str, list[np.ndarray]], points: np.ndarray, colors: dict[str, str]) -> str:
    low, size = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-6)
    scale = min(HEIGHT / size[1], WIDTH / size[0])
    width, height = size * scale + 8.0
    paths = []
    for law, shapes in drawn.items():
        lines = []
        for shape in shapes:
            x, y = 4.0 + (shape[:, 0] - low[0]) * scale, height - 4.0 - (shape[:, 1] - low[1]) * scale
            lines.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y)) + "Z")
        paths.append(f"<path class='{colors[law]}' d='{''.join(lines)}'/>")
    return (f"<figure><svg viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' role='img' "
            f"aria-label='all laws at {instant:.2f} s'>{''.join(paths)}</svg>"
            f"<figcaption>{instant:.2f} s</figcaption></figure>")
