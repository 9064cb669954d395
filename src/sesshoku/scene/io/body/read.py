"""Choreonoid's body files (`.body`, YAML) to `RobotDescription`, written from the format's reference manual.

How they map:
- A link is a body; its joint's axis goes through its origin. revolute joints without a range are continuous. A root of
  type `free` floats, one of type `fixed` stands. Angles are degrees unless `angle_unit: radian`.
- Old keys (`jointType`) and new ones (`joint_type`) are the same.
- `rotor_inertia` times `gear_ratio` squared is the joint's armature. Ranges of velocity and effort are kept.
- Shapes: boxes, spheres, cylinders, capsules as such (their axis is y, as in VRML); cones, extrusions, grids and face
  sets as triangles, which stand for their convex hulls in contact (see spec.py). A shape below neither `Visual` nor
  `Collision` is both. Files: VRML 97 (`.wrl`, each of its shapes a hull of its own), Collada, STL, OBJ and what
  mesh.py reads.
- ForceSensor, AccelerationSensor, RateGyroSensor and Imu are sensors; other devices are listed.
- `extra_joints` close loops: ball, hinge, fixed. `standard_pose` is the pose "standard".
- `collision_detection` excludes pairs of links. Materials of links are named in another file and listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import Body, Joint, Loop, RobotDescription
from sesshoku.scene.io.body import yaml as yml
from sesshoku.scene.io.body.parts import PartReader, combined
from sesshoku.scene.io.body.yaml import Entries, Items, Text, read_yaml
from sesshoku.scene.io.unsupported import Grade, Unsupported
from sesshoku.spatial.rotation import matrix_to_quaternion

KINDS = {"revolute": "revolute", "rotate": "revolute", "rotational": "revolute", "prismatic": "prismatic",
         "slide": "prismatic", "translational": "prismatic", "free": "free", "fixed": "fixed"}
TRACKS = ("pseudo_continuous_track", "pseudocontinuoustrack", "crawler")
AXES = {"X": (1.0, 0, 0), "Y": (0, 1.0, 0), "Z": (0, 0, 1.0)}
LOOPS = {"ball": "ball", "spherical": "ball", "hinge": "hinge", "revolute": "hinge", "fixed": "weld"}
#: for whoever plans motions, not for those who simulate them
INFORMATION = ("link_group", "foot_links", "default_ik_setup", "possible_ik_interpolation_links",
               "default_ik_interpolation_links", "possible_support_links", "linear_interpolation_joints",
               "symmetric_joints", "symmetric_iks", "body_motion_info")


def load_body_file(path: str | Path, *, package_paths: Iterable[str | Path] = (), decompose: bool = False,
                   repair_inertia: bool = False) -> RobotDescription:
    """Read a body file. See `spec.load_robot` for the arguments and the module's text for what becomes of what."""
    path, unsupported = Path(path), Unsupported()
    with in_file(path):
        root = read_yaml(path, unsupported)
        degrees = _header(root, path)
        links = _links(root)
        parts = PartReader(path, tuple(Path(p) for p in package_paths), decompose, repair_inertia, degrees, unsupported)
        name = root.take("name")
        description = RobotDescription(check.name(str(name) if name else path.stem, "name of the robot", "body file"))
        numbers: dict[int, Joint] = {}
        for link_name in _parents_first(links, root.take("root_link")):
            body, sensors = _body(links[link_name], link_name, parts, numbers, unsupported)
            description.bodies.append(body)
            description.sensors += sensors
        description.loops = _loops(root, links, unsupported)
        description.poses = _poses(root, numbers, degrees)
        description.excluded_pairs = _excluded(root, links, unsupported)
        for key in root.left():
            why = " (for planning, not for motion)" if key in INFORMATION else ""
            unsupported.add(f"{key} of the file{why}", Grade.LOOKS)
        description.unsupported = unsupported.listed()
        return description


