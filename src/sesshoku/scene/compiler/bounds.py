"""Boxes around shapes in their own frames, and the size classes that share a grid in the broad phase."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model import arrays
from sesshoku.scene.compiler.beside import beside_arrays

LEVEL_RATIO = 3.0  # of the largest and smallest size in a class
MOST_LEVELS = 60


def bound_arrays(shapes: dict[str, Any]) -> dict[str, Any]:
    """Box, radius and level of every shape, and which lie beside each other."""
    boxes = np.zeros((shapes["shape_count"], 2, 3))
    for i, box in enumerate(boxes):
        kind, size = shapes["shape_type"][i], shapes["shape_size"][i]
        if kind == arrays.SHAPE_BOX or kind == arrays.SHAPE_ELLIPSOID:
            box[1] = size
        elif kind == arrays.SHAPE_SPHERE:
            box[1] = size[0]
        elif kind == arrays.SHAPE_CAPSULE or kind == arrays.SHAPE_CYLINDER:
            box[1] = size[0], size[0], size[1] + (size[0] if kind == arrays.SHAPE_CAPSULE else 0.0)
        elif kind == arrays.SHAPE_CONVEX:
            first, last = shapes["shape_vertex"][i]
            low, high = shapes["vertices"][first:last].min(axis=0), shapes["vertices"][first:last].max(axis=0)
            box[:] = 0.5 * (low + high), 0.5 * (high - low)
        elif kind == arrays.SHAPE_FIELD:
            first, rows, columns = shapes["shape_field"][i]
            top = shapes["elevation"][first:first + rows * columns].max()
            box[:] = ((0.0, 0.0, 0.5 * (top - size[2])),
                      (0.5 * (columns - 1) * size[0], 0.5 * (rows - 1) * size[1], 0.5 * (top + size[2])))
    radius = np.linalg.norm(boxes[:, 1], axis=1)
    levels = size_levels(radius, shapes["shape_type"] != arrays.SHAPE_PLANE)
    return {"shape_box": boxes, "shape_radius": radius, "shape_level": levels,
            "level_count": int(max(levels, default=-1)) + 1} | beside_arrays(shapes, boxes)


def size_levels(radius: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Classes of like size, 0 the smallest; -1 for what is not counted."""
    levels = np.full(len(radius), -1, dtype=np.int64)
    solid = np.flatnonzero(counted)
    level, most = -1, -1.0
    for i in solid[np.argsort(radius[solid], kind="stable")]:
        if radius[i] > most and level < MOST_LEVELS - 1:
            level, most = level + 1, LEVEL_RATIO * float(radius[i])
        levels[i] = level
    return levels
