"""Robot files: `load_robot` chooses the reader by content, and what its readers share.

The folders urdf, mjcf, body (Choreonoid) and usd read.

A robot file becomes a `RobotDescription`, plain data that `Scene` then places. The file's numbers are taken as they
are; what the file uses and sesshoku does not is collected by `Unsupported`, element by element.

Meshes: a collision mesh stands for its **convex hull**, as in MuJoCo and most simulators of robots (`decompose=True`
finds convex pieces instead, slowly); a visual mesh keeps its triangles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.geometry import mass, mesh
from sesshoku.scene.geometry.shapes import Mesh, Shape
from sesshoku.scene.io.described import described_robot, is_described
from sesshoku.scene.io.files import check_file, parse_xml, read_file
from sesshoku.scene.io.unsupported import Grade, Unsupported

#: of robot files; what they are, their content says
ROBOT_SUFFIXES = (".urdf", ".xml", ".mjcf", ".body", ".usd", ".usda", ".usdc", ".usdz")
USD_BEGINNINGS = (b"#usda", b"PXR-USDC", b"PK\x03\x04")


def load_robot(path: str | Path, *, package_paths: str | Path | Iterable[str | Path] = (),
               decompose: bool = False, repair_inertia: bool = False) -> RobotDescription:
    """Read a URDF (root element <robot>), MJCF (<mujoco>), USD or Choreonoid body file (YAML), whatever its suffix.

    `robot_descriptions:NAME` names a robot of that package (described.py).
    package_paths: folders (or one) in which `package://` meshes are sought (URDF), beside those the file's own place
    suggests.
    decompose: split concave collision meshes into convex pieces instead of taking their hulls.
    repair_inertia: replace an inertia that no body can have (rounded or made up) by the nearest possible one, and list
    it in `unsupported`; otherwise it is an error.
    """
    path = check.path(path, "robot file")
    with in_file(path):
        folders = [package_paths] if isinstance(package_paths, (str, Path)) else package_paths
        if not isinstance(folders, Iterable):
            raise SceneError("package_paths is not a list of folders", value=package_paths, remedy="give folders")
        package_paths = tuple(check.path(folder, "package_paths") for folder in folders)
        if is_described(path):
            path, more = described_robot(path)
            return load_robot(path, package_paths=(*package_paths, *more), decompose=decompose,
                              repair_inertia=repair_inertia)
        head, suffix = _head(path), path.suffix.lower()
        if head.startswith(USD_BEGINNINGS) or suffix.startswith(".usd"):
            from sesshoku.scene.io.usd.read import load_usd

            return load_usd(path, decompose=decompose, repair_inertia=repair_inertia)
        if not head.startswith(b"<") and (b"ChoreonoidBody" in head or suffix in (".body", ".yaml", ".yml")):
            from sesshoku.scene.io.body.read import load_body_file

            return load_body_file(path, package_paths=package_paths, decompose=decompose, repair_inertia=repair_inertia)
        tag = read_xml(path).tag
        if tag == "robot":
            from sesshoku.scene.io.urdf.read import load_urdf

            return load_urdf(path, package_paths=package_paths, decompose=decompose, repair_inertia=repair_inertia)
        if tag == "mujoco":
            from sesshoku.scene.io.mjcf.read import load_mjcf

            return load_mjcf(path, decompose=decompose, repair_inertia=repair_inertia)
        raise SceneError("not a robot file", element=f"root element <{tag}>",
                         remedy="give a URDF file (<robot>), an MJCF file (<mujoco>) or a body file")


def _head(path: Path) -> bytes:
    """The beginning of a file, behind marks and blanks; nothing where it cannot be read, which its reader will say."""
    try:
        check_file(path)
        with open(path, "rb") as file:
            return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (OSError, ValueError, SceneError):
        return b""


def read_xml(path: str | Path) -> ElementTree.Element:
    """The root element of an XML file."""
    return parse_xml(read_file(path))


def repaired(matrix: np.ndarray, element: str, unsupported: Unsupported, exact: bool = False) -> np.ndarray:
    """An inertia that a body can have: the file's own, or the nearest one, which is then listed."""
    physical = mass.repair(matrix, exact)
    if physical is None:
        return matrix
    before, after = (", ".join(f"{m:.4g}" for m in np.linalg.eigvalsh(inertia)) for inertia in (matrix, physical))
    unsupported.add(f"inertia of {element} is not physical: principal moments {before} changed to {after}",
                    Grade.SLIGHT)
    return physical


class Names:
    """Hands out names that are unique within a kind of element."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def fresh(self, wish: str) -> str:
        name, count = wish, 1
        while name in self._taken:
            count += 1
            name = f"{wish}_{count}"
        self._taken.add(name)
        return name


@contextmanager
def within(element: str) -> Iterator[None]:
    """Name the surrounding element in every SceneError raised inside."""
    try:
        yield
    except SceneError as error:
        if error.element is None:
            error.element = element
        elif not error.element.startswith(element):
            error.element = f"{element}: {error.element}"
        error.args = (str(error),)
        raise


def collision_shape(vertices: np.ndarray, faces: np.ndarray, source: str | None, scale: tuple[float, float, float],
                    decompose: bool) -> Shape:
    """The hull of a collision mesh, or its convex pieces."""
    if decompose:
        return mesh.triangle_mesh(vertices, faces, source=source, scale=scale, decompose=True)
    return mesh.convex_mesh(vertices, source=source, scale=scale)


def visual_shape(vertices: np.ndarray, faces: np.ndarray, source: str | None,
                 scale: tuple[float, float, float]) -> Mesh:
    """The triangles as they are: a mesh for the eye need not be closed."""
    return Mesh(np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64), source=source, scale=scale)


__all__ = ["Names", "Unsupported", "collision_shape", "load_robot", "read_xml", "repaired", "visual_shape", "within"]
