"""`Breps`: the polyhedra of all colliding geometries of a scene, as edge-centred lists in flat arrays (section 5.1).

Built once, when a simulation starts. A **shape** here is one colliding geometry (a concave mesh is one shape, a plane
a slab); a **body** is a link, or the world. Body b < link_count is link b, in a frame with its origin at the link's
centre of mass and the axes of the link frame; body link_count is the world. Numbers of vertices, edges, faces and
coplanar patches run through all shapes, so that one number names a feature.

Triangles that lie in one plane form a patch. With `merge_coplanar` the edges within a patch and the vertices within a
patch or a straight edge take no part in collision: contact must not depend on how a flat face was cut into triangles
(unless shrinking bends the patch: then its triangles count one by one).
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from sesshoku.collision.swept.polyhedra import Polyhedron, polyhedron, solid
from sesshoku.collision.swept.shrink import SAME, shrink
from sesshoku.collision.swept.tree import EDGE, FACE, VERTEX, build
from sesshoku.compiled.table import Record, array, scalar
from sesshoku.errors import SceneError
from sesshoku.model.arrays import SHAPE_CONVEX
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.compiler.bounds import size_levels
from sesshoku.scene.filters import filter_arrays
from sesshoku.scene.geometry.shapes import Plane
from sesshoku.scene.materials import rule_row
from sesshoku.spatial.poses import compose
from sesshoku.spatial.rotation import quaternion_to_matrix

logger = logging.getLogger(__name__)
CORE = 16.0  # margins by which the core is shrunken
STAYS_FLAT = 1e-6  # a patch whose corners move alike to this share of the margin is still flat when shrunken


class Breps(Record):
    """S shapes, B bodies, V vertices, E edges, F faces, P patches, N tree nodes. Metres, in body frames.

    The names of the fields that the broad phase and the filters ask for are those of `Model`.
    """

    shape_count = scalar()
    body_count = scalar()
    vertex_count = scalar()
    edge_count = scalar()
    face_count = scalar()
    patch_count = scalar()
    tree_depth = scalar()  # of the deepest tree
    merged = scalar()  # 1: flat faces count as one, see above
    frame_count = scalar()
    level_count = scalar()
    pairs_listed = scalar()

    shape_body = array(int, "S")
    shape_frame = array(int, "S")  # the scene's body it belongs to
    shape_type = array(int, "S")  # SHAPE_CONVEX, whatever it is: none is a plane to the broad phase
    shape_level = array(int, "S")  # size class in the broad phase
    shape_filter = array(int, "S", 6)  # as in Model
    shape_category = array(int, "S")
    shape_mask = array(int, "S")
    shape_material = array(float, "S", 3)  # static, kinetic, restitution
    shape_rule = array(int, "S", 3)  # as in Model
    shape_margin = array(float, "S")  # how far its planes were moved inward
    shape_pad = array(float, "S")  # by which its boxes are widened against rounding
    shape_box = array(float, "S", 2, 3)  # centre and half edges of the box around it
    shape_vertex = array(int, "S", 2)  # first and last + 1
    shape_edge = array(int, "S", 2)
    shape_face = array(int, "S", 2)
    shape_node = array(int, "S", 2)  # its tree; the root comes first
    body_shape_start = array(int, "B + 1")  # ranges of body_shape
    body_shape = array(int, "S")  # shapes by bodies

    vertex = array(float, "V", 3)
    inner = array(float, "V", 3)  # shrunken
    core = array(float, "V", 3)  # shrunken much more, as far as the shape bears it: shows deep overlaps
    vertex_normal = array(float, "V", 3)  # mean of the normals around, weighted by angle
    vertex_shape = array(int, "V")
    vertex_used = array(int, "V")  # 1: takes part in collision
    vertex_edge_start = array(int, "V + 1")  # ranges of vertex_edge
    vertex_edge = array(int, "2 * E")  # edges around each vertex
    edge_vertex = array(int, "E", 2)  # a, b
    edge_face = array(int, "E", 2)  # the face that runs b -> a ("right"), the one that runs a -> b ("left")
    edge_shape = array(int, "E")
    edge_used = array(int, "E")  # 1: takes part in collision
    edge_concave = array(int, "E")  # 1: reflex
    face_vertex = array(int, "F", 3)  # counter-clockwise from outside
    face_edge = array(int, "F", 3)  # from corner k to corner k + 1
    face_normal = array(float, "F", 3)  # unit, outward
    face_offset = array(float, "F")  # n . x + offset = 0 on the face
    face_area = array(float, "F")  # m^2
    face_patch = array(int, "F")
    face_shape = array(int, "F")
    patch_normal = array(float, "P", 3)
    patch_area = array(float, "P")
    node = array(int, "N", 4)  # first child (-1: leaf), second child, kinds below, feature of a leaf

    pair_key = array(int, "pairs")  # as in Model, of shapes here
    pair_rule = array(int, "pairs")
    pair_material = array(float, "pairs", 3)
    allowed_pair = array(int, "allowed", 2)


def make_breps(compiled: CompiledScene, margin: float | np.ndarray, merge_coplanar: bool = True) -> Breps:
    """The polyhedra of a scene's colliding geometries, each with a copy shrunken by `margin` (m; one for all, or each).

    Where a shape is too thin or too sharp for its margin a smaller one is taken, logged, and kept in `shape_margin`.
    """
    places, columns = _geometries(compiled)
    margins = np.broadcast_to(np.asarray(margin, dtype=np.float64), len(places)) if len(places) else np.zeros(0)
    if not (np.isfinite(margins).all() and (margins > 0.0).all()):
        raise SceneError("the margin by which shapes shrink must be positive", element="springs", value=margin)
    solids = [(shape, solid(shape, 0.0)) for shape, _, _, _ in places if not isinstance(shape, Plane)]
    largest = max((float(np.linalg.norm(np.ptp(mesh[0], axis=0))) for _, mesh in solids), default=0.0)
    parts = Parts()
    for (shape, position, rotation, element), reach in zip(places, margins, strict=True):
        vertices, faces = solid(shape, largest)
        parts.add(polyhedron(vertices @ rotation.T + position, faces, element), float(reach), merge_coplanar, element)
    arrays = parts.arrays() | columns
    count = len(places)
    arrays |= filter_arrays(compiled.scene, compiled.frame_index, arrays | {"shape_count": count})
    for key in ("pair_rolling", "pair_materials", "shape_geometry"):  # `springs` knows no rolling friction
        del arrays[key]
    radius = np.linalg.norm(arrays["shape_box"][:, 1], axis=1)
    levels = size_levels(radius, np.ones(count, dtype=bool))
    bodies = compiled.model.link_count + 1
    by_body = np.argsort(arrays["shape_body"], kind="stable")
    starts = np.searchsorted(arrays["shape_body"][by_body], np.arange(bodies + 1))
    return Breps(
        merged=int(merge_coplanar), shape_count=count, body_count=bodies, frame_count=compiled.model.frame_count,
        shape_level=levels, level_count=int(max(levels, default=-1)) + 1, body_shape=by_body, body_shape_start=starts,
        shape_type=np.full(count, SHAPE_CONVEX), **arrays)


def _geometries(compiled: CompiledScene) -> tuple[list[Any], dict[str, Any]]:
    """Shape, pose in its body's frame and name of every colliding geometry; what filters and materials need of each."""
    model, places = compiled.model, []
    columns: dict[str, list[Any]] = {name: [] for name in ("body", "frame", "geometry", "material", "rule", "category",
                                                      "mask")}
    for body in compiled.scene.bodies.values():
        f = compiled.frame_index[body.name]
        link = int(model.frame_link[f])
        center = model.link_center[link] if link >= 0 else np.zeros(3)
        for number, geometry in enumerate(body.geometries):
            if not geometry.collides:
                continue
            on_link = (model.frame_position[f], model.frame_rotation[f])
            position, rotation = compose(on_link, (geometry.position, quaternion_to_matrix(geometry.rotation)))
            material = geometry.material or compiled.scene.material
            places.append((geometry.shape, position - center, rotation, f"{geometry.shape.kind} of body {body.name!r}"))
            row = (link if link >= 0 else model.link_count, f, number,
                   [material.static_friction, material.kinetic_friction, material.restitution], rule_row(material),
                   geometry.category, geometry.mask)
            for values, value in zip(columns.values(), row, strict=True):
                values.append(value)
    arrays: dict[str, Any] = {f"shape_{name}": np.array(values, dtype=np.int64) for name, values in columns.items()
                              if name not in ("material", "rule")}
    arrays["shape_rule"] = np.array(columns["rule"], dtype=np.int64).reshape(-1, 3)
    return places, arrays | {"shape_material": np.array(columns["material"], dtype=np.float64).reshape(-1, 3)}


