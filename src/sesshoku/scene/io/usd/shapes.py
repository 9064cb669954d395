"""Colliders, looks, materials and masses of a USD stage. See read.py for the rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry import mass
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere
from sesshoku.scene.io.spec import collision_shape, repaired, visual_shape
from sesshoku.scene.io.unsupported import Grade
from sesshoku.scene.io.usd.read import RigidPrim, Stage, reading
from sesshoku.scene.io.vrml import geometry
from sesshoku.scene.io.vrml.geometry import Piece, affine, placed
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix

WATER = 1000.0  # kg/m^3, what a collider without mass, density and material weighs
TURNS = {"X": np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), "Y": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
         "Z": np.eye(3)}  # what turns our z to that axis
SHAPES = ("Cube", "Sphere", "Capsule", "Cylinder", "Cone", "Mesh", "Plane")
MOST_GROUPS = 15  # of collision groups: bits of a category, less the one of everything else


@dataclass
class Weight:
    """A collider's share of its body's mass: its solid in the body's frame, and what the file says of it."""

    inertial: Inertial  # of density 1
    mass: float
    density: float


@dataclass
class Parts:
    """Geometries by body name; `fixed`: those of the world; inertials by body name."""

    geometries: dict[str, list[Geometry]] = field(default_factory=dict)
    fixed: list[Geometry] = field(default_factory=list)
    inertials: dict[str, Inertial] = field(default_factory=dict)


def read_shapes(stage: Stage) -> Parts:
    """Every shape of the stage, and the mass of every body."""
    from pxr import UsdGeom, UsdPhysics

    parts = Parts({body.name: [] for body in stage.bodies.values()})
    weights: dict[str, list[Weight]] = {body.name: [] for body in stage.bodies.values()}
    groups = _Groups(stage)
    for prim in stage.prims():
        if not prim.IsA(UsdGeom.Gprim) and not prim.IsA(UsdGeom.Plane):
            continue
        body, collider = stage.body_of(prim), _collider(prim)
        with reading(prim):
            purpose = UsdGeom.Imageable(prim).ComputePurpose()
            seen = UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible and purpose in (
                UsdGeom.Tokens.default_, UsdGeom.Tokens.render)
            if collider is None and (not seen or body is None):
                continue  # scenery that touches nothing
            piece = _piece(stage, prim, body)
            if piece is None:
                stage.unsupported.add(f"shape {prim.GetTypeName()} of prim {prim.GetPath()}")
                continue
            made = _geometries(stage, prim, piece, collider is not None, seen, body is None)
            material, density = _material(stage, prim) if collider is not None else (None, 0.0)
            for one in made:
                if one.collides:
                    one.material = material
                    one.category, one.mask = groups.bits(prim)
            (parts.fixed if body is None else parts.geometries[body.name]).extend(made)
            if collider is not None and body is not None:
                weights[body.name] += _weight(stage, prim, made, density)
    for body in stage.bodies.values():
        with reading(body.prim):
            inertial = _inertial(stage, body, weights[body.name], UsdPhysics.MassAPI(body.prim))
            if inertial is not None:
                parts.inertials[body.name] = inertial
    return parts


