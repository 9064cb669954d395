"""`Polyhedra`: every colliding shape of a model as a convex polyhedron, for the method that works with overlaps.

Boxes are what they are, convex pieces of meshes too (triangles in one plane are one face). Spheres, ellipsoids,
capsules and cylinders become fine polyhedra with their corners on the surface (scene/geometry/fine_polyhedra.py states
counts and errors).
A plane is one face without corners: the half-space below it. A height field is one prism, which becomes that of each
triangle that is looked at (`field_overlaps`).
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.table import Record, array, scalar
from sesshoku.model.arrays import (
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_FIELD,
    SHAPE_PLANE,
    SHAPE_SPHERE,
    Model,
)
from sesshoku.scene.geometry.fine_polyhedra import (
    Polyhedron,
    box,
    capsule,
    cylinder,
    ellipsoid,
    polyhedron_of,
    prism,
    sphere,
)


class Polyhedra(Record):
    """G shapes, V corners, F faces, H corners of faces (every edge counts twice). All in shape frames."""

    most_vertices = scalar()  # of one shape
    most_faces = scalar()
    most_edges = scalar()  # most corners of all faces of a shape, H: twice its edges
    vertex_start = array(int, "G + 1")  # ranges of vertex
    vertex = array(float, "V", 3)
    face_start = array(int, "G + 1")  # ranges of normal, offset, corner_start
    normal = array(float, "F", 3)  # unit, outward
    offset = array(float, "F")  # the face's plane is normal . x = offset
    corner_start = array(int, "F + 1")  # ranges of corner
    corner = array(int, "H")  # vertex numbers within the shape, counter-clockwise seen from outside
    center = array(float, "G", 3)  # of a ball around the shape
    radius = array(float, "G")  # of that ball; infinite for planes
    volume = array(float, "G")  # m^3; infinite for planes


def shape_polyhedron(model: Model, g: int) -> Polyhedron:
    """Shape g of a model as a polyhedron, in its own frame."""
    kind, size = model.shape_type[g], model.shape_size[g]
    if kind == SHAPE_PLANE:
        return Polyhedron(np.zeros((0, 3)), [[]], np.array([[0.0, 0.0, 1.0]]), np.zeros(1))
    if kind == SHAPE_BOX:
        return box(size)
    if kind == SHAPE_SPHERE:
        return sphere(float(size[0]))
    if kind == SHAPE_CAPSULE:
        return capsule(float(size[0]), float(size[1]))
    if kind == SHAPE_CYLINDER:
        return cylinder(float(size[0]), float(size[1]))
    if kind == SHAPE_ELLIPSOID:
        return ellipsoid(size)
    if kind == SHAPE_FIELD:
        return prism(np.array([[0.0, 0.0, 0.0], [size[0], 0.0, 0.0], [0.0, size[1], 0.0]]), -float(size[2]))
    return polyhedron_of(model.vertices[slice(*model.shape_vertex[g])], model.faces[slice(*model.shape_face[g])])


def make_polyhedra(model: Model) -> Polyhedra:
    """The polyhedra of all shapes; equal shapes are built once."""
    built: dict[tuple[object, ...], Polyhedron] = {}
    pieces: list[Polyhedron] = []
    for g in range(model.shape_count):
        key = (int(model.shape_type[g]), *model.shape_size[g], *model.shape_vertex[g])
        if key not in built:
            built[key] = shape_polyhedron(model, g)
        pieces.append(built[key])
    return join_polyhedra(pieces)


def join_polyhedra(pieces: list[Polyhedron]) -> Polyhedra:
    """One record of several polyhedra."""
    loops = [np.array(loop, dtype=np.int64) for piece in pieces for loop in piece.loops]
    centers, radii = [], []
    for piece in pieces:
        v = piece.vertices
        centers.append(0.5 * (v.min(axis=0) + v.max(axis=0)) if len(v) else np.zeros(3))
        radii.append(float(np.linalg.norm(v - centers[-1], axis=1).max()) if len(v) else np.inf)
    return Polyhedra(
        most_vertices=max((len(piece.vertices) for piece in pieces), default=0),
        most_faces=max((len(piece.loops) for piece in pieces), default=0),
        most_edges=max((sum(len(loop) for loop in piece.loops) for piece in pieces), default=0),
        vertex_start=_starts([len(piece.vertices) for piece in pieces]),
        vertex=np.concatenate([np.zeros((0, 3)), *(piece.vertices for piece in pieces)]),
        face_start=_starts([len(piece.loops) for piece in pieces]),
        normal=np.concatenate([np.zeros((0, 3)), *(piece.normals for piece in pieces)]),
        offset=np.concatenate([np.zeros(0), *(piece.offsets for piece in pieces)]),
        corner_start=_starts([len(loop) for loop in loops]),
        corner=np.concatenate([np.zeros(0, dtype=np.int64), *loops]),
        center=np.array(centers).reshape(-1, 3), radius=np.array(radii),
        volume=np.array([piece.volume() if len(piece.vertices) else np.inf for piece in pieces]))


def _starts(counts: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
