"""Joints, drives and the tree of a USD stage. See read.py for the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Body, Joint, Loop, Mimic
from sesshoku.scene.elements.actuators import Actuator
from sesshoku.scene.io.spec import Names
from sesshoku.scene.io.unsupported import Grade
from sesshoku.scene.io.usd.read import RigidPrim, Stage, reading
from sesshoku.scene.io.usd.shapes import Parts
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix, rotation_vector

AXES = {"X": np.array([1.0, 0, 0]), "Y": np.array([0, 1.0, 0]), "Z": np.array([0, 0, 1.0])}
LOOPS = {"fixed": "weld", "spherical": "ball", "revolute": "hinge", "continuous": "hinge"}
DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
DRAWN = 1e-4  # m and rad by which a drawing may miss its joint in silence


@dataclass
class Edge:
    """A joint of the stage: its kind here, its two bodies (None: the world), its frame in each of them (4, 4)."""

    name: str
    prim: Any
    kind: str
    bodies: tuple[RigidPrim | None, RigidPrim | None]
    frames: tuple[np.ndarray, np.ndarray]
    axis: np.ndarray
    lower: float = -np.inf
    upper: float = np.inf
    excluded: bool = False
    neighbours_touch: bool = False

    @property
    def turns(self) -> bool:
        return self.kind in ("revolute", "continuous")

    @property
    def label(self) -> str:
        return f"joint {str(self.prim.GetPath())!r}"


def read_joints(stage: Stage) -> list[Edge]:
    """Every joint that is enabled and that sesshoku knows."""
    from pxr import UsdPhysics

    names, found = Names(), []
    for prim in stage.prims():
        if not prim.IsA(UsdPhysics.Joint) or not UsdPhysics.Joint(prim).GetJointEnabledAttr().Get():
            continue
        with reading(prim, "joint"):
            edge = _edge(stage, prim, names.fresh(prim.GetName()))
            if edge is not None:
                found.append(edge)
    return found


def _edge(stage: Stage, prim: Any, name: str) -> Edge | None:
    from pxr import UsdPhysics

    joint = UsdPhysics.Joint(prim)
    ends = [_end(stage, joint, k) for k in (0, 1)]
    if ends[0][0] is None and ends[1][0] is None:
        stage.unsupported.add(f"joint {name!r} joins no rigid body")
        return None
    if ends[0][0] is ends[1][0]:
        stage.unsupported.add(f"joint {name!r} joins a body to itself")
        return None
    kind, axis, low, high = _kind(stage, prim, name)
    if kind is None:
        return None
    for attribute, what in ((joint.GetBreakForceAttr(), "breakForce"), (joint.GetBreakTorqueAttr(), "breakTorque")):
        if attribute.HasAuthoredValue() and np.isfinite(attribute.Get()) and attribute.Get() < 1e30:
            stage.unsupported.add(f"{what} of joint {name!r}", Grade.SLIGHT)
    return Edge(name, prim, kind, (ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]), axis, low, high,
                bool(joint.GetExcludeFromArticulationAttr().Get()), bool(joint.GetCollisionEnabledAttr().Get()))


def _end(stage: Stage, joint: Any, k: int) -> tuple[RigidPrim | None, np.ndarray]:
    """A joint's body and the joint's frame in it; the world's frame where there is none."""
    targets = (joint.GetBody0Rel() if k == 0 else joint.GetBody1Rel()).GetTargets()
    place = np.array((joint.GetLocalPos0Attr() if k == 0 else joint.GetLocalPos1Attr()).Get(), dtype=np.float64)
    turn = (joint.GetLocalRot0Attr() if k == 0 else joint.GetLocalRot1Attr()).Get()
    quaternion = np.array([turn.GetReal(), *turn.GetImaginary()], dtype=np.float64)
    length = float(np.linalg.norm(quaternion))
    if not 1e-6 < length < np.inf or not np.isfinite(place).all():
        raise SceneError(f"localPos{k} and localRot{k} give no frame", value=(place.tolist(), quaternion.tolist()),
                         remedy="give a finite position and a unit quaternion")
    local = np.eye(4)
    local[:3, :3] = quaternion_to_matrix(quaternion / length)
    if len(targets) > 1:
        raise SceneError(f"body{k} names several prims", value=[str(target) for target in targets], remedy="name one")
    prim = stage.stage.GetPrimAtPath(targets[0]) if targets else stage.stage.GetPseudoRoot()
    if not prim:
        raise SceneError(f"body{k} is not there", value=str(targets[0]), remedy="correct the path")
    M = stage.world(prim)
    body = stage.body_of(prim)
    inside = M if body is None else np.linalg.inv(body.frame) @ M
    local[:3, 3] = inside[:3, :3] @ (place * stage.meter) + inside[:3, 3]
    A = inside[:3, :3] / np.linalg.norm(inside[:3, :3], axis=0)
    local[:3, :3] = quaternion_to_matrix(matrix_to_quaternion(A)) @ local[:3, :3]
    return body, local


