"""Which shapes of a body lie beside each other: flush, touching or overlapping (`collision/points/seams.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model import arrays

NEAR = 1e-4  # m between their boxes
FLAT = (arrays.SHAPE_BOX, arrays.SHAPE_CONVEX)


def beside_arrays(shapes: dict[str, Any], boxes: np.ndarray) -> dict[str, Any]:
    """beside_start, beside: of boxes and convex polyhedra the others, and planes, of the same link that may be beside.

    boxes (G, 2, 3): centre and half edges around each shape, in its frame.
    """
    count, kind, link = shapes["shape_count"], shapes["shape_type"], shapes["shape_link"]
    found: list[list[int]] = [[] for _ in range(count)]
    flat = np.isin(kind, FLAT)
    for i, j in close_pairs(link, *link_boxes(shapes, boxes), flat):
        found[i].append(j)
        found[j].append(i)
    for plane in np.flatnonzero(kind == arrays.SHAPE_PLANE):
        for on_it in np.flatnonzero(flat & (link == link[plane])):
            found[on_it].append(int(plane))
    start = np.concatenate([[0], np.cumsum([len(row) for row in found])]).astype(np.int64)
    return {"beside_start": start, "beside": np.array([j for row in found for j in sorted(row)], dtype=np.int64)}


def link_boxes(shapes: dict[str, Any], boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corners (G, 3) of boxes around the shapes along the axes of their links."""
    R = shapes["shape_rotation"]
    center = shapes["shape_position"] + np.einsum("gij,gj->gi", R, boxes[:, 0])
    half = np.einsum("gij,gj->gi", np.abs(R), boxes[:, 1])
    return center - half, center + half


def close_pairs(link: np.ndarray, low: np.ndarray, high: np.ndarray, wanted: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of wanted shapes on one link whose boxes are at most NEAR apart, by a sweep along x."""
    pairs = []
    for body in np.unique(link[wanted]):
        members = np.flatnonzero(wanted & (link == body))
        members = members[np.argsort(low[members, 0], kind="stable")]
        ends = np.searchsorted(low[members, 0], high[members, 0] + NEAR, side="right")
        for place, i in enumerate(members):
            others = members[place + 1 : ends[place]]
            near = ((low[others] <= high[i] + NEAR) & (low[i] <= high[others] + NEAR)).all(axis=1)
            pairs += [(int(i), int(j)) for j in others[near]]
    return pairs
