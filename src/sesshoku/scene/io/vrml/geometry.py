"""Geometry nodes, as VRML 97 and Choreonoid's body files have them, as shapes or triangles. Their axis is y.

A `Piece` is a shape of ours with its pose, or triangles; `placed` moves it by an affine map. What such a map makes of a
shape that is no such shape any more (a sphere scaled along one axis) becomes triangles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Shape, Sphere
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.spatial.rotation import axis_angle, matrix_to_quaternion, quaternion_to_matrix

SIDES = 24  # of a cone, which has no shape of its own here
Y_UP = axis_angle(np.array([1.0, 0.0, 0.0]), -np.pi / 2)  # turns our z to the y of VRML
ROUNDING = 1e-6


@dataclass(frozen=True)
class Piece:
    """A shape in its frame, or triangles: vertices (n, 3), faces (m, 3). color: RGBA or None."""

    shape: Shape | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None
    color: tuple[float, float, float, float] | None = None
    source: str | None = None


def placed(piece: Piece, M: np.ndarray) -> Piece:
    """The piece moved by an affine map M (4, 4)."""
    A, p = M[:3, :3], M[:3, 3]
    if piece.shape is not None:
        size = float(np.cbrt(abs(np.linalg.det(A))))
        if size > 0.0 and np.linalg.det(A) > 0.0 and np.abs(A.T @ A - size**2 * np.eye(3)).max() < ROUNDING * size**2:
            R = A / size
            turned = matrix_to_quaternion(R @ quaternion_to_matrix(np.asarray(piece.rotation)))
            return replace(piece, shape=_scaled(piece.shape, size), position=p + A @ np.asarray(piece.position),
                           rotation=turned)
        vertices, faces = surface(piece.shape)
        inner = vertices @ quaternion_to_matrix(np.asarray(piece.rotation)).T + np.asarray(piece.position)
        piece = Piece(vertices=inner, faces=faces, color=piece.color)
    assert piece.vertices is not None and piece.faces is not None
    faces = piece.faces[:, ::-1].copy() if np.linalg.det(A) < 0.0 else piece.faces
    moved = not np.array_equal(M, np.eye(4))
    return replace(piece, vertices=piece.vertices @ A.T + p, faces=faces, source=None if moved else piece.source)


def _scaled(shape: Shape, size: float) -> Shape:
    if abs(size - 1.0) < 1e-12:  # a turn, to rounding
        return shape
    if isinstance(shape, Box):
        x, y, z = shape.size
        return Box((size * x, size * y, size * z))
    if isinstance(shape, Sphere):
        return Sphere(size * shape.radius)
    assert isinstance(shape, (Cylinder, Capsule))
    return type(shape)(size * shape.radius, size * shape.length)


def affine(translation: Any = (0, 0, 0), R: Any = None, scale: Any = (1, 1, 1)) -> np.ndarray:
    """(4, 4): scale, then turn by R (3, 3), then move."""
    M = np.eye(4)
    M[:3, :3] = (np.eye(3) if R is None else R) * np.asarray(scale, dtype=np.float64)
    M[:3, 3] = translation
    return M


# ---- geometries ------------------------------------------------------------------------------------------------------


def box(size: Any) -> Piece:
    return Piece(Box(tuple(size)))


def sphere(radius: float) -> Piece:
    return Piece(Sphere(radius))


def cylinder(radius: float, height: float) -> Piece:
    return Piece(Cylinder(radius, height), rotation=Y_UP)


def capsule(radius: float, height: float) -> Piece:
    return Piece(Capsule(radius, height), rotation=Y_UP)


def cone(radius: float, height: float) -> Piece:
    """Its tip at y = height / 2."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.stack([radius * np.sin(angles), np.full(SIDES, -height / 2), radius * np.cos(angles)], axis=1)
    vertices = np.vstack([ring, [[0.0, height / 2, 0.0], [0.0, -height / 2, 0.0]]])
    after = (np.arange(SIDES) + 1) % SIDES
    sides = np.stack([np.arange(SIDES), after, np.full(SIDES, SIDES)], axis=1)
    bottom = np.stack([after, np.arange(SIDES), np.full(SIDES, SIDES + 1)], axis=1)
    return Piece(vertices=vertices, faces=np.vstack([sides, bottom]))


def face_set(points: np.ndarray, indices: np.ndarray, element: str, ccw: bool = True) -> Piece:
    """Polygons, each ended by -1, as fans of triangles."""
    if points.size % 3:
        raise SceneError("coordinates are not threes of numbers", element=element, value=int(points.size),
                         remedy="is a number missing?")
    vertices, polygons, current = points.reshape(-1, 3), [], []
    for index in [*indices.astype(np.int64).tolist(), -1]:
        if index >= 0:
            current.append(index)
            continue
        polygons += [(current[0], current[k], current[k + 1]) for k in range(1, len(current) - 1)]
        current = []
    faces = np.array(polygons, dtype=np.int64).reshape(-1, 3)
    if faces.size and faces.max() >= len(vertices):
        raise SceneError("a face names a point that is not there", element=element, value=int(faces.max()),
                         remedy=f"there are {len(vertices)} points, counted from 0")
    if not faces.size:
        raise SceneError("there is no face", element=element, remedy="give coordIndex with three points or more a face")
    return Piece(vertices=vertices, faces=faces if ccw else faces[:, ::-1].copy())


