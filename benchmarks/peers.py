"""The same robot in a peer's terms."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.model.arrays import FREE
from sesshoku.spatial.rotation import quaternion_to_matrix


def example_robots() -> Path:
    """Folder of the robots that the package example-robot-data installs."""
    return Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


def pinocchio_of(sim: ss.Simulation, force: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """A Pinocchio model of a simulation's links (free root, revolute and prismatic joints); q, v and joint force."""
    import pinocchio as pin

    m, peer, ids = sim.model, pin.Model(), []
    peer.gravity.linear = m.gravity.copy()
    q, v, tau = [], sim.v.copy(), force.copy()
    for i in range(m.link_count):
        kind, at = int(m.link_joint[i]), int(m.link_coordinate[i])
        joint = pin.JointModelFreeFlyer() if kind == FREE else (pin.JointModelRZ() if kind == 1 else pin.JointModelPZ())
        place = pin.SE3.Identity() if kind == FREE else pin.SE3(m.link_rotation[i], m.link_position[i])
        ids.append(peer.addJoint(0 if m.link_parent[i] < 0 else ids[m.link_parent[i]], joint, place, f"joint{i}"))
        xx, yy, zz, xy, xz, yz = m.link_inertia[i]
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        peer.appendBodyToJoint(ids[-1], pin.Inertia(m.link_mass[i], m.link_center[i], matrix), pin.SE3.Identity())
        if kind == FREE:  # Pinocchio speaks of the free joint in body axes, quaternion x y z w
            w, x, y, z = sim.q[at + 3 : at + 7]
            q += [*sim.q[at : at + 3], x, y, z, w]
            R, k = quaternion_to_matrix(sim.q[at + 3 : at + 7]), int(m.link_dof[i])
            for block in (slice(k, k + 3), slice(k + 3, k + 6)):
                v[block], tau[block] = R.T @ v[block], R.T @ tau[block]
        else:
            q.append(sim.q[at])
    peer.armature[:] = m.dof_armature
    return peer, np.array(q), v, tau
