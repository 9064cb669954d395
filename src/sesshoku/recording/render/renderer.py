"""`Renderer`: pictures of one scene, in memory that is set aside once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from sesshoku.errors import RecordingError
from sesshoku.recording.film import Look
from sesshoku.recording.render.canvas import GLASS, OPAQUE, Canvas
from sesshoku.recording.render.marks import Marks
from sesshoku.recording.render.raster import DEEP, NOTHING
from sesshoku.recording.render.shade import (
    BIAS,
    CELL,
    HAZE_BEGIN,
    HAZE_END,
    SKY,
    SKY_STRENGTH,
    SUN,
    SUN_STRENGTH,
    cast,
    catch,
    paint,
    stand,
)
from sesshoku.recording.render.triangles import Triangles, linear, triangles_of
from sesshoku.recording.render.views import View, chosen_view, scene_view, view_of_all
from sesshoku.scene.geometry import drawing as drawing_module
from sesshoku.spatial.rotation import quaternion_to_matrix

SUN_WAY = np.array([1.5, -1.0, 2.2]) / np.linalg.norm([1.5, -1.0, 2.2])
SHADOW = 1024  # samples along an edge of the sun's picture
LEVELS = 4096  # steps of linear colours
GROUND = linear((0.89, 0.906, 0.925))
BACKGROUND = linear((0.933, 0.945, 0.961)), linear((0.80, 0.86, 0.93))  # at the horizon, above
GHOST_OPACITY = 0.35
LARGEST = 8192  # pixels along an edge of a picture
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class Renderer:
    """Draws a scene. drawing: its shapes (scene/geometry/drawing.py). size: width and height in pixels.

    ghosts: colours (red, green, blue) of further copies of the scene, drawn translucent, each with poses of its own.
    samples: along an edge of a pixel; 1 draws fastest, with ragged edges.
    """

    def __init__(self, drawing: dict[str, Any], size: Any = (640, 480), *, ghosts: Any = (), samples: int = 2) -> None:
        self.size = checked_size(size)
        if samples not in (1, 2, 3, 4):
            raise RecordingError(f"samples must be 1, 2, 3 or 4 along an edge of a pixel (got {samples!r})")
        self.drawing, self.samples, self.ghosts = drawing, int(samples), [linear(color) for color in ghosts]
        self.solid, self.planes = triangles_of(drawing)
        self.bodies = len(drawing["bodies"])
        self.start = np.array(drawing["poses"], dtype=float).reshape(self.bodies, 7)
        self.cameras = {camera["name"]: camera for camera in drawing.get("cameras", ())}
        moving = Triangles(*(getattr(self.solid, name)[[bool(drawing["bodies"][b]["moves"]) for b in self.solid.body]]
                             for name in ("corner", "normal", "color", "body", "layer")))
        self._copies = Triangles.joined([self.solid] + [
            moving.tinted([*color[:3], GHOST_OPACITY], (k + 1) * self.bodies) for k, color in enumerate(self.ghosts)])
        self._world = self.bodies * (1 + len(self.ghosts))  # number of the world's own frame
        self._boxes = _boxes(self.solid, self.bodies)
        low, high = self.bounds(self.start)
        self._measure(low, high)
        self._canvas = self._made(len(self._copies) + 512)
        self._picture = np.zeros((self.size[1], self.size[0], 3), dtype=np.uint8)
        self._workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._crew, self._warm = ThreadPoolExecutor(self._workers, "sesshoku-render"), False

    # ---- pictures

    def rgb(self, poses: Any, camera: Any = None, look: Look | None = None, *, ghosts: Any = (),
            trails: Any = ()) -> np.ndarray:
        """A picture (height, width, 3) of bytes. poses: (F, 7) of bodies. camera: see `view`. look: contacts to draw.

        ghosts: poses of the further copies. trails: of each a pair of places (n, 3) and a colour (red, green, blue).
        """
        extra = [self._marks().of(look)] if look is not None else []
        extra += [self._marks().trail(np.asarray(places, dtype=float), np.r_[linear(color)[:3], 1.0])
                  for places, color in trails]
        self._set(poses, camera, Triangles.joined(extra), ghosts)
        table, rows = self._canvas.table, len(self._picture)
        if not self._warm:  # compile by one thread
            for work in (cast, catch):
                work(table)
            paint(table, self.samples, 0, 0, self._picture)
            self._warm = True
        list(self._crew.map(lambda work: work(table), (cast, catch)))
        bands = np.linspace(0, rows, min(8 * self._workers, rows) + 1).astype(int).tolist()
        list(self._crew.map(lambda band: paint(table, self.samples, *band, self._picture), pairwise(bands)))
        return self._picture.copy()

    def depth(self, poses: Any, camera: Any = None) -> np.ndarray:
        """Distances along the camera's axis (height, width), m; inf where nothing is."""
        near, number = self._looked(poses, camera)
        with np.errstate(divide="ignore"):
            far = 1.0 / near if self._canvas.lens[0] > 0.0 else DEEP - near
        return np.where(number == NOTHING, np.inf, far)

    def segmentation(self, poses: Any, camera: Any = None) -> np.ndarray:
        """Numbers of bodies (height, width), in the order of the scene's; -1 where nothing is."""
        _, number = self._looked(poses, camera)
        owner = np.concatenate([self._canvas.body, [plane.body for plane in self.planes], [-1]]).astype(np.int64)
        return owner[number]

    def _looked(self, poses: Any, camera: Any) -> tuple[np.ndarray, np.ndarray]:
        """Nearness and numbers of what is seen in the middle of each pixel, translucent things included."""
        self._set(poses, camera, Triangles.joined([]), ())
        catch(self._canvas.table)
        middle = slice(self.samples // 2, None, self.samples)
        near, number = self._canvas.near[:, middle, middle], self._canvas.number[:, middle, middle]
        before = near[GLASS] > near[OPAQUE]
        return np.where(before, near[GLASS], near[OPAQUE]), np.where(before, number[GLASS], number[OPAQUE])

    # ---- views

    def view(self, camera: Any, poses: np.ndarray) -> View:
        """A View as it is; by name, a camera of the scene; None: a view of everything, as at the start."""
        chosen = chosen_view(camera, self.cameras)
        if chosen is None:
            return view_of_all(*self.bounds(self.start), self.size[0] / self.size[1])
        if isinstance(chosen, str):
            return scene_view(self.cameras[chosen], poses, self._center)
        if chosen.follow is not None:
            names = [body["name"] for body in self.drawing["bodies"]]
            if chosen.follow not in names:
                raise RecordingError(f"there is no body {chosen.follow!r} to follow; there are {', '.join(names[:8])}")
            number = names.index(chosen.follow)
            return chosen.moved(poses[number, :3] - self.start[number, :3])
        return chosen

    def bounds(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box around what moves (all, where nothing does), and the ground below it."""
        bodies = self.drawing["bodies"]
        robots = {body["robot"] for body in bodies if body["moves"]} - {None}
        moving = [n for n, body in enumerate(bodies) if (body["moves"] or body["robot"] in robots) and n in self._boxes]
        points = [self._boxes[n] @ quaternion_to_matrix(poses[n, 3:]).T + poses[n, :3] for n in moving or self._boxes]
        if not points:
            return np.array([-1.0, -1.0, 0.0]), np.ones(3)
        everything = np.concatenate(points)
        low, high = everything.min(axis=0), everything.max(axis=0)
        for plane in self.planes:
            turn = quaternion_to_matrix(poses[plane.body, 3:])
            origin, normal = poses[plane.body, :3] + turn @ plane.axes[0], turn @ np.cross(plane.axes[1], plane.axes[2])
            height = float((0.5 * (low + high) - origin) @ normal)
            if 0.0 < height < 1.5 * np.linalg.norm(high - low):  # things in the air come down
                foot = 0.5 * (low + high) - height * normal
                low, high = np.minimum(low, foot), np.maximum(high, foot)
        return low, high

    def _center(self, body: int, poses: np.ndarray) -> np.ndarray:
        """Centre of mass of a body and all that hangs on it."""
        bodies, total, moment = self.drawing["bodies"], 0.0, np.zeros(3)
        for n in range(body, self.bodies):
            above: int | None = n
            while above is not None and above > body:
                above = bodies[above].get("parent")
            mass = bodies[n].get("mass", 0.0)
            if above == body and mass > 0.0:
                total += mass
                moment += mass * (poses[n, :3] + quaternion_to_matrix(poses[n, 3:]) @ np.array(bodies[n]["center"]))
        return moment / total if total > 0.0 else poses[body, :3]

    # ---- the canvas

    def _measure(self, low: np.ndarray, high: np.ndarray) -> None:
        """Sizes that lights, grid and arrows go by."""
        self.radius = max(0.5 * float(np.linalg.norm(high - low)), 0.05)
        extents: dict[str, list[np.ndarray]] = {}
        sizes = []
        for n, corners in self._boxes.items():
            body = self.drawing["bodies"][n]
            if body["moves"]:
                sizes.append(float(np.linalg.norm(corners[-1] - corners[0])))
                placed = corners @ quaternion_to_matrix(self.start[n, 3:]).T + self.start[n, :3]
                extents.setdefault(body["robot"] or body["name"], []).append(placed)
        things = [float(np.linalg.norm(np.concatenate(p).max(axis=0) - np.concatenate(p).min(axis=0)))
                  for p in extents.values()]
        self.thing = float(np.median(things)) if things else 1.0
        self.unit = float(np.sqrt(np.median(sizes) * self.thing)) if sizes else 1.0

    def _marks(self) -> Marks:
        gravity = max(float(np.linalg.norm(self.drawing["gravity"])), 1.0)
        return Marks(self.unit, self.thing, self.drawing["mass"] * gravity, self._world)

    def _made(self, room: int) -> Canvas:
        """A canvas with room for so many triangles, the scene's own in place."""
        width, height = self.samples * self.size[0], self.samples * self.size[1]
        canvas = Canvas.sized({"T": room, "F": self._world + 1, "P": len(self.planes), "S": SHADOW, "H": height,
                               "W": width, "E": LEVELS + 1})
        count = len(self._copies)
        for name in ("corner", "normal", "color", "body", "layer"):
            getattr(canvas, name)[:count] = getattr(self._copies, name)
        canvas.poses[:] = IDENTITY
        usual = linear(drawing_module.GROUND)
        own = [GROUND if np.array_equal(plane.color, usual) else np.minimum(plane.color, GROUND)
               for plane in self.planes]  # a white one would drown shadows and sky
        if own:
            canvas.plane_color[:] = own
        tone = np.arange(LEVELS + 1) / LEVELS
        screen = np.where(tone <= 0.0031308, 12.92 * tone, 1.055 * tone ** (1 / 2.4) - 0.055)
        canvas.encoded[:] = np.round(255 * screen)
        light = canvas.light
        light[SUN:SUN + 3], light[SKY:SKY + 3] = SUN_WAY, (0.0, 0.0, 1.0)
        light[SUN_STRENGTH], light[SKY_STRENGTH] = 0.62, 0.52
        canvas.sky[:] = BACKGROUND
        return canvas

    def _set(self, poses: Any, camera: Any, extra: Triangles, ghosts: Any) -> None:
        """Poses, planes, camera and sun of one picture."""
        poses = self._checked(poses)
        copies = [self._checked(ghost) for ghost in ghosts] or [poses] * len(self.ghosts)
        if len(copies) != len(self.ghosts):
            raise RecordingError(f"the renderer was made for {len(self.ghosts)} ghosts and got poses of {len(copies)}")
        count = len(self._copies) + len(extra)
        if count > len(self._canvas.body):
            self._canvas = self._made(count + count // 2)
        canvas = self._canvas
        canvas.poses[:self._world] = np.concatenate([poses, *copies])
        for name in ("corner", "normal", "color", "body", "layer"):
            getattr(canvas, name)[len(self._copies):count] = getattr(extra, name)
        canvas.count[0] = count
        for k, plane in enumerate(self.planes):
            turn = quaternion_to_matrix(poses[plane.body, 3:])
            canvas.plane[k] = plane.axes @ turn.T
            canvas.plane[k, 0] += poses[plane.body, :3]
        self._aim(self.view(camera, poses))
        self._shine(poses)
        stand(canvas.table)

    def _checked(self, poses: Any) -> np.ndarray:
        poses = np.asarray(poses, dtype=float)
        if poses.size != 7 * self.bodies:
            raise RecordingError(f"the drawing has {self.bodies} bodies, so poses must be ({self.bodies}, 7) "
                                 f"(got {poses.shape})")
        return np.nan_to_num(poses.reshape(self.bodies, 7), nan=0.0, posinf=DEEP, neginf=-DEEP)

    def _aim(self, view: View) -> None:
        canvas, (width, height) = self._canvas, self.size
        canvas.eye[:], canvas.axes[:] = view.eye, view.axes
        rows = self.samples * height
        scale = 0.5 * rows / np.tan(0.5 * view.fov) if view.height is None else rows / view.height
        canvas.lens[:] = (view.height is None, scale, 0.5 * self.samples * width, 0.5 * rows)
        reach = max(self.radius, float(np.linalg.norm(view.target - view.eye)))
        canvas.light[HAZE_BEGIN], canvas.light[HAZE_END] = 4.0 * reach, 25.0 * reach
        canvas.light[CELL] = 10.0 ** round(np.log10(reach / 11))

    def _shine(self, poses: np.ndarray) -> None:
        """The sun goes along with what moves, so that shadows stay sharp."""
        canvas = self._canvas
        low, high = self.bounds(poses)
        reach = min(max(0.6 * float(np.linalg.norm(high - low)), 1.2 * self.radius), 4.0 * self.radius) + 1e-3
        middle = np.clip(0.5 * (low + high), -DEEP, DEEP)
        sun = View(middle + 4.0 * reach * SUN_WAY, middle)
        canvas.sun_eye[:], canvas.sun_axes[:] = sun.eye, sun.axes
        canvas.sun_lens[:] = (0.0, 0.5 * SHADOW / reach, 0.5 * SHADOW, 0.5 * SHADOW)
        canvas.light[BIAS] = 3.0 * reach / SHADOW


def checked_size(size: Any) -> tuple[int, int]:
    """Width and height in pixels."""
    try:
        width, height = size
        sound = int(width) == width and int(height) == height and 1 <= width <= LARGEST and 1 <= height <= LARGEST
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise RecordingError(f"size must be two whole numbers of pixels, width and height, from 1 to {LARGEST} "
                             f"(got {size!r})")
    return int(width), int(height)


def _boxes(solid: Triangles, bodies: int) -> dict[int, np.ndarray]:
    """Corners (8, 3) of a box around each body's triangles, in its frame."""
    found = {}
    for n in np.unique(solid.body):
        corners = solid.corner[solid.body == n].reshape(-1, 3)
        ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
        found[int(n)] = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]]
                                  for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return found
