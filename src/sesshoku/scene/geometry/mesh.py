"""Triangle meshes: reading them from files, convex hulls, closed meshes with their convex pieces.

The parts live next door: `repair` (closing and orienting), `pieces` (convex decomposition and its cache),
`mass` (mass properties), `surfaces` (a triangle surface of any shape). This module is the door to all of them.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.geometry.mass import combine, shape_inertial
from sesshoku.scene.geometry.pieces import DEFAULT_THRESHOLD, convex_pieces
from sesshoku.scene.geometry.repair import (
    FLAT_VOLUME,
    check_arrays,
    diagonal,
    drop_unused,
    face_components,
    merge,
    oriented,
    repaired,
    signed_volume,
)
from sesshoku.scene.geometry.shapes import ConvexMesh, Mesh
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.scene.io.files import MOST_MESH_BYTES, check_file, read_file

__all__ = ["combine", "convex_mesh", "read", "shape_inertial", "surface", "triangle_mesh"]

TEXTS = (".stl", ".obj", ".ply", ".off")  # formats that are text, or may be
FORMATS = (".stl", ".obj", ".ply", ".off", ".dae", ".gltf", ".glb")
CONVEX_TOLERANCE = 1e-6  # a mesh that fills its hull to this share of the volume counts as convex


def read(path: Any, scale: Any = (1.0, 1.0, 1.0)) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in metres and triangles (m, 3) of a mesh file, scaled, equal vertices merged.

    A scale that mirrors (negative determinant) flips the triangles, so that outward stays outward.
    """
    path = check.path(path, "mesh")
    element = f"mesh {str(path)!r}"
    factor = check.vector(scale, "scale", element)
    if (factor == 0.0).any():
        raise SceneError("scale has a zero, which flattens the mesh", element=element, value=factor.tolist())
    if path.suffix.lower() not in FORMATS:
        raise SceneError(f"mesh files of the kind {path.suffix!r} cannot be read", element=element,
                         remedy=f"convert it to one of {' '.join(FORMATS)}")
    if not path.is_file():
        raise SceneError("there is no such file", element=element, remedy="check the path and package:// prefix")
    if path.stat().st_size > MOST_MESH_BYTES:
        raise SceneError(f"the file is larger than {MOST_MESH_BYTES // 2**20} MB", element=element,
                         value=path.stat().st_size, remedy="simplify the mesh")
    vertices, faces = _load(path, element)
    if len(faces) == 0:
        raise SceneError("the file holds no triangles", element=element, remedy="export a triangle mesh")
    vertices, faces = check_arrays(vertices, faces, element)
    with np.errstate(over="ignore"):
        vertices = vertices * factor
    vertices, faces = check_arrays(vertices, faces, element)
    vertices, faces = drop_unused(*merge(vertices, faces))
    return vertices, faces[:, ::-1].copy() if np.prod(np.sign(factor)) < 0 else faces


def _load(path: Path, element: str) -> tuple[np.ndarray, np.ndarray]:
    """All triangles of a file in one mesh, as trimesh reads it."""
    import trimesh  # slow to import, and most scenes have no mesh file

    # materials would pull in image files, of which we need none
    kind = path.suffix.lower()
    options: dict[str, Any] = {"skip_materials": True} if kind == ".obj" else {}
    source: Any = path
    try:
        if kind == ".gltf":
            _check_buffers(path)
        elif kind in TEXTS:
            source, options["file_type"] = io.BytesIO(_as_utf8(read_file(path, MOST_MESH_BYTES), kind)), kind[1:]
        loaded: Any = trimesh.load(source, force="mesh", process=False, **options)
        vertices, faces = np.asarray(loaded.vertices), np.asarray(loaded.faces)
        if kind == ".dae":
            vertices = vertices * _collada_unit(path)
    except SceneError as error:
        error.element = element
        raise
    except ImportError as error:
        raise SceneError(f"reading this file needs a package that is not installed: {error}", element=element,
                         remedy="install it, or convert the mesh to STL or OBJ") from error
    except Exception as error:  # the readers raise whatever the broken bytes lead to
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise SceneError(f"the file cannot be read as {path.suffix[1:].upper()} ({reason})", element=element,
                         remedy="check that the file is complete and has the format its name says") from error
    return vertices, faces


def _as_utf8(data: bytes, kind: str) -> bytes:
    """Text of a mesh file in UTF-8. Names and comments in other encodings are of no matter, so that any will do."""
    if kind == ".stl" and len(data) >= 84 and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return bytes(80) + data[80:]  # binary, behind 80 bytes of anything
    end = data.find(b"end_header") if kind == ".ply" else len(data)
    if end < 0:
        return data
    try:
        data[:end].decode("utf-8")
        return data
    except UnicodeDecodeError:
        return data[:end].decode("latin-1").encode("utf-8") + data[end:]


