"""Actuators and gravity compensation as the arrays of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import (
    DIRECT,
    FILTER,
    FILTER_EXACT,
    GENERAL,
    INTEGRATOR,
    KINEMATIC,
    POSITION,
    TORQUE,
    VELOCITY,
)
from sesshoku.scene.compiler.tendon_arrays import flat, over_joints
from sesshoku.scene.elements import Body
from sesshoku.scene.elements.actuators import Actuator
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import Pose, stack
from sesshoku.spatial.rotation import quaternion_to_matrix

KINDS = {"torque": TORQUE, "position": POSITION, "velocity": VELOCITY, "general": GENERAL}
DYNAMICS = {"none": DIRECT, "integrator": INTEGRATOR, "filter": FILTER, "filterexact": FILTER_EXACT}
FREE_RANGE = (-np.inf, np.inf)


def actuator_arrays(scene: Scene, arrays: dict[str, Any], joint_link: dict[str, int],
                    frame_index: dict[str, int]) -> dict[str, Any]:
    """What every actuator drives, and its law."""
    actuators = list(scene.actuators.values())
    drives = [[] if actuator.joint is None else over_joints({actuator.joint: 1.0}, arrays, joint_link)
              for actuator in actuators]
    tendons = {name: n for n, name in enumerate(scene.tendons)}
    start, dofs, arms = flat(drives)
    places = [_place(actuator, arrays, frame_index) for actuator in actuators]
    return {
        "actuator_count": len(actuators),
        "actuator_dof": [-1 if a.joint is None else drive[0][0] for a, drive in zip(actuators, drives, strict=True)],
        "actuator_tendon": [-1 if a.tendon is None else tendons[a.tendon] for a in actuators],
        "actuator_drive": start, "drive_dof": dofs, "drive_arm": arms,
        "actuator_kind": [KINDS[a.kind] for a in actuators], "actuator_kp": [a.kp for a in actuators],
        "actuator_kd": [a.kd for a in actuators], "actuator_gain": stack([a.gain for a in actuators], 3),
        "actuator_bias": stack([a.bias for a in actuators], 3),
        "actuator_command_range": stack([a.command_range or FREE_RANGE for a in actuators], 2),
        "actuator_effort": stack([a.forces for a in actuators], 2),
        "actuator_gear": [a.gear for a in actuators], "actuator_implicit": [int(a.implicit) for a in actuators],
        "actuator_dynamics": [DYNAMICS[a.dynamics] for a in actuators],
        "actuator_time": [a.time_constant for a in actuators],
        "actuator_activation_range": stack([a.activation_range or FREE_RANGE for a in actuators], 2),
        "actuator_link": [place[0] for place in places], "actuator_base": [place[1] for place in places],
        "actuator_place": stack([place[2] for place in places], 3),
        "actuator_wrench": stack([place[3] for place in places], 6),
    }


def lift_array(bodies: list[tuple[Body, Pose]], frame: Pose) -> np.ndarray:
    """The mass (1) whose weight gravity compensation bears, and its centre (3) in the link frame.

    bodies: with their poses in the owner's body frame; frame: the link's, there.
    """
    total, moment = 0.0, np.zeros(3)
    for body, (position, rotation) in bodies:
        if body.inertial is not None and body.gravity_compensation != 0.0:
            borne = body.gravity_compensation * body.inertial.mass
            total += borne
            moment += borne * (position + rotation @ body.inertial.center - frame[0])
    if total == 0.0:  # shares that cancel leave a couple, which no body of one mass has
        return np.zeros(4)
    return np.concatenate([[total], frame[1].T @ moment / total])


def _place(actuator: Actuator, arrays: dict[str, Any],
           frame_index: dict[str, int]) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Link, base, place in the link frame and wrench of an actuator that pushes a body."""
    if actuator.body is None:
        return -1, -1, np.zeros(3), np.zeros(6)
    f = frame_index[actuator.body]
    link = int(arrays["frame_link"][f])
    place = arrays["frame_position"][f] + arrays["frame_rotation"][f] @ actuator.position
    g = f if actuator.base is None else frame_index[actuator.base]
    base = int(arrays["frame_link"][g])
    turn = arrays["frame_rotation"][g] @ quaternion_to_matrix(np.array(actuator.rotation))
    wrench = np.concatenate([turn @ actuator.wrench[:3], turn @ actuator.wrench[3:]])
    if link >= 0 and arrays["link_joint"][link] == KINEMATIC:
        link = -1  # a script moves it, whatever pushes
    if link == base and actuator.base is not None:
        link = -1  # pushed and pushed back
    return link, base, place, wrench
