"""The part of `Scene` that adds bodies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import unknown_keyword
from sesshoku.scene.contents import Contents, listed
from sesshoku.scene.elements import Body, Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry import mesh, shapes
from sesshoku.scene.geometry.repair import check_arrays
from sesshoku.scene.geometry.shapes import Shape

BODY_OPTIONS = {"parent", "joint", "position", "rotation", "velocity", "angular_velocity", "fixed", "kinematic",
                "motion", "robot", "category", "mask", "gravity_compensation"}


class Bodies(Contents):
    """Bodies of any make, and of one shape each."""

    def add_body(
        self, name: str, *, parent: str | None = None, joint: Joint | None = None, position: Any = (0, 0, 0),
        rotation: Any = (1, 0, 0, 0), inertial: Inertial | None = None, geometries: Iterable[Geometry] = (),
        velocity: Any = (0, 0, 0), angular_velocity: Any = (0, 0, 0), fixed: bool = False, kinematic: bool = False,
        motion: Any = None, robot: str | None = None, gravity_compensation: float = 0.0, category: int | None = None,
        mask: int | None = None,
    ) -> Body:
        """Add a body. Without a parent it is free unless `fixed`, `kinematic` or a joint says otherwise; else fixed.

        category, mask: of all its geometries, in place of their own.
        """
        element = f"body {check.name(name, 'name of a body')!r}"
        fixed, kinematic = check.flag(fixed, "fixed", element), check.flag(kinematic, "kinematic", element)
        if joint is None:
            joint = Joint("free" if parent is None and not fixed and not kinematic else "fixed")
        elif not isinstance(joint, Joint):
            example = f"Joint({joint!r})" if isinstance(joint, str) else "a Joint(kind)"
            check.kind(joint, Joint, "joint", element, example)
        elif fixed and joint.kind != "fixed":
            raise SceneError("a fixed body has no moving joint", element=element, value=joint.kind,
                             remedy="leave out fixed=True or the joint")
        parts = list(geometries) if isinstance(geometries, Iterable) else geometries  # Body refuses the latter
        given: dict[str, Any] = {"category": category, "mask": mask}
        bits = {key: value for key, value in given.items() if value is not None}
        if bits and isinstance(parts, list):
            parts = [replace(part, **bits) if isinstance(part, Geometry) else part for part in parts]
        body = Body(name, parent, joint, position, rotation, inertial, parts, velocity, angular_velocity, kinematic,
                    motion, robot, gravity_compensation)
        return self._insert(body)

    def _insert(self, body: Body) -> Body:
        element = f"body {body.name!r}"
        if body.name in self.bodies:
            raise SceneError("the name is taken already", element=element, remedy="give every body its own name")
        if body.parent is not None and body.parent not in self.bodies:
            raise SceneError("unknown parent", element=element, value=body.parent,
                             remedy=f"add the parent first; bodies so far: {listed(self.bodies)}")
        if body.joint.name in self._joint_owner:
            raise SceneError("the name is taken already", element=f"joint {body.joint.name!r}",
                             remedy="give every joint its own name")
        held = body.joint.kind == "fixed" and body.parent is None
        if not held:
            for endless in (geometry.shape for geometry in body.geometries):
                if isinstance(endless, (shapes.Plane, shapes.HeightField)):
                    raise SceneError(f"a {endless.kind.replace('_', ' ')} belongs to a body fixed to the world",
                                     element=element, remedy="use a box, or a mesh")
        self.bodies[body.name] = body
        self._joint_owner[str(body.joint.name)] = body.name
        self._note(body.joint.start_note())
        for geometry in body.geometries:
            for repair in geometry.shape.repairs if isinstance(geometry.shape, shapes.Mesh) else ():
                self._note(f"{element}: {repair}")
        return body

    def _add_shape(self, name: str, shape: Shape, mass: float | None, density: float | None, material: Material | None,
                   color: Any, options: dict[str, Any]) -> Body:
        for key in options:
            if key not in BODY_OPTIONS:
                own = ("mass", "density", "material", "color", "scale", "faces")
                raise unknown_keyword(key, [*own, *sorted(BODY_OPTIONS)], f"body {name!r}")
        fixed = any(check.flag(options.get(key, False), key, f"body {name!r}") for key in ("fixed", "kinematic"))
        inertial = None
        if mass is not None or density is not None:
            inertial = mesh.shape_inertial(shape, mass=mass, density=density, element=f"body {name!r}")
        elif not fixed:
            raise SceneError("a moving body needs mass or density", element=f"body {name!r}",
                             remedy="give mass= or density=")
        geometry = Geometry(shape, material=material, color=color)
        return self.add_body(name, inertial=inertial, geometries=[geometry], **options)

    def add_ground(self, name: str = "ground", *, height: float = 0.0, material: Material | None = None,
                   rotation: Any = (1, 0, 0, 0), category: int = 1, mask: int = 0xFFFF) -> Body:
        """Add a fixed half-space; its surface is the plane z = height (turned by `rotation`: an incline)."""
        return self.add_body(name, fixed=True, position=(0, 0, height), rotation=rotation,
                             geometries=[Geometry(shapes.Plane(), material=material, category=category, mask=mask)])

    def add_box(self, name: str, *, size: Any, mass: float | None = None, density: float | None = None,
                material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add a box; `size` holds its edge lengths. Options: those of `add_body`, `category` and `mask` (Geometry)."""
        return self._add_shape(name, shapes.Box(size), mass, density, material, color, options)

    def add_sphere(self, name: str, *, radius: float, mass: float | None = None, density: float | None = None,
                   material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add a sphere. Options: those of `add_body`, `category` and `mask` (Geometry)."""
        return self._add_shape(name, shapes.Sphere(radius), mass, density, material, color, options)

    def add_ellipsoid(self, name: str, *, radii: Any, mass: float | None = None, density: float | None = None,
                      material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add an ellipsoid; `radii` holds its half axes along x, y, z. Options: those of `add_body`."""
        return self._add_shape(name, shapes.Ellipsoid(radii), mass, density, material, color, options)

    def add_height_field(self, name: str, heights: Any, *, size: Any, base: float | None = None,
                         material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add terrain that does not move: elevations (rows along y, columns along x), m, over a rectangle `size`.

        Its middle is the body's origin; the ground below is solid down to z = -base. Options: those of `add_body`.
        """
        if not options.get("kinematic", False):
            options.setdefault("fixed", True)
        return self._add_shape(name, shapes.HeightField(heights, size, base), None, None, material, color, options)

    def add_capsule(self, name: str, *, radius: float, length: float, mass: float | None = None,
                    density: float | None = None, material: Material | None = None, color: Any = None,
                    **options: Any) -> Body:
        """Add a capsule along z: a cylinder of `length` with half spheres at its ends."""
        return self._add_shape(name, shapes.Capsule(radius, length), mass, density, material, color, options)

    def add_cylinder(self, name: str, *, radius: float, length: float, mass: float | None = None,
                     density: float | None = None, material: Material | None = None, color: Any = None,
                     **options: Any) -> Body:
        """Add a cylinder along z."""
        return self._add_shape(name, shapes.Cylinder(radius, length), mass, density, material, color, options)

    def add_convex(self, name: str, vertices: Any, *, mass: float | None = None, density: float | None = None,
                   scale: Any = (1, 1, 1), material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add the convex hull of some points (n, 3), of a `ConvexMesh`, or of the mesh in a file.

        A flat side with more than 48 corners touches with 48 of them, evenly chosen.
        """
        if isinstance(vertices, shapes.ConvexMesh):
            vertices = vertices.vertices
        points, source = _points(vertices, scale, f"body {name!r}")[::2]
        shape = mesh.convex_mesh(points, source=source, scale=check.scale(scale, f"body {name!r}"))
        return self._add_shape(name, shape, mass, density, material, color, options)

    def add_mesh(self, name: str, file: Any, *, faces: Any = None, mass: float | None = None,
                 density: float | None = None, scale: Any = (1, 1, 1), material: Material | None = None,
                 color: Any = None, **options: Any) -> Body:
        """Add a closed triangle mesh from a file, or from vertices (n, 3) and faces (m, 3). Concave: decomposed."""
        points, triangles, source = _points(file, scale, f"body {name!r}", faces)
        if triangles is None:
            raise SceneError("a mesh of vertices needs faces", element=f"body {name!r}", remedy="give faces= (m, 3)")
        shape = mesh.triangle_mesh(points, triangles, source=source, scale=check.scale(scale, f"body {name!r}"))
        return self._add_shape(name, shape, mass, density, material, color, options)


def _points(given: Any, scale: Any, element: str,
            faces: Any = None) -> tuple[np.ndarray, np.ndarray | None, str | None]:
    """Vertices, faces and source of a mesh argument: a path, or an array of vertices (with faces)."""
    factors = check.scale(scale, element)
    if isinstance(given, (str, Path)):
        vertices, triangles = mesh.read(given, scale=factors)
        return vertices, triangles, str(given)
    vertices, triangles = check_arrays(given, np.zeros((0, 3), int) if faces is None else faces, element)
    return vertices * np.array(factors), None if faces is None else triangles, None
