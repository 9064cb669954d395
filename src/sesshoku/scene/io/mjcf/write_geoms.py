"""Geometries as MJCF geoms: shapes, mesh assets, groups, friction."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import Body, Geometry, Material
from sesshoku.scene.geometry.shapes import ConvexMesh, HeightField, Mesh, Shape
from sesshoku.scene.io.mjcf.write_text import Lost, Naming, Xml, half_size, pieces_of, signed, unless
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import quaternion_to_matrix

VISUAL_GROUP, COLLISION_GROUP = 2, 3  # the geom groups that models agree on


class GeomWriter:
    """Writes the geoms of bodies, and collects the mesh assets they need."""

    def __init__(self, scene: Scene, lost: Lost, names: Naming) -> None:
        self.scene, self.lost, self.names = scene, lost, names
        # MuJoCo takes the larger coefficients of both geoms as soon as one of them has such friction
        used = [g.material or scene.material for b in scene.bodies.values() for g in b.geometries if g.collides]
        self.rolling = any(material.dimension > 3 for material in used)
        self.geom_names: dict[tuple[str, int], list[str]] = {}
        self.meshes: list[tuple[str, Shape]] = []
        self.assets = Xml()

    def colliding_names(self, body: str, index: int) -> list[str]:
        """Names of the colliding geoms of one geometry (several for a concave mesh), made when first asked for."""
        if (body, index) not in self.geom_names:
            geometry = self.scene.bodies[body].geometries[index]
            wish = geometry.name or f"{body}/geom{index}"
            self.geom_names[body, index] = [self.names.fresh("geom", wish if k == 0 else f"{wish}/{k}")
                                            for k, _ in enumerate(pieces_of(geometry.shape))]
        return self.geom_names[body, index]

    def geometry(self, xml: Xml, body: Body, index: int, geometry: Geometry) -> None:
        material = geometry.material or self.scene.material
        place = {"pos": unless(geometry.position, np.zeros(3)), "quat": unless(geometry.rotation, [1, 0, 0, 0]),
                 "rgba": geometry.color}
        if not geometry.collides:
            name = None if geometry.name is None else self.names.fresh("geom", geometry.name)
            self.geom(xml, body, geometry.shape, name=name, **place, contype=0, conaffinity=0, group=VISUAL_GROUP)
            return
        self.material_losses(material, body.name)
        pieces = pieces_of(geometry.shape)
        if len(pieces) > 1:  # seen as one, touched piece by piece
            self.geom(xml, body, geometry.shape, **place, contype=0, conaffinity=0, group=VISUAL_GROUP)
        elif isinstance(geometry.shape, Mesh) and not geometry.shape.pieces:
            self.lost.add("concave meshes without pieces (MuJoCo takes their convex hull)", body.name)
        named = geometry.name is not None or (body.name, index) in self.geom_names
        names = self.colliding_names(body.name, index) if named else [None] * len(pieces)
        shown = [material.kinetic_friction, 0.005, 0.0001]
        if self.rolling:
            shown[1:] = [material.torsional_friction, material.rolling_friction]
        hidden = len(pieces) > 1 or not geometry.visible
        for name, piece in zip(names, pieces, strict=True):
            self.geom(xml, body, piece, name=name, **place, contype=signed(geometry.category),
                      conaffinity=signed(geometry.mask),
                      friction=shown, condim=None if material.dimension == 3 else material.dimension,
                      priority=material.priority or None,
                      group=COLLISION_GROUP if hidden else None)

    def material_losses(self, material: Material, name: str) -> None:
        if material.static_friction != material.kinetic_friction:
            self.lost.add("static friction apart from kinetic (the kinetic value is written), on bodies", name)
        if material.restitution > 0.0:
            self.lost.add("restitution, on bodies", name)
        if material.stiffness is not None or material.damping is not None:
            self.lost.add("stiffness and damping of materials, on bodies", name)

    def geom(self, xml: Xml, body: Body, shape: Shape, **attributes: Any) -> None:
        attributes = {"name": attributes.pop("name", None), "type": shape.kind} | attributes
        if isinstance(shape, (ConvexMesh, Mesh)):
            if len(shape.vertices) < 4:
                self.lost.add("visual meshes of fewer than four vertices", body.name)
                return
            xml.add("geom", **attributes | {"type": "mesh", "mesh": self.mesh(shape, body.name)})
        elif isinstance(shape, HeightField):
            self.height_field(xml, body, shape, attributes)
        else:
            xml.add("geom", **attributes, size=half_size(shape))

    def height_field(self, xml: Xml, body: Body, shape: HeightField, attributes: dict[str, Any]) -> None:
        """MuJoCo's heights begin at zero: the geom stands at the lowest one."""
        lowest, highest = float(shape.heights.min()), float(shape.heights.max())
        assert shape.base is not None
        name = self.names.silently("hfield", body.name)
        rows, columns = shape.heights.shape
        self.assets.add("hfield", name=name, nrow=rows, ncol=columns, elevation=(shape.heights - lowest)[::-1],
                        size=[0.5 * shape.size[0], 0.5 * shape.size[1], highest - lowest or 1.0, shape.base + lowest])
        if lowest != 0.0:
            placed = next(geometry for geometry in body.geometries if geometry.shape is shape)
            up = quaternion_to_matrix(placed.rotation) @ np.array([0.0, 0.0, lowest])
            attributes = attributes | {"pos": placed.position + up}
        xml.add("geom", **attributes | {"type": "hfield", "hfield": name})

    def mesh(self, shape: ConvexMesh | Mesh, wish: str) -> str:
        """The asset's name of a mesh; equal meshes share one."""
        for name, other in self.meshes:
            if other is shape or other == shape:
                return name
        name = self.names.silently("mesh", wish)
        self.meshes.append((name, shape))
        # a mesh for the eye need not be closed: take its surface, since its volume may be none
        self.assets.add("mesh", name=name, vertex=shape.vertices, face=shape.faces,
                        inertia="shell" if isinstance(shape, Mesh) and not shape.pieces else None)
        return name
