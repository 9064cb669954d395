"""Where pictures are taken from: `View`, the cameras of a scene, and a view that shows everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import RecordingError, did_you_mean
from sesshoku.spatial.rotation import quaternion_to_matrix

FROM = np.array([1.0, -1.5, 0.75])  # direction from what is looked at to the eye
FOV = np.radians(40.0)


@dataclass
class View:
    """An eye (3) that looks at `target` (3), m. fov: vertical field of view, rad; height: of a parallel view, m.

    follow: name of a body; eye and target go along with it, without turning.
    """

    eye: Any
    target: Any
    up: Any = (0.0, 0.0, 1.0)
    fov: float = float(FOV)
    height: float | None = None
    follow: str | None = None

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (3,) or not np.isfinite(value).all():
                raise RecordingError(f"the view's {name} must be three finite numbers (got {getattr(self, name)!r})")
            setattr(self, name, value)
        if np.linalg.norm(self.target - self.eye) == 0.0:
            raise RecordingError(f"the view's eye and target are the same point {self.eye.tolist()}; move one of them")
        if not np.any(self.up):
            raise RecordingError("the view's up is zero; give a direction, such as (0, 0, 1)")
        if not 0.0 < self.fov < np.pi:
            raise RecordingError(f"the view's fov must lie between 0 and pi rad (got {self.fov!r})")
        if self.height is not None and not 0.0 < self.height < np.inf:
            raise RecordingError(f"the view's height must be a positive number of metres (got {self.height!r})")

    @property
    def axes(self) -> np.ndarray:
        """Right, down and ahead as rows (3, 3)."""
        ahead = (self.target - self.eye) / np.linalg.norm(self.target - self.eye)
        right = np.cross(ahead, self.up)
        if np.linalg.norm(right) < 1e-9 * np.linalg.norm(self.up):  # straight up or down
            right = np.cross(ahead, np.eye(3)[np.argmin(np.abs(ahead))])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(ahead, right), ahead])

    def moved(self, by: np.ndarray) -> View:
        return View(self.eye + by, self.target + by, self.up, self.fov, self.height, self.follow)


def view_of_all(low: np.ndarray, high: np.ndarray, aspect: float) -> View:
    """A view of the box from `low` to `high` (3), as the viewer in the browser begins."""
    middle, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    way = FROM / np.linalg.norm(FROM)
    half = min(0.5 * FOV, np.arctan(aspect * np.tan(0.5 * FOV)))
    return View(middle + way * radius / np.sin(half), middle)


def chosen_view(camera: Any, cameras: Mapping[str, Any]) -> View | str | None:
    """What a user gave for a camera: a View, the name of a camera of the scene, keywords of a View, or None."""
    if camera is None or isinstance(camera, View):
        return camera
    if isinstance(camera, str):
        if camera not in cameras:
            hint = did_you_mean(camera, cameras, also=f"there are {', '.join(cameras) or 'none'}")
            raise RecordingError(f"the scene has no camera {camera!r}; {hint}; or give a View(eye, target)")
        return camera
    if isinstance(camera, Mapping):
        unknown = set(camera) - set(View.__dataclass_fields__)
        if unknown or not {"eye", "target"} <= set(camera):
            raise RecordingError(f"a view needs eye and target, and may have up, fov, height, follow "
                                 f"(got {', '.join(map(str, camera)) or 'nothing'})")
        return View(**camera)
    raise RecordingError(f"a camera is the name of one, a View, or a mapping with eye and target (got {camera!r})")


def scene_view(camera: Mapping[str, Any], poses: np.ndarray, centers: Callable[[int, np.ndarray], np.ndarray]) -> View:
    """The view through a camera of a drawing with bodies at `poses` (F, 7).

    centers: function of a body's number and poses -> centre of mass of what hangs on it.
    """
    body, mode, target = camera["body"], camera["mode"], camera["target"]
    rotation, position = quaternion_to_matrix(np.array(camera["rotation"])), np.array(camera["position"])
    if body is None:
        eye, axes = position, rotation
    elif mode.startswith("track"):  # as far away, with the same axes, as where joints are at zero
        zero = np.array(camera["zero"])
        turn = quaternion_to_matrix(zero[body, 3:])
        eye, axes = zero[body, :3] + turn @ position, turn @ rotation
        eye += poses[body, :3] - zero[body, :3] if mode == "track" else centers(body, poses) - centers(body, zero)
    else:
        turn = quaternion_to_matrix(poses[body, 3:])
        eye, axes = poses[body, :3] + turn @ position, turn @ rotation
    height = float(camera["fovy"]) if camera["orthographic"] else None
    fov = float(FOV) if camera["orthographic"] else float(camera["fovy"])
    if mode.startswith("target"):
        aim = poses[target, :3] if mode == "targetbody" else centers(target, poses)
        return View(eye, aim if np.linalg.norm(aim - eye) > 0.0 else eye - axes[:, 2], fov=fov, height=height)
    return View(eye, eye - axes[:, 2], axes[:, 1], fov, height)
