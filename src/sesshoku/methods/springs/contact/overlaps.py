"""Bodies that begin too deep inside each other for their contacts to be found.

A scene's first contacts come of sweeps from shrunken copies of the shapes, last from their cores (swept/brep.py).
Where the cores of two shapes meet already, features never cross, and nothing keeps the bodies from falling through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.filter import may_touch
from sesshoku.scene.compiler import CompiledScene
from sesshoku.stages.deep_overlaps import DeepOverlap

NAMED = 3  # pairs that are told one by one


def overlap_cautions(compiled: CompiledScene, breps: Any, poses: Any) -> list[Warning]:
    """What to warn of: pairs of shapes whose cores meet at the start, the deepest first."""
    solids = [Solid(compiled, breps, shape, poses) for shape in range(breps.shape_count)]
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for a, b in near_pairs(breps, solids):
        if solids[a].meets(solids[b]):
            names = (compiled.frame_names[breps.shape_frame[a]], compiled.frame_names[breps.shape_frame[b]])
            seen = solids[a].reach + solids[b].reach
            found[names] = max(found.get(names, (0.0, 0.0)), (solids[a].depth_in(solids[b], seen), seen))
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    texts = [
        f"bodies {one!r} and {other!r} begin at least {depth:.3g} m deep inside each other (contacts are found down "
        f"to {seen:.3g} m at the start): they may fall through each other or be thrown apart; move them apart, or keep "
        f"them from touching with exclude_collision" for (one, other), (depth, seen) in ranked[:NAMED]]
    if len(ranked) > NAMED:
        texts[-1] += f" (so do {len(ranked) - NAMED} more pairs)"
    return [DeepOverlap(text) for text in texts]


class Solid:
    """A shape at the start, in world axes: its vertices and those of its core, m."""

    def __init__(self, compiled: CompiledScene, breps: Any, shape: int, poses: Any) -> None:
        b = int(breps.shape_body[shape])
        first, last = breps.shape_vertex[shape]
        x, R = poses[b] if b < len(poses) else (np.zeros(3), np.eye(3))
        if b < len(poses):
            x = x + R @ compiled.model.link_center[b]
        faces, edges = slice(*breps.shape_face[shape]), slice(*breps.shape_edge[shape])
        self.vertices, self.core = (points[first:last] @ R.T + x for points in (breps.vertex, breps.core))
        self.faces = breps.face_vertex[faces] - first
        self.edges = breps.edge_vertex[edges] - first
        self.normals = breps.face_normal[faces] @ R.T
        self.convex = not breps.edge_concave[edges].any()
        moved = np.einsum("ij,ij->i", (self.vertices - self.core)[self.faces[:, 0]], self.normals)
        self.reach = float(moved.min(initial=np.inf))  # by which all faces of the core lie deeper

    def meets(self, other: Solid) -> bool:
        """Whether the cores of both have points in common."""
        for a, b in ((self, other), (other, self)):
            if crossing(a.core[a.edges], b.core[b.faces]) or inside(a.core[0], b.core[b.faces]):
                return True
        return False

    def depth_in(self, other: Solid, least: float) -> float:
        """By how much convex solids overlap in the direction of the face that parts them best; others: `least`."""
        if not (self.convex and other.convex):
            return least
        normals = np.concatenate([self.normals, -other.normals])
        ways = (self.vertices @ normals.T).max(axis=0) - (other.vertices @ normals.T).min(axis=0)
        return max(least, float(ways.min()))


def near_pairs(breps: Any, solids: list[Solid]) -> list[tuple[int, int]]:
    """Pairs of shapes that may touch, and the boxes around whose cores overlap."""
    if not solids:
        return []
    low = np.array([solid.core.min(axis=0) for solid in solids])
    high = np.array([solid.core.max(axis=0) for solid in solids])
    if breps.pairs_listed:
        a, b = breps.allowed_pair.reshape(-1, 2).T
        near = ((low[a] <= high[b]) & (low[b] <= high[a])).all(axis=1)
        return [(int(i), int(j)) for i, j in breps.allowed_pair[near]]
    pairs = []
    for i in range(len(solids) - 1):
        rest = ((low[i] <= high[i + 1:]) & (low[i + 1:] <= high[i])).all(axis=1)
        pairs += [(i, int(j)) for j in np.flatnonzero(rest) + i + 1 if may_touch(breps, i, int(j))]
    return pairs


def within(pieces: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Those pieces (n, k, 3) whose boxes overlap the box around the others."""
    low, high = others.min(axis=(0, 1), initial=np.inf), others.max(axis=(0, 1), initial=-np.inf)
    return pieces[((pieces.min(axis=1) <= high) & (pieces.max(axis=1) >= low)).all(axis=1)]


def crossing(segments: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether any of the segments (n, 2, 3) meets any of the triangles (m, 3, 3)."""
    segments = within(segments, triangles)
    triangles = within(triangles, segments)
    low, high = triangles.min(axis=1), triangles.max(axis=1)
    for p, q in segments:
        near = triangles[((np.minimum(p, q) <= high) & (np.maximum(p, q) >= low)).all(axis=1)]
        if not len(near):
            continue
        a, u, w = near[:, 0], near[:, 1] - near[:, 0], near[:, 2] - near[:, 0]
        n = np.cross(u, w)
        start, end = np.einsum("ij,ij->i", n, p - a), np.einsum("ij,ij->i", n, q - a)
        cut = start * end < 0.0
        if not cut.any():
            continue
        n, u, w, start, end = n[cut], u[cut], w[cut], start[cut], end[cut]
        x = p + (start / (start - end))[:, None] * (q - p) - a[cut]
        square = np.einsum("ij,ij->i", n, n)
        s = np.einsum("ij,ij->i", np.cross(x, w), n) / square
        t = np.einsum("ij,ij->i", np.cross(u, x), n) / square
        if ((s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)).any():
            return True
    return False


def inside(point: np.ndarray, triangles: np.ndarray) -> bool:
    """Whether a point lies within the closed surface: the solid angle of its triangles is that of a full sphere."""
    a, b, c = (triangles[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    rest = (la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la
            + np.einsum("ij,ij->i", c, a) * lb)
    return abs(float(np.arctan2(volume, rest).sum())) > np.pi
