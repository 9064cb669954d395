"""Recordings as Rerun's .rrd (extra `data`): bodies with shapes and poses, contact forces, every channel as curves.

`world/<body>` has poses and shapes, `world/contacts` arrows of forces, `<channel>/<column>` numbers; the timeline is
`time`, simulated seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import from_extra
from sesshoku.recording.mcap import COLORS, force_scale, mesh_of
from sesshoku.spatial.rotation import quaternion_to_matrix

if TYPE_CHECKING:
    from sesshoku.recording.recording import Recording

TIMELINE = "time"


def write_rrd(recording: Recording, path: Path) -> None:
    """Write all channels, and where there are poses the scene with its contacts."""
    with from_extra("data", "a recording for Rerun"):
        import rerun

    stream = rerun.RecordingStream("sesshoku", recording_id=str(recording.meta.get("scene", "run")))
    stream.save(str(path))
    drawing = recording.film.drawing or {}
    names = [body["name"] for body in drawing.get("bodies", [])]
    for n, shape in enumerate(drawing.get("shapes", ())):
        made = _shape(rerun, shape, drawing)
        if made is not None:
            stream.log(rerun.new_entity_path(["world", names[shape["body"]], f"shape{n}"]), made, static=True)
    times = rerun.TimeColumn(TIMELINE, duration=recording.time)
    if "poses" in recording.channels and names:
        poses = recording["poses"].reshape(len(recording), -1, 7)
        for n, name in enumerate(names):
            stream.send_columns(
                rerun.new_entity_path(["world", name]), indexes=[times], columns=rerun.Transform3D.columns(
                    translation=poses[:, n, :3], quaternion=poses[:, n, [4, 5, 6, 3]]))
    for name, channel in recording.channels.items():
        values = recording[name].reshape(len(recording), -1)
        for column, title in enumerate(channel.columns if channel.size else ()):
            stream.send_columns(rerun.new_entity_path([name, title or name]), indexes=[times],
                                columns=rerun.Scalars.columns(scalars=values[:, column]))
    scale = force_scale(drawing)
    for time, look in zip(recording.film.times, recording.film.looks):
        stream.set_time(TIMELINE, duration=float(time))
        rows = look.contacts[np.linalg.norm(look.contacts[:, 6:9], axis=1) > 0.0]
        stream.log("world/contacts", rerun.Arrows3D(
            origins=rows[:, :3], vectors=scale * rows[:, 6:9],
            colors=[[round(255 * part) for part in COLORS[int(state)]] for state in rows[:, 10]]))
    stream.flush()
    stream.disconnect()


def _shape(rerun: Any, shape: dict[str, Any], drawing: dict[str, Any]) -> Any:
    """A shape in its body's frame."""
    color = [[round(255 * part) for part in shape["color"]]]
    w, x, y, z = shape["rotation"]
    at, turn, kind, solid = [shape["position"]], [[x, y, z, w]], shape["kind"], "solid"
    if kind in ("box", "plane"):
        size = shape["size"] if kind == "box" else (20.0, 20.0, 1e-4)
        return rerun.Boxes3D(sizes=[size], centers=at, quaternions=turn, colors=color, fill_mode=solid)
    if kind in ("sphere", "ellipsoid"):
        radii = [shape["radius"]] * 3 if kind == "sphere" else shape["radii"]
        return rerun.Ellipsoids3D(half_sizes=[radii], centers=at, quaternions=turn, colors=color, fill_mode=solid)
    if kind == "cylinder":
        return rerun.Cylinders3D(lengths=[shape["length"]], radii=[shape["radius"]], centers=at, quaternions=turn,
                                 colors=color, fill_mode=solid)
    if kind == "capsule":  # Rerun's begin at their lower end
        rotated = _turn_z(shape["rotation"], -0.5 * shape["length"])
        return rerun.Capsules3D(lengths=[shape["length"]], radii=[shape["radius"]], quaternions=turn, colors=color,
                                translations=[np.asarray(shape["position"]) + rotated], fill_mode=solid)
    if "mesh" not in shape:
        return None
    vertices, faces = mesh_of(drawing, shape["mesh"])
    R = quaternion_to_matrix(np.asarray(shape["rotation"]))
    return rerun.Mesh3D(vertex_positions=vertices @ R.T + shape["position"], triangle_indices=faces,
                        albedo_factor=color[0])


def _turn_z(rotation: Any, along: float) -> np.ndarray:
    found: np.ndarray = quaternion_to_matrix(np.asarray(rotation))[:, 2] * along
    return found