def _header(root: Entries, path: Path) -> bool:
    """Whether angles are degrees; a file of another format is refused."""
    kind = root.take("format")
    if kind is None and "model_file" in root:
        raise SceneError("adds to an OpenHRP model, which is not read", element="model_file",
                         value=str(root["model_file"]), remedy="convert that file to a body file or to URDF")
    if str(kind) != "ChoreonoidBody":
        raise SceneError("not a body file", element="format", value=None if kind is None else str(kind),
                         remedy="it must say `format: ChoreonoidBody`")
    version = root.take("format_version")
    if version is not None and not 1.0 <= yml.number(version, "format_version", "body file") < 3.0:
        raise SceneError("unknown version of the format", element=yml.place(version, "format_version"),
                         value=str(version), remedy="versions 1 and 2 are known")
    unit = root.take("angle_unit")
    if unit is not None and str(unit) not in ("degree", "radian"):
        raise SceneError("unknown unit of angles", element=yml.place(unit, "angle_unit"), value=str(unit),
                         remedy="use degree or radian")
    return str(unit) != "radian"


# ---- links -----------------------------------------------------------------------------------------------------------


def _links(root: Entries) -> dict[str, Entries]:
    """Links by name, in the file's order."""
    given = root.take("links")
    if not isinstance(given, Items) or not given:
        raise SceneError("there are no links", element="links", remedy="add `links:` with a list of them")
    links: dict[str, Entries] = {}
    for item in given:
        if not isinstance(item, Entries):
            raise SceneError("a link is not a mapping", element=yml.place(item, "links"), value=item)
        kind = item.take("type")
        if kind is not None and str(kind) != "Link":
            raise SceneError(f"a {kind} is not read", element=yml.place(item, "links"), value=str(kind),
                             remedy="write its links into this file")
        name = check.name(yml.text(item.take("name"), "name", yml.place(item, "link")), "name of a link",
                          yml.place(item, "link"))
        if name in links:
            raise SceneError("two links have this name", element=yml.place(item, f"link {name!r}"), remedy="rename one")
        links[name] = item
    return links


def _parents_first(links: dict[str, Entries], wanted_root: Any) -> list[str]:
    """Names of links in an order in which every parent comes before its children; checked to be one tree."""
    parents = {name: None if link.take("parent") is None else str(link["parent"]) for name, link in links.items()}
    for name, parent in parents.items():
        if parent is not None and parent not in links:
            raise SceneError("the parent does not exist", element=yml.place(links[name], f"link {name!r}"),
                             value=parent, remedy=f"links: {', '.join(list(links)[:12])}")
    roots = [name for name, parent in parents.items() if parent is None]
    if wanted_root is not None and str(wanted_root) not in roots:
        raise SceneError("root_link is no link without a parent", element=yml.place(wanted_root, "root_link"),
                         value=str(wanted_root), remedy=f"links without a parent: {', '.join(roots) or 'none'}")
    if len(roots) > 1:
        raise SceneError("several links have no parent", element="links", value=roots, remedy="give them one each")
    order, level = [], roots
    while level:
        order += level
        level = [name for name in links if parents[name] in level]
    if len(order) != len(links):
        raise SceneError("links hang on each other in a circle", element="links",
                         value=sorted(set(links) - set(order)), remedy="let one of them be the root")
    return order


def _body(link: Entries, name: str, parts: PartReader, numbers: dict[int, Joint],
          unsupported: Unsupported) -> tuple[Body, list[Any]]:
    label = yml.place(link, f"link {name!r}")
    with yml.lined(link, f"link {name!r}"):
        frame = parts.frame(link, label)
        found = parts.read(link, name)
        joint = _joint(link, name, parts, label, numbers, unsupported)
        material = link.take("material", "contact_material")
        if material is not None:
            unsupported.add(f"material {str(material)!r} of link {name!r}: its friction stands in another file",
                            Grade.SLIGHT, "give it with scene.friction, or as the material of the scene")
        for key in link.left():
            unsupported.add(f"{key} of link {name!r}")
        parent = link.take("parent")
        return Body(name, None if parent is None else str(parent), joint, frame[:3, 3],
                    matrix_to_quaternion(frame[:3, :3]), combined(found, label), found.geometries), found.sensors


