"""A closed triangle surface of any shape, for drawing and for methods that work on polyhedra."""

from __future__ import annotations

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.geometry import shapes

# corners of a box counted in binary (x, y, z), its sides as quadrangles seen counter-clockwise from outside
BOX_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def surface(shape: shapes.Shape, resolution: int = 24, size: float = 10.0) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and outward counter-clockwise triangles (m, 3) of a shape, in its own frame.

    resolution: corners around a circle; curved shapes are inscribed, with their poles and rims exact.
    size: edge of the square that stands for an endless plane (the only surface here that is not closed).
    """
    if resolution < 3:
        raise SceneError("resolution must be at least 3", element=shape.kind, value=resolution)
    if isinstance(shape, (shapes.ConvexMesh, shapes.Mesh)):
        return shape.vertices.copy(), shape.faces.copy()
    if isinstance(shape, shapes.Plane):
        h = 0.5 * size
        return np.array([[-h, -h, 0.0], [h, -h, 0.0], [h, h, 0.0], [-h, h, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]])
    if isinstance(shape, shapes.Box):
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        faces = [triangle for a, b, c, d in BOX_QUADS for triangle in ((a, b, c), (a, c, d))]
        return corners * np.array(shape.size), np.array(faces)
    if isinstance(shape, shapes.Ellipsoid):
        vertices, triangles = surface(shapes.Sphere(1.0), resolution)
        return vertices * np.array(shape.radii), triangles
    if isinstance(shape, shapes.HeightField):
        return _terrain(shape)
    return _turned(*_profile(shape, resolution), resolution)


def _terrain(field: shapes.HeightField) -> tuple[np.ndarray, np.ndarray]:
    """The triangles of the grid, walls around it, and a foot fanned from its middle."""
    rows, columns = field.heights.shape
    assert field.base is not None
    x, y = (0.5 * side * np.linspace(-1.0, 1.0, n) for side, n in zip(field.size, (columns, rows), strict=True))
    top = np.column_stack([np.tile(x, rows), np.repeat(y, columns), field.heights.ravel()])
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    border = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])  # counter-clockwise
    count = len(border)
    foot = top[border] * (1.0, 1.0, 0.0) - (0.0, 0.0, field.base)
    here, low = np.arange(count), len(top) + np.arange(count)
    after = (here + 1) % count
    middle = len(top) + count
    faces = [np.column_stack([a, b, c]), np.column_stack([d, c, b]),
             np.column_stack([border, low, low[after]]), np.column_stack([border, low[after], border[after]]),
             np.column_stack([np.full(count, middle), low[after], low])]
    return np.vstack([top, foot, [[0.0, 0.0, -field.base]]]), np.vstack(faces)


def _profile(shape: shapes.Shape, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """Radii and heights, bottom to top, of a shape that is round about z; first and last radius are zero."""
    if isinstance(shape, shapes.Cylinder):
        h, r = 0.5 * shape.length, shape.radius
        return np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h])
    if not isinstance(shape, (shapes.Sphere, shapes.Capsule)):
        raise SceneError("this shape has no surface", element="surface", value=shape)
    half = 0.5 * shape.length if isinstance(shape, shapes.Capsule) else 0.0
    steps = max(2, (resolution + 3) // 4)
    angle = np.linspace(0.0, 0.5 * np.pi, steps + 1)
    ring, rise = shape.radius * np.sin(angle), shape.radius * np.cos(angle)
    if half > 0.0:
        return np.concatenate([ring, ring[::-1]]), np.concatenate([-half - rise, half + rise[::-1]])
    return np.concatenate([ring, ring[-2::-1]]), np.concatenate([-rise, rise[-2::-1]])


def _turned(radii: np.ndarray, heights: np.ndarray, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """The surface a profile sweeps when turned about z: a bottom point, rings, a top point."""
    angle = 2.0 * np.pi * np.arange(resolution) / resolution
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([r * circle, np.full(resolution, z)])
             for r, z in zip(radii[1:-1], heights[1:-1], strict=True)]
    vertices = np.vstack([[[0.0, 0.0, heights[0]]], *rings, [[0.0, 0.0, heights[-1]]]])
    here = np.arange(resolution)
    after = (here + 1) % resolution
    top, last = len(vertices) - 1, 1 + (len(rings) - 1) * resolution
    faces = [np.column_stack([np.zeros_like(here), 1 + after, 1 + here])]
    for k in range(len(rings) - 1):
        low, high = 1 + k * resolution, 1 + (k + 1) * resolution
        faces.append(np.column_stack([low + here, low + after, high + after]))
        faces.append(np.column_stack([low + here, high + after, high + here]))
    faces.append(np.column_stack([last + here, last + after, np.full_like(here, top)]))
    return vertices, np.vstack(faces)
