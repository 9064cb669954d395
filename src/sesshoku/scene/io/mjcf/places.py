"""Sites and cameras of MJCF files, both ways: sites are frames here."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.elements.frames import MODES, Camera, Frame
from sesshoku.scene.io.mjcf.bodies import ModelNames
from sesshoku.scene.io.mjcf.write_text import Naming, unless
from sesshoku.scene.io.unsupported import Grade, Unsupported
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import unit

PERSPECTIVE, ORTHOGRAPHIC = 0, 1  # mjtProjection
USUAL_RESOLUTION = (1, 1)  # of a camera that states none


def read_places(model: Any, names: ModelNames, description: RobotDescription, unsupported: Unsupported) -> None:
    """Frames and cameras; those of the world stand in no body."""
    for i in range(model.nsite):
        description.frames.append(Frame(names.site[i], _owner(names, int(model.site_bodyid[i])),
                                        model.site_pos[i].copy(), unit(model.site_quat[i])))
    for i in range(model.ncam):
        mode = MODES[int(model.cam_mode[i])]
        target = int(model.cam_targetbodyid[i])
        if mode.startswith("target") and target <= 0:
            unsupported.add(f"camera {names.camera[i]!r}: it has no body to look at", Grade.LOOKS)
            mode = "fixed"
        flat = int(model.cam_projection[i]) == ORTHOGRAPHIC
        fovy = float(model.cam_fovy[i])
        resolution = tuple(int(n) for n in model.cam_resolution[i])
        description.cameras.append(Camera(
            names.camera[i], _owner(names, int(model.cam_bodyid[i])), model.cam_pos[i].copy(),
            unit(model.cam_quat[i]), mode, names.body[target] if mode.startswith("target") else None,  # type: ignore[arg-type]
            fovy if flat else float(np.deg2rad(fovy)), flat,
            None if resolution == USUAL_RESOLUTION else (resolution[0], resolution[1])))
        if model.cam_intrinsic[i].any() and model.cam_sensorsize[i].any():
            unsupported.add(f"intrinsic of camera {names.camera[i]!r}", Grade.LOOKS)


def _owner(names: ModelNames, body: int) -> str | None:
    return names.body[body] if body else None


class PlaceWriter:
    """The sites and cameras of an exported scene, by the body they belong to (None: the world)."""

    def __init__(self, scene: Scene, names: Naming) -> None:
        self.scene, self.names = scene, names
        self.sites: dict[str | None, list[dict[str, Any]]] = {}
        self.wraps: dict[str | None, list[dict[str, Any]]] = {}  # shapes that tendons wrap round
        for frame in scene.frames.values():
            self._add(names.fresh("site", frame.name), frame.body, frame.position, frame.rotation)

    def site(self, wish: str, body: str | None, position: np.ndarray, rotation: np.ndarray, **looks: Any) -> str:
        """The name of a site at this place: that of a frame of this name there, or a new one."""
        frame = self.scene.frames.get(wish)
        if frame is not None and not looks and frame.body == body and np.allclose(
                [*frame.position, *frame.rotation], [*position, *rotation], rtol=0.0, atol=1e-12):
            return wish
        name = self.names.fresh("site", wish)
        self._add(name, body, position, rotation, **looks)
        return name

    def wrapped(self, wish: str, body: str | None, kind: str, radius: float, position: np.ndarray,
                rotation: np.ndarray) -> str:
        """The name of a geom without mass that touches nothing, for a tendon to wrap round."""
        name = self.names.fresh("geom", wish)
        size = [radius] if kind == "sphere" else [radius, radius]
        self.wraps.setdefault(body, []).append(
            {"name": name, "type": kind, "size": size, "pos": unless(position, np.zeros(3)),
             "quat": unless(rotation, [1, 0, 0, 0]), "contype": 0, "conaffinity": 0, "mass": 0, "group": 4})
        return name

    def _add(self, name: str, body: str | None, position: np.ndarray, rotation: np.ndarray, **looks: Any) -> None:
        self.sites.setdefault(body, []).append(
            {"name": name, "pos": unless(position, np.zeros(3)), "quat": unless(rotation, [1, 0, 0, 0])} | looks)

    def cameras(self, body: str | None, body_names: dict[str, str]) -> list[dict[str, Any]]:
        """What <camera> says of each camera of a body."""
        return [{"name": self.names.fresh("camera", camera.name), "pos": unless(camera.position, np.zeros(3)),
                 "quat": unless(camera.rotation, [1, 0, 0, 0]), "mode": None if camera.mode == "fixed" else camera.mode,
                 "target": None if camera.target is None else body_names[camera.target],
                 "projection": "orthographic" if camera.orthographic else None,
                 "fovy": camera.fovy if camera.orthographic else float(np.rad2deg(camera.fovy)),
                 "resolution": camera.resolution}
                for camera in self.scene.cameras.values() if camera.body == body]
