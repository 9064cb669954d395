"""Gaits of the robots in models/, and scenes with one of them ready to walk."""

from __future__ import annotations

from sesshoku import robots
from sesshoku.control.biped import HUMANOID, Biped
from sesshoku.control.walking.gait import Gait
from sesshoku.errors import SceneError
from sesshoku.robots import humanoid
from sesshoku.robots.bush import Bush
from sesshoku.robots.write_mjcf import mjcf
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene

SMALL = Gait(com_height=0.24, width=0.08, zmp_ahead=0.01, single=0.35, double=0.10, start=1.4, shift=0.5, finish=1.2,
             swing_height=0.020, preview=1.0, jerk_cost=1e-8)
LARGE = Gait(com_height=0.72, width=0.18, zmp_ahead=0.03, single=0.70, double=0.15, start=2.0, shift=0.8, finish=2.0,
             swing_height=0.050, preview=1.6, jerk_cost=1e-6)
GAITS = {"small": SMALL, "large": LARGE, "large_bush": LARGE}


def stage(kind: str, *, friction: float = 0.5, material: Material | None = None, bush: Bush | None = None) -> Scene:
    """The ground and one of the humanoids "small", "large" or "large_bush" (on `bush`), standing.

    friction: between soles and ground. material: of the ground, instead; friction combines with the soles' 0.5.
    """
    import tempfile
    from pathlib import Path

    if kind not in GAITS:
        raise SceneError("unknown humanoid", value=kind, remedy=f"use one of {', '.join(GAITS)}")
    scene = Scene(gravity=(0, 0, -humanoid.GRAVITY), name=f"{kind} humanoid")
    scene.add_ground(material=material if material is not None else Material(friction))
    if bush is None:
        scene.load(robots.path(f"humanoid_{kind}.xml"), pose="stand")
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"humanoid_{kind}.xml"
            file.write_text(mjcf(humanoid.describe(kind, bush)))
            scene.load(file, pose="stand")
    if material is None:
        soles = [name for name in scene.bodies if name.endswith(("_foot", "_sole"))]
        for name in soles:
            scene.friction(name, "ground", static=friction)
    return scene


def biped(scene: Scene) -> Biped:
    """The legs of the shipped humanoid in a scene."""
    return Biped(scene, HUMANOID)


__all__ = ["GAITS", "LARGE", "SMALL", "biped", "stage"]
