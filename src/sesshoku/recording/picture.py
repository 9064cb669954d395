"""Still pictures of a scene with matplotlib: one instant, or a strip of frames over a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.recording.plot import picture_path, write_picture
from sesshoku.scene.geometry.shapes import Mesh, Plane
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import quaternion_to_matrix

PALETTE = ((0.30, 0.47, 0.66), (0.95, 0.56, 0.17), (0.35, 0.63, 0.31),
           (0.88, 0.34, 0.35), (0.46, 0.72, 0.70), (0.69, 0.48, 0.63))
ELEVATION, AZIMUTH = 14, -62  # degrees: where pictures are taken from
EYE = np.array([np.cos(np.radians(ELEVATION)) * np.cos(np.radians(AZIMUTH)),
                np.cos(np.radians(ELEVATION)) * np.sin(np.radians(AZIMUTH)), np.sin(np.radians(ELEVATION))])
LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])


def _triangles(scene: Scene, poses: dict[str, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """World triangles (n, 3, 3) and shaded colours (n, 4) of what is visible; alpha 0: turned away from the eye."""
    corners, colors = [], []
    owners = {body.robot or body.name for body in scene.bodies.values()}
    hue = {owner: PALETTE[i % len(PALETTE)] for i, owner in enumerate(sorted(owners))}
    for body in scene.bodies.values():
        p, R = poses[body.name][:3], quaternion_to_matrix(poses[body.name][3:])
        for geometry in body.geometries:
            if isinstance(geometry.shape, Plane) or not geometry.visible:
                continue
            points, faces = surface(geometry.shape, resolution=12)
            points = points @ quaternion_to_matrix(geometry.rotation).T + geometry.position
            triangles = (points @ R.T + p)[faces]
            normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
            shade = 0.62 + 0.38 * np.clip(normals @ LIGHT, -0.6, 1.0)
            base = np.array(geometry.color[:3] if geometry.color else hue[body.robot or body.name])
            # matplotlib sorts whole triangles by depth: faces turned away would come out in front of near ones
            seen = np.ones(len(faces)) if isinstance(geometry.shape, Mesh) else (normals @ EYE > 0.0).astype(float)
            colors.append(np.column_stack([np.clip(shade[:, None] * base, 0, 1), seen]))
            corners.append(triangles)
    return corners, colors


def draw(scene: Scene, poses: dict[str, np.ndarray], axis: Any,
         bounds: tuple[np.ndarray, np.ndarray] | None = None) -> None:
    """Draw the scene into a matplotlib 3-D axis. poses: body name -> position and quaternion (7)."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners, colors = _triangles(scene, poses)
    if corners:
        all_corners, all_colors = np.concatenate(corners), np.concatenate(colors)
        seen = all_colors[:, 3] > 0.0
        axis.add_collection3d(Poly3DCollection(all_corners[seen], facecolors=all_colors[seen],
                                               edgecolors=all_colors[seen], linewidths=0.3))  # closes hairlines
    low, high = bounds if bounds is not None else _bounds([corners])
    middle, half = 0.5 * (low + high), 0.5 * float(max((high - low).max(), 1e-3)) * 1.05
    axis.set_xlim(middle[0] - half, middle[0] + half)
    axis.set_ylim(middle[1] - half, middle[1] + half)
    axis.set_zlim(middle[2] - half, middle[2] + half)
    grounds = [body for body in scene.bodies.values() if any(isinstance(g.shape, Plane) for g in body.geometries)]
    if grounds:
        height = float(grounds[0].position[2])
        grid = np.linspace(-half, half, 9)
        for s in grid:
            along_y = [middle[0] + s] * 2, [middle[1] - half, middle[1] + half]
            along_x = [middle[0] - half, middle[0] + half], [middle[1] + s] * 2
            for line in (along_x, along_y):
                axis.plot(*line, [height] * 2, color="0.8", lw=0.5, zorder=-1)
    axis.set_box_aspect((1, 1, 1), zoom=1.55)
    axis.set_axis_off()
    axis.view_init(elev=ELEVATION, azim=AZIMUTH)


def _bounds(frames: list[list[np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    points = [triangles.reshape(-1, 3) for corners in frames for triangles in corners]
    if not points:
        return -np.ones(3), np.ones(3)
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def strip(scene: Scene, frames: list[tuple[float, dict[str, np.ndarray]]], path: str | Path | None = None) -> Any:
    """A row of pictures at several times, all in one scale. frames: (time, body name -> pose). Returns the figure."""
    from matplotlib.figure import Figure

    if path is not None:
        path = picture_path(path)
    bounds = _bounds([_triangles(scene, poses)[0] for _, poses in frames])
    figure = Figure(figsize=(2.6 * len(frames), 3.0), dpi=130)
    for n, (time, poses) in enumerate(frames):
        axis = figure.add_axes((n / len(frames), 0.0, 1.0 / len(frames), 0.95), projection="3d")
        draw(scene, poses, axis, bounds)
        figure.text((n + 0.5) / len(frames), 0.93, f"{time:.2f} s", ha="center", fontsize=9)
    if path is not None:
        write_picture(figure, path, dpi=130)
    return figure