def _kind(stage: Stage, prim: Any, name: str) -> tuple[str | None, np.ndarray, float, float]:
    from pxr import UsdPhysics

    none = AXES["X"], -np.inf, np.inf
    if prim.IsA(UsdPhysics.FixedJoint):
        return "fixed", *none
    if prim.IsA(UsdPhysics.SphericalJoint):
        api = UsdPhysics.SphericalJoint(prim)
        cone = (api.GetConeAngle0LimitAttr().Get(), api.GetConeAngle1LimitAttr().Get())
        if any(float(angle) >= 0.0 for angle in cone):
            stage.unsupported.add(f"cone of spherical joint {name!r}")
        return "spherical", *none
    if prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.PrismaticJoint):
        turns = prim.IsA(UsdPhysics.RevoluteJoint)
        api = (UsdPhysics.RevoluteJoint if turns else UsdPhysics.PrismaticJoint)(prim)
        unit = np.pi / 180 if turns else stage.meter
        low, high = (float(attribute.Get()) * unit for attribute in (api.GetLowerLimitAttr(), api.GetUpperLimitAttr()))
        limited = np.isfinite(low) or np.isfinite(high)
        kind = ("revolute" if limited else "continuous") if turns else "prismatic"
        return kind, AXES[str(api.GetAxisAttr().Get())], low, high
    if prim.IsA(UsdPhysics.DistanceJoint) or str(prim.GetTypeName()) != "PhysicsJoint":
        stage.unsupported.add(f"joint {name!r} of type {prim.GetTypeName()}")
        return None, *none
    return _generic(stage, prim, name)


def _generic(stage: Stage, prim: Any, name: str) -> tuple[str | None, np.ndarray, float, float]:
    """A joint that its limits describe: an axis whose lower limit is above the upper one is locked."""
    from pxr import UsdPhysics

    free: dict[str, tuple[float, float]] = {}
    for dof in DOFS:
        low, high = -np.inf, np.inf
        if prim.HasAPI(UsdPhysics.LimitAPI, dof):
            api = UsdPhysics.LimitAPI(prim, dof)
            low, high = float(api.GetLowAttr().Get()), float(api.GetHighAttr().Get())
        if low <= high:
            free[dof] = low, high
    none = AXES["X"], -np.inf, np.inf
    if not free:
        return "fixed", *none
    if set(free) == {"rotX", "rotY", "rotZ"}:
        if any(np.isfinite(end) for ends in free.values() for end in ends):
            stage.unsupported.add(f"limits of spherical joint {name!r}")
        return "spherical", *none
    if len(free) == 1:
        dof, (low, high) = next(iter(free.items()))
        turns = dof.startswith("rot")
        unit = np.pi / 180 if turns else stage.meter
        kind = "prismatic" if not turns else "revolute" if np.isfinite(low) or np.isfinite(high) else "continuous"
        return kind, AXES[dof[-1]], low * unit, high * unit
    stage.unsupported.add(f"joint {name!r} is free along {', '.join(free)}: it joins nothing here")
    return None, *none


