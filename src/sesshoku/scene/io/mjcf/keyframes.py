"""Keyframes of MJCF files: start positions, velocities and commands by name.

A position beyond a joint's limit is moved to the limit, and that is listed. Where a key states `ctrl`, the actuators
begin with those commands; where it does not, position servos are aimed at the pose (MuJoCo would aim them at zero).
Positions of scripted bodies (mocap) are read where the key states them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.io.mjcf.bodies import HINGE, SLIDE, ModelNames
from sesshoku.scene.io.spec import Unsupported
from sesshoku.scene.io.unsupported import Grade
from sesshoku.spatial.rotation import quaternion_to_matrix

FREE, BALL = 0, 1  # mjtJoint
POSITIONS = {FREE: 7, BALL: 4, SLIDE: 1, HINGE: 1}
VELOCITIES = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}


def read_keyframes(spec: Any, model: Any, names: ModelNames, description: RobotDescription,
                   unsupported: Unsupported) -> None:
    """Fill poses, and velocities, commands and activations of poses, of the description."""
    import mujoco

    for n, key in enumerate(spec.keys):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, n) or f"key{n}"
        description.poses[name] = _positions(model, names, n, name, unsupported) | _mocap(model, names, n, key)
        if model.key_qvel[n].any():
            description.pose_velocities[name] = _velocities(model, names, n)
        if np.size(key.ctrl):
            ctrl = model.key_ctrl[n][model.actuator_ctrladr]
            description.pose_commands[name] = {
                actuator.name: float(ctrl[names.actuator.index(actuator.name)]) for actuator in description.actuators}
        else:
            description.pose_lengths[name] = _lengths(model, n, description)
        if model.na and model.key_act[n].any():
            places = {actuator: int(at) for actuator, at in zip(names.actuator, model.actuator_actadr)}
            description.pose_activations[name] = {
                actuator.name: float(model.key_act[n][places[actuator.name]]) for actuator in description.actuators
                if actuator.dynamics != "none"}


def _lengths(model: Any, n: int, description: RobotDescription) -> dict[str, float]:
    """Spatial tendon -> its length in a keyframe."""
    import mujoco

    if not any(tendon.path for tendon in description.tendons):
        return {}
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, n)
    mujoco.mj_fwdPosition(model, data)
    return {tendon.name: float(data.ten_length[t]) for t, tendon in enumerate(description.tendons) if tendon.path}


def _positions(model: Any, names: ModelNames, n: int, name: str, unsupported: Unsupported) -> dict[str, Any]:
    """joint -> position, within its limits."""
    found: dict[str, Any] = {}
    beyond = []
    for j in range(model.njnt):
        at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        value = model.key_qpos[n][at:at + POSITIONS[kind]].copy()
        if kind in (SLIDE, HINGE):
            if model.jnt_limited[j]:
                low, high = model.jnt_range[j]
                if not low <= value[0] <= high:
                    inside = min(max(float(value[0]), float(low)), float(high))
                    beyond.append(f"{names.joint[j]} {value[0]:g} to {inside:g}")
                    value[0] = inside
            found[names.joint[j]] = float(value[0])
        else:
            found[names.joint[j]] = value
    if beyond:
        unsupported.add(f"keyframe {name!r}: positions beyond limits are moved to them ({', '.join(beyond)})",
                        Grade.SLIGHT)
    return found


def _velocities(model: Any, names: ModelNames, n: int) -> dict[str, Any]:
    """joint -> velocity; that of a free joint in world axes (MuJoCo has the angular one in the body's)."""
    found: dict[str, Any] = {}
    for j in range(model.njnt):
        at, kind = int(model.jnt_dofadr[j]), int(model.jnt_type[j])
        value = model.key_qvel[n][at:at + VELOCITIES[kind]].copy()
        if kind == FREE:
            start = int(model.jnt_qposadr[j]) + 3
            turn = model.key_qpos[n][start:start + 4]
            value[3:] = quaternion_to_matrix(turn / np.linalg.norm(turn)) @ value[3:]
        found[names.joint[j]] = value
    return found


def _mocap(model: Any, names: ModelNames, n: int, key: Any) -> dict[str, Any]:
    """Scripted body -> position and quaternion, where the key states one."""
    if not np.size(key.mpos) and not np.size(key.mquat):
        return {}
    places = {int(k): i for i, k in enumerate(model.body_mocapid) if k >= 0}
    return {names.body[i]: np.concatenate([model.key_mpos[n].reshape(-1, 3)[k], model.key_mquat[n].reshape(-1, 4)[k]])
            for k, i in places.items()}
