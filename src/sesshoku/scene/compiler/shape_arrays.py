"""Scene -> the shapes of a model: the colliding geometries of all bodies, flat."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model import arrays
from sesshoku.scene.geometry import shapes
from sesshoku.scene.materials import rule_row
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import compose, stack
from sesshoku.spatial.rotation import quaternion_to_matrix


def shape_size(shape: shapes.Shape) -> tuple[int, list[float]]:
    if isinstance(shape, shapes.Plane):
        return arrays.SHAPE_PLANE, [0.0, 0.0, 0.0]
    if isinstance(shape, shapes.Box):
        return arrays.SHAPE_BOX, [0.5 * side for side in shape.size]
    if isinstance(shape, shapes.Sphere):
        return arrays.SHAPE_SPHERE, [shape.radius, 0.0, 0.0]
    if isinstance(shape, shapes.Capsule):
        return arrays.SHAPE_CAPSULE, [shape.radius, 0.5 * shape.length, 0.0]
    if isinstance(shape, shapes.Cylinder):
        return arrays.SHAPE_CYLINDER, [shape.radius, 0.5 * shape.length, 0.0]
    if isinstance(shape, shapes.Ellipsoid):
        return arrays.SHAPE_ELLIPSOID, list(shape.radii)
    if isinstance(shape, shapes.HeightField):
        rows, columns = shape.heights.shape
        assert shape.base is not None
        return arrays.SHAPE_FIELD, [shape.size[0] / (columns - 1), shape.size[1] / (rows - 1), shape.base]
    return arrays.SHAPE_CONVEX, [0.0, 0.0, 0.0]


def shape_arrays(scene: Scene, frame_index: dict[str, int], frames: dict[str, Any]) -> dict[str, Any]:
    """The colliding geometries, concave meshes as their convex pieces; `shape_geometry`: its number on its body."""
    columns: dict[str, list[Any]] = {key: [] for key in (
        "link", "frame", "geometry", "type", "size", "position", "rotation", "material", "rolling", "rule", "category",
        "mask", "vertex", "face", "field")}
    vertices: list[np.ndarray] = [np.zeros((0, 3))]
    faces: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
    elevations: list[np.ndarray] = [np.zeros(0)]
    vertex_count = face_count = elevation_count = 0
    for body in scene.bodies.values():
        f = frame_index[body.name]
        on_link = (frames["frame_position"][f], frames["frame_rotation"][f])
        for number, geometry in enumerate(body.geometries):
            if not geometry.collides:
                continue
            pose = compose(on_link, (geometry.position, quaternion_to_matrix(geometry.rotation)))
            material = geometry.material or scene.material
            for piece in geometry.shape.pieces if isinstance(geometry.shape, shapes.Mesh) else (geometry.shape,):
                kind, size = shape_size(piece)
                spans = [[vertex_count] * 2, [face_count] * 2]
                if isinstance(piece, shapes.ConvexMesh):
                    vertices.append(piece.vertices)
                    faces.append(piece.faces)
                    vertex_count, face_count = vertex_count + len(piece.vertices), face_count + len(piece.faces)
                    spans = [[spans[0][0], vertex_count], [spans[1][0], face_count]]
                field = [elevation_count, 0, 0]
                if isinstance(piece, shapes.HeightField):
                    field[1:] = piece.heights.shape
                    elevations.append(piece.heights.ravel())
                    elevation_count += piece.heights.size
                row = (frames["frame_link"][f], f, number, kind, size, pose[0], pose[1],
                       [material.static_friction, material.kinetic_friction, material.restitution],
                       [material.torsional_friction, material.rolling_friction], rule_row(material),
                       geometry.category, geometry.mask, *spans, field)
                for key, value in zip(columns, row, strict=True):
                    columns[key].append(value)
    count = len(columns["link"])
    # coefficients that no pair of shapes asks for are left out
    asked = np.array([4, 6]) <= max((rule[arrays.CONDIM] for rule in columns["rule"]), default=0)
    ints = {f"shape_{key}": np.array(columns[key], dtype=np.int64)
            for key in ("link", "frame", "geometry", "type", "category", "mask")}
    return ints | {
        "shape_count": count, "shape_size": stack(columns["size"], 3),
        "shape_position": stack(columns["position"], 3),
        "shape_rotation": stack(columns["rotation"], 3, 3), "shape_material": stack(columns["material"], 3),
        "shape_rolling": np.where(asked, stack(columns["rolling"], 2), 0.0),
        "shape_rule": np.array(columns["rule"], dtype=np.int64).reshape(-1, 3),
        "shape_vertex": np.array(columns["vertex"], dtype=np.int64).reshape(-1, 2),
        "shape_face": np.array(columns["face"], dtype=np.int64).reshape(-1, 2),
        "vertices": np.concatenate(vertices), "faces": np.concatenate(faces),
        "shape_field": np.array(columns["field"], dtype=np.int64).reshape(-1, 3),
        "elevation": np.concatenate(elevations),
    }
