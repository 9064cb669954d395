"""Small MJCF files for tests, written where they are needed."""

from __future__ import annotations

from pathlib import Path

from sesshoku.scene.elements import Body, RobotDescription
from sesshoku.scene.io.mjcf.read import load_mjcf

DATA = Path(__file__).parent / "data"
MACHINE = DATA / "machine.xml"
BALL = '<geom size="0.1" mass="1"/>'
HINGE = f'<worldbody><body name="b"><joint name="j" axis="0 1 0"/>{BALL}</body></worldbody>'


def body(description: RobotDescription, name: str) -> Body:
    return next(body for body in description.bodies if body.name == name)


def write(folder: Path, inside: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(f"<mujoco>{inside}</mujoco>")
    return path


def load(folder: Path, inside: str) -> RobotDescription:
    return load_mjcf(write(folder, inside))