def _joint(link: Entries, name: str, parts: PartReader, label: str, numbers: dict[int, Joint],
           unsupported: Unsupported) -> Joint:
    given, number = link.take("joint_type"), link.take("joint_id")
    called = link.take("joint_name")
    word = "fixed" if given is None else yml.snake(str(given))
    joint_name = str(called) if called is not None else name
    if word in TRACKS:
        unsupported.add(f"continuous track of link {name!r}: its surface does not run, the link is fixed")
        word = "fixed"
    if word not in KINDS:
        raise SceneError("unknown type of joint", element=yml.place(given, label), value=str(given),
                         remedy=f"use {', '.join(('free', 'fixed', 'revolute', 'prismatic'))}")
    kind, values = KINDS[word], {}
    axis = link.take("joint_axis")
    limits = link.take("joint_range")
    speeds = link.take("joint_velocity_range", "max_joint_velocity")
    efforts = link.take("joint_effort_range", "max_joint_effort", "joint_torque_range", "max_joint_torque")
    start = link.take("joint_displacement", "joint_angle", "initial_joint_displacement")
    rotor, gear = link.take("rotor_inertia"), link.take("gear_ratio")
    link.take("torque_const", "rotor_resistor", "encoder_pulse")  # of the motor's circuit
    if kind in ("revolute", "prismatic"):
        turns = kind == "revolute"
        read = parts.angle if turns else yml.number
        values["axis"] = _axis(axis, label)
        low, high = _range(limits, read, "joint_range", label)
        values |= {"lower": low, "upper": high}
        values["velocity_limit"] = _largest(speeds, read, "joint_velocity_range", label, unsupported)
        values["effort"] = _largest(efforts, yml.number, "joint_effort_range", label, unsupported)
        if start is not None:
            values["position"] = read(start, "joint_displacement", label)
        if rotor is not None:
            ratio = 1.0 if gear is None else yml.number(gear, "gear_ratio", label)
            values["armature"] = yml.number(rotor, "rotor_inertia", label) * ratio**2
        if turns and low == -np.inf and high == np.inf:
            kind = "continuous"
            values.pop("lower"), values.pop("upper")
    joint = Joint(kind, name=joint_name, **values)  # type: ignore[arg-type]
    if number is not None and kind not in ("free", "fixed"):
        numbers[int(yml.number(number, "joint_id", label))] = joint
    return joint


def _axis(value: Any, label: str) -> Any:
    """A vector, or a letter with or without a sign."""
    if value is None:
        return (0.0, 0.0, 1.0)
    if isinstance(value, Text):
        letter = value.strip().upper()
        if letter.lstrip("+-") not in AXES or len(letter) > 2:
            raise SceneError("unknown axis of a joint", element=yml.place(value, label), value=str(value),
                             remedy="use X, Y, Z, -X, -Y, -Z or [x, y, z]")
        return np.array(AXES[letter.lstrip("+-")]) * (-1.0 if letter[0] == "-" else 1.0) + 0.0  # no negative zeros
    return check.unit_axis(yml.vector(value, "joint_axis", label), "joint_axis", yml.place(value, label))


def _range(value: Any, read: Any, what: str, label: str) -> tuple[float, float]:
    """[lower, upper], one number for both signs, or `unlimited`."""
    if value is None or value == "unlimited":
        return -np.inf, np.inf
    if isinstance(value, Items):
        if len(value) != 2:
            raise SceneError(f"{what} needs two numbers", element=yml.place(value, label), value=list(value),
                             remedy="give [lower, upper]")
        low, high = (sign * np.inf if end == "unlimited" else read(end, what, label)
                     for end, sign in zip(value, (-1.0, 1.0)))
        return float(low), float(high)
    size = abs(read(value, what, label))
    return -size, size


