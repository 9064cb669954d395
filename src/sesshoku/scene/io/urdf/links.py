"""The parts of a URDF link: inertial, visual and collision geometries, mesh paths; and reading of XML attributes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.elements import Geometry, Inertial
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Shape, Sphere
from sesshoku.scene.io.spec import Unsupported, collision_shape, repaired, visual_shape, within
from sesshoku.scene.io.unsupported import Grade
from sesshoku.spatial.rotation import from_roll_pitch_yaw, quaternion_to_matrix

# ---- attributes ------------------------------------------------------------------------------------------------------


def attribute(xml: Element, key: str, label: str) -> str:
    """An attribute that must be there."""
    value = xml.get(key)
    if value is None:
        raise SceneError(f"<{xml.tag}> has no {key!r}", element=label, remedy=f'add {key}="..."')
    return value


def only(xml: Element, tag: str, label: str) -> Element | None:
    """The one child of this tag, or None; a second one would have to be dropped, so it is refused."""
    found = xml.findall(tag)
    if len(found) > 1:
        raise SceneError(f"has {len(found)} <{tag}> elements", element=label, remedy="leave one")
    return found[0] if found else None


def _float(text: str, what: str, label: str) -> float:
    try:
        if "_" in text:  # Python reads 1_000, no robot format does
            raise ValueError
        return float(text)
    except ValueError:
        raise SceneError(f"{what} is not a number", element=label, value=text) from None


def number(xml: Element, key: str, label: str, default: float | None = None) -> float:
    """A number, possibly infinite (a limit may be); NaN is refused. Without a default it must be there."""
    if default is not None and xml.get(key) is None:
        return default
    value = _float(attribute(xml, key, label), f"{key} of <{xml.tag}>", label)
    return check.number(value, f"{key} of <{xml.tag}>", label, infinite=True)


def vector(xml: Element, key: str, label: str, size: int = 3, default: tuple[float, ...] | None = None) -> np.ndarray:
    """Numbers between blanks."""
    text = xml.get(key)
    if text is None and default is not None:
        return np.array(default, dtype=np.float64)
    what = f"{key} of <{xml.tag}>"
    parts = attribute(xml, key, label).split()
    return check.vector([_float(part, what, label) for part in parts], what, label, size=size)


def origin(xml: Element, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion of the element's <origin>; the identity where there is none."""
    found = only(xml, "origin", label)
    if found is None:
        return np.zeros(3), np.array([1.0, 0, 0, 0])
    position = vector(found, "xyz", label, default=(0, 0, 0))
    if found.get("quat_xyzw") is not None:
        return position, check.quaternion(np.roll(vector(found, "quat_xyzw", label, size=4), 1), "quat_xyzw", label)
    return position, from_roll_pitch_yaw(*vector(found, "rpy", label, default=(0, 0, 0)))


# ---- links -----------------------------------------------------------------------------------------------------------


