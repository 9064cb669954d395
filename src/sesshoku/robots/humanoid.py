"""Two humanoids with box feet, and the large one on bush feet. x forward, y left, z up.

small: 6 + 20 degrees of freedom, 6 kg, 0.48 m. large: 6 + 30, 58 kg, 1.54 m. Leg chain: hip yaw, roll, pitch in one
point, knee pitch, ankle pitch, roll in one point. Angles turn about +x (roll), +y (pitch) and +z (yaw) of the parent,
so a knee bends with positive and a leg or forearm swings forward with negative angles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.robots.bush import Bush, on_bushes
from sesshoku.robots.description import ZERO, Hinge, Link, Mount, Part, Pose, Robot, Servo, Vector, X, Y, Z, servo
from sesshoku.scene.elements import Inertial
from sesshoku.scene.geometry.shapes import Box, Sphere

__all__ = ["KINDS", "SIZES", "Bush", "describe", "gains", "standing_pose", "walking_stance"]

KINDS = ("small", "large", "large_bush")
SIDES = (("left", 1.0), ("right", -1.0))
GRAVITY = 9.8
STIFFNESS = 10.0  # kp of legs and waist in units of M g z; arms and neck have a tenth


@dataclass(frozen=True)
class Size:
    """Dimensions (m) and masses (kg, before all are scaled to `mass`); box sizes are half edges.

    gain_height: the z in kp = 10 M g z. walk: centre of mass in the walking stance, x ahead of the ankles and z.
    effort: N m of hip yaw, roll, pitch, knee, ankle pitch, roll, then of shoulders and elbow, wrist and neck, waist.
    """

    mass: float
    foot: Vector
    foot_forward: float
    ankle: float
    shank: float
    thigh: float
    hip_y: float
    hip_drop: float
    torso: Vector
    head: Vector
    neck: float
    shoulder_y: float
    upper_arm: float
    forearm: float
    thickness: float
    block: float
    torso_mass: float
    head_mass: float
    block_mass: float
    thigh_mass: float
    shank_mass: float
    foot_mass: float
    upper_arm_mass: float
    forearm_mass: float
    gain_height: float
    walk: tuple[float, float]
    effort: tuple[float, ...]
    velocity: float


SIZES = {
    "small": Size(
        mass=6.0, foot=(0.05, 0.03, 0.01), foot_forward=0.01, ankle=0.04, shank=0.10, thigh=0.10, hip_y=0.04,
        hip_drop=0.03, torso=(0.03, 0.05, 0.065), head=(0.025, 0.03, 0.03), neck=0.02, shoulder_y=0.07, upper_arm=0.075,
        forearm=0.085, thickness=0.02, block=0.022, torso_mass=2.2, head_mass=0.25, block_mass=0.12, thigh_mass=0.30,
        shank_mass=0.25, foot_mass=0.18, upper_arm_mass=0.15, forearm_mass=0.15,
        gain_height=0.2467,  # of the standing pose; the walking stance is a little lower
        walk=(0.01, 0.24), effort=(3.0, 8.0, 15.0, 15.0, 10.0, 5.0, 3.0, 1.0, 10.0), velocity=25.0),
    "large": Size(
        mass=58.0, foot=(0.12, 0.07, 0.015), foot_forward=0.03, ankle=0.11, shank=0.30, thigh=0.30, hip_y=0.09,
        hip_drop=0.10, torso=(0.09, 0.15, 0.18), head=(0.07, 0.08, 0.095), neck=0.08, shoulder_y=0.21, upper_arm=0.25,
        forearm=0.24, thickness=0.045, block=0.06, torso_mass=20.0, head_mass=2.0, block_mass=0.9, thigh_mass=4.0,
        shank_mass=3.2, foot_mass=1.6, upper_arm_mass=1.6, forearm_mass=1.3,
        gain_height=0.72, walk=(0.03, 0.72),
        effort=(40.0, 150.0, 150.0, 250.0, 100.0, 80.0, 60.0, 15.0, 200.0), velocity=12.0),
}

# (lower, upper) in rad; where left and right differ the left one stands here and the right one is its mirror image
LIMITS = {
    "hip_yaw": (-0.7, 0.7), "hip_roll": (-0.6, 0.6), "hip_pitch": (-2.0, 0.7), "knee": (0.0, 2.5),
    "ankle_pitch": (-1.2, 0.8), "ankle_roll": (-0.6, 0.6), "shoulder_pitch": (-3.0, 1.0), "shoulder_roll": (-0.3, 2.8),
    "shoulder_yaw": (-1.6, 1.6), "elbow": (-2.5, 0.0), "wrist_yaw": (-1.6, 1.6), "wrist_pitch": (-1.2, 1.2),
    "wrist_roll": (-0.8, 0.8), "waist_yaw": (-1.2, 1.2), "waist_pitch": (-0.5, 1.0), "neck_yaw": (-1.2, 1.2),
    "neck_pitch": (-0.6, 0.8),
}
LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")


class _Builder:
    """Collects links; one method per kind of link."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.links: list[Link] = []

    def box(self, name: str, mass: float, half: Vector, at: Vector, **joint: Any) -> None:
        """A link whose collision box (half edges, middle) also gives its inertia."""
        part = Part(Box(tuple(2 * edge for edge in half)), at)  # type: ignore[arg-type]
        self._add(name, part.inertial(mass), part, **joint)

    def block(self, name: str, share: float, radius: float = 1.0, **joint: Any) -> None:
        """A motor block: a ball that is seen and has mass, but touches nothing. share, radius: of the usual block."""
        part = Part(Sphere(self.size.block * radius), collides=False)
        self._add(name, part.inertial(self.size.block_mass * share), part, **joint)

    def _add(self, name: str, inertial: Inertial, part: Part, parent: str | None = None, joint: str | None = None,
             axis: Vector = Z, origin: Vector = ZERO) -> None:
        hinge = None if joint is None else self._hinge(joint, axis)
        self.links.append(Link(name, inertial, parent, hinge, origin, (part,)))

    def _hinge(self, name: str, axis: Vector) -> Hinge:
        kind = name.removeprefix("left_").removeprefix("right_")
        lower, upper = LIMITS[kind]
        if name.startswith("right_") and axis != Y:  # roll and yaw are mirrored, pitch is not
            lower, upper = -upper, -lower
        efforts = self.size.effort
        if kind in LEG:
            effort = efforts[LEG.index(kind)]
        else:
            effort = efforts[8 if kind.startswith("waist") else 7 if kind.startswith(("wrist", "neck")) else 6]
        return Hinge(name, axis, lower, upper, effort, self.size.velocity)


