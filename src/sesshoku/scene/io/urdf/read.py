"""URDF files to `RobotDescription`.

Decision: URDF is read by this module's own walk over the XML; MuJoCo's reader (`MjSpec`) serves as the oracle in tests
(masses, inertias and poses of whole humanoids agree). MuJoCo's reader passes over velocity limits and every element it
does not know in silence, finds no `package://` mesh, splits a planar joint into three, and refuses floating joints
below the root and moving links without inertia, which good robots have. URDF is a small format, and here every value
of the file is the value of the description.

How URDF maps: a link is a body, the joint to its parent is the body's joint, with the axis through the link's origin.
The root link hangs on the world by a fixed joint, a placeholder that the scene decides over. A floating joint binds
nothing, so its child starts a tree of its own (joint kind "free") at the pose the file gives. <dynamics friction> is
both static and kinetic friction. Collision meshes stand for their convex hulls (see spec.py). A missing collision mesh
is an error, a missing visual mesh is listed as unsupported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import SINGLE_AXIS, Body, Joint, Mimic, RobotDescription
from sesshoku.scene.io.spec import Names, Unsupported, read_xml
from sesshoku.scene.io.unsupported import Grade
from sesshoku.scene.io.urdf import links as urdf_links
from sesshoku.scene.io.urdf.links import attribute, number, only, origin, vector
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

#: attributes and children read of each element; anything else is listed as unsupported
KNOWN: dict[str, tuple[set[str], set[str]]] = {
    "robot": ({"name", "version"}, {"link", "joint", "material"}),
    "link": ({"name"}, {"inertial", "visual", "collision"}),
    "joint": ({"name", "type"}, {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}),
    "inertial": (set(), {"origin", "mass", "inertia"}),
    "visual": ({"name"}, {"origin", "geometry", "material"}),
    "collision": ({"name"}, {"origin", "geometry"}),
    "material": ({"name"}, {"color"}),
    "geometry": (set(), {"box", "sphere", "cylinder", "capsule", "mesh"}),
    "origin": ({"xyz", "rpy", "quat_xyzw"}, set()),
    "parent": ({"link"}, set()), "child": ({"link"}, set()), "axis": ({"xyz"}, set()),
    "limit": ({"lower", "upper", "effort", "velocity"}, set()), "dynamics": ({"damping", "friction"}, set()),
    "mimic": ({"joint", "multiplier", "offset"}, set()), "mass": ({"value"}, set()),
    "inertia": ({"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, set()), "color": ({"rgba"}, set()),
    "box": ({"size"}, set()), "sphere": ({"radius"}, set()), "cylinder": ({"radius", "length"}, set()),
    "capsule": ({"radius", "length"}, set()), "mesh": ({"filename", "scale"}, set()),
}

#: how much what is not read matters, by the tag of the element or of that around it; others change the motion
GRADES = {"gazebo": Grade.SLIGHT, "drake": Grade.SLIGHT} | dict.fromkeys(
    ("visual", "material", "texture", "color", "transmission", "ros2_control", "sensor", "calibration",
     "safety_controller", "verbose"), Grade.LOOKS)


@dataclass
class _JointElement:
    """A <joint> as it stands in the file."""

    name: str
    kind: str
    parent: str
    child: str
    xml: Element

    @property
    def label(self) -> str:
        return f"joint {self.name!r}"


@dataclass
class _Tree:
    links: dict[str, Element]
    joints: dict[str, _JointElement]
    joint_above: dict[str, _JointElement] = field(default_factory=dict)  # by child link
    joints_below: dict[str, list[_JointElement]] = field(default_factory=dict)  # by parent link


def load_urdf(path: str | Path, *, package_paths: Iterable[str | Path] = (),
              decompose: bool = False, repair_inertia: bool = False) -> RobotDescription:
    """Read a URDF file. See `spec.load_robot` for the arguments and the module's text for what becomes of what."""
    with in_file(path):
        root = read_xml(path)
        if root.tag != "robot":
            raise SceneError("not a URDF file", element=f"root element <{root.tag}>", remedy="the root must be <robot>")
        unsupported = Unsupported()
        _list_unknown(root, "", unsupported)
        tree = _read_tree(root)
        links = urdf_links.LinkReader(Path(path), tuple(Path(p) for p in package_paths), decompose, unsupported, root,
                                      repair_inertia)
        name = root.get("name") or Path(path).stem
        description = RobotDescription(check.name(name, "name of the robot", "robot"))
        description.bodies = _read_bodies(tree, links, unsupported)
        description.mimics = _read_mimics(tree, unsupported)
        description.floats = _base_mass(description.bodies) > 0.0
        description.unsupported = unsupported.listed()
        return description


