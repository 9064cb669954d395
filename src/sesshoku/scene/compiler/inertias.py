"""How much moves with each joint of one axis, with tendons and with actuators, at the start: scales, not dynamics."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sesshoku.model.arrays import PRISMATIC, REVOLUTE
from sesshoku.spatial.poses import Pose

LIGHT = 1e-2
LEAST = 1e-12  # kg m^2 or kg: stands for joints that move nothing


def inertia_arrays(arrays: dict[str, Any], poses: list[Pose]) -> dict[str, np.ndarray]:
    """dof_inertia, and from it tendon_inertia and actuator_inertia: 1 / sum of arm^2 / inertia."""
    inertia = dof_inertias(arrays, poses)
    inverse = 1.0 / inertia
    return {"dof_inertia": inertia, "tree_light": light_trees(arrays),
            "tendon_inertia": _along(arrays["tendon_drive"], arrays["tendon_dof"], arrays["tendon_arm"], inverse),
            "actuator_inertia": _along(arrays["actuator_drive"], arrays["drive_dof"], arrays["drive_arm"], inverse)}


def dof_inertias(arrays: dict[str, Any], poses: list[Pose]) -> np.ndarray:
    """(V) Inertia about the axis (mass along it) of all that a joint carries, with armature; other dofs infinite."""
    count = arrays["link_count"]
    mass, moment = np.array(arrays["link_mass"], dtype=float).reshape(-1), np.zeros((count, 3))
    second = np.zeros((count, 3, 3))  # about the world's origin
    found = np.full(int(arrays["dof_count"]), np.inf)
    for i in range(count):
        p, R = poses[i]
        xx, yy, zz, xy, xz, yz = arrays["link_inertia"][i]
        c = p + R @ arrays["link_center"][i]
        moment[i] = mass[i] * c
        second[i] = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T + mass[i] * _square(c)
    for i in range(count - 1, -1, -1):
        parent, k, kind = int(arrays["link_parent"][i]), int(arrays["link_dof"][i]), int(arrays["link_joint"][i])
        p, axis = poses[i][0], poses[i][1][:, 2]
        if kind == PRISMATIC:
            found[k] = mass[i]
        elif kind == REVOLUTE:  # about the axis through p
            about = second[i] - _square_between(moment[i], p) + mass[i] * _square(p)
            found[k] = axis @ about @ axis
        if parent >= 0:
            mass[parent] += mass[i]
            moment[parent] += moment[i]
            second[parent] += second[i]
    found += np.asarray(arrays["dof_armature"], dtype=float)
    return np.maximum(found, LEAST)


def light_trees(arrays: dict[str, Any]) -> np.ndarray:
    """(T) 1 where a link without armature has less than LIGHT of the mass that hangs on it: crossed hinges may lock."""
    below = np.zeros(int(arrays["link_count"]))
    light = np.zeros(int(arrays["tree_count"]), dtype=np.int64)
    for i in range(len(below) - 1, -1, -1):
        mass, parent, k = float(arrays["link_mass"][i]), int(arrays["link_parent"][i]), int(arrays["link_dof"][i])
        still = any(arrays["dof_armature"][k:k + int(arrays["link_dof_count"][i])])
        if mass < LIGHT * below[i] and not still:
            light[int(arrays["link_tree"][i])] = 1
        if parent >= 0:
            below[parent] += below[i] + mass
    return light


def _square(c: np.ndarray) -> np.ndarray:
    """|c|^2 - c c^T."""
    return c @ c * np.eye(3) - np.outer(c, c)


def _square_between(m: np.ndarray, p: np.ndarray) -> np.ndarray:
    """What `_square(c - p)` has of both, summed over masses: 2 m.p - (m p^T + p m^T)."""
    return 2.0 * (m @ p) * np.eye(3) - np.outer(m, p) - np.outer(p, m)


def _along(start: np.ndarray, dofs: np.ndarray, arms: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    shares = arms * arms * inverse[dofs] if len(dofs) else np.zeros(0)
    totals = np.array([shares[a:b].sum() for a, b in pairwise(start)])
    return np.divide(1.0, totals, out=np.full(len(totals), np.inf), where=totals > 0.0)