@dataclass
class LinkReader:
    """Reads the links of one file; meshes used twice are read once."""

    path: Path
    package_paths: tuple[Path, ...]
    decompose: bool
    unsupported: Unsupported
    root: Element
    repair_inertia: bool = False
    _colors: dict[str, np.ndarray] = field(default_factory=dict)
    _shapes: dict[tuple[Path, tuple[float, float, float], bool], Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for material in [*self.root.findall("material"), *self.root.findall("link/visual/material")]:
            color = self._color(material)
            if color is not None and material.get("name"):
                self._colors.setdefault(material.get("name", ""), color)

    def read(self, xml: Element, name: str) -> tuple[Inertial | None, list[Geometry]]:
        label = f"link {name!r}"
        with within(label):
            visuals = [self._geometry(item, label, visual=True) for item in xml.findall("visual")]
            collisions = [self._geometry(item, label, visual=False) for item in xml.findall("collision")]
            geometries = [geometry for geometry in visuals + collisions if geometry is not None]
            if not any(geometry.visible for geometry in geometries):  # nothing else to look at
                for geometry in geometries:
                    geometry.visible = True
            return self._inertial(xml, label), geometries

    def _inertial(self, xml: Element, label: str) -> Inertial | None:
        found = only(xml, "inertial", label)
        if found is None:
            return None
        mass, inertia = only(found, "mass", label), only(found, "inertia", label)
        if mass is None or inertia is None:
            missing = "mass" if mass is None else "inertia"
            raise SceneError(f"<inertial> has no <{missing}>", element=label, remedy="add it or drop <inertial>")
        center, rotation = origin(found, label)
        moments = {key: number(inertia, key, label, default=0.0) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
        xx, xy, xz, yy, yz, zz = moments.values()
        R = quaternion_to_matrix(rotation)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused as not finite
            matrix = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        if self.repair_inertia:
            matrix = repaired(matrix, label, self.unsupported)
        return Inertial(number(mass, "value", label), center, matrix, element=label)

    # ---- geometries --------------------------------------------------------------------------------------------------

    def _geometry(self, xml: Element, link: str, visual: bool) -> Geometry | None:
        label = f"{link}: {xml.tag}"
        with within(label):
            holder = only(xml, "geometry", label)
            shapes = [] if holder is None else [child for child in holder if child.tag in SHAPES]
            if len(shapes) != 1:
                if holder is not None and len(holder) == 1:
                    return None  # a shape URDF does not know, listed already
                raise SceneError("needs one shape in <geometry>", element=label, value=[shape.tag for shape in shapes],
                                 remedy=f"give one of {', '.join(sorted(SHAPES))}")
            position, rotation = origin(xml, label)
            shape = self._shape(shapes[0], label, visual)
            if shape is None:
                return None
            color = self._color_of(xml, label) if visual else None
            return Geometry(shape, position, rotation, name=xml.get("name"), collides=not visual, visible=visual,
                            color=color)

    def _shape(self, xml: Element, label: str, visual: bool) -> Shape | None:
        if xml.tag == "box":
            return Box(tuple(vector(xml, "size", label)))
        if xml.tag == "sphere":
            return Sphere(number(xml, "radius", label))
        if xml.tag in ("cylinder", "capsule"):
            made = Cylinder if xml.tag == "cylinder" else Capsule
            return made(number(xml, "radius", label), number(xml, "length", label))
        scale = vector(xml, "scale", label, default=(1, 1, 1))
        filename = attribute(xml, "filename", label)
        try:
            return self._mesh(filename, (float(scale[0]), float(scale[1]), float(scale[2])), label, visual)
        except SceneError as error:
            if not visual:
                raise
            self.unsupported.add(f"visual mesh {filename!r} of {label.removesuffix(': visual')}: {error.problem}",
                                 Grade.LOOKS)
            return None

    def _mesh(self, filename: str, scale: tuple[float, float, float], label: str, visual: bool) -> Shape:
        path = find_mesh(filename, self.path, self.package_paths, label)
        key = (path, scale, visual)
        if key not in self._shapes:
            vertices, faces = mesh.read(path, scale)
            self._shapes[key] = (visual_shape(vertices, faces, str(path), scale) if visual else
                                 collision_shape(vertices, faces, str(path), scale, self.decompose))
        return self._shapes[key]

    # ---- colours -----------------------------------------------------------------------------------------------------

    def _color(self, material: Element) -> np.ndarray | None:
        label = f"material {material.get('name')!r}"
        color = only(material, "color", label)
        return None if color is None else vector(color, "rgba", label, size=4)

    def _color_of(self, visual: Element, label: str) -> tuple[float, float, float, float] | None:
        material = only(visual, "material", label)
        if material is None:
            return None
        color = self._color(material)
        if color is None:
            color = self._colors.get(material.get("name", ""))
        if color is None:
            self.unsupported.add(f"material {material.get('name')!r} without a colour", Grade.LOOKS)
            return None
        return (float(color[0]), float(color[1]), float(color[2]), float(color[3]))


SHAPES = {"box", "sphere", "cylinder", "capsule", "mesh"}

# ---- mesh paths ------------------------------------------------------------------------------------------------------


def find_mesh(filename: str, robot_file: Path, package_paths: tuple[Path, ...], label: str) -> Path:
    """The file a URDF mesh name stands for: a path, file://, package:// or model://."""
    scheme, separator, rest = filename.partition("://")
    if not filename or "\0" in filename or (separator and scheme not in ("package", "model", "file")):
        raise SceneError("mesh name is not understood", element=label, value=filename,
                         remedy="give a path, file://PATH or package://PACKAGE/PATH")
    folder = robot_file.absolute().parent
    if not separator:
        places = [base / filename for base in (folder, *package_paths)]
    elif scheme == "file":
        places = [folder / unquote(rest)]
    else:
        package, _, inner = unquote(rest).partition("/")
        places = [base / inner for base in _package_folders(package, folder, package_paths)]
    for place in places:
        try:
            if place.is_file():
                return place.resolve()
        except OSError:  # a name too long for the file system
            continue
    searched = ", ".join(dict.fromkeys(str(place) for place in places)) or "no folder of that package found"
    raise SceneError("mesh not found", element=label, value=filename,
                     remedy=f"give package_paths or correct the name; searched: {searched}")


def _package_folders(package: str, folder: Path, package_paths: tuple[Path, ...]) -> list[Path]:
    """Folders that may be the ROS package: around the robot file, in package_paths, in the ROS environment."""
    around = [folder, *folder.parents]
    found = [base for base in around if base.name == package or _package_name(base) == package]
    for base in package_paths:
        found += [base] if base.name == package or _package_name(base) == package else [base / package]
    for entry in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        found.append(Path(entry) if Path(entry).name == package else Path(entry) / package)
    for entry in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        found.append(Path(entry) / "share" / package)
    return found + [base / package for base in around]


def _package_name(folder: Path) -> str | None:
    """The name in the folder's package.xml, if it has one."""
    try:
        return ElementTree.parse(folder / "package.xml").getroot().findtext("name", "").strip()
    except (OSError, ElementTree.ParseError, ValueError, LookupError):
        return None
