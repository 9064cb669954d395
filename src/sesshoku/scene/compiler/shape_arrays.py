"""Scene -> the shapes of a model: the colliding geometries of all bodies, flat."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import (
    CONDIM,
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_ELLIPSOID,
    SHAPE_FIELD,
    SHAPE_PLANE,
    SHAPE_SPHERE,
)
from sesshoku.scene.compiler.poses import compose, stack
from sesshoku.scene.geometry.shapes import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from sesshoku.scene.materials import rule_row
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import quaternion_to_matrix


def shape_size(shape: Shape) -> tuple[int, list[float]]:
    if isinstance(shape, Plane):
        return SHAPE_PLANE, [0.0, 0.0, 0.0]
    if isinstance(shape, Box):
        return SHAPE_BOX, [0.5 * side for side in shape.size]
    if isinstance(shape, Sphere):
        return SHAPE_SPHERE, [shape.radius, 0.0, 0.0]
    if isinstance(shape, Capsule):
        return SHAPE_CAPSULE, [shape.radius, 0.5 * shape.length, 0.0]
    if isinstance(shape, Cylinder):
        return SHAPE_CYLINDER, [shape.radius, 0.5 * shape.length, 0.0]
    if isinstance(shape, Ellipsoid):
        return SHAPE_ELLIPSOID, list(shape.radii)
    if isinstance(shape, HeightField):
        rows, columns = shape.heights.shape
        assert shape.base is not None
        return SHAPE_FIELD, [shape.size[0] / (columns - 1), shape.size[1] / (rows - 1), shape.base]
    return SHAPE_CONVEX, [0.0, 0.0, 0.0]


def shape_arrays(scene: Scene, frame_index: dict[str, int], arrays: dict[str, Any]) -> dict[str, Any]:
    """The colliding geometries, concave meshes as their convex pieces; `shape_geometry`: its number on its body."""
    columns: dict[str, list[Any]] = {key: [] for key in (
        "link", "frame", "geometry", "type", "size", "position", "rotation", "material", "turning", "rule", "category",
        "mask", "vertex", "face", "field")}
    vertices: list[np.ndarray] = [np.zeros((0, 3))]
    faces: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
    elevations: list[np.ndarray] = [np.zeros(0)]
    vertex_count = face_count = elevation_count = 0
    for body in scene.bodies.values():
        f = frame_index[body.name]
        on_link = (arrays["frame_position"][f], arrays["frame_rotation"][f])
        for number, geometry in enumerate(body.geometries):
            if not geometry.collides:
                continue
            pose = compose(on_link, (geometry.position, quaternion_to_matrix(geometry.rotation)))
            material = geometry.material or scene.material
            for piece in geometry.shape.pieces if isinstance(geometry.shape, Mesh) else (geometry.shape,):
                kind, size = shape_size(piece)
                spans = [[vertex_count] * 2, [face_count] * 2]
                if isinstance(piece, ConvexMesh):
                    vertices.append(piece.vertices)
                    faces.append(piece.faces)
                    vertex_count, face_count = vertex_count + len(piece.vertices), face_count + len(piece.faces)
                    spans = [[spans[0][0], vertex_count], [spans[1][0], face_count]]
                field = [elevation_count, 0, 0]
                if isinstance(piece, HeightField):
                    field[1:] = piece.heights.shape
                    elevations.append(piece.heights.ravel())
                    elevation_count += piece.heights.size
                row = (arrays["frame_link"][f], f, number, kind, size, pose[0], pose[1],
                       [material.static_friction, material.kinetic_friction, material.restitution],
                       [material.torsional_friction, material.rolling_friction], rule_row(material),
                       geometry.category, geometry.mask, *spans, field)
                for key, value in zip(columns, row, strict=True):
                    columns[key].append(value)
    count = len(columns["link"])
    # coefficients that no pair of shapes asks for are left out
    asked = np.array([4, 6]) <= max((rule[CONDIM] for rule in columns["rule"]), default=0)
    ints = {f"shape_{key}": np.array(columns[key], dtype=np.int64)
            for key in ("link", "frame", "geometry", "type", "category", "mask")}
    return ints | {
        "shape_count": count, "shape_size": stack(columns["size"], 3),
        "shape_position": stack(columns["position"], 3),
        "shape_rotation": stack(columns["rotation"], 3, 3), "shape_material": stack(columns["material"], 3),
        "shape_turning": np.where(asked, stack(columns["turning"], 2), 0.0),
        "shape_rule": np.array(columns["rule"], dtype=np.int64).reshape(-1, 3),
        "shape_vertex": np.array(columns["vertex"], dtype=np.int64).reshape(-1, 2),
        "shape_face": np.array(columns["face"], dtype=np.int64).reshape(-1, 2),
        "vertices": np.concatenate(vertices), "faces": np.concatenate(faces),
        "shape_field": np.array(columns["field"], dtype=np.int64).reshape(-1, 3),
        "elevation": np.concatenate(elevations),
    }
