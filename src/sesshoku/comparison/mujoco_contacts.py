"""MuJoCo's contacts as ours: bodies by name, forces in newtons along world axes, sticking or slipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.simulation.contacts import Contact

AT_THE_CONE = 0.999  # share of its bound from which friction counts as slipping


def list_mujoco_contacts(model: Any, data: Any, body_name: Callable[[int], str]) -> list[Contact]:
    """Contacts of the last step; poses and velocities must be up to date. Slipping: friction is at its bound."""
    import mujoco

    wrench, found = np.zeros(6), []
    for i in range(data.ncon):
        contact = data.contact[i]
        mujoco.mj_contactForce(model, data, i, wrench)
        a, b = (int(model.geom_bodyid[geom]) for geom in contact.geom)
        axes = contact.frame.reshape(3, 3)
        slide = axes[1:] @ (velocity_at(model, data, b, contact.pos) - velocity_at(model, data, a, contact.pos))
        mu, pull = float(contact.friction[0]), float(np.hypot(wrench[1], wrench[2]))
        state = "released" if wrench[0] <= 0.0 else "slip" if pull >= AT_THE_CONE * mu * wrench[0] else "stick"
        found.append(Contact(i, (body_name(a), body_name(b)), contact.pos.copy(), axes[0].copy(), -float(contact.dist),
                             axes.T @ wrench[:3], state, float(np.hypot(*slide)), mu, mu, axes.T @ wrench[3:]))
    return found


def velocity_at(model: Any, data: Any, body: int, point: np.ndarray) -> np.ndarray:
    """Velocity of a body's point, world axes."""
    twist = data.cvel[body]  # about the centre of mass of the body's tree
    arm = point - data.subtree_com[model.body_rootid[body]]
    velocity: np.ndarray = twist[3:] + np.cross(twist[:3], arm)
    return velocity


def bring_up_to_date(model: Any, data: Any) -> None:
    """MuJoCo's poses and velocities belong to a step's beginning until this is called."""
    import mujoco

    for bring in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
        bring(model, data)
