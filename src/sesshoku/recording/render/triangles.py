"""Triangles of a drawing: corners and normals in the frames of bodies, linear colours; endless planes apart."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.render.canvas import GLASS, OPAQUE
from sesshoku.scene.geometry import shapes
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.spatial.rotation import quaternion_to_matrix

RESOLUTION = 24  # corners around a circle
CREASE = np.cos(np.radians(40.0))  # faces that meet at less are shaded as one curved surface


@dataclass
class Triangles:
    """corner, normal (T, 3, 3); color (T, 4) linear, with opacity; body, layer (T)."""

    corner: np.ndarray
    normal: np.ndarray
    color: np.ndarray
    body: np.ndarray
    layer: np.ndarray

    def __len__(self) -> int:
        return len(self.body)

    @classmethod
    def joined(cls, parts: list[Triangles]) -> Triangles:
        if not parts:
            return cls(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros((0, 4)), np.zeros(0, int), np.zeros(0, int))
        return cls(*(np.concatenate([getattr(part, name) for part in parts])
                     for name in ("corner", "normal", "color", "body", "layer")))

    @classmethod
    def of(cls, corner: np.ndarray, normal: np.ndarray, color: Any, body: int, layer: int | None = None) -> Triangles:
        """All of one colour (linear, with opacity) and body. layer: by default that of the opacity."""
        count = len(corner)
        usual = OPAQUE if color[3] >= 1.0 else GLASS
        return cls(corner, normal, np.tile(np.asarray(color, dtype=float), (count, 1)), np.full(count, body),
                   np.full(count, usual if layer is None else layer))

    def tinted(self, color: Any, bodies: int) -> Triangles:
        """The same as a ghost: in one translucent colour, on bodies `bodies` later in the list."""
        count = len(self)
        return Triangles(self.corner, self.normal, np.tile(np.asarray(color, dtype=float), (count, 1)),
                         self.body + bodies, np.full(count, GLASS))


@dataclass
class PlanePatch:
    """An endless plane of a drawing: the body it is on, origin and two axes (3, 3) there, linear colour."""

    body: int
    axes: np.ndarray
    color: np.ndarray


def linear(color: Any) -> np.ndarray:
    """Linear red, green, blue of a colour as screens take it (sRGB, 0 to 1); an opacity stays as it is."""
    given = np.array(color, dtype=float)
    tone = np.clip(given[:3], 0.0, 1.0)
    given[:3] = np.where(tone <= 0.04045, tone / 12.92, ((tone + 0.055) / 1.055) ** 2.4)
    return given


def triangles_of(drawing: dict[str, Any]) -> tuple[Triangles, list[PlanePatch]]:
    """What a drawing (scene/geometry/drawing.py) has to show."""
    meshes = [_mesh(mesh, n) for n, mesh in enumerate(drawing["meshes"])]
    made: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]] = {}
    parts, planes = [], []
    for shape in drawing["shapes"]:
        position, rotation = np.array(shape["position"]), quaternion_to_matrix(np.array(shape["rotation"], dtype=float))
        color = linear(shape["color"])
        if shape["kind"] == "plane":
            planes.append(PlanePatch(shape["body"], np.stack([position, rotation[:, 0], rotation[:, 1]]), color[:3]))
            continue
        if "mesh" in shape:
            key: tuple[Any, ...] = ("mesh", shape["mesh"])
            faces = meshes[shape["mesh"]]
        else:
            key = (shape["kind"], *np.ravel(shape.get("size", shape.get("radii", ()))), shape.get("radius"),
                   shape.get("length"))
            faces = ()
        if key not in made:
            made[key] = smooth(*(faces or surface(_plain(shape), RESOLUTION)))
        corner, normal = made[key]
        parts.append(Triangles.of(corner @ rotation.T + position, normal @ rotation.T, color, shape["body"]))
    return Triangles.joined(parts), planes


def _plain(shape: dict[str, Any]) -> shapes.Shape:
    kind = shape["kind"]
    if kind == "box":
        return shapes.Box(tuple(shape["size"]))
    if kind == "sphere":
        return shapes.Sphere(shape["radius"])
    if kind == "ellipsoid":
        return shapes.Ellipsoid(tuple(shape["radii"]))
    if kind == "capsule":
        return shapes.Capsule(shape["radius"], shape["length"])
    if kind == "cylinder":
        return shapes.Cylinder(shape["radius"], shape["length"])
    raise RecordingError(f"the drawing has a shape of kind {kind!r}, which this version cannot draw")


def _mesh(mesh: dict[str, str], number: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces as they are kept."""
    vertices = np.frombuffer(base64.b64decode(mesh["vertices"]), np.float32)
    faces = np.frombuffer(base64.b64decode(mesh["faces"]), np.uint32).astype(np.int64)
    if len(vertices) % 3 or len(faces) % 3 or (len(faces) and int(faces.max()) >= len(vertices) // 3):
        raise RecordingError(f"mesh {number} of the drawing is damaged")
    return vertices.reshape(-1, 3).astype(float), faces.reshape(-1, 3)


def smooth(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (T, 3, 3) and their normals: the mean over faces that meet there without a crease, weighted by area."""
    corner = vertices[faces]
    crossed = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    size = np.linalg.norm(crossed, axis=1, keepdims=True)
    keep = size[:, 0] > 0.0
    corner, crossed, size = corner[keep], crossed[keep], size[keep]
    flat = crossed / size
    if not len(corner):
        return corner, corner.copy()
    _, places = np.unique(np.round(corner.reshape(-1, 3), 9), axis=0, return_inverse=True)
    places = places.ravel()  # vertices that lie at one place are one
    order = np.argsort(places, kind="stable")
    begins = np.flatnonzero(np.r_[True, np.diff(places[order]) > 0])
    normal = np.repeat(flat[:, None, :], 3, axis=1).reshape(-1, 3)
    for begin, end in zip(begins, np.r_[begins[1:], len(order)], strict=True):
        members = order[begin:end]
        owners = members // 3
        alike = flat[owners] @ flat[owners].T >= CREASE
        normal[members] = alike @ crossed[owners]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return corner, normal.reshape(-1, 3, 3)
