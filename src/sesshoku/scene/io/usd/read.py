"""USD stages with UsdPhysics (`.usd`, `.usda`, `.usdc`, `.usdz`) to `RobotDescription`, through usd-core (extra `usd`).

How they map:
- A prim with RigidBodyAPI is a body, in metres and kilograms (`metersPerUnit`, `kilogramsPerUnit`) and with z up
  (`upAxis`). Scales of transforms go into shapes and local positions.
- Joints make a tree: from the world, then from articulation roots, then from bodies that are nobody's second body.
  Joints excluded from the articulation, and those that would close a circle, are loops. Bodies start as they are drawn.
- Limits are degrees there, radians here. Drives are servos: with stiffness of position, with damping alone of velocity,
  with neither a motor. `physxJoint:armature` and `maxJointVelocity` are read, mimic joints too.
- Mass: of the body, or of its colliders by their own mass, their density or 1000 kg/m^3; inertia and centre likewise.
- Colliders: cubes, spheres, capsules, cylinders and planes as such; cones and meshes as convex hulls, as convex pieces
  where the file asks for decomposition, as boxes and balls where it asks for those. Colliders without a body are
  fixed to the world.
- Physics materials keep static and dynamic friction apart, and restitution. (How two materials combine is sesshoku's
  rule, not the file's.) Filtered pairs and collision groups are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import Body, Joint, RobotDescription
from sesshoku.scene.io.files import MOST_MESH_BYTES, check_file
from sesshoku.scene.io.spec import Names, Unsupported, within

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
EARTH = 9.81  # m/s^2, what a stage without a magnitude means
REMEDY = "pip install 'sesshoku[usd]'"


@dataclass
class Stage:
    """A USD stage with what every part of the reader needs. Matrices (4, 4) act on columns."""

    stage: Any
    unsupported: Unsupported
    decompose: bool = False
    repair_inertia: bool = False
    meter: float = 1.0
    kilogram: float = 1.0
    bodies: dict[str, RigidPrim] = field(default_factory=dict)  # by path
    _up: np.ndarray = field(default_factory=lambda: np.eye(4))
    _cache: Any = None

    def __post_init__(self) -> None:
        from pxr import UsdGeom, UsdPhysics

        self.meter = float(UsdGeom.GetStageMetersPerUnit(self.stage))
        self.kilogram = float(UsdPhysics.GetStageKilogramsPerUnit(self.stage))
        for value, what in ((self.meter, "metersPerUnit"), (self.kilogram, "kilogramsPerUnit")):
            check.number(value, what, "stage", above=0.0)
        if UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.y:
            self._up = Y_UP
        self._cache = UsdGeom.XformCache()

    def world(self, prim: Any) -> np.ndarray:
        """The prim's affine map to the world, in metres, z up."""
        M = self._up @ np.array(self._cache.GetLocalToWorldTransform(prim), dtype=np.float64).T
        M[:3, 3] *= self.meter
        return M

    def prims(self) -> Any:
        from pxr import Usd

        return Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))

    def body_of(self, prim: Any) -> RigidPrim | None:
        """The rigid body a prim is, or is a part of."""
        at = prim
        while at and not at.IsPseudoRoot():
            found = self.bodies.get(str(at.GetPath()))
            if found is not None:
                return found
            at = at.GetParent()
        return None


@dataclass
class RigidPrim:
    """A rigid body of the stage: its name here, its rigid frame in the world (4, 4), the scale taken out of it (3)."""

    name: str
    prim: Any
    frame: np.ndarray
    scale: np.ndarray
    kinematic: bool = False

    @property
    def path(self) -> str:
        return str(self.prim.GetPath())


def load_usd(path: str | Path, *, decompose: bool = False, repair_inertia: bool = False) -> RobotDescription:
    """Read a USD stage. See `spec.load_robot` for the arguments and the module's text for what becomes of what."""
    path = Path(path)
    with in_file(path):
        from sesshoku.scene.io.usd import joints as usd_joints
        from sesshoku.scene.io.usd import shapes as usd_shapes

        stage = _open(path, decompose, repair_inertia)
        root = stage.stage.GetDefaultPrim()
        name = root.GetName() if root else path.stem
        description = RobotDescription(check.name(name, "name of the robot", "stage"))
        _read_scene(stage, description)
        _find_bodies(stage)
        parts = usd_shapes.read_shapes(stage)
        if not stage.bodies and not parts.fixed:
            raise SceneError("the stage holds no rigid body and no collider", element="stage",
                             remedy="apply UsdPhysics' RigidBodyAPI and CollisionAPI, or load its URDF or MJCF")
        joints = usd_joints.read_joints(stage)
        if parts.fixed:
            held = {body.name for body in stage.bodies.values()}
            ground = Names(held).fresh("world")
            description.bodies.append(Body(ground, geometries=parts.fixed, joint=Joint(name=ground)))
        tree = usd_joints.Tree(stage, joints)
        description.bodies += tree.bodies(parts)
        description.loops, description.mimics = tree.loops(), tree.mimics()
        description.actuators = tree.actuators()
        description.forced_pairs = tree.touching_neighbours()
        description.excluded_pairs = usd_shapes.filtered_pairs(stage)
        description.unsupported = stage.unsupported.listed()
        return description