def _check_buffers(path: Path) -> None:
    """A .gltf file is JSON, or else trimesh takes any model.gltf beside it; what it names are files of bounded size."""
    found = json.loads(read_file(path).decode("utf-8"))
    for key in ("buffers", "images"):
        for item in found.get(key, ()):
            uri = item.get("uri")
            if uri is not None and not uri.startswith("data:"):
                check_file(path.parent / unquote(uri), MOST_MESH_BYTES)


def _collada_unit(path: Path) -> float:
    """Metres per unit of a COLLADA file, which trimesh leaves to us. The up axis it names is not applied."""
    from xml.etree import ElementTree

    for node in ElementTree.parse(path).iter():
        if node.tag.rpartition("}")[2] == "unit":
            return float(node.get("meter", "1"))
    return 1.0


def convex_mesh(vertices: Any, source: str | None = None, scale: Any = (1.0, 1.0, 1.0)) -> ConvexMesh:
    """The convex hull of points (n, 3): its corners only, with outward counter-clockwise triangles.

    source, scale: where the points came from; remembered, not applied.
    """
    element = f"mesh {source!r}" if source else "convex mesh"
    points, _ = check_arrays(vertices, np.zeros((0, 3), int), element)
    if len(points) < 4:
        raise SceneError("a convex body needs at least four points", element=element, value=len(points),
                         remedy="give points that span a volume")
    corners, faces = _hull(points, element)
    extreme = _is_corner(corners, faces)
    if extreme.sum() >= 4 and not extreme.all():  # points inside a face or an edge only slow collision down
        corners, faces = _hull(corners[extreme], element)
    return ConvexMesh(_frozen(corners), _frozen(faces), source, _scale(scale, element))


def _hull(points: np.ndarray, element: str) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import ConvexHull, QhullError

    middle, size = points.mean(axis=0), diagonal(points)
    flat = SceneError("the points lie in a plane: their convex hull has no volume", element=element,
                      value=np.ptp(points, axis=0).tolist(), remedy="give the mesh a thickness, or use a box")
    if size == 0.0:
        raise flat
    for options in ("Qt", "QJ"):  # exact, then with qhull's joggle for point sets that leave slivers
        try:
            hull = ConvexHull((points - middle) / size, qhull_options=options)
        except (QhullError, ValueError):
            continue
        if hull.volume < FLAT_VOLUME:
            break
        corners, faces = drop_unused(points, hull.simplices.astype(np.int64))
        turned = oriented(faces)
        if turned is not None:
            return corners, turned if signed_volume(corners - middle, turned) > 0.0 else turned[:, ::-1].copy()
    raise flat


def _is_corner(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Which vertices of a convex polyhedron are true corners: the normals around them span all three directions."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 1e-12 * lengths.max())
    spread = np.zeros((len(vertices), 3, 3))
    for k in range(3):
        np.add.at(spread, faces[:, k], normals[:, :, None] * normals[:, None, :])
    return np.linalg.eigvalsh(spread)[:, 0] > 1e-12


def triangle_mesh(vertices: Any, faces: Any, source: str | None = None, scale: Any = (1.0, 1.0, 1.0),
                  decompose: bool = True, threshold: float = DEFAULT_THRESHOLD) -> Mesh:
    """A closed mesh of vertices (n, 3) and triangles (m, 3), repaired where that is safe, with its convex pieces.

    Equal vertices are merged, degenerate and doubled triangles dropped, small holes filled, triangles turned outward.
    What stays open, branched or flat is refused. A convex mesh is its own piece; others go through coacd, and the
    result is kept in the cache. threshold: how concave a piece may stay, as a share of the mesh's size (0.01 to 1).
    decompose=False leaves a concave mesh without pieces. source, scale: remembered, not applied.
    """
    element = f"mesh {source!r}" if source else "triangle mesh"
    threshold = check.number(threshold, "threshold", element, least=0.01, most=1.0)
    points, triangles = check_arrays(vertices, faces, element)
    repairs: list[str] = []
    points, triangles = repaired(points, triangles, element, repairs)
    hull = convex_mesh(points, source, scale)
    pieces: tuple[ConvexMesh, ...] = ()
    if _fills_hull(points, triangles, hull):
        pieces = (hull,)
    elif decompose:
        pieces = tuple(convex_mesh(part) for part in convex_pieces(points, triangles, threshold, element))
    return Mesh(_frozen(points), _frozen(triangles), pieces, source, _scale(scale, element), tuple(repairs))


def _fills_hull(vertices: np.ndarray, faces: np.ndarray, hull: ConvexMesh) -> bool:
    whole = signed_volume(hull.vertices - vertices[0], hull.faces)
    filled = signed_volume(vertices - vertices[0], faces)
    return abs(whole - filled) <= CONVEX_TOLERANCE * whole and face_components(faces).max() == 0


def _frozen(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def _scale(scale: Any, element: str) -> tuple[float, float, float]:
    x, y, z = check.vector(scale, "scale", element)
    return float(x), float(y), float(z)