def _largest(value: Any, read: Any, what: str, label: str, unsupported: Unsupported) -> float:
    low, high = _range(value, read, what, label)
    if low != -high:
        unsupported.add(f"{what} of {label} is not symmetric, the larger bound is used", Grade.SLIGHT)
    return max(abs(low), abs(high))


# ---- the rest --------------------------------------------------------------------------------------------------------


def _loops(root: Entries, links: dict[str, Entries], unsupported: Unsupported) -> list[Loop]:
    """Extra joints between two links."""
    loops: list[Loop] = []
    for n, item in enumerate(root.take("extra_joints") or ()):
        label = yml.place(item, f"extra joint {n}")
        if not isinstance(item, Entries):
            raise SceneError("an extra joint is not a mapping", element=label, value=item)
        with yml.lined(item, f"extra joint {n}"):
            ends = [yml.text(item.take(f"link{k}_name", f"link{k}"), f"link{k}_name", label) for k in (1, 2)]
            for end in ends:
                if end not in links:
                    raise SceneError("no such link", element=label, value=end, remedy="correct the name")
            word = yml.snake(yml.text(item.take("joint_type", "type"), "joint_type", label))
            axis = item.take("joint_axis", "axis")
            places = [item.take(f"link{k}_local_pos", f"link{k}_local_translation", f"link{k}_translation")
                      for k in (1, 2)]
            points = [np.zeros(3) if at is None else yml.vector(at, "local position", label) for at in places]
            if word not in LOOPS:
                unsupported.add(f"extra joint of type {word} between {ends[0]!r} and {ends[1]!r}")
                continue
            name = item.take("name")
            loops.append(Loop(str(name) if name else f"extra_joint{n}", LOOPS[word], ends[0], ends[1],  # type: ignore[arg-type]
                              points[0], _axis(axis, label), position_b=points[1]))
            for key in item.left():
                unsupported.add(f"{key} of extra joint {loops[-1].name!r}", Grade.SLIGHT)
    return loops


def _poses(root: Entries, numbers: dict[int, Joint], degrees: bool) -> dict[str, dict[str, Any]]:
    """`standard_pose`: a position for each joint, by its number."""
    given = root.take("standard_pose")
    if given is None:
        return {}
    positions = yml.numbers(given, "standard_pose", "body file")
    pose = {}
    for number, joint in numbers.items():
        if number < len(positions):
            turns = joint.kind != "prismatic"
            pose[str(joint.name)] = float(np.deg2rad(positions[number]) if turns and degrees else positions[number])
    return {"standard": pose}


def _excluded(root: Entries, links: dict[str, Entries], unsupported: Unsupported) -> list[tuple[str, str]]:
    """Pairs of links that `collision_detection` keeps apart."""
    given = root.take("collision_detection")
    if not isinstance(given, Entries):
        return []
    label, pairs = yml.place(given, "collision_detection"), set()
    depth = given.take("exclude_tree_depth")
    parents = {name: link.get("parent") for name, link in links.items()}
    for name in links:
        above = parents[name]
        for _ in range(0 if depth is None else int(yml.number(depth, "exclude_tree_depth", label))):
            if above is None:
                break
            pairs.add((name, str(above)))
            above = parents[str(above)]
    for name in _names(given.take("exclude_links"), links, label):
        pairs |= {(name, other) for other in links if other != name}
    for pair in given.take("exclude_link_pairs", "exclude_pairs") or ():
        a, b = _names(pair, links, label)
        pairs.add((a, b))
    for key in given.left():
        unsupported.add(f"{key} of collision_detection", Grade.SLIGHT)
    return sorted({(min(pair), max(pair)) for pair in pairs})


def _names(value: Any, links: dict[str, Entries], label: str) -> list[str]:
    names = [str(name) for name in value or ()]
    for name in names:
        if name not in links:
            raise SceneError("no such link", element=label, value=name, remedy="correct the name")
    return names
