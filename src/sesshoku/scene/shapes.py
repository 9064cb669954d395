"""Shapes: what bodies look like and what will touch. Sizes in metres, centred on the shape's frame, axis along z."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
        sides = check.vector(self.size, "size", "box")
        for side in sides:
            check.number(side, "size", "box", above=0.0)
        object.__setattr__(self, "size", tuple(float(side) for side in sides))


@checked
@dataclass(frozen=True)
class Sphere:
    radius: float
    kind = "sphere"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", check.number(self.radius, "radius", "sphere", above=0.0))


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
        from sesshoku.scene.mesh import convex_mesh

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


Shape = Plane | Box | Sphere | Capsule | Cylinder | ConvexMesh | Mesh
