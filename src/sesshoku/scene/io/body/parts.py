"""The elements of a link of a body file: masses, shapes, devices. See read.py for the rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Geometry, Inertial
from sesshoku.scene.elements.sensors import ForceSensor, Imu, Sensor
from sesshoku.scene.geometry import mass, mesh
from sesshoku.scene.io.body import yaml as yml
from sesshoku.scene.io.body.yaml import Entries, Items, Text
from sesshoku.scene.io.spec import Names, collision_shape, repaired, visual_shape
from sesshoku.scene.io.unsupported import Grade, Unsupported
from sesshoku.scene.io.urdf.links import find_mesh
from sesshoku.scene.io.vrml import geometry
from sesshoku.scene.io.vrml.geometry import Piece, affine, placed
from sesshoku.scene.io.vrml.shapes import vrml_pieces
from sesshoku.spatial.rotation import axis_angle, matrix_to_quaternion, quaternion_to_matrix

GROUPS = ("Transform", "Group", "RigidBody", "Visual", "Collision")
LOOKERS = ("Camera", "RangeCamera", "RangeSensor", "VisionSensor", "Light", "SpotLight", "PointLight",
           "DirectionalLight", "Marker")  # they see or shine, and move nothing
UNITS = {"meter": 1.0, "millimeter": 1e-3, "centimeter": 1e-2, "inch": 0.0254}
UP_AXES = {"Z": np.eye(3), "Y": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
           "X": np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])}  # what turns that axis up to z


@dataclass
class Parts:
    """What hangs on one link."""

    inertials: list[Inertial] = field(default_factory=list)
    geometries: list[Geometry] = field(default_factory=list)
    sensors: list[Sensor] = field(default_factory=list)


@dataclass
class PartReader:
    """Reads the elements of the links of one file; mesh files used twice are read once."""

    path: Path
    package_paths: tuple[Path, ...]
    decompose: bool
    repair_inertia: bool
    degrees: bool
    unsupported: Unsupported
    sensor_names: Names = field(default_factory=Names)
    _files: dict[tuple[Path, str | None], list[Piece]] = field(default_factory=dict)

    def read(self, link: Entries, name: str) -> Parts:
        """All elements of a link, and a mass given on the link itself."""
        parts = Parts()
        if "mass" in link or "inertia" in link or "center_of_mass" in link:
            parts.inertials.append(self._inertial(link, yml.place(link, f"link {name!r}"), np.eye(4)))
        self._elements(link.take("elements"), np.eye(4), True, True, parts, name)
        return parts

    def angle(self, value: Any, what: str, label: str) -> float:
        """Radians."""
        given = yml.number(value, what, label, infinite=True)
        return float(np.deg2rad(given)) if self.degrees else given

    def frame(self, item: Entries, label: str) -> np.ndarray:
        """(4, 4) of an element's translation, rotation and scale."""
        shift, turn, scale = item.take("translation"), item.take("rotation"), item.take("scale")
        M = affine(np.zeros(3) if shift is None else yml.vector(shift, "translation", label),
                   None if turn is None else self.turn(turn, label))
        if scale is not None:
            factors = (yml.vector(scale, "scale", label) if isinstance(scale, Items) else
                       np.full(3, yml.number(scale, "scale", label)))
            if (factors == 0.0).any():
                raise SceneError("scale has a zero", element=yml.place(scale, label), value=factors.tolist())
            M = M @ affine(scale=factors)
        return M

    def turn(self, value: Any, label: str) -> np.ndarray:
        """(3, 3) of [x, y, z, angle], of a matrix's nine numbers, or the product of a list of such rotations."""
        if isinstance(value, Items) and value and all(isinstance(item, Items) for item in value):
            R = np.eye(3)
            for item in value:
                R = R @ self.turn(item, label)
            return R
        if isinstance(value, Items) and len(value) == 9:
            R = yml.vector(value, "rotation", label, 9).reshape(3, 3)
            if np.abs(R @ R.T - np.eye(3)).max() > 1e-3 or np.linalg.det(R) < 0.0:
                raise SceneError("rotation is not a rotation matrix", element=yml.place(value, label), value=R.tolist())
            return quaternion_to_matrix(matrix_to_quaternion(R))
        x, y, z, angle = yml.vector(value, "rotation", label, 4)
        length = float(np.linalg.norm([x, y, z]))
        if angle == 0.0:
            return np.eye(3)
        if length < 1e-9:
            raise SceneError("the axis of a rotation has no direction", element=yml.place(value, label),
                             value=[x, y, z, angle], remedy="give [x, y, z, angle]")
        return quaternion_to_matrix(axis_angle(np.array([x, y, z]) / length,
                                               float(np.deg2rad(angle)) if self.degrees else float(angle)))

    # ---- elements ----------------------------------------------------------------------------------------------------

    def _elements(self, value: Any, M: np.ndarray, visible: bool, collides: bool, parts: Parts, link: str) -> None:
        """A list of elements with types, or a mapping from types to elements."""
        if value is None:
            return
        items: list[tuple[Any, str | None]] = []
        if isinstance(value, Items):
            items = [(item, None) for item in value]
        elif isinstance(value, Entries):
            for key, inner in value.items():
                items += [(one, key) for one in (inner if isinstance(inner, Items) else [inner])]
        else:
            raise SceneError("elements are neither a list nor a mapping", element=yml.place(value, "elements"),
                             value=value, remedy="write `- type: Shape` and what belongs to it")
        for item, kind in items:
            if not isinstance(item, Entries):
                raise SceneError("an element is not a mapping", element=yml.place(item, "elements"), value=item,
                                 remedy="write `type: Shape` and what belongs to it")
            word = yml.text(item.take("type"), "type", yml.place(item, "element")) if kind is None else kind
            item.taken.add("type")
            with yml.lined(item, word):
                self._element(item, word, M, visible, collides, parts, link)

    def _element(self, item: Entries, kind: str, M: np.ndarray, visible: bool, collides: bool, parts: Parts,
                 link: str) -> None:
        label = yml.place(item, kind)
        M = M @ self.frame(item, label)
        name = item.take("name")
        if kind in GROUPS:
            if kind == "RigidBody":
                parts.inertials.append(self._inertial(item, label, M))
            visible, collides = visible and kind != "Collision", collides and kind != "Visual"
            for key, inner in (("shape", "Shape"), ("resource", "Resource")):
                held = item.take(key)
                if isinstance(held, Entries):
                    self._element(held, inner, M, visible, collides, parts, link)
            self._elements(item.take("elements"), M, visible, collides, parts, link)
        elif kind in ("Shape", "Resource"):
            pieces = self._shape(item, label) if kind == "Shape" else self._resource(item, label, collides)
            for piece in pieces:
                self._add(placed(piece, M), visible, collides, parts, str(name) if name else None, label)
        elif kind in ("ForceSensor", "AccelerationSensor", "RateGyroSensor", "Imu", "IMU"):
            self._sensor(item, kind, M, parts, str(name) if name else f"{link}_{yml.snake(kind)}", link)
            self._elements(item.take("elements"), M, visible, collides, parts, link)
        else:
            self.unsupported.add(f"{kind} {str(name)!r} of link {link!r}" if name else f"{kind} of link {link!r}",
                                 Grade.LOOKS if kind in LOOKERS else Grade.MOTION)
            self._elements(item.take("elements"), M, visible, collides, parts, link)  # its housing
            return
        for key in item.left():
            self.unsupported.add(f"{key} of {kind} of link {link!r}", Grade.SLIGHT)

    def _inertial(self, item: Entries, label: str, M: np.ndarray) -> Inertial:
        """Mass and inertia about the centre of mass, turned into the link's frame."""
        weight, center, inertia = item.take("mass"), item.take("center_of_mass"), item.take("inertia")
        if weight is None:
            raise SceneError("there is no mass", element=label, remedy="add `mass:` in kg")
        R, own = M[:3, :3], np.zeros(3)
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6:
            raise SceneError("a mass below a scaled Transform has no meaning", element=label, remedy="drop the scale")
        if center is not None:
            own = yml.vector(center, "center_of_mass", label)
        matrix = np.zeros((3, 3))
        if inertia is not None:
            values = yml.numbers(inertia, "inertia", label)
            if values.size not in (6, 9):
                raise SceneError("inertia needs 9 numbers", element=yml.place(inertia, label), value=values.tolist(),
                                 remedy="give the rows of the matrix, or xx, xy, xz, yy, yz, zz")
            xx, xy, xz, yy, yz, zz = values if values.size == 6 else values[[0, 1, 2, 4, 5, 8]]
            matrix = values.reshape(3, 3) if values.size == 9 else np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        matrix = R @ matrix @ R.T
        if self.repair_inertia:
            matrix = repaired(matrix, label, self.unsupported)
        return Inertial(yml.number(weight, "mass", label), M[:3, 3] + R @ own, matrix, element=label)

    def _sensor(self, item: Entries, kind: str, M: np.ndarray, parts: Parts, name: str, link: str) -> None:
        made: Callable[..., Sensor] = ForceSensor if kind == "ForceSensor" else Imu
        item.take("id")
        fresh = self.sensor_names.fresh(name)
        parts.sensors.append(made(fresh, link, M[:3, 3].copy(), matrix_to_quaternion(M[:3, :3])))
        for key in ("max_acceleration", "max_angular_velocity", "max_force", "max_torque"):
            if item.take(key) is not None:
                self.unsupported.add(f"{key} of sensor {fresh!r}", Grade.LOOKS)

    # ---- shapes ------------------------------------------------------------------------------------------------------

    def _add(self, piece: Piece, visible: bool, collides: bool, parts: Parts, name: str | None, label: str) -> None:
        if piece.shape is not None:
            parts.geometries.append(Geometry(piece.shape, piece.position, piece.rotation, name=name, collides=collides,
                                             visible=visible, color=piece.color))
            return
        assert piece.vertices is not None and piece.faces is not None
        if collides:
            try:
                hull = collision_shape(piece.vertices, piece.faces, piece.source, (1.0, 1.0, 1.0), self.decompose)
                parts.geometries.append(Geometry(hull, name=name, visible=False))
            except SceneError as error:
                if "plane" not in error.problem and "four points" not in error.problem:
                    raise
                self.unsupported.add(f"flat mesh of {label} touches nothing", Grade.SLIGHT)
        if visible:
            shown = visual_shape(piece.vertices, piece.faces, piece.source, (1.0, 1.0, 1.0))
            parts.geometries.append(Geometry(shown, name=name, collides=False, color=piece.color))

    def _shape(self, item: Entries, label: str) -> list[Piece]:
        held, look = item.take("geometry"), item.take("appearance")
        if not isinstance(held, Entries):
            raise SceneError("a Shape needs a geometry", element=label, value=held,
                             remedy="add `geometry: { type: Box, size: [1, 1, 1] }`")
        kind = yml.text(held.take("type"), "type of geometry", label)
        with yml.lined(held, kind):
            pieces = self._geometry(held, kind, yml.place(held, kind))
        for key in held.left():
            self.unsupported.add(f"{key} of geometry {kind}", Grade.SLIGHT)
        color = self._color(look, label)
        return [replace(piece, color=color or piece.color) for piece in pieces]

    def _geometry(self, held: Entries, kind: str, label: str) -> list[Piece]:
        def one(key: str, usual: float) -> float:
            value = held.take(key)
            return usual if value is None else yml.number(value, key, label)

        def many(usual: Any, *keys: str) -> np.ndarray:
            value = held.take(*keys)
            return np.asarray(usual, dtype=np.float64).ravel() if value is None else yml.numbers(value, keys[0], label)

        held.take("crease_angle", "division_number", "solid", "convex", "normal_per_vertex", "color_per_vertex")
        if kind == "Box":
            return [geometry.box(yml.vector(held.take("size"), "size", label) if "size" in held else (1, 1, 1))]
        if kind == "Sphere":
            return [geometry.sphere(one("radius", 1.0))]
        if kind in ("Cylinder", "Capsule"):
            held.take("bottom", "top")
            made = geometry.cylinder if kind == "Cylinder" else geometry.capsule
            return [made(one("radius", 1.0), one("height", 1.0))]
        if kind == "Cone":
            held.take("bottom")
            return [geometry.cone(one("radius", 1.0), one("height", 1.0))]
        if kind == "IndexedFaceSet":
            held.take("normal", "normals", "normal_index", "normal_indices", "tex_coord", "tex_coords",
                      "tex_coord_index", "tex_coord_indices", "color", "colors", "color_index", "color_indices")
            points, corners = many((), "coordinate", "coordinates", "vertices"), many((), "coord_index", "faces")
            return [geometry.face_set(points, corners, label)]
        if kind == "ElevationGrid":
            return [geometry.elevation_grid(many((), "height"), int(one("x_dimension", 0)), int(one("z_dimension", 0)),
                                            one("x_spacing", 1.0), one("z_spacing", 1.0), label)]
        if kind == "Extrusion":
            caps = tuple(yml.flag(held.take(key), key, label) if key in held else True for key in
                         ("begin_cap", "end_cap"))
            turns = many((0, 0, 1, 0), "orientation").reshape(-1, 4).copy()
            turns[:, 3] = np.deg2rad(turns[:, 3]) if self.degrees else turns[:, 3]
            return [geometry.extrusion(
                many((1, 1, 1, -1, -1, -1, -1, 1, 1, 1), "cross_section"), many((0, 0, 0, 0, 1, 0), "spine"),
                many((1, 1), "scale"), turns.ravel(), label, (caps[0], caps[1]))]
        if kind == "Resource":
            return self._resource(held, label, True)
        self.unsupported.add(f"geometry {kind}")
        held.taken.update(held)
        return []

    def _resource(self, item: Entries, label: str, collides: bool) -> list[Piece]:
        """The shapes of a file; one that is only for the eye may be missing."""
        uri = yml.text(item.take("uri", "url"), "uri", label)
        node = item.take("node")
        unit, up = item.take("length_unit", "unit"), item.take("upper_axis", "up_axis")
        factor = UNITS.get(str(unit), 0.0) if unit is not None else 1.0
        if not factor:
            raise SceneError("unknown unit of length", element=label, value=str(unit), remedy=f"use {', '.join(UNITS)}")
        R = UP_AXES.get(str(up).upper()) if up is not None else np.eye(3)
        if R is None:
            raise SceneError("unknown axis", element=label, value=str(up), remedy="use X, Y or Z")
        try:
            # variables such as ${SHARE} stand for folders that package_paths may name
            place = find_mesh(re.sub(r"^\$\{\w+\}/", "", uri), self.path, self.package_paths, label)
            pieces = self._file(place, str(node) if node else None)
        except SceneError as error:
            if collides:
                raise
            self.unsupported.add(f"visual file {uri!r}: {error.problem}", Grade.LOOKS)
            return []
        return [placed(piece, affine(R=R, scale=np.full(3, factor))) for piece in pieces]

    def _file(self, place: Path, node: str | None) -> list[Piece]:
        if (place, node) not in self._files:
            if place.suffix.lower() in (".wrl", ".vrml"):
                pieces = vrml_pieces(place, self.unsupported, node)
            else:
                vertices, faces = mesh.read(place)
                pieces = [Piece(vertices=vertices, faces=faces, source=str(place))]
                if node is not None:
                    self.unsupported.add(f"node {node!r} of {place.name}: the whole file is taken", Grade.SLIGHT)
            self._files[place, node] = pieces
        return self._files[place, node]

    def _color(self, look: Any, label: str) -> tuple[float, float, float, float] | None:
        material = look.take("material") if isinstance(look, Entries) else None
        if not isinstance(material, Entries):
            return None
        color, clear = material.take("diffuse", "diffuse_color"), material.take("transparency")
        if color is None:
            return None
        r, g, b = yml.vector(color, "diffuse colour", label)
        opaque = 1.0 - (yml.number(clear, "transparency", label) if isinstance(clear, Text) else 0.0)
        return float(r), float(g), float(b), opaque


def combined(parts: Parts, label: str) -> Inertial | None:
    """One inertial of all that a link has."""
    if not parts.inertials:
        return None
    if len(parts.inertials) == 1:
        return parts.inertials[0]
    made = mass.combine((inertial, (0, 0, 0), (1, 0, 0, 0)) for inertial in parts.inertials)
    made.element = label
    return made
