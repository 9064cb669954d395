"""What the overlap of two shapes costs, by their number of faces: cut, polygon and moments, without the broad phase."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.collision.contacts import make_contacts
from sesshoku.collision.overlap.detect import overlap_shapes
from sesshoku.collision.overlap.overlaps import make_overlaps
from sesshoku.collision.overlap.polyhedra import make_polyhedra
from sesshoku.compiled.jit import jit
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, ConvexMesh, Cylinder, Plane, Shape, Sphere
from sesshoku.scene.scene import Scene

SHALLOW, DEEP = 0.05, 0.5  # of the radius


@jit
def repeat(model, contacts, polyhedra, overlaps, times):  # type: ignore[no-untyped-def]
    """Overlap shapes 0 and 1 again and again; how often they were found to."""
    found = 0
    for _ in range(times):
        found += overlap_shapes(model, contacts, polyhedra, overlaps, (0, 1), 0, (0, 0.0))
    return found


def hull(faces: int, rng: np.random.Generator) -> ConvexMesh:
    """A ball of about so many triangles, corners spread evenly (a spiral) and shaken a little."""
    count = faces // 2 + 2
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    points = np.column_stack([np.sqrt(1.0 - z * z) * np.cos(angle), np.sqrt(1.0 - z * z) * np.sin(angle), z])
    points += rng.normal(scale=0.02, size=points.shape)
    return convex_mesh(points / np.linalg.norm(points, axis=1, keepdims=True))


def cost(first: Shape, second: Shape, position: Any, times: int = 500) -> tuple[float, int]:
    """Microseconds (best of 7, processor time) for the second shape at a position, and corners of the polygon."""
    scene = Scene()
    for i, shape in enumerate((first, second)):
        scene.add_body(f"body{i}", fixed=True, geometries=[Geometry(shape)])
    model = compile_scene(scene).model
    contacts, polyhedra = make_contacts(model, 1, 1), make_polyhedra(model)
    overlaps = make_overlaps(contacts, polyhedra)
    contacts.shape_rotation[:] = np.eye(3)
    contacts.shape_position[1] = position
    assert repeat(model, contacts, polyhedra, overlaps, 1) == 1, "the shapes do not overlap"
    best = np.inf
    for _ in range(7):
        start = time.process_time()
        repeat(model, contacts, polyhedra, overlaps, times)
        best = min(best, (time.process_time() - start) / times)
    return 1e6 * best, int(overlaps.polygon_start[1])


def by_faces(say: Callable[[str], None]) -> dict[str, float]:
    """Microseconds per overlap of common pairs, and of hulls against a plane and each other."""
    box, tilted = Box((1, 1, 1)), (0.3, 0.2, 0.5 - 0.001)
    times = {
        "box on plane": cost(Plane(), box, tilted)[0],
        "box on box": cost(box, box, (0.3, 0.2, 0.999))[0],
        "corner of a box in a corner": cost(box, box, (0.9, 0.9, 0.9))[0],
        "cylinder on plane": cost(Plane(), Cylinder(0.5, 1.0), tilted)[0],
        "sphere on plane": cost(Plane(), Sphere(0.5), tilted)[0],
        "sphere on sphere": cost(Sphere(0.5), Sphere(0.5), (0.95, 0.1, 0.2))[0],
    }
    for faces in (12, 50, 100, 200):
        rng = np.random.default_rng(faces)
        first, second = hull(faces, rng), hull(faces, rng)
        top, low = first.vertices[first.vertices[:, 2].argmax()], second.vertices[second.vertices[:, 2].argmin()]
        times[f"hull of {faces} on plane"] = cost(Plane(), second, (0, 0, -low[2] - SHALLOW))[0]
        times[f"hulls of {faces}, shallow"] = cost(first, second, top - low - (0, 0, SHALLOW))[0]
        times[f"hulls of {faces}, deep"] = cost(first, second, top - low - (0, 0, DEEP))[0]
    for name, microseconds in times.items():
        say(f"  {name:30s} {microseconds:8.2f} us")
    return times


if __name__ == "__main__":
    by_faces(print)