def _base_mass(bodies: list[Body]) -> float:
    """Mass of the root and all that is fixed to it: a root without any (a link "world") stands for the ground."""
    rigid, mass = set(), 0.0
    for body in bodies:
        if body.parent is None and body.joint.kind == "fixed" or body.parent in rigid and body.joint.kind == "fixed":
            rigid.add(body.name)
            mass += body.inertial.mass if body.inertial is not None else 0.0
    return mass


def _list_unknown(element: Element, owner: str, unsupported: Unsupported) -> None:
    """List every attribute and child that KNOWN does not hold; refuse a file whose macros are not expanded."""
    attributes, children = KNOWN[element.tag]
    label = f"{element.tag} {element.get('name')!r}" if element.get("name") else element.tag
    where = f"{label} of {owner}" if owner else label
    for key in element.attrib:
        if key not in attributes:
            unsupported.add(f"attribute {key} of {where}", *_attribute_grade(element.tag, key, attributes))
    named = label if element.get("name") else owner
    for child in element:
        if child.tag.startswith("{") and "xacro" in child.tag:
            raise SceneError("the file holds xacro macros", element=f"<{child.tag.split('}')[-1]}>",
                             remedy="expand it first: xacro robot.urdf.xacro > robot.urdf")
        if child.tag in children:
            _list_unknown(child, named if element.tag != "robot" else "", unsupported)
            continue
        target = child.get("name") or child.get("reference") or child.get("filename")
        item = f"{child.tag} {target!r}" if target else child.tag
        grade = GRADES.get(child.tag, GRADES.get(element.tag, Grade.MOTION))
        unsupported.add(item if element.tag == "robot" else f"{item} of {where}", grade)


def _attribute_grade(tag: str, key: str, known: Iterable[str]) -> tuple[Grade, str]:
    """How much an attribute matters that URDF does not have: a misspelt one may, one of somebody's own hardly does."""
    near = get_close_matches(key.lower(), known, n=1, cutoff=0.8)
    if near and tag not in GRADES:
        return Grade.MOTION, f"did you mean {near[0]!r}?"
    return GRADES.get(tag, Grade.SLIGHT), ""


# ---- the tree --------------------------------------------------------------------------------------------------------


def _read_tree(root: Element) -> _Tree:
    """Links and joints by name, and who hangs on whom; checked to be one tree."""
    links: dict[str, Element] = {}
    for xml in root.findall("link"):
        name = check.name(attribute(xml, "name", "link"), "name of a link", "link")
        if name in links:
            raise SceneError("two links have this name", element=f"link {name!r}", remedy="rename one")
        links[name] = xml
    if not links:
        raise SceneError("the robot has no link", element="robot", remedy="add a <link>")
    tree = _Tree(links, {})
    for xml in root.findall("joint"):
        _add_joint(tree, xml)
    _check_one_tree(tree)
    return tree


def _add_joint(tree: _Tree, xml: Element) -> None:
    name = check.name(attribute(xml, "name", "joint"), "name of a joint", "joint")
    label = f"joint {name!r}"
    if name in tree.joints:
        raise SceneError("two joints have this name", element=label, remedy="rename one")
    kind = attribute(xml, "type", label)
    if kind not in JOINT_TYPES:
        raise SceneError("unknown joint type", element=label, value=kind, remedy=f"use one of {', '.join(JOINT_TYPES)}")
    ends = {}
    for end in ("parent", "child"):
        found = only(xml, end, label)
        if found is None:
            raise SceneError(f"has no <{end}>", element=label, remedy=f'add <{end} link="..."/>')
        ends[end] = attribute(found, "link", f"{label}: {end}")
        if ends[end] not in tree.links:
            raise SceneError(f"the {end} is not a link of the file", element=label, value=ends[end],
                             remedy="correct the name or add the link")
    joint = tree.joints[name] = _JointElement(name, kind, ends["parent"], ends["child"], xml)
    if joint.child in tree.joint_above:
        raise SceneError("the link has two parent joints", element=f"link {joint.child!r}",
                         value=(tree.joint_above[joint.child].name, name), remedy="URDF is a tree: drop one joint")
    tree.joint_above[joint.child] = joint
    tree.joints_below.setdefault(joint.parent, []).append(joint)


def _check_one_tree(tree: _Tree) -> None:
    roots = [name for name in tree.links if name not in tree.joint_above]
    if len(roots) > 1:
        raise SceneError("several links have no parent joint", element="robot", value=roots,
                         remedy="connect them by joints: a URDF has one root")
    reached = set(_parents_first(tree, roots[0])) if roots else set()
    cyclic = [name for name in tree.links if name not in reached]
    if cyclic:
        raise SceneError("the joints form a cycle", element=f"link {cyclic[0]!r}", value=cyclic,
                         remedy="URDF is a tree: drop a joint of the cycle")


