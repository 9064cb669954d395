"""Scene -> `CompiledScene`: the frozen model, the names, and the start state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import (
    BALL,
    FREE,
    HINGE,
    KINEMATIC,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    WELD,
    Model,
)
from sesshoku.scene.compiler.actuator_arrays import actuator_arrays, lift_array
from sesshoku.scene.compiler.bounds import bound_arrays
from sesshoku.scene.compiler.drag_arrays import drag_arrays
from sesshoku.scene.compiler.group_arrays import group_arrays, joined_trees
from sesshoku.scene.compiler.inertias import inertia_arrays
from sesshoku.scene.compiler.shape_arrays import shape_arrays
from sesshoku.scene.compiler.tendon_arrays import tendon_arrays
from sesshoku.scene.elements import JOINT_SIZES, Body, Inertial, Material
from sesshoku.scene.filters import filter_arrays
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.polyhedra import polyhedron_arrays
from sesshoku.scene.motion import motion_pose
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import IDENTITY, Pose, compose, inverse, stack
from sesshoku.spatial.rotation import frame_with_z, matrix_to_quaternion, quaternion_to_matrix

JOINT_TYPES = {"free": FREE, "revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC,
               "spherical": SPHERICAL, "planar": PLANAR}

@dataclass
class Link:
    """A link being put together: the body that owns its joint, and the bodies fixed to that one."""

    owner: Body
    parent: Link | None
    root: Link | None = None
    bodies: list[tuple[Body, Pose]] = field(default_factory=list)  # with their poses in the owner's body frame
    frame: Pose = IDENTITY  # link frame in the owner's body frame
    inertial: Inertial = field(default_factory=lambda: Inertial(0.0))  # in the owner's body frame
    index: int = -1

    @property
    def joint_type(self) -> int:
        return KINEMATIC if self.owner.kinematic else JOINT_TYPES[self.owner.joint.kind]

    @property
    def sizes(self) -> tuple[int, int]:
        return (0, 0) if self.owner.kinematic else JOINT_SIZES[self.owner.joint.kind]


@dataclass
class CompiledScene:
    """A model with the names of its parts and the state it starts from."""

    scene: Scene
    model: Model
    frame_names: list[str]
    joint_names: list[str]  # one per link; kinematic links carry the body's name
    link_names: list[str]
    actuator_names: list[str]
    loop_names: list[str]
    frame_index: dict[str, int]
    joint_link: dict[str, int]
    actuator_index: dict[str, int]
    q: np.ndarray
    v: np.ndarray
    kinematic_pose: np.ndarray  # (L, 7) position and quaternion of kinematic links
    kinematic_velocity: np.ndarray  # (L, 6)
    actuator_command: np.ndarray  # (A, 3) target, target velocity, feed-forward
    pair_materials: list[Material | None]  # of the rows of the model's table of pairs
    activation: np.ndarray  # (A)
    varied: tuple[str, ...] = ()  # arrays of the model that are not as the scene says

    def with_arrays(self, arrays: Mapping[str, np.ndarray]) -> CompiledScene:
        """The same scene with some arrays of its model replaced; the others are shared."""
        if not arrays:
            return self
        values = {name: getattr(self.model, name) for name in self.model.fields} | dict(arrays)
        return replace(self, model=Model(**values), varied=tuple(arrays))


def compile_scene(scene: Scene) -> CompiledScene:
    """Flatten a scene. Raises SceneError for what cannot be simulated (a massless moving body, ...)."""
    recheck(scene)
    links, placed = _make_links(scene)
    links = _order_links(links)
    arrays: dict[str, Any] = {"gravity": scene.gravity}
    arrays |= _link_arrays(links, placed)
    arrays |= _dof_arrays(links, arrays)
    frames = [(body, *placed[body.name]) for body in scene.bodies.values()]
    in_link = [(link, IDENTITY if link is None else inverse(link.frame)) for _, link, _ in frames]
    poses = [compose(link_from_owner, pose) for (_, _, pose), (_, link_from_owner) in zip(frames, in_link, strict=True)]
    arrays |= {
        "frame_count": len(frames), "frame_link": [-1 if link is None else link.index for _, link, _ in frames],
        "frame_position": stack([pose[0] for pose in poses], 3),
        "frame_rotation": stack([pose[1] for pose in poses], 3, 3),
    }
    frame_index = {body.name: i for i, (body, _, _) in enumerate(frames)}
    joint_link = {link.owner.joint.name or "": link.index for link in links if not link.owner.kinematic}
    arrays |= drag_arrays(scene.medium, links, frame_index)
    arrays |= tendon_arrays(scene, arrays, joint_link, frame_index)
    arrays |= actuator_arrays(scene, arrays, joint_link, frame_index)
    q, v, kinematic_pose, kinematic_velocity = _start_state(links, arrays)
    arrays |= inertia_arrays(arrays, link_poses(arrays, q, kinematic_pose))
    arrays |= _loop_arrays(scene, frame_index, arrays, links, q, kinematic_pose)
    arrays |= _mimic_arrays(scene, arrays, joint_link)
    arrays |= group_arrays(arrays)
    arrays |= {"tree_joined": joined_trees(arrays)}
    shapes = shape_arrays(scene, frame_index, arrays)
    arrays |= shapes | bound_arrays(shapes) | polyhedron_arrays(shapes) | filter_arrays(scene, frame_index, shapes)
    del arrays["shape_geometry"]
    pair_materials = arrays.pop("pair_materials")
    loop_names = list(scene.loops)
    loop_names = [loop_names[i] for i in arrays.pop("loop_order")]
    command = np.array([[a.target, a.target_velocity, a.feed_forward] for a in scene.actuators.values()]).reshape(-1, 3)
    return CompiledScene(
        scene, Model(**arrays), list(scene.bodies), [link.owner.joint.name or link.owner.name for link in links],
        [link.owner.name for link in links], list(scene.actuators), loop_names, frame_index, joint_link,
        {name: i for i, name in enumerate(scene.actuators)}, q, v, kinematic_pose, kinematic_velocity, command,
        pair_materials, np.array([a.activation for a in scene.actuators.values()]))


# ---- links --------------------------------------------------------------------------------------------------------


def _make_links(scene: Scene) -> tuple[list[Link], dict[str, tuple[Link | None, Pose]]]:
    """Group the bodies into links; for each body its link (None: world) and its pose in the owner's body frame."""
    links: list[Link] = []
    placed: dict[str, tuple[Link | None, Pose]] = {}
    for body in scene.bodies.values():
        pose = (body.position, quaternion_to_matrix(body.rotation))
        above = None if body.parent is None else placed[body.parent]
        if body.joint.kind == "fixed" and not body.kinematic:
            link, at = (None, pose) if above is None else (above[0], compose(above[1], pose))
        else:
            link, at = Link(body, None if above is None else above[0]), IDENTITY
            link.root = link if link.parent is None else link.parent.root
            links.append(link)
        if link is not None:
            link.bodies.append((body, at))
        placed[body.name] = (link, at)
    for link in links:
        _settle_link(link)
    return links, placed


