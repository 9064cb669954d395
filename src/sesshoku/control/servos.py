"""Position servos for a robot that comes without (URDF): gains from its weight and inertia.

Legs and waist get kp = stiffness M g z, z the height of the centre of mass: with 10, a lean of the whole robot by an
angle needs a tenth of it in the joint. Other joints get a tenth. The armature 10 kp dt^2 (dt = 1 ms) keeps a servo
stable that is integrated explicitly; kd is 0.7 of critical for the inertia the joint moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sesshoku.control.biped import LegMap
from sesshoku.dynamics.centroid import center_of_mass
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.data import make_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.errors import SceneError, did_you_mean
from sesshoku.robots.description import servo
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import SINGLE_AXIS
from sesshoku.scene.scene import Robot, Scene


def add_servos(scene: Scene, robot: Robot, legs: LegMap, *, stiffness: float = 10.0, strong: Iterable[str] = (),
               friction: bool = False) -> None:
    """Give every driven joint of one axis a position servo (named as the joint) that holds it where it is.

    strong: joints besides the legs' with full gains, such as the waist's. friction: keep the joints' own friction and
    damping; by default both are set to zero, as geared joints under torque control behave.
    Joints that follow others (mimic) and joints with a spring get none.
    """
    compiled = compile_scene(scene)
    model, data = compiled.model, make_data(compiled)
    kinematics(model, data, compiled.q)
    mass_matrix(model, data, data.mass_matrix)
    known = set(robot.joints)
    for name in (*legs.left, *legs.right, *strong):
        if name not in known:
            raise SceneError("no such joint", element=f"servo of joint {name!r}",
                             remedy=did_you_mean(name, known, also=f"joints: {', '.join(robot.joints[:40])}"))
    root = int(model.frame_link[compiled.frame_index[robot.bodies[0]]])
    tree = int(model.link_tree[root])
    center = np.zeros(3)
    first, last = int(model.tree_link[tree]), int(model.tree_link[tree + 1])
    mass = center_of_mass(model, data, first, last, center)
    lowest = min(float(data.tree_origin[tree, 2] + data.offset[i, 2]) for i in range(first, last))
    kp = stiffness * mass * -float(model.gravity[2]) * (center[2] - lowest)
    firm = {*legs.left, *legs.right, *strong}
    driven = {actuator.joint for actuator in scene.actuators.values()}
    owners = {scene.bodies[body].joint.name: scene.bodies[body] for body in robot.bodies}
    for name in robot.joints:
        body = owners[name]
        joint = body.joint
        if joint.kind not in SINGLE_AXIS or joint.stiffness > 0.0 or name in scene.mimics or name in driven:
            continue
        k = int(model.link_dof[compiled.joint_link[name]])
        inertia = float(data.mass_matrix[model.dof_row[k + 1] - 1]) - joint.armature
        gains = servo(kp if name in firm else 0.1 * kp, inertia, joint.effort)
        armature = max(gains.armature, joint.armature)
        body.joint = replace(joint, armature=armature) if friction else replace(
            joint, armature=armature, viscous=0.0, static_friction=0.0, kinetic_friction=0.0)
        scene.add_actuator(name, "position", kp=gains.kp, kd=gains.kd, target=float(joint.position[0]))