def _parents_first(tree: _Tree, root: str) -> list[str]:
    order, waiting = [], [root]
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += [joint.child for joint in reversed(tree.joints_below.get(name, []))]
    return order


# ---- bodies and joints -----------------------------------------------------------------------------------------------


def _read_bodies(tree: _Tree, links: urdf_links.LinkReader, unsupported: Unsupported) -> list[Body]:
    root = next(name for name in tree.links if name not in tree.joint_above)
    # the placeholder's name must not meet that of a joint of the file
    root_joint = Joint("fixed", name=Names(tree.joints).fresh(root))
    bodies = []
    root_pose: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # pose of each link in the root's frame, joints at zero
    for name in _parents_first(tree, root):
        parent, joint = None, root_joint
        position, rotation = np.zeros(3), np.array([1.0, 0, 0, 0])
        above = tree.joint_above.get(name)
        if above is not None:
            parent, joint = above.parent, _read_joint(above, unsupported)
            position, rotation = origin(above.xml, above.label)
            parent_position, parent_rotation = root_pose[above.parent]
            pose = (parent_position + quaternion_to_matrix(parent_rotation) @ position,
                    multiply(parent_rotation, rotation))
            root_pose[name] = pose
            if joint.kind == "free":
                parent, (position, rotation) = None, pose
        else:
            root_pose[name] = (position, rotation)
        inertial, geometries = links.read(tree.links[name], name)
        bodies.append(Body(name, parent, joint, position, rotation, inertial, geometries))
    return bodies


def _read_joint(joint: _JointElement, unsupported: Unsupported) -> Joint:
    label, kind = joint.label, "free" if joint.kind == "floating" else joint.kind
    limit, dynamics = only(joint.xml, "limit", label), only(joint.xml, "dynamics", label)
    if kind == "fixed":  # axis, limits and friction of a joint that does not move mean nothing
        return Joint("fixed", name=joint.name)
    values: dict[str, Any] = {}
    axis = only(joint.xml, "axis", label)
    values["axis"] = (1.0, 0.0, 0.0) if axis is None else vector(axis, "xyz", label)
    if dynamics is not None:
        values["viscous"] = number(dynamics, "damping", label, default=0.0)
        values["static_friction"] = number(dynamics, "friction", label, default=0.0)
    if limit is not None:
        values["effort"] = number(limit, "effort", label, default=np.inf)
        values["velocity_limit"] = number(limit, "velocity", label, default=np.inf)
    if kind in ("revolute", "prismatic"):
        if limit is None:
            raise SceneError(f"a {kind} joint has no <limit>", element=label,
                             remedy="add one" + (" or use type continuous" if kind == "revolute" else ""))
        values["lower"] = number(limit, "lower", label, default=0.0)  # zero is what URDF says of absent limits
        values["upper"] = number(limit, "upper", label, default=0.0)
    elif limit is not None and (limit.get("lower") or limit.get("upper")):
        unsupported.add(f"lower and upper limit of {joint.kind} {label}")
    if kind == "free":
        if dynamics is not None or limit is not None:
            unsupported.add(f"limit and dynamics of floating {label}")
        values = {}
    return Joint(kind, name=joint.name, **values)  # type: ignore[arg-type]


def _read_mimics(tree: _Tree, unsupported: Unsupported) -> list[Mimic]:
    mimics = {}
    for joint in tree.joints.values():
        xml = only(joint.xml, "mimic", joint.label)
        if xml is None:
            continue
        source = attribute(xml, "joint", f"mimic of {joint.label}")
        if source not in tree.joints:
            raise SceneError("mimics a joint that does not exist", element=joint.label, value=source,
                             remedy="correct the name")
        if joint.kind == "fixed" or tree.joints[source].kind == "fixed":  # seen in grippers that were stiffened by hand
            unsupported.add(f"mimic of {joint.label}: it or {source!r} is fixed")
            continue
        for end in (joint, tree.joints[source]):
            if end.kind not in SINGLE_AXIS:
                raise SceneError(f"a {end.kind} joint cannot mimic or be mimicked", element=joint.label, value=end.name,
                                 remedy=f"use one of {', '.join(SINGLE_AXIS)}")
        mimics[joint.name] = Mimic(joint.name, source, number(xml, "multiplier", joint.label, default=1.0),
                                   number(xml, "offset", joint.label, default=0.0))
    for start in mimics:
        seen, at = {start}, mimics[start].source
        while at in mimics and at not in seen:
            seen.add(at)
            at = mimics[at].source
        if at in seen:
            raise SceneError("mimic joints follow each other in a circle", element=f"joint {start!r}",
                             value=sorted(seen), remedy="let one of them move by itself")
    return list(mimics.values())
