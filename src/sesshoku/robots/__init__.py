"""The robots and objects that come with sesshoku: their descriptions, and where their files are.

In: a name. Out: the file of that model, written by the functions here.
"""

from __future__ import annotations

from pathlib import Path

from sesshoku.errors import SceneError
from sesshoku.scene.calls import checked

__all__ = ["files", "path", "write"]


def _folders() -> list[Path]:
    here = Path(__file__).resolve()
    # inside the installed package; next to src/ in a checkout
    return [folder for folder in (here.parents[1] / "models", here.parents[3] / "models") if folder.is_dir()]


@checked
def path(name: str) -> Path:
    """The file of a shipped model, for example path("humanoid_large.xml")."""
    known: list[str] = []
    for folder in _folders():
        if (folder / name).is_file() and "/" not in name and "\\" not in name:
            return folder / name
        known += sorted(file.name for file in folder.iterdir() if file.suffix in (".urdf", ".xml", ".stl"))
    raise SceneError("no such model", value=name, remedy=f"choose one of {', '.join(known) or '(none are installed)'}")


@checked
def files() -> dict[str, bytes]:
    """Every generated model file: name -> content."""
    from sesshoku.robots import arm, heart, humanoid
    from sesshoku.robots.write_mjcf import mjcf
    from sesshoku.robots.write_urdf import urdf

    robots = [humanoid.describe(kind) for kind in humanoid.KINDS]
    robots += [arm.describe(), arm.crate("crate", 0.2, 2.0), arm.crate("cube", 1.0, 1.0)]
    made = {"heart.stl": heart.binary_stl(*heart.heart())}
    for robot in robots:
        made[f"{robot.name}.urdf"] = urdf(robot).encode()
        made[f"{robot.name}.xml"] = mjcf(robot).encode()
    return made


@checked
def write(folder: Path | str) -> list[Path]:
    """Writes all model files into a folder, which is made if missing."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in files().items():
        (target / name).write_bytes(content)
        written.append(target / name)
    return written
