"""The shapes of a VRML 97 file: its tree of nodes walked down, each shape placed in the file's frame."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene.io.unsupported import Grade, Unsupported
from sesshoku.scene.io.vrml import geometry
from sesshoku.scene.io.vrml.geometry import Piece, affine, placed
from sesshoku.scene.io.vrml.read import Node, World, read_vrml
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

GROUPS = ("Group", "Anchor", "Billboard", "Collision")
SILENT = ("WorldInfo", "NavigationInfo", "Background", "Viewpoint", "Fog", "TimeSensor", "Script", "DirectionalLight",
          "PointLight", "SpotLight", "Sound", "TouchSensor", "ProximitySensor", "OrientationInterpolator",
          "PositionInterpolator", "Coordinate", "Normal", "Material", "Appearance")  # neither shapes nor forces
LINES = ("IndexedLineSet", "PointSet", "Text")
MOST_INLINED = 16  # files within files


def vrml_pieces(path: Path, unsupported: Unsupported, node: str | None = None) -> list[Piece]:
    """Every shape of the file, or of its node of that name."""
    world = read_vrml(path)
    with in_file(path):
        if node is not None and node not in world.named:
            raise SceneError("no node of that name", element="VRML", value=node,
                             remedy=f"DEF gives names; there are {', '.join(world.named) or 'none'}")
        return _Walk(path, unsupported).walk(World([world.named[node]], world.named) if node else world)


class _Walk:
    def __init__(self, path: Path, unsupported: Unsupported, depth: int = 0) -> None:
        self.path, self.unsupported, self.depth = path, unsupported, depth
        self.found: list[Piece] = []

    def walk(self, world: World) -> list[Piece]:
        for node in world.nodes:
            self.visit(node, np.eye(4))
        return self.found

    def visit(self, node: Node, M: np.ndarray) -> None:
        if node.kind == "Transform":
            M = M @ _transform(node)
        if node.kind in ("Transform", *GROUPS):
            for child in node.nodes("children"):
                self.visit(child, M)
        elif node.kind == "Switch":
            chosen, choices = int(node.numbers("whichChoice", [-1])[0]), node.nodes("choice")
            if 0 <= chosen < len(choices):
                self.visit(choices[chosen], M)
        elif node.kind == "LOD":
            for child in node.nodes("level")[:1]:  # the finest
                self.visit(child, M)
        elif node.kind == "Inline":
            self.inline(node, M)
        elif node.kind == "Shape":
            self.shape(node, M)
        elif node.kind not in SILENT:
            self.unsupported.add(f"{self.path.name}: node {node.kind}", Grade.SLIGHT)

    def inline(self, node: Node, M: np.ndarray) -> None:
        urls = node.fields.get("url") or []
        if self.depth >= MOST_INLINED:
            raise SceneError("files include each other without end", element=node.label, value=urls)
        for url in urls:
            place = self.path.parent / unquote(str(url).removeprefix("file://"))
            if place.is_file():
                inner = _Walk(place, self.unsupported, self.depth + 1)
                self.found += [placed(piece, M) for piece in inner.walk(read_vrml(place))]
                return
        raise SceneError("an included file is missing", element=node.label, value=urls, remedy="correct the url")

    def shape(self, node: Node, M: np.ndarray) -> None:
        for item in node.nodes("geometry"):
            if item.kind in LINES:
                continue  # neither area nor volume
            piece = _piece(item)
            if piece is None:
                self.unsupported.add(f"{self.path.name}: geometry {item.kind}", Grade.SLIGHT)
                continue
            moved = placed(piece, M)
            self.found.append(Piece(moved.shape, moved.position, moved.rotation, moved.vertices, moved.faces,
                                    _color(node), moved.source))


def _transform(node: Node) -> np.ndarray:
    """Translation, then rotation, scale along turned axes, all about a centre."""
    center = affine(node.numbers("center", (0, 0, 0)))
    turn = affine(R=_turn(node.numbers("rotation", (0, 0, 1, 0)), node.label))
    lean = affine(R=_turn(node.numbers("scaleOrientation", (0, 0, 1, 0)), node.label))
    scale = affine(scale=_sized(node.numbers("scale", (1, 1, 1)), 3, "scale", node.label))
    shift = affine(_sized(node.numbers("translation", (0, 0, 0)), 3, "translation", node.label))
    return shift @ center @ turn @ lean @ scale @ np.linalg.inv(lean) @ np.linalg.inv(center)


def _sized(values: np.ndarray, size: int, what: str, element: str) -> np.ndarray:
    if values.shape != (size,):
        raise SceneError(f"{what} needs {size} numbers", element=element, value=values.tolist())
    return values


def _turn(values: np.ndarray, element: str) -> np.ndarray:
    x, y, z, angle = _sized(values, 4, "rotation", element)
    length = float(np.linalg.norm([x, y, z]))
    if length < 1e-9 or angle == 0.0:
        return np.eye(3)
    return quaternion_to_matrix(axis_angle(np.array([x, y, z]) / length, float(angle)))


def _piece(node: Node) -> Piece | None:
    def one(key: str, usual: float) -> float:
        return float(_sized(node.numbers(key, [usual]), 1, key, node.label)[0])

    ccw = node.flag("ccw", True)
    if node.kind == "Box":
        return geometry.box(_sized(node.numbers("size", (2, 2, 2)), 3, "size", node.label))
    if node.kind == "Sphere":
        return geometry.sphere(one("radius", 1.0))
    if node.kind == "Cylinder":
        return geometry.cylinder(one("radius", 1.0), one("height", 2.0))
    if node.kind == "Cone":
        return geometry.cone(one("bottomRadius", 1.0), one("height", 2.0))
    if node.kind == "IndexedFaceSet":
        points = np.concatenate([coord.numbers("point", ()) for coord in node.nodes("coord")] or [np.zeros(0)])
        return geometry.face_set(points, node.numbers("coordIndex", ()), node.label, ccw)
    if node.kind == "ElevationGrid":
        return geometry.elevation_grid(node.numbers("height", ()), int(one("xDimension", 0)), int(one("zDimension", 0)),
                                       one("xSpacing", 1.0), one("zSpacing", 1.0), node.label, ccw)
    if node.kind == "Extrusion":
        return geometry.extrusion(
            node.numbers("crossSection", (1, 1, 1, -1, -1, -1, -1, 1, 1, 1)), node.numbers("spine", (0, 0, 0, 0, 1, 0)),
            node.numbers("scale", (1, 1)), node.numbers("orientation", (0, 0, 1, 0)), node.label,
            (node.flag("beginCap", True), node.flag("endCap", True)), ccw)
    return None


def _color(shape: Node) -> tuple[float, float, float, float] | None:
    for appearance in shape.nodes("appearance"):
        for material in appearance.nodes("material"):
            r, g, b = _sized(material.numbers("diffuseColor", (0.8, 0.8, 0.8)), 3, "diffuseColor", material.label)
            clear = float(material.numbers("transparency", [0.0])[0])
            return float(r), float(g), float(b), 1.0 - clear
    return None