def _trunk(build: _Builder, large: bool) -> tuple[str, str, float]:
    """Adds the trunk; returns the links that carry legs and arms, and the height of the shoulders above the latter."""
    c = build.size
    half = c.torso[2]
    if not large:
        build.box("torso", c.torso_mass, c.torso, (0.0, 0.0, half))
        # the head is rigid: a second box, its mass lumped at the torso's centre
        torso = build.links[0]
        head = Part(Box(tuple(2 * edge for edge in c.head)), (0, 0, 2 * half + c.neck + c.head[2]))  # type: ignore[arg-type]
        inertial = replace(torso.inertial, mass=c.torso_mass + c.head_mass)
        build.links[0] = replace(torso, inertial=inertial, parts=(*torso.parts, head))
        return "torso", "torso", 2 * half - c.thickness
    build.box("pelvis", 0.35 * c.torso_mass, (c.torso[0], 0.8 * c.torso[1], 0.05), (0, 0, 0.02))
    build.block("waist", 1.0, parent="pelvis", joint="waist_yaw", axis=Z, origin=(0, 0, 0.08))
    build.box("chest", 0.65 * c.torso_mass, c.torso, (0, 0, 0.02 + half), parent="waist", joint="waist_pitch", axis=Y)
    build.block("neck", 0.5, 0.8, parent="chest", joint="neck_yaw", axis=Z, origin=(0, 0, 0.04 + 2 * half))
    build.box("head", c.head_mass, c.head, (0, 0, c.head[2]), parent="neck", joint="neck_pitch", axis=Y,
              origin=(0, 0, c.neck - 0.02))
    return "pelvis", "chest", 0.02 + 2 * half - c.thickness


