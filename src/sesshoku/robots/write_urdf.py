"""URDF of a robot description. Armature, servos and springs have no place in URDF; `gains` and `Bush` say them."""

from __future__ import annotations

import numpy as np

from sesshoku.robots.description import LYING, Hinge, Link, Part, Robot
from sesshoku.scene.geometry.shapes import Box, Cylinder, Sphere


def number(value: float) -> str:
    """Ten digits: more than any robot is made to, few enough to be the same on every machine."""
    return f"{float(value) + 0.0:.10g}"


def numbers(values: object) -> str:
    return " ".join(number(value) for value in values)  # type: ignore[attr-defined]


def urdf(robot: Robot) -> str:
    lines = ['<?xml version="1.0"?>', "<!-- made by python -m sesshoku.robots; edit the description, not this file -->",
             f'<robot name="{robot.name}">',
             '  <material name="shell"><color rgba="0.75 0.77 0.8 1"/></material>',
             '  <material name="motor"><color rgba="0.25 0.28 0.33 1"/></material>']
    for link in robot.links:
        lines += _link(link)
    for link in robot.links:
        if link.parent is not None:
            lines += _joint(link)
    return "\n".join([*lines, "</robot>", ""])


def _link(link: Link) -> list[str]:
    own = link.inertial
    moments = np.asarray(own.matrix)
    names = ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)
    inertia = " ".join(f'{name}="{number(moments[i, j])}"' for name, i, j in names)
    lines = [f'  <link name="{link.name}">', f'    <inertial><origin xyz="{numbers(own.center)}"/>',
             f'      <mass value="{number(own.mass)}"/><inertia {inertia}/></inertial>']
    for part in link.parts:
        where = (f'<origin xyz="{numbers(part.at)}" rpy="{numbers(LYING[part.along])}"/>'
                 f"<geometry>{_solid(part)}</geometry>")
        color = "shell" if part.collides else "motor"
        lines.append(f'    <visual>{where}<material name="{color}"/></visual>')
        if part.collides:
            lines.append(f"    <collision>{where}</collision>")
    return [*lines, "  </link>"]


def _solid(part: Part) -> str:
    solid = part.solid
    if isinstance(solid, Box):
        return f'<box size="{numbers(solid.size)}"/>'
    if isinstance(solid, Sphere):
        return f'<sphere radius="{number(solid.radius)}"/>'
    if isinstance(solid, Cylinder):
        return f'<cylinder radius="{number(solid.radius)}" length="{number(solid.length)}"/>'
    raise TypeError(f"URDF has no {solid.kind}")


def _joint(link: Link) -> list[str]:
    ends = f'<parent link="{link.parent}"/><child link="{link.name}"/><origin xyz="{numbers(link.origin)}"/>'
    joint = link.joint
    if joint is None:
        return [f'  <joint name="{link.name}_mount" type="fixed">{ends}</joint>']
    return [f'  <joint name="{joint.name}" type="{"prismatic" if joint.slides else "revolute"}">',
            f'    {ends}<axis xyz="{numbers(joint.axis)}"/>', f"    {_limits(joint)}", "  </joint>"]


def _limits(joint: Hinge) -> str:
    text = (f'<limit lower="{number(joint.lower)}" upper="{number(joint.upper)}" effort="{number(joint.effort)}" '
            f'velocity="{number(joint.velocity)}"/><dynamics damping="{number(joint.damping)}" friction="0"/>')
    return text + (f'<mimic joint="{joint.mimics}" multiplier="1" offset="0"/>' if joint.mimics else "")