# ---- the tree --------------------------------------------------------------------------------------------------------


class Tree:
    """Which joint each body hangs on; the joints left over close loops."""

    def __init__(self, stage: Stage, edges: list[Edge]) -> None:
        self.stage, self.edges = stage, edges
        self.above: dict[str, tuple[Edge, int]] = {}  # body name -> its joint and its side of it
        self.order: list[RigidPrim] = []
        self._span()

    def _span(self) -> None:
        from pxr import UsdPhysics

        bodies = list(self.stage.bodies.values())
        usable = [edge for edge in self.edges if not edge.excluded]
        seconds = {edge.bodies[1].name for edge in usable if edge.bodies[1] is not None and edge.bodies[0] is not None}
        roots = [body for body in bodies if body.prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
        roots += [body for body in bodies if body.name not in seconds]
        seen: set[str] = set()
        self._grow([None], usable, seen)
        for root in roots + bodies:
            if root.name not in seen:
                seen.add(root.name)
                self.order.append(root)
                self._grow([root], usable, seen)

    def _grow(self, level: list[RigidPrim | None], usable: list[Edge], seen: set[str]) -> None:
        """Breadth first along the joints."""
        while level:
            following: list[RigidPrim | None] = []
            for parent in level:
                for edge in usable:
                    for side in (0, 1):
                        child = edge.bodies[side]
                        if edge.bodies[1 - side] is parent and child is not None and child.name not in seen:
                            seen.add(child.name)
                            self.above[child.name] = edge, side
                            self.order.append(child)
                            following.append(child)
            level = following

    def bodies(self, parts: Parts) -> list[Body]:
        """Parents first."""
        made = []
        for body in self.order:
            with reading(body.prim):
                made.append(self._body(body, parts))
        return made

    def _body(self, body: RigidPrim, parts: Parts) -> Body:
        from pxr import UsdPhysics

        inertial, geometries = parts.inertials.get(body.name), parts.geometries[body.name]
        if body.name not in self.above:
            api, turned = UsdPhysics.RigidBodyAPI(body.prim), matrix_to_quaternion(body.frame[:3, :3])
            if body.kinematic:
                return Body(body.name, None, Joint(name=f"{body.name}_script"), body.frame[:3, 3], turned, inertial,
                            geometries, kinematic=True)
            R = self.stage._up[:3, :3]
            speed = R @ np.array(api.GetVelocityAttr().Get(), dtype=np.float64) * self.stage.meter
            spin = R @ np.deg2rad(np.array(api.GetAngularVelocityAttr().Get(), dtype=np.float64))
            return Body(body.name, None, Joint("free", name=f"{body.name}_free"), body.frame[:3, 3], turned, inertial,
                        geometries, speed, spin)
        if body.kinematic:
            self.stage.unsupported.add(f"body {body.name!r} is kinematic, and moves by its joint here")
        edge, side = self.above[body.name]
        parent = edge.bodies[1 - side]
        own, other = edge.frames[side], edge.frames[1 - side]
        pose = other @ np.linalg.inv(own)  # at zero joint position
        joint = self._joint(edge, side, body, parent)
        return Body(body.name, None if parent is None else parent.name, joint, pose[:3, 3],
                    matrix_to_quaternion(pose[:3, :3]), inertial, geometries)

    def _joint(self, edge: Edge, side: int, body: RigidPrim, parent: RigidPrim | None) -> Joint:
        """The joint seen from the body that hangs on it; turned round where that is the file's first body."""
        own = edge.frames[side]
        sign = 1.0 if side == 1 else -1.0
        above = np.eye(4) if parent is None else parent.frame
        drawn = np.linalg.inv(above @ edge.frames[1 - side]) @ body.frame @ own  # the joint's own motion, as drawn
        values: dict[str, Any] = {}
        if edge.kind != "fixed":
            values = {"anchor": own[:3, 3], "axis": sign * (own[:3, :3] @ edge.axis)}
        start = self._start(edge, sign, drawn, own)
        if start is not None:
            values["position"] = start
        if edge.kind in ("revolute", "prismatic"):
            values |= {"lower": edge.lower, "upper": edge.upper}
        values |= self._physx(edge)
        return Joint(edge.kind, name=edge.name, **values)  # type: ignore[arg-type]

    def _start(self, edge: Edge, sign: float, drawn: np.ndarray, own: np.ndarray) -> Any:
        """Where the joint stands in the drawing; a drawing that the joint does not allow is listed."""
        axis, shift, turn = sign * edge.axis, drawn[:3, 3], rotation_vector(drawn[:3, :3])
        position, off = None, 0.0
        if edge.turns:
            position = float(turn @ axis)
            off = max(float(np.linalg.norm(shift)), float(np.linalg.norm(turn - position * axis)))
        elif edge.kind == "prismatic":
            position = float(shift @ axis)
            off = max(float(np.linalg.norm(turn)), float(np.linalg.norm(shift - position * axis)))
        elif edge.kind == "spherical":
            off = float(np.linalg.norm(shift))
            R = own[:3, :3]
            return None if np.linalg.norm(turn) < DRAWN else matrix_to_quaternion(R @ drawn[:3, :3] @ R.T)
        else:
            off = max(float(np.linalg.norm(shift)), float(np.linalg.norm(turn)))
        if off > DRAWN:
            self.stage.unsupported.add(f"joint {edge.name!r}: its bodies are drawn {off:.2g} (m or rad) off, and start "
                                       "joined", Grade.SLIGHT)
        for word in ("angular", "linear"):
            state = edge.prim.GetAttribute(f"state:{word}:physics:position")
            if state and state.HasAuthoredValue() and position is not None:
                position = float(state.Get()) * (np.pi / 180 if word == "angular" else self.stage.meter)
        if position is None or abs(position) < 1e-9:
            return None
        return min(max(position, edge.lower), edge.upper) if edge.lower <= edge.upper else position

    def _physx(self, edge: Edge) -> dict[str, Any]:
        """What PhysX adds to a joint."""
        found: dict[str, Any] = {}
        unit = np.pi / 180 if edge.turns else self.stage.meter
        inertia = self.stage.kilogram * (self.stage.meter**2 if edge.turns else 1.0)
        for key, name, factor in (("armature", "armature", inertia), ("maxJointVelocity", "velocity_limit", unit)):
            attribute = edge.prim.GetAttribute(f"physxJoint:{key}")
            if attribute and attribute.HasAuthoredValue() and edge.kind in ("revolute", "continuous", "prismatic"):
                found[name] = float(attribute.Get()) * factor
        friction = edge.prim.GetAttribute("physxJoint:jointFriction")
        if friction and friction.HasAuthoredValue() and friction.Get():
            self.stage.unsupported.add(f"jointFriction of joint {edge.name!r}: a coefficient, where a torque is needed",
                                       Grade.SLIGHT, "set static_friction of scene.joint(...)")
        return found

    # ---- companions --------------------------------------------------------------------------------------------------

    def _in_tree(self, edge: Edge) -> bool:
        return any(used is edge for used, _ in self.above.values())

    def loops(self) -> list[Loop]:
        """Joints that close circles."""
        made = []
        for edge in self.edges:
            if self._in_tree(edge):
                continue
            if edge.kind not in LOOPS:
                self.stage.unsupported.add(f"{edge.kind} joint {edge.name!r} closes a loop")
                continue
            (a, b), (frame_a, frame_b) = edge.bodies, edge.frames
            if a is None:
                (a, b), (frame_a, frame_b) = (b, a), (frame_b, frame_a)
            assert a is not None
            if np.isfinite(edge.lower) or np.isfinite(edge.upper):
                self.stage.unsupported.add(f"limits of joint {edge.name!r}, which closes a loop")
            turned = matrix_to_quaternion(frame_b[:3, :3] @ frame_a[:3, :3].T)  # the axes of body a seen from body b
            made.append(Loop(edge.name, LOOPS[edge.kind], a.name, None if b is None else b.name,  # type: ignore[arg-type]
                             frame_a[:3, 3], frame_a[:3, :3] @ edge.axis, frame_b[:3, 3],
                             None if edge.kind == "spherical" else turned))
        return made

    def actuators(self) -> list[Actuator]:
        """Drives of joints of one axis."""
        from pxr import UsdPhysics

        made = []
        for edge in self.edges:
            for word in ("angular", "linear", *DOFS):
                if not edge.prim.HasAPI(UsdPhysics.DriveAPI, word):
                    continue
                fits = word in ("angular", "rotX", "rotY", "rotZ") if edge.turns else (
                    word in ("linear", "transX", "transY", "transZ"))
                if edge.kind not in ("revolute", "continuous", "prismatic") or not fits or not self._in_tree(edge):
                    self.stage.unsupported.add(f"{word} drive of {edge.kind} joint {edge.name!r}")
                    continue
                made.append(self._actuator(edge, UsdPhysics.DriveAPI(edge.prim, word)))
        return made

    def _actuator(self, edge: Edge, drive: Any) -> Actuator:
        unit = np.pi / 180 if edge.turns else self.stage.meter
        force = self.stage.kilogram * self.stage.meter * (self.stage.meter if edge.turns else 1.0)
        kp, kd = (float(value.Get()) * force / unit for value in (drive.GetStiffnessAttr(), drive.GetDampingAttr()))
        position, velocity = (float(value.Get() or 0.0) * unit for value in (
            drive.GetTargetPositionAttr(), drive.GetTargetVelocityAttr()))
        most = float(drive.GetMaxForceAttr().Get())
        if str(drive.GetTypeAttr().Get()) == "acceleration":
            self.stage.unsupported.add(f"drive of joint {edge.name!r} is of acceleration, and of force here")
        effort = most * force if np.isfinite(most) and most < 1e30 else np.inf
        if kp == 0.0 and kd == 0.0:
            return Actuator(edge.name, edge.name, "torque", effort=effort)
        return Actuator(edge.name, edge.name, "position" if kp > 0.0 else "velocity", kp=kp, kd=kd, effort=effort,
                        target=position if kp > 0.0 else 0.0, target_velocity=velocity)

    def mimics(self) -> list[Mimic]:
        """PhysX: q + gearing q_reference + offset = 0, the offset in the unit of the joint."""
        made, by_path = [], {str(edge.prim.GetPath()): edge for edge in self.edges}
        for edge in self.edges:
            for dof in ("rotX", "rotY", "rotZ"):
                gearing = edge.prim.GetAttribute(f"physxMimicJoint:{dof}:gearing")
                if not gearing or not gearing.HasAuthoredValue():
                    continue
                targets = edge.prim.GetRelationship(f"physxMimicJoint:{dof}:referenceJoint").GetTargets()
                source = by_path.get(str(targets[0])) if targets else None
                if source is None or not (self._in_tree(edge) and self._in_tree(source)):
                    self.stage.unsupported.add(f"mimic of joint {edge.name!r}")
                    continue
                offset = edge.prim.GetAttribute(f"physxMimicJoint:{dof}:offset")
                shift = float(offset.Get()) if offset and offset.HasAuthoredValue() else 0.0
                made.append(Mimic(edge.name, source.name, -float(gearing.Get()),
                                  -shift * (np.pi / 180 if edge.turns else self.stage.meter)))
        return made

    def touching_neighbours(self) -> list[tuple[str, str]]:
        """Pairs whose joint lets them touch."""
        return [(a.name, b.name) for edge in self.edges if edge.neighbours_touch
                for a, b in [edge.bodies] if a is not None and b is not None]