def _leg(build: _Builder, side: str, sign: float, hips: str) -> None:
    c, w = build.size, build.size.thickness
    build.block(f"{side}_hip", 1.0, parent=hips, joint=f"{side}_hip_yaw", axis=Z,
                origin=(0, sign * c.hip_y, -c.hip_drop))
    build.block(f"{side}_hip_cross", 1.0, parent=f"{side}_hip", joint=f"{side}_hip_roll", axis=X)
    build.box(f"{side}_thigh", c.thigh_mass, (w, w, 0.4 * c.thigh), (0, 0, -0.5 * c.thigh),
              parent=f"{side}_hip_cross", joint=f"{side}_hip_pitch", axis=Y)
    build.box(f"{side}_shank", c.shank_mass, (w, w, 0.4 * c.shank), (0, 0, -0.5 * c.shank),
              parent=f"{side}_thigh", joint=f"{side}_knee", axis=Y, origin=(0, 0, -c.thigh))
    build.block(f"{side}_ankle", 1.0, parent=f"{side}_shank", joint=f"{side}_ankle_pitch", axis=Y,
                origin=(0, 0, -c.shank))
    build.box(f"{side}_foot", c.foot_mass, c.foot, (c.foot_forward, 0, c.foot[2] - c.ankle),
              parent=f"{side}_ankle", joint=f"{side}_ankle_roll", axis=X)


def _arm(build: _Builder, side: str, sign: float, chest: str, height: float, large: bool) -> None:
    c, w = build.size, build.size.thickness
    build.block(f"{side}_shoulder", 0.6, parent=chest, joint=f"{side}_shoulder_pitch", axis=Y,
                origin=(0, sign * c.shoulder_y, height))
    build.block(f"{side}_shoulder_cross", 0.6, parent=f"{side}_shoulder", joint=f"{side}_shoulder_roll", axis=X)
    build.box(f"{side}_upper_arm", c.upper_arm_mass, (0.8 * w, 0.8 * w, 0.4 * c.upper_arm), (0, 0, -0.5 * c.upper_arm),
              parent=f"{side}_shoulder_cross", joint=f"{side}_shoulder_yaw", axis=Z)
    build.box(f"{side}_forearm", c.forearm_mass, (0.7 * w, 0.7 * w, 0.4 * c.forearm), (0, 0, -0.5 * c.forearm),
              parent=f"{side}_upper_arm", joint=f"{side}_elbow", axis=Y, origin=(0, 0, -c.upper_arm))
    if large:
        build.block(f"{side}_wrist", 0.4, 0.8, parent=f"{side}_forearm", joint=f"{side}_wrist_yaw", axis=Z,
                    origin=(0, 0, -c.forearm))
        build.block(f"{side}_wrist_cross", 0.4, 0.8, parent=f"{side}_wrist", joint=f"{side}_wrist_pitch", axis=Y)
        build.box(f"{side}_hand", 0.6 * c.block_mass, (0.03, 0.04, 0.06), (0, 0, -0.06),
                  parent=f"{side}_wrist_cross", joint=f"{side}_wrist_roll", axis=X)


