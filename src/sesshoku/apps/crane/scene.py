"""The room of the game: a bin with prizes on a platform, and a chute beside it that they must be dropped into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.apps.crane.motion import Limits
from sesshoku.apps.crane.robot import add_crane
from sesshoku.apps.crane.shapes import ball, gem, heart
from sesshoku.scene.elements import Geometry, Material
from sesshoku.scene.geometry.shapes import Box
from sesshoku.scene.scene import Scene

#: the platform's top is z = 0; the chute reaches down to the ground at -DEPTH
LOW, HIGH, DEPTH, WALL = (-3.3, -2.4), (4.5, 2.4), 1.4, 0.1
CHUTE_LOW, CHUTE_HIGH = (-3.3, -2.4), (-1.7, -0.4)
HOME = (-2.3, -1.2, 3.0)
LIMITS = Limits(room=((-2.5, -1.4, 1.46), (3.4, 1.4, 3.0)))
WOOD, GLASS, GREEN = (0.80, 0.66, 0.47, 1.0), (0.55, 0.68, 0.78, 1.0), (0.25, 0.70, 0.35, 1.0)
#: of one contact spring at the fingers, for the compliant methods: a toe's four bear the grip within their limit, so
#: that friction has something to act on; all others are left to the methods
STIFFNESS, DAMPING = 300.0, 1.5
FRICTION, BIN_FRICTION = 0.8, 0.5


@dataclass(frozen=True)
class Prize:
    """A prize: where it starts, how high its middle is then, and what it is worth."""

    name: str
    points: int
    place: tuple[float, float, float]


PRIZES = (
    Prize("red_box", 10, (-0.3, -1.1, 0.35)),
    Prize("flat_box", 10, (1.4, -1.1, 0.25)),
    Prize("heart", 30, (1.3, 1.1, 0.2)),
    Prize("drum", 15, (3.2, -1.1, 0.3)),
    Prize("gem", 25, (3.2, 1.1, 0.3)),
    Prize("ball", 20, (-0.5, 1.1, 0.36)),
)


def materials(friction: float = FRICTION) -> tuple[Material, Material, Material]:
    """Of fingers, prizes and the bin."""
    return (Material(friction, stiffness=STIFFNESS, damping=DAMPING, name="rubber"),
            Material(friction, name="prize"), Material(BIN_FRICTION, name="wood"))


def add_prize(scene: Scene, prize: Prize, material: Material) -> None:
    """Put one of the prizes into a scene."""
    place: dict[str, Any] = {"position": prize.place, "material": material}
    if prize.name == "red_box":
        scene.add_box(prize.name, size=(0.7, 0.7, 0.7), mass=1.0, color=(0.90, 0.35, 0.25, 1.0), **place)
    elif prize.name == "flat_box":
        scene.add_box(prize.name, size=(0.8, 0.6, 0.5), mass=0.9, color=(0.25, 0.55, 0.85, 1.0), **place)
    elif prize.name == "heart":
        vertices, faces = heart()
        scene.add_mesh(prize.name, vertices, faces=faces, mass=0.8, color=(0.95, 0.30, 0.55, 1.0),
                       rotation=(np.sqrt(0.5), -np.sqrt(0.5), 0, 0), **place)  # it lies flat, its notch to the back
    elif prize.name == "drum":
        scene.add_cylinder(prize.name, radius=0.35, length=0.6, mass=0.8, color=(0.95, 0.75, 0.20, 1.0), **place)
    elif prize.name == "gem":
        scene.add_convex(prize.name, gem(), mass=0.8, color=(0.35, 0.80, 0.60, 1.0), **place)
    else:
        scene.add_convex(prize.name, ball(), mass=0.6, color=(0.96, 0.96, 0.94, 1.0), **place)


def add_bin(scene: Scene, material: Material) -> None:
    """Ground, platform with the chute's hole, and the walls around."""
    scene.add_ground("ground", height=-DEPTH, material=material)
    (x0, y0), (x1, y1) = LOW, HIGH
    (_, _), (cx, cy) = CHUTE_LOW, CHUTE_HIGH

    def block(name: str, low: tuple[float, float, float], high: tuple[float, float, float], color: Any) -> None:
        size = np.subtract(high, low)
        scene.add_box(name, size=size, position=np.add(low, high) / 2, fixed=True, material=material, color=color)

    block("platform", (cx, y0, -DEPTH), (x1, y1, 0.0), WOOD)
    block("platform_back", (x0, cy, -DEPTH), (cx, y1, 0.0), WOOD)
    strip = 0.08
    scene.add_body("chute", fixed=True, geometries=[  # its rim, only to be seen
        Geometry(Box((strip, cy - y0, 0.02)), (cx + strip / 2, (y0 + cy) / 2, 0.0), collides=False, color=GREEN),
        Geometry(Box((cx - x0 + strip, strip, 0.02)), ((x0 + cx + strip) / 2, cy + strip / 2, 0.0), collides=False,
                 color=GREEN)])
    rim = 0.45
    block("wall_left", (x0 - WALL, y0 - WALL, -DEPTH), (x0, y1 + WALL, rim), GLASS)
    block("wall_right", (x1, y0 - WALL, -DEPTH), (x1 + WALL, y1 + WALL, rim), GLASS)
    block("wall_front", (x0, y0 - WALL, -DEPTH), (x1, y0, rim), GLASS)
    block("wall_back", (x0, y1, -DEPTH), (x1, y1 + WALL, rim), GLASS)


def game_scene(path: Callable[[float], tuple[Any, Any]], prizes: tuple[Prize, ...] = PRIZES) -> Scene:
    """Everything: bin, prizes, crane."""
    scene = Scene(gravity=(0, 0, -9.8), name="crane game")
    rubber, skin, wood = materials()
    add_bin(scene, wood)
    for prize in prizes:
        add_prize(scene, prize, skin)
    add_crane(scene, path, rubber)
    return scene


def in_chute(position: np.ndarray) -> bool:
    """Whether a point is down in the chute."""
    inside = all(CHUTE_LOW[k] < position[k] < CHUTE_HIGH[k] for k in range(2))
    return bool(inside and position[2] < -0.2)
