"""Pictures of a simulation as it stands; the memory for them is kept as long as the simulation lives."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.film import look
from sesshoku.recording.render.renderer import Renderer, checked_size
from sesshoku.scene.geometry.drawing import drawing

KINDS = ("rgb", "depth", "segmentation")
MOST_KEPT = 4  # sizes of pictures
_kept: WeakKeyDictionary[Any, dict[tuple[int, int], Renderer]] = WeakKeyDictionary()


def render(sim: Any, camera: Any, size: Any, kind: str, contacts: bool) -> np.ndarray:
    """See `Simulation.render`."""
    if kind not in KINDS:
        raise RecordingError(f"a picture is one of {', '.join(KINDS)} (got {kind!r})")
    cameras = sim.compiled.scene.cameras
    if size is None:
        own = cameras[camera].resolution if isinstance(camera, str) and camera in cameras else None
        size = own or (640, 480)
    renderer = renderer_of(sim, checked_size(size))
    poses = sim.body_poses()
    if kind == "rgb":
        return renderer.rgb(poses, camera, look(sim) if contacts else None)
    return renderer.depth(poses, camera) if kind == "depth" else renderer.segmentation(poses, camera)


def renderer_of(sim: Any, size: tuple[int, int]) -> Renderer:
    """The renderer of a simulation's scene for pictures of a size."""
    made = _kept.setdefault(sim, {})
    if size not in made:
        if len(made) >= MOST_KEPT:
            made.clear()
        made[size] = Renderer(drawing(sim.compiled.scene, sim.body_poses()), size)
    return made[size]