@cache
def _body(kind: str) -> Robot:
    """The robot with rigid feet, without servos or pose."""
    size, large = SIZES[kind], kind == "large"
    build = _Builder(size)
    hips, chest, shoulder_height = _trunk(build, large)
    for side, sign in SIDES:
        _leg(build, side, sign, hips)
        _arm(build, side, sign, chest, shoulder_height, large)
    factor = size.mass / sum(link.inertial.mass for link in build.links)
    # where the feet hang on the legs, and the base link, whose orientation a walking controller wants
    sensors = (*(Mount(f"{side}_ankle", "force", f"{side}_foot") for side, _ in SIDES), Mount("trunk", "imu", hips))
    return Robot(f"humanoid_{kind}", tuple(link.scaled(factor) for link in build.links), sensors=sensors)


def _family(kind: str) -> str:
    if kind not in KINDS:
        raise SceneError("unknown humanoid", value=kind, remedy=f"use one of {', '.join(KINDS)}")
    return kind.removesuffix("_bush")


def standing_pose(kind: str) -> Pose:
    """Knees and elbows a little bent, soles flat at z = 0."""
    joints = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3, "elbow": -0.5}
    return _planted(_family(kind), {f"{side}_{joint}": value for side, _ in SIDES for joint, value in joints.items()})


def walking_stance(kind: str) -> Pose:
    """The stance in which the gaits start: centre of mass over the middle of the soles at walking height."""
    height, joints = _solve_stance(_family(kind))
    return Pose(height, dict(joints))


@cache
def _solve_stance(family: str) -> Pose:
    robot, target = _body(family), np.array(SIZES[family].walk)

    def stance(legs: np.ndarray) -> tuple[Pose, np.ndarray]:
        hip, knee = (float(angle) for angle in legs)
        values = {"hip_pitch": hip, "knee": knee, "ankle_pitch": -hip - knee, "elbow": -0.5}
        pose = _planted(family, {f"{side}_{name}": value for side, _ in SIDES for name, value in values.items()})
        com = robot.center_of_mass(pose.joints, (0.0, 0.0, pose.base_height))
        ankle = robot.poses(pose.joints)["left_ankle"][0]
        return pose, np.array([com[0] - ankle[0], com[2]]) - target

    legs = np.array([-0.4, 0.8])
    for _ in range(20):  # Newton on two angles
        pose, error = stance(legs)
        if np.abs(error).max() < 1e-13:
            break
        slope = np.stack([(stance(legs + step)[1] - error) / 1e-6 for step in 1e-6 * np.eye(2)], axis=1)
        legs = legs - np.linalg.solve(slope, error)
    return pose


def _planted(family: str, joints: dict[str, float]) -> Pose:
    ankle = _body(family).poses(joints)["left_ankle"][0]
    return Pose(float(SIZES[family].ankle - ankle[2]), joints)


@cache
def _servos(family: str) -> dict[str, Servo]:
    robot, size = _body(family), SIZES[family]
    kp = STIFFNESS * robot.mass * GRAVITY * size.gain_height
    inertias = robot.joint_inertias(walking_stance(family).joints)
    strong = {f"{side}_{joint}" for side, _ in SIDES for joint in LEG} | {"waist_yaw", "waist_pitch"}
    return {name: servo(kp if name in strong else 0.1 * kp, inertias[name], joint.effort)
            for name, joint in robot.joints.items()}


def gains(kind: str) -> dict[str, Servo]:
    """kp, kd, armature and effort limit of every driven joint (URDF cannot carry the first three)."""
    return dict(_servos(_family(kind)))


def describe(kind: str, bush: Bush | None = None) -> Robot:
    """The robot: "small", "large" or "large_bush" (on `bush`, the stiff default unless given)."""
    family = _family(kind)
    robot = _body(family)
    links = robot.links
    if kind.endswith("_bush"):
        links = tuple(new for link in links for new in
                      (on_bushes(link, bush or Bush()) if link.name.endswith("_foot") else [link]))
    return replace(robot, name=f"humanoid_{kind}", links=links, servos=gains(kind), home=standing_pose(kind))