def elevation_grid(heights: np.ndarray, columns: int, rows: int, x_spacing: float, z_spacing: float,
                   element: str, ccw: bool = True) -> Piece:
    """Heights along y over the x-z plane, row by row."""
    if heights.size != columns * rows or columns < 2 or rows < 2:
        raise SceneError("a grid needs xDimension x zDimension heights, two of each at least", element=element,
                         value=(heights.size, columns, rows))
    k, i = np.divmod(np.arange(columns * rows), columns)
    vertices = np.stack([i * x_spacing, heights, k * z_spacing], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = np.vstack([np.stack([corner, corner + columns, corner + columns + 1], axis=1),
                       np.stack([corner, corner + columns + 1, corner + 1], axis=1)])
    return Piece(vertices=vertices, faces=faces if ccw else faces[:, ::-1].copy())


def extrusion(section: np.ndarray, spine: np.ndarray, scales: np.ndarray, turns: np.ndarray, element: str,
              caps: tuple[bool, bool] = (True, True), ccw: bool = True) -> Piece:
    """A cross-section (x, z) swept along a spine; scales (x, z), turns (axis, radians): one, or one a spine point."""
    for values, size, what in ((section, 2, "crossSection"), (spine, 3, "spine"), (scales, 2, "scale"),
                               (turns, 4, "orientation")):
        if values.size == 0 or values.size % size:
            raise SceneError(f"{what} is not a list of {size} numbers each", element=element, value=values.tolist())
    outline, path = section.reshape(-1, 2), spine.reshape(-1, 3)
    closed = len(outline) > 2 and np.array_equal(outline[0], outline[-1])
    outline = outline[:-1] if closed else outline
    if len(path) < 2 or len(outline) < 3:
        raise SceneError("an extrusion needs two points of its spine and three of its section", element=element)
    frames = _spine_frames(path)
    n, m = len(path), len(outline)
    factors = np.broadcast_to(scales.reshape(-1, 2), (n, 2)) if scales.size == 2 else scales.reshape(-1, 2)
    angles = np.broadcast_to(turns.reshape(-1, 4), (n, 4)) if turns.size == 4 else turns.reshape(-1, 4)
    if len(factors) != n or len(angles) != n:
        raise SceneError("scale and orientation need one entry, or one for each point of the spine", element=element)
    rings = []
    for at, R, (sx, sz), turn in zip(path, frames, factors, angles):
        flat = np.stack([outline[:, 0] * sx, np.zeros(m), outline[:, 1] * sz], axis=1)
        own = np.eye(3) if turn[3] == 0.0 else quaternion_to_matrix(axis_angle(turn[:3], turn[3]))
        rings.append(flat @ (R @ own).T + at)
    faces = []
    for k in range(n - 1):
        for i in range(m if closed else m - 1):
            a, b = k * m + i, k * m + (i + 1) % m
            faces += [(a, b, b + m), (a, b + m, a + m)]
    if caps[0]:
        faces += [(0, i + 1, i) for i in range(1, m - 1)]
    if caps[1]:
        last = (n - 1) * m
        faces += [(last, last + i, last + i + 1) for i in range(1, m - 1)]
    made = np.array(faces, dtype=np.int64)
    # the standard's default section runs clockwise seen from +y: its outside is what these triangles show
    return Piece(vertices=np.vstack(rings), faces=made if ccw else made[:, ::-1].copy())


def _spine_frames(path: np.ndarray) -> list[np.ndarray]:
    """Rotations whose y follows the spine and whose z is normal to its bend."""
    n, looped = len(path), np.allclose(path[0], path[-1])

    def tangent(k: int) -> np.ndarray:
        if looped and k in (0, n - 1):
            return path[1] - path[n - 2]
        return path[min(k + 1, n - 1)] - path[max(k - 1, 0)]

    def bend(k: int) -> np.ndarray:
        before, after = (n - 2, 1) if looped and k in (0, n - 1) else (k - 1, k + 1)
        if before < 0 or after >= n:
            return np.zeros(3)
        return np.cross(path[after] - path[k], path[before] - path[k])

    bends = [bend(k) for k in range(n)]
    known = [k for k in range(n) if np.linalg.norm(bends[k]) > 1e-12]
    frames, last = [], None
    for k in range(n):
        y = tangent(k) / max(np.linalg.norm(tangent(k)), 1e-300)
        if not known:  # a straight spine: the least turn from y to it
            frames.append(_least_turn(y))
            continue
        z = bends[k] if k in known else bends[min(known, key=lambda other: abs(other - k))]
        z = z / np.linalg.norm(z)
        z = -z if last is not None and z @ last < 0.0 else z
        z = z - (z @ y) * y
        last = z / np.linalg.norm(z)
        frames.append(np.stack([np.cross(y, last), y, last], axis=1))
    return frames


def _least_turn(y: np.ndarray) -> np.ndarray:
    axis = np.cross([0.0, 1.0, 0.0], y)
    size = float(np.linalg.norm(axis))
    if size < 1e-12:
        return np.eye(3) if y[1] > 0.0 else np.diag([1.0, -1.0, -1.0])
    return quaternion_to_matrix(axis_angle(axis / size, float(np.arctan2(size, y[1]))))
