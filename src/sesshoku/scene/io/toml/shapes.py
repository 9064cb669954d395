"""Shapes in scene files: which keys belong to which shape, the shape they make, and the mass of shapes together."""

from __future__ import annotations

import io
import tokenize
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Geometry, Inertial
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from sesshoku.scene.io.files import read_file
from sesshoku.scene.io.toml.schema import BodyTable

#: keys each shape needs, and those it may have
SHAPE_KEYS: dict[str, tuple[set[str], set[str]]] = {
    "plane": (set(), set()), "box": ({"size"}, set()), "sphere": ({"radius"}, set()),
    "ellipsoid": ({"radii"}, set()), "height_field": ({"size"}, {"heights", "file", "base"}),
    "capsule": ({"radius", "length"}, set()), "cylinder": ({"radius", "length"}, set()),
    "convex": (set(), {"file", "vertices", "scale"}),
    "mesh": (set(), {"file", "vertices", "faces", "pieces", "repairs", "scale"}),
}
ALL_SHAPE_KEYS = {key for needed, allowed in SHAPE_KEYS.values() for key in needed | allowed}


def make_shape(kind: str, keys: dict[str, Any], folder: Path, closed: bool = True) -> Shape:
    """A shape from the keys of its table. A mesh that does not collide (`closed=False`) is taken as it is."""
    if kind == "plane":
        return Plane()
    if kind == "box":
        return Box(keys["size"])
    if kind == "sphere":
        return Sphere(keys["radius"])
    if kind == "ellipsoid":
        return Ellipsoid(keys["radii"])
    if kind == "height_field":
        return _height_field(keys, folder)
    if kind in ("capsule", "cylinder"):
        return (Capsule if kind == "capsule" else Cylinder)(keys["radius"], keys["length"])
    if ("file" in keys) == ("vertices" in keys):
        raise SceneError(f"a {kind} needs file or vertices, one of the two", element=kind,
                         remedy="give file = \"part.stl\"")
    scale = np.broadcast_to(np.asarray(keys.get("scale", 1.0), dtype=float), 3)
    source = None
    if "file" in keys:
        if "faces" in keys:
            raise SceneError("faces belong to vertices, not to a file", element=kind, remedy="leave faces out")
        file = folder / keys["file"]
        if not is_file(file):
            raise SceneError("no such file", element=kind, value=keys["file"],
                             remedy="give it relative to the scene file")
        vertices, faces = mesh.read(file, scale=scale)
        source = str(file)
    else:
        vertices = np.asarray(keys["vertices"], dtype=float).reshape(-1, 3) * scale
        faces = _faces(keys.get("faces", []), len(vertices))
    factors = (float(scale[0]), float(scale[1]), float(scale[2]))
    if kind == "convex":
        return mesh.convex_mesh(vertices, source=source, scale=factors)
    if not closed:
        return Mesh(vertices, faces, (), source, factors, tuple(keys.get("repairs", ())))
    whole = mesh.triangle_mesh(vertices, faces, source=source, scale=factors, decompose="pieces" not in keys)
    if "pieces" in keys:
        whole = replace(whole, pieces=tuple(mesh.convex_mesh(points) for points in keys["pieces"]))
    return replace(whole, repairs=(*keys.get("repairs", ()), *whole.repairs))


def _height_field(keys: dict[str, Any], folder: Path) -> HeightField:
    """Heights from the table itself, or from a file: .npy, or lines of numbers (.csv, .txt)."""
    if ("file" in keys) == ("heights" in keys):
        raise SceneError("a height field needs file or heights, one of the two", element="height field",
                         remedy="give heights = [[0, 0], [0, 0.1]], or file = \"terrain.csv\"")
    if "heights" in keys:
        return HeightField(keys["heights"], keys["size"], keys.get("base"))
    file = folder / keys["file"]
    if not is_file(file):
        raise SceneError("no such file", element="height field", value=keys["file"],
                         remedy="give it relative to the scene file")
    return HeightField(read_heights(file), keys["size"], keys.get("base"), str(file))


def read_heights(file: Path) -> np.ndarray:
    """A table of elevations, m, from a .npy file or from lines of numbers apart by commas or spaces."""
    try:
        data = read_file(file)
        if file.suffix.lower() == ".npy":
            table: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
        else:
            lines = data.decode("utf-8").replace(",", " ").splitlines()
            table = np.loadtxt(lines, dtype=np.float64, ndmin=2)
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError, tokenize.TokenError) as problem:
        if isinstance(problem, SceneError):
            raise
        raise SceneError(f"the heights cannot be read ({problem})", element="height field", value=file.name,
                         remedy="give a .npy file, or rows of numbers of one length, apart by commas") from None
    return table


def _faces(rows: list[list[int]], count: int) -> np.ndarray:
    if not all(0 <= number < count for row in rows for number in row):
        raise SceneError("faces name a vertex that does not exist", element="mesh",
                         remedy=f"vertices are 0 to {count - 1}")
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def body_inertial(item: BodyTable, geometries: list[Geometry]) -> Inertial | None:
    """The body's mass as given, or of its geometries as if of one density."""
    element = f"body {item.name!r}"
    if item.inertia is not None:
        if item.mass is None:
            raise SceneError("inertia needs a mass", element=element, remedy="give mass")
        return Inertial(item.mass, item.center or (0, 0, 0), item.inertia, element, item.inertia_axes)
    if item.center is not None:
        raise SceneError("center needs an inertia", element=element, remedy="give inertia = [xx, yy, zz]")
    if item.mass is None and item.density is None:
        return None
    if item.mass is not None and item.density is not None:
        raise SceneError("density and mass are both given", element=element, remedy="keep one of the two")
    solids = [g for g in geometries if g.collides and not isinstance(g.shape, Plane)]
    if not solids:
        raise SceneError("mass or density without a colliding geometry needs an inertia", element=element,
                         remedy="give inertia = [xx, yy, zz] about the centre of mass")
    whole = mesh.combine((mesh.shape_inertial(g.shape, density=item.density or 1.0, element=element), g.position,
                          g.rotation)
                         for g in solids)
    share = 1.0 if item.mass is None else item.mass / whole.mass
    return Inertial(share * whole.mass, whole.center, share * whole.matrix, element)