def _settle_link(link: Link) -> None:
    """Composite inertia and link frame."""
    parts = [(body.inertial, pose[0], matrix_to_quaternion(pose[1])) for body, pose in link.bodies
             if body.inertial is not None]
    if parts:
        link.inertial = mesh.combine(parts)
    owner, joint = link.owner, link.owner.joint
    if owner.kinematic:  # no law of motion: its mass counts in no momentum or energy
        link.inertial = Inertial(0.0, link.inertial.center)
        return
    element = f"body {owner.name!r}"
    if joint.kind == "free":
        if link.inertial.mass <= 0.0:
            raise SceneError("a free body has no mass", element=element, value=link.inertial.mass,
                             remedy="give it a mass")
        if np.linalg.eigvalsh(link.inertial.matrix)[0] <= 0.0:
            raise SceneError("a free body has no rotational inertia", element=element,
                             value=np.linalg.eigvalsh(link.inertial.matrix).tolist(), remedy="give it an inertia")
        link.frame = (np.array(link.inertial.center), np.eye(3))
    else:
        turn = np.eye(3) if joint.kind == "spherical" else frame_with_z(joint.axis)
        link.frame = (np.array(joint.anchor), turn)


def _order_links(links: list[Link]) -> list[Link]:
    """Trees together, in the order of their roots; parents first."""
    tree: dict[int, int] = {}
    for link in links:
        tree.setdefault(id(link.root), len(tree))
    ordered = sorted(links, key=lambda link: tree[id(link.root)])
    for index, link in enumerate(ordered):
        link.index = index
    return ordered


