"""Small scenes that several experiments share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle


def crate_on_floor(
    speed: float = 0.0,
    *,
    heading: float = 0.0,
    static: float = 0.5,
    kinetic: float | None = None,
    restitution: float = 0.0,
    height: float = 0.0,
    tilt: float = 0.0,
    edge: float = 1.0,
    mass: float = 1.0,
    gravity: float = 9.8,
    vertical: float = 0.0,
) -> Scene:
    """A cube (`crate`) on, or `height` above, the ground, thrown along the floor at `speed` towards `heading` (rad)."""
    material = Material(static, kinetic, restitution)
    scene = Scene(gravity=(0, 0, -gravity), name="crate on the floor")
    scene.add_ground(material=material)
    rotation: Any = axis_angle(np.array([0.0, 1.0, 0.0]), tilt)
    rise = 0.5 * edge * (abs(np.cos(tilt)) + abs(np.sin(tilt)))
    scene.add_box("crate", size=(edge, edge, edge), mass=mass, position=(0, 0, rise + height), rotation=rotation,
                  velocity=(speed * np.cos(heading), speed * np.sin(heading), vertical), material=material)
    return scene
