"""Recordings as MCAP, for Foxglove and everything that reads it (extra `data`): JSON messages in Foxglove's schemas.

`/tf` has the poses of all bodies (foxglove.FrameTransforms), `/scene` their shapes, once (foxglove.SceneUpdate),
`/contacts` arrows of the contact forces (foxglove.SceneUpdate), `/<channel>` every channel of the recording: an object
with a number for each of its columns, such as {"left_knee": 0.3}. Times are nanoseconds of simulated time.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import from_extra

if TYPE_CHECKING:
    from sesshoku.recording.recording import Recording

WORLD = "world"
ARROW = 0.4  # m for the weight of a usual thing of the scene
SHAFT, HEAD = 0.008, 0.016  # m
PARTS = ("metadata", "arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
COLORS = ((0.6, 0.6, 0.6), (0.2, 0.6, 0.3), (0.85, 0.3, 0.2))  # released, stick, slip


def write_mcap(recording: Recording, path: Path) -> None:
    """Write all channels, and where there are poses the scene with its contacts."""
    with from_extra("data", "a recording as MCAP"):
        from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="sesshoku")
        topics = _Topics(writer)
        names = [body["name"] for body in (recording.film.drawing or {}).get("bodies", [])]
        if "poses" in recording.channels and names:
            topics.say("/scene", "foxglove.SceneUpdate", float(recording.time[0]) if len(recording) else 0.0,
                       _shapes(recording.film.drawing or {}))
        columns = {name: channel.columns or [name] for name, channel in recording.channels.items()}
        for n, time in enumerate(recording.time):
            if "poses" in recording.channels and names:
                topics.say("/tf", "foxglove.FrameTransforms", float(time),
                           _transforms(float(time), names, recording.read("poses", n, n + 1)[0].reshape(-1, 7)))
            for name, channel in recording.channels.items():
                if not channel.size:
                    continue
                values = np.asarray(recording.read(name, n, n + 1)[0]).reshape(-1)
                topics.say(f"/{name}", f"sesshoku.{name}", float(time), {
                    column: _number(value) for column, value in zip(columns[name], values)})
        for time, look in zip(recording.film.times, recording.film.looks):
            topics.say("/contacts_drawn" if "contacts" in recording.channels else "/contacts", "foxglove.SceneUpdate",
                       float(time), _arrows(float(time), look.contacts, recording.film.drawing or {}))
        writer.finish()


class _Topics:
    """Channels of the file, made when they are first written to."""

    def __init__(self, writer: Any) -> None:
        self._writer, self._known = writer, dict[str, int]()

    def say(self, topic: str, schema: str, time: float, value: Any) -> None:
        if topic not in self._known:
            text = json.dumps({"title": schema, "type": "object"}).encode()
            number = self._writer.register_schema(name=schema, encoding="jsonschema", data=text)
            self._known[topic] = self._writer.register_channel(topic=topic, message_encoding="json", schema_id=number)
        stamp = round(time * 1e9)
        self._writer.add_message(self._known[topic], log_time=stamp, data=json.dumps(value).encode(),
                                 publish_time=stamp)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _stamp(time: float) -> dict[str, int]:
    nanoseconds = round(time * 1e9)
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def _vector(p: Any) -> dict[str, float]:
    return {"x": float(p[0]), "y": float(p[1]), "z": float(p[2])}


def _quaternion(q: Any) -> dict[str, float]:
    return {"w": float(q[0]), "x": float(q[1]), "y": float(q[2]), "z": float(q[3])}


def _transforms(time: float, names: list[str], poses: np.ndarray) -> dict[str, Any]:
    return {"transforms": [{"timestamp": _stamp(time), "parent_frame_id": WORLD, "child_frame_id": name,
                            "translation": _vector(pose[:3]), "rotation": _quaternion(pose[3:])}
                           for name, pose in zip(names, poses)]}


def _shapes(drawing: dict[str, Any]) -> dict[str, Any]:
    """An entity a body, in the body's frame."""
    entities: dict[int, dict[str, Any]] = {}
    for shape in drawing.get("shapes", ()):
        name = drawing["bodies"][shape["body"]]["name"]
        entity = entities.setdefault(shape["body"], {
            "timestamp": _stamp(0.0), "frame_id": name, "id": name, "lifetime": {"sec": 0, "nsec": 0},
            "frame_locked": True, **{part: [] for part in PARTS}})
        kind, part = _shape(shape, drawing)
        if kind:
            entity[kind] += part
    return {"deletions": [], "entities": list(entities.values())}