def _collider(prim: Any) -> Any:
    """The prim whose CollisionAPI makes this shape collide: itself, or a group above it; None where it does not."""
    from pxr import UsdGeom, UsdPhysics

    at = prim
    while at and not at.IsPseudoRoot():
        if at.HasAPI(UsdPhysics.CollisionAPI):
            return at if UsdPhysics.CollisionAPI(at).GetCollisionEnabledAttr().Get() else None
        at = at.GetParent()
        if at.HasAPI(UsdPhysics.RigidBodyAPI) and not at.HasAPI(UsdPhysics.CollisionAPI) or at.IsA(UsdGeom.Gprim):
            return None
    return None


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _piece(stage: Stage, prim: Any, body: RigidPrim | None) -> Piece | None:
    """The shape in its body's frame, or in the world's."""
    from pxr import UsdGeom

    M = stage.world(prim)
    M = M if body is None else np.linalg.inv(body.frame) @ M
    unit, kind = stage.meter, str(prim.GetTypeName())
    if kind not in SHAPES:
        return None
    local = affine()
    own: Shape
    if kind == "Cube":
        size = unit * float(UsdGeom.Cube(prim).GetSizeAttr().Get())
        own = Box((size, size, size))
        # a cube scaled along its axes is a box
        lengths = np.linalg.norm(M[:3, :3], axis=0)
        R = M[:3, :3] / lengths
        if np.abs(R.T @ R - np.eye(3)).max() < 1e-6 and np.linalg.det(R) > 0.0:
            x, y, z = size * lengths
            return placed(Piece(Box((x, y, z)), color=_color(prim)), affine(M[:3, 3], R))
    elif kind == "Sphere":
        own = Sphere(unit * float(UsdGeom.Sphere(prim).GetRadiusAttr().Get()))
    elif kind == "Plane":
        local = affine(R=TURNS[str(UsdGeom.Plane(prim).GetAxisAttr().Get())])
        A = M[:3, :3] @ local[:3, :3]
        return Piece(Plane(), M[:3, 3], matrix_to_quaternion(A / np.linalg.norm(A, axis=0)), color=_color(prim))
    elif kind == "Mesh":
        vertices, faces = _triangles(UsdGeom.Mesh(prim))
        M = M.copy()
        M[:3, :3] *= unit
        return placed(Piece(vertices=vertices, faces=faces, color=_color(prim)), M)
    else:
        api = getattr(UsdGeom, kind)(prim)
        radius, height = unit * float(api.GetRadiusAttr().Get()), unit * float(api.GetHeightAttr().Get())
        local = affine(R=TURNS[str(api.GetAxisAttr().Get())])
        if kind == "Cone":  # drawn along y there
            upright = affine(R=np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
            cone = geometry.cone(radius, height)
            return placed(Piece(vertices=cone.vertices, faces=cone.faces, color=_color(prim)), M @ local @ upright)
        own = Capsule(radius, height) if kind == "Capsule" else Cylinder(radius, height)
    return placed(Piece(own, color=_color(prim)), M @ local)


def _triangles(mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in stage units and triangles (m, 3): fans of the mesh's faces."""
    points, counts, corners = (np.array(attribute.Get() if attribute.HasValue() else ()) for attribute in (
        mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()))
    if points.size == 0 or corners.size == 0 or counts.sum() != corners.size or corners.max() >= len(points):
        raise SceneError("the mesh is not whole", value=(len(points), len(counts), len(corners)),
                         remedy="give points, faceVertexCounts and faceVertexIndices that fit each other")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    faces = np.array([(corners[a], corners[a + k], corners[a + k + 1]) for a, n in zip(first, counts)
                      for k in range(1, n - 1)], dtype=np.int64).reshape(-1, 3)
    left = str(mesh.GetOrientationAttr().Get()) == "leftHanded"
    return points.astype(np.float64), faces[:, ::-1].copy() if left else faces


def _geometries(stage: Stage, prim: Any, piece: Piece, collides: bool, seen: bool, fixed: bool) -> list[Geometry]:
    name = prim.GetName()
    if piece.shape is not None:
        return [Geometry(piece.shape, piece.position, piece.rotation, name=name, collides=collides, visible=seen,
                         color=piece.color)]
    assert piece.vertices is not None and piece.faces is not None
    made = []
    if collides:
        made.append(Geometry(*_approximated(stage, prim, piece, fixed), name=name, visible=False))
    if seen:
        made.append(Geometry(visual_shape(piece.vertices, piece.faces, None, (1.0, 1.0, 1.0)), name=name,
                             collides=False, color=piece.color))
    return made


def _approximated(stage: Stage, prim: Any, piece: Piece, fixed: bool) -> tuple[Shape, np.ndarray, np.ndarray]:
    """The solid that stands for a mesh in contact, with its pose."""
    from pxr import UsdPhysics

    assert piece.vertices is not None and piece.faces is not None
    word, upright = "none", np.array([1.0, 0, 0, 0])
    if prim.HasAPI(UsdPhysics.MeshCollisionAPI):
        word = str(UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get())
    low, high = piece.vertices.min(axis=0), piece.vertices.max(axis=0)
    middle = 0.5 * (low + high)
    if word == "boundingCube":
        x, y, z = np.maximum(high - low, 1e-6)
        return Box((float(x), float(y), float(z))), middle, upright
    if word == "boundingSphere":
        return Sphere(float(np.linalg.norm(piece.vertices - middle, axis=1).max())), middle, upright
    pieces = stage.decompose or word in ("convexDecomposition", "sdf", "meshSimplification") or word == "none" and fixed
    if pieces:
        try:
            return collision_shape(piece.vertices, piece.faces, None, (1.0, 1.0, 1.0), True), np.zeros(3), upright
        except SceneError as error:
            stage.unsupported.add(f"mesh of prim {prim.GetPath()} stands for its convex hull: {error.problem}",
                                  Grade.SLIGHT)
    elif word == "none" and not fixed:
        stage.unsupported.add(f"mesh of prim {prim.GetPath()} stands for its convex hull, as nothing else is said",
                              Grade.SLIGHT)
    return collision_shape(piece.vertices, piece.faces, None, (1.0, 1.0, 1.0), False), np.zeros(3), upright


def _color(prim: Any) -> tuple[float, float, float, float] | None:
    from pxr import UsdGeom, UsdShade

    color = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get() if prim.IsA(UsdGeom.Gprim) else None
    if color:
        return float(color[0][0]), float(color[0][1]), float(color[0][2]), 1.0
    bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    shader = bound.ComputeSurfaceSource()[0] if bound else None
    given = shader.GetInput("diffuseColor").Get() if shader and shader.GetInput("diffuseColor") else None
    return None if given is None else (float(given[0]), float(given[1]), float(given[2]), 1.0)


# ---- materials -------------------------------------------------------------------------------------------------------


def _material(stage: Stage, prim: Any) -> tuple[Material | None, float]:
    """The physics material bound to a collider, and its density (0: none), kg/m^3."""
    from pxr import UsdPhysics, UsdShade

    bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")[0]
    if not bound or not bound.GetPrim().HasAPI(UsdPhysics.MaterialAPI):
        return None, 0.0
    api, name = UsdPhysics.MaterialAPI(bound.GetPrim()), bound.GetPrim().GetName()
    static, dynamic = float(api.GetStaticFrictionAttr().Get()), float(api.GetDynamicFrictionAttr().Get())
    if dynamic > static:
        stage.unsupported.add(f"material {name!r}: static friction {static:g} raised to the dynamic one, {dynamic:g}",
                              Grade.SLIGHT)
    for key in ("frictionCombineMode", "restitutionCombineMode"):
        attribute = bound.GetPrim().GetAttribute(f"physxMaterial:{key}")
        if attribute and attribute.HasAuthoredValue():
            stage.unsupported.add(f"{key} of material {name!r}", Grade.SLIGHT)
    return Material(max(static, dynamic), dynamic, float(api.GetRestitutionAttr().Get()), name=name), (
        float(api.GetDensityAttr().Get()) * stage.kilogram / stage.meter**3)


# ---- masses ----------------------------------------------------------------------------------------------------------


def _weight(stage: Stage, prim: Any, made: list[Geometry], density: float) -> list[Weight]:
    """What a collider adds to its body's mass."""
    from pxr import UsdPhysics

    solid = next((one for one in made if one.collides and not isinstance(one.shape, Plane)), None)
    if solid is None:
        return []
    inertial = mass.shape_inertial(solid.shape, density=1.0)
    inertial = mass.combine([(inertial, solid.position, solid.rotation)])
    own, dense = 0.0, 0.0
    if prim.HasAPI(UsdPhysics.MassAPI):
        api = UsdPhysics.MassAPI(prim)
        own = float(api.GetMassAttr().Get()) * stage.kilogram
        dense = float(api.GetDensityAttr().Get()) * stage.kilogram / stage.meter**3
    return [Weight(inertial, own, dense or -density)]  # negative: the material's, which the body's goes before


def _inertial(stage: Stage, body: RigidPrim, weights: list[Weight], api: Any) -> Inertial | None:
    """The body's mass properties: what its MassAPI says, the rest from its colliders."""
    from pxr import UsdPhysics

    total = dense = 0.0
    center = moments = axes = None
    if body.prim.HasAPI(UsdPhysics.MassAPI):
        total = float(api.GetMassAttr().Get()) * stage.kilogram
        dense = float(api.GetDensityAttr().Get()) * stage.kilogram / stage.meter**3
        place, diagonal = np.array(api.GetCenterOfMassAttr().Get()), np.array(api.GetDiagonalInertiaAttr().Get())
        center = place * stage.meter * body.scale if np.isfinite(place).all() else None
        moments = diagonal * stage.kilogram * stage.meter**2 if (diagonal != 0.0).any() else None
        axes = api.GetPrincipalAxesAttr().Get()
    shaped = _of_colliders(weights, dense)
    if total == 0.0 and shaped is None:
        if not body.kinematic:
            stage.unsupported.add(f"body {body.name!r} has neither a mass nor colliders: it is without mass")
        return None
    total = total or (shaped.mass if shaped is not None else 0.0)
    label = f"prim {body.path!r}"
    if shaped is not None:
        grown = total / shaped.mass
        matrix, where = shaped.matrix * grown, shaped.center
    else:
        matrix, where = np.zeros((3, 3)), np.zeros(3)
        if moments is None:
            stage.unsupported.add(f"body {body.name!r} has no inertia and no colliders to find one from")
    if moments is not None:
        turn = np.array([1.0, 0, 0, 0])
        if axes is not None and (axes.GetReal() or any(axes.GetImaginary())):
            turn = np.array([axes.GetReal(), *axes.GetImaginary()], dtype=np.float64)
            turn /= np.linalg.norm(turn)
        R = quaternion_to_matrix(turn)
        matrix = R @ np.diag(moments) @ R.T
    if stage.repair_inertia:
        matrix = repaired(matrix, label, stage.unsupported)
    return Inertial(total, where if center is None else center, matrix, element=label)


def _of_colliders(weights: list[Weight], dense: float) -> Inertial | None:
    parts = []
    for weight in weights:
        density = weight.density if weight.density > 0.0 else dense or -weight.density or WATER
        share = weight.mass or density * weight.inertial.mass
        factor = share / weight.inertial.mass
        solid = Inertial(share, weight.inertial.center, weight.inertial.matrix * factor)
        parts.append((solid, (0, 0, 0), (1, 0, 0, 0)))
    return mass.combine(parts) if parts else None


# ---- what may touch --------------------------------------------------------------------------------------------------


class _Groups:
    """Collision groups as bits. Bit 0 is everything that is in no group."""

    def __init__(self, stage: Stage) -> None:
        from pxr import UsdPhysics

        self.stage = stage
        self.groups = [UsdPhysics.CollisionGroup(prim) for prim in stage.prims() if prim.IsA(UsdPhysics.CollisionGroup)]
        if len(self.groups) > MOST_GROUPS:
            stage.unsupported.add(f"collision groups beyond the first {MOST_GROUPS}")
            self.groups = self.groups[:MOST_GROUPS]
        self.members = [group.GetCollidersCollectionAPI().ComputeMembershipQuery() for group in self.groups]
        self.table: Any = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage.stage) if self.groups else None

    def bits(self, prim: Any) -> tuple[int, int]:
        """Category and mask of a collider."""
        mine = [i for i, query in enumerate(self.members) if query.IsPathIncluded(prim.GetPath())]
        if not mine:
            return 1, 0xFFFF
        if len(mine) > 1:
            self.stage.unsupported.add(f"prim {prim.GetPath()} is in {len(mine)} collision groups: the first counts")
        own, mask = self.groups[mine[0]].GetPath(), 1
        for i, other in enumerate(self.groups):
            if self.table.IsCollisionEnabled(own, other.GetPath()):
                mask |= 2 << i
        return 2 << mine[0], mask


def filtered_pairs(stage: Stage) -> list[tuple[str, str]]:
    """Pairs of bodies that FilteredPairsAPI keeps apart."""
    from pxr import UsdPhysics

    pairs: set[tuple[str, str]] = set()
    for prim in stage.prims():
        if not prim.HasAPI(UsdPhysics.FilteredPairsAPI):
            continue
        for target in UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets():
            other = stage.stage.GetPrimAtPath(target)
            if not other:
                stage.unsupported.add(f"filtered pair of prim {prim.GetPath()}: there is no {target}")
                continue
            pairs |= {(min(a, b), max(a, b)) for a in _under(stage, prim) for b in _under(stage, other) if a != b}
    return sorted(pairs)


def _under(stage: Stage, prim: Any) -> list[str]:
    """The body a prim is a part of, or those below it."""
    body = stage.body_of(prim)
    path = str(prim.GetPath())
    return [body.name] if body is not None else [
        other.name for place, other in stage.bodies.items() if place.startswith(f"{path}/")]
