"""Named places of a scene: frames (the sites of MJCF) that a simulation reads, and cameras kept for rendering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.contents import Contents

CameraMode = Literal["fixed", "track", "trackcom", "targetbody", "targetbodycom"]
MODES = ("fixed", "track", "trackcom", "targetbody", "targetbodycom")


@checked
@dataclass
class Frame:
    """A named place on a body (None: the world): position and rotation in the body's frame."""

    name: str
    body: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        element = f"frame {check.name(self.name, 'name of a frame')!r}"
        check.text(self.body, "body", element)
        self.position = check.vector(self.position, "position", element)
        self.rotation = check.quaternion(self.rotation, "rotation", element)


@checked
@dataclass
class Camera:
    """A camera on a body (None: the world), for renderers: it looks along its -z, +y up, as in MJCF and OpenGL.

    mode: "fixed" to the body; "track" (at the body's position, with constant axes; "trackcom": at the centre of mass of
    what hangs on it); "targetbody" (turned towards the body `target`; "targetbodycom": to the centre of mass of what
    hangs on that). fovy: vertical field of view, rad; orthographic: fovy is then the height seen, m.
    resolution: width and height in pixels.
    """

    name: str
    body: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    mode: CameraMode = "fixed"
    target: str | None = None
    fovy: float = np.pi / 4
    orthographic: bool = False
    resolution: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        element = f"camera {check.name(self.name, 'name of a camera')!r}"
        check.text(self.body, "body", element)
        check.text(self.target, "target", element)
        self.position = check.vector(self.position, "position", element)
        self.rotation = check.quaternion(self.rotation, "rotation", element)
        if self.mode not in MODES:
            raise SceneError("unknown mode", element=element, value=self.mode, remedy=f"use one of {', '.join(MODES)}")
        if (self.target is not None) != self.mode.startswith("target"):
            raise SceneError("a target belongs to the modes targetbody and targetbodycom", element=element,
                             value=(self.mode, self.target), remedy="give both or none")
        self.orthographic = check.flag(self.orthographic, "orthographic", element)
        self.fovy = check.number(self.fovy, "fovy", element, above=0.0)
        if self.resolution is not None:
            width, height = check.vector(self.resolution, "resolution", element, size=2)
            if width < 1 or height < 1 or width != int(width) or height != int(height):
                raise SceneError("the resolution is not two whole numbers above zero", element=element,
                                 value=self.resolution)
            self.resolution = int(width), int(height)


class NamedPlaces(Contents):
    """The part of `Scene` that names places."""

    def add_frame(self, name: str, body: str | None = None, *, position: Any = (0, 0, 0),
                  rotation: Any = (1, 0, 0, 0)) -> Frame:
        """Name a place of a body (None: the world): `add_frame("pinch", "hand", position=(0, 0, 0.1))`.

        `sim.frames["pinch"]` has its position, rotation and velocity.
        """
        return self._insert_place(Frame(name, body, position, rotation), self.frames, "frame")

    def add_camera(self, name: str, body: str | None = None, *, position: Any = (0, 0, 0),
                   rotation: Any = (1, 0, 0, 0), mode: CameraMode = "fixed", target: str | None = None,
                   fovy: float = np.pi / 4, orthographic: bool = False, resolution: Any = None) -> Camera:
        """Mount a camera on a body (None: the world), for renderers; see `Camera`."""
        camera = Camera(name, body, position, rotation, mode, target, fovy, orthographic, resolution)
        return self._insert_place(camera, self.cameras, "camera")

    def _insert_place(self, place: Any, places: dict[str, Any], what: str) -> Any:
        element = f"{what} {place.name!r}"
        if place.name in places:
            raise SceneError("the name is taken already", element=element, remedy=f"give every {what} its own name")
        for body in (place.body, getattr(place, "target", None)):
            if body is not None:
                self._body(body, element)
        places[place.name] = place
        return place
