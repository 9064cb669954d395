"""Shapes: what bodies look like and what will touch. Sizes in metres, centred on the shape's frame, axis along z."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked


@checked
@dataclass(frozen=True)
class Plane:
    """The half-space z <= 0 of its frame; only on bodies that are fixed or scripted."""

    kind = "plane"


@checked
@dataclass(frozen=True)
class Box:
    """Full edge lengths along x, y, z."""

    size: tuple[float, float, float]
    kind = "box"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check.lengths(self.size, "size", "box"))


@checked
@dataclass(frozen=True)
class Sphere:
    radius: float
    kind = "sphere"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check.number(self.radius, "radius", "sphere", above=0.0))


@checked
@dataclass(frozen=True)
class Ellipsoid:
    """Half axes along x, y, z."""

    radii: tuple[float, float, float]
    kind = "ellipsoid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", check.lengths(self.radii, "radii", "ellipsoid"))


@checked
@dataclass(frozen=True)
class Capsule:
    """A cylinder of the given length along z, closed by half spheres (total length: length + 2 radius)."""

    radius: float
    length: float
    kind = "capsule"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check.number(self.radius, "radius", "capsule", above=0.0))
        object.__setattr__(self, "length", check.number(self.length, "length", "capsule", above=0.0))


@checked
@dataclass(frozen=True)
class Cylinder:
    """Axis along z, full length."""

    radius: float
    length: float
    kind = "cylinder"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check.number(self.radius, "radius", "cylinder", above=0.0))
        object.__setattr__(self, "length", check.number(self.length, "length", "cylinder", above=0.0))


@checked
@dataclass(frozen=True, eq=False)
class ConvexMesh:
    """A convex polyhedron: vertices (n, 3), outward counter-clockwise triangles (m, 3). `hull` makes one of points."""

    vertices: np.ndarray
    faces: np.ndarray
    source: str | None = None  # the file it came from, so that a scene can be written out again
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    kind = "convex"

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and np.array_equal(self.vertices, other.vertices)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def hull(cls, points: Any) -> ConvexMesh:
        """The convex hull of points (n, 3), m; four at least, which span a volume."""
        from sesshoku.scene.geometry.mesh import convex_mesh

        return convex_mesh(points)


@checked
@dataclass(frozen=True, eq=False)
class Mesh:
    """A closed triangle mesh, possibly concave, with the convex pieces that stand for it in collision.

    Made by `mesh.triangle_mesh`, which checks and repairs it and finds the pieces.
    """

    vertices: np.ndarray
    faces: np.ndarray
    pieces: tuple[ConvexMesh, ...] = field(default=())
    source: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    repairs: tuple[str, ...] = ()  # what was mended to close it, in words
    kind = "mesh"

    def __eq__(self, other: Any) -> bool:
        return (type(other) is type(self) and np.array_equal(self.vertices, other.vertices)
                and np.array_equal(self.faces, other.faces))

    __hash__ = None  # type: ignore[assignment]


@checked
@dataclass(frozen=True, eq=False)
class HeightField:
    """Terrain over a rectangle of `size` (x, y) around the origin; only on bodies that are fixed or scripted.

    heights (rows, columns), m: elevations on an even grid, rows along y and columns along x, both ascending. Each cell
    is two triangles, cut from its corner at (least x, most y) to the one at (most x, least y). Below is solid ground,
    down to z = -base (default: a metre below the lowest elevation, or below z = 0).
    """

    heights: np.ndarray
    size: tuple[float, float]
    base: float | None = None
    source: str | None = None  # the file the heights came from
    kind = "height_field"

    def __post_init__(self) -> None:
        heights = check.heights(self.heights, "height field")
        heights.flags.writeable = False
        size = check.vector(self.size, "size", "height field", 2)
        for side in size:
            check.number(side, "size", "height field", above=0.0)
        lowest = float(heights.min())
        base = 1.0 - min(lowest, 0.0) if self.base is None else check.number(self.base, "base", "height field")
        if not -base < lowest:
            raise SceneError("the lowest elevation must lie above the ground's foot, z = -base", element="height field",
                             value=base, remedy=f"give a base above {-lowest:g}")
        for key, value in (("heights", heights), ("size", (float(size[0]), float(size[1]))), ("base", base)):
            object.__setattr__(self, key, value)

    def __eq__(self, other: Any) -> bool:
        return (type(other) is type(self) and np.array_equal(self.heights, other.heights) and self.size == other.size
                and self.base == other.base)

    __hash__ = None  # type: ignore[assignment]


Shape = Plane | Box | Sphere | Ellipsoid | Capsule | Cylinder | ConvexMesh | Mesh | HeightField
