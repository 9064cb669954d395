"""Small tools of the MJCF writer: XML text, the list of what was lost, start poses, values as MuJoCo wants them."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from sesshoku.scene.elements import Body, Joint
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from sesshoku.scene.io.spec import Names
from sesshoku.scene.motion import motion_pose
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import Pose, compose
from sesshoku.spatial.rotation import axis_angle, frame_with_z, quaternion_to_matrix

LEAST_MOMENT = 1e-12  # kg m^2; MuJoCo refuses inertias without positive moments


def numbers(values: Any) -> str:
    """Numbers in an XML attribute; each reads back as the same float."""
    return " ".join(_number(float(value)) for value in np.asarray(values, dtype=np.float64).reshape(-1))


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


class Xml:
    """XML written line by line: nesting as deep as the robot, without recursion."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def add(self, tag: str, **attributes: Any) -> None:
        self.lines.append(f"{'  ' * self.depth}<{_head(tag, attributes)}/>")

    def open(self, tag: str, **attributes: Any) -> None:
        self.lines.append(f"{'  ' * self.depth}<{_head(tag, attributes)}>")
        self.depth += 1

    def close(self, tag: str) -> None:
        self.depth -= 1
        self.lines.append(f"{'  ' * self.depth}</{tag}>")

    def section(self, tag: str, inner: Xml) -> None:
        """An element around lines written apart; nothing if there are none."""
        if inner.lines:
            self.open(tag)
            self.lines += ["  " * self.depth + line for line in inner.lines]
            self.close(tag)


def _head(tag: str, attributes: dict[str, Any]) -> str:
    shown = []
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, str) else str(value).lower() if isinstance(value,
                                                                                         bool) else numbers(value)
            shown.append(f"{key.rstrip('_')}={quoteattr(text)}")
    return " ".join([tag, *shown])


def comment(text: str) -> str:
    """Text fit for the inside of an XML comment."""
    while "--" in text:
        text = text.replace("--", "- -")
    return text


class Lost:
    """What MJCF cannot say, one line per topic with the elements it concerns."""

    def __init__(self) -> None:
        self._topics: dict[str, list[str]] = {}

    def add(self, topic: str, name: str | None = None) -> None:
        names = self._topics.setdefault(topic, [])
        if name is not None and name not in names:
            names.append(name)

    def listed(self, most: int = 8) -> list[str]:
        result = []
        for topic, names in self._topics.items():
            shown = ", ".join(repr(name) for name in names[:most])
            more = f" and {len(names) - most} more" if len(names) > most else ""
            result.append(f"{topic}: {shown}{more}" if names else topic)
        return result


class Naming:
    """Hands out names that are free among the elements of a kind; MuJoCo keeps the body "world" for itself."""

    def __init__(self, lost: Lost) -> None:
        self._lost, self._kinds = lost, {"body": Names(["world"])}

    def silently(self, kind: str, wish: str) -> str:
        return self._kinds.setdefault(kind, Names()).fresh(wish)

    def fresh(self, kind: str, wish: str) -> str:
        name = self.silently(kind, wish)
        if name != wish:
            self._lost.add("names taken already in MJCF (a number is added)", wish)
        return name


# ---- poses --------------------------------------------------------------------------------------------------------


def start_poses(scene: Scene) -> dict[str, Pose]:
    """World pose of every body at the start."""
    poses: dict[str, Pose] = {}
    for body in scene.bodies.values():
        position, rotation = start_pose(body)
        pose = compose((position, quaternion_to_matrix(rotation)), _moved(body))
        poses[body.name] = pose if body.parent is None else compose(poses[body.parent], pose)
    return poses


def start_pose(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion in the parent at zero joint position; a script begins where it says."""
    if body.motion is None:
        return body.position, body.rotation
    return motion_pose(body.motion, 0.0, f"motion of body {body.name!r}")


def _moved(body: Body) -> Pose:
    """What the joint's start position does to the body, in the body's frame at zero."""
    joint: Joint = body.joint
    q, axis = joint.position, joint.axis
    if joint.kind == "prismatic":
        return q[0] * axis, np.eye(3)
    if joint.kind in ("revolute", "continuous"):
        shift, turn = np.zeros(3), quaternion_to_matrix(axis_angle(axis, q[0]))
    elif joint.kind == "spherical":
        shift, turn = np.zeros(3), quaternion_to_matrix(q)
    elif joint.kind == "planar":
        plane = frame_with_z(axis)
        shift, turn = plane[:, 0] * q[0] + plane[:, 1] * q[1], quaternion_to_matrix(axis_angle(axis, q[2]))
    else:  # a free body starts at its own pose
        return np.zeros(3), np.eye(3)
    return shift + joint.anchor - turn @ joint.anchor, turn


# ---- values ---------------------------------------------------------------------------------------------------------


def unless(value: np.ndarray, usual: Any) -> np.ndarray | None:
    return None if np.array_equal(value, usual) else value


def signed(bits: int) -> int:
    """A 32-bit field as MuJoCo's signed integer."""
    return int(bits) - (1 << 32) if bits >= 1 << 31 else int(bits)


def pieces_of(shape: Shape) -> list[Shape]:
    """The shapes that collide in its stead: the pieces of a concave mesh, otherwise itself."""
    return list(shape.pieces) if isinstance(shape, Mesh) and len(shape.pieces) > 1 else [shape]


def half_size(shape: Shape) -> list[float]:
    if isinstance(shape, Plane):
        return [0.0, 0.0, 1.0]  # infinite
    if isinstance(shape, Box):
        return [0.5 * side for side in shape.size]
    if isinstance(shape, Sphere):
        return [shape.radius]
    if isinstance(shape, Ellipsoid):
        return list(shape.radii)
    assert isinstance(shape, (Capsule, Cylinder))
    return [shape.radius, 0.5 * shape.length]


def nudged_inertia(matrix: np.ndarray) -> np.ndarray:
    """The inertia itself, or the nearest that MuJoCo takes: moments positive, none above the sum of the others."""
    moments, axes = np.linalg.eigh(matrix)
    if moments[0] >= LEAST_MOMENT and moments[0] + moments[1] >= moments[2]:
        return matrix
    # raise what is too small, then lower the largest to the sum of the others
    raised = np.maximum(moments, max(LEAST_MOMENT, 1e-9 * moments[2]))
    raised[2] = min(raised[2], raised[0] + raised[1])
    return np.asarray(axes @ np.diag(raised) @ axes.T)