def _link_arrays(links: list[Link], placed: dict[str, tuple[Link | None, Pose]]) -> dict[str, Any]:
    """Topology, poses at zero position and inertias of the links."""
    positions, rotations, centers, inertias = [], [], [], []
    trees: list[int] = []
    tree_link: list[int] = []
    for link in links:
        owner = link.owner
        pose = compose((owner.position, quaternion_to_matrix(owner.rotation)), link.frame)
        if owner.parent is not None:
            above, parent_pose = placed[owner.parent]
            pose = compose(parent_pose if above is None else compose(inverse(above.frame), parent_pose), pose)
        if link.parent is None:
            tree_link.append(link.index)
        positions.append(pose[0])
        rotations.append(pose[1])
        R = link.frame[1]
        centers.append(R.T @ (link.inertial.center - link.frame[0]))
        I = R.T @ link.inertial.matrix @ R
        inertias.append([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        trees.append(len(tree_link) - 1)
    dof_counts = [link.sizes[0] for link in links]
    coordinate_counts = [link.sizes[1] for link in links]
    first_dof = np.concatenate([[0], np.cumsum(dof_counts)]).astype(np.int64)
    first_coordinate = np.concatenate([[0], np.cumsum(coordinate_counts)]).astype(np.int64)
    tree_count = len(tree_link)
    tree_link.append(len(links))
    return {
        "link_count": len(links), "tree_count": tree_count, "dof_count": first_dof[-1],
        "coordinate_count": first_coordinate[-1],
        "link_parent": [-1 if link.parent is None else link.parent.index for link in links], "link_tree": trees,
        "link_joint": [link.joint_type for link in links], "link_dof": first_dof[:-1], "link_dof_count": dof_counts,
        "link_coordinate": first_coordinate[:-1], "link_position": stack(positions, 3),
        "link_rotation": stack(rotations, 3, 3), "link_mass": [link.inertial.mass for link in links],
        "link_center": stack(centers, 3), "link_inertia": stack(inertias, 6), "tree_link": tree_link,
        "link_lift": stack([lift_array(link.bodies, link.frame) for link in links], 4),
        "tree_dof": first_dof[tree_link],
    }


# ---- degrees of freedom -------------------------------------------------------------------------------------------


def _dof_arrays(links: list[Link], arrays: dict[str, Any]) -> dict[str, Any]:
    dof_link: list[int] = []
    dof_parent: list[int] = []
    coordinates: list[int] = []
    rows: list[list[int]] = []
    last_dof: dict[int, int] = {-1: -1}  # last dof at or above each link
    for i, link in enumerate(links):
        previous = last_dof[arrays["link_parent"][i]]
        for k in range(link.sizes[0]):
            dof = len(dof_link)
            dof_link.append(i)
            dof_parent.append(previous)
            rows.append(([] if previous < 0 else rows[previous]) + [dof])
            scalar = link.owner.joint.kind not in ("spherical",) and not (link.owner.joint.kind == "free" and k >= 3)
            coordinates.append(int(arrays["link_coordinate"][i]) + k if scalar else -1)
            previous = dof
        last_dof[i] = previous
    joints = [links[i].owner.joint for i in dof_link]
    per_dof: dict[str, Any] = {
        "dof_armature": [joint.armature for joint in joints], "dof_viscous": [joint.viscous for joint in joints],
        "dof_stiffness": [joint.stiffness for joint in joints], "dof_rest": [joint.rest for joint in joints],
        "dof_implicit": [int(joint.implicit) for joint in joints], "dof_lower": [joint.lower for joint in joints],
        "dof_upper": [joint.upper for joint in joints], "dof_effort": stack([joint.efforts for joint in joints], 2),
        "dof_lifted": [int(joint.actuator_compensation) for joint in joints],
        "dof_static_friction": [joint.static_friction for joint in joints],
        "dof_kinetic_friction": [joint.kinetic_friction for joint in joints],
    }
    numbers = np.arange(len(joints))
    limited = np.isfinite(per_dof["dof_lower"]) | np.isfinite(per_dof["dof_upper"])
    sprung = (np.array(per_dof["dof_stiffness"]) > 0.0) | (np.array(per_dof["dof_viscous"]) > 0.0)
    return per_dof | {
        "has_lifted": int(any(per_dof["dof_lifted"])), "dof_link": dof_link, "dof_parent": dof_parent,
        "dof_depth": [len(row) - 1 for row in rows],
        "dof_row": np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        "row_dof": np.array([dof for row in rows for dof in row], dtype=np.int64), "dof_coordinate": coordinates,
        "limited_dofs": numbers[limited.astype(bool)], "sprung_dofs": numbers[sprung.astype(bool)],
        "rubbing_dofs": numbers[np.array(per_dof["dof_static_friction"]) > 0.0],
    }


def _mimic_arrays(scene: Scene, arrays: dict[str, Any], joint_link: dict[str, int]) -> dict[str, Any]:
    mimics = list(scene.mimics.values())
    dof = [int(arrays["link_dof"][joint_link[m.joint]]) for m in mimics]
    source = [int(arrays["link_dof"][joint_link[m.source]]) for m in mimics]
    return {"mimic_count": len(mimics), "mimic_dof": dof, "mimic_source": source,
            "mimic_ratio": [m.ratio for m in mimics], "mimic_offset": [m.offset for m in mimics]}


# ---- start state --------------------------------------------------------------------------------------------------


def _start_state(links: list[Link], arrays: dict[str, Any]) -> tuple[np.ndarray, ...]:
    q, v = np.zeros(arrays["coordinate_count"]), np.zeros(arrays["dof_count"])
    kinematic_pose, kinematic_velocity = np.zeros((len(links), 7)), np.zeros((len(links), 6))
    kinematic_pose[:, 3] = 1.0
    for i, link in enumerate(links):
        owner, joint = link.owner, link.owner.joint
        at, first = int(arrays["link_coordinate"][i]), int(arrays["link_dof"][i])
        if owner.kinematic:
            position, rotation = owner.position, owner.rotation
            if owner.motion is not None:  # a script begins where it says
                position, rotation = motion_pose(owner.motion, 0.0, f"motion of body {owner.name!r}")
            kinematic_pose[i] = [*position, *rotation]
            kinematic_velocity[i] = [*owner.velocity, *owner.angular_velocity]
        elif joint.kind == "free":
            arm = quaternion_to_matrix(owner.rotation) @ link.frame[0]
            q[at:at + 7] = [*(owner.position + arm), *owner.rotation]
            v[first:first + 6] = [*(owner.velocity + np.cross(owner.angular_velocity, arm)), *owner.angular_velocity]
        else:
            q[at:at + len(joint.position)] = joint.position
            v[first:first + len(joint.velocity)] = joint.velocity
    return q, v, kinematic_pose, kinematic_velocity


def link_poses(arrays: dict[str, Any], q: np.ndarray, kinematic_pose: np.ndarray) -> list[Pose]:
    """World pose of every link at q. Plain NumPy: the kernel of `dynamics.kinematics` is checked against it."""
    poses: list[Pose] = []
    for i in range(arrays["link_count"]):
        kind, at, parent = arrays["link_joint"][i], int(arrays["link_coordinate"][i]), arrays["link_parent"][i]
        if kind == KINEMATIC:
            poses.append((kinematic_pose[i, :3].copy(), quaternion_to_matrix(kinematic_pose[i, 3:])))
            continue
        if kind == FREE:
            poses.append((q[at:at + 3].copy(), quaternion_to_matrix(q[at + 3:at + 7])))
            continue
        moved: Pose = IDENTITY
        if kind == REVOLUTE:
            moved = (np.zeros(3), _turn_z(q[at]))
        elif kind == PRISMATIC:
            moved = (np.array([0, 0, q[at]]), np.eye(3))
        elif kind == SPHERICAL:
            moved = (np.zeros(3), quaternion_to_matrix(q[at:at + 4]))
        elif kind == PLANAR:
            moved = (np.array([q[at], q[at + 1], 0]), _turn_z(q[at + 2]))
        pose = compose((arrays["link_position"][i], arrays["link_rotation"][i]), moved)
        poses.append(pose if parent < 0 else compose(poses[parent], pose))
    return poses


def _turn_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


# ---- loops ---------------------------------------------------------------------------------------------


def _loop_arrays(scene: Scene, frame_index: dict[str, int], arrays: dict[str, Any], links: list[Link], q: np.ndarray,
                 kinematic_pose: np.ndarray) -> dict[str, Any]:
    poses = link_poses(arrays, q, kinematic_pose) if scene.loops else []
    kinds = {"ball": BALL, "hinge": HINGE, "weld": WELD}
    ends: list[list[int]] = []
    positions: list[list[np.ndarray]] = []
    rotations: list[list[np.ndarray]] = []

    def on_link(body: str | None, pose: Pose) -> tuple[int, Pose]:
        if body is None:
            return -1, pose
        f = frame_index[body]
        return int(arrays["frame_link"][f]), compose((arrays["frame_position"][f], arrays["frame_rotation"][f]), pose)

    def in_world(link: int, pose: Pose) -> Pose:
        return pose if link < 0 else compose(poses[link], pose)

    for loop in scene.loops.values():
        link_a, pose_a = on_link(loop.body_a, (loop.position, frame_with_z(loop.axis)))
        anchor_b = compose(inverse(in_world(*on_link(loop.body_b, IDENTITY))), in_world(link_a, pose_a))
        if loop.position_b is not None:
            anchor_b = (loop.position_b, anchor_b[1])
        if loop.rotation_b is not None:
            anchor_b = (anchor_b[0], quaternion_to_matrix(loop.rotation_b) @ frame_with_z(loop.axis))
        link_b, pose_b = on_link(loop.body_b, anchor_b)
        if link_a == link_b:
            raise SceneError("both bodies are rigidly one already", element=f"loop {loop.name!r}",
                             value=(loop.body_a, loop.body_b), remedy="remove the loop")
        ends.append([link_a, link_b])
        positions.append([pose_a[0], pose_b[0]])
        rotations.append([pose_a[1], pose_b[1]])
    return {
        "loop_count": len(ends), "loop_kind": [kinds[loop.kind] for loop in scene.loops.values()],
        "loop_link": np.array(ends, dtype=np.int64).reshape(-1, 2), "loop_position": stack(positions, 2, 3),
        "loop_rotation": stack(rotations, 2, 3, 3),
        "loop_correction": [loop.correction for loop in scene.loops.values()],
    }
