"""What an MJCF file would make MuJoCo's parser do, looked at before it does.

MuJoCo follows <include> and <model> wherever they point, to files without end too, crashes on a model that attaches
itself, and copies a <replicate> as often as it says, in time that grows with the square. So the XML is walked first:

- files: regular ones only, of bounded size, also meshes and height fields; no file within itself;
- copies: <replicate>, <composite>, <flexcomp> and attached models, together at most MOST_COPIES and MOST_ELEMENTS;
- sizes: height fields and what <size> and <numeric> set aside.

Where this cannot be sure (models that are attached, plugins, files found by rules that are not known here) the file is
tried in a process of its own, with limits of time and memory (`trial.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from sesshoku.errors import SceneError
from sesshoku.scene.io.files import MOST_MESH_BYTES, check_file, is_odd, parse_xml, read_file
from sesshoku.scene.io.spec import within

MOST_COPIES = 4096  # that replicates make, those within each other multiplied: MuJoCo takes seconds for them
MOST_ELEMENTS = 200_000  # of a file and all it includes and attaches, copies counted
MOST_NUMBERS = 25_000_000  # in a height field, or set aside by one element
FOLDERS = ("meshdir", "texturedir", "assetdir")  # of <compiler>: where files of assets are looked for too
SIZES = ("nuserdata", "nkey", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam", "nuser_tendon",
         "nuser_actuator", "nuser_sensor")


class Guard:
    """Walks a file and all it includes. roots: their root elements; unsure: whether they must be tried apart."""

    def __init__(self, path: Path) -> None:
        self.roots: list[Element] = []
        self.unsure = False
        self._main = os.path.dirname(os.path.abspath(path))
        self._sizes: dict[Path, int] = {}  # elements of files that are walked, copies counted
        self._copies = 0

    def walk(self, path: Path, root: Element) -> None:
        """Look at a file that is parsed already, and at all it names; SceneError where it must not be handed on."""
        place = Path(os.path.realpath(path))
        self._walk(path, place, root, (place,))

    def _walk(self, path: Path, place: Path, root: Element, above: tuple[Path, ...]) -> int:
        self.roots.append(root)
        folders, near = self._folders(path, root), (os.path.dirname(os.path.abspath(path)), self._main)
        models: dict[str, int] = {}
        for model in root.iter("model"):
            if model.get("file") and model is not root:
                self.unsure = True
                size = self._enter(model, near, above)
                models[model.get("name") or Path(model.get("file", "")).stem] = size
        total = 0
        for element, copies in _elements(root):
            total += copies
            label = _label(element)
            if copies > MOST_COPIES or element.tag == "replicate" and self._add_copies(copies * _count(element)):
                raise SceneError(f"replicates make more than {MOST_COPIES} copies", element=label,
                                 value=element.get("count"), remedy="lower the counts")
            self._look(element, label, folders)
            if element.tag == "include":
                total += copies * self._enter(element, near, above)
            elif element.tag == "attach":
                total += copies * models.get(element.get("model", ""), 1)
            elif element.tag in ("composite", "flexcomp"):
                total += copies * _count(element)
            if total > MOST_ELEMENTS:
                raise SceneError(f"the file makes more than {MOST_ELEMENTS} elements, copies counted", element=label,
                                 remedy="lower the counts")
        self._sizes[place] = total
        return total

    def _add_copies(self, count: int) -> bool:
        """Whether the copies of all replicates are too many with these."""
        self._copies += count
        return self._copies > MOST_COPIES

    def _folders(self, path: Path, root: Element) -> list[str]:
        """Where a file's relative names may lead: beside it, beside the main file, and as <compiler> says."""
        beside = os.path.dirname(os.path.abspath(path))
        named = [compiler.get(key, "") for compiler in root.iter("compiler") for key in FOLDERS if compiler.get(key)]
        paths = [beside, self._main, *(os.path.join(folder, name) for name in named for folder in (beside, self._main))]
        return list(dict.fromkeys(map(os.path.normpath, paths)))

    def _enter(self, element: Element, folders: tuple[str, ...], above: tuple[Path, ...]) -> int:
        """Walk the file that an element names; its number of elements."""
        label, given = _label(element), element.get("file", "")
        paths = [Path(folder, given) for folder in folders] if given else []
        found = [path for path in paths if os.path.lexists(path)]
        if not found:  # MuJoCo reports it, or finds it where we do not look
            self.unsure = True
            return 1
        place = Path(os.path.realpath(found[0]))
        if place in above:
            raise SceneError("the file is part of itself", element=label, value=given, remedy="take it out")
        if place in self._sizes:
            return self._sizes[place]
        with within(f"{label}: {given}"):
            root = parse_xml(read_file(place))
        return self._walk(found[0], place, root, (*above, place))

    def _look(self, element: Element, label: str, folders: list[str]) -> None:
        """Files and sizes that one element asks for."""
        if element.tag == "plugin":
            self.unsure = True
        given = element.get("file")
        if given and element.tag not in ("include", "model", "texture"):
            names = {given, os.path.basename(given)}
            for place in [os.path.join(folder, name) for folder in folders for name in names]:
                if is_odd(place, MOST_MESH_BYTES):
                    with within(f"{label}: {given}"):
                        check_file(place, MOST_MESH_BYTES)
        asked = 0
        if element.tag == "hfield":
            asked = _whole(element.get("nrow")) * _whole(element.get("ncol"))
        elif element.tag == "numeric":
            asked = _whole(element.get("size"))
        elif element.tag == "size":
            asked = max(_whole(element.get(key)) for key in SIZES)
        if asked > MOST_NUMBERS:
            raise SceneError(f"asks for more than {MOST_NUMBERS} numbers", element=label, value=asked,
                             remedy="lower the sizes")


def _elements(root: Element) -> Iterator[tuple[Element, int]]:
    """Every element, and how often replicates around it copy it."""
    stack = [(root, 1)]
    while stack:
        element, copies = stack.pop()
        yield element, copies
        below = copies * _count(element) if element.tag == "replicate" else copies
        stack.extend((child, below) for child in element)


def _count(element: Element) -> int:
    """The product of an element's counts."""
    product = 1
    for word in element.get("count", "1").split()[:4]:
        product *= max(_whole(word), 1)
    return product


def _whole(text: str | None) -> int:
    """A whole number, or 0 for what MuJoCo will refuse itself."""
    try:
        return int(float(text or 0))
    except (ValueError, OverflowError):
        return 0


def _label(element: Element) -> str:
    name = element.get("name")
    return f"<{element.tag}> {name!r}" if name else f"<{element.tag}>"