class Parts:
    """Lists of polyhedra put end to end."""

    def __init__(self) -> None:
        self.columns: dict[str, list[np.ndarray]] = {}
        self.counts = {"vertex": 0, "edge": 0, "face": 0, "patch": 0, "node": 0}
        self.shape_rows: list[dict[str, Any]] = []
        self.depth = 0

    def add(self, mesh: Polyhedron, margin: float, merge_coplanar: bool, element: str) -> None:
        inner, applied = shrink(mesh, margin, element)
        if applied < margin:
            logger.warning("%s: shrinks by %.3g m instead of %.3g m, being thin or sharp", element, applied, margin)
        core, _ = shrink(mesh, CORE * applied, element)
        first = dict(self.counts)
        vertex_used, edge_used = _used(mesh, inner, applied) if merge_coplanar else _all_used(mesh)
        nodes, depth = _tree(mesh, vertex_used, edge_used)
        nodes[:, :2] += np.where(nodes[:, :2] >= 0, first["node"], 0)
        leaf = nodes[:, 0] < 0
        for kind, name in ((VERTEX, "vertex"), (EDGE, "edge"), (FACE, "face")):
            nodes[leaf & (nodes[:, 2] == kind), 3] += first[name]
        self.depth = max(self.depth, depth)
        ends = mesh.edge_vertex.T.ravel()
        order = np.argsort(ends, kind="stable")
        shape = len(self.shape_rows)
        v, e, f = len(mesh.vertices), len(mesh.edge_vertex), len(mesh.faces)
        offset = -np.einsum("ij,ij->i", mesh.face_normal, mesh.vertices[mesh.faces].mean(axis=1))
        self._append(
            vertex=mesh.vertices, inner=inner, core=core, vertex_normal=mesh.vertex_normal, vertex_used=vertex_used,
            vertex_edge_count=np.bincount(ends, minlength=v), vertex_edge=order % e + first["edge"],
            edge_vertex=mesh.edge_vertex + first["vertex"], edge_face=mesh.edge_face + first["face"],
            edge_used=edge_used, edge_concave=mesh.edge_concave, face_vertex=mesh.faces + first["vertex"],
            face_edge=mesh.face_edge + first["edge"], face_normal=mesh.face_normal, face_offset=offset,
            face_area=mesh.face_area, face_patch=mesh.face_patch + first["patch"], patch_normal=mesh.patch_normal,
            patch_area=mesh.patch_area, node=nodes, vertex_shape=np.full(v, shape), edge_shape=np.full(e, shape),
            face_shape=np.full(f, shape))
        for name, grown in (("vertex", v), ("edge", e), ("face", f), ("patch", len(mesh.patch_normal)),
                            ("node", len(nodes))):
            self.counts[name] += grown
        low = np.minimum(mesh.vertices.min(axis=0), inner.min(axis=0))
        high = np.maximum(mesh.vertices.max(axis=0), inner.max(axis=0))
        row = {name: [first[name], self.counts[name]] for name in ("vertex", "edge", "face", "node")}
        self.shape_rows.append(row | {"margin": applied, "pad": 1e-9 * mesh.diagonal,
                                      "box": [0.5 * (low + high), 0.5 * (high - low)]})

    def _append(self, **columns: np.ndarray) -> None:
        for name, values in columns.items():
            self.columns.setdefault(name, []).append(values)

    def arrays(self) -> dict[str, Any]:
        """The fields of Breps that follow from the meshes alone."""
        names = [name for name in Breps.fields if name.partition("_")[0] in ("vertex", "edge", "face", "patch")]
        names = [name for name in names if Breps.fields[name].ndim > 0 and name != "vertex_edge_start"]
        result: dict[str, Any] = {name: self._joined(name) for name in [*names, "inner", "core", "node"]}
        per_vertex = np.concatenate([[0], *self.columns.get("vertex_edge_count", [])])
        result["vertex_edge_start"] = np.cumsum(per_vertex).astype(np.int64)
        rows = self.shape_rows
        for name in ("vertex", "edge", "face", "node"):
            result[f"shape_{name}"] = np.array([row[name] for row in rows], dtype=np.int64).reshape(-1, 2)
        for name in ("margin", "pad"):
            result[f"shape_{name}"] = np.array([row[name] for row in rows], dtype=np.float64)
        result["shape_box"] = np.array([row["box"] for row in rows], dtype=np.float64).reshape(-1, 2, 3)
        counts = {f"{name}_count": self.counts[name] for name in ("vertex", "edge", "face", "patch")}
        return result | counts | {"tree_depth": self.depth}

    def _joined(self, name: str) -> np.ndarray:
        field, found = Breps.fields[name], self.columns.get(name, [])
        extents: Any = field.extents
        empty = np.zeros((0, *extents[1:]))
        return np.concatenate([empty, *found]).astype(field.element)


