"""Our flat model as a Pinocchio model, and states and forces carried between the two conventions.

Pinocchio's free joint has its velocity in body axes, and its quaternions are x y z w. Its CRBA, and all that uses its
`nvSubtree`, count on the joints of a subtree being numbered without gaps, so joints are added depth first. (Our links
may stand in any order with parents first; in such an order pin.crba disagrees with pin.rnea and pin.aba.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import FREE, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from sesshoku.scene.compiler import CompiledScene
from sesshoku.spatial.rotation import quaternion_to_matrix


class PinTree:
    """The peer of a compiled scene (without kinematic bodies) at one state."""

    def __init__(self, pin: Any, compiled: CompiledScene, q: np.ndarray, v: np.ndarray) -> None:
        self.pin, self.source = pin, compiled.model
        self.model = pin.Model()
        self.model.gravity.linear = compiled.model.gravity.copy()
        self.joint: dict[int, int] = {-1: 0}  # our link -> joint there
        children: dict[int, list[int]] = {}
        for i in range(compiled.model.link_count):
            children.setdefault(int(compiled.model.link_parent[i]), []).append(i)
        waiting = children.get(-1, [])[::-1]
        while waiting:
            link = waiting.pop()
            self._add(link)
            waiting += children.get(link, [])[::-1]
        self._set_state(q, v)
        self.data = self.model.createData()

    def _add(self, i: int) -> None:
        pin, m = self.pin, self.source
        kind = m.link_joint[i]
        place = pin.SE3.Identity() if kind == FREE else pin.SE3(m.link_rotation[i], m.link_position[i])
        # planar: three joints with nothing between them. A composite joint would do for forces, but Pinocchio takes its
        # axes as constant in the link when it differentiates Jacobians.
        parts = {FREE: [pin.JointModelFreeFlyer()], REVOLUTE: [pin.JointModelRZ()], PRISMATIC: [pin.JointModelPZ()],
                 SPHERICAL: [pin.JointModelSpherical()],
                 PLANAR: [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]}[kind]
        number = self.joint[int(m.link_parent[i])]
        for n, part in enumerate(parts):
            number = self.model.addJoint(number, part, place if n == 0 else pin.SE3.Identity(), f"joint {i}.{n}")
        xx, yy, zz, xy, xz, yz = m.link_inertia[i]
        inertia = pin.Inertia(m.link_mass[i], m.link_center[i], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        self.model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        self.joint[i] = number

    def _set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        """q and v there; T: v_there = T v, and T' v, the part of acceleration that turning axes add."""
        m = self.source
        self.q, self.T, self.rate = np.zeros(self.model.nq), np.zeros((m.dof_count,) * 2), np.zeros(m.dof_count)
        for i in range(m.link_count):
            at, k, count = m.link_coordinate[i], m.link_dof[i], m.link_dof_count[i]
            joint = self.model.joints[self.joint[i] - (2 if m.link_joint[i] == PLANAR else 0)]
            there, first = joint.idx_q, joint.idx_v
            self.model.armature[first : first + count] = m.dof_armature[k : k + count]
            if m.link_joint[i] == FREE:
                R = quaternion_to_matrix(q[at + 3 : at + 7])
                self.q[there : there + 7] = [*q[at : at + 3], *q[at + 4 : at + 7], q[at + 3]]
                self.T[first : first + 3, k : k + 3] = self.T[first + 3 : first + 6, k + 3 : k + 6] = R.T
                self.rate[first : first + 3] = -np.cross(R.T @ v[k + 3 : k + 6], R.T @ v[k : k + 3])
                continue
            self.T[first : first + count, k : k + count] = np.eye(count)
            if m.link_joint[i] == SPHERICAL:
                self.q[there : there + 4] = [*q[at + 1 : at + 4], q[at]]
            else:
                self.q[there : there + count] = q[at : at + count]
        self.v = self.T @ v

    # ---- what Pinocchio says, in our coordinates ------------------------------------------------------------------

    def mass_matrix(self) -> np.ndarray:
        upper = np.triu(self.pin.crba(self.model, self.data, self.q))
        return self.T.T @ (upper + np.triu(upper, 1).T) @ self.T

    def inverse_dynamics(self, acceleration: np.ndarray) -> np.ndarray:
        a = self.T @ acceleration + self.rate
        return self.T.T @ self.pin.rnea(self.model, self.data, self.q, self.v, a)

    def forward_dynamics(self, force: np.ndarray) -> np.ndarray:
        a = self.pin.aba(self.model, self.data, self.q, self.v, np.linalg.solve(self.T.T, force))
        return np.linalg.solve(self.T, a - self.rate)

    def point_jacobian(self, link: int, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J and J' (6, V) of a point fixed on a link, world axes.

        J' is what turns v into J' v: as columns it is defined by (J T)' = J' T + J T', so both are taken to our dofs.
        """
        pin = self.pin
        frame = self.model.addFrame(pin.Frame(f"point {len(self.model.frames)}", self.joint[link], 0,
                                              pin.SE3(np.eye(3), local), pin.FrameType.OP_FRAME))
        data = self.model.createData()
        pin.computeJointJacobiansTimeVariation(self.model, data, self.q, self.v)
        pin.updateFramePlacements(self.model, data)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.getFrameJacobian(self.model, data, frame, axes)
        rate = pin.getFrameJacobianTimeVariation(self.model, data, frame, axes)
        return J @ self.T, rate @ self.T + J @ self._turning()

    def _turning(self) -> np.ndarray:
        """T' (V, V): R^T of a free joint changes by -[w] R^T, w in body axes."""
        m, change = self.source, np.zeros_like(self.T)
        for i in range(m.link_count):
            if m.link_joint[i] == FREE:
                k, first = m.link_dof[i], self.model.joints[self.joint[i]].idx_v
                x, y, z = self.v[first + 3 : first + 6]
                w = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                for part in (0, 3):
                    rows = slice(first + part, first + part + 3)
                    change[rows, k + part : k + part + 3] = -w @ self.T[rows, k + part : k + part + 3]
        return change
