"""What is drawn over a scene: contact points, arrows of forces, contact polygons, centre of mass, zero-moment point."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sesshoku.recording.film import CENTER_OF_MASS, PULL, Look
from sesshoku.recording.render.canvas import OPAQUE, OVER
from sesshoku.recording.render.triangles import Triangles, linear, smooth
from sesshoku.scene.geometry import shapes
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.spatial.rotation import frame_with_z

COLORS = {"released": 0x9AA4B0, "stick": 0x2563EB, "slip": 0xF97316, "pull": 0xE11D48, "spring": 0x0F9D58,
          "center": 0xFACC15, "moment": 0xD946EF}  # as in the browser
STATES = ("released", "stick", "slip")
ARROW_SCALE = 1.2  # lengths of a usual body or robot for the weight of one
LONGEST = 4.0  # lengths of a usual body
MOST = 400  # arrows; of more, those of the largest force
OPACITY = 0.92

BALL = smooth(*surface(shapes.Sphere(1.0), 10))
ROD = smooth(*surface(shapes.Cylinder(1.0, 1.0), 8))  # from z -0.5 to 0.5
_ring = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)])
TIP = smooth(np.vstack([_ring, [[0, 0, 1.0], [0, 0, 0]]]),
             np.array([f for k in range(12) for f in ((k, (k + 1) % 12, 12), ((k + 1) % 12, k, 13))]))


def color_of(name: str) -> np.ndarray:
    code = COLORS[name]
    return linear([(code >> 16) / 255, (code >> 8 & 255) / 255, (code & 255) / 255, OPACITY])


class Marks:
    """Makes triangles of looks. unit, thing: sizes of a usual body, of a usual robot, m; weight: of one, N."""

    def __init__(self, unit: float, thing: float, weight: float, world: int) -> None:
        self.unit, self.scale, self.world = unit, ARROW_SCALE * thing / max(weight, 1e-300), world
        self._parts: list[Triangles] = []

    def of(self, look: Look) -> Triangles:
        self._parts = []
        self._contacts(look.contacts.astype(float))
        self._polygons(look.corners.astype(float))
        for row in look.lines.astype(float):
            if row[6] == PULL:
                self._rod(row[:3], row[3:6], 0.016 * self.unit, color_of("pull"))
        for kind, *place in look.marks.astype(float):
            center = kind == CENTER_OF_MASS
            name, size = ("center", 0.05) if center else ("moment", 0.035)
            self._ball(np.array(place), size * self.unit, color_of(name))
        return Triangles.joined(self._parts)

    def trail(self, places: np.ndarray, color: np.ndarray) -> Triangles:
        """A line through places (n, 3), as thick as an arrow's shaft, hidden by what is before it."""
        self._parts = []
        for a, b in pairwise(places):
            self._rod(a, b, 0.006 * self.unit, color, OPAQUE)
        return Triangles.joined(self._parts)

    def _contacts(self, rows: np.ndarray) -> None:
        if len(rows) > MOST:
            rows = rows[np.argsort(-np.linalg.norm(rows[:, 6:9], axis=1), kind="stable")[:MOST]]
        for row in rows[np.isfinite(rows).all(axis=1)]:
            color = color_of(STATES[int(row[10])])
            self._ball(row[:3], (0.022 if row[10] else 0.012) * self.unit, color)
            strength = float(np.linalg.norm(row[6:9]))
            length = min(strength * self.scale, LONGEST * self.unit)
            if row[10] and length >= 0.01 * self.unit:
                self._arrow(row[:3], row[6:9] / strength, length, color)

    def _arrow(self, at: np.ndarray, way: np.ndarray, length: float, color: np.ndarray) -> None:
        head = min(0.11 * self.unit, 0.5 * length)
        self._rod(at, at + (length - head) * way, 0.016 * self.unit, color)
        self._put(TIP, at + (length - head) * way, frame_with_z(way), np.array([0.4 * head, 0.4 * head, head]), color)

    def _rod(self, a: np.ndarray, b: np.ndarray, radius: float, color: np.ndarray, layer: int = OVER) -> None:
        length = float(np.linalg.norm(b - a))
        if length > 0.0:
            turn = frame_with_z((b - a) / length)
            self._put(ROD, 0.5 * (a + b), turn, np.array([radius, radius, length]), color, layer)

    def _ball(self, at: np.ndarray, radius: float, color: np.ndarray) -> None:
        self._put(BALL, at, np.eye(3), np.full(3, radius), color)

    def _polygons(self, corners: np.ndarray) -> None:
        for number in np.unique(corners[:, 3]) if len(corners) else ():
            rows = corners[corners[:, 3] == number]
            color = color_of(STATES[int(rows[0, 4])]) * (1.0, 1.0, 1.0, 0.4)
            fan = np.array([[rows[0, :3], rows[k, :3], rows[k + 1, :3]] for k in range(1, len(rows) - 1)])
            if len(fan):
                crossed = np.cross(fan[:, 1] - fan[:, 0], fan[:, 2] - fan[:, 0])
                crossed /= np.maximum(np.linalg.norm(crossed, axis=1, keepdims=True), 1e-300)
                self._parts.append(Triangles.of(fan, np.repeat(crossed[:, None], 3, axis=1), color, self.world, OVER))

    def _put(self, form: tuple[np.ndarray, np.ndarray], at: np.ndarray, turn: np.ndarray, size: np.ndarray,
             color: np.ndarray, layer: int = OVER) -> None:
        corner, normal = form
        leaning = normal / size
        leaning /= np.linalg.norm(leaning, axis=2, keepdims=True)
        self._parts.append(Triangles.of((corner * size) @ turn.T + at, leaning @ turn.T, color, self.world, layer))
