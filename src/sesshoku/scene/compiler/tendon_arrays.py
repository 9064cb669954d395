"""Tendons as the arrays of a model: sums over joints, and paths through space."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import NO_SIDE, PATH_CYLINDER, PATH_PULLEY, PATH_SITE, PATH_SPHERE
from sesshoku.scene.elements.actuators import Tendon
from sesshoku.scene.elements.tendon_paths import PathPoint
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import IDENTITY, Pose, compose, stack
from sesshoku.spatial.rotation import quaternion_to_matrix

KINDS = {"site": PATH_SITE, "pulley": PATH_PULLEY, "sphere": PATH_SPHERE, "cylinder": PATH_CYLINDER}
Drive = list[tuple[int, float]]  # dofs and arms


def tendon_arrays(scene: Scene, arrays: dict[str, Any], joint_link: dict[str, int],
                  frame_index: dict[str, int]) -> dict[str, Any]:
    """Dofs and arms of every tendon, its path, and what acts along it by itself."""
    tendons = list(scene.tendons.values())
    paths = _path_arrays(tendons, arrays, frame_index)
    drives = [over_joints(tendon.joints, arrays, joint_link) if tendon.joints
              else _reached(paths, n, arrays) for n, tendon in enumerate(tendons)]
    start, dofs, arms = flat(drives)
    rowed = [n for n, tendon in enumerate(tendons) if tendon.has_rows and drives[n]]
    rows = [_chains(tendons[n], drives[n] if n in rowed else [], int(start[n]), arrays) for n in range(len(tendons))]
    driven = {actuator.tendon for actuator in scene.actuators.values()}
    places = np.cumsum([0, *(len(part) for row in rows for _, part in row)])[:-1].reshape(-1, 2)
    return paths | {
        "tendon_count": len(tendons), "spatial_count": sum(bool(tendon.path) for tendon in tendons),
        "tendon_acts": [int(tendon.stiffness > 0.0 or tendon.viscous > 0.0 or tendon.has_rows or tendon.name in driven)
                        for tendon in tendons],
        "tendon_drive": start, "tendon_dof": dofs, "tendon_arm": arms,
        "tendon_stiffness": [tendon.stiffness for tendon in tendons],
        "tendon_rest": stack([tendon.rests for tendon in tendons], 2),
        "tendon_viscous": [tendon.viscous for tendon in tendons],
        "tendon_lower": [tendon.lower for tendon in tendons], "tendon_upper": [tendon.upper for tendon in tendons],
        "tendon_friction": [tendon.friction for tendon in tendons], "rowed_tendons": rowed,
        "tendon_end": np.array([[end for end, _ in row] for row in rows], dtype=np.int64).reshape(-1, 2),
        "tendon_start": places.astype(np.int64),
        "tendon_row": np.array([value for row in rows for _, part in row for value in part], dtype=np.int64),
    }


def _chains(tendon: Tendon, drive: Drive, first: int, arrays: dict[str, Any]) -> list[tuple[int, list[int]]]:
    """The last dof (-1: none) of each of the two chains that a tendon's dofs lie on, and along it their places in
    tendon_dof, from `first` on (-1: another dof)."""
    rows, starts = np.asarray(arrays["row_dof"]), np.asarray(arrays["dof_row"])
    chains: list[tuple[int, list[int]]] = []
    left = {dof: first + n for n, (dof, _) in enumerate(drive)}
    while left:
        end = max(left)  # parents come first, so the last one carries none of the others
        chain = rows[starts[end]:starts[end + 1]].tolist()
        chains.append((end, [left.pop(k, -1) for k in chain]))
    if len(chains) > 2:
        raise SceneError("limits and friction are for tendons whose joints lie on one or two branches",
                         element=f"tendon {tendon.name!r}", value=list(tendon.joints) or tendon.bodies,
                         remedy="leave lower, upper and friction out, or divide it into several tendons")
    return [*chains, *[(-1, [])] * (2 - len(chains))]


def over_joints(joints: Any, arrays: dict[str, Any], joint_link: dict[str, int]) -> Drive:
    """Dofs and arms of a sum over joints."""
    return [(int(arrays["link_dof"][joint_link[joint]]), arm) for joint, arm in joints.items()]


def flat(drives: list[Drive]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranges, dofs and arms of lists one after the other."""
    start = np.concatenate([[0], np.cumsum([len(drive) for drive in drives])]).astype(np.int64)
    pairs = [pair for drive in drives for pair in drive]
    return start, np.array([k for k, _ in pairs], dtype=np.int64), np.array([arm for _, arm in pairs], dtype=float)


# ---- paths -----------------------------------------------------------------------------------------------------------


def _path_arrays(tendons: list[Tendon], arrays: dict[str, Any], frame_index: dict[str, int]) -> dict[str, Any]:
    def on_link(body: str | None, pose: Pose) -> tuple[int, Pose]:
        if body is None:
            return -1, pose
        f = frame_index[body]
        return int(arrays["frame_link"][f]), compose((arrays["frame_position"][f], arrays["frame_rotation"][f]), pose)

    def side(point: PathPoint) -> tuple[int, np.ndarray]:
        if point.side is None:
            return NO_SIDE, np.zeros(3)
        link, (at, _) = on_link(point.side_body, (np.array(point.side), IDENTITY[1]))
        return link, at

    points = [point for tendon in tendons for point in tendon.path]
    at = [on_link(point.body, (np.array(point.position), quaternion_to_matrix(np.array(point.rotation))))
          for point in points]
    sides = [side(point) for point in points]
    return {
        "tendon_path": np.concatenate([[0], np.cumsum([len(tendon.path) for tendon in tendons])]).astype(np.int64),
        "path_kind": [KINDS[point.kind] for point in points], "path_link": [link for link, _ in at],
        "path_dof": [_last_dof(link, arrays) for link, _ in at],
        "path_position": stack([pose[0] for _, pose in at], 3),
        "path_rotation": stack([pose[1] for _, pose in at], 3, 3),
        "path_size": [point.divisor if point.kind == "pulley" else point.radius for point in points],
        "path_side_link": [link for link, _ in sides], "path_side": stack([place for _, place in sides], 3),
    }


def _last_dof(link: int, arrays: dict[str, Any]) -> int:
    """The last dof at or above a link, -1 if there is none."""
    while link >= 0:
        if arrays["link_dof_count"][link] > 0:
            return int(arrays["link_dof"][link] + arrays["link_dof_count"][link] - 1)
        link = int(arrays["link_parent"][link])
    return -1


def _reached(paths: dict[str, Any], n: int, arrays: dict[str, Any]) -> Drive:
    """The dofs that may change the length of a path: those that carry one end of a part of it and not the other."""
    rows, starts = np.asarray(arrays["row_dof"]), np.asarray(arrays["dof_row"])
    first, last = paths["tendon_path"][n], paths["tendon_path"][n + 1]
    kinds, ends = paths["path_kind"][first:last], paths["path_dof"][first:last]
    chains = [set() if end < 0 else set(rows[starts[end]:starts[end + 1]].tolist()) for end in ends]
    found: set[int] = set()
    for i in range(len(kinds) - 1):
        if PATH_PULLEY not in kinds[i:i + 2]:
            found |= chains[i] ^ chains[i + 1]
    return [(int(k), 0.0) for k in sorted(found)]
