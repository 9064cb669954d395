"""Falls: a robot that leans over its support edge, with its joints held, damped or limp.

    scene = limp(scene, damping=1.0)        # servos out; each joint keeps the servo's damper (0: nothing at all)
    sim = Simulation(scene)
    lean(sim, biped, 0.5)                   # tilted by 0.5 rad about its toes
    sim.run(2.0)

A robot whose servos hold falls like a plank and hits hard; one that gives way at its joints folds, and lands softer.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from sesshoku.control.biped import Biped
from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.scene import Robot, Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, matrix_to_quaternion, quaternion_to_matrix

#: edge of the support -> axis about which the robot falls over it (world)
EDGES = {"toe": (0.0, 1.0, 0.0), "heel": (0.0, -1.0, 0.0), "left": (-1.0, 0.0, 0.0), "right": (1.0, 0.0, 0.0)}


def limp(scene: Scene, robot: Robot | None = None, *, damping: float = 0.0) -> Scene:
    """A copy of a scene whose servos (of one robot, or all) give no torque.

    damping: share of each servo's kd that stays in its joint as viscous friction, 0: a passive fall.
    """
    if not isinstance(scene, Scene):
        raise SceneError("limp needs a Scene", element="limp", value=type(scene).__name__)
    share = check.number(damping, "damping", "limp", least=0.0)
    made = copy.deepcopy(scene)
    owners = {str(body.joint.name): body for body in made.bodies.values()}
    for name, actuator in list(made.actuators.items()):
        if robot is not None and name not in robot.actuators:
            continue
        kd = actuator.gear * (-actuator.gear * actuator.bias[2] if actuator.kind == "general" else actuator.kd)
        if actuator.joint is not None:
            body = owners[actuator.joint]
            body.joint = replace(body.joint, viscous=body.joint.viscous + share * max(kd, 0.0))
        elif actuator.tendon is not None:
            tendon = made.tendons[actuator.tendon]
            made.tendons[tendon.name] = replace(tendon, viscous=tendon.viscous + share * max(kd, 0.0))
        del made.actuators[name]
    for placed in made.robots.values():
        placed.actuators = [name for name in placed.actuators if name in made.actuators]
    return made


def lean(sim: Simulation, biped: Biped, angle: float, edge: str = "toe") -> None:
    """Turn the standing robot as a whole by `angle` (rad) about an edge of its support: toe, heel, left, right.

    It stands on the ground z = 0, at rest. biped: of the same robot, in this scene or one it was made from.
    """
    angle = check.number(angle, "angle", "lean", least=0.0, most=float(np.pi))
    if edge not in EDGES:
        raise SceneError("unknown edge", element="lean", value=edge, remedy=f"use one of {', '.join(EDGES)}")
    legs, axis = biped.legs, np.array(EDGES[edge])
    at, dof = legs.root_coordinate, legs.root_dof
    pivot = _support_edge(sim, biped, edge)
    R = quaternion_to_matrix(axis_angle(axis, angle))
    q, v = sim.q.copy(), sim.v.copy()
    q[at:at + 3] = pivot + R @ (q[at:at + 3] - pivot)
    q[at + 3:at + 7] = matrix_to_quaternion(R @ quaternion_to_matrix(q[at + 3:at + 7]))
    v[dof:] = 0.0
    sim.set_state(q, v)


def _support_edge(sim: Simulation, biped: Biped, edge: str) -> np.ndarray:
    """A point of the outermost edge of the soles' rectangles, on the ground."""
    legs, corners = biped.legs, []
    sim.refresh()
    for side in range(2):
        link, (x0, x1, y0, y1) = legs.foot_link[side], legs.sole_box[side]
        R = sim.data.rotation[link]
        sole = sim.data.tree_origin[legs.tree] + sim.data.offset[link] + R @ legs.sole_position[side]
        axes = R @ legs.sole_rotation[side]
        corners += [sole + axes @ [x, y, 0.0] for x in (x0, x1) for y in (y0, y1)]
    points = np.array(corners)
    column, outermost = {"toe": (0, np.max), "heel": (0, np.min), "left": (1, np.max), "right": (1, np.min)}[edge]
    middle = points.mean(axis=0)
    middle[column] = outermost(points[:, column])
    middle[2] = 0.0
    return middle


__all__ = ["EDGES", "lean", "limp"]