@contextmanager
def reading(prim: Any, what: str = "prim") -> Iterator[None]:
    """Name the prim in every SceneError raised inside; a value of a type that its schema does not have is one."""
    with within(f"{what} {str(prim.GetPath())!r}"):
        try:
            yield
        except (TypeError, KeyError, AttributeError, IndexError) as error:
            raise SceneError(f"an attribute has a value of the wrong type: {type(error).__name__}: {error}",
                             remedy="give its attributes the types of their schema") from error


def _open(path: Path, decompose: bool, repair_inertia: bool) -> Stage:
    try:
        from pxr import Tf, Usd
    except ImportError as error:
        raise SceneError(f"reading USD needs the package usd-core: {error}", remedy=REMEDY) from None
    check_file(path, MOST_MESH_BYTES)
    try:
        opened = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        said = " ".join(str(error).split())
        place = re.search(r":(\d+:\d+: .*?)(?: in <|'|$)", said)  # line, column and what is wrong there
        raise SceneError(f"USD cannot open the file: {place.group(1) if place else said[:400]}",
                         remedy="correct the file at that place") from None
    stage = Stage(opened, Unsupported(), decompose, repair_inertia)
    for problem in opened.GetCompositionErrors() if hasattr(opened, "GetCompositionErrors") else ():
        stage.unsupported.add(f"what the stage refers to is missing: {' '.join(str(problem).split())[:200]}")
    return stage


def _read_scene(stage: Stage, description: RobotDescription) -> None:
    """Gravity of the first physics scene."""
    from pxr import UsdPhysics

    scenes = [UsdPhysics.Scene(prim) for prim in stage.prims() if prim.IsA(UsdPhysics.Scene)]
    if not scenes:
        return
    for other in scenes[1:]:
        stage.unsupported.add(f"physics scene {other.GetPath().name!r}: the first one counts")
    direction = np.array(scenes[0].GetGravityDirectionAttr().Get(), dtype=np.float64)
    size = float(scenes[0].GetGravityMagnitudeAttr().Get())
    length = float(np.linalg.norm(direction))
    down = np.array([0.0, 0.0, -1.0]) if length == 0.0 else stage._up[:3, :3] @ direction / length
    description.gravity = down * (EARTH if size < 0.0 else size * stage.meter)
    description.gravity_stated = size >= 0.0


def _find_bodies(stage: Stage) -> None:
    from pxr import UsdPhysics

    names = Names()
    for prim in stage.prims():
        if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
            continue
        api = UsdPhysics.RigidBodyAPI(prim)
        if not api.GetRigidBodyEnabledAttr().Get():
            continue
        with reading(prim):
            frame, scale = rigid(stage.world(prim))
            stage.bodies[str(prim.GetPath())] = RigidPrim(names.fresh(prim.GetName()), prim, frame, scale,
                                                          bool(api.GetKinematicEnabledAttr().Get()))


def rigid(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rigid part of an affine map (4, 4), and the lengths of its axes (3). A mirror has no rigid part."""
    scale = np.linalg.norm(M[:3, :3], axis=0)
    if not np.isfinite(M).all() or (scale < 1e-12).any():
        raise SceneError("the transform has no extent along an axis", value=M[:3, :3].tolist(),
                         remedy="give it a scale")
    R = M[:3, :3] / scale
    if np.linalg.det(R) < 0.0:
        raise SceneError("the transform of a body is a mirror", value=scale.tolist(),
                         remedy="mirror its meshes instead, and give a positive scale")
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-4:
        raise SceneError("the transform of a body is sheared", value=R.tolist(), remedy="scale its meshes instead")
    U, _, V = np.linalg.svd(R)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = U @ V, M[:3, 3]
    return frame, scale
