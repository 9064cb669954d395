"""MJCF of a robot description: links, servos, springs, mimics, sensors, the starting pose as a keyframe. No ground."""

from __future__ import annotations

import numpy as np

from sesshoku.robots.description import LYING, Hinge, Link, Part, Robot
from sesshoku.robots.write_urdf import number, numbers
from sesshoku.scene.geometry.shapes import Box, Sphere
from sesshoku.spatial.rotation import from_roll_pitch_yaw


def mjcf(robot: Robot) -> str:
    lines = ["<!-- made by python -m sesshoku.robots; edit the description, not this file -->",
             f'<mujoco model="{robot.name}">',
             '  <compiler angle="radian" autolimits="true"/>',
             '  <option timestep="0.001" gravity="0 0 -9.8"/>',
             *_defaults(robot), "  <worldbody>", *_body(robot, robot.links[0], "    "), "  </worldbody>",
             *_contact(robot), *_equality(robot), *_actuators(robot), *_sensors(robot), *_keyframe(robot)]
    return "\n".join([*lines, "</mujoco>", ""])


def _defaults(robot: Robot) -> list[str]:
    # classes of their own, not the file's: whoever adds a ground to the file must not inherit the robot's filter
    # category 2, mask 1: the links touch the world and loose things, not one another
    touch = ' contype="2" conaffinity="1"' if len(robot.links) > 1 else ""
    return ["  <default>", f'    <default class="{robot.name}">',
            f'      <geom friction="{number(robot.friction)} 0 0" rgba="0.75 0.77 0.8 1"{touch}/>',
            f'      <default class="{robot.name}_motor">',
            '        <geom contype="0" conaffinity="0" group="1" rgba="0.25 0.28 0.33 1"/>', "      </default>",
            "    </default>", "  </default>"]


def _body(robot: Robot, link: Link, indent: str) -> list[str]:
    root = link.parent is None
    place = link.origin if not root or robot.home is None else (0.0, 0.0, robot.home.base_height)
    style = f' childclass="{robot.name}"' if root else ""
    lines = [f'{indent}<body name="{link.name}" pos="{numbers(place)}"{style}>']
    if root and not robot.fixed:
        lines.append(f'{indent}  <freejoint name="{robot.name}_free"/>')
    if link.joint is not None:
        lines.append(f"{indent}  {_joint(robot, link.joint)}")
    own = link.inertial
    moments = np.asarray(own.matrix)
    spread = f'diaginertia="{numbers(np.diag(moments))}"'
    if np.abs(moments - np.diag(np.diag(moments))).max() > 0.0:
        spread = f'fullinertia="{numbers(moments[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])}"'
    lines.append(f'{indent}  <inertial pos="{numbers(own.center)}" mass="{number(own.mass)}" {spread}/>')
    for count, part in enumerate(link.parts):
        lines.append(f"{indent}  {_geom(robot, link.name + (f'_{count}' if count else ''), part)}")
    lines += [f'{indent}  <site name="{mount.name}" pos="{numbers(mount.at)}"/>'
              for mount in robot.sensors if mount.link == link.name]
    for child in robot.children(link.name):
        lines += _body(robot, child, indent + "  ")
    return [*lines, f"{indent}</body>"]


def _joint(robot: Robot, joint: Hinge) -> str:
    servo = robot.servos.get(joint.name)
    text = (f'<joint name="{joint.name}" type="{"slide" if joint.slides else "hinge"}" axis="{numbers(joint.axis)}" '
            f'range="{number(joint.lower)} {number(joint.upper)}" '
            f'armature="{number(servo.armature if servo else joint.armature)}"')
    if joint.stiffness:
        text += f' stiffness="{number(joint.stiffness)}"'
    if joint.damping:
        text += f' damping="{number(joint.damping)}"'
    return text + "/>"


def _geom(robot: Robot, name: str, part: Part) -> str:
    solid = part.solid
    if isinstance(solid, Box):
        size = [0.5 * edge for edge in solid.size]
    elif isinstance(solid, Sphere):
        size = [solid.radius]
    else:
        size = [solid.radius, 0.5 * solid.length]
    lying = "" if part.along == "z" else f' quat="{numbers(from_roll_pitch_yaw(*LYING[part.along]))}"'
    look = "" if part.collides else f' class="{robot.name}_motor"'
    return f'<geom name="{name}"{look} type="{solid.kind}" size="{numbers(size)}" pos="{numbers(part.at)}"{lying}/>'


def _contact(robot: Robot) -> list[str]:
    """Links that are neighbours but for motor blocks in between: never in contact, even if self-collision is wanted."""
    solid = {link.name: any(part.collides for part in link.parts) for link in robot.links}
    parent = {link.name: link.parent for link in robot.links}
    pairs = []
    for link in robot.links:
        above = link.parent
        while above is not None and not solid[above]:
            above = parent[above]
        if solid[link.name] and above is not None:
            pairs.append(f'    <exclude body1="{above}" body2="{link.name}"/>')
    return ["  <contact>", *pairs, "  </contact>"] if pairs else []


def _equality(robot: Robot) -> list[str]:
    pairs = [f'    <joint joint1="{joint.name}" joint2="{joint.mimics}" polycoef="0 1 0 0 0"/>'
             for joint in robot.joints.values() if joint.mimics]
    return ["  <equality>", *pairs, "  </equality>"] if pairs else []


def _in_file_order(robot: Robot, name: str) -> list[Link]:
    """Links as MJCF lists them, a branch at a time: the order of its joint coordinates and of our actuators."""
    found = [link for link in robot.links if link.name == name]
    return found + [below for link in robot.children(name) for below in _in_file_order(robot, link.name)]


def _driven(robot: Robot) -> list[Hinge]:
    joints = [link.joint for link in _in_file_order(robot, robot.links[0].name)]
    return [joint for joint in joints if joint is not None and joint.name in robot.servos and not joint.mimics]


def _actuators(robot: Robot) -> list[str]:
    lines = []
    for joint in _driven(robot):
        kp, kd, _, effort = robot.servos[joint.name]
        lines.append(f'    <position name="{joint.name}" joint="{joint.name}" kp="{number(kp)}" kv="{number(kd)}" '
                     f'ctrlrange="{number(joint.lower)} {number(joint.upper)}" '
                     f'forcerange="{number(-effort)} {number(effort)}"/>')
    return ["  <actuator>", *lines, "  </actuator>"] if lines else []


def _sensors(robot: Robot) -> list[str]:
    kinds = {"force": ("force", "torque"), "imu": ("accelerometer", "gyro")}
    lines = [f'    <{kind} name="{mount.name}_{kind}" site="{mount.name}"/>'
             for mount in robot.sensors for kind in kinds[mount.kind]]
    return ["  <sensor>", *lines, "  </sensor>"] if lines else []


def _keyframe(robot: Robot) -> list[str]:
    if robot.home is None or not robot.joints:
        return []
    at = robot.home.joints
    joints = [link.joint for link in _in_file_order(robot, robot.links[0].name) if link.joint is not None]
    positions = [at.get(joint.mimics or joint.name, 0.0) for joint in joints]
    if not robot.fixed:
        positions = [0.0, 0.0, robot.home.base_height, 1.0, 0.0, 0.0, 0.0, *positions]
    targets = [at.get(joint.name, 0.0) for joint in _driven(robot)]
    return ["  <keyframe>", f'    <key name="{robot.home_name}" qpos="{numbers(positions)}"',
            f'         ctrl="{numbers(targets)}"/>', "  </keyframe>"]
