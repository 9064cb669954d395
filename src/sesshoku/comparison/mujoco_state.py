"""The state of a scene between its own coordinates and those of MuJoCo's model of it (`Scene.to_mjcf`).

Joints of one axis, ball and planar joints have the same numbers in both. Of a free joint MuJoCo has the body's origin
and its angular velocity along the body's axes, we have the centre of mass and world axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR, SPHERICAL
from sesshoku.scene.compiler import CompiledScene
from sesshoku.spatial.rotation import axis_angle, matrix_to_quaternion, multiply, quaternion_to_matrix

PLANAR_PARTS = ("x", "y", "turn")  # joints that stand for a planar one


def find(model: Any, kind: str, name: str) -> int:
    """Number of a thing of MuJoCo's model; kind: "body", "joint" ..."""
    import mujoco

    found = mujoco.mj_name2id(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), name)
    if found < 0:
        raise SceneError(f"not a {kind} of the exported model", element=f"{kind} {name!r}")
    return int(found)


class SharedState:
    """Where each coordinate of a compiled scene stands in MuJoCo's qpos and qvel."""

    def __init__(self, compiled: CompiledScene, model: Any) -> None:
        ours = compiled.model
        self._free: list[tuple[int, int, int, int, np.ndarray]] = []
        self.moved: list[tuple[int, int]] = []  # link and number of the mocap body of scripted ones
        q_ours: list[int] = []
        q_theirs: list[int] = []
        v_ours: list[int] = []
        v_theirs: list[int] = []
        for link, (name, body) in enumerate(zip(compiled.joint_names, compiled.link_names, strict=True)):
            kind, at, first = (int(getattr(ours, key)[link]) for key in ("link_joint", "link_coordinate", "link_dof"))
            if kind == KINEMATIC:
                self.moved.append((link, int(model.body_mocapid[find(model, "body", body)])))
                continue
            joints = [f"{name}/{part}" for part in PLANAR_PARTS] if kind == PLANAR else [name]
            for n, joint in enumerate(find(model, "joint", joint) for joint in joints):
                there, rate = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
                if kind == FREE:
                    center = -ours.frame_position[compiled.frame_index[body]]  # of mass, in the body's frame
                    self._free.append((at, first, there, rate, center))
                    continue
                q_ours += range(at + n, at + n + (4 if kind == SPHERICAL else 1))
                q_theirs += range(there, there + (4 if kind == SPHERICAL else 1))
                v_ours += range(first + n, first + n + (3 if kind == SPHERICAL else 1))
                v_theirs += range(rate, rate + (3 if kind == SPHERICAL else 1))
        self._q = np.array(q_ours, dtype=np.int64), np.array(q_theirs, dtype=np.int64)
        self._v = np.array(v_ours, dtype=np.int64), np.array(v_theirs, dtype=np.int64)

    def read(self, theirs: Any, ours: Any) -> None:
        """MuJoCo's state into our data."""
        ours.q[self._q[0]], ours.v[self._v[0]] = theirs.qpos[self._q[1]], theirs.qvel[self._v[1]]
        for at, first, there, rate, center in self._free:
            quaternion = theirs.qpos[there + 3:there + 7] / np.linalg.norm(theirs.qpos[there + 3:there + 7])
            R = quaternion_to_matrix(quaternion)
            arm, spin = R @ center, R @ theirs.qvel[rate + 3:rate + 6]
            ours.q[at:at + 3], ours.q[at + 3:at + 7] = theirs.qpos[there:there + 3] + arm, quaternion
            ours.v[first:first + 3] = theirs.qvel[rate:rate + 3] + np.cross(spin, arm)
            ours.v[first + 3:first + 6] = spin

    def write(self, ours: Any, theirs: Any) -> None:
        """Our state into MuJoCo's data."""
        theirs.qpos[self._q[1]], theirs.qvel[self._v[1]] = ours.q[self._q[0]], ours.v[self._v[0]]
        for at, first, there, rate, center in self._free:
            R = quaternion_to_matrix(ours.q[at + 3:at + 7])
            arm, spin = R @ center, ours.v[first + 3:first + 6]
            theirs.qpos[there:there + 3] = ours.q[at:at + 3] - arm
            theirs.qpos[there + 3:there + 7] = ours.q[at + 3:at + 7]
            theirs.qvel[rate:rate + 3] = ours.v[first:first + 3] - np.cross(spin, arm)
            theirs.qvel[rate + 3:rate + 6] = R.T @ spin

    def place_scripted(self, ours: Any, theirs: Any) -> None:
        """Mocap bodies where scripted bodies are. MuJoCo knows no velocity of them."""
        for link, mocap in self.moved:
            theirs.mocap_pos[mocap] = ours.kinematic_pose[link, :3]
            theirs.mocap_quat[mocap] = ours.kinematic_pose[link, 3:]

    def move_scripted(self, ours: Any, dt: float) -> None:
        """Scripted bodies at the end of a step, by their velocities."""
        for link, _ in self.moved:
            pose, velocity = ours.kinematic_pose[link], ours.kinematic_velocity[link]
            pose[:3] += dt * velocity[:3]
            angle = dt * float(np.linalg.norm(velocity[3:]))
            if angle > 0.0:
                axis = velocity[3:] / np.linalg.norm(velocity[3:])
                turned = multiply(axis_angle(axis, angle), pose[3:])
                pose[3:] = matrix_to_quaternion(quaternion_to_matrix(turned))
