"""Side views of a run as SVG: outlines of all shapes at a few instants, the first faint, the last strong."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from sesshoku.comparison.outcome import Outcome
from sesshoku.scene.geometry.shapes import Plane
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import quaternion_to_matrix

FLAT = 3.0  # wider than so many heights: panels stand above each other, else side by side
HEIGHT, WIDTH = 150.0, 1100.0  # of a panel at most, px


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull of points in a plane (n, 2), counter-clockwise (monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]

    def half(sequence: np.ndarray) -> list[np.ndarray]:
        chain: list[np.ndarray] = []
        for p in sequence:
            while len(chain) > 1:
                a, b = chain[-1] - chain[-2], p - chain[-1]
                if a[0] * b[1] - a[1] * b[0] > 0.0:
                    break
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def outlines(scene: Scene, poses: np.ndarray, axis: int) -> list[np.ndarray]:
    """The shapes that move, seen from the side: horizontal `axis` (0: x, 1: y) and z. poses: (F, 7)."""
    found = []
    for body, pose in zip(scene.bodies.values(), poses):
        for geometry in body.geometries:
            if isinstance(geometry.shape, Plane) or not geometry.visible:
                continue
            points = surface(geometry.shape, resolution=10)[0]
            points = points @ quaternion_to_matrix(geometry.rotation).T + geometry.position
            world = points @ quaternion_to_matrix(pose[3:]).T + pose[:3]
            found.append(hull(np.round(world[:, [axis, 2]], 6)))
    return found


def side_views(scene: Scene, outcomes: Sequence[Outcome], colors: dict[str, str]) -> str:
    """One panel a method, all in one scale. colors: method -> class of its colour."""
    shown = [outcome for outcome in outcomes if outcome.frames]
    if not shown:
        return ""
    places = np.concatenate([poses[:, :3] for outcome in shown for _, poses in outcome.frames])
    start = shown[0].frames[0][1][:, :3]
    drift = np.abs(np.concatenate([poses[:, :2] - start[:, :2] for o in shown for _, poses in o.frames])).max(axis=0)
    if not np.isfinite(places).all():
        return ""
    axis = 1 if drift[1] > drift[0] + 1e-9 else 0
    drawn = {o.method: [outlines(scene, poses, axis) for _, poses in o.frames] for o in shown}
    everything = [shape for frames in drawn.values() for frame in frames for shape in frame]
    if not everything:
        return ""
    corners = np.concatenate(everything)
    low, high = corners.min(axis=0), corners.max(axis=0)
    floor = _floor(scene, shown[0].frames[0][1], axis, low[0], high[0])
    if floor is not None:
        low[1], high[1] = min(low[1], *floor), max(high[1], *floor)
    size = np.maximum(high - low, 1e-6)
    flat = size[0] > FLAT * size[1]
    scale = min(HEIGHT * (2.0 if size[1] > size[0] else 1.0) / size[1], WIDTH / size[0])  # the upright get more height
    panels = [_panel(o, drawn[o.method], low, size, scale, floor, colors[o.method]) for o in shown]
    return f"<div class='views{' flat' if flat else ''}'>{''.join(panels)}</div>"


def _floor(scene: Scene, poses: np.ndarray, axis: int, left: float, right: float) -> tuple[float, float] | None:
    """Heights of the ground at the left and the right end of the picture, where there is one."""
    for body, pose in zip(scene.bodies.values(), poses):
        for geometry in body.geometries:
            if isinstance(geometry.shape, Plane):
                R = quaternion_to_matrix(pose[3:])
                n, p = R @ quaternion_to_matrix(geometry.rotation)[:, 2], pose[:3] + R @ geometry.position
                if abs(n[2]) > 0.1:  # not a wall
                    return tuple(float(p[2] - n[axis] / n[2] * (x - p[axis])) for x in (left, right))  # type: ignore
    return None


def _panel(outcome: Outcome, frames: list[list[np.ndarray]], low: np.ndarray, size: np.ndarray, scale: float,
           floor: tuple[float, float] | None, color: str) -> str:
    width, height = size[0] * scale + 8.0, size[1] * scale + 8.0
    parts = []
    if floor is not None:
        a, b = (height - 4.0 - (z - low[1]) * scale for z in floor)
        parts.append(f"<line class='floor' x1='0' x2='{width:.0f}' y1='{a:.1f}' y2='{b:.1f}'/>")
    for n, frame in enumerate(frames):
        strength = "last" if n == len(frames) - 1 else "first" if n == 0 else "between"
        shapes = []
        for shape in frame:
            x, y = 4.0 + (shape[:, 0] - low[0]) * scale, height - 4.0 - (shape[:, 1] - low[1]) * scale
            shapes.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y)) + "Z")
        parts.append(f"<path class='{strength}' d='{''.join(shapes)}'/>")
    return (f"<figure class='{color}'><svg viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' role='img' "
            f"aria-label='side view, {html.escape(outcome.method)}'>{''.join(parts)}</svg>"
            f"<figcaption>{html.escape(outcome.method)}</figcaption></figure>")