def _shape(shape: dict[str, Any], drawing: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    r, g, b, a = shape["color"]
    color = {"r": r, "g": g, "b": b, "a": a}
    pose = {"position": _vector(shape["position"]), "orientation": _quaternion(shape["rotation"])}
    kind = shape["kind"]
    if kind == "box":
        return "cubes", [{"pose": pose, "size": _vector(shape["size"]), "color": color}]
    if kind == "plane":
        return "cubes", [{"pose": pose, "size": _vector((20.0, 20.0, 1e-4)), "color": color}]
    if kind in ("sphere", "ellipsoid"):
        radii = np.full(3, shape["radius"]) if kind == "sphere" else np.array(shape["radii"])
        return "spheres", [{"pose": pose, "size": _vector(2.0 * radii), "color": color}]
    if kind in ("cylinder", "capsule"):
        length = shape["length"] + (2.0 * shape["radius"] if kind == "capsule" else 0.0)
        size = (2.0 * shape["radius"], 2.0 * shape["radius"], length)
        return "cylinders", [{"pose": pose, "size": _vector(size), "bottom_scale": 1.0, "top_scale": 1.0,
                              "color": color}]
    if "mesh" not in shape:
        return "", []
    vertices, faces = mesh_of(drawing, shape["mesh"])
    return "triangles", [{"pose": pose, "points": [_vector(p) for p in vertices], "color": color, "colors": [],
                          "indices": faces.reshape(-1).tolist()}]


def mesh_of(drawing: dict[str, Any], number: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of a mesh of a drawing."""
    mesh = drawing["meshes"][number]
    return (np.frombuffer(base64.b64decode(mesh["vertices"]), np.float32).reshape(-1, 3),
            np.frombuffer(base64.b64decode(mesh["faces"]), np.uint32).reshape(-1, 3))


def force_scale(drawing: dict[str, Any]) -> float:
    """Metres of an arrow a newton: the weight of a usual thing of the scene is 0.4 m."""
    gravity = float(np.linalg.norm(drawing.get("gravity", (0.0, 0.0, -9.8)))) or 9.8
    return ARROW / (float(drawing.get("mass", 1.0)) * gravity)


def _arrows(time: float, contacts: np.ndarray, drawing: dict[str, Any]) -> dict[str, Any]:
    scale, arrows = force_scale(drawing), []
    for row in contacts:
        force = row[6:9].astype(float)
        size = float(np.linalg.norm(force))
        if size > 0.0:
            r, g, b = COLORS[int(row[10])]
            arrows.append({
                "pose": {"position": _vector(row[:3]), "orientation": _quaternion(_from_x(force / size))},
                "shaft_length": scale * size, "shaft_diameter": SHAFT, "head_length": HEAD, "head_diameter": HEAD,
                "color": {"r": r, "g": g, "b": b, "a": 1.0}})
    entity = {"timestamp": _stamp(time), "frame_id": WORLD, "id": "contacts", "lifetime": {"sec": 0, "nsec": 0},
              "frame_locked": False, **{part: [] for part in PARTS} | {"arrows": arrows}}
    return {"deletions": [], "entities": [entity]}


def _from_x(direction: np.ndarray) -> np.ndarray:
    """The quaternion that turns x into a direction."""
    w = 1.0 + float(direction[0])
    if w < 1e-9:
        return np.array([0.0, 0.0, 0.0, 1.0])
    q = np.array([w, 0.0, -direction[2], direction[1]])
    return q / float(np.linalg.norm(q))
