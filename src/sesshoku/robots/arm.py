"""A six-axis arm with a two-finger parallel gripper, and things to push and lift.

The arm stands on a table or floor, upright at zero: shoulder pan (z), shoulder lift (y), elbow (y), then a wrist whose
three axes meet: forearm roll (z), wrist pitch (y), wrist roll (z). Reach 0.85 m from shoulder to flange.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sesshoku.robots.description import ZERO, Hinge, Link, Part, Pose, Robot, Servo, Vector, Y, Z, servo
from sesshoku.scene.elements import Inertial
from sesshoku.scene.geometry.mass import combine
from sesshoku.scene.geometry.shapes import Box, Cylinder

SHOULDER_HEIGHT, UPPER_ARM, FOREARM, FLANGE = 0.18, 0.40, 0.36, 0.09
OPENING = 0.05  # travel of each finger (m)
STIFFNESS = {"shoulder_pan": 4000.0, "shoulder_lift": 4000.0, "elbow": 3000.0, "forearm_roll": 500.0,
             "wrist_pitch": 500.0, "wrist_roll": 300.0, "left_finger": 5000.0}
HOME = {"shoulder_lift": 0.1, "elbow": 1.6, "wrist_pitch": np.pi - 1.7, "left_finger": 0.03}  # gripper looks down


def _tube(radius: float, length: float, at: Vector, along: str = "z") -> Part:
    return Part(Cylinder(radius, length), at, along)  # type: ignore[arg-type]


def _link(name: str, masses_and_parts: list[tuple[float, Part]], parent: str | None = None, joint: Hinge | None = None,
          origin: Vector = ZERO) -> Link:
    whole = combine((part.inertial(mass), ZERO, (1.0, 0.0, 0.0, 0.0)) for mass, part in masses_and_parts)
    matrix = np.asarray(whole.matrix).copy()
    matrix[np.abs(matrix) < 1e-12 * np.abs(matrix).max()] = 0.0  # what symmetry cancels up to rounding
    parts = tuple(part for _, part in masses_and_parts)
    return Link(name, Inertial(whole.mass, whole.center, matrix), parent, joint, origin, parts)


def _turns(name: str, axis: Vector, reach: float, effort: float, speed: float = 3.2) -> Hinge:
    return Hinge(name, axis, -reach, reach, effort, speed)


def _finger(side: str, sign: float, mimics: str | None) -> Link:
    pad = Part(Box((0.024, 0.012, 0.07)), (0.0, sign * 0.006, 0.035))
    joint = Hinge(f"{side}_finger", (0.0, sign, 0.0), 0.0, OPENING, 80.0, 0.3, slides=True, mimics=mimics)
    return _link(f"{side}_fingertip", [(0.10, pad)], "gripper", joint, (0.0, 0.0, 0.06))


def describe() -> Robot:
    links = (
        _link("base", [(5.2, _tube(0.085, 0.10, (0, 0, 0.05)))]),
        _link("shoulder", [(3.6, _tube(0.070, 0.15, (0, 0, 0.0), "y"))], "base",
              _turns("shoulder_pan", Z, 3.1, 150.0), (0, 0, SHOULDER_HEIGHT)),
        # the upper arm runs beside the shoulder, the forearm comes back to the middle plane
        _link("upper_arm", [(2.4, _tube(0.055, UPPER_ARM, (0, 0.125, UPPER_ARM / 2))),
                            (1.4, _tube(0.065, 0.11, (0, 0.125, UPPER_ARM), "y")),
                            (1.2, _tube(0.065, 0.10, (0, 0.125, 0.0), "y"))],
              "shoulder", _turns("shoulder_lift", Y, 2.2, 150.0)),
        _link("elbow_block", [(1.2, _tube(0.055, 0.11, (0, 0.01, 0), "y")), (1.0, _tube(0.045, 0.16, (0, 0, 0.10)))],
              "upper_arm", _turns("elbow", Y, 2.7, 100.0), (0, 0, UPPER_ARM)),
        _link("forearm", [(1.4, _tube(0.040, 0.14, (0, 0, -0.10)))], "elbow_block",
              _turns("forearm_roll", Z, 3.1, 40.0), (0, 0, FOREARM)),
        _link("wrist", [(1.1, _tube(0.038, 0.09, (0, 0, 0), "y"))], "forearm", _turns("wrist_pitch", Y, 2.1, 40.0)),
        _link("flange", [(0.6, _tube(0.036, 0.05, (0, 0, FLANGE - 0.025)))], "wrist",
              _turns("wrist_roll", Z, 3.1, 20.0)),
        _link("gripper", [(0.7, Part(Box((0.05, 0.14, 0.06)), (0, 0, 0.03)))], "flange", None, (0, 0, FLANGE)),
        _finger("left", 1.0, None),
        _finger("right", -1.0, "left_finger"),
    )
    robot = Robot("arm_gripper", links, fixed=True, home_name="home", home=Pose(0.0, dict(HOME)))
    return replace(robot, servos=gains(robot))


def gains(robot: Robot | None = None) -> dict[str, Servo]:
    """kp, kd, armature and effort limit of every driven joint."""
    robot = robot or describe()
    inertias = robot.joint_inertias(HOME)
    return {name: servo(kp, inertias[name], robot.joints[name].effort) for name, kp in STIFFNESS.items()}


def home_pose() -> Pose:
    """Elbow bent, gripper looking down, fingers half open."""
    return Pose(0.0, dict(HOME))


def crate(name: str, edge: float, mass: float) -> Robot:
    """A loose cube resting on z = 0: "crate" 0.2 m of 2 kg wood, "cube" the 1 m, 1 kg body of the sliding tests."""
    part = Part(Box((edge, edge, edge)))
    return Robot(name, (Link(name, part.inertial(mass), parts=(part,)),), home=Pose(0.5 * edge, {}))