def _all_used(mesh: Polyhedron) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(len(mesh.vertices), dtype=np.int64), np.ones(len(mesh.edge_vertex), dtype=np.int64)


def _used(mesh: Polyhedron, inner: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Which vertices and edges take part in collision: corners and bends of the original or of the shrunken copy."""
    corners = mesh.face_patch[:, None].repeat(3, axis=1).ravel()  # patch of every corner of every face
    moved = np.einsum("ij,ij->i", (inner - mesh.vertices)[mesh.faces.ravel()], mesh.patch_normal[corners])
    bent = np.zeros(len(mesh.patch_normal), dtype=bool)
    bent[corners[np.abs(moved + margin) > STAYS_FLAT * margin]] = True
    vertex_used = np.array([len(patches) >= 3 for patches in mesh.vertex_patches], dtype=np.int64)
    for v, patches in enumerate(mesh.vertex_patches):
        if bent[patches].any():
            vertex_used[v] = 1
        elif vertex_used[v]:  # separate patches may lie in one plane
            gaps = np.abs(mesh.patch_normal[patches, None] - mesh.patch_normal[None, patches]).max(axis=2) < SAME
            vertex_used[v] = len(patches) - np.triu(gaps, 1).any(axis=0).sum() >= 3
    return vertex_used, (~mesh.edge_flat | bent[mesh.face_patch[mesh.edge_face[:, 0]]]).astype(np.int64)


def _tree(mesh: Polyhedron, vertex_used: np.ndarray, edge_used: np.ndarray) -> tuple[np.ndarray, int]:
    """The tree over the primitives that take part, by their boxes at rest."""
    used_v, used_e = np.flatnonzero(vertex_used), np.flatnonzero(edge_used)
    kinds = [np.full(len(used_v), VERTEX), np.full(len(used_e), EDGE), np.full(len(mesh.faces), FACE)]
    edges, faces = mesh.vertices[mesh.edge_vertex[used_e]], mesh.vertices[mesh.faces]
    low = np.concatenate([mesh.vertices[used_v], edges.min(axis=1), faces.min(axis=1)])
    high = np.concatenate([mesh.vertices[used_v], edges.max(axis=1), faces.max(axis=1)])
    feature = np.concatenate([used_v, used_e, np.arange(len(mesh.faces))])
    return build(np.concatenate(kinds), feature, low, high)
